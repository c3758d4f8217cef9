"""Hold each record of an import against the import before, and against the gate.

Changed fields, records known only by position and relations are matched; each record is screened, and a person is asked
about what must not come in by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from memento_tui.api.types import ImportedRecord, Transaction
from memento_tui.branches import is_taken_from_branch
from memento_tui.errors import MementoError
from memento_tui.formats.base import CONTENT_DIGEST_PART, ImportRecord, Refused
from memento_tui.formats.note import LinkTargets
from memento_tui.model import AnyRecord, Crystal, Memory, Relation, Skip, WorkingItem, make_proposal, make_relation
from memento_tui.model.claims import without_decisions
from memento_tui.model.validation import check_extra
from memento_tui.policy.gate import Gate, ProposalDraft, creation_fingerprint
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.policy.secrets import redact_record

__all__ = [
    "DrawnLink",
    "ImportGate",
    "RelationCollector",
    "differing_fields",
    "is_extra_name",
    "is_named_by_source",
    "match_positional_records",
    "with_values_from",
]

if TYPE_CHECKING:
    from memento_tui.formats.import_plan import PlannedRecord


_BOOKKEEPING = frozenset(
    {"version", "created_at", "updated_at", "shown_count", "used_count", "last_used_at", "hits", "last_hit_at"}
    | {"surprise"}
)
"""Fields of bookkeeping and measurement, which are not content."""
_NOT_COMPARED = _BOOKKEEPING | {"extra"}
"""These, and ``extra``, whose parts are compared one by one."""

_EXTRA_PREFIX = "extra."
_ABSENT = object()


def differing_fields(record: AnyRecord, other: AnyRecord) -> list[str]:
    """Return the names of the fields that differ between two records; a part of ``extra`` is named ``extra.<name>``."""
    names = record.__struct_fields__
    if type(record) is type(other) and all(
        getattr(record, name) == getattr(other, name) for name in names if name not in _BOOKKEEPING
    ):
        return []
    own, others = _comparable_values(record), _comparable_values(other)
    return [name for name in {**own, **others} if own.get(name, _ABSENT) != others.get(name, _ABSENT)]


def _comparable_values(record: AnyRecord) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name not in _NOT_COMPARED}
    return values | {_EXTRA_PREFIX + name: value for name, value in getattr(record, "extra", {}).items()}


def is_extra_name(name: str) -> bool:
    """Return whether a name of `differing_fields` is that of a part of ``extra``."""
    return name.startswith(_EXTRA_PREFIX)


def is_named_by_source(name: str, fields: dict[str, Any]) -> bool:
    """Return whether a source gives the field that `differing_fields` calls by this name."""
    if is_extra_name(name):
        return name.removeprefix(_EXTRA_PREFIX) in fields.get("extra", {})
    return name in fields


def with_values_from(record: AnyRecord, names: Collection[str], source: AnyRecord) -> AnyRecord:
    """Return a record with the values of another one under these names of `differing_fields`.

    Raises:
        InvalidField: the ``extra`` of both together is too much for one record.

    """
    given = _comparable_values(source)
    values = {name: given[name] for name in names if not is_extra_name(name)}
    inner = [name.removeprefix(_EXTRA_PREFIX) for name in names if is_extra_name(name)]
    if inner:
        extra = {name: value for name, value in getattr(record, "extra", {}).items() if name not in inner}
        values["extra"] = extra | {name: given[_EXTRA_PREFIX + name] for name in inner if _EXTRA_PREFIX + name in given}
        check_extra(values["extra"])
    return msgspec.structs.replace(record, **values)


_MIN_SIMILARITY = 0.6
"""The share of two texts that is the same where one was made of the other."""
_MAX_COMPARED = 100
"""Texts of one list that are compared with each other; of a longer one only those that are the same are known again."""
_MAX_COMPARED_LENGTH = 4_000


def match_positional_records(
    records: Iterable[ImportRecord | Refused],
    ledger: Mapping[str, ImportedRecord],
    text_of: Callable[[ImportedRecord], str],
) -> Iterator[ImportRecord | Refused]:
    """Yield a reader's records, those of each list under the keys that they had at the previous import.

    ``text_of`` returns the text that a line of the ledger stands for, or nothing where that was purged.
    """
    listed: list[ImportRecord] = []
    for record in records:
        if isinstance(record, Refused):
            yield record
            continue
        if listed and listed[0].among != record.among:
            yield from _match_list(listed, ledger, text_of)
            listed = []
        if record.among:
            listed.append(record)
        else:
            yield record
    yield from _match_list(listed, ledger, text_of)


def _match_list(
    listed: list[ImportRecord], ledger: Mapping[str, ImportedRecord], text_of: Callable[[ImportedRecord], str]
) -> Iterator[ImportRecord]:
    before = _earlier_rows(listed[0].record, listed[0].among, ledger) if listed else {}
    for record, key in zip(listed, _matched_keys(listed, before, text_of), strict=True):
        yield msgspec.structs.replace(record, key=key)


def _earlier_rows(record: str, among: str, ledger: Mapping[str, ImportedRecord]) -> dict[str, ImportedRecord]:
    """Return the lines of the ledger for the records of a list, by their keys."""
    start = f"{record}:"
    rows = {key.removeprefix(start): row for key, row in ledger.items() if key.startswith(f"{start}{among}.")}
    return {key: row for key, row in rows.items() if key[len(among) + 1 :].isdecimal()}


def _matched_keys(
    listed: list[ImportRecord], before: dict[str, ImportedRecord], text_of: Callable[[ImportedRecord], str]
) -> list[str]:
    left = dict(before)
    keys: dict[int, str] = {}
    for at, record in enumerate(listed):
        same = [
            key for key, row in left.items() if row.digest[CONTENT_DIGEST_PART] == record.digest[CONTENT_DIGEST_PART]
        ]
        if same:
            keys[at] = record.key if record.key in same else same[0]
            del left[keys[at]]
    others = [at for at in range(len(listed)) if at not in keys]
    texts = {key: text_of(row) for key, row in left.items()} if max(len(others), len(left)) <= _MAX_COMPARED else {}
    for at in others:
        own = listed[at].key
        text = listed[at].fields["content"]
        like = {key: _similarity(text, other) for key, other in texts.items()}
        best = max(like, key=lambda key: (like[key], key == own), default="")
        if best and like[best] >= _MIN_SIMILARITY:
            keys[at] = best
            del texts[best]
    used = {*before, *keys.values()}
    for at in others:
        if at not in keys:
            keys[at] = _free_key(listed[at], used)
            used.add(keys[at])
    return [keys[at] for at in range(len(listed))]


def _similarity(text: str, other: str) -> float:
    matcher = SequenceMatcher(None, text[:_MAX_COMPARED_LENGTH], other[:_MAX_COMPARED_LENGTH], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _MIN_SIMILARITY else 0.0


def _free_key(record: ImportRecord, used: set[str]) -> str:
    numbers = itertools.count(len(used) + 1)
    return (
        record.key if record.key not in used else next(k for n in numbers if (k := f"{record.among}.{n}") not in used)
    )


_LINK_PREFIX = "link:"
_LITERAL_TARGETS = ("file", "item")
"""The types of relations whose end is written as it is: a path, or a working item's id."""


class DrawnLink(NamedTuple):
    """A relation to draw, with the record at which its link begins."""

    relation: Relation
    incoming: ImportRecord


class RelationCollector:
    """The links of one import, from which the relations to draw and to remove follow at its end."""

    def __init__(self, ledger: Mapping[str, ImportedRecord]) -> None:
        self._ledger = ledger
        self._notes: list[tuple[str, str, dict[str, Any]]] = []
        self._ids: dict[str, str] = {}
        self._links: list[tuple[ImportRecord, str]] = []

    def add(self, incoming: ImportRecord, record_id: str) -> None:
        """Keep an imported memory's id, so that links can be resolved to it, and the links that it holds."""
        if incoming.record != "memory":
            return
        self._ids[incoming.key] = record_id
        self._notes.append(
            (incoming.key, incoming.fields.get("title", ""), incoming.fields.get("extra", {}).get("frontmatter", {}))
        )
        if incoming.links:
            self._links.append((incoming, record_id))

    def gone(self, alive: Mapping[str, int]) -> Iterator[str]:
        """Yield the relations that an earlier import drew and whose links are gone.

        ``alive`` has the versions of the relations of earlier imports that still exist.
        """
        present = {_link_key(incoming, *link) for incoming, _ in self._links for link in incoming.links}
        for key, row in self._ledger.items():
            if row.record_id not in alive or row.record != "relation" or key in present:
                continue
            if key.startswith(_LINK_PREFIX) and self._is_of_a_note(key.removeprefix(_LINK_PREFIX)):
                yield row.record_id

    def missing(self, alive: Mapping[str, int]) -> Iterator[tuple[str, DrawnLink]]:
        """Yield the links whose relations do not exist yet, each with its key in the ledger.

        A link whose target was not imported is left; the text of the record still holds it.
        """
        targets = LinkTargets()
        for note in self._notes if self._links else ():
            targets.add_note(*note)
        for incoming, src in self._links:
            for kind, written, label in incoming.links:
                key = _link_key(incoming, kind, written, label)
                end = self._end(targets, incoming, kind, written)
                drawn = self._ledger.get(key)
                if (drawn and drawn.record_id in alive) or end is None or end == src:
                    continue
                try:
                    fields = {"src": src, "dst": end, "type": kind, "label": label}
                    yield key, DrawnLink(make_relation(fields), incoming)
                except MementoError:
                    # A label that is no single line is the note's own business; the link stays in its text.
                    continue

    def _end(self, targets: LinkTargets, incoming: ImportRecord, kind: str, written: str) -> str | None:
        """Return the id or path that a link leads to; ``None`` for a memory that is not among the imported."""
        if kind in _LITERAL_TARGETS:
            return written
        target = targets.resolve(written, incoming.key)
        return None if target is None else self._ids[target]

    def _is_of_a_note(self, rest: str) -> bool:
        """Return whether a link begins at one of the notes of this import; a note's key may hold the mark itself."""
        ends = [place for place, character in enumerate(rest) if character == ">"]
        return any(rest[:end] in self._ids for end in ends)


def _link_key(incoming: ImportRecord, kind: str, written: str, label: str) -> str:
    """Return the key of a link in the ledger; one record may be related to another in several ways."""
    return f"{_LINK_PREFIX}{incoming.key}>{kind}>{written}" + (f">{label}" if label else "")


@dataclass(frozen=True)
class _HoldReason:
    """Why a new memory waits for a person."""

    reasons: tuple[str, ...]
    evidence: Mapping[str, Any]


class ImportGate:
    """The screening of every record of one import; ``hold`` makes all new memories wait for a person."""

    def __init__(self, gate: Gate, is_signed: Callable[[bytes, str], bool], *, hold: bool) -> None:
        self.held = 0
        """How many new memories wait for a person."""
        self.redacted = 0
        """How many records held a secret."""
        self._gate = gate
        self._hold = hold
        self._is_signed = is_signed
        self._waiting: dict[str, _HoldReason] = {}
        self._removed: dict[str, Any] = {}

    def redact(self, record: AnyRecord) -> AnyRecord:
        """Return a record of the source without the secrets it holds: neither the store nor the ledger keeps them."""
        clean, removed = redact_record(record)
        if not removed:
            return record
        self.redacted += 1
        self._removed[record.id] = msgspec.to_builtins(removed)
        return _strip_secret_remnants(record, clean)

    def is_own(self, incoming: ImportRecord) -> bool:
        """Tell whether this workspace signed a record, and the person does not want to review it all the same."""
        return bool(incoming.signature) and not self._hold and self._is_signed(incoming.signed, incoming.signature)

    def vouch(self, record: AnyRecord) -> None:
        """Let a record in as it is, because this workspace signed it."""
        self._gate.vouch(record)

    def verdict_on(self, action: Literal["create", "edit", "delete"], before: AnyRecord, after: AnyRecord) -> Verdict:
        """Return the policy's answer to a change of a record that exists, or to a new skip, item or identity."""
        intent = self._intent(action, before, after)
        verdict = Verdict("apply") if intent is None else self._gate.judge(intent)
        is_open = isinstance(before, Memory) and before.status == "pending"
        return Verdict("propose", ("held_import", *verdict.reasons)) if self._hold and not is_open else verdict

    def _intent(
        self, action: Literal["create", "edit", "delete"], before: AnyRecord, after: AnyRecord
    ) -> WriteIntent | None:
        if isinstance(after, Relation):
            return None
        score = 0.0 if action == "delete" else self._gate.screen(after).injection_score
        secret_found = action != "delete" and after.id in self._removed
        hides = action != "create" and self._gate.hides_persons(before, None if action == "delete" else after)
        if isinstance(after, Memory) and isinstance(before, Memory):
            return WriteIntent(
                action,
                external=after.source_type == "external" and after.content != before.content,
                injection_score=score,
                target_verified=before.stability != "draft" or before.pinned,
                secret_found=secret_found,
                leaves_branch=is_taken_from_branch(before.namespace, after.namespace),
                hides_persons=hides,
            )
        target: Literal["skip", "item", "crystal"]
        target = "skip" if isinstance(after, Skip) else "item" if isinstance(after, WorkingItem) else "crystal"
        return WriteIntent(action, target, injection_score=score, secret_found=secret_found, hides_persons=hides)

    def hold_if_needed(self, memory: Memory) -> Memory:
        """Return a new memory as it may come in: pending where a person is to review it first."""
        screened = self._gate.screen(without_decisions(None, memory))
        clean: Memory = screened.record
        removed = self._removed.get(memory.id)
        intent = WriteIntent(
            "create",
            external=memory.source_type == "external",
            injection_score=screened.injection_score,
            secret_found=removed is not None,
        )
        reasons = list(self._gate.judge(intent).reasons)
        if self._hold:
            reasons.append("held_import")
        if memory.status == "pending":
            reasons.append("pending_in_source")
        if not reasons:
            return clean
        evidence = {**screened.evidence, **({} if removed is None else {"removed": removed})}
        self._waiting[memory.id] = _HoldReason(tuple(reasons), evidence)
        self.held += 1
        return msgspec.structs.replace(clean, status="pending")

    def injection_score(self, memory: Memory) -> float:
        """Return how much a text reads like orders for a model, from 0 to 1."""
        return self._gate.screen(memory).injection_score

    def propose_change(self, tx: Transaction, planned: PlannedRecord) -> AnyRecord | None:
        """Ask a person about a planned change of a record, or about a new skip, item or identity.

        Return the record as it stands meanwhile, ``None`` where nothing is stored before the decision.
        """
        record, current, verdict = planned.record, planned.current, planned.verdict
        evidence: dict[str, Any] = {"file": planned.incoming.file, "line": planned.incoming.line}
        if not isinstance(record, Relation):
            evidence |= self._gate.screen(record).evidence
        if (removed := self._removed.get(record.id)) is not None:
            evidence["removed"] = removed
        if current is None and isinstance(record, Crystal):
            stored = tx.put(msgspec.structs.replace(record, status="proposed"), base=0)
            self._gate.propose(tx, ProposalDraft("create", stored, evidence=evidence), verdict)
            return stored
        if current is None:
            payload = {name: getattr(record, name) for name in record.__struct_fields__ if name != "version"}
            self._gate.propose(tx, ProposalDraft("create", record, payload, evidence, base_version=0), verdict)
        elif planned.action == "delete":
            self._gate.propose(tx, ProposalDraft("delete", current, evidence=evidence), verdict)
        else:
            if isinstance(record, Memory) and isinstance(current, Memory):
                record = without_decisions(current, record)
            changed = (name.partition(".")[0] for name in differing_fields(current, record))
            payload = {name: getattr(record, name) for name in dict.fromkeys(changed)}
            if payload:
                self._gate.propose(tx, ProposalDraft("edit", current, payload, evidence), verdict)
        return current

    def propose(self, tx: Transaction, pending: Iterable[Memory]) -> None:
        """Ask a person about new memories that wait, which `hold_if_needed` returned and which are stored by now."""
        for record in pending:
            waiting = self._waiting.pop(record.id)
            fields = {
                "action": "create",
                "target_id": record.id,
                "base_version": record.version,
                "reasons": waiting.reasons,
                "evidence": waiting.evidence,
                "fingerprint": creation_fingerprint(record),
                "proposed_by": record.source.agent or "import",
            }
            tx.put(make_proposal(fields), base=0)


def _strip_secret_remnants(record: AnyRecord, clean: AnyRecord) -> AnyRecord:
    """Remove from a title the parts of a secret that a reader cut from the text: alone they are not recognised."""
    if not isinstance(record, Memory) or not isinstance(clean, Memory):
        return clean
    words = clean.title.split()
    kept = [word for word in words if word in clean.content or word.rstrip(".") not in record.content]
    return clean if kept == words else msgspec.structs.replace(clean, title=" ".join(kept))
