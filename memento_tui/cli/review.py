"""The command ``review``: list and show what needs a decision, decide it, or decide all of it in an editor."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui.cli.command import command, current_session, group, open_workspace
from memento_tui.cli.contradictions import contradiction_object, contradiction_text
from memento_tui.cli.interaction import ask
from memento_tui.cli.options import changes_of, memory_options, paging, parse_id_and_version, read_text
from memento_tui.cli.output import (
    bold,
    emit,
    for_each,
    format_fields,
    format_time,
    next_page_note,
    note,
    quoted,
    safe,
    table,
)
from memento_tui.cli.record_completion import complete_ids
from memento_tui.errors import InvalidInput, MementoError, NotFound, RiskNotAccepted
from memento_tui.model import Memory, Proposal, WorkingItem
from memento_tui.model.review import INBOX_KINDS, OPEN_PROPOSAL_STATES, PROPOSAL_STATES, RISKY_KINDS
from memento_tui.model.validation import to_plain
from memento_tui.policy.decisions import proposal_verb
from memento_tui.policy.resolution import with_changes

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.review import PendingProposal


despite_option = click.option(
    "--despite",
    multiple=True,
    type=click.Choice(RISKY_KINDS),
    help="Approve what could do harm in this way without a question; repeat it for several.",
)

_TARGET_CHANGED = "what it would change has changed since it was proposed"


def proposal_object(pending: PendingProposal) -> dict[str, Any]:
    """Return a proposal with its target as JSON."""
    record = None if pending.target is None else to_plain(pending.target)
    from memento_tui.api.decision_fields import decision_fields  # noqa: PLC0415 - a command's help is shown without it

    fields = msgspec.to_builtins(decision_fields(pending))
    plain = {**to_plain(pending.proposal), "why": pending.why, "moved": pending.moved, "record": record}
    return {**plain, "fields": fields, "evidence_lines": [list(line) for line in pending.rests_on]}


def proposal_rows(found: list[PendingProposal], following: str | None) -> str:
    """Return proposals as a table, with the cursor of the next page."""
    if not found:
        return "Nothing waits for a decision."
    rows = [
        [
            pending.proposal.id,
            f"{proposal_verb(pending.proposal)} {pending.proposal.target}",
            "changed since"
            if pending.moved and pending.proposal.state in OPEN_PROPOSAL_STATES
            else pending.proposal.state,
            pending.proposal.proposed_by,
            format_time(pending.proposal.created_at),
            _proposal_headline(pending),
        ]
        for pending in found
    ]
    return table(["ID", "WHAT", "STATE", "FROM", "SINCE", "ABOUT"], rows) + next_page_note(following)


def _proposal_headline(pending: PendingProposal) -> str:
    record = pending.target
    if isinstance(record, Memory):
        return record.headline
    values = pending.proposal.payload if record is None else to_plain(record)
    return str(next((values[name] for name in ("item", "title", "content") if values.get(name)), pending.proposal.id))


def proposal_text(pending: PendingProposal) -> str:
    """Return everything about a proposal."""
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
        "warning": _TARGET_CHANGED if pending.moved and proposal.state in OPEN_PROPOSAL_STATES else "",
    }
    rests_on = "\n".join(quoted(f"{name}: {text}") for name, text in pending.rests_on)
    return "\n\n".join(filter(None, [format_fields(about), rests_on, _proposed_change_text(pending)]))


def _proposed_change_text(pending: PendingProposal) -> str:
    """Return the text to decide about, or its difference, and every other field that the decision carries out."""
    from memento_tui.api.decision_fields import decision_fields  # noqa: PLC0415 - a command's help is shown without it

    fields = [quoted(safe(field.line)) for field in decision_fields(pending)]
    return "\n\n".join(filter(None, [_content_text(pending), "\n".join(fields)]))


def _content_text(pending: PendingProposal) -> str:
    proposal = pending.proposal
    present, proposed = getattr(pending.target, "content", ""), proposal.payload.get("content")
    if pending.present_identity:
        present, proposed = pending.present_identity, proposed or present
    elif proposed is None or not isinstance(pending.target, Memory | WorkingItem):
        return quoted(str(proposed or present))
    lines = difflib.unified_diff(present.splitlines(), str(proposed).splitlines(), lineterm="", n=2)
    return "\n".join([f"{bold('content')}:", *(quoted(safe(line)) for line in list(lines)[2:])])


if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from memento_tui.api import Workspace
    from memento_tui.api.bulk_edit import RequestedDecisions, ReviewSheet
    from memento_tui.api.drafts import EditorFile
    from memento_tui.api.inbox import DecisionOutcome, InboxItem
    from memento_tui.api.review import ContradictionWithSides, PendingProposal


def _is_contradiction(item: PendingProposal | ContradictionWithSides) -> TypeIs[ContradictionWithSides]:
    return hasattr(item, "contradiction")


def _item_object(kind: str, item: PendingProposal | ContradictionWithSides) -> dict[str, Any]:
    """Return one item of the inbox as JSON; ``waits_as`` is its kind."""
    plain = contradiction_object(item) if _is_contradiction(item) else proposal_object(item)
    return {**plain, "waits_as": kind}


def _item_text(item: PendingProposal | ContradictionWithSides) -> str:
    return contradiction_text(item) if _is_contradiction(item) else proposal_text(item)


@command(
    "list",
    short_help="List proposals and contradictions.",
    examples="""
    memento review list
    memento review list --kind merge
    memento review list --state rejected --json
    """,
)
@click.option("--kind", type=click.Choice(INBOX_KINDS), help="Only items of this kind.")
@click.option("--state", "states", multiple=True, type=click.Choice(PROPOSAL_STATES), help="Repeat it for several.")
@click.option("--fenced", is_flag=True, help="Between two marked lines, for an agent that shows it to you.")
@paging
def list_inbox(
    kind: str | None, states: tuple[str, ...], after: str | None, limit: int, *, fenced: bool = False
) -> None:
    """List what needs a decision, the riskiest first; what was put off appears when its time comes.

    That includes contradictions, which `memento contradiction` resolves. With --state, list proposals in that state.
    """
    if states:
        _list_states(kind, states, after, limit)
        return
    with open_workspace() as workspace:
        found, following = workspace.inbox.list(kind or "", after=after, limit=limit)
        counts = workspace.inbox.counts()
        items = [(row.kind, workspace.inbox.get(row.id)) for row in found]
    emit(
        lambda: {"items": [_item_object(*one) for one in items], "next": following, "counts": counts},
        lambda: (
            _fenced_queue(found, counts)
            if fenced
            else _inbox_table(found, [item for _, item in items], following, counts)
        ),
    )


def _fenced_queue(found: Sequence[InboxItem], counts: Mapping[str, int]) -> str:
    """Return the queue for a model, fenced, because its texts are an agent's or from outside."""
    from memento_tui.api.inbox import counts_in_words  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.text.fence import fenced, visible_line  # noqa: PLC0415 - as above

    total = sum(counts.values())
    if not total:
        return "Nothing waits for a decision."
    rows = (f"{row.row.record_id}  {row.kind}  {row.row.who or '-'}  {row.headline}" for row in found)
    lines = "\n".join(visible_line(row, 160) for row in rows)
    head = f"{total:,} {'waits' if total == 1 else 'wait'}: {counts_in_words(counts)}"
    return f"{head}\n{fenced(lines, untrusted=True)}"


def _list_states(kind: str | None, states: Sequence[str], after: str | None, limit: int) -> None:
    if kind:
        raise InvalidInput("--kind selects among open items, whatever their state.", "Give --kind or --state.")
    with open_workspace() as workspace:
        found, following = workspace.review.list(states, after=after, limit=limit)
    emit(
        lambda: {"items": [proposal_object(pending) for pending in found], "next": following},
        lambda: proposal_rows(found, following),
    )


def _inbox_table(
    found: Sequence[InboxItem],
    items: Sequence[PendingProposal | ContradictionWithSides],
    following: str | None,
    counts: Mapping[str, int],
) -> str:
    from memento_tui.api.inbox import counts_in_words  # noqa: PLC0415 - a command's help is shown without it

    if not found:
        return (
            f"None of that kind waits. There are {counts_in_words(counts)}."
            if counts
            else "Nothing waits for a decision."
        )
    rows = [
        [
            row.row.record_id,
            row.kind,
            "changed since" if getattr(item, "moved", False) else row.row.state,
            row.row.who or "-",
            format_time(row.row.since),
            row.headline,
        ]
        for row, item in zip(found, items, strict=True)
    ]
    total = sum(counts.values())
    lines = [table(["ID", "WHAT", "STATE", "FROM", "SINCE", "ABOUT"], rows)]
    lines.append(f"{total:,} {'waits' if total == 1 else 'wait'}: {counts_in_words(counts)}")
    if "contradiction" in counts:
        lines.append("A contradiction is resolved with: memento contradiction resolve ID newer|older|both|merge|none")
    return "\n".join(lines) + next_page_note(following)


@command(
    "show",
    short_help="Show one item in full.",
    examples="""
    memento review show p-4tq2
    memento review show p-4tq2 --around
    memento review show p-4tq2 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("card"))
@click.option("--around", is_flag=True, help="Also show its place in the transcript, and similar memories.")
def show_item(id: str, *, around: bool) -> None:  # noqa: A002 - its name in the help
    """Show one item in full; ID is its own id or that of the memory it is about."""
    with open_workspace() as workspace:
        name = workspace.inbox.find(id)
        item = workspace.inbox.get(name)
        extra, context = _context_of(workspace, item) if around else ({}, "")
    plain = contradiction_object(item) if _is_contradiction(item) else proposal_object(item)
    emit(lambda: {**plain, **extra}, lambda: "\n\n".join(filter(None, [_item_text(item), context])))


def _context_of(workspace: Workspace, item: PendingProposal | ContradictionWithSides) -> tuple[dict[str, Any], str]:
    from memento_tui.api.review_context import similar_memories, transcript_excerpt  # noqa: PLC0415 - seldom needed

    workspace.catch_up()
    similar, excerpt = similar_memories(workspace, item), transcript_excerpt(item)
    lines = []
    if excerpt is not None:
        lines.append(bold(f"said in {safe(excerpt.transcript)}, lines {safe(excerpt.span)}"))
        lines += [safe(excerpt.problem)] if excerpt.problem else []
        lines += [
            f"{'>' if one.is_source else ' '} {one.role}, line {one.first_line}: {safe(one.text, multiline=True)}"
            for one in excerpt.said
        ]
    if similar:
        lines.append(bold("similar memories"))
        lines += [f"{one.likeness:.0%}  {safe(one.memory.id)}  {safe(one.memory.headline)}" for one in similar]
    return {"neighbours": msgspec.to_builtins(similar), "spoken": msgspec.to_builtins(excerpt)}, "\n".join(lines)


@command(
    "next",
    short_help="Show the riskiest item.",
    examples="""
    memento review next
    memento review next --json
    """,
)
def show_next() -> None:
    """Show the item to decide first: the riskiest, and of those the one that has waited longest."""
    with open_workspace() as workspace:
        found, _ = workspace.inbox.list(limit=1)
        left = workspace.inbox.count()
        item = workspace.inbox.get(found[0].id) if found else None
    if item is None:
        raise NotFound("Nothing waits for a decision.")
    emit(
        lambda: {**_item_object(found[0].kind, item), "waiting": left}, lambda: f"{_item_text(item)}\n\n{left} waiting"
    )


@command(
    "edit",
    decides=lambda options: not options["dry_run"],
    short_help="Decide many items in your editor.",
    examples="""
    memento review edit
    memento review edit --kind new --limit 20
    memento review edit p-4tq2 p-9mzx --dry-run
    EDITOR="sed -i 's/^\\[ \\] later/[x] later/'" memento review edit --yes --json
    """,
)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=complete_ids("card"))
@click.option("--kind", type=click.Choice(INBOX_KINDS), help="Only items of this kind.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=200, show_default=True, help="Take this many, the riskiest first."
)
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before it is done.")
@despite_option
def edit_inbox(
    ids: tuple[str, ...], kind: str | None, limit: int, despite: tuple[str, ...], *, dry_run: bool, yes: bool
) -> None:
    """Open all items, or those with these ids, as one text in $VISUAL, $EDITOR or nano.

    Tick a line to decide, change a text to edit and approve it, delete a block to reject it; what you leave as it is
    stays undecided. You see first what would be done, and one undo takes all of it back. With --yes nothing that could
    do harm is approved unless --despite names its kind.
    """
    if current_session().as_json and not (yes or dry_run):
        raise InvalidInput("--json cannot ask for confirmation.", "Add --yes, or --dry-run to see what would be done.")
    from memento_tui.api.bulk_edit import make_review_sheet  # noqa: PLC0415 - a command's help is shown without it

    with open_workspace() as workspace:
        if ids:
            rows = workspace.inbox.rows([workspace.inbox.find(item_id) for item_id in ids])
        else:
            rows = workspace.inbox.list(kind or "", limit=limit)[0]
        if not rows:
            raise NotFound("Nothing waits for a decision.")
        accepted = tuple(despite) if yes else RISKY_KINDS  # the question before it is done names them
        _decide_in_editor(workspace, make_review_sheet(workspace, rows), accepted, dry_run=dry_run, yes=yes)


def _decide_in_editor(
    workspace: Workspace, sheet: ReviewSheet, accepted: Sequence[str], *, dry_run: bool, yes: bool
) -> None:
    kept, text = _edit_text(workspace, sheet.sheet.render())
    try:
        requested = sheet.decisions_in(text)
    except MementoError as error:
        error.hint = f"{error.hint} Your text is in {kept.path}."
        raise
    for headline, problem in requested.unclear:
        note(f"! left alone: {headline}: {problem}")
    is_requested = bool(requested.decisions) and not dry_run
    if is_requested and not yes and not _confirm(requested):
        note(f"Nothing was decided. Your text is in {kept.path}.")
        raise click.exceptions.Exit(1)
    outcomes = workspace.inbox.decide(requested.despite(accepted)) if is_requested else ()
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if failed or requested.unclear:
        note(f"Your text is in {kept.path}.")
    else:
        kept.discard()
    emit(
        lambda: _outcome_objects(requested, outcomes, dry_run=dry_run),
        lambda: _outcomes_text(requested, outcomes, dry_run=dry_run),
    )
    if failed:
        raise click.exceptions.Exit(1)


def _edit_text(workspace: Workspace, before: str) -> tuple[EditorFile, str]:
    from memento_tui.api.drafts import EditorFile, editor_command  # noqa: PLC0415 - as above

    editor = editor_command()
    kept = EditorFile(workspace.paths, "review", before)
    finished = subprocess.run([*editor, str(kept.path)], check=False)  # noqa: S603 - the person's own editor
    text = kept.read(before)
    if finished.returncode:
        where = f"Your text is in {kept.path}."
        raise InvalidInput(f"{editor[0]} ended with status {finished.returncode}, so nothing was decided.", where)
    return kept, text


def _confirm(requested: RequestedDecisions) -> bool:
    for line in requested.preview:
        note(line)
    return ask("Carry that out? Type yes", answer="yes")


def _outcome_objects(
    requested: RequestedDecisions, outcomes: Sequence[DecisionOutcome], *, dry_run: bool
) -> dict[str, Any]:
    return {
        "decisions": msgspec.to_builtins(list(requested.decisions)),
        "unclear": [{"about": headline, "problem": problem} for headline, problem in requested.unclear],
        "untouched": requested.untouched,
        "outcomes": msgspec.to_builtins(list(outcomes)),
        "dry_run": dry_run,
    }


def _outcomes_text(requested: RequestedDecisions, outcomes: Sequence[DecisionOutcome], *, dry_run: bool) -> str:
    if not requested.decisions:
        return "Nothing was decided: the text asks for nothing."
    if dry_run:
        return "\n".join(requested.preview)
    lines = [f"{safe(one.id)}  {one.state}{f': {safe(one.error)}' if one.error else ''}" for one in outcomes]
    return "\n".join([*lines, "memento undo takes all of it back."])


if TYPE_CHECKING:
    from memento_tui.api.review import ProposalQueue


@group(
    "review",
    invoke_without_command=True,
    short_help="Decide proposals and contradictions.",
    examples="""
    memento review
    memento review show p-4tq2
    memento review approve p-4tq2
    memento review reject p-4tq2 p-9mzx --reason "out of date"
    memento review edit
    memento review --inline
    """,
)
@click.option("--inline", is_flag=True, help="Show the riskiest five one by one, each with a key to decide it.")
@click.pass_context
def review(ctx: click.Context, *, inline: bool) -> None:
    """Decide what agents propose to add or change. Without a command, list what needs a decision."""
    if inline and ctx.invoked_subcommand is not None:
        raise click.UsageError("--inline stands alone.", ctx)
    if inline:
        from memento_tui.cli.inline_review import review_inline  # noqa: PLC0415 - seldom asked for

        review_inline(_item_text)
    elif ctx.invoked_subcommand is None:
        ctx.invoke(list_inbox)


@review.command(
    "approve",
    decides=True,
    short_help="Approve proposals.",
    examples="""
    memento review approve p-4tq2
    memento review approve p-4tq2@1 p-9mzx@2 --json
    memento review approve p-4tq2 --title "Endpoints" --tag api
    memento review approve p-4tq2@1 --despite orders --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("proposal"))
@click.option("--seen", type=click.IntRange(1), metavar="VERSION", help="The version of the proposal that you saw.")
@despite_option
@memory_options(editing=True)
def approve(ids: tuple[str, ...], seen: int | None, despite: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - the options of all fields
    """Approve proposals; ID@VERSION refuses one that has changed since you saw it.

    With options for fields, the one proposal is edited first, then approved. What could do harm is approved after a
    question, which --despite answers beforehand.
    """
    edits = any(value not in (None, ()) for value in options.values())
    if len(ids) > 1 and (edits or seen is not None):
        raise InvalidInput(
            "Several proposals cannot be edited at once.",
            "Approve them one by one; ID@VERSION names the version that you saw.",
        )
    with open_workspace() as workspace:

        def approve_one(reference: str) -> dict[str, Any]:
            name, version = parse_id_and_version(reference, seen)
            changes = _persons_changes(workspace.review, name, options) if edits else {}
            try:
                approved = workspace.review.approve(name, seen=version, **changes)
            except RiskNotAccepted as error:
                _accept_risk(workspace.review.get(name), error, despite)
                approved = workspace.review.approve(name, seen=version, despite=error.risk, **changes)
            return _decision_object(approved)

        for_each(ids, approve_one, _decision_text)


_EVIDENCE_SHOWN = 3
"""Pieces of evidence above the question whether something that could do harm is approved."""


def _accept_risk(pending: PendingProposal, error: RiskNotAccepted, despite: Sequence[str]) -> None:
    """Ask the person whether they approve a risky item; raise the error unless they do."""
    if error.risk in despite:
        return
    if not _can_ask():
        raise error
    note(f"{pending.proposal.id}: {_proposal_headline(pending)}")
    for name, text in pending.rests_on[:_EVIDENCE_SHOWN]:
        note(quoted(f"{name}: {text}"))
    if not ask(f"It {error.what}. Approve it all the same? Type yes", answer="yes"):
        raise error


def _can_ask() -> bool:
    return sys.stdin.isatty() and not current_session().as_json


def _persons_changes(queue: ProposalQueue, proposal_id: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the person's changes to a proposed record: tags are added to the proposed ones."""
    pending = queue.get(proposal_id)
    record, proposal = pending.target, pending.proposal
    if isinstance(record, Memory):
        proposed = with_changes(record, proposal.payload, record.updated_at) if proposal.payload else record
        return changes_of(options, proposed)
    unsupported = [name for name, value in options.items() if name != "content" and value not in (None, ())]
    if proposal.target != "crystal" or unsupported:
        raise InvalidInput(
            f"A proposal about a {proposal.target} cannot be edited with these options.",
            "Reject it, and write your own.",
        )
    return {"content": read_text(options["content"])}


@review.command(
    "reject",
    decides=True,
    short_help="Reject proposals.",
    examples="""
    memento review reject p-4tq2 --reason "we moved to /v3"
    memento review reject p-4tq2 p-9mzx --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("proposal"))
@click.option("--reason", default="", help="Why; the agent can read it.")
@click.option("--seen", type=click.IntRange(1), metavar="VERSION", help="The version of the proposal that you saw.")
def reject(ids: tuple[str, ...], reason: str, seen: int | None) -> None:
    """Reject proposals."""
    if len(ids) > 1 and seen is not None:
        raise InvalidInput("--seen names the version of one proposal.", "Reject them one by one.")
    with open_workspace() as workspace:

        def reject_one(reference: str) -> dict[str, Any]:
            name, version = parse_id_and_version(reference, seen)
            return _decision_object(workspace.review.reject(name, reason, seen=version))

        for_each(ids, reject_one, _decision_text)


@review.command(
    "later",
    decides=True,
    short_help="Put proposals off.",
    examples="""
    memento review later p-4tq2
    memento review later p-4tq2 --until 2w
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("proposal"))
@click.option("--until", default="7d", show_default=True, metavar="WHEN", help="A date, a time or a span.")
def later(ids: tuple[str, ...], until: str) -> None:
    """Put proposals off."""
    with open_workspace() as workspace:

        def put_off(reference: str) -> dict[str, Any]:
            name, version = parse_id_and_version(reference, None)
            return _decision_object(workspace.review.later(name, until, seen=version))

        for_each(ids, put_off, _decision_text)


def _decision_object(proposal: Proposal) -> dict[str, Any]:
    return {"id": proposal.id, "status": proposal.state, "target": proposal.target, "target_id": proposal.target_id}


def _decision_text(outcome: dict[str, Any]) -> str:
    return f"{outcome['id']}  {outcome['status']}: {outcome['target']} {outcome['target_id']}"


for _command in (list_inbox, show_item, show_next, edit_inbox):
    review.add_command(_command)

commands = {"review": review}
