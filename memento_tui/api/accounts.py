"""The accounts of HTTP clients: their names and the hashes of their keys, as this data directory keeps them."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Sequence

import msgspec

from memento_tui import clock
from memento_tui.errors import NotAllowed, NotFound
from memento_tui.moments import format_moment
from memento_tui.storage.settings import Settings

__all__ = ["ACCOUNTS_SETTING", "Account", "Accounts", "new_key", "revoke_all"]

ACCOUNTS_SETTING = "http.accounts"
"""The setting that holds the accounts. Restoring a backup does not change it."""

_MAX_ACCOUNTS = 100
"""Accounts with a valid key. Signing up needs no key, so the number is limited."""

_MAX_NAME_CHARS = 60


class Account(msgspec.Struct, frozen=True):
    """One account. A revoked one is kept, so that nobody gets its name, and with it its memories."""

    name: str
    digest: str
    """The hash of its key; empty once it is revoked."""
    created_at: str
    revoked_at: str = ""

    @property
    def is_revoked(self) -> bool:
        """Whether its key opens nothing any more."""
        return bool(self.revoked_at)


_decode = msgspec.json.Decoder(list[Account]).decode


def _accounts_in(setting: str | None) -> list[Account]:
    return [] if setting is None else _decode(setting)


def _encode(accounts: Sequence[Account]) -> str:
    return msgspec.json.encode(accounts).decode()


class Accounts:
    """The accounts of one data directory, in the order in which they were made."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def list(self) -> Sequence[Account]:
        """Return all of them, the revoked ones too."""
        return _accounts_in(self._settings.get(ACCOUNTS_SETTING))

    def owner_of(self, key: bytes) -> str | None:
        """Return the name of the account that a key opens, in a time that does not depend on the key."""
        digest = _digest(key)
        owners = [account for account in self.list() if secrets.compare_digest(account.digest, digest)]
        return owners[0].name if owners else None

    def add(self, name: str, *, in_use: Collection[str] = ()) -> tuple[str, str]:
        """Make an account; return its name and its key, which nobody can read again.

        The name is made into one that a namespace can have, and gets a number where it is taken or among ``in_use``.

        Raises:
            NotAllowed: there are too many accounts.

        """
        key = new_key()
        plain = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:_MAX_NAME_CHARS] or "default"
        made: list[Account] = []

        def add_one(accounts: Sequence[Account]) -> Sequence[Account]:
            if sum(not account.is_revoked for account in accounts) >= _MAX_ACCOUNTS:
                raise NotAllowed(
                    f"There are {_MAX_ACCOUNTS} accounts, which is as many as memento keeps.",
                    "Use the key of one of them, or revoke one: memento account revoke NAME.",
                )
            taken = {*in_use, *(account.name for account in accounts)}
            names = (f"{plain}-{n}" if n > 1 else plain for n in range(1, len(taken) + 2))
            free = next(candidate for candidate in names if candidate not in taken)
            made.append(Account(free, _digest(key.encode()), format_moment(clock.now())))
            return [*accounts, made[-1]]

        self._change(add_one)
        return made[-1].name, key

    def rotate(self, name: str) -> str:
        """Put a new key in the place of an account's, and return it. Raises `NotFound` for one that is revoked."""
        key = new_key()

        def replace(account: Account) -> Account:
            if account.is_revoked:
                raise NotFound(f"The account {name} is revoked.", "Sign up for another.")
            return msgspec.structs.replace(account, digest=_digest(key.encode()))

        self._replace_one(name, replace)
        return key

    def revoke(self, name: str) -> Account:
        """Let the key of an account open nothing from now on; its memories stay. Return the account.

        Raises:
            NotFound: there is no account of that name.
            NotAllowed: it is revoked already.

        """

        def revoke_one(account: Account) -> Account:
            if account.is_revoked:
                raise NotAllowed(f"The account {name} was revoked at {account.revoked_at} already.")
            return _revoked(account)

        return self._replace_one(name, revoke_one)

    def _replace_one(self, name: str, replace: Callable[[Account], Account]) -> Account:
        replaced: list[Account] = []

        def change(accounts: Sequence[Account]) -> Sequence[Account]:
            if all(account.name != name for account in accounts):
                raise NotFound(f"There is no account {name!r:.80}.", "`memento account list` names them.")
            result = [replace(account) if account.name == name else account for account in accounts]
            replaced.append(next(account for account in result if account.name == name))
            return result

        self._change(change)
        return replaced[-1]

    def _change(self, change: Callable[[Sequence[Account]], Sequence[Account]]) -> None:
        self._settings.change(ACCOUNTS_SETTING, lambda setting: _encode(change(_accounts_in(setting))))


def revoke_all(setting: str | None) -> str | None:
    """Return the setting with every account revoked.

    So are those of a backup that takes the place of a database which nobody can read: which keys were rotated or
    revoked since it was made is not known.
    """
    if setting is None:
        return None
    return _encode([account if account.is_revoked else _revoked(account) for account in _accounts_in(setting)])


def _revoked(account: Account) -> Account:
    return msgspec.structs.replace(account, digest="", revoked_at=format_moment(clock.now()))


def new_key() -> str:
    """Return a random key of 128 bits in the form that Memento Protocol's clients know."""
    return f"mp_live_{secrets.token_hex(16)}"


def _digest(key: bytes) -> str:
    # A key is 128 random bits: no list of likely ones can be tried, so a slow hash would add nothing.
    return hashlib.sha256(key).hexdigest()
