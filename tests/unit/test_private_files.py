"""Files of a data directory are their owner's alone, whatever the umask is and whoever made the directory."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.drafts import EditorFile
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.locations import check_socket_folder
from memento_tui.paths import DataPaths
from memento_tui.private_files import foreign_names
from tests.files import taking_rights
from tests.unit.cli_program import Program

_LIBRARY_USE = """
import os, sys
import memento_tui
with memento_tui.open(sys.argv[1]) as workspace:
    workspace.remember("The port of the service is 8000.")
    workspace.search("port", mode="keyword")
    workspace.backups.make()
    print(os.stat(workspace.paths.database.with_name("memento.db-wal")).st_mode & 0o777)
"""


def open_to_others(root: Path) -> list[str]:
    """Return the files and directories at and below a directory that others may use in some way."""
    modes = {path: path.lstat().st_mode for path in (root, *root.rglob("*"))}
    return [f"{path.relative_to(root)} {stat.S_IMODE(mode):o}" for path, mode in modes.items() if mode & 0o077]


def _run(*words: str, umask: int) -> str:
    environment = {**os.environ, "HOME": "/none"}
    ended = subprocess.run(  # noqa: S603 - this Python
        words, capture_output=True, text=True, timeout=60, check=True, umask=umask, env=environment
    )
    return ended.stdout


@pytest.fixture(params=["none", "0755", "0777"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data directory that is not there yet, or that somebody made open to others."""
    folder = tmp_path / "data"
    if request.param != "none":
        folder.mkdir()
        (folder / "config.toml").write_text("[engine]\nenabled = false\n")
        (folder / "config.toml").chmod(0o644)
        (folder / "index" / "keyword").mkdir(parents=True)
        (folder / "index").chmod(int(request.param, 8))
        (folder / "index" / "keyword").chmod(int(request.param, 8))
        folder.chmod(int(request.param, 8))
    return folder


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_program_that_uses_the_library_writes_nothing_that_others_may_read(folder: Path, umask: int) -> None:
    with taking_rights(umask), memento_tui.open(folder) as workspace:
        _remember_search_and_back_up(workspace)
        log = workspace.paths.database.with_name("memento.db-wal")
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert open_to_others(folder) == []


def _remember_search_and_back_up(workspace: Workspace) -> None:
    for number in range(3):
        workspace.remember(f"The port of service {number} is {8000 + number}.")
        workspace.search("port", mode="keyword")
    workspace.backups.make()


def test_neither_does_a_program_of_its_own(tmp_path: Path) -> None:
    assert _run(sys.executable, "-c", _LIBRARY_USE, str(tmp_path / "data"), umask=0) == f"{0o600}\n"
    assert open_to_others(tmp_path / "data") == []


def test_the_commands_write_nothing_that_others_may_read(folder: Path) -> None:
    program = Program(folder)
    with taking_rights(0):
        assert program.run("add", "The port is 8080.").code == 0
        (folder / "config.toml").write_text("[engine]\nenabled = false\n")
        (folder / "config.toml").chmod(0o644)
        for words in (["search", "port"], ["backup", "make"], ["maintain"]):
            assert program.run(*words).code == 0
    assert open_to_others(folder) == []


def test_neither_does_the_command_in_a_process_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    _run(sys.executable, "-m", "memento_tui", "--data-dir", str(folder), "add", "The port is 8080.", umask=0)
    assert open_to_others(folder) == []


def test_what_an_older_memento_left_open_is_closed(data_dir: Path) -> None:
    with Workspace(data_dir) as workspace:
        workspace.remember("The port is 8080.")
        workspace.search("port", mode="keyword")
        workspace.backups.make()
    for path in (data_dir, *data_dir.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    with Workspace(data_dir):
        pass
    assert open_to_others(data_dir) == []


def test_files_of_others_in_the_directory_are_left_as_they_are(data_dir: Path) -> None:
    with Workspace(data_dir) as workspace:
        workspace.remember("The port is 8080.")
    (data_dir / "site").mkdir()
    (data_dir / "site").chmod(0o755)  # whatever mask the tests before have left
    (data_dir / "site" / "index.html").write_text("Public.")
    (data_dir / "site" / "index.html").chmod(0o644)
    (data_dir / "link").symlink_to(data_dir / "site" / "index.html")
    data_dir.chmod(0o755)
    (data_dir / "memento.db").chmod(0o644)
    with Workspace(data_dir):
        pass
    assert sorted(name for name in open_to_others(data_dir) if not name.startswith("link")) == [
        ". 755",
        "site 755",
        "site/index.html 644",
    ]


def test_every_file_of_a_data_directory_is_known_as_memento_s_own(data_dir: Path) -> None:
    paths = DataPaths(data_dir)
    named = [getattr(paths, name) for name, kind in vars(DataPaths).items() if isinstance(kind, property)]
    inside = [path for path in named if isinstance(path, Path) and path.is_relative_to(data_dir) and path != data_dir]
    tops = {path.relative_to(data_dir).parts[0] for path in inside}
    assert {"memento.db", "index", "http.key", "engine.log"} <= tops
    for name in tops:
        (data_dir / name).touch()
    assert foreign_names(data_dir) == []


def test_a_link_among_memento_s_own_names_is_not_followed(data_dir: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("Shared on purpose.")
    elsewhere.chmod(0o644)
    with Workspace(data_dir) as workspace:
        workspace.remember("The port is 8080.")
    (data_dir / "engine.log").symlink_to(elsewhere)
    with Workspace(data_dir):
        pass
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644


def test_drafts_and_vectors_are_the_owners_alone(workspace: Workspace) -> None:
    with taking_rights(0):
        workspace.paths.drafts.mkdir(mode=0o777)
        EditorFile(workspace.paths, "memory", "Unsaved.")
        VectorIndex(workspace.paths.semantic_index, 4, "store", "model")
    assert stat.S_IMODE(workspace.paths.drafts.stat().st_mode) == 0o700
    assert stat.S_IMODE(workspace.paths.semantic_index.stat().st_mode) == 0o700
    assert open_to_others(workspace.paths.drafts) == []


def test_a_socket_lies_in_no_folder_that_another_user_could_have_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "memento-0").mkdir(mode=0o700)
    socket = str(folder / "engine.sock")
    check_socket_folder("/elsewhere", socket)
    folder.chmod(0o755)
    with pytest.raises(PermissionError, match="only you may use"):
        check_socket_folder("/elsewhere", socket)
    folder.chmod(0o700)
    (link := tmp_path / "link").symlink_to(folder)
    with pytest.raises(PermissionError, match="only you may use"):
        check_socket_folder("/elsewhere", str(link / "engine.sock"))
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="only you may use"):
        check_socket_folder("/elsewhere", socket)
