"""Name the words around which a person writes a secret down, in many languages, and the signs by which a number counts."""

from __future__ import annotations

import re

# ruff: noqa: E501, RUF001 - words of many alphabets, which a group a line shows best
from functools import lru_cache

from memento_tui.policy.secret_patterns import SPOKEN
from memento_tui.text.literals import Literals
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = ["TRIGGERS", "counts_something", "groups_of_word"]

_COUNTED = re.compile(
    r"""(?x) (?: 秒 | 分 | [个個件回次人円元圓台枚倍字位页頁] | 년 | 초 | 분 | 개 | 명 | 회 | 건 | 원 | 자 | 줄
    | [ ]? (?: [ヶか个個]月 | 毫秒 | ミリ秒 | 分[間钟鐘] | 時間 | 小[时時] | 文字 | 字[符节節元] | バイト | ビット
        | 行目 | トークン | ページ | 밀리초 | 시간 | 바이트 | 비트 | 페이지 ) )
    (?: $ | \W
    | 以 | まで | から | より | です | でし | だ | は | が | を
    | [的了后後内內间間]
    | 까지 | 부터 | 이[상하내다] | 입니다 | 마다 | 만에 | 동안 | [은는이가을를](?:\s|$) )"""
)
"""The words of counted things behind a number, each with a sign that it ends there: 个 also begins 个人.

Words that also go on a sentence about a code, such as 日 and 时, are left out.
"""

_YEAR = re.compile(r"(?:19|20)\d\d年")

_NUMBERED = re.compile(
    r"""(?x) (?: ポート(?:番号)? | 端口[号號]? | [連连]接埠 | 포트(?:\s?번호)?
    | バージョン | 版本[号號]? | 버전 | ステータス(?:コード)? | [状狀][态態][码碼] | 상태\s?코드
    | エラー(?:コード|番号) | [错錯][误誤](?:代?[码碼]) | 에러\s?코드 | 第
    | 最[大多小少長长高低] | [約约] | 上限 | 최[대소] )
    [ ]? (?: [はがをの是为為은는이를을:\uff1a=] [ ]? )? $"""
)
"""Words directly before a number that make it a port, a version, an ordinal or a limit, and no secret."""

_PASSWORD = re.compile(
    r"""(?xi) (?: 密[码碼钥鑰] | 口令 | [验驗][证證][码碼] | パスワード | パスコード | パス | 暗[証證]番号
    | 暗号 | 合言葉 | 認証コード | 비밀번호 | 비번 | 암호 | 인증\s?번호 | 보안\s?코드 | 패스워드
    | pass(?:word|code|phrase|wd)? | pwd? | pin(?:\s?code|码|碼|コード|番号|번호)? )
    \s* (?: 改?[为為成] | [はがをの是은는이가을를:\uff1a=] )? \s* ["'`「『(“【\uff08\u2018]? $"""
)
"""A word for a password directly before a number: that is the password, whatever comes after it."""

_MOST_CHARACTERS_BEFORE = 16


def counts_something(text: str, start: int, end: int) -> bool:
    """Tell whether the number between two places says how much or which, and so is no code that somebody types."""
    before = text[max(0, start - _MOST_CHARACTERS_BEFORE) : start]
    if _PASSWORD.search(before):
        return False
    return bool(_COUNTED.match(text, end) or _YEAR.match(text, start, end + 1) or _NUMBERED.search(before))


_GROUPS = {
    "password": """password passwords passwd passphrase passphrases passcode passwrd pasword pwd pw pass passw passwort
        passwörter kennwort losungswort zugangswort codewort mdp passe sésame contraseña contrasena senha palavra-passe
        parola parolă пароль пароля паролем пароли 密码 密碼 口令 パスワード パス 合言葉 wachtwoord lösenord lösenordet hasło
        hasłem hasła haslo şifre şifresi sifre 비밀번호 암호 salasana heslo jelszó adgangskode passord mot clave frase phrase
        secret secrets секрет duress safeword codeword psk wpa wpa2 wifi wi-fi wlan wlan-schlüssel wlan-passwort
        zugangsdaten credentials creds credential login/password userpass سر المرور كلمة κωδικός
        parole passordet losen lösen losenordet kodord kodeord sesam wachtwoordzin paswoord sandi sandinya mật-khẩu
        khẩu mat-khau passwortsatz codewoord sana tunnussana salasanan heslem heslo: jelszava jelszo jelige parool
        parole: slaptažodis lozinka šifra lozinku geslo contrasenya kontraseña senhas palavra σύνθημα συνθηματικό
        κωδικό κωδικού סיסמה סיסמא кодовое кодовая фраза фразу кодслово слово слова gizli رمز الرمز كود พาสเวิร์ด
        รหัสผ่าน รหัส पासवर्ड паролі passwordnya aikasana tunnuslause hemligt geheime geheim magic passworte wort
        woord mot-de-passe answer answers question antwort""",
    "code": """pin pins puk pincode passcode code codes combination combo keypad keycode digicode doorcode türcode
        zahlenkombination zugangscode codice código codigo kod kode код кодом пин пин-код 暗証番号 验证码 密碼鎖 门禁 unlock
        unlocks disarm arm alarm lock lockbox locker padlock safe tresor cofre kluis caja kasse домофон домофона сейф
        otp extension voicemail door doors gate gates garage shutter entry dial dials press handset button keys meeting tür tor
        haustür entsperren entsperrt porte portail puerta porta portão дверь ворота 门 門 ドア シャッター 金庫 ダイヤル barrier turnstile
        screen tablet phone ipad handy sim card karte carte tarjeta
        kodu kodem koden kodet koodi koodin koodilla koda kody kódja kódot kód kódu kodas šifru pinul pinkode
        pinkoden pin-koden pincodes alarme alarmi alarma alarmet larm larmet larmkod alarmkode sveglia hälytin
        hälytys tastatur klavier tastiera clavier teclado klawiatura türcodes torcode dörrkod dørkode dørkoden
        portkod digicodes interfono interfon citofono portier cassaforte kassakaappi kassaskåp pengeskab sejf sejfu
        sejfie trezor trezoru széf seif χρηματοκιβώτιο κουδούνι συναγερμός συναγερμού πόρτα θυροτηλέφωνο κλειδαριά
        сигнализация сигналізація замок замка калитка подъезд подъезда cadenas candado lucchetto cadeado hangslot
        vorhängeschloss zahlenschloss fahrradschloss schloss schlüsselkasten schlüsselbox schlüsseltresor keybox
        lockers padlocks bikelock cerradura cerrojo serratura fechadura kłódka kilit kilidi kasası kapı kapısı giriş
        girişi bejárat kapukód kulcsszéf bàn-phím khóa khoá cửa บ้าน ประตู दरवाजा keysafe key-safe safes strongbox
        briefcase suitcase koffer valise valigia maleta trunk barriere schranke garagentor entrée entrada ingresso
        sluis poort deur deurcode dør døren dörr dörren ovi oven dveře drzwi brama furtka ușa poarta врата порта
        digits digit ziffern ziffer cijfers siffror numrot numer numara numero número cifre cifras chiffres цифр
        цифры 数字 숫자 dialling keyed puk2 tan tans door-code gate-code panel intercom buzzer klingel turnstiles
        reception elevator lift aufzug ascenseur ascensor remote fernbedienung atm debit bankcard bankkarte ec-karte
        banka kart kartı""",
    "key": """key keys token tokens apikey api-key api_key schlüssel clé clave_api chave ключ ключа 密钥 トークン キー 鍵 키
        토큰 bearer license licence lizenz serial webhook webhooks hook secret_key access_key private privkey seed mnemonic
        recovery backup-code unseal fernet salt pepper encryption hmac signing jwt cookie session sas signature dsn
        access refresh auth authorization x-api-key connection""",
    "account": """user users username usr login benutzer benutzername nutzer usuario utilisateur identifiant account
        admin root administrator administrador administrateur пользователь логин админ 用户 用户名 ユーザー 管理者 guest operator
        support postgres sa deploy konto email e-mail mail gebruiker użytkownik kullanıcı 사용자 member owner service""",
    "enter": """log logged logs login signin sign signed anmelden meldet anmeldung einloggen eingeloggt entra entrar accede
        acceder connecte connecter connexion войти зайти вход 登录 登陆 ログイン 入る inloggen inlog zaloguj giriş sudo ssh sshpass
        su ftp sftp vnc rdp smb psql mysql mysqldump mongosh redis-cli curl wget authenticate authenticated basic_auth
        netrc doas kinit admin-login dashboard
        gets get lets let inside einlass rein reinkommen hinein kommt komme inlogg inloggning logga logger logget
        kirjaudu kirjautuminen sisään přihlášení přihlásit prihlásenie belépés belép bejelentkezés autentificare
        conectare logare prijava prijavi giriyor girilir girilen entre entrez entré entrée accès acceso acesso
        accesso toegang adgang åtkomst pääsy dostęp přístup hozzáférés acces доступ доступу σύνδεση είσοδος כניסה
        دخول الدخول masuk login-nya đăng nhập dang-nhap vào เข้า लॉगिन unlocking logon log-in sign-in portal
        account-login""",
    "use": """use used uses using typed type types enter entered enters opens open opened unlocked decrypt decrypts
        decrypted entsperrt entsperren öffnet öffnen abre abrir ouvre ouvrir apre открывается открывает worked works
        accepts takes try tried asked answer answers reply rotated changed switched now new old was initial default
        still set reset gave told said says dictated remember asks wants wanted expects needs fill fed answered nimm nehmen tippen
        eintippen eingeben poner mettre faire digitar ввести ввёл 输入 打
        press presses pressed dial dials hit hits tap taps key-in keyed punch punches say spoken spell spelled reads
        written noted chose choose chosen picked pick picks made became becomes remains gewählt genommen lautet
        heißt tippt tippe eingabe drücken drückt marque marcar marca digite digitare digita premi premere composer
        composez faites tapez saisir taper naciśnij wpisz wpisać wcisnąć stiskni zadej zadat beüt nyomd üss tast
        taste tastet trykk trykker tryck slå knappa näppäile paina anna typ toets druk bas yaz tuşla gir nhấn bấm gõ
        กด دباؤ اضغط набери наберите набрать введите нажми нажать вводи πάτα πατάς γράψε βάλε נסה הקש 入力 押す 押して 押し 按
        누르 입력 originally former previously formerly früher vorher vroeger tidigere antes prima avant eski régi stary
        starý was: now: ahora agora adesso maintenant jetzt nu nyt teraz nyní most acum теперь сейчас 今 现在 지금 spells""",
    "public": """commit commits sha sha256 sha1 sha512 md5 hash hashes digest checksum integrity etag revision fingerprint
        uuid guid id ids version versions image build ref tag branch publickey public pk_live publishable trace request
        request-id order ticket invoice release migration model tokens max_tokens primary foreign cache sort map i18n
        binding keybinding shortcut""",
    "kept": """stored stores store lives kept keeps vault keychain keyring 1password bitwarden lastpass env environ
        environment variable secretref secretkeyref placeholder policy must should minimum at-least characters rotation
        expires expiry length validator field fields form forms never hashed bcrypt argon2 getenv process.env
        os.environ""",
}

_GROUP_OF: dict[str, tuple[str, ...]] = {}

for _group, _words in _GROUPS.items():
    for _word in _words.split():
        _GROUP_OF[_word] = (*_GROUP_OF.get(_word, ()), _group)

_UNSPACED = re.compile(f"[{UNSPACED_CHARACTERS}]")

_WITHOUT_SPACES = [(word, groups) for word, groups in _GROUP_OF.items() if _UNSPACED.search(word)]

_PIECE = re.compile(r"[_\-./:]+")

_INSIDE = (
    (
        "code",
        (
            "pincode",
            "kód",
            "code",
            "kode",
            "koodi",
            "код",
            "alarm",
            "larm",
            "tresor",
            "zahlen",
            "schloss",
            "暗証",
            "пин",
        ),
    ),
    ("password", ("parol", "salasan", "lösen", "jelsz", "lozink", "heslo", "şifre", "kennw", "losung", "wort")),
    (
        "password",
        ("passw", "pass_", "_pass", "pwd", "passphr", "парол", "密码", "密碼", "パスワード", "contrase", "wachtw"),
    ),
    ("key", ("token", "apikey", "secret", "_key", "schlüssel", "密钥", "トークン")),
)
"""Parts of longer words, by group: of the names of variables, and of languages written without spaces."""

_PARTS = Literals()

_GROUPS_OF_PART: dict[str, set[str]] = {}

for _group, _inside in _INSIDE:
    for _part in _PARTS.add(*_inside):
        _GROUPS_OF_PART.setdefault(_part, set()).add(_group)


TRIGGERS = SPOKEN.add(
    *(" pin", "log in", "logged in", "sign in", "signed in", "get in", "opens ", " salt", " pw"),
    *"""pass pwd keypad code combo combination unlock unseal disarm alarm secret token key credential creds login sudo auth
    admin root wi-fi wifi wlan license licence serial mnemonic seed recovery crypt cookie bearer webhook pepper typed dsn
    hook vnc safe kennwort losung zugang anmeld einlogg öffne tresor sicher sésame connex ouvr contrase clave entra accede
    frase cofre caja senha chave segredo certificado parola codice apre парол пин код ключ вход войти зайти логин откры
    секрет сейф 密 口令 登 码 パス 暗証 ログイン 鍵 キー トークン 合言葉 入 비밀 암호 로그인 키 wachtw inlog sleutel lösen hasło haslo
    şifre sifre giriş heslo jelsz salasana adgangs passord κωδικ سر مرور סיסמ""".split(),  # noqa: SIM905 - as a list it is a page
)
"""Substrings, in lower case, of which a text has one if its words alone can give a secret away."""


@lru_cache(maxsize=16_384)
def groups_of_word(word: str) -> tuple[str, ...]:
    """Return the groups that a word in lower case belongs to, by itself or by its parts."""
    found = _GROUP_OF.get(word)
    if found is not None:
        return found
    groups = {group for piece in _PIECE.split(word) for group in _GROUP_OF.get(piece, ())}
    for part in _PARTS.held_in(word):
        groups |= _GROUPS_OF_PART[part]
    if _UNSPACED.search(word):
        groups |= {group for part, named in _WITHOUT_SPACES if part in word for group in named}
    return tuple(sorted(groups))
