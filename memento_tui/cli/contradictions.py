"""The command ``contradiction``: list, show and resolve memories that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from memento_tui.cli.command import group, open_workspace
from memento_tui.cli.options import paging, read_text
from memento_tui.cli.output import bold, emit, format_fields, format_time, next_page_note, quoted, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.errors import InvalidInput
from memento_tui.model import Memory
from memento_tui.model.review import RESOLUTIONS
from memento_tui.model.validation import to_plain

__all__ = ["commands", "contradiction_object", "contradiction_text"]

if TYPE_CHECKING:
    from memento_tui.api.review import ContradictionWithSides


_RESOLUTION_OF_ANSWER = {
    "newer": "newer_supersedes",
    "older": "older_stands",
    "both": "both_valid",
    "merge": "merged",
    "none": "not_a_contradiction",
}


def contradiction_object(item: ContradictionWithSides) -> dict[str, Any]:
    """Return a contradiction with both sides as JSON."""
    sides = {
        name: None if side is None else to_plain(side) for name, side in (("older", item.older), ("newer", item.newer))
    }
    return {**to_plain(item.contradiction), "memories": sides}


@group(
    "contradiction",
    invoke_without_command=True,
    short_help="Resolve memories that contradict each other.",
    examples="""
    memento contradiction
    memento contradiction show 4tq2
    memento contradiction resolve 4tq2 newer
    memento contradiction resolve 4tq2 both --older-when "on Linux" --newer-when "on macOS"
    """,
)
@click.pass_context
def contradiction(ctx: click.Context) -> None:
    """Resolve memories that contradict each other. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_contradictions)


@contradiction.command(
    "list",
    short_help="List the contradictions.",
    examples="""
    memento contradiction list
    memento contradiction list --resolved --json
    """,
)
@click.option("--resolved", is_flag=True, help="List resolved contradictions, the latest first.")
@paging
def list_contradictions(after: str | None, limit: int, *, resolved: bool) -> None:
    """List the open contradictions, the highest score first; those put off appear when their time comes."""
    with open_workspace() as workspace:
        found, following = workspace.contradictions.list(resolved=resolved, after=after, limit=limit)
    emit(
        lambda: {"items": [contradiction_object(item) for item in found], "next": following},
        lambda: _contradiction_rows(found, following) if found or resolved else _NONE_OPEN,
    )


_NONE_OPEN = "No open contradictions. To have them looked for: memento maintain --contradictions"


def _contradiction_rows(found: Sequence[ContradictionWithSides], following: str | None) -> str:
    if not found:
        return "No contradictions."
    rows = [
        [
            one.id,
            one.kind,
            f"{one.score:.2f}",
            one.resolution or one.status,
            one.older,
            one.newer,
            format_time(one.created_at),
            one.why,
        ]
        for one in (item.contradiction for item in found)
    ]
    return table(["ID", "KIND", "SCORE", "STATE", "OLDER", "NEWER", "FOUND", "WHY"], rows) + next_page_note(following)


@contradiction.command(
    "show",
    short_help="Show both sides.",
    examples="""
    memento contradiction show 4tq2
    memento contradiction show 4tq2 --json
    """,
)
@click.argument("id", shell_complete=complete_ids("contradiction"))
def show(id: str) -> None:  # noqa: A002 - its name in the help
    """Show both sides in full, with the words that differ in [[double brackets]]."""
    with open_workspace() as workspace:
        item = workspace.contradictions.get(id)
    emit(lambda: contradiction_object(item), lambda: contradiction_text(item))


def contradiction_text(item: ContradictionWithSides) -> str:
    """Return a contradiction with both sides, the words that differ in double brackets."""
    record = item.contradiction
    about = {
        "contradiction": record.id,
        "kind": record.kind,
        "why": record.why,
        "score": f"{record.score:.2f}",
        "state": record.resolution or record.status,
        "until": record.later_until,
        "resolved by": record.resolved_by,
        "resolved": record.resolved_at,
        "version": record.version,
    }
    sides = [
        _side_text("older", item.older, record.older, record.older_spans),
        _side_text("newer", item.newer, record.newer, record.newer_spans),
    ]
    return "\n\n".join([format_fields(about), *sides])


def _side_text(name: str, memory: Memory | None, memory_id: str, spans: Sequence[tuple[int, int]]) -> str:
    if memory is None:
        return f"{bold(name)}: {safe(memory_id)} is gone"
    head = (
        f"{bold(name)}: {memory.id}, {format_time(memory.created_at)}, {memory.stability}, certainty {memory.certainty}"
    )
    from memento_tui.api.decision_fields import fields_of_record  # noqa: PLC0415 - a command's help is shown without it

    fields = [quoted(safe(field.line)) for field in fields_of_record(memory)]
    return "\n".join([head, *fields, quoted(_mark_spans(memory.content, spans))])


def _mark_spans(content: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in spans:
        if at <= start < end <= len(content):
            parts += [content[at:start], "[[", content[start:end], "]]"]
            at = end
    return "".join([*parts, content[at:]])


@contradiction.command(
    "resolve",
    decides=True,
    short_help="Resolve a contradiction.",
    examples="""
    memento contradiction resolve 4tq2 newer
    memento contradiction resolve 4tq2 older --seen 1
    memento contradiction resolve 4tq2 both --older-when "before 2.0" --newer-when "2.0 and later"
    memento contradiction resolve 4tq2 merge --content "Port 9090; 8080 until March."
    memento contradiction resolve 4tq2 none --json
    """,
)
@click.argument("id", shell_complete=complete_ids("contradiction"))
@click.argument("answer", type=click.Choice([*_RESOLUTION_OF_ANSWER, *RESOLUTIONS]))
@click.option("--older-when", "older_context", default="", help="With `both`: when the older one applies.")
@click.option("--newer-when", "newer_context", default="", help="With `both`: when the newer one applies.")
@click.option("--content", help="With `merge`: the one text for both; `-` reads standard input.")
@click.option("--seen", type=click.IntRange(1), metavar="VERSION", help="The version that you saw.")
def resolve(
    id: str,  # noqa: A002 - its name in the help
    answer: str,
    older_context: str,
    newer_context: str,
    content: str | None,
    seen: int | None,
) -> None:
    """Resolve the contradiction ID.

    newer: it replaces the older one. older: it stays. both: each holds in its own context. merge: one text replaces
    both. none: it is no contradiction, and is never raised again. What stays is verified by that; one undo takes all
    of it back.
    """
    resolution = _RESOLUTION_OF_ANSWER.get(answer, answer)
    misplaced = (older_context or newer_context) if resolution != "both_valid" else content
    if misplaced:
        raise InvalidInput(
            f"The answer {answer} takes no such option.", "--older-when and --newer-when belong to both."
        )
    text = "" if content is None else read_text(content)
    if text and resolution != "merged":
        raise InvalidInput(f"The answer {answer} takes no --content.", "It belongs to merge.")
    with open_workspace() as workspace:
        outcome = workspace.contradictions.resolve(
            id, resolution, seen=seen, older_context=older_context, newer_context=newer_context, content=text
        )
    emit(lambda: to_plain(outcome), lambda: safe(f"{outcome.id}  resolved: {resolution.replace('_', ' ')}"))


@contradiction.command(
    "later",
    decides=True,
    short_help="Put a contradiction off.",
    examples="""
    memento contradiction later 4tq2
    memento contradiction later 4tq2 --until 2w
    """,
)
@click.argument("id", shell_complete=complete_ids("contradiction"))
@click.option("--until", default="7d", show_default=True, metavar="WHEN", help="A date, a time or a span.")
def later(id: str, until: str) -> None:  # noqa: A002 - its name in the help
    """Put a contradiction off; until then both sides are recalled with it."""
    with open_workspace() as workspace:
        found = workspace.contradictions.later(id, until)
    emit(lambda: to_plain(found), lambda: safe(f"{found.id}  put off until {format_time(found.later_until)}"))


commands = {"contradiction": contradiction}
