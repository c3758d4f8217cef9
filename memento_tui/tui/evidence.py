"""How a proposal reads: what it would do, why a person is asked, and all that the decision rests on."""

from __future__ import annotations

from typing import Any

import msgspec
from textual.content import Content

from memento_tui.errors import MementoError
from memento_tui.records import Memory
from memento_tui.records.when import utc_now
from memento_tui.review.decisions import edited
from memento_tui.tui.difference import difference
from memento_tui.tui.display import hidden_characters, literal
from memento_tui.tui.prose import memory_body, memory_facts, when
from memento_tui.workspace.queue import Pending

__all__ = ["evidence_of", "heading_of", "proposed_memory"]

_QUESTIONS = {"create": "A new {}", "edit": "A change of a {}", "delete": "The deletion of a {}"}
_TARGETS = {"item": "working item", "crystal": "identity"}
_UNTOLD = {"id", "version", "created_at", "updated_at", "extra"}
"""Fields that say nothing to the person who decides."""


def heading_of(pending: Pending) -> Content:
    """Return who asks for what, and why it is not done without a person."""
    proposal = pending.proposal
    what = _QUESTIONS[proposal.action].format(_TARGETS.get(proposal.target, proposal.target))
    who = "you" if proposal.proposed_by == "person" else proposal.proposed_by or "somebody unnamed"
    lines = [literal(f"{what}, by {who}, {when(proposal.created_at, utc_now())}", "bold")]
    if pending.why:
        lines.append(literal("It waits because " + "; ".join(pending.why) + ".", "dim"))
    if proposal.state == "needs_review" or pending.moved:
        told = "! What it is about has changed since it was proposed. This is how it stands now."
        lines.append(Content.styled(told, "bold $text-warning"))
    if pending.target is None and proposal.action != "create":
        lines.append(Content.styled("! What it is about is gone. Reject it.", "bold $text-warning"))
    return Content("\n").join(lines)


def proposed_memory(pending: Pending) -> Memory | None:
    """Return the memory as it would be; ``None`` where it would be gone, is no memory, or cannot be."""
    target, proposal = pending.target, pending.proposal
    if not isinstance(target, Memory) or proposal.action == "delete":
        return None
    if proposal.action == "create":
        return target
    try:
        return edited(target, proposal.payload, target.updated_at)
    except MementoError:
        return None


def evidence_of(pending: Pending) -> Content:
    """Return what would be new, changed or gone."""
    target = pending.target
    if isinstance(target, Memory):
        return _of_memory(pending, target)
    payload = dict(pending.proposal.payload)
    if pending.proposal.action == "edit" and target is not None:
        return _field_changes({name: getattr(target, name, None) for name in payload}, payload)
    values = payload or ({} if target is None else msgspec.structs.asdict(target))
    return Content("\n").join(_field(name, value) for name, value in values.items() if _tells(name, value))


def _of_memory(pending: Pending, target: Memory) -> Content:
    if pending.proposal.action != "edit":
        title = [literal(target.title, "bold")] if target.title else []
        return Content("\n").join([*title, memory_facts(target), Content(""), memory_body(target, None)])
    head = [literal(target.headline, "bold"), memory_facts(target), Content("")]
    after = proposed_memory(pending)
    if after is None:
        # What is asked for breaks a rule by now: it is shown as it was written.
        return Content("\n").join([*head, *(_field(name, value) for name, value in pending.proposal.payload.items())])
    names = [n for n in Memory.__struct_fields__ if n not in _UNTOLD and getattr(target, n) != getattr(after, n)]
    before_values, after_values = ({n: getattr(m, n) for n in names if n != "content"} for m in (target, after))
    parts = [*head, _field_changes(before_values, after_values)] if before_values else head
    if "content" in names:
        parts += [_hidden_in(after.content), difference(target.content, after.content)]
    return Content("\n").join(part for part in parts if part is not None)


def _hidden_in(text: str) -> Content | None:
    hidden = hidden_characters(text)
    if not hidden:
        return None
    told = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
    return literal(f"! the new text has hidden characters, shown as <...>: {told}", "bold $text-warning")


def _field_changes(before: dict[str, Any], after: dict[str, Any]) -> Content:
    lines = []
    for name, value in after.items():
        lines.append(Content.styled(f"{name}:", "dim"))
        lines.append(literal(f"- {_text(before[name])}", "$text-error"))
        lines.append(literal(f"+ {_text(value)}", "$text-success"))
    return Content("\n").join(lines)


def _field(name: str, value: Any) -> Content:  # noqa: ANN401 - a field of any record
    return literal(f"{name}: ", "dim") + literal(_text(value), multiline=True)


def _tells(name: str, value: Any) -> bool:  # noqa: ANN401 - a field of any record
    return name not in _UNTOLD and value not in ("", None, [], {}, ())


def _text(value: object) -> str:
    value = msgspec.to_builtins(value)
    if isinstance(value, list):
        return ", ".join(str(part) for part in value) or "none"
    return "none" if value in ("", None) else str(value)
