"""A morning at the workbench: an agent writes while the person searches, decides, edits, takes back and comes again."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from memento_tui.storage.journal import Author
from tests.journeys.mcp_agent import connected_to_process
from tests.journeys.tmux_terminal import app_in_tmux, needs_tmux
from tests.made import unguarded


def _disagreeing(workspace: Workspace) -> None:
    older = workspace.remember("The cache lives for 10 minutes.", id="ten")
    newer = workspace.remember("The cache lives for 30 minutes.", id="thirty")
    found = {"older": older.id, "newer": newer.id, "older_spans": [(20, 22)], "newer_spans": [(20, 22)], "score": 0.9}
    with unguarded(workspace._store, Author("system", "maintenance"), "contradiction") as tx:
        tx.put(make_contradiction({**found, "why": "the numbers differ"}), base=0)


def _identity(workspace: Workspace) -> str:
    current = workspace.crystals.current()
    return "" if current is None else current.content


def _resolved(workspace: Workspace) -> bool:
    return workspace.contradictions.count() == 0


@needs_tmux
def test_a_morning_at_the_workbench(data_dir: Path, workspace: Workspace) -> None:
    workspace.crystals.write("I test things.")
    _disagreeing(workspace)

    with app_in_tmux(data_dir) as screen, connected_to_process(data_dir) as agent:
        screen.press("2")
        agent.call("remember", content="Zebra rule from the agent.")
        screen.shows("Zebra rule from the agent.")

        screen.press("/")
        screen.until(lambda: "? Keys" not in screen.text, "letters are searched for")
        screen.type("zebr")
        screen.press("Enter")
        screen.until(lambda: "The cache lives" not in screen.text and "Zebra rule" in screen.text, "zebras alone")
        screen.press("Escape")
        screen.shows("The cache lives for 30 minutes.")

        pending = agent.call("remember", content="Walrus rule from a page.", source_type="external")["id"]
        screen.press("3")
        screen.shows("Walrus rule from", "30 minutes")
        screen.press("g")
        screen.decide("n", lambda: _resolved(workspace), "the newer side holds")
        assert workspace.get("ten").status == "superseded"
        screen.shows("1 waits")
        screen.decide("a", lambda: workspace.get(pending).status == "active", "the memory is approved")
        assert workspace.get(pending).stability == "verified"

        screen.press("6")
        screen.shows("I test things.")
        screen.press("e")
        screen.shows("^s Save")
        screen.type("Every day. ")
        screen.press("C-s")
        screen.until(lambda: _identity(workspace) == "Every day. I test things.", "the new identity holds")

        screen.shows("z undoes")
        screen.press("z")
        screen.until(lambda: _identity(workspace) == "I test things.", "the old identity holds again")

    with app_in_tmux(data_dir) as screen:
        screen.press("z")
        screen.until(lambda: workspace.get(pending).status == "pending", "what was approved waits again")
        screen.press("z")
        screen.until(lambda: not _resolved(workspace), "the contradiction is open again")
        assert workspace.get("ten").status == "active"
        screen.press("Z")
        screen.until(lambda: _resolved(workspace), "and resolved again")
        screen.press("7")
        screen.shows("journey", "added", "resolved", "redone")
    assert workspace._store.journal.verify() is None
