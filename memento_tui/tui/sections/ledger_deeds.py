"""What a person does to a memory that was put in front of agents: demote it, reject it, or skip its subject."""

from __future__ import annotations

from collections.abc import Mapping

from textual import work
from textual.content import Content

from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.records import Memory
from memento_tui.store.activity_rows import ActivityRow
from memento_tui.store.injections import InjectionRow
from memento_tui.store.store import Store
from memento_tui.tui.screens.ask import AskLine
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.workspace.activity import ActivityLog

__all__ = ["AnyRow", "LedgerDeeds"]

AnyRow = ActivityRow | InjectionRow

_SKIP_SPAN = "30d"


class LedgerDeeds(ListSection[AnyRow]):
    """A list that shows the journal or the injection ledger, with the deeds that belong to the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.is_ledger = False
        """Whether the ledger is shown, and not the journal."""

    @property
    def _store(self) -> Store:
        return self.memento.workspace.store

    @property
    def activity_log(self) -> ActivityLog:
        """The journal and the ledger."""
        return self.memento.workspace.activity

    # The list

    def _is_here(self, *, ledger: bool) -> bool:
        """Tell whether a key belongs to the list that is shown; if not, say where it does."""
        if ledger == self.is_ledger:
            return self.may_act()
        where = "the injection ledger; i shows it" if ledger else "the journal; i goes back to it"
        self.memento.say(f"That key is for {where}.", problem=True)
        return False

    def chosen(self) -> list[str]:
        """Return what a command is for; of a memory that was shown often only one row, for it is done to it once."""
        ids = super().chosen()
        shown = self.activity_log.shown(ids) if self.is_ledger else []
        return sorted({row.injection.memory_id: row.id for row in shown}.values()) if shown else ids

    def _memory_of(self, injection_id: str) -> Memory:
        row = next(iter(self.activity_log.shown([injection_id])), None)
        memory: Memory | None = self._store.find("memory", row.injection.memory_id) if row else None
        if memory is None:
            raise NotFound("The memory is gone.", "It was purged, or its creation was undone.")
        return memory

    @work(exclusive=True, group="deed")
    async def action_demote(self) -> None:
        """Lower the certainty of what was shown by one."""
        if self._is_here(ledger=True):
            await self.for_each("Demote", "Certainty lowered by one", self._demote)

    def _demote(self, injection_id: str) -> None:
        memory = self._memory_of(injection_id)
        if memory.certainty == 1:
            raise NotAllowed(f"The memory {memory.id} has the lowest certainty already.", "Reject it instead.")
        seen = self._version_of(injection_id)
        self.memento.workspace.update(memory.id, base_version=seen, certainty=memory.certainty - 1)

    def _version_of(self, injection_id: str) -> int | None:
        """Return the version of the memory that the row of an injection shows."""
        rows = self.rows.at_hand([injection_id])
        return next((row.memory.version for row in rows if isinstance(row, InjectionRow) and row.memory), None)

    @work(exclusive=True, group="deed")
    async def action_reject(self) -> None:
        """Reject what was shown: it is recalled no more."""
        if not self._is_here(ledger=True):
            return
        reason = await self.app.push_screen_wait(AskLine("Why? An agent that tries it again reads this (may be empty)"))
        if reason is not None:
            workspace = self.memento.workspace

            def reject(row: str) -> None:
                workspace.reject(self._memory_of(row).id, reason, base_version=self._version_of(row))

            await self.for_each("Reject", "Rejected", reject)

    @work(exclusive=True, group="deed")
    async def action_skip(self) -> None:
        """Put the subject of what was shown on the skip list."""
        if not self._is_here(ledger=True) or self.rows.current is None:
            return
        from memento_tui.tui.screens.form import Field, FormScreen  # noqa: PLC0415 - when it is first asked for

        row = self.rows.current
        headline = row.memory.headline if isinstance(row, InjectionRow) and row.memory is not None else ""
        fields = [
            Field("item", "What to leave alone", headline),
            Field("reason", "Why", hint="the agent reads this"),
            Field("until", "Until when", _SKIP_SPAN, "a date, or a span such as 30d"),
        ]
        if await self.app.push_screen_wait(FormScreen(Content("Skip this subject"), fields, self._add_skip)):
            self.acted()
            self.memento.say("Added to the skip list. z undoes.")
            self.memento.wrote()

    def _add_skip(self, values: Mapping[str, str]) -> None:
        from memento_tui.tui.list_prose import SKIP_LABELS, error_in_words  # noqa: PLC0415 - with the form

        try:
            self.memento.workspace.skips.add(values["item"], values["reason"], values["until"] or _SKIP_SPAN)
        except InvalidField as error:
            raise InvalidInput(error_in_words(error, SKIP_LABELS)) from error
