"""Drafts of an encrypted workspace: text that nobody has saved is lost by no change of its key."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import memento_tui
from memento_tui import encryption
from memento_tui.api.backups import replace_damaged
from memento_tui.api.drafts import EditorFile, copy_drafts, move_drafts
from memento_tui.api.encryption import decrypt, encrypt
from memento_tui.errors import NotAllowed
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, end_decryption_after_the_swap, use_own_memory
from tests.made import PERSON, without_engine

TYPED = "Typed and not saved."
HOUR_NS = 3600 * 10**9


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


def _workspace(root: Path) -> DataPaths:
    paths = DataPaths(without_engine(root))
    with memento_tui.open(paths.root) as workspace:
        workspace.remember("Perihelion is in January.")
        workspace.backups.make()
    return paths


@pytest.fixture
def paths(tmp_path: Path) -> DataPaths:
    """An encrypted workspace with a backup."""
    paths = _workspace(tmp_path / "data")
    encrypt(paths, PASSPHRASE)
    return paths


def _texts(folder: Path) -> list[str]:
    return sorted(file.read_text() for file in folder.glob("*"))


def _write(folder: Path, name: str, text: str, *, hours: int) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text)
    os.utime(file, ns=(hours * HOUR_NS, hours * HOUR_NS))
    return file


def test_an_older_draft_in_clear_is_kept_beside_the_newer_text_in_memory(paths: DataPaths) -> None:
    draft = EditorFile(paths, "note", TYPED).path
    clear = paths.root / "drafts"
    _write(clear, draft.name, "An older text.", hours=1)
    encrypt(paths, PASSPHRASE)
    assert draft.read_text() == TYPED
    assert _texts(paths.drafts) == ["An older text.", TYPED]
    assert not clear.exists()


def test_a_newer_draft_takes_the_name_and_the_same_text_is_not_kept_twice(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    _write(target, "note.md", "older", hours=1)
    _write(source, "note.md", "newer", hours=2)
    assert copy_drafts(source, target) == [target / "note.md"]
    assert copy_drafts(source, target) == []
    _write(source, "note.md", "oldest", hours=0)
    assert copy_drafts(source, target) == [target / "note-2.md"]
    move_drafts(source, target)
    assert _texts(target) == ["newer", "oldest"]
    assert not source.exists()
    assert (target / "note-2.md").stat().st_mode & 0o777 == 0o600


def test_a_decryption_that_fails_before_the_swap_leaves_no_draft_in_clear(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    EditorFile(paths, "note", TYPED)
    key_id = paths.key_id
    replace = Path.replace

    def end(file: Path, target: Path) -> Path:
        if target == paths.database:
            raise KeyboardInterrupt
        return replace(file, target)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", end)
        with pytest.raises(KeyboardInterrupt):
            decrypt(paths)
    assert paths.key_id == encryption.noted_key(paths.database) == key_id
    assert not (paths.root / "drafts").exists()
    assert _texts(paths.drafts) == [TYPED]


def _backup_with_another_key(tmp_path: Path) -> Path:
    other = _workspace(tmp_path / "other")
    encrypt(other, PASSPHRASE)
    (made,) = other.backups.glob("*.db")
    return made


def test_a_backup_with_another_key_that_takes_a_lost_database_s_place_keeps_the_drafts(
    paths: DataPaths, tmp_path: Path
) -> None:
    EditorFile(paths, "note", TYPED)
    before = paths.drafts
    paths.database.unlink()
    replace_damaged(paths, PERSON, str(_backup_with_another_key(tmp_path)))
    assert paths.drafts != before
    assert _texts(paths.drafts) == [TYPED]
    assert not before.exists()
    decrypt(paths)
    assert _texts(paths.drafts) == [TYPED]


def test_drafts_of_a_workspace_in_clear_go_into_memory_when_an_encrypted_backup_takes_its_place(tmp_path: Path) -> None:
    paths = _workspace(tmp_path / "data")
    EditorFile(paths, "note", TYPED)
    paths.database.unlink()
    replace_damaged(paths, PERSON, str(_backup_with_another_key(tmp_path)))
    assert _texts(paths.drafts) == [TYPED]
    assert not (paths.root / "drafts").exists()


def test_decrypting_keeps_the_drafts_of_every_key_that_it_forgets(paths: DataPaths) -> None:
    draft = EditorFile(paths, "note", TYPED).path
    first = paths.key_id
    decrypt(paths)
    shutil.rmtree(paths.drafts)
    encrypt(paths, PASSPHRASE)
    # As a session with the key before left it.
    encryption.unlock(first, b"k" * encryption.KEY_BYTES)
    older = encryption.clear_folder(paths.root, first) / "drafts"
    older.mkdir(parents=True)
    _write(older, draft.name, "Typed under the key before.", hours=1)
    paths.drafts.mkdir(parents=True, exist_ok=True)
    _write(paths.drafts, draft.name, TYPED, hours=2)
    second = paths.key_id
    assert decrypt(paths).forgotten == tuple(sorted((first, second)))
    assert _texts(paths.drafts) == [TYPED, "Typed under the key before."]
    assert (paths.drafts / draft.name).read_text() == TYPED


def test_a_decryption_that_is_finished_names_the_keys_that_nothing_needs_any_more(
    paths: DataPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_id = paths.key_id

    end_decryption_after_the_swap(paths, monkeypatch)
    assert decrypt(paths).forgotten == (key_id,)
    with pytest.raises(NotAllowed, match="is not encrypted"):
        decrypt(paths)
