"""What a session is told, in words: facts between the lines of a fence, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.store.hook_store import DisputeRow, ItemRow, MemoryRow, SkipRow

__all__ = ["Budget", "Line", "block", "dispute_line", "item_line", "memory_line", "skip_line", "tokens"]

_CHARACTERS_OF_A_TOKEN = 4
"""An estimate for English prose; what a model counts depends on the model."""

_SIDE = 160
"""Characters of each side of a contradiction."""
_REASON = 160
_ITEM = 240


class Line(NamedTuple):
    """One line, and what it costs."""

    text: str
    tokens: int


class Budget:
    """The tokens that may still be told."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def takes(self, line: Line) -> bool:
        """Tell whether a line fits what is left, and if so take it off."""
        if line.tokens > self.left:
            return False
        self.left -= line.tokens
        return True


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return max(1, -(-len(text) // _CHARACTERS_OF_A_TOKEN))


def _line(text: str) -> Line:
    return Line(text, tokens(text) + 1)


def memory_line(memory: MemoryRow, passage: str, *, characters: int) -> Line:
    """Return a memory as one line: its id for its full text, its kind, words of caution, and the passage."""
    labels = []
    if memory.source_type == "external":
        labels.append("UNTRUSTED")
    if memory.stability == "draft":
        labels.append("unverified")
    marks = f" [{', '.join(labels)}]" if labels else ""
    title = one_line(memory.title, 100)
    text = one_line(passage, characters)
    told = text if not title or text.startswith(title.removesuffix(" ...")) else f"{title}: {text}"
    return _line(f"{quoted_id(memory.id)} {memory.kind}{marks}: {told}")


def skip_line(skip: SkipRow) -> Line:
    """Return a skip as one line."""
    item, reason = one_line(skip.item, _REASON), one_line(skip.reason, _REASON)
    return _line(f"skip until {skip.expires_at:%Y-%m-%d}: {item}, because {reason}")


def item_line(item: ItemRow) -> Line:
    """Return a working item as one line."""
    parts = [one_line(item.title, _ITEM), one_line(item.content, _ITEM)]
    if item.next_action:
        parts.append(f"next: {one_line(item.next_action, _ITEM)}")
    text = " | ".join(part for part in parts if part)
    return _line(f"{item.category.replace('_', ' ')}: {text}")


def dispute_line(dispute: DisputeRow, older: MemoryRow, newer: MemoryRow, now: datetime) -> Line:
    """Return a contradiction as one line that lays both sides out with their ages."""
    sides = [
        f'{name} {quoted_id(side.id)} ({_age(side, now)}): "{one_line(side.content, _SIDE)}"'
        for name, side in (("older", older), ("newer", newer))
    ]
    return _line(f"contradiction, unresolved ({one_line(dispute.why, _SIDE)}): {'; '.join(sides)}")


def _age(memory: MemoryRow, now: datetime) -> str:
    days = max(0, (now - memory.created_at).days)
    marks = ", UNTRUSTED" if memory.source_type == "external" else ""
    return (f"{days} days old" if days else "today") + marks


def block(heading: str, lines: Sequence[Line]) -> str:
    """Return lines as facts below a heading, in a fence; empty where there are none."""
    if not lines:
        return ""
    return f"{heading}\n{fenced(chr(10).join(line.text for line in lines))}"
