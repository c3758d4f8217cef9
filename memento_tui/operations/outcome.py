"""Report the outcomes of an agent's writes: stored, known, waiting for a person, or rejected, each in one wording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.review import PendingProposal
from memento_tui.errors import Conflict, NotAllowed
from memento_tui.model import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.model.memory import FOREIGN_ID, content_digest
from memento_tui.model.validation import check_id, to_plain
from memento_tui.operations.memories import is_readable, without_identity_marks
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import one_line
from memento_tui.text.logs import LOG_HINT, is_log

__all__ = [
    "DECIDED_STATES",
    "ProposalSummary",
    "StoreOutcome",
    "because",
    "pending_change_sentence",
    "proposals_of_agent",
    "rejection_reason",
    "store_memories",
    "store_memory",
    "write_identity",
]


def because(reasons: Sequence[str]) -> str:
    """Return reasons as they follow a statement: ``, because a; b``; empty where there are none."""
    return f", because {'; '.join(reasons)}" if reasons else ""


def rejection_reason(note: str) -> str:
    """Return the end of a sentence about a rejection: a colon and the person's reason, or a full stop."""
    return f": {one_line(note)}" if note else "."


def _pending_sentence(reasons: Sequence[str]) -> str:
    return f"A person decides about it{because(reasons)}. Do not store it again."


def _rejection(what: str, note: str) -> NotAllowed:
    sentence = f"Not stored: a person rejected the same {what} before{rejection_reason(note)}"
    return NotAllowed(sentence, "Do not store it again.")


@dataclass(frozen=True)
class StoreOutcome:
    """The outcome of storing a text: the memory that holds it, and how that memory stands."""

    memory: Memory
    is_known: bool
    """Whether the text was remembered before, so that nothing new was stored."""
    reasons: tuple[str, ...] = ()
    """Why the memory waits for a person, a phrase for each reason."""
    note: str = ""
    """The reason of the person who rejected the same text before."""

    @property
    def is_pending(self) -> bool:
        """Whether a person decides about the memory."""
        return self.memory.status == "pending"

    @property
    def is_rejected(self) -> bool:
        """Whether nothing was stored, because a person rejected the same text before."""
        return self.memory.status == "rejected"

    @property
    def hint(self) -> str:
        """The advice for an agent that stored a log as if it were knowledge; empty for any other text."""
        memory = self.memory
        is_new = memory.status == "active" and not self.is_known
        return LOG_HINT if is_new and memory.kind != "daily" and is_log(memory.content, memory.title) else ""

    @property
    def pending_sentence(self) -> str:
        """Why the memory waits for a person, in a sentence; empty where it does not."""
        return _pending_sentence(self.reasons) if self.is_pending else ""

    @property
    def remark(self) -> str:
        """The sentences for the agent beyond the outcome: why the memory waits, or which parts it lacks."""
        return self.pending_sentence or self.hint

    def accepted(self) -> StoreOutcome:
        """Return the outcome. Raises `NotAllowed` where a person rejected the same text before."""
        if self.is_rejected:
            raise _rejection("text", self.note)
        return self


def store_memory(
    workspace: Workspace,
    content: str,
    *,
    make_id: Callable[[], str] | None = None,
    source_url: str | None = None,
    wished_id: str | None = None,
    **fields: Any,  # noqa: ANN401 - the fields of a memory
) -> StoreOutcome:
    """Store a memory; ``source_url`` is the page that it is from. Raises like `Workspace.remember`.

    ``wished_id`` is the id that the client asks for. The memory gets one of its own and keeps that beside it.
    """
    started_at = clock.now()
    if wished_id is not None:
        _check_wished_id(workspace, wished_id, content, str(fields.get("namespace", "global")))
        fields["extra"] = {**fields.get("extra", {}), FOREIGN_ID: wished_id}
    if source_url is not None:
        author = workspace.author
        fields["source"] = {"agent": author.agent, "session": author.session, "url": source_url}
    return _store_outcome(workspace, workspace.remember(content, make_id=make_id, **fields), started_at)


def _check_wished_id(workspace: Workspace, wished_id: str, content: str, namespace: str) -> None:
    known = workspace.find(check_id(wished_id))
    if known is None or known.namespace != namespace:
        known = workspace.find_foreign(wished_id, namespace)
    if known is None:
        return
    if known.status == "rejected" and content_digest(known.content) == content_digest(content):
        return  # the answer is that the text was rejected, and why
    raise Conflict(
        f"The id {wished_id!r:.80} leads to the memory {known.id} already.",
        "Change that one, or leave the id out.",
        current=to_plain(known),
    )


def store_memories(workspace: Workspace, items: Iterable[Mapping[str, Any]]) -> list[StoreOutcome]:
    """Store many memories, each a mapping with ``content`` and other fields. Raises like `Workspace.remember_many`."""
    started_at = clock.now()
    return [_store_outcome(workspace, memory, started_at) for memory in workspace.remember_many(items)]


def _store_outcome(workspace: Workspace, memory: Memory, started_at: datetime) -> StoreOutcome:
    is_undecided = memory.status in ("pending", "rejected")
    proposals = workspace.review.about(memory.id) if is_undecided else ()
    return StoreOutcome(
        memory,
        is_known=memory.created_at < started_at,
        reasons=tuple(reasons_in_words(proposals[0].reasons)) if memory.status == "pending" and proposals else (),
        note=next((proposal.note for proposal in proposals if proposal.note), ""),
    )


def pending_change_sentence(proposal: Proposal) -> str:
    """Return why a change waits for a person.

    Raises:
        NotAllowed: a person rejected the same change before.

    """
    if proposal.state == "rejected":
        raise _rejection("change", proposal.note)
    return _pending_sentence(reasons_in_words(proposal.reasons))


class IdentityOutcome(NamedTuple):
    """The outcome of writing the identity: its crystal, and the proposal where it waits or was rejected before."""

    crystal: Crystal
    proposal: Proposal | None


def write_identity(workspace: Workspace, content: str, base_id: str | None = None) -> IdentityOutcome:
    """Write the whole identity anew. Raises like `Crystals.write`.

    Words of caution that an agent read above the present one, and sends back with it, are no part of it.
    """
    crystal = workspace.crystals.write(without_identity_marks(content), base_id=base_id)
    is_undecided = crystal.status in ("proposed", "rejected")
    return IdentityOutcome(crystal, workspace.review.about(crystal.id, "crystal")[0] if is_undecided else None)


DECIDED_STATES = ("approved", "rejected", "expired")
"""The states of proposals about which nothing more is to be decided."""


class ProposalSummary(NamedTuple):
    """A proposal, and its subject in one line (empty where it has none to show)."""

    proposal: Proposal
    about: str


def proposals_of_agent(
    workspace: Workspace, states: Sequence[str], after: str | None = None, limit: int = 10
) -> tuple[list[ProposalSummary], str | None]:
    """Return the proposals of the workspace's agent in some states, the latest decision first, and the next cursor.

    Raises:
        NotFound: ``after`` is no cursor.

    """
    proposals, next_cursor = workspace.review.made_by(workspace.author.name, states, after=after, limit=limit)
    return [ProposalSummary(pending.proposal, _subject_of(pending)) for pending in proposals], next_cursor


_UNTOLD_REASONS = frozenset(("injection_suspected", "joined_orders", "quarantined"))
"""The reasons for which a text is quoted to no agent until it is let in: another session may have the same name."""


def _subject_of(pending: PendingProposal) -> str:
    if pending.proposal.state != "approved" and not _UNTOLD_REASONS.isdisjoint(pending.proposal.reasons):
        return ""
    match target := pending.target:
        case Memory():
            return _subject_of_memory(target)
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
        case Crystal():
            return target.content
        case _:
            texts = (pending.proposal.payload.get(name) for name in ("title", "item", "resolution"))
            return next((str(text) for text in texts if text), "")


def _subject_of_memory(memory: Memory) -> str:
    if memory.sensitivity == "restricted":
        return ""  # it is read by its id alone
    if memory.source_type == "external" and not is_readable(memory):
        return memory.source.url
    return memory.headline
