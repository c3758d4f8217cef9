"""Edit the whole queue as one text in the person's editor, and read the decisions back."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from memento_tui.api.decision_fields import decision_fields, fields_of_record
from memento_tui.api.inbox import KIND_NAMES, Decision, DecisionVerb, InboxItem
from memento_tui.api.review import ContradictionWithSides, PendingProposal, changes_between, editable_texts
from memento_tui.errors import InvalidInput
from memento_tui.model import Memory

__all__ = ["EditedBlock", "RequestedDecisions", "ReviewSheet", "Sheet", "SheetBlock", "make_review_sheet", "make_sheet"]

_SHEET_HELP = """\
Everything that waits for you, one block for each. Nothing is decided before you have seen what would be done.

  - Tick a line to decide:  [x] approve
  - Change a text below a block's marks to edit it and approve it in one.
  - Delete a whole block, from its first line that begins with {mark} to its last, to reject it.
    A contradiction whose block is deleted is called none.
  - A block that you leave as it is stays undecided.

Lines that begin with > are for you to read; they are not looked at. Leave the lines that begin with {mark} as they are:
where one is missing or changed, nothing at all is decided, and your text is kept."""
_LINE_BREAK = re.compile(r"[\r\n]+")
_CHECKBOX = re.compile(r"\[( |x|X)\] ([a-z ]+)")
_NOTHING_DECIDED = "Nothing was decided."
_REPAIR_HINT = f"{_NOTHING_DECIDED} Put the line back, or begin again."


class SheetBlock(msgspec.Struct, frozen=True):
    """One inbox entry as a block of a sheet."""

    id: str
    about: Sequence[str]
    """Lines that only explain. They hold no line breaks, and are safe to show."""
    choices: Sequence[str]
    """The choices that may be ticked, in plain lower-case words."""
    texts: Mapping[str, str]
    """The texts that may be changed, by name; the names are plain lower-case words with underscores."""


class EditedBlock(msgspec.Struct, frozen=True):
    """The person's answer to one block of the edited sheet."""

    block: SheetBlock
    deleted: bool = False
    ticked: tuple[str, ...] = ()
    changed: Mapping[str, str] = {}
    """The texts that say something else now. A difference in white space at the end of lines is none."""


class Sheet(msgspec.Struct, frozen=True):
    """Some blocks and the random word that their marks begin with."""

    blocks: Sequence[SheetBlock]
    mark: str

    def render(self) -> str:
        """Return the sheet as a text to edit."""
        help_text = _SHEET_HELP.replace("{mark}", self.mark)
        lines = [f"{self.mark} begin", *(f"> {line}".rstrip() for line in help_text.split("\n")), ""]
        for number, block in enumerate(self.blocks, 1):
            lines.append(f"{self.mark} block {number}")
            lines += [f"> {_LINE_BREAK.sub(' ', line)}".rstrip() for line in block.about]
            lines += [f"[ ] {choice}" for choice in block.choices]
            for name, text in block.texts.items():
                lines += [f"{self.mark} {name}", *_split_lines(text)]
            lines += [f"{self.mark} end of block {number}", ""]
        return "\n".join([*lines, f"{self.mark} end", ""])

    def read(self, text: str) -> list[EditedBlock]:
        """Return the answer of an edited sheet to each block, in the order of the blocks.

        Raises:
            InvalidInput: the sheet is not whole, or a line in it cannot be understood.

        """
        parts = _SheetReader(self, _split_lines(text)).parts()
        return [self._read_block(number, block, parts.get(number)) for number, block in enumerate(self.blocks, 1)]

    def _read_block(self, number: int, block: SheetBlock, lines: Sequence[str] | None) -> EditedBlock:
        if lines is None:
            return EditedBlock(block, deleted=True)
        ticked: list[str] = []
        texts: dict[str, list[str]] = {}
        into: list[str] | None = None
        for line in lines:
            if line.startswith(self.mark):
                name = line.removeprefix(self.mark).strip()
                if name not in block.texts or name in texts:
                    raise _sheet_error(f"Block {number} has a line that does not belong to it: {line:.60}.")
                into = texts[name] = []
            elif into is not None:
                into.append(line)
            elif tick := _CHECKBOX.fullmatch(line.strip()):
                if tick[2] not in block.choices:
                    raise _sheet_error(f"Block {number} offers no choice {tick[2]:.40}.")
                ticked += [tick[2]] if tick[1] != " " else []
            elif line.strip() and not line.startswith(">"):
                raise _sheet_error(
                    f"Block {number} has a line that is neither a choice nor an explanation: {line:.60}."
                )
        if list(texts) != list(block.texts):
            raise _sheet_error(f"Block {number} has lost one of its texts.")
        changed = {
            name: _with_final_newlines(found, block.texts[name])
            for name, found in texts.items()
            if _normalize_lines(found) != _normalize_lines(_split_lines(block.texts[name]))
        }
        return EditedBlock(block, ticked=tuple(dict.fromkeys(ticked)), changed=changed)


def make_sheet(blocks: Sequence[SheetBlock]) -> Sheet:
    """Return a sheet whose mark occurs in none of its texts."""
    texts = "\n".join(part for block in blocks for part in (*block.about, *block.texts.values()))
    mark = f"%%{secrets.token_hex(6)}"
    while mark in texts:
        mark = f"%%{secrets.token_hex(6)}"
    return Sheet(blocks, mark)


class _SheetReader:
    """Takes a sheet apart into its blocks, and refuses one that is not whole."""

    def __init__(self, sheet: Sheet, lines: Sequence[str]) -> None:
        self._sheet = sheet
        self._mark = sheet.mark
        self._lines = lines

    def parts(self) -> dict[int, Sequence[str]]:
        """Return the lines between the beginning and the end of each block that is there, by its number."""
        marks = [line.rstrip() for line in self._lines if line.strip()]
        if not marks or marks[0] != f"{self._mark} begin" or marks[-1] != f"{self._mark} end":
            raise _sheet_error("The first or the last line of the sheet is missing, so it may have been cut off.")
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
                raise _sheet_error(f"A block begins or ends where it should not: {line:.60}.")
            elif number:
                held.append(line)
            elif line.startswith(self._mark) or (line.strip() and not line.startswith(">")):
                raise _sheet_error(f"This line belongs to no block: {line:.60}.")
        if number:
            raise _sheet_error(f"Block {number} has no end.")
        return found

    def _checked(self) -> Iterator[str]:
        """Yield the lines between the first and the last mark, after checking that every mark is a line's beginning."""
        inner = list(self._lines)
        inner = inner[_find_line(inner, f"{self._mark} begin") + 1 :]
        inner = inner[: len(inner) - 1 - _find_line(inner[::-1], f"{self._mark} end")]
        for line in inner:
            clean = line.rstrip()
            if self._mark in clean and not line.startswith(">") and not self._is_mark(clean):
                raise _sheet_error(f"A line that holds the sheet's mark was changed: {clean:.60}.")
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
            raise _sheet_error(f"There is no block {number}.")
        return number


def _find_line(lines: Sequence[str], decisions_in: str) -> int:
    return next(index for index, line in enumerate(lines) if line.rstrip() == decisions_in)


def _sheet_error(what: str) -> InvalidInput:
    return InvalidInput(what, _REPAIR_HINT)


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _normalize_lines(lines: Sequence[str]) -> str:
    """Return lines as they are compared: editors strip and add white space at the ends."""
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _with_final_newlines(lines: Sequence[str], before: str) -> str:
    """Return a text with as many line feeds at its end as it had."""
    return "\n".join(lines).strip("\n") + ("\n" if before.endswith("\n") else "")


if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace


_RESOLUTIONS_BY_MARK = {
    "newer holds": "newer_supersedes",
    "older holds": "older_stands",
    "no contradiction": "not_a_contradiction",
}
_CONTEXT_FIELDS = ("older_applies_when", "newer_applies_when")
_MERGED_TEXT_FIELD = "one_text_for_both"
_VERBS_IN_WORDS = {
    "approve": "approved",
    "edit": "edited and approved",
    "reject": "rejected",
    "later": "put off for 7 days",
    "newer_supersedes": "settled: the newer holds",
    "older_stands": "settled: the older holds",
    "both_valid": "settled: both hold",
    "merged": "settled: one text for both",
    "not_a_contradiction": "called no contradiction",
}


class RequestedDecisions(msgspec.Struct, frozen=True):
    """The decisions of an edited sheet."""

    decisions: Sequence[Decision]
    unclear: Sequence[tuple[str, str]]
    """A headline and the reason for each block that is left undecided because its answer contradicts itself."""
    untouched: int
    risks: Mapping[str, str]
    """The risk of each item that would be approved and could do harm, by its name."""

    @property
    def preview(self) -> list[str]:
        """A summary of the decisions, in words with numbers: what could do harm is named by its kind."""
        counts = Counter(
            "edit" if decision.verb == "approve" and decision.changes else decision.verb for decision in self.decisions
        )
        lines = [f"{count:,} would be {_VERBS_IN_WORDS[verb]}" for verb, count in counts.items()]
        risks = Counter(self.risks.values())
        return lines + [
            f"! {count:,} {KIND_NAMES[risk][count != 1]} would be approved" for risk, count in risks.items()
        ]

    def despite(self, accepted: Sequence[str]) -> Sequence[Decision]:
        """Return the decisions of a person who knows of these risks, and accepts them."""
        return [
            msgspec.structs.replace(decision, despite=self.risks[decision.id])
            if self.risks.get(decision.id) in accepted
            else decision
            for decision in self.decisions
        ]


class ReviewSheet(msgspec.Struct, frozen=True):
    """A sheet, and the version of each entry that its text was made from."""

    sheet: Sheet
    items: dict[str, InboxItem]
    versions: dict[str, int]
    texts: dict[str, dict[str, str]]

    def decisions_in(self, text: str) -> RequestedDecisions:
        """Return the decisions of an edited sheet. Raises `InvalidInput` where it is incomplete."""
        decisions: list[Decision] = []
        unclear: list[tuple[str, str]] = []
        untouched = 0
        for read in self.sheet.read(text):
            row = self.items[read.block.id]
            if not (read.deleted or read.ticked or read.changed):
                untouched += 1
            elif problem := _conflicting_marks(read):
                unclear.append((row.headline, problem))
            else:
                decisions.append(self._decision(read, row))
        approved = [self.items[decision.id] for decision in decisions if decision.verb == "approve"]
        return RequestedDecisions(decisions, unclear, untouched, {row.id: row.risk for row in approved if row.risk})

    def _decision(self, read: EditedBlock, row: InboxItem) -> Decision:
        verb, changes = "reject", {}
        if row.kind == "contradiction":
            verb = _resolution(read)
            changes = {
                name: read.changed[text].strip()
                for name, text in zip(("older_context", "newer_context"), _CONTEXT_FIELDS, strict=True)
                if text in read.changed
            }
            changes |= {"content": read.changed[_MERGED_TEXT_FIELD]} if _MERGED_TEXT_FIELD in read.changed else {}
        elif not read.deleted:
            verb = read.ticked[0] if read.ticked else "approve"
            texts = self.texts[row.id]
            changes = changes_between(texts, {**texts, **read.changed})
        return Decision(id=row.id, verb=cast("DecisionVerb", verb), seen=self.versions[row.id], changes=changes)


def _resolution(read: EditedBlock) -> str:
    if read.deleted:
        return "not_a_contradiction"
    if read.ticked:
        return _RESOLUTIONS_BY_MARK.get(read.ticked[0], read.ticked[0])
    return "merged" if _MERGED_TEXT_FIELD in read.changed else "both_valid"


def _conflicting_marks(read: EditedBlock) -> str:
    """Return why a block's marks do not fit together, or nothing where they do."""
    if len(read.ticked) > 1:
        return f"Several lines are ticked: {', '.join(read.ticked)}."
    if read.ticked and read.changed and read.ticked != ("approve",):
        return f"It is ticked as {read.ticked[0]}, and its text was changed too."
    contexts = [name for name in _CONTEXT_FIELDS if name in read.changed]
    if contexts and _MERGED_TEXT_FIELD in read.changed:
        return "It says both when each applies and one text for both."
    return "When the other side applies is missing." if len(contexts) == 1 else ""


def make_review_sheet(workspace: Workspace, rows: Sequence[InboxItem]) -> ReviewSheet:
    """Return the sheet of some inbox entries, without those that were decided meanwhile."""
    blocks, items, versions, texts = [], {}, {}, {}
    current = {row.id: row for row in workspace.inbox.rows([row.id for row in rows])}
    for number, row in enumerate((current[row.id] for row in rows if row.id in current), 1):
        item = workspace.inbox.get(row.id)
        fields = _editable_fields(item)
        blocks.append(SheetBlock(row.id, _explanation_lines(number, row, item), _choices(item), fields))
        items[row.id], texts[row.id] = row, fields
        versions[row.id] = (
            item.contradiction.version if isinstance(item, ContradictionWithSides) else item.proposal.version
        )
    return ReviewSheet(make_sheet(blocks), items, versions, texts)


def _choices(item: PendingProposal | ContradictionWithSides) -> Sequence[str]:
    return (*_RESOLUTIONS_BY_MARK, "later") if isinstance(item, ContradictionWithSides) else ("approve", "later")


def _editable_fields(item: PendingProposal | ContradictionWithSides) -> dict[str, str]:
    return (
        {**dict.fromkeys(_CONTEXT_FIELDS, ""), _MERGED_TEXT_FIELD: ""}
        if isinstance(item, ContradictionWithSides)
        else editable_texts(item)
    )


def _explanation_lines(number: int, row: InboxItem, item: PendingProposal | ContradictionWithSides) -> list[str]:
    """Return the lines that explain a block. They may hold an agent's text; whoever shows them makes them safe."""
    if isinstance(item, ContradictionWithSides):
        found = item.contradiction
        lines = [f"{number}. Two memories contradict each other: {found.why} ({found.score:.0%} sure)"]
        for name, side in (("older", item.older), ("newer", item.newer)):
            if side is not None:
                lines += [f"the {name}, of {side.created_at:%Y-%m-%d}, {side.stability}:", *_quote_lines(side.content)]
                lines += [f"  {_one_line(field.line)}" for field in fields_of_record(side)]
        return lines
    proposal = item.proposal
    lines = [f"{number}. {KIND_NAMES[row.kind][0]}: {proposal.action} {proposal.target}, from {proposal.proposed_by}"]
    if item.why:
        lines.append(f"asked because {'; '.join(item.why)}")
    for name, text in item.rests_on:
        first, *others = text.split("\n")
        lines += [f"{name}: {first}", *(f"  {line}" for line in others)]
    if item.moved:
        lines.append("! what it is about changed since")
    if proposal.action == "delete":
        lines += ["it would be deleted:", *_quote_lines(getattr(item.target, "content", row.headline))]
    elif proposal.action != "create" and isinstance(item.target, Memory):
        lines += ["as it stands now:", *_quote_lines(item.target.content)]
    return [*lines, *_field_lines(item)]


def _field_lines(item: PendingProposal) -> list[str]:
    """Return a line for each field that approving would write, but for new texts: those stand below to be edited."""
    fields = decision_fields(item)
    if not fields:
        return []
    below = {name.replace("_", " ") for name in editable_texts(item)}
    shown = [field for field in fields if field.is_changed or field.name not in below]
    title = "it holds now:" if item.proposal.action == "delete" else "approving it writes:"
    return [title, *(f"  {_one_line(field.line)}" for field in shown)] if shown else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quote_lines(text: str) -> list[str]:
    return [f"  {line}" for line in text.split("\n")]
