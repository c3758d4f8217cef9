"""The branch that is checked out, as the files of repositories of several kinds say, without git being started."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.git_files import checked_out_branch
from tests.unit.code_repository import CodeRepository


@pytest.fixture
def repository(tmp_path: Path) -> CodeRepository:
    made = CodeRepository(tmp_path / "site")
    made.commit({"a.py": "a = 1\n"})
    return made


def test_the_default_branch_and_a_commit_without_a_branch_are_none(repository: CodeRepository) -> None:
    assert checked_out_branch(repository.root) == ""
    repository.git("switch", "-q", "-c", "feature/login")
    assert checked_out_branch(repository.root) == "feature/login"
    repository.git("switch", "-q", "--detach")
    assert checked_out_branch(repository.root) == ""


def test_a_worktree_has_the_branch_of_its_own(repository: CodeRepository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", "-b", "hotfix", str(tmp_path / "beside"))
    assert checked_out_branch(tmp_path / "beside") == "hotfix"
    assert checked_out_branch(repository.root) == ""


def test_a_submodule_has_the_branch_of_its_own(repository: CodeRepository, tmp_path: Path) -> None:
    whole = CodeRepository(tmp_path / "whole")
    whole.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository.root), "vendor/site")
    inside = CodeRepository(tmp_path / "whole" / "vendor" / "site")
    inside.git("switch", "-q", "-c", "patched")
    assert checked_out_branch(inside.root) == "patched"
    assert checked_out_branch(whole.root) == ""


def test_a_rebase_goes_on_for_the_branch_that_it_moves(repository: CodeRepository) -> None:
    repository.git("switch", "-q", "-c", "long")
    repository.commit({"a.py": "a = 2\n"})
    repository.git("switch", "-q", "main")
    repository.commit({"a.py": "a = 3\n"})
    repository.git("switch", "-q", "long")
    with pytest.raises(Exception, match="rebase"):
        repository.git("rebase", "-q", "main")
    assert checked_out_branch(repository.root) == "long"


def test_a_clone_knows_its_default_branch_by_any_name(repository: CodeRepository, tmp_path: Path) -> None:
    repository.git("branch", "-q", "-m", "develop")
    repository.git("clone", "-q", str(repository.root), str(tmp_path / "clone"))
    clone = CodeRepository(tmp_path / "clone")
    assert checked_out_branch(clone.root) == ""
    clone.git("switch", "-q", "-c", "idea")
    assert checked_out_branch(clone.root) == "idea"


def test_where_no_default_branch_is_known_no_branch_is_apart(repository: CodeRepository) -> None:
    repository.git("branch", "-q", "-m", "develop")
    repository.git("switch", "-q", "-c", "idea")
    assert checked_out_branch(repository.root) == ""
    repository.git("branch", "-q", "trunk")
    repository.git("pack-refs", "--all")
    assert checked_out_branch(repository.root) == "idea"


@pytest.mark.parametrize("head", ["", "ref:", "ref: refs/heads/", "ref: refs/heads/.invalid", "\0\xff", "0" * 40])
def test_a_head_that_names_no_branch_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert checked_out_branch(tmp_path) == ""


def test_a_folder_without_a_repository_has_no_branch(tmp_path: Path) -> None:
    assert checked_out_branch(tmp_path) == ""
    assert checked_out_branch(tmp_path / "missing") == ""
