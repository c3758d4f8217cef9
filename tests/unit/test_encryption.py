"""Encrypting a workspace and the way back: nothing is lost, nothing is left in clear, whenever it is ended."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import memento_tui
from memento_tui import encryption
from memento_tui.api import Workspace
from memento_tui.api import encryption as workspace_encryption
from memento_tui.api.backups import replace_damaged
from memento_tui.api.compaction import compact
from memento_tui.api.drafts import EditorFile
from memento_tui.api.encryption import change_passphrase, decrypt, encrypt, lock, unlock
from memento_tui.api.encryption_status import clear_files
from memento_tui.errors import DataDirectoryError, InvalidInput, LockedWorkspace, MementoError, NotAllowed, NotFound
from memento_tui.paths import DataPaths
from memento_tui.storage import rewriting
from memento_tui.storage.connection import open_for_writing
from memento_tui.storage.long_work import StoppedError
from tests.encrypted import PASSPHRASE, cheap_passphrases, files_with, use_own_memory
from tests.made import PERSON, edit, without_engine

MARKER = "Perihelion"


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    """A directory with two memories, one of them changed, a backup, an index and a draft."""
    paths = DataPaths(without_engine(tmp_path / "data"))
    with memento_tui.open(paths.root) as workspace:
        memory = workspace.remember(f"{MARKER} is in January.", tags=[MARKER])
        workspace.remember("The port is 8080.")
        edit(workspace, memory.id, title=f"About {MARKER}")
        workspace.backups.make()
        assert _found(workspace) == [f"{MARKER} is in January."]
    EditorFile(paths, "note", f"An unsaved word about {MARKER}.")
    return paths


def _found(workspace: Workspace, query: str = MARKER) -> list[str]:
    return sorted(hit.memory.content for hit in workspace.search(query, mode="keyword").results)


def _state(root: Path) -> list[tuple[Any, ...]]:
    """Return all memories of a directory with the mark of its journal, which covers every version."""
    with memento_tui.open(root) as workspace:
        assert workspace._store.audit.pages_in_order(None) is None
        assert workspace._store.audit.journal_in_order(lambda *_: None, None) is None
        head = workspace._store.journal.head()
        memories = [one for batch in workspace._store.memories.batches() for one in batch]
        return [(head, workspace._store.journal.mark(head)), *((one.id, one.content, one.title) for one in memories)]


def _files(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_what_was_in_clear_stands_nowhere_afterwards(paths: DataPaths) -> None:
    before = _state(paths.root)
    assert files_with(MARKER, paths.root)
    done = encrypt(paths, PASSPHRASE)
    assert (done.key_id, done.backups, done.left) == (paths.key_id, 1, ())
    assert files_with(MARKER, paths.root) == []
    assert _state(paths.root) == before
    assert clear_files(paths) == []


def test_what_is_written_afterwards_stands_nowhere_in_clear_either(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        memory = workspace.remember("Aphelion is in July, and so is the heat.", title="Aphelion")
        edit(workspace, memory.id, content="Aphelion is early in July.")
        assert _found(workspace, "aphelion") == ["Aphelion is early in July."]
        workspace.backups.make()
        workspace.skips.add("aphelion pages", "none", "30d")
        compact(workspace, dry_run=False, progress=lambda *_: None)
        assert workspace.timeline(memory.id)
        assert files_with("aphelion", paths.root) == []  # with its log
        EditorFile(paths, "note", "An unsaved word about aphelion.")
        leaked = workspace.remember("Aphelion leaked.")
        workspace.purge(leaked.id, "a leak")
    with memento_tui.open(paths.root, read_only=True) as workspace:
        assert _found(workspace, "aphelion") == ["Aphelion is early in July."]
        assert files_with("aphelion", paths.root) == []
    assert files_with("aphelion", paths.root) == []


def test_indexes_and_drafts_are_in_memory_and_found_there(paths: DataPaths, memory: Path) -> None:
    encrypt(paths, PASSPHRASE)
    assert [file.read_text() for file in paths.drafts.iterdir()] == [f"An unsaved word about {MARKER}."]
    with memento_tui.open(paths.root) as workspace:
        assert _found(workspace)
        assert workspace.search_engine.keyword.notice == ""
    assert files_with(MARKER, memory)
    assert not (paths.root / "index").exists()
    assert not (paths.root / "drafts").exists()


def test_a_copy_of_an_index_for_reading_alone_lies_in_memory_too(
    paths: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypt(paths, PASSPHRASE)
    (tmp_path / "disk").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "disk"))
    with memento_tui.open(paths.root, read_only=True) as workspace:
        assert _found(workspace)
        assert list((tmp_path / "disk").iterdir()) == []


def test_locked_it_says_so_and_nothing_is_written(paths: DataPaths, memory: Path) -> None:
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        assert _found(workspace)
    before = _files(paths.root)
    assert lock(paths) == [paths.key_id]
    assert files_with(MARKER, memory) != []  # the draft, which is nowhere else
    assert [file.parent.name for file in memory.rglob("*") if file.is_file()] == ["drafts"]
    with pytest.raises(LockedWorkspace, match="is encrypted and locked"):
        memento_tui.open(paths.root)
    with pytest.raises(LockedWorkspace):
        memento_tui.open(paths.root, read_only=True)
    with pytest.raises(LockedWorkspace):
        decrypt(paths)
    assert _files(paths.root) == before
    assert lock(paths) == []


def test_a_program_that_has_it_open_reads_no_more_once_it_is_locked(paths: DataPaths, memory: Path) -> None:
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        assert _found(workspace)
        lock(paths)
        tries: tuple[Callable[[], object], ...] = (
            lambda: _found(workspace),
            lambda: workspace.list("port"),
            lambda: workspace.remember("Nobody keeps this."),
            workspace.backups.make,
        )
        for tried in tries:
            with pytest.raises(LockedWorkspace, match="is encrypted and locked"):
                tried()
        assert [file.parent.name for file in memory.rglob("*") if file.is_file()] == ["drafts"]  # no index again
        unlock(paths, PASSPHRASE)
        assert _found(workspace) == [f"{MARKER} is in January."]


def test_what_has_begun_when_it_is_locked_comes_to_its_end(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        with workspace._store.database.writing() as connection:
            connection.execute("INSERT INTO setting VALUES ('begun', 'before')")
            lock(paths)
            connection.execute("INSERT INTO setting VALUES ('ended', 'after')")
        unlock(paths, PASSPHRASE)
        assert workspace.settings.get("ended") == "after"


def test_the_passphrase_unlocks_it_and_no_other(paths: DataPaths) -> None:
    before = _state(paths.root)
    encrypt(paths, PASSPHRASE)
    lock(paths)
    with pytest.raises(NotAllowed, match="The passphrase is wrong"):
        unlock(paths, "correct horse battery")
    with pytest.raises(LockedWorkspace):
        memento_tui.open(paths.root)
    assert unlock(paths, PASSPHRASE) == [paths.key_id]
    assert _state(paths.root) == before


def test_no_link_beside_an_unlocked_key_leads_it_to_another_file(paths: DataPaths, tmp_path: Path) -> None:
    encrypt(paths, PASSPHRASE)
    unlocked = encryption.key_place(paths.key_id)
    lock(paths)
    kept = tmp_path / "kept"
    kept.write_text("Mine.")
    assert unlocked is not None
    unlocked.with_name(f"{paths.key_id}.{os.getpid()}").symlink_to(kept)
    unlock(paths, PASSPHRASE)
    assert kept.read_text() == "Mine."
    assert encryption.key_place(paths.key_id) == unlocked


def test_locking_takes_away_the_unfinished_key_of_an_unlock_that_was_killed(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    unlocked = encryption.key_place(paths.key_id)
    assert unlocked is not None
    key = unlocked.read_bytes()
    for name in (f".{paths.key_id}.0123456789abcdef", f"{paths.key_id}.4711"):
        unlocked.with_name(name).write_bytes(key)
    another = unlocked.with_name("fedcba9876543210")
    another.write_bytes(b"k" * len(key))
    lock(paths)
    assert list(unlocked.parent.iterdir()) == [another]


def test_the_passphrase_changes_and_what_is_encrypted_stays_as_it_is(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    database = paths.database.read_bytes()
    with pytest.raises(InvalidInput, match="7 characters"):
        change_passphrase(paths, PASSPHRASE, "shorter")
    with pytest.raises(NotAllowed, match="wrong"):
        change_passphrase(paths, "not this one", "another passphrase")
    change_passphrase(paths, PASSPHRASE, "another passphrase")
    lock(paths)
    with pytest.raises(NotAllowed, match="wrong"):
        unlock(paths, PASSPHRASE)
    unlock(paths, "another passphrase")
    assert paths.database.read_bytes() == database


def test_a_key_file_that_was_lost_is_taken_from_the_backups_or_from_elsewhere(paths: DataPaths, tmp_path: Path) -> None:
    encrypt(paths, PASSPHRASE)
    name = f"key-{paths.key_id}.json"
    shutil.copy(paths.root / name, tmp_path / name)
    lock(paths)
    (paths.root / name).unlink()
    assert unlock(paths, PASSPHRASE) == [paths.key_id]
    assert (paths.root / name).stat().st_mode & 0o777 == 0o600
    lock(paths)
    (paths.root / name).unlink()
    (paths.backups / name).unlink()
    with pytest.raises(NotFound, match="no key file"):
        unlock(paths, PASSPHRASE)
    unlock(paths, PASSPHRASE, key_file=tmp_path / name)
    assert (paths.root / name).read_bytes() == (paths.backups / name).read_bytes() == (tmp_path / name).read_bytes()
    (paths.root / name).write_text("{}")
    unlock(paths, PASSPHRASE)
    assert (paths.root / name).read_bytes() == (tmp_path / name).read_bytes()  # from the copy among the backups
    (paths.root / name).write_text("{}")
    (paths.backups / name).write_text("{}")
    with pytest.raises(DataDirectoryError, match=f"{name} cannot be read: it is damaged"):
        unlock(paths, PASSPHRASE)


def test_the_way_back_loses_nothing_and_leaves_no_key_in_use(paths: DataPaths, memory: Path) -> None:
    before = _state(paths.root)
    key_id = encrypt(paths, PASSPHRASE).key_id
    with memento_tui.open(paths.root) as workspace:
        assert _found(workspace)
    done = decrypt(paths)
    assert (done.key_id, done.backups, done.left) == ("", 1, ())
    assert paths.key_id == ""
    assert _state(paths.root) == before
    assert [file.read_text() for file in paths.drafts.iterdir()] == [f"An unsaved word about {MARKER}."]
    assert files_with(MARKER, memory) == []
    assert encryption.read_key(key_id) is None
    with memento_tui.open(paths.root) as workspace:
        assert workspace.backups.verify("latest") is None
        assert _found(workspace)
    with pytest.raises(NotAllowed, match="is not encrypted"):
        decrypt(paths)


def test_a_program_that_has_it_open_keeps_it_from_being_encrypted(paths: DataPaths) -> None:
    before = _state(paths.root)
    with memento_tui.open(paths.root) as workspace:
        with pytest.raises(NotAllowed, match=r"Another program has .* open"):
            encrypt(paths, PASSPHRASE)
        workspace.remember("It goes on.")
    assert paths.key_id == ""
    assert len(_state(paths.root)) == len(before) + 1
    assert [file.name for file in paths.root.glob("memento.db*")] == ["memento.db"]


def test_a_program_that_waited_cannot_write_to_the_file_before(paths: DataPaths) -> None:
    waiting = open_for_writing(paths.database, busy_seconds=0)
    encrypt(paths, PASSPHRASE)
    before = _files(paths.root)
    with pytest.raises(apsw.Error):
        waiting.execute("INSERT INTO setting VALUES ('lost', 'lost')")
    waiting.close()
    assert _files(paths.root) == before


class Camera:
    """Takes copies of a directory, as a power cut would leave it, before each change of a name and each removal."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self.taken: list[Path] = []
        self.is_on = False

    def watch(self, change: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that takes a copy before it makes the change."""

        def call(path: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function that it stands for
            if self.is_on and str(path).startswith(str(self._root)):
                self.is_on = False
                copy = self._folder / f"moment-{len(self.taken)}"
                self.taken.append(shutil.copytree(self._root, copy))
                self.is_on = True
            return change(path, *given, **named)

        return call

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take copies during the block."""
        self.is_on = True
        yield
        self.is_on = False

    def check(self, before: list[tuple[Any, ...]]) -> None:
        """Check that each copy holds everything, now and after the work is taken up again."""
        was_encrypted = set()
        for copy in self.taken:
            paths = DataPaths(copy)
            was_encrypted.add(bool(paths.key_id))
            if paths.key_id:
                unlock(paths, PASSPHRASE)  # its key file is there
            assert _state(copy) == before, copy
            encrypt(paths, PASSPHRASE)
            assert _state(copy) == before, copy
            assert files_with(MARKER, copy) == [], copy
            with memento_tui.open(copy) as workspace:
                assert [one.problem for one in workspace.backups.list()] == [""]
        assert was_encrypted == {False, True}


@pytest.fixture
def camera(paths: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Camera:
    made = Camera(paths.root, tmp_path)
    for place, name in ((Path, "replace"), (Path, "unlink"), (shutil, "rmtree"), (Path, "rmdir")):
        monkeypatch.setattr(place, name, made.watch(getattr(place, name)))
    return made


def test_ended_at_any_moment_it_is_whole_and_can_be_finished(paths: DataPaths, camera: Camera) -> None:
    before = _state(paths.root)
    with camera.running():
        encrypt(paths, PASSPHRASE)
    camera.check(before)


def test_the_way_back_ended_at_any_moment_is_whole(paths: DataPaths, camera: Camera) -> None:
    before = _state(paths.root)
    encrypt(paths, PASSPHRASE)
    with camera.running():
        decrypt(paths)
    in_clear = [copy for copy in camera.taken if not DataPaths(copy).key_id]
    assert in_clear
    for copy in in_clear:  # drafts are nowhere else: those in memory went with the machine
        assert files_with("An unsaved word", copy / "drafts") != []
    camera.check(before)


def test_ended_by_the_person_it_changed_nothing(paths: DataPaths) -> None:
    before = _state(paths.root)

    class Stopped:
        def is_set(self) -> bool:
            return True

    with pytest.raises(StoppedError):
        encrypt(paths, PASSPHRASE, stop=Stopped())  # type: ignore[arg-type] # all that is asked of an event
    assert paths.key_id == ""
    assert not list(paths.root.glob("memento.db.*"))
    assert _state(paths.root) == before


def test_a_row_that_was_not_copied_is_found_before_anything_is_replaced(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _state(paths.root)
    write = rewriting._write

    def write_less(source: Any, made: Path, key_id: str, *rest: Any) -> None:  # noqa: ANN401 - as the original
        write(source, made, key_id, *rest)
        copy = open_for_writing(made, busy_seconds=0)
        copy.execute("UPDATE memory SET content = 'changed' WHERE number = 2")
        copy.close()

    monkeypatch.setattr(rewriting, "_write", write_less)
    with pytest.raises(DataDirectoryError, match="row 2 of memory differs"):
        encrypt(paths, PASSPHRASE)
    assert paths.key_id == ""
    assert _state(paths.root) == before


def test_a_damaged_backup_stays_as_it_is_and_is_named(paths: DataPaths) -> None:
    with memento_tui.open(paths.root) as workspace:
        damaged = workspace.backups.make()
    (paths.backups / damaged.name).write_bytes(b"SQLite format 3\x00" + b"nothing" * 1000)
    assert encrypt(paths, PASSPHRASE).left == (damaged.name,)
    assert [file.name for file in clear_files(paths)] == [damaged.name]


def test_backups_of_an_encrypted_workspace_need_its_key_and_no_more(paths: DataPaths, tmp_path: Path) -> None:
    encrypt(paths, PASSPHRASE)
    before = _state(paths.root)
    with memento_tui.open(paths.root) as workspace:
        made = workspace.backups.make()
        assert workspace.backups.verify(made.name) is None
        workspace.remember("Later.")
        workspace.backups.restore(made.name)
    assert _state(paths.root)[1:] == before[1:]
    other = without_engine(tmp_path / "other")
    replace_damaged(DataPaths(other), PERSON, str(paths.backups / made.name))
    assert DataPaths(other).key_id == paths.key_id
    assert _state(other)[1:] == before[1:]
    lock(paths)
    with pytest.raises(LockedWorkspace, match="locked"):
        replace_damaged(DataPaths(other), PERSON, str(paths.backups / made.name))


def test_a_backup_in_clear_is_not_restored_into_an_encrypted_workspace(paths: DataPaths, tmp_path: Path) -> None:
    with memento_tui.open(paths.root) as workspace:
        made = workspace.backups.make()
    elsewhere = tmp_path / made.name
    shutil.copy(paths.backups / made.name, elsewhere)
    encrypt(paths, PASSPHRASE)
    before = _files(paths.root)
    with memento_tui.open(paths.root) as workspace, pytest.raises(NotAllowed, match="another key"):
        workspace.backups.restore(str(elsewhere))
    assert files_with(MARKER, paths.root) == []
    assert _files(paths.root).keys() == before.keys()


def test_without_a_place_in_memory_nothing_is_encrypted(paths: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _files(paths.root)
    monkeypatch.setattr(encryption, "_is_in_memory", lambda _folder: False)
    with pytest.raises(DataDirectoryError, match="no file system in memory"):
        encrypt(paths, PASSPHRASE)
    assert _files(paths.root) == before


def test_a_short_passphrase_and_a_missing_workspace_are_refused(paths: DataPaths, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="7 characters"):
        encrypt(paths, "shorter")
    with pytest.raises(DataDirectoryError, match="no memento data"):
        encrypt(DataPaths(tmp_path / "none"), PASSPHRASE)
    for refused in (lambda: decrypt(paths), lambda: change_passphrase(paths, PASSPHRASE, PASSPHRASE)):
        with pytest.raises(NotAllowed, match="is not encrypted"):
            refused()
    with pytest.raises(NotFound):
        unlock(paths, PASSPHRASE)
    assert paths.key_id == ""


def test_an_engine_that_stays_keeps_it_from_being_encrypted(paths: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    def stays(_client: object) -> bool:
        raise MementoError("The engine was told to stop and still runs.")

    monkeypatch.setattr(workspace_encryption, "stop_engine", stays)
    with pytest.raises(MementoError, match="still runs"):
        encrypt(paths, PASSPHRASE)
    assert paths.key_id == ""


def test_a_refused_encryption_leaves_no_key(paths: DataPaths, memory: Path) -> None:
    with Workspace(paths.root), pytest.raises(NotAllowed, match="Another program"):
        encrypt(paths, PASSPHRASE)
    assert not list(paths.root.rglob("key-*.json"))
    assert not [file for file in memory.rglob("*") if file.is_file()]


def test_a_database_with_a_second_name_is_not_encrypted_and_both_names_stay_as_they_were(
    paths: DataPaths, tmp_path: Path
) -> None:
    snapshot = tmp_path / "snapshot.db"
    snapshot.hardlink_to(paths.database)
    before = snapshot.read_bytes()
    with pytest.raises(DataDirectoryError, match="has a second name"):
        encrypt(paths, PASSPHRASE)
    assert snapshot.read_bytes() == paths.database.read_bytes() == before
    assert before.startswith(b"SQLite format 3\0")


def test_the_passphrase_of_an_older_key_changes_no_other(paths: DataPaths) -> None:
    encrypt(paths, "the words of the older key")
    decrypt(paths)
    encrypt(paths, PASSPHRASE)
    with pytest.raises(NotAllowed, match="another key"):
        change_passphrase(paths, "the words of the older key", "words that nobody asked for")


def test_an_encrypted_backup_that_is_restored_elsewhere_brings_its_key_file(paths: DataPaths, tmp_path: Path) -> None:
    encrypt(paths, PASSPHRASE)
    with Workspace(paths.root) as workspace:
        made = workspace.backups.make()
    elsewhere = DataPaths(tmp_path / "elsewhere")
    replace_damaged(elsewhere, PERSON, str(paths.backups / made.name))
    lock(paths)
    assert unlock(elsewhere, PASSPHRASE) == [elsewhere.key_id]


def test_a_backup_in_clear_takes_no_encrypted_database_s_place(paths: DataPaths, tmp_path: Path) -> None:
    with Workspace(paths.root) as workspace:
        made = workspace.backups.make()
    clear = shutil.copyfile(paths.backups / made.name, tmp_path / made.name)
    encrypt(paths, PASSPHRASE)
    with pytest.raises(NotAllowed, match="this backup is not"):
        replace_damaged(paths, PERSON, str(clear))
