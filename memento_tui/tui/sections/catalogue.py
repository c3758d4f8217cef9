"""Make a section, whose module is imported when it is first shown or before, and find the one that shows a record."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.search.query_language import written_field
from memento_tui.tui.section import Section

__all__ = ["import_sections", "make_section", "section_showing"]


def make_section(name: str) -> Section:
    """Make the section of that name."""
    tab = next(tab for tab in SECTIONS if tab.name == name)
    made: Section = getattr(_module_of(name), tab.class_name)()
    return made


def _module_of(name: str) -> ModuleType:
    return import_module(f"memento_tui.tui.sections.{name}")


def import_sections() -> None:
    """Import the modules of all sections, so that none waits for its own when it is first shown."""
    for tab in SECTIONS:
        _module_of(tab.name)


_SECTION_OF_RECORD = {
    "skip": "skips",
    "item": "working",
    "crystal": "identity",
    "proposal": "review",
    "contradiction": "review",
}


def section_showing(workspace: Workspace, kind: str, record_id: str) -> tuple[str, str] | None:
    """Return the section that shows a record, and the query for it; ``None`` where the record is gone."""
    record: Any = workspace.find_record(kind, record_id)
    if record is None:
        return None
    if kind == "relation":
        return section_showing(workspace, "memory", record.src)
    if kind == "memory":
        # Lists show only active memories unless the query names another status.
        hidden = "" if record.status == "active" else f" is:{record.status}"
        return "memories", f"{written_field('id', record_id)}{hidden}"
    return _SECTION_OF_RECORD[kind], _query_for(kind, record)


def _query_for(kind: str, record: Any) -> str:  # noqa: ANN401 - any record
    """Return the query for a record in its own section: its words in the short lists, its id in the others."""
    if kind in ("skip", "item"):
        title = str(record.item if kind == "skip" else record.title)
        # Each on its own, and nothing that would read as a filter.
        return " ".join(title.replace('"', " ").replace(":", " ").split())
    return str(record.id)
