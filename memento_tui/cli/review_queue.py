"""The queue on the command line: what waits, what has waited longest, and all of it in the person's editor."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from memento_tui.cli.command import command
from memento_tui.cli.contradictions import dispute_in_full, plain_dispute
from memento_tui.cli.memories import paging
from memento_tui.cli.output import bold, emit, moment, note, safe, table
from memento_tui.cli.review_text import in_full, plain_pending, proposal_rows
from memento_tui.cli.session import current_session, opened
from memento_tui.errors import InvalidInput, MementoError, NotFound
from memento_tui.records.proposal import PROPOSAL_STATES
from memento_tui.store.waiting import WAITING_KINDS

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from memento_tui.workspace import Workspace
    from memento_tui.workspace.contradictions import Dispute
    from memento_tui.workspace.deciding import Decided
    from memento_tui.workspace.drafts import Draft
    from memento_tui.workspace.queue import Pending
    from memento_tui.workspace.sheets import QueueSheet, Wanted
    from memento_tui.workspace.waiting import Waiting

__all__ = ["edit", "list_", "next_", "show"]


def _is_dispute(item: Pending | Dispute) -> TypeIs[Dispute]:
    return hasattr(item, "contradiction")


def _plain(kind: str, item: Pending | Dispute) -> dict[str, Any]:
    """Return one thing of the queue as JSON tells it; ``waits_as`` is its kind within the queue."""
    plain = plain_dispute(item) if _is_dispute(item) else plain_pending(item)
    return {**plain, "waits_as": kind}


def _whole(item: Pending | Dispute) -> str:
    return dispute_in_full(item) if _is_dispute(item) else in_full(item)


@command(
    "list",
    short_help="List what waits for a decision.",
    examples="""
    memento review list
    memento review list --kind merge
    memento review list --state rejected --json
    """,
)
@click.option("--kind", type=click.Choice(WAITING_KINDS), help="Only what waits as this.")
@click.option("--state", "states", multiple=True, type=click.Choice(PROPOSAL_STATES), help="Repeat it for several.")
@paging
def list_(kind: str | None, states: tuple[str, ...], after: str | None, limit: int) -> None:
    """List what waits for a decision, oldest first; what was put off appears when its time comes.

    Contradictions are among it; `memento contradiction` settles them. With --state, the proposals in that state.
    """
    if states:
        _list_states(kind, states, after, limit)
        return
    with opened() as workspace:
        found, following = workspace.waiting.list(kind or "", after=after, limit=limit)
        counts = workspace.waiting.counts()
        items = [(row.kind, workspace.waiting.get(row.id)) for row in found]
    emit(
        lambda: {"items": [_plain(*one) for one in items], "next": following, "counts": counts},
        lambda: _rows(found, [item for _, item in items], following, counts),
    )


def _list_states(kind: str | None, states: Sequence[str], after: str | None, limit: int) -> None:
    if kind:
        raise InvalidInput("--kind is about what waits, whatever its state.", "Give --kind or --state.")
    with opened() as workspace:
        found, following = workspace.review.list(states, after=after, limit=limit)
    emit(
        lambda: {"items": [plain_pending(pending) for pending in found], "next": following},
        lambda: proposal_rows(found, following),
    )


def _rows(
    found: Sequence[Waiting], items: Sequence[Pending | Dispute], following: str | None, counts: Mapping[str, int]
) -> str:
    from memento_tui.workspace.waiting import counted  # noqa: PLC0415 - a command's help is shown without it

    if not found:
        return f"None of that kind waits. There are {counted(counts)}." if counts else "Nothing waits for a decision."
    rows = [
        [
            row.row.record_id,
            row.kind,
            "changed since" if getattr(item, "moved", False) else row.row.state,
            row.row.who or "-",
            moment(row.row.since),
            row.headline,
        ]
        for row, item in zip(found, items, strict=True)
    ]
    total = sum(counts.values())
    lines = [table(["ID", "WHAT", "STATE", "FROM", "SINCE", "ABOUT"], rows)]
    lines.append(f"{total:,} {'waits' if total == 1 else 'wait'}: {counted(counts)}")
    if "contradiction" in counts:
        lines.append("A contradiction is settled with: memento contradiction resolve ID newer|older|both|merge|none")
    return "\n".join([*lines, *([f"There are more: --after {following}"] if following else [])])


@command(
    "show",
    short_help="Show one thing that waits in full.",
    examples="""
    memento review show 4tq2
    memento review show 4tq2 --around
    memento review show 4tq2 --json
    """,
)
@click.argument("id")
@click.option("--around", is_flag=True, help="Also what was said where it was learned, and memories that are alike.")
def show(id: str, *, around: bool) -> None:  # noqa: A002 - its name in the help
    """Show one thing that waits in full; ID is its own or that of the memory it is about."""
    with opened() as workspace:
        name = workspace.waiting.find(id)
        item = workspace.waiting.get(name)
        extra, told = _around(workspace, item) if around else ({}, "")
    plain = plain_dispute(item) if _is_dispute(item) else plain_pending(item)
    emit(lambda: {**plain, **extra}, lambda: "\n\n".join(filter(None, [_whole(item), told])))


def _around(workspace: Workspace, item: Pending | Dispute) -> tuple[dict[str, Any], str]:
    from memento_tui.workspace.surroundings import neighbours, spoken  # noqa: PLC0415 - seldom needed

    workspace.searching.keyword.catch_up()
    near, said = neighbours(workspace, item), spoken(item)
    lines = []
    if said is not None:
        lines.append(bold(f"said in {safe(said.transcript)}, lines {safe(said.span)}"))
        lines += [safe(said.problem)] if said.problem else []
        lines += [f"{one.role}, line {one.first_line}: {safe(one.text, multiline=True)}" for one in said.said]
    if near:
        lines.append(bold("memories that say something alike"))
        lines += [f"{one.likeness:.0%}  {safe(one.memory.id)}  {safe(one.memory.headline)}" for one in near]
    return {"neighbours": msgspec.to_builtins(near), "spoken": msgspec.to_builtins(said)}, "\n".join(lines)


@command(
    "next",
    short_help="Show what has waited longest.",
    examples="""
    memento review next
    memento review next --json
    """,
)
def next_() -> None:
    """Show what has waited longest."""
    with opened() as workspace:
        found, _ = workspace.waiting.list(limit=1)
        left = workspace.waiting.count()
        item = workspace.waiting.get(found[0].id) if found else None
    if item is None:
        raise NotFound("Nothing waits for a decision.")
    emit(lambda: {**_plain(found[0].kind, item), "waiting": left}, lambda: f"{_whole(item)}\n\n{left} waiting")


@command(
    "edit",
    short_help="Decide about many in your editor.",
    examples="""
    memento review edit
    memento review edit --kind new --limit 20
    memento review edit 4tq2 9mzx --dry-run
    EDITOR="sed -i 's/^\\[ \\] later/[x] later/'" memento review edit --yes --json
    """,
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--kind", type=click.Choice(WAITING_KINDS), help="Only what waits as this.")
@click.option("--limit", type=click.IntRange(1, 1000), default=200, show_default=True, help="The oldest so many.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask before it is done.")
def edit(ids: tuple[str, ...], kind: str | None, limit: int, *, dry_run: bool, yes: bool) -> None:
    """Open what waits, or the things named, as one text in $VISUAL, $EDITOR or nano.

    Tick a line to decide, change a text to edit and approve it, delete a block to reject it; what you leave as it is
    stays undecided. What would be done is told first, and one undo takes all of it back.
    """
    if current_session().as_json and not (yes or dry_run):
        raise InvalidInput("With --json nobody is asked.", "Add --yes, or --dry-run to see what would be done.")
    from memento_tui.workspace.sheets import sheet_of  # noqa: PLC0415 - a command's help is shown without it

    with opened() as workspace:
        if ids:
            rows = workspace.waiting.rows([workspace.waiting.find(given) for given in ids])
        else:
            rows = workspace.waiting.list(kind or "", limit=limit)[0]
        if not rows:
            raise NotFound("Nothing waits for a decision.")
        _decide_in_editor(workspace, sheet_of(workspace, rows), dry_run=dry_run, yes=yes)


def _decide_in_editor(workspace: Workspace, sheet: QueueSheet, *, dry_run: bool, yes: bool) -> None:
    kept, text = _edited(workspace, sheet.sheet.render())
    try:
        wanted = sheet.wanted(text)
    except MementoError as error:
        error.hint = f"{error.hint} Your text is in {kept.path}."
        raise
    for headline, problem in wanted.unclear:
        note(f"! left alone: {headline}: {problem}")
    asked = bool(wanted.decisions) and not dry_run
    if asked and not yes and not _is_sure(wanted):
        note(f"Nothing was decided. Your text is in {kept.path}.")
        raise click.exceptions.Exit(1)
    outcomes = workspace.waiting.decide(wanted.decisions) if asked else ()
    failed = [outcome for outcome in outcomes if outcome.state == "failed"]
    if failed or wanted.unclear:
        note(f"Your text is in {kept.path}.")
    else:
        kept.discard()
    emit(lambda: _plain_outcomes(wanted, outcomes, dry_run=dry_run), lambda: _told(wanted, outcomes, dry_run=dry_run))
    if failed:
        raise click.exceptions.Exit(1)


def _edited(workspace: Workspace, before: str) -> tuple[Draft, str]:
    from memento_tui.workspace.drafts import Draft, editor_command  # noqa: PLC0415 - as above

    editor = editor_command()
    kept = Draft(workspace.paths, "review", before)
    finished = subprocess.run([*editor, str(kept.path)], check=False)  # noqa: S603 - the person's own editor
    text = kept.read(before)
    if finished.returncode:
        where = f"Your text is in {kept.path}."
        raise InvalidInput(f"{editor[0]} ended with status {finished.returncode}, so nothing was decided.", where)
    return kept, text


def _is_sure(wanted: Wanted) -> bool:
    for line in wanted.preview:
        note(line)
    answer: str = click.prompt("Carry that out? Type yes", err=True, default="", show_default=False)
    return answer == "yes"


def _plain_outcomes(wanted: Wanted, outcomes: Sequence[Decided], *, dry_run: bool) -> dict[str, Any]:
    return {
        "decisions": msgspec.to_builtins(list(wanted.decisions)),
        "unclear": [{"about": headline, "problem": problem} for headline, problem in wanted.unclear],
        "untouched": wanted.untouched,
        "outcomes": msgspec.to_builtins(list(outcomes)),
        "dry_run": dry_run,
    }


def _told(wanted: Wanted, outcomes: Sequence[Decided], *, dry_run: bool) -> str:
    if not wanted.decisions:
        return "Nothing was decided: the text asks for nothing."
    if dry_run:
        return "\n".join(wanted.preview)
    lines = [f"{safe(one.id)}  {one.state}{f': {safe(one.error)}' if one.error else ''}" for one in outcomes]
    return "\n".join([*lines, "memento undo takes all of it back."])
