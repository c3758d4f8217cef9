"""Keep apart the trust that a person gave and the trust that a text claims for itself, and tell which changes give it.

Stability, verification, pins, certainty above `HIGHEST_CLAIMED_CERTAINTY`, confidence above that of an agent, the
shared tier and the person's own words are decisions. A file or an agent that states one makes a claim, which stands
beside the memory in ``extra["claims"]`` and changes nothing until a person accepts the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.model import AnyRecord
from memento_tui.model.lists import UNVERIFIED_KEY, Crystal, Skip, WorkingItem
from memento_tui.model.memory import AGENT_CONFIDENCE, CLAIMS_KEY, OUTSIDE_CONFIDENCE, RECALLED_STATUSES, Memory
from memento_tui.model.memory_fields import FIELDS_BY_NAME, SENSITIVITIES, SOURCE_TYPES, STABILITIES
from memento_tui.model.review import OPEN_PROPOSAL_STATES, Contradiction, Proposal
from memento_tui.model.validation import texts_image
from memento_tui.moments import format_moment, parse_moment
from memento_tui.text.agent_names import is_persons_name

__all__ = [
    "DECIDED_FIELDS",
    "HIGHEST_CERTAINTY",
    "HIGHEST_CLAIMED_CERTAINTY",
    "adopt_claims",
    "as_claimed",
    "claims_of",
    "gives_trust",
    "with_authorship",
    "without_decisions",
    "without_persons_name",
]

HIGHEST_CLAIMED_CERTAINTY = 3
"""Certainty, from 1 to 5, that needs no person."""

HIGHEST_CERTAINTY = 5
"""The highest grade of certainty."""

HIGHEST_CLAIMED_CONFIDENCE = AGENT_CONFIDENCE
"""Confidence, from 0 to 1, that needs no person."""

DECIDED_FIELDS = ("stability", "verified_at", "verified_by", "pinned", "certainty", "confidence", "tier", "source_type")
"""The fields of a memory whose higher values only a person's decision sets."""

_LASTING_TIERS = ("long_term", "shared")

_ADOPTED_FIELDS = ("stability", "certainty", "confidence", "tier")
"""The claims that hold once a person has accepted the memory. A pin, and whose words they are, are decisions apart."""

_ANSWERED_FIELDS = (*_ADOPTED_FIELDS, "verified_at", "verified_by")
"""The claims that are none any more once a person has accepted the memory: it is known then who verified it."""


def claims_of(memory: Memory) -> Mapping[str, Any]:
    """Return a memory's claims about itself, by field, moments as text, without values that are invalid."""
    claims = memory.extra.get(CLAIMS_KEY)
    if not isinstance(claims, dict):
        return {}
    return {name: value for name, value in claims.items() if name in DECIDED_FIELDS and _is_value(name, value)}


def _is_value(name: str, value: Any) -> bool:  # noqa: ANN401 - JSON
    field = FIELDS_BY_NAME[name]
    if field.choices:
        return value in field.choices
    if field.bounds is not None:
        least, greatest = field.bounds
        kinds = (int, float) if field.filter == "share" else (int,)
        return type(value) in kinds and least <= value <= (greatest or value)
    return isinstance(value, bool if name == "pinned" else str)


def without_decisions(before: Memory | None, after: Memory) -> Memory:
    """Return a memory that no person wrote, with each decision in it as a claim; ``before`` is the memory as it stands.

    What a person decided before stays, unless the change takes it back: trust can fall without a person, never rise.
    """
    if before is None and _claims_nothing(after):
        return after
    values = {name: _undecided(name, before, after) for name in DECIDED_FIELDS}
    if (values["stability"], values["source_type"]) == ("draft", "external"):
        if values["tier"] in _LASTING_TIERS:
            values["tier"] = "short_term"  # what is from outside and unverified is kept no longer
        standing = 0.0 if before is None else before.confidence
        values["confidence"] = min(values["confidence"], max(standing, OUTSIDE_CONFIDENCE))
    claims = {**(claims_of(before) if before is not None else {}), **claims_of(after)}
    for name, value in values.items():
        stated = getattr(after, name)
        if stated != value:
            claims[name] = format_moment(stated) if isinstance(stated, datetime) else stated
        elif before is not None and stated != getattr(before, name):
            claims.pop(name, None)
    extra = {name: value for name, value in after.extra.items() if name != CLAIMS_KEY}
    if claims:
        extra[CLAIMS_KEY] = claims
    if extra == after.extra and all(value == getattr(after, name) for name, value in values.items()):
        return after
    return msgspec.structs.replace(after, **values, extra=extra)


def _claims_nothing(new: Memory) -> bool:
    """Tell whether all that a new memory says of its own trust needs no person: so it is with nearly every one."""
    return (
        not new.pinned
        and CLAIMS_KEY not in new.extra
        and new.certainty <= HIGHEST_CLAIMED_CERTAINTY
        and new.confidence <= HIGHEST_CLAIMED_CONFIDENCE
        and (new.stability, new.verified_at, new.verified_by) == ("draft", None, "")
        and new.source_type == "derived"
        and new.tier != "shared"
    )


def _undecided(name: str, before: Memory | None, after: Memory) -> Any:  # noqa: ANN401, PLR0911 - one for each field
    """Return the value of a field that a change may set without a person."""
    stated = getattr(after, name)
    standing = None if before is None else getattr(before, name)
    match name:
        case "stability":
            return min(stated, standing or "draft", key=STABILITIES.index)
        case "verified_at" | "verified_by":
            nothing = None if name == "verified_at" else ""
            return (standing or nothing) if stated else nothing
        case "pinned":
            return bool(stated and standing)
        case "certainty":
            return min(stated, max(standing or 0, HIGHEST_CLAIMED_CERTAINTY))
        case "confidence":
            return min(stated, max(standing or 0.0, HIGHEST_CLAIMED_CONFIDENCE))
        case "tier":
            return stated if stated != "shared" or standing == "shared" else (standing or "long_term")
        case _:
            return max(stated, standing or "derived", key=SOURCE_TYPES.index)


def adopt_claims(memory: Memory) -> Memory:
    """Return a memory that a person has accepted, with the claims that hold from then on."""
    claims = claims_of(memory)
    left = {name: value for name, value in claims.items() if name not in _ANSWERED_FIELDS}
    if left == claims:
        return memory
    adopted = {name: claims[name] for name in _ADOPTED_FIELDS if name in claims}
    extra = {name: value for name, value in memory.extra.items() if name != CLAIMS_KEY}
    return msgspec.structs.replace(memory, **adopted, extra=extra | ({CLAIMS_KEY: left} if left else {}))


def as_claimed(memory: Memory) -> Memory:
    """Return a memory as its file or agent stated it, claims included, so that an export equals its source.

    A field that a person has set otherwise since keeps the person's value.
    """
    claims = claims_of(memory)
    if not claims:
        return memory
    extra = {name: value for name, value in memory.extra.items() if name != CLAIMS_KEY}
    plain = msgspec.structs.replace(memory, extra=extra)
    stated = {name: _parsed_claim(name, value) for name, value in claims.items() if name in DECIDED_FIELDS}
    whole = msgspec.structs.replace(plain, **stated)
    kept = {n: getattr(memory, n) for n in stated if _undecided(n, None, whole) != getattr(memory, n)}
    return msgspec.structs.replace(whole, **kept)


def _parsed_claim(name: str, value: Any) -> Any:  # noqa: ANN401 - a field's value
    try:
        return parse_moment(value, name) if name == "verified_at" else value
    except InvalidField:
        return None


EntryT = TypeVar("EntryT", Skip, WorkingItem, Crystal)


def with_authorship(before: EntryT | None, after: EntryT, *, by_person: bool) -> EntryT:
    """Return a skip, a working item or an identity that says whether a person stands behind its texts.

    A person does who writes or changes them, or lets an identity hold. Anybody else who does takes that away, and
    nobody else gives it; that a person is named as the maker is a claim.
    """
    extra = {name: value for name, value in after.extra.items() if name != UNVERIFIED_KEY}
    is_written = before is None or _texts(before) != _texts(after) or _takes_effect(before, after)
    was_unverified = before is not None and bool(before.extra.get(UNVERIFIED_KEY))
    if (is_written and not by_person) or (was_unverified and not is_written):
        extra[UNVERIFIED_KEY] = True
    admitted = after if extra == after.extra else msgspec.structs.replace(after, extra=extra)
    if before is not None or by_person:
        return admitted
    if isinstance(admitted, Skip) and is_persons_name(admitted.created_by):
        admitted = msgspec.structs.replace(admitted, created_by="")
    elif isinstance(admitted, Crystal) and is_persons_name(admitted.author):
        admitted = msgspec.structs.replace(admitted, author="")
    return admitted


def without_persons_name(memory: Memory) -> Memory:
    """Return a memory that no person wrote, without a name of its agent that reads as the person's."""
    if not memory.source.agent or not is_persons_name(memory.source.agent):
        return memory
    return msgspec.structs.replace(memory, source=msgspec.structs.replace(memory.source, agent=""))


def _texts(record: Skip | WorkingItem | Crystal) -> bytes:
    return texts_image(msgspec.structs.replace(record, extra={}))


def _takes_effect(before: Skip | WorkingItem | Crystal, after: Skip | WorkingItem | Crystal) -> bool:
    return isinstance(after, Crystal) and after.status == "current" and before.status != "current"  # type: ignore[union-attr]


def gives_trust(before: AnyRecord, after: AnyRecord) -> bool:
    """Tell whether a record is trusted, told or decided after a change, in any way in which it was not before."""
    if isinstance(before, Memory) and isinstance(after, Memory):
        return _memory_gains(before, after)
    if isinstance(before, Proposal) and isinstance(after, Proposal):
        return before.state in OPEN_PROPOSAL_STATES and after.state not in OPEN_PROPOSAL_STATES
    if isinstance(before, Contradiction) and isinstance(after, Contradiction):
        return before.status == "open" and after.status != "open"
    if isinstance(before, Crystal) and isinstance(after, Crystal) and before.status != after.status == "current":
        return True
    if isinstance(before, Skip | WorkingItem | Crystal) and isinstance(after, Skip | WorkingItem | Crystal):
        return UNVERIFIED_KEY in before.extra and UNVERIFIED_KEY not in after.extra
    return False


def _memory_gains(before: Memory, after: Memory) -> bool:
    without = without_decisions(before, after)
    return (
        any(getattr(without, name) != getattr(after, name) for name in DECIDED_FIELDS)
        or (after.status in RECALLED_STATUSES and before.status not in RECALLED_STATUSES)
        or SENSITIVITIES.index(after.sensitivity) < SENSITIVITIES.index(before.sensitivity)
    )
