"""The line in which tags are typed: its effect on the tags of memories, and its completion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memento_tui.api.query_completion import QueryHelper, Suggestions, suggest
from memento_tui.model.validation import fold_tag

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.types import MemorySummary

__all__ = ["TagCompleter", "parse_tag_changes"]


class TagChanges(NamedTuple):
    """Tags as a person typed them: listed without a sign, to be added, to be removed."""

    listed: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def applied_to(self, tags: Sequence[str], *, listed: bool) -> list[str]:
        """Return the tags after the changes. With ``listed`` those without a sign are all that is kept, else more."""
        if listed and (self.listed or not any(self)):
            kept: Sequence[str] = self.listed
        else:
            kept = (*tags, *self.listed)
        gone = set(map(fold_tag, self.removed))
        return [tag for tag in dict.fromkeys((*kept, *self.added)) if fold_tag(tag) not in gone]


def parse_tag_changes(text: str) -> TagChanges:
    """Return the tags that a text names: with commas between, or with + and - in front of each word."""
    words = [word for word in text.replace(",", " ").split() if word.strip("#+-")]
    if not any(word[0] in "+-" for word in words):
        names = (name.strip().lstrip("#").strip() for name in text.split(","))
        return TagChanges(tuple(name for name in names if name.strip("+-# ")), (), ())
    by_sign: dict[str, list[str]] = {"": [], "+": [], "-": []}
    for word in words:
        sign = word[0] if word[0] in "+-" else ""
        by_sign[sign].append(word.removeprefix(sign).lstrip("#"))
    return TagChanges(*map(tuple, by_sign.values()))


class TagCompleter:
    """Completes the tags that are typed for some memories; one to be removed, from those that they have."""

    def __init__(self, workspace: Workspace, rows: Sequence[MemorySummary]) -> None:
        self._helper = QueryHelper(workspace)
        self._present = list(dict.fromkeys(tag for row in rows for tag in row.tags))

    def complete(self, line: str, cursor: int) -> Suggestions:
        """Return the tags that may stand at the cursor, most used first. Called on threads."""
        before = line[:cursor]
        is_signed = any(word[0] in "+-" for word in before.replace(",", " ").split())
        part = before.replace(",", " ").rpartition(" ")[2] if is_signed else before.rpartition(",")[2].lstrip()
        sign = part[:1] if is_signed and part[:1] in ("+", "-") else ""
        typed = part.removeprefix(sign).lstrip("#")
        if not (typed or sign):
            return Suggestions()
        named = {fold_tag(tag) for tags in parse_tag_changes(before[: cursor - len(part)]) for tag in tags}
        known = [(tag, "") for tag in self._present] if sign == "-" else self._helper.values("tag")
        # Between words with signs a space is the end of a tag.
        fitting = [one for one in known if fold_tag(one[0]) not in named and not (is_signed and " " in one[0])]
        found = suggest(cursor - len(typed), typed, fitting, write=str)
        return found if is_signed else found._replace(behind=", ")
