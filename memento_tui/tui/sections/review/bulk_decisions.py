"""Decide about many items of the queue at once: a group, the results of a filter, or a text in an editor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from memento_tui.api.inbox import MAX_BULK_EDIT_ITEMS
from memento_tui.errors import MementoError
from memento_tui.model.review import RISKY_KINDS
from memento_tui.tui.display import cells, literal
from memento_tui.tui.external_editor import edit_in_external_editor
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import app_of
from memento_tui.tui.sections.review.decisions import ChosenTogether
from memento_tui.tui.sections.review.groups import InboxGroup, group_key

if TYPE_CHECKING:
    from textual.widget import Widget

    from memento_tui.api.bulk_edit import RequestedDecisions
    from memento_tui.api.drafts import EditorFile
    from memento_tui.api.inbox import DecisionVerb, InboxItem
    from memento_tui.tui.sections.review.section import ReviewSection

__all__ = ["BulkDecisions"]

_MOST_DECISIONS_NAMED = 6
"""Decisions that the question names."""


class BulkDecisions:
    """Decides for the section of the review about more than one card."""

    def __init__(self, section: ReviewSection) -> None:
        self._section = section

    def check_unmarked(self, otherwise: str) -> bool:
        """Return whether nothing is marked; else show the keys for marks, and the purpose of this key."""
        marks = len(self._section.rows.marks)
        if marks:
            self._section.memento.show_status(
                f"{marks:,} {'is' if marks == 1 else 'are'} marked: a approves, x rejects, E edits them; u unmarks. "
                f"{otherwise}.",
                problem=True,
            )
        return not marks

    async def decide_group(self, verb: DecisionVerb) -> None:
        """Approve or reject all of a group, or all that the filter finds, after a question; must run in a worker.

        It is about what the list shows when the key is pressed: what comes later waits on.
        """
        section, groups = self._section, self._section.groups
        if not section.actions.check_can_act() or not self.check_unmarked("A and X are for a group or a filter"):
            return
        group = groups.here()
        if group is not None:
            chosen = ChosenTogether(group.key, group.items, groups.by, section.kind)
        elif section.filter.strip():
            chosen = ChosenTogether(section.filter.strip(), groups.items(), groups.by, section.kind)
        else:
            message = "A and X are for a group, or for what a filter finds: F makes groups, / filters."
            section.memento.show_status(message, problem=True)
            return
        await section.decisions.decide_group(chosen, verb, lambda: self._waiting_in(group))

    def _waiting_in(self, group: InboxGroup | None) -> set[str]:
        """Return the ids of the items that wait now in a group, or that the filter finds now."""
        listing = self._section.memento.workspace.inbox.listing(self._section.kind, self._section.words)
        if group is None:
            return set(listing.ids(0, listing.total()))
        return {item.id for item in listing.page(0, listing.total()) if group_key(item, group.by) == group.key}

    async def edit_outside(self) -> None:
        """Open the marked items, or else the listed ones, in the person's editor, and decide as the text then asks.

        Must run in a worker.
        """
        section = self._section
        if not section.actions.check_can_act():
            return
        inbox = section.memento.workspace.inbox
        marks = sorted(section.rows.marks)
        listing = inbox.listing(section.kind, section.words)
        rows = inbox.rows(marks) if marks else listing.page(0, MAX_BULK_EDIT_ITEMS)
        edited = await _edit_decisions(section, rows)
        if edited is None:
            return
        kept, requested = edited
        failed = await section.decisions.decide_many(requested.despite(RISKY_KINDS), "Decided")
        section.rows.clear_marks()
        if failed or requested.unclear:
            section.memento.show_status(f"Not all of it was decided; your text is in {kept.path}.", problem=True)
        else:
            kept.discard()


async def _edit_decisions(section: Widget, rows: Sequence[InboxItem]) -> tuple[EditorFile, RequestedDecisions] | None:
    """Open items of the queue in an editor; return the file that keeps the text, and the decisions, confirmed.

    Return ``None`` where nothing is decided; the status line says why, and a text that was changed is kept. Must run
    in a worker.
    """
    from memento_tui.api.bulk_edit import make_review_sheet  # noqa: PLC0415 - seldom needed

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
