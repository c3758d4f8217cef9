"""Which project a directory belongs to where repositories are not as simple as one folder with ``.git`` in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memento_tui.projects import Project, find_project, namespace_of_project

IDENTITY = ("-c", "user.name=d", "-c", "user.email=d@example.org", "-c", "protocol.file.allow=always")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *IDENTITY, "-C", str(folder), *arguments], check=True, capture_output=True)  # noqa: S603, S607 - a real repository


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


def project(folder: Path) -> Project:
    found = find_project(folder)
    assert found is not None
    return found


def test_the_worktrees_of_a_second_repository_of_one_name_share_one_memory_wherever_they_are(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    namespace_of_project(project(repository(tmp_path / "dana" / "api")), kept.get, kept.__setitem__)
    second = repository(tmp_path / "eli" / "api")
    worktree = tmp_path / "elsewhere" / "hotfix"
    git(second, "worktree", "add", "-q", str(worktree))
    assert namespace_of_project(project(worktree), kept.get, kept.__setitem__) == "projects/eli-api"
    assert namespace_of_project(project(second), kept.get, kept.__setitem__) == "projects/eli-api"


def test_a_bare_repository_beside_its_worktrees_is_named_after_their_folder(tmp_path: Path) -> None:
    source = repository(tmp_path / "source")
    shop = tmp_path / "shop"
    shop.mkdir()
    git(shop, "clone", "-q", "--bare", str(source), str(shop / ".bare"))
    (shop / ".git").write_text("gitdir: ./.bare\n")
    git(shop / ".bare", "worktree", "add", "-q", str(shop / "hotfix"))
    assert project(shop).name == project(shop / "hotfix").name == "shop"
    assert project(shop).home == project(shop / "hotfix").home


def test_a_submodule_is_a_project_of_its_own_and_told_apart_by_what_it_is_a_part_of(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    library = repository(tmp_path / "src" / "parser")
    namespace_of_project(project(library), kept.get, kept.__setitem__)
    site = repository(tmp_path / "site")
    git(site, "submodule", "--quiet", "add", str(library), "vendor/parser")
    inside = project(site / "vendor" / "parser")
    assert inside.root == (site / "vendor" / "parser").resolve()
    assert inside.name == "parser"
    assert namespace_of_project(inside, kept.get, kept.__setitem__) == "projects/site-parser"


def test_many_projects_of_one_name_never_share_a_memory(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    folders = [tmp_path / str(number) / "dana" / "api" for number in range(5)]
    names = {namespace_of_project(project(repository(folder)), kept.get, kept.__setitem__) for folder in folders}
    assert len(names) == 5
    assert names == {namespace_of_project(project(folder), kept.get, kept.__setitem__) for folder in folders}


def test_a_home_directory_that_is_a_repository_takes_nothing_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = repository(tmp_path / "dana")
    monkeypatch.setenv("HOME", str(home))
    assert find_project(home) is None
    (home / "notes").mkdir()
    assert project(home / "notes").name == "notes"
    assert project(repository(home / "code" / "site")).name == "site"


def test_an_empty_folder_called_git_makes_no_project_of_what_lies_below(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()
    assert project(tmp_path / "notes").root == (tmp_path / "notes").resolve()


def test_a_link_leads_to_the_project_that_it_points_to(tmp_path: Path) -> None:
    site = repository(tmp_path / "site")
    (site / "src").mkdir()
    link = tmp_path / "link"
    link.symlink_to(site / "src")
    assert project(link).root == site.resolve()


@pytest.mark.parametrize("pointer", ["", "gitdir:", "gitdir: /nowhere/at/all", "\0\xff", "gitdir: ."])
def test_a_pointer_that_leads_nowhere_makes_no_repository(tmp_path: Path, pointer: str) -> None:
    (tmp_path / ".git").write_text(pointer)
    assert project(tmp_path).home == tmp_path.resolve()
