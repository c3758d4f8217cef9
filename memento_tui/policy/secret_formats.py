"""Find secrets by the form in which a program, a file or a sentence hands them over: netrc, tables, commands."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line
import base64
import binascii
import re
from collections.abc import Callable, Iterator

from memento_tui.policy.secret_assignments import secret_word_in
from memento_tui.policy.secret_forms import CODE_RULES, COMMAND_RULES, FormatRule, form
from memento_tui.policy.secret_logins import is_telling_or_worded
from memento_tui.policy.secret_patterns import (
    SPOKEN,
    SecretSpan,
    is_chosen,
    is_key,
    is_password,
    is_phrase,
    is_placeholder,
    is_telling,
    lowered,
)

__all__ = ["FORMAT_RULES", "FormatRule", "format_spans"]

_Judge = Callable[[str], bool]

FORMAT_RULES: tuple[FormatRule, ...] = (
    # Files
    form(
        "password",
        "login",
        r"\blogin\s{1,8}[^\s]{1,80}\s{1,8}(?:account\s{1,4}\S{1,60}\s{1,4})?password\s{1,4}@V@",
        "any",
    ),
    form(
        "password",
        ":",
        r"^[\s>*-]{0,6}[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.@-]{1,60}:(?P<secret>[^\s:]{4,128})[^\S\n]*$",
        "strict",
    ),
    form("password hash", ":$", r"^[\s>*-]{0,6}[\w.-]{1,40}:(?P<secret>\$[\w.$/=,+-]{20,200})(?=:|\s|$)", "any"),
    form(
        "token",
        "true",
        r"^[\w.#-]{3,80}\t(?:TRUE|FALSE)\t\S{1,80}\t(?:TRUE|FALSE)\t\d{1,12}\t\S{1,80}\t(?P<secret>[^\s]{8,512})",
        "any",
    ),
    form("password", "wifi:", r"\bwifi:(?:[a-z]:[^;\n]{0,60};){0,3}p:(?P<secret>[^;\n]{4,64});", "any"),
    form("password", "psk", r"""\bpsk\s{0,2}(?:[:=]\s{0,2}|(?=["']))@V@""", "any"),
    form("password", "community", r"\bcommunity\s{1,3}(?P<secret>[^\s\"']{4,64})\s{1,3}r[ow]\b", "any"),
    form(
        "password",
        "secret~5 secret~7 secret~9 password~5 password~7 password~9 key~5 key~7 key~9",
        r"\b(?:secret|password|key)\s[579]\s(?P<secret>\$[\w./$]{8,128}|[0-9A-F]{8,64}\b)",
        "any",
    ),
    form(
        "password",
        "convertto-securestring",
        r"""\bconvertto-securestring\s{1,3}(?:-string\s{1,3})?(?=["'])@V@""",
        "any",
    ),
    form("token", "add-mask::", r"::add-mask::(?P<secret>[^\s\"'`]{6,256})", "any"),
    form("token", "crumb", r"\bcrumb[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<secret>[0-9a-f]{32,128})\b", "any"),
    form("token", "--token", r"--token[ =]{1,2}(?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])", "sure"),
    form(
        "key",
        "encrypt keygen",
        r"""\b(?:encrypt|keygen)[\"']?\s{0,2}[:=]\s{0,2}["']?(?P<secret>[a-z0-9+/]{43}=|[a-z0-9+/]{22}==)(?![\w=])""",
        "any",
    ),
    form(
        "cookie",
        "setcookie erlang~cookie erlang.cookie",
        r"""(?:-setcookie|\berlang[ .]cookie(?:[ ]is)?)[ :=]{1,3}["']?(?P<secret>[\w-]{8,255})""",
        "any",
    ),
    form(
        "key",
        "product licen activation serial registration cd~ cd- windows~ windows- office~ office-",
        r"\b(?:product|licen[sc]e|activation|serial|registration|cd|windows|office)[ -](?:key|code|number)[ :]{1,3}(?:is[ ])?(?P<secret>(?-i:[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7}))(?![\w-])",
        "digits",
    ),
    form(
        "key",
        "lizenz licence licencia licença licenza licencyjny лиценз 注册码 註冊碼 激活码 授权码 序列号 プロダクトキー ライセンスキー シリアル 시리얼",
        r"""(?:lizenz(?:schlüssel|code|nummer)|cl[ée]\sde\slicence|clave\sde\slicencia|chave\sde\slicença|chiave\sdi\slicenza|klucz\slicencyjny
        |лицензионный\s(?:ключ|код)|注册码|註冊碼|激活码|授权码|序列号|プロダクトキー|ライセンスキー|シリアル(?:番号|キー|コード)|시리얼[ ]?(?:번호|키))
        [ ]?(?:是|は|为|ist|est|es|é|è|to)?[ :\uff1a]{0,3}(?P<secret>(?-i:[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){2,7}))(?![\w-])""",
        "digits",
    ),
    form(
        "private key",
        "keypair id.json solana private~key secret~key",
        r"\b(?:keypair|id\.json|solana[\w-]{0,12}|private[ ]key|secret[ ]key)\b[^\n\[]{0,40}?(?<![\w+/])(?P<secret>(?-i:[1-9A-HJ-NP-Za-km-z]{86,88}))(?![\w+/=])",
        "any",
    ),
    form(
        "private key",
        "keypair id.json solana private~key secret~key private_key secret_key network_key",
        r"\b(?:keypair|id\.json|solana[\w-]{0,12}|(?:private|secret)[ _]key|network_key)\b[^\n\[]{0,40}?\[[ ]?(?P<secret>\d{1,3}(?:[ ]?,[ ]?\d{1,3}){15,63})[ ]?\]",
        "sure",
    ),
    form("password hash", ":::", r":[0-9a-f]{32}:(?P<secret>[0-9a-f]{32}):::", "any"),
    form("password", "register", r"\bregister\s{0,2}=>\s{0,2}[^\s:@]{1,40}:(?P<secret>[^\s@:]{3,128})@", "any"),
    form("recovery key", "bitlocker", r"(?<![\d-])(?P<secret>(?:\d{6}-){7}\d{6})(?![\d-])", "any"),
    form(
        "password",
        "requirepass masterauth bindpw rootpw",
        r"\b(?:requirepass|masterauth|bindpw|rootpw)\s{1,4}@V@",
        "loose",
    ),
    form("private key", '"d"', r'"kty"[^{}]{0,2000}?"d"\s{0,3}:\s{0,3}"(?P<secret>[\w-]{20,})"', "any"),
    *CODE_RULES,
    *COMMAND_RULES,
    # Cookies
    form(
        "cookie",
        "cookie",
        r"""(?:\bcookie2?\b["']?\s{0,2}[:=]?\s{1,3}|\s--cookie[ =]|\bcookie["']?\s{0,2}[:=]\s{0,2})["']?(?P<cookies>[\w.%-]{1,60}=[^\s;"']{4,512}(?:;\s?[\w.%-]{1,60}=?[^\s;"']{0,512}){0,30})""",
        "cookies",
    ),
    form(
        "cookie",
        "curl",
        r"""\bcurl\b@L@\s-b\s{0,2}["']?(?P<cookies>[\w.%-]{1,60}=[^\s;"']{4,512}(?:;\s?[\w.%-]{1,60}=[^\s;"']{0,512}){0,30})""",
        "cookies",
    ),
    form(
        "cookie",
        "sessid sessionid= session_id= session= session~= .sid= .sid~= sessionid~= session_token= aspsessionid",
        r"""\b(?:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|sessionid|session_id|_?session|laravel_session|ci_session|[\w-]{1,30}_session(?:_(?:id|token))?|session_token|aspsessionid\w{0,12})[ ]?=[ ]?["']?(?P<secret>[\w.%:+/=-]{10,512})""",
        "drawn",
    ),
    form(
        "password",
        "secret~ key~",
        r"""\b(?:shared|ipsec|radius|tacacs|enable|chap|ppp|preshared|pre-shared|privilege\s\d{1,2}|vpn)\s{1,3}(?:secret|key)\s{1,3}(?:is\s|0\s)?@V@""",
        "worded",
        "shared ipsec radius tacacs enable chap ppp privilege vpn",
    ),
    form(
        "password",
        "secret",
        r"""^[\s>]{0,6}(?:enable|username\s\S{1,40}(?:\s\w{1,12}\s\d{1,2})?)\ssecret\s(?:0\s)?@V@[^\S\n]*$""",
        "any",
    ),
    form(
        "password",
        "passphrase",
        r"""passphrase["'`*]{0,3}(?:\s{0,2}(?:[:=]|=>|->|→)\s{0,2}|\s{1,2}(?:(?:is|was|ist|est|es|är|now)\s{1,2})?)(?P<quote>["'`])(?P<secret>[a-z][\w',-]{0,20}(?:\s[\w',-]{1,20}){2,12}[.!?]?)(?P=quote)""",
        "saying",
    ),
    # Addresses
    form("signature", "signature=", r"[?&;]x-(?:amz|goog)-signature=(?P<secret>[\w%]{20,512})", "any"),
    form("token", "secret=", r"[?&]secret=(?P<secret>[A-Z2-7]{16,128}=*)(?![\w])", "any"),
    form("token", "://", r"://(?P<secret>[\w.~%+-]{16,512})(?::x-oauth-basic)?@[\w.-]", "key"),
    form(
        "token",
        "token key auth sig code appid sas=",
        r"[?&](?:auth|sig|signature|sas|code|key|appid|apikey|subscription-key|token|access_token|hapikey)=(?P<secret>[\w.~%+/=-]{16,512})",
        "key",
    ),
    form(
        "token",
        "://",
        r"""://(?:[\w-]{1,60}\.){0,4}(?:alchemy\.com/(?:nft/|v2/|starknet/){1,3}|infura\.io/(?:ws/)?v\d/|quiknode\.pro/
        |ankr\.com/[\w-]{1,30}/|blastapi\.io/|nodereal\.io/v\d/|getblock\.io/|chainstack\.com/|drpc\.org/[\w/]{1,30}/
        |hc-ping\.com/|healthchecks\.io/ping/|cronitor\.link/p/|loggly\.com/(?:inputs|bulk)/|make\.com/|telegram\.org/bot)
        (?P<secret>[\w:-]{16,80})""",
        "key",
    ),
    form(
        "token",
        "://",
        r"""(?:/api/push/|/(?:private-)?(?=[\w-]{16,80}(?:/[\w-]{1,30})?\.ics)|/(?:invit|reset|verif|confirm|magic|activat|join)[\w-]{0,16}/)
        (?P<secret>[\w-]{16,80})""",
        "key",
    ),
    form(
        "webhook",
        "/hooks/ /hook/ /with/key/",
        r"/hooks/catch/\d{1,12}/(?P<secret>[a-z0-9]{5,16})",
        "any",
    ),
    form(
        "webhook",
        "/hooks/ /hook/ /webhook/ /webhooks/ /with/key/",
        r"/(?:(?:web)?hooks?|bot/v2/hook|with/key)/(?P<secret>[\w-]{16,80})",
        "key",
    ),
    # Sentences
    form(
        "password",
        "u:",
        r"""(?<![\w-])u:\s{0,2}[\w@.+\\-]{1,60}+[,;/|]?\s{1,3}p(?:w|ass|assword)?:\s{0,2}@V@""",
        "strict",
    ),
    form(
        "password",
        "login logon log~in log-in log~on log-on logged~in logged-in signin sign~in sign-in signed~in signed-in cred user/ user~/ username/ username~/ basic~auth test~ admin~ demo~ service~",
        r"""\b(?:log[ -]?(?:in|on)|logged[ -]in|sign[ -]?in|signed[ -]in|credentials?|creds|user(?:name)?[ ]?/\s?pass(?:word|wd)?|basic[ ]auth(?:entication)?
        |(?:test|admin|demo|service)[ ](?:account|user|login))\b["'`*]{0,3}\s{0,3}[:=]?\s{0,3}(?:is\s|are\s|with\s|as\s|using\s|via\s|by\s){0,2}(?:user\s)?["'`(]?
        (?P<user>[\w@.+\\-]{1,60})["'`]?(?:\s/\s|/|:|\s:\s)["'`]?(?P<secret>[^\s"'`<>|;,)]{4,128})""",
        "login",
    ),
    form("password", "basic~auth", r"\bbasic[ ]auth(?:entication)?\b[\s:]{1,3}@N@\s?[/:]\s?@V@", "strict"),
    form(
        "recovery phrase",
        "phrase seed mnemonic words~are words:",
        r"""(?<![a-z])(?:(?:seed|recovery|secret\srecovery|backup|wallet)[ ](?:phrase|words)|mnemonic(?:[ ](?:phrase|words))?|seed|(?:12|24|twelve|twenty-four)[ ](?:seed[ ])?words|passphrase)(?:\s(?:of|for)\s[^\n:="'`]{1,40}?)?["'`*]{0,3}[^\S\n]{0,3}(?:[:=]|\bis\b|\bare\b|(?P<weak>\n))\s{0,4}["'`*]{0,3}
        (?P<secret>(?:\d{1,2}[.):]?[ ]{1,3})?[a-z]{3,10}(?:[\s,]{1,3}(?:\d{1,2}[.):]?[ ]{1,3})?[a-z]{3,10}){3,23})(?![\w-])""",
        "phrase",
    ),
    form(
        "recovery codes",
        "codes",
        r"""\b(?:recovery|backup|scratch|2fa|one-time|emergency)\scodes(?:\s(?:for|of)\s[^\n:]{1,40})?["'`*]{0,3}\s{0,3}(?:[:=]|\bare\b)\s{0,4}
        (?P<secret>(?:[-*•>\s\d.]{0,8}[`"']?[a-z0-9]{3,10}(?:-[a-z0-9]{3,10}){0,3}[`"']?[,;\s]{0,4}){2,20})""",
        "codes",
    ),
    form(
        "AWS secret key",
        "akia asia",
        r"(?<![A-Za-z0-9])(?-i:A[KS]IA[A-Z0-9]{16})[\s,;:/|\"'`>-]{1,12}(?:(?:and|secret|aws_secret_access_key)[\s:=]{1,3}){0,2}[\"'`]?(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])",
        "any",
    ),
)


def _any(value: str) -> bool:
    return len(value) >= 3 and not value.startswith("-") and not is_placeholder(value)  # noqa: PLR2004 - a pin of three


def _key(value: str) -> bool:
    return is_key(value, uuid=True)


def _pair(value: str) -> bool:
    """Tell whether a value is ``user:password`` in base64, or generated."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return _key(value)
    return (":" in plain and plain.isprintable()) or _key(value)


def _drawn_cookie(value: str) -> bool:
    return is_key(value, uuid=True) and not is_placeholder(value)


_HOST = re.compile(r"[a-z][\w.-]*@[\w.-]+", re.ASCII)
"""A user at a host."""
_MESSAGE = re.compile(
    r"(?i)\b(?:must|should|required?|enter|invalid|cannot|please|your|characters|wrong|incorrect|not|missing|use|the key)\b"
)
"""A word of a message about passphrases."""
_JUDGES: dict[str, _Judge] = {
    "any": _any,
    "sure": lambda _value: True,
    "loose": lambda value: is_password(value, loose=True),
    "strict": lambda value: is_password(value, loose=False),
    "key": _key,
    "pair": _pair,
    "drawn": _drawn_cookie,
    "digits": lambda value: any(map(str.isdigit, value)) and not is_placeholder(value),
    "key or strict": lambda value: _key(value) or is_password(value, loose=False),
    "key or loose": lambda value: _key(value) or is_password(value, loose=True),
    "printed": lambda value: _key(value) or (is_password(value, loose=False) and any(map(str.isdigit, value))),
    "plain": lambda value: is_telling(value) and _HOST.fullmatch(value) is None,
    "worded": lambda value: is_telling_or_worded(value) or _key(value),
    "saying": lambda value: _MESSAGE.search(value) is None,
}

_KNOWN_USERS = frozenset(
    "admin administrator root guest deploy sa postgres mysql ci ubuntu pi oracle".split()  # noqa: SIM905 - shorter
)
_BRANCH = re.compile(r"[a-z]+(?:-[a-z0-9]+){1,}", re.ASCII)
_SESSION_NAME = re.compile(
    r"sess|sid$|auth|token|jwt|csrf|xsrf|remember|login|secret|key|^id$", re.ASCII | re.IGNORECASE
)
_COOKIE = re.compile(r"(?P<name>[\w.%-]{1,60})=(?P<value>[^\s;\"']{8,512})", re.ASCII)
_CODE = re.compile(r"[a-z0-9]{3,10}(?:-[a-z0-9]{3,10}){0,3}", re.ASCII | re.IGNORECASE)


def format_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every secret that a form hands over.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    read = lowered(text)
    words = SPOKEN.held_in(read) & (_WORDS if "-" in read and _OPTION.search(read) else _PLAIN_WORDS)
    numbers = {number for word in words for number in _RULES_OF_WORD[word]} if gated else range(len(FORMAT_RULES))
    for number in sorted(numbers):
        rule = FORMAT_RULES[number]
        if not gated or ((not rule.also or not words.isdisjoint(rule.also)) and rule.may_match(text)):
            yield from _found(rule, text, read)
    if not gated or not words.isdisjoint(_COLUMN_WORDS):
        yield from _column_spans(text)


_COLUMN_WORDS = frozenset({"pass", "key", "token", "pwd", "pw", "secret", "cred"})
_OPTION = re.compile(r"\s--?[a-z]", re.ASCII)
_WORDS = SPOKEN.add(*(word for rule in FORMAT_RULES for word in (*rule.needs, *rule.also)))
_PLAIN_WORDS = frozenset(word for rule in FORMAT_RULES if not rule.is_command for word in (*rule.needs, *rule.also))
"""The words that are looked for where a text holds no option of a command."""
_RULES_OF_WORD: dict[str, list[int]] = {word: [] for word in _WORDS}
for _number, _rule in enumerate(FORMAT_RULES):
    for _need in _rule.needs:
        _RULES_OF_WORD[_need].append(_number)


def _found(rule: FormatRule, text: str, read: str) -> Iterator[SecretSpan]:
    groups = rule.pattern.groupindex
    for match in rule.matches(text, read):
        if rule.judge == "cookies":
            yield from _cookie_spans(match, text)
            continue
        start, end = next(match.span(name) for name in ("quoted", "bare", "secret") if name in groups and match[name])
        while end > start and text[end - 1] in ".,:" and "bare" in groups and match["bare"]:
            end -= 1
        value = text[start:end]
        if rule.judge == "codes":
            yield from _code_spans(start, value)
        elif _fits(rule, match, value):
            yield start, end, rule.kind


def _fits(rule: FormatRule, match: re.Match[str], value: str) -> bool:
    match rule.judge:
        case "named":
            name = match["name"] if "name" in match.re.groupindex else match[0].split(">")[0].split()[0].lstrip("<")
            kind = secret_word_in(re.sub(r"s$", "", name))
            if kind == "password":
                return is_password(value, loose=True)
            return kind is not None and (_key(value) or is_chosen(value))
        case "login":
            known = match["user"].lower() in _KNOWN_USERS or "@" in match["user"]
            plain = value.rstrip(".,)")
            return is_password(plain, loose=False) and (known or _BRANCH.fullmatch(plain) is None)
        case "phrase":
            brief = match["weak"] is None and match[0].lower().startswith("pass")
            return is_phrase(re.findall(r"[a-z]+", value), 4 if brief else 11)
    return _JUDGES[rule.judge](value)


def _cookie_spans(match: re.Match[str], text: str) -> Iterator[SecretSpan]:
    start, end = match.span("cookies")
    for cookie in _COOKIE.finditer(text, start, end):
        value = cookie["value"]
        if not is_placeholder(value) and (is_key(value, uuid=True) or _SESSION_NAME.search(cookie["name"])):
            yield *cookie.span("value"), "cookie"


def _code_spans(start: int, value: str) -> Iterator[SecretSpan]:
    codes = [code for code in _CODE.finditer(value) if any(map(str.isdigit, code[0])) and len(code[0]) >= 6]  # noqa: PLR2004 - the shortest in use
    if len(codes) > 1:
        for code in codes:
            yield start + code.start(), start + code.end(), "recovery code"


_TABLE_ROW = re.compile(r"[^\S\n>]*>?[^\S\n]*\|(?P<cells>[^\n]+)\|?[^\S\n]*\r?$", re.MULTILINE)
_CSV_ROW = re.compile(r"[^\n]*")
_MAX_COLUMNS = 30
_USER_COLUMN = re.compile(r"user|login|host|account|e-?mail|server|database", re.ASCII)


def _column_spans(text: str) -> Iterator[SecretSpan]:
    """Yield the values of a table's or a list's columns that are named after a secret."""
    kinds: dict[int, str] = {}
    separator = ""
    at = 0
    for line in text.split("\n"):
        sign = "|" if line.count("|") > 1 else next((sign for sign in ";,\t" if sign in line), "")
        if not sign or (separator and sign != separator):
            kinds, separator = {}, ""
        else:
            cells = line.split(sign)
            if kinds:
                yield from _cell_spans(cells, kinds, at, sign)
            elif len(cells) <= _MAX_COLUMNS:
                kinds = _secret_columns(cells, sign)
                separator = sign if kinds else ""
        at += len(line) + 1


def _secret_columns(cells: list[str], sign: str) -> dict[int, str]:
    names = [cell.strip(" \t\r>*`\"'_").lower() for cell in cells]
    if sign != "|" and not all(name and len(name.split()) <= 4 for name in names):  # noqa: PLR2004 - a column's name is short
        return {}
    found = {}
    for number, name in enumerate(names):
        kind = secret_word_in(name) if len(name) < 30 else None  # noqa: PLR2004 - a column's name is short
        if kind is not None and (name not in ("pass", "pw") or any(_USER_COLUMN.match(other) for other in names)):
            found[number] = kind
    return found if len(found) < len(names) or sign == "|" else {}


def _cell_spans(cells: list[str], kinds: dict[int, str], at: int, sign: str) -> Iterator[SecretSpan]:
    place = at
    for number, cell in enumerate(cells):
        value = cell.strip(" \t\r*`\"'")
        kind = kinds.get(number)
        if kind is not None and value:
            start = place + cell.index(value)
            strict = sign != "|"
            if _key(value) if kind != "password" else is_password(value, loose=not strict):
                yield start, start + len(value), kind
        place += len(cell) + len(sign)
