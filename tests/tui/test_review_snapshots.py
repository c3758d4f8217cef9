"""Pictures of the review. Each test says what to look for when its picture changes."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model import make_contradiction
from memento_tui.tui.app import MementoApp
from memento_tui.tui.sections.review import evidence_pane
from tests.clocks import ticking
from tests.made import always, edit, unguarded, without_engine

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
Compare = Callable[..., bool]

DEPLOY = """Deploy with `make release`.

1. Wait until the queue is empty.
2. Warm the cache: a cold one answers in 900 ms.
3. Tell the channel.
4. Watch the errors for an hour.
"""
DEPLOY_AFTER = """Deploy with `make ship`.

1. Wait until the queue is empty.
2. Warm the cache: a cold one answers in 400 ms, measured on 日本語 data 🙂.
3. Tell the channel.
4. Watch the errors for two hours, and the p99 too.
5. Write down what went wrong.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory that is called the same in every picture, and a clock that stands."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(clock, "now", lambda: NOW)
    # What surrounds a thing comes a moment later, when the picture may have been taken already.
    monkeypatch.setattr(evidence_pane, "_CONTEXT_DELAY_SECONDS", 3600)
    return without_engine(tmp_path / "memories", "strict")


@pytest.fixture
def filled(folder: Path) -> Path:
    """One of each kind, in this order: identity, change, deletion, new, secret, skip, item, contradiction, answer."""
    with pytest.MonkeyPatch.context() as patch:
        # The identity is shown with the id of the one before it.
        patch.setattr(os, "urandom", random.Random(7).randbytes)  # noqa: S311 - the same in every run
        ticking(patch, NOW - timedelta(hours=40), timedelta(minutes=7))
        _fill(folder)
    return folder


def _fill(folder: Path) -> None:
    with (
        memento_tui.open(folder) as person,
        memento_tui.open(folder, actor="agent", channel="mcp", agent="claude", session="s1") as agent,
    ):
        person.crystals.write("I am careful, and I answer in English.\nI run the tests before I say that it works.")
        person.remember(DEPLOY, id="deploy", title="How to deploy", tags=["release"], stability="verified")
        person.remember("The API answers on port 8080.", id="old-port", certainty=4, stability="verified")
        person.remember("Since March the API answers on port 9090, also on the staging server.", id="new-port")
        for waiting in person.review.list()[0]:
            person.review.approve(waiting.proposal.id)
        agent.crystals.write("I am careful, and I answer in the language I am asked in.\nI run the tests first.")
        edit(agent, "deploy", content=DEPLOY_AFTER, tags=["release", "speed"])
        agent.forget("old-port", base_version=agent.get("old-port").version)
        agent.remember(
            "The flaky test is a race in the cache.\n\nIt waits for a file that is not there yet.",
            make_id=always("flaky"),
        )
        agent.remember(
            "Upload it with AKIA" + "Q3EGMDPRTV5WXY2Z to the bucket.\x1b[2J [/nope]", make_id=always("upload")
        )
        agent.skips.add("the vendor folder", "it is generated", NOW + timedelta(days=9))
        agent.items.create("Move to Python 3.13", category="waiting_for", next_action="ask for the new image")
        spans = {"older_spans": ((24, 28),), "newer_spans": ((36, 40),)}
        fields = {"id": "clash", "older": "old-port", "newer": "new-port", "why": "8080 against 9090", "score": 0.91}
        with unguarded(person._store, person.author, "found") as tx:
            tx.put(make_contradiction({**fields, **spans}), base=0)
        agent.contradictions.resolve("clash", "merged", content="The API answers on 9090; until March it was 8080.")


def shot(compare: Compare, folder: Path, *keys: str, size: tuple[int, int] = (120, 32), theme: str = "") -> bool:
    with Workspace(folder, channel="tui", session="picture") as workspace:
        app = MementoApp(workspace, start="review")
        if theme:
            app.theme = theme
        return compare(app, terminal_size=size, press=[*keys])


def test_a_new_identity(snap_compare: Compare, filled: Path) -> None:
    """The numbers by kind above; the list in straight columns; what the identity would become, the words marked."""
    assert shot(snap_compare, filled, *"jjj")


def test_a_change_below_one_another(snap_compare: Compare, filled: Path) -> None:
    """The tags before and after, then the lines: - removed, + added, the words that differ reversed."""
    assert shot(snap_compare, filled, *"jjjjj")


def test_a_change_side_by_side(snap_compare: Compare, filled: Path) -> None:
    """Two straight columns, though there are wide characters; the words that differ reversed."""
    assert shot(snap_compare, filled, *"jjjjj", size=(190, 32))


def test_a_deletion(snap_compare: Compare, filled: Path) -> None:
    """What would be deleted, once, with its trust."""
    assert shot(snap_compare, filled, *"jjjj")


def test_a_new_memory(snap_compare: Compare, filled: Path) -> None:
    """The text once, for it has no title; who says it and why a person is asked."""
    assert shot(snap_compare, filled, *"jjjjjjjj")


def test_a_secret_and_hostile_text(snap_compare: Compare, filled: Path) -> None:
    """What was removed and from where, as a warning; placeholders in the text; straight columns in the list."""
    assert shot(snap_compare, filled)


def test_a_skip(snap_compare: Compare, filled: Path) -> None:
    """In words: do not, because, until when and how far away that is."""
    assert shot(snap_compare, filled, *"jjjjjj")


def test_a_working_item(snap_compare: Compare, filled: Path) -> None:
    """Its fields in words, without ids or times of the machine."""
    assert shot(snap_compare, filled, *"jjjjjjj")


def test_a_contradiction(snap_compare: Compare, filled: Path) -> None:
    """Both sides with their ages and trust, the ports marked, and the keys that settle it."""
    assert shot(snap_compare, filled, *"j")


def test_a_contradiction_side_by_side(snap_compare: Compare, filled: Path) -> None:
    """Both sides beside each other."""
    assert shot(snap_compare, filled, *"j", size=(190, 32))


def test_a_suggested_answer(snap_compare: Compare, filled: Path) -> None:
    """The text that was suggested, and both sides below it."""
    assert shot(snap_compare, filled, *"jj")


def test_narrow(snap_compare: Compare, filled: Path) -> None:
    """80 x 24: the evidence below a short list, the numbers cut with dots, nothing torn."""
    assert shot(snap_compare, filled, *"jjjjj", size=(80, 24))


def test_ultra_wide(snap_compare: Compare, filled: Path) -> None:
    """200 x 50: the queue with who asks, the difference in two columns, what is alike below it."""
    assert shot(snap_compare, filled, *"jjjjj", size=(200, 50))


def test_light(snap_compare: Compare, filled: Path) -> None:
    """Everything legible on a light ground."""
    assert shot(snap_compare, filled, *"jjjjj", theme="textual-light")


def test_one_kind(snap_compare: Compare, filled: Path) -> None:
    """The kind in the filter box and underlined in the numbers."""
    assert shot(snap_compare, filled, "f")


def test_nothing_waits(snap_compare: Compare, folder: Path) -> None:
    """A sentence that says where to go from here."""
    assert shot(snap_compare, folder, size=(100, 24))


def test_the_outcomes_of_a_bulk(snap_compare: Compare, filled: Path) -> None:
    """What failed, each with its reason; how many were decided; that z takes it back."""
    assert shot(snap_compare, filled, "v", "G", "v", "n", "y")


def test_a_merge(snap_compare: Compare, folder: Path) -> None:
    """What the older memory would say, and the one that would be superseded."""
    (folder / "config.toml").write_text("[engine]\nenabled = false\n")
    with (
        pytest.MonkeyPatch.context() as patch,
        memento_tui.open(folder, actor="agent", channel="mcp", agent="claude") as agent,
    ):
        ticking(patch, NOW - timedelta(hours=40), timedelta(minutes=7))
        agent.remember(
            "The staging server restarts every night at two and drops open sessions.", make_id=always("older")
        )
        agent.search("staging")
        agent.remember(
            "The staging server restarts every night at two, and drops all open sessions.", make_id=always("newer")
        )
    assert shot(snap_compare, folder)
