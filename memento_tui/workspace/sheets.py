"""The queue in the person's editor: a sheet of things that wait, and the decisions that an edited one asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from memento_tui.records import Memory
from memento_tui.review.sheet import Block, Read, Sheet, make_sheet
from memento_tui.workspace.contradictions import Dispute
from memento_tui.workspace.deciding import Decision, Verb
from memento_tui.workspace.proposed import changes_between, written
from memento_tui.workspace.queue import Pending
from memento_tui.workspace.waiting import KIND_NAMES, Waiting

if TYPE_CHECKING:
    from memento_tui.workspace.workspace import Workspace

__all__ = ["QueueSheet", "Wanted", "sheet_of"]

_SIDES = {
    "newer holds": "newer_supersedes",
    "older holds": "older_stands",
    "no contradiction": "not_a_contradiction",
}
_CONTEXTS = ("older_applies_when", "newer_applies_when")
_ONE_TEXT = "one_text_for_both"
_DONE = {
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


class Wanted(msgspec.Struct, frozen=True):
    """What an edited sheet asks for."""

    decisions: Sequence[Decision]
    unclear: Sequence[tuple[str, str]]
    """A headline and the reason for each block that is left alone because what it says contradicts itself."""
    untouched: int

    @property
    def preview(self) -> list[str]:
        """What would be done, in words with numbers."""
        counts = Counter(
            "edit" if decision.verb == "approve" and decision.changes else decision.verb for decision in self.decisions
        )
        return [f"{count:,} would be {_DONE[verb]}" for verb, count in counts.items()]


class QueueSheet(msgspec.Struct, frozen=True):
    """A sheet, and the version of each thing in it that its text was made from."""

    sheet: Sheet
    items: dict[str, Waiting]
    versions: dict[str, int]
    texts: dict[str, dict[str, str]]

    def wanted(self, text: str) -> Wanted:
        """Return what an edited sheet asks for. Raises `InvalidInput` where it is not whole."""
        decisions: list[Decision] = []
        unclear: list[tuple[str, str]] = []
        untouched = 0
        for read in self.sheet.read(text):
            row = self.items[read.block.id]
            if not (read.deleted or read.ticked or read.changed):
                untouched += 1
            elif problem := _contradicting(read):
                unclear.append((row.headline, problem))
            else:
                decisions.append(self._decision(read, row))
        return Wanted(decisions, unclear, untouched)

    def _decision(self, read: Read, row: Waiting) -> Decision:
        verb, changes = "reject", {}
        if row.kind == "contradiction":
            verb = _resolution(read)
            changes = {
                name: read.changed[text].strip()
                for name, text in zip(("older_context", "newer_context"), _CONTEXTS, strict=True)
                if text in read.changed
            }
            changes |= {"content": read.changed[_ONE_TEXT]} if _ONE_TEXT in read.changed else {}
        elif not read.deleted:
            verb = read.ticked[0] if read.ticked else "approve"
            texts = self.texts[row.id]
            changes = changes_between(texts, {**texts, **read.changed})
        return Decision(id=row.id, verb=cast("Verb", verb), seen=self.versions[row.id], changes=changes)


def _resolution(read: Read) -> str:
    if read.deleted:
        return "not_a_contradiction"
    if read.ticked:
        return _SIDES.get(read.ticked[0], read.ticked[0])
    return "merged" if _ONE_TEXT in read.changed else "both_valid"


def _contradicting(read: Read) -> str:
    """Return why a block's marks do not fit together, or nothing where they do."""
    if len(read.ticked) > 1:
        return f"Several lines are ticked: {', '.join(read.ticked)}."
    if read.ticked and read.changed and read.ticked != ("approve",):
        return f"It is ticked as {read.ticked[0]}, and its text was changed too."
    contexts = [name for name in _CONTEXTS if name in read.changed]
    if contexts and _ONE_TEXT in read.changed:
        return "It says both when each applies and one text for both."
    return "When the other side applies is missing." if len(contexts) == 1 else ""


def sheet_of(workspace: Workspace, rows: Sequence[Waiting]) -> QueueSheet:
    """Return the sheet of some things that wait. Those that were decided meanwhile are left out."""
    blocks, items, versions, texts = [], {}, {}, {}
    current = {row.id: row for row in workspace.waiting.rows([row.id for row in rows])}
    for number, row in enumerate((current[row.id] for row in rows if row.id in current), 1):
        item = workspace.waiting.get(row.id)
        fields = _texts(item)
        blocks.append(Block(row.id, _about(number, row, item), _choices(item), fields))
        items[row.id], texts[row.id] = row, fields
        versions[row.id] = item.contradiction.version if isinstance(item, Dispute) else item.proposal.version
    return QueueSheet(make_sheet(blocks), items, versions, texts)


def _choices(item: Pending | Dispute) -> Sequence[str]:
    return (*_SIDES, "later") if isinstance(item, Dispute) else ("approve", "later")


def _texts(item: Pending | Dispute) -> dict[str, str]:
    return {**dict.fromkeys(_CONTEXTS, ""), _ONE_TEXT: ""} if isinstance(item, Dispute) else written(item)


def _about(number: int, row: Waiting, item: Pending | Dispute) -> list[str]:
    """Return the lines that explain a block. They may hold what an agent wrote; whoever shows them makes them safe."""
    if isinstance(item, Dispute):
        found = item.contradiction
        lines = [f"{number}. Two memories contradict each other: {found.why} ({found.score:.0%} sure)"]
        for name, side in (("older", item.older), ("newer", item.newer)):
            if side is not None:
                lines += [f"the {name}, of {side.created_at:%Y-%m-%d}, {side.stability}:", *_quoted(side.content)]
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
        lines += ["it would be deleted:", *_quoted(getattr(item.target, "content", row.headline))]
    elif proposal.action != "create" and isinstance(item.target, Memory):
        lines += ["as it stands now:", *_quoted(item.target.content)]
    return lines


def _quoted(text: str) -> list[str]:
    return [f"  {line}" for line in text.split("\n")]
