"""A timer of the system that runs maintenance every night: systemd's for one user, or a launchd agent."""

from __future__ import annotations

import os
import plistlib
import re
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memento_tui.errors import DataDirectoryError, InvalidInput

__all__ = ["NightlyTimer", "nightly_timer", "run_system_commands"]

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
