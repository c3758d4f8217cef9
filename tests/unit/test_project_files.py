"""The branch that is checked out, as the files of repositories of several kinds say, without git being started."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from memento_tui.projects import checked_out_branch, common_directory, head_commit
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


@pytest.mark.parametrize(
    "name",
    ["HEAD", "packed-refs", "commondir", "refs/heads/idea", "refs/remotes/origin/HEAD", "rebase-merge/head-name"],
)
@pytest.mark.parametrize("head", ["ref: refs/heads/idea", "0" * 40])
def test_a_pipe_in_the_place_of_a_file_of_git_is_read_as_nothing(tmp_path: Path, name: str, head: str) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    (git / "HEAD").write_text(head)
    pipe = git / name
    pipe.parent.mkdir(parents=True, exist_ok=True)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    assert checked_out_branch(tmp_path) == ""
    assert common_directory(git) == git
    assert head_commit(git, tmp_path) in ("", head)


def test_a_pipe_or_a_device_in_the_place_of_the_repository_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert checked_out_branch(tmp_path) == ""
    assert common_directory(tmp_path / ".git") is None
    (tmp_path / "linked" / ".git").mkdir(parents=True)
    (tmp_path / "linked" / ".git" / "HEAD").symlink_to("/dev/zero")
    assert checked_out_branch(tmp_path / "linked") == ""


def test_a_head_that_leads_out_of_the_repository_is_not_followed(repository: CodeRepository) -> None:
    git = repository.root / ".git"
    (repository.root / "private").write_text("a secret\n")
    (git / "HEAD").write_text("ref: refs/../../private\n")
    assert head_commit(git, repository.root) == ""


def test_the_default_branch_is_found_among_many_packed_ones(repository: CodeRepository) -> None:
    repository.git("switch", "-q", "-c", "idea")
    repository.git("pack-refs", "--all")
    packed = repository.root / ".git" / "packed-refs"
    many = "".join(f"{'a' * 40} refs/heads/a{number:05}\n" for number in range(10_000))
    packed.write_text(packed.read_text().replace("\n", f"\n{many}", 1))
    shutil.rmtree(repository.root / ".git" / "refs" / "heads")
    assert checked_out_branch(repository.root) == "idea"
    assert head_commit(repository.root / ".git", repository.root) == repository.commits[-1]
