"""Decide many items in the person's own editor: open the sheet, read what it asks for, and have it confirmed."""

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

__all__ = ["edit_decisions"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp


_MOST_DECISIONS_NAMED = 6
"""Decisions that the question names."""


async def edit_decisions(app: MementoApp, rows: Sequence[InboxItem]) -> tuple[EditorFile, RequestedDecisions] | None:
    """Open things that wait in an editor; return the file that keeps the text, and what is wanted and confirmed.

    Where nothing comes of it, why is told, a text that was changed is kept, and ``None`` is returned.
    """
    sheet = make_review_sheet(app.workspace, rows)
    before = sheet.sheet.render()
    try:
        kept, text = edit_in_external_editor(app, app.workspace.paths, "review", before)
    except MementoError as error:
        app.show_status(str(error), problem=True)
        return None
    try:
        wanted = sheet.wanted(text)
    except MementoError as error:
        app.show_status(f"{error} Your text is in {kept.path}.", problem=True)
        return None
    if not wanted.decisions and not wanted.unclear:
        app.show_status("Nothing was decided: the text asks for nothing.")
        kept.discard()
        return None
    if not wanted.decisions:
        app.show_status(f"Nothing was decided: {wanted.unclear[0][1]} Your text is in {kept.path}.", problem=True)
        return None
    count = len(wanted.decisions)
    question = Content("Carry out this decision?" if count == 1 else f"Carry out these {count:,} decisions?")
    if not await app.push_screen_wait(Confirm(question, _preview(wanted, {row.id: row.headline for row in rows}))):
        app.show_status(f"Nothing was decided. Your text is in {kept.path}.")
        return None
    return kept, wanted


def _preview(wanted: RequestedDecisions, headlines: dict[str, str]) -> Content:
    lines = [Content.styled(line, "bold") for line in wanted.preview]
    if wanted.untouched:
        lines.append(Content(f"{wanted.untouched:,} left as they are"))
    for headline, problem in wanted.unclear:
        lines.append(literal(f"! left alone: {cells(headline, 40).rstrip()}: {problem}", "$text-warning"))
    lines.append(Content(""))
    for decision in wanted.decisions[:_MOST_DECISIONS_NAMED]:
        word = "edit" if decision.changes and decision.verb == "approve" else decision.verb.replace("_", " ")
        lines.append(literal(f"{word}: {cells(headlines.get(decision.id, decision.id), 50).rstrip()}"))
    if len(wanted.decisions) > _MOST_DECISIONS_NAMED:
        lines.append(Content(f"and {len(wanted.decisions) - _MOST_DECISIONS_NAMED:,} more"))
    return Content("\n").join(lines)
