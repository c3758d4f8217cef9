"""Complete a query while it is typed, and forgive a typing error in it, from the values that the memories have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memento_tui import clock
from memento_tui.model.filters import AllOf
from memento_tui.model.memory import SOURCE_TYPES, STABILITIES, STATUSES, TIERS
from memento_tui.model.memory_fields import FIELDS as MEMORY_FIELDS
from memento_tui.search.query_language import (
    FIELDS,
    FieldToken,
    field_tokens,
    meant_field,
    parse,
    written_field,
    written_value,
)
from memento_tui.text.near_names import folded, nearest_name

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace

__all__ = ["MAX_SUGGESTIONS", "ForgivenQuery", "QueryHelper", "Suggestion", "Suggestions", "suggest"]

MAX_SUGGESTIONS = 6
"""Suggestions that are made at once: more are not read while one types."""

_MAX_TAGS_KNOWN = 5_000
_LEAST_LIKENESS = 0.7
"""The likeness of two values (0 to 1, that of difflib) from which on one counts as the other misspelled."""

_SHORTEST_BEGINNING = 3
"""Letters from which on a value that none has counts as the beginning of one that some have."""

_SHORTEST_FIELD = 2
"""Letters from which on a word may be the beginning of a field: each single letter begins one."""


class Suggestion(NamedTuple):
    """A text that may stand where the cursor is, and a few words about it. Neither need be safe to show."""

    text: str
    note: str = ""


class Suggestions(NamedTuple):
    """The suggestions for the part of a line from ``start`` to ``end``, best first."""

    start: int = 0
    end: int = 0
    options: tuple[Suggestion, ...] = ()
    behind: str = " "
    """The text that follows a complete suggestion in the line."""

    def applied_to(self, line: str, option: Suggestion) -> tuple[str, int]:
        """Return the line with a suggestion in the part's place, and the place of the cursor behind it."""
        rest = line[self.end :]
        # What ends in a colon goes on with a value, and a folder with what lies in it; anything else is complete.
        is_followed = option.text.endswith((":", "/")) or rest.startswith((" ", ","))
        text = option.text if is_followed else f"{option.text}{self.behind}"
        return line[: self.start] + text + rest, self.start + len(text)


def suggest(
    start: int, typed: str, known: Iterable[tuple[str, str]], *, write: Callable[[str], str] = written_value
) -> Suggestions:
    """Return the known values, each with a note, that begin with the typed text, then those that hold it.

    ``write`` returns a value as it stands in the line: by default as a query has it.
    """
    sought = folded(typed)
    values = [(text, note) for text, note in known if sought in folded(text)]
    begun = [value for value in values if folded(value[0]).startswith(sought)]
    values = begun + [value for value in values if not folded(value[0]).startswith(sought)]
    if [text for text, _ in values] == [typed]:
        return Suggestions()
    options = tuple(Suggestion(write(text), note) for text, note in values[:MAX_SUGGESTIONS])
    return Suggestions(start, start + len(typed), options)


def complete_filter(line: str, cursor: int, fields: Mapping[str, Iterable[tuple[str, str]]]) -> Suggestions:
    """Return completions at the cursor of a filter: names of fields, or values of the typed field.

    ``fields`` has the values of each field, each with a note; those under an empty name are words that stand alone.
    """
    begin = line.rfind(" ", 0, cursor) + 1
    name, colon, value = line[begin:cursor].partition(":")
    if colon:
        return suggest(begin + len(name) + 1, value, fields.get(name.lower(), ()))
    names = [(f"{field}:", "") for field in fields if field]
    return suggest(begin, name, [*names, *fields.get("", ())]) if name else Suggestions()


_PARTIAL = re.compile(r'(?:^|(?<=\s))-?(?:(?P<field>[A-Za-z]+):)?(?P<typed>(?:"[^"]*",|[^\s",]*,)*[^\s",]*)\Z')

_FIELD_ALONE = re.compile(rf"(?:^|(?<=\s))-?(?:{'|'.join(FIELDS)}):\Z", re.IGNORECASE)

_CHOICES = {field.query.name: field.choices for field in MEMORY_FIELDS if field.query and field.choices}

_WORDS: dict[str, Sequence[str]] = {
    **_CHOICES,
    "is": ("pinned", "untagged", "tagged", "expired", *STABILITIES, *SOURCE_TYPES, *TIERS, *STATUSES),
    "by": SOURCE_TYPES,
    "certainty": (">=4", "<=2", "1", "2", "3", "4", "5"),
    "confidence": (">=.8", ">=.6", "<.4"),
    "surprise": (">=.7", "<.3"),
    "valid": ("now", "past", "future"),
    "expires": ("<7d", "<30d", "never"),
    "after": ("1d", "7d", "30d", "90d"),
    "before": ("7d", "30d", "90d", "1y"),
    "at": ("30d", "90d", "1y"),
}
"""Values that may stand behind a field whatever the memories say; where these are all there are, the order to offer."""

_OPEN_FIELDS = ("tag", "ns", "by")
"""The fields whose values the person and the agents make up."""

_CLOSED_FIELDS = (*_CHOICES, "is")
"""The fields that take no other words than those of `_WORDS`."""


_MAX_TITLE_CHARACTERS = 28
"""Characters of a title that stand behind an id."""


class ForgivenQuery(NamedTuple):
    """A query as it was probably meant, and a sentence for each part that was read otherwise or that nothing has."""

    source: str
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The sentences as one text."""
        return " ".join(self.notes)


class QueryHelper:
    """Completes and forgives queries on one workspace. Its answers read the memories, so a screen asks on a thread.

    Values are read once, until `forget` is called.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counted: dict[str, dict[str, int]] = {}
        self._used: dict[str, bool] = {}

    def forget(self) -> None:
        """Read the values again when they are needed next."""
        self._counted.clear()
        self._used.clear()

    def complete(self, line: str, cursor: int) -> Suggestions:
        """Return completions at the cursor: fields for the beginning of a word, values after a field."""
        before = line[:cursor]
        partial = None if before.count('"') % 2 else _PARTIAL.search(before)
        if partial is None:
            return Suggestions()
        field, typed = partial["field"], partial["typed"]
        if field is None:
            known = [(f"{name}:", FIELDS[name].partition(", ")[0]) for name in FIELDS if name.startswith(typed)]
            found = suggest(partial.start("typed"), typed, known) if len(typed) >= _SHORTEST_FIELD else Suggestions()
        elif field.lower() in FIELDS:
            last = typed.rpartition(",")[2]
            found = suggest(cursor - len(last), last, self.values(field.lower()))
        else:
            found = Suggestions()
        return found

    def complete_memory(self, start: int, typed: str) -> Suggestions:
        """Return the ids of the memories that a word finds, best first, each with the beginning of its title."""
        if not typed:
            return Suggestions()
        found = self._workspace.search_engine.search(
            typed, mode="keyword", limit=MAX_SUGGESTIONS, now=clock.now(), typing=True
        )
        options = [Suggestion(hit.id, hit.memory.headline[:_MAX_TITLE_CHARACTERS]) for hit in found.results]
        return Suggestions(start, start + len(typed), tuple(options))

    def values(self, field: str) -> list[tuple[str, str]]:
        """Return the values that may stand behind a field with how many memories have each, most first."""
        counted = self._counts(field)
        words = [word for word in dict.fromkeys(_WORDS.get(field, ())) if word not in counted]
        return [*((value, f"{count:,}") for value, count in counted.items()), *((word, "") for word in words)]

    def _counts(self, field: str) -> dict[str, int]:
        if field not in self._counted:
            self._counted[field] = dict(self._count(field))
        return self._counted[field]

    def _count(self, field: str) -> Sequence[tuple[str, int]]:
        workspace = self._workspace
        match field:
            case "tag":
                return workspace.tags(_MAX_TAGS_KNOWN)
            case "ns":
                return _with_parents(workspace.facet_counts("namespace"))
            case "kind":
                return workspace.facet_counts("kind")
            case "tier":
                return workspace.facet_counts("tier")
            case "by":
                return [*workspace.facet_counts("agent"), *workspace.facet_counts("source_type")]
        return ()

    def forgive(self, source: str, *, typing: bool = False) -> ForgivenQuery:
        """Return a query with misspelled fields and values replaced by the nearest existing ones.

        While ``typing``, the part at the end may go on: it is left as it is, and left out where it is no value yet.
        """
        made, notes, end = "", [], 0
        if typing:
            source = _FIELD_ALONE.sub("", source)
        for token in field_tokens(source):
            field = token.field if token.field in FIELDS else meant_field(token.field)
            meant = token._replace(field=field or token.field)
            is_unfinished = typing and token.end == len(source)
            if meant.field != token.field:
                is_shown = not is_unfinished or self._is_shown(meant)
                runs = f"showing {field}:" if is_shown else f"{field}: is meant, and left out until its value is whole"
                notes.append(f"There is no field {token.field:.60}:; {runs}.")
            if is_unfinished:
                source = self._unfinished(source, meant)
                break
            if field not in FIELDS or not token.values:
                continue
            values = [self._forgive_value(field, value, notes) for value in token.values]
            made += source[end : token.start] + token.sign + written_field(field, *values)
            end = token.end
        return ForgivenQuery(made + source[end:], tuple(notes))

    def _unfinished(self, source: str, token: FieldToken) -> str:
        """Return a query that ends in a field that is being typed, its name put right; without it as it is no value."""
        before = source[: token.start]
        if not self._is_whole(token):
            return before
        is_known = token.field in FIELDS and token.values
        return before + token.sign + written_field(token.field, *token.values) if is_known else source

    def _is_shown(self, token: FieldToken) -> bool:
        """Return whether a field that is being typed has a value already by which something is found."""
        part = written_field(token.field, *token.values)
        return bool(token.values) and self._is_whole(token) and not parse(part, typing=True).problems

    def _is_whole(self, token: FieldToken) -> bool:
        """Return whether a part says something as it stands, and is not merely the beginning of a value."""
        if token.field not in _OPEN_FIELDS or not token.values:
            return True
        last = folded(token.values[-1])
        return self._is_used(token.field, token.values[-1]) or not any(
            folded(name).startswith(last) for name in self._counts(token.field)
        )

    def _forgive_value(self, field: str, value: str, notes: list[str]) -> str:
        """Return the value that was probably meant, and note where it is another or where no memory has it."""
        if field in _CLOSED_FIELDS:
            known: Iterable[str] = _WORDS[field]
            if not parse(written_field(field, value)).error:
                return value
        elif field not in _OPEN_FIELDS or self._is_used(field, value):
            return value
        else:
            known = self._counts(field)
        by_folded = {folded(name): name for name in known}
        sought = folded(value).strip("#/")
        begun = [name for name in by_folded if name.startswith(sought)] if len(sought) >= _SHORTEST_BEGINNING else []
        near = begun[0] if begun else nearest_name(sought, by_folded, _LEAST_LIKENESS)
        if near:
            notes.append(f"There is no {field}:{value:.60}; showing {field}:{by_folded[near]:.60}.")
            return by_folded[near]
        if field in _OPEN_FIELDS:
            notes.append(f"No memory has {field}:{value:.60}.")
        return value

    def _is_used(self, field: str, value: str) -> bool:
        """Return whether any memory, a deleted one too, has the value."""
        text = written_field(field, value)
        if text not in self._used:
            query = parse(text)
            self._used[text] = bool(query.problems) or self._workspace.count(AllOf((query.filter,))) > 0
        return self._used[text]


def _with_parents(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return namespaces and those above them, each with how many memories lie in it and below."""
    totals: dict[str, int] = {}
    for namespace, count in counted:
        parts = namespace.split("/")
        for depth in range(len(parts)):
            name = "/".join(parts[: depth + 1])
            totals[name] = totals.get(name, 0) + count
    return sorted(totals.items(), key=lambda total: (-total[1], total[0]))
