"""Keep text that a person is editing in files until it is stored, find it after a crash, bring it to other folders."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from memento_tui import clock
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.model.validation import new_id
from memento_tui.paths import DataPaths
from memento_tui.private_files import make_private_directory, replace_file
from memento_tui.processes import is_process_alive

__all__ = [
    "EditorFile",
    "UnsavedText",
    "UnsavedTextFile",
    "copy_drafts",
    "discard_drafts_containing",
    "discard_unsaved_text",
    "editor_command",
    "find_unsaved_texts",
    "move_drafts",
]

_UNFINISHED = ".part"
"""The end of the name of a copy that is not whole yet."""


def copy_drafts(source: Path, target: Path) -> list[Path]:
    """Copy the drafts of a folder into another, and return the files that were written.

    Where another text has the name already, the one that was changed last has it afterwards; an older one that is
    brought gets a name of its own. Raises `OSError`.
    """
    written = []
    for file in _drafts_in(source):
        place = _place_of(file, target)
        if place is None:
            continue
        make_private_directory(target)
        unfinished = target / f"{file.name}{_UNFINISHED}"
        unfinished.unlink(missing_ok=True)  # one that was left, or a link
        shutil.copy2(file, unfinished)  # with its time, by which the newer text is known
        unfinished.chmod(0o600)
        unfinished.replace(place)
        written.append(place)
    return written


def move_drafts(source: Path, target: Path) -> None:
    """Bring the drafts of a folder into another, as `copy_drafts`, and remove them from the first. Raises `OSError`."""
    if source == target:
        return
    copy_drafts(source, target)
    for file in [*_drafts_in(source), *source.glob(f"*{_UNFINISHED}")]:
        file.unlink()
    with contextlib.suppress(OSError):  # missing, or with what is no draft
        source.rmdir()


def _drafts_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file() and path.suffix != _UNFINISHED)


def _place_of(file: Path, target: Path) -> Path | None:
    """Return where a draft is to be copied to; ``None`` where its text is there already."""
    text = file.read_bytes()
    for place in _names(target / file.name):
        if not place.exists():
            return place
        if place.read_bytes() == text:
            return None
        if place.name == file.name and file.stat().st_mtime_ns > place.stat().st_mtime_ns:
            return place
    raise AssertionError("there is always another name")


def _names(place: Path) -> Iterator[Path]:
    """Yield a path, and those with a number that come after it."""
    yield place
    for number in itertools.count(2):
        yield place.with_name(f"{place.stem}-{number}{place.suffix}")


_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")


def _make_drafts_folder(paths: DataPaths) -> None:
    """Make the folder of the drafts, but not where the workspace itself is gone. Raises `OSError`."""
    if not paths.database.exists():
        raise DataDirectoryError(
            f"{paths.database} is no longer there: its directory was moved or removed.",
            "Copy what you typed, and open the workspace where it is now.",
        )
    make_private_directory(paths.drafts)


class EditorFile:
    """A file under the data directory's drafts that an editor may be opened on.

    It stays until `discard`, so whatever fails meanwhile, the text is not lost. Raises `DataDirectoryError`.
    """

    def __init__(self, paths: DataPaths, name: str, text: str) -> None:
        moment = clock.now().strftime("%Y%m%dT%H%M%S%f")
        self.path: Path = paths.drafts / f"{_UNSAFE_CHARACTERS.sub('-', name)[:40]}-{moment}.md"
        try:
            _make_drafts_folder(paths)
            # Exclusive and private: the text may be confidential, and no other draft is written over.
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(handle, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - a descriptor has no path
                file.write(text)
        except OSError as error:
            raise DataDirectoryError(
                f"The draft {self.path} cannot be written: {error.strerror}.", "Check the directory and its disk."
            ) from error

    def read(self, before: str) -> str:
        """Return the text as the editor left it.

        Editors end a text with a line feed; where ``before`` had none, it is taken off again.

        Raises:
            InvalidInput: the file is gone or not UTF-8.

        """
        try:
            text = self.path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"The draft {self.path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(
                f"What the editor saved is not UTF-8 (at byte {error.start}).", "Save it as UTF-8."
            ) from error
        return text if before.endswith("\n") else text.removesuffix("\n").removesuffix("\r")

    def discard(self) -> None:
        """Remove the file once its text is stored, or was not changed."""
        self.path.unlink(missing_ok=True)


def discard_editor_files(paths: DataPaths, name: str) -> None:
    """Remove the drafts that were kept of one memory."""
    for path in paths.drafts.glob(f"{_UNSAFE_CHARACTERS.sub('-', name)[:40]}-*.md"):
        path.unlink(missing_ok=True)


_KNOWN_EDITORS = ("nano", "vim", "vi")
"""Editors that are tried in this order where the person names none."""

_VIMS = ("vim", "nvim", "gvim", "mvim")
"""The beginnings of the names of Vim's programs; ``vi`` is often a link to one, such as ``vim.basic``."""

_EMACS_CLIENT = "emacsclient"
"""It opens the text in an Emacs that runs already, and can tell that nothing but the file."""

_OBEY_NO_TEXT_IN_VIM = (
    *("--cmd", "set nomodeline"),
    *("--cmd", "silent! augroup memento"),
    *("--cmd", "silent! autocmd BufReadPre * setlocal nomodeline"),
    *("--cmd", "silent! augroup END"),
)
"""Arguments that turn Vim's modelines off, and for each file again as it is read: a vimrc may turn them on for all."""

_SWITCHES = (
    *("enable-local-variables", "enable-local-eval", "enable-dir-local-variables", "set-auto-coding-function"),
    *("magic-mode-alist", "magic-fallback-mode-alist", "interpreter-mode-alist"),
)
_OBEY_NO_TEXT_IN_EMACS = ("--eval", f"(setq {' '.join(f'{switch} nil' for switch in _SWITCHES)})")
"""Arguments by which Emacs takes no variables, mode or coding from a text. It reads them after the person's own file of
settings and before it opens what is named behind them."""


def editor_command() -> list[str]:
    """Return the person's editor and its arguments: ``$VISUAL``, else ``$EDITOR``, else nano, vim or vi.

    Vim and Emacs are told to obey no options in a text: an agent may have written it, and options can fold lines away,
    or have it read in another coding.

    Raises:
        InvalidInput: there is none, or it does not exist.

    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        command = next((known for known in _KNOWN_EDITORS if shutil.which(known)), _KNOWN_EDITORS[0])
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidInput(f"The editor {command!r} cannot be understood: {error}.", "Set VISUAL or EDITOR.") from None
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise InvalidInput(f"The editor {command!r} was not found.", "Set VISUAL or EDITOR to one that is installed.")
    called = [os.path.basename(path) for path in (program, os.path.realpath(program))]  # noqa: PTH119 - as beside it
    if any(name.startswith(_VIMS) for name in called):
        return [words[0], *_OBEY_NO_TEXT_IN_VIM, *words[1:]]
    if any(name.startswith("emacs") for name in called) and not called[0].startswith(_EMACS_CLIENT):
        return [*words, *_OBEY_NO_TEXT_IN_EMACS]
    return words


_MIN_MATCHED_CHARACTERS = 8


class UnsavedText(msgspec.Struct, frozen=True, kw_only=True):
    """The typed text, the version that it was made from, and the process that held it."""

    record: str
    """``memory``, ``crystal`` or the like."""
    record_id: str
    """Empty for a record that is not stored yet."""
    base_version: int
    """The version that the text was made from; 0 for a record that is not stored yet."""
    title: str | None
    tags: tuple[str, ...] | None
    content: str
    at: datetime
    process: int


class UnsavedTextFile:
    """One text that is being typed. It has a file in the data directory's drafts as soon as something was typed."""

    def __init__(self, paths: DataPaths, record: str, record_id: str, base_version: int) -> None:
        self._paths = paths
        self.record = record
        self.record_id = record_id
        self.base_version = base_version
        self.path = paths.typed_text(new_id())

    def keep(self, title: str | None, tags: Sequence[str] | None, content: str) -> None:
        """Save the present contents of the fields, so that they survive the process. Raises `DataDirectoryError`."""
        kept = UnsavedText(
            record=self.record,
            record_id=self.record_id,
            base_version=self.base_version,
            title=title,
            tags=None if tags is None else tuple(tags),
            content=content,
            at=clock.now(),
            process=os.getpid(),
        )
        try:
            _make_drafts_folder(self._paths)
            # Private, because the text may be confidential; renamed, so that no half of it is ever found.
            replace_file(self.path, msgspec.json.encode(kept))
        except OSError as error:
            raise DataDirectoryError(
                f"What you type cannot be kept: {error.strerror} ({self.path}).", "Save it soon; check the disk."
            ) from error

    def discard(self) -> None:
        """Remove the file: the text is stored, or the person does not want it. Raises `DataDirectoryError`."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise DataDirectoryError(
                f"What was typed cannot be removed from {self.path}: {error.strerror}.",
                "Check the directory and its disk.",
            ) from error


def find_unsaved_texts(paths: DataPaths, before: datetime | None = None) -> list[tuple[Path, UnsavedText]]:
    """Return the texts that were being typed when their process ended, newest first, each with its file.

    Those of this process count where they were typed ``before`` a moment: it went to another workspace since. A file
    that cannot be read is left where it is.
    """
    found = [
        (path, kept)
        for path, kept in _all_unsaved_texts(paths)
        if not is_process_alive(kept.process)
        or (before is not None and kept.process == os.getpid() and kept.at < before)
    ]
    return sorted(found, key=lambda one: one[1].at, reverse=True)


def discard_unsaved_text(paths: DataPaths, record_id: str) -> None:
    """Remove the text that was typed over one record, because every trace of the record must go."""
    for path, kept in _all_unsaved_texts(paths):
        if kept.record_id == record_id:
            path.unlink(missing_ok=True)


def discard_drafts_containing(paths: DataPaths, texts: Sequence[str]) -> None:
    """Remove every file of the drafts that holds a line of one of the texts, because every trace of them is to go.

    Lines of a few letters are everywhere and tell nothing.
    """
    lines = {
        line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > _MIN_MATCHED_CHARACTERS
    }
    for path in paths.drafts.glob("*") if lines else ():
        try:
            kept = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix == ".json":
                kept = "\n".join(_strings(msgspec.json.decode(kept)))
        except (OSError, msgspec.DecodeError):
            continue
        if any(line in kept for line in lines):
            path.unlink(missing_ok=True)


def _strings(value: object) -> Iterator[str]:
    """Yield every text in a JSON value; a form's fields are kept as JSON within one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _all_unsaved_texts(paths: DataPaths) -> Iterator[tuple[Path, UnsavedText]]:
    for path in paths.typed_texts():
        try:
            yield path, msgspec.json.decode(path.read_bytes(), type=UnsavedText)
        except (OSError, msgspec.DecodeError):
            continue
