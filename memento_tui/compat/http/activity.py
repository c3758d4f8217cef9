"""``/v1/activity``: the changes to the memories of a workspace, and how often these were shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.types import Change, Entry, ExposureFilter
from memento_tui.compat.http.request import ApiRequest, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import json_response
from memento_tui.errors import InvalidField
from memento_tui.moments import parse_moment, parse_span
from memento_tui.operations.memories import format_time

__all__ = ["exposure_density", "list_events"]

_MAX_EVENTS = 500
_MAX_ENTRIES = 20_000
"""Journal entries, and rows of the ledger, that one answer is made of."""

_PAGE_SIZE = 500
_MAX_BUCKET = 60


class _ActivityQuery(RequestSchema):
    since: str = ""
    types: str = ""
    limit: int = 200
    bucket_minutes: int = 5


class _RecordImage(msgspec.Struct):
    namespace: str = "global"
    status: str = "active"


_decode_image = msgspec.json.Decoder(_RecordImage).decode


def list_events(request: ApiRequest) -> Response:
    """List the changes to memories, newest first."""
    query = request.read_query(_ActivityQuery)
    since = _since_time(query.since)
    types = {name.strip() for name in query.types.split(",") if name.strip()}
    limit = clamp_limit(query.limit, _MAX_EVENTS)
    events: list[dict[str, Any]] = []
    for entry in _entries(request, since):
        for ordinal, change in enumerate(request.workspace.activity.changes(entry.seq)):
            event = _event_row(request, entry, ordinal, change)
            if event is not None and (not types or event["action"] in types):
                events.append(event)
                if len(events) == limit:
                    return json_response({"events": events})
    return json_response({"events": events})


def _since_time(since: str) -> datetime:
    if not since:
        return clock.now() - timedelta(days=1)
    try:
        if (span := parse_span(since)) is not None:
            return clock.now() - span
    except OverflowError:
        raise InvalidField("since", "no calendar reaches back so far") from None
    # The plus sign of a time zone arrives as a space where a client does not encode it.
    return parse_moment(since.replace(" 00:00", "+00:00"), "since")


def _entries(request: ApiRequest, since: datetime) -> Iterator[Entry]:
    before: int | None = None
    for _ in range(_MAX_ENTRIES // _PAGE_SIZE):
        page = request.workspace.activity.entries(before=before, limit=_PAGE_SIZE)
        for entry in page:
            if datetime.fromisoformat(entry.at) < since:
                return
            yield entry
        if len(page) < _PAGE_SIZE:
            return
        before = page[-1].seq


def _event_row(request: ApiRequest, entry: Entry, ordinal: int, change: Change) -> dict[str, Any] | None:
    """Return an entry's change to one memory in Memento Protocol's words; ``None`` for records of elsewhere."""
    if change.record != "memory" or change.image is None:
        return None
    image = _decode_image(change.image)
    if not request.scope.holds_namespace(image.namespace):
        return None
    if entry.action == "consolidate":
        action = "consolidate"
    elif image.status == "deleted":
        action = "delete"
    else:
        action = "create" if change.version == 1 else "update"
    return {
        # Not the entry's number, which would reveal to an account how much the person and others write.
        "id": f"{entry.id}-{ordinal}",
        "action": action,
        "memory_id": change.record_id,
        "detail": entry.agent or entry.actor,
        "created_at": entry.at,
    }


def exposure_density(request: ApiRequest) -> Response:
    """Count how many memories were shown, by spans of time."""
    query = request.read_query(_ActivityQuery)
    seconds = clamp_limit(query.bucket_minutes, _MAX_BUCKET) * 60
    shown = ExposureFilter(since=_since_time(query.since))
    counts: Counter[int] = Counter()
    for start in range(0, _MAX_ENTRIES, _PAGE_SIZE):
        page = request.workspace.exposures.page(shown, start, _PAGE_SIZE)
        for row in page:
            if row.memory is not None and request.scope.holds_namespace(row.memory.namespace):
                counts[int(row.exposure.at.timestamp()) // seconds * seconds] += 1
        if len(page) < _PAGE_SIZE:
            break
    buckets = [
        {"bucket": format_time(datetime.fromtimestamp(start, UTC)), "count": count}
        for start, count in sorted(counts.items())
    ]
    return json_response({"buckets": buckets})
