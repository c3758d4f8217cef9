"""Which note a link means: notes are named by path, by file name, by title or by alias, as their writers do."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from memento_tui.interchange.note import text_of, texts_of

__all__ = ["Targets"]

_SUFFIX = ".md"


class Targets:
    """The notes that links can mean, each with its key (its path), and the other names that it goes by."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._by_path: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}

    def add(self, key: str, names: Iterable[str] = ()) -> None:
        """Let links mean the note ``key``, by its path, its file name or one of ``names`` (title, aliases)."""
        self._keys.add(key)
        self._by_path.setdefault(_bare(posixpath.basename(key)), []).append(key)
        for name in names:
            if name.strip():
                self._by_name.setdefault(name.strip().casefold(), []).append(key)

    def take(self, key: str, title: str, properties: Mapping[str, Any]) -> None:
        """Let links mean a note that was read, by its title and by the names in its properties as well."""
        names = [
            *texts_of(properties.get("aliases")),
            *texts_of(properties.get("alias")),
            text_of(properties.get("name")),
        ]
        self.add(key, [title, *names])

    def resolve(self, written: str, source: str = "") -> str | None:
        """Return the key that a link written in the note ``source`` means, or ``None``.

        In this order: the key itself; the path from the folder of ``source``; a path that ends so (the fewest folders
        first, those of ``source`` before all others); a title or alias. Case does not matter but for a key.
        """
        if written in self._keys:
            return written
        path = _bare(written.lstrip("/"))
        beside = _bare(posixpath.normpath(posixpath.join(posixpath.dirname(source), written)))
        candidates = self._by_path.get(posixpath.basename(path), [])
        ending = [key for key in candidates if f"/{_bare(key)}".endswith(f"/{path}")]
        near = [key for key in candidates if _bare(key) == beside]
        named = self._by_name.get(written.strip().casefold(), [])
        folder = posixpath.dirname(source)
        for found in (near, ending, named):
            if found:
                return min(found, key=lambda key: (posixpath.dirname(key) != folder, key.count("/"), key))
        return None


def _bare(path: str) -> str:
    return path.casefold().removesuffix(_SUFFIX)
