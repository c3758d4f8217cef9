"""The workspaces that were opened on this machine: a short list beside the data directories, never inside one.

The app and a person's commands read it. What agents use is said where they were installed, and does not follow it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memento_tui import clock, machine_lists
from memento_tui.errors import AmbiguousId, DataDirectoryError, InvalidInput, NotFound, ReadOnlyMode
from memento_tui.locations import data_location, known_workspaces_location
from memento_tui.moments import format_moment
from memento_tui.paths import DataPaths

__all__ = ["DEFAULT", "KnownWorkspace", "KnownWorkspaces", "chosen_directory", "note_opened"]

DEFAULT = "default"
"""The name of the workspace in the platform's place for user data."""

_MAX_KNOWN = 50
"""Workspaces that are kept; the one that was opened longest ago goes first."""

_MAX_NAME_CHARACTERS = 40

_LIST = "the list of workspaces"
"""The name of the list in a sentence."""


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
    """Return the directory that `KnownWorkspaces.use` chose; ``None`` where the environment or nobody chose.

    Raises `DataDirectoryError` where the list cannot be read.
    """
    if os.environ.get("MEMENTO_HOME"):
        return None
    chosen = _read(_file()).chosen
    return Path(chosen) if chosen else None


class KnownWorkspaces:
    """The list, read anew by each call: several programs change it.

    With ``read_only`` nothing is changed. Every method raises `DataDirectoryError` where the list cannot be read.
    """

    def __init__(self, *, read_only: bool = False) -> None:
        self._read_only = read_only

    def list(self) -> Sequence[KnownWorkspace]:
        """Return the workspaces, the one opened last first; the default one is always among them."""
        listed = _read(_file()).workspaces
        if all(one.path != _default_path() for one in listed):
            listed = (*listed, KnownWorkspace(DEFAULT, _default_path()))
        return sorted(listed, key=lambda one: format_moment(one.opened_at) if one.opened_at else "", reverse=True)

    def find(self, name: str) -> KnownWorkspace:
        """Return a workspace by its name, a beginning of it that only one has, or its path.

        ``default`` is always the one in the platform's place, whatever name that has on the list.

        Raises:
            NotFound, AmbiguousId: none, or several, match.

        """
        listed = self.list()
        path = _default_path() if name == DEFAULT else _whole(name)
        found = [one for one in listed if path == one.path] or [one for one in listed if name == one.name]
        found = found or [one for one in listed if name and one.name.casefold().startswith(name.casefold())]
        if not found:
            known = ", ".join(one.name for one in listed)
            raise NotFound(
                f"There is no workspace {name!r:.80}.", f"There are {known}; `memento workspace add` adds one."
            )
        if len(found) > 1:
            raise AmbiguousId(name, [one.name for one in found], what="workspace")
        return found[0]

    def add(self, path: Path, name: str = "") -> KnownWorkspace:
        """Add a directory under a name, by default its own; one that is listed gets the new name.

        Raises:
            InvalidInput: the name is another's, or none.
            DataDirectoryError: the list cannot be written.
            ReadOnlyMode: nothing is to be written.

        """
        whole = _whole(str(path))
        with self._changing():
            if name:
                _check_name(name, whole, self.list())
            return _put(whole, name, opened=False)

    def remove(self, name: str) -> KnownWorkspace:
        """Take a workspace off the list; its files stay. Raises like `find` and `add`."""
        with self._changing():
            found = self.find(name)
            if found.path == _default_path():
                raise InvalidInput("The default workspace stays on the list.")
            listed = _read(_file())
            kept = tuple(one for one in listed.workspaces if one.path != found.path)
            _write(_Listed(kept, "" if listed.chosen == found.path else listed.chosen))
        return found

    def use(self, name: str) -> KnownWorkspace:
        """Choose the workspace that commands and the app open where no other is named. Raises like `remove`."""
        with self._changing():
            found = self.find(name)
            _write(_read(_file())._replace(chosen="" if found.path == _default_path() else found.path))
        return found

    @contextmanager
    def _changing(self) -> Iterator[None]:
        if self._read_only:
            raise ReadOnlyMode
        with machine_lists.changing(_file(), _LIST):
            yield


def note_opened(path: Path) -> None:
    """Note that the app opened a directory. Never fails: where the list cannot be changed, it lacks this one."""
    with suppress(DataDirectoryError), machine_lists.changing(_file(), _LIST):
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
    return Path(known_workspaces_location())


def _read(file: Path) -> _Listed:
    """Return the valid entries of the list; an empty list where there is no file.

    Raises:
        DataDirectoryError: it cannot be read, or is something else. To take that for an empty list would lose the
            choice, and with the next change everything that is listed.

    """
    try:
        held = json.loads(file.read_bytes())
        entries, chosen = list(held["workspaces"]), str(held["chosen"])
    except FileNotFoundError:
        return _Listed()
    except (OSError, ValueError, LookupError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no such list"
        raise DataDirectoryError(
            f"The list of workspaces in {file} cannot be read: {reason}.",
            "Mend it or move it away; --data-dir and MEMENTO_HOME name a directory without it.",
        ) from error
    return _Listed(tuple(one for one in map(_known, entries) if one is not None), chosen)


def _known(held: Any) -> KnownWorkspace | None:  # noqa: ANN401 - whatever stands in the file
    """Return one entry of the file; ``None`` where it is malformed."""
    try:
        opened = held["opened_at"]
        return KnownWorkspace(str(held["name"]), str(held["path"]), datetime.fromisoformat(opened) if opened else None)
    except (ValueError, LookupError, TypeError):
        return None


def _write(listed: _Listed) -> None:
    workspaces = [
        {"name": one.name, "path": one.path, "opened_at": format_moment(one.opened_at) if one.opened_at else None}
        for one in listed.workspaces
    ]
    held = {"workspaces": workspaces, "chosen": listed.chosen}
    machine_lists.write(_file(), _LIST, json.dumps(held).encode())


def _check_name(name: str, path: str, listed: Sequence[KnownWorkspace]) -> None:
    """Raise `InvalidInput` where a workspace's name is malformed, too long, or taken by another directory."""
    if not name.isprintable() or "/" in name or len(name) > _MAX_NAME_CHARACTERS or name != name.strip():
        raise InvalidInput(
            f"{name!r:.60} cannot be a workspace's name.", f"Up to {_MAX_NAME_CHARACTERS} letters, without a slash."
        )
    taken = next((one.path for one in listed if one.name == name and one.path != path), "")
    if taken or (name == DEFAULT and path != _default_path()):
        raise InvalidInput(f"{name} is the workspace in {taken or _default_path()}.", "Choose another name.")


def _free_name(path: str, others: Sequence[KnownWorkspace]) -> str:
    """Return an unused name for a workspace: its directory's, with the parent directory's name where that is taken."""
    taken = {one.name for one in others}
    if path == _default_path() and DEFAULT not in taken:
        return DEFAULT
    own, above = _as_name(Path(path).name) or "workspace", _as_name(Path(path).parent.name)
    numbered = (f"{own[: _MAX_NAME_CHARACTERS - 8]}-{number}" for number in range(2, len(taken) + 4))
    names = (own, f"{above}-{own}"[:_MAX_NAME_CHARACTERS].rstrip(), *numbered)
    return next(name for name in names if name not in {*taken, DEFAULT})


def _as_name(text: str) -> str:
    """Return a directory's name as a valid workspace name, with hyphens for unprintable characters."""
    printable = "".join(character if character.isprintable() else "-" for character in text)
    return printable.strip(" -")[:_MAX_NAME_CHARACTERS].rstrip()
