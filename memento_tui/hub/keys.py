"""The key with which a machine signs what it gives the hub: made here, kept in a file of its own, never sent."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from memento_tui.errors import DataDirectoryError
from memento_tui.private_files import PRIVATE_FILE_MODE

__all__ = ["SigningKey", "is_signed"]


class SigningKey:
    """The private key (Ed25519) of this machine in one data directory."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @classmethod
    def make(cls, path: Path) -> SigningKey:
        """Make a new key and write it to a file that only its owner can read. Raises `DataDirectoryError`."""
        made = Ed25519PrivateKey.generate()
        try:
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(made.private_bytes_raw())
        except OSError as error:
            raise DataDirectoryError(
                f"{path} cannot be written: {error.strerror}.", "Check the data directory's permissions."
            ) from error
        return cls(made)

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Return the key in a file. Raises `DataDirectoryError`."""
        try:
            return cls(Ed25519PrivateKey.from_private_bytes(path.read_bytes()))
        except (OSError, ValueError) as error:
            raise DataDirectoryError(
                f"{path}, the key of this machine at the hub, is missing or damaged.",
                "Leave the hub and join it again: memento hub leave, memento hub join URL. Nothing is lost.",
            ) from error

    @property
    def public(self) -> bytes:
        """The 32 bytes by which others check this machine's signatures."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """Return the signature of some bytes, 64 bytes."""
        return self._private.sign(data)


def is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """Tell whether the owner of a public key signed some bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True
