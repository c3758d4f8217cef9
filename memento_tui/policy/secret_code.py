"""The forms in which programs, markup and settings in pairs hold a secret: constants, calls, names with values."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line
from memento_tui.policy.secret_forms import FormatRule, form

__all__ = ["CODE_RULES"]

_ARGUMENT = r"""(?:[^\s,(){}"'][^,(){}\n"']{0,60}|\w?["'][^"'\n]{0,120}["']|\{[^{}\n]{0,120}\}|[\w.$]{1,40}\([^()\n]{0,80}\))\s{0,3},\s{0,12}"""
"""An argument before the secret, with its comma."""
_LITERAL = r"""(?:b|B|@|u|\[\]byte\()?["'](?P<secret>[^"'\s]{4,256})["']"""
_CALLS: tuple[tuple[str, str, int, str], ...] = (
    (
        "totp hotp cookieparser fernet setpass withpassword basicauthpassword token apikey",
        r"totp|hotp|cookieparser|fernet|setpassword|withpassword|setpass|basicauthpassword|settoken|setapikey|withtoken|withapikey", 0, "key or loose",
    ),
    ("authenticator. speakeasy.", r"authenticator\.generate|authenticator\.check|speakeasy\.totp", 0, "key"),
    ("hmac.new", r"hmac\.new", 0, "key or strict"),
    (
        "jwt. create cipheriv hmacsha hash_hmac openssl_encrypt signedcookies",
        r"jwt\.(?:sign|encode|decode|verify)|create_?hmac|createcipheriv|createdecipheriv|hmacsha(?:1|256|512)|hash_hmac|openssl_encrypt|signedcookies", 1, "key or strict",
    ),
    (
        "credential passwordauthentication auth login signin sign_in logon",
        r"(?:network|usernamepassword|basicaws|staticaws|newstatic|basicsession|usernamepasswordauthentication)\w{0,12}credentials?\w{0,12}|withcredentials|credentials\.basic|basiccredentials|passwordauthentication|plainauthprovider|httpbasicauth|httpdigestauth|basicauth|setbasicauth|basic_auth|smtp\.plainauth|login|signin|sign_in|authenticate|ftp_login|logon", 1, "loose",
    ),
    ("connect", r"ssh\.connect|client\.connect|connect|mysqli?_connect|pymssql\.connect", 3, "worded"),
    (
        "plainauth mysqli pdo getconnection connect ftp imap_open ssh2_auth ldap_bind simple_bind_s net::",
        r"plainauth|mysqli(?:_connect)?|pdo|getconnection|pymysql\.connect|mysqldb\.connect|ftp|ssh\.connect|client\.connect|ftp_login|oracledb\.connect|cx_oracle\.connect|imap_open|ssh2_auth_password|ldap_bind|simple_bind_s|net::ssh\.start|net::ftp\.open", 2, "loose",
    ),
)  # fmt: skip
"""Calls that take a secret by its place: what every one holds, the names of what is called, the arguments before it, how it is judged."""


def _of_call(needs: str, names: str, before: int, judge: str) -> FormatRule:
    source = rf"(?<!\w)(?:{names})\s?\(\s{{0,12}}(?:{_ARGUMENT}){{{before}}}{_LITERAL}\s{{0,12}}[,)]"
    return form("password", needs, source, judge, "(")


CODE_RULES: tuple[FormatRule, ...] = (
    *(_of_call(*entry) for entry in _CALLS),
    form(
        "key",
        "client bot api auth login sdk token key translator search",
        rf"""(?<![\w.])(?=[\w.]{{3,160}}+\()(?:\w{{1,30}}\.){{0,3}}\w{{0,30}}(?:client|bot|api|auth|login|sdk|search|translator|token|key)\w{{0,12}}(?:\.(?:run|login|start|connect|new|init))?\(\s{{0,12}}(?:{_ARGUMENT}){{0,3}}{_LITERAL}\s{{0,12}}[,)]""",
        "drawn",
        "(",
    ),
    form(
        "token",
        ".run( .login( .start( .connect( .configure(",
        rf"""\b\w{{1,30}}\.(?:run|login|start|connect|configure)\(\s{{0,4}}{_LITERAL}\s{{0,4}}\)""",
        "drawn",
    ),
    form(
        "password",
        "pass pwd pw secret token key cred auth pat",
        r"""(?<![\w$@.-])(?P<name>@I@)(?:\[\d{0,4}\])?(?:\s{0,2}:\s{0,2}[&'\w<>\[\]?.]{1,30}(?:\s[&\w<>\[\].?]{1,20})?|\s{1,3}(?:as\s)?[a-z][\w.*&]{0,24}(?:\(\w{1,6}\))?|(?=\[))
        \s{0,3}:?=\s{0,3}(?:b|@|n|f|r)?["'](?P<secret>[^"'\s]{4,256})["']""",
        "named",
        "=",
        holds=r"""=\s{0,3}(?:b|@|n|f|r)?["'][^"'\s]{4,256}["']""",
    ),
    form(
        "password",
        "(set (def setenv set~-",
        r"""(?:\((?:setq|def|defvar|defconst|define|defparameter|setf)\s{1,3}|\bsetenv\s{1,3}|\bset\s-\w{1,4}\s{1,3})(?P<name>@I@)\s{1,3}(?:["'](?P<quoted>[^"'\s]{4,256})["']|(?P<bare>[^\s"'()$]{4,256}))""",
        "named",
    ),
    form(
        "password",
        "pass pwd pw secret token key",
        r"""(?<![\w$@.-])(?P<name>@I@)\s{0,3}(?:=|=>)\s{0,3}q{1,2}[(\[{|!/](?P<secret>[^)\]}|!/\s]{4,256})[)\]}|!/]""",
        "named",
        "=",
        holds=r"=>?\s{0,3}q{1,2}[(\[{|!/]",
    ),
    # XML, pairs of a name and a value, calls with a name and a value
    form(
        "password",
        "pass pwd secret token key",
        r"<(?:[\w.-]{1,30}:)?@S@(?:\s[^<>\n]{0,100})?>\s{0,40}(?:<!\[CDATA\[)?(?P<secret>[^<>\s\]]{4,256})(?:\]\]>)?\s{0,40}</",
        "named",
    ),
    form(
        "password",
        "value default",
        r"""(?:\b(?:name|key|variable)["']?\s{0,3}[:=]\s{0,3}|variable\s{1,3})["']?(?P<name>@S@)["']?\s{0,3}[,{]?\s{0,40}
        (?:-\s)?(?:type\s{0,3}=\s{0,3}\w{1,20}\s{1,12})?["']?(?:value|default)["']?\s{0,3}[:=]\s{0,3}@V@""",
        "named",
        "pass pwd secret token key cred",
    ),
    form(
        "password",
        "value",
        r"""["']?value["']?\s{0,3}[:=]\s{0,3}@V@["']?\s{0,3},?\s{0,20}["']?(?:name|key)["']?\s{0,3}[:=]\s{0,3}["']?(?P<name>@S@)\b""",
        "named",
        "pass pwd secret token key cred",
    ),
    form(
        "password",
        "auth login credential",
        r"""(?:auth\w{0,12}|login|credentials?)\s{0,2}=?\s{0,2}\(\s{0,2}["'][^"'\n]{1,80}["']\s{0,2},\s{0,2}["'](?P<secret>[^"'\n]{4,128})["']\s{0,2}\)""",
        "loose",
    ),
    form(
        "password",
        "auth",
        r""""?_?auth"?\s{0,3}[:=]\s{0,3}["']?(?P<secret>[A-Za-z0-9+/]{8,}={0,2})(?![\w+/=])""",
        "pair",
    ),
    form(
        "token",
        "oauth token auth bearer",
        r"""["'][\w.-]{0,30}(?:oauth|bearer|identitytoken|auth)["']\s{0,3}:\s{0,3}(?:\{\s{0,8}["'][\w.:/-]{1,80}["']\s{0,3}:\s{0,3})?["'](?P<secret>[^"'\s]{16,512})["']""",
        "key",
    ),
    form(
        "password",
        "password",
        r"""type=["']password["'][^<>\n]{0,120}?\svalue=["'](?P<secret>[^"'\n]{4,128})["']""",
        "loose",
    ),
)
