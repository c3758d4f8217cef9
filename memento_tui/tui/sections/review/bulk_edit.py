"""Decide many items in the person's own editor: open the sheet, read the decisions from it, have them confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memento_tui.api.bulk_edit import RequestedDecisions, make_review_sheet
from memento_tui.api.drafts import EditorFile
from memento_tui.api.inbox import InboxItem
from memento_tui.errors import MementoError
from memento_tui.tui.display import cells, literal
from memento_tui.tui.external_editor import edit_in_external_editor
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import app_of

__all__ = ["edit_decisions"]

if TYPE_CHECKING:
    from textual.widget import Widget


_MOST_DECISIONS_NAMED = 6
"""Decisions that the question names."""


async def edit_decisions(section: Widget, rows: Sequence[InboxItem]) -> tuple[EditorFile, RequestedDecisions] | None:
    """Open items of the queue in an editor; return the file that keeps the text, and the decisions, confirmed.

    Return ``None`` where nothing is decided; the status line says why, and a text that was changed is kept. Must run
    in a worker.
    """
    app = app_of(section)
    sheet = make_review_sheet(app.workspace, rows)
    before = sheet.sheet.render()
    try:
        kept, text = edit_in_external_editor(section.app, app.workspace.paths, "review", before)
    except MementoError as error:
        app.show_status(str(error), problem=True)
        return None
    try:
        requested = sheet.decisions_in(text)
    except MementoError as error:
        app.show_status(f"{error} Your text is in {kept.path}.", problem=True)
        return None
    if not requested.decisions and not requested.unclear:
        app.show_status("Nothing was decided: the text asks for nothing.")
        kept.discard()
        return None
    if not requested.decisions:
        app.show_status(f"Nothing was decided: {requested.unclear[0][1]} Your text is in {kept.path}.", problem=True)
        return None
    count = len(requested.decisions)
    question = Content("Carry out this decision?" if count == 1 else f"Carry out these {count:,} decisions?")
    detail = _preview(requested, {row.id: row.headline for row in rows})
    if not await section.app.push_screen_wait(Confirm(question, detail)):
        app.show_status(f"Nothing was decided. Your text is in {kept.path}.")
        return None
    return kept, requested


def _preview(requested: RequestedDecisions, headlines: dict[str, str]) -> Content:
    lines = [Content.styled(line, "bold") for line in requested.preview]
    if requested.untouched:
        lines.append(Content(f"{requested.untouched:,} left as they are"))
    for headline, problem in requested.unclear:
        lines.append(literal(f"! left alone: {cells(headline, 40).rstrip()}: {problem}", "$text-warning"))
    lines.append(Content(""))
    for decision in requested.decisions[:_MOST_DECISIONS_NAMED]:
        word = "edit" if decision.changes and decision.verb == "approve" else decision.verb.replace("_", " ")
        lines.append(literal(f"{word}: {cells(headlines.get(decision.id, decision.id), 50).rstrip()}"))
    if len(requested.decisions) > _MOST_DECISIONS_NAMED:
        lines.append(Content(f"and {len(requested.decisions) - _MOST_DECISIONS_NAMED:,} more"))
    return Content("\n").join(lines)
