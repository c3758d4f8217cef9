"""``/v1/activity``: what happened to the memories of a workspace, and how often they were shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.http.call import Call, Shape, limited
from memento_tui.agent.http.replies import replied
from memento_tui.agent.labels import moment_text
from memento_tui.errors import InvalidField
from memento_tui.records.when import parse_moment, parse_span
from memento_tui.store.injections import InjectionFilter
from memento_tui.store.journal import Change, Entry

__all__ = ["density", "events"]

_MOST = 500
_MOST_ENTRIES = 20_000
"""Journal entries, and rows of the ledger, that one answer is made of."""

_PAGE = 500
_LONGEST_BUCKET = 60


class _Since(Shape):
    since: str = ""
    types: str = ""
    limit: int = 200
    bucket_minutes: int = 5


class _Image(msgspec.Struct):
    namespace: str = "global"
    status: str = "active"


_decode = msgspec.json.Decoder(_Image).decode


def events(call: Call) -> Response:
    """List what was done to memories, newest first."""
    asked = call.asked(_Since)
    since = _moment(asked.since)
    types = {name.strip() for name in asked.types.split(",") if name.strip()}
    limit = limited(asked.limit, _MOST)
    found: list[dict[str, Any]] = []
    for entry in _entries(call, since):
        for ordinal, change in enumerate(call.workspace.store.changes(entry.seq)):
            event = _event(call, entry, ordinal, change)
            if event is not None and (not types or event["action"] in types):
                found.append(event)
                if len(found) == limit:
                    return replied({"events": found})
    return replied({"events": found})


def _moment(since: str) -> datetime:
    if not since:
        return clock.now() - timedelta(days=1)
    try:
        if (span := parse_span(since)) is not None:
            return clock.now() - span
    except OverflowError:
        raise InvalidField("since", "no calendar reaches back so far") from None
    # Written into an address as it is, the sign of a zone arrives as a space.
    return parse_moment(since.replace(" 00:00", "+00:00"), "since")


def _entries(call: Call, since: datetime) -> Iterator[Entry]:
    before: int | None = None
    for _ in range(_MOST_ENTRIES // _PAGE):
        page = call.workspace.store.entries(before=before, limit=_PAGE)
        for entry in page:
            if datetime.fromisoformat(entry.at) < since:
                return
            yield entry
        if len(page) < _PAGE:
            return
        before = page[-1].seq


def _event(call: Call, entry: Entry, ordinal: int, change: Change) -> dict[str, Any] | None:
    """Return what an entry did to one memory of this workspace, in Memento Protocol's words."""
    if change.record != "memory" or change.image is None:
        return None
    image = _decode(change.image)
    if not call.place.holds(image.namespace):
        return None
    if entry.action == "consolidate":
        action = "consolidate"
    elif image.status == "deleted":
        action = "delete"
    else:
        action = "create" if change.version == 1 else "update"
    return {
        # Not the number of the entry, which would tell an account how much the person and others write.
        "id": f"{entry.id}-{ordinal}",
        "action": action,
        "memory_id": change.record_id,
        "detail": entry.agent or entry.actor,
        "created_at": entry.at,
    }


def density(call: Call) -> Response:
    """Count how many memories were shown, by spans of time."""
    asked = call.asked(_Since)
    seconds = limited(asked.bucket_minutes, _LONGEST_BUCKET) * 60
    wanted = InjectionFilter(since=_moment(asked.since))
    counts: Counter[int] = Counter()
    for start in range(0, _MOST_ENTRIES, _PAGE):
        page = call.workspace.store.injections.page(wanted, start, _PAGE)
        for row in page:
            if row.memory is not None and call.place.holds(row.memory.namespace):
                counts[int(row.injection.at.timestamp()) // seconds * seconds] += 1
        if len(page) < _PAGE:
            break
    buckets = [
        {"bucket": moment_text(datetime.fromtimestamp(start, UTC)), "count": count}
        for start, count in sorted(counts.items())
    ]
    return replied({"buckets": buckets})
