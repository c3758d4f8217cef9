"""Judge values: generated keys, passwords that people choose, and placeholders that are none."""

from __future__ import annotations

import re
from itertools import islice, pairwise

from memento_tui.text.literals import Literals

__all__ = [
    "DOTTED_NAME",
    "MARKER",
    "SPOKEN",
    "SecretSpan",
    "is_chosen",
    "is_drawn",
    "is_example",
    "is_key",
    "is_password",
    "is_phrase",
    "is_placeholder",
    "is_telling",
    "is_uuid",
    "lowered",
    "turns_of",
]

MAX_VALUE_CHARACTERS = 128

SPOKEN = Literals()
"""The words by which a text in lower case may speak of a secret; each module adds those that its own matches need."""

MARKER = re.compile(r"\[secret removed: [^\[\]\n]{1,60}\]")
"""The mark that is put in the place of a secret."""

_FILLER = re.compile(r"(?i)x{3,}|\*{2,}|\.{2,}|…|_{3,}|#{3,}|•{2,}|n/a|-+|[$€£]\d[\d.,]*(?:/\w+)?", re.ASCII)
"""Whole values that are placeholders."""
_TEMPLATE = re.compile(
    r"""(?x) <[^>]*>? | \$[A-Za-z_({] | \$$ | \{ | \[ | %[A-Za-z_]+%? | \(                # <x> $X ${X} {x} [x] %X% (x)
    | (?i: your|my|the|an?|our|some|insert|replace|enter|put|paste|add) [-_ ](?:\w|<)     # your-token-here
    | (?i: change[-_ ]?(?:me|this|it) | placeholder | redacted | removed | dummy | fake | example | sample | todo | tbd)
    """,
    re.ASCII,
)
"""How a value begins that somebody is to replace."""
DOTTED_NAME = r"[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,6}"
"""Words joined by dots, as the parts of a program are named, for a pattern in ASCII."""
_REFERENCE = re.compile(
    r"""(?x) [A-Za-z_][\w.]{0,80}[\[(]                         # get_password(), os.environ["X"]
    | """
    + DOTTED_NAME
    + r"""$                                                # settings.password, but no word.word42
      (?<! [A-Za-z]{4}\d{2} ) (?<! [A-Za-z]{4}\d{3} ) (?<! [A-Za-z]{4}\d{4} )
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


def lowered(text: str) -> str:
    """Return the text in lower case with every character in its place; one letter alone becomes two in lower case."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "\u0131").lower()


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
    letters = sum(map(str.isalpha, value))
    digits = sum(map(str.isdigit, value))
    if letters == 0:
        return loose and len(value) >= _MIN_PASSWORD_CHARACTERS and digits > 0
    if letters == len(value):
        return loose and len(value) >= _MIN_PASSWORD_CHARACTERS and not _KEYWORD.search(value)
    words = [word for word in _PARTS.split(value) if word]
    if digits == 0 and all(word.isalpha() for word in words):
        if "/" in value or _KEYWORD.search(value):
            return False
        described = loose and not _WORDS_ABOUT_SECRETS.isdisjoint(map(str.lower, words))
        return len(words) >= (2 if loose and not described else _MIN_PASSPHRASE_WORDS)
    return not _PATH.fullmatch(value)


def is_uuid(value: str) -> bool:
    """Tell whether a value is a UUID, which names a thing far more often than it opens one."""
    return _UUID.fullmatch(value) is not None


def is_key(value: str, *, uuid: bool = False) -> bool:
    """Tell whether a value beside the word token or key is one, as programs generate them.

    That is: at least ten characters in one run that mixes letters and digits without being made of words, version
    numbers and dates, such as ``my-app-secrets-v2``. A UUID is one only where ``uuid`` says so.
    """
    value = value[:MAX_VALUE_CHARACTERS]
    if _UUID.fullmatch(value):
        return uuid and len(set(value)) > _MIN_DISTINCT_CHARACTERS
    if is_placeholder(value):
        return False
    if len(value) >= _MIN_LETTERS_OF_KEY and _CASE_TURN.search(value) and _turns_often(value):
        return True
    if any(_CASE_TURN.search(run) and _turns_often(run) for run in _LETTERS_RUN.findall(value)):
        return True
    return _DIGIT.search(value) is not None and any(
        _is_random(run[0]) for run in islice(_RANDOM_RUN.finditer(value), _MAX_RUNS)
    )


def _is_random(run: str) -> bool:
    if len(set(run)) < _MIN_DISTINCT_CHARACTERS or _CAMEL.fullmatch(run):
        return False
    parts = [part for part in _PARTS.split(run) if part]
    if all(_WORDLIKE.fullmatch(part) for part in parts):
        return False
    letters = sum(map(str.isalpha, run))
    digits = sum(map(str.isdigit, run))
    turns = len(_DIGITS_OR_OTHERS.findall(run)) - 1
    return letters >= 3 and digits >= 2 and turns >= 2 and len(set(run)) >= 6  # noqa: PLR2004 - see `is_key`


_DIGITS_OR_OTHERS = re.compile(r"[0-9]+|[^0-9]+")
_MIN_TURNS = 4
"""The fewest changes between letters and digits in a password made at random from both."""


_MIN_LETTERS_OF_KEY = 20
"""The fewest characters of a key that may have hardly any digits by chance."""
_LETTERS_RUN = re.compile(r"[A-Za-z0-9]{16,}", re.ASCII)
_CASE_TURN = re.compile(r"[A-Z][A-Za-z]?[A-Z][a-z]|[a-z][A-Z][A-Z0-9]", re.ASCII)


def _turns_often(value: str) -> bool:
    """Tell whether capitals, small letters and digits follow each other without a word between them."""
    return turns_of(value) >= 0.42 * len(value) and not any(map(str.isspace, value))


_KINDS_IN_A_ROW = re.compile(r"[0-9]+|[A-Z]+|[^0-9A-Z]+")


def turns_of(value: str) -> int:
    """Return how often digits, capitals and all other characters follow one of another kind."""
    if value.isascii():
        return len(_KINDS_IN_A_ROW.findall(value)) - 1
    return sum(a.isdigit() != b.isdigit() or a.isupper() != b.isupper() for a, b in pairwise(value))


def is_drawn(value: str) -> bool:
    """Tell whether a value was drawn from capitals, small letters and digits: no word, number or path looks so."""
    if value.isalpha() or value.islower() or value.isupper():  # most words: there are no digits, or no capitals
        return False
    kinds = (sum(map(kind, value)) for kind in (str.isdigit, str.isupper, str.islower))
    return all(count >= 2 for count in kinds) and turns_of(value) >= max(_MIN_TURNS, len(value) // 4)  # noqa: PLR2004 - by chance one


_ADDRESS = re.compile(
    r"[\w.+-]+@(?:v?\d|[\w-]+\.\w)|[\w./:-]+#\w*[a-z]\w*$|[a-z._-]+#\d+$|[\w.-]+[!*]$(?<!\d[!*])", re.ASCII
)
"""An address, a version of a package, a method, the number of an issue, or a word that somebody stresses."""


def is_chosen(value: str) -> bool:
    """Tell whether a value looks like a password by itself, without ``=`` or ``:`` before it.

    It mixes letters and digits with a sign that no word holds, as ``Blue!horse7`` does, or was drawn from them.
    """
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)) or is_placeholder(value):
        return False
    if any(sign in value for sign in "!@#$^*"):
        return _ADDRESS.match(value) is None
    return value.isalnum() and len(value) >= _MIN_DRAWN_CHARACTERS and is_drawn(value)


_MIN_DRAWN_CHARACTERS = 10
"""Characters of a drawn password; a shorter mixture is the name of a product."""


def is_telling(value: str) -> bool:
    """Tell whether a value in the place of a secret is one, though nothing names it."""
    if is_chosen(value) and len(value) >= _MIN_DRAWN_CHARACTERS - 2:
        return True
    return len(value) >= _MIN_HEX_CHARACTERS and is_key(value) and _NAMED_THING.search(value) is None


_MIN_HEX_CHARACTERS = 20
_NAMED_THING = re.compile(r"[/:@.,=]", re.ASCII)
"""A sign of a path, an address, an image of a container or a setting."""


_FUNCTION_WORDS = frozenset(
    """the and is are was with for that this you not has have from must when your our its it in on at of to a an as be
    by or if so we i they he she will can should would could may all any no but then than there here where
    which who what please do does did use used using stored kept saved""".split()  # noqa: SIM905 - as a list it is half a page
)


def is_phrase(words: list[str], least: int) -> bool:
    """Tell whether the words are a drawn phrase, such as a wallet's: so many plain words, none of them grammar."""
    if len(words) < least or len(set(words)) <= least // 2:
        return False
    # The lists that wallets draw from hold a few words of grammar, such as "can" and "this"; a sentence holds many.
    return sum(word in _FUNCTION_WORDS for word in words) <= len(words) // 6


SecretSpan = tuple[int, int, str]
"""The beginning and end of a secret in its text, and its kind."""
