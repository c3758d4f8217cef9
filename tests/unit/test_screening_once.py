"""A text is screened once for each write, however often the write is judged on its way into the store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_import
from memento_tui.policy import screening, secrets
from memento_tui.policy.suspicion import Suspicion, suspicion_of


@pytest.fixture
def screened() -> Iterator[Counter[str]]:
    """Count how often each text is read for secrets, and how often for orders to a model."""
    counts: Counter[str] = Counter()
    redact = secrets.redact_text

    def redacted(text: str, *, by_rules_alone: bool = False) -> tuple[str, list[tuple[str, int]]]:
        counts[f"secrets: {text}"] += 1
        return redact(text, by_rules_alone=by_rules_alone)

    def suspected(text: str) -> Suspicion:
        counts[f"orders: {text.partition(chr(10))[0]}"] += 1
        return suspicion_of(text)

    with patch.object(secrets, "redact_text", redacted), patch.object(screening, "suspicion_of", suspected):
        yield counts


def test_a_memory_that_is_remembered_is_screened_once(tmp_path: Path, screened: Counter[str]) -> None:
    with Workspace(tmp_path / "data") as workspace:
        workspace.remember("The ferry to the island sails at noon.", tags=["sailing times"])

    assert screened["secrets: The ferry to the island sails at noon."] == 1
    assert screened["orders: The ferry to the island sails at noon."] == 1
    assert screened["secrets: sailing times"] == 1


def test_a_memory_that_is_imported_is_screened_once_whatever_trust_its_file_claims(
    tmp_path: Path, screened: Counter[str]
) -> None:
    lines = [
        {"record": "memory", "id": f"m{number}", "content": text, "tags": ["mooring lines"], "certainty": 5}
        for number, text in enumerate(["The lighthouse keeper is on leave.", "The harbour office opens at six."])
    ]
    source = tmp_path / "notes.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Workspace(tmp_path / "data") as workspace:
        assert run_import(workspace, "memento", source).imported == 2

    for line in lines:
        assert screened[f"secrets: {line['content']}"] == 1
        assert screened[f"orders: {line['content']}"] == 1
    assert screened["secrets: mooring lines"] == 1


def test_a_secret_goes_from_every_write_of_the_same_text(tmp_path: Path) -> None:
    with Workspace(tmp_path / "data") as workspace:
        for title in ("One", "Two"):
            stored = workspace.remember("The password is hunter2horse.", title=title)
            assert "hunter2horse" not in stored.content
