"""Find secrets by the form in which a program, a file or a sentence hands them over: netrc, tables, commands."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line
import base64
import binascii
import re
from collections.abc import Callable, Iterator
from functools import cache

import msgspec

from memento_tui.policy.secret_assignments import secret_word_in
from memento_tui.policy.secret_patterns import SecretSpan, is_key, is_password, is_phrase, is_placeholder

__all__ = ["FORMAT_RULES", "FormatRule", "format_spans"]

_Judge = Callable[[str], bool]


class FormatRule(msgspec.Struct, frozen=True):
    """One form: what stands around the value, and how the value itself is judged."""

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, in lower case."""
    source: str
    """The pattern, verbose, for any case. The value is what its group ``quoted``, ``bare`` or ``secret`` holds."""
    judge: str
    also: tuple[str, ...] = ()
    """Every match holds one of these too, where any are given."""
    is_command: bool = False
    """Whether every match holds the option of a command."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.VERBOSE | re.IGNORECASE | re.ASCII | re.MULTILINE)


_VALUE = r"""(?: (?P<quote>["'`]) (?P<quoted>[^"'`\n]{1,256}) (?P=quote) | (?P<bare>[^\s"'`<>|;]{1,256}+) )"""
_LINE = r"[^\n|;&]{0,120}?"
"""The rest of a command up to the value."""
_NAME = r"[\w@.+-]{1,60}"
_NAMED = r"""[\w.-]{0,40}(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key
    |private[_-]?key|credential)s?"""


_COMMAND_OPTION = re.compile(re.escape("@L@\\s") + r"(?:\(\?(?::|-i:))?-")


def _form(kind: str, needs: str, source: str, judge: str, also: str = "") -> FormatRule:
    """Make a rule; ``needs`` are parted by spaces, with ``~`` for a space inside one, and @V@ stands for the value."""
    words = tuple(word.replace("~", " ") for word in needs.split())
    filled = source.replace("@V@", _VALUE).replace("@L@", _LINE).replace("@N@", _NAME).replace("@S@", _NAMED)
    return FormatRule(
        kind,
        words,
        filled,
        judge,
        tuple(also.split()),
        is_command=_COMMAND_OPTION.search(source) is not None or source.startswith("--"),
    )


FORMAT_RULES: tuple[FormatRule, ...] = (
    # Files
    _form(
        "password",
        "login",
        r"\blogin\s{1,8}[^\s]{1,80}\s{1,8}(?:account\s{1,4}\S{1,60}\s{1,4})?password\s{1,4}@V@",
        "any",
    ),
    _form(
        "password",
        ":",
        r"^[\s>*-]{0,6}[\w.*-]{1,80}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*.@-]{1,60}:(?P<secret>[^\s:]{4,128})[^\S\n]*$",
        "strict",
    ),
    _form("password hash", ":$", r"^[\s>*-]{0,6}[\w.-]{1,40}:(?P<secret>\$[\w.$/=,+-]{20,200})(?=:|\s|$)", "any"),
    _form(
        "token",
        "true",
        r"^[\w.#-]{3,80}\t(?:TRUE|FALSE)\t\S{1,80}\t(?:TRUE|FALSE)\t\d{1,12}\t\S{1,80}\t(?P<secret>[^\s]{8,512})",
        "any",
    ),
    _form("password", "wifi:", r"\bwifi:(?:[a-z]:[^;\n]{0,60};){0,3}p:(?P<secret>[^;\n]{4,64});", "any"),
    _form("password", "psk", r"""\bpsk\s{0,2}(?:[:=]\s{0,2}|(?=["']))@V@""", "any"),
    _form("password", "community", r"\bcommunity\s{1,3}(?P<secret>[^\s\"']{4,64})\s{1,3}r[ow]\b", "any"),
    _form(
        "password",
        "secret~5 secret~9 password~7 key~7",
        r"\b(?:secret|password|key)\s[579]\s(?P<secret>\$[\w./$]{8,128}|[0-9A-F]{8,64}\b)",
        "any",
    ),
    _form(
        "password",
        "convertto-securestring",
        r"""\bconvertto-securestring\s{1,3}(?:-string\s{1,3})?(?=["'])@V@""",
        "any",
    ),
    _form("token", "add-mask::", r"::add-mask::(?P<secret>[^\s\"'`]{6,256})", "any"),
    _form("token", "crumb", r"\bcrumb[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<secret>[0-9a-f]{32,128})\b", "any"),
    _form("token", "--token", r"--token[ =]{1,2}(?P<secret>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])", "sure"),
    _form(
        "key",
        "encrypt keygen:",
        r"""\b(?:encrypt|keygen)[\"']?\s{0,2}[:=]\s{0,2}["']?(?P<secret>[a-z0-9+/]{43}=|[a-z0-9+/]{22}==)(?![\w=])""",
        "any",
    ),
    _form(
        "cookie",
        "setcookie erlang~cookie",
        r"""(?:-setcookie|\berlang[ .]cookie(?:[ ]is)?)[ :=]{1,3}["']?(?P<secret>[\w-]{8,255})""",
        "any",
    ),
    _form(
        "key",
        "product licen activation serial~ registration",
        r"\b(?:product|licen[sc]e|activation|serial|registration|cd|windows|office)[ -](?:key|code|number)[ :]{1,3}(?:is[ ])?(?P<secret>(?-i:[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){2,7}))(?![\w-])",
        "digits",
    ),
    _form("recovery key", "bitlocker", r"(?<![\d-])(?P<secret>(?:\d{6}-){7}\d{6})(?![\d-])", "any"),
    _form(
        "password",
        "requirepass masterauth bindpw rootpw",
        r"\b(?:requirepass|masterauth|bindpw|rootpw)\s{1,4}@V@",
        "loose",
    ),
    _form("private key", '"d"', r'"kty"[^{}]{0,2000}?"d"\s{0,3}:\s{0,3}"(?P<secret>[\w-]{20,})"', "any"),
    # XML, pairs of a name and a value, calls with a name and a value
    _form(
        "password",
        "pass pwd secret token key",
        r"<(?:[\w.-]{1,30}:)?@S@(?:\s[^<>\n]{0,100})?>\s{0,40}(?:<!\[CDATA\[)?(?P<secret>[^<>\s\]]{4,256})(?:\]\]>)?\s{0,40}</",
        "named",
    ),
    _form(
        "password",
        "value default",
        r"""(?:\b(?:name|key|variable)["']?\s{0,3}[:=]\s{0,3}|variable\s{1,3})["']?(?P<name>@S@)["']?\s{0,3}[,{]?\s{0,40}
        (?:-\s)?(?:type\s{0,3}=\s{0,3}\w{1,20}\s{1,12})?["']?(?:value|default)["']?\s{0,3}[:=]\s{0,3}@V@""",
        "named",
        "pass pwd secret token key",
    ),
    _form(
        "password",
        "value",
        r"""["']?value["']?\s{0,3}[:=]\s{0,3}@V@["']?\s{0,3},?\s{0,20}["']?(?:name|key)["']?\s{0,3}[:=]\s{0,3}["']?(?P<name>@S@)\b""",
        "named",
        "pass pwd secret token key",
    ),
    _form(
        "password",
        "auth login",
        r"""(?:auth\w{0,12}|login|credentials?)\s{0,2}=?\s{0,2}\(\s{0,2}["'][^"'\n]{1,80}["']\s{0,2},\s{0,2}["'](?P<secret>[^"'\n]{4,128})["']\s{0,2}\)""",
        "loose",
    ),
    _form(
        "password",
        "auth",
        r""""?_?auth"?\s{0,3}[:=]\s{0,3}["']?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])""",
        "pair",
    ),
    _form(
        "token",
        "oauth token auth",
        r"""["'][\w.-]{0,30}(?:oauth|bearer|identitytoken|auth)["']\s{0,3}:\s{0,3}(?:\{\s{0,8}["'][\w.:/-]{1,80}["']\s{0,3}:\s{0,3})?["'](?P<secret>[^"'\s]{16,512})["']""",
        "key",
    ),
    _form(
        "password",
        "password",
        r"""type=["']password["'][^<>\n]{0,120}?\svalue=["'](?P<secret>[^"'\n]{4,128})["']""",
        "loose",
    ),
    # Commands
    _form(
        "password",
        "echo printf",
        r"""\b(?:echo|printf)\s{1,3}(?:-[nerE]{1,3}\s{1,3}){0,2}(?:["']%s(?:\\n)?["']\s{1,3})?@V@\s{0,3}\|[^\n]{0,160}?
        (?:--password-stdin|\bsudo\s{1,3}-S\b|--with-token|--stdin\b|--passphrase-fd|\blogin\b|cryptsetup|--passin|secret\s)""",
        "any",
    ),
    _form(
        "password",
        "chpasswd",
        r"""\becho\s{1,3}["']?[\w.-]{1,40}:(?P<secret>[^\s"'|]{3,128})["']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?chpasswd""",
        "any",
    ),
    _form(
        "password",
        "<<<",
        r"(?:--password-stdin|--with-token|\blogin\b|\bsudo\s-S\b)[^\n|;]{0,100}?<<<\s{0,3}@V@",
        "any",
    ),
    _form(
        "password",
        "login",
        r"\b(?:docker|podman|helm\s{1,3}registry|oras|skopeo|crane|nerdctl|buildah|az|oc|cf|ibmcloud)\s{1,3}login\b@L@\s(?:-p|--password)[ =]{1,3}@V@",
        "any",
    ),
    _form(
        "password",
        "mongo sqlcmd twine mosquitto rpcclient",
        r"\b(?:mongo\w{0,10}|sqlcmd|twine|mosquitto_[ps]ub|rpcclient)\b@L@\s-[pP]\s{1,3}@V@",
        "loose",
    ),
    _form(
        "password",
        "redis-cli redis-benchmark valkey-cli",
        r"\b(?:redis-(?:cli|benchmark)|valkey-cli)\b@L@\s(?:-a|--pass)\s{1,3}@V@",
        "any",
    ),
    _form("password", "ldap", r"\bldap(?:search|modify|add|whoami|passwd|delete)\b@L@\s-w\s{1,3}@V@", "any"),
    _form("password", "htpasswd", r"\bhtpasswd\s{1,3}-\w{0,4}b\w{0,4}\s{1,3}\S{1,120}\s{1,3}\S{1,40}\s{1,3}@V@", "any"),
    _form("password", "htpasswd", r"\bhtpasswd\s{1,3}-\w{0,4}n\w{0,4}\s{1,3}\S{1,40}\s{1,3}@V@", "any"),
    _form(
        "password",
        "smbclient rpcclient smbmap crackmapexec",
        r"""\b(?:smbclient|rpcclient|smbmap)\b@L@\s-U\s{0,3}["']?[^\s%"']{1,60}%(?P<secret>[^\s"']{3,128})""",
        "any",
    ),
    _form("password", "net~use", r"\bnet[ ]use\b@L@\s(?!/)(?!\\\\)(?!\w:)@V@\s{1,3}/user:", "any"),
    _form("password", "/user:", r"\bnet[ ]use\b@L@/user:\S{1,60}\s{1,3}(?!/)@V@", "any"),
    _form("password", "net~user", r"\bnet[ ]user\s{1,3}@N@\s{1,3}(?!/)@V@", "any"),
    _form("password", "openssl pass:", r"\s-?pass(?:in|out|word)?[ =]{1,3}pass:(?P<secret>[^\s\"']{3,128})", "any"),
    _form("password", "openssl", r"\bopenssl\b@L@\s-[kK]\s{1,3}@V@", "loose"),
    _form("password", "zip", r"\b(?:zip|unzip)\b@L@\s(?-i:-P)\s{0,3}@V@", "any"),
    _form("password", "7z rar", r"\b(?:7za?|rar|unrar)\b@L@\s-(?:hp|p)(?P<secret>[^\s\"'-][^\s\"']{2,128})", "any"),
    _form("password", "plink pscp psftp putty", r"\b(?:plink|pscp|psftp|putty)\b@L@\s-pw\s{1,3}@V@", "any"),
    _form("password", "ssh-keygen", r"\bssh-keygen\b@L@\s(?-i:-[NP])\s{1,3}@V@", "any"),
    _form(
        "password",
        "identified",
        r"\bidentified\s{1,3}(?:with\s\S{1,40}\s{1,3})?(?:by|as)\s{1,3}(?:password\s{1,3})?(?=')@V@[^\S\n]{0,3}(?:;|\"|$|with\s|account|require|default|password\s)",
        "any",
    ),
    _form(
        "password",
        "password",
        r"\b(?:role|user|login)\s{1,3}\S{1,60}\s{1,3}(?:with\s{1,3})?(?:\w{1,20}\s{1,3}){0,4}password\s{0,3}=?\s{0,3}(?=')@V@",
        "any",
    ),
    _form(
        "password",
        "sqlplus sqlldr impdp expdp rman sqlcl oracle:thin:",
        r"(?:\b(?:sqlplus|sqlldr|impdp|expdp|rman|sqlcl)\s{1,3}(?:-\S{1,12}\s{1,3}){0,3}|jdbc:oracle:thin:)[\w.]{1,40}/(?P<secret>[^\s@\"']{3,128})@",
        "any",
    ),
    _form(
        "token",
        "secret",
        r"\bsecrets?\s{1,3}(?:set|put|create)\s{1,3}@N@@L@\s(?:-b|--body|--value)[ =]{0,2}@V@",
        "any",
    ),
    _form(
        "token",
        "config setx authtoken login",
        r"""\b(?:(?:configure|config)\s{1,3}(?:set|add|add-authtoken)(?:\s--\S{1,20}){0,2}\s{1,3}(?P<name>\S{0,80}(?:secret|token|password|_auth|key)\w{0,12})
        |\bsetx\s{1,3}(?P<variable>[\w]{0,40}(?:secret|token|password|passwd|pass|pwd|key))|config\s{1,3}add-authtoken|authtoken|\b(?:vault|railway|wandb|huggingface-cli|fly|hf)\s{1,3}login(?:\s--token)?)[ =]{1,3}@V@""",
        "key or strict",
        "secret token pass pwd key login",
    ),
    _form(
        "token", "alias", r"\bmc\s{1,3}alias\s{1,3}set\s{1,3}\S{1,40}\s{1,3}\S{1,80}\s{1,3}\S{1,60}\s{1,3}@V@", "any"
    ),
    _form(
        "password",
        "send",
        r"""(?:password|passphrase)[^\n]{0,40}\n?[^\n]{0,20}\bsend\s{1,3}(?:--\s)?["'](?P<secret>[^"'\n\\]{3,128})\\\\?[rn]""",
        "any",
    ),
    _form("password", "security", r"\bsecurity\s{1,3}add-(?:generic|internet)-password\b@L@\s-w\s{1,3}@V@", "any"),
    _form("password", "cmdkey", r"\bcmdkey\b@L@/pass:@V@", "any"),
    # Cookies
    _form(
        "cookie",
        "cookie",
        r"""(?:\bcookie2?\b["']?\s{0,2}[:=]?\s{1,3}|\s--cookie[ =]|\bcookie["']?\s{0,2}[:=]\s{0,2})["']?(?P<cookies>[\w.%-]{1,60}=[^\s;"']{4,512}(?:;\s?[\w.%-]{1,60}=?[^\s;"']{0,512}){0,30})""",
        "cookies",
    ),
    _form(
        "cookie",
        "curl",
        r"""\bcurl\b@L@\s-b\s{0,2}["']?(?P<cookies>[\w.%-]{1,60}=[^\s;"']{4,512}(?:;\s?[\w.%-]{1,60}=[^\s;"']{0,512}){0,30})""",
        "cookies",
    ),
    _form(
        "cookie",
        "sessid sessionid= session_id= session= session~= .sid= .sid~= sessionid~= session_token=",
        r"""\b(?:phpsessid|jsessionid|asp\.net_sessionid|connect\.sid|sessionid|session_id|_?session|laravel_session|ci_session|[\w-]{1,30}_session(?:_(?:id|token))?|session_token|aspsessionid\w{0,12})[ ]?=[ ]?["']?(?P<secret>[\w.%:+/=-]{10,512})""",
        "drawn",
    ),
    # Addresses
    _form("signature", "signature=", r"[?&;]x-(?:amz|goog)-signature=(?P<secret>[\w%]{20,512})", "any"),
    _form("token", "secret=", r"[?&]secret=(?P<secret>[A-Z2-7]{16,128}=*)(?![\w])", "any"),
    _form("token", "://", r"://(?P<secret>[\w.~%+-]{16,512})(?::x-oauth-basic)?@[\w.-]", "key"),
    _form(
        "token",
        "token key auth sig code appid sas=",
        r"[?&](?:auth|sig|signature|sas|code|key|appid|apikey|subscription-key|token|access_token|hapikey)=(?P<secret>[\w.~%+/=-]{16,512})",
        "key",
    ),
    _form(
        "token",
        "://",
        r"""://(?:[\w-]{1,60}\.){0,4}(?:alchemy\.com/(?:nft/|v2/|starknet/){1,3}|infura\.io/(?:ws/)?v\d/|quiknode\.pro/
        |ankr\.com/[\w-]{1,30}/|blastapi\.io/|nodereal\.io/v\d/|getblock\.io/|chainstack\.com/|drpc\.org/[\w/]{1,30}/
        |hc-ping\.com/|healthchecks\.io/ping/|cronitor\.link/p/|loggly\.com/(?:inputs|bulk)/|make\.com/|telegram\.org/bot)
        (?P<secret>[\w:-]{16,80})""",
        "key",
    ),
    _form(
        "token",
        "://",
        r"""(?:/api/push/|/(?:private-)?(?=[\w-]{16,80}(?:/[\w-]{1,30})?\.ics)|/(?:invit|reset|verif|confirm|magic|activat|join)[\w-]{0,16}/)
        (?P<secret>[\w-]{16,80})""",
        "key",
    ),
    _form(
        "webhook",
        "/hooks/ /hook/ /with/key/",
        r"/hooks/catch/\d{1,12}/(?P<secret>[a-z0-9]{5,16})",
        "any",
    ),
    _form(
        "webhook",
        "/hooks/ /hook/ /with/key/",
        r"/(?:hooks?|bot/v2/hook|with/key)/(?P<secret>[\w-]{16,80})",
        "key",
    ),
    # Sentences
    _form(
        "password",
        "u:",
        r"""(?<![\w-])u:\s{0,2}[\w@.+\\-]{1,60}+[,;/|]?\s{1,3}p(?:w|ass|assword)?:\s{0,2}@V@""",
        "strict",
    ),
    _form(
        "password",
        "login logon log~in log-in log~on log-on logged~in logged-in signin sign~in sign-in signed~in signed-in cred user/ user~/ username/ username~/ basic~auth test~ admin~ demo~ service~",
        r"""\b(?:log[ -]?(?:in|on)|logged[ -]in|sign[ -]?in|signed[ -]in|credentials?|creds|user(?:name)?[ ]?/\s?pass(?:word|wd)?|basic[ ]auth(?:entication)?
        |(?:test|admin|demo|service)[ ](?:account|user|login))\b["'`*]{0,3}\s{0,3}[:=]?\s{0,3}(?:is\s|are\s|with\s|as\s|using\s|via\s|by\s){0,2}(?:user\s)?["'`(]?
        (?P<user>[\w@.+\\-]{1,60})["'`]?(?:\s/\s|/|:|\s:\s)["'`]?(?P<secret>[^\s"'`<>|;,)]{4,128})""",
        "login",
    ),
    _form("password", "auth~", r"\bbasic[ ]auth(?:entication)?\b[\s:]{1,3}@N@\s?[/:]\s?@V@", "strict"),
    _form(
        "recovery phrase",
        "phrase seed mnemonic words~are words:",
        r"""(?<![a-z])(?:(?:seed|recovery|secret\srecovery|backup|wallet)[ ](?:phrase|words)|mnemonic(?:[ ](?:phrase|words))?|seed|(?:12|24|twelve|twenty-four)[ ](?:seed[ ])?words|passphrase)(?:\s(?:of|for)\s[^\n:="'`]{1,40}?)?["'`*]{0,3}[^\S\n]{0,3}(?:[:=]|\bis\b|\bare\b|(?P<weak>\n))\s{0,4}["'`*]{0,3}
        (?P<secret>(?:\d{1,2}[.):]?[ ]{1,3})?[a-z]{3,10}(?:[\s,]{1,3}(?:\d{1,2}[.):]?[ ]{1,3})?[a-z]{3,10}){3,23})(?![\w-])""",
        "phrase",
    ),
    _form(
        "recovery codes",
        "codes",
        r"""\b(?:recovery|backup|scratch|2fa|one-time|emergency)\scodes(?:\s(?:for|of)\s[^\n:]{1,40})?["'`*]{0,3}\s{0,3}(?:[:=]|\bare\b)\s{0,4}
        (?P<secret>(?:[-*•>\s\d.]{0,8}[`"']?[a-z0-9]{3,10}(?:-[a-z0-9]{3,10}){0,3}[`"']?[,;\s]{0,4}){2,20})""",
        "codes",
    ),
    _form(
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


def _lowered(text: str) -> str:
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "\u0131").lower()


def format_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every secret that a form hands over.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    read = _lowered(text)
    groups = _PLAIN_WORDS if gated and _OPTION.search(read) is None else _WORDS
    words = {word for sign, known in groups if sign in read for word in known if word in read}
    numbers = {number for word in words for number in _RULES_OF_WORD[word]} if gated else range(len(FORMAT_RULES))
    for number in sorted(numbers):
        rule = FORMAT_RULES[number]
        if not gated or not rule.also or not words.isdisjoint(rule.also):
            yield from _found(rule, text)
    if not gated or not words.isdisjoint(_COLUMN_WORDS):
        yield from _column_spans(text)


_COLUMN_WORDS = frozenset({"pass", "key", "token", "pwd", "secret", "cred"})
_OPTION = re.compile(r"\s--?[a-z]", re.ASCII)
_SIGNS = ("=", "/", ":")


def _words_by_sign(rules: tuple[FormatRule, ...]) -> list[tuple[str, list[str]]]:
    """Return the words that the rules need by a sign that each of them holds; those with none come under an empty one."""
    groups: dict[str, list[str]] = {}
    for word in dict.fromkeys(need for rule in rules for need in (*rule.needs, *rule.also)):
        groups.setdefault(next((sign for sign in _SIGNS if sign in word), ""), []).append(word)
    return list(groups.items())


_WORDS = _words_by_sign(FORMAT_RULES)
_RULES_OF_WORD: dict[str, list[int]] = {word: [] for _sign, known in _WORDS for word in known}
for _number, _rule in enumerate(FORMAT_RULES):
    for _need in _rule.needs:
        _RULES_OF_WORD[_need].append(_number)
_PLAIN_WORDS = _words_by_sign(tuple(rule for rule in FORMAT_RULES if not rule.is_command))
"""The words that are looked for where a text holds no option of a command."""


def _found(rule: FormatRule, text: str) -> Iterator[SecretSpan]:
    groups = rule.pattern.groupindex
    for match in rule.pattern.finditer(text):
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
            return kind is not None and _key(value)
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
        sign = "|" if line.count("|") > 1 else "," if "," in line else "\t" if "\t" in line else ""
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
