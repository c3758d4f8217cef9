"""Infer how long a new memory is meant to live and how far its source is trusted, where nobody says so.

The tier follows from what kind of knowledge it is: decisions, instructions, preferences, patterns, anti-patterns and
heuristics outlast the work that taught them and go to ``long_term``; a diary serves the work at hand and goes to
``working``; the rest, what is from outside and what ends within a month go to ``short_term``. Nothing is inferred to be
``shared``: only a person shares.

The confidence follows from who knows it: the person's own words .9, what an agent worked out .6, a page or another
outsider .3; .5 where nothing is known, as of a file that does not say. What is made of several memories is as sure as
the least sure of them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from memento_tui.model.memory import Memory
from memento_tui.model.memory_fields import SENSITIVITIES, SOURCE_TYPES, Tier

__all__ = [
    "AGENT_CONFIDENCE",
    "OUTSIDE_CONFIDENCE",
    "PERSON_CONFIDENCE",
    "UNKNOWN_CONFIDENCE",
    "inherited_fields",
    "with_inferred_trust",
    "with_trust_of",
]


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
