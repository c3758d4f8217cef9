"""A pipe in the place of a file of the data directory waits for no writer, and a link leads to no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memento_tui import desktop_notice
from memento_tui.api import Workspace
from memento_tui.api.configuration import SettingsFile
from memento_tui.api.key_files import KeyFile, is_key_file, open_key_file, wrap_key, write_key_file
from memento_tui.api.tokens import ScriptTokens
from memento_tui.compat.http.keys import ApiKeys
from memento_tui.compat.protocol.workspaces import find_workspace_scope
from memento_tui.config import load_config
from memento_tui.encryption import noted_key
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.formats.import_export import run_import
from memento_tui.hooks.fallback import log_error
from memento_tui.hooks.main import Arguments
from memento_tui.hooks.settings import HookSettings, read_settings
from memento_tui.maintenance.code.notes import read_notes, write_notes
from memento_tui.mirror.folder import MirrorFolder
from memento_tui.paths import DataPaths
from memento_tui.private_files import replace_file
from memento_tui.processes import start_detached
from memento_tui.regular_files import open_regular
from memento_tui.status_line import waiting
from memento_tui.storage.backup_folder import BackupFolder
from memento_tui.storage.last_known import read_last_known
from memento_tui.tui.crash_report import write_crash_report


def test_a_pipe_in_the_place_of_the_configuration_is_said_to_be_none(tmp_path: Path) -> None:
    pipe = tmp_path / "config.toml"
    os.mkfifo(pipe)
    with pytest.raises(DataDirectoryError, match="it is no regular file"):
        load_config(pipe)
    assert read_settings(pipe) == HookSettings()


def test_pipes_in_the_place_of_what_memento_notes_are_passed_over(data_dir: Path) -> None:
    with Workspace(data_dir) as workspace:
        kept = workspace.remember("The port is 8080.")
    for name in ("workspace.json", "waiting.txt"):
        (data_dir / name).unlink()
        os.mkfifo(data_dir / name)
    with Workspace(data_dir) as workspace:
        workspace.remember("The host is stage2.")
        assert workspace.get(kept.id).content == "The port is 8080."
    assert waiting(str(data_dir)) == (0, 0)
    assert read_last_known(data_dir / "memento.db") is None
    assert noted_key(data_dir / "memento.db") == ""


def test_links_in_the_place_of_what_memento_writes_lead_it_to_no_other_file(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = DataPaths(data_dir)
    data_dir.mkdir(exist_ok=True)
    logs = (paths.crash_report, paths.engine_log, paths.hook_log, paths.last_notice, paths.maintenance_log)
    mine = []
    for place in (*logs, data_dir / "waiting.txt", data_dir / "workspace.json"):
        mine.append(tmp_path / f"mine {place.name}")
        mine[-1].write_text("Keep me.\n" * 9)
        place.symlink_to(mine[-1])
    monkeypatch.setattr("shutil.which", lambda _: "/bin/true")
    with Workspace(data_dir, actor="agent", channel="mcp") as agent:
        agent.remember("The port is 8080.", source_type="external")
    desktop_notice.show_notice(paths.last_notice, 1)
    write_crash_report(paths)
    log_error(Arguments(["SessionStart", "--data-dir", str(data_dir)]), ValueError("a fault"))
    with pytest.raises(OSError, match="symbolic link"):
        start_detached(["/bin/true"], log=str(paths.maintenance_log))
    with pytest.raises(OSError, match="symbolic link"):
        open_regular(paths.engine_log, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    assert [one.read_text() for one in mine] == ["Keep me.\n" * 9] * len(mine)


@pytest.mark.parametrize(
    "name",
    [
        *("index", "index/keyword", "index/keyword/.tantivy-meta.lock", "index/semantic", "backups", "drafts", "code"),
        *("backups.json", "backups/memento-20260101T000000Z.db", "drafts/typed-editor.json", "code/00000000.json"),
        *("memento.db", "memento.db-wal", "memento.db-shm", "memento.db-journal"),
    ],
)
def test_a_directory_whose_own_folders_are_links_is_refused_before_anything_is_written(
    data_dir: Path, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / "mine"
    (mine / "keyword").mkdir(parents=True)
    (mine / "keyword" / "paper.txt").write_text("Keep me.")
    place = data_dir / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(mine)
    before = set(data_dir.iterdir())
    with pytest.raises(DataDirectoryError, match=f"{name} is a link") as refused, Workspace(data_dir):
        pass
    assert "MEMENTO_HOME" in refused.value.hint
    with pytest.raises(DataDirectoryError, match=f"{name} is a link"), BackupFolder(DataPaths(data_dir)).locked():
        pass
    assert set(data_dir.iterdir()) == before
    assert [path.relative_to(mine).as_posix() for path in mine.rglob("*")] == ["keyword", "keyword/paper.txt"]


def test_a_pipe_in_the_place_of_the_database_is_refused_and_waited_for_by_nobody(data_dir: Path) -> None:
    os.mkfifo(data_dir / "memento.db")
    for read_only in (False, True):
        with (
            pytest.raises(DataDirectoryError, match=r"memento\.db is a pipe"),
            Workspace(data_dir, read_only=read_only),
        ):
            pass


def test_a_database_that_is_another_directorys_is_not_written_under_its_settings(
    data_dir: Path, tmp_path: Path
) -> None:
    with Workspace(data_dir) as mine:
        mine.remember("The port is 8080.")
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "config.toml").write_text('[review]\npreset = "open"\n')
    (strange / "memento.db").symlink_to(data_dir / "memento.db")
    with (
        pytest.raises(DataDirectoryError, match=r"memento\.db is a link"),
        Workspace(strange, actor="agent", channel="mcp"),
    ):
        pass
    (strange / "memento.db").unlink()
    os.link(data_dir / "memento.db", strange / "memento.db")
    for either in (strange, data_dir):
        with pytest.raises(DataDirectoryError, match=r"memento\.db has a second name") as refused, Workspace(either):
            pass
        assert "`cp -p`" in refused.value.hint
    (strange / "memento.db").unlink()
    with Workspace(data_dir) as again:
        assert [one.content for one in again.list().items] == ["The port is 8080."]


def test_a_link_to_the_whole_data_directory_is_followed(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data_dir)
    with Workspace(tmp_path / "link") as workspace:
        kept = workspace.remember("The port is 8080.")
        assert [hit.memory.id for hit in workspace.search("port").results] == [kept.id]
    assert (data_dir / "index" / "keyword").is_dir()


def test_what_a_file_is_called_before_it_is_whole_cannot_be_guessed(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = DataPaths(data_dir)
    (paths.root / "code").mkdir(parents=True)
    monkeypatch.setattr(os, "getpid", lambda: 77)
    notes, key = paths.root / "code" / "0.json", paths.root / "key-0123456789abcdef.json"
    mine = tmp_path / "mine"
    mine.write_text("Keep me.")
    guessed = (
        paths.root / "backups.part",
        paths.root / "config.toml.77",
        key.with_name(f".{key.name}.77"),
    )
    for place in guessed:
        place.symlink_to(mine)
    with Workspace(data_dir) as workspace:
        workspace.remember("The port is 8080.")
        workspace.backups.make()
    SettingsFile(paths).set("engine.enabled", "false")
    notes.with_suffix(".77").symlink_to(mine)
    write_notes(notes, read_notes(notes))
    write_key_file(paths.root, KeyFile("0123456789abcdef", "", 1, 1, 1, "", ""))
    assert mine.read_text() == "Keep me."
    assert not any(path.is_symlink() for path in (notes, key, paths.config, paths.backup_checks))
    assert all(path.exists() for path in (notes, key, paths.config, paths.backup_checks))


def test_a_file_that_cannot_be_put_in_place_leaves_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "folder", b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_folder_of_notes_that_somebody_else_made_leads_the_mirror_to_no_other_file(tmp_path: Path) -> None:
    own = tmp_path / "notes" / ".memento-mirror"
    own.mkdir(parents=True)
    mine, new = tmp_path / "mine", tmp_path / "new"
    mine.write_text("precious")
    (own / "mark").symlink_to(mine)
    (own / ".gitignore").symlink_to(new)
    folder = MirrorFolder(tmp_path / "notes")
    try:
        assert not folder.mark()
        with pytest.raises(InvalidInput):
            folder.set_mark("abc")
        (own / "mark").unlink()
        folder.set_mark("abc")
        assert folder.mark() == "abc"
    finally:
        folder.close()
    assert mine.read_text() == "precious"
    assert not new.exists()


def test_a_pipe_in_the_place_of_a_mirrors_mark_is_no_mark(tmp_path: Path) -> None:
    (tmp_path / ".memento-mirror").mkdir()
    os.mkfifo(tmp_path / ".memento-mirror" / "mark")
    folder = MirrorFolder(tmp_path)
    try:
        assert not folder.mark()
    finally:
        folder.close()


def test_a_repository_whose_settings_are_a_pipe_or_never_end_is_refused(tmp_path: Path) -> None:
    settings = tmp_path / ".memento.json"
    os.mkfifo(settings)
    with pytest.raises(InvalidInput, match="cannot be read"):
        find_workspace_scope(tmp_path, {})
    settings.unlink()
    settings.symlink_to("/dev/zero")
    with pytest.raises(InvalidInput, match="cannot be read"):
        find_workspace_scope(tmp_path, {})


def test_a_directory_with_a_pipe_in_its_index_or_for_its_tokens_is_refused(data_dir: Path) -> None:
    with Workspace(data_dir) as workspace:
        workspace.remember("The port is 8080.")
    paths = DataPaths(data_dir)
    os.mkfifo(paths.script_tokens)
    with pytest.raises(DataDirectoryError, match="cannot be read"):
        ScriptTokens(paths).accepts("mto_x")
    (data_dir / "index" / "keyword").mkdir(parents=True, exist_ok=True)
    os.mkfifo(data_dir / "index" / "keyword" / "x.idx")
    with pytest.raises(DataDirectoryError, match=r"x\.idx is no regular file"):
        paths.check_no_links()


def test_a_key_file_that_is_a_pipe_or_asks_for_gigabytes_opens_nothing(tmp_path: Path) -> None:
    file = write_key_file(tmp_path, wrap_key("ab" * 8, b"k" * 32, "correct horse battery"))
    assert open_key_file(file, "correct horse battery") == ("ab" * 8, b"k" * 32)
    whole = json.loads(file.read_bytes())
    for dear in ({"work": 1 << 24}, {"lanes": 1 << 20}, {"block": 1 << 20}, {"work": -1}, {"lanes": 0}):
        file.write_text(json.dumps(whole | dear))
        with pytest.raises(DataDirectoryError, match="none of memento's: it asks for no work"):
            open_key_file(file, "correct horse battery")
    file.unlink()
    os.mkfifo(file)
    assert not is_key_file(file)
    with pytest.raises(DataDirectoryError, match="cannot be read"):
        open_key_file(file, "correct horse battery")


def test_a_pipe_in_the_place_of_the_servers_key_is_said_to_be_none(workspace: Workspace) -> None:
    os.mkfifo(workspace.paths.http_key)
    with pytest.raises(DataDirectoryError, match="it is no regular file"):
        ApiKeys(workspace.settings, workspace.paths.http_key)


@pytest.mark.parametrize("name", ["pipe", "pipe.db"])
def test_a_pipe_that_is_named_outright_is_told_to_be_no_file(workspace: Workspace, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    report = run_import(workspace, "protocol-sqlite", tmp_path / name)
    assert (report.imported, len(report.refused)) == (0, 1)
    assert "no regular file" in report.refused[0].reason or "not a regular file" in report.refused[0].reason
