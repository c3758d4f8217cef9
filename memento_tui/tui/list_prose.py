"""How a working item and a skip read beside their lists, with who wrote each version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from textual.content import Content

from memento_tui import clock
from memento_tui.errors import InvalidField, MementoError
from memento_tui.records import Skip, WorkingItem
from memento_tui.store.store import Revision
from memento_tui.tui.display import ago, hidden_characters, literal
from memento_tui.tui.list_rows import SOON
from memento_tui.workspace.list_query import CATEGORY_WORDS, STATUS_WORDS

__all__ = ["ITEM_LABELS", "SKIP_LABELS", "error_in_words", "item_in_full", "skip_in_full", "value_in_words"]

ITEM_LABELS = {
    "title": "title",
    "next_action": "next action",
    "category": "category",
    "status": "status",
    "priority": "priority",
    "tags": "tags",
    "content": "text",
    "namespace": "namespace",
}
SKIP_LABELS = {"item": "what", "reason": "why", "expires_at": "until", "namespace": "namespace"}
"""What the fields of a record are called."""

_LONGEST = 20_000
_MOST_VERSIONS = 20
_LONGEST_VALUE = 60


def item_in_full(item: WorkingItem, history: Sequence[Revision]) -> Content:
    """Return a working item and its versions."""
    now = clock.now()
    facts = [CATEGORY_WORDS[item.category], STATUS_WORDS[item.status], f"priority {item.priority}"]
    lines = [
        literal(item.title, "bold"),
        literal("  ".join(facts), "dim"),
        literal("  ".join([item.namespace, *(f"#{tag}" for tag in item.tags)]), "dim"),
        literal(f"changed {_since(item.updated_at, now)}  added {_since(item.created_at, now)}", "dim"),
        *_warning(item.title, item.content, item.next_action),
    ]
    if item.next_action:
        lines += [Content(""), Content.styled("Next: ", "bold") + literal(item.next_action)]
    if item.content:
        lines += [Content(""), _body(item.content)]
    return Content("\n").join([*lines, *_versions(history, ITEM_LABELS, now)])


def skip_in_full(skip: Skip, history: Sequence[Revision]) -> Content:
    """Return a skip and its versions."""
    now = clock.now()
    until = f"{_moment(skip.expires_at)} ({ago(skip.expires_at, now)})"
    if skip.expires_at <= now:
        end = literal(f"x over since {until}", "bold")
    elif skip.expires_at - now < SOON:
        end = literal(f"< ends soon: {until}", "bold $text-warning")
    else:
        end = literal(f"until {until}")
    hits = f"hit {skip.hits}x" if skip.hits else "never hit"
    if skip.last_hit_at is not None:
        hits += f", last {_since(skip.last_hit_at, now)}"
    made = f"made {_since(skip.created_at, now)}" + (f" by {skip.created_by}" if skip.created_by else "")
    lines = [
        literal(skip.item, "bold"),
        end,
        literal(hits, "dim"),
        literal(f"{made}  {skip.namespace}", "dim"),
        *_warning(skip.item, skip.reason),
        Content(""),
        Content.styled("Why: ", "bold") + literal(skip.reason),
    ]
    return Content("\n").join([*lines, *_versions(history, SKIP_LABELS, now)])


def _body(text: str) -> Content:
    body, left = literal(text[:_LONGEST], multiline=True), len(text) - _LONGEST
    return body + literal(f"\n\n... {left:,} more characters.", "dim") if left > 0 else body


def _warning(*texts: str) -> list[Content]:
    hidden = sum((hidden_characters(text) for text in texts), start=hidden_characters(""))
    if not hidden:
        return []
    told = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
    return [literal(f"! hidden characters, shown as <...>: {told}", "bold $text-warning")]


def _versions(history: Sequence[Revision], labels: Mapping[str, str], now: datetime) -> list[Content]:
    """Return a line for each version, newest first: when, who, and what became of which fields."""
    if not history:
        return []
    lines = [Content(""), Content.styled("History", "bold")]
    for after, before in pairwise([*history[:_MOST_VERSIONS], None]):
        if after is None:
            break
        older = before if before is not None else next(iter(history[_MOST_VERSIONS:]), None)
        entry = after.entry
        who = entry.agent or ("you" if entry.actor == "person" else entry.actor)
        when = _since(datetime.fromisoformat(entry.at), now)
        line = f"v{after.version}  {when}  {who} ({entry.channel})  {_deed(after, older, labels)}"
        lines.append(literal(line, "dim"))
    if len(history) > _MOST_VERSIONS:
        lines.append(literal(f"... {len(history) - _MOST_VERSIONS:,} older versions", "dim"))
    return lines


def _deed(after: Revision, before: Revision | None, labels: Mapping[str, str]) -> str:
    if after.removed:
        return "removed"
    if after.purged or after.record is None:
        return "purged"
    if before is None:
        return "added"
    if before.record is None:
        return "brought back"
    changed = [
        f"{label}: {value_in_words(getattr(before.record, name))} -> {value_in_words(getattr(after.record, name))}"
        for name, label in labels.items()
        if getattr(before.record, name) != getattr(after.record, name)
    ]
    return "; ".join(changed) or "nothing that shows"


def error_in_words(error: MementoError, labels: Mapping[str, str]) -> str:
    """Return an error with the name that a person knows of the field that it is about."""
    if isinstance(error, InvalidField) and error.field in labels:
        return f"{labels[error.field].capitalize()} {error.reason}. {error.hint}".strip()
    return str(error)


def value_in_words(value: object) -> str:
    """Return the value of a field as a person would say it; it need not be safe to show."""
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, tuple):
        value = ", ".join(value)
    text = str({**CATEGORY_WORDS, **STATUS_WORDS}.get(str(value), value)) or "none"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z"


def _since(moment: datetime, now: datetime) -> str:
    span = ago(moment, now)
    return "just now" if span == "now" else f"{span} ago"
