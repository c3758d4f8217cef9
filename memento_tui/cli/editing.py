"""The command ``edit``: change a memory by options or in the person's editor."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memento_tui.api.drafts import EditorFile, editor_command
from memento_tui.cli.command import command, open_workspace
from memento_tui.cli.options import changes_of, memory_options
from memento_tui.cli.output import emit, safe
from memento_tui.errors import Conflict, InvalidInput, MementoError
from memento_tui.model import Memory
from memento_tui.model.validation import to_plain

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api import ChangeOutcome, Workspace


@command(
    "edit",
    short_help="Change a memory, by options or in your editor.",
    examples="""
    memento edit 7f3k                       opens its content in your editor
    memento edit 7f3k --title "Endpoints" --tag api --untag draft
    memento edit 7f3k --content - --base-version 3 --json < note.md
    """,
)
@click.argument("id")
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
@memory_options(editing=True)
def edit(id: str, base_version: int | None, **options: Any) -> None:  # noqa: A002, ANN401 - its name in the help; all fields
    """Change the memory whose id is or begins with ID.

    Without an option for a field, its content is opened in $VISUAL, $EDITOR or nano. If it cannot be saved then,
    your text is kept in a file.
    """
    with open_workspace() as workspace:
        memory = workspace.get(id)
        if any(value not in (None, ()) for value in options.values()):
            changes = changes_of(options, memory)
            outcome = workspace.update(memory.id, base_version=base_version, **changes)
        else:
            outcome = _edit_in_editor(workspace, memory, base_version or memory.version)
    emit({**to_plain(outcome.memory), "outcome": outcome.status}, lambda: safe(_outcome_text(outcome, memory)))


def _outcome_text(outcome: ChangeOutcome, before: Memory) -> str:
    if outcome.proposal is not None:
        return f"{outcome.memory.id}  waits for review: memento review show {outcome.proposal.id}"
    if outcome.memory.version == before.version:
        return f"{outcome.memory.id}  not changed"
    removed = f"; removed before it was stored: {', '.join(outcome.removed)}" if outcome.removed else ""
    return f"{outcome.memory.id}  changed, version {outcome.memory.version}{removed}"


def _edit_in_editor(workspace: Workspace, memory: Memory, base_version: int) -> ChangeOutcome:
    editor = editor_command()
    draft = EditorFile(workspace.paths, memory.id, memory.content)
    with _report_kept_text(draft, memory):
        finished = subprocess.run([*editor, str(draft.path)], check=False)  # noqa: S603 - the person's own editor
        content = draft.read(memory.content)
        if finished.returncode and content != memory.content:
            raise InvalidInput(f"{editor[0]} ended with status {finished.returncode}, so nothing was saved.")
        outcome = workspace.update(memory.id, base_version=base_version, content=content)
    draft.discard()
    return outcome


@contextmanager
def _report_kept_text(draft: EditorFile, memory: Memory) -> Iterator[None]:
    """Say where the text is, whatever went wrong."""
    try:
        yield
    except MementoError as error:
        kept = f"Your text is kept in {draft.path}."
        if isinstance(error, Conflict):
            error.hint = f"{kept} Look at what it says now, then: memento edit {memory.id} --content - < {draft.path}"
        else:
            error.hint = f"{error.hint} {kept}".strip()
        raise


commands = {"edit": edit}
