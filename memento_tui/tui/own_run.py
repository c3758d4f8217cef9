"""Run a command of the person's own on the row under the cursor.

What the row says may be an agent's: it never becomes part of the command's text. It is in the environment, with what
acts on a terminal made visible, and the ids of the chosen rows are the arguments ``"$@"``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from memento_tui.errors import InvalidInput
from memento_tui.tui.display import cells, shown
from memento_tui.tui.external_editor import run_in_terminal
from memento_tui.tui.own import OwnCommand
from memento_tui.tui.sections.list_section import ListSection

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.tui.app import MementoApp

__all__ = ["run_own_command"]

_SHELL = "/bin/sh"
_MAX_SECONDS = 120
"""Seconds after which a command that has not the terminal is ended."""

_POLL_SECONDS = 0.05
"""Seconds between two looks at whether it has ended."""

_MAX_LAST_BYTES = 10_000
"""Bytes at the end of the output in which the last line is looked for."""

_MAX_VALUE_BYTES = 100_000
"""Bytes of one variable; Linux takes 131,072."""

_MAX_SHOWN_CELLS = 200


async def run_own_command(app: MementoApp, name: str, own: OwnCommand) -> None:
    """Run a command and show how it ended; must run in a worker of the app."""
    section = app.section
    if isinstance(section, ListSection) and _has_chosen(section) and not section.actions.check_can_act():
        return
    environment, ids = _about_rows(app)
    words = [_SHELL, "-c", own.run, f"memento-{name}", *ids]
    if own.terminal:
        code = run_in_terminal(app, words, {**os.environ, **environment})
        app.show_status(_ended(name, code, ""), problem=code != 0)
    else:
        app.show_status(f"{name} runs ...")
        code, last = await _run(words, {**os.environ, **environment})
        app.show_status(_ended(name, code, last), problem=code != 0)
    app.refresh_after_write()


def _has_chosen(section: ListSection[Any]) -> bool:
    return section.rows.current is not None or bool(section.rows.marks)


def _about_rows(app: MementoApp) -> tuple[Mapping[str, str], Sequence[str]]:
    """Return the environment that describes the row under the cursor, and the ids of the chosen rows."""
    workspace, section = app.workspace, app.section
    about = {"HOME": str(workspace.paths.root), "SECTION": section.SCOPE}
    if workspace.is_read_only:
        about["READ_ONLY"] = "1"
    ids: Sequence[str] = ()
    if isinstance(section, ListSection) and section.rows.current is not None:
        row = section.rows.current
        about |= {name.upper(): text for name, text in section.texts_for_commands(row).items()}
        about |= _memory_fields(workspace, row.id)
        ids = section.ids_for_commands()
    return {f"MEMENTO_{name}": _safe(value) for name, value in about.items()}, ids


def _memory_fields(workspace: Workspace, row_id: str) -> Mapping[str, str]:
    memory = workspace.find(row_id)
    if memory is None:
        return {}
    return {
        "KIND": memory.kind,
        "NAMESPACE": memory.namespace,
        "TAGS": ",".join(memory.tags),
        "STATUS": memory.status,
        "CERTAINTY": str(memory.certainty),
        "URL": memory.source.url or "",
        "AGENT": memory.source.agent or "",
    }


def _safe(value: str) -> str:
    """Return a text for the environment: nothing in it acts on a terminal, and it is not too long for a program."""
    return shown(value, multiline=True).encode()[:_MAX_VALUE_BYTES].decode(errors="ignore")


async def _run(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a program without a terminal; return its status and its last line.

    Its output goes to a file, and it is waited for alone: what it started behind itself holds up nothing. Whoever quits
    meanwhile leaves it running.
    """
    with TemporaryFile() as output:
        try:
            program = subprocess.Popen(  # noqa: ASYNC220, S603 - it begins at once; the person's own command
                words,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise InvalidInput(f"{words[0]} cannot be started: {error.strerror}.") from error
        ends = monotonic() + _MAX_SECONDS
        while (code := program.poll()) is None:
            if monotonic() > ends:
                os.killpg(program.pid, signal.SIGKILL)
                program.wait()
                return 1, f"it was ended after {_MAX_SECONDS} seconds"
            await asyncio.sleep(_POLL_SECONDS)
        return code, _last_line(output)


def _last_line(output: IO[bytes]) -> str:
    """Return the last line of a file that is not blank, empty where the end of the file has none."""
    output.seek(max(output.seek(0, os.SEEK_END) - _MAX_LAST_BYTES, 0))
    lines = [line for line in output.read().decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _ended(name: str, code: int, last: str) -> str:
    how = "done" if code == 0 else f"ended with status {code}" if code > 0 else f"was ended by signal {-code}"
    return f"{name}: {how}. {cells(last, _MAX_SHOWN_CELLS).rstrip()}".rstrip()
