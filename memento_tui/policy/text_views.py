"""Read a text in other ways than it is written, and say for each reading where its characters stand in the text.

What is hidden from a person, or from a rule, is often the same words in other clothes: entities, escapes, letters of
other alphabets, invisible characters, a block of base64. A view is one such reading. Each takes time in proportion to
the text, and none is longer than the text by more than a fixed factor.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

__all__ = [
    "MIN_ENCODED_DIGITS",
    "TextView",
    "count_digits",
    "encoded_blocks",
    "has_split_words",
    "kinds_table",
    "may_begin_block",
    "unescape",
    "without_breaks",
    "without_invisible",
]


class TextView(msgspec.Struct, frozen=True):
    """A reading of a text: its characters, and where each stretch of them begins in the text as it was given.

    A character at ``starts[i] + n`` of the reading stands at ``places[i] + n * steps[i]``: unchanged stretches step by
    one; a stretch that replaces other characters steps by zero, and so stands where these begin.
    """

    text: str
    length: int
    """Characters of the text as it was given."""
    starts: tuple[int, ...] = (0,)
    places: tuple[int, ...] = (0,)
    steps: tuple[int, ...] = (1,)

    @property
    def is_plain(self) -> bool:
        """Whether every character stands in its place."""
        return len(self.starts) == 1 and self.steps == (1,)

    def place(self, at: int) -> int:
        """Return where the character at ``at`` of the reading stands in the text."""
        number = bisect_right(self.starts, at) - 1
        return self.places[number] + (at - self.starts[number]) * self.steps[number]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the start and end in the text of the characters from ``start`` to ``end`` of the reading."""
        if self.is_plain:
            return start, end
        first = self.place(start)
        if end <= start:
            return first, first
        number = bisect_right(self.starts, end - 1) - 1
        if self.steps[number]:
            last = self.places[number] + end - self.starts[number]
        else:
            last = self.places[number + 1] if number + 1 < len(self.places) else self.length
        return first, max(first, min(last, self.length))

    def replace(self, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> TextView:
        """Return the reading in which each match is replaced; this one where there is none."""
        pieces: list[str] = []
        marks: list[tuple[int, int, int]] = []
        read = at = 0
        for match in pattern.finditer(self.text):
            new = replacement(match)
            if new == match[0]:
                continue
            at = self._keep(read, match.start(), at, pieces, marks)
            marks.append((at, self.place(match.start()), 0))
            pieces.append(new)
            at += len(new)
            read = match.end()
        if not marks:
            return self
        self._keep(read, len(self.text), at, pieces, marks)
        marks.append((at + len(self.text) - read, self.length, 0))
        starts, places, steps = zip(*marks, strict=True)
        return TextView("".join(pieces), self.length, starts, places, steps)

    def excerpt(self, spans: list[tuple[int, int]], around: int) -> TextView:
        """Return only the stretches that are named, with so many characters around each, parted by blank lines."""
        pieces: list[str] = []
        marks: list[tuple[int, int, int]] = []
        at = read = 0
        for start, end in _merged(spans, around, len(self.text)):
            if read:
                marks.append((at, self.place(start), 0))
                pieces.append("\n\n")
                at += 2
            at = self._keep(start, end, at, pieces, marks)
            read = end
        marks.append((at, self.place(read) if read < len(self.text) else self.length, 0))
        starts, places, steps = zip(*marks, strict=True)
        return TextView("".join(pieces), self.length, starts, places, steps)

    def _keep(self, start: int, end: int, at: int, pieces: list[str], marks: list[tuple[int, int, int]]) -> int:
        """Take over the characters from ``start`` to ``end``; return where the next of the new reading begins."""
        if end <= start:
            return at
        pieces.append(self.text[start:end])
        number = bisect_right(self.starts, start) - 1
        marks.append((at, self.place(start), self.steps[number]))
        for later in range(number + 1, len(self.starts)):
            if self.starts[later] >= end:
                break
            marks.append((at + self.starts[later] - start, self.places[later], self.steps[later]))
        return at + end - start


def _merged(spans: list[tuple[int, int]], around: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the spans in order, each grown at both ends, those that touch as one."""
    first = last = -1
    for start, end in sorted(spans):
        if first >= 0 and start - around <= last:
            last = max(last, min(end + around, length))
            continue
        if first >= 0:
            yield first, last
        first, last = max(0, start - around), min(end + around, length)
    if first >= 0:
        yield first, last


_QUOTES = {
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u0111": "d",
    "\xf8": "o",
    "\u0142": "l",
    "\u0131": "i",
}
"""Plain characters for quotation marks, and for letters whose stroke Unicode does not count as an accent."""
_LIGATURE_LIMIT = 20
"""Characters that one character may unfold to; U+FDFA has 18."""


@lru_cache(maxsize=4096)
def plain_letters(char: str) -> str:
    """Return the replacement of a character outside ASCII: itself, plain letters, or "" where it is invisible."""
    kept = []
    for part in unicodedata.normalize("NFKD", char):
        category = unicodedata.category(part)
        if category not in ("Cf", "Cc", "Mn", "Me", "Cn", "Co", "Cs") and part not in "\u3164\u115f\u1160\uffa0\u2800":
            kept.append(part)
    piece = unicodedata.normalize("NFC", "".join(kept)).lower()[:_LIGATURE_LIMIT]
    return _QUOTES.get(piece, piece)


_OUTSIDE_ASCII = re.compile("[^\x00-\x7f]")


def fold(view: TextView) -> TextView:
    """Return the reading in lower case and NFKC, without accents and without characters that nobody sees."""
    text = view.text
    if text.isascii():
        return TextView(text.lower(), view.length, view.starts, view.places, view.steps)
    table = {ord(char): plain_letters(char) for char in set(_OUTSIDE_ASCII.findall(text))}
    odd = "".join(chr(code) for code, plain in table.items() if len(plain) != 1)
    if odd:
        view = view.replace(re.compile(f"[{re.escape(odd)}]"), lambda match: table[ord(match[0])])
    plain = view.text.translate({**_LOWER, **table})
    return TextView(plain, view.length, view.starts, view.places, view.steps)


_LOWER = {code: chr(code + 32) for code in range(ord("A"), ord("Z") + 1)}


_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0100-\U000e01ef]+"
)

_SPLIT_WORD = re.compile(r"(?<=[A-Za-z0-9_=:/.-])" + _INVISIBLE.pattern + r"(?=[A-Za-z0-9_=:/.-])")


def without_invisible(view: TextView) -> TextView:
    """Return the reading without the characters that nobody sees."""
    return view if view.text.isascii() else view.replace(_INVISIBLE, lambda _match: "")


def has_split_words(text: str) -> bool:
    """Tell whether characters that nobody sees stand within the words of a text."""
    return not text.isascii() and _SPLIT_WORD.search(text) is not None


_ESCAPED = re.compile(
    r"&(?:\#[xX]0{0,6}[0-9a-fA-F]{1,6}|\#0{0,6}[0-9]{1,7}|[A-Za-z]{2,8}[0-9]{0,2});"
    r"|(?:%[0-9A-Fa-f]{2})+"
    r"|\\u\{[0-9a-fA-F]{1,6}\}|\\U[0-9a-fA-F]{8}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}",
    re.ASCII,
)
_MARKUP = re.compile(r"<!--[^\n]{0,2000}?-->|(?<=\w)</?[a-zA-Z][^<>\n]{0,60}>(?=\w)", re.ASCII)
_ESCAPE_SIGNS = re.compile(r"&[#A-Za-z]|%[0-9A-Fa-f]{2}|\\[uUx][0-9a-fA-F{]", re.ASCII)
_MAX_DEPTH = 3
"""The most levels of nested escapes that are undone; deeper ones stay."""


def unescape(view: TextView) -> TextView:
    """Return the reading without HTML entities, %-escapes and escapes of code points, up to three deep."""
    for _ in range(_MAX_DEPTH):
        if _ESCAPE_SIGNS.search(view.text) is None:
            break
        plain = view.replace(_ESCAPED, _unescaped)
        if plain is view:
            break
        view = plain
    return view


def _unescaped(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] == "&":
        plain = html.unescape(found)
    elif found[0] == "%":
        plain = bytes.fromhex(found.replace("%", "")).decode("utf-8", "replace")
    else:
        number = int(found[2:].strip("{}"), 16)
        plain = chr(number) if number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF else found  # noqa: PLR2004 - Unicode
    return found if "\ufffd" in plain else plain


_BREAK = re.compile(r"[ \t]*\\?\r?\n[ \t>|*#]*|[\"'`][ \t]*\+?[ \t]*\n?[ \t]*[\"'`]", re.ASCII)
_TOKEN_CHARS = re.compile(r"[A-Za-z0-9_.+/=~:-]", re.ASCII)


def without_breaks(view: TextView) -> TextView:
    """Return the reading in which lines, and strings that are joined in code, run on where a token may be split."""

    def run_on(match: re.Match[str]) -> str:
        text, start, end = match.string, match.start(), match.end()
        inside = _TOKEN_CHARS.match(text, start - 1 if start else 0) and _TOKEN_CHARS.match(text, end)
        return "" if start and inside else match[0]

    return view.replace(_BREAK, run_on)


class EncodedBlock(msgspec.Struct, frozen=True):
    """A stretch of a text that encodes another text."""

    start: int
    end: int
    text: str
    """The text that it encodes."""


_BLOCK = re.compile(
    r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,}+(?:[ \t]*\\?\r?\n[ \t>|\"'+]{0,12}[A-Za-z0-9+/_-]{16,}+){0,400}"
    r"(?:[ \t]*\\?\r?\n[ \t>|\"'+]{0,12}[A-Za-z0-9+/_-]{2,}+(?![ \t]*[^\s=\"']))?={0,6}",
    re.ASCII,
)
"""A run of digits of base64, base32 or hexadecimal, wrapped over lines or not."""
_NUMBERS = re.compile(
    r"(?>(?:\b[01]{8}\b[\s,]{0,3}){8,})|(?>(?:(?:\b0x|\\x)?[0-9a-fA-F]{2}[\s,:-]{1,3}){12,})(?:0x|\\x)?[0-9a-fA-F]{0,2}"
    r"|(?>(?:\b(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])\b[\s,;]{1,3}){12,})(?:\d{2,3}\b)?",
    re.ASCII,
)
"""Bytes written as numbers: binary, hexadecimal or decimal."""
_WORDS_IN_A_ROW = re.compile(
    r"(?:[A-Z]?[a-z]++|[A-Z]++|[0-9]{1,4}+)(?>(?:[/_+-]{1,2}+(?:[A-Z]?[a-z]++|[A-Z]++|[0-9]{1,8}+))+)[/_-]*+"
    r"|[a-z]++|(?>(?:[A-Z]?[a-z]++){1,8})",
    re.ASCII,
)
"""A path, or words that are joined: no encoding writes them so."""
_ANY_NUMBERS = re.compile(r"(?:\d[0-9a-fA-F]\d?[\s,:;-]{1,3}(?:0x|\\x)?){8}|[01]{8}[\s,]{1,2}[01]{8}", re.ASCII)
_HEX_DIGITS = re.compile(r"(?:[0-9A-Fa-f]{2})+", re.ASCII)
_BASE32_DIGITS = re.compile(r"[A-Z2-7]+|[a-z2-7]+", re.ASCII)
_MIN_BLOCK_CHARACTERS = 24
MIN_ENCODED_DIGITS = 12
"""Digits that twelve bytes written as numbers have at least."""
_MAX_BLOCK_CHARACTERS = 65_536
"""Characters of one block that are read; an attack wants its orders found early."""
_BLOCK_LINE = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,6}", re.ASCII)
_WHITE = re.compile(r"[\s>|\"'+\\]+", re.ASCII)
_MIN_WORDS_CHARACTERS = 8


def kinds_table(*kinds: tuple[str, str]) -> bytes:
    """Return a table by which `bytes.translate` writes one sign for each character of a kind, else a space."""
    table = bytearray(b" " * 256)
    for sign, chars in kinds:
        for char in chars:
            table[ord(char)] = ord(sign)
    return bytes(table)


_BLOCK_KINDS = kinds_table(("x", string.ascii_letters + string.digits + "+/_-"))
_RUN = b"x" * 16
"""The kinds of characters with which each encoded block begins, by `_BLOCK_KINDS`."""
_NUMBER_KINDS = kinds_table(("x", string.hexdigits + "x\\" + string.whitespace + ",:;-"), ("0", string.digits))
_MIN_NUMBERS = 24
"""The fewest characters, by `_NUMBER_KINDS`, of eight numbers and their separators."""
_MIN_NUMBER_DIGITS = 8
"""Digits that these hold: each begins with one."""
_BINARY_KINDS = kinds_table(("x", "01"))
_BYTE = b"x" * 8


def may_begin_block(text: str) -> bool:
    """Tell whether a text holds the characters that every block of `encoded_blocks` but numbers begins with."""
    return _RUN in text.encode("ascii", "replace").translate(_BLOCK_KINDS)


def count_digits(text: str) -> int:
    """Return how many digits a text holds."""
    return sum(map(text.count, "0123456789"))


def encoded_blocks(text: str) -> Iterator[EncodedBlock]:
    """Yield the readable texts that base64, base32, hexadecimal or lists of numbers in a text encode."""
    plain = text.encode("ascii", "replace")
    for match in _blocks(text, plain.translate(_BLOCK_KINDS)):
        block = match[0][:_MAX_BLOCK_CHARACTERS]
        if len(block) < _MIN_BLOCK_CHARACTERS or _WORDS_IN_A_ROW.fullmatch(block):
            continue
        yield from _readable(match.start(), match.end(), _WHITE.sub("", block))
        if "\n" in block:
            for line in _BLOCK_LINE.finditer(block):
                yield from _readable(match.start() + line.start(), match.start() + line.end(), line[0])
    if count_digits(text) < MIN_ENCODED_DIGITS:
        return
    if not _may_hold_numbers(plain) or _ANY_NUMBERS.search(text) is None:
        return
    for match in _NUMBERS.finditer(text):
        decoded = _numbers(match[0][:_MAX_BLOCK_CHARACTERS])
        if decoded:
            yield EncodedBlock(*match.span(), decoded)


def _may_hold_numbers(plain: bytes) -> bool:
    """Tell whether `_ANY_NUMBERS` can find something in a text, written in ASCII."""
    parts = plain.translate(_NUMBER_KINDS).split(b" ")
    if any(part.count(b"0") >= _MIN_NUMBER_DIGITS for part in parts if len(part) >= _MIN_NUMBERS):
        return True
    return _BYTE in plain.translate(_BINARY_KINDS)


def _blocks(text: str, kinds: bytes) -> Iterator[re.Match[str]]:
    """Yield the matches of `_BLOCK`, which is tried only where a long enough run begins."""
    at = kinds.find(_RUN)
    while at >= 0:
        match = _BLOCK.match(text, at)
        if match is not None:
            yield match
        after = kinds.find(b" ", at) if match is None else match.end()
        at = kinds.find(_RUN, after) if after >= 0 else -1


def _readable(start: int, end: int, block: str) -> Iterator[EncodedBlock]:
    for raw in _decodings(block):
        plain = _as_text(raw)
        if plain is not None:
            yield EncodedBlock(start, end, plain)


def _decodings(block: str) -> Iterator[bytes]:
    """Yield the bytes that a block may encode."""
    whole = block.rstrip("=")
    plain = whole.translate({45: 43, 95: 47})
    try:
        yield base64.b64decode(plain + "=" * (-len(plain) % 4) if len(plain) % 4 != 1 else plain[:-1])
    except (binascii.Error, ValueError):
        yield base64.b64decode(plain[: len(plain) // 4 * 4])
    if _HEX_DIGITS.fullmatch(whole[: len(whole) // 2 * 2]):
        yield bytes.fromhex(whole[: len(whole) // 2 * 2])
    if _BASE32_DIGITS.fullmatch(whole):
        try:
            yield base64.b32decode(whole.upper() + "=" * (-len(whole) % 8))
        except (binascii.Error, ValueError):
            yield base64.b32decode(whole.upper()[: len(whole) // 8 * 8])


def _as_text(raw: bytes) -> str | None:
    """Return the bytes as text if a person could read it."""
    for encoding in ("utf-8", "utf-16-le"):
        if encoding != "utf-8" and raw[1:2] != b"\0":
            break
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(text) >= _MIN_WORDS_CHARACTERS and all(char.isprintable() or char.isspace() for char in text):
            return text
    return None


def _numbers(text: str) -> str | None:
    """Return the text of a list of numbers: binary, hexadecimal or decimal."""
    words = re.findall(r"(?:0x|\\x)?[0-9a-fA-F]+", text)
    try:
        if all(len(word) == 8 and set(word) <= {"0", "1"} for word in words):  # noqa: PLR2004 - digits of a byte
            raw = bytes(int(word, 2) for word in words)
        else:
            digits = [word.removeprefix("0x").removeprefix("\\x") for word in words]
            is_decimal = all(word.isdigit() for word in digits) and not text.lstrip().startswith(("0x", "\\x"))
            readings = (10, 16) if is_decimal else (16,)
            for base in readings:
                values = [int(word, base) for word in digits]
                if all(value < 256 for value in values):  # noqa: PLR2004 - a byte
                    plain = _as_text(bytes(values))
                    if plain:
                        return plain
            return None
    except ValueError:
        return None
    return _as_text(raw)
