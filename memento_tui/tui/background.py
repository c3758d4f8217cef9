"""Background work of the app: open the indexes, start the engine and other processes, follow an installation."""

from __future__ import annotations

from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING

from memento_tui.api.hub_session import HUB_SETTING
from memento_tui.errors import MementoError
from memento_tui.meaning import describe_installation, installation, is_installed
from memento_tui.tui.display import cells
from memento_tui.tui.sections.catalogue import import_sections

if TYPE_CHECKING:
    from textual.timer import Timer

    from memento_tui.tui.app import MementoApp

__all__ = ["BackgroundWork"]

_INSTALLATION_SECONDS = 1.0
"""Seconds between two looks at how far the installation of searching by meaning is; each reads a small file."""

_STEP_CELLS = 40
"""Cells of the step of an installation that stand beside the state of the live view."""

_MAINTENANCE_CHECK_SECONDS = 3600.0
"""Seconds between two looks at whether a run of maintenance is due: an app may be open for days."""

_HUB_CHECK_SECONDS = 15.0
"""Seconds between two looks at whether somebody keeps the workspace and its hub together."""


_QUIET_SECONDS = 1.0
"""Seconds without a key after which more is imported, because an importing thread delays the response to keys."""

_WANTED_LATER = (
    "memento_tui.policy.secret_search",
    "memento_tui.policy.prompt_injection",
    "memento_tui.api.review_context",
)
"""Modules that the first write and the first card of Review would wait for: the rules of screening, and evidence."""


def _import_for_later() -> None:
    for name in _WANTED_LATER:
        import_module(name)


class BackgroundWork:
    """Starts the work that the first frame does not need, once that is on the screen."""

    def __init__(self, app: MementoApp) -> None:
        self._app = app
        self.installing = ""
        """The step of an installation that goes on behind the app."""
        self._following: Timer | None = None
        """The timer that looks at it."""

    def start(self) -> None:
        """Open the indexes, import modules and start processes on threads; check regularly for due maintenance."""
        self._app.run_worker(self._warm_up, thread=True, group="warm up")
        self._app.run_worker(import_sections, thread=True, group="warm up")
        self._app.set_timer(_QUIET_SECONDS, self._import_when_quiet)
        self._app.set_interval(_MAINTENANCE_CHECK_SECONDS, self._start_maintenance)
        self._app.set_interval(_HUB_CHECK_SECONDS, self._start_hub_worker)

    def _import_when_quiet(self) -> None:
        """Import modules that are needed later on a thread, once no key was carried out for a while."""
        if monotonic() - self._app.typed.carried_out_at < _QUIET_SECONDS:
            self._app.set_timer(_QUIET_SECONDS, self._import_when_quiet)
        else:
            self._app.run_worker(_import_for_later, thread=True, group="warm up")

    def _warm_up(self) -> None:
        """Open the indexes before the first search."""
        app = self._app
        try:
            app.workspace.catch_up()
            self._start_engine()
            self._start_maintenance()
            self._start_hub_worker()
        except MementoError as error:
            app.call_from_thread(app.show_status, str(error), problem=True)

    def _start_maintenance(self) -> None:
        """Start a run of maintenance, in a process of its own, where one is due."""
        from memento_tui.api.maintenance_schedule import start_maintenance_if_due  # noqa: PLC0415 - after the frame

        start_maintenance_if_due(self._app.workspace, "app")

    def _start_hub_worker(self) -> None:
        """Let a process of its own keep the workspace and its hub together, where it is in one."""
        if self._app.workspace.settings.get(HUB_SETTING):
            from memento_tui.api.hub_session import start_hub_worker  # noqa: PLC0415 - most are in no hub

            start_hub_worker(self._app.workspace)

    def _start_engine(self) -> None:
        """Start the engine; where its packages are missing, follow their installation and start it then."""
        app = self._app
        if not app.workspace.config.engine.enabled or app.workspace.is_read_only:
            return
        if is_installed():
            from memento_tui.api.health import start_engine  # noqa: PLC0415 - the first frame does without it

            start_engine(app.workspace)
        else:
            app.call_from_thread(self._follow_installation)

    def _follow_installation(self) -> None:
        self._following = self._app.set_interval(_INSTALLATION_SECONDS, self._show_installation)

    def _show_installation(self) -> None:
        """Show how far the installation of searching by meaning is; once it is over, stop looking."""
        app, following = self._app, self._following
        if following is None:
            return  # a look that was due already when the last one found the end
        found = installation()
        self.installing = f"meaning: {cells(found.step, _STEP_CELLS).rstrip()}" if found and found.step else ""
        app.show_live_state()
        if found and found.problem:
            self._stop_following(following)
            app.show_status(describe_installation(), problem=True)
        elif found is None and is_installed():
            self._stop_following(following)
            app.show_status("Searching by meaning is installed; the engine is starting.")
            app.refresh_sections()
            app.run_worker(self._start_engine, thread=True, group="warm up")

    def _stop_following(self, following: Timer) -> None:
        following.stop()
        self._following = None
