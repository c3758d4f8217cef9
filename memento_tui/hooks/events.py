"""Answer each event of a session: its start, a prompt, a file that is read.

Only the module that answers the event is imported, because a host waits for it: `session_start` for a start,
`prompts` for a prompt and for a file. A write and the end of a turn have no context, and do not come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memento_tui import clock
from memento_tui.branches import branch_namespaces
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.scope import SessionScope
from memento_tui.hooks.settings import HookSettings
from memento_tui.named_tuple import NamedTuple
from memento_tui.paths import DataPaths
from memento_tui.projects import checked_out_branch, claude_namespace, find_project, namespace_of_project
from memento_tui.storage.hook_store import DATABASE_FORMAT, FiredSkip, FormatMismatch, HookStore, ShownMemory

__all__ = ["HookContext", "PreparedContext", "context_for_call", "is_answered", "prepare_context"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from memento_tui.hooks.retrieval import Nearest


class PreparedContext(NamedTuple):
    """The text for a session's context, with the exposures to record once the session has it."""

    text: str = ""
    shown: Sequence[ShownMemory] = ()
    fired: Sequence[FiredSkip] = ()

    def record(self, store: HookStore, session: str) -> None:
        """Record that a session was shown this; nothing for a host that names no session."""
        if session:
            store.record_shown(session, self.shown, self.fired)


class HookContext(NamedTuple):
    """One call of a hook, with everything needed to answer it."""

    call: HookCall
    paths: DataPaths
    store: HookStore
    settings: HookSettings
    now: datetime
    nearest: Nearest | None = None
    """Finds memories by meaning; ``None`` without an engine."""

    def scope(self) -> SessionScope:
        """Return the namespaces whose memories concern the session."""
        project = find_project(self.call.cwd)
        if project is None:
            return SessionScope(self.call.session, "")
        claim = self.store.keep_setting if self.call.moment == "start" else None
        namespace = namespace_of_project(project, self.store.setting, claim)
        branch = checked_out_branch(project.root)
        of_branch = branch_namespaces(namespace, branch) if branch else ()
        return SessionScope(self.call.session, namespace, (claude_namespace(project), *of_branch))


def context_for_call(call: HookCall, paths: DataPaths, settings: HookSettings) -> str:
    """Return the text for the session's context; most often empty, because nothing reaches the threshold.

    Raises:
        FileNotFoundError: there is no database yet.
        FormatMismatch: the database is of another version.
        apsw.Error: the database cannot be read.

    """
    if not is_answered(call):
        return ""
    try:
        store = HookStore(paths.database)
    except FormatMismatch as error:
        if error.found < DATABASE_FORMAT:  # memento was updated, and nothing but hooks has run since
            from memento_tui.hooks.worker_launcher import start_index_worker  # noqa: PLC0415 - once after an update

            start_index_worker(paths)
        raise
    try:
        prepared = prepare_context(HookContext(call, paths, store, settings, clock.now()))
        prepared.record(store, call.session)
        return prepared.text
    finally:
        store.close()


def is_answered(call: HookCall) -> bool:
    """Tell whether there may be something to tell at an event."""
    return call.moment in ("start", "prompt", "read") and (call.moment != "prompt" or bool(call.prompt.strip()))


def prepare_context(context: HookContext) -> PreparedContext:
    """Return the context for the session; the caller records it once the host has it."""
    if context.call.moment == "start":
        from memento_tui.hooks.session_start import context_at_start  # noqa: PLC0415 - see above

        return context_at_start(context)
    from memento_tui.hooks.prompts import context_for_file, context_for_prompt  # noqa: PLC0415 - see above

    return context_for_prompt(context) if context.call.moment == "prompt" else context_for_file(context)
