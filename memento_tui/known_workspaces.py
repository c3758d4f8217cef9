"""The workspaces that were opened on this machine: a short list beside the data directories, never inside one.

Commands and the app read it. What agents use is said where they were installed, and does not follow it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memento_tui import clock
from memento_tui.errors import DataDirectoryError, InvalidInput, NotFound
from memento_tui.locations import data_location, state_location
from memento_tui.moments import format_moment
from memento_tui.paths import DataPaths
from memento_tui.private_files import make_private_directory

__all__ = ["DEFAULT", "KnownWorkspace", "KnownWorkspaces", "chosen_directory", "note_opened"]

DEFAULT = "default"
"""The name of the workspace in the platform's place for user data."""

_MAX_KNOWN = 50
"""Workspaces that are kept; the one that was opened longest ago goes first."""

_MAX_NAME_CHARACTERS = 40


class KnownWorkspace(NamedTuple):
    """One data directory by its name."""

    name: str
    path: str
    opened_at: datetime | None = None
    """When the app opened it last; ``None`` where it was only added."""

    @property
    def id(self) -> str:
        """The path, which no two have in common."""
        return self.path

    @property
    def is_missing(self) -> bool:
        """Whether there is no database in it now."""
        return not DataPaths(Path(self.path)).database.is_file()


class _Listed(NamedTuple):
    """The file."""

    workspaces: tuple[KnownWorkspace, ...] = ()
    chosen: str = ""
    """The path of the one that is opened where nothing else is asked; empty for the default."""


def chosen_directory() -> Path | None:
    """Return the directory that `KnownWorkspaces.use` chose; ``None`` where the environment or nobody chose."""
    if os.environ.get("MEMENTO_HOME"):
        return None
    chosen = _read(_file()).chosen
    return Path(chosen) if chosen else None


class KnownWorkspaces:
    """The list, read anew by each call: several programs change it."""

    def list(self) -> Sequence[KnownWorkspace]:
        """Return the workspaces, the one opened last first; the default one is always among them."""
        listed = _read(_file()).workspaces
        if all(one.path != _default_path() for one in listed):
            listed = (*listed, KnownWorkspace(DEFAULT, _default_path()))
        return sorted(listed, key=lambda one: format_moment(one.opened_at) if one.opened_at else "", reverse=True)

    def find(self, name: str) -> KnownWorkspace:
        """Return a workspace by its name, a beginning of it that only one has, or its path.

        Raises:
            NotFound: there is none.

        """
        listed = self.list()
        path = _whole(name)
        found = [one for one in listed if name == one.name or path == one.path]
        found = found or [one for one in listed if name and one.name.casefold().startswith(name.casefold())]
        if len(found) != 1:
            known = ", ".join(one.name for one in listed)
            raise NotFound(
                f"There is no workspace {name!r:.80}.", f"There are {known}; `memento workspace add` adds one."
            )
        return found[0]

    def add(self, path: Path, name: str = "") -> KnownWorkspace:
        """Add a directory under a name, by default its own; one that is listed gets the new name.

        Raises:
            InvalidInput: the name is another's, or none.
            DataDirectoryError: the list cannot be written.

        """
        whole = _whole(str(path))
        if name:
            _check_name(name, [one for one in self.list() if one.path != whole])
        return _put(whole, name, opened=False)

    def remove(self, name: str) -> KnownWorkspace:
        """Take a workspace off the list; its files stay. Raises `NotFound`, `InvalidInput`, `DataDirectoryError`."""
        found = self.find(name)
        if found.path == _default_path():
            raise InvalidInput("The default workspace stays on the list.")
        listed = _read(_file())
        kept = tuple(one for one in listed.workspaces if one.path != found.path)
        _write(_Listed(kept, "" if listed.chosen == found.path else listed.chosen))
        return found

    def use(self, name: str) -> KnownWorkspace:
        """Choose the workspace that commands and the app open where no other is named. Raises like `remove`."""
        found = self.find(name)
        listed = _read(_file())
        _write(listed._replace(chosen="" if found.path == _default_path() else found.path))
        return found


def note_opened(path: Path) -> None:
    """Note that the app opened a directory. Never fails: where the list cannot be written, it lacks this one."""
    with suppress(DataDirectoryError):
        _put(_whole(str(path)), "", opened=True)


def _put(path: str, name: str, *, opened: bool) -> KnownWorkspace:
    listed = _read(_file())
    others = [one for one in listed.workspaces if one.path != path]
    known = next((one for one in listed.workspaces if one.path == path), None)
    made = KnownWorkspace(
        name or (known.name if known else _free_name(path, others)),
        path,
        clock.now() if opened else known.opened_at if known else None,
    )
    _write(listed._replace(workspaces=(made, *others)[:_MAX_KNOWN]))
    return made


def _default_path() -> str:
    """Return the platform's place, whatever the environment names."""
    return data_location(ignore_environment=True)


def _whole(path: str) -> str:
    """Return a path that a person gave, as it stands in the list."""
    return os.path.normpath(data_location(path))


def _file() -> Path:
    return Path(state_location()) / "workspaces.json"


def _read(file: Path) -> _Listed:
    """Return the list; an empty one where there is none, or something else in its place."""
    try:
        held = json.loads(file.read_bytes())
        return _Listed(tuple(map(_known, held["workspaces"])), str(held["chosen"]))
    except (OSError, ValueError, LookupError, TypeError):
        return _Listed()


def _known(held: dict[str, Any]) -> KnownWorkspace:
    opened = held["opened_at"]
    return KnownWorkspace(str(held["name"]), str(held["path"]), datetime.fromisoformat(opened) if opened else None)


def _write(listed: _Listed) -> None:
    file = _file()
    workspaces = [
        {"name": one.name, "path": one.path, "opened_at": format_moment(one.opened_at) if one.opened_at else None}
        for one in listed.workspaces
    ]
    held = {"workspaces": workspaces, "chosen": listed.chosen}
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        make_private_directory(file.parent)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as whole:  # noqa: PTH123 - a descriptor has no path
            whole.write(json.dumps(held).encode())
        beside.replace(file)
    except OSError as error:
        raise DataDirectoryError(
            f"The list of workspaces in {file} cannot be written: {error.strerror}.",
            "Check the directory and its disk.",
        ) from error


def _check_name(name: str, others: Sequence[KnownWorkspace]) -> None:
    if not name.isprintable() or "/" in name or len(name) > _MAX_NAME_CHARACTERS or name != name.strip():
        raise InvalidInput(
            f"{name!r:.60} cannot be a workspace's name.", f"Up to {_MAX_NAME_CHARACTERS} letters, without a slash."
        )
    if taken := next((one for one in others if one.name == name), None):
        raise InvalidInput(f"{name} is the workspace in {taken.path}.", "Choose another name.")


def _free_name(path: str, others: Sequence[KnownWorkspace]) -> str:
    """Return a name for a directory that no other has: its own, with that of the one above where that is taken."""
    taken = {one.name for one in others}
    if path == _default_path() and DEFAULT not in taken:
        return DEFAULT
    own, above = Path(path).name or "workspace", Path(path).parent.name
    names = [own, f"{above}-{own}", *(f"{own}-{number}" for number in range(2, len(taken) + 3))]
    return next(name[:_MAX_NAME_CHARACTERS] for name in names if name not in {*taken, DEFAULT} and name.isprintable())
