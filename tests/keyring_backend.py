"""A system keyring for tests: as the package ``keyring`` finds one, in this process or in one that a test starts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import keyring.core
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

__all__ = ["FileKeyring", "PlainKeyring", "keyring_environment", "use_keyring"]

_FILE = "MEMENTO_TESTS_KEYRING"


class FileKeyring(KeyringBackend):
    """Keeps secrets in the file that a variable names; without the file it is locked."""

    priority = 5

    def _read(self) -> dict[str, str]:
        try:
            found: dict[str, str] = json.loads(Path(os.environ[_FILE]).read_text())
        except FileNotFoundError:
            raise KeyringLocked("the collection is locked") from None
        return found

    def _write(self, secrets: dict[str, str]) -> None:
        Path(os.environ[_FILE]).write_text(json.dumps(secrets))

    def get_password(self, service: str, username: str) -> str | None:
        """Return a secret."""
        return self._read().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep a secret."""
        self._write({**self._read(), f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        """Remove a secret."""
        secrets = self._read()
        if secrets.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError("not found")
        self._write(secrets)


class PlainKeyring(FileKeyring):
    """As those that write plain files, which keyring ranks below one."""

    priority = 0.5  # type: ignore[assignment] # as above


def keyring_environment(file: Path) -> dict[str, str]:
    """Return the variables that give a program this keyring, in a file that is made."""
    file.write_text("{}")
    return {_FILE: str(file), "PYTHON_KEYRING_BACKEND": f"{__name__}.{FileKeyring.__name__}"}


def use_keyring(file: Path, monkeypatch: pytest.MonkeyPatch, *, kind: type[FileKeyring] = FileKeyring) -> Path:
    """Let this process have a keyring, for the length of a test; return its file."""
    for name, value in keyring_environment(file).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(keyring.core, "_keyring_backend", kind())
    return file
