"""What explains an engine that cannot be had: the errors of its own start, and nothing that an older one logged."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.errors import EngineUnavailable
from memento_tui.paths import DataPaths
from memento_tui.search import engine_client
from memento_tui.search.engine_client import SemanticClient

PATIENCE = 60.0
OLD_LOG = (
    "2026-11-20 09:00:00,000 ERROR memento_tui: an old trouble\n2026-11-20 09:10:00,000 INFO memento_tui: it left\n"
)


def explanation(data_dir: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is said where the engine, in whose place a shell runs a script, cannot be had."""
    with memento_tui.open(data_dir):
        pass
    paths = DataPaths(data_dir)
    paths.engine_log.write_text(OLD_LOG, encoding="utf-8")
    monkeypatch.setattr(engine_client, "engine_command", lambda _: ["/bin/sh", "-c", script])
    client = SemanticClient(paths, enabled=True)
    with pytest.raises(EngineUnavailable) as raised:
        client.wait(1, PATIENCE)
    return raised.value.message


def test_an_engine_that_ends_without_a_word_is_not_explained_by_an_older_log(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert explanation(data_dir, "exit 3", monkeypatch) == "The engine ended with status 3."


def test_what_an_engine_only_reports_explains_no_failure(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = "echo '2026-11-21 09:00:00,000 INFO memento_tui: at work' >&2; exit 3"
    assert explanation(data_dir, script, monkeypatch) == "The engine ended with status 3."


def test_an_engine_is_explained_by_the_last_error_of_its_own_start(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo 'ValueError: no such model' >&2; echo '2026-11-21 09:00:00,000 INFO memento_tui: left' >&2; exit 3"
    assert explanation(data_dir, script, monkeypatch) == "The engine ended with status 3: ValueError: no such model"
