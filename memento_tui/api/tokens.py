"""The tokens of a person's own scripts: each lets a command without a terminal decide in the person's name.

Only their hashes are kept, in a file of the data directory that its owner alone may read.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from memento_tui import clock
from memento_tui.errors import DataDirectoryError, InvalidInput, NotFound
from memento_tui.model.validation import check_line
from memento_tui.moments import format_moment
from memento_tui.paths import DataPaths
from memento_tui.regular_files import read_regular

__all__ = ["ScriptToken", "ScriptTokens"]

_TOKEN_PREFIX = "mto_"  # noqa: S105 - no secret: what it begins with lets a scanner of secrets know it
_MAX_NAME_CHARS = 60


class ScriptToken(msgspec.Struct, frozen=True):
    """One token, without the token itself."""

    name: str
    digest: str
    created_at: str


class ScriptTokens:
    """The tokens of one data directory, in the order in which they were made."""

    def __init__(self, paths: DataPaths) -> None:
        self._root = paths.root
        self._file = paths.script_tokens

    def list(self) -> Sequence[ScriptToken]:
        """Return all of them. Raises `DataDirectoryError` where there is no directory, or the file cannot be read."""
        if not self._root.is_dir():
            raise DataDirectoryError(
                f"There is no data directory at {self._root}.",
                "Check the path; making a token begins none.",
            )
        try:
            return msgspec.json.decode(read_regular(self._file), type=list[ScriptToken])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            raise DataDirectoryError(
                f"{self._file} cannot be read: {error}.", "Delete it, and make the tokens of your scripts anew."
            ) from error

    def make(self, name: str) -> str:
        """Make a token and return it; nobody can read it again.

        Raises:
            InvalidInput: there is one of that name, or the name is empty or long.
            DataDirectoryError: the file cannot be read or written.

        """
        name = check_line(name.strip(), "name", required=True, limit=_MAX_NAME_CHARS)
        tokens = self.list()
        if any(token.name == name for token in tokens):
            raise InvalidInput(f"There is a token {name!r} already.", "Revoke it first, or choose another name.")
        token = _TOKEN_PREFIX + secrets.token_urlsafe(32)
        self._write([*tokens, ScriptToken(name, _digest(token), format_moment(clock.now()))])
        return token

    def revoke(self, name: str) -> ScriptToken:
        """Let a token open nothing from now on; return it. Raises `NotFound` or `DataDirectoryError`."""
        tokens = self.list()
        found = next((token for token in tokens if token.name == name), None)
        if found is None:
            raise NotFound(f"There is no token {name!r:.80}.", "`memento token list` names them.")
        self._write([token for token in tokens if token is not found])
        return found

    def accepts(self, token: str) -> bool:
        """Tell whether a token is one of them, in a time that does not depend on it."""
        digest = _digest(token)
        if not self._root.is_dir():
            return False
        return True in [secrets.compare_digest(known.digest, digest) for known in self.list()]

    def _write(self, tokens: Sequence[ScriptToken]) -> None:
        """Put the whole file in the place of the old one; a new file is its owner's alone."""
        try:
            descriptor, name = tempfile.mkstemp(dir=self._root, prefix=f"{self._file.name}.")
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(tokens) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._file)
        except OSError as error:
            raise DataDirectoryError(
                f"{self._file} cannot be written: {error.strerror}.", "Check that you may write the data directory."
            ) from error


def _digest(token: str) -> str:
    # A token is 256 random bits: no list of likely ones can be tried, so a slow hash would add nothing.
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
