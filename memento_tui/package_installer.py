"""Install packages into this program's own environment, and report the progress as one line.

Standard library only, so that the Makefile runs it before anything is installed:
``python -m memento_tui.package_installer REQUIREMENT ...``.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from memento_tui.errors import EngineUnavailable

__all__ = ["InstallSteps", "check_environment", "install"]

_LOOK_SECONDS = 0.5
"""Seconds between two looks at how many packages are in place, while pip says nothing."""

_READ_BYTES = 65_536
"""Bytes of the installer's output that are read at once."""

_READABLE_BY_ALL = 0o022
"""The umask for installed files: others may share the environment, unlike a person's memories."""

_ANEW = "pipx install 'memento-tui[meaning]'"
_MEGABYTE = 1_000_000


class InstallSteps:
    """Turns the output of pip or uv into short lines on the current step and its progress."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is where the packages are put."""
        self._folder = folder
        self._fetching = ""
        self._installing: list[str] = []
        self.error = ""
        """The last error that was printed."""
        self._readers: dict[str, Callable[[str], str]] = {
            "error:": self._fail,
            "obtaining": lambda _: "reading what memento needs",
            "collecting": lambda named: f"looking for {re.split('[^A-Za-z0-9._-]', named)[0]}",
            **dict.fromkeys(("downloading", "using", "processing"), self._fetch),
            "progress": self._count,
            "installing": self._begin,
            "resolved": lambda counted: f"found {counted}",  # as uv says it
            "prepared": lambda counted: f"fetched {counted}",
        }

    def read(self, line: str) -> str:
        """Return the step that a line of output announces; empty where it announces none."""
        first, _, rest = line.strip().partition(" ")
        reader = self._readers.get(first.lower())
        return reader(rest) if reader else ""

    def _fail(self, reason: str) -> str:
        self.error = reason
        return ""

    def _fetch(self, named: str) -> str:
        """Return the step that fetches a package, with its name and the words after that, such as its size."""
        file = re.match(r"(?:cached )?(\S+(?:\.whl|\.tar\.gz))(?=\s|$)( \([\d.]+ \w+\))?", named)
        if file is None:  # uv names the package alone
            return f"fetching {named}" if re.match(r"[\w.-]+ \(", named) else ""
        self._fetching = re.split(r"-\d", file[1].rpartition("/")[2])[0]
        return f"fetching {self._fetching}{file[2] or ''}"

    def _count(self, counted: str) -> str:
        """Return how many megabytes of the package are fetched; empty for one of less than one."""
        numbers = re.fullmatch(r"(\d+) of (\d+)", counted)
        done, total = (int(number) // _MEGABYTE for number in numbers.groups()) if numbers else (0, 0)
        return f"fetching {self._fetching}, {done} of {total} MB" if total else ""

    def _begin(self, named: str) -> str:
        if named.startswith("collected packages: "):
            self._installing = named.partition(": ")[2].split(", ")
        return self.look()

    def look(self) -> str:
        """Return how many of the packages are in place; empty before they are being put there."""
        if not self._installing:
            return ""
        # pip writes this file last.
        placed = {_plain(path.parent.name.partition("-")[0]) for path in self._folder.glob("*.dist-info/INSTALLER")}
        left = [name for name in self._installing if _plain(name) not in placed]
        done, total = len(self._installing) - len(left), len(self._installing)
        return f"installing {done + 1} of {total}: {left[0]}" if left else f"installed {total} packages"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def install(requirements: Sequence[str], tell: Callable[[str], None], log: Path) -> None:
    """Install packages; ``tell`` is given each step in words, the whole output goes to the file ``log``.

    Raises:
        EngineUnavailable: this environment takes no packages, or the installation failed.

    """
    folder = check_environment()
    steps = InstallSteps(folder)
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(  # noqa: S603 - the environment's own installer
            [*_installer(), *requirements],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            umask=_READABLE_BY_ALL,
        ) as process,
    ):
        try:
            for line in _lines(process):
                kept.write(line or "")
                if step := steps.look() if line is None else steps.read(line):
                    tell(step)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        reason = steps.error or f"the installer ended with status {process.returncode}"
        raise EngineUnavailable(f"The packages could not be installed: {reason}", f"{log} says more.")


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str | None]:
    """Yield each line that a process prints, and ``None`` where it has said nothing for a while."""
    output, begun = process.stdout, b""
    assert output is not None  # noqa: S101 - it was asked for
    with DefaultSelector() as selector:
        selector.register(output, EVENT_READ)
        while True:
            if not selector.select(_LOOK_SECONDS):
                yield None
                continue
            part = os.read(output.fileno(), _READ_BYTES)
            *lines, begun = (begun + part).split(b"\n")
            yield from (f"{line.decode(errors='replace')}\n" for line in (lines if part else [begun]))
            if not part:
                return


def check_environment() -> Path:
    """Return the folder that packages of this environment are put into.

    Raises:
        EngineUnavailable: somebody else manages this environment, or it cannot be written.

    """
    folder = Path(sysconfig.get_path("purelib"))
    managed = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix == sys.base_prefix and managed.exists():
        raise EngineUnavailable(
            f"The Python in {sys.prefix} is managed by the system, which installs its packages itself.",
            f"Install memento into an environment of its own: {_ANEW}",
        )
    if not os.access(folder, os.W_OK):
        raise EngineUnavailable(
            f"You may not write {folder}, so nothing can be installed there.",
            f"Ask whoever installed memento to do it, or install it for yourself: {_ANEW}",
        )
    return folder


def _installer() -> list[str]:
    """Return the command that installs into this environment, without the packages."""
    if importlib.util.find_spec("pip") is not None:
        return [
            *(sys.executable, "-P", "-m", "pip", "install"),
            *("--no-input", "--disable-pip-version-check", "--no-warn-script-location"),
            *("--progress-bar", "raw" if _pip_counts() else "off"),
        ]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--python", sys.executable, "--no-progress"]
    raise EngineUnavailable(
        f"There is neither pip nor uv to install packages into {sys.prefix}.",
        f"Install one of them, or memento anew: {_ANEW}",
    )


def _pip_counts() -> bool:
    """Return whether this pip can print how many bytes it has fetched, one number a line."""
    from importlib.metadata import version  # noqa: PLC0415 - seldom needed

    return tuple(int(part) for part in re.findall(r"\d+", version("pip"))[:2]) >= (24, 1)


def _main(requirements: Sequence[str]) -> int:
    """Install packages, with a line on standard output that says how far it is."""
    drawn = sys.stdout.isatty()

    def tell(step: str) -> None:
        if drawn:
            sys.stdout.write(f"\r\x1b[2K  {step[: shutil.get_terminal_size().columns - 3]}")
            sys.stdout.flush()

    try:
        install(requirements, tell, Path(sys.prefix, "memento-install.log"))
    except EngineUnavailable as error:
        sys.stderr.write(f"\n{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; the same command goes on with it.\n")
        return 130
    if drawn:
        sys.stdout.write("\r\x1b[2K")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
