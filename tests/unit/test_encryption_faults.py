"""Encryption where something goes wrong: lost and damaged files, refusals, ends at a bad moment, two at once."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import memento_tui
from memento_tui import encryption
from memento_tui.api import encryption as workspace_encryption
from memento_tui.api.backups import replace_damaged
from memento_tui.api.drafts import EditorFile
from memento_tui.api.encryption import change_passphrase, decrypt, encrypt, lock, unlock
from memento_tui.api.encryption_status import clear_files
from memento_tui.api.key_files import KeyFile, write_key_file
from memento_tui.errors import (
    DamagedFile,
    DataDirectoryError,
    InvalidInput,
    LockedWorkspace,
    LostData,
    NotAllowed,
    NotFound,
)
from memento_tui.formats.import_export import run_export
from memento_tui.mirror.mirror import Mirror
from memento_tui.paths import DataPaths
from memento_tui.storage.backup_folder import BackupFolder
from memento_tui.storage.last_known import last_known_file, read_last_known
from tests.encrypted import PASSPHRASE, cheap_passphrases, end_decryption_after_the_swap, files_with, use_own_memory
from tests.made import PERSON, without_engine

MARKER = "Perihelion"


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    """A directory with a memory, a backup and a draft."""
    paths = DataPaths(without_engine(tmp_path / "data"))
    with memento_tui.open(paths.root) as workspace:
        workspace.remember(f"{MARKER} is in January.")
        workspace.backups.make()
    EditorFile(paths, "note", f"An unsaved word about {MARKER}.")
    return paths


def _clear_backup(paths: DataPaths, folder: Path) -> Path:
    """Return a copy, kept elsewhere, of the backup that was made in clear."""
    (made,) = paths.backups.glob("*.db")
    return Path(shutil.copyfile(made, folder / made.name))


def _destroy_beginning(paths: DataPaths) -> None:
    with paths.database.open("r+b") as file:
        file.write(b"\0" * 64)


def _lose(paths: DataPaths) -> None:
    paths.database.unlink()


def _lose_with_what_is_known(paths: DataPaths) -> None:
    paths.database.unlink()
    last_known_file(paths.database).unlink()


def _destroy_with_what_is_known(paths: DataPaths) -> None:
    _destroy_beginning(paths)
    last_known_file(paths.database).write_text("{")


LOSSES = (_destroy_beginning, _lose, _lose_with_what_is_known, _destroy_with_what_is_known)


@pytest.mark.parametrize("lose", LOSSES)
def test_a_backup_in_clear_takes_no_lost_or_damaged_encrypted_database_s_place(
    paths: DataPaths, tmp_path: Path, lose: Callable[[DataPaths], None]
) -> None:
    clear = _clear_backup(paths, tmp_path)
    key_id = encrypt(paths, PASSPHRASE).key_id
    lose(paths)
    with pytest.raises(NotAllowed, match=rf"was \(key {key_id}\), and this backup is not"):
        replace_damaged(paths, PERSON, str(clear))
    assert files_with(MARKER, paths.root) == []
    replace_damaged(paths, PERSON, "latest")
    assert paths.key_id == key_id
    with memento_tui.open(paths.root) as workspace:
        assert workspace.count_all() == 1


def test_the_latest_backup_of_a_damaged_database_that_is_locked_needs_the_passphrase(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    _destroy_beginning(paths)
    lock(paths)
    with pytest.raises(LockedWorkspace, match="`memento unlock` asks for the passphrase"):
        replace_damaged(paths, PERSON, "latest")
    unlock(paths, PASSPHRASE)
    replace_damaged(paths, PERSON, "latest")
    with memento_tui.open(paths.root) as workspace:
        assert workspace.count_all() == 1


@pytest.mark.parametrize("lose", LOSSES)
def test_a_directory_that_was_decrypted_takes_a_backup_in_clear_again(
    paths: DataPaths, tmp_path: Path, lose: Callable[[DataPaths], None]
) -> None:
    clear = _clear_backup(paths, tmp_path)
    encrypt(paths, PASSPHRASE)
    decrypt(paths)
    lose(paths)
    replace_damaged(paths, PERSON, str(clear))
    with memento_tui.open(paths.root) as workspace:
        assert workspace.count_all() == 1


def test_a_database_in_clear_that_was_put_in_an_encrypted_one_s_place_is_refused(
    paths: DataPaths, tmp_path: Path
) -> None:
    clear = _clear_backup(paths, tmp_path)
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        assert workspace.count_all() == 1
    shutil.copyfile(clear, paths.database)
    with pytest.raises(LostData, match=r"is in clear, and this directory's database was encrypted.*memento encrypt"):
        memento_tui.open(paths.root)
    encrypt(paths, "a passphrase of the new key")
    with memento_tui.open(paths.root) as workspace:
        assert workspace.count_all() == 1


def test_what_is_known_of_a_directory_names_its_key_while_it_is_encrypted(paths: DataPaths) -> None:
    before = read_last_known(paths.database)
    key_id = encrypt(paths, PASSPHRASE).key_id
    assert encryption.noted_key(paths.database) == key_id
    with memento_tui.open(paths.root) as workspace:
        workspace.remember("Another entry.")
    assert encryption.noted_key(paths.database) == key_id
    assert read_last_known(paths.database) != before
    decrypt(paths)
    assert encryption.noted_key(paths.database) == ""


@pytest.mark.parametrize("key", ["../../../../etc/x", "0123456789abcde", "0123456789ABCDEF", 16, None])
def test_a_key_that_is_noted_is_a_name_and_no_path(paths: DataPaths, key: object) -> None:
    file = last_known_file(paths.database)
    file.write_text(json.dumps({**json.loads(file.read_text()), "key": key}))
    paths.database.unlink()
    assert paths.key_id == ""


def test_an_encrypted_database_without_its_beginning_is_damaged_and_not_encrypted_anew(paths: DataPaths) -> None:
    encrypt(paths, PASSPHRASE)
    _destroy_beginning(paths)
    for tried in (lambda: encrypt(paths, PASSPHRASE), lambda: decrypt(paths), lambda: memento_tui.open(paths.root)):
        with pytest.raises(DamagedFile, match="is damaged"):
            tried()
    assert not (paths.root / "drafts").exists()
    EditorFile(paths, "note", f"Typed about {MARKER} since.")
    assert files_with(MARKER, paths.root) == []


@pytest.mark.parametrize("failing", ["first", "second"])
def test_an_encryption_that_fails_while_it_writes_its_key_files_leaves_no_key(
    paths: DataPaths, memory: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    written: list[Path] = []

    def write_one(folder: Path, wrapped: KeyFile) -> Path:
        if failing == "first" or written:
            raise OSError(28, "No space left on device", str(folder))
        written.append(folder)
        return write_key_file(folder, wrapped)

    monkeypatch.setattr(workspace_encryption, "write_key_file", write_one)
    with pytest.raises(DataDirectoryError, match="No space left"):
        encrypt(paths, PASSPHRASE)
    assert paths.key_id == ""
    assert not list(paths.root.rglob("key-*.json"))
    assert not [file for file in memory.rglob("*") if file.is_file()]


@pytest.mark.parametrize("finish", [decrypt, lock])
def test_a_decryption_that_was_ended_after_the_swap_is_finished_by_the_next(
    paths: DataPaths, memory: Path, monkeypatch: pytest.MonkeyPatch, finish: Callable[[DataPaths], object]
) -> None:
    key_id = encrypt(paths, PASSPHRASE).key_id
    with memento_tui.open(paths.root) as workspace:
        assert workspace.search(MARKER, mode="keyword").results
    for backup in paths.backups.glob("*.db"):
        backup.unlink()

    end_decryption_after_the_swap(paths, monkeypatch)
    assert paths.key_id == ""
    assert encryption.read_key(key_id) is not None
    assert files_with(MARKER, memory) == []  # the drafts have been in the directory since the swap
    finish(paths)
    decrypt(paths) if finish is lock else None
    assert encryption.read_key(key_id) is None
    assert files_with(MARKER, memory) == []
    assert [file.read_text() for file in paths.drafts.iterdir()] == [f"An unsaved word about {MARKER}."]
    with pytest.raises(NotAllowed, match="is not encrypted"):
        decrypt(paths)


def test_the_file_of_the_key_goes_to_the_backups_when_nothing_beside_it_needs_it(paths: DataPaths) -> None:
    first = encrypt(paths, PASSPHRASE).key_id
    decrypt(paths)
    assert [file.parent for file in paths.root.rglob("key-*.json")] == [paths.backups]
    second = encrypt(paths, PASSPHRASE).key_id
    unlock(paths, PASSPHRASE)
    assert [file.name for file in paths.root.glob("key-*.json")] == [f"key-{second}.json"]
    assert {file.name for file in paths.backups.glob("key-*.json")} == {f"key-{one}.json" for one in (first, second)}


def test_nothing_writes_an_encrypted_workspace_in_clear_unless_that_is_said(paths: DataPaths, tmp_path: Path) -> None:
    encrypt(paths, PASSPHRASE)
    with memento_tui.open(paths.root) as workspace:
        for refused in (
            lambda: run_export(workspace, tmp_path / "out.jsonl"),
            lambda: run_export(workspace, tmp_path / "notes", format_name="vault"),
            lambda: Mirror(workspace, tmp_path / "mirror"),
        ):
            with pytest.raises(NotAllowed, match="would be in clear"):
                refused()
        assert files_with(MARKER, tmp_path / "data") == []
        assert not any((tmp_path / name).exists() for name in ("out.jsonl", "notes", "mirror"))
        assert run_export(workspace, tmp_path / "out.jsonl", in_clear=True).records == 1
        with Mirror(workspace, tmp_path / "mirror", in_clear=True) as mirror:
            assert mirror.notes == 0


@pytest.mark.parametrize("passphrase", ["correct\udcffhorse", "\ud800" * 8])
def test_a_passphrase_that_is_no_text_is_refused_as_that(paths: DataPaths, passphrase: str) -> None:
    with pytest.raises(InvalidInput, match=r"The passphrase is not UTF-8 \(at character"):
        encrypt(paths, passphrase)
    assert not list(paths.root.rglob("key-*.json"))
    encrypt(paths, PASSPHRASE)
    for tried in (
        lambda: unlock(paths, passphrase),
        lambda: change_passphrase(paths, PASSPHRASE, passphrase),
        lambda: change_passphrase(paths, passphrase, PASSPHRASE),
    ):
        with pytest.raises(InvalidInput, match="not UTF-8"):
            tried()


def test_a_key_file_of_another_name_is_kept_under_the_one_that_is_looked_for(paths: DataPaths, tmp_path: Path) -> None:
    key_id = encrypt(paths, PASSPHRASE).key_id
    lock(paths)
    foreign = Path(shutil.copy(paths.root / f"key-{key_id}.json", tmp_path / "My Key (copy).json"))
    for file in paths.root.rglob("key-*.json"):
        file.unlink()
    unlock(paths, PASSPHRASE, key_file=foreign)
    lock(paths)
    assert unlock(paths, PASSPHRASE) == [key_id]
    assert not list(paths.root.rglob("My Key*"))


def test_a_damaged_file_of_another_key_keeps_nobody_from_unlocking(paths: DataPaths) -> None:
    encrypt(paths, "the words of the older key")
    decrypt(paths)
    key_id = encrypt(paths, PASSPHRASE).key_id
    lock(paths)
    for file in paths.backups.glob("key-*.json"):
        if key_id not in file.name:
            file.write_text("{")
    assert unlock(paths, PASSPHRASE) == [key_id]


_DAMAGED = "cannot be read: it is damaged"
_COSTLY = "is none of memento's"


@pytest.mark.parametrize(
    ("odd", "told"),
    [({"salt": "zz"}, _DAMAGED), ({"work": 1 << 30}, _COSTLY), ({"work": 1 << 62}, _COSTLY), ({"block": 0}, _COSTLY)],
)
def test_an_odd_file_of_another_key_keeps_nobody_from_unlocking(
    paths: DataPaths, odd: dict[str, object], told: str
) -> None:
    key_id = encrypt(paths, PASSPHRASE).key_id
    lock(paths)
    own = json.loads((paths.root / f"key-{key_id}.json").read_text())
    (paths.backups / "key-0000000000000000.json").write_text(json.dumps({**own, "key_id": "0" * 16, **odd}))
    assert unlock(paths, PASSPHRASE) == [key_id]
    lock(paths)
    for folder in (paths.root, paths.backups):
        (folder / f"key-{key_id}.json").write_text(json.dumps({**own, **odd}))
    with pytest.raises(DataDirectoryError, match=rf"key-{key_id}.json {told}.*--key-file FILE"):
        unlock(paths, PASSPHRASE)


@pytest.mark.parametrize("passphrase", [PASSPHRASE, "the words of the older key"])
def test_without_the_key_file_of_the_database_no_passphrase_is_called_wrong(paths: DataPaths, passphrase: str) -> None:
    encrypt(paths, "the words of the older key")
    decrypt(paths)
    key_id = encrypt(paths, PASSPHRASE).key_id
    lock(paths)
    own = [folder / f"key-{key_id}.json" for folder in (paths.root, paths.backups)]
    for file in own:
        file.write_text("{")
    with pytest.raises(DataDirectoryError, match=rf"key-{key_id}.json {_DAMAGED}.*--key-file FILE"):
        unlock(paths, passphrase)
    lock(paths)
    for file in own:
        file.unlink()
    with pytest.raises(NotFound, match=rf"key file of .*memento.db is missing \(key {key_id}\).*--key-file FILE"):
        unlock(paths, passphrase)


def test_a_key_that_was_unlocked_in_another_environment_is_found_and_locked_here(
    paths: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id = encrypt(paths, PASSPHRASE).key_id
    lock(paths)
    cron, login = tmp_path / "cron", tmp_path / "runtime"
    cron.mkdir(mode=0o700)
    monkeypatch.setattr(encryption, "_SHARED", str(cron))
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    unlock(paths, PASSPHRASE)
    place = encryption.key_place(key_id)
    assert place is not None
    assert place.is_relative_to(cron)
    draft = EditorFile(paths, "note", f"Typed about {MARKER} by night.")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(login))
    assert encryption.key_place(key_id) == place
    assert draft.path in list(paths.drafts.iterdir())
    unlock(paths, PASSPHRASE)  # not a second one
    assert lock(paths) == [key_id]
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert encryption.read_key(key_id) is None


def test_a_copy_of_the_index_that_a_reader_has_on_the_disk_is_waited_for_or_removed(
    paths: DataPaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(disk))
    with memento_tui.open(paths.root, read_only=True) as reader:
        assert reader.search(MARKER, mode="keyword").results
        (copy,) = disk.iterdir()
        with pytest.raises(NotAllowed, match=rf"copy of its index on the disk \(process {os.getpid()}\)"):
            encrypt(paths, PASSPHRASE)
        assert paths.key_id == ""
        left = copy.rename(disk / copy.name.replace(str(os.getpid()), "999999999"))  # no process has that number
    encrypt(paths, PASSPHRASE)
    assert not left.exists()


def test_two_that_encrypt_at_once_make_one_key(paths: DataPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    both_asked = threading.Barrier(2)
    lock_of_backups = BackupFolder.locked

    def after_both_asked(folder: BackupFolder, **given: float) -> object:
        both_asked.wait()
        return lock_of_backups(folder, **given)

    monkeypatch.setattr(BackupFolder, "locked", after_both_asked)
    ended: dict[str, object] = {}

    def run(passphrase: str) -> None:
        try:
            ended[passphrase] = encrypt(paths, passphrase).key_id
        except NotAllowed as error:
            ended[passphrase] = error

    threads = [threading.Thread(target=run, args=(words,)) for words in ("the first words", "the second words")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (won,) = [words for words, key_id in ended.items() if key_id == paths.key_id]
    (lost,) = [error for error in ended.values() if isinstance(error, NotAllowed)]
    assert "The passphrase is wrong" in str(lost)
    assert [file.name for file in paths.root.glob("key-*.json")] == [f"key-{paths.key_id}.json"]
    assert [encryption.key_id_of(file) for file in paths.backups.glob("*.db")] == [paths.key_id]
    assert clear_files(paths) == []
    lock(paths)
    assert unlock(paths, won) == [paths.key_id]
