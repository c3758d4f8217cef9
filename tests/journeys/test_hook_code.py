"""A session in a repository: its memories are held against the code when it begins, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.maintenance.code.notes import read_notes
from tests.journeys.cli_shell import Console
from tests.journeys.engine_house import until
from tests.journeys.hook_host import DirectHost
from tests.journeys.mcp_agent import NO_ENGINE, connected
from tests.unit.code_repository import CodeRepository


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Workspace]:
    data_dir = tmp_path / "memory"
    data_dir.mkdir()
    (data_dir / "config.toml").write_text(NO_ENGINE)
    with memento_tui.open(data_dir) as workspace:
        yield workspace


def test_a_session_is_not_told_of_a_file_that_is_gone_and_is_told_where_another_went(
    person: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = CodeRepository(tmp_path / "site")
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/mail.py": "def send_mail():\n    return 1\n" * 5})
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: at + timedelta(minutes=1))
        for text in ("Invoices are numbered by quarter in src/invoices.py.", "Letters are queued in src/mail.py."):
            person.remember(text, namespace="projects/site")
    repository.commit({"src/invoices.py": None})
    repository.move("src/mail.py", "post/letters.py")

    host = DirectHost(person.paths.root, repository.root)
    host.start()
    notes = person.paths.code_notes(repository.root)
    until(lambda: read_notes(notes).head == repository.commits[-1], "nothing was held against the repository")
    until(lambda: person.inbox.counts() == {"code": 2}, "Review does not ask")

    assert host.prompt("how are invoices numbered by quarter?") == ""
    assert "src/mail.py is now post/letters.py" in host.prompt("where are letters queued?")

    monkeypatch.chdir(repository.root)
    with connected(person.paths.root) as agent:
        assert "src/mail.py is now post/letters.py" in agent.read("search", query="where are letters queued")
        gone = agent.call("search", query="how are invoices numbered")["results"][0]
        assert {"unverified", "src/invoices.py is gone"} <= set(gone["labels"])
        assert "src/invoices.py is gone]" in agent.read("get", ids=[gone["id"]])

    console = Console(person.paths.root)
    found = console.json("audit", "--code")
    assert sorted(item["state"] for item in found["items"]) == ["changed", "gone"]
    assert len(console.json("review", "list", "--kind", "code")["items"]) == 2

    # The hook told one and two searches one each, of which the agent read one in full.
    told = console.json("report", "--project", "projects/site")
    assert (told["total"]["told"], told["total"]["share"]) == (3, 0.5)


def test_a_session_outside_of_a_repository_starts_nothing(person: Workspace, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    person.remember("See src/invoices.py.", namespace="projects/plain")
    DirectHost(person.paths.root, tmp_path / "plain").start()
    assert not person.paths.code_notes(tmp_path / "plain").exists()
