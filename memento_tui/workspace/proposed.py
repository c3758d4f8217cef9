"""What a proposal would make of a record, and that as texts which a person may change before approving it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memento_tui.errors import MementoError
from memento_tui.records import Memory, make_item, make_skip
from memento_tui.review.trusting import edited
from memento_tui.workspace.queue import Pending

__all__ = ["changes_between", "proposed", "written"]

_WRITTEN = {
    "memory": ("title", "tags", "content"),
    "crystal": ("content",),
    "skip": ("item", "reason", "expires_at"),
    "item": ("title", "category", "status", "priority", "next_action", "tags", "content"),
}


def proposed(pending: Pending) -> Any:  # noqa: ANN401 - a memory, skip, working item or crystal
    """Return the record as it would be, or ``None`` where nothing would be left or it cannot be made."""
    target, proposal = pending.target, pending.proposal
    if proposal.action == "delete":
        return None
    try:
        if isinstance(target, Memory):
            return edited(target, proposal.payload, target.updated_at) if proposal.action != "create" else target
        if proposal.target in ("skip", "item"):
            before = {} if target is None else {name: getattr(target, name) for name in target.__struct_fields__}
            fields = {**before, **proposal.payload, "id": proposal.target_id}
            return make_skip(fields, stored=True) if proposal.target == "skip" else make_item(fields)
    except MementoError:
        return None
    return target if proposal.target == "crystal" else None


def written(pending: Pending) -> dict[str, str]:
    """Return what a person may change of what is proposed, as texts by name; nothing where there is nothing."""
    if pending.proposal.target == "contradiction":
        content = pending.proposal.payload.get("content")
        return {"content": str(content)} if content else {}
    after = proposed(pending)
    if after is None:
        return {}
    return {name: _text(getattr(after, name)) for name in _WRITTEN[pending.proposal.target]}


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def changes_between(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields whose texts differ, as values of a record; what is wrong with them its own rules say."""
    changes: dict[str, Any] = {name: text for name, text in after.items() if text != before.get(name)}
    for name, text in changes.items():
        if name == "tags":
            changes[name] = [tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")]
        elif name == "priority":
            changes[name] = _number(text)
        elif name != "content":
            changes[name] = text.strip()
    return changes


def _number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text
