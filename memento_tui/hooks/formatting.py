"""Format the context of a session: facts between the lines of a fence, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui.hooks.host_events import MAX_ANSWER_CHARS
from memento_tui.named_tuple import NamedTuple
from memento_tui.storage.hook_store import ContradictionRow, IdentityRow, ItemRow, LessonRow, MemoryRow, SkipRow
from memento_tui.text.fence import fenced, quoted_id, visible_line, without_invisible
from memento_tui.text.labels import OtherSide, bracketed, caution_labels, condition_labels, entry_labels

__all__ = [
    "CostedLine",
    "TokenBudget",
    "contradiction_line",
    "estimate_tokens",
    "fenced_block",
    "identity_line",
    "identity_prose",
    "item_line",
    "lesson_line",
    "memory_line",
    "shown_title",
    "skip_line",
]

_BYTES_PER_TOKEN = 4
"""Bytes of UTF-8 in a token: four characters of English prose; a Chinese or Japanese one is 3/4 of a token."""

_MAX_TOKENS = MAX_ANSWER_CHARS // _BYTES_PER_TOKEN
"""Tokens, whatever the settings allow: a host would cut a longer text, and with it the line that closes the fence.

Hosts written in JavaScript count units of UTF-16, of which no text has more than bytes of UTF-8.
"""

_IDENTITY_CHARS = 1_600
"""Characters of the identity."""

_CAUTION_CHARS = 120
"""Characters of a word of caution about the code that a memory cites."""

_SIDE_CHARS = 160
"""Characters of each side of a contradiction."""

_TITLE_CHARS = 100
"""Characters of the title of a memory."""

_REASON_CHARS = 160
"""Characters of the item and of the reason of a skip."""

_ITEM_CHARS = 240
"""Characters of each text of a working item."""


_KIND_CHARS = 40
"""Characters of the kind of memory that a lesson would become."""


class CostedLine(NamedTuple):
    """One line, and its cost in tokens."""

    text: str
    tokens: int


class TokenBudget:
    """The tokens that are left, after those of the ``headings`` and of the fences below them."""

    def __init__(self, limit: int, headings: Sequence[str]) -> None:
        self.left = min(limit, _MAX_TOKENS) - sum(
            estimate_tokens(fenced_block(heading, [CostedLine("", 0)])) + 1 for heading in headings
        )

    def takes(self, line: CostedLine) -> bool:
        """Tell whether a line fits into the budget, and if so subtract its tokens."""
        if line.tokens > self.left:
            return False
        self.left -= line.tokens
        return True


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text costs."""
    return max(1, -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN))


def _costed_line(text: str) -> CostedLine:
    return CostedLine(text, estimate_tokens(text) + 1)


def identity_line(identity: IdentityRow) -> CostedLine:
    """Return the identity of the agent: prose that keeps its own lines, below words of caution."""
    text, _ = identity_prose(identity.content)
    marks = _list_marks(is_unverified=identity.is_unverified)
    return _costed_line(f"{marks.strip()}\n{text}" if marks else text)


def identity_prose(content: str) -> tuple[str, bool]:
    """Return as much of an identity's text as a context holds, and whether its end is left out."""
    text = "\n".join(" ".join(line.split()) for line in without_invisible(content).splitlines())
    if len(text) <= _IDENTITY_CHARS:
        return text, False
    cut = max(text.rfind(" ", 0, _IDENTITY_CHARS), text.rfind("\n", 0, _IDENTITY_CHARS))
    return f"{text[: cut if cut > 0 else _IDENTITY_CHARS]} ...", True


def _list_marks(*, is_unverified: bool) -> str:
    """Return the words of caution about a record without trust of its own, with a space before them."""
    return bracketed(entry_labels(is_unverified=is_unverified))


def memory_line(
    memory: MemoryRow, passage: str, now: datetime, *, characters: int, caution: str = "", against: Sequence[str] = ()
) -> CostedLine:
    """Return a memory as one line: its id for its full text, its kind, its labels, and the passage.

    ``against`` are the ids of what contradicts it.
    """
    labels = _caution_labels(memory, now)
    if caution:
        labels.append(visible_line(caution, _CAUTION_CHARS))
    marks = bracketed([*labels, *condition_labels(memory, [OtherSide(name, "") for name in against])])
    title = shown_title(memory)
    text = visible_line(passage, characters)
    if title and text and not text.startswith(title.removesuffix(" ...")):
        text = f"{title}: {text}"
    full = text or title
    return _costed_line(f"{quoted_id(memory.id)} {memory.kind}{marks}: {full}")


def shown_title(memory: MemoryRow) -> str:
    """Return as much of a memory's title as its line holds."""
    return visible_line(memory.title, _TITLE_CHARS)


_NO_CAUTION = ("verified", "stable", "essential")
"""The labels for which the budget of tokens has no room."""


def _caution_labels(memory: MemoryRow, now: datetime, *, with_age: bool = False) -> list[str]:
    return [label for label in caution_labels(memory, now, with_age=with_age) if label not in _NO_CAUTION]


def skip_line(skip: SkipRow) -> CostedLine:
    """Return a skip as one line."""
    item, reason = visible_line(skip.item, _REASON_CHARS), visible_line(skip.reason, _REASON_CHARS)
    marks = _list_marks(is_unverified=skip.is_unverified)
    return _costed_line(f"skip until {skip.expires_at:%Y-%m-%d}{marks}: {item}, because {reason}")


def item_line(item: ItemRow) -> CostedLine:
    """Return a working item as one line."""
    parts = [visible_line(item.title, _ITEM_CHARS), visible_line(item.content, _ITEM_CHARS)]
    if item.next_action:
        parts.append(f"next: {visible_line(item.next_action, _ITEM_CHARS)}")
    text = " | ".join(part for part in parts if part)
    marks = _list_marks(is_unverified=item.is_unverified)
    return _costed_line(f"{item.category.replace('_', ' ')}{marks}: {text}")


def lesson_line(lesson: LessonRow) -> CostedLine:
    """Return a lesson from the session's own transcript as one line."""
    marks = _list_marks(is_unverified=True)
    return _costed_line(f"{visible_line(lesson.kind, _KIND_CHARS)}{marks}: {visible_line(lesson.text, _ITEM_CHARS)}")


def contradiction_line(
    contradiction: ContradictionRow, older: MemoryRow, newer: MemoryRow, now: datetime
) -> CostedLine:
    """Return a contradiction as one line with both sides and their ages."""
    sides = []
    for name, side in (("older", older), ("newer", newer)):
        marks = bracketed([*_caution_labels(side, now, with_age=True), *condition_labels(side)])
        sides.append(f'{name} {quoted_id(side.id)}{marks}: "{visible_line(side.content, _SIDE_CHARS)}"')
    return _costed_line(
        f"contradiction, unresolved ({visible_line(contradiction.why, _SIDE_CHARS)}): {'; '.join(sides)}"
    )


def fenced_block(heading: str, lines: Sequence[CostedLine]) -> str:
    """Return lines as facts below a heading, in a fence; empty where there are none."""
    if not lines:
        return ""
    return f"{heading}\n{fenced(chr(10).join(line.text for line in lines))}"
