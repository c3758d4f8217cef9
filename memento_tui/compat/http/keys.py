"""API keys and accounts: who asks over HTTP, which namespaces that caller sees, and the workspace it writes in.

The person's own agents share one key, kept in a file that only the person can read. Whoever signs up gets an account:
a key of its own, of which only the hash is kept, and the one namespace that the account sees.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from memento_tui import clock
from memento_tui.api.types import Settings
from memento_tui.errors import DataDirectoryError, InvalidField, InvalidInput, NotAllowed
from memento_tui.formats.protocol.vocabulary import namespace_of_workspace, workspace_of_namespace
from memento_tui.mcp.workspaces import WorkspacePool
from memento_tui.model.validation import ACCOUNTS_NAMESPACE, account_of, check_namespace
from memento_tui.moments import format_moment

__all__ = ["KEY_VARIABLE", "ApiKeys", "Caller", "HttpCaller", "HttpWorkspaces", "check_key", "open_http_workspaces"]

KEY_VARIABLE = "MEMENTO_API_KEY"
"""The environment variable in which Memento Protocol's clients and `memento serve` alike look for the key."""

_ACCOUNTS_SETTING = "http.accounts"
_MAX_ACCOUNTS = 100
"""Signing up needs no key, so the number is limited."""

_MAX_NAME_CHARS = 60
_MAX_WORKSPACE_CHARS = 100
_MIN_KEY_CHARS = 16
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


class _Account(msgspec.Struct, frozen=True):
    name: str
    digest: str
    created_at: str


_decode_accounts = msgspec.json.Decoder(list[_Account]).decode


class ApiKeys:
    """The keys of one data directory.

    ``chosen`` is a key that the person chose; where it is empty, one is made at the first start and kept in ``file``.

    Raises:
        DataDirectoryError: the file cannot be read or written, or holds no key.

    """

    def __init__(self, settings: Settings, file: Path, chosen: str = "") -> None:
        self._settings = settings
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
            return check_key(self._file.read_text(encoding="ascii").strip())
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
        new_file = self._write_key(_new_key())
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

    def caller_of(self, key: str) -> Caller | None:
        """Return the owner of a key, in a time that does not depend on the key; ``None`` for an unknown key."""
        written = key.encode("utf-8", "surrogateescape")
        if secrets.compare_digest(written, self.own.encode()):
            return Caller()
        digest = _digest(written)
        accounts = [account for account in self._accounts() if secrets.compare_digest(account.digest, digest)]
        return Caller(accounts[0].name) if accounts else None

    def _accounts(self) -> list[_Account]:
        stored = self._settings.get(_ACCOUNTS_SETTING)
        return [] if stored is None else _decode_accounts(stored)

    def sign_up(self, name: str) -> tuple[Caller, str]:
        """Make an account; return its caller and its key, which nobody can read again.

        The name is made into one that a namespace can have, and gets a number where it is taken.

        Raises:
            NotAllowed: there are too many accounts.

        """
        key = _new_key()
        plain = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:_MAX_NAME_CHARS] or "default"
        added: list[_Account] = []

        def add(stored: str | None) -> str:
            accounts = [] if stored is None else _decode_accounts(stored)
            if len(accounts) >= _MAX_ACCOUNTS:
                raise NotAllowed(
                    f"There are {_MAX_ACCOUNTS} accounts, which is as many as memento keeps.",
                    "Use the key of one of them, or the key that memento serve printed.",
                )
            taken = {account.name for account in accounts}
            free = next(
                candidate
                for n in range(1, _MAX_ACCOUNTS + 2)
                if (candidate := f"{plain}-{n}" if n > 1 else plain) not in taken
            )
            added.append(_Account(free, _digest(key.encode()), format_moment(clock.now())))
            return msgspec.json.encode([*accounts, added[-1]]).decode()

        self._settings.change(_ACCOUNTS_SETTING, add)
        return Caller(added[-1].name), key

    def rotate(self, caller: Caller) -> str:
        """Put a new key in the place of a caller's; return it.

        Raises:
            NotAllowed: the person chose the key, and only the person changes it.

        """
        key = _new_key()
        if not caller.account:
            if self._chosen_key:
                raise NotAllowed(
                    f"This server was started with the key in {KEY_VARIABLE}.", "Change it there, and start it again."
                )
            self._write_key(key).replace(self._file)
            return key

        def replace(stored: str | None) -> str:
            accounts = [] if stored is None else _decode_accounts(stored)
            changed = [
                msgspec.structs.replace(account, digest=_digest(key.encode()))
                if account.name == caller.account
                else account
                for account in accounts
            ]
            return msgspec.json.encode(changed).decode()

        self._settings.change(_ACCOUNTS_SETTING, replace)
        return key


def _new_key() -> str:
    """Return a random key of 128 bits in the form that Memento Protocol's clients know."""
    return f"mp_live_{secrets.token_hex(16)}"


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


def _digest(key: bytes) -> str:
    # A key is 128 random bits: no list of likely ones can be tried, so a slow hash would add nothing.
    return hashlib.sha256(key).hexdigest()


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
