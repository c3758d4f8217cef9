"""Memories, with their trust and lifetime, and relations between them.

An exposure: one memory that was shown to one agent session.

Infer how long a new memory is meant to live and how far its source is trusted, where nobody says so.

The tier follows from what kind of knowledge it is: decisions, instructions, preferences, patterns, anti-patterns and
heuristics outlast the work that taught them and go to ``long_term``; a diary serves the work at hand and goes to
``working``; the rest, what is from outside and what ends within a month go to ``short_term``. Nothing is inferred to be
``shared``: only a person shares.

The confidence follows from who knows it: the person's own words .9, what an agent worked out .6, a page or another
outsider .3; .5 where nothing is known, as of a file that does not say. What is made of several memories is as sure as
the least sure of them.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Container, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidField
from memento_tui.model.memory_fields import (
    FIELDS,
    KINDS,
    SENSITIVITIES,
    SOURCE_TYPES,
    STABILITIES,
    STATUSES,
    TIERS,
    Kind,
    Sensitivity,
    SourceType,
    Stability,
    Status,
    Tier,
)
from memento_tui.model.validation import (
    check_encodable,
    check_extra,
    check_id,
    check_line,
    check_namespace,
    check_tags,
    check_text,
    convert_fields,
    new_id,
)

__all__ = [
    "AGENT_CONFIDENCE",
    "CLAIMS_KEY",
    "FOREIGN_ID",
    "KINDS",
    "OUTSIDE_CONFIDENCE",
    "PERSON_CONFIDENCE",
    "RECALLED_STATUSES",
    "RELATION_TYPES",
    "REPLACING_RELATIONS",
    "RESERVED_EXTRA",
    "SENSITIVITIES",
    "SOURCE_TYPES",
    "STABILITIES",
    "STATUSES",
    "TIERS",
    "UNKNOWN_CONFIDENCE",
    "Exposure",
    "Memory",
    "Relation",
    "Source",
    "check_memory",
    "content_digest",
    "inherited_fields",
    "lowers_sensitivity",
    "make_exposure",
    "make_memory",
    "make_relation",
    "parse_kind",
    "says_the_same",
    "text_compared",
    "with_inferred_trust",
    "with_trust_of",
]


CLAIMS_KEY = "claims"
"""The name in `Memory.extra` of the trust that a text claims for itself; see `memento_tui.model.claims`."""

RESERVED_EXTRA: tuple[str, ...] = ("original_content", "demoted_at", "compacted_at", CLAIMS_KEY)
"""The names in `Memory.extra` that memento alone sets: the original of a compacted memory, when, and claims."""

FOREIGN_ID = "foreign_id"
"""The name in `Memory.extra` of the id that a client asked for, or that a source gave and that no memory may have."""

RECALLED_STATUSES: tuple[str, ...] = ("active", "consolidated", "superseded", "compacted")
"""The statuses that a search returns unless the query names another."""


MAX_SOURCE_LENGTH = 4_000
"""Characters of each part of a source; web addresses and paths are the longest."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The origin of a memory; every part may be unknown."""

    agent: str = ""
    session: str = ""
    transcript: str = ""
    """The path or name of the transcript it was learned from."""
    span: str = ""
    """The place in the transcript, as the transcript's format counts."""
    url: str = ""


_UNKNOWN_SOURCE = Source()


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One memory. `make_memory` makes one from a caller's values and checks it.

    Its JSON leaves out what equals a default, so the defaults are part of the journal's format.
    """

    id: str
    content: str
    namespace: str = "global"
    """A path of names; the memories of one project share the first ones."""
    title: str = ""
    kind: Kind = "fact"
    kind_raw: str = ""
    """The kind's name in the format it came from, where that name is not one of `KINDS`."""
    tags: tuple[str, ...] = ()
    system_tags: tuple[str, ...] = ()
    """Provenance, such as ``source:distill``. Never used to group memories."""
    certainty: int = 3
    """From 1 (speculative) to 5 (certain)."""
    confidence: float = 0.5
    """From 0 to 1: how far the source is trusted."""
    stability: Stability = "draft"
    source_type: SourceType = "user"
    source: Source = Source()
    sensitivity: Sensitivity = "normal"
    injection_score: float = 0.0
    """From 0 to 1: how much the text reads like orders smuggled in for a model."""
    validity_context: str = ""
    """When the memory applies, in words: ``PostgreSQL 15 and later``."""
    verified_at: datetime | None = None
    verified_by: str = ""
    tier: Tier = "short_term"
    status: Status = "active"
    pinned: bool = False
    """Essential: offered to an agent at the start of every session."""
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    surprise: float | None = None
    """From 0 (known already) to 1 (unlike anything known), measured when it was written."""
    extra: dict[str, Any] = {}
    """Fields of a foreign format that have no place here, kept so that nothing is lost on the way back."""
    shown_count: int = 0
    used_count: int = 0
    last_used_at: datetime | None = None
    version: int = 1

    @property
    def headline(self) -> str:
        """The title, or the first line of the content that is not blank."""
        if self.title.strip():
            return self.title
        for line in self.content.splitlines():
            if stripped := line.strip().lstrip("#").strip():
                return stripped
        return self.content.strip()


_EXPECTED: Mapping[str, str] = {field.name: field.accepts for field in FIELDS if not field.path}
_BOUNDED = [field for field in FIELDS if field.bounds is not None]
_MOMENTS = tuple(field.name for field in msgspec.structs.fields(Memory) if field.type in (datetime, datetime | None))
_FOREIGN_KINDS = {
    "antipattern": "anti_pattern",
    "bug": "bugfix",
    "gotcha": "anti_pattern",
    "rule": "instruction",
}


def lowers_sensitivity(before: Memory, after: Memory) -> bool:
    """Tell whether more may see the second state of a memory than the first."""
    return SENSITIVITIES.index(after.sensitivity) < SENSITIVITIES.index(before.sensitivity)


def parse_kind(raw: str) -> tuple[str, str]:
    """Return the kind and the raw kind for a kind's name in any format: ``anti-pattern`` is ``anti_pattern``.

    A name that means none of the known kinds becomes an observation that keeps the name.
    """
    name = raw.strip().lower().replace("-", "_").replace(" ", "_")
    name = _FOREIGN_KINDS.get(name.replace("_", ""), name)
    if name in KINDS:
        return name, "" if name == raw else raw
    return "observation", raw


def content_digest(content: str) -> bytes:
    """Return 16 bytes that two contents share if they differ in white space, case and Unicode form at most."""
    plain = content if content.isascii() else unicodedata.normalize("NFKC", content)
    folded = " ".join(plain.casefold().split())
    return hashlib.blake2b(folded.encode(), digest_size=16).digest()


def text_compared(content: str) -> str:
    """Return a form that is equal for texts which differ only in wrapping, outer white space and Unicode form.

    Anything else tells apart: ``-v`` is not ``-V``, a square metre not ``m2``, and indentation means something.
    """
    lines = [line.rstrip() for line in unicodedata.normalize("NFC", content).strip().splitlines()]
    if any(line[:1].isspace() for line in lines[1:]):
        return "\n".join(lines)
    return " ".join(" ".join(lines).split())


def says_the_same(one: str, other: str) -> bool:
    """Tell whether two contents are one, by `text_compared`."""
    return text_compared(one) == text_compared(other)


def make_memory(fields: Mapping[str, Any], *, now: datetime | None = None) -> Memory:
    """Make a memory of a caller's plain values, with an id and the present time where they are missing.

    Raises:
        InvalidField: a field is unknown, is of another type, or breaks its rule.

    """
    moment = now or clock.now()
    values = {"id": new_id(), "created_at": moment, **{k: v for k, v in fields.items() if v is not None}}
    values.setdefault("updated_at", values["created_at"])
    if isinstance(values.get("tags"), str):
        values["tags"] = [tag for tag in values["tags"].split(",") if tag.strip()]
    if "content" not in values:
        raise InvalidField("content", "is missing", "A memory needs a text.")
    return check_memory(convert_fields(values, Memory, expected=_EXPECTED, moments=_MOMENTS))


def check_memory(memory: Memory) -> Memory:
    """Return the memory with its tags in order, after checking every rule that the types do not express."""
    check_id(memory.id)
    check_text(memory.content, "content")
    check_line(memory.title, "title")
    check_line(memory.kind_raw, "kind_raw", limit=100)
    check_namespace(memory.namespace)
    check_line(memory.validity_context, "validity_context")
    check_line(memory.verified_by, "verified_by")
    if memory.source != _UNKNOWN_SOURCE:
        for part in Source.__struct_fields__:
            _check_source(getattr(memory.source, part), f"source.{part}")
    check_extra(memory.extra)
    _check_ranges(memory)
    if memory.source_type == "external" and memory.tier in ("long_term", "shared") and memory.stability == "draft":
        raise InvalidField("tier", f"cannot be {memory.tier} for an external memory that nobody has verified")
    if memory.valid_from and memory.valid_to and memory.valid_to < memory.valid_from:
        raise InvalidField("valid_to", "is before valid_from")
    tags, system_tags = check_tags(memory.tags), check_tags(memory.system_tags, "system_tags")
    if tags == memory.tags and system_tags == memory.system_tags:
        return memory
    return msgspec.structs.replace(memory, tags=tags, system_tags=system_tags)


def _check_source(value: str, field: str) -> None:
    check_encodable(value, field)
    if len(value) > MAX_SOURCE_LENGTH:
        raise InvalidField(field, f"has {len(value):,} characters; the limit is {MAX_SOURCE_LENGTH:,}")


def _check_ranges(memory: Memory) -> None:
    for field in _BOUNDED:
        value = getattr(memory, field.name)
        least, greatest = field.bounds or (0, None)
        if value is None or (least <= value and (greatest is None or value <= greatest)):
            continue
        if greatest is not None:
            raise InvalidField(field.name, f"must be {field.accepts}; not {value}")
        raise InvalidField(field.name, f"must be {least} or more" if least else "cannot be negative")


RelationType = Literal["related", "supersedes", "contradicts", "consolidated_from", "file", "item"]
RELATION_TYPES: tuple[str, ...] = get_args(RelationType)
REPLACING_RELATIONS: tuple[RelationType, ...] = ("supersedes", "consolidated_from")
"""The relations whose source is recalled instead of their target."""


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """``src`` is a memory's id; ``dst`` another's, a path where the type is ``file``, or a working item's id."""

    id: str
    src: str
    dst: str
    type: RelationType = "related"
    label: str = ""
    created_at: datetime
    version: int = 1


_RELATION_FIELDS = {
    "type": f"one of {', '.join(RELATION_TYPES)}",
    "src": "an id",
    "dst": "an id or a path",
    "label": "text",
}


def make_relation(fields: Mapping[str, Any], *, now: datetime | None = None) -> Relation:
    """Make a relation of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "created_at": now or clock.now(), **fields}
    relation = convert_fields(values, Relation, expected=_RELATION_FIELDS, moments=("created_at",))
    check_id(relation.id)
    check_id(relation.src, "src")
    check_line(relation.dst, "dst", required=True)
    check_line(relation.label, "label")
    if relation.src == relation.dst and relation.type not in ("file", "item"):
        raise InvalidField("dst", "is the memory itself; a relation joins two")
    return relation


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """One memory shown to one session: its rank, its score, its tokens, and whether it was used."""

    id: str
    memory_id: str
    memory_version: int
    session: str
    channel: str = ""
    at: datetime
    rank: int
    """1 for the first of the memories that were shown together."""
    score: float
    tokens: int
    why: dict[str, float] = {}
    """The numbers that made the score, by name: ``keyword``, ``semantic``, ``life`` and their parts.

    ``title_alone`` is 1 where a hook told its title and not its text.
    """
    used_at: datetime | None = None
    """When the session was seen to use it; ``None`` until then."""


_EXPOSURE_FIELDS = {
    "rank": "a whole number",
    "score": "a number",
    "tokens": "a whole number",
    "session": "text",
    "why": "an object of numbers",
}


def make_exposure(fields: Mapping[str, Any], *, now: datetime | None = None) -> Exposure:
    """Make a ledger entry of plain values. Raises `InvalidField`."""
    values = {"id": new_id(), "at": now or clock.now(), **fields}
    exposure = convert_fields(values, Exposure, expected=_EXPOSURE_FIELDS, moments=("at", "used_at"))
    check_id(exposure.id)
    check_id(exposure.memory_id, "memory_id")
    check_line(exposure.session, "session", required=True)
    for name, least in (("rank", 1), ("tokens", 0), ("memory_version", 1)):
        if getattr(exposure, name) < least:
            raise InvalidField(name, f"must be {least} or more; not {getattr(exposure, name)}")
    return exposure


def inherited_fields(sources: Sequence[Memory]) -> dict[str, Any]:
    """Return the least trusted origin, the highest sensitivity and the highest injection score of some memories."""
    return {
        "source_type": max((source.source_type for source in sources), key=SOURCE_TYPES.index),
        "sensitivity": max((source.sensitivity for source in sources), key=SENSITIVITIES.index),
        "injection_score": max(source.injection_score for source in sources),
    }


PERSON_CONFIDENCE, AGENT_CONFIDENCE, OUTSIDE_CONFIDENCE = 0.9, 0.6, 0.3
"""How far a source is trusted, from 0 to 1: the person, an agent's own reasoning, the outside."""

UNKNOWN_CONFIDENCE = 0.5
"""How far a source is trusted that nothing is known of; the default of the field."""

_LASTING_KINDS = ("decision", "instruction", "preference", "pattern", "anti_pattern", "heuristic")
"""The kinds of knowledge that outlast the work that taught them."""

_SHORT_LIFE = timedelta(days=30)
"""A memory that ends within this time of being written is not kept long."""


def with_inferred_trust(memory: Memory, given: Container[str], *, writer_confidence: float) -> Memory:
    """Return a new memory with the tier and the confidence that follow from its other fields.

    ``given`` holds the names of the fields that the writer stated, which stand. ``writer_confidence`` is that of what
    the writer knows itself; what is from outside has less.
    """
    tier = memory.tier if "tier" in given else _tier(memory)
    confidence = memory.confidence
    if "confidence" not in given:
        confidence = OUTSIDE_CONFIDENCE if memory.source_type == "external" else writer_confidence
    if (tier, confidence) == (memory.tier, memory.confidence):
        return memory
    return msgspec.structs.replace(memory, tier=tier, confidence=confidence)


def with_trust_of(memory: Memory, sources: Sequence[Memory]) -> Memory:
    """Return a memory that was made of others: as sure as the least sure of them, as new as the newest of them was.

    The tier follows from what it is, as for any other.
    """
    known = [source.surprise for source in sources if source.surprise is not None]
    confidence = min(source.confidence for source in sources)
    made = with_inferred_trust(memory, ("confidence",), writer_confidence=confidence)
    return msgspec.structs.replace(made, confidence=confidence, surprise=max(known, default=None))


def _tier(memory: Memory) -> Tier:
    if memory.kind == "daily":
        return "working"
    ends_soon = memory.expires_at is not None and _ends_soon(memory.created_at, memory.expires_at)
    is_lasting = memory.kind in _LASTING_KINDS and memory.source_type != "external" and not ends_soon
    return "long_term" if is_lasting else "short_term"


def _ends_soon(created_at: datetime, expires_at: datetime) -> bool:
    return expires_at - created_at <= _SHORT_LIFE
