"""``/v1/activity``: the changes to the memories of a workspace, and how often these were shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.types import MemoryEvent
from memento_tui.compat.http.request import ApiRequest, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import json_response
from memento_tui.errors import InvalidField
from memento_tui.moments import parse_moment, parse_span
from memento_tui.operations.memories import format_time
from memento_tui.text.fence import is_plain_id
from memento_tui.text.labels import entry_labels

__all__ = ["exposure_density", "list_events"]

_MAX_EVENTS = 500
_MAX_BUCKET = 60


class _ActivityQuery(RequestSchema):
    since: str = ""
    types: str = ""
    limit: int = 200
    bucket_minutes: int = 5


def list_events(request: ApiRequest) -> Response:
    """List the changes to memories, newest first."""
    query = request.read_query(_ActivityQuery)
    since = _since_time(query.since)
    types = {name.strip() for name in query.types.split(",") if name.strip()}
    limit = clamp_limit(query.limit, _MAX_EVENTS)
    found = request.workspace.activity.memory_events(
        request.scope.namespace, since=since, actions=types, limit=limit, is_small=bool(request.caller.account)
    )
    return json_response({"events": [_event_row(event) for event in found]})


def _event_row(event: MemoryEvent) -> dict[str, Any]:
    return {
        # Not the entry's number, which would reveal to an account how much the person and others write.
        "id": f"{event.entry_id}-{event.ordinal}",
        "action": event.action,
        "memory_id": event.memory_id,
        "detail": event.author,
        "created_at": event.at,
        **({} if is_plain_id(event.memory_id) else {"labels": entry_labels(is_unverified=True)}),
    }


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


def exposure_density(request: ApiRequest) -> Response:
    """Count how many memories were shown, by spans of time."""
    query = request.read_query(_ActivityQuery)
    seconds = clamp_limit(query.bucket_minutes, _MAX_BUCKET) * 60
    counts = request.workspace.activity.exposure_counts(
        request.scope.namespace, since=_since_time(query.since), seconds=seconds
    )
    buckets = [{"bucket": format_time(datetime.fromtimestamp(start, UTC)), "count": count} for start, count in counts]
    return json_response({"buckets": buckets})
