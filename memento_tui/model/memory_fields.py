"""The one declaration of a memory's fields: their values, who may set them, and how they are filtered.

The three compilers of filters (SQL, Tantivy, LanceDB), the columns of both indexes, the names in queries, the rules of
who may set what, the options of the command line, the commands and the form of the app, and the arguments of the tools
for agents are derived from `FIELDS`. CONTRIBUTING.md lists what else a new field needs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal, get_args

import msgspec

__all__ = [
    "FIELDS",
    "FIELDS_BY_NAME",
    "INDEXED_KINDS",
    "KINDS",
    "SENSITIVITIES",
    "SOURCE_TYPES",
    "STABILITIES",
    "STATUSES",
    "TIERS",
    "FieldOption",
    "FilterKind",
    "FormField",
    "Kind",
    "MemoryField",
    "Sensitivity",
    "SourceType",
    "Stability",
    "Status",
    "Tier",
    "ToolArgument",
    "declaration_digest",
    "filter_fields",
    "hundredths",
    "in_order",
    "values_getter",
]

Kind = Literal[
    "fact",
    "decision",
    "instruction",
    "observation",
    "preference",
    "pattern",
    "anti_pattern",
    "heuristic",
    "discovery",
    "bugfix",
    "tool",
    "daily",
]
Stability = Literal["draft", "verified", "stable"]
SourceType = Literal["user", "derived", "external"]
Sensitivity = Literal["normal", "confidential", "restricted"]
Tier = Literal["working", "short_term", "long_term", "shared"]
Status = Literal[
    "pending",
    "active",
    "consolidated",
    "superseded",
    "compacted",
    "archived",
    "rejected",
    "deleted",
]

KINDS: tuple[str, ...] = get_args(Kind)
STABILITIES: tuple[str, ...] = get_args(Stability)
SOURCE_TYPES: tuple[str, ...] = get_args(SourceType)
SENSITIVITIES: tuple[str, ...] = get_args(Sensitivity)
TIERS: tuple[str, ...] = get_args(Tier)
STATUSES: tuple[str, ...] = get_args(Status)

FilterKind = Literal["", "word", "words", "flag", "number", "share", "moment"]
"""How memories are filtered by a field: by equality, by the words in it, as true or false, by a range; empty for none.

A share is a number from 0 to 1, of which filters and indexes count the hundredths.
"""

INDEXED_KINDS: tuple[FilterKind, ...] = ("word", "words", "flag", "number", "share", "moment")
"""Every way in which the indexes filter."""


class FieldOption(msgspec.Struct, frozen=True):
    """The command line's option for a field."""

    name: str
    """Such as ``--expires``."""
    metavar: str
    help: str


class QueryName(msgspec.Struct, frozen=True):
    """The name by which a query asks for a field."""

    name: str
    example: str
    """Such as ``certainty:>=4, certainty:2..3``; the help shows it."""


class FormField(msgspec.Struct, frozen=True):
    """A field in the form in which a person changes a memory."""

    label: str
    hint: str = ""
    """The text shown in the field while it is empty."""


class ToolArgument(msgspec.Struct, frozen=True, kw_only=True):
    """The argument for a field in the tools of memento's own MCP server.

    For each tool it has the argument's description, which is empty where its name says enough, and ``None`` where the
    tool does not take it.
    """

    name: str = ""
    """The argument's name, where that is not the field's."""
    remember: str | None = ""
    update: str | None = ""


class MemoryField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a memory, or one part of a field that memories are filtered by."""

    name: str
    """The name in filters and columns; the name of the record's field too, where ``path`` is empty."""
    path: str = ""
    """The attributes that lead from a memory to the value, such as ``source.agent``, where that is not ``name``."""
    expects: str = ""
    """The values that it takes, in words for an error; "one of ..." where it has choices."""
    choices: tuple[str, ...] = ()
    bounds: tuple[float, float | None] | None = None
    """The least and the greatest value; ``None`` for no greatest."""
    filter: FilterKind = ""
    sql: str = ""
    """The SQL expression of its value, where that is not the column ``memory.<name>``."""
    indexed: bool = True
    """Whether the indexes hold a field that memories are filtered by; without it only the database can select by it."""
    query_words: bool = False
    """Whether ``is:<choice>`` in a query means that the field has this value."""
    agent_may_set: bool = False
    restorable: bool = False
    """Whether going back to an earlier version brings its value back."""
    option: FieldOption | None = None
    query: QueryName | None = None
    """None where memories are not filtered by it, or by a name that `memento_tui.search.query_language` has itself."""
    form: FormField | None = None
    argument: ToolArgument | None = None
    """How an agent gives it a value; `get` returns it too."""
    preview: str = ""
    """The words before its value on a line of its own in a preview; empty where it has no such line."""

    @property
    def accepts(self) -> str:
        """The values that it takes, in words."""
        return self.expects or f"one of {', '.join(self.choices)}"


_MOMENT_HINT = "2026-12-31, 30d, or empty for never"

FIELDS: tuple[MemoryField, ...] = (
    MemoryField(name="id", expects="text", filter="word", query=QueryName("id", "id:ID")),
    MemoryField(name="content", expects="text", agent_may_set=True, restorable=True),
    MemoryField(
        name="title",
        expects="text",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--title", "TEXT", "One line that names it."),
        form=FormField("Title"),
        argument=ToolArgument(),
    ),
    MemoryField(
        name="kind",
        choices=KINDS,
        filter="word",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--kind", "WORD", "What it is."),
        query=QueryName("kind", "kind:decision"),
        form=FormField("Kind"),
        argument=ToolArgument(),
    ),
    MemoryField(name="kind_raw", expects="text", filter="word", indexed=False, agent_may_set=True),
    MemoryField(
        name="namespace",
        expects="text",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--namespace", "PATH", "Such as projects/site; `global` if not given."),
        form=FormField("Namespace"),
        argument=ToolArgument(remember="e.g. projects/site", update="e.g. projects/site"),
    ),
    MemoryField(
        name="tags",
        expects="a list of words",
        agent_may_set=True,
        restorable=True,
        form=FormField("Tags, with commas between", "such as: api, release"),
        argument=ToolArgument(),
    ),
    MemoryField(name="tagged", path="tags", filter="flag", sql="(memory.tags <> '[]')"),
    MemoryField(name="system_tags", expects="a list of words"),
    MemoryField(
        name="source_type",
        choices=SOURCE_TYPES,
        filter="word",
        query_words=True,
        agent_may_set=True,
        option=FieldOption("--source-type", "WORD", "Who knows it: you, the agent's own reasoning, or the outside."),
        argument=ToolArgument(remember="external: from a page or a tool's output", update=None),
    ),
    MemoryField(
        name="certainty",
        expects="a whole number from 1 to 5",
        bounds=(1, 5),
        filter="number",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--certainty", "1-5", "How sure it is, 5 for certain."),
        query=QueryName("certainty", "certainty:>=4, certainty:2..3"),
        form=FormField("Certainty, 1 to 5"),
        argument=ToolArgument(remember="1 (a guess) to 5"),
    ),
    MemoryField(
        name="confidence",
        expects="a number from 0 to 1",
        bounds=(0, 1),
        filter="share",
        agent_may_set=True,
        option=FieldOption("--confidence", "0-1", "How far the source is trusted."),
        query=QueryName("confidence", "confidence:>=.6, how far the source is trusted"),
    ),
    MemoryField(
        name="stability",
        choices=STABILITIES,
        filter="word",
        query_words=True,
        option=FieldOption("--stability", "WORD", "How far it is confirmed."),
    ),
    MemoryField(
        name="tier",
        choices=TIERS,
        filter="word",
        query_words=True,
        option=FieldOption("--tier", "WORD", "How long it is meant to live."),
        query=QueryName("tier", "tier:long_term"),
        form=FormField("Tier"),
    ),
    MemoryField(
        name="sensitivity",
        choices=SENSITIVITIES,
        filter="word",
        query_words=True,
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--sensitivity", "WORD", "Who may see it."),
        form=FormField("Sensitivity"),
    ),
    MemoryField(
        name="status",
        choices=STATUSES,
        filter="word",
        query_words=True,
        query=QueryName("status", "status:archived"),
    ),
    MemoryField(name="injection_score", expects="a number from 0 to 1", bounds=(0, 1)),
    MemoryField(name="verified_at", expects="a moment"),
    MemoryField(name="verified_by", expects="text"),
    MemoryField(name="pinned", expects="true or false", filter="flag"),
    MemoryField(name="created_at", expects="a moment", filter="moment"),
    MemoryField(name="updated_at", expects="a moment", filter="moment"),
    MemoryField(
        name="expires_at",
        expects="a moment",
        filter="moment",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--expires", "WHEN", "A date, a time or a span such as 7d; `never` clears it."),
        query=QueryName("expires", "expires:<7d, expires:never"),
        form=FormField("Expires", _MOMENT_HINT),
        argument=ToolArgument(name="expires", remember="2026-12-31, 30d or never", update="2026-12-31, 30d or never"),
    ),
    MemoryField(
        name="validity_context",
        expects="text",
        filter="words",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--validity", "TEXT", "When it applies, in words."),
        query=QueryName("applies", "applies:staging, the words of where it applies"),
        form=FormField("Applies to", "in words, such as: on staging, before 2.0"),
        argument=ToolArgument(remember="when it applies"),
        preview="applies to",
    ),
    MemoryField(
        name="valid_from",
        expects="a moment",
        filter="moment",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--valid-from", "WHEN", "When it began to hold; `never` clears it."),
        form=FormField("Holds from", _MOMENT_HINT),
    ),
    MemoryField(
        name="valid_to",
        expects="a moment",
        filter="moment",
        agent_may_set=True,
        restorable=True,
        option=FieldOption("--valid-to", "WHEN", "When it ceases to hold; `never` clears it."),
        form=FormField("Holds until", _MOMENT_HINT),
    ),
    MemoryField(
        name="source", expects="an object with any of agent, session, transcript, span, url", agent_may_set=True
    ),
    MemoryField(
        name="agent",
        path="source.agent",
        filter="word",
        sql="json_extract(memory.source, '$.agent')",
        option=FieldOption("--agent", "NAME", "The agent that it came from."),
    ),
    MemoryField(
        name="session",
        path="source.session",
        filter="word",
        sql="json_extract(memory.source, '$.session')",
        option=FieldOption("--session", "ID", "The agent's session."),
        query=QueryName("session", "session:ID"),
    ),
    MemoryField(
        name="transcript",
        path="source.transcript",
        option=FieldOption("--transcript", "PATH", "The transcript that it was learned from."),
    ),
    MemoryField(name="span", path="source.span", option=FieldOption("--span", "PLACE", "The place in the transcript.")),
    MemoryField(
        name="url",
        path="source.url",
        option=FieldOption("--url", "URL", "The page that it came from."),
        argument=ToolArgument(name="source_url", update=None),
    ),
    MemoryField(
        name="surprise",
        expects="a number from 0 to 1",
        bounds=(0, 1),
        filter="share",
        query=QueryName("surprise", "surprise:>=.7, how new it was when it was written"),
    ),
    MemoryField(
        name="extra",
        expects="an object",
        agent_may_set=True,
        option=FieldOption("--extra", "JSON", "An object of fields that memento keeps for other programs."),
    ),
    # Paths within ``extra``; no getter leads there, and only the database selects by them.
    MemoryField(
        name="note_path",
        path="extra",
        filter="word",
        sql="json_extract(memory.extra, '$.vault.path')",
        indexed=False,
    ),
    MemoryField(
        name="foreign_id",
        path="extra",
        filter="word",
        sql="json_extract(memory.extra, '$.foreign_id')",
        indexed=False,
    ),
    MemoryField(name="shown_count", expects="a whole number", bounds=(0, None)),
    MemoryField(name="used_count", expects="a whole number", bounds=(0, None)),
    MemoryField(name="last_used_at", expects="a moment"),
    MemoryField(name="version", expects="a whole number", bounds=(1, None)),
)
"""Every field, in the order in which the command line's help lists their options."""

FIELDS_BY_NAME = {field.name: field for field in FIELDS}


def hundredths(share: float) -> int:
    """Return a number from 0 to 1 in whole hundredths, as SQL makes them in ``storage/filters.py``."""
    return int(share * 100 + 0.5)


def filter_fields(*kinds: FilterKind, indexed: bool = False) -> dict[str, MemoryField]:
    """Return the fields that memories are filtered by in one of the ways, by name; ``indexed`` those of the indexes."""
    return {f.name: f for f in FIELDS if f.filter and f.filter in kinds and (f.indexed or not indexed)}


def in_order(names: Iterable[str], first: Sequence[str]) -> list[str]:
    """Return the names in the order of ``first``; those that it lacks follow in their own."""
    places = {name: place for place, name in enumerate(first)}
    return sorted(names, key=lambda name: places.get(name, len(places)))


def values_getter(fields: Iterable[MemoryField]) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function that takes the values of two or more fields from a memory, in one call, in their order."""
    return attrgetter(*(field.path or field.name for field in fields))


def declaration_digest(fields: Iterable[MemoryField]) -> str:
    """Return 8 hexadecimal digits that change with every change in how these fields are filtered."""
    facts = [(field.name, field.filter, field.path) for field in fields]
    return hashlib.blake2b(msgspec.json.encode(facts), digest_size=4).hexdigest()
