"""Where a data directory and the socket of its engine lie, as plain text.

Imports only what every interpreter has loaded: memento-hook needs no more while the engine answers for it.
`memento_tui.paths` names every file.
"""

import os
import stat
import sys

__all__ = [
    "agreements_location",
    "asks_read_only",
    "check_socket_folder",
    "data_location",
    "database_location",
    "known_workspaces_location",
    "last_known_location",
    "socket_location",
    "waiting_location",
]

_MAX_SOCKET_PATH_BYTES = 100
"""Bytes; the kernels of Linux and macOS take 107 and 103."""


def data_location(given: str = "", *, ignore_environment: bool = False) -> str:
    """Return the absolute path of the data directory: the one given, else ``MEMENTO_HOME``, else the platform's.

    ``MEMENTO_HOME`` is not asked with ``ignore_environment``.

    Raises:
        RuntimeError: there is no home directory to expand a ``~`` to.

    """
    named = given or ("" if ignore_environment else os.environ.get("MEMENTO_HOME"))
    if not named:
        return _default_location()
    expanded = os.path.expanduser(named)
    if expanded.startswith("~"):
        raise RuntimeError(f"there is no home directory for {named}")
    return expanded if os.path.isabs(expanded) else os.path.join(os.getcwd(), expanded)


def _default_location() -> str:
    """Return the place where platformdirs puts a user's data, without importing it where the answer is plain."""
    platform: str = sys.platform
    shared, home = os.environ.get("XDG_DATA_HOME", ""), os.environ.get("HOME", "")
    if platform == "linux" and shared.startswith("/"):
        return os.path.join(shared, "memento")
    if home.startswith("/") and not shared:
        if platform == "linux":
            return os.path.join(home, ".local/share/memento")
        if platform == "darwin":
            return os.path.join(home, "Library/Application Support/memento")
    import platformdirs  # noqa: PLC0415 - a hook has no time for it

    return platformdirs.user_data_dir("memento", appauthor=False)


def state_location() -> str:
    """Return the directory of the lists about this machine's workspaces; as `data_location`, by platform."""
    platform: str = sys.platform
    state, home = os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME", "")
    if platform == "linux" and state.startswith("/"):
        return os.path.join(state, "memento")
    if platform == "linux" and home.startswith("/") and not state:
        return os.path.join(home, ".local/state/memento")
    import platformdirs  # noqa: PLC0415 - as above

    return platformdirs.user_state_dir("memento", appauthor=False)


def known_workspaces_location() -> str:
    """Return the path of the list of the workspaces that were opened on this machine."""
    return os.path.join(state_location(), "workspaces.json")


def agreements_location() -> str:
    """Return the path of the person's agreements to send data off this machine."""
    return os.path.join(state_location(), "agreed.json")


def asks_read_only() -> bool:
    """Return whether ``MEMENTO_READ_ONLY`` asks for programs that write nothing to the data directory."""
    return os.environ.get("MEMENTO_READ_ONLY", "").lower() not in ("", "0", "false", "no")


def database_location(root: str) -> str:
    """Return the path of the database in a data directory."""
    return os.path.join(root, "memento.db")


def last_known_location(database: str) -> str:
    """Return the path of the file that says which workspace a directory holds, beside its database."""
    return os.path.join(os.path.dirname(database), "workspace.json")


def waiting_location(root: str) -> str:
    """Return the path of the file that says how many items wait for the person."""
    return os.path.join(root, "waiting.txt")


def socket_location(root: str) -> str:
    """Return the path of the engine's socket: beside the database unless that is too long for a socket."""
    direct = os.path.join(root, "engine.sock")
    if len(os.fsencode(direct)) <= _MAX_SOCKET_PATH_BYTES:
        return direct
    # Only a long path needs these.
    import hashlib  # noqa: PLC0415
    import tempfile  # noqa: PLC0415
    from pathlib import PurePath  # noqa: PLC0415 - one spelling of a path, whoever asks

    name = hashlib.sha256(os.fsencode(PurePath(root))).hexdigest()[:24]
    return os.path.join(tempfile.gettempdir(), f"memento-{os.getuid()}", f"{name}.sock")


def check_socket_folder(root: str, socket: str) -> None:
    """Check that a socket's folder outside the data directory belongs to the user alone.

    Raises:
        PermissionError: the folder is not the user's own.

    """
    folder = os.path.dirname(socket)
    if folder == os.path.dirname(os.path.join(root, "")):
        return
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise PermissionError(f"{folder} must be a directory that only you may use")
