"""Keep the key of an encrypted workspace in a file, wrapped so that only a passphrase opens it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from pathlib import Path

import msgspec

from memento_tui.encryption import KEY_BYTES
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.private_files import replace_file
from memento_tui.regular_files import read_regular
from memento_tui.storage.backup_folder import sync_directory

__all__ = [
    "KeyFile",
    "check_passphrase",
    "is_key_file",
    "key_file_name",
    "open_key_file",
    "wrap_key",
    "write_key_file",
]

FEWEST_CHARACTERS = 8
"""The fewest characters of a passphrase. Length is the only property of a passphrase that can be checked."""

_SALT_BYTES = 16
_WORK, _BLOCK, _LANES = 1 << 17, 8, 1
"""The cost of one guess with scrypt: 128 MB of memory and some tenths of a second, as OWASP advises."""
_MOST_BYTES = 64 * 1024
"""Bytes of a key file that are read; one has some hundreds."""
_MOST_WORK = 8 * _WORK * _BLOCK * _LANES
"""The largest cost that a key file may ask for: eight times that of this version, a gigabyte of memory."""


class KeyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wrapped key, with all that is needed to unwrap it but the passphrase. Bytes are in hexadecimal."""

    key_id: str
    salt: str
    work: int
    block: int
    lanes: int
    wrapped: str
    proof: str
    """HMAC-SHA256 of the wrapped key, which only the right passphrase makes."""
    derivation: str = "scrypt"


def key_file_name(key_id: str) -> str:
    """Return the name of the file of a key, beside the database and among the backups."""
    return f"key-{key_id}.json"


def check_passphrase(passphrase: str) -> None:
    """Raise `InvalidInput` where a passphrase is too short to be any help, or no text."""
    _bytes_of(passphrase)
    if len(passphrase) < FEWEST_CHARACTERS:
        raise InvalidInput(
            f"The passphrase has {len(passphrase)} characters.", f"Take one of {FEWEST_CHARACTERS} or more; words do."
        )


def wrap_key(key_id: str, key: bytes, passphrase: str) -> KeyFile:
    """Return a key as only this passphrase opens it."""
    salt = secrets.token_bytes(_SALT_BYTES)
    pad, proof_key = _derive(passphrase, salt, _WORK, _BLOCK, _LANES)
    # The salt is new each time, so the pad is used once.
    wrapped = bytes(one ^ other for one, other in zip(key, pad, strict=True))
    proof = _proof(proof_key, key_id, wrapped)
    return KeyFile(key_id, salt.hex(), _WORK, _BLOCK, _LANES, wrapped.hex(), proof.hex())


def is_key_file(file: Path) -> bool:
    """Tell whether a file is there and holds a wrapped key."""
    try:
        found = msgspec.json.decode(read_regular(file, _MOST_BYTES), type=KeyFile)
        for part in (found.key_id, found.salt, found.wrapped, found.proof):
            bytes.fromhex(part)
    except (OSError, ValueError, msgspec.MsgspecError):
        return False
    return True


def open_key_file(file: Path, passphrase: str) -> tuple[str, bytes] | None:
    """Return the id of a key and the key, or ``None`` where the passphrase is not its own.

    Raises:
        InvalidInput: the passphrase is no text.
        DataDirectoryError: the file cannot be read, or is no such file.

    """
    _bytes_of(passphrase)
    try:
        found = msgspec.json.decode(read_regular(file, _MOST_BYTES), type=KeyFile)
        if not 0 < found.work * found.block * found.lanes <= _MOST_WORK:
            raise DataDirectoryError(
                f"The key file {file} is none of memento's: it asks for no work, or for gigabytes.",
                "Name a copy of it: memento unlock --key-file FILE.",
            )
        pad, proof_key = _derive(passphrase, bytes.fromhex(found.salt), found.work, found.block, found.lanes)
        wrapped = bytes.fromhex(found.wrapped)
        if not hmac.compare_digest(_proof(proof_key, found.key_id, wrapped), bytes.fromhex(found.proof)):
            return None
        return found.key_id, bytes(one ^ other for one, other in zip(wrapped, pad, strict=True))
    except (OSError, ValueError, OverflowError, MemoryError, msgspec.MsgspecError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is damaged"
        raise DataDirectoryError(
            f"The key file {file} cannot be read: {said}.", "Name a copy of it: memento unlock --key-file FILE."
        ) from error


def write_key_file(folder: Path, wrapped: KeyFile) -> Path:
    """Write a wrapped key into a folder and to the disk, replacing an earlier one. Raises `OSError`."""
    file = folder / key_file_name(wrapped.key_id)
    replace_file(file, msgspec.json.format(msgspec.json.encode(wrapped), indent=2) + b"\n", synced=True)
    sync_directory(folder)
    return file


def _derive(passphrase: str, salt: bytes, work: int, block: int, lanes: int) -> tuple[bytes, bytes]:
    # What this needs is 128 * work * block bytes, and a little.
    most = 256 * work * block
    both = hashlib.scrypt(_bytes_of(passphrase), salt=salt, n=work, r=block, p=lanes, maxmem=most, dklen=2 * KEY_BYTES)
    return both[:KEY_BYTES], both[KEY_BYTES:]


def _bytes_of(passphrase: str) -> bytes:
    try:
        return passphrase.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"The passphrase is not UTF-8 (at character {error.start + 1}).",
            "Set the terminal to UTF-8, or take other characters.",
        ) from None


def _proof(proof_key: bytes, key_id: str, wrapped: bytes) -> bytes:
    return hmac.digest(proof_key, bytes.fromhex(key_id) + wrapped, "sha256")
