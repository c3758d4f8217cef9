"""Taking out the containers that an installation made, once nothing is in them."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.agent.install import jsonc
from memento_tui.errors import InvalidInput

__all__ = ["prune"]


def prune(text: str, path: Sequence[str], origin: str | None) -> str:
    """Return the text without the empty containers along ``path``, the innermost first.

    Those that ``origin`` had stay: somebody else made them.
    """
    kept = _parsed(origin)
    for depth in range(len(path), 0, -1):
        if _at(jsonc.parse(text), path[:depth]) not in ({}, []) or _at(kept, path[:depth]) is not None:
            break
        text = jsonc.remove(text, path[:depth])
    return text


def _parsed(origin: str | None) -> object:
    try:
        return jsonc.parse(origin or "")
    except InvalidInput:
        # A copy that somebody damaged tells nothing.
        return {}


def _at(value: object, path: Sequence[str]) -> object:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value
