"""Format the health: rows of problems, checks and backups, the explanation of each, and the totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from textual.content import Content

from memento_tui.api import Workspace
from memento_tui.api.backups import Backup
from memento_tui.api.health import HealthFinding
from memento_tui.api.types import Facet, MemorySummary
from memento_tui.maintenance.audit import AUDIT_KINDS, AuditKind
from memento_tui.text.quantities import count_of
from memento_tui.tui.display import cells, literal
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "CHECKS",
    "OPTIONAL_CHECKS",
    "Example",
    "HealthRow",
    "HealthStory",
    "backup_rows",
    "check_rows",
    "health_details",
    "health_line",
    "problem_rows",
    "with_group_headings",
]

State = Literal["fine", "tidy", "bad", "unknown", "plain"]

_GLYPHS: dict[State, tuple[str, str]] = {
    "fine": ("ok", "good"),
    "tidy": ("~ ", "strong"),
    "bad": ("! ", "warning"),
    "unknown": ("? ", "muted"),
    "plain": ("  ", ""),
}

CHECKS = {
    "journal": "Journal",
    "pages": "Database file",
    "keyword index": "Keyword index",
    "semantic index": "Engine",
    "contents": "Contents",
    "disk": "Disk",
    "permissions": "Permissions",
    "encryption": "Encryption",
    "settings": "Settings",
    "what is sent": "What is sent",
    "hub": "Hub",
    "drafts": "Drafts",
    "versions": "Versions",
}
"""The titles of the checks, in the order of the list; backups have rows of their own."""

CHECKS_ON_REQUEST = ("journal", "pages")
"""The checks that read the whole database, and so are made on request."""

OPTIONAL_CHECKS = ("what is sent", "hub", "drafts")
"""The checks that have a row only where an examination has something to say of them."""

_CHECKS_WITH_DETAIL = ("semantic index", "contents", "disk", "encryption", "hub", "drafts", "versions")

_GROUP_WIDTH, _GLYPH_WIDTH, _TITLE_WIDTH = 10, 3, 25
_NARROW = 44


@dataclass(frozen=True)
class HealthRow:
    """One row: a sort of problem (``kind``), a ``check`` or a ``backup``; the other two are ``None``."""

    id: str
    group: str
    title: str
    state: State
    value: str
    short: str = ""
    """The value in a few words, for a narrow list."""
    kind: AuditKind | None = None
    check: HealthFinding | None = None
    backup: Backup | None = None
    is_first: bool = False
    """Whether the row shows the group's name."""

    @property
    def words(self) -> str:
        """The text that a filter searches."""
        return f"{self.group} {self.title} {self.value} {self.id} {_CARE_WORDS.get(self.state, '')}".casefold()


CARE = ("mend", "tidy")
"""The words by which a filter finds the rows that need care, the urgent ones first."""

_CARE_WORDS: Mapping[State, str] = {"bad": CARE[0], "tidy": CARE[1]}


def problem_rows(counts: Mapping[str, int | None]) -> list[HealthRow]:
    """Return a row for each sort of problem; one that is not in ``counts`` has not been examined."""
    return [_problem_row(kind, counts.get(kind.code)) for kind in AUDIT_KINDS]


def _problem_row(kind: AuditKind, count: int | None) -> HealthRow:
    state: State = "unknown" if count is None else "fine" if not count else "bad" if kind.urgent else "tidy"
    value = "not read yet" if count is None else f"{count:,}" if count else "none"
    return HealthRow(f"rot:{kind.code}", kind.group, kind.title, state, value, kind=kind)


def check_rows(findings: Mapping[str, HealthFinding]) -> list[HealthRow]:
    """Return a row for each check, also for those that have not been made."""
    rows = []
    for name, title in CHECKS.items():
        finding = findings.get(name)
        if finding is None and name in OPTIONAL_CHECKS:
            continue
        state: State = "unknown" if finding is None else "fine" if finding.ok else "bad"
        request = "c checks it" if name in CHECKS_ON_REQUEST else ""
        detail = request if finding is None else finding.detail
        short = "needs care" if state == "bad" else _first_words(name, detail) if finding else ""
        rows.append(HealthRow(f"check:{name}", "Machinery", title, state, detail, short, check=finding))
    return rows


def backup_rows(backups: Iterable[Backup]) -> list[HealthRow]:
    """Return a row for each backup, newest first, or one row that says that there is none."""
    rows = [_backup_row(backup) for backup in backups]
    return rows or [HealthRow("backup:", "Backups", "None yet", "tidy", "b makes one")]


def _backup_row(backup: Backup) -> HealthRow:
    is_verified = "verified" if backup.verified_at else ""
    facts = [
        f"{backup.size / 1_000_000:,.1f} MB",
        count_of(backup.memories, "memory", "memories"),
        backup.why,
        is_verified,
    ]
    value = "cannot be restored" if backup.problem else "  ".join(filter(None, facts))
    short = value if backup.problem else backup.why or facts[0]
    state: State = "bad" if backup.problem and backup.why != "damaged" else "plain"
    title = f"{backup.at:%Y-%m-%d %H:%M:%S}Z"
    return HealthRow(f"backup:{backup.name}", "Backups", title, state, value, short, backup=backup)


def _first_words(name: str, detail: str) -> str:
    """Return the part of a detail that fits a narrow list, where it means something by itself."""
    return detail.partition(", ")[0].partition("; ")[0] if name in _CHECKS_WITH_DETAIL else "in order"


def with_group_headings(rows: Sequence[HealthRow]) -> list[HealthRow]:
    """Return the rows with the name of each group at its first one."""
    headed, last = [], ""
    for row in rows:
        if row.group != last:
            row = HealthRow(**{**row.__dict__, "is_first": True})  # noqa: PLW2901 - the same row, marked
            last = row.group
        headed.append(row)
    return headed


def health_line(row: HealthRow, width: int) -> list[Line]:
    """Return the line of a row: the group's name once, the state, the title, the number or the finding."""
    group_width = _GROUP_WIDTH if width >= _NARROW else 0
    value_width = max(0, width - group_width - _GLYPH_WIDTH - _TITLE_WIDTH)
    glyph, style = _GLYPHS[row.state]
    value = row.value if len(row.value) <= value_width or not row.short else row.short
    value_style = "strong" if row.state in ("bad", "tidy") and row.kind is not None else "muted"
    return [
        [
            (cells(row.group if row.is_first else "", group_width), "muted"),
            (f"{glyph} ", style),
            (cells(row.title, _TITLE_WIDTH), "muted" if row.state == "unknown" else ""),
            (cells(value, value_width), value_style),
        ]
    ]


Example = tuple[MemorySummary, str]
"""A memory with a problem, and the detail of it where there is more to say than the kind."""

_LEAST_HEADLINE_WIDTH = 30
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
    "encryption": "Whether the database and its backups can be read by whoever has the disk. The commands encrypt and"
    " decrypt change that, unlock and lock give the key to your programs and take it back.",
    "settings": "Whether what config.toml names is there: models, and the endpoint that writes drafts.",
    "what is sent": "What config.toml, and the hub in the database, send off this machine; nothing goes where you have"
    " not agreed to it. The commands settings agree and settings withdraw change that.",
    "hub": "Whether this machine and the hub that it shares memories through are together. The command hub status"
    " says more.",
    "drafts": "What was being edited and not saved.",
    "versions": "For a report of a fault.",
}


def health_details(row: HealthRow, examples: Sequence[Example] | None, width: int) -> Content:
    """Return the text beside a row, ``width`` cells wide. ``examples`` is ``None`` while they are read."""
    if row.kind is not None:
        return _problem_details(row, row.kind, examples, width)
    if row.backup is not None:
        return _backup_details(row.backup)
    if row.id == "backup:":
        return _joined(
            [literal("No backup yet", "bold")],
            [literal("A backup is a whole copy of the database, checked when it is made. b makes one now.")],
            [literal("The last ten stay. They lie in the data directory, so copy one to another disk too.", "dim")],
        )
    return _check_details(row, row.check)


def _joined(*parts: Sequence[Content]) -> Content:
    return Content("\n\n").join(Content("\n").join(part) for part in parts if part)


def _problem_details(row: HealthRow, kind: AuditKind, examples: Sequence[Example] | None, width: int) -> Content:
    counted = {"unknown": "not looked for yet", "fine": "none found"}.get(row.state, row.value)
    head = [literal(row.title, "bold") + literal(f"   {counted}", "dim")]
    if row.state == "unknown":
        return _joined(head, [literal(kind.means)], [literal("Every text is read for this. R begins.")])
    if row.state == "fine":
        return _joined(head, [literal("What this would list", "bold"), literal(kind.means)])
    return _joined(
        head,
        [literal(kind.means)],
        [literal("What to do", "bold"), literal(kind.todo), literal(_enter_hint(kind), "dim")],
        [] if kind.place == "review" else _examples(kind, examples, width),
    )


def _enter_hint(kind: AuditKind) -> str:
    return "Enter goes to the review." if kind.place == "review" else "Enter lists them in the memories."


def _examples(kind: AuditKind, examples: Sequence[Example] | None, width: int) -> list[Content]:
    head = literal("For example", "bold")
    if examples is None:
        return [head, literal("...", "dim")]
    if kind.code == "secrets":
        # The secret itself is not shown: others may see the screen.
        return [head, *(literal(f"- {glance.id}") + literal(f"  {found}", "dim") for glance, found in examples)]
    return [head, *(_example(memory, detail, width) for memory, detail in examples)]


def _example(memory: MemorySummary, detail: str, width: int) -> Content:
    """Return one line: the headline, cut where it is long, then the namespace and the detail."""
    namespace = "" if memory.namespace == "global" else memory.namespace
    rest = "".join(f"  {word}" for word in (namespace, detail) if word)
    headline = cells(memory.headline, max(_LEAST_HEADLINE_WIDTH, width - 2 - len(rest))).rstrip()
    return literal(f"- {headline}") + literal(rest, "dim")


def _check_details(row: HealthRow, check: HealthFinding | None) -> Content:
    name = row.id.removeprefix("check:")
    means = [literal(_CHECK_TEXTS.get(name, ""), "dim")]
    head = [literal(row.title, "bold")]
    if check is None:
        wait = "Not checked yet; c reads the whole of it." if name in CHECKS_ON_REQUEST else "Being looked at ..."
        return _joined(head, [literal(wait)], means)
    result = [*head, literal("in order" if check.ok else "needs care", "dim")]
    todo = [literal("What to do", "bold"), literal(check.hint)] if check.hint else []
    return _joined(result, [literal(check.detail)], todo, means)


def _backup_details(backup: Backup) -> Content:
    why = {
        "daily": "Made by itself: one a day where something changed.",
        "before import": "Made by itself before an import of more than a hundred records.",
        "before migration": "Made by itself before the database got a new format.",
        "before repair": "Made by itself before a repair: the rows as they were.",
        "before limit": "Made by itself before earlier versions were dropped.",
        "before restore": "Made by itself before another backup was restored: what was there then.",
        "damaged": "The database that could not be opened, put aside when a backup took its place.",
    }.get(backup.why, "")
    read = f"Verified {backup.verified_at:%Y-%m-%d %H:%M}Z" if backup.verified_at else "Not verified; c does it"
    facts = [
        literal(backup.name),
        literal(f"{count_of(backup.memories, 'memory', 'memories')}, up to journal entry {backup.head:,}", "dim"),
        literal(f"{backup.size / 1_000_000:,.1f} MB", "dim"),
    ]
    facts += [] if backup.problem else [literal(read, "dim")]
    if backup.problem:
        wrong = [literal("It cannot be restored", "bold"), literal(backup.problem)]
        return _joined([literal("Backup", "bold")], facts, [literal(why)] if why else [], wrong)
    todo = [
        literal("Enter goes back to it; you are asked first, and what is here now is kept as a backup."),
        literal("c reads it from the first page to the last entry."),
    ]
    return _joined([literal("Backup", "bold")], facts, [literal(why)] if why else [], todo)


_PARTS: Mapping[Facet, str] = {
    "kind": "What is remembered",
    "stability": "How far it is trusted",
    "agent": "Who wrote it",
    "namespace": "Where it belongs",
    "tag": "What it is about",
}
"""The fields by which memories are counted, each with the title above its bars."""

_MOST_VALUES, _NAME_WIDTH, _COUNT_WIDTH = 8, 20, 7


class HealthStory(RecordStory[HealthRow]):
    """How many memories are of each kind, trust, writer, namespace and tag; it is the same for every row."""

    def read(self, workspace: Workspace, record: HealthRow) -> Sequence[StoryPart]:
        """Return the amounts, the largest first."""
        del record
        return [
            StoryPart(title, list(_bars(workspace.facet_counts(facet))), _NAME_WIDTH, _COUNT_WIDTH)
            for facet, title in _PARTS.items()
        ]


def _bars(counts: Sequence[tuple[str, int]]) -> Iterator[StoryLine]:
    shown = counts[:_MOST_VALUES]
    most = max((count for _, count in shown), default=0)
    for value, count in shown:
        yield StoryLine(None, value.replace("_", " "), f"{count:>{_COUNT_WIDTH},}", "", share=count / most)
    if len(counts) > _MOST_VALUES:
        yield StoryLine(None, f"and {len(counts) - _MOST_VALUES:,} more", "", "")
