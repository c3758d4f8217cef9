"""Whose a record is: the person's, or an account's of `memento serve`.

Anyone on the machine may sign up for an account, without a key. So the two sides are kept apart: an account learns
nothing of what the person's agents keep, and they are told nothing of what an account wrote unless they ask for it by
name. The person sees everything.
"""

from __future__ import annotations

__all__ = ["ACCOUNTS", "account_of"]

ACCOUNTS = "accounts"
"""The namespace below which each name is an account."""


def account_of(namespace: str) -> str:
    """Return the account that a namespace belongs to; empty for the person's own."""
    first, _, rest = namespace.partition("/")
    return rest.partition("/")[0] if first == ACCOUNTS else ""
