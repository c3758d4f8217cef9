"""Format working items and skips: as rows, as cards, and in full with the writer of each version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from textual.content import Content

from memento_tui import clock
from memento_tui.api.lists import CATEGORY_WORDS, STATUS_WORDS
from memento_tui.api.types import Revision, SkipHit
from memento_tui.model import Skip, WorkingItem
from memento_tui.tui.columns import Columns, ListColumn, TextBelow, age_since, fixed, share
from memento_tui.tui.display import ago, cells, has_hidden, hidden_characters, literal, more_characters, time_ago
from memento_tui.tui.sections.record_spec import ITEM_SPEC, SKIP_SPEC, format_value
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "ITEM_BELOW",
    "ITEM_COLUMNS",
    "MOST_HITS_SHOWN",
    "SKIP_BELOW",
    "SKIP_COLUMNS",
    "item_card",
    "item_details",
    "item_line",
    "skip_details",
    "skip_line",
]

CATEGORY_SHORT = {
    "active_work": "doing",
    "standing_decision": "standing",
    "waiting_for": "waiting",
    "session_note": "note",
}
"""Names of the categories for the narrow column."""

MOST_HITS_SHOWN = 5
"""Times that a skip fired which stand below it."""

EXPIRES_SOON = timedelta(days=3)
"""A skip that ends within this time is marked."""

_CATEGORY_WIDTH, _PRIORITY_WIDTH, _AGE_WIDTH, _HITS_WIDTH, _END_WIDTH, _WHO_WIDTH = 8, 4, 6, 5, 13, 10
_NARROW, _WIDE = 48, 84
_NEXT = "-> "


def item_line(item: WorkingItem, width: int, names: Sequence[str]) -> list[Line]:
    """Return the row of a working item: whether it hides characters, and its columns."""
    return [ITEM_COLUMNS.line(item, width, names, _marks(item.title + item.next_action + item.content))]


def item_card(item: WorkingItem, width: int) -> list[Line]:
    """Return a working item as two lines of a column: priority and title, then the next action or status."""
    age = f"{ago(item.updated_at, clock.now()):>{_AGE_WIDTH}}"
    left = width - _PRIORITY_WIDTH - 2
    first = [
        _priority(item),
        _flag(item.title + item.next_action + item.content),
        (cells(item.title, left), "muted" if item.status != "active" else ""),
    ]
    then = [
        (" " * (_PRIORITY_WIDTH + 2), ""),
        (cells(_next_action_text(item), left - _AGE_WIDTH), "muted"),
        (age, "muted"),
    ]
    return [first, then]


def skip_line(skip: Skip, width: int, names: Sequence[str]) -> list[Line]:
    """Return the row of a skip: whether it hides characters, and its columns."""
    return [SKIP_COLUMNS.line(skip, width, names, _marks(skip.item + skip.reason))]


def format_expiry(end: datetime, now: datetime) -> tuple[str, str]:
    """Return the time until a skip ends, with a glyph where it is short, and the name of its style."""
    if end <= now:
        return f"x over {ago(end, now)}", "muted"
    if end - now < EXPIRES_SOON:
        return f"< soon {ago(end, now)}", "warning"
    return f"  {ago(end, now)}", ""


def _priority(item: WorkingItem) -> tuple[str, str]:
    return _short_number(item.priority).rjust(_PRIORITY_WIDTH), "strong" if item.priority > 0 else "muted"


def _short_number(number: int) -> str:
    """Return a number in at most four cells: thousands are rounded towards zero, those beyond nine not told apart."""
    thousands = abs(number) // 1000
    if not thousands:
        return str(number)
    if thousands > 9:  # noqa: PLR2004 - one digit
        return "<-9k" if number < 0 else ">9k"
    return f"{'-' if number < 0 else ''}{thousands}k"


def _flag(text: str) -> tuple[str, str]:
    return ("! " if has_hidden(text) else "  "), "warning"


def _marks(text: str) -> Line:
    return [("!" if has_hidden(text) else " ", "warning")]


def _next_action_text(item: WorkingItem) -> str:
    """Return the next action of an item, after its status where that is not ``active``."""
    next_action = _NEXT + item.next_action if item.next_action else ""
    if item.status == "active":
        return next_action
    return f"[{STATUS_WORDS[item.status]}] {next_action}".rstrip()


ITEM_COLUMNS = Columns[WorkingItem](
    name="work",
    all={
        "priority": ListColumn(
            "prio",
            "its priority; the highest comes first",
            fixed(_PRIORITY_WIDTH),
            lambda item, _: _priority(item)[0],
            lambda item, _: _priority(item)[1],
            orders=("priority",),
        ),
        "category": ListColumn(
            "category",
            "what is done with it",
            fixed(_CATEGORY_WIDTH),
            lambda item, _: CATEGORY_SHORT[item.category],
            orders=("category",),
            least=_NARROW,
        ),
        "title": ListColumn(
            "title",
            "its title; always shown",
            fixed(0),
            lambda item, _: item.title,
            lambda item, _: "muted" if item.status != "active" else "",
        ),
        "next": ListColumn(
            "next action",
            "the next action, behind the status of what is not active",
            share(0.38, 80),
            lambda item, _: _next_action_text(item),
            least=_NARROW,
        ),
        "status": ListColumn("status", "its status", fixed(9), lambda item, _: STATUS_WORDS[item.status]),
        "tags": ListColumn(
            "tags", "its tags", share(0.2, 24), lambda item, _: " ".join(f"#{tag}" for tag in item.tags)
        ),
        "namespace": ListColumn("namespace", "where it belongs", share(0.2, 20), lambda item, _: item.namespace),
        "created": age_since("how long ago it was added", lambda item: item.created_at, "created", label="made"),
        "changed": age_since("how long ago it was changed", lambda item: item.updated_at, "changed"),
    },
    first=("priority", "category", "title", "next", "changed"),
    main="title",
    staying="changed",
    marks=2,
)

SKIP_COLUMNS = Columns[Skip](
    name="skips",
    all={
        "ends": ListColumn(
            "  ends",  # behind the cells of the glyph
            "when it ends",
            fixed(_END_WIDTH),
            lambda skip, now: format_expiry(skip.expires_at, now)[0],
            lambda skip, now: format_expiry(skip.expires_at, now)[1],
            orders=("end",),
        ),
        "what": ListColumn(
            "what to skip",
            "what is not to be done or read; always shown",
            fixed(0),
            lambda skip, _: skip.item,
            lambda skip, now: "muted" if skip.expires_at <= now else "",
        ),
        "why": ListColumn("why", "the reason", share(0.36, 80), lambda skip, _: skip.reason, least=_NARROW),
        "hits": ListColumn(
            "hits",
            "how often an agent was about to do it",
            fixed(_HITS_WIDTH),
            lambda skip, _: f"{skip.hits}x" if skip.hits else "-",
            is_number=True,
            orders=("hits",),
        ),
        "by": ListColumn("by", "who made it", fixed(_WHO_WIDTH), lambda skip, _: skip.created_by, least=_WIDE),
        "namespace": ListColumn("namespace", "where it holds", share(0.2, 20), lambda skip, _: skip.namespace),
        "created": age_since("how long ago it was made", lambda skip: skip.created_at, "created", label="made"),
    },
    first=("ends", "what", "why", "hits", "by"),
    main="what",
    staying="ends",
    marks=2,
)

_BELOW_CHARACTERS = 400
"""Characters of a text from which the lines below a row are made."""

ITEM_BELOW = TextBelow[WorkingItem](
    lambda item, _: [(_next_action_text(item), ""), (item.content[:_BELOW_CHARACTERS], "muted")], ("next", "status")
)
SKIP_BELOW = TextBelow[Skip](
    lambda skip, now: [
        (skip.reason, "muted"),
        (f"made {time_ago(skip.created_at, now)}, {skip.namespace}", "muted"),
    ],
    ("why",),
)
_MAX_CHARACTERS = 20_000
_MOST_VERSIONS = 20


def item_details(item: WorkingItem, history: Sequence[Revision[Any]]) -> Content:
    """Return a working item and its versions."""
    now = clock.now()
    facts = [CATEGORY_WORDS[item.category], STATUS_WORDS[item.status], f"priority {item.priority}"]
    lines = [
        literal(item.title, "bold"),
        literal("  ".join(facts), "dim"),
        literal("  ".join([item.namespace, *(f"#{tag}" for tag in item.tags)]), "dim"),
        literal(f"changed {time_ago(item.updated_at, now)}  added {time_ago(item.created_at, now)}", "dim"),
        *_warning(item.title, item.content, item.next_action),
    ]
    if item.next_action:
        lines += [Content(""), Content.styled("Next: ", "bold") + literal(item.next_action)]
    if item.content:
        lines += [Content(""), _body(item.content)]
    return Content("\n").join([*lines, *_versions(history, ITEM_SPEC.labels, now)])


def skip_details(skip: Skip, hits: Sequence[SkipHit], history: Sequence[Revision[Any]]) -> Content:
    """Return a skip, when it fired last and by which of its words, and its versions."""
    now = clock.now()
    until = f"{_moment(skip.expires_at)} ({ago(skip.expires_at, now)})"
    if skip.expires_at <= now:
        end = literal(f"x over since {until}", "bold")
    elif skip.expires_at - now < EXPIRES_SOON:
        end = literal(f"< ends soon: {until}", "bold $text-warning")
    else:
        end = literal(f"until {until}")
    counted = f"hit {skip.hits}x" if skip.hits else "never hit"
    if skip.last_hit_at is not None:
        counted += f", last {time_ago(skip.last_hit_at, now)}"
    made = f"made {time_ago(skip.created_at, now)}" + (f" by {skip.created_by}" if skip.created_by else "")
    lines = [
        literal(skip.item, "bold"),
        end,
        literal(counted, "dim"),
        literal(f"{made}  {skip.namespace}", "dim"),
        *_warning(skip.item, skip.reason),
        Content(""),
        Content.styled("Why: ", "bold") + literal(skip.reason),
    ]
    return Content("\n").join([*lines, *_fired(hits, now), *_versions(history, SKIP_SPEC.labels, now)])


def _fired(hits: Sequence[SkipHit], now: datetime) -> list[Content]:
    """Return a line for each time that a skip fired: when, by which of its words, and for which session."""
    if not hits:
        return []
    lines = [Content(""), Content.styled("Fired", "bold")]
    for hit in hits:
        whose = f"session {hit.session} ({hit.channel})" if hit.session else hit.channel
        words = literal(f"  {hit.words}  ")
        lines.append(literal(time_ago(hit.at, now), "dim") + words + literal(whose, "dim"))
    return lines


def _body(text: str) -> Content:
    return literal(text[:_MAX_CHARACTERS], multiline=True) + more_characters(text, _MAX_CHARACTERS)


def _warning(*texts: str) -> list[Content]:
    hidden = sum((hidden_characters(text) for text in texts), start=hidden_characters(""))
    if not hidden:
        return []
    counts = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
    return [literal(f"! hidden characters, shown as <...>: {counts}", "bold $text-warning")]


def _versions(history: Sequence[Revision[Any]], labels: Mapping[str, str], now: datetime) -> list[Content]:
    """Return a line for each version, newest first: its time, its writer, and the changed fields."""
    if not history:
        return []
    lines = [Content(""), Content.styled("History", "bold")]
    for after, before in pairwise([*history[:_MOST_VERSIONS], None]):
        if after is None:
            break
        older = before if before is not None else next(iter(history[_MOST_VERSIONS:]), None)
        entry = after.entry
        who = entry.agent or ("you" if entry.actor == "person" else entry.actor)
        when = time_ago(datetime.fromisoformat(entry.at), now)
        line = f"v{after.version}  {when}  {who} ({entry.channel})  {_version_summary(after, older, labels)}"
        lines.append(literal(line, "dim"))
    if len(history) > _MOST_VERSIONS:
        lines.append(literal(f"... {len(history) - _MOST_VERSIONS:,} older versions", "dim"))
    return lines


def _version_summary(after: Revision[Any], before: Revision[Any] | None, labels: Mapping[str, str]) -> str:
    if after.removed:
        return "removed"
    if after.purged or after.record is None:
        return "no longer kept" if after.dropped else "purged"
    if before is None:
        return "added"
    if before.record is None:
        return "brought back"
    changed = [
        f"{label}: {format_value(getattr(before.record, name))} -> {format_value(getattr(after.record, name))}"
        for name, label in labels.items()
        if getattr(before.record, name) != getattr(after.record, name)
    ]
    return "; ".join(changed) or "nothing that shows"


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}Z"
