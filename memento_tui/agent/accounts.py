"""Where the accounts of `memento serve` keep what is theirs.

Anyone on the machine may sign up for an account, without a key. The person's own agents are therefore told nothing of
what accounts wrote unless they ask for it by name: it could be anybody's.
"""

from __future__ import annotations

import re

__all__ = ["ACCOUNTS", "is_an_accounts", "without_accounts"]

ACCOUNTS = "accounts"
"""The namespace below which each name is an account."""

_NAMED = re.compile(rf'\bns:(?:"[^"]*\b{ACCOUNTS}\b|{ACCOUNTS}\b)', re.IGNORECASE)


def is_an_accounts(namespace: str) -> bool:
    """Tell whether a record of a namespace is an account's."""
    return namespace.startswith(f"{ACCOUNTS}/")


def without_accounts(query: str) -> str:
    """Return a query that leaves out what accounts wrote, unless it names their namespace itself."""
    return query if _NAMED.search(query) else f"-ns:{ACCOUNTS} {query}"
