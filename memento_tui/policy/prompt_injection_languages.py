"""The same orders in other languages: for each the words, from which the patterns are put together.

The words are written as a dictionary has them, mostly as stems; texts are compared without accents and in small
letters, and so are they. ``ignore`` and ``rules`` are joined by one of ``earlier``: "ignore all earlier instructions" in
whatever order a language says it. The other lists make the orders not to tell the user, to hand over secrets, to be somebody
else, and the claim that the user has approved.
"""

from __future__ import annotations

# ruff: noqa: E501, RUF001 - lists of words, in letters of other alphabets
from collections.abc import Iterable, Iterator

import msgspec

from memento_tui.policy.prompt_injection_rules import InjectionRule
from memento_tui.policy.text_views import plain_letters

__all__ = ["LANGUAGES", "language_rules"]


class InjectionLanguage(msgspec.Struct, frozen=True):
    """The words of one language, parted by bars; each may be a pattern."""

    name: str
    ignore: str
    earlier: str
    rules: str
    do_not_tell: str
    user: str
    send: str
    secrets: str
    new_role: str
    approved: str


LANGUAGES: tuple[InjectionLanguage, ...] = (
    InjectionLanguage(
        "German",
        r"ignorier\w{0,4}|vergiss|vergesst|vergessen sie|missacht\w{1,3}|beachte\w{0,2} nicht|verwirf|übergeh\w{0,2}",
        r"vorherig\w{0,2}|bisherig\w{0,2}|frühere\w?|obige\w?|vorangehend\w{0,2}|alle\w?|deine\w?|ihre|sämtliche\w?|ursprünglich\w{0,2}",
        r"anweisung\w{0,2}|instruktion\w{0,2}|befehl\w?|regeln?|vorgaben?|prompts?|richtlinien?",
        r"(?:sag\w{0,2}|erzähl\w{0,2}|verrat\w{0,2}|informier\w{0,3}|zeig\w{0,2}|erwähn\w{0,2})\b[^.!?\n]{0,40}\b(?:nicht|nichts|niemals|kein\w{0,2})|verheimlich\w{0,2}|verschweig\w{0,2}|ohne wissen",
        r"(?:dem|den|der|des|gegenüber dem) (?:be)?nutzer\w{0,3}|(?:dem|der) (?:anwender|user|person)\w{0,2}",
        r"send\w{0,2}|schick\w{0,2}|übermittl\w{0,2}|leite\w{0,2}|gib|lad\w{0,2}",
        r"passw[oö]rt\w{0,3}|passwörter|schlüssel|geheimnis\w{0,3}|zugangsdaten|umgebungsvariablen",
        r"du bist (?:ab )?(?:jetzt|nun)|ab (?:jetzt|sofort) (?:bist du|antwortest du|musst du)|tu so als",
        r"(?:der|die) (?:be)?nutzer\w{0,2} hat (?:\w{1,12} ){0,3}?(?:genehmigt|zugestimmt|freigegeben|bestätigt|erlaubt)",
    ),
    InjectionLanguage(
        "French",
        r"ignor(?:e|ez|es|er)|oubli(?:e|ez|es|er)|ne (?:tiens|tenez) pas compte|néglige[zr]?|fais abstraction|faites abstraction",
        r"précédent\w{0,2}|ci-dessus|antérieur\w{0,2}|initial\w{0,2}|tou(?:te)?s|données|reçues?|tes|vos",
        r"instructions?|consignes?|directives?|ordres?|règles?|messages?",
        r"(?:ne|n')\W{0,2}(?:le |la |les |en |pas |jamais ){0,2}(?:dis|dites|dire|informe[zr]?|parle[zr]?|mentionne[zr]?|révèle[zr]?|montre[zr]?|prévien\w{1,3}|préven\w{1,3})|cache[zr]? (?:cela|ceci|ça)|à l'insu|sans (?:le )?(?:dire|prévenir)",
        r"(?:à )?l'utilisat(?:eur|rice)|(?:de )?l'utilisat(?:eur|rice)|(?:au|le) client|l'humain|(?:la|à la) personne",
        r"envoie[zr]?|envoyer|transmet\w{0,4}|télécharge[zr]?|poste[zr]?|communique[zr]?",
        r"mots? de passe|clés?|jetons?|identifiants|variables d'environnement",
        r"tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)|désormais,? (?:tu|vous)|à partir de maintenant,? (?:tu|vous)|fais semblant|faites semblant",
        r"l'utilisat(?:eur|rice) a (?:\w{1,12} ){0,2}?(?:approuvé|autorisé|accepté|validé|confirmé|donné son accord)",
    ),
    InjectionLanguage(
        "Spanish",
        r"ignor[ae]\w{0,3}|olvid[ae]\w{0,3}|no hagas caso|no haga caso|descarta\w?|haz caso omiso|pasa por alto",
        r"anterior\w{0,2}|previ[ao]s?|precedentes?|arriba|recibid[ao]s?|iniciales?|tod[ao]s|tus|dadas?",
        r"instrucci(?:ón|ones)|indicaci(?:ón|ones)|órdenes|reglas|directrices|normas|mensajes?",
        r"no (?:le |les |se lo |lo )?(?:digas?|cuentes?|informes?|menciones?|reveles?|muestres?|avises?)|oculta\w{0,2}|esconde\w{0,2}|sin que (?:lo )?(?:sepa|se entere)|sin avisar",
        r"al usuario|a la usuaria|(?:el|del) usuario|al cliente|a la persona|a nadie",
        r"envía\w{0,2}|enviar|manda\w{0,2}|reenvía|sube|transmite|comparte",
        r"contraseñas?|claves?|secretos?|credenciales|variables de entorno",
        r"ahora eres|a partir de ahora (?:eres|debes|vas)|desde ahora (?:eres|debes)|finge (?:ser|que)|actúa como si",
        r"el usuario (?:ya )?(?:ha )?(?:\w{1,12} ){0,2}?(?:aprobó|aprobado|autorizó|autorizado|consentido|confirmado|dado su (?:permiso|consentimiento))",
    ),
    InjectionLanguage(
        "Portuguese",
        r"ignor[ae]\w{0,3}|esque[cç]\w{1,4}|desconsider\w{1,3}|descarte|não (?:siga|leve em conta)",
        r"anterior\w{0,2}|prévi[ao]s?|acima|recebid[ao]s?|iniciais|tod[ao]s|suas|dadas?",
        r"instruç(?:ão|ões)|indicaç(?:ão|ões)|ordens|regras|diretrizes|mensage(?:m|ns)|comandos",
        r"não (?:lhe )?(?:diga|conte|informe|mencione|revele|mostre|avise)|esconda|oculte|sem (?:que|avisar|o conhecimento)",
        r"(?:ao|o|do) (?:usuário|utilizador|cliente)|à pessoa|a ninguém",
        r"envie|enviar|mande|encaminhe|transmita|compartilhe|carregue",
        r"senhas?|chaves?|segredos?|credenciais|variáveis de ambiente",
        r"(?:agora )?você (?:agora )?é (?:agora )?um|a partir de agora,? (?:você|tu|responda|aja)|finja (?:ser|que)",
        r"o (?:usuário|utilizador) (?:já )?(?:\w{1,12} ){0,2}?(?:aprovou|autorizou|consentiu|confirmou|deu permissão)",
    ),
    InjectionLanguage(
        "Italian",
        r"ignora\w{0,3}|dimentica\w{0,3}|trascura\w{0,2}|non (?:seguire|tenere conto)|scorda\w{0,2}",
        r"precedent[ei]|preced\w{1,5}|sopra|ricevut[ei]|inizial[ei]|tutt[ei]|tue|date|anterior[ei]",
        r"istruzion[ei]|indicazion[ei]|ordini|regole|direttive|messaggi\w?|comandi",
        r"non (?:lo |glielo |gli )?(?:dire|dirlo|informare|menzionare|rivelare|mostrare|avvisare|farlo sapere)|nascondi\w{0,3}|all'insaputa|senza (?:dirlo|avvisare)",
        r"all'utente|l'utente|dell'utente|al cliente|a nessuno",
        r"invia\w{0,2}|manda\w{0,2}|inoltra\w{0,2}|trasmetti|carica|condividi",
        r"la password|chiav[ei]|segreti|token|credenziali|variabili d'ambiente",
        r"(?:ora|adesso|d'ora in poi) (?:sei|devi|risponderai|agirai)|sei ora|fingi (?:di|che)",
        r"l'utente ha (?:\w{1,12} ){0,2}?(?:approvato|autorizzato|acconsentito|confermato|dato il (?:permesso|consenso))",
    ),
    InjectionLanguage(
        "Dutch",
        r"negeer\w?|vergeet|sla \w{0,12} ?over|veronachtzaam|houd geen rekening",
        r"eerdere?|vorige|voorgaande|bovenstaande|alle|jouw|je|oorspronkelijke",
        r"instructies?|opdracht(?:en)?|regels|aanwijzing(?:en)?|richtlijnen|bevelen",
        r"(?:vertel|zeg|meld|informeer|toon|noem)\b[^.!?\n]{0,40}\b(?:niet|niets|nooit|geen)|verberg|verzwijg|zonder medeweten",
        r"(?:de|aan de|voor de) (?:gebruiker|persoon|klant)",
        r"stuur|verstuur|verzend|mail|deel",
        r"wachtwoord(?:en)?|sleutels?|geheimen|inloggegevens|omgevingsvariabelen",
        r"je bent (?:nu|voortaan)|vanaf nu (?:ben|moet|zul) je|doe alsof",
        r"de gebruiker heeft (?:\w{1,12} ){0,3}?(?:goedgekeurd|toestemming gegeven|bevestigd|toegestaan|ingestemd)",
    ),
    InjectionLanguage(
        "Polish",
        r"zignoruj\w{0,3}|ignoruj\w{0,3}|zapomnij\w{0,3}|pomiń\w{0,3}|nie (?:przestrzegaj|zważaj)|odrzuć",
        r"poprzedni\w{0,3}|wcześniejsz\w{1,3}|powyższ\w{1,3}|wszystki\w{1,3}|wszelki\w{1,3}|swoj\w{1,3}|dotychczasow\w{1,3}",
        r"instrukcj\w{1,3}|poleceni\w{0,3}|poleceń|zasad\w{0,2}|wytyczn\w{1,3}|reguł\w?|rozkaz\w{0,2}",
        r"nie (?:mów|informuj|wspominaj|ujawniaj|pokazuj|zdradzaj)|ukryj|zataj|bez wiedzy",
        r"użytkownik\w{0,4}|klient\w{0,4}|człowiek\w{0,4}",
        r"wyślij\w{0,3}|prześlij\w{0,3}|przekaż|udostępnij",
        r"hasł[oa]|haseł|klucz\w{0,3}|sekret\w{0,2}|dane logowania",
        r"(?:teraz|od teraz) jesteś|jesteś teraz|od teraz (?:masz|musisz|odpowiadaj)|udawaj",
        r"użytkownik (?:już )?(?:\w{1,12} ){0,2}?(?:zatwierdził|zaakceptował|wyraził zgodę|potwierdził|zezwolił)",
    ),
    InjectionLanguage(
        "Turkish",
        r"yok ?say\w{0,4}|unut\w{0,4}|görmezden gel\w{0,3}|göz ardı et\w{0,3}|dikkate alma\w{0,3}",
        r"önceki|daha önceki|yukarıdaki|tüm|bütün|şimdiye kadarki|verilen",
        r"talimat\w{0,8}|komut\w{0,8}|yönerge\w{0,8}|kural\w{0,8}|emir\w{0,6}|emri\w{0,5}",
        r"söyleme\w{0,3}|bildirme\w{0,3}|gösterme\w{0,3}|bahsetme\w{0,3}|gizle\w{0,3}|haberi olmadan|sakla",
        r"kullanıcı\w{0,6}|müşteri\w{0,5}",
        r"gönder\w{0,4}|ilet\w{0,4}|yükle\w{0,3}|paylaş\w{0,4}",
        r"şifre\w{0,8}|parola\w{0,8}|anahtar\w{0,8}|sırlar\w{0,4}|gizli bilgi\w{0,6}",
        r"artık (?:sen )?(?:bir )?\w{1,20}s[iı]n|bundan (?:sonra|böyle) sen|gibi davran|şu andan itibaren",
        r"kullanıcı (?:\w{1,12} ){0,3}?(?:onayladı|onay verdi|izin verdi|kabul etti)",
    ),
    InjectionLanguage(
        "Russian",
        r"игнорируй\w{0,3}|проигнорируй\w{0,3}|забуд\w{1,4}|не обращай\w{0,3} внимания|отбрось\w{0,3}|не следуй\w{0,3}|отмени\w{0,3}",
        r"предыдущ\w{1,3}|прежн\w{1,3}|прошл\w{1,3}|вышеуказанн\w{1,3}|все\w?|всех|ранее|сво[иею]\w?|данн\w{2,3}|исходн\w{1,3}",
        r"инструкци\w{1,3}|указани\w{1,3}|правил\w{0,3}|команд\w{0,3}|сообщени\w{1,3}|директив\w{0,3}|распоряжени\w{1,3}",
        r"не (?:говори\w{0,3}|сообщай\w{0,3}|рассказывай\w{0,3}|упоминай\w{0,3}|показывай\w{0,3}|раскрывай\w{0,3})|скрой\w{0,3}|скрывай\w{0,3}|утаи\w{0,3}|без ведома|втайне от",
        r"пользовател\w{1,3}|клиент\w{0,3}|человек\w{0,3}|никому",
        r"отправь\w{0,3}|пошли\w{0,3}|перешли\w{0,3}|передай\w{0,3}|загрузи\w{0,3}|вышли\w{0,3}",
        r"парол\w{1,3}|ключ\w{0,3}|секрет\w{0,3}|токен\w{0,3}|учетн\w{1,3} данн\w{1,3}|переменн\w{1,3} окружения",
        r"(?:теперь|отныне) (?:ты|вы)|ты теперь|вы теперь|с этого момента (?:ты|вы)|притворись|представь,? что ты",
        r"пользователь (?:уже )?(?:\w{1,12} ){0,2}?(?:одобрил|разрешил|подтвердил|согласился|дал (?:согласие|разрешение))",
    ),
    InjectionLanguage(
        "Ukrainian",
        r"ігноруй\w{0,3}|проігноруй\w{0,3}|забуд\w{1,4}|не зважай\w{0,3}|знехтуй\w{0,3}|не звертай\w{0,3} уваги|відкинь\w{0,3}",
        r"попередн\w{1,3}|усі|всі|усіх|всіх|раніше|вищезазначен\w{1,3}|сво[їєю]\w?|надан\w{1,3}",
        r"інструкці\w{1,3}|вказівк\w{1,3}|вказівок|правил\w{0,3}|команд\w{0,3}|наказ\w{0,3}|настанов\w{0,3}",
        r"не (?:кажи\w{0,3}|кажіть|повідомляй\w{0,3}|розповідай\w{0,3}|згадуй\w{0,3}|показуй\w{0,3}|розкривай\w{0,3})|приховай\w{0,3}|приховуй\w{0,3}|без відома",
        r"користувач\w{0,4}|клієнт\w{0,4}|людин\w{0,2}|нікому",
        r"надішли\w{0,3}|відправ\w{0,3}|перешли\w{0,3}|передай\w{0,3}|завантаж\w{0,3}",
        r"парол\w{1,3}|ключ\w{0,3}|секрет\w{0,3}|токен\w{0,3}|облікові дані",
        r"(?:тепер|відтепер) (?:ти|ви)|ти тепер|з цього моменту (?:ти|ви)|вдавай",
        r"користувач (?:вже )?(?:\w{1,12} ){0,2}?(?:схвалив|дозволив|підтвердив|погодився|надав (?:згоду|дозвіл))",
    ),
    InjectionLanguage(
        "Chinese",
        r"忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不要遵守|放弃|放棄|不用管|抛弃",
        r"之前|先前|以上|上面|前面|此前|所有|全部|一切|原来|原有|你的|您的|的",
        r"指令|指示|说明|說明|规则|規則|提示|命令|要求|内容|設定|设定|限制",
        r"(?:不要|别|勿|切勿|不得|禁止)[^。!?\n]{0,6}(?:告诉|告訴|告知|通知|提及|透露|让|讓)|隐瞒|隱瞞|瞒着",
        r"用户|用戶|使用者|任何人|客户",
        r"发送|發送|发给|发到|上传|上傳|转发|轉發|提供|泄露",
        r"密码|密碼|密钥|密鑰|凭据|憑證|令牌|私钥|环境变量",
        r"(?:你|您)现在是|你現在是|从现在(?:开始|起)[,,]?(?:你|您)|從現在開始你|假装(?:你|成)|扮演",
        r"用户(?:已经|已)[^。!?\n]{0,6}(?:批准|同意|授权|确认|许可)|用戶已[^。!?\n]{0,6}(?:批准|同意|授權|確認)",
    ),
    InjectionLanguage(
        "Japanese",
        r"無視|忘れ|従わない|破棄|忘却",
        r"以前|前の|これまで|上記|すべて|全て|全部|先ほど|今まで|最初の|あなたの",
        r"指示|命令|指令|ルール|プロンプト|設定|内容|規則|制約",
        r"(?:言わない|伝えない|知らせない|教えない|明かさない|話さない|見せない|報告しない)|隠し|秘密に|内緒",
        r"ユーザー?|利用者|使用者|人間|誰に",
        r"送信|送っ|送れ|転送|アップロード|渡し|提供",
        r"パスワード|秘密鍵|鍵|キー|トークン|認証情報|環境変数",
        r"あなたは(?:今|これ)から|今からあなたは|これからは?あなたは|なりすまし|ふりをし",
        r"ユーザー?(?:は|が)(?:すでに|既に)?[^。!?\n]{0,10}(?:承認|許可|同意|確認)(?:し|済)",
    ),
    InjectionLanguage(
        "Korean",
        r"무시|잊어|잊으|따르지 마|폐기",
        r"이전|앞선|위의|모든|지금까지|기존|앞의|너의|당신의",
        r"지시|명령|지침|규칙|프롬프트|설정|내용|안내",
        r"(?:말하지|알리지|알려주지|언급하지|공개하지|보여주지|밝히지) ?(?:마|말)|숨기|숨겨|비밀로|몰래",
        r"사용자|유저|고객|누구에게",
        r"보내|전송|전달|업로드|공유|제공",
        r"비밀번호|암호|열쇠|키를|키와|토큰|자격 ?증명|환경 ?변수",
        r"(?:너는|당신은) 이제|이제부터 (?:너는|당신은)|지금부터 (?:너는|당신은)|인 척",
        r"사용자(?:가|는) (?:이미 )?[^.!?\n]{0,10}(?:승인|허가|동의|확인)(?:했|하였)",
    ),
    InjectionLanguage(
        "Arabic",
        r"تجاهل|انس|انسى|اهمل|لا تتبع|تغاض",
        r"السابقة|السابق|أعلاه|جميع|كل|كافة|القديمة|الأصلية|قبل",
        r"التعليمات|تعليمات|الأوامر|أوامر|القواعد|قواعد|التوجيهات|توجيهات|الإرشادات",
        r"لا (?:تخبر|تقل|تذكر|تكشف|تظهر|تعلم|تبلغ)|أخف|اخف|دون علم|بدون علم",
        r"المستخدم|للمستخدم|العميل|أحد",
        r"أرسل|ارسل|حول|ارفع|شارك|سلم",
        r"كلمة المرور|كلمات المرور|كلمة السر|المفاتيح|مفاتيح|مفتاح|الأسرار|بيانات الاعتماد|الرمز",
        r"أنت الآن|من الآن فصاعدا|منذ الآن|تظاهر",
        r"(?:وافق|أذن|سمح|أكد|صادق) المستخدم|المستخدم (?:قد )?(?:وافق|أذن|سمح|أكد)",
    ),
    InjectionLanguage(
        "Hindi",
        r"अनदेखा|अनदेखी|भूल|नज़रअंदाज़|नजरअंदाज|उपेक्षा|मत मानो",
        r"पिछले|पिछली|पहले|उपरोक्त|ऊपर|सभी|सारे|सब|पूर्व|अपने",
        r"निर्देश\w{0,8}|आदेश\w{0,8}|नियम\w{0,8}|हिदायत\w{0,6}",
        r"मत (?:बताना|बताओ|कहना|दिखाना)|न (?:बताएं|बताएँ|बताना)|नहीं बताना|छिपा\w{0,4}|छुपा\w{0,4}|जानकारी के बिना",
        r"उपयोगकर्ता|यूज़र|यूजर|उपभोक्ता|किसी को",
        r"भेज\w{0,4}|साझा कर\w{0,3}|अपलोड",
        r"पासवर्ड|कुंजी|कुंजियाँ|कुंजियां|टोकन|गुप्त|क्रेडेंशियल",
        r"अब (?:तुम|आप) (?:एक )?\w{0,20} ?(?:हो|हैं)|अब से (?:तुम|आप)|नाटक कर",
        r"उपयोगकर्ता ने (?:\w{1,12} ){0,3}?(?:मंज़ूरी|मंजूरी|अनुमति|स्वीकृति|अनुमोदन|सहमति)",
    ),
    InjectionLanguage(
        "Swedish",
        r"ignorera|glöm|bortse från|strunta i|åsidosätt|följ inte",
        r"tidigare|föregående|ovanstående|alla|dina|samtliga|ursprungliga|givna|allt",
        r"instruktion(?:er|erna)?|anvisning(?:ar|arna)?|regler(?:na)?|order|direktiv(?:en)?|riktlinjer(?:na)?|uppmaning(?:ar)?|kommandon",
        r"(?:säg|berätta|nämn|avslöja|informera|visa|meddela) (?:det |detta |aldrig |inte |inget |ingenting ){1,3}|dölj|hemlighåll|utan (?:att )?(?:\w{1,12} )?vet",
        r"användaren?|användarens|personen|kunden|någon",
        r"skicka|sänd|vidarebefordra|ladda upp|maila|mejla|dela",
        r"lösenord(?:et|en)?|nycklar(?:na)?|nyckeln?|hemligheter(?:na)?|inloggningsuppgifter(?:na)?|miljövariabler(?:na)?",
        r"du är (?:nu|från och med nu)|från och med nu (?:är|ska|måste) du|låtsas (?:att|vara)",
        r"användaren har (?:\w{1,12} ){0,3}?(?:godkänt|samtyckt|bekräftat|tillåtit|gett (?:sitt )?(?:tillstånd|samtycke|godkännande))",
    ),
    InjectionLanguage(
        "Danish",
        r"ignorér|ignorer|glem|se bort fra|tilsidesæt|følg ikke",
        r"tidligere|foregående|ovenstående|forrige|alle|dine|samtlige|oprindelige|givne|alt",
        r"instruktion(?:er|erne)?|instruks(?:er|erne)?|anvisning(?:er|erne)?|regler(?:ne)?|ordrer?|retningslinjer(?:ne)?|kommandoer",
        r"(?:sig|fortæl|nævn|afslør|informer|vis|oplys) (?:det |dette |aldrig |ikke |intet ){1,3}|skjul|hemmelighold|uden (?:at )?(?:\w{1,12} )?ved",
        r"brugeren?|brugerens|personen|kunden|nogen",
        r"send|videresend",
        r"adgangskode[rn]?\w{0,2}|kodeord\w{0,3}|nøgler(?:ne)?|nøglen?|hemmeligheder|loginoplysninger|miljøvariabler",
        r"du er nu|fra nu af (?:er|skal) du|lad som om",
        r"brugeren har (?:\w{1,12} ){0,3}?(?:godkendt|givet (?:sin )?(?:tilladelse|samtykke|godkendelse)|bekræftet|tilladt|accepteret)",
    ),
    InjectionLanguage(
        "Norwegian",
        r"ignorer|glem|se bort fra|overse|tilsidesett|ikke følg",
        r"tidligere|foregående|ovenstående|forrige|alle|dine|samtlige|opprinnelige|gitte|alt",
        r"instruksjon(?:er|ene)?|instruks(?:er|ene)?|anvisning(?:er|ene)?|regler|reglene|ordrer?|retningslinjer|retningslinjene|kommandoer",
        r"(?:si|fortell|nevn|avslør|informer|vis|opplys) (?:det |dette |aldri |ikke |ingenting ){1,3}|ikke (?:si|fortell|nevn|avslør|informer|vis)|skjul|hemmelighold|uten (?:at )?(?:\w{1,12} )?vet",
        r"brukeren?|brukerens|personen|kunden|noen",
        r"send|videresend|last opp",
        r"passord(?:et|ene)?|nøkler|nøklene|nøkkelen|hemmeligheter|påloggingsinformasjon|miljøvariabler",
        r"du er nå|fra nå av (?:er|skal|må) du|lat som",
        r"brukeren har (?:\w{1,12} ){0,3}?(?:godkjent|gitt (?:sin )?(?:tillatelse|samtykke|godkjenning)|bekreftet|tillatt|akseptert)",
    ),
    InjectionLanguage(
        "Finnish",
        r"sivuuta|unohda|jätä huomiotta|ohita|älä (?:noudata|välitä)|hylkää",
        r"aiemmat|aikaisemmat|edelliset|edeltävät|yllä olevat|kaikki|kaikkia|aiempia|edellisiä|aiempien|sinun|alkuperäiset",
        r"ohjeet|ohjeita|ohjeista|ohjeistukset|ohjeistus\w{0,4}|säännöt|sääntöjä|säännöistä|käskyt|käskyjä|määräykset|komennot|määräyksiä",
        r"älä (?:kerro|mainitse|paljasta|ilmoita|näytä|sano)|piilota|salaa|kertomatta|ilman että",
        r"käyttäjä\w{0,4}|henkilö\w{0,4}|asiakkaa\w{0,4}|kenellekään",
        r"lähetä|välitä|lataa|jaa|toimita",
        r"salasana\w{0,5}|avain|avaimet|avaimia|salaisuu\w{1,5}|tunnukset|tunnistetie\w{1,5}|ympäristömuuttuj\w{1,4}",
        r"olet nyt|tästä lähtien (?:olet|sinun)|nyt sinä olet|esitä (?:olevasi|että)|teeskentele",
        r"käyttäjä on (?:\w{1,12} ){0,3}?(?:hyväksynyt|antanut (?:luvan|suostumuksen)|vahvistanut|sallinut)",
    ),
    InjectionLanguage(
        "Czech",
        r"ignoruj\w{0,2}|zapomeň\w{0,2}|zapomen\w{1,4}|nevšímej\w{0,2}|neřiď\w{0,3}|přehlížej\w{0,2}|neber\w{0,2} v úvahu",
        r"předchozí\w{0,3}|předešl\w{1,3}|dřívější\w{0,3}|výše uveden\w{1,3}|všechny|všech|veškeré|své|svoje|původní\w{0,3}",
        r"instrukc\w{1,3}|pokyn\w{0,3}|příkaz\w{0,3}|pravid\w{1,4}|směrnic\w{1,3}|nařízení",
        r"ne(?:říkej|řikej|říkejte|informuj|zmiňuj|prozrazuj|ukazuj|sděluj|hlas)\w{0,3}|zataj\w{0,2}|skryj\w{0,3}|utaj\w{0,2}|bez vědomí",
        r"uživatel\w{0,4}|zákazník\w{0,3}|člověk\w{0,3}|nikomu",
        r"pošli\w{0,3}|odešli\w{0,3}|přepošli\w{0,3}|nahraj\w{0,3}|předej\w{0,3}|zašli\w{0,3}",
        r"hes[el]\w{1,3}|klíč\w{0,3}|tajemství|přihlašovací údaje|proměnné prostředí",
        r"(?:nyní|teď|odteď) (?:jsi|jste)|jsi (?:nyní|teď)|od (?:nynějška|této chvíle) (?:jsi|budeš|musíš)|předstírej|chovej se jako",
        r"uživatel (?:již |už )?(?:\w{1,12} ){0,2}?(?:schválil|povolil|potvrdil|souhlasil|dal (?:souhlas|svolení))",
    ),
    InjectionLanguage(
        "Slovak",
        r"ignoruj\w{0,2}|zabudni\w{0,2}|nevšímaj\w{0,2}|neber\w{0,2} do úvahy|neriaď\w{0,3}",
        r"predchádzajúc\w{1,3}|predošl\w{1,3}|skorši\w{1,3}|vyššie uveden\w{1,3}|všetky|všetkých|všetko|svoje|pôvodn\w{1,3}",
        r"inštrukci\w{1,3}|pokyn\w{0,3}|príkaz\w{0,3}|pravid\w{1,4}|smernic\w{1,3}",
        r"ne(?:hovor|povedz|informuj|spomínaj|prezraď|ukazuj)\w{0,3}|zataj\w{0,2}|skry\w{0,3}|bez vedomia",
        r"používateľ\w{0,4}|zákazník\w{0,3}|nikomu",
        r"pošli\w{0,3}|odošli\w{0,3}|prepošli\w{0,3}|nahraj\w{0,3}",
        r"hes[el]\w{1,3}|kľúč\w{0,3}|tajomstv\w{1,3}|prihlasovacie údaje",
        r"(?:teraz|odteraz) (?:si|ste)|od tejto chvíle (?:si|budeš)|predstieraj",
        r"používateľ (?:už )?(?:\w{1,12} ){0,2}?(?:schválil|povolil|potvrdil|súhlasil)",
    ),
    InjectionLanguage(
        "Hungarian",
        r"hagyd figyelmen kívül|hagyja figyelmen kívül|figyelmen kívül|felejtsd el|felejtse el|felejts el|ne kövesd|mellőzd|ne törődj",
        r"előző|korábbi|eddigi|fenti|minden|összes|összeset|eredeti|valamennyi|adott",
        r"utasítás\w{0,6}|szabály\w{0,6}|parancs\w{0,6}|útmutatás\w{0,6}|irányelv\w{0,6}|instrukció\w{0,6}",
        r"ne (?:mondd|mondja|szólj|említsd|árul|fedd fel|mutasd|értesítsd|tájékoztasd)\w{0,4}|titkold|rejtsd el|tudta nélkül",
        r"felhasználó\w{0,5}|ügyfél\w{0,4}|senkinek|embernek",
        r"küldd\w{0,4}|küldj\w{0,4}|továbbítsd|töltsd fel|oszd meg|add ki",
        r"jelsz\w{1,6}|kulcs\w{0,6}|titk\w{1,6}|hitelesítő adat\w{0,6}|környezeti változó\w{0,4}",
        r"mostantól (?:te|egy)|te most (?:már )?egy|ettől kezdve|tegyél úgy|tettesd",
        r"a felhasználó (?:már )?(?:\w{1,12} ){0,2}?(?:jóváhagyta|engedélyezte|megerősítette|beleegyezett|hozzájárult)",
    ),
    InjectionLanguage(
        "Romanian",
        r"ignoră|ignora[țt]i|ignora|uită|uita[țt]i|nu (?:respecta|ține cont|lua în seamă|urma)|desconsideră|neglijează",
        r"anterioare|precedente|de mai sus|toate|tuturor|ini[țt]iale|tale|primite|dinainte|prealabile",
        r"instruc[țt]iuni\w{0,3}|indica[țt]ii\w{0,3}|reguli\w{0,3}|directive\w{0,3}|comenzi\w{0,3}|mesaje\w{0,3}",
        r"nu (?:îi |i |le |îl )?(?:spune|spune[țt]i|men[țt]iona|dezvălui|informa|arăta|anun[țt]a)|ascunde|fără (?:știrea|să știe|să afle)",
        r"utilizator\w{0,4}|client\w{0,4}|nimănui|persoan\w{1,3}",
        r"trimite\w{0,3}|transmite|încarcă|expediază|partajează|redirec[țt]ionează",
        r"parol[ae]\w{0,3}|parolă|chei\w{0,4}|creden[țt]iale\w{0,3}|variabile\w{0,3} de mediu",
        r"(?:acum|de acum) e[șs]ti|e[șs]ti acum|de acum (?:înainte|încolo)|prefă-te|pretinde că",
        r"utilizatorul a (?:\w{1,12} ){0,2}?(?:aprobat|autorizat|confirmat|acceptat|permis|consim[țt]it|dat (?:acordul|permisiunea))",
    ),
    InjectionLanguage(
        "Greek",
        r"αγνόησε|αγνοήστε|αγνόησ\w{1,3}|ξέχασε|ξεχάστε|ξέχνα|παράβλεψε|παραβλέψτε|μην (?:ακολουθείς|ακολουθήσεις|λάβεις υπόψη)|αψήφησε",
        r"προηγούμεν\w{1,4}|παραπάνω|πρότερ\w{1,3}|όλες|όλους|όλων|κάθε|αρχικ\w{1,3}|προγενέστερ\w{1,3}|σου|δοσμένες",
        r"οδηγί\w{1,3}|εντολ\w{1,3}|κανόν\w{1,3}|κανόνες|υποδείξ\w{1,3}|κατευθύνσ\w{1,3}|μηνύμα\w{1,3}",
        r"μην? (?:το |του |τους )?(?:πεις|πείτε|αναφέρεις|αποκαλύψεις|ενημερώσεις|δείξεις|αναφέρετε|ενημερώσετε)|απόκρυψε|κρύψε|κρύψτε|εν αγνοία|χωρίς να (?:το )?(?:ξέρει|γνωρίζει|μάθει)",
        r"χρήστη\w{0,2}|χρήστης|πελάτη\w{0,2}|κανέναν",
        r"στείλε|στείλτε|προώθησε|προωθήστε|ανέβασε|μοιράσου|διαβίβασε",
        r"κωδικ\w{1,3}|κλειδι\w{1,3}|μυστικ\w{1,3}|διαπιστευτήρι\w{1,3}|μεταβλητές περιβάλλοντος",
        r"(?:τώρα|πλέον) είσαι|είσαι (?:τώρα|πλέον)|από (?:τώρα|εδώ) και (?:στο εξής|πέρα|μπρος)|προσποιήσου|κάνε πως",
        r"ο χρήστης (?:έχει )?(?:ήδη )?(?:\w{1,12} ){0,2}?(?:εγκρίνει|ενέκρινε|εξουσιοδοτήσει|εξουσιοδότησε|επιβεβαίωσε|επιβεβαιώσει|συμφώνησε|δώσει (?:άδεια|έγκριση))",
    ),
    InjectionLanguage(
        "Hebrew",
        r"התעלם|התעלמי|התעלמו|להתעלם|תתעלם|תתעלמי|תתעלמו|שכח|שכחי|שכחו|תשכח|תשכחי|תשכחו|אל תציית|בטל|זנח",
        r"הקודמ\w{1,2}|קודמ\w{1,2}|לעיל|כל|שלמעלה|הישנ\w{1,2}|המקורי\w{1,2}|שקיבלת|שלך|עד כה",
        r"ההוראות|הוראות|ההנחיות|הנחיות|הכללים|כללים|הפקודות|פקודות|ההוראה|מההוראות|מההנחיות|מהוראות|מהנחיות|מהכללים|החוקים",
        r"אל (?:תספר|תספרי|תגלה|תגלי|תזכיר|תזכירי|תודיע|תודיעי|תאמר|תאמרי|תגיד|תגידי|תראה|תחשוף)\w{0,2}|הסתר|הסתירי|הסתירו|להסתיר|ללא ידיעת|בלי ידיעת",
        r"למשתמש\w{0,2}|מהמשתמש\w{0,2}|המשתמש\w{0,2}|ללקוח|לאף אחד|לאיש",
        r"שלח|שלחי|שלחו|תשלח|תשלחי|העבר|העבירי|העבירו|העלה|שתף|מסור",
        r"הסיסמ\w{1,3}|סיסמ\w{1,3}|המפתח\w{0,3}|מפתח\w{0,3}|הסודות|סודות|אסימון|אסימונים|פרטי הגישה|אישורי",
        r"(?:כעת|עכשיו|מעתה) (?:אתה|את)|(?:אתה|את) (?:כעת|עכשיו) |מעתה והלאה|מעכשיו (?:אתה|את)|העמד פנים",
        r"המשתמש\w? (?:כבר )?(?:אישר|אישרה|הסכים|הסכימה|התיר|נתן (?:אישור|רשות|הסכמה))",
    ),
    InjectionLanguage(
        "Vietnamese",
        r"bỏ qua|phớt lờ|quên đi|quên|lờ đi|không tuân theo|đừng tuân theo|đừng làm theo|gạt bỏ|bất chấp|không để ý",
        r"trước đó|trước đây|trước|ở trên|bên trên|tất cả|mọi|toàn bộ|ban đầu|đã cho|của bạn|cũ",
        r"hướng dẫn|chỉ dẫn|chỉ thị|lệnh|quy tắc|quy định|yêu cầu|luật|mệnh lệnh",
        r"(?:đừng|không được|không|chớ) (?:nói|kể|tiết lộ|thông báo|đề cập|cho|báo|nhắc)|giấu|che giấu|giữ bí mật|mà không cho",
        r"người dùng|người sử dụng|khách hàng|bất kỳ ai|ai biết|chủ nhân",
        r"gửi|chuyển tiếp|tải lên|chia sẻ|cung cấp|truyền",
        r"mật khẩu|khóa|khoá|bí mật|mã thông báo|thông tin đăng nhập|token|biến môi trường",
        r"(?:bây giờ|từ bây giờ|từ nay|kể từ bây giờ),? (?:bạn|mày|hãy)|bạn (?:bây giờ|giờ) là|giả vờ|đóng vai",
        r"người dùng (?:đã|đã được) (?:\w{1,12} ){0,2}?(?:phê duyệt|chấp thuận|đồng ý|cho phép|xác nhận|duyệt|ủy quyền)",
    ),
    InjectionLanguage(
        "Indonesian",
        r"abaikan|lupakan|jangan (?:ikuti|patuhi|hiraukan)|hiraukan|kesampingkan|acuhkan",
        r"sebelumnya|di atas|terdahulu|semua|seluruh|segala|awal|sebelum ini|anda|yang (?:telah )?diberikan|terdahulu|kamu",
        r"instruksi\w{0,3}|perintah\w{0,3}|aturan\w{0,3}|petunjuk\w{0,3}|arahan\w{0,3}|pedoman\w{0,3}|peraturan\w{0,3}",
        r"jangan (?:beri ?tahu|katakan|beritahukan|sebutkan|ungkapkan|tunjukkan|sampaikan|ceritakan|laporkan)|sembunyikan|rahasiakan|tanpa sepengetahuan|tanpa memberi ?tahu",
        r"pengguna|pemakai|pelanggan|siapa ?pun",
        r"kirim\w{0,3}|teruskan|unggah|bagikan|serahkan",
        r"kata sandi|sandi|kunci|rahasia|token|kredensial|password|variabel lingkungan",
        r"(?:sekarang|kini) (?:anda|kamu) (?:adalah)?|(?:anda|kamu) sekarang adalah|mulai sekarang,? (?:anda|kamu)|berpura-puralah|bertindaklah seolah",
        r"pengguna (?:telah|sudah) (?:\w{1,12} ){0,2}?(?:menyetujui|mengizinkan|mengonfirmasi|memberi(?:kan)? (?:izin|persetujuan)|mengotorisasi)",
    ),
    InjectionLanguage(
        "Bulgarian",
        r"игнорирай\w{0,2}|забрави\w{0,2}|пренебрегни\w{0,2}|не обръщай\w{0,2} внимание|не следвай",
        r"предишн\w{1,3}|предходн\w{1,3}|горн\w{1,3}|всички|всичките|по-ранн\w{1,3}|досегашн\w{1,3}|твои",
        r"инструкци\w{1,3}|указани\w{1,3}|правила\w{0,2}|команди\w{0,2}|нареждани\w{1,3}|заповеди",
        r"не (?:казвай|съобщавай|споменавай|разкривай|показвай|информирай)\w{0,2}|скрий\w{0,2}|без знанието|без да знае",
        r"потребител\w{0,4}|клиент\w{0,3}|никого|никому",
        r"изпрати\w{0,2}|прати\w{0,2}|препрати\w{0,2}|качи\w{0,2}",
        r"парол\w{1,3}|ключ\w{0,5}|тайни\w{0,2}|токен\w{0,3}",
        r"(?:сега|вече) (?:си|ти)|отсега нататък|преструвай се",
        r"потребителят (?:вече )?(?:\w{1,12} ){0,2}?(?:одобри|разреши|потвърди|даде съгласие|се съгласи)",
    ),
    InjectionLanguage(
        "Croatian or Serbian",
        r"ignoriraj\w{0,2}|ignoriši\w{0,2}|zanemari\w{0,2}|zaboravi\w{0,2}|ne (?:slijedi|sledi|obaziri se)",
        r"prethodn\w{1,3}|ranij\w{1,3}|gornj\w{1,3}|sve|sva|svih|dosadašnj\w{1,3}|tvoje|svoje",
        r"uput\w{1,3}|uputstv\w{1,3}|instrukcij\w{1,3}|naredb\w{1,3}|pravil\w{1,3}|smjernic\w{1,3}|smernic\w{1,3}",
        r"ne(?:moj|mojte)? (?:reci|reći|govori|govoriti|spominji|spominjati|otkrij|otkriti|obavijesti|obavesti|pokazati)|sakrij|bez znanja",
        r"korisnik\w{0,4}|klijent\w{0,4}|nikome",
        r"pošalji\w{0,2}|proslijedi|prosledi|učitaj",
        r"lozink\w{1,3}|ključ\w{0,5}|tajn\w{1,3}",
        r"(?:sada|sad) si|ti si sada|od sada (?:si|ćeš|moraš)|pretvaraj se",
        r"korisnik je (?:već )?(?:\w{1,12} ){0,2}?(?:odobrio|dopustio|dozvolio|potvrdio|pristao)",
    ),
    InjectionLanguage(
        "Persian",
        r"نادیده|فراموش|چشم ?پوشی|توجه نکن|پیروی نکن",
        r"قبلی|پیشین|بالا|همه|تمام|تمامی|کلیه|اولیه",
        r"دستورالعمل\w{0,4}|دستورات|دستور\w{0,3}|قوانین|قواعد|راهنمایی\w{0,3}|فرمان\w{0,3}",
        r"(?:نگو|نگویید|اطلاع نده|اطلاع ندهید|فاش نکن|ذکر نکن|نشان نده)|پنهان کن|مخفی کن|بدون اطلاع",
        r"کاربر\w{0,4}|مشتری|هیچ ?کس",
        r"بفرست\w{0,3}|ارسال کن\w{0,3}|آپلود",
        r"رمز عبور|رمزهای عبور|گذرواژه\w{0,3}|کلید\w{0,4}|توکن\w{0,3}|اسرار",
        r"(?:اکنون|حالا) (?:تو|شما)|از (?:این پس|حالا به بعد)|وانمود کن",
        r"کاربر (?:\w{1,12} ){0,3}?(?:تایید|تأیید|اجازه|موافقت)",
    ),
    InjectionLanguage(
        "Thai",
        r"เพิกเฉย|ละเว้น|ลืม|ไม่ต้องสนใจ|อย่าทำตาม|มองข้าม|ไม่สนใจ",
        r"ก่อนหน้า|ข้างต้น|ทั้งหมด|ทุก|เดิม|ที่ผ่านมา",
        r"คำสั่ง|คำแนะนำ|กฎ|ข้อกำหนด|แนวทาง",
        r"(?:อย่า|ห้าม|ไม่ต้อง)(?:บอก|แจ้ง|เปิดเผย|กล่าวถึง|แสดง)|ปกปิด|ซ่อน",
        r"ผู้ใช้|ลูกค้า|ใคร",
        r"ส่ง|อัปโหลด|แชร์",
        r"รหัสผ่าน|คีย์|กุญแจ|โทเค็น|ความลับ",
        r"ตอนนี้คุณ(?:คือ|เป็น)|จากนี้ไปคุณ|แกล้งทำ|ต่อไปนี้คุณ",
        r"ผู้ใช้(?:ได้)?(?:อนุมัติ|อนุญาต|ยืนยัน|ยินยอม)",
    ),
)
"""German to Hindi were covered first; Swedish to Thai came later."""

_GAP = r"[^.!?\u3002\n]{0,50}?"
_WORD_START = r"(?<![^\W\d_])"
_WITHIN_WORDS = frozenset({"Chinese", "Japanese", "Korean", "Arabic", "Persian", "Hindi", "Hebrew", "Thai"})
"""The languages in which a word may begin within a run of letters."""


def language_rules() -> Iterator[tuple[InjectionRule, tuple[str, ...]]]:
    """Yield each rule of each language, and the lists of words of each of which a match holds one, as patterns."""
    for language in LANGUAGES:
        yield from _rules_of(language)


def _rules_of(words: InjectionLanguage) -> Iterator[tuple[InjectionRule, tuple[str, ...]]]:
    """Yield each rule of a language, and the lists of words of each of which a match holds one."""
    start = "" if words.name in _WITHIN_WORDS else _WORD_START

    def group(part: str) -> str:
        return f"{start}(?:{part})"

    def first(*ways: tuple[str, str]) -> str:
        return _anchored(ways) if start else "|".join(f"(?:{part}){rest}" for part, rest in ways)

    folded = {name: fold_pattern(getattr(words, name)) for name in words.__struct_fields__ if name != "name"}
    verb, earlier, noun = (folded[name] for name in ("ignore", "earlier", "rules"))
    orders = ((verb, earlier, noun), (verb, noun, earlier), (earlier, noun, verb), (noun, earlier, verb))
    drops = first(*((one, f"{_GAP}{group(two)}{_GAP}{group(three)}") for one, two, three in orders))

    def either(one: str, other: str) -> str:
        return first((one, f"{_GAP}{group(other)}"), (other, f"{_GAP}{group(one)}"))

    hush, user, send, secrets = (folded[name] for name in ("do_not_tell", "user", "send", "secrets"))
    named = f", in {words.name}"
    yield (
        _rule("drops_instructions", 0.7, f"orders to ignore the instructions given so far{named}", drops),
        (folded["ignore"], folded["rules"], folded["earlier"]),
    )
    yield (
        _rule("hides_from_user", 0.5, f"asks to keep something from the person{named}", either(hush, user)),
        (hush, user),
    )
    yield (
        _rule("sends_secrets", 0.4, f"asks to hand over secrets{named}", either(send, secrets)),
        (send, secrets),
    )
    for name, says in (
        ("new_role", "gives the model another role"),
        ("forges_approval", "claims that the person has approved"),
    ):
        part = folded["new_role" if name == "new_role" else "approved"]
        yield _rule(name, 0.4, f"{says}{named}", first((part, ""))), (part,)


def _anchored(ways: Iterable[tuple[str, str]]) -> str:
    """Return the pattern of a list of words at the beginning of a word and what follows, in one of several ways.

    It begins with a set of letters, which the regular expressions' engine looks for much faster than it tries a list at
    every place of a text; the letter that was found is then one that was passed.
    """
    letters: dict[str, None] = {}
    branches = []
    for words, rest in ways:
        alternatives = [one for alternative in _split(words) for one in _after_first_letter(alternative)]
        letters.update((letter.strip("[]"), None) for letter, _ in alternatives)
        listed = "|".join(f"(?<={letter}){after}" for letter, after in alternatives)
        branches.append(f"(?:{listed}){rest}")
    return f"[{''.join(letters)}](?<![^\\W\\d_].)(?:{'|'.join(branches)})"


def _after_first_letter(alternative: str) -> Iterator[tuple[str, str]]:
    """Yield each letter, or set of letters, that an alternative may begin with, and what follows it.

    Raises:
        ValueError: it begins with what this does not know.

    """
    if alternative.startswith("(?:"):
        end = _closing(alternative)
        inside, after = alternative[3:end], alternative[end + 1 :]
        may_lack = after.startswith("?")
        after = after.removeprefix("?")
        beginnings = [one for part in _split(inside) for one in _after_first_letter(part)]
        yield from ((letter, rest + after) for letter, rest in beginnings)
        if may_lack:
            yield from _after_first_letter(after)
        return
    end = alternative.index("]") + 1 if alternative.startswith("[") else 1
    letter, after = alternative[:end], alternative[end:]
    if not letter.strip("[]").replace("'", "").isalpha() or after[:1] in ("*", "+", "{"):
        raise ValueError(f"No list may begin so: {alternative}")
    if after.startswith("?"):
        yield letter, after[1:]
        yield from _after_first_letter(after[1:])
    else:
        yield letter, after


def _closing(pattern: str) -> int:
    """Return where the group that a pattern begins with ends."""
    depth = 0
    for place, char in enumerate(pattern):
        depth += (char == "(") - (char == ")")
        if not depth:
            return place
    raise ValueError(f"A group does not end: {pattern}")


def _rule(name: str, weight: float, says: str, source: str) -> InjectionRule:
    return InjectionRule(name, weight, says, source.replace(" ", r"\ "))


def fold_pattern(pattern: str) -> str:
    """Return a pattern as a text is compared: without accents; its signs stay."""
    return (
        pattern if pattern.isascii() else "".join(char if char.isascii() else plain_letters(char) for char in pattern)
    )


def _split(pattern: str) -> list[str]:
    """Return the alternatives of a pattern, those within groups left together."""
    parts, depth, last = [], 0, 0
    for place, char in enumerate(pattern):
        depth += (char in "([") - (char in ")]")
        if char == "|" and not depth:
            parts.append(pattern[last:place])
            last = place + 1
    return [*parts, pattern[last:]]
