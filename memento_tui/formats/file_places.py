"""Define where a section stands in files of instructions, which is kept in its memory's ``extra``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.formats import cursor_rules
from memento_tui.formats.cursor_rules import RuleKind
from memento_tui.model import Memory

__all__ = ["EXTRA_KEY", "FilePlace", "is_file_name", "places_of", "with_places"]

EXTRA_KEY = "agents_file"
"""The part of ``extra`` that holds the places."""


class FilePlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a section in a file, and the data of it that is kept beside its text."""

    path: str = ""
    place: int = 0
    """The number of the section in its file, counted from 0."""
    before: str = ""
    after: str = ""
    digest: str = ""
    """The digest of the whole file, so that a change anywhere in it updates the place of every section."""
    title: str = ""
    """The title of a rule whose frontmatter gives none."""
    rules: str = ""
    """The folder of a host's rules in which the file lies, where ``path`` begins below it."""
    also: tuple[FilePlace, ...] = ()
    """The places of the same section in other files of the project."""

    @property
    def rule_kind(self) -> RuleKind | None:
        """The kind of the rule that it is, which is a file of its own; ``None`` for a section."""
        return cursor_rules.rule_kind(f"{self.rules}/{self.path}")


def places_of(extra: Mapping[str, Any]) -> tuple[FilePlace, ...]:
    """Return the places of a section, checked, because agents write to the database; none where one is not usable."""
    try:
        kept = msgspec.convert(extra.get(EXTRA_KEY), FilePlace)
    except msgspec.ValidationError:
        return ()
    places = (msgspec.structs.replace(kept, also=()), *kept.also)
    return places if all(_is_safe(place.path) for place in places) else ()


def with_places(memory: Memory, places: Sequence[FilePlace]) -> Memory:
    """Return a memory with these places, and no other."""
    extra = {name: value for name, value in memory.extra.items() if name != EXTRA_KEY}
    if places:
        extra[EXTRA_KEY] = msgspec.to_builtins(msgspec.structs.replace(places[0], also=tuple(places[1:])))
    return msgspec.structs.replace(memory, extra=extra)


def is_file_name(name: str) -> bool:
    """Tell whether a file of this name may hold instructions."""
    return name.lower().endswith((".md", cursor_rules.CURSOR.suffix)) or name in cursor_rules.SINGLE_FILES


def _is_safe(path: str) -> bool:
    names = PurePosixPath(path).parts
    is_inside = names and ".." not in names and not path.startswith("/") and is_file_name(names[-1])
    return bool(is_inside) and path.isprintable()
