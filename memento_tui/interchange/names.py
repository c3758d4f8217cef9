"""Names and tags that a source writes freely, brought into the shape that records allow."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memento_tui.records.rules import MAX_NAMESPACE_LENGTH, MAX_TAG_LENGTH, MAX_TAGS

__all__ = ["namespace_of", "one_line", "usable_tags"]

_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f\x7f\\/]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _name(raw: str) -> str:
    name = _NOT_IN_A_NAME.sub("-", raw).strip()
    return "unnamed" if name in ("", ".", "..") else name


def namespace_of(parts: Iterable[str]) -> str:
    """Return the namespace that folder names spell, as many of them as fit."""
    kept = ""
    for part in parts:
        longer = f"{kept}/{_name(part)}" if kept else _name(part)[:MAX_NAMESPACE_LENGTH].strip()
        if len(longer) > MAX_NAMESPACE_LENGTH:
            break
        kept = longer
    return kept or "global"


def usable_tags(raw: Iterable[str], limit: int = MAX_TAGS) -> tuple[str, ...]:
    """Return the tags that a record may carry, each once, in their order; the others are dropped."""
    kept: dict[str, None] = {}
    for word in raw:
        tag = word.strip()
        if tag and len(tag) <= MAX_TAG_LENGTH and (tag.isprintable() or not _CONTROL.search(tag)):
            kept[tag] = None
    return tuple(kept)[:limit]


def one_line(text: str, limit: int) -> str:
    """Return the text on one line of at most ``limit`` characters."""
    return " ".join(text.replace("\x00", " ").split())[:limit].strip()
