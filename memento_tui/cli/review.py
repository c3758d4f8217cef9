"""The command ``review``: what waits for a person, and the person's decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import group
from memento_tui.cli.fields import changes_of, memory_options, read_text
from memento_tui.cli.outcomes import for_each
from memento_tui.cli.review_queue import edit, list_, next_, show
from memento_tui.cli.session import opened
from memento_tui.errors import InvalidInput
from memento_tui.records import Memory, Proposal
from memento_tui.review.trusting import edited

if TYPE_CHECKING:
    from memento_tui.workspace.queue import ReviewQueue

__all__ = ["commands"]


@group(
    "review",
    invoke_without_command=True,
    short_help="Decide about what waits for a person.",
    examples="""
    memento review
    memento review show 4tq2
    memento review approve 4tq2
    memento review reject 4tq2 9mzx --reason "out of date"
    memento review edit
    """,
)
@click.pass_context
def review(ctx: click.Context) -> None:
    """Decide about what an agent wants to remember or change. Without a command, list what waits."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


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


for made in (list_, show, next_, edit):
    review.add_command(made)

commands = {"review": review}
