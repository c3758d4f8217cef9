"""Answer the calls of hooks in the engine's process, by meaning as well, with the functions of memento-hook itself."""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from memento_tui import clock
from memento_tui.branches import SCOPED_NAMESPACE_ROOTS
from memento_tui.embedding.index_worker import IndexWorker
from memento_tui.hooks.events import HookContext, PreparedContext, is_answered, prepare_context
from memento_tui.hooks.host_events import HookCall, format_answer, format_notice, parse_call
from memento_tui.hooks.reminder import reminder_after_turn
from memento_tui.hooks.scope import SessionScope
from memento_tui.hooks.settings import HookSettings, read_settings
from memento_tui.hooks.worker_launcher import start_transcript_worker
from memento_tui.model.filters import AllOf, AnyOf, Filter, Not, OneOf, Under
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.paths import DataPaths
from memento_tui.processes import forget_ended
from memento_tui.search.lance_filter import compile_lance_filter
from memento_tui.storage.hook_store import HookStore

__all__ = ["HookAnswers"]

if TYPE_CHECKING:
    from memento_tui.embedding.index_worker import EmbeddedQuery


_MEANING_SECONDS = 0.08
"""Seconds in which a prompt is embedded, or words alone answer: a hook waits for about twice as long."""

_EMBEDDING_THREADS = 4
"""Prompts that wait for the model at the same time."""

_RECORD_SECONDS = 30.0
"""Seconds that the ledger waits for another writer: no host waits for it."""


class HookAnswers:
    """Answers the calls of hooks. Safe for several threads."""

    def __init__(self, paths: DataPaths, worker: IndexWorker) -> None:
        self._paths = paths
        self._worker = worker
        self._pool = ThreadPoolExecutor(_EMBEDDING_THREADS, thread_name_prefix="prompt")

    def __call__(self, host: str, event: str, raw: bytes) -> EngineCall | None:
        """Return the conversation about a call; ``None`` for a call that memento does not answer.

        Raises:
            ValueError: the input is not JSON.

        """
        forget_ended()
        call = parse_call(host, event, raw)
        return None if call is None else EngineCall(self._paths, self._worker, self._pool, call)


class EngineCall:
    """One call of a hook: `answer` it, then `record` its exposures; each in any thread."""

    def __init__(self, paths: DataPaths, worker: IndexWorker, pool: ThreadPoolExecutor, call: HookCall) -> None:
        self._paths = paths
        self._worker = worker
        self._pool = pool
        self._call = call
        self._query: Future[EmbeddedQuery | None] | None = None
        self._query_until = 0.0
        self._prepared = PreparedContext()
        self._reminds = False

    @property
    def session(self) -> str:
        """The agent's session; empty where the host names none."""
        return self._call.session

    def answer(self) -> str:
        """Return the text for the host; empty where nothing is relevant.

        Raises:
            FileNotFoundError, FormatMismatch, apsw.Error: the database cannot be read, or is of another version.

        """
        call, settings = self._call, read_settings(self._paths.config)
        if call.moment in ("write", "end"):
            start_transcript_worker(call, self._paths, settings)
            return format_notice(call, self._reminder(settings)) if call.moment == "end" else ""
        if not is_answered(call):
            return ""
        if call.moment == "prompt":  # on the other processor, while this one reads the words
            self._begin_embedding(call.prompt)
        store = HookStore(self._paths.database)
        try:
            context = HookContext(call, self._paths, store, settings, clock.now(), self._nearest)
            self._prepared = prepare_context(context)
        finally:
            store.close()
        return format_answer(call, self._prepared.text)

    def _reminder(self, settings: HookSettings) -> str:
        store = HookStore(self._paths.database)
        try:
            text = reminder_after_turn(self._call, store, settings)
        finally:
            store.close()
        self._reminds = bool(text)
        return text

    def _begin_embedding(self, text: str) -> Future[EmbeddedQuery | None]:
        self._query_until = time.monotonic() + _MEANING_SECONDS
        self._query = self._pool.submit(self._worker.embed, text, _MEANING_SECONDS)
        return self._query

    def record(self) -> None:
        """Record that the host has the answer."""
        store = HookStore(self._paths.database, busy_seconds=_RECORD_SECONDS)
        try:
            self._prepared.record(store, self._call.session)
            if self._reminds:
                store.set_reminded(self._call.session)
        finally:
            store.close()

    def _nearest(self, text: str, scope: SessionScope, limit: int) -> Mapping[str, float]:
        """Return the memories nearest to a text by id, with their similarity; none while the model is busy.

        The text is the prompt, which is being embedded already, or the subject of a file.
        """
        embedding = self._query or self._begin_embedding(text)
        try:
            query = embedding.result(max(0.0, self._query_until - time.monotonic()))
        except TimeoutError:
            return {}
        if query is None:
            return {}
        near = self._worker.nearest_resident(query, scope.concerns, limit)
        if near is None:
            found = self._worker.nearest(query, _condition(scope), limit)
            near = [] if found is None else found.hits
        return dict(near)


def _condition(scope: SessionScope) -> str:
    """Return the condition of the memories that concern a session; the database decides again about each."""
    own: list[Filter] = [Under(name) for name in scope.own_namespaces()]
    others: list[Filter] = [Under(name) for name in SCOPED_NAMESPACE_ROOTS]
    return compile_lance_filter(
        AllOf((OneOf("status", RECALLED_STATUSES), AnyOf((*own, Not(AnyOf(tuple(others))))))),
    )
