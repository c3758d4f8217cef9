"""An agent that knows Memento Protocol's tools, connected to a server that is started in a project."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from pathlib import Path

from tests.journeys.mcp_agent import Agent, connected
from tests.journeys.undecided import with_preset
from tests.made import without_engine

__all__ = ["made_house", "speaking", "stored"]


def made_house(folder: Path) -> Path:
    """Make a data directory, and beside it the project that the server is started in; return the former."""
    (folder / "project").mkdir()
    return without_engine(folder / "data")


def speaking(house: Path, preset: str = "", **environment: str) -> AbstractContextManager[Agent]:
    """Connect an agent; another preset rules from then on."""
    if preset:
        with_preset(house, preset)
    return connected(house, profile="protocol", folder=house.parent / "project", environment=environment or None)


def stored(agent: Agent, content: str, **fields: object) -> str:
    """Remember something that does not wait; return its id."""
    text = agent.read("memento_remember", content=content, **fields)
    match = re.match(r"Stored memory ([0-9a-f]{8}) \(", text)
    assert match, text
    return match[1]
