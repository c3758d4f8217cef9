"""Find and load engram's files: a manifest and compressed chunks, read within a size limit."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.formats.base import Refused
from memento_tui.formats.source_files import GZIP_MAGIC, SourceFile, load_file, open_source, walk_files

__all__ = [
    "CHUNK_SUFFIX",
    "FOLDER",
    "MANIFEST",
    "Chunk",
    "count_listed",
    "find_chunks",
    "find_home",
    "is_home",
    "load_chunk",
]

FOLDER = ".engram"
MANIFEST = "manifest.json"
CHUNK_SUFFIX = ".jsonl.gz"

_MAX_CHUNK_BYTES = 64 * 1024 * 1024
"""Bytes of a chunk when it is unpacked; the largest seen have one million. More is made to fill memory."""

_MAX_MANIFEST_BYTES = 16 * 1024 * 1024
_COUNT_NAMES = ("sessions", "memories", "prompts")


class Chunk(msgspec.Struct, frozen=True):
    """A chunk, and its entry in the manifest."""

    id: str
    file: SourceFile
    entry: dict[str, Any]
    """Its line of the manifest without the counts, which follow from its content; empty where there is none."""


def find_home(root: Path) -> Path:
    """Return the folder that holds the manifest, which may be the one named or one below it; a file is returned."""
    return root / FOLDER if (root / FOLDER).is_dir() else root


def is_home(path: Path) -> bool:
    """Return whether a folder is, or holds, the folder that engram keeps in a project."""
    home = find_home(path)
    return home.name == FOLDER or ((home / MANIFEST).is_file() and (home / "chunks").is_dir())


def find_chunks(root: Path) -> Iterator[Chunk | Refused]:
    """Yield the chunks in the order of the manifest, then those that it does not name.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    home = find_home(root)
    files: dict[str, SourceFile] = {}
    for source in walk_files(home, CHUNK_SUFFIX):
        if isinstance(source, Refused):
            yield source
        else:
            files[Path(source.name).name.removesuffix(CHUNK_SUFFIX)] = source
    for entry in _manifest(home) if home.is_dir() else ():
        identity = entry.get("id") if isinstance(entry, dict) else entry
        if isinstance(entry, Refused):
            yield entry
        elif not isinstance(identity, str) or identity not in files:
            yield Refused(MANIFEST, 0, f"names the chunk {identity!r:.40}, which is not there")
        else:
            own_entry = {name: value for name, value in entry.items() if name not in _COUNT_NAMES}
            yield Chunk(identity, files.pop(identity), own_entry)
    for identity, file in files.items():
        yield Chunk(identity, file, {"id": identity})


def count_listed(root: Path) -> int:
    """Return how many records the manifest promises."""
    home = find_home(root)
    entries = [entry for entry in _manifest(home) if isinstance(entry, dict)] if home.is_dir() else []
    counts = (entry.get(name) for entry in entries for name in _COUNT_NAMES)
    return sum(count for count in counts if isinstance(count, int) and count > 0)


def _manifest(home: Path) -> list[Any]:
    """Return the manifest's lines as they are, or the reason why there are none."""
    if not (home / MANIFEST).is_file():
        return []
    loaded = load_file(SourceFile(str(home / MANIFEST), MANIFEST), _MAX_MANIFEST_BYTES)
    if isinstance(loaded, Refused):
        return [loaded]
    try:
        manifest = msgspec.json.decode(loaded.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return [Refused(MANIFEST, 0, f"is not whole JSON ({error}); the chunks are read in the order of their names")]
    entries = manifest.get("chunks") if isinstance(manifest, dict) else None
    return entries if isinstance(entries, list) else []


def load_chunk(chunk: Chunk) -> dict[str, Any] | Refused:
    """Return the lists of a chunk, which may be compressed."""
    name = chunk.file.name
    try:
        with open_source(chunk.file) as stream:
            packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            stream.seek(0)
            data = (gzip.GzipFile(fileobj=stream) if packed else stream).read(_MAX_CHUNK_BYTES + 1)
    except EOFError:
        return Refused(name, 0, "is cut off: its compressed data ends too early")
    except (gzip.BadGzipFile, zlib.error) as error:
        return Refused(name, 0, f"is damaged: {error}")
    except OSError as error:
        return Refused(name, 0, f"cannot be read: {error.strerror}")
    if len(data) > _MAX_CHUNK_BYTES:
        return Refused(name, 0, f"unpacks to more than {_MAX_CHUNK_BYTES:,} bytes, which no chunk of engram does")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Refused(name, 1, f"is not whole JSON: {error}")
    return value if isinstance(value, dict) else Refused(name, 1, "is not an object with fields")
