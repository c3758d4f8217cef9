"""What a fuzzer does to the app, drawn from a seed: keys, the mouse, new sizes, agents' writes, ends of the engine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal, NamedTuple

__all__ = ["OPENING_HABITS", "Burst", "bursts"]

Deed = Literal["keys", "mouse", "resize", "agent", "engine", "leave"]

_ESCAPE, _ENTER, _TAB, _BACKSPACE = "\x1b", "\r", "\t", "\x7f"
_F2, _F4 = "\x1bOQ", "\x1bOS"
_ARROWS = ("\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1b[3~", "\x1b[Z")
_SECTIONS = "12345678[]"
_MOVES = "jjjjkkgGJK"
_COMMANDS = "nNeeEttaaiddrmhholwwfsSuvv  ybxxcPp+-=RQzzZ?/:"
_CONTROLS = "\x13\x04\x15\x10\x0f\x03"
"""Ctrl with s, d, u, p, o and c."""

_KEYS: tuple[str, ...] = (
    *(_SECTIONS * 3),
    *(_MOVES * 2),
    *(_COMMANDS * 2),
    *_CONTROLS,
    *_ARROWS,
    *([_ESCAPE] * 14),
    *([_ENTER] * 6),
    _TAB,
    _BACKSPACE,
    *"abcdefg 059.,#\u00e4\u4e2d",
)
"""Keys, each as often as it is wanted. A key that ends the app is a deed of its own, `leave`."""

OPENING_HABITS = ("2h32\x1b", "2o32\x1b", "2l32\x1b", "2w32\x1b", "2f32\x1b", "2n2", "2e12", "2n12", "hlh")
"""Bursts that open views, dialogs and editors of a memory and leave them before they are there."""

_HABITS = (
    *(["\x1by"] * 8),
    *OPENING_HABITS,
    "2l\x1b",
    "3xaaaa\r",
    "3aaaa",
    "7w27\x1b",
    "2vjjd",
    "2vjjty",
    "2/the\r",
    "4b\x1b[C4b",
    "4n\x1b",
    "5n\x1b\x1b",
    "8R18",
    "2E",
    "\x10mem\r",
    "??\x1b",
    *([":cer\t5\r"] * 2),
    "2v\x1b:tag +x\ry",
    "2:%ns \tx\r\x1b",
    ":the\tn\t\r",
    ":his\t\r\x1b",
    ":\x1b[A\r\x1b",
    ":open rev\t\r:\x7f",
    "2/tag:\t\x1b[B\r\r",
    "2/\x1b[A\x1b[A\x1b[C\t",
    "2/kin\tde\x1b[B\x1b",
    "2t\x1b2t\r",
    *([f"{_F2}jj\r\x1b"] * 2),
    f"{_F2}jjjj\rz\x1b\x1b",
    f"{_F2}G\r\x1b\x1b",
    *([f"{_F4}j\r"] * 2),
    f"2n{_F4}\r\x1b",
    f"{_F4}a\x1bd\x1b",
)
"""Bursts that a fast person types."""

_PASTED = ("pasted", "two\nlines", "#tag, +x")
_WEIGHTS: dict[Deed, float] = {"keys": 74, "mouse": 7, "resize": 5, "agent": 13, "engine": 0.4, "leave": 0.6}
_SIZES = ((80, 24), (120, 32), (140, 42), (220, 60), (40, 10), (60, 16), (20, 5), (110, 30), (109, 30))
_PAUSES = (0.0, 0.0, 0.0, 0.005, 0.02, 0.05, 0.05, 0.12, 0.3)
"""Seconds after a burst; most people who are fast leave a twentieth of one."""


class Burst(NamedTuple):
    """One deed: keys that are written at once, a size, or a number from which a write is chosen; then a pause."""

    deed: Deed
    keys: str
    size: tuple[int, int]
    number: int
    pause: float


def bursts(seed: int) -> Iterator[Burst]:
    """Yield bursts without end, the same ones for the same seed."""
    chance = random.Random(seed)
    deeds, weights = list(_WEIGHTS), list(_WEIGHTS.values())
    while True:
        deed = chance.choices(deeds, weights)[0]
        keys = _keys(chance) if deed == "keys" else _mouse(chance) if deed == "mouse" else ""
        yield Burst(deed, keys, chance.choice(_SIZES), chance.randrange(1 << 30), chance.choice(_PAUSES))


def _keys(chance: random.Random) -> str:
    """Return some keys; mostly few, as bursts of many soon end in a text field, where letters are only letters."""
    match chance.randrange(12):
        case 0 | 1 | 2:
            return chance.choice(_HABITS)
        case 3:
            return chance.choice(_KEYS) * chance.randint(2, 12)
        case 4:
            return "\x1b[200~" + chance.choice(_PASTED) + "\x1b[201~"
        case _:
            return "".join(chance.choices(_KEYS, k=chance.choice((1, 1, 2, 3, 4, 6, 12))))


def _mouse(chance: random.Random) -> str:
    column, row = chance.randint(1, 140), chance.choice((1, 2, chance.randint(1, 42), chance.randint(1, 42)))
    button = chance.choice((0, 0, 0, 0, 2, 64, 65))
    click = f"\x1b[<{button};{column};{row}M\x1b[<{button};{column};{row}m"
    return click * chance.choice((1, 1, 1, 2, 3))
