"""Recognise secrets by their own shape: provider tokens, random keys, passwords; and placeholders that are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import islice, pairwise

import msgspec

__all__ = [
    "DETECT_SECRETS_PLUGINS",
    "MIN_TOKEN_CHARACTERS",
    "TOKEN_RULES",
    "DetectSecretsPlugin",
    "SecretSpan",
    "TokenRule",
    "is_key",
    "is_password",
    "is_placeholder",
    "plugin_patterns",
    "token_spans",
]

MAX_VALUE_CHARACTERS = 128

_FILLER = re.compile(r"(?i)x{3,}|\*{2,}|\.{2,}|…|_{3,}|#{3,}|•{2,}|n/a|-+", re.ASCII)
"""Whole values that are placeholders."""
_TEMPLATE = re.compile(
    r"""(?x) <[^>]*>? | \$[A-Za-z_({] | \$$ | \{ | \[ | %[A-Za-z_]+%? | \(                # <x> $X ${X} {x} [x] %X% (x)
    | (?i: your|my|the|an?|our|some|insert|replace|enter|put|paste|add) [-_ ](?:\w|<)     # your-token-here
    | (?i: change[-_ ]?(?:me|this|it) | placeholder | redacted | removed | dummy | fake | example | sample | todo | tbd)
    """,
    re.ASCII,
)
"""How a value begins that somebody is to replace."""
_REFERENCE = re.compile(
    r"""(?x) [A-Za-z_][\w.]{0,80}[\[(]                         # get_password(), os.environ["X"]
    | [A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,6}$       # settings.password
    | [A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}$         # DB_PASSWORD, the name of a variable
    | op:// | vault: | ssm: | env[:.] | file: | arn: | https?://
    | ~/ | /[A-Za-z] | \.{1,2}/                           # a path
    """,
    re.ASCII,
)
"""Values that say where a secret is kept, or which part of a program knows it."""
_ALGORITHM = re.compile(
    r"(?:sha|aes|pbkdf|argon|rsa|hmac|ecdsa|md|tls|oauth|utf|rfc|iso|fips|cl)[-_]?\d{1,4}\w{0,2}"
    r"(?:[-_/.:][a-z0-9]{1,12}){0,3}",
    re.ASCII,
)
_KEYWORD = re.compile(r"(?i)passw(?:or)?d|passwd|passphrase|passcode|secret|token|api[-_ ]?key|credential", re.ASCII)

_WORDS_ABOUT_SECRETS = frozenset(
    """
    string str text bool boolean int integer number float object array list dict map any none null nil true
    false undefined void optional required mandatory forbidden default empty blank unset unknown missing invalid
    incorrect wrong valid correct hidden masked visible plain plaintext cleartext hash hashed hashing encrypted
    encryption salted stored saved generated random unique changed unchanged expired rotated reset forgotten
    lost shared same different provided needed wanted supported unsupported disabled enabled deprecated internal
    external private public secure insecure strong weak short long password passwords passwd pass pwd passphrase
    passcode secret secrets token tokens key keys credential credentials login username user email name value
    field input prompt type label option param parameter argument variable config setting settings env
    environment vault keychain keyring keystore bitwarden onepassword lastpass bcrypt scrypt argon argon2
    argon2i argon2d argon2id pbkdf2 sha1 sha256 sha384 sha512 md5 hmac aes aes128 aes256 rsa rs256 hs256 es256
    ed25519 x25519 oauth oauth2 jwt saml ldap ldap3 sso mfa 2fa totp otp basic bearer base64 utf8 http https
    http2 http3 ipv4 ipv6 json yaml toml html html5 postgres12 python3 sqlite3 passwordless yes no todo see
    varchar nvarchar varchar255 securestring secretstr readonly nullable pending failed failure success error
    """.split()  # noqa: SIM905 - as a list it is three pages
)
"""Words that describe a password and are none."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PARTS = re.compile(r"[-_./:\\ ]+")
_WORDLIKE = re.compile(r"[a-z]+\d{0,4}|[A-Z][a-z]+\d{0,4}|[A-Z]+\d{0,3}|v?\d{1,8}[a-z]{0,2}", re.ASCII)
_RANDOM_RUN = re.compile(r"[A-Za-z0-9+/_-]{10,}", re.ASCII)
_CAMEL = re.compile(r"[A-Za-z][a-z]+(?:[A-Z][a-z]+)+\d{0,3}", re.ASCII)
_PATH = re.compile(
    r"[\w.-]{1,60}(?:/[\w.-]{1,60})+|[\w-]{1,60}\.(?:md|py|ts|js|json|ya?ml|toml|txt|env|sh|go|rs|sql|html?)", re.ASCII
)
_MIN_PASSWORD_CHARACTERS = 6
"""Characters of a password that is one word; shorter words describe something: ``true``, ``page``."""
_MIN_PASSPHRASE_WORDS = 4
"""Words of a passphrase: ``correct-horse-battery-staple``; fewer describe something: ``case-sensitive``."""
_DIGIT = re.compile(r"[0-9]")
_MAX_RUNS = 4
"""Runs of letters and digits that are examined in one value."""
_MIN_DISTINCT_CHARACTERS = 5
"""Fewer different characters than this make a filler: no generator draws so few."""


def is_example(token: str) -> bool:
    """Tell whether a token of a provider's own shape is one from documentation.

    AWS documents ``AKIAIOSFODNN7EXAMPLE``, and others follow: a token that says EXAMPLE stays. So does one whose last
    sixteen characters have fewer than five different ones, such as ``ghp_xxxxxxxx``.
    """
    return "EXAMPLE" in token.upper() or len(set(token[-16:])) < _MIN_DISTINCT_CHARACTERS


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for a secret, or names where one is kept, instead of being one."""
    value = value[:MAX_VALUE_CHARACTERS]
    if not value or _FILLER.fullmatch(value) or _TEMPLATE.match(value) or _REFERENCE.match(value):
        return True
    word = value.lower().strip("!?*_")
    return word in _WORDS_ABOUT_SECRETS or _ALGORITHM.fullmatch(word) is not None or "EXAMPLE" in value


def is_password(value: str, *, loose: bool) -> bool:
    """Tell whether a value beside the word password is one, as people choose them.

    ``loose`` is for a value that is assigned and stands alone: ``password = "swordfish"``. Otherwise the value is part
    of a sentence, and has to mix letters with digits or symbols: ``the password is hunter2``.
    """
    value = value[:MAX_VALUE_CHARACTERS]
    if len(value) < 4 or " " in value or is_placeholder(value):  # noqa: PLR2004 - shorter ones are words such as "no"
        return False
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if letters == 0:
        return loose and len(value) >= _MIN_PASSWORD_CHARACTERS and digits > 0
    if letters == len(value):
        return loose and len(value) >= _MIN_PASSWORD_CHARACTERS and not _KEYWORD.search(value)
    words = [word for word in _PARTS.split(value) if word]
    if digits == 0 and all(word.isalpha() for word in words):
        return len(words) >= _MIN_PASSPHRASE_WORDS and "/" not in value and not _KEYWORD.search(value)
    return not _PATH.fullmatch(value)


def is_key(value: str) -> bool:
    """Tell whether a value beside the word token or key is one, as programs generate them.

    That is: at least ten characters in one run that mixes letters and digits without being made of words, version
    numbers and dates, such as ``my-app-secrets-v2``. A UUID stays: it names a thing far more often than it opens one.
    """
    value = value[:MAX_VALUE_CHARACTERS]
    if _DIGIT.search(value) is None or is_placeholder(value) or _UUID.fullmatch(value):
        return False
    return any(_is_random(run[0]) for run in islice(_RANDOM_RUN.finditer(value), _MAX_RUNS))


def _is_random(run: str) -> bool:
    if len(set(run)) < _MIN_DISTINCT_CHARACTERS or _CAMEL.fullmatch(run):
        return False
    parts = [part for part in _PARTS.split(run) if part]
    if all(_WORDLIKE.fullmatch(part) for part in parts):
        return False
    letters = sum(char.isalpha() for char in run)
    digits = sum(char.isdigit() for char in run)
    turns = sum(a.isdigit() != b.isdigit() for a, b in pairwise(run))
    return letters >= 3 and digits >= 2 and turns >= 2 and len(set(run)) >= 6  # noqa: PLR2004 - see `is_key`


MIN_TOKEN_CHARACTERS = 20
"""Characters without white space that every token has at least."""

SecretSpan = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""


class TokenRule(msgspec.Struct, frozen=True):
    """One pattern of our own. The group ``secret`` of a match is removed, or all of it where there is no such group.

    Each pattern takes time in proportion to the text: it cannot begin inside a run that it would read to its end.
    """

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""
    pattern: re.Pattern[str]
    judged: bool = False
    """Whether a match must look generated too, because the pattern alone is no proof."""


class DetectSecretsPlugin(msgspec.Struct, frozen=True):
    """One of detect-secrets' plugins that looks for fixed shapes."""

    module: str
    name: str
    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""


def _token_pattern(prefix: str, body: str) -> re.Pattern[str]:
    """Return the pattern of a token that begins where no letter or digit precedes it."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{prefix}){body}", re.ASCII)


TOKEN_RULES: tuple[TokenRule, ...] = (
    TokenRule("GitHub token", ("github_pat_",), re.compile(r"(?<!\w)github_pat_\w{30,}+", re.ASCII)),
    TokenRule(
        "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _token_pattern("gh[pousr]_", r"[A-Za-z0-9]{30,}+")
    ),
    TokenRule("GitLab token", ("glpat-",), re.compile(r"(?<![\w-])glpat-[\w-]{18,}+(?:\.[\w-]+)*+", re.ASCII)),
    TokenRule("Anthropic key", ("sk-ant-",), re.compile(r"(?<![\w-])sk-ant-[\w-]{20,}+", re.ASCII)),
    TokenRule(
        "OpenAI key",
        ("sk-",),
        re.compile(r"(?<![\w-])sk-(?!ant-)(?:(?:proj|svcacct|admin|None|or-v1|lf|live|test)-)?[\w-]{20,}+", re.ASCII),
        judged=True,
    ),
    TokenRule(
        "Stripe key",
        ("k_live_", "k_test_", "whsec_"),
        _token_pattern("[sr]k_(?:live|test)_|whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    ),
    TokenRule(
        "Slack token",
        ("xox", "xapp-"),
        re.compile(r"(?<![\w-])(?:xox[a-z]|xapp)-(?=[\w.-]{0,60}\d)[\w-]{15,}+(?:\.[\w-]+)*+", re.ASCII),
    ),
    TokenRule("Google key", ("AIza",), _token_pattern("AIza", r"[\w-]{30,}+")),
    TokenRule("Google token", ("ya29.", "GOCSPX-"), _token_pattern(r"ya29\.|GOCSPX-", r"[\w-]{20,}+")),
    TokenRule("npm token", ("npm_",), _token_pattern("npm_", r"[A-Za-z0-9]{30,}+")),
    TokenRule("PyPI token", ("pypi-",), re.compile(r"(?<![\w-])pypi-[\w-]{40,}+", re.ASCII)),
    TokenRule("Hugging Face token", ("hf_", "api_org_"), _token_pattern("hf_|api_org_", r"[A-Za-z0-9]{25,}+")),
    TokenRule("Azure key", ("sig=",), re.compile(r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9%+/=_-]{30,}+)", re.ASCII)),
    TokenRule(
        "Azure key", ("8Q~", "7Q~"), re.compile(r"(?<![\w.~-])[\w~.]{3}[78]Q~[\w.~-]{31,34}(?![\w.~-])", re.ASCII)
    ),
    TokenRule("Twilio key", ("SK", "AC"), _token_pattern("SK|AC", r"[a-z0-9]{32}(?![A-Za-z0-9])"), judged=True),
    TokenRule("SendGrid key", ("SG.",), _token_pattern(r"SG\.", r"[\w-]{16,}+\.[\w-]{16,}+")),
    TokenRule("memento key", ("mp_live_",), _token_pattern("mp_live_", r"[0-9a-fA-F]{32,}+")),
    TokenRule("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), _token_pattern(r"do[opr]_v1_", r"[0-9a-f]{64}")),
    TokenRule(
        "Shopify token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        _token_pattern(r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}"),
    ),
    TokenRule("Databricks token", ("dapi",), _token_pattern("dapi", r"[0-9a-f]{32}(?:-\d)?")),
    TokenRule("Vault token", ("hvs.", "hvb.", "hvr."), _token_pattern(r"hv[sbr]\.", r"[\w-]{24,}+")),
    TokenRule("Grafana token", ("glsa_", "glc_"), _token_pattern("glsa_|glc_", r"[\w+/=]{32,}+")),
    TokenRule("Linear key", ("lin_api_",), _token_pattern("lin_api_", r"[A-Za-z0-9]{32,}+")),
    TokenRule("Notion token", ("ntn_", "secret_"), _token_pattern("ntn_|secret_", r"[A-Za-z0-9]{40,}+")),
    TokenRule("Atlassian token", ("ATATT3",), _token_pattern("ATATT3", r"[\w=-]{40,}+")),
    TokenRule("Docker token", ("dckr_pat_",), _token_pattern("dckr_pat_", r"[\w-]{20,}+")),
    TokenRule("Groq key", ("gsk_",), _token_pattern("gsk_", r"[A-Za-z0-9]{30,}+")),
    TokenRule("Replicate token", ("r8_",), _token_pattern("r8_", r"[A-Za-z0-9]{30,}+")),
    TokenRule("Perplexity key", ("pplx-",), _token_pattern("pplx-", r"[A-Za-z0-9]{30,}+")),
    TokenRule("Sentry token", ("sntrys_", "sntryu_"), _token_pattern("sntry[su]_", r"[\w+/=-]{40,}+")),
    TokenRule("age key", ("AGE-SECRET-KEY-1",), _token_pattern("AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}+")),
    TokenRule("Mailgun key", ("key-",), _token_pattern("key-", r"[0-9a-f]{32}(?![A-Za-z0-9])")),
    TokenRule("Postman key", ("PMAK-",), _token_pattern("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}")),
    TokenRule("New Relic key", ("NRAK-",), _token_pattern("NRAK-", r"[0-9A-Z]{27}")),
    TokenRule(
        "Discord webhook", ("/webhooks/",), re.compile(r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{40,}+)", re.ASCII)
    ),
    TokenRule(
        "JSON Web Token", ("eyJ",), re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]++){0,3}", re.ASCII)
    ),
    TokenRule(
        "Slack webhook",
        ("/services/T",),
        re.compile(r"/services/(?P<secret>T\w{6,40}/B\w{6,40}/\w{16,}+)", re.ASCII),
    ),
    TokenRule("Artifactory key", ("AKC",), _token_pattern("AKC", r"[A-Za-z0-9]{40,}+")),
    TokenRule(
        "Discord token",  # it begins with an account's number in base64
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        re.compile(r"(?<![\w.-])(?:M[Tjz]|N[DTjz]|O[DT])[\w-]{22,26}\.[\w-]{6}\.[\w-]{27,}+", re.ASCII),
    ),
    TokenRule("Telegram token", (":AA",), re.compile(r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])", re.ASCII)),
)

DETECT_SECRETS_PLUGINS: tuple[DetectSecretsPlugin, ...] = (
    DetectSecretsPlugin("aws", "AWSKeyDetector", "AWS access key", ("A3T", "ABIA", "ACCA", "AKIA", "ASIA")),
    DetectSecretsPlugin("azure_storage_key", "AzureStorageKeyDetector", "Azure key", ("AccountKey=",)),
    DetectSecretsPlugin(
        "github_token", "GitHubTokenDetector", "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    DetectSecretsPlugin(
        "gitlab_token",
        "GitLabTokenDetector",
        "GitLab token",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "GR1348941",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
        ),
    ),
    DetectSecretsPlugin("mailchimp", "MailchimpDetector", "Mailchimp key", tuple(f"-us{digit}" for digit in range(10))),
    DetectSecretsPlugin(
        "pypi_token", "PypiTokenDetector", "PyPI token", ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw")
    ),
    DetectSecretsPlugin("sendgrid", "SendGridDetector", "SendGrid key", ("SG.",)),
    DetectSecretsPlugin("square_oauth", "SquareOAuthDetector", "Square key", ("sq0csp-",)),
    DetectSecretsPlugin("stripe", "StripeDetector", "Stripe key", ("k_live_",)),
)

_ALL_LITERALS = [rule.needs for rule in TOKEN_RULES] + [plugin.needs for plugin in DETECT_SECRETS_PLUGINS]
_LITERALS = list(dict.fromkeys(need for needs in _ALL_LITERALS for need in needs))


@cache
def plugin_patterns(plugin: DetectSecretsPlugin) -> tuple[re.Pattern[str], ...]:
    """Return a plugin's case-sensitive patterns; rules of our own cover what the others find."""
    module = import_module(f"detect_secrets.plugins.{plugin.module}")
    patterns: tuple[re.Pattern[str], ...] = tuple(getattr(module, plugin.name).denylist)
    return tuple(pattern for pattern in patterns if not pattern.flags & re.IGNORECASE)


def token_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every token in the text that shows by its own shape.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    needed = _literals_in(text) if gated else _LITERALS
    if not needed:
        return
    for rule in TOKEN_RULES:
        if any(need in needed for need in rule.needs):
            yield from _rule_spans(rule, text)
    for plugin in DETECT_SECRETS_PLUGINS:
        if any(need in needed for need in plugin.needs):
            yield from _plugin_spans(plugin, text)


def _literals_in(text: str) -> list[str]:
    """Return the literals of the rules that occur in the text, in words that are as long as a token."""
    words = "\n".join([word for word in text.split() if len(word) >= MIN_TOKEN_CHARACTERS])
    return [need for need in _LITERALS if need in words] if words else []


def _rule_spans(rule: TokenRule, text: str) -> Iterator[SecretSpan]:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        token = match[group]
        if not is_example(token) and (not rule.judged or is_key(token)):
            yield *match.span(group), rule.kind


def _plugin_spans(plugin: DetectSecretsPlugin, text: str) -> Iterator[SecretSpan]:
    for pattern in plugin_patterns(plugin):
        for match in pattern.finditer(text):
            start, end = match.span()
            # Letters before or after make it part of something longer, such as a picture in base64.
            inside = text[start - 1 : start].isalnum() or (text[end : end + 1].isalnum() and text[end - 1].isalnum())
            if not inside and not is_example(match[0]):
                yield start, end, plugin.kind
