"""What a decision is about: the new text, or what would change in the old one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from textual.content import Content

from memento_tui import clock
from memento_tui.records import Crystal, Memory
from memento_tui.tui.display import ago, literal
from memento_tui.tui.prose import memory_facts
from memento_tui.tui.sections.review.columns import below, beside
from memento_tui.tui.sections.review.differing import pairs_of
from memento_tui.tui.sections.review.focus import Focus
from memento_tui.tui.sections.review.sides import both_sides
from memento_tui.workspace.contradictions import Dispute
from memento_tui.workspace.proposed import proposed
from memento_tui.workspace.queue import Pending

__all__ = ["evidence", "size_of"]

_LONGEST = 40_000
"""Characters of a new text that are shown at once."""

_LABELS = {
    "skip": {"item": "do not", "reason": "because", "expires_at": "until", "namespace": "in"},
    "item": {
        "title": "title",
        "category": "kind",
        "status": "status",
        "priority": "priority",
        "next_action": "next",
        "tags": "tags",
        "namespace": "in",
        "content": "text",
    },
}
_UNTOLD = {"content", "updated_at", "version", "injection_score"}
"""Fields of a memory whose change is shown otherwise, or follows from another."""


def size_of(focus: Focus) -> int:
    """Return how many characters the evidence compares or shows, to tell whether drawing it takes long."""
    item = focus.item
    if focus.dispute is not None:
        return sum(len(side.content) for side in (focus.dispute.older, focus.dispute.newer) if side is not None)
    if isinstance(item, Dispute):
        return 0
    texts = [getattr(item.target, "content", ""), str(item.proposal.payload.get("content", ""))]
    texts += [focus.identity.content] if focus.identity is not None else []
    return sum(map(len, texts))


def evidence(focus: Focus, width: int, *, split: bool) -> Content:
    """Return what is decided about, drawn for ``width`` cells; differences in two columns if ``split``."""
    item = focus.item
    if isinstance(item, Dispute):
        return both_sides(item, width, split=split)
    parts = list(_parts(focus, item, width, split=split))
    return Content("\n").join(parts)


def _parts(focus: Focus, item: Pending, width: int, *, split: bool) -> Iterator[Content]:
    target = item.target
    if focus.is_contradiction:
        yield from _suggestion(focus, item, width, split=split)
    elif isinstance(target, Crystal):
        yield from _identity(focus, target, width, split=split)
    elif isinstance(target, Memory):
        yield from _memory(focus, item, target, width, split=split)
    elif item.proposal.target in _LABELS:
        yield from _entry(item, width, split=split)
    else:
        yield literal(f"The {item.proposal.target} {item.proposal.target_id} is gone.", "$text-warning")


def _difference(before: str, after: str, width: int, *, split: bool) -> Content:
    pairs = pairs_of(before, after)
    return beside(pairs, width) if split else below(pairs)


def _text(content: str) -> Content:
    body = literal(content[:_LONGEST], multiline=True)
    left = len(content) - _LONGEST
    more = literal(f"\n\n... {left:,} more characters; e shows all of them.", "bold") if left > 0 else Content("")
    return body + more


def _memory(focus: Focus, item: Pending, target: Memory, width: int, *, split: bool) -> Iterator[Content]:
    if target.title.strip():
        yield literal(target.title, "bold")
    yield memory_facts(target)
    yield Content("")
    after = proposed(item)
    if item.proposal.action in ("edit", "merge") and after is not None:
        yield from _changes(target, after)
        if after.content != target.content:
            yield _difference(target.content, after.content, width, split=split)
    elif item.proposal.action in ("edit", "merge"):
        yield Content.styled("What is proposed breaks a rule and cannot be carried out. Reject it.", "$text-warning")
    else:
        yield _text(target.content)
    if focus.others:
        role = "WOULD BE SUPERSEDED" if item.proposal.action == "merge" else "WOULD STAND FOR"
        yield Content("")
        yield Content.styled(role, "bold $text-accent")
        for other in focus.others.values():
            yield literal(other.content if item.proposal.action == "merge" else other.headline, "dim", multiline=True)
        left = len(item.proposal.evidence.get("sources", ())) - len(focus.others)
        if left > 0:
            yield Content.styled(f"and {left:,} more", "dim")


def _changes(before: Memory, after: Memory) -> Iterator[Content]:
    names = [name for name in Memory.__struct_fields__ if name not in _UNTOLD]
    changed = [name for name in names if getattr(before, name) != getattr(after, name)]
    for name in changed:
        yield _change(name.replace("_", " "), getattr(before, name), getattr(after, name))
    if changed and before.content != after.content:
        yield Content("")


def _change(label: str, before: object, after: object) -> Content:
    was, now = (_value(value) or "none" for value in (before, after))
    return (
        literal(f"{label}: ", "dim")
        + literal(f"- {was}", "$text-error")
        + Content("  ")
        + literal(f"+ {now}", "$text-success")
    )


def _identity(focus: Focus, crystal: Crystal, width: int, *, split: bool) -> Iterator[Content]:
    if focus.identity is None or focus.identity.id == crystal.id:
        yield Content.styled("There is no identity yet; this would be the first.", "dim")
        yield Content("")
        yield _text(crystal.content)
        return
    yield Content.styled("- is the present identity, + is what it would become", "dim")
    yield Content("")
    yield _difference(focus.identity.content, crystal.content, width, split=split)


def _entry(item: Pending, width: int, *, split: bool) -> Iterator[Content]:
    labels = _LABELS[item.proposal.target]
    before, after = item.target, proposed(item)
    if before is None and item.proposal.action != "create":
        yield literal(f"The {item.proposal.target} {item.proposal.target_id} is gone.", "$text-warning")
        return
    shown = after if item.proposal.action == "create" else before
    if shown is None:
        yield Content.styled("What is proposed breaks a rule and cannot be carried out. Reject it.", "$text-warning")
        return
    changed = set(item.proposal.payload) if item.proposal.action == "edit" and after is not None else set()
    values = {name: getattr(shown, name) for name in labels if hasattr(shown, name)}
    yield from _fields(labels, values, changed, after)
    if "content" in values and "content" in changed:
        yield _difference(values["content"], after.content, width, split=split)
    elif values.get("content"):
        yield Content("")
        yield _text(values["content"])


def _fields(labels: Mapping[str, str], values: Mapping[str, Any], changed: set[str], after: Any) -> Iterator[Content]:  # noqa: ANN401 - a skip or working item
    for name, value in values.items():
        if name == "content":
            continue
        if name in changed and getattr(after, name) != value:
            yield _change(labels[name], value, getattr(after, name))
        elif said := _value(value):
            yield literal(f"{labels[name]}: ", "dim") + literal(said)


def _value(value: object) -> str:
    """Return a value in a person's words; a moment with how far it is away."""
    if isinstance(value, datetime):
        span = ago(value, clock.now())
        away = span if span.startswith("in ") else "now" if span == "now" else f"{span} ago"
        return f"{value:%Y-%m-%d %H:%M} UTC ({away})"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value).replace("_", " ")


def _suggestion(focus: Focus, item: Pending, width: int, *, split: bool) -> Iterator[Content]:
    payload = item.proposal.payload
    for name, label in (("older_context", "the older one applies"), ("newer_context", "the newer one applies")):
        if payload.get(name):
            yield literal(f"{label}: ", "dim") + literal(str(payload[name]))
    if payload.get("content"):
        yield Content.styled("THE ONE TEXT", "bold")
        yield literal(str(payload["content"]), multiline=True)
        yield Content("")
    if focus.about is not None:
        yield both_sides(focus.about, width, split=split)
