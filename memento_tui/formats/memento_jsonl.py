"""Read and write memento's own open format: one record a line, with every field."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from memento_tui.formats.base import (
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    RecordName,
    Refused,
    check_absent,
    source_digest,
    write_file,
)
from memento_tui.formats.source_files import JsonLine, SourceFile, count_lines, read_objects, walk_files
from memento_tui.model import Crystal, Memory, Relation, Skip, WorkingItem

__all__ = ["FORMAT", "HEADER_FORMAT", "count", "encode", "read", "write"]

HEADER_FORMAT = "memento-jsonl"
_VERSION = 1
_SUFFIX = ".jsonl"

_RECORDS: Mapping[str, type[ExportRecord]] = {
    "memory": Memory,
    "skip": Skip,
    "item": WorkingItem,
    "crystal": Crystal,
    "relation": Relation,
}
_NAME_OF_RECORD = {record: name for name, record in _RECORDS.items()}
_FIELDS = {name: frozenset(record.__struct_fields__) for name, record in _RECORDS.items()}
_SIGNATURE = re.compile(rb',"signature":"([0-9a-f]{64})"\}\Z')
_KEY_FIELDS = {
    "memory": ("title", "content"),
    "skip": ("item",),
    "item": ("title",),
    "crystal": ("content",),
}
"""The fields that identify a record without an id; the first that is not empty counts."""

_Seen = dict[tuple[str, str], tuple[str, int]]
"""The file and line at which each record and key was first read."""


def count(root: Path) -> int:
    """Return the number of lines, the header's among them."""
    return count_lines(root, _SUFFIX)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the records of one file, or of every ``.jsonl`` file in a folder and below it.

    Fields that a record does not have go into its ``extra``. A second record with the id of an earlier one (or, without
    an id, with its title) is refused.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    seen: _Seen = {}
    for source in walk_files(root, _SUFFIX, hidden=True):
        if isinstance(source, Refused):
            yield source
        else:
            yield from _read_file(source, seen)


def _read_file(file: SourceFile, seen: _Seen) -> Iterator[ImportRecord | Refused]:
    for line in read_objects(file, "record"):
        if isinstance(line, Refused):
            yield line
        elif line.value.get("record") == "header":
            if problem := _header_problem(line.value):
                yield Refused(file.name, line.number, problem)
                return
        else:
            yield _incoming(line, file.name, seen)


def _header_problem(header: Mapping[str, Any]) -> str:
    if header.get("format") != HEADER_FORMAT:
        return f"is of the format {header.get('format')!r:.40}, not {HEADER_FORMAT!r}"
    version = header.get("version")
    if not isinstance(version, int) or version > _VERSION:
        return (
            f"is of version {version!r:.40} of its format, and this memento reads up to {_VERSION}; use a newer memento"
        )
    return ""


def _incoming(line: JsonLine, file: str, seen: _Seen) -> ImportRecord | Refused:
    value = line.value
    record = value.pop("record", None)
    known = _FIELDS.get(record) if isinstance(record, str) else None
    if known is None:
        return Refused(file, line.number, f"has no record that is one of {', '.join(_RECORDS)}")
    deleted = value.pop("deleted", False) is True
    value.pop("signature", None)
    fields = _fields(value, known)
    key = _key(record, fields)
    if not key:
        return Refused(file, line.number, "has neither an id nor a text to know it by")
    if (earlier := seen.get((record, key))) is not None:
        same = "id" if "id" in fields else "text"
        return Refused(file, line.number, f"has the {same} of line {earlier[1]} of {earlier[0]}; give it another")
    seen[record, key] = (file, line.number)
    signature = _SIGNATURE.search(line.source.rstrip())
    return ImportRecord(
        key=key,
        signed=b"" if signature is None else line.source[: signature.start()] + b"}",
        signature="" if signature is None else signature[1].decode(),
        record=cast("RecordName", record),
        fields=fields,
        digest=source_digest(line.source),
        file=file,
        line=line.number,
        deleted=deleted,
    )


def _fields(value: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Move unknown fields into the ``extra`` of a record, where it has one."""
    unknown = value.keys() - known
    if not unknown or "extra" not in known:
        return value
    extra = {name: value.pop(name) for name in list(value) if name in unknown}
    given = value.get("extra", {})
    if isinstance(given, dict):
        value["extra"] = {**extra, **given}
    return value


def _key(record: str, fields: Mapping[str, Any]) -> str:
    identity = fields.get("id")
    if isinstance(identity, str) and identity.strip():
        return identity
    if record == "relation":
        known_by = [str(fields.get(name, "")) for name in ("type", "src", "dst")]
    else:
        texts = (fields.get(name) for name in _KEY_FIELDS[record])
        text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
        known_by = [str(fields.get("namespace", "global")), text] if text else []
    if not any(known_by):
        return ""
    digest = hashlib.blake2b("\x00".join(known_by).encode(), digest_size=8).hexdigest()
    return f"{record}-{digest}"


def encode(records: Iterable[ExportRecord], sign: Callable[[bytes], str] | None = None) -> Iterator[bytes]:
    """Yield the lines of an export in the order of the records, the header first, each with its line break.

    ``sign`` returns a signature of a line, which is put at its end.
    """
    yield msgspec.json.encode({"record": "header", "format": HEADER_FORMAT, "version": _VERSION}) + b"\n"
    for record in records:
        name = _NAME_OF_RECORD[type(record)]
        # A memory's JSON leaves out its first version; a change made by hand in the export is made from just that.
        version = b',"version":1' if isinstance(record, Memory) and record.version == 1 else b""
        line = b'{"record":"%s",%s%s}' % (name.encode(), msgspec.json.encode(record)[1:-1], version)
        yield line + b"\n" if sign is None else b'%s,"signature":"%s"}\n' % (line[:-1], sign(line).encode())


def write(records: Iterable[ExportRecord], root: Path, sign: Callable[[bytes], str] | None = None) -> ExportReport:
    """Write the records to the file ``root``, each line signed by ``sign``.

    Raises:
        InvalidInput: the file is there already, or cannot be written.

    """
    check_absent(root)
    written = 0

    def counted() -> Iterator[bytes]:
        nonlocal written
        for line in encode(records, sign):
            written += 1
            yield line

    write_file(root, counted())
    return ExportReport(records=written - 1, files=1)


FORMAT = Format(
    name="memento",
    title="Export of memento",
    description="memento's own open format: every field of every record, one JSON object a line",
    read=read,
    count=count,
    write=write,
    is_own=True,
    is_line=lambda line: "record" in line,
)
