"""A person at the terminal while an agent writes: real processes, a real terminal, the real protocol."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api import Workspace
from tests.journeys.mcp_agent import connected_to_process
from tests.journeys.real_terminal import open_app

_ACTING = "\x1b]52;c;aGlkZGVu\x07\x1b[2J\u202e [/nope]"


def test_an_agent_writes_while_a_person_looks_decides_and_takes_back(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember("Older rule.", id="older")
    with open_app(data_dir, "memories") as terminal, connected_to_process(data_dir) as agent:
        terminal.shows("Older rule.")

        agent.call("remember", content="Zebra rule from the agent.")
        terminal.shows("Zebra rule from the agent.")

        pending = agent.call("remember", content="Walrus rule from a page.", source_type="external")["id"]
        begun = terminal.press("3")
        terminal.shows("Walrus rule from a page.", begun)
        terminal.decide("a", lambda: workspace.get(pending).stability == "verified", "the memory is approved")
        assert pending in {found["id"] for found in agent.call("search", query="walrus")["results"]}

        begun = terminal.press("z")
        terminal.shows("Undid", begun)
        assert workspace.get(pending).status == "pending"

    with open_app(data_dir, "memories") as terminal:
        terminal.shows("Older rule.")
        begun = terminal.press("Z")
        terminal.shows("Redid", begun)
    assert workspace.get(pending).status == "active"


def test_what_an_agent_writes_never_acts_on_the_terminal(data_dir: Path, workspace: Workspace) -> None:
    with connected_to_process(data_dir) as agent:
        nasty = agent.call("remember", content=f"Nasty{_ACTING}", title=f"Title{_ACTING.replace(chr(10), ' ')}")
        agent.call("remember", content=f"Waiting{_ACTING}", source_type="external")
    # Text that acts on a terminal waits for a person, like any other trick.
    workspace.review.approve(nasty["id"], despite="orders")
    with open_app(data_dir, "memories") as terminal:
        terminal.shows("Title<ESC>]52")
        terminal.shows("hidden characters")
        begun = terminal.press("3")
        terminal.shows("Waiting<ESC>]52", begun)
    for acting in (b"\x1b]52", b"\x1b[2J", "\u202e".encode()):
        assert acting not in terminal.raw
    assert workspace.review.count() == 1
