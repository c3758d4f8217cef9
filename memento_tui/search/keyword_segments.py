"""Look into single segments of a Tantivy index: which of them hold anything of a memory, a deleted version too.

Tantivy marks a document as deleted and keeps its words until the segment happens to be merged. Its searcher does not
say which segment a deleted document is in, so each segment is opened as an index of its own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import tantivy

from memento_tui.search.keyword_fields import context_fact

__all__ = ["ids_beside"]

_META = "meta.json"


def ids_beside(directory: Path, ids: Sequence[str]) -> list[str] | None:
    """Return the ids of the memories in the segments that hold any version of ``ids``; ``None`` if there is no such.

    A memory whose context has their words counts as one of them.

    The caller holds the lock of the index.

    Raises:
        OSError, ValueError: the index was changed meanwhile, or is damaged.

    """
    meta = msgspec.json.decode((directory / _META).read_bytes())
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
        (Path(folder) / _META).write_bytes(msgspec.json.encode({**meta, "segments": [segment]}))
        index = tantivy.Index.open(folder)
        # A reader that follows commits takes the removal of the folder for one, and writes a lock into it meanwhile.
        index.config_reader("manual")
        yield index
