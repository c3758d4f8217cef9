"""What stands beside the list of the health: what a row means, examples of what was found, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from memento_tui.store.reads import Glance
from memento_tui.tui.display import cells, literal
from memento_tui.tui.health_rows import UNREAD, HealthRow
from memento_tui.upkeep.audit import Kind
from memento_tui.workspace.backups import Backup
from memento_tui.workspace.health import Finding

__all__ = ["Example", "beside"]

Example = tuple[Glance, str]
"""A memory that was found, and what was found in it where there is more to say than the kind."""

_HEADLINE = 30
"""Cells that a headline gets at least."""

_CHECK_TEXTS = {
    "journal": "Each entry's hash covers the entry before it, so nobody changes the past unseen. Checking reads all.",
    "pages": "The file is read page by page, as the disk gives it back.",
    "keyword index": "Finds memories by their words. It is made from the database, and i makes it anew.",
    "semantic index": "Finds memories by their meaning. It is made from the database, by the engine in the background. "
    "e starts or stops the engine, i makes the index anew.",
    "contents": "How much there is.",
    "disk": "What memento takes of the disk, and what is left.",
    "permissions": "Whether other users of this machine could read what is remembered.",
    "settings": "Whether what config.toml names is there: models, and the endpoint that writes drafts.",
    "drafts": "What was being edited and not saved.",
    "versions": "For a report of a fault.",
}


def beside(row: HealthRow, examples: Sequence[Example] | None, width: int) -> Content:
    """Return the text beside a row, ``width`` cells wide. ``examples`` is ``None`` while they are looked for."""
    if row.kind is not None:
        return _of_rot(row, row.kind, examples, width)
    if row.backup is not None:
        return _of_backup(row.backup)
    if row.id == "backup:":
        return _joined(
            [literal("No backup yet", "bold")],
            [literal("A backup is a whole copy of the database, checked when it is made. b makes one now.")],
            [literal("The last ten stay. They lie in the data directory, so copy one to another disk too.", "dim")],
        )
    return _of_check(row, row.check)


def _joined(*parts: Sequence[Content]) -> Content:
    return Content("\n\n").join(Content("\n").join(part) for part in parts if part)


def _of_rot(row: HealthRow, kind: Kind, examples: Sequence[Example] | None, width: int) -> Content:
    counted = {"unknown": "not looked for yet", "fine": "none found"}.get(row.state, row.value)
    head = [literal(row.title, "bold") + literal(f"   {counted}", "dim")]
    if row.state == "unknown":
        return _joined(head, [literal(kind.means)], [literal("Every text is read for this. R begins.")])
    if row.state == "fine":
        return _joined(head, [literal(kind.means)])
    return _joined(
        head,
        [literal(kind.means)],
        [literal("What to do", "bold"), literal(kind.todo), literal(_where(kind), "dim")],
        [] if kind.place == "review" else _examples(kind, examples, width),
    )


def _where(kind: Kind) -> str:
    return "Enter goes to the review." if kind.place == "review" else "Enter lists them in the memories."


def _examples(kind: Kind, examples: Sequence[Example] | None, width: int) -> list[Content]:
    head = literal("For example", "bold")
    if examples is None:
        return [head, literal("...", "dim")]
    if kind.code == "secrets":
        # The secret itself is not put on the screen for whoever passes by.
        return [head, *(literal(f"- {glance.id}") + literal(f"  {found}", "dim") for glance, found in examples)]
    return [head, *(_example(glance, found, width) for glance, found in examples)]


def _example(glance: Glance, found: str, width: int) -> Content:
    """Return one line: the headline, cut where it is long, then where it lies and what was found."""
    place = "" if glance.namespace == "global" else glance.namespace
    rest = "".join(f"  {word}" for word in (place, found) if word)
    headline = cells(glance.headline, max(_HEADLINE, width - 2 - len(rest))).rstrip()
    return literal(f"- {headline}") + literal(rest, "dim")


def _of_check(row: HealthRow, check: Finding | None) -> Content:
    name = row.id.removeprefix("check:")
    means = [literal(_CHECK_TEXTS.get(name, ""), "dim")]
    head = [literal(row.title, "bold")]
    if check is None:
        wait = "Not checked yet; c reads the whole of it." if name in UNREAD else "Being looked at ..."
        return _joined(head, [literal(wait)], means)
    found = [*head, literal("in order" if check.ok else "needs care", "dim")]
    todo = [literal("What to do", "bold"), literal(check.hint)] if check.hint else []
    return _joined(found, [literal(check.detail)], todo, means)


def _of_backup(one: Backup) -> Content:
    why = {
        "before restore": "Made by itself before another backup was restored: what was there then.",
        "damaged": "The database that could not be opened, put aside when a backup took its place.",
    }.get(one.why, "")
    facts = [
        literal(one.name),
        literal(f"{one.memories:,} memories, up to journal entry {one.head:,}", "dim"),
        literal(f"{one.size / 1_000_000:,.1f} MB", "dim"),
    ]
    if one.problem:
        wrong = [literal("It cannot be restored", "bold"), literal(one.problem)]
        return _joined([literal("Backup", "bold")], facts, [literal(why)] if why else [], wrong)
    todo = [
        literal("Enter goes back to it; you are asked first, and what is here now is kept as a backup."),
        literal("c reads it from the first page to the last entry."),
    ]
    return _joined([literal("Backup", "bold")], facts, [literal(why)] if why else [], todo)
