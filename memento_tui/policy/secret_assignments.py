"""Find secrets by their context: ``password: hunter2``, headers, command lines, URLs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memento_tui.policy.secret_patterns import SecretSpan, is_key, is_password, is_placeholder

__all__ = ["assignment_spans", "secret_kind_of_field"]

_PASSWORD_WORD = re.compile(
    r"""(?x) passw(?:or)?d | passwort | passphrase | passcode | pwd | kennwort | contrase(?:ñ|n)a | mot\ de\ passe
    | senha | парол[ья] | 密码 | 密碼 | パスワード | pass | pw
    | secret | token | key""",
    re.ASCII,
)
_KEYS = frozenset({"secret", "token", "key"})
_SHORT = frozenset({"pass", "pw", "senha"})
"""Words that may be part of others, such as compass, and mean a password only where something is assigned."""
_QUALIFIED_KEY_WORD = re.compile(
    r"""(?x) (?: api | access | auth | account | private | signing | encryption | master | service | license | shared
    | storage | client | webhook | consumer | deploy | bot | session | refresh | bearer | jwt | app | admin
    | secret ) [ _-]?$""",
    re.ASCII,
)
"""The words before ``key`` where that means a secret and not, say, the key of a cache."""
_ASSIGNED = re.compile(
    r"""(?x) (?: s? | \d{1,2} | [_-](?:\d{1,2}|prod(?:uction)?|dev|stag(?:e|ing)|test|local|admin|root|db|user|main
        |backup|old|new|value|plain|key) )
    (?: \\?["'`\])*_]{0,4}
        (?P<about> \s{1,3}(?:for|of|on|to|at|in|für)\s[^\n:="'`]{1,40}? | \s?\([^()\n]{1,40}\) )?
        (?: \s{0,4} (?P<sign> := | => | ={1,3} | : | \uff1a )
            | \s{1,2} (?:is|was|to|ist|lautet|es|est) (?=[\s:]) :? )
        \*{0,2} [^\S\n]{0,4} (?P<lines>\n[^\S\n]{0,8})?
    | \ {1,2}(?=["'`]) )""",
    re.ASCII,
)
"""The text from the word to the value: a suffix, quotes, a purpose, and a sign or a verb; or a quoted value at once."""
_FLAG = re.compile(
    r"(?<![\w-])--?(?:[a-z]{1,20}[-_]){0,3}(?:passwd|password|passphrase|pass|token|secret|api-?key|key)\ {1,4}",
    re.ASCII,
)
_SHELL = re.compile(
    r"(?:sshpass\s{1,3}-p\s{0,2}|(?:mysql|mysqldump|mariadb)\b[^\n|;]{0,80}?\s-p)(?=[^\s-])"
    r"|(?:curl|wget|http)\b[^\n|;]{0,160}?\s(?:-u|--user|-a)[ =]{0,2}[\"']?[^\s:\"']{1,64}:",
    re.ASCII,
)
_LOGIN = re.compile(
    r"(?:credentials?|creds)\s{0,2}(?:[:=]|\b(?:is|are))?\s{0,2}[`\"']?[\w.@+-]{2,40}(?::| / )", re.ASCII
)
_HEADER = re.compile(
    r"(?<![a-z])(?:authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?(?:(?:bearer|basic|token|apikey|digest|bot)\s{1,3})?"
    r"|(?:bearer|basic)[ :=\"']{1,3})",
    re.ASCII,
)
_URL = re.compile(r"://([^\s/:@?#\"'<>`]{0,100}):([^\s/\"'<>`]{1,300})@(?!sha\d)", re.ASCII)

_VALUE = re.compile(
    r"""(?x) (?P<open>\\?["'`]) (?P<quoted>[^"'`\n\\]{1,1024}) (?=\\?["'`])
    | \*{0,2} (?P<bare> [^\s"'`;&,<>|\\]{1,1024}+
        (?: [&,](?![A-Za-z_.-]{1,30}[=:;]) [^\s"'`;&,<>|\\]{1,1024}+ ){0,8} )""",
    re.ASCII,
)
"""In quotes, or up to white space or the next ``name=`` of a list."""
_ALONE = re.compile(r"""["'`\\]{0,2}[.,;)\]}*]{0,3}[^\S\n]{0,4}(?:$|[\n&;|\\]|\w{1,30}=)""", re.ASCII)
_HEADER_VALUE = re.compile(r"[\w.~+/=:-]{8,}+", re.ASCII)
_STAND_INS = frozenset({"password", "passwd", "pass", "pwd", "pw", "secret", "token", "key"})
_PLACEHOLDER_USERS = frozenset({"user", "username", "usr", "u", "name", "me", "login", "token", "key", "id"})
_NAME_END = re.compile(r"s?|\d{1,2}|[_-](?:\d{1,2}|prod|dev|staging|test|key|value)", re.ASCII)


def assignment_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every secret that follows a word for secrets.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    read = _lowered(text)
    for words, finder in _FINDERS:
        if not gated or _any_of(words, read):
            yield from finder(text, read)


def _any_of(words: tuple[str, ...], text: str) -> bool:
    for word in words:  # noqa: SIM110 - half the time of any() over a generator, on every write
        if word in text:
            return True
    return False


def _lowered(text: str) -> str:
    """Return the text in lower case with every character in its place; one letter alone becomes two in lower case."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "\u0131").lower()


def _assignments(text: str, read: str) -> Iterator[SecretSpan]:
    for word in _PASSWORD_WORD.finditer(read):
        match = _ASSIGNED.match(read, word.end())
        if match is not None and _means_secret(read, word):
            plain = match["sign"] is not None and match["about"] is None
            if plain or word[0] not in _SHORT:
                quoted = match["lines"] is not None
                yield from _value_spans(text, word, match.end(), plain=plain, quoted=quoted)


def _means_secret(read: str, word: re.Match[str]) -> bool:
    start = word.start()
    if word[0] == "key":
        return _QUALIFIED_KEY_WORD.search(read[max(0, start - 16) : start]) is not None
    return word[0] not in _SHORT or not read[start - 1 : start].isalpha()


def _flags(text: str, read: str) -> Iterator[SecretSpan]:
    for match in _FLAG.finditer(read):
        word = _PASSWORD_WORD.search(match[0])
        if word is not None:
            yield from _value_spans(text, word, match.end(), plain=False, quoted=False)


def _value_spans(text: str, word: re.Match[str], at: int, *, plain: bool, quoted: bool) -> Iterator[SecretSpan]:
    """Yield the value at ``at`` if it is a secret of the kind that the word names.

    A ``plain`` value follows a sign and may be a single word. ``quoted`` says that only one in quotation marks counts.
    """
    value = _VALUE.match(text, at)
    if value is None or (quoted and value["quoted"] is None):
        return
    start, end = _span(value)
    if word[0] in _KEYS:
        if is_key(text[start:end]):
            yield start, end, _key_kind(word[0])
    elif is_password(text[start:end], loose=plain and (value["quoted"] is not None or _is_alone(text, word, end))):
        yield start, end, "password"


def _key_kind(word: str) -> str:
    return "token" if word == "token" else "key"


def _is_alone(text: str, word: re.Match[str], end: int) -> bool:
    """Tell whether nothing of a sentence follows a value: it ends its line, or the name is a variable in capitals."""
    return text[slice(*word.span())].isupper() or _ALONE.match(text, end) is not None


def _span(value: re.Match[str]) -> tuple[int, int]:
    """Return where a value begins and ends, without the punctuation of the sentence around a bare one."""
    if value["quoted"] is not None:
        return value.span("quoted")
    bare = value["bare"]
    start = value.start("bare")
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
    """Tell whether what follows Bearer or Basic is a credential: generated, or ``user:password`` in base64."""
    padded = value.endswith("=") and value.rstrip("=").isalnum() and not value.islower()
    return not is_placeholder(value) and (is_key(value) or padded)


def _urls(text: str, _read: str) -> Iterator[SecretSpan]:
    for match in _URL.finditer(text):
        user, secret = match[1].lower(), match[2]
        stands_in = secret.lower() in _STAND_INS and user in _PLACEHOLDER_USERS
        if not stands_in and (secret.lower() in _STAND_INS or not is_placeholder(secret)):
            yield *match.span(2), "password in a URL"


def _kind_of_key(name: str) -> str | None:
    """Return the kind of secret that a field of this name holds, or ``None``: ``dbPassword`` holds a password."""
    read = name[-80:].lower()
    for word in _PASSWORD_WORD.finditer(read):
        if _NAME_END.fullmatch(read, word.end()) and _means_secret(read, word):
            return _key_kind(word[0]) if word[0] in _KEYS else "password"
    return None


def secret_kind_of_field(name: str, value: str) -> str | None:
    """Return the kind of secret that a field's whole value is, judged by the field's name, or ``None``."""
    kind = _kind_of_key(name)
    if kind is None or not (is_password(value, loose=True) if kind == "password" else is_key(value)):
        return None
    return kind


_Finder = Callable[[str, str], Iterator[SecretSpan]]
_FINDERS: tuple[tuple[tuple[str, ...], _Finder], ...] = (
    (("://",), _urls),
    (
        (
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
        ),
        _assignments,
    ),
    (("pass", "token", "secret", "key"), _flags),
    (("curl", "wget", "http", "mysql", "mariadb", "sshpass"), _shell_passwords),
    (("credential", "creds"), _logins),
    (("bearer", "basic", "authorization"), _headers),
)
"""Each finder, with the words of which each of its matches holds at least one."""
