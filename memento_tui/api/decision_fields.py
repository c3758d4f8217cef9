"""List every field that a decision carries out, or that differs between two versions, for all screens that show one.

Approving lets a whole record in and verifies it, whatever the proposal changes of it: so what does not change is listed
too, unless it is what every record has by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

from memento_tui.api.review import PendingProposal, proposed_record
from memento_tui.model import AnyRecord, Crystal, Memory, Relation, Skip, WorkingItem
from memento_tui.model.lists import UNVERIFIED_KEY
from memento_tui.model.memory import CLAIMS_KEY, REPLACING_RELATIONS, Source
from memento_tui.model.review import OPEN_PROPOSAL_STATES

__all__ = ["DecisionField", "changes_between", "decision_fields", "fields_of_record", "value_text"]

RecordT = TypeVar("RecordT", bound=msgspec.Struct)

_COUNTED = frozenset(
    ("version", "updated_at", "surprise", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at")
)
"""Fields that memento counts and keeps itself."""

_NOT_DECIDED = _COUNTED | {"id", "created_at"}
"""Fields that a decision does not set; the id is left out because each screen begins with it."""

_OWN_EXTRA = (CLAIMS_KEY, UNVERIFIED_KEY)
"""The names in ``extra`` that are not kept for other programs: claims have a line of their own, and that nobody has
approved a record yet is why one asks."""

_MAX_EXTRA_CHARACTERS = 400
"""Characters of the JSON of ``extra`` that are listed: importers keep whole texts there. ``--json`` has all of it."""

_MAX_RELATIONS = 20
"""Relations that are listed beside those by which one memory takes the place of another: of these none is left out."""

_CREATED_TOGETHER = timedelta(hours=1)
"""A record and the proposal to let it in are written at once, so a difference comes from a file."""


class DecisionField(msgspec.Struct, frozen=True):
    """One field as a decision would leave it."""

    name: str
    """In words, such as ``validity context`` or ``source url``."""
    before: Any
    """The present value; ``None`` where there is none, or where the record is new."""
    after: Any

    @property
    def is_changed(self) -> bool:
        """Whether the decision puts another value in the place of one, or takes one away."""
        return self.before is not None and self.before != self.after

    @property
    def line(self) -> str:
        """The field in one line; it may hold text of an agent."""
        before = f"{value_text(self.before) or 'none'} -> " if self.is_changed else ""
        return f"{self.name}: {before}{value_text(self.after) or 'none'}"


def decision_fields(pending: PendingProposal) -> Sequence[DecisionField]:
    """Return the fields that approving a proposal would write, except ``content``, which every screen shows in full.

    Values that are a record's default and do not change are left out. Of a deletion it is what the record holds now.
    """
    return list(_decision_fields(pending))


def fields_of_record(record: AnyRecord) -> Sequence[DecisionField]:
    """Return the fields of a record that differ from every record's, but for the ``content``."""
    return list(_differing(None, record))


def changes_between(before: RecordT, after: RecordT) -> Sequence[DecisionField]:
    """Return the fields in which two versions of a record differ, the ``content`` among them, but for memento's counts.

    A value that only one of them has is "" in the other.
    """
    return list(_changes(before, after))


def _changes(before: msgspec.Struct, after: msgspec.Struct) -> Iterator[DecisionField]:
    for name in after.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if old == new or name in _COUNTED:
            continue
        if isinstance(old, Source) and isinstance(new, Source):
            yield from _changed_values("source", msgspec.structs.asdict(old), msgspec.structs.asdict(new))
        elif name == "extra":
            yield from _changed_values("extra", *(_without_own(extra) for extra in (old, new)))
            claims = [_claims_text(extra.get(CLAIMS_KEY, "")) for extra in (old, new)]
            if claims[0] != claims[1]:
                yield DecisionField("claims", *claims)
            unverified = ["yes" if extra.get(UNVERIFIED_KEY) else "no" for extra in (old, new)]
            if unverified[0] != unverified[1]:
                yield DecisionField("unverified", *unverified)
        else:
            yield _field(name, "" if old is None else old, new)


def _decision_fields(pending: PendingProposal) -> Iterator[DecisionField]:
    proposal, target = pending.proposal, pending.target
    if proposal.action == "delete":
        yield from () if target is None else _differing(None, target)
        return
    after = target if isinstance(target, Crystal) else proposed_record(pending)
    if after is None or proposal.state not in OPEN_PROPOSAL_STATES:
        # An answer to a contradiction, what cannot be made, or a decision of the past: what was asked for is shown.
        yield from (_field(name, None, value) for name, value in proposal.payload.items() if name != "content")
    else:
        yield from _differing(None if proposal.action == "create" else target, after)
    if after is not None and proposal.action == "create" and _is_older(after, proposal.created_at):
        yield DecisionField("created", None, after.created_at)
    if pending.relations:
        yield DecisionField("relations", None, _relation_texts(pending.relations, proposal.target_id))
    for role, memory in pending.sides:
        yield from (DecisionField(f"{role}: {field.name}", None, field.after) for field in fields_of_record(memory))


def _differing(before: AnyRecord | None, after: AnyRecord) -> Iterator[DecisionField]:
    for field in msgspec.structs.fields(type(after)):
        name = field.name
        if name in _NOT_DECIDED or name == "content" or (name == "status" and _is_waiting(after)):
            continue
        new, old = getattr(after, name), None if before is None else getattr(before, name)
        if isinstance(new, Source):
            yield from _source_fields(old, new)
        elif name == "extra":
            yield from _extra_fields(old, new)
        elif new != _default(field) or (before is not None and new != old):
            yield _field(name, old, new)


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _is_waiting(record: AnyRecord) -> bool:
    return getattr(record, "status", "") in ("pending", "proposed")


def _source_fields(before: Source | None, after: Source) -> Iterator[DecisionField]:
    for name in Source.__struct_fields__:
        old, new = None if before is None else getattr(before, name), getattr(after, name)
        if new or old:
            yield DecisionField(f"source {name}", old, new)


def _extra_fields(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[DecisionField]:
    """Yield the fields kept for other programs, and separately the claims that the record makes about itself."""
    old, new = None if before is None else _without_own(before), _without_own(after)
    yield from _changed_values("extra", old or {}, new) if old is not None else ()
    if same := new if old is None else _unchanged_values(old, new):
        yield DecisionField("extra", None if old is None else same, same)
    if claims := after.get(CLAIMS_KEY):
        yield DecisionField("it claims, and is not believed", None, _claims_text(claims))


def _without_own(extra: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name not in _OWN_EXTRA}


def _changed_values(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[DecisionField]:
    """Yield the values that differ, each by its path such as ``source.url`` or ``extra.vault.digest``."""
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changed_values(f"{name}.{key}", old, new)
        elif old != new:
            # A value that is new here is shown as a change too: the record is not.
            yield DecisionField(f"{name}.{key}", "" if old is None else old, new)


def _unchanged_values(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of ``after`` that ``before`` has too, in their mappings."""
    same: dict[str, Any] = {}
    for key, new in after.items():
        old = before.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping) and old != new:
            if inner := _unchanged_values(old, new):
                same[key] = inner
        elif key in before and old == new:
            same[key] = new
    return same


def _claims_text(claims: object) -> str:
    if not isinstance(claims, Mapping):
        return value_text(claims)
    return ", ".join(f"{str(name).replace('_', ' ')} {value_text(value)}" for name, value in claims.items())


def _field(name: str, before: object, after: object) -> DecisionField:
    return DecisionField(name.replace("_", " "), before, after)


def _is_older(record: Memory | Skip | WorkingItem | Crystal, proposed_at: datetime) -> bool:
    return abs(proposed_at - record.created_at) > _CREATED_TOGETHER


def _relation_texts(relations: Sequence[Relation], record_id: str) -> tuple[str, ...]:
    replacing = [relation for relation in relations if relation.type in REPLACING_RELATIONS]
    others = [relation for relation in relations if relation.type not in REPLACING_RELATIONS]
    texts = []
    for relation in (*replacing, *others[:_MAX_RELATIONS]):
        other = relation.dst if relation.src == record_id else relation.src
        way = "->" if relation.src == record_id else "<-"
        texts.append(f"{relation.type} {way} {other}{f' ({relation.label})' if relation.label else ''}")
    left = len(others) - _MAX_RELATIONS
    return (*texts, f"and {left:,} more") if left > 0 else tuple(texts)


def value_text(value: object) -> str:
    """Return a value of a record in one text, which may hold text of an agent; empty for none."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    if isinstance(value, tuple | list):
        return ", ".join(map(value_text, value))
    if isinstance(value, Mapping):
        written = msgspec.json.encode(value).decode() if value else ""
        left = len(written) - _MAX_EXTRA_CHARACTERS
        return f"{written[:_MAX_EXTRA_CHARACTERS]} ... {left:,} more characters" if left > 0 else written
    return "" if value is None else str(value)
