"""The sections of the app, in the order of their tabs. A section's module is imported when it is first shown."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from memento_tui.tui.commands import COMMANDS
from memento_tui.tui.sections.section import Section

__all__ = ["SECTIONS", "Tab", "make_section"]


class Tab(NamedTuple):
    """One section: its name, which is its place and its module too, its class and its title."""

    name: str
    class_name: str
    title: str

    @property
    def key(self) -> str:
        """The key that the table of commands gives it."""
        return next(command.keys for command in COMMANDS if command.action == f"section('{self.name}')")


SECTIONS: tuple[Tab, ...] = (
    Tab("home", "HomeSection", "Home"),
    Tab("memories", "MemoriesSection", "Memories"),
    Tab("review", "ReviewSection", "Review"),
    Tab("working", "WorkingSection", "Working"),
    Tab("skips", "SkipsSection", "Skips"),
    Tab("identity", "IdentitySection", "Identity"),
    Tab("activity", "ActivitySection", "Activity"),
    Tab("health", "HealthSection", "Health"),
)


def make_section(name: str) -> Section:
    """Make the section of that name."""
    tab = next(tab for tab in SECTIONS if tab.name == name)
    made: Section = getattr(import_module(f"memento_tui.tui.sections.{name}"), tab.class_name)()
    return made
