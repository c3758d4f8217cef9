"""Find passwords that a sentence or a pair gives away: beside an account's name, or after the word in many languages."""

from __future__ import annotations

# ruff: noqa: E501, RUF001 - a form is read most easily in one line; words of other alphabets are part of it
import re
from collections.abc import Iterator

from memento_tui.policy.secret_patterns import (
    SPOKEN,
    SecretSpan,
    is_chosen,
    is_drawn,
    is_password,
    is_phrase,
    is_placeholder,
    turns_of,
)
from memento_tui.text.literals import StartedPattern

__all__ = ["answer_spans", "is_telling_or_worded", "login_spans", "seed_spans"]

_MAX_CHARACTERS = 64
_MIN_CHARACTERS = 6
"""Characters of the shortest password that is found here."""

_ACCOUNT = r"""(?: [\w.+-]{1,60}@[\w-]{1,40}(?:\.[\w-]{2,20}){1,3} | [\w.-]{0,20}(?:admin|administrator|root)\d{0,4} | svc[_.-][\w.-]{1,30} | [\w.-]{1,30}[_.-]svc
    | elastic | postgres | mysql | deploy | guest | sa | ubuntu | pi | kiosk | sysop | ansible | nagios )"""
_PAIR = re.compile(
    rf"""(?x) (?<![\w@./\\-]) (?: (?P<sure> {_ACCOUNT} | [\w.-]{{1,30}}@\d{{1,3}}(?:\.\d{{1,3}}){{3}} ) | (?P<who> [a-z][\w.@+\\-]{{1,40}} ) ) ["'`]? (?P<sep> \s?/\s? | \s?:\s? | ,\s | \s[-–—]\s | \s?\|\s? | \s\#\s | \s\(\s? | \t | \s{{2,8}}
        | \s(?:with|and|pw|pass|mit|avec|con|com|met|med)\s | \s )
    ["'`]? (?= (?P<value> (?![\w.-]{{0,60}}[/\\@:] (?!\d)) [^\s"'`<>|;,()\[\]{{}}]{{{_MIN_CHARACTERS},64}}+ ) )""",
    re.ASCII | re.IGNORECASE,
)
"""An account, a separator, and the password."""
_LOGIN_CONTEXT = re.compile(
    r"""(?x) (?<![a-z]) (?: log(?:ged)?[ -]?(?:in|on|into) | sign(?:ed)?[ -]in | login | creds? | credentials? | username | user | vpn | ftp | sftp | rdp | ssh | ipmi | idrac
        | ilo | smb | smtp | imap | pop3 | mqtt | ldap | bind | sudo | webmail | admin | root | portal | console | staging | demo | gate | basic\ auth | test\ user | dashboard | panel | account | konto | zugang | zugangsdaten | compte | cuenta | conta
        | inlog\w* | identifiants | benutzer | utente | usuario | usuário | utilisateur | användare | konto | ログイン | 登录 | 账号 | логин | доступ ) (?![a-z]) | логин | ログイン | 登录 | 账号 | 계정""",
    re.ASCII,
)
_MAX_CONTEXT = 100
"""Characters before a pair in which a word for a login is looked for."""
_PLACES = ("/", ":", "|", "#", "pw", "pass")
_LINKS = (*_PLACES, ",", "-", "–", "—", "(", "with", "mit", "avec", "con", "com", "met", "med")


def login_spans(text: str, read: str, mixed: list[str]) -> Iterator[SecretSpan]:
    """Yield the password of every pair of an account and a password, and every one that a word leads to.

    ``read`` is the text in lower case, as long as the text; ``mixed`` are its words that hold a digit.
    """
    if not any(_may_be_password(part) for word in mixed for part in _parts(word)):
        return
    for pair in _PAIR.finditer(text):
        value, separator = pair["value"].rstrip(".!?:" if pair["value"][-1] in ".:" else "."), pair["sep"].strip()
        if _fits_pair(pair, value, separator, read):
            start = pair.start("value")
            yield start, start + len(value), "password"
    if not _STEMS.isdisjoint(SPOKEN.held_in(read)):
        yield from _after_words(text, read)


def _parts(word: str) -> list[str]:
    """Return the parts of a word between signs that may separate a password from its neighbours."""
    parts = [part for part in _PARTING.split(word) if len(part) >= _MIN_CHARACTERS]
    return parts + [shorter for part in parts for shorter in _PARTING_PLACE.split(part) if shorter != part]


_PARTING = re.compile("[\"'`<>|;,()\\[\\]{}«»“”„=→\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]")
_PARTING_PLACE = re.compile("[/:]")


def _may_be_password(part: str) -> bool:
    value = part.rstrip(".:?!")
    return (
        _MIN_CHARACTERS <= len(value) <= _MAX_CHARACTERS
        and any(map(str.isdigit, value))
        and (is_telling_or_worded(part) or is_telling_or_worded(value))
    )


def _fits_pair(pair: re.Match[str], value: str, separator: str, read: str) -> bool:
    if len(value) < _MIN_CHARACTERS or not any(map(str.isdigit, value)) or is_placeholder(value):
        return False
    if pair["sure"] is not None:
        if separator in _PLACES:
            return _is_strong(value) or _is_worded(value) or _is_drawn(value)
        return _is_strong(value) or _is_drawn(value) or (_is_worded(value) and _has_login_near(pair, read))
    if separator not in _LINKS:
        return False
    if pair["sep"] == " / " and _is_strong(value) and _PLAIN_SIGN.search(value) is not None:
        return True
    drawn = _is_drawn(value) and len(value) <= _MAX_DRAWN_CHARACTERS
    signed = _is_strong(value) and not value.isalnum()
    return (signed or drawn or _is_worded(value)) and _has_login_near(pair, read)


_PLAIN_SIGN = re.compile(r"[!#$%&*?]", re.ASCII)
"""A sign that stands in passwords and in nothing that is encoded."""
_MAX_DRAWN_CHARACTERS = 18
"""The most characters of a password made at random; longer ones are keys, which other rules find."""


def _has_login_near(pair: re.Match[str], read: str) -> bool:
    start, end = pair.start(), pair.end("value")
    first = max(0, start - _MAX_CONTEXT, read.rfind("\n\n", 0, start) + 1)
    after = read.find("\n", end, end + _MAX_AFTER)
    return (
        _LOGIN_CONTEXT.search(read, first, start) is not None
        or _LOGIN_CONTEXT.search(read, end, end + _MAX_AFTER if after < 0 else after) is not None
    )


_MAX_AFTER = 32
"""Characters after a pair in which a word for a login is looked for."""
_WIDE_SIGNS = "!@#$^*%&?~+"
_NOT_A_WORD = re.compile(
    r"[\w.+-]+@(?:v?\d|[\w-]+\.\w)|[\w./:-]*#\d+$|[A-Za-z]+\d{0,2}[!*?]$|[\w.-]+\([\w, ]*\)?$|(?:[A-Za-z]+-)?v?\d[\d.]*[%+*?!]*$|[A-Z][\w]*\+[A-Z]\w*$|\w+=|\d[\d.]*[-+*]",
    re.ASCII,
)
"""An address, the number of an issue, a word that somebody stresses, a call, a version, two products, or a setting."""


def _is_strong(value: str) -> bool:
    """Tell whether a value looks like a password by itself: letters, digits and a sign that no word holds."""
    if is_chosen(value):
        return True
    return (
        any(sign in value for sign in _WIDE_SIGNS)
        and any(map(str.isdigit, value))
        and sum(map(str.isalpha, value)) > 1
        and _NOT_A_WORD.match(value) is None
        and is_password(value, loose=False)
    )


def _is_drawn(value: str) -> bool:
    body = re.sub(r"[-_]", "", value)
    if len(body) < _MIN_DRAWN_CHARACTERS or not body.isalnum() or not is_password(value, loose=False):
        return False
    return is_drawn(body) or (
        not body.islower() and not body.isupper() and turns_of(body) * 3 >= len(body) >= _MIN_LETTERS
    )


_MIN_DRAWN_CHARACTERS = 8
"""Characters of the shortest password that is generated."""
_MIN_LETTERS = 12
"""Characters of a generated password that may hold a single digit."""
_WORDED = re.compile(
    r"(?:[^\W\d_]{3,20}[-_.]){2,5}\d{2,6}!?|[A-Z][^\W\d_]{2,20}[-_.@]\d{2,6}|[A-Z][a-z]{2,20}[-_.][A-Z][a-z]{2,20}\d{1,6}|[A-Z][a-z]{2,20}\d[A-Z][a-z]{2,20}[!?]?"
)
"""Words with digits behind them or between them, as people make up passwords: Otter_Ember88, granit-timber-88."""


def _is_worded(value: str) -> bool:
    return _WORDED.fullmatch(value) is not None


def is_telling_or_worded(value: str) -> bool:
    """Tell whether a value looks like a password that a person or a program made: by itself, or as words with digits."""
    return _is_strong(value) or _is_worded(value) or _is_drawn(value)


_WORD = re.compile(
    r"""(?x) (?P<english> (?<![a-z]) (?: passwords? | passphrase | passcode | pwd? | pass ) (?![a-z]) (?! [ ] (?: field | policy | reset | hash\w* | column | check\w* | flow | manager | rotation
            | strength | length | rules? | validat\w+ | prompt | file | dialog | input | form | store | generator | page | screen | change | expiry | history | grant
            | authentication | protect\w+ | test | tests | module | package | library | service | middleware | component | class | function | error ) )
        )
    | (?P<login> credential | (?<![a-z]) creds | zugangsdaten | identifiants | (?<![a-z]) log(?:ged)?[ -]?(?:in|on) (?![a-z])
        | (?<![a-z]) sign(?:ed)?[ -]in (?![a-z]) | _pass (?![a-z]) | ログイン | アカウント | 登录 | 账号 | 帳號 | 로그인 | 계정 )
    | (?P<wireless> (?<![a-z]) (?: wi-?fi | wlan | ssid | wpa[23]? | psk | hotspot | vnc | rdp | secret ) (?![a-z]) )
    | passwort(?:s|es)? | kennw(?:o|ö)rt(?:er|s)? | (?<![a-z]) losung(?:swort)? | wlan-?schlüssel | mots?\ de\ passe | (?<![a-z]) mdp | contrase(?:ñ|n)as? | (?<![a-z]) clave (?![a-z])
    | senhas? (?![a-z]) | palavra-passe | парол[а-яё]{1,2} | 密码 | 密碼 | 口令 | パスワード | 暗証番号 | wachtwoord(?:en)? | has[łl](?:o|a|em) (?![a-z]) | l[öo]sen(?:ord(?:et|en)?)? (?![a-z])
    | adgangskode[nr]? | kodeord(?:et)? | passord(?:et)? | salasana[n]? | hesl[oaemu] (?![a-z]) | jelsz[óo]\w{0,4} | parola\w{0,4} | parol[ăa]\w{0,2} | [şs]ifre\w{0,5} | κωδικ | סיסמ | كلمة\ (?:المرور|السر)
    | पासवर्ड | 비밀번호 | 비번 | mật\ khẩu | kata\ sandi | รหัสผ่าน | lozink[aeu] | геслo | slapta[žz]od\w{1,4} | parool\w{0,2} | lykilor\w{1,3}""",
    re.ASCII,
)
"""The words for a password. The English ones are part of many compounds that name something else."""
_WORDS = StartedPattern(_WORD)
_STEMS = SPOKEN.add(
    *"""pass pwd pw wifi wi-fi wlan ssid wpa psk hotspot vnc rdp secret credential creds zugangsdaten identifiants log sign ログイン アカウント 登录 账号 帳號 로그인 계정
    kennw losung wlan mdp contrase clave senha парол 密码 密碼 口令 パスワード 暗証番号 wachtwoord has losen lösen adgangskode kodeord salasana hesl jelsz parol
    ifre κωδικ סיסמ كلمة पासवर्ड 비밀번호 비번 khẩu sandi รหัสผ่าน lozink геслo slapta parool lykilor""".split()  # noqa: SIM905 - as a list it is two pages
)
"""Stems of words, one of which is in every text that the rules can match."""
_VALUE = re.compile(
    r"(?<![\w!@#$^*%&=/.:+~-])[^\W_][^\s\"'`<>|;,()\[\]{}«»“”„]{5,63}|(?<=\s)[!@#%&*][^\s\"'`<>|;,()\[\]{}«»“”„]{5,63}"
)
_TOLD = re.compile(
    r"""(?x) (?: [:=>→(«„“"'`] | [-–—]\s | (?<!\w) (?: is | was | are | be | it's | now | still | so | to | ist | lautet | heißt | est | c'est | era | es | é | è | är | er | on | jest | to | je | là | adalah | είναι | היא
        | הוא | है | هي | คือ | jetzt | ahora | maintenant | nu | teraz | typed | entered | είν | este | van | için | at | uses? | capital | lowercase | exactly | probably | remains | becomes? ) \s | คือ | は | を | 是 | 은 | 는 | \uff1a ) \s{0,3} ["'`«„“*]{0,3} $""",
    re.ASCII,
)
"""The signs and words between the word for a password and the password."""
_PURPOSE = re.compile(
    r"\s(?:of|for|on|to|at|in|for|für|fürs|zum|zur|vom|am|im|der|des|de|del|da|do|du|pour|para|per|di|della|för|till|til|for|voor|van|do|na|k|от|для|к)(?:\s\S{1,20}){1,4}\s"
)
"""The thing that a password is for, in a few words."""
_MAX_GAP = 72
"""Characters between the word and the password."""


def _after_words(text: str, read: str) -> Iterator[SecretSpan]:
    last = 0
    for word in _WORDS.finditer(read):
        start = max(word.end(), last)
        stop = text.find("\n", word.end(), word.end() + _MAX_GAP)
        last = word.end() + _MAX_GAP if stop < 0 else stop
        for match in _VALUE.finditer(text, start, max(start, last)):
            value = match[0].rstrip(".:") if match[0][-1] in ".:" else match[0]
            value = re.split("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]", value, maxsplit=1)[0]
            if not any(map(str.isdigit, value)) or is_placeholder(value) or len(value) < _MIN_CHARACTERS:
                continue
            if word["login"] is not None and not (
                is_chosen(value) and value[-1] not in "!?" and len(value) > _MIN_CHARACTERS + 1
            ):
                continue
            told = _TOLD.search(read, word.end(), match.start()) is not None
            foreign = word["english"] is None and word["wireless"] is None
            between = text[word.end() : match.start()]
            direct = told or (foreign and not between.strip()) or _PURPOSE.fullmatch(between) is not None
            if (value[-1] in "!?" and not direct) or ("=" in value and not told):
                continue
            if (_is_strong(value) and (word["english"] is None or told or is_chosen(value))) or (
                direct and (_is_worded(value) or _is_drawn(value)) and is_password(value, loose=False)
            ):
                yield match.start(), match.start() + len(value), "password"
        if word["wireless"] is None and word["login"] is None:
            yield from _before_word(text, word.start())


_TYPED = re.compile(
    r"""(?i)\b(?:enter|type|typed|entered|use|used|fill in|put|give|eingeben|gib|saisir|tape)\b[^\n"'`]{0,16}["'`](?P<value>[^\s"'`]{6,64})["'`]"""
)
"""A text that somebody types, in quotes, before the word for a password."""


def _before_word(text: str, place: int) -> Iterator[SecretSpan]:
    """Yield the words before the word for a password, in its line, that look like a password by themselves."""
    first = max(0, place - _MAX_GAP, text.rfind("\n", 0, place) + 1)
    typed = _TYPED.search(text, first, place)
    if typed is not None and is_telling_or_worded(typed["value"]) and any(map(str.isdigit, typed["value"])):
        yield *typed.span("value"), "password"
    for match in _VALUE.finditer(text, first, place):
        value = match[0].rstrip(".:!?")
        if match.end() <= place and len(value) > _MIN_CHARACTERS and not value.isalnum() and is_chosen(value):
            yield match.start(), match.start() + len(value), "password"


_QUESTION = re.compile(
    r"""(?x) (?: (?: security | secret | recovery | reset ) [ ] questions? | sicherheitsfrage | geheimfrage | pregunta \s (?: de\ seguridad | secreta ) | question \s (?: secrète | de\ sécurité )
        | pergunta \s (?: de\ segurança | secreta ) | domanda \s (?: segreta | di\ sicurezza ) | säkerhetsfråga | beveiligingsvraag | kontrolní\ otázka | контрольный\ вопрос | секретный\ вопрос | 秘密の質問 | 安全问题 | mother's\ maiden\ name | maiden\ name | geburtsname )
    (?P<between> [^\n]{0,120}? ) (?: (?: ^|\W ) (?: answer(?:ed)? | antwort | réponse | respuesta | resposta | risposta | svar | antwoord | odpověď | ответ | 答え | 答案 )
        (?: (?: \s (?: is | was | there\ is | we\ use | ist | est | es | é | to\ it\ is | on\ file\ is ) )? \s{0,2} [:=→"'-] | \s (?: is | was | ist | est | es | é | är )? ) | (?: \? ["'”]? \s{0,2} (?: [-=:]?> | → | [:=-] ) ) | (?: → | -> | => | [:=] ) (?! [^\n]{0,80} (?: answer | antwort | réponse | respuesta | resposta | risposta | svar | antwoord | odpověď | ответ ) ) )
    \s{0,3} ["'`“„«]{0,2} (?P<answer> [^\W_] [^\n.;,"'`“”»(]{2,60} )""",
    re.ASCII,
)


_NO_ANSWER = re.compile(
    r"(?:nowhere|no|yes|not|none|never|see|in|the|it|they|we|a|an|is|are|only|stored|same|ask|keep|use|must|should|both|all)\b",
    re.ASCII,
)
"""How a sentence begins that answers no such question."""


def answer_spans(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield the answers to the questions by which an account is reset."""
    for match in _QUESTION.finditer(read):
        start, end = match.span("answer")
        answer = text[start:end].rstrip()
        if not answer or is_placeholder(answer) or _NO_ANSWER.match(read, start) is not None:
            continue
        if answer[0].isupper() or any(map(str.isdigit, answer)) or match["between"].strip(" :") != "":
            yield start, start + len(answer), "answer to a security question"


_SEED_NEAR = re.compile(
    r"(?<![a-z])(?:seed|mnemonic|wallet|ledger|trezor|metamask|bip-?39|recovery|phrase|words|wörter|mots|palabras|monero|phantom|keplr|electrum)(?![a-z])",
    re.ASCII,
)
_SEED = re.compile(
    r"(?<![\w-])(?:\d{1,2}[.)]?[ ])?[a-z]{3,8}(?:(?:[ ]|,[ ]?|[ ]?\n[ ]?)(?:\d{1,2}[.)]?[ ])?[a-z]{3,8}){11,24}(?![\w-])",
    re.ASCII,
)
_SEED_LENGTHS = frozenset({12, 13, 15, 18, 21, 24, 25})
"""Words of the phrases that wallets draw."""
_MAX_SEED_GAP = 120


def seed_spans(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield the phrases of wallets: as many plain words as they draw, in a text that speaks of a wallet before them."""
    for match in _SEED.finditer(text):
        words = re.findall(r"[a-z]+", match[0])
        if _SEED_NEAR.search(read, max(0, match.start() - _MAX_SEED_GAP), match.start()) is None:
            continue
        # A phrase of 12 words may stand in a sentence that goes on after it, so the first words that fit are enough.
        if len(words) in _SEED_LENGTHS and len(set(words)) > len(words) - 3 and is_phrase(words, 11):
            yield *match.span(), "recovery phrase"
