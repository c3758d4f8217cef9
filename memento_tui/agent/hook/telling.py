"""What a session is told, in words: facts between the lines of a fence, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memento_tui.agent import fence
from memento_tui.agent.fence import fenced, quoted_id
from memento_tui.agent.hook.hosts import LONGEST_ANSWER
from memento_tui.store.hook_store import DisputeRow, ItemRow, MemoryRow, SkipRow

__all__ = [
    "Budget",
    "Line",
    "block",
    "dispute_line",
    "identity_line",
    "item_line",
    "memory_line",
    "skip_line",
    "tokens",
]

_BYTES_OF_A_TOKEN = 4
"""Of UTF-8: characters in English prose, and three quarters of a token for each Chinese or Japanese one."""

_MOST_TOKENS = LONGEST_ANSWER // _BYTES_OF_A_TOKEN
"""However many a person allows: a host would cut what is longer, and with it the line that closes the fence.

Hosts written in JavaScript count units of UTF-16, of which no text has more than bytes of UTF-8.
"""

_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What a model reads and a person who looks at the memory does not see: controls, bidi marks, tags, fillers."""

_IDENTITY = 1_600

_SIDE = 160
"""Characters of each side of a contradiction."""
_REASON = 160
_ITEM = 240


class Line(NamedTuple):
    """One line, and what it costs."""

    text: str
    tokens: int


class Budget:
    """The tokens that may still be told, after those of the ``headings`` and of the fences below them."""

    def __init__(self, limit: int, headings: Sequence[str]) -> None:
        self.left = min(limit, _MOST_TOKENS) - sum(tokens(block(one, [Line("", 0)])) + 1 for one in headings)

    def takes(self, line: Line) -> bool:
        """Tell whether a line fits what is left, and if so take it off."""
        if line.tokens > self.left:
            return False
        self.left -= line.tokens
        return True


def tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return max(1, -(-len(text.encode("utf-8", "replace")) // _BYTES_OF_A_TOKEN))


def _line(text: str) -> Line:
    return Line(text, tokens(text) + 1)


def one_line(text: str, limit: int) -> str:
    """Return a text as one line of what a person would see of it."""
    return fence.one_line(_HIDDEN.sub("", text), limit)


def identity_line(identity: str) -> Line:
    """Return who the agent is: prose that keeps its own lines."""
    text = "\n".join(" ".join(line.split()) for line in _HIDDEN.sub("", identity).splitlines())
    if len(text) > _IDENTITY:
        cut = max(text.rfind(" ", 0, _IDENTITY), text.rfind("\n", 0, _IDENTITY))
        text = f"{text[: cut if cut > 0 else _IDENTITY]} ..."
    return _line(text)


def memory_line(memory: MemoryRow, passage: str, *, characters: int) -> Line:
    """Return a memory as one line: its id for its full text, its kind, words of caution, and the passage."""
    labels = _labels(memory)
    marks = f" [{', '.join(labels)}]" if labels else ""
    title = one_line(memory.title, 100)
    text = one_line(passage, characters)
    told = text if not title or text.startswith(title.removesuffix(" ...")) else f"{title}: {text}"
    return _line(f"{quoted_id(memory.id)} {memory.kind}{marks}: {told}")


def _labels(memory: MemoryRow) -> list[str]:
    untrusted = ["UNTRUSTED"] if memory.source_type == "external" else []
    return [*untrusted, "unverified"] if memory.stability == "draft" else untrusted


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
    sides = []
    for name, side in (("older", older), ("newer", newer)):
        marks = ", ".join([_age(side, now), *_labels(side)])
        sides.append(f'{name} {quoted_id(side.id)} ({marks}): "{one_line(side.content, _SIDE)}"')
    return _line(f"contradiction, unresolved ({one_line(dispute.why, _SIDE)}): {'; '.join(sides)}")


def _age(memory: MemoryRow, now: datetime) -> str:
    days = max(0, (now - memory.created_at).days)
    return f"{days} days old" if days else "today"


def block(heading: str, lines: Sequence[Line]) -> str:
    """Return lines as facts below a heading, in a fence; empty where there are none."""
    if not lines:
        return ""
    return f"{heading}\n{fenced(chr(10).join(line.text for line in lines))}"
