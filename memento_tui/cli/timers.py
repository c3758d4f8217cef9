"""The timer of the system that runs maintenance every night, systemd's or a launchd agent: shown, written, removed."""

from __future__ import annotations

import difflib
import os
import plistlib
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memento_tui.cli.command import current_session
from memento_tui.cli.interaction import confirm
from memento_tui.cli.output import colour_diff, emit, safe
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.hosts.programs import find_programs

__all__ = ["change_timer", "current_timer", "nightly_timer", "run_system_commands"]


def current_timer() -> NightlyTimer:
    """Return the timer of this run's data directory, whether it is installed or not.

    Raises:
        InvalidInput: the program is not installed, or a path cannot stand in a timer's file.

    """
    root = current_session().paths.root
    return nightly_timer(find_programs(root, "native").server, root)


def change_timer(*, removes: bool, dry_run: bool, yes: bool) -> None:
    """Show the files of the timer, ask, write or remove them, and let the system take note of it."""
    timer = current_timer()
    data: dict[str, Any] = {
        "files": [{"path": str(file.path), "text": file.text} for file in timer.files],
        "commands": [" ".join(words) for words in _commands(timer, removes=removes)],
        "written": False,
        "problem": "",
    }
    if not timer.is_installed if removes else timer.is_current:
        emit(data, lambda: "There is no timer." if removes else "The timer is installed already.")
        return
    shown = "\n".join(_difference(timer, removes=removes))
    if dry_run:
        emit(data, lambda: f"{colour_diff(shown)}\nThen: {'; '.join(data['commands'])}")
        return
    if not yes and not current_session().as_json:
        sys.stderr.write(colour_diff(shown) + "\n")
    confirm(
        "Remove these files" if removes else "Write these files",
        yes=yes,
        unasked="Changing the system's timers asks first.",
        hint="Say --yes if you are sure; --dry-run shows the files.",
        declined="Nothing was changed.",
    )
    if removes:
        data["problem"] = run_system_commands(timer.stop)
        timer.remove()
        data["problem"] = data["problem"] or run_system_commands(timer.after_removal)
    else:
        timer.write()
        data["problem"] = run_system_commands(timer.start)
    data["written"] = True
    emit(data, lambda: safe("\n".join(_outcome(timer, data, removes=removes)), multiline=True))


def _commands(timer: NightlyTimer, *, removes: bool) -> list[list[str]]:
    return [list(words) for words in ((*timer.stop, *timer.after_removal) if removes else timer.start)]


def _difference(timer: NightlyTimer, *, removes: bool) -> list[str]:
    """Return the lines of the difference that the change makes, file by file."""
    lines: list[str] = []
    for file in timer.files:
        before = file.path.read_text(encoding="utf-8") if file.path.is_file() else ""
        after = "" if removes else file.text
        name = str(file.path)
        lines += difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="")
    return lines


def _outcome(timer: NightlyTimer, data: dict[str, Any], *, removes: bool) -> list[str]:
    lines = [f"{'removed' if removes else 'written'}  {file.path}" for file in timer.files]
    if data["problem"]:
        lines += [f"! {data['problem']}", f"Run it yourself: {' && '.join(data['commands'])}"]
    elif not removes:
        lines.append("Maintenance runs every night at half past three. `memento status` says when it ran last.")
    return lines


_HOUR, _MINUTE = 3, 30
"""The time of the day, on the machine's own clock, at which maintenance runs; one that slept does it on waking."""

_SYSTEMD_UNSAFE = re.compile(r'[\\"]')
_COMMAND_SECONDS = 30.0
"""Seconds that the system's own program has to take note of the timer."""


@dataclass(frozen=True)
class TimerFile:
    """One file of a timer."""

    path: Path
    text: str

    @property
    def is_current(self) -> bool:
        """Whether the file is there and says the same."""
        return self.path.is_file() and self.path.read_bytes() == self.text.encode()


@dataclass(frozen=True)
class NightlyTimer:
    """The files of a timer, and the commands that let the system take note of them."""

    files: Sequence[TimerFile]
    start: Sequence[Sequence[str]]
    """The commands after its files were written."""
    stop: Sequence[Sequence[str]]
    """The commands before its files are removed."""
    after_removal: Sequence[Sequence[str]] = ()

    @property
    def is_installed(self) -> bool:
        """Whether any of its files is there."""
        return any(file.path.is_file() for file in self.files)

    @property
    def is_current(self) -> bool:
        """Whether all of its files are there as they would be written."""
        return all(file.is_current for file in self.files)

    def write(self) -> None:
        """Write its files. Raises `DataDirectoryError` where they cannot be."""
        for file in self.files:
            try:
                file.path.parent.mkdir(parents=True, exist_ok=True)
                file.path.write_text(file.text, encoding="utf-8")
            except OSError as error:
                raise DataDirectoryError(f"{file.path} cannot be written: {error.strerror}.") from error

    def remove(self) -> list[Path]:
        """Remove its files; return those that were there. Raises `DataDirectoryError` where one cannot be."""
        removed = []
        for file in self.files:
            try:
                file.path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise DataDirectoryError(f"{file.path} cannot be removed: {error.strerror}.") from error
            removed.append(file.path)
        return removed


def nightly_timer(
    program: str, data_dir: Path, *, platform: str = sys.platform, home: Path | None = None
) -> NightlyTimer:
    """Return the timer for a data directory, for the system that runs here; each directory has one of its own.

    ``program`` is the path of ``memento``.

    Raises:
        InvalidInput: a path holds a character that such files cannot.

    """
    home = home or Path.home()
    words = [program, "--data-dir", str(data_dir), "maintain", "--by", "timer"]
    if not all(word.isprintable() for word in words):
        raise InvalidInput("The path of the data directory cannot stand in a timer's file.", "Give it another name.")
    if platform == "darwin":
        return _launchd_agent(words, _label(data_dir, "."), home)
    return _systemd_timer(words, _label(data_dir, "-"), home)


def _label(data_dir: Path, between: str) -> str:
    """Return the name of the timer of a data directory."""
    return f"memento{between}maintain{between}{zlib.crc32(os.fsencode(data_dir)):08x}"


def _systemd_timer(words: Sequence[str], name: str, home: Path) -> NightlyTimer:
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    folder = config / "systemd" / "user"
    service = (
        "[Unit]\n"
        "Description=Maintain what memento's agents remember\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"ExecStart={' '.join(map(_systemd_quoted, words))}\n"
        "Nice=19\n"
        "IOSchedulingClass=idle\n"
    )
    timer = (
        "[Unit]\n"
        "Description=Maintain what memento's agents remember, every night\n"
        "\n"
        "[Timer]\n"
        f"OnCalendar=*-*-* {_HOUR:02}:{_MINUTE:02}:00\n"
        "RandomizedDelaySec=15min\n"
        "Persistent=true\n"
        "\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )
    control = ["systemctl", "--user"]
    return NightlyTimer(
        (TimerFile(folder / f"{name}.service", service), TimerFile(folder / f"{name}.timer", timer)),
        start=([*control, "daemon-reload"], [*control, "enable", "--now", f"{name}.timer"]),
        stop=([*control, "disable", "--now", f"{name}.timer"],),
        after_removal=([*control, "daemon-reload"],),
    )


def _systemd_quoted(word: str) -> str:
    """Return a word for ExecStart, where a percent sign and a dollar sign would stand for something else."""
    escaped = _SYSTEMD_UNSAFE.sub(lambda match: f"\\{match[0]}", word).replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _launchd_agent(words: Sequence[str], name: str, home: Path) -> NightlyTimer:
    path = home / "Library" / "LaunchAgents" / f"{name}.plist"
    agent = {
        "Label": name,
        "ProgramArguments": list(words),
        "StartCalendarInterval": {"Hour": _HOUR, "Minute": _MINUTE},
        "ProcessType": "Background",
        "LowPriorityIO": True,
        "Nice": 19,
    }
    domain = f"gui/{os.getuid()}"
    return NightlyTimer(
        (TimerFile(path, plistlib.dumps(agent, sort_keys=False).decode()),),
        start=(["launchctl", "bootstrap", domain, str(path)],),
        stop=(["launchctl", "bootout", f"{domain}/{name}"],),
    )


def run_system_commands(commands: Sequence[Sequence[str]]) -> str:
    """Run the system's commands one after another; return why one failed, a sentence, or nothing."""
    for words in commands:
        line = " ".join(words)
        try:
            ended = subprocess.run(words, capture_output=True, timeout=_COMMAND_SECONDS, check=False)  # noqa: S603 - fixed
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"`{line}` could not be run: {error}"
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines()
            return f"`{line}` failed: {said[0] if said else f'exit code {ended.returncode}'}"
    return ""
