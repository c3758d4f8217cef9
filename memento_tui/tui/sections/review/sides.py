"""The two memories of a contradiction, with their ages, their trust, and the words that differ marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from textual.content import Content

from memento_tui import clock
from memento_tui.records import Memory
from memento_tui.tui.display import ago, has_hidden, shown
from memento_tui.tui.sections.review.columns import drawn, two_columns
from memento_tui.tui.sections.review.differing import Run
from memento_tui.workspace.contradictions import Dispute

__all__ = ["both_sides", "marked_lines"]


def both_sides(dispute: Dispute, width: int, *, split: bool) -> Content:
    """Return both memories, beside each other in ``width`` cells if ``split``, else one below the other."""
    found = dispute.contradiction
    sides = (
        ("OLDER", found.older, dispute.older, found.older_spans),
        ("NEWER", found.newer, dispute.newer, found.newer_spans),
    )
    if not split:
        blocks = []
        for name, memory_id, memory, spans in sides:
            head = Content("\n").join([_bold(line) for line in _about(name, memory_id, memory)[:1]])
            rest = [Content.styled(line, "dim") for line in _about(name, memory_id, memory)[1:]]
            text = [drawn(line) for line in _lines(memory, spans)]
            blocks.append(Content("\n").join([head, *rest, Content(""), *text]))
        return Content("\n\n").join(blocks)
    lines: list[Content] = []
    heads = [_about(name, memory_id, memory) for name, memory_id, memory, _ in sides]
    for number, (left, right) in enumerate(zip_longest(*heads, fillvalue="")):
        style = "dim" if number else "bold"
        lines += two_columns([(left, False)], [(right, False)], width, styles=(style, style))
    texts = [_lines(memory, spans) for _, _, memory, spans in sides]
    lines += two_columns([("", False)], [("", False)], width)
    for one, other in zip_longest(*texts):
        lines += two_columns(one, other, width)
    return Content("\n").join(lines)


def _bold(line: str) -> Content:
    return Content.styled(line, "bold")


def _about(name: str, memory_id: str, memory: Memory | None) -> list[str]:
    """Return the lines that say which memory it is, how old, and how far it is trusted; safe to show."""
    if memory is None:
        return [f"{name}  {shown(memory_id)} is gone"]
    age = ago(memory.created_at, clock.now())
    since = "just now" if age == "now" else f"{age} ago"
    trust = "draft (unverified)" if memory.stability == "draft" else memory.stability
    life = [trust, f"certainty {memory.certainty}/5", f"used {memory.used_count}x"]
    origin: list[str] = ["from outside" if memory.source_type == "external" else memory.source_type]
    origin += [f"by {memory.source.agent}"] if memory.source.agent else []
    lines = [f"{name}, {since}", "  ".join(life), shown("  ".join([memory.namespace, *origin]))]
    if memory.title.strip():
        lines.append(shown(memory.title))
    if memory.validity_context:
        lines.append(shown(f"applies to: {memory.validity_context}"))
    if has_hidden(memory.content) or has_hidden(memory.title):
        lines.append("! hidden characters, shown as <...>")
    return lines


def _lines(memory: Memory | None, spans: Sequence[tuple[int, int]]) -> list[Sequence[Run]]:
    return [] if memory is None else marked_lines(memory.content, spans)


def marked_lines(content: str, spans: Sequence[tuple[int, int]]) -> list[Sequence[Run]]:
    """Return the lines of a text with the spans marked: each a start and an end in it. Safe to show."""
    pieces: list[Run] = []
    at = 0
    for start, end in sorted(spans):
        if at <= start < end <= len(content):
            pieces += [(content[at:start], False), (content[start:end], True)]
            at = end
    pieces.append((content[at:], False))
    lines: list[list[Run]] = [[]]
    for text, marked in pieces:
        first, *others = shown(text, multiline=True).split("\n")
        if first:
            lines[-1].append((first, marked))
        lines += [[(line, marked)] for line in others]
    return list(lines)
