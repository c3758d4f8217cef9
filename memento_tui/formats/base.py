"""Define the records that readers yield, the reports of writers, and the conversion of foreign names to valid ones."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.model import Crystal, Memory, Relation, Skip, WorkingItem
from memento_tui.model.memory import FOREIGN_ID
from memento_tui.model.validation import CONTROL_CHARACTERS, MAX_NAMESPACE_LENGTH, MAX_TAG_LENGTH, MAX_TAGS
from memento_tui.projects import find_project

__all__ = [
    "CONTENT_DIGEST_PART",
    "ENDED_STATUSES",
    "MAX_KIND_LENGTH",
    "MAX_NAME_LENGTH",
    "MEMORY_BANK",
    "ExportRecord",
    "ExportReport",
    "Format",
    "ImportRecord",
    "RecordName",
    "Refused",
    "check_absent",
    "format_iso_moment",
    "namespace_from_parts",
    "one_line",
    "positional_digest",
    "project_of_hidden",
    "project_of_memory_bank",
    "read_existing",
    "replace_if_unchanged",
    "source_digest",
    "text_in",
    "usable_tags",
    "with_id_of_workspace",
    "write_atomically",
    "write_error",
    "write_file",
]

MAX_KIND_LENGTH = 100
"""Characters of a foreign kind that are kept."""
MAX_NAME_LENGTH = 100
"""Characters of a foreign agent, session or label that are kept."""

ENDED_STATUSES = ("deleted", "rejected")
"""The statuses of memories that have no place in the files of other programs."""

MEMORY_BANK = "memory-bank"
"""The folder of a project in which an agent that follows Cline's prompt keeps its notes."""

RecordName = Literal["memory", "skip", "item", "crystal", "relation"]


class ImportRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One record of a source, as plain values that `make_memory` and its siblings take."""

    key: str
    """The name of the record within its source: the same at every reading, and unique among records of its kind."""
    record: RecordName
    fields: dict[str, Any]
    """The record's fields by name; ``id`` is among them only where the source names one."""
    digest: bytes
    """16 bytes over the record as the source writes it: another digest under the same key means that it changed."""
    file: str
    """The file's path within the source, for a person to find it."""
    line: int
    """The line at which the record begins in the file, counted from 1."""
    deleted: bool = False
    """The source says that the record is gone; ``fields`` may then hold no more than its identity."""
    among: str = ""
    """The list in which a mere number identifies the record: the key is this, a dot and the number.
    The reader yields the records of one list one after the other, with a `positional_digest`."""
    signed: bytes = b""
    """The part of the line that `signature` covers; only memento's own format has any."""
    signature: str = ""
    """The signature that the line carries, in hexadecimal digits; whether it is genuine is for the import to find."""
    workspace: str = ""
    """The workspace of the source in which alone its id is unique; empty where ids are unique in the whole source."""
    has_shared_id: bool = False
    """Whether a record of another workspace of the source has the same id."""
    given_id: str = ""
    """The id that the source gives it, where a record of another workspace keeps that."""
    links: tuple[tuple[str, str, str], ...] = ()
    """Relation type, target as the source writes it, and label; the target may not exist."""
    is_placed_by_reader: bool = False
    """Whether the reader chose the namespace by the project that it found. A record that a person moved stays there."""


def with_id_of_workspace(incoming: ImportRecord) -> ImportRecord:
    """Return a record whose id another workspace's record keeps: it is ``id@workspace`` here, and keeps the source's.

    Its key, by which a repeated import knows it, is as it was.
    """
    given = incoming.fields["id"]
    fields = {**incoming.fields, "id": f"{given}@{incoming.workspace}"}
    fields["extra"] = {**fields.get("extra", {}), FOREIGN_ID: given}
    return msgspec.structs.replace(incoming, fields=fields, given_id=given)


class Refused(msgspec.Struct, frozen=True):
    """One thing that could not be read or written, and why. The rest of its source is not affected."""

    file: str
    line: int
    """Counted from 1; 0 where the whole file is meant."""
    reason: str
    """The end of a sentence that begins with the file: ``is not UTF-8``."""


def source_digest(source: bytes) -> bytes:
    """Return the digest of one record's bytes in its source."""
    return hashlib.blake2b(source, digest_size=16).digest()


CONTENT_DIGEST_PART = slice(8)
"""The part of a `positional_digest` that is the same wherever the record stands."""


def positional_digest(content: bytes, kept: bytes) -> bytes:
    """Return the digest of a record that only a number identifies: of its content, then of the data kept beside it."""
    return source_digest(content)[CONTENT_DIGEST_PART] + source_digest(kept)[CONTENT_DIGEST_PART]


ExportRecord: TypeAlias = Memory | Skip | WorkingItem | Crystal | Relation


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    records: int
    """How many records the written files hold."""
    files: int
    """How many files were written; those that held the same bytes already are not counted."""
    left_out: int = 0
    """How many records the format has no place for."""
    refused: tuple[Refused, ...] = ()
    """The files that were not written, and why."""
    notices: tuple[str, ...] = ()
    """Sentences about the written files that a person should read."""


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One import and export format. Each module of a format ends with its own."""

    name: str
    title: str
    """The name that people use."""
    description: str
    read: Callable[[Any], Iterator[ImportRecord | Refused]]
    """Takes a path, or the address of a server where the format is remote."""
    count: Callable[[Any], int]
    """How many files or lines there are to read, for a progress bar."""
    write: Callable[[Iterable[ExportRecord], Any], ExportReport]
    """Takes a place as `read` does."""
    is_own: bool = False
    """Whether it holds records as they are, also the previews that maintenance made of texts."""
    is_remote: bool = False
    """Whether it is on a server, and not in files."""
    is_place: Callable[[Path], bool] | None = None
    """Returns whether a path is known, by the names of files and folders alone, to hold the format."""
    home: Callable[[Path], Path] | None = None
    """Returns the folder that holds the format, where a path may name that or the project that it is in."""
    without_place: Callable[[Memory], Memory] | None = None
    """Returns a memory without the data about its files that only an import of the format may set.

    It returns the memory itself where it holds nothing of that.
    """
    exports_drafts: bool = True
    """Whether a draft of an agent may go where an import of the format put the memory; not where hosts obey files."""
    loses: Callable[[ExportRecord, ExportRecord], Collection[str]] = lambda _written, _read: ()
    """Takes a record that was exported, and the record that was read; returns the fields that may differ only because
    the format has no place for them."""
    is_line: Callable[[Mapping[str, Any]], bool] | None = None
    """Returns whether an object is a line of the format, which then has the suffix ``.jsonl``."""

    def check_place(self, place: Path | str) -> None:
        """Raise `InvalidInput` for a path where the format is remote, or for an address where it is in files."""
        if self.is_remote and isinstance(place, Path):
            raise InvalidInput(f"The format {self.name} is on a server, not in files.", "Give its address, https://...")
        if not self.is_remote and isinstance(place, str):
            raise InvalidInput(f"The format {self.name} is in files, not at {place:.200}.", "Give a path.")


def write_error(path: Path, error: OSError) -> InvalidInput:
    """Return the error for a path that cannot be written."""
    return InvalidInput(f"{path} cannot be written: {error.strerror or error}.", "Choose another place.")


def write_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all. Only its owner may read a new one; one that is replaced keeps its mode.

    Raises:
        OSError: the folder or the file cannot be written.

    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".memento-", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(chunks)
            stream.flush()
            os.fsync(descriptor)
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink()
        raise


def write_file(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file as `write_atomically` does. Raises `InvalidInput` where the system does not let us."""
    try:
        write_atomically(path, chunks)
    except OSError as error:
        raise write_error(path, error) from error


def check_absent(path: Path, advice: str = "Choose another name, or move it away.") -> None:
    """Raise `InvalidInput` if there is something at a path already."""
    if path.exists():
        raise InvalidInput(f"{path} is there already.", advice)


def read_existing(path: Path) -> bytes:
    """Return the bytes of a file; none where it cannot be read, which writing it reports."""
    try:
        return b"" if path.is_symlink() else path.read_bytes()
    except OSError:
        return b""


def replace_if_unchanged(path: Path, top: Path, name: str, data: bytes, digest: str) -> bool | Refused:
    """Write a file below the folder ``top``, unless it changed since it was read; return whether it had to be written.

    ``name`` is its name in a report, and ``digest`` the hexadecimal digest of its bytes when it was read.
    """
    try:
        if path.is_symlink() or not path.parent.resolve().is_relative_to(top.resolve()):
            return Refused(name, 0, "lies behind a link, and is not written")
        if path.exists():
            present = path.read_bytes()
            if present == data:
                return False
            if source_digest(present).hex() != digest:
                return Refused(name, 0, "is there already with another text, and is not replaced; import it first")
        write_atomically(path, [data])
    except OSError as error:
        return Refused(name, 0, f"cannot be written: {error.strerror or error}")
    return True


def text_in(value: Mapping[str, Any], name: str) -> str:
    """Return the text of a source's field, empty where it is none."""
    given = value.get(name)
    return given if isinstance(given, str) else ""


def format_iso_moment(moment: datetime) -> str:
    """Return a moment as JavaScript writes it: ``2026-02-14T10:00:00.000Z``."""
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\\/]+")


def _clean_name(raw: str) -> str:
    name = _FORBIDDEN_IN_NAMES.sub("-", raw).strip()
    return "unnamed" if name in ("", ".", "..") else name


def namespace_from_parts(parts: Iterable[str]) -> str:
    """Return the namespace that folder names spell, as many of them as fit."""
    kept = ""
    for part in parts:
        longer = f"{kept}/{_clean_name(part)}" if kept else _clean_name(part)[:MAX_NAMESPACE_LENGTH].strip()
        if len(longer) > MAX_NAMESPACE_LENGTH:
            break
        kept = longer
    return kept or "global"


def project_of_memory_bank(bank: Path) -> tuple[str, ...]:
    """Return the name of the project that a ``memory-bank`` lies in, and below it the folders of the part of that.

    The project is the one whose sessions hooks serve. In the home directory there is none.
    """
    project = find_project(bank.parent)
    return () if project is None else (project.name, *bank.parent.resolve().relative_to(project.root).parts)


def project_of_hidden(folder: Path) -> str:
    """Return the name of the project whose ``.claude`` or the like a folder is, or nothing.

    A hidden folder of the home directory belongs to no project.
    """
    hidden = folder.parent if folder.name == "memories" else folder
    in_project = hidden.name.startswith(".") and hidden.parent != Path.home().resolve()
    return hidden.parent.name if in_project else ""


def usable_tags(raw: Iterable[str], limit: int = MAX_TAGS) -> tuple[str, ...]:
    """Return the tags that a record may carry, each once, in their order; the others are dropped."""
    kept: dict[str, None] = {}
    for word in raw:
        tag = word.strip()
        if tag and len(tag) <= MAX_TAG_LENGTH and (tag.isprintable() or not CONTROL_CHARACTERS.search(tag)):
            kept[tag] = None
    return tuple(kept)[:limit]


def one_line(text: str, limit: int) -> str:
    """Return the text on one line of at most ``limit`` characters."""
    return " ".join(text.replace("\x00", " ").split())[:limit].strip()
