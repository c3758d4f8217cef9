"""API keys and accounts: who asks over HTTP, which namespaces that caller sees, and the workspace it writes in.

The person's own agents share one key, kept in a file that only the person can read. Whoever signs up gets an account:
a key of its own, of which only the hash is kept, and the one namespace that the account sees.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from memento_tui.api.accounts import Accounts, new_key
from memento_tui.api.types import Settings
from memento_tui.errors import DataDirectoryError, InvalidField, InvalidInput, NotAllowed
from memento_tui.formats.protocol.vocabulary import namespace_of_workspace, workspace_of_namespace
from memento_tui.mcp.workspaces import WorkspacePool
from memento_tui.model.validation import ACCOUNTS_NAMESPACE, account_of, check_namespace
from memento_tui.regular_files import read_regular

__all__ = ["KEY_VARIABLE", "ApiKeys", "Caller", "HttpCaller", "HttpWorkspaces", "check_key", "open_http_workspaces"]

KEY_VARIABLE = "MEMENTO_API_KEY"
"""The environment variable in which Memento Protocol's clients and `memento serve` alike look for the key."""

_MAX_WORKSPACE_CHARS = 100
_MIN_KEY_CHARS = 16
_MOST_BYTES = 4096
"""Bytes of the file of the key that are read."""
_KEY_PATTERN = re.compile(r"[\x21-\x7e]+")


class Caller(msgspec.Struct, frozen=True):
    """Who sent a request: an account, or one of the person's own agents where ``account`` is empty."""

    account: str = ""

    @property
    def root(self) -> str:
        """The namespace above everything that the caller sees; empty where that is all of them."""
        return f"{ACCOUNTS_NAMESPACE}/{self.account}" if self.account else ""

    def namespace_of(self, workspace: str) -> str:
        """Return the namespace of a workspace. Raises `InvalidField` for a name that cannot be one."""
        name = workspace.strip()
        # A comma separates names in a header, and the query language can quote neither it nor a quotation mark.
        if '"' in name or "," in name or len(name) > _MAX_WORKSPACE_CHARS:
            raise InvalidField(
                "workspace",
                f"must be a name of at most {_MAX_WORKSPACE_CHARS} characters without commas and quotation marks,"
                f" such as my-app; not {name!r:.60}",
            )
        try:
            return check_namespace(f"{self.root}/{name or 'default'}") if self.root else namespace_of_workspace(name)
        except InvalidField as error:
            raise InvalidField("workspace", error.reason) from None

    def workspace_of(self, namespace: str) -> str:
        """Return the workspace of a namespace that the caller sees."""
        return namespace.removeprefix(f"{self.root}/") if self.root else workspace_of_namespace(namespace)

    def sees(self, namespace: str) -> bool:
        """Tell whether a namespace is one of the caller's."""
        return not self.root or namespace.startswith(f"{self.root}/")

    def owns(self, namespace: str) -> bool:
        """Tell whether a namespace is the caller's own; the person's agents see those of accounts besides."""
        return account_of(namespace) == self.account


class ApiKeys:
    """The keys of one data directory.

    ``chosen`` is a key that the person chose; where it is empty, one is made at the first start and kept in ``file``.

    Raises:
        DataDirectoryError: the file cannot be read or written, or holds no key.

    """

    def __init__(self, settings: Settings, file: Path, chosen: str = "") -> None:
        self._accounts = Accounts(settings)
        self._file = file
        self._chosen_key = chosen
        if not chosen and not file.exists():
            self._make()
        _ = self.own

    @property
    def own(self) -> str:
        """The key of the person's own agents; another server on the same directory may have changed it meanwhile."""
        if self._chosen_key:
            return self._chosen_key
        try:
            return check_key(read_regular(self._file, _MOST_BYTES).decode("ascii").strip())
        except OSError as error:
            raise DataDirectoryError(
                f"{self._file} cannot be read: {error.strerror}.", "Check that it is yours, or delete it for a new key."
            ) from error
        except (InvalidInput, UnicodeDecodeError) as error:
            raise DataDirectoryError(
                f"{self._file} does not hold a key.", "Delete it; the next start makes a new one."
            ) from error

    def _make(self) -> None:
        """Make the key, unless another server does so at the same time."""
        new_file = self._write_key(new_key())
        try:
            os.link(new_file, self._file)
        except FileExistsError:
            pass
        finally:
            new_file.unlink()

    def _write_key(self, key: str) -> Path:
        """Write a key into a new file beside the old one, whole and on the disk before it takes that one's place."""
        path = self._file.with_name(f"{self._file.name}.{secrets.token_hex(4)}")
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(key + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise DataDirectoryError(
                f"{self._file} cannot be written: {error.strerror}.", "Check that you may write the data directory."
            ) from error
        return path

    def is_own(self, key: str) -> bool:
        """Tell whether a key is that of the person's own agents, in a time that does not depend on the key."""
        return secrets.compare_digest(key.encode("utf-8", "surrogateescape"), self.own.encode())

    def caller_of(self, key: str) -> Caller | None:
        """Return the owner of a key, in a time that does not depend on the key; ``None`` for an unknown key."""
        if self.is_own(key):
            return Caller()
        name = self._accounts.owner_of(key.encode("utf-8", "surrogateescape"))
        return None if name is None else Caller(name)

    def sign_up(self, name: str, in_use: Collection[str] = ()) -> tuple[Caller, str]:
        """Make an account; return its caller and its key, which nobody can read again.

        ``in_use`` holds the names of accounts that memories are kept under. Raises like `Accounts.add`.
        """
        account, key = self._accounts.add(name, in_use=in_use)
        return Caller(account), key

    def rotate(self, caller: Caller) -> str:
        """Put a new key in the place of a caller's; return it.

        Raises:
            NotAllowed: the person chose the key, and only the person changes it.

        """
        if caller.account:
            return self._accounts.rotate(caller.account)
        if self._chosen_key:
            raise NotAllowed(
                f"This server was started with the key in {KEY_VARIABLE}.", "Change it there, and start it again."
            )
        key = new_key()
        self._write_key(key).replace(self._file)
        return key


def check_key(key: str) -> str:
    """Return a key that a person chose, if it can be sent in a header and is not easily guessed.

    Raises:
        InvalidInput: it cannot, or is short.

    """
    if not _KEY_PATTERN.fullmatch(key) or len(key) < _MIN_KEY_CHARS:
        raise InvalidInput(
            f"The key in {KEY_VARIABLE} must be {_MIN_KEY_CHARS} or more ASCII characters without spaces.",
            f"Unset {KEY_VARIABLE} and memento makes one, or choose a longer one.",
        )
    return key


_PRODUCT_PATTERN = re.compile(r"[\w.+-]{1,60}", re.ASCII)


class HttpCaller(NamedTuple):
    """The sender of a request, and the program that its header ``User-Agent`` names."""

    caller: Caller
    program: str


HttpWorkspaces: TypeAlias = WorkspacePool[HttpCaller]
"""The workspaces of HTTP clients: one for each account, and one for each program of the person's own."""


def open_http_workspaces(data_dir: Path | None, session: str) -> HttpWorkspaces:
    """Return the workspaces of HTTP clients. None is open yet."""
    return WorkspacePool(data_dir, session, channel="http", default_name="http", name_of=_name_of_caller)


def _name_of_caller(sender: HttpCaller) -> str:
    if sender.caller.account:
        return sender.caller.root
    product = _PRODUCT_PATTERN.match(sender.program)
    return product[0] if product else ""
