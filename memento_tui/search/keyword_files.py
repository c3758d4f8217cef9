"""Look into the files of the keyword index, hold them against their checksums and the database, and copy them.

Tantivy marks a document as deleted and keeps its words until the segment happens to be merged. Its searcher does not
say which segment a deleted document is in, so each segment is opened as an index of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from memento_tui.encryption import directory_mark
from memento_tui.errors import DataDirectoryError
from memento_tui.model import Memory
from memento_tui.paths import DataPaths
from memento_tui.processes import is_process_alive
from memento_tui.search.keyword_fields import STATE_ID, context_fact
from memento_tui.search.lance_filter import microseconds
from memento_tui.storage.store import Store
from memento_tui.text.quantities import count_of
from memento_tui.text.terms import terms

__all__ = ["LOOKED_UP", "copy_index", "damaged_files", "ids_beside", "index_differences", "remove_copies"]

LOOKED_UP = (".term", ".idx")
"""The files that a word is looked up in: where one of them is damaged, a search finds nothing and says nothing."""

_META_FILE = "meta.json"
_SEGMENT_FILE = re.compile(r"[0-9a-f]{32}(\.\d+)?\.\w+")
_CHECKSUM = re.compile(rb'"crc":(\d+)\}$')
_LENGTH_BYTES, _MAGIC = 4, (1337).to_bytes(4, "little")
"""A file of Tantivy ends with a checksum in JSON, the length of that, and this number; each of four bytes."""

_MOST_SAMPLED = 200
"""Memories whose words are looked up one by one."""

_SAMPLED_WORDS = 8
"""Words of each of them, from its beginning."""

_Must = tantivy.Occur.Must


def damaged_files(directory: Path, *, endings: Collection[str] = (), sound: set[str] | None = None) -> list[str]:
    """Return the names of an index's files that do not fit their checksums.

    A file of a segment that the index does not name is none of it: a program that was killed left it half written.
    ``endings`` limits them. Those in ``sound`` are passed over, and those that are in order are added to it: a file of
    a segment is written once.
    """
    damaged = []
    named = _named_segments(directory)
    for file in sorted(directory.iterdir()) if directory.is_dir() else ():
        is_named = _SEGMENT_FILE.fullmatch(file.name) and (named is None or file.name.partition(".")[0] in named)
        is_wanted = is_named and (not endings or file.suffix in endings)
        if not is_wanted or (sound is not None and file.name in sound):
            continue
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            continue  # replaced by a merge meanwhile
        if not _is_sound(content):
            damaged.append(file.name)
        elif sound is not None:
            sound.add(file.name)
    return damaged


def _named_segments(directory: Path) -> set[str] | None:
    """Return the segments that an index consists of, or ``None`` where it does not say."""
    try:
        stated = json.loads((directory / _META_FILE).read_bytes())
        return {segment["segment_id"].replace("-", "") for segment in stated["segments"]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # damaged itself: opening the index says so


def _is_sound(content: bytes) -> bool:
    end = len(content) - _LENGTH_BYTES - len(_MAGIC)
    length = int.from_bytes(content[end : end + _LENGTH_BYTES], "little")
    body, footer = content[: end - length], content[end - length : end]
    stated = _CHECKSUM.search(footer)
    return content.endswith(_MAGIC) and stated is not None and int(stated[1]) == zlib.crc32(body)


def index_differences(searcher: tantivy.Searcher, schema: tantivy.Schema, store: Store) -> Iterator[str]:
    """Yield in words how an index that is up to date differs from the database: ids, and a sample of versions."""
    everything = searcher.search(tantivy.Query.all_query(), limit=max(1, searcher.num_docs), count=False).hits
    indexed = [str(searcher.doc(address)["id"][0]) for _, address in everything]
    held = set(indexed) - {STATE_ID}
    sampled: list[Memory] = []
    known: set[str] = set()
    step = max(1, store.memories.count_all() // _MOST_SAMPLED)
    for batch in store.memories.batches():
        sampled += [memory for place, memory in enumerate(batch, len(known)) if place % step == 0]
        known.update(memory.id for memory in batch)
    if missing := known - held:
        yield f"{count_of(len(missing), 'memory is missing', 'memories are missing')}, such as {min(missing)}"
    if surplus := held - known:
        there = count_of(len(surplus), "memory is in it that does not exist", "memories are in it that do not exist")
        yield f"{there}, such as {min(surplus)}"
    if len(indexed) != len(set(indexed)):
        yield "some memories are in it twice"
    outdated = [memory.id for memory in sampled if memory.id in held and not _is_current(searcher, schema, memory)]
    if outdated:
        yield f"{len(outdated):,} of {len(sampled):,} sampled memories are not as they are now, such as {outdated[0]}"


def _is_current(searcher: tantivy.Searcher, schema: tantivy.Schema, memory: Memory) -> bool:
    """Tell whether a memory is found by when it was changed and by its first words."""
    moment = microseconds(memory.updated_at)
    parts = [
        tantivy.Query.term_query(schema, "id", memory.id, "basic"),
        tantivy.Query.range_query(schema, "updated_at", tantivy.FieldType.Integer, moment, moment, include_upper=True),
        *(tantivy.Query.term_query(schema, "body", stem, "freq") for stem in terms(memory.content)[:_SAMPLED_WORDS]),
    ]
    query = tantivy.Query.boolean_query([(_Must, part) for part in parts])
    return bool(searcher.search(query, limit=1, count=False).hits)


def ids_beside(directory: Path, ids: Sequence[str]) -> list[str] | None:
    """Return the ids of the memories in the segments that hold any version of ``ids``; ``None`` if there is no such.

    A memory whose context has their words counts as one of them.

    The caller holds the lock of the index.

    Raises:
        OSError, ValueError: the index was changed meanwhile, or is damaged.

    """
    meta = msgspec.json.decode((directory / _META_FILE).read_bytes())
    found: list[str] | None = None
    for segment in meta["segments"]:
        with _opened_alone(directory, meta, segment) as index:
            searcher = index.searcher()
            if any(searcher.doc_freq("id", name) or searcher.doc_freq("fact", context_fact(name)) for name in ids):
                hits = searcher.search(tantivy.Query.all_query(), limit=max(1, searcher.num_docs), count=False).hits
                found = [*(found or ()), *(str(searcher.doc(address)["id"][0]) for _, address in hits)]
    return found


@contextmanager
def _opened_alone(directory: Path, meta: dict[str, Any], segment: dict[str, Any]) -> Iterator[tantivy.Index]:
    """Open one segment as an index, of links to its files."""
    name = str(segment["segment_id"]).replace("-", "")
    with tempfile.TemporaryDirectory(prefix="segment-", dir=directory.parent) as folder:
        for file in directory.glob(f"{name}.*"):
            os.link(file, Path(folder) / file.name)
        (Path(folder) / _META_FILE).write_bytes(msgspec.json.encode({**meta, "segments": [segment]}))
        index = tantivy.Index.open(folder)
        # A reader that follows commits takes the removal of the folder for one, and writes a lock into it meanwhile.
        index.config_reader("manual")
        yield index


_ATTEMPTS = 3
"""How often the files are copied anew because another program replaced some meanwhile."""

_PREFIX = "memento-read-only-"


def copy_index(owner: object, paths: DataPaths) -> Path:
    """Return a temporary data directory with a copy of the keyword index; it goes when ``owner`` does.

    It lies in memory where the workspace is encrypted. Where there is no index, or it is being replaced, the copy has
    none, and is built by the search. Copies of programs that were killed are removed: they hold what memories say.

    Raises:
        DataDirectoryError: there is no place for temporary files.

    """
    try:
        folder = paths.temporary_folder()
        _remove_left_copies(folder)
        root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-{directory_mark(paths.root)}-", dir=folder))
    except OSError as error:
        raise DataDirectoryError(
            f"The keyword index cannot be copied to where temporary files are: {error.strerror}.",
            "Free some space there, or name another folder with TMPDIR.",
        ) from error
    weakref.finalize(owner, shutil.rmtree, root, ignore_errors=True)
    copy = DataPaths(root).keyword_index
    for _ in range(_ATTEMPTS):
        try:
            shutil.copytree(paths.keyword_index, copy)
        except (FileNotFoundError, shutil.Error):
            shutil.rmtree(copy, ignore_errors=True)
        else:
            break
    return root


def remove_copies(paths: DataPaths) -> list[int]:
    """Remove from the disk the copies whose programs ended; return the processes that hold one of this directory."""
    folder = Path(tempfile.gettempdir())
    _remove_left_copies(folder)
    copies = folder.glob(f"{_PREFIX}*-{directory_mark(paths.root)}-*")
    return sorted(made_by for path in copies if (made_by := _maker(path)))


def _remove_left_copies(folder: Path) -> None:
    for path in folder.glob(f"{_PREFIX}*"):
        if (made_by := _maker(path)) and not is_process_alive(made_by):
            shutil.rmtree(path, ignore_errors=True)


def _maker(copy: Path) -> int:
    """Return the process that made a copy; 0 where it is another user's, or none at all."""
    named = re.match(rf"{_PREFIX}(\d+)-", copy.name)
    return int(named[1]) if named is not None and copy.lstat().st_uid == os.geteuid() else 0
