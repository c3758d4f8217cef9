"""The forms in which a command line holds a secret: options of known tools, words in their place, what is printed."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line
from memento_tui.policy.secret_forms import FormatRule, form

__all__ = ["COMMAND_RULES"]

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
