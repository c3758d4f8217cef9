"""Find secrets that stand near the words for them: in a sentence of any build, in a code that is typed, in a block."""

from __future__ import annotations

# ruff: noqa: E501 - a form is read most easily in one line; words of other alphabets are part of it
import re
from collections.abc import Callable, Iterator

from memento_tui.policy.secret_keys import MIN_KEY_CHARACTERS, key_spans
from memento_tui.policy.secret_logins import answer_spans, login_spans, seed_spans
from memento_tui.policy.secret_patterns import SPOKEN, SecretSpan, is_password, is_placeholder
from memento_tui.text.literals import StartedPattern

__all__ = ["level_signs", "wording_spans"]

_SIGNS = str.maketrans("\u00a0\u202f\u2007\u3000\uff1d", "    =")


def level_signs(text: str) -> str:
    """Return the text, as long as it was, with plain spaces and equals signs for those of typography."""
    return text if text.isascii() else text.translate(_SIGNS)


def wording_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every secret that the words around it give away.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    lower = text.lower()
    read = lower if len(lower) == len(text) else text.replace("\u0130", "\u0131").lower()
    held = SPOKEN.held_in(read)
    has_digits = _DIGIT.search(text) is not None
    if mixed := _mixed_words(text) if has_digits else []:
        if not gated or max(map(len, mixed)) >= MIN_KEY_CHARACTERS:
            yield from key_spans(text, read)
        yield from login_spans(text, read, mixed)
        for words, finder in _FINDERS_OF_WORDS:
            if not gated or not held.isdisjoint(words):
                yield from finder(text, read, mixed)
    if has_digits:
        for words, find in _FINDERS:
            if not gated or not held.isdisjoint(words):
                yield from find(text, read)
    for words, find in _FINDERS_OF_PHRASES:
        if not gated or not held.isdisjoint(words):
            yield from find(text, read)


def _mixed_words(text: str) -> list[str]:
    """Return the words that hold a digit and are long enough for a password, each once."""
    said = dict.fromkeys(text.split())
    return [word for word in said if len(word) >= _MIN_MIXED_CHARACTERS and not word.isalpha() and _DIGIT.search(word)]


_DIGIT = re.compile(r"[0-9]", re.ASCII)


_MIN_MIXED_CHARACTERS = 6
"""Characters of the shortest password that words alone give away; it has a digit."""


_MAX_GAP = 64
"""Characters between a word for secrets and the secret, in one line."""


def _near(word: re.Pattern[str], read: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches that follow a word in its line, none of them twice."""
    last = 0
    for match in word.finditer(read):
        start = max(match.end(), last)
        stop = text.find("\n", match.end(), match.end() + 2 * _MAX_GAP)
        last = max(start, match.end() + 2 * _MAX_GAP if stop < 0 else stop)
        if last > start:
            yield start, last


_NAMES = ("passw", "passphrase", "passcode", "(pw)", "kennwort", "mot de passe", "contraseña", "senha")
_CALLED = re.compile(
    r"""(?x) (?: \( (?: the\ | its\ )?
    | (?<![a-z]) (?: as\ (?: a\ )? | (?: as | is ) \ (?: the | its | my | our | their | your | his | her ) \ ) (?: [a-z]{2,12} \ )?
    | (?<![a-z]) (?: als | ist ) \ (?: (?: das | neues ) \ )? | comme\ | est\ le\ | como\ | es\ la\ | é\ a\ ) $""",
    re.ASCII,
)
"""The words between a value and the word for it that comes after."""
_IN_BRACKETS = re.compile(r"passw(?:or[dt])?\s\((?P<value>[^\s()]{6,64})\)", re.ASCII)
_PLAIN_NOTE = re.compile(r"[A-Za-z]+[-_.]?v?\d{1,4}|v?\d[\w.-]*", re.ASCII)
"""A short name with a number, or a version: no password."""
_LAST_WORD = re.compile(r"[^\s\"'`<>|;,(){}\[\]«»“”]{6,64}$", re.ASCII)


def _before_words(text: str, read: str, _mixed: list[str]) -> Iterator[SecretSpan]:
    """Yield passwords named afterwards or in brackets: ``hunter2 as the password``, ``the password (hunter2)``."""
    for match in _IN_BRACKETS.finditer(read):
        value = text[slice(*match.span("value"))]
        if is_password(value, loose=False) and any(map(str.isdigit, value)) and _PLAIN_NOTE.fullmatch(value) is None:
            yield *match.span("value"), "password"
    for name in _NAMES:
        place = read.find(name)
        while place >= 0:
            if not read.startswith("passwordless", place):
                yield from _called(text, read, place + name.startswith("("))
            place = read.find(name, place + len(name))


def _called(text: str, read: str, place: int) -> Iterator[SecretSpan]:
    """Yield the value before the word for a password at ``place``."""
    called = _CALLED.search(read, max(0, place - 30), place)
    if called is None:
        return
    first = max(0, called.start() - _MAX_GAP)
    word = _LAST_WORD.search(text[first : called.start()].rstrip(" ").rstrip("\"'`»”"))
    if word is not None and any(map(str.isdigit, word[0])) and is_password(word[0], loose=False):
        yield first + word.start(), first + word.end(), "password"


_CODE_NEAR = re.compile(
    r"""(?x) (?<![\w-])
    (?: (?P<sure> (?P<pin> pin\d? ) | pin[ -]?code | puk\d? | passcode | (?:sms|verification|one-time|2fa|login)[ -](?:code|password) ) | otp
      | (?: door | gate | alarm | vault | locker | access | entry | disarm | arm | panic | duress | gun | padlock | bike | parking | elevator | lift | intercom | server\ room | office | house | front | back | lock | safe | security | unlock | garage | building | keypad | sim
        | otp | backup | recovery | card | combination | tür | tor )
        (?:'s)? [ -]? (?: code | pin | combination ) s?
      | (?: garage | door | gate | entry | alarm | safe | bike )[ ] (?: keypad | lock | combo ) | combination | combo | lock ?box | (?: phone | tablet | screen | ipad | iphone | handy ) (?:'s)? [ ] unlock
      | zugangscode | türcode | torcode | sperrcode | alarmcode
      | code\ (?:d'accès|pin|de\ (?:la\ |l')?(?:porte|alarme|entrée|carte|serrure)|du\ (?:portail|coffre))
      | código\ (?:pin|(?:de|da|do|del)\ (?:la\ )?(?:acceso|acesso|puerta|porta|alarma?e?|entrada|portão|cofre)) | 暗証番号
      | passw(?:or)?d | passwort | kennwort | mot\ de\ passe | contraseña | senha | 密码 | パスワード )
    (?: \s (?: for | of | on | to | at | in | für | fürs | vom | zum | zur | am | an | der | des | de | du | del | da | do ) \s
        [^\n:="'`\d]{1,40}? )?
    (?: \s{0,2} (?: [:=#] | -> | → ) \s{0,2} | \s (?: is | opens\ with | was | are | ist | lautet | est | es | é | è ) (?:\ now)? \s
      | \s (?: (?: is | was | has\ been ) \s )? (?: changed | reset | set | now ) \s (?: to \s )? | \s auf \s (?: geändert \s )?
      | \s? (?: は | 是 | \uff1a ) \s? | (?P<space> \s ) )
    ["'`*]{0,3} (?P<code> \d (?: [ -]? \d ){3,11} ) (?! [\w:/%] | [.,-] \w | \s (?: chars? | characters | digits? | bits?
        | bytes | ms | milliseconds | s | sec\w* | min\w* | hours? | days? | weeks? | times | users? | tokens? | rows
        | entries | attempts | requests | iterations | rounds | zeichen | stellen | tage[n]? | caractères | jours
        | caracteres | letters | words | people | dollars | euros? | lines | files | items | per ) \b )""",
    re.ASCII,
)
"""A word for a code that is typed, and its digits."""


_DIGITS = re.compile(r"[0-9](?<![\w.:/-][0-9])(?:[ -]?[0-9]){3,11}(?![\w:/%-])", re.ASCII)
_CODE_WORD = re.compile(
    r"pin|puk|pass|otp|code|código|combination|combo|keypad|lock|kennwort|contrase|senha|密码|パスワード|暗証番号",
    re.ASCII,
)
_MAX_BEFORE_CODE = 90
"""Characters from the beginning of the word for a code to its digits."""


def _codes(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield the digits that open something: a PIN, a door's code, a password without letters."""
    for run in _DIGITS.finditer(read):
        start = max(0, run.start() - _MAX_BEFORE_CODE)
        if _CODE_WORD.search(read, start, run.start()) is None:
            continue
        for match in _CODE_NEAR.finditer(read, start, run.end() + _MAX_AFTER_CODE):
            sure = match["sure"] is not None
            typed = sure and (match["pin"] or match["sure"] == "passcode" or " " in match["sure"])
            if match["space"] is not None and not (typed or (sure and text[match.start("sure")].isupper())):
                continue
            digits = sum(map(str.isdigit, match["code"]))
            long_enough = digits >= (4 if sure or "pass" not in match[0] else _MIN_DIGITS_OF_PASSWORD)
            if long_enough and len(set(match["code"])) > 1:
                yield *match.span("code"), "code"


_DOOR = r"(?:front\ door|door|gate|garage|alarm|entrance|keypad|safe|haustür|tür|tor|eingang|porte|digicode|interphone|immeuble|portail|puerta|portal|porta|portone|portão|cancello|dörren|dörr|port|deur|ovi|drzwi\w{0,2}|bramy|dveří|дверь|двери|домофона?|подъезда?|kap\u0131|ajtó)"
_DOOR_CODE = re.compile(
    rf"""(?x) (?<![a-z]) (?: code | kod(?:en)? | codice | código | codigo | kód | koodi | kode | код | пин | pincode | zahlencode ) (?![a-z]) [^\n\d]{{0,24}} (?<![a-z]) {_DOOR} (?![a-z])
        [^\n\d]{{0,20}} (?P<coded> \d{{4,8}} | \d{{2,4}}[a-f]\d{{2,4}} ) (?![\w./-])
    | (?<![a-z]) (?: {_DOOR}[ -]?(?:code|kod|kode|koodi|kód|pin) | ovikoodi | portkod(?:en)? | deurcode | digicode | pincode | kap\u0131\ kodu ) (?![a-z]) [^\n\d]{{0,24}} (?P<named> \d{{4,8}} | \d{{2,4}}[a-f]\d{{2,4}} ) (?![\w./-])
    | (?<![a-z]) (?: door | gate | garage | alarm | entrance | entry | keypad | tür | haustür | tor | eingang | porte | portail | puerta | porta
        | portão | dörr | deur | ovi | drzwi | дверь | двери | домофон ) (?![a-z]) [^\n\d]{{0,40}} (?P<code> \#? \d{{4,8}} (?: \# | \* ) )
    | (?: combination | combo | padlock | (?: safe | locker | vault )[ ]code ) (?![a-z]) [^\n\d]{{0,24}}? (?: [:=→] | \b(?: is | with | to | are | now ) | (?: combination | combo ) )
        \s (?P<turns> \d{{1,2}} (?: -\d{{1,2}} ){{2,3}} ) (?![\d-])""",
    re.ASCII,
)
_DOOR_CODES = StartedPattern(_DOOR_CODE)


def _door_codes(_text: str, read: str) -> Iterator[SecretSpan]:
    """Yield codes of doors, with their final sign, and combinations of locks."""
    for match in _DOOR_CODES.finditer(read):
        yield *match.span(match.lastgroup or "code"), "code"


_MAX_AFTER_CODE = 12
"""Characters after the digits in which a unit begins, if they are an amount."""
_CARD_CODE = re.compile(r"(?<![a-z])cv[vc]2?(?:\scode)?(?:\s?[:=]\s?|\sis\s|\s)(?P<code>[0-9]{3,4})(?![\w.])", re.ASCII)


def _card_codes(_text: str, read: str) -> Iterator[SecretSpan]:
    """Yield the digits on the back of a card."""
    for match in _CARD_CODE.finditer(read):
        yield *match.span("code"), "code"


_MIN_DIGITS_OF_PASSWORD = 6
"""Digits of a password that has no letters."""

_SEED_NEAR = re.compile(
    r"totp|(?<![a-z])(?:otp|2fa|mfa|two-factor|authenticator|one-time|zwei-faktor|deux facteurs|dos factores|dois fatores)(?![a-z])"
    r"|两步验证|二步验证|双重验证|身份验证器|二段階認証|2段階認証|認証アプリ|2단계 인증|двухфактор",
    re.ASCII,
)
_SEED = re.compile(
    r"(?<![\w+/=.-])(?:[A-Z2-7]{16,128}(?![\w+/-])|(?:[A-Z2-7]{4}[ -]){3,31}[A-Z2-7]{4}(?!\w)|(?:[a-z2-7]{4}[ -]){3,31}[a-z2-7]{4}(?!\w))",
    re.ASCII,
)


def _seeds(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield the seeds of one-time codes: digits of base32 in one run, or in groups of four."""
    for start, end in _near(_SEED_NEAR, read, text):
        for match in _SEED.finditer(text, start, end):
            in_groups = match[0].isupper() and len(re.split("[ -]", match[0])) > 1
            if sum(map(str.isdigit, match[0])) > (0 if in_groups else 1):
                yield *match.span(), "one-time secret"


_RECOVERY_NEAR = re.compile(r"(?:recovery|backup|scratch|emergency|2fa)[ -]codes?(?![a-z])", re.ASCII)
_RECOVERY_CODE = re.compile(r"(?<![\w-])[a-z0-9]{4,10}(?:-[a-z0-9]{4,10}){1,4}(?![\w-])", re.ASCII | re.IGNORECASE)


def _recovery_codes(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield a recovery code in the line of the word for it."""
    for start, end in _near(_RECOVERY_NEAR, read, text):
        for match in _RECOVERY_CODE.finditer(text, start, end):
            parts = match[0].split("-")
            mixed = [part for part in parts if not part.isalpha() and not part.isdigit()]
            if len(mixed) * 2 >= len(parts):
                yield *match.span(), "recovery code"


_SECRET_KIND = re.compile(r"""["']?kind["']?[ ]{0,2}:[ ]{0,2}["']?Secret\b""", re.ASCII)
_DATA = re.compile(
    r"""(?mx) ^ (?P<indent>[ >]{0,12}) (?:data|stringData): [ ]{0,4} \r?$ | ["'](?:data|stringData)["']\s{0,2}:\s{0,2}\{""",
    re.ASCII,
)
_YAML_PAIR = re.compile(
    r"\r?\n(?P<indent>[ >]{1,16})[\w./-]{1,80}:[ ]{1,4}[\"']?(?P<value>[^\s\"']{4,})[\"']?", re.ASCII
)
_JSON_PAIR = re.compile(
    r"""\s{0,40},?\s{0,40}["'][\w./-]{1,80}["']\s{0,2}:\s{0,2}["'](?P<value>[^\s"']{4,})["']""", re.ASCII
)
_MAX_PAIRS = 200


def _kubernetes_secrets(text: str, _read: str) -> Iterator[SecretSpan]:
    """Yield the values of a manifest whose kind is Secret, whatever their names."""
    for part in re.finditer(r"(?:(?!\n---)[^\n]*\n?)(?:(?!---)[^\n]*\n?){0,400}", text) if "---" in text else (None,):
        first, last = (0, len(text)) if part is None else part.span()
        if _SECRET_KIND.search(text, first, last) is None:
            continue
        for head in _DATA.finditer(text, first, last):
            pattern = _JSON_PAIR if head["indent"] is None else _YAML_PAIR
            at = head.end()
            for _ in range(_MAX_PAIRS):
                pair = pattern.match(text, at, last)
                if pair is None or (head["indent"] is not None and len(pair["indent"]) <= len(head["indent"])):
                    break
                if not is_placeholder(pair["value"]) and not pair["value"].startswith(("{{", "$")):
                    yield *pair.span("value"), "password"
                at = pair.end()


_KINDS_OF_SECRET = SPOKEN.add("kind: secret", 'kind": "secret', 'kind":"secret', "kind': 'secret", "kind:secret")

_FINDERS_OF_WORDS: tuple[tuple[frozenset[str], Callable[[str, str, list[str]], Iterator[SecretSpan]]], ...] = (
    (SPOKEN.add(*_NAMES), _before_words),
)
"""Each finder of a word that mixes letters and digits, with the words of which each of its matches holds at least one."""
_FINDERS: tuple[tuple[frozenset[str], Callable[[str, str], Iterator[SecretSpan]]], ...] = (
    (
        SPOKEN.add(
            *(
                "pin",
                "puk",
                "pass",
                "otp",
                "code",
                "código",
                "combination",
                "combo",
                "keypad",
                "lock",
                "kennwort",
                "contrase",
                "senha",
                "密码",
            ),
            *("パスワード", "暗証番号"),
        ),
        _codes,
    ),
    (SPOKEN.add("cvv", "cvc"), _card_codes),
    (
        SPOKEN.add(
            "code",
            "kod",
            "codice",
            "código",
            "kód",
            "koodi",
            "код",
            "пин",
            "#",
            "*",
            "combination",
            "combo",
            "padlock",
            "safe",
            "locker",
            "vault",
        ),
        _door_codes,
    ),
    (
        SPOKEN.add(
            *("otp", "2fa", "mfa", "two-factor", "authenticator", "one-time", "zwei-faktor", "deux facteurs"),
            *(
                "dos factores",
                "dois fatores",
                "两步验证",
                "二步验证",
                "双重验证",
                "身份验证器",
                "二段階認証",
                "2段階認証",
            ),
            *("認証アプリ", "2단계 인증", "двухфактор"),
        ),
        _seeds,
    ),
    (
        SPOKEN.add("y code", "y-code", "p code", "p-code", "h code", "2fa code"),
        _recovery_codes,
    ),
)
"""Each other finder, with the words of which each of its matches holds at least one."""
_QUESTION_WORDS = SPOKEN.add(
    "question",
    "frage",
    "pregunta",
    "pergunta",
    "domanda",
    "fråga",
    "vraag",
    "otázka",
    "вопрос",
    "質問",
    "问题",
    "maiden",
    "geburtsname",
)
_SEED_WORDS = SPOKEN.add(
    "seed",
    "mnemonic",
    "wallet",
    "ledger",
    "trezor",
    "metamask",
    "bip",
    "recovery",
    "phrase",
    "words",
    "wörter",
    "mots",
    "palabras",
    "monero",
    "phantom",
    "keplr",
    "electrum",
)
_FINDERS_OF_PHRASES: tuple[tuple[frozenset[str], Callable[[str, str], Iterator[SecretSpan]]], ...] = (
    (_QUESTION_WORDS, answer_spans),
    (_SEED_WORDS, seed_spans),
    (_KINDS_OF_SECRET, _kubernetes_secrets),
)
"""Each finder of secrets that need not hold a digit, with the words of which each of its matches holds at least one."""
