"""Keep the key of an encrypted workspace in the system's keyring, and unlock the workspace with it."""

from __future__ import annotations

import apsw

from memento_tui import encryption
from memento_tui.api.encryption import memory_explained
from memento_tui.encryption import KEY_BYTES, key_id_of
from memento_tui.errors import LockedWorkspace, NotAllowed
from memento_tui.paths import DataPaths
from memento_tui.storage.connection import open_without_writing
from memento_tui.system_keyring import KEY_SERVICE, drop_secret, find_secret, keep_secret

__all__ = ["has_key", "keep_key", "take_key_out", "unlock_from_keyring"]


def keep_key(paths: DataPaths) -> None:
    """Keep the key of an unlocked workspace in the keyring.

    Raises:
        NotAllowed: the workspace is not encrypted, or there is no keyring that guards it.
        LockedWorkspace: it is locked.
        MementoError: the keyring refuses.

    """
    key_id = paths.key_id
    if not key_id:
        raise NotAllowed(f"{paths.database} is not encrypted.")
    key = encryption.read_key(key_id)
    if key is None:
        raise LockedWorkspace(paths.database, key_id)
    keep_secret(KEY_SERVICE, key_id, key.hex())


def has_key(key_id: str) -> bool:
    """Tell whether the keyring has a key. Raises `MementoError` where the keyring refuses."""
    return bool(key_id) and find_secret(KEY_SERVICE, key_id) is not None


def take_key_out(key_id: str) -> bool:
    """Take a key out of the keyring; tell whether it was there. Raises `MementoError` where the keyring refuses."""
    return bool(key_id) and drop_secret(KEY_SERVICE, key_id)


def unlock_from_keyring(paths: DataPaths) -> bool:
    """Unlock a workspace with the key in the keyring; tell whether there was one that opens it.

    Only a person asks: an agent is to be told nothing that its person has locked.

    Raises:
        MementoError: the keyring refuses.
        DataDirectoryError: the machine keeps no files in memory.

    """
    key_id = key_id_of(paths.database)
    if not key_id or encryption.read_key(key_id) is not None:
        return bool(key_id)
    key = _key_of(find_secret(KEY_SERVICE, key_id) or "")
    if key is None:
        return False
    with memory_explained(paths):
        encryption.unlock(key_id, key)
        if _opens(paths):
            return True
        encryption.forget_key(key_id)
    return False


def _key_of(text: str) -> bytes | None:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def _opens(paths: DataPaths) -> bool:
    try:
        connection = open_without_writing(paths.database, busy_seconds=1)
    except apsw.Error:
        return False
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except apsw.NotADBError:
        return False
    finally:
        connection.close()
    return True
