"""Find secrets by their context: ``password: hunter2``, headers, command lines, URLs."""

from __future__ import annotations

# ruff: noqa: RUF001 - quotation marks of many languages are part of the forms
import re
from collections.abc import Callable, Iterable, Iterator

from memento_tui.policy.secret_patterns import (
    DOTTED_NAME,
    SPOKEN,
    SecretSpan,
    is_key,
    is_password,
    is_placeholder,
    lowered,
)
from memento_tui.text.literals import StartedPattern

__all__ = ["assignment_spans", "secret_kind_of_field", "secret_word_in"]

_PASSWORD_WORD = re.compile(
    r"""(?x) passw(?:or)?d | passwort | passphrase | passcode | pwd | kennwort | contrase(?:ñ|n)a | mot\ de\ passe
    | palavra-passe | mdp | senha | парол[ьяею] | 密码 | 密碼 | 口令 | パスワード | 暗証番号 | wachtwoord | has[łl]o
    | l[öo]senord | adgangskode | passord | salasana | heslo | jelsz[óo] | parol[aă] | şifre | sifre | κωδικ[όο]ς
    | סיסמ[הא] | كلمة\ (?:المرور|السر) | पासवर्ड | 비밀번호 | mật\ khẩu | kata\ sandi | รหัสผ่าน | pass | pw
    | secret | token | key | schlüssel | cl[ée]\ (?:d')?api | clave\ (?:de\ )?(?:la\ )?api
    | clave | ключ(?:\ доступа)?\ api | 密钥 | credential
    | _auth | _pat""",
    re.ASCII,
)
_PASSWORD_WORDS = StartedPattern(_PASSWORD_WORD)
_KEYS = frozenset({"secret", "token", "key", "schlüssel", "密钥", "credential", "_auth", "_pat"})
_FOREIGN_API_KEY = re.compile(r"(?:cl|ключ).*api", re.ASCII)
_SHORT = frozenset(
    {"pass", "pw", "mdp", "clave", "senha", "heslo", "haslo", "hasło", "parola", "parolă", "sifre", "şifre"}
)
"""Words that may be part of others, such as compass, and mean a password only where something is assigned."""
_ALWAYS_A_PASSWORD = frozenset({"pw", "mdp"})
"""Those of them that are no word of a sentence."""
_QUALIFIED_KEY_WORD = re.compile(
    r"""(?x) (?: api | access | auth | account | private | signing | encryption | master | service | license | licence
    | shared | storage | client | webhook | consumer | deploy | bot | session | refresh | bearer | jwt | app | admin
    | secret | personal | server | recovery | root | preshared | registry | publish | ci | write | ingest | application
    | integration | developer | tenant | workspace | organi[sz]ation | merchant | sandbox | production | staging
    | sending | subscription | ingestion | collector | backup | rest | smtp | (?<![a-z]) x-[a-z]{2,12} ) [ _.-]?$""",
    re.ASCII,
)
"""The words before ``key`` where that means a secret and not, say, the key of a cache."""
_VARIABLE_KEY = re.compile(r"[A-Z][A-Z0-9]{1,20}[_-]$", re.ASCII)
_HARMLESS_KEY = re.compile(
    r"(?:CACHE|PRIMARY|FOREIGN|PUBLIC|SORT|PARTITION|INDEX|HASH|IDEMPOTENCY|ROW|MAP|LOOKUP|I18N|TRANSLATION|SITE|STATE)[_-]$"
)
_ASSIGNED = re.compile(
    r"""(?x) (?: s? | \d{1,2} | [_-](?:\d{1,2}|prod(?:uction)?|dev|stag(?:e|ing)|test|local|admin|root|db|user|main
        |backup|old|new|value|plain|key|hash|base|string|text|b64|base64|encoded|primary|secondary|default) )
    (?: \\?["'`\])*_]{0,4}
        (?P<about> \s{1,3}(?:for|of|on|to|at|in|für|fürs|zum|zur|vom|von|im|am|des|der|beim|you|we|from|by|that|with|de
            |del|du|da|do|dos|pour|para|au|aux|per|di|della|для|от|van|voor)\s[^\n:="'`]{1,40}?
            | \s(?:changed|updated|rotated|geändert|modifié|cambiada)(?=\s?:)
            | \s[a-zà-ÿ]{3,16}(?:\s[a-zà-ÿ]{2,16})?(?=\s(?:est|es|é|è)\s)
            | \s?\([^()\n]{1,40}\) )?
        (?: \s{0,4} (?P<sign> := | [=-]> | → | ={1,3} | : | \uff1a )
            | \s{0,3} (?P<call> [,(] ) [^\S\n]{0,3} (?=["'])
            | [^\S\n]{0,4} (?P<cell> \| | \t ) | [^\S\n]{1,3} (?P<dash> --? | \u2013 | \u2014 ) (?=\s)
            | \s{1,2} (?:(?:is|was|are|were|will\sbe)(?:\snow)?|(?:has\sbeen\s|was\s|is\s)?(?:set|changed|reset)\sto
                |to|ist|será|sera|(?:geändert|gesetzt|zurückgesetzt)\sauf|(?:changé|modifié|remplacé)\s(?:en|par)
                |lautet|es|est|è|é|e|är|er|on|jest|to|je|là|adalah|είναι|είν) (?=[\s:]) :?
            | \s?(?:是|は|を|은|는|改[成为為]了?|[设設]置?[为為成]了?)\s? )
        \*{0,2} [^\S\n]{0,4} (?: [>|][+-]?(?=\n) )? (?P<lines>\n[^\S\n>]{0,8})?
    | (?P<space> [^\S\n]{1,3} ) (?=[^\s\-\u2013\u2014|=:(\[{]) )""",
    re.ASCII,
)
"""The text from the word to the value: a suffix, quotes, a purpose, and a sign or a verb; or the value at once."""
_FLAG = re.compile(
    r"-(?<![\w-]-)-?(?:[a-z]{1,20}[-_]){0,3}"
    r"(?:passwd|password|passphrase|(?:store|key)?pass|token|secret|api-?key|key)\ {1,4}",
    re.ASCII,
)
_SHELL = re.compile(
    r"(?:sshpass\s{1,3}-p\s{0,2}|(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,80}?\s-p)(?=[^\s-])"
    r"|(?:curl|wget|http)\b[^\n|;]{0,160}?\s(?:-u|--user|-a)[ =]{0,2}[\"']?[^\s:\"']{1,64}:",
    re.ASCII,
)
_LOGIN = re.compile(
    r"(?:credentials?|creds)(?:\s{0,2}[:=]|\s{1,2}(?:is|are)\b|\s)\s{0,2}[`\"']?[\w.@+-]{2,40}(?::(?!:)|\s?/\s?)",
    re.ASCII,
)
_HEADER = re.compile(
    r"(?<![a-z])(?:authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?(?:[a-z][a-z-]{1,24}\s{1,3})?(?:(?:token|key)=[\"']?)?"
    r"|(?:bearer|basic)[ :=\"']{1,3})",
    re.ASCII,
)
_DOTTED = re.compile(DOTTED_NAME, re.ASCII)
_URL = re.compile(r"://([^\s/:@?#\"'<>`]{0,100}):([^\s/\"'<>`]{1,300})@(?!sha\d)", re.ASCII)

_VALUE = re.compile(
    r"""(?x) (?P<open>(?:[bfruBFRU]{1,2}|@\$?|\$@?)?\\?["'`]) (?P<quoted>[^"'`\n\\]{1,1024}) (?=\\?["'`])
    | [«“„‚‘「『] [ ]? (?P<curly>[^«»“”„‘’「」『』\s]{1,1024}(?:[ ][^«»“”„‘’「」『』\s]{1,80}){0,8}) [ ]? [»”“’」』]
    | \*{0,2} (?P<bare> [^\s"'`;&,<>|\\]{1,1024}+
        (?: [&,](?![A-Za-z_.-]{1,30}[=:;]) [^\s"'`;&,<>|\\]{1,1024}+ ){0,8} )""",
    re.ASCII,
)
"""In quotes, or up to white space or the next ``name=`` of a list."""
_ALONE = re.compile(r"""["'`\\]{0,2}[.,;)\]}*]{0,3}[^\S\n]{0,4}(?:$|[\n&;|\\]|\w{1,30}=)""", re.ASCII)
_HEADER_VALUE = re.compile(r"[\w.~+/=:-]{8,}+", re.ASCII)
_STAND_INS = frozenset({"password", "passwd", "pass", "pwd", "pw", "secret", "token", "key"})
_PLACEHOLDER_USERS = frozenset({"user", "username", "usr", "u", "name", "me", "login", "token", "key", "id"})
_NAME_END = re.compile(r"s?|\d{1,2}|[_-](?:\d{1,2}|prod|dev|staging|test|key|value|base|b64|base64)", re.ASCII)


def assignment_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every secret that follows a word for secrets.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    read = lowered(text)
    held = SPOKEN.held_in(read)
    for words, finder in _FINDERS:
        if not gated or not held.isdisjoint(words):
            yield from finder(text, read)


def _assignments(text: str, read: str) -> Iterator[SecretSpan]:
    for word in _PASSWORD_WORDS.finditer(read):
        match = _ASSIGNED.match(read, word.end())
        if match is None or not _means_secret(text, read, word, match["about"] or "") or _is_open(read, word):
            continue
        if text.startswith("?", match.end()) and text.rfind("${", max(0, word.start() - 40), word.start()) >= 0:
            continue  # ${NAME:?message}
        if match["cell"] is not None and text.rfind("{{", max(0, word.start() - 40), word.start()) >= 0:
            continue  # {{ .Values.password | b64enc }}
        if match["sign"] == ":" and read.rfind("arn:", max(0, word.start() - _NEARBY_CHARACTERS), word.start()) >= 0:
            continue  # the name of a thing at Amazon
        signed = match["sign"] is not None or match["call"] is not None
        bare = match["space"] is not None
        if not signed and word[0] in _SHORT and match["cell"] is None and not (bare and word[0] in _ALWAYS_A_PASSWORD):
            continue
        plain = signed and match["about"] is None and (word[0] not in _SHORT or _is_login(read, word, match))
        quoted = match["lines"] is not None and not (plain and text[match.end() - 1] == " ")
        who = _user_before(read, word.start()) if bare else None
        if who is not None and (who["user"] or who["who"] in _ACCOUNTS):
            plain, bare = who["who"] in _ACCOUNTS, False
        yield from _value_spans(text, word, match.end(), plain=plain, quoted=quoted, bare=bare)


_USER_BEFORE = re.compile(
    r"""(?x) (?<![\w-]) (?P<user> (?: user(?:\s?name)? | login | account | usr | e-?mail )
        (?: \s{0,2} [:="'`(]{1,3} \s{0,2} | \s{1,3} ) (?: (?: is | named | called | with | as ) \s )? )?
    ["'`]? (?P<who> [\w@.+\\-]{1,60}+ ) ["'`]? \s{0,3} [,;/|)]? \s{0,12}
    (?: and\s{1,3} | with\s{1,3} | the\s{1,3} | its\s{1,3} | initial\s{1,3} | -\s ){0,3} (?: a\s | db\s )? $""",
    re.ASCII,
)
_ACCOUNTS = frozenset("admin administrator root guest deploy sa postgres mysql ci ubuntu oracle".split())  # noqa: SIM905 - shorter
"""Names of accounts after which any word is a password: user admin, password swordfish."""
_WHO_WORDS = ("user", "login", "account", "usr", "mail", *(name for name in _ACCOUNTS if len(name) > 2))  # noqa: PLR2004 - others stand in many words
_BRIEF_ACCOUNT = re.compile(r"[sc](?:(?<=s)a|(?<=c)i)(?![\w@.+\\-])(?<![\w-]..)", re.ASCII)


def _user_before(read: str, start: int) -> re.Match[str] | None:
    """Return the match of `_USER_BEFORE` in the characters before a place; none that names no user and no account."""
    first = max(0, start - _NEARBY_CHARACTERS)
    before = read[first:start]
    if not any(word in before for word in _WHO_WORDS) and _BRIEF_ACCOUNT.search(read, first, start) is None:
        return None
    return _USER_BEFORE.search(read, first, start)


_USER_NEARBY = re.compile(
    r"\b(?:user|login|log\ in|host|account|admin|root|smtp|db|ssh|ftp|email|e-mail|credential)", re.ASCII
)
_NEARBY_CHARACTERS = 80


def _is_login(read: str, word: re.Match[str], match: re.Match[str]) -> bool:
    """Tell whether a short word such as pass means a password: it is a field's name, or a user is named before it."""
    # "7/7 phases PASS: explore" and "Monthly pass: yes" name no password.
    before = read[max(0, word.start() - _NEARBY_CHARACTERS) : word.start()]
    return match["sign"] in ("=", ":=", "=>") or _USER_NEARBY.search(before) is not None


_OPEN_BEFORE = re.compile(
    r"(?:public|publishable|search-only|anon|next_?page|cursor|continuation|sealed|site)[ _-]{0,2}"
    r"(?:(?:api|project|client)[ _-])?$",
    re.ASCII,
)
"""The words before ``key`` or ``token`` that say that everybody may see it, such as ``public``."""


def _is_open(read: str, word: re.Match[str]) -> bool:
    start = word.start()
    return word[0] in _KEYS and _OPEN_BEFORE.search(read, max(0, start - _NEARBY_CHARACTERS), start) is not None


def _means_secret(text: str, read: str, word: re.Match[str], about: str) -> bool:
    start = word.start()
    if word[0] == "key":
        if _QUALIFIED_KEY_WORD.search(read[max(0, start - 16) : start]) is not None or " api" in about:
            return True
        name = text[max(0, start - 24) : start]
        return text[start : word.end()] == "KEY" and bool(_VARIABLE_KEY.search(name)) and not _HARMLESS_KEY.search(name)
    if word[0] in ("schlüssel", "_pat"):
        return word[0] == "_pat" or read[max(0, start - 4) : start] in ("api-", "api ")
    if word[0] == "_auth":
        return not read[word.end() : word.end() + 1].isalpha()
    if word[0] == "passwd" or word[0] == "password":
        return read[start - 1 : start] != "1"  # 1Password keeps passwords
    before = text[start - 1 : start] if start else ""
    return word[0] not in _SHORT or not before.isalpha() or (before.islower() and text[start].isupper())


def _flags(text: str, read: str) -> Iterator[SecretSpan]:
    for match in _FLAG.finditer(read):
        word = _PASSWORD_WORD.search(match[0])
        if word is not None:
            yield from _value_spans(text, word, match.end(), plain=True, quoted=False, sure=True)


def _value_spans(
    text: str, word: re.Match[str], at: int, *, plain: bool, quoted: bool, bare: bool = False, sure: bool = False
) -> Iterator[SecretSpan]:
    """Yield the value at ``at`` if it is a secret of the kind that the word names.

    A ``plain`` value follows a sign and may be a single word, where nothing of a sentence follows it or ``sure`` says
    that there is none. ``quoted`` says that only one in quotation marks counts, ``bare`` that nothing but a space
    stands before it.
    """
    value = _VALUE.match(text, at)
    if value is None or (quoted and value["bare"] is not None):
        return
    start, end = _span(value)
    found = text[start:end]
    if word[0] in _KEYS or _FOREIGN_API_KEY.match(word[0]):
        if bare and len(found) < _MIN_BARE_KEY_CHARACTERS:
            return
        if is_key(found, uuid=_is_strong(text, word)) or (word[0] == "_auth" and _PAIR.fullmatch(found)):
            yield start, end, _key_kind(word[0])
        elif (
            word[0] == "secret"
            and is_password(found, loose=False)
            and _looks_chosen(found)
            and not _NAME_OF_SECRET.match(found)
        ):
            yield start, end, "password"
    elif bare and value["bare"] is not None:
        if is_password(found, loose=False) and _looks_chosen(found):
            yield start, end, "password"
    elif is_password(found, loose=plain and (sure or value["bare"] is None or _is_alone(text, word, end))):
        yield start, end, "password"


_NAME_OF_SECRET = re.compile(r"[a-z]+(?:[-_./][a-z0-9]+)+$", re.ASCII | re.IGNORECASE)
"""A value such as ``my-app-secrets-v2`` names a secret, and is none."""
_MIN_BARE_KEY_CHARACTERS = 16
"""Characters of a key that follows its word without a sign: ``API key 5d4d97f437cb777f``."""
_PAIR = re.compile(r"[A-Za-z0-9+/]{8,}={0,2}", re.ASCII)
_STRONG_WORD = re.compile(
    r"(?:api|access|auth|refresh|bearer|deploy|bot|ci|registry|publish|private|personal|session|client|id|upload|admin|root"
    r"|account|service|machine|webhook|workspace|agent|[a-z0-9]_|[a-z]-|--|[a-z]\.)"
    r"[ _-]?$",
    re.ASCII,
)
_NOTHING_CHOSEN = re.compile(
    r"(?:[a-z]+[-_/.])*[a-z]+s?\d?|v?\d[\d.]*\w?|[^\w]+|\d+[-\w]*(?:chars?|bits?|days?|min|h)", re.ASCII | re.IGNORECASE
)


def _is_strong(text: str, word: re.Match[str]) -> bool:
    """Tell whether the word is used of nothing but secrets, so that a UUID beside it is one."""
    if word[0] != "token":
        return True
    before = text[max(0, word.start() - 10) : word.start()]
    return _STRONG_WORD.search(before.lower()) is not None


def _looks_chosen(value: str) -> bool:
    """Tell whether a value after a mere space is a password: the password hunter2, but not the password page2."""
    digits = sum(char.isdigit() for char in value)
    signs = sum(not char.isalnum() and char not in "-_./" for char in value)
    return len(value) >= 6 and (digits > 0 or signs > 1) and _NOTHING_CHOSEN.fullmatch(value) is None  # noqa: PLR2004 - as everywhere


def _key_kind(word: str) -> str:
    return "token" if word in ("token", "_auth", "_pat") else "key"


_UNSPACED_SENTENCE = re.compile("(?<=[!-~])[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]")
"""Where a sentence goes on after a value without a space, as in Japanese and Chinese."""


def _is_alone(text: str, word: re.Match[str], end: int) -> bool:
    """Tell whether nothing of a sentence follows a value: it ends its line, or the name is a variable in capitals."""
    return text[slice(*word.span())].isupper() or _ALONE.match(text, end) is not None


def _span(value: re.Match[str]) -> tuple[int, int]:
    """Return where a value begins and ends, without the punctuation of the sentence around a bare one."""
    if value["bare"] is None:
        return value.span("curly" if value["quoted"] is None else "quoted")
    bare = value["bare"]
    start = value.start("bare")
    if not bare.isascii():
        bare = _UNSPACED_SENTENCE.split(bare, maxsplit=1)[0] or bare
    return start, start + len(bare.rstrip(".,:*" if any(char in bare for char in "([{") else ".,:)]}*"))


def _shell_passwords(text: str, read: str) -> Iterator[SecretSpan]:
    yield from _spans_after(_SHELL.finditer(read), text, loose=True)


def _logins(text: str, read: str) -> Iterator[SecretSpan]:
    yield from _spans_after(_LOGIN.finditer(read), text, loose=False)


def _spans_after(matches: Iterator[re.Match[str]], text: str, *, loose: bool) -> Iterator[SecretSpan]:
    for match in matches:
        value = _VALUE.match(text, match.end())
        if value is not None:
            start, end = _span(value)
            if is_password(text[start:end], loose=loose):
                yield start, end, "password"


def _headers(text: str, read: str) -> Iterator[SecretSpan]:
    for match in _HEADER.finditer(read):
        value = _HEADER_VALUE.match(text, match.end())
        if value is not None and _is_credential(value[0]):
            yield *value.span(), "Authorization header"


def _is_credential(value: str) -> bool:
    """Tell whether the word after Bearer or Basic is a credential: generated, or ``user:password`` in base64."""
    padded = value.endswith("=") and value.rstrip("=").isalnum() and not value.islower()
    return not is_placeholder(value) and (is_key(value, uuid=True) or padded)


def _urls(text: str, _read: str) -> Iterator[SecretSpan]:
    for match in _URL.finditer(text):
        user, secret = match[1].lower(), match[2]
        stands_in = secret.lower() in _STAND_INS and user in _PLACEHOLDER_USERS
        # Parts of a program are named in a template's braces: ``amber.drizzle7`` in a URL is what somebody chose.
        is_stand_in = is_placeholder(secret) and not (_DOTTED.fullmatch(secret) and secret_word_in(secret) is None)
        if not stands_in and (secret.lower() in _STAND_INS or not is_stand_in):
            yield *match.span(2), "password in a URL"


def secret_word_in(name: str) -> str | None:
    """Return the kind of secret that a field of this name holds, or ``None``: ``dbPassword`` holds a password."""
    name = name[-80:]
    read = lowered(name)
    for word in _PASSWORD_WORD.finditer(read):
        if _NAME_END.fullmatch(read, word.end()) and _means_secret(name, read, word, ""):
            return _key_kind(word[0]) if word[0] in _KEYS else "password"
    return None


def secret_kind_of_field(name: str, value: str, *, beside: Iterable[str] = ()) -> str | None:
    """Return the kind of secret that a field's whole value is, judged by the field's name, or ``None``.

    ``beside`` are the names of the fields beside it: ``pass`` means a password only where a user or a host is named.
    """
    kind = secret_word_in(name)
    if kind is None:
        return None
    if kind != "password":
        return kind if is_key(value, uuid=name.lower() != "token") else None
    loose = name.lower() not in _SHORT or any(_USER_NEARBY.match(str(other).lower()) for other in beside)
    return kind if is_password(value, loose=loose) else None


_Finder = Callable[[str, str], Iterator[SecretSpan]]
_FINDERS: tuple[tuple[frozenset[str], _Finder], ...] = (
    (SPOKEN.add("://"), _urls),
    (
        SPOKEN.add(
            "pass",
            "pwd",
            "pw",
            "secret",
            "token",
            "key",
            "kennwort",
            "contrase",
            "senha",
            "парол",
            "密码",
            "密碼",
            "パスワード",
            "wachtwoord",
            "haslo",
            "hasło",
            "senord",
            "adgangskode",
            "salasana",
            "heslo",
            "jelsz",
            "parol",
            "ifre",
            "κωδικ",
            "סיסמ",
            "كلمة",
            "पासवर्ड",
            "비밀번호",
            "khẩu",
            "kata sandi",
            "รหัสผ่าน",
            "api",
            "密钥",
            "口令",
            "暗証番号",
            "mdp",
            "clave",
            "credential",
            "schlüssel",
            "_auth",
            "_pat",
        ),
        _assignments,
    ),
    (SPOKEN.add("pass", "token", "secret", "key"), _flags),
    (SPOKEN.add("curl", "wget", "http", "mysql", "mariadb", "sshpass"), _shell_passwords),
    (SPOKEN.add("credential", "creds"), _logins),
    (SPOKEN.add("bearer", "basic", "authorization"), _headers),
)
"""Each finder, with the words of which each of its matches holds at least one."""
