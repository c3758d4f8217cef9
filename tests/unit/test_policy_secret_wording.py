"""Secrets that stand in a sentence, an address or a block with few signs around them, and texts that resemble those."""

from __future__ import annotations

# ruff: noqa: RUF001 - punctuation of other scripts is part of the forms
import random
import string

import pytest

from memento_tui.policy.secrets import redact_text
from tests.steps import grows_in_proportion

# Secrets are put together at run time, so that no scanner takes this file for a leak.
rng = random.Random(29)  # noqa: S311 - a fixed seed is the point
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"


def drawn(length: int, alphabet: str = ALNUM) -> str:
    return "".join(rng.choices(alphabet, k=length))


CHOSEN = "Tul1p" + "meadow#47"
WORDY = "tulip-meadow-" + "river83"
DRAWN = "q7RbT2x" + "Lw9ZkV4mNc8Yd1"
PHRASE = "tulip meadow river falcon copper winter harbor violet canyon amber pepper willow"
CODE = "4" + "8291" + "7"

IN_WORDS = [
    ("Le mot de passe administrateur est {}", CHOSEN),
    ("Le mot de passe du serveur est « {} »", CHOSEN),
    ("Le mot de passe\u00a0: {}", WORDY),
    ("La contraseña maestra es {}", WORDY),
    ("A palavra-passe do cofre é {}", WORDY),
    ("Das Passwort fürs Lager lautet {}", WORDY),
    ("identifiant : root, mdp : {}", WORDY),
    ("データベースのパスワードは{}です", WORDY),
    ("数据库口令：{}，别外传", WORDY),
    ("log in as deploy with {}, then restart", CHOSEN),
    ("The archive opens with {} (password), the list is complete", CHOSEN),
    ("take {} as the password there", CHOSEN),
    ("The password went from the old one to {} on Monday", CHOSEN),
    ("What is the password? It's {}, I think", CHOSEN),
    ("credentials of the shop -> carol@shop.example / {}", CHOSEN),
    ("const smtpPass = '{}';", CHOSEN),
    ("$pass = ConvertTo-SecureString '{}' -AsPlainText -Force", WORDY),
    ("Fastly key (trial): {}", DRAWN),
    ("Der Schlüssel des Testservers ist {}", DRAWN),
    ("La clé de la recette est {}, à renouveler", DRAWN),
    ("检查环境的密钥是 {} ，下周更换", DRAWN),
    ("export SHOP_CREDENTIAL={}", DRAWN),
    ("DD-APPLICATION-KEY: {}", drawn(37, HEX) + "9a1"),
    ("secret_key_base: {}", drawn(125, HEX) + "9a1"),
    ("app.secret_key = b'{}'", drawn(37, HEX) + "9a1"),
    ("Authorization: SSWS {}", "00" + drawn(38) + "9a1"),
    ("Authorization: Token token={}", "y+" + drawn(15) + "9a1"),
    ("Jenkins-Crumb: {}", drawn(61, HEX) + "9a1"),
    ("enable secret 9 {}", "$9$" + drawn(14) + "$" + drawn(43)),
    ("username ops password 7 {}", "08" + drawn(12, "0123456789ABCDEF") + "5C"),
    ('10.0.0.1 : PSK "{}"', DRAWN),
    ("snmp-server community {} RO", "r4" + "mTq8vLx"),
    ('echo "::add-mask::{}"', DRAWN),
    ("kind: Secret\ndata:\n  smtp: {}\n  port: NTg3\n", "dHVsMXA5OW1lYWRvdw=="),
    ("apiVersion: v1\nkind: Secret\nstringData:\n  smtp-login: {}\n", WORDY),
    ("passphrase of the backup disk is {}", "tulip meadow river falcon"),
    ("export BORG_PASSPHRASE='{}'", "tulip meadow river falcon"),
    ("recovery phrase of the team wallet\n{}\nkept on paper", PHRASE),
    ("Seed phrase: {}", PHRASE.replace("river", "this").replace("amber", "can")),
    ("Mnemonic:\n{}", "\n".join(f"{n}. {word}" for n, word in enumerate(PHRASE.split(), 1))),
    ("The PIN of the side door is {}", CODE),
    ("passcode for the tablet: {}", CODE),
    ("the gate code is {}#", CODE),
    ("SIM PUK {} for the modem", CODE + "12"),
    ("BitLocker recovery key {}", "-".join(drawn(6, string.digits) for _ in range(8))),
    ("TOTP seed of the root account: {}", drawn(32, string.ascii_uppercase + "234567")),
    ("2FA setup key: {}", " ".join(drawn(4, "abcdefghijklmnopqrstuvwxyz234567") for _ in range(8))),
    ("Recovery codes for the shop:\n{}", "3f9a1-77c0e\n1b2d4-90aef\n8c7d1-a2b3c"),
    ("| service | credential |\n|---|---|\n| shop | {} |", DRAWN),
    ("user_session={}; logged_in=yes", drawn(45) + "9a1"),
    ("GET https://arb-mainnet.g.alchemy.com/v2/{}", drawn(29) + "9a1"),
    ("https://sepolia.infura.io/v3/{}", drawn(29, HEX) + "9a1"),
    ("https://calendar.google.com/calendar/ical/a%40b.example/private-{}/basic.ics", drawn(29, HEX) + "9a1"),
    ("the old password ({}) still works", WORDY),
    ("{} is the password of the lab", WORDY),
    ("PIN fürs Lager: {}", CODE),
    ("Konto web, pw {}", WORDY),
    ("Passwort gesetzt auf {}", WORDY),
    ("la nueva contraseña será {}", WORDY),
    ("数据库密码改为{}", WORDY),
    ("データベースのパスワードを{}に変更", WORDY),
    ("Le code de l'alarme est {}", CODE),
    ("SMS code {} came twice", CODE),
    ("The vault's combination is {}", "48-29-17"),
    ("CVV {} of the company card", "48" + "2"),
    ("https://api.weather.example/data?appid={}&q=Rome", drawn(29, HEX) + "9a1"),
    ("kubeadm join 10.1.0.4:6443 --token {} --v=5", "x7k2p9." + drawn(13, LOWER) + "9a1"),
    ('gossip: encrypt = "{}"', drawn(40, BASE64) + "9a1="),
    ("start with -setcookie {}", drawn(20, string.ascii_uppercase)),
    ("x-shop-key: {}", drawn(37) + "9a1"),
    ("product key {}", "-".join(drawn(3, UPPER) + "7K" for _ in range(5))),
    ("The 12 words are {}", PHRASE),
    ("faucet key 0x{}", drawn(61, HEX) + "9a1"),
    ("https://hooks.zapier.com/hooks/catch/7654321/{}/", "x7k2p9q"),
    ("https://mail.shop.example/owa/calendar/ab12@shop.example/{}/calendar.ics", drawn(29, HEX) + "9a1"),
    ("https://app.shop.example/invite/{}", drawn(29) + "9a1"),
    ("keytool -list -keystore a.jks -storepass {}", "x7K2p9" + "QmTr"),
    ("password changed: {}", WORDY),
    ('setx MAIL_PASS "{}"', "Tulip" + "Meadow.47"),
    ("the coverage upload token: {}", "3f2b8c1a-7d4e-4b6f-9a01-5c8e2d7f6b30"),
    ("https://hc-ping.com/{}", "3f2b8c1a-7d4e-4b6f-9a01-5c8e2d7f6b30"),
]


@pytest.mark.parametrize(("sentence", "secret"), IN_WORDS, ids=[sentence[:40] for sentence, _secret in IN_WORDS])
def test_a_secret_is_removed_whole_however_the_sentence_is_built(sentence: str, secret: str) -> None:
    cleaned, found = redact_text(sentence.format(secret))
    assert found
    pieces = [secret[start : start + 6] for start in range(max(1, len(secret) - 5))]
    assert not [piece for piece in pieces if piece in cleaned and piece not in sentence], cleaned


TOKENS = [
    "tr_" + "prod_" + drawn(20),
    "token" + "-x7k2p:" + drawn(54, LOWER),
    "AP" + "I-" + drawn(26, UPPER),
    "WPL_" + "AP1." + drawn(16) + "." + drawn(6) + "==",
    "access_" + "token$production$" + drawn(16, LOWER) + "$" + drawn(32, HEX),
    "AT" + "TA" + drawn(64, HEX) + "9A2B3C4D",
    "pk" + "_81234567_" + drawn(32, UPPER),
    "li" + "ve_" + drawn(30),
    "oy" + "2" + drawn(43, LOWER),
    "hca" + "ik_01" + drawn(56, LOWER),
    "p8" + "e-" + drawn(32),
    "ai" + "o_" + drawn(28),
    "cmVm" + "dGtu" + drawn(56),
    "as" + "-" + drawn(22),
    "s." + drawn(24),
    drawn(36, HEX) + "NR" + "AL",
    "xp" + "rv9s21ZrQH143K" + "".join(rng.choices("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", k=97)),
    "5K" + "".join(rng.choices("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", k=49)),
    "2" + drawn(26) + "_" + drawn(21),
    drawn(76, BASE64) + "+A" + "St" + drawn(6, BASE64) + "==",
    drawn(33, BASE64) + "+A" + "Sb" + drawn(6, BASE64) + "=",
    "apify" + "_api_" + drawn(36),
    "glp" + "at-" + drawn(27) + ".01." + drawn(9, LOWER),
]


@pytest.mark.parametrize("token", TOKENS, ids=[token[:6] for token in TOKENS])
def test_a_token_of_a_known_maker_is_removed_in_any_sentence(token: str) -> None:
    for text in ("tried again with {} and it worked", "the value is `{}`.", "X={}\n", "ステージング: {} です"):
        cleaned, found = redact_text(text.format(token))
        assert found
        assert not [start for start in range(len(token) - 7) if token[start : start + 8] in cleaned], cleaned


def test_a_token_whose_first_line_ends_with_a_hyphen_is_removed_over_both_lines() -> None:
    token = "xo" + "xb-461007158057-\n" + "9952956672212-" + drawn(24)
    assert redact_text("the bot:\n" + token)[0] == "the bot:\n[secret removed: Slack token]"


@pytest.mark.parametrize(
    "text",
    [
        "DB_PASSWORD=${DB_PASSWORD:?must be set}",
        "パスワードは14文字以上です",
        "密码长度至少14位，密码重置流程正常",
        "Le mot de passe est obligatoire, la clé primaire est (id, jour)",
        "The password page broke on Chrome120 after PR #1234",
        "password reset mail went to bob2@shop.example via smtp://mail01:587",
        "The password form uses argon2id$v=19 parameters m=65536,t=3",
        "login as admin with Firefox 128 works",
        "The PIN entry shows 4 dots; pin: numpy==1.26.4; exit code: 137; error code 40110",
        "verification code input accepts 6 digits",
        "the access code review is at 10:00, room 4711",
        "the token bucket refills 100000 per minute",
        "seed phrases have 12 or 24 words that the user must write down and never share with anyone at all",
        "the primary key is Kx3vR9tQ2mZ8wL5nB7yD1 in the sample",
        "public key: AAAAC3NzaC1lZDI1NTE5AAAAIGq7RbT2xLw9ZkV4mNc8Yd1Qq7RbT2xLw9Zk",
        "the key file is https://www.figma.com/file/q7RbT2xLw9ZkV4mNc8Yd1/Login",
        "kind: ConfigMap\ndata:\n  level: ZGVidWcx\n",
        "kind: Secret\nmetadata:\n  name: shop-db\ntype: Opaque\n",
        "kind: Secret\ndata:\n  password: {{ .Values.password | b64enc }}\n",
        "2FA is required for everyone from 1 May",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/db-AbC12f",
        "**1Password** is a password manager, and Vault2go is another",
        "the publishable key pk_te" + "st_TYooMQauvdEDq54NiTphI7jx is public",
        "the password (see ADR-0042) is kept elsewhere, MFA (phase2) comes later",
        "tx 0x" + "ab12cd34" * 8 + " is in block 19000123",
        "https://app.example/join/engineering-team and https://app.example/verify/status",
        "order code 48213377, postal code 10115, tracking code 00340434161094042557",
        "this combination is 3 of 4, the SMS code has 6 digits",
        "TOTP codes drift by 30 seconds",
        "https://eth-mainnet.g.alchemy.com/v2/<your-key> and https://mainnet.infura.io/v3/YOUR-PROJECT-ID",
    ],
)
def test_a_text_that_only_resembles_one_with_a_secret_keeps_every_word(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.parametrize(
    "part",
    [
        "password Aa1!",
        "login as a with ",
        "pin is ",
        "key Aa1b",
        "kind: Secret\ndata:\n a: b",
        "totp aaaa ",
        "« password",
    ],
)
def test_hostile_repetition_of_sentences_takes_steps_in_proportion_to_the_text(part: str) -> None:
    grows_in_proportion(lambda size: redact_text((part * size)[:size]), 1_600)
