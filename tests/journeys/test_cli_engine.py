"""The engine as the command line starts it, asks it and stops it: the real process with the real model."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.paths import DataPaths
from tests.journeys.cli_shell import Shell
from tests.journeys.engine_house import is_alive, until

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("unhurried")]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path / "data")
    yield made
    made.run("engine", "stop")


def _meaning(shell: Shell, query: str) -> list[str]:
    """What is found by meaning alone, once all that was written is embedded."""
    found = shell.json("search", query, "--mode", "semantic", "--wait")
    assert found["semantic"] == "ready"
    return [hit["content"] for hit in found["results"]]


def test_the_engine_comes_when_it_is_needed_and_leaves_when_told(shell: Shell) -> None:
    cat = "The cat sleeps on the sofa all day."
    shell.json("add", cat)
    shell.json("add", "Quarterly revenue grew by a tenth.")
    assert shell.json("engine") == {"state": "stopped"}
    assert shell.json("search", "cat")["semantic"] == "warming"
    assert _meaning(shell, "a pet is resting on the couch")[0] == cat
    status = shell.json("engine", "status")
    assert (status["state"], status["total"], status["pending"]) == ("ready", 2, 0)
    assert f"{status['pid']}, for" in shell.run("engine").stdout.decode()
    both = shell.json("search", "cat", "--explain", "--wait")["results"][0]["explain"]
    assert both["keyword_rank"] == both["semantic_rank"] == 1
    findings = {finding["name"]: finding for finding in shell.json("doctor")["findings"]}
    assert findings["semantic index"] == {
        "name": "semantic index",
        "ok": True,
        "detail": "2 memories, 0 wait to be embedded",
        "hint": "",
    }
    assert shell.json("engine", "logs", "--lines", "5")["lines"]
    assert shell.json("engine", "stop") == {"stopped": True}
    assert shell.json("engine", "stop") == {"stopped": False}
    until(lambda: not is_alive(status["pid"]), "the engine is gone")


@pytest.mark.usefixtures("light_model")
def test_a_killed_engine_and_a_lost_index_come_back(shell: Shell) -> None:
    cat = "The cat sleeps on the sofa all day."
    shell.json("add", cat)
    assert shell.json("engine", "start", "--wait") == {"state": "ready"}
    os.kill(shell.json("engine")["pid"], signal.SIGKILL)
    assert _meaning(shell, "a pet is resting") == [cat]
    assert shell.json("reindex") == {"keyword": 1, "semantic": "started"}
    assert _meaning(shell, "a pet is resting") == [cat]
    assert any(DataPaths(shell.data_dir).semantic_index.iterdir())
