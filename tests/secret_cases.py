"""Made secrets in the forms in which people, programs and agents write them down: kinds by formats by surroundings.

Nothing here is a real secret. Every value is drawn from a seeded generator, and put together at run time, so that no
scanner takes this file for a leak.
"""

from __future__ import annotations

# ruff: noqa: RUF001 - punctuation of other scripts is part of the forms
import base64
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from urllib.parse import quote

import msgspec

__all__ = ["SecretCase", "is_removed", "secret_cases"]

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits
_WEB = _ALNUM + "-_"
_LOWER = string.ascii_lowercase + string.digits
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BASE64 = _ALNUM + "+/"
_BASE32 = string.ascii_uppercase + "234567"
_WORDS = "tulip maple river falcon copper winter harbor violet meadow canyon amber thunder pepper willow".split()  # noqa: SIM905


class SecretCase(msgspec.Struct, frozen=True):
    """One text with secrets in it: the kind of value, the format and the surroundings that made it."""

    kind: str
    form: str
    around: str
    text: str
    secrets: tuple[str, ...]


class _Draw:
    """Values of every kind, from one seeded generator."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - a fixed seed is the point

    def some(self, length: int, alphabet: str = _ALNUM) -> str:
        while True:
            value = "".join(self.rng.choices(alphabet, k=length))
            kinds = (str.isdigit, str.isalpha)
            if length < 10 or all(any(map(kind, value)) for kind in kinds if any(map(kind, alphabet))):
                return value

    def hex(self, length: int) -> str:
        return self.some(length, _HEX)

    def uuid(self) -> str:
        return "-".join(self.hex(length) for length in (8, 4, 4, 4, 12))

    def word(self) -> str:
        return self.rng.choice(_WORDS)


def _passwords() -> dict[str, Callable[[_Draw], str]]:
    return {
        "word and digits": lambda d: d.word() + d.some(3, string.digits),
        "digits within": lambda d: d.word().replace("e", "3").replace("i", "1").replace("o", "0") + d.some(2, "0123"),
        "word and sign": lambda d: d.word().title() + d.some(4, string.digits) + d.rng.choice("!#$*?"),
        "signs": lambda d: d.some(3) + d.rng.choice("@!%^") + d.some(4) + d.rng.choice("#$*-") + d.some(3),
        "drawn": lambda d: d.some(16),
        "passphrase": lambda d: "-".join(d.rng.choices(_WORDS, k=4)) + "-" + d.some(2, string.digits),
    }


def _plain_words() -> dict[str, Callable[[_Draw], str]]:
    return {"one word": lambda d: d.word() + d.word()}


def _keys() -> dict[str, Callable[[_Draw], str]]:
    return {
        "hex 32": lambda d: d.hex(32),
        "hex 40": lambda d: d.hex(40),
        "hex 64": lambda d: d.hex(64),
        "letters 24": lambda d: d.some(24),
        "letters 40": lambda d: d.some(40),
        "base64 44": lambda d: d.some(43, _BASE64) + "=",
        "url-safe 43": lambda d: d.some(43, _WEB),
        "uuid": lambda d: d.uuid(),
    }


def _tokens() -> dict[str, Callable[[_Draw], str]]:
    def token(prefix: str, length: int, alphabet: str = _ALNUM, end: str = "") -> Callable[[_Draw], str]:
        head = prefix.replace("~", "")
        return lambda d: head + d.some(length, alphabet) + end

    return {
        "aws id": token("AK~IA", 16, _UPPER),
        "aws session id": token("AS~IA", 16, _UPPER),
        "github": token("gh~p_", 36),
        "github oauth": token("gh~o_", 36),
        "gitlab": token("gl~pat-", 20, _WEB),
        "gitlab deploy": token("gl~dt-", 20, _WEB),
        "openai project": token("s~k-proj-", 74, _WEB),
        "anthropic": token("s~k-ant-api03-", 93, _WEB),
        "xai": token("x~ai-", 80),
        "groq": token("gs~k_", 52),
        "perplexity": token("pp~lx-", 48),
        "replicate": token("r~8_", 37),
        "hugging face": token("h~f_", 34),
        "openrouter": token("s~k-or-v1-", 64, _HEX),
        "tailscale": lambda d: "ts" + "key-auth-" + d.some(17) + "CNTRL-" + d.some(32),
        "tailscale client": lambda d: "ts" + "key-client-" + d.some(12) + "CNTRL-" + d.some(32),
        "figma": token("fi~gd_", 40, _WEB),
        "supabase": token("sb~p_", 40, _HEX),
        "supabase secret": token("sb_~secret_", 31, _WEB),
        "planetscale": token("pscale_~tkn_", 43, _WEB),
        "planetscale password": token("pscale_~pw_", 43, _WEB),
        "linear": token("lin_~api_", 40),
        "linear oauth": token("lin_~oauth_", 64, _HEX),
        "npm": token("np~m_", 36),
        "pypi": token("py~pi-AgEIcHlwaS5vcmc", 80, _WEB),
        "rubygems": token("rubygems~_", 48, _HEX),
        "crates": token("ci~o", 32),
        "docker": token("dckr_~pat_", 27, _WEB),
        "docker organisation": token("dckr_~oat_", 32, _WEB),
        "slack": lambda d: (
            "xo" + "xb-" + d.some(12, string.digits) + "-" + d.some(12, string.digits) + "-" + d.some(24)
        ),
        "slack user": lambda d: (
            "xo" + "xp-" + d.some(12, string.digits) + "-" + d.some(12, string.digits) + "-" + d.hex(32)
        ),
        "stripe": token("sk_~live_", 24),
        "stripe test": token("sk_~test_", 24),
        "google": token("AI~za", 35, _WEB),
        "google oauth": token("ya~29.", 60, _WEB),
        "google client": token("GO~CSPX-", 28, _WEB),
        "sendgrid": lambda d: "S" + "G." + d.some(22, _WEB) + "." + d.some(43, _WEB),
        "mailgun": token("ke~y-", 32, _HEX),
        "brevo": lambda d: "xkeys" + "ib-" + d.hex(64) + "-" + d.some(16),
        "resend": token("r~e_", 32),
        "twilio": token("S~K", 32, _HEX),
        "digitalocean": token("do~p_v1_", 64, _HEX),
        "cloudflare origin": token("v1~.0-", 160, _HEX),
        "heroku": lambda d: "HRKU-" + "AA" + d.some(58, _WEB),
        "fly": token("Fm1~_", 100, _BASE64),
        "vercel blob": token("vercel_~blob_rw_", 40),
        "netlify": token("nf~p_", 36),
        "render": token("rn~d_", 32),
        "databricks": token("da~pi", 32, _HEX),
        "snowflake": token("eyJ~raWQiOiI", 40, _WEB, "." + "eyJpc3MiOiIx." + "c2lnbmF0dXJlLXBhcnQ"),
        "vault": token("hv~s.", 90, _WEB),
        "terraform": lambda d: d.some(14) + ".at" + "lasv1." + d.some(64, _WEB),
        "pulumi": token("pu~l-", 40, _HEX),
        "doppler": token("dp.~pt.", 43),
        "doppler service": token("dp.~st.prd.", 43),
        "infisical": lambda d: "st" + "." + d.hex(24) + "." + d.hex(32) + "." + d.hex(32),
        "1password": token("ops~_eyJ", 250, _ALNUM),
        "grafana": lambda d: "gl" + "sa_" + d.some(32) + "_" + d.hex(8),
        "grafana cloud": token("gl~c_eyJ", 80, _ALNUM),
        "new relic": token("NR~AK-", 27, _UPPER),
        "datadog": token("ddp~_", 36),
        "sentry": token("sntrys~_eyJ", 120, _ALNUM),
        "sentry user": token("sntryu~_", 64, _HEX),
        "posthog": token("ph~x_", 43),
        "launchdarkly": lambda d: "s" + "dk-" + d.uuid(),
        "postman": lambda d: "PM" + "AK-" + d.hex(24) + "-" + d.hex(34),
        "notion": token("nt~n_", 46),
        "airtable": lambda d: "pa" + "t" + d.some(14) + "." + d.hex(64),
        "asana": lambda d: "2/" + d.some(16, string.digits) + "/" + d.some(16, string.digits) + ":" + d.hex(32),
        "atlassian": token("ATA~TT3xFfGF0", 180, _WEB, "=" + "9A2B3C4D"),
        "shopify": token("sh~pat_", 32, _HEX),
        "square": token("EA~AA", 60, _WEB),
        "square new": token("sq0~atp-", 22, _WEB),
        "adyen": token("AQ~E", 60),
        "telegram": lambda d: d.some(10, "123456789") + ":" + "AA" + d.some(33, _WEB),
        "discord": lambda d: "MT" + d.some(24) + "." + d.some(6, _WEB) + "." + d.some(38, _WEB),
        "age": token("AGE-SECRET-KEY-~1", 58, _BASE32),
        "buildkite": token("bk~ua_", 40, _HEX),
        "circleci": lambda d: "CC" + "IPAT_" + d.some(22) + "_" + d.hex(40),
        "sonarqube": token("sq~u_", 40, _HEX),
        "codecov": lambda d: "codecov token: " + d.uuid(),
        "langsmith": lambda d: "ls" + "v2_pt_" + d.hex(32) + "_" + d.hex(10),
        "wandb": token("wandb_~v1_", 60, _WEB),
        "cohere": token("co~here_", 40),
        "elevenlabs": token("s~k_", 48, _HEX),
        "deepseek": token("s~k-", 32, _HEX),
        "fireworks": token("fw~_", 24),
        "tavily": token("tvl~y-", 32),
        "firecrawl": token("fc~-", 32, _HEX),
        "exa like uuid": lambda d: "EXA_API_KEY=" + d.uuid(),
        "nvidia": token("nva~pi-", 64, _WEB),
        "cerebras": token("cs~k-", 48),
        "mapbox secret": lambda d: "s" + "k.eyJ" + d.some(80, _WEB) + "." + d.some(22, _WEB),
        "contentful": token("CFP~AT-", 43, _WEB),
        "ngrok": lambda d: "ngrok authtoken " + d.some(27) + "_" + d.some(21),
        "azure devops": lambda d: d.some(76) + "AZ" + "DO" + d.some(4),
        "alibaba": token("LT~AI5t", 17),
        "tencent": token("AKI~Dz", 32),
        "jwt": lambda d: "ey" + "J" + d.some(33) + ".ey" + "J" + d.some(60, _WEB) + "." + d.some(43, _WEB),
        "sourcegraph": lambda d: "sg" + "p_" + d.hex(40),
        "typeform": token("tf~p_", 44, _WEB),
        "dropbox": token("s~l.", 130, _WEB),
        "easypost": token("EZ~AK", 54),
        "flutterwave": token("FLWSECK~-", 32, _HEX, "-X"),
        "paystack": token("sk_~live_", 40, _HEX),
        "razorpay": lambda d: "razorpay secret: " + d.some(24),
        "plaid": lambda d: "access-" + "sandbox-" + d.uuid(),
        "readme": token("rd~me_", 70, "abcdefghijklmnopqrstuvwxyz0123456789"),
        "scalingo": token("tk-us-~", 48, _WEB),
        "octopus": token("AP~I-", 26, _UPPER),
        "rancher": lambda d: "token" + "-" + d.some(5, _LOWER) + ":" + d.some(54, _LOWER),
        "linkedin": lambda d: "WPL_" + "AP1." + d.some(16) + "." + d.some(6) + "==",
        "braintree": lambda d: "access_" + "token$production$" + d.some(16, _LOWER) + "$" + d.hex(32),
        "trello": lambda d: "AT" + "TA" + d.hex(64) + d.some(8, "0123456789ABCDEF"),
        "clickup": lambda d: "pk" + "_" + d.some(8, string.digits) + "_" + d.some(32, _UPPER),
        "mollie": token("li~ve_", 30),
        "nuget": token("oy~2", 43, _LOWER),
        "honeycomb": token("hca~ik_01", 56, _LOWER),
        "adobe": token("p8~e-", 32),
        "artifactory reference": token("cmVm~dGtu", 56),
        "trigger": token("tr_~prod_", 20),
        "vault of old": token("s~.", 24),
        "new relic ingest": lambda d: d.hex(36) + "NR" + "AL",
        "azure storage": lambda d: d.some(76, _BASE64) + "+A" + "St" + d.some(5, _BASE64) + "Q==",
        "azure bus": lambda d: d.some(33, _BASE64) + "+A" + "Sb" + d.some(6, _BASE64) + "=",
        "extended key": token("xp~rv", 106, _BASE58),
        "hashed api": token("mp~_live_", 32, _HEX),
        "unknown maker": lambda d: "acme" + "_live_" + d.some(40),
        "unknown maker too": lambda d: "zq" + "x-" + d.some(44),
    }


_PASSWORD_FORMS: dict[str, str] = {
    "colon": "password: {}",
    "equals": "PASSWORD={}",
    "env": "DB_PASSWORD={}",
    "export": "export PGPASSWORD='{}'",
    "set": "set MYSQL_PWD={}",
    "powershell": '$env:DB_PASSWORD = "{}"',
    "is": "the admin password is {}",
    "was": "The old root password was {} until March.",
    "to": "I changed the password to {} yesterday",
    "arrow": "password -> {}",
    "dash": "Password - {}",
    "em dash": "Password — {}",
    "tab": "password\t{}",
    "quoted": 'use the password "{}" there',
    "backticks": "log in with password `{}`",
    "bold": "**Password:** {}",
    "bold with backticks": "**Password**: `{}`",
    "parenthesis": "log in as deploy (password: {})",
    "next line": "Password:\n    `{}`",
    "user admin": "user admin, password {}",
    "user and pass": "username: root password: {}",
    "user slash": "user/password: admin/{}",
    "login slash": "login admin/{}",
    "login colon": "login: deploy:{}",
    "log in with": "log in with admin / {} on the test server",
    "sign in as": "sign in as bob@corp.example / {}",
    "credentials": "credentials: admin:{}",
    "creds are": "creds are admin / {}",
    "user with password": "the account svc-build with password {}",
    "pw": "pw: {}",
    "pass": "user: root\npass: {}",
    "pass equals": "pass={}",
    "passphrase": "ssh passphrase: {}",
    "passcode": "the passcode is {}",
    "wifi": "WiFi password: {}",
    "wifi code": "WIFI:T:WPA;S:office;P:{};;",
    "psk": 'psk="{}"',
    "json": '{{"user": "admin", "password": "{}"}}',
    "json pass": '{{"user": "admin", "pass": "{}"}}',
    "json escaped": '{{\\"password\\": \\"{}\\"}}',
    "json name and value": '{{"name": "DB_PASSWORD", "value": "{}"}}',
    "yaml": "database:\n  user: app\n  password: {}",
    "yaml block": "password: >-\n  {}",
    "yaml name and value": "- name: DB_PASSWORD\n  value: {}",
    "toml": '[db]\npassword = "{}"',
    "ini": "[client]\nuser=root\npassword={}",
    "properties": "spring.datasource.password={}",
    "xml": "<password>{}</password>",
    "xml attribute": '<user name="admin" password="{}"/>',
    "xml setting": '<add key="DbPassword" value="{}" />',
    "maven": "<server><username>ci</username><password>{}</password></server>",
    "python": 'PASSWORD = "{}"',
    "python dict": "{{'user': 'a', 'password': '{}'}}",
    "python argument": 'connect(user="app", password="{}")',
    "python auth": 'requests.get(url, auth=("admin", "{}"))',
    "ruby": ':password => "{}"',
    "php": "define('DB_PASSWORD', '{}');",
    "java": "-Djavax.net.ssl.keyStorePassword={}",
    "java setter": 'config.setPassword("{}");',
    "js": "const dbPassword = '{}';",
    "go": 'Password: "{}",',
    "terraform": 'variable "db_password" {{\n  default = "{}"\n}}',
    "netrc": "machine api.example.com login deploy password {}",
    "netrc lines": "machine git.example.com\n  login bob\n  password {}",
    "pgpass": "db.internal:5432:app:deploy:{}",
    "url": "postgres://app:{}@db.internal:5432/app",
    "url without user": "redis://:{}@10.0.0.5:6379/0",
    "git url": "git clone https://bot:{}@git.example.com/x.git",
    "query": "https://x.example/login?user=a&password={}",
    "jdbc": "jdbc:mysql://db/app?user=app&password={}",
    "oracle": "sqlplus scott/{}@orcl",
    "connection string": "Server=db;User Id=sa;Password={};Encrypt=true",
    "odbc": "DRIVER=x;UID=sa;PWD={}",
    "flag": "tool --user a --password {} run",
    "flag equals": "tool --password={} run",
    "docker login": "docker login -u ci -p {} registry.example.com",
    "echo docker": "echo {} | docker login -u ci --password-stdin registry.example.com",
    "echo quoted docker": 'echo "{}" | docker login --username ci --password-stdin',
    "printf": "printf '%s' '{}' | helm registry login -u a --password-stdin x",
    "echo sudo": "echo '{}' | sudo -S apt update",
    "chpasswd": "echo 'deploy:{}' | chpasswd",
    "here string": "docker login -u ci --password-stdin <<< '{}'",
    "mysql": "mysql -u root -p{} app",
    "mysqldump": "mysqldump -uroot -p'{}' app > x.sql",
    "redis-cli": "redis-cli -h cache -a {} ping",
    "sshpass": "sshpass -p '{}' ssh root@host",
    "curl": "curl -u admin:{} https://x.example/api",
    "curl long": "curl --user 'admin:{}' https://x.example",
    "wget": "wget --http-password={} https://x.example",
    "htpasswd": "htpasswd -b /etc/nginx/.htpasswd bob {}",
    "smbclient": "smbclient //nas/share -U bob%{}",
    "net use": "net use Z: \\\\nas\\share {} /user:bob",
    "ldapsearch": "ldapsearch -x -D cn=admin,dc=x -w {} -b dc=x",
    "openssl": "openssl enc -d -aes-256-cbc -pass pass:{} -in x",
    "zip": "zip -P {} out.zip notes.md",
    "7z": "7z x backup.7z -p{}",
    "sql": "CREATE USER app WITH PASSWORD '{}';",
    "sql identified": "CREATE USER 'app'@'%' IDENTIFIED BY '{}';",
    "sql alter": "ALTER ROLE postgres PASSWORD '{}';",
    "kubectl": "kubectl create secret generic db --from-literal=password={}",
    "heroku": "heroku config:set DB_PASSWORD={}",
    "gh secret": "gh secret set DB_PASSWORD --body '{}'",
    "vault put": "vault kv put secret/db password={}",
    "ansible": "ansible_become_pass: {}",
    "ansible vars": "ansible-playbook x.yml -e 'db_password={}'",
    "compose": "environment:\n  - POSTGRES_PASSWORD={}",
    "table": "| host | user | password |\n|---|---|---|\n| db1 | admin | {} |",
    "table row": "| password | {} |",
    "csv": "host,user,password\ndb1,admin,{}",
    "german": "Passwort: {}",
    "german sentence": "das Passwort ist {}",
    "german Kennwort": "Kennwort lautet {}",
    "french": "mot de passe : {}",
    "spanish": "contraseña: {}",
    "spanish clave": "la contraseña es {}",
    "portuguese": "senha: {}",
    "italian": "la password è {}",
    "dutch": "wachtwoord: {}",
    "polish": "hasło: {}",
    "swedish": "lösenord: {}",
    "danish": "adgangskode: {}",
    "norwegian": "passord: {}",
    "finnish": "salasana: {}",
    "czech": "heslo: {}",
    "hungarian": "jelszó: {}",
    "romanian": "parola: {}",
    "turkish": "şifre: {}",
    "russian": "пароль: {}",
    "ukrainian": "пароль — {}",
    "greek": "κωδικός: {}",
    "hebrew": "סיסמה: {}",
    "arabic": "كلمة المرور: {}",
    "hindi": "पासवर्ड: {}",
    "chinese": "密码：{}",
    "chinese is": "密码是 {}",
    "japanese": "パスワード: {}",
    "korean": "비밀번호: {}",
    "vietnamese": "mật khẩu: {}",
    "indonesian": "kata sandi: {}",
    "html input": '<input type="password" value="{}">',
    "set to": "root password set to {}",
    "use": "Use password {} for staging.",
    "with": "connect with user app and password {}",
    "for": "password for the staging database: {}",
    "of": "The password of the backup user is {}.",
    "jenkins": "jenkins admin user / initial password: {}",
    "their": "Bob's password is {}, tell nobody",
    "remember": "Remember: the sudo password is {}",
    "chat": "user: what was the db password again?\nassistant: It is `{}`.",
    "basic auth": "basic auth admin / {}",
    "u p": "u: admin p: {}",
    "user pass pair": "username=admin\npassword={}",
    "smtp": "SMTP_USER=a@x.example SMTP_PASS={}",
    "secret word": "the secret is {}",
    "expect": 'expect "Password:"\nsend "{}\\r"',
    "rclone": "rclone config create nas smb host=x user=bob pass={}",
    "ftp": "ftp://bob:{}@files.example/x",
    "nmcli": "nmcli dev wifi connect office password {}",
    "ssh-keygen": "ssh-keygen -t ed25519 -N '{}' -f key",
    "gpg": "gpg --batch --passphrase {} -d x.gpg",
    "vnc": "vncpasswd: {}",
    "redis requirepass": "requirepass {}",
    "ldap bind": "bindpw {}",
    "mongo": "mongosh -u admin -p {} --authenticationDatabase admin",
    "french qualified": "le mot de passe administrateur est {}",
    "french quoted": "avec le mot de passe «\u00a0{}\u00a0»",
    "french short": "identifiant : root, mdp : {}",
    "spanish qualified": "la contraseña maestra es {}",
    "portuguese of Portugal": "palavra-passe: {}",
    "chinese mouth": "口令：{}",
    "german for": "das Passwort fürs Lager lautet {}",
    "as the password": "use {} as the password",
    "camel": "const smtpPass = '{}';",
    "secure string": "ConvertTo-SecureString '{}' -AsPlainText -Force",
    "kubernetes plain": "kind: Secret\nstringData:\n  smtp: {}",
    "pre-shared": '10.0.0.1 : PSK "{}"',
    "proxy": "export HTTPS_PROXY=http://bob:{}@proxy.example:3128",
}

_LOOSE_FORMS = frozenset(
    {"colon", "equals", "env", "export", "quoted", "json", "yaml", "toml", "ini", "xml", "xml attribute", "python"}
    | {"python argument", "url", "connection string", "netrc", "flag equals", "sql", "compose", "maven", "user admin"}
    | {"json name and value", "docker login", "echo docker", "curl", "sshpass", "mysql", "chpasswd"}
)
"""The formats in which a plain word is a password too."""

_KEY_FORMS: dict[str, str] = {
    "api key colon": "api_key: {}",
    "api key env": "API_KEY={}",
    "service env": "export STRIPEISH_API_KEY={}",
    "prose": "API key {}",
    "prose is": "the API key is {}",
    "prose for": "API key for staging is {}",
    "prose of": "our key of the weather api: {}",
    "prose use": "use API key {} when calling the service",
    "prose token": "the deploy token is {}",
    "prose access": "access token {} works until May",
    "secret": "secret: {}",
    "client secret": "client_secret={}",
    "client secret json": '{{"client_id": "abc", "client_secret": "{}"}}',
    "client secret camel": '"clientSecret": "{}"',
    "secret key": "SECRET_KEY = '{}'",
    "jwt secret": "JWT_SECRET={}",
    "access token": "access_token: {}",
    "refresh token": '"refresh_token":"{}"',
    "auth token": "auth_token={}",
    "npmrc": "//registry.npmjs.org/:_authToken={}",
    "npmrc auth": "_auth={}",
    "npmrc scoped": "//npm.example.com/:_auth={}",
    "npm config": "npm config set //registry.npmjs.org/:_authToken {}",
    "header": "X-Api-Key: {}",
    "header curl": "curl -H 'X-API-Key: {}' https://x.example",
    "header token": "X-Auth-Token: {}",
    "private token": "PRIVATE-TOKEN: {}",
    "bearer": "Authorization: Bearer {}",
    "token header": "Authorization: token {}",
    "bearer prose": "call it with bearer {}",
    "query key": "https://api.example.com/v1?api_key={}&page=2",
    "query token": "https://api.example.com/v1?access_token={}",
    "cookie": "Cookie: theme=dark; sessionid={}",
    "set-cookie": "Set-Cookie: session={}; Path=/; HttpOnly",
    "curl cookie": "curl -b 'session={}' https://x.example",
    "cookie prose": "log in with the cookie connect.sid={}",
    "cookie php": "PHPSESSID={}",
    "cookies txt": ".example.com\tTRUE\t/\tTRUE\t1893456000\tsessionid\t{}",
    "aws secret": "aws_secret_access_key = {}",
    "aws configure": "aws configure set aws_secret_access_key {}",
    "aws session": "AWS_SESSION_TOKEN={}",
    "azure": "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=x",
    "service bus": "Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey={}",
    "xml": "<apiKey>{}</apiKey>",
    "xml setting": '<add key="ApiToken" value="{}" />',
    "yaml": "sendmail:\n  apiKey: {}",
    "yaml name and value": "- name: API_TOKEN\n  value: {}",
    "json name and value": '{{"key": "API_TOKEN", "value": "{}"}}',
    "kubernetes": "kind: Secret\ndata:\n  token: {}",
    "helm": "--set auth.token={}",
    "flag": "tool --api-key {} run",
    "flag token": "tool --token={} run",
    "gh secret": "gh secret set API_TOKEN -b {}",
    "vault put": "vault kv put secret/x api_key={}",
    "python": 'client = Client(api_key="{}")',
    "js": "const apiKey = '{}';",
    "process env": "process.env.API_TOKEN = '{}'",
    "table": "| service | api key |\n|---|---|\n| weather | {} |",
    "table row": "| API key | `{}` |",
    "csv": "service,api_key\nweather,{}",
    "echo gh": "echo {} | gh auth login --with-token",
    "encryption": "ENCRYPTION_KEY={}",
    "signing": "signing secret: {}",
    "webhook": "webhook secret {}",
    "private key hex": "private key: {}",
    "license": "license key: {}",
    "bot": "bot token: {}",
    "personal": "personal access token: {}",
    "pat": "GITEA_PAT={}",
    "basic token": "git clone https://oauth2:{}@git.example.com/x.git",
    "token in url": "https://{}@git.example.com/x.git",
    "arrow": "API key -> {}",
    "dash": "API key - {}",
    "api secret": "api secret = {}",
    "app secret": "FACEBOOKISH_APP_SECRET={}",
    "master": "master key is `{}`",
    "storage": "storage account key: {}",
    "german": "API-Schlüssel: {}",
    "french": "clé API : {}",
    "spanish": "clave de API: {}",
    "russian": "ключ API: {}",
    "chinese": "API 密钥：{}",
    "apitoken": "apitoken {}",
    "datadog": "DD_API_KEY={}",
    "application key": "DD-APPLICATION-KEY: {}",
    "any scheme": "Authorization: SSWS {}",
    "key base": "secret_key_base: {}",
    "bytes": "app.secret_key = b'{}'",
    "credential": "SHOP_CREDENTIAL={}",
    "credential column": "| service | credential |\n|---|---|\n| weather | {} |",
    "ci": "env:\n  CARGO_REGISTRY_TOKEN: {}",
    "docker identity": '{{"auths": {{"x": {{"identitytoken": "{}"}}}}}}',
    "kubeconfig": "users:\n- name: admin\n  user:\n    token: {}",
    "gradle": "signing.secretKey={}",
    "composer": '{{"github-oauth": {{"github.com": "{}"}}}}',
    "pypirc": "[pypi]\nusername = __token__\npassword = {}",
    "netrc": "machine api.x.example login token password {}",
    "chat": "assistant: Here is the token you asked for: {}",
}

_TOKEN_FORMS: dict[str, str] = {
    "alone": "{}",
    "sentence": "the deploy user has {} and nobody else",
    "end": "cloned with {}.",
    "parentheses": "the runner ({}) works",
    "equals": "X={}",
    "json": '{{"x": "{}"}}',
    "backticks": "run it with `{}`",
    "header": "-H 'Authorization: Bearer {}'",
    "url": "https://x:{}@git.example.com/a.git",
    "list": "- {}\n- next",
    "angle": "<{}>",
    "comma": "a,{},b",
}


def _wrapped_base64(raw: bytes) -> str:
    packed = base64.b64encode(raw).decode()
    return "\n".join(packed[start : start + 64] for start in range(0, len(packed), 64))


def _whole_texts(draw: _Draw) -> Iterator[tuple[str, str, str, tuple[str, ...]]]:  # noqa: PLR0915 - a list of forms
    """Yield kind, format, text and secrets of what is no value in a format."""
    body = "\n".join(draw.some(64, _BASE64) for _ in range(8))
    for head in ("RSA ", "", "EC ", "OPENSSH ", "ENCRYPTED ", "DSA "):
        block = f"-----BEGIN {head}PRIVATE KEY-----\n{body}\n-----END {head}PRIVATE KEY-----\n"
        yield "private key", f"{head}block", block, (body[:60], body[-60:])
        yield "private key", f"{head}cut off", block[:300], (body[:60],)
        packed = base64.b64encode(block.encode()).decode()
        yield "private key", f"{head}base64", f"client-key-data: {packed}", (packed[20:80], packed[-60:])
        yield "private key", f"{head}base64 in prose", f"the key: {packed} is in CI", (packed[20:80], packed[-60:])
        wrapped = _wrapped_base64(block.encode())
        yield (
            "private key",
            f"{head}base64 wrapped",
            f"key:\n{wrapped}\n\nThat is all.",
            (wrapped[70:120], wrapped[-40:]),
        )
        yield "private key", f"{head}escaped", json.dumps({"private_key": block}), (body[:60], body[-60:])
    user, password = "deploy", draw.some(14)
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    yield "docker auth", "config.json", f'{{"auths": {{"ghcr.io": {{"auth": "{pair}"}}}}}}', (pair,)
    yield "docker auth", "pretty", f'"https://index.docker.io/v1/": {{\n  "auth": "{pair}"\n}}', (pair,)
    yield "basic header", "curl", f"curl -H 'Authorization: Basic {pair}' https://x", (pair,)
    yield "basic header", "prose", f"it sends Authorization: Basic {pair}", (pair,)
    yield "npm auth", "npmrc", f"//r.example.com/:_auth={pair}", (pair,)
    for words in (12, 24):
        phrase = " ".join(draw.rng.choices(_WORDS, k=words))
        yield "seed phrase", "colon", f"seed phrase: {phrase}", (phrase,)
        yield "seed phrase", "prose", f"The recovery phrase of the wallet is {phrase}.", (phrase,)
        yield "seed phrase", "mnemonic", f'MNEMONIC="{phrase}"', (phrase,)
    secret = draw.some(32, _BASE32)
    yield "one-time secret", "otpauth", f"otpauth://totp/x:bob?secret={secret}&issuer=x", (secret,)
    yield "one-time secret", "prose", f"TOTP secret: {secret}", (secret,)
    codes = [f"{draw.some(4, _HEX)}-{draw.some(4, _HEX)}" for _ in range(6)]
    yield "recovery codes", "list", "recovery codes:\n" + "\n".join(codes), tuple(codes)
    yield "recovery codes", "line", "backup codes: " + ", ".join(codes), tuple(codes)
    identity, key = "AK" + "IA" + draw.some(16, _UPPER), draw.some(40, _BASE64)
    yield "aws pair", "slash", f"{identity} / {key}", (identity, key)
    yield "aws pair", "csv", f"Access key ID,Secret access key\n{identity},{key}", (identity, key)
    yield "aws pair", "lines", f"{identity}\n{key}", (identity, key)
    salt = draw.some(8)
    crypt = f"$6${salt}${draw.some(86, _ALNUM + './')}"
    yield "password hash", "shadow", f"root:{crypt}:19000:0:99999:7:::", (crypt[12:],)
    bcrypt = "$2b$12$" + draw.some(53, _ALNUM + "./")
    yield "password hash", "htpasswd", f"bob:{bcrypt}", (bcrypt[10:],)
    hook = f"T{draw.some(8, _UPPER)}/B{draw.some(10, _UPPER)}/{draw.some(24)}"
    yield "webhook", "slack", "https://hooks.slack.com/services/" + hook, (hook[-24:],)
    code = draw.some(68, _WEB)
    yield "webhook", "discord", f"https://discord.com/api/webhooks/{draw.some(18, string.digits)}/{code}", (code,)
    team = draw.hex(32)
    teams = f"https://x.webhook.office.com/webhookb2/{draw.uuid()}@{draw.uuid()}/IncomingWebhook/{team}/{draw.uuid()}"
    yield "webhook", "teams", teams, (team,)
    signature = draw.hex(64)
    yield "signed url", "s3", f"https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature={signature}", (signature,)
    sas = draw.some(43) + "%3D"
    yield "signed url", "azure", f"https://a.blob.core.windows.net/c?sv=2024&sig={sas}&se=2026", (sas,)
    exponent = draw.some(86, _WEB)
    yield "jwk", "json", f'{{"kty": "EC", "crv": "P-256", "x": "abc", "d": "{exponent}"}}', (exponent,)
    wire = draw.some(43, _BASE64) + "="
    yield "wireguard", "conf", f"[Interface]\nPrivateKey = {wire}\nAddress = 10.0.0.2/32", (wire,)
    yield "wireguard", "preshared", f"PresharedKey = {wire}", (wire,)


_AROUND: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "after prose": lambda text: (
        f"We moved the staging host last week, and Mara fixed the deploy script.\n\n{text}\n\nNext: docs."
    ),
    "quoted": lambda text: "\n".join(f"> {line}" for line in text.split("\n")),
    "code": lambda text: f"Setup:\n```\n{text}\n```\nThen run make.",
    "bullet": lambda text: f"- done\n- {text}\n- more",
    "CRLF": lambda text: f"notes\r\n{text}\r\nend".replace("\r\n", "\n").replace("\n", "\r\n"),
    "in JSON": lambda text: json.dumps({"note": text}),
}
_DISGUISES: dict[str, Callable[[str, str, random.Random], str]] = {
    "zero-width in the value": lambda text, value, rng: text.replace(value, _split(value, "\u200b", rng)),
    "soft hyphen in the value": lambda text, value, rng: text.replace(value, _split(value, "\u00ad", rng)),
    "newline in the value": lambda text, value, rng: text.replace(value, _split(value, "\n", rng)),
    "newline and indent": lambda text, value, rng: text.replace(value, _split(value, "\n    ", rng)),
    "entities": lambda text, _value, _rng: html.escape(text),
    "percent": lambda text, _value, _rng: quote(text),
    "base64 of all": lambda text, _value, _rng: base64.b64encode(text.encode()).decode(),
}


def _split(value: str, by: str, rng: random.Random) -> str:
    place = rng.randrange(len(value) // 3, 2 * len(value) // 3 + 1)
    return value[:place] + by + value[place:]


def secret_cases(seed: int = 1, *, surroundings: int = 2) -> list[SecretCase]:  # noqa: C901 - one loop for each list
    """Return cases of every kind in every format that fits it, each in as many surroundings, drawn by the seed."""
    draw = _Draw(seed)
    cases: list[SecretCase] = []

    def add(kind: str, form: str, text: str, values: tuple[str, ...]) -> None:
        chosen = ["alone", *draw.rng.sample(sorted(_AROUND)[1:], surroundings - 1)]
        for around in chosen:
            whole = _AROUND[around](text)
            cases.append(SecretCase(kind, form, around, whole, values))

    for kind, make in _passwords().items():
        for form, template in _PASSWORD_FORMS.items():
            value = make(draw)
            add(f"password: {kind}", form, template.format(value), (value,))
    for kind, make in _plain_words().items():
        for form in sorted(_LOOSE_FORMS):
            value = make(draw)
            add(f"password: {kind}", form, _PASSWORD_FORMS[form].format(value), (value,))
    for kind, make in _keys().items():
        for form, template in _KEY_FORMS.items():
            value = make(draw)
            add(f"key: {kind}", form, template.format(value), (value,))
    for kind, make in _tokens().items():
        for form in draw.rng.sample(sorted(_TOKEN_FORMS), 4):
            value = make(draw)
            add(f"token: {kind}", form, _TOKEN_FORMS[form].format(value), (value.rsplit(" ", 1)[-1].split("KEY=")[-1],))
    for kind, form, text, values in _whole_texts(draw):
        add(kind, form, text, values)
    cases += _disguised(draw)
    return cases


def _disguised(draw: _Draw) -> Iterator[SecretCase]:
    bases = [(f"token: {kind}", "the token is {} here", make) for kind, make in _tokens().items()]
    bases += [
        (f"password: {kind}", form, make)
        for kind, make in _passwords().items()
        for form in ("password: {}", '{{"password": "{}"}}', "postgres://app:{}@db.internal/app")
    ]
    for kind, template, make in bases:
        for name, disguise in _DISGUISES.items():
            value = make(draw).rsplit(" ", 1)[-1].split("KEY=")[-1]
            if "newline" in name and not kind.startswith("token"):
                continue
            text = disguise(template.format(value), value, draw.rng)
            if "all" in name or name in ("percent", "entities"):
                pieces: tuple[str, ...] = (quote(value),) if name == "percent" else (html.escape(value),)
                yield SecretCase(kind, name, "alone", text, (text,) if "all" in name else pieces)
            else:
                yield SecretCase(kind, name, "alone", text, (value,))


_MARKER = re.compile(r"\[secret removed: [^\[\]\n]{1,60}\]")
_PIECE = 6
"""Characters of the shortest piece of a secret that counts as left behind."""


def is_removed(case: SecretCase, cleaned: str) -> bool:
    """Tell whether nothing of the secrets is left: no piece of six characters, joined over lines and invisible ones."""
    cleaned = _MARKER.sub("\n\n", cleaned)
    read = "".join(char for char in cleaned if char not in "\u200b\u00ad")
    joined = "".join(read.split())
    for secret in case.secrets:
        if secret in cleaned:
            return False
        frame = case.text.replace(secret, "")
        pieces = {secret[start : start + _PIECE] for start in range(max(1, len(secret) - _PIECE + 1))}
        if any((piece in read or piece in joined) and piece not in frame for piece in pieces):
            return False
    return True
