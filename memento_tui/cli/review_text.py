"""How a proposal reads on the command line: as JSON, as a row, and in full."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from memento_tui.cli.output import bold, moment, named, safe, table
from memento_tui.records import Memory
from memento_tui.records.proposal import OPEN_STATES
from memento_tui.review.evidence import deed_of
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.workspace.queue import Pending

__all__ = ["in_full", "plain_pending", "proposal_rows"]


_MOVED = "what it would change has changed since it was proposed"


def plain_pending(pending: Pending) -> dict[str, Any]:
    """Return a proposal with its target as JSON tells it."""
    record = None if pending.target is None else as_plain(pending.target)
    return {**as_plain(pending.proposal), "why": pending.why, "moved": pending.moved, "record": record}


def proposal_rows(found: list[Pending], following: str | None) -> str:
    """Return proposals as a table, with the cursor of the next page."""
    if not found:
        return "Nothing waits for a decision."
    rows = [
        [
            pending.proposal.id,
            f"{deed_of(pending.proposal)} {pending.proposal.target}",
            "changed since" if pending.moved and pending.proposal.state in OPEN_STATES else pending.proposal.state,
            pending.proposal.proposed_by,
            moment(pending.proposal.created_at),
            _headline(pending),
        ]
        for pending in found
    ]
    more = f"\nThere are more: --after {following}" if following else ""
    return table(["ID", "WHAT", "STATE", "FROM", "SINCE", "ABOUT"], rows) + more


def _headline(pending: Pending) -> str:
    record = pending.target
    if isinstance(record, Memory):
        return record.headline
    values = pending.proposal.payload if record is None else as_plain(record)
    return str(next((values[name] for name in ("item", "title", "content") if values.get(name)), pending.proposal.id))


def in_full(pending: Pending) -> str:
    """Return all that is known of a proposal."""
    proposal = pending.proposal
    about = {
        "proposal": proposal.id,
        "version": proposal.version,
        "what": f"{proposal.action} {proposal.target} {proposal.target_id}",
        "state": proposal.state,
        "why asked": "; ".join(pending.why),
        "from": " ".join(filter(None, [proposal.proposed_by, proposal.session])),
        "since": proposal.created_at,
        "until": proposal.later_until,
        "decided": proposal.decided_at,
        "decided by": proposal.decided_by,
        "reason": proposal.note,
        "warning": _MOVED if pending.moved and proposal.state in OPEN_STATES else "",
    }
    rests_on = "\n".join(f"{bold(name)}: {safe(text, multiline=True)}" for name, text in pending.rests_on)
    return "\n\n".join(filter(None, [named(about), rests_on, _substance(pending)]))


def _substance(pending: Pending) -> str:
    """Return what would be new, or what would change: each changed field before and after."""
    proposal, record = pending.proposal, pending.target
    if proposal.action in ("edit", "merge") and record is not None:
        before = as_plain(record)
        return "\n".join(_change(name, before.get(name), value) for name, value in proposal.payload.items())
    values = dict(proposal.payload) if record is None else as_plain(record)
    content = str(values.pop("content", ""))
    shown = ("title", "item", "reason", "kind", "tags", "namespace", "source_type", "source", "certainty", "expires_at")
    return f"{safe(content, multiline=True)}\n\n{named({name: values.get(name) for name in shown})}".strip()


def _change(name: str, before: object, after: object) -> str:
    if name != "content":
        return f"{bold(name)}: {safe(str(before))} -> {safe(str(after))}"
    lines = difflib.unified_diff(str(before).splitlines(), str(after).splitlines(), lineterm="", n=2)
    return "\n".join([f"{bold(name)}:", *(safe(line) for line in list(lines)[2:])])
