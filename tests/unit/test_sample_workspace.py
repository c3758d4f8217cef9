"""The workspace that `make run` opens: what the sample claims holds in it, as a person's decision, once."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import memento_tui
from memento_tui import clock
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


def test_what_the_sample_says_is_trusted_is_trusted_and_what_waits_in_it_waits(data_dir: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - this project's script
        [sys.executable, DATA / "load_sample.py", data_dir], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    with memento_tui.open(data_dir) as workspace:
        for memory_id, fields in stated("memories").items():
            memory = workspace.get(memory_id)
            waits = fields.get("status") == "pending"
            assert (memory.status == "pending") == waits
            if not waits:
                expected = (fields.get("stability", "draft"), fields["certainty"], fields.get("pinned", False))
                assert (memory.stability, memory.certainty, memory.pinned) == expected
                assert bool(memory.verified_at) == (memory.stability != "draft")
        waiting = [memory_id for memory_id, fields in stated("memories").items() if fields.get("status") == "pending"]
        assert set(waiting) <= {item.proposal.target_id for item in workspace.review.list()[0]}
        current = workspace.crystals.current()
        assert current is not None
        assert current.content == stated("crystals")["crystal-1"]["content"]
        assert len(workspace.items.list()) == len(stated("items")) + 1, "an agent added one"
        assert len(workspace.skips.list()) == 3


def test_the_sample_shows_what_a_gate_is_for_and_a_month_of_two_agents(data_dir: Path) -> None:
    load(data_dir)
    with memento_tui.open(data_dir) as workspace:
        counts = workspace.inbox.counts()
        assert list(counts) == ["orders", "contradiction", "identity", "change", "trust", "new"]
        found = overview(workspace, clock.now())
        assert found.next[0].headline == "Theme package 2.1"
        assert found.next[1].headline.startswith("64 / 128: ")
        assert set(found.since_looked.by_agent) == {"claude-code", "codex"}
        assert sum(day.agent > 0 for day in found.days) >= 8
        assert (found.told.total.told, found.told.total.used) == (5, 2)
        assert all(item.status == "active" for item in found.in_work)


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
