"""Compare a session's memories with its tools' outputs; those copied from outside wait, with the passage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from memento_tui import clock
from memento_tui.api.workspace import Workspace
from memento_tui.errors import InvalidInput, NotAllowed, NotFound
from memento_tui.maintenance.transcripts.provenance import (
    OutsidePassage,
    WrittenText,
    outside_passages,
    sentence_texts,
)
from memento_tui.maintenance.transcripts.reader import Turn, read_transcript
from memento_tui.model import Memory, Proposal
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.moments import format_moment
from memento_tui.policy.gate import Gate, ProposalDraft, creation_fingerprint
from memento_tui.policy.policy import AGENT_FIELDS, Verdict, WriteIntent
from memento_tui.policy.secrets import redact_text
from memento_tui.storage.hook_store import BegunSession
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction
from memento_tui.storage.write_history import SessionRecord

__all__ = ["CopiedMemory", "ProvenanceReport", "check_provenance"]

COPIED = "copied_from_outside"
"""The reason code of a memory that waits because of its provenance."""

_MAX_PASSAGES = 5
"""Passages that the evidence of one memory quotes."""

_MAX_SUBAGENT_FILES = 50
"""Transcripts of sub-agents that are read beside the session's own, the last written first."""

_NAME = re.compile(r"\w[\w.:@+-]{2,98}\w")
_MAX_NAMES = 20_000
"""Words in the answers of memento that are looked up as ids of memories."""


class CopiedMemory(msgspec.Struct, frozen=True):
    """One memory whose sentences a tool returned from outside, and the outcome of the check."""

    id: str
    outcome: Literal["held", "labelled", "undone", "kept", "found"]
    """``held``: it waits; ``labelled``: it counts as external, and the policy lets that in; ``undone``: an earlier text
    holds again and the change waits; ``kept``: a person stands behind it; ``found``: a dry run would act on it."""
    passages: tuple[OutsidePassage, ...]


class ProvenanceReport(msgspec.Struct, frozen=True):
    """The outcome of one comparison."""

    session: str
    compared: int
    """How many memories of the session were compared."""
    copied: tuple[CopiedMemory, ...]
    problems: tuple[str, ...] = ()
    """A sentence for every part of the transcript that could not be read."""


def check_provenance(
    workspace: Workspace,
    transcript: Path,
    session: str = "",
    *,
    project: str = "",
    begun: BegunSession | None = None,
    dry_run: bool = False,
) -> ProvenanceReport:
    """Compare the memories that a session wrote with its tools' outputs, and hold those copied from outside.

    Those are the memories that the journal files under ``session`` (the transcript's own by default), and those that
    an agent wrote while it lasted and that memento's answers in it name. What a person verified, made essential or
    edited since stays as it is. ``project`` is the folder of the project, by default the one that the session began in.

    Whoever runs a hook chooses the transcript, so when a session lasted and whose it was is read from ``begun`` there:
    what its host's agent wrote since it began, and no session that hooks know by another name.

    Raises:
        NotAllowed: an agent asks for what would be held, by a transcript that no hook vouches for.
        NotFound: the transcript is missing.
        InvalidInput: it cannot be read, or is in no format that is.

    """
    if workspace.author.actor == "agent" and begun is None and not dry_run:
        raise NotAllowed("A person says which transcript is compared with what agents remembered.")
    problems: list[str] = []
    heard = _read_names(transcript, problems)
    session = session or heard.session
    store = workspace._store
    written = _written(store, session, heard, begun)
    brought = {name: _brought(store, memory, record) for name, (memory, record) in written.items()}
    texts = [WrittenText(name, text) for name, text in brought.items() if text]
    if not texts:
        return ProvenanceReport(session, 0, (), tuple(problems))
    found = _passages(transcript, texts, project or heard.cwd, problems)
    author = Author("system", "provenance", agent=heard.agent, session=session)
    holding = _Holder(store, Gate(store, author, workspace.gate.rules), transcript, dry_run=dry_run)
    copied = [holding.hold(*written[name], passages) for name, passages in found.items()]
    return ProvenanceReport(session, len(texts), tuple(copied), tuple(problems))


class _Heard(msgspec.Struct):
    """The facts about a session that a first reading of its transcript gives."""

    session: str = ""
    agent: str = ""
    cwd: str = ""
    first_at: datetime | None = None
    last_at: datetime | None = None
    names: set[str] = msgspec.field(default_factory=set)
    """Words in memento's answers that may be ids."""


def _read_names(transcript: Path, problems: list[str]) -> _Heard:
    heard = _Heard()
    for turn in read_transcript(transcript, on_problem=problems.append):
        heard.session = heard.session or turn.session
        heard.agent = heard.agent or turn.agent
        heard.cwd = heard.cwd or turn.cwd
        if turn.at is not None:
            heard.first_at = min(heard.first_at or turn.at, turn.at)
            heard.last_at = max(heard.last_at or turn.at, turn.at)
        if turn.call is not None and (turn.call.asked or "memento" in turn.call.command):
            room = _MAX_NAMES - len(heard.names)
            heard.names.update(name for name, _ in zip(_NAME.findall(turn.text), range(room), strict=False))
    return heard


def _written(
    store: Store, session: str, heard: _Heard, begun: BegunSession | None
) -> dict[str, tuple[Memory, SessionRecord]]:
    """Return the memories of a session as they are, each with the versions that the session made."""
    records = store.writes.memories_of(session, begun.since if begun else "") if session else []
    known = {one.record_id: one for one in records}
    names = sorted(heard.names - known.keys())
    if begun is not None:
        now = format_moment(clock.now())
        known |= {one.record_id: one for one in store.writes.written_between(begun.since, now, names, begun.host)}
    elif heard.first_at is not None and heard.last_at is not None:
        lasted = format_moment(heard.first_at), format_moment(heard.last_at)
        known |= {one.record_id: one for one in store.writes.written_between(*lasted, names)}
    memories = store.memories.get_many(list(known))
    return {
        name: (memory, known[name])
        for name, memory in memories.items()
        if memory.status in (*RECALLED_STATUSES, "pending")
    }


def _brought(store: Store, memory: Memory, record: SessionRecord) -> str:
    """Return the parts of a memory's text that a session wrote, without those written before or after it."""
    text = _text(memory)
    last = memory if record.last_version == memory.version else _image(store, memory, record.last_version)
    before = None if record.is_created else _image(store, memory, record.first_version - 1)
    if last is memory and before is None:
        return text
    written = set(sentence_texts(_text(last or memory))) - set(sentence_texts(_text(before)) if before else ())
    return "\n".join(sentence for sentence in sentence_texts(text) if sentence in written)


def _image(store: Store, memory: Memory, version: int) -> Memory | None:
    return store.journal.image(Memory, memory.id, version)


def _text(memory: Memory) -> str:
    return f"{memory.title}\n{memory.content}"


def _passages(
    transcript: Path, texts: Sequence[WrittenText], project: str, problems: list[str]
) -> dict[str, list[OutsidePassage]]:
    """Return the passages of a session's transcript, and of those of its sub-agents."""
    found = outside_passages(texts, read_transcript(transcript, on_problem=lambda _: None, whole=True), project)
    said = _turns_of_person(transcript)
    for path in _subagent_files(transcript):
        try:
            turns = read_transcript(path, on_problem=lambda _: None, whole=True)
            for name, passages in outside_passages(texts, _of_subagent(said, turns), project).items():
                found.setdefault(name, passages)
        except (NotFound, InvalidInput) as error:
            problems.append(str(error))
    return found


def _subagent_files(transcript: Path) -> list[Path]:
    """Return the transcripts of a session's sub-agents, which Claude Code keeps in a folder named after the session."""
    try:
        found = [(path.stat().st_mtime, path) for path in transcript.with_suffix("").glob("subagents/*.jsonl")]
    except OSError:
        return []
    return [path for _, path in sorted(found, reverse=True)[:_MAX_SUBAGENT_FILES]]


def _turns_of_person(transcript: Path) -> list[Turn]:
    return [turn for turn in read_transcript(transcript, on_problem=lambda _: None) if turn.role == "user"]


def _of_subagent(said: Sequence[Turn], turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield the person's turns of the session, then a sub-agent's turns, in which the agent is the user."""
    yield from said
    for turn in turns:
        yield msgspec.structs.replace(turn, role="assistant") if turn.role == "user" else turn


class _Holder:
    """Holds the memories of one session that came from outside."""

    def __init__(self, store: Store, gate: Gate, transcript: Path, *, dry_run: bool) -> None:
        self._store, self._gate, self._dry_run = store, gate, dry_run
        self._transcript = str(transcript.absolute())

    def hold(self, seen: Memory, record: SessionRecord, passages: Sequence[OutsidePassage]) -> CopiedMemory:
        """Hold one memory, which is read again within the transaction."""
        outcome: Literal["held", "labelled", "undone", "kept", "found"] = "found"
        with self._gate.transaction("provenance", note=f"{self._transcript}:{_lines(passages[0])}") as tx:
            memory = tx.require(Memory, seen.id)
            if self._is_persons(memory, record) or memory.version != seen.version:
                outcome = "kept"
            elif not self._dry_run:
                outcome = self._hold(tx, memory, record, self._evidence(passages))
        return CopiedMemory(seen.id, outcome, tuple(passages))

    def _is_persons(self, memory: Memory, record: SessionRecord) -> bool:
        if memory.stability != "draft" or memory.pinned:
            return True
        if self._store.writes.versions_by_person("memory", memory.id, record.last_version):
            return True
        written = (self._store.journal.image(Memory, memory.id, v) for v in self._versions_by_person(memory))
        return any(one is not None and _has_words_of(memory, one) for one in written)

    def _versions_by_person(self, memory: Memory) -> list[int]:
        return self._store.writes.versions_by_person("memory", memory.id, 0)

    def _hold(
        self, tx: Transaction, memory: Memory, record: SessionRecord, evidence: dict[str, Any]
    ) -> Literal["held", "labelled", "undone", "kept"]:
        if memory.status == "pending":
            return self._add_evidence(tx, memory, evidence)
        verdict = self._gate.judge(WriteIntent("create", external=True, injection_score=memory.injection_score))
        external = msgspec.structs.replace(memory, source_type="external", tier=_tier_of_external(memory))
        if verdict.answer != "propose":
            tx.put(external, base=memory.version)
            return "labelled"
        reasons = Verdict("propose", tuple(dict.fromkeys([COPIED, *verdict.reasons])))
        before = None if record.is_created else self._before(record, memory)
        if before is not None:
            return self._undo(tx, memory, before, reasons, evidence)
        pending = tx.put(msgspec.structs.replace(external, status="pending"), base=memory.version)
        draft = ProposalDraft("create", pending, evidence=evidence, fingerprint=creation_fingerprint(pending))
        self._gate.propose(tx, draft, reasons)
        return "held"

    def _before(self, record: SessionRecord, memory: Memory) -> Memory | None:
        """Return the memory before the session changed it, where nobody else changed it since."""
        is_whole = record.versions == record.last_version - record.first_version + 1
        if not is_whole or record.last_version != memory.version:
            return None
        return self._store.journal.image(Memory, memory.id, record.first_version - 1)

    def _undo(
        self, tx: Transaction, memory: Memory, before: Memory, reasons: Verdict, evidence: dict[str, Any]
    ) -> Literal["undone"]:
        changed = [name for name in AGENT_FIELDS if getattr(memory, name) != getattr(before, name)]
        values = {name: getattr(memory, name) for name in changed} | {"source_type": "external"}
        kept = {name: getattr(before, name) for name in {*changed, "source_type"}}
        restored = tx.put(msgspec.structs.replace(memory, **kept), base=memory.version)
        self._gate.propose(tx, ProposalDraft("edit", restored, values, evidence), reasons)
        return "undone"

    def _add_evidence(self, tx: Transaction, memory: Memory, evidence: dict[str, Any]) -> Literal["held"]:
        """Add the outside passage to the evidence of a proposal that already waits for the memory."""
        asked = [
            proposal
            for proposal in self._store.proposals.about(memory.id)
            if proposal.action == "create" and proposal.state in OPEN_PROPOSAL_STATES and COPIED not in proposal.reasons
        ]
        if asked and memory.source_type != "external":
            memory = tx.put(
                msgspec.structs.replace(memory, source_type="external", tier=_tier_of_external(memory)),
                base=memory.version,
            )
        for proposal in asked:
            tx.put(_with_evidence(proposal, memory, evidence), base=proposal.version)
        return "held"

    def _evidence(self, passages: Sequence[OutsidePassage]) -> dict[str, Any]:
        first = passages[0]
        return {
            "transcript": self._transcript,
            "lines": _lines(first),
            "quote": redact_text(first.quote)[0],
            "passages": [
                {
                    "sentence": redact_text(passage.sentence)[0],
                    "quote": redact_text(passage.quote)[0],
                    "tool": passage.tool,
                    "where": redact_text(passage.where)[0],
                    "lines": _lines(passage),
                }
                for passage in passages[:_MAX_PASSAGES]
            ],
        }


def _with_evidence(proposal: Proposal, memory: Memory, evidence: dict[str, Any]) -> Proposal:
    reasons = tuple(dict.fromkeys([*proposal.reasons, COPIED]))
    return msgspec.structs.replace(
        proposal, reasons=reasons, evidence={**proposal.evidence, **evidence}, base_version=memory.version
    )


def _has_words_of(memory: Memory, written: Memory) -> bool:
    """Tell whether a memory has the title and the text that a person wrote, whatever its other fields are."""
    return (memory.title, memory.content) == (written.title, written.content)


def _tier_of_external(memory: Memory) -> str:
    return "short_term" if memory.tier in ("long_term", "shared") else memory.tier


def _lines(passage: OutsidePassage) -> str:
    return f"{passage.first_line}-{passage.last_line}"
