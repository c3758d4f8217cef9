"""Start a module of memento in a process of its own, and tell whether a process runs; give free memory back.

Standard library only: memento-hook uses it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from time import monotonic

__all__ = [
    "engine_command",
    "forget_ended",
    "is_lock_held",
    "is_process_alive",
    "let_others_go_first",
    "module_command",
    "release_memory",
    "start_detached",
]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    import ctypes


_LAST_STANDARD_DESCRIPTOR = 2


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module with this interpreter."""
    # -P: no module is imported from the folder that an agent works in, which may be anybody's repository.
    return [sys.executable, "-P", "-m", module, *arguments]


def engine_command(root: str | os.PathLike[str]) -> list[str]:
    """Return the command that runs the engine of a data directory, with the moment at which it is asked for."""
    return module_command("memento_tui.engine", "--data-dir", os.fspath(root), "--asked-at", f"{monotonic():.3f}")


_BACKGROUND_NICENESS = 5
"""The niceness of a background thread: it gets a third of a core that it shares with another."""


def let_others_go_first() -> None:
    """Lower the priority of the calling thread, and of threads that it starts; Linux alone has one for each thread."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, 0, _BACKGROUND_NICENESS)  # 0 is the calling thread


def is_process_alive(process: int) -> bool:
    """Tell whether a process runs, this one or whoever's it is."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_lock_held(path: str | os.PathLike[str]) -> bool:
    """Tell whether a process holds the lock of a file: a lock ends with its process, a number may be another's soon."""
    import fcntl  # noqa: PLC0415 - few ask

    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def start_detached(command: list[str], *, log: str = os.devnull, keep: int | None = None) -> int:
    """Start a process that outlives this one and holds none of its files but ``keep``; return its number.

    Its output goes to the file ``log``. It is in a session of its own, so whatever ends this process leaves it alone.
    What is locked through the descriptor ``keep`` stays locked until the process has ended.

    Raises:
        OSError: the process cannot be started, or the log not be opened.

    """
    _close_files_on_exec()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    # First, because ``keep`` is a standard descriptor where a host has closed that one.
    files: list[tuple[object, ...]] = (
        [] if keep is None else [(os.POSIX_SPAWN_DUP2, keep, _LAST_STANDARD_DESCRIPTOR + 1)]
    )
    files += [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    # The library's own call, rather than a fork: the engine that starts such a process has threads.
    process = os.posix_spawn(command[0], command, os.environ, file_actions=files, setsid=True)
    _started.append(process)
    return process


_started: list[int] = []
"""The processes that were started here and have not been seen to end."""


def forget_ended() -> None:
    """Let the system forget those of the started processes that have ended; for a process that lives long."""
    for process in _started.copy():
        with contextlib.suppress(ChildProcessError):
            if not os.waitpid(process, os.WNOHANG)[0]:
                continue
        _started.remove(process)


def _close_files_on_exec() -> None:
    """Keep the files that a host left open in this process from the processes that it starts."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 - a hook has no time for pathlib
        if int(name) > _LAST_STANDARD_DESCRIPTOR:
            with contextlib.suppress(OSError):  # the listing itself had one open
                os.set_inheritable(int(name), False)  # noqa: FBT003 - the argument has no name


@cache
def _c_library() -> ctypes.CDLL | None:
    """Return the C library, where it has a call that gives memory back: that of most Linux systems."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # noqa: PLC0415 - no first frame waits for it

    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def release_memory() -> None:
    """Return the C library's unused memory to the system: some milliseconds for 50 MB, a fifth of one for none."""
    if (library := _c_library()) is not None:
        library.malloc_trim(0)
