"""The workspace that `make run` opens: what the sample claims holds in it, as a person's decision, once."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import memento_tui
from memento_tui import clock
from memento_tui.api.activity import ActivityQuery
from memento_tui.api.overview import overview

DATA = Path(__file__).parents[2] / "data"


def load(folder: Path) -> None:
    """Load the sample in this process, on the day of the tests."""
    script = DATA / "load_sample.py"
    with patch.object(sys, "argv", [str(script), str(folder)]), patch.object(sys, "path", [str(DATA), *sys.path]):
        runpy.run_path(str(script), run_name="__main__")


def stated(name: str) -> dict[str, Mapping[str, Any]]:
    lines = map(json.loads, (DATA / "sample" / f"{name}.jsonl").read_text().splitlines()[1:])
    return {line["id"]: line for line in lines}


def test_what_the_sample_says_is_trusted_is_trusted(data_dir: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - this project's script
        [sys.executable, DATA / "load_sample.py", data_dir], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    with memento_tui.open(data_dir) as workspace:
        for memory_id, fields in stated("memories").items():
            memory = workspace.get(memory_id)
            expected = (fields.get("stability", "draft"), fields["certainty"], fields.get("pinned", False))
            assert (memory.stability, memory.certainty, memory.pinned) == expected
            assert memory.status == "active"
            assert bool(memory.verified_at) == (memory.stability != "draft")
        assert len(workspace.items.list()) == len(stated("items")) + 1, "an agent added one"
        assert [skip.hits for skip in workspace.skips.list()] == [0, 2, 1, 0]


def test_the_sample_shows_what_a_gate_is_for_and_a_month_of_two_agents(data_dir: Path) -> None:
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        counts = workspace.inbox.counts()
        assert list(counts) == ["orders", "contradiction", "identity", "change", "promotion", "new"]
        found = overview(workspace, clock.now())
        assert found.next[0].headline == "Theme package 2.1"
        assert found.next[1].headline.startswith("64 / 128: ")
        assert set(found.since_looked.by_agent) == {"claude-code", "codex"}
        assert sum(day.agent > 0 for day in found.days) >= 8
        assert (found.told.total.told, found.told.total.used) == (5, 2)
        assert all(item.status == "active" for item in found.in_work)


def test_the_month_is_told_in_the_order_in_which_it_went_by(data_dir: Path) -> None:
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        newest_first = [row.entry for row in workspace.activity.page(ActivityQuery(), limit=500)]
        assert len(newest_first) == workspace.activity.head()
        assert [entry.at for entry in newest_first] == sorted((entry.at for entry in newest_first), reverse=True)
        assert datetime.fromisoformat(newest_first[-1].at) < clock.now() - timedelta(days=30)


def test_the_month_holds_a_decision_of_every_sort_and_two_identities_before_the_proposed_one(data_dir: Path) -> None:
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        actions = {row.entry.action for row in workspace.activity.page(ActivityQuery(), limit=500)}
        assert {"verify", "reject", "undo", "skip add", "crystal write", "relate"} <= actions
        assert [crystal.status for crystal in workspace.crystals.timeline()] == ["proposed", "current", "past"]
        ending = overview(workspace, clock.now()).ending
        assert {record.record for record in ending.first} == {"memory", "skip"}


def test_a_second_start_writes_nothing_and_decides_nothing_again(data_dir: Path) -> None:
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        workspace.update("one-source-of-truth", pinned=False)
        workspace.update("journal-chain", stability="draft")
        before = workspace.activity.head()
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        assert workspace.activity.head() == before
        assert not workspace.get("one-source-of-truth").pinned
        assert workspace.get("journal-chain").stability == "draft"


def test_what_an_agent_claims_in_the_sample_workspace_is_not_accepted_by_the_next_start(data_dir: Path) -> None:
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as agent:
        claimed = agent.remember("The port is 8080.", certainty=5)
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        assert workspace.get(claimed.id).certainty == 3
