"""The command that lists the memories of a project that cite what its repository no longer is."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui import clock
from tests.unit.cli_program import Program, without_engine
from tests.unit.code_repository import CodeRepository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodeRepository:
    made = CodeRepository(tmp_path / "site")
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_the_memories_of_this_directory_s_project_are_listed_with_the_reason(
    memento: Program, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: at)
        gone = memento.add("Invoices are numbered in src/invoices.py.", "--namespace", "projects/site")
        memento.add("The rest is in src/b.py.", "--namespace", "projects/site")
        memento.add("Elsewhere it is src/invoices.py.", "--namespace", "projects/shop")
    repository.commit({"src/invoices.py": None}, "no invoices")
    found = memento.json("audit", "--code")
    assert (found["namespace"], found["memories"], found["citing"]) == ("projects/site", 2, 2)
    assert [(item["id"], item["state"]) for item in found["items"]] == [(gone, "gone")]
    told = memento.run("audit", "--code").out
    assert "2 memories in projects/site: 2 cite what stood in" in told
    assert "of these still hold: 1, are listed here: 1." in told
    assert "no invoices" in told
    memento.json("edit", gone, "--stability", "verified")
    assert memento.json("audit", "--code")["items"] == []


def test_what_is_as_it_was_is_said_in_a_sentence(memento: Program, repository: CodeRepository) -> None:
    repository.commit({"src/b.py": "y = 1\n"})
    memento.add("The rest is in src/b.py.", "--namespace", "projects/site")
    assert "All that they cite is as it was." in memento.run("audit", "--code").out


def test_a_directory_without_a_repository_is_refused(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memento.add("x")
    monkeypatch.chdir(tmp_path)
    ended = memento.run("audit", "--code")
    assert ended.code == 2, ended
    assert "git could not read" in ended.err


def test_it_goes_with_no_other_choice(memento: Program) -> None:
    assert memento.run("audit", "--code", "--quick").code == 2


def test_what_cites_code_outside_of_any_project_is_said_so_when_it_is_added(
    memento: Program, repository: CodeRepository
) -> None:
    repository.commit({"src/b.py": "y = 1\n"})
    for text in ("The rest is in src/b.py.", "Call `warm_pool` first."):
        said = memento.run("add", text).err
        assert "is kept in global, which every project is told: memento edit" in said
        assert "--namespace projects/site keeps it with this one" in said
    assert memento.run("add", "Lunch is at twelve.").err == ""
    assert memento.run("add", "It is in src/b.py.", "--namespace", "global").err == ""
