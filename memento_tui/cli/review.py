"""The command ``review``: what waits for a person, and the person's decisions."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import group
from memento_tui.cli.fields import changes_of, memory_options, read_text
from memento_tui.cli.memories import paging
from memento_tui.cli.outcomes import for_each
from memento_tui.cli.output import bold, emit, moment, named, safe, table
from memento_tui.cli.session import opened
from memento_tui.errors import InvalidInput, NotFound
from memento_tui.records import Memory, Proposal
from memento_tui.records.proposal import OPEN_STATES, PROPOSAL_STATES
from memento_tui.review.evidence import deed_of
from memento_tui.review.trusting import edited
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.workspace.queue import Pending, ReviewQueue

__all__ = ["commands"]


_MOVED = "what it would change has changed since it was proposed"


def plain_pending(pending: Pending) -> dict[str, Any]:
    """Return a proposal with its target as JSON tells it."""
    record = None if pending.target is None else as_plain(pending.target)
    return {**as_plain(pending.proposal), "why": pending.why, "moved": pending.moved, "record": record}


@group(
    "review",
    invoke_without_command=True,
    short_help="Decide about what waits for a person.",
    examples="""
    memento review
    memento review show 4tq2
    memento review approve 4tq2
    memento review reject 4tq2 9mzx --reason "out of date"
    """,
)
@click.pass_context
def review(ctx: click.Context) -> None:
    """Decide about what an agent wants to remember or change. Without a command, list what waits."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@review.command(
    "list",
    short_help="List what waits for a decision.",
    examples="""
    memento review list
    memento review list --state rejected --json
    """,
)
@click.option("--state", "states", multiple=True, type=click.Choice(PROPOSAL_STATES), help="Repeat it for several.")
@paging
def list_(states: tuple[str, ...], after: str | None, limit: int) -> None:
    """List what waits for a decision, oldest first; what was put off appears when its time comes."""
    with opened() as workspace:
        found, following = workspace.review.list(states or OPEN_STATES, after=after, limit=limit)
    emit(
        lambda: {"items": [plain_pending(pending) for pending in found], "next": following},
        lambda: _rows(found, following),
    )


def _rows(found: list[Pending], following: str | None) -> str:
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


@review.command(
    "show",
    short_help="Show one proposal in full.",
    examples="""
    memento review show 4tq2
    memento review show 4tq2 --json
    """,
)
@click.argument("id")
def show(id: str) -> None:  # noqa: A002 - its name in the help
    """Show one proposal in full; ID is its own or that of the memory it is about."""
    with opened() as workspace:
        pending = workspace.review.get(id)
    emit(lambda: plain_pending(pending), lambda: _in_full(pending))


@review.command(
    "next",
    short_help="Show what has waited longest.",
    examples="""
    memento review next
    memento review next --json
    """,
)
def next_() -> None:
    """Show the proposal that has waited longest."""
    with opened() as workspace:
        found, _ = workspace.review.list(limit=1)
        left = workspace.review.count()
    if not found:
        raise NotFound("Nothing waits for a decision.")
    emit(lambda: {**plain_pending(found[0]), "waiting": left}, lambda: f"{_in_full(found[0])}\n\n{left} waiting")


def _in_full(pending: Pending) -> str:
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


@review.command(
    "approve",
    short_help="Carry proposals out.",
    examples="""
    memento review approve 4tq2
    memento review approve 4tq2@1 9mzx@2 --json
    memento review approve 4tq2 --title "Endpoints" --tag api
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--seen", type=click.IntRange(1), metavar="VERSION", help="The version of the proposal that you looked at."
)
@memory_options(editing=True)
def approve(ids: tuple[str, ...], seen: int | None, **options: Any) -> None:  # noqa: ANN401 - the options of all fields
    """Carry proposals out; ID@VERSION refuses one that changed since you looked at it.

    With options for fields, the one proposal is edited first, then approved.
    """
    edits = any(value not in (None, ()) for value in options.values())
    if len(ids) > 1 and (edits or seen is not None):
        raise InvalidInput(
            "Several proposals cannot be edited at once.",
            "Approve them one by one; ID@VERSION names what you looked at.",
        )
    with opened() as workspace:

        def carry_out(given: str) -> dict[str, Any]:
            name, version = looked_at(given, seen)
            changes = _edits(workspace.review, name, options) if edits else {}
            return _decided(workspace.review.approve(name, seen=version, **changes))

        for_each(ids, carry_out, _said)


def looked_at(given: str, seen: int | None) -> tuple[str, int | None]:
    """Return the id and the version that ``ID@VERSION`` names; a bare id may be of any version."""
    name, at, version = given.rpartition("@")
    if at and name and version.isascii() and version.isdigit() and int(version) >= 1:
        return name, int(version)
    return given, seen


def _edits(queue: ReviewQueue, given: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the person's changes to what is proposed: tags are added to the proposed ones."""
    pending = queue.get(given)
    record, proposal = pending.target, pending.proposal
    if isinstance(record, Memory):
        proposed = edited(record, proposal.payload, record.updated_at) if proposal.payload else record
        return changes_of(options, proposed)
    unfit = [name for name, value in options.items() if name != "content" and value not in (None, ())]
    if proposal.target != "crystal" or unfit:
        raise InvalidInput(
            f"A proposal about a {proposal.target} cannot be edited with these options.",
            "Reject it, and write your own.",
        )
    return {"content": read_text(options["content"])}


@review.command(
    "reject",
    short_help="Turn proposals down.",
    examples="""
    memento review reject 4tq2 --reason "we moved to /v3"
    memento review reject 4tq2 9mzx --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", default="", help="Why; the agent can read it.")
@click.option(
    "--seen", type=click.IntRange(1), metavar="VERSION", help="The version of the proposal that you looked at."
)
def reject(ids: tuple[str, ...], reason: str, seen: int | None) -> None:
    """Turn proposals down."""
    if len(ids) > 1 and seen is not None:
        raise InvalidInput("--seen names the version of one proposal.", "Reject them one by one.")
    with opened() as workspace:

        def turn_down(given: str) -> dict[str, Any]:
            name, version = looked_at(given, seen)
            return _decided(workspace.review.reject(name, reason, seen=version))

        for_each(ids, turn_down, _said)


@review.command(
    "later",
    short_help="Put proposals off.",
    examples="""
    memento review later 4tq2
    memento review later 4tq2 --until 2w
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--until", default="7d", show_default=True, metavar="WHEN", help="A date, a time or a span.")
def later(ids: tuple[str, ...], until: str) -> None:
    """Put proposals off."""
    with opened() as workspace:

        def put_off(given: str) -> dict[str, Any]:
            name, version = looked_at(given, None)
            return _decided(workspace.review.later(name, until, seen=version))

        for_each(ids, put_off, _said)


def _decided(proposal: Proposal) -> dict[str, Any]:
    return {"id": proposal.id, "status": proposal.state, "target": proposal.target, "target_id": proposal.target_id}


def _said(outcome: dict[str, Any]) -> str:
    return f"{outcome['id']}  {outcome['status']}: {outcome['target']} {outcome['target_id']}"


commands = {"review": review}
