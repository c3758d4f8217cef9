"""The sections of the app, in the order of their tabs: the one place that declares them.

The command line opens a section by its name, and reads this module without loading Textual.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["SECTIONS", "SECTION_NAMES", "Tab"]


class Tab(NamedTuple):
    """One section. Its module in ``tui/sections/`` and its key scope have its name, its class has its title."""

    name: str
    key: str
    title: str
    help_title: str
    """The heading of its keys in help."""
    subject: str
    """The contents, to complete the sentence "Go to ..."."""
    inner_scopes: tuple[tuple[str, str], ...] = ()
    """Parts of it that have keys of their own: the name of each key scope, and its heading in help."""

    @property
    def class_name(self) -> str:
        """The class in its module."""
        return f"{self.title}Section"


SECTIONS = (
    Tab("home", "1", "Home", "In the overview", "the overview"),
    Tab(
        "memories",
        "2",
        "Memories",
        "In the memories",
        "the memories",
        (
            ("history", "In the history of a memory"),
            ("timeline", "In the timeline"),
            ("links", "In the links"),
            ("tree", "In the tree"),
            ("why", "In the weight of a memory"),
        ),
    ),
    Tab(
        "review",
        "3",
        "Review",
        "In the review queue",
        "what waits for your decision",
        (("lines", "In the lines of a change"),),
    ),
    Tab("working", "4", "Working", "In the work", "what is being worked on", (("board", "On the board"),)),
    Tab("skips", "5", "Skips", "In the skips", "what the agent is not to do"),
    Tab("identity", "6", "Identity", "In the identity", "who the agent is"),
    Tab(
        "activity",
        "7",
        "Activity",
        "In the activity",
        "what was done, and by whom",
        (("report", "In the report on use"),),
    ),
    Tab("health", "8", "Health", "In the health", "what needs care"),
)

SECTION_NAMES = tuple(tab.name for tab in SECTIONS)
