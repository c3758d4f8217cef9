"""Secrets that commands, code, pairs, tables and sentences of many languages hold, and texts that resemble those."""

from __future__ import annotations

import random
import re
import string

import pytest

from memento_tui.policy.secrets import redact_text
from tests.steps import grows_in_proportion

# Secrets are put together at run time, so that no scanner takes this file for a leak.
rng = random.Random(31)  # noqa: S311 - a fixed seed is the point
ALNUM = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = ALNUM) -> str:
    return "".join(rng.choices(alphabet, k=length - 3)) + "9aB"


CHOSEN = "Tul1p" + "meadow#47"
WORDY = "Otter" + "_Ember88"
DASHED = "granit-" + "timber-84"
DOTTED = "quartz." + "drizzle536"
LICENCE = "MPVVQPKZ-UK175YMM-" + "DA3H9HH0-SYSQO6J7"
DRAWN = "q7RbT2xLw9ZkV4" + "mNc8Yd1QsB3"
SHORT = "Ev4cDD" + "YBae9x4Cf"
HEX = "5d4d97f437cb777f" + "daa63f6c9af1e622"
UUID = "3f2b8c1a-7d4e-4b6f-9a01-" + "5c8e2d7f6b30"
SEED = "tulip meadow river falcon copper winter harbor violet canyon amber pepper willow"

COMMANDS = [
    ("ipmitool -I lanplus -H 10.2.0.201 -U ADMIN -P {} chassis power status", SHORT),
    ("evil-winrm -i 10.2.0.61 -u shop -p '{}'", DASHED),
    ("xfreerdp /v:10.2.0.61 /u:shop /p:{}", CHOSEN),
    ("snmpwalk -v3 -u watch -l authPriv -A {} 10.2.0.4", DASHED),
    ("rabbitmqctl add_user importer {}", DASHED),
    ("wpa_passphrase ShopGuest {}", DASHED),
    ("lftp -u deploy,{} sftp://files.shop.example", DASHED),
    ("poetry config http-basic.shop bot {}", DASHED),
    ("snyk auth {}", UUID),
    ("bash <(curl -s https://codecov.example/bash) -t {} -f coverage.xml", UUID),
    ("vault operator unseal {}", DRAWN),
    ("java -jar jenkins-cli.jar -auth tom:{} list-jobs", HEX),
    ("sonar-scanner -Dsonar.login={}", HEX),
    ('gpg --batch --passphrase "{}" -d a.gpg', "the moon owes me eleven francs"),
    ("$ pass show shop/smtp\n{}\n$ exit", CHOSEN),
    ("$ echo $GITHUB_PAT\n{}", DRAWN),
    ("$ terraform output -raw db_password\n{}", DRAWN),
    ("$ openssl rand -hex 16\n{}", HEX),
    ("$ cat /run/secrets/api_key\n{}", DRAWN),
    ("printf '%s' '{}' | base64", WORDY),
    ("/msg NickServ IDENTIFY {}", CHOSEN),
    ("username ops password 0 {}", CHOSEN),
    ("tacacs-server key {}", DASHED),
]
CODE = [
    ('const TOKEN: &str = "{}";', HEX),
    ('private val apiKey: String = "{}"', DRAWN),
    ('const apiSecret string = "{}"', HEX),
    ("DECLARE @pw NVARCHAR(50) = '{}';", WORDY),
    ('char password[] = "{}";', DASHED),
    ('(setq slack-token "{}")', DRAWN),
    ("set -gx WEATHER_KEY {}", HEX),
    ("setenv NPM_TOKEN {}", DRAWN),
    ("my $passwd = q({});", WORDY),
    ('new NetworkCredential("svc_share", "{}", "SHOP")', CHOSEN),
    ("new PDO($dsn, 'shop', '{}')", WORDY),
    ('DriverManager.getConnection("jdbc:mysql://db/x", "shop", "{}")', WORDY),
    ("jwt.sign({{ id: 1 }}, '{}')", DRAWN),
    ("crypto.createHmac('sha256', '{}').update(body)", DRAWN),
    ("app.use(cookieParser('{}'))", DRAWN),
    ('pyotp.TOTP("{}").now()', "YMMWOFWR" + "3ZKYGE7Z"),
    ('algoliasearch("LK2M8QZT1R", "{}")', HEX),
    ('client = Client("AC01", "{}")', HEX),
]
PAIRS = [
    ("what was the root of minio? minioadmin / {}", SHORT),
    ("logged into the staging CMS with editor@shop.example / {}, then opened the PR", WORDY),
    ("Windows VM over rdp 10.2.0.61, Administrator, {} from the log", SHORT),
    ("grafana at :3000 → admin/{}", CHOSEN),
    ("staging.shop.example (shop / {})", WORDY),
    ("login tom pass {}", DASHED),
    ("ssh tom@10.2.0.4 # {}", CHOSEN),
    ("host,login,pw\nprinter-2,admin,{}\n", CHOSEN),
    ("host;user;passwort\nnas;tom;{}", CHOSEN),
]
KEYS = [
    ("for the mistral playground we have {} as the key", DRAWN),
    ("algolia admin key (index writes) {}, app id LK2M8QZT1R", HEX),
    ("GH_TOKEN in the settings: value {}, log off", HEX + HEX[:8]),
    ("openweathermap {} (free key)", HEX),
    ("consul acl token {}", UUID),
    ("config/master.key contains {}", HEX),
    ("The bearer for the staging gateway is {}", DRAWN),
    ("Opsgenie API {}", UUID),
]
SENTENCES = [
    ("A senha do banco é {}, usuário app", "Jabuticaba" + "@31"),
    ("Hasło do serwera to {}, login tester", CHOSEN),
    ("Lösenordet till servern är {}", WORDY),
    ("Heslo k databázi je {}", WORDY),
    ("Adgangskoden til serveren er {}", CHOSEN),
    ("Mật khẩu máy chủ là {}", CHOSEN),
    ("הסיסמה לשרת היא {}", CHOSEN),
    ("Пароль от стенда {}", CHOSEN),
    ("รหัสผ่านคือ {}", WORDY),
    ("They reset my password, it's {} now", CHOSEN),
    ("Use {} when it asks for the passphrase", CHOSEN),
    ("radius shared secret {} on both controllers", WORDY),
    ("The gate code at the yard changed to {}", "48" + "29"),
    ("The combination of the safe is {}", "18-42" + "-07"),
    ("Code für die Haustür: {}", "48" + "2917"),
    ('Registrar: security question "first pet" → answer {}', "Professor Wiggles"),
    ("Sicherheitsfrage: erstes Auto, Antwort: {}", "Opel Kadett"),
    ("Treasury wallet seed, dictated by Jonas: {}", SEED),
    ("mailgun private: {}", HEX + "-1a2b3c4d-5e6f7a8b"),
]


FORMS = [
    ("./config.sh --url https://github.com/shop/api --token {}", "AZDXJBPEAZHURI" + "DYZNFQQGWHJBEUB"),
    ("sudo cloudflared service install {}", "eyJhIjoi" + 4 * DRAWN),
    ("http://ha.lan:8123/api/webhook/{} opens the garage", DRAWN),
    ("n8n starts it on https://n8n.shop.example/webhook/{}", UUID),
    ("amqp://orders:{}@10.2.0.8:5672/sales", DOTTED),
    ("smtps://noreply:{}@mail.shop.example:465", DOTTED),
    ("unzip -P {} x.zip", DOTTED),
    ("Lizenzschlüssel: {}", LICENCE),
    ("报表组件的注册码\uff1a{}\uff0c绑定在构建机上", LICENCE),
    ("共享账号开了两步验证\uff0c密钥是 {}\uff0c手机丢了就用它", "KRJX OMFW " + "PVEK TBJ7"),
    ("solana keypair in base58: {}", (DRAWN * 4).replace("0", "2")[:87]),
    ("zigbee network_key: [{}]", "7, 12, 201, 44, 9, 180, 33, 96, " + "250, 3, 71, 18, 142, 65, 5, 220"),
    ("tom:1001:aad3b435b51404eeaad3b435b51404ee:{}:::", HEX),
    ("register => 1001:{}@sip.shop.example", WORDY),
]
PUBLIC = [
    f"go.sum: github.com/golang-jwt/jwt/v5 v5.2.1 h1:{(2 * DRAWN)[:43]}=",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ== is the sample of the RFC",
    f"db_password: ENC[AES256_GCM,data:Lgk201Uj8LZr,iv:{DRAWN}=,tag:{DRAWN[:22]}==,type:str]",
    f"vault.yml begins with $ANSIBLE_VAULT;1.1;AES256 and then {HEX}{HEX}",
    "CSS modules: PasswordInput_wrapper__eEsnB PasswordInput_eye__Rcr27",
    "The key for authorized_keys: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIUocVewoaWQjtKtxSmHv9MNSl3Wx tom@laptop",
    "The JWKS has two entries, kid brKU-moR4fi3cnoJjpQA2IIzl0c is the current one",
    r"The rule (?i)password\s*[:=]\s*\S+ hits too much",
    "Login: david@37signals.example (passwordless, by a link that the console of the app shows)",
    r"The fixture starts the server against `Q:\code\Agent` (port 5000) and Vite (port 5173)",
    "Login for tests. Default ports: 8081 (Engine API), 8090 (Sim API), 5219/7047 (UI), 5091 (auth, password reset)",
    "Secrets: the auth API is `dotnet run` with ASPNETCORE_URLS=http://0.0.0.0:8090",
    (
        "user: the phone number of the tourism board of Speyer?\nassistant: You can contact the tourism board of Speyer"
        " using:\n\nSpeyer Tourismus Marketing GmbH\nMaximilianstr. 3\n67346 Speyer\nPhone: +49 (0) 62 32 / 14 23 - 0\n"
        "Email: info@x.example"
    ),
    "user: log in how?\nassistant: You'll find their customer service phone number, which is 1-877-718-6750.",
    (
        "user: a doctor?\nassistant: * Dr. Smith: 45-minute drive\n\t* Address: 123 Main St, Anytown, CA 12345\n"
        "\t* Phone: 555-555-1234\n\t* Available morning slots: Monday"
    ),
]


@pytest.mark.parametrize("value", [CHOSEN, f"\\d+{DASHED}"])
def test_what_stands_beside_something_public_is_no_less_a_secret(value: str) -> None:
    """Nobody hides a password behind a part of a regular expression or of an encrypted file."""
    assert value not in redact_text(f"ENC[AES256_GCM,data:x] and the password: {value}")[0]


@pytest.mark.parametrize(
    "sentence", ["Phone PIN: {}", "Phone: +49 171 5550123, door code {}", "Telephone banking PIN is {}"]
)
def test_what_stands_beside_a_telephone_is_no_less_a_secret(sentence: str) -> None:
    assert "84629173" not in redact_text(sentence.format("84629173"))[0]


def test_what_stands_beside_a_port_is_no_less_a_secret() -> None:
    for text in (
        f"Port 8080, password {CHOSEN}",
        "http://admin:48213@db.example:5432/x",
        "PIN for the door: 4821 (port 22)",
    ):
        cleaned, found = redact_text(text)
        assert found
        assert not {CHOSEN, "48213", "4821"} & set(re.split(r"[ :@,]", cleaned)), cleaned


@pytest.mark.parametrize(("sentence", "secret"), [*COMMANDS, *CODE, *PAIRS, *KEYS, *SENTENCES, *FORMS])
def test_a_secret_is_removed_whole_whatever_stands_around_it(sentence: str, secret: str) -> None:
    cleaned, found = redact_text(sentence.format(secret))
    assert found
    pieces = [secret[start : start + 6] for start in range(max(1, len(secret) - 5))]
    assert not [piece for piece in pieces if piece in cleaned and piece not in sentence], cleaned


def test_a_key_that_goes_on_in_the_next_line_is_removed_to_its_end() -> None:
    text = f'curl -H "X-Api-Key: {DRAWN[:20]}\\\n{DRAWN}" https://api.shop.example'
    cleaned, _found = redact_text(text)
    assert DRAWN[:8] not in cleaned
    assert DRAWN[-8:] not in cleaned


@pytest.mark.parametrize(
    "text",
    [
        *PUBLIC,
        "docker run -p 8080:80 -t shop/api:1.4.2 -w /app2",
        "pytest -k test_auth2 -p no:cacheprovider, ssh -p 2222 -t tom@web1",
        "snmpwalk -v2c -c public 10.2.0.9",
        "$ cat token.txt\nFile not found",
        "$ gh auth token\nno oauth token found",
        "$ openssl rand -hex 16 > key.txt\n$ ls -la",
        "`pass show work/jira` gives the token; nothing is kept here",
        'api_version: str = "2024-10-21"\nkey: String = "user.settings.v2"\ntokenizer: str = "cl100k_base"',
        'secret_name: str = "prod/shop/db-v2"',
        'HTTPBasicAuth("user", "pass"), jwt.verify(token, process.env.SECRET), bot.run(os.environ["TOKEN"])',
        "createHmac('sha256', key).update(body), hmac.new(key, msg, sha256)",
        "def public_key(self) -> Ed25519PublicKey: the private key's other half",
        "admin / v2 API is at admin/api2.py, admin panel: admin/users2 shows 500s",
        "tom@shop.example / Platform team2, support@shop.example: ticket HER-4411",
        "deploy / rollback-2 buttons on the dashboard, postgres: 16.2-alpine3.19",
        "root: /dev/nvme0n1p2, guest | Ubuntu_24.04 | 4 vCPU",
        "log in to eu-central-1 first, then run step2.sh; login works since v2.3.1 with React18",
        f"Sentry event {HEX} has the full stack",
        f"auth service trace {HEX} took 4 s, session id {UUID} was dropped",
        f"Secret scanning started with {HEX + HEX[:8]}, token.ts changed in {HEX[:8] + HEX}",
        f"pagination: next_page_token is {DRAWN}, pass it on",
        f"Algolia search-only key {HEX} is public",
        f"spotify playlist {DRAWN}, google doc {DRAWN}, okta app {DRAWN}",
        f"KMS key id {UUID} in eu-north-1",
        f"Public client id for the page: {DRAWN} (no secret)",
        f'"integrity": "sha512-B2yrsnMrLWAgNolw/MR+{DRAWN}7OblsS=="',
        "Passwords need upper, lower, digit and one of !@#$%^&*",
        "Password regex: ^(?=.*[A-Z])(?=.*\\d)(?=.*[!@#$]).{8,64}$",
        "The Wi-Fi password is on the whiteboard, the chip is BCM43455, WPA2-PSK-CCMP only",
        "Kennwort muss mindestens zwölf Zeichen haben und läuft nach 180 Tagen ab",
        "A senha é lida da variável DB_SENHA, não do arquivo",
        "security question flow was removed in 4.2, answers are deleted",
        "Security questions: where are they stored? Answer: nowhere since 2024.",
        "seed data: users roles permissions orders items carts coupons reviews ratings tags images uploads",
        "safe-area inset 12-34-56 layout bug, combination lock puzzle in level 12-3-4",
        "door code input component: DoorCodeInput.tsx, pins 1234 on the header are swapped",
    ],
)
def test_an_honest_text_that_looks_alike_keeps_every_word(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.deep
@pytest.mark.parametrize(
    "part",
    [
        *(
            "admin, A1!bcdefg ",
            "a@b.cc / A1!bcde ",
            "password is Aa1!bcde9 ",
            "key Aa1bCc2dEe3fGg4hIi5j ",
            "$ cat key\n",
        ),
        *("login(", 'jwt.sign("a", ', "token: str = ", "ipmitool -P ", "security question ", "seed abc ", "stripe "),
        *("code for the door ", " -t a1", "echo $A_KEY\nA1b2c3d4\n"),
    ],
)
def test_hostile_repetition_of_surroundings_takes_steps_in_proportion_to_the_text(part: str) -> None:
    grows_in_proportion(lambda size: redact_text((part * size)[:size]), 1_600)
