"""The forms in which programs, settings and command lines hand a secret over, and how the value in each is judged."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line
import re
from collections.abc import Iterator
from functools import cache

import msgspec

from memento_tui.text.literals import StartedPattern

__all__ = ["CODE_RULES", "COMMAND_RULES", "FormatRule", "form"]


class FormatRule(msgspec.Struct, frozen=True):
    """One form of a secret: the pattern around its value, and the check of the value itself."""

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, in lower case."""
    source: str
    """The pattern, verbose, for any case. Its group ``quoted``, ``bare`` or ``secret`` is the value."""
    judge: str
    also: tuple[str, ...] = ()
    """Every match holds one of these too, where any are given."""
    is_command: bool = False
    """Whether every match holds the option of a command."""
    holds: str = ""
    """A pattern of which every match holds a match too, where any is given. It begins with a sign, and so is looked
    for fast."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use."""
        return _compiled(self.source)

    def may_match(self, text: str) -> bool:
        """Tell whether the text holds one of the literals that every match has (`holds`); true where none is named."""
        return not self.holds or _compiled(self.holds).search(text) is not None

    def matches(self, text: str, read: str) -> Iterator[re.Match[str]]:
        """Yield the pattern's matches in a text. ``read`` is the text in lower case, equally long."""
        return _started(self.source).finditer(text, read)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.VERBOSE | re.IGNORECASE | re.ASCII | re.MULTILINE)


@cache
def _started(source: str) -> StartedPattern:
    return StartedPattern(_compiled(source))


_VALUE = r"""(?: (?P<quote>["'`]) (?P<quoted>[^"'`\n]{1,256}) (?P=quote) | (?P<bare>[^\s"'`<>|;]{1,256}+) )"""
_LINE = r"[^\n|;&]{0,120}?"
"""The rest of a command up to the value."""
_NAME = r"[\w@.+-]{1,60}"
_NAMED = r"""[\w.-]{0,40}(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key
    |private[_-]?key|credential)s?"""
_VARIABLE = r"[\w$@.-]{0,40}(?:pass|pwd|pw|secret|token|key|cred|auth|pat)\w{0,20}"
"""The name of a variable or a field that may hold a secret; `secret_word_in` says whether it does."""


_COMMAND_OPTION = re.compile(re.escape("@L@\\s") + r"(?:\(\?(?::|-i:))?-")


def form(
    kind: str, needs: str, source: str, judge: str, also: str = "", *, is_command: bool = False, holds: str = ""
) -> FormatRule:
    """Make a rule; ``needs`` are parted by spaces, with ``~`` for a space inside one.

    ``also`` may hold @LINE@ for the end of a line. In the pattern @V@ stands for the value, @L@ for the rest of a
    command, @N@ for a user, @S@ for the name of a secret and @I@ for that of a variable.
    """
    words = tuple(word.replace("~", " ") for word in needs.split())
    filled = source.replace("@V@", _VALUE).replace("@L@", _LINE).replace("@N@", _NAME)
    filled = filled.replace("@S@", _NAMED).replace("@I@", _VARIABLE)
    command = is_command or _COMMAND_OPTION.search(source) is not None or source.startswith("--")
    return FormatRule(
        kind, words, filled, judge, tuple(also.replace("@LINE@", "\n").split(" ")) if also else (), command, holds
    )


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


_OPTIONS: tuple[tuple[str, str, str], ...] = (
    ("ipmitool ipmi-sensors ipmipower bmc-config bcp osql isql sqsh freebcp tsql", "-P", "any"),
    ("evil-winrm cqlsh beeline impala-shell racadm steghide arangosh couchbase-cli cbq useradd usermod", "-p", "any"),
    ("crackmapexec netexec nxc wmiexec hydra medusa ncftp ncftpput jolokia mariadb-admin xtrabackup", "-p", "any"),
    ("snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmptrap", "-A", "any"),
    ("snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmptrap", "-X", "any"),
    ("snmpwalk snmpget snmpset snmpbulkwalk snmpbulkget snmptrap", "-c", "strict"),
    ("codecov glab vercel influx netlify render doppler infisical pscale turso sentry-cli", "-t --auth -a", "key"),
    ("nuget gem twine flit hatch hub", "-k -a -p --key", "key or strict"),
    ("x11vnc vncserver tightvncserver", "-passwd", "any"),
    ("vmrun govc vmware-cmd esxcli", "-gp -vp -p", "any"),
    ("anydesk teamviewer rustdesk", "--set-password --passwd --password", "any"),
    ("smbmap rpcclient winexe", "-p", "any"),
    ("gpg gpg2 gpgsm", "--passphrase", "any"),
    ("dsadd dsmod", "-pwd", "any"),
    ("samba-tool", "--newpassword --adminpass", "any"),
)
"""Tools whose options take a secret: the tools, the options, and how a value is judged."""
_PLACES: tuple[tuple[str, str, str], ...] = (
    ("rabbitmqctl", r"(?:add_user|change_password|authenticate_user)\s{1,3}@N@", "any"),
    ("wpa_passphrase", r"@N@", "any"),
    ("poetry composer bundle", r"config\s{1,3}(?:-\S{1,12}\s{1,3}){0,2}http-basic\.\S{1,80}\s{1,3}@N@", "any"),
    ("poetry composer", r"config\s{1,3}(?:-\S{1,12}\s{1,3}){0,2}(?:pypi-token|github-oauth|gitlab-token|bearer)\.\S{1,80}", "any"),
    ("rclone", r"config\s{1,3}(?:create|update)@L@\spass", "any"),
    ("pdftk", r"@L@\s(?:user_pw|owner_pw|input_pw)", "any"),
    ("qpdf", r"@L@\s--encrypt", "any"),
    ("drush", r"(?:user:password|user-password|upwd)\s{1,3}@N@", "any"),
    ("smbpasswd htdigest", r"@L@\s-s\s{1,3}@N@", "any"),
    ("redis-cli valkey-cli", r"@L@\sauth", "any"),
    ("snyk glab gh fly flyctl railway ngrok cargo heroku supabase vercel netlify depot render expo eas sentry-cli wandb vault doppler infisical hf huggingface-cli kaggle modal replicate deployctl wrangler pulumi bws",
     r"(?:auth|login|authtoken|access-token|authenticate)(?:\s(?:token|login|set|add|save|-t|--token|--key|--access-token)){0,2}", "key"),
    ("vault bao", r"operator\s{1,3}unseal", "key"),
    ("kaggle huggingface-cli", r"@L@\s(?:--token|--key)", "key"),
)  # fmt: skip
"""Tools that take a secret in a certain place: the tools, what stands before the secret, and how it is judged."""


def _of_option(tools: str, options: str, judge: str) -> FormatRule:
    names, flags = ("|".join(words.split()) for words in (tools, options))
    return form("password", tools, rf"(?<![\w-])(?:{names})\b@L@\s(?-i:{flags})[ =]{{0,3}}@V@", judge)


def _of_place(tools: str, before: str, judge: str) -> FormatRule:
    names = "|".join(tools.split())
    also = "auth login access-token" if "|login|" in before else ""
    needs = tools.replace(" ", "~ ") + "~"
    return form("password", needs, rf"(?<![\w-])(?:{names})[ ]\s{{0,2}}{before}\s{{1,3}}@V@", judge, also)


_PRINTS = r"""(?:
    (?:echo|printf|printenv|write-output|write-host|print)\s{1,3}["'(]{0,2}\$?[{(]?(?:env:)?(?-i:[A-Za-z_]{0,30}(?:PASS|PASSWORD|PASSWD|PWD|PW|SECRET|TOKEN|KEY|PAT|pass|password|passwd|pwd|pw|secret|token|key))["'})]{0,3}[^\S\n]*$
    | (?:pass|gopass|lpass)\s(?:show|-c)\s | \bop\s(?:read|item\sget)\s | \bbw\sget\s | \bkeyring\sget\s | secret-tool\slookup\s
    | \bvault\s(?:kv\sget|read)\s[^\n]{0,80}-field | \bget\ssecrets?\s[^\n]{0,160}\bbase64\b | get-secret-value | get-parameters?\s[^\n]{0,80}decryption
    | get-login-password | print-(?:access|identity)-token | get-access-token | configure\sget\saws_(?:secret|session) | find-(?:generic|internet)-password\s[^\n]{0,80}-w
    | \b(?:gh|fly|flyctl|glab)\sauth\stoken | \bheroku\s(?:config:get|auth:token) | \bsecrets\s(?:get|access|versions\saccess)\s
    | output\s(?:-raw|-json)\s[^\n]{0,40}(?:passw|secret|token|key) | \bcat\s[^\n|]{0,120}(?:secret|password|passwd|token|api[_-]?key|credential|/run/secrets/|\.pass\b)[^\n|]{0,40}$
    | \brand\s-(?:hex|base64)\b | \bpwgen\b | \bapg\s | /dev/urandom | \bmkpasswd\b | \b(?:rails|rake|phx\.gen\.)\s?secret\b | key:generate\s--show
    | \bwg\s(?:genkey|genpsk)\b | \btoken\screate\b | \b(?:consul|nomad)\s[^\n]{0,40}keygen\b | secrets\.token_(?:hex|urlsafe)\( | \bsops\s(?:-d|decrypt)\b
    )"""
"""Commands that print a secret."""

COMMAND_RULES: tuple[FormatRule, ...] = (
    *(_of_option(*entry) for entry in _OPTIONS),
    *(_of_place(*entry) for entry in _PLACES),
    form(
        "secret",
        "echo print write- pass~ secret token bw~get op~read op~item keyring~ lookup~ -field get- get~aws_ config:get output~- cat~ rand~- pwgen apg~ urandom key:generate wg~gen keygen sops~",
        _PRINTS + r"[^\n]{0,160}\n[^\S\n]{0,4}(?P<secret>[^\s\"'$#<]\S{5,255})[^\S\n]*$",
        "printed",
        "@LINE@",
    ),
    form(
        "password",
        "~-p ~-w ~-k ~-t ~-a ~-x",
        r"[ ](?-i:-[pPwWkKtTaAX])[ =]@V@",
        "plain",
        is_command=True,
    ),
    form("password", "nickserv", r"\bnickserv\b[\s:]{1,3}identify\s{1,3}(?:@N@\s{1,3}(?=\S))?@V@", "any"),
    form(
        "password",
        "echo printf",
        r"""\b(?:echo|printf)\s{1,3}(?:-[nerE]{1,3}\s{1,3}){0,2}(?:["']%s(?:\\n)?["']\s{1,3})?@V@\s{0,3}\|\s{0,3}(?:base64|sha\d{1,3}sum|md5sum|openssl|htpasswd|kubeseal|gpg|age|mkpasswd|xxd|pbcopy|xclip|argon2|bcrypt)\b""",
        "worded",
    ),
    form(
        "password",
        "password~0 password~5 password~7 key~0 key~5 key~7 secret~0 secret~5 secret~7 tacacs-server radius-server",
        r"(?:\b(?:password|secret|key)\s[057]|\b(?:tacacs|radius)-server\s(?:host\s\S{1,40}\s)?key(?:\s[07])?)\s{1,3}(?P<secret>[^\s\"']{4,128})[^\S\n]*$",
        "strict",
    ),
    form("password", "lftp", r"\blftp\b@L@\s-u\s{1,3}[^\s,]{1,60},(?P<secret>[^\s\"']{3,128})", "any"),
    form(
        "password",
        "curl",
        r"\bcurl\b@L@\s(?-i:-U|--proxy-user)[ =]{0,2}[\"']?[^\s:\"']{1,64}:(?P<secret>[^\s\"']{3,128})",
        "any",
    ),
    form("password", "freerdp rdesktop", r"\b(?:[xw]freerdp3?|sdl-freerdp)\b@L@\s/p:@V@", "any"),
    form("password", "rdesktop", r"\brdesktop\b@L@\s-p\s{0,2}@V@", "any"),
    form("token", "-auth", r"\s-{1,2}auth[ =]{1,2}[\"']?[\w.@-]{1,60}:(?P<secret>[^\s\"':]{6,256})", "key or strict"),
    form("token", "config.sh config.cmd", r"\bconfig\.(?:sh|cmd)\b@L@\s--token[ =]{1,2}@V@", "any"),
    form("token", "sonar.", r"-dsonar\.(?:login|token|password)=@V@", "key or strict"),
    form(
        "password",
        "setuser",
        r"\bacl\s{1,3}setuser\s{1,3}\S{1,60}(?:\s\S{1,40}){0,4}?\s>(?P<secret>[^\s\"']{3,128})",
        "any",
    ),
    form("password", "pass~", r"^[^\n]{0,12}(?-i:PASS)\s(?P<secret>[^\s\"':]{4,128})[^\S\n]*$", "strict"),
    form(
        "password",
        "echo printf",
        r"""\b(?:echo|printf)\s{1,3}(?:-[nerE]{1,3}\s{1,3}){0,2}(?:["']%s(?:\\n)?["']\s{1,3})?@V@\s{0,3}\|[^\n]{0,160}?
        (?:--password-stdin|\bsudo\s{1,3}-S\b|--with-token|--stdin\b|--passphrase-fd|\blogin\b|cryptsetup|--passin|secret\s)""",
        "any",
    ),
    form(
        "password",
        "chpasswd",
        r"""\becho\s{1,3}["']?[\w.-]{1,40}:(?P<secret>[^\s"'|]{3,128})["']?\s{0,3}\|\s{0,3}(?:sudo\s{1,3})?chpasswd""",
        "any",
    ),
    form(
        "password",
        "<<<",
        r"(?:--password-stdin|--with-token|\blogin\b|\bsudo\s-S\b)[^\n|;]{0,100}?<<<\s{0,3}@V@",
        "any",
    ),
    form(
        "password",
        "login",
        r"\b(?:docker|podman|helm\s{1,3}registry|oras|skopeo|crane|nerdctl|buildah|az|oc|cf|ibmcloud)\s{1,3}login\b@L@\s(?:-p|--password)[ =]{1,3}@V@",
        "any",
    ),
    form(
        "password",
        "mongo sqlcmd twine mosquitto rpcclient",
        r"\b(?:mongo\w{0,10}|sqlcmd|twine|mosquitto_[ps]ub|rpcclient)\b@L@\s-[pP]\s{1,3}@V@",
        "loose",
    ),
    form(
        "password",
        "redis-cli redis-benchmark valkey-cli",
        r"\b(?:redis-(?:cli|benchmark)|valkey-cli)\b@L@\s(?:-a|--pass)\s{1,3}@V@",
        "any",
    ),
    form("password", "ldap", r"\bldap(?:search|modify|add|whoami|passwd|delete)\b@L@\s-w\s{1,3}@V@", "any"),
    form("password", "htpasswd", r"\bhtpasswd\s{1,3}-\w{0,4}b\w{0,4}\s{1,3}\S{1,120}\s{1,3}\S{1,40}\s{1,3}@V@", "any"),
    form("password", "htpasswd", r"\bhtpasswd\s{1,3}-\w{0,4}n\w{0,4}\s{1,3}\S{1,40}\s{1,3}@V@", "any"),
    form(
        "password",
        "smbclient rpcclient smbmap crackmapexec",
        r"""\b(?:smbclient|rpcclient|smbmap)\b@L@\s-U\s{0,3}["']?[^\s%"']{1,60}%(?P<secret>[^\s"']{3,128})""",
        "any",
    ),
    form("password", "net~use", r"\bnet[ ]use\b@L@\s(?!/)(?!\\\\)(?!\w:)@V@\s{1,3}/user:", "any"),
    form("password", "/user:", r"\bnet[ ]use\b@L@/user:\S{1,60}\s{1,3}(?!/)@V@", "any"),
    form("password", "net~user", r"\bnet[ ]user\s{1,3}@N@\s{1,3}(?!/)@V@", "any"),
    form("password", "openssl pass:", r"\s-?pass(?:in|out|word)?[ =]{1,3}pass:(?P<secret>[^\s\"']{3,128})", "any"),
    form("password", "openssl", r"\bopenssl\b@L@\s-[kK]\s{1,3}@V@", "loose"),
    form("password", "zip", r"\b(?:zip|unzip)\b@L@\s(?-i:-P)\s{0,3}@V@", "any"),
    form("password", "7z rar", r"\b(?:7za?|rar|unrar)\b@L@\s-(?:hp|p)(?P<secret>[^\s\"'-][^\s\"']{2,128})", "any"),
    form("password", "plink pscp psftp putty", r"\b(?:plink|pscp|psftp|putty)\b@L@\s-pw\s{1,3}@V@", "any"),
    form("password", "ssh-keygen", r"\bssh-keygen\b@L@\s(?-i:-[NP])\s{1,3}@V@", "any"),
    form(
        "password",
        "identified",
        r"\bidentified\s{1,3}(?:with\s\S{1,40}\s{1,3})?(?:by|as)\s{1,3}(?:password\s{1,3})?(?=')@V@[^\S\n]{0,3}(?:;|\"|$|with\s|account|require|default|password\s)",
        "any",
    ),
    form(
        "password",
        "password",
        r"\b(?:role|user|login)\s{1,3}\S{1,60}\s{1,3}(?:with\s{1,3})?(?:\w{1,20}\s{1,3}){0,4}password\s{0,3}=?\s{0,3}(?=')@V@",
        "any",
    ),
    form(
        "password",
        "sqlplus sqlldr impdp expdp rman sqlcl oracle:thin:",
        r"(?:\b(?:sqlplus|sqlldr|impdp|expdp|rman|sqlcl)\s{1,3}(?:-\S{1,12}\s{1,3}){0,3}|jdbc:oracle:thin:)[\w.]{1,40}/(?P<secret>[^\s@\"']{3,128})@",
        "any",
    ),
    form(
        "token",
        "secret",
        r"\bsecrets?\s{1,3}(?:set|put|create)\s{1,3}@N@@L@\s(?:-b|--body|--value)[ =]{0,2}@V@",
        "any",
    ),
    form(
        "token",
        "config setx authtoken login",
        r"""\b(?:(?:configure|config)\s{1,3}(?:set|add|add-authtoken)(?:\s--\S{1,20}){0,2}\s{1,3}(?P<name>\S{0,80}(?:secret|token|password|_auth|key)\w{0,12})
        |\bsetx\s{1,3}(?P<variable>[\w]{0,40}(?:secret|token|password|passwd|pass|pwd|key))|config\s{1,3}add-authtoken|authtoken|\b(?:vault|railway|wandb|huggingface-cli|fly|hf)\s{1,3}login(?:\s--token)?)[ =]{1,3}@V@""",
        "key or strict",
        "secret token pass pwd key login",
    ),
    form("token", "alias", r"\bmc\s{1,3}alias\s{1,3}set\s{1,3}\S{1,40}\s{1,3}\S{1,80}\s{1,3}\S{1,60}\s{1,3}@V@", "any"),
    form(
        "password",
        "send",
        r"""(?:password|passphrase)[^\n]{0,40}\n?[^\n]{0,20}\bsend\s{1,3}(?:--\s)?["'](?P<secret>[^"'\n\\]{3,128})\\\\?[rn]""",
        "any",
    ),
    form("password", "security", r"\bsecurity\s{1,3}add-(?:generic|internet)-password\b@L@\s-w\s{1,3}@V@", "any"),
    form("password", "cmdkey", r"\bcmdkey\b@L@/pass:@V@", "any"),
)
