"""Parse the query language: words, ``"phrases"``, ``-not``, and fields such as ``tag:api certainty:>=4``."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasStem, HasTag, Not, OneOf, Under, valid_at
from memento_tui.model.memory import KINDS, SOURCE_TYPES, parse_kind
from memento_tui.model.memory_fields import FIELDS as MEMORY_FIELDS
from memento_tui.model.memory_fields import FilterKind, MemoryField, hundredths, in_order
from memento_tui.moments import parse_moment, parse_span
from memento_tui.text.near_names import nearest_name

__all__ = [
    "FIELDS",
    "QUERY_HINT",
    "FieldToken",
    "Phrase",
    "Query",
    "Word",
    "field_tokens",
    "meant_field",
    "parse",
    "parse_filter",
    "written_field",
    "written_value",
]

_OWN_FIELDS: dict[str, str] = {
    "tag": 'tag:api, or tag:api,web for either; tag:"data model" with a space or comma in it',
    "ns": "ns:projects/site, and all below it",
    "is": "is:pinned, is:untagged, is:draft, is:verified, is:expired, is:pending, is:external, ...",
    "by": "by:claude, an agent's name; by:user, by:derived, by:external",
    "before": "before:2026-06-01, before:30d (older than 30 days)",
    "after": "after:2026-06-01, after:7d (of the last 7 days)",
    "valid": "valid:now, valid:past, valid:future, valid:>=2026-06-01 (began then or later), valid:<2026-06-01 (ended)",
    "at": "at:2026-03-01 (what held at that time), at:90d",
}
"""The fields of a query that are not one field of a memory each."""

_NAMED_FIELDS = {field.query.name: (field, field.query) for field in MEMORY_FIELDS if field.query}

_ORDER = (
    *("tag", "kind", "ns", "is", "by", "before", "after", "certainty", "confidence", "surprise", "valid", "at"),
    *("applies", "expires", "status", "tier", "session", "id"),
)
"""The order of the help, the most used first; fields that it lacks follow."""

FIELDS: dict[str, str] = {
    name: _OWN_FIELDS.get(name) or _NAMED_FIELDS[name][1].example
    for name in in_order((*_OWN_FIELDS, *_NAMED_FIELDS), _ORDER)
}
"""Every field with an example."""


class Word(msgspec.Struct, frozen=True):
    """A word to search for; ``typing`` marks the last one of a text that is still being typed."""

    text: str
    typing: bool = False


class Phrase(msgspec.Struct, frozen=True):
    """Words to search for in this order, side by side."""

    text: str


Node = Word | Phrase | Filter


class Query(msgspec.Struct, frozen=True):
    """A parsed query: the syntax tree that each index compiles for itself."""

    source: str
    words: tuple[Word | Phrase, ...]
    """The words and phrases searched for. A result may lack a word, which costs it rank, but no phrase."""
    excluded: tuple[Word | Phrase, ...]
    """The words and phrases that a result must not hold."""
    filter: Filter
    problems: tuple[str, ...] = ()
    """One sentence for each part that could not be used."""
    error: str = ""
    """The sentence for which the query as a whole cannot be answered: the rest of it would be another question."""
    unknown: tuple[str, ...] = ()
    """The names before a colon that are no fields; what they begin is searched for as text."""

    @property
    def text(self) -> str:
        """The words and phrases alone, as they are embedded."""
        return " ".join(part.text for part in self.words)

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases that a result must hold."""
        return tuple(part for part in self.words if isinstance(part, Phrase))


_TOKEN = re.compile(
    r"""
    (?P<minus>-)?
    (?: (?P<field>[A-Za-z]+) : (?=\S) (?P<values> (?: "[^"]*"? | [^\s",]* ) (?: , (?: "[^"]*"? | [^\s",]* ) )* )
      | "(?P<phrase>[^"]*)(?P<ended>"?)
      | (?P<word>[^\s]+) )
    """,
    re.VERBOSE,
)
_VALUE = re.compile(r'"([^"]*)"?|([^",]+)')
_LIKE_A_FIELD = re.compile(r"([A-Za-z][A-Za-z_]+):(?![:/\\]|\d{1,5}(?:[/?#]|$))(\S+)")
"""A name and a value; no part of a path, as in ``std::move`` or ``https://x.org``, and no port, as in ``host:80``."""
_UNCLOSED = "A quotation mark is not closed; everything after it was read as one phrase."
_COMPARISON = re.compile(r"(>=|<=|>|<|=)?(.+)")


def parse(source: str, *, now: datetime | None = None, typing: bool = False) -> Query:
    """Parse a query. With ``typing`` its last word may be unfinished, so that it matches as a beginning too."""
    # Halves of surrogate pairs, as a terminal makes of bytes that are not UTF-8, are in no text that is stored.
    source = source.encode("utf-8", "replace").decode("utf-8")
    parser = _QueryParser(now or clock.now())
    tokens = list(_TOKEN.finditer(source))
    for token in tokens:
        last = typing and token is tokens[-1] and token.end() == len(source)
        parser.take(token, typing=last)
    parser.check_something_is_wanted(source, typing=typing)
    parser.note_what_is_no_field()
    return Query(
        source,
        tuple(parser.words),
        tuple(parser.excluded),
        AllOf(tuple(parser.filters)),
        tuple(parser.problems),
        parser.error,
        tuple(parser.unknown),
    )


QUERY_HINT = "`memento search --help` shows what a query may hold."


def parse_filter(source: str, *, now: datetime | None = None) -> Filter:
    """Return the filter of a query, whatever its words. Raises `InvalidInput` where a part of it cannot be used."""
    query = parse(source, now=now)
    if query.error:
        raise InvalidInput(query.error, QUERY_HINT)
    return query.filter


def written_field(field: str, *values: str) -> str:
    """Return the part of a query that asks for any of some values of a field."""
    return f"{field}:{','.join(map(written_value, values))}"


def written_value(value: str) -> str:
    """Return a value as it stands behind a field, in quotation marks where white space or a comma needs them."""
    return f'"{value}"' if re.search(r"[\s,]", value) else value


class FieldToken(NamedTuple):
    """One part of a query that looks like a field with values, and where it stands."""

    start: int
    end: int
    sign: str
    """``-`` where the values are not wanted; else empty."""
    field: str
    """The name before the colon in lower case, whether there is such a field or not."""
    values: tuple[str, ...]


def field_tokens(source: str) -> Iterator[FieldToken]:
    """Yield the parts of a query that look like fields, in their order."""
    for token in _TOKEN.finditer(source):
        if token["field"] and token["values"] != '""' and _is_closed(token["values"]):
            sign = token["minus"] or ""
            yield FieldToken(token.start(), token.end(), sign, token["field"].lower(), _split_values(token["values"]))


def _is_closed(text: str) -> bool:
    return text.count('"') % 2 == 0


def _split_values(text: str) -> tuple[str, ...]:
    """Return the values behind a field: commas stand between them, but for those in quotation marks."""
    values = (quoted or plain for quoted, plain in _VALUE.findall(text))
    return tuple(value.strip() for value in values if value.strip())


class _QueryParser:
    """Collects the parts of a query from its tokens."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.words: list[Word | Phrase] = []
        self.excluded: list[Word | Phrase] = []
        self.filters: list[Filter] = []
        self.problems: list[str] = []
        self.error = ""
        self.unknown: dict[str, str] = {}
        """The unknown fields of the query, by name, which are searched for as text."""

    def note_what_is_no_field(self) -> None:
        """Add one sentence to the problems about unknown fields, which are searched for as text."""
        names = [f"{name:.60}" for name in self.unknown]
        if len(names) == 1:
            (text,) = self.unknown.values()
            self.problems.append(f"There is no field {names[0]}; {text:.60} is read as text.")
        elif names:
            told = ", ".join(names[:_MOST_UNKNOWN_TOLD]) + (", ..." if len(names) > _MOST_UNKNOWN_TOLD else "")
            self.problems.append(f"There are no fields {told}; what looks like them is read as text.")

    def check_something_is_wanted(self, source: str, *, typing: bool) -> None:
        """Note an error where words are to be left out and none is looked for, or where a text holds none at all."""
        if self.excluded and not self.words:
            text = self.excluded[0].text
            self._refuse(f"-{text:.60} only leaves out what is found. Add a word to look for.")
        elif source.strip() and not (self.words or self.filters or self.problems):
            text = source.strip()
            self._refuse(f"{text:.60} holds no word to look for: only letters and digits are searched.", typing=typing)

    def _refuse(self, sentence: str, *, typing: bool = False) -> None:
        """Note a problem that leaves nothing to answer, unless the person is still typing it."""
        self.problems.append(sentence)
        if not typing:
            self.error = self.error or sentence

    def take(self, token: re.Match[str], *, typing: bool) -> None:
        excluded = bool(token["minus"])
        if token["field"] and token["field"].lower() in FIELDS:
            if not _is_closed(token["values"]):
                self.problems.append(_UNCLOSED)
            self._take_field(token["field"].lower(), token["values"], excluded=excluded, typing=typing)
        elif token["field"] and (meant := meant_field(token["field"].lower())) and not typing:
            self._refuse(
                f"There is no field {token['field']:.60}. Did you mean {meant}:, as in {FIELDS[meant]}?"
                f" {_text_itself(token)}"
            )
        elif token["phrase"] is not None:
            if token["ended"] == "":
                self.problems.append(_UNCLOSED)
            self._take_phrase(unicodedata.normalize("NFC", token["phrase"].strip()), excluded=excluded)
        else:
            self._take_word(token, excluded=excluded, typing=typing)

    def _take_phrase(self, text: str, *, excluded: bool) -> None:
        if _holds_a_word(text):
            (self.excluded if excluded else self.words).append(Phrase(text))
        elif text:
            self.problems.append(f'"{text:.60}" was left out: only letters and digits are searched.')

    def _take_word(self, token: re.Match[str], *, excluded: bool, typing: bool) -> None:
        text = unicodedata.normalize("NFC", token[0].lstrip("-") if excluded else token[0])
        text = text.replace('"', " ").strip()
        if not _holds_a_word(text):
            return
        if text.lower().removesuffix(":") in FIELDS and text.endswith(":"):
            example = FIELDS[text[:-1].lower()].partition(", ")[0]
            self._refuse(f"{text} has no value. Write it without a space, as in {example}. {_text_itself(token)}")
            return
        if not typing and (alike := _LIKE_A_FIELD.fullmatch(text)) and _holds_a_word(alike[2]):
            if alike[2][0] in "<>":
                fields = ", ".join(FIELDS)
                self._refuse(f"There is no field {alike[1]:.60}. The fields are {fields}. {_text_itself(token)}")
                return
            self.unknown.setdefault(alike[1], text)
        (self.excluded if excluded else self.words).append(Word(text, typing=typing and not excluded))

    def _take_field(self, field: str, text: str, *, excluded: bool, typing: bool) -> None:
        try:
            parsed = _FIELD_PARSERS[field](_split_values(text), self.now)
        except InvalidField as error:
            self._refuse(f"{field}:{text:.60} cannot be used: {error.reason}.", typing=typing)
            return
        self.filters.append(Not(parsed) if excluded else parsed)


_MOST_UNKNOWN_TOLD = 3
"""Names of no field that one sentence tells; the rest of a text that was pasted has more of them."""


def _text_itself(token: re.Match[str]) -> str:
    """Return how a part of a query is looked for as it stands."""
    text = token[0].lstrip("-").replace('"', "")
    return f'To look for the text itself, put it in quotation marks: "{text:.60}".'


def _holds_a_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


_OTHER_NAMES = {
    "author": "by",
    "created": "after",
    "namespace": "ns",
    "since": "after",
    "type": "kind",
    "until": "before",
}
"""Names that other programs have for the fields."""

_SHORTEST_MISSPELLING, _LEAST_LIKENESS = 2, 0.8
"""Characters of a name, and its likeness to a field's (0 to 1), from which on it counts as that field misspelled."""


def meant_field(name: str) -> str:
    """Return the field that was probably meant by a name that is none; empty where it is like none of them.

    ``name`` is in lower case.
    """
    if name in _OTHER_NAMES:
        return _OTHER_NAMES[name]
    if len(name) < _SHORTEST_MISSPELLING:
        return ""
    meant = nearest_name(name, FIELDS, _LEAST_LIKENESS)
    # So few letters are much else too, unless the first is right.
    return meant if len(name) > _SHORTEST_MISSPELLING or meant[:1] == name[0] else ""


_Values = tuple[str, ...]


def _single(parse_value: Callable[[str, datetime], Filter]) -> Callable[[_Values, datetime], Filter]:
    """Return the parser of a field that takes one value, in which a comma is a character like any other."""
    return lambda values, now: parse_value(",".join(values), now)


def _words(field: MemoryField, name: str) -> Callable[[_Values, datetime], Filter]:
    """Return the parser of a field that equals one of its choices, or any text where it has none."""
    if field.choices:
        return _one_of(field.name, name, field.choices)
    return _literal(field.name, name)


def _one_of(column: str, field: str, known: tuple[str, ...]) -> Callable[[_Values, datetime], Filter]:
    def parse_value(values: _Values, _: datetime) -> Filter:
        names = [part.lower().replace("-", "_") for part in values]
        unknown = [name for name in names if name not in known]
        if unknown or not names:
            raise InvalidField(field, f"it takes {', '.join(known)}")
        return OneOf(column, tuple(names))

    return parse_value


def _kind(values: _Values, _: datetime) -> Filter:
    kinds = []
    for part in values:
        kind, foreign = parse_kind(part.lower())
        if kind == "observation" and foreign:
            raise InvalidField("kind", f"it takes {', '.join(KINDS)}")
        kinds.append(kind)
    if not kinds:
        raise InvalidField("kind", f"it takes {', '.join(KINDS)}")
    return OneOf("kind", tuple(kinds))


def _tag(values: _Values, _: datetime) -> Filter:
    tags = [HasTag(name) for part in values if (name := part.removeprefix("#"))]
    if not tags:
        raise InvalidField("tag", "it takes a tag's name")
    return tags[0] if len(tags) == 1 else AnyOf(tuple(tags))


def _namespace(values: _Values, _: datetime) -> Filter:
    names = [Under(part.strip("/")) for part in values if part.strip("/")]
    if not names:
        raise InvalidField("ns", "it takes a namespace such as projects/site")
    return names[0] if len(names) == 1 else AnyOf(tuple(names))


def _by(values: _Values, now: datetime) -> Filter:
    if len(values) == 1 and values[0].lower() in SOURCE_TYPES:
        return OneOf("source_type", (values[0].lower(),))
    return _literal("agent", "by")(values, now)


def _literal(column: str, field: str) -> Callable[[_Values, datetime], Filter]:
    def parse_value(values: _Values, _: datetime) -> Filter:
        if not values:
            raise InvalidField(field, f"it takes something such as {FIELDS[field]}")
        return OneOf(column, values)

    return parse_value


_QUERY_WORD_FIELDS = [field for field in MEMORY_FIELDS if field.query_words]
"""The fields whose values are words after ``is:``."""


def _is(value: str, now: datetime) -> Filter:
    word = value.lower().replace("-", "_")
    if word in ("pinned", "essential"):
        return OneOf("pinned", ("1",))
    if word in ("tagged", "untagged"):
        tagged = OneOf("tagged", ("1",))
        return tagged if word == "tagged" else Not(tagged)
    if word == "expired":
        return Between("expires_at", None, now)
    for field in _QUERY_WORD_FIELDS:
        if word in field.choices:
            return OneOf(field.name, (word,))
    choices = (word for field in _QUERY_WORD_FIELDS for word in field.choices)
    raise InvalidField("is", f"it takes {', '.join(['pinned', 'untagged', 'expired', *choices])}")


def _past(value: str, field: str, now: datetime) -> datetime:
    span = parse_span(value)
    try:
        return now - span if span is not None else parse_moment(value, field)
    except OverflowError:
        raise InvalidField(field, "no calendar reaches back so far") from None


_NUMBER = re.compile(r"(>=|<=|>|<|=)?(\d{1,9})|(\d{1,9})\.\.(\d{1,9})", re.ASCII)


def _number(field: MemoryField, name: str) -> Callable[[_Values, datetime], Filter]:
    def parse_value(value: str, _: datetime) -> Filter:
        match = _NUMBER.fullmatch(value)
        numbers = [int(digits) for digits in match.group(2, 3, 4) if digits] if match else []
        if match is None or not all(_is_within(field, number) for number in numbers):
            takes = field.expects.replace("whole number", "number")
            raise InvalidField(name, f"it takes {takes}, with >=, <=, > or < before it, or 2..4")
        if match[2]:
            return Between(field.name, *_bounds(match[1] or "=", numbers[0]))
        low, high = numbers
        if low > high:
            raise InvalidField(name, f"{value} has its ends the wrong way round; say {high}..{low}")
        return Between(field.name, low, high + 1)

    return _single(parse_value)


def _is_within(field: MemoryField, number: int) -> bool:
    low, high = field.bounds or (None, None)
    return (low is None or number >= low) and (high is None or number <= high)


_SHARE = re.compile(r"(>=|<=|>|<|=)?(0?\.\d+|[01](?:\.\d*)?)")


def _share(field: MemoryField, name: str) -> Callable[[_Values, datetime], Filter]:
    def parse_value(value: str, _: datetime) -> Filter:
        match = _SHARE.fullmatch(value)
        if match is None or float(match[2]) > 1:
            raise InvalidField(name, "it takes a number from 0 to 1, with >=, <=, > or < before it")
        return Between(field.name, *_bounds(match[1] or "=", hundredths(float(match[2]))))

    return _single(parse_value)


def _valid(value: str, now: datetime) -> Filter:
    match value.lower():
        case "now":
            return valid_at(now)
        case "past":
            return Between("valid_to", None, now + timedelta(microseconds=1))
        case "future":
            return Between("valid_from", now + timedelta(microseconds=1), None)
    compared = re.fullmatch(r"(>=|<)(.+)", value)
    if compared is None:
        raise InvalidField("valid", "it takes now, past, future, or a date with >= or < before it")
    moment = parse_moment(compared[2], "valid", now)
    return Between("valid_from", moment, None) if compared[1] == ">=" else Between("valid_to", None, moment)


def _stems(field: MemoryField, name: str) -> Callable[[_Values, datetime], Filter]:
    def parse_value(values: _Values, _: datetime) -> Filter:
        from memento_tui.text.terms import different_stems  # noqa: PLC0415 - loads Tantivy; the first frame has none

        choices = [
            AllOf(tuple(HasStem(field.name, stem) for stem in stems))
            for part in values
            if (stems := different_stems(part))
        ]
        if not choices:
            raise InvalidField(name, f"it takes words such as {FIELDS[name]}")
        return choices[0] if len(choices) == 1 else AnyOf(tuple(choices))

    return parse_value


def _bounds(sign: str, number: int) -> tuple[int | None, int | None]:
    return {
        ">=": (number, None),
        ">": (number + 1, None),
        "<": (None, number),
        "<=": (None, number + 1),
        "=": (number, number + 1),
    }[sign]


def _moment(field: MemoryField, name: str) -> Callable[[_Values, datetime], Filter]:
    def parse_value(value: str, now: datetime) -> Filter:
        if value.lower() in ("never", "none"):
            return Not(Between(field.name))
        match = _COMPARISON.fullmatch(value)
        sign, text = (match[1], match[2]) if match else (None, value)
        moment = parse_moment(text, name, now)
        if sign in (">", ">="):
            return Between(field.name, moment, None)
        if sign in ("<", "<="):
            # What comes within the next days has not come yet; a date in the past selects what has.
            return Between(field.name, now if moment > now else None, moment)
        start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return Between(field.name, start, start + timedelta(days=1) if start.date() < date.max else None)

    return _single(parse_value)


_PARSERS_BY_FILTER: dict[FilterKind, Callable[[MemoryField, str], Callable[[_Values, datetime], Filter]]] = {
    "word": _words,
    "words": _stems,
    "number": _number,
    "share": _share,
    "moment": _moment,
}
"""A function for each way in which memories are filtered; it returns the parser of a field by its name in queries."""

_FIELD_PARSERS: dict[str, Callable[[_Values, datetime], Filter]] = {
    **{name: _PARSERS_BY_FILTER[field.filter](field, name) for name, (field, _) in _NAMED_FIELDS.items()},
    "kind": _kind,  # in whatever words other programs have for one
    "tag": _tag,
    "ns": _namespace,
    "is": _single(_is),
    "by": _by,
    "before": _single(lambda value, now: Between("created_at", None, _past(value, "before", now))),
    "after": _single(lambda value, now: Between("created_at", _past(value, "after", now), None)),
    "valid": _single(_valid),
    "at": _single(lambda value, now: valid_at(_past(value, "at", now))),
}
