"""Memories that cite code: what a hook says of them, and what Review asks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.code_check import CodeReport, check_code_citations, refresh_code_notes
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.maintenance.code.notes import read_notes
from memento_tui.model import Memory
from memento_tui.projects import find_project, head_commit
from tests.made import without_engine
from tests.unit.code_repository import CodeRepository

PLACE = "projects/site"


@pytest.fixture
def repository(tmp_path: Path) -> CodeRepository:
    return CodeRepository(tmp_path / "site")


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Workspace]:
    with memento_tui.open(without_engine(tmp_path / "data")) as workspace:
        yield workspace


def remember(person: Workspace, text: str, at: datetime, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: at)
        return person.remember(text, **{"namespace": PLACE, **fields})


def refresh(person: Workspace, repository: CodeRepository) -> CodeReport:
    return refresh_code_notes(person, repository.root, [PLACE], person.paths.code_notes(repository.root))


def told(person: Workspace, repository: CodeRepository, prompt: str, session: str = "s1") -> str:
    raw = json.dumps({"session_id": session, "cwd": str(repository.root), "prompt": prompt}).encode()
    call = parse_call("claude-code", "UserPromptSubmit", raw)
    assert call is not None
    return context_for_call(call, person.paths, HookSettings())


def waiting(person: Workspace) -> list[tuple[str, str, dict[str, object]]]:
    found = [pending.proposal for pending in person.review.list()[0]]
    return [(proposal.action, proposal.target_id, proposal.payload) for proposal in found]


def test_a_memory_whose_file_is_gone_is_not_told_and_asked_about_once(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    memory = remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    assert "numbered by quarter" in told(person, repository, "how are invoices numbered by quarter?")
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    assert told(person, repository, "how are invoices numbered by quarter?", "s2") == ""
    assert waiting(person) == [("delete", memory.id, {})]
    assert list(person.inbox.counts()) == ["code"]
    refresh(person, repository)
    assert len(waiting(person)) == 1


def test_a_file_that_is_back_in_the_work_tree_makes_its_note_void(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    (repository.root / "src/invoices.py").write_text("x = 1\n")
    assert "numbered by quarter" in told(person, repository, "how are invoices numbered by quarter?")


def test_a_memory_whose_file_moved_is_told_with_the_new_place_and_its_correction_is_proposed(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n" * 9})
    memory = remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    repository.move("src/invoices.py", "billing/numbers.py")
    refresh(person, repository)
    text = told(person, repository, "how are invoices numbered by quarter?")
    assert "src/invoices.py is now billing/numbers.py]" in text
    content = "Invoices are numbered by quarter in billing/numbers.py."
    assert waiting(person) == [("edit", memory.id, {"content": content})]
    person.review.approve(person.review.list()[0][0].proposal.id)
    changed = person.get(memory.id)
    assert (changed.content, changed.stability) == (content, "verified")
    assert refresh(person, repository).found == ()


def test_to_approve_that_it_still_holds_confirms_it(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "FIRST_NUMBER = 100\n", "src/b.py": "y = 1\n"})
    memory = remember(person, "Invoices begin at 100, see `FIRST_NUMBER`.", at, monkeypatch)
    repository.commit({"src/invoices.py": "FIRST_NUMBER = 500\n"})
    refresh(person, repository)
    assert "FIRST_NUMBER changed since]" in told(person, repository, "where do invoices begin?")
    assert waiting(person) == [("edit", memory.id, {"stability": "verified"})]
    person.review.approve(person.review.list()[0][0].proposal.id)
    assert refresh(person, repository).found == ()
    assert "changed since" not in told(person, repository, "where do invoices begin?", "s2")


def test_to_reject_the_deletion_keeps_it_and_it_is_told_again(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    person.review.reject(person.review.list()[0][0].proposal.id)
    assert refresh(person, repository).found == ()
    assert waiting(person) == []
    assert "numbered by quarter" in told(person, repository, "how are invoices numbered by quarter?")


def test_what_is_as_it_was_again_is_not_asked_about_any_more(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    repository.commit({"src/invoices.py": "x = 1\n"})
    refresh(person, repository)
    assert waiting(person) == []


def test_a_memory_of_another_project_is_never_checked(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    for namespace in ("projects/other", "projects/site2", "branches/site/x"):
        remember(person, f"{namespace}: see src/invoices.py.", at, monkeypatch, namespace=namespace)
    repository.commit({"src/invoices.py": None})
    report = refresh(person, repository)
    assert (report.memories, report.found) == (0, ())


def test_a_memory_of_no_project_that_cites_a_file_of_this_one_by_its_path_is_checked(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    memory = remember(
        person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch, namespace="global"
    )
    repository.commit({"src/invoices.py": None})
    report = refresh(person, repository)
    assert (report.memories, report.shared, report.citing) == (0, 1, 1)
    assert waiting(person) == [("delete", memory.id, {})]
    assert told(person, repository, "how are invoices numbered by quarter?") == ""


@pytest.mark.parametrize(
    "text", ["`Invoice.number` counts.", "See invoices.py.", "See lib/main.py.", "See `make ship`.", "Look into lib/."]
)
def test_a_memory_of_no_project_that_may_mean_another_is_not_checked(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    code = "class Invoice:\n    def number(self):\n        return 1\n"
    files = {"src/invoices.py": code, "lib/main.py": "y = 1\n", "Makefile": "ship:\n\techo\n"}
    at = repository.commit({**files, "x.py": "x = 1\n"})
    remember(person, text, at, monkeypatch, namespace="global")
    repository.commit(dict.fromkeys(files))
    report = refresh(person, repository)
    assert (report.citing, report.found) == (0, ())


def test_what_a_person_made_essential_is_told_with_a_word_of_caution(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    memory = remember(person, "Invoices are numbered in src/invoices.py.", at, monkeypatch, pinned=True)
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    raw = json.dumps({"session_id": "s1", "cwd": str(repository.root), "source": "startup"}).encode()
    call = parse_call("claude-code", "SessionStart", raw)
    assert call is not None
    text = context_for_call(call, person.paths, HookSettings())
    assert memory.id in text
    assert "src/invoices.py is gone" in text


def test_only_some_wait_at_once_the_most_shown_first(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({**{f"src/part{n}.py": "x = 1\n" for n in range(25)}, "src/b.py": "y = 1\n"})
    for n in range(25):
        remember(person, f"Part {n} of the report is made by src/part{n}.py.", at, monkeypatch)
    repository.commit({f"src/part{n}.py": None for n in range(25)})
    assert len(refresh(person, repository).found) == 25
    assert len(waiting(person)) == 20
    for pending in person.review.list()[0][:10]:
        person.review.approve(pending.proposal.id)
    refresh(person, repository)
    assert len(waiting(person)) == 15


def test_a_check_alone_writes_nothing(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    remember(person, "Invoices are numbered in src/invoices.py.", at, monkeypatch)
    repository.commit({"src/invoices.py": None})
    report = check_code_citations(person, repository.root, [PLACE])
    assert [one.finding.state for one in report.found] == ["gone"]
    assert waiting(person) == []
    assert not person.paths.code_notes(repository.root).exists()


def test_a_note_is_about_the_version_that_was_checked(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    memory = remember(person, "Invoices are numbered by quarter in src/invoices.py.", at, monkeypatch)
    repository.commit({"src/invoices.py": None})
    refresh(person, repository)
    person.update(memory.id, content="Invoices are numbered by quarter, by hand.")
    assert "numbered by quarter" in told(person, repository, "how are invoices numbered by quarter?")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 1, "head": "", "mark": "", "notes": {"a": [1]}}'])
def test_a_broken_file_of_notes_says_nothing(tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.json"
    file.write_text(text)
    assert read_notes(file).note("a", 1, tmp_path) is None


def test_the_present_commit_is_read_from_the_files_of_git(repository: CodeRepository) -> None:
    def head() -> str:
        project = find_project(repository.root)
        assert project is not None
        return head_commit(project.home, project.root)

    repository.commit({"a.py": "x = 1\n"})
    assert head() == repository.commits[-1]
    repository.git("pack-refs", "--all")
    assert head() == repository.commits[-1]
    repository.git("checkout", "-q", "--detach")
    assert head() == repository.commits[-1]
    tree = repository.root.parent / "tree"
    repository.git("worktree", "add", "-q", "-b", "other", str(tree))
    project = find_project(tree)
    assert project is not None
    assert head_commit(project.home, project.root) == repository.commits[-1]


def test_the_notes_are_made_later_than_the_memories_they_are_about(
    person: Workspace, repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = repository.commit({"src/invoices.py": "x = 1\n", "src/b.py": "y = 1\n"})
    remember(person, "Invoices are numbered in src/invoices.py.", at - timedelta(minutes=30), monkeypatch)
    report = refresh(person, repository)
    notes = read_notes(person.paths.code_notes(repository.root))
    assert (notes.head, report.citing) == (repository.commits[-1], 1)
