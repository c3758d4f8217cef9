"""The queue as one text for the person's own editor, and what the edited text says about each of its blocks.

A sheet is read strictly, because what it says is carried out. Every line that has a meaning begins with a random word
that was drawn after all texts were known, so no text in it can imitate one, whoever wrote it. Each block has a
beginning and an end of its own. Where any of these lines is missing, changed or there twice, nothing at all is decided.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from memento_tui.errors import InvalidInput

__all__ = ["Block", "Read", "Sheet", "make_sheet"]

_HELP = """\
Everything that waits for you, one block for each. Nothing is decided before you have seen what would be done.

  - Tick a line to decide:  [x] approve
  - Change a text below a block's marks to edit it and approve it in one.
  - Delete a whole block, from its first line that begins with {mark} to its last, to reject it.
    A contradiction whose block is deleted is called none.
  - A block that you leave as it is stays undecided.

Lines that begin with > are for you to read; they are not looked at. Leave the lines that begin with {mark} as they are:
where one is missing or changed, nothing at all is decided, and your text is kept."""
_BREAK = re.compile(r"[\r\n]+")
_TICK = re.compile(r"\[( |x|X)\] ([a-z ]+)")
_NOTHING_DECIDED = "Nothing was decided."
_REPAIR = f"{_NOTHING_DECIDED} Put the line back, or begin again."


class Block(msgspec.Struct, frozen=True):
    """One thing that waits, as a sheet tells it."""

    id: str
    about: Sequence[str]
    """Lines that only explain. They hold no line breaks, and are safe to show."""
    choices: Sequence[str]
    """What may be ticked, in plain lower-case words."""
    texts: Mapping[str, str]
    """What may be changed, by name; the names are plain lower-case words with underscores."""


class Read(msgspec.Struct, frozen=True):
    """What the edited sheet says about one block."""

    block: Block
    deleted: bool = False
    ticked: tuple[str, ...] = ()
    changed: Mapping[str, str] = {}
    """The texts that say something else now. A difference in white space at the end of lines is none."""


class Sheet(msgspec.Struct, frozen=True):
    """Some blocks and the random word that their marks begin with."""

    blocks: Sequence[Block]
    mark: str

    def render(self) -> str:
        """Return the sheet as a text to edit."""
        help_text = _HELP.replace("{mark}", self.mark)
        lines = [f"{self.mark} begin", *(f"> {line}".rstrip() for line in help_text.split("\n")), ""]
        for number, block in enumerate(self.blocks, 1):
            lines.append(f"{self.mark} block {number}")
            lines += [f"> {_BREAK.sub(' ', line)}".rstrip() for line in block.about]
            lines += [f"[ ] {choice}" for choice in block.choices]
            for name, text in block.texts.items():
                lines += [f"{self.mark} {name}", *_lines(text)]
            lines += [f"{self.mark} end of block {number}", ""]
        return "\n".join([*lines, f"{self.mark} end", ""])

    def read(self, text: str) -> list[Read]:
        """Return what an edited sheet says about each block, in the order of the blocks.

        Raises:
            InvalidInput: the sheet is not whole, or a line in it cannot be understood.

        """
        parts = _Reader(self, _lines(text)).parts()
        return [self._read_block(number, block, parts.get(number)) for number, block in enumerate(self.blocks, 1)]

    def _read_block(self, number: int, block: Block, lines: Sequence[str] | None) -> Read:
        if lines is None:
            return Read(block, deleted=True)
        ticked: list[str] = []
        texts: dict[str, list[str]] = {}
        into: list[str] | None = None
        for line in lines:
            if line.startswith(self.mark):
                name = line.removeprefix(self.mark).strip()
                if name not in block.texts or name in texts:
                    raise _problem(f"Block {number} has a line that does not belong to it: {line:.60}.")
                into = texts[name] = []
            elif into is not None:
                into.append(line)
            elif tick := _TICK.fullmatch(line.strip()):
                if tick[2] not in block.choices:
                    raise _problem(f"Block {number} offers no choice {tick[2]:.40}.")
                ticked += [tick[2]] if tick[1] != " " else []
            elif line.strip() and not line.startswith(">"):
                raise _problem(f"Block {number} has a line that is neither a choice nor an explanation: {line:.60}.")
        if list(texts) != list(block.texts):
            raise _problem(f"Block {number} has lost one of its texts.")
        changed = {
            name: _as_before(found, block.texts[name])
            for name, found in texts.items()
            if _folded(found) != _folded(_lines(block.texts[name]))
        }
        return Read(block, ticked=tuple(dict.fromkeys(ticked)), changed=changed)


def make_sheet(blocks: Sequence[Block]) -> Sheet:
    """Return a sheet whose mark stands in none of its texts."""
    texts = "\n".join(part for block in blocks for part in (*block.about, *block.texts.values()))
    mark = f"%%{secrets.token_hex(6)}"
    while mark in texts:
        mark = f"%%{secrets.token_hex(6)}"
    return Sheet(blocks, mark)


class _Reader:
    """Takes a sheet apart into its blocks, and refuses one that is not whole."""

    def __init__(self, sheet: Sheet, lines: Sequence[str]) -> None:
        self._sheet = sheet
        self._mark = sheet.mark
        self._lines = lines

    def parts(self) -> dict[int, Sequence[str]]:
        """Return the lines between the beginning and the end of each block that is there, by its number."""
        marks = [line.rstrip() for line in self._lines if line.strip()]
        if not marks or marks[0] != f"{self._mark} begin" or marks[-1] != f"{self._mark} end":
            raise _problem("The first or the last line of the sheet is missing, so it may have been cut off.")
        found: dict[int, Sequence[str]] = {}
        number, held = 0, list[str]()
        for line in self._checked():
            begun = self._number(line, "block")
            ended = self._number(line, "end of block")
            if begun and number == 0 and begun not in found:
                number, held = begun, []
            elif ended and ended == number:
                found[number], number = held, 0
            elif begun or ended:
                raise _problem(f"A block begins or ends where it should not: {line:.60}.")
            elif number:
                held.append(line)
            elif line.startswith(self._mark) or (line.strip() and not line.startswith(">")):
                raise _problem(f"This line belongs to no block: {line:.60}.")
        if number:
            raise _problem(f"Block {number} has no end.")
        return found

    def _checked(self) -> Iterator[str]:
        """Yield the lines between the first and the last mark, after checking that every mark is a line's beginning."""
        inner = list(self._lines)
        inner = inner[_index(inner, f"{self._mark} begin") + 1 :]
        inner = inner[: len(inner) - 1 - _index(inner[::-1], f"{self._mark} end")]
        for line in inner:
            clean = line.rstrip()
            if self._mark in clean and not line.startswith(">") and not self._is_mark(clean):
                raise _problem(f"A line that holds the sheet's mark was changed: {clean:.60}.")
            yield clean if clean.startswith(self._mark) else line

    def _is_mark(self, line: str) -> bool:
        words = line.removeprefix(f"{self._mark} ")
        names = {name for block in self._sheet.blocks for name in block.texts}
        return line.startswith(f"{self._mark} ") and (
            words in names or bool(re.fullmatch(r"(end of )?block \d+", words))
        )

    def _number(self, line: str, what: str) -> int:
        match = re.fullmatch(rf"{re.escape(self._mark)} {what} (\d{{1,6}})", line)
        number = int(match[1]) if match else 0
        if number > len(self._sheet.blocks):
            raise _problem(f"There is no block {number}.")
        return number


def _index(lines: Sequence[str], wanted: str) -> int:
    return next(index for index, line in enumerate(lines) if line.rstrip() == wanted)


def _problem(what: str) -> InvalidInput:
    return InvalidInput(what, _REPAIR)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _folded(lines: Sequence[str]) -> str:
    """Return lines as they are compared: editors strip and add white space at the ends."""
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _as_before(lines: Sequence[str], before: str) -> str:
    """Return a text with as many line feeds at its end as it had."""
    return "\n".join(lines).strip("\n") + ("\n" if before.endswith("\n") else "")
