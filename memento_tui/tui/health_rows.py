"""The rows of the health: sorts of rot, checks of the machinery, backups; and how each looks in the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memento_tui.tui.display import cells
from memento_tui.tui.widgets.record_list import Line
from memento_tui.upkeep.audit import KINDS, Kind
from memento_tui.workspace.backups import Backup
from memento_tui.workspace.health import Finding

__all__ = ["CHECKS", "HealthRow", "State", "backup_rows", "check_rows", "health_line", "rot_rows", "with_groups"]

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
    "settings": "Settings",
    "drafts": "Drafts",
    "versions": "Versions",
}
"""What the list calls the checks, in its order. The data directory stands in the bar; backups are rows themselves."""

UNREAD = ("journal", "pages")
"""The checks that read the whole database, and so wait until they are asked for."""

_OPTIONAL = ("drafts",)
_TELLING = ("semantic index", "contents", "disk", "drafts", "versions")

_GROUP_WIDTH, _GLYPH_WIDTH, _TITLE_WIDTH = 10, 3, 25
_NARROW = 44


@dataclass(frozen=True)
class HealthRow:
    """One row. Exactly one of ``kind``, ``check`` and ``backup`` says what it is about."""

    id: str
    group: str
    title: str
    state: State
    value: str
    short: str = ""
    """The value in a few words, for where there is no room for all of it."""
    kind: Kind | None = None
    check: Finding | None = None
    backup: Backup | None = None
    is_first: bool = False
    """Whether the group's name stands here."""

    @property
    def words(self) -> str:
        """What a filter looks into."""
        return f"{self.group} {self.title} {self.value} {self.id}".casefold()


def rot_rows(counts: Mapping[str, int | None]) -> list[HealthRow]:
    """Return a row for each sort of rot; one that is not in ``counts`` has not been looked for."""
    return [_rot_row(kind, counts.get(kind.code)) for kind in KINDS]


def _rot_row(kind: Kind, count: int | None) -> HealthRow:
    state: State = "unknown" if count is None else "fine" if not count else "bad" if kind.urgent else "tidy"
    value = "not read yet" if count is None else f"{count:,}" if count else "none"
    return HealthRow(f"rot:{kind.code}", kind.group, kind.title, state, value, kind=kind)


def check_rows(findings: Mapping[str, Finding]) -> list[HealthRow]:
    """Return a row for each check, also for those that have not been made."""
    rows = []
    for name, title in CHECKS.items():
        found = findings.get(name)
        if found is None and name in _OPTIONAL:
            continue
        state: State = "unknown" if found is None else "fine" if found.ok else "bad"
        waits = "c checks it" if name in UNREAD else ""
        detail = waits if found is None else found.detail
        short = "needs care" if state == "bad" else _first_words(name, detail) if found else ""
        rows.append(HealthRow(f"check:{name}", "Machinery", title, state, detail, short, check=found))
    return rows


def backup_rows(backups: Iterable[Backup]) -> list[HealthRow]:
    """Return a row for each backup, newest first; without any, one that says so."""
    rows = [_backup_row(one) for one in backups]
    return rows or [HealthRow("backup:", "Backups", "None yet", "tidy", "b makes one")]


def _backup_row(one: Backup) -> HealthRow:
    facts = [f"{one.size / 1_000_000:,.1f} MB", f"{one.memories:,} memories", one.why]
    value = "cannot be restored" if one.problem else "  ".join(filter(None, facts))
    short = value if one.problem else one.why or facts[0]
    state: State = "bad" if one.problem and not one.why else "plain"
    title = f"{one.at:%Y-%m-%d %H:%M:%S}Z"
    return HealthRow(f"backup:{one.name}", "Backups", title, state, value, short, backup=one)


def _first_words(name: str, detail: str) -> str:
    """Return the part of what was found that fits a narrow list, where it tells something by itself."""
    return detail.partition(",")[0].partition(";")[0] if name in _TELLING else "in order"


def with_groups(rows: Sequence[HealthRow]) -> list[HealthRow]:
    """Return the rows with the name of each group at its first one."""
    named, last = [], ""
    for row in rows:
        if row.group != last:
            row = HealthRow(**{**row.__dict__, "is_first": True})  # noqa: PLW2901 - the same row, marked
            last = row.group
        named.append(row)
    return named


def health_line(row: HealthRow, width: int) -> list[Line]:
    """Return the line of a row: the group's name once, the state, the title, the number or what was found."""
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
