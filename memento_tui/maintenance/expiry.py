"""End aged memories, expired skips, stale proposals and finished branches; ask about skips that end soon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from memento_tui.branches import branch_namespace, is_name_of_branch, namespace_without_branch, parts_of_branch
from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.maintenance.aging import AgingChange, due_change, is_skip_over
from memento_tui.maintenance.code.git_history import run_git
from memento_tui.maintenance.context import MaintenanceAction, MaintenanceContext, is_current
from memento_tui.model import Memory, Proposal, Skip
from memento_tui.model.filters import AllOf, OneOf, Under
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.moments import format_moment, parse_moment
from memento_tui.policy.gate import ProposalDraft, fingerprint_of
from memento_tui.policy.policy import Verdict
from memento_tui.projects import USUAL_DEFAULT_BRANCHES
from memento_tui.storage.store import Store
from memento_tui.storage.transaction import Transaction

__all__ = ["age_memories", "ask_about_skips", "end_skips", "expire_proposals", "offer_ended_branches"]

_ENDED_SKIPS_KEPT = timedelta(days=30)
"""How long a skip that is over stays listed; it holds no more from its end on."""

_PROPOSALS_PAGE = 500
"""Proposals that are read and closed at a time."""


def age_memories(context: MaintenanceContext) -> None:
    """Expire, demote, compact and archive the memories that are due, a thousand at a time."""
    total, done = context.store.memories.count_all(), 0
    for batch in context.store.memories.batches():
        if context.interrupted:
            return
        context.report_progress("Looking at ages", done, total)
        done += len(batch)
        due = _due_changes(context, batch)
        if due and not context.dry_run:
            with context.transaction("ages") as tx:
                due = [change for change in due if is_current(tx, change.memory)]
                for change in due:
                    tx.put(change.memory, base=change.memory.version)
        context.record(MaintenanceAction(change.action, "memory", change.memory.id, change.why) for change in due)
    context.report_progress("Looking at ages", total, total)


def _due_changes(context: MaintenanceContext, memories: Sequence[Memory]) -> list[AgingChange]:
    """Return the changes that are due. An imported memory ages from the day of its import at the earliest."""
    suspects = [memory for memory in memories if _due_change_of(context, memory, None) is not None]
    known = context.store.journal.first_written("memory", [memory.id for memory in suspects]) if suspects else {}
    found = (_due_change_of(context, memory, known.get(memory.id)) for memory in suspects)
    return [change for change in found if change is not None]


def _due_change_of(context: MaintenanceContext, memory: Memory, known_since: datetime | None) -> AgingChange | None:
    preset = context.config.maintenance.decay
    since = _superseded_since(context, memory) if preset == "vault" else None
    return due_change(memory, context.now, preset=preset, superseded_since=since, known_since=known_since)


def _superseded_since(context: MaintenanceContext, memory: Memory) -> datetime | None:
    if memory.status != "superseded":
        return None
    drawn = [
        r.created_at
        for r in context.store.memories.relations_of(memory.id)
        if r.dst == memory.id and r.type == "supersedes"
    ]
    return max(drawn, default=None)


def end_skips(context: MaintenanceContext) -> None:
    """Remove the skips that ended more than a month ago."""
    over = [skip for skip in context.store.lists.skips() if is_skip_over(skip, context.now - _ENDED_SKIPS_KEPT)]
    if over and not context.dry_run:
        with context.transaction("skips") as tx:
            over = [skip for skip in over if is_current(tx, skip)]
            for skip in over:
                tx.remove(skip, base=skip.version)
    context.record(
        MaintenanceAction("end", "skip", skip.id, f"It has been over since {skip.expires_at:%Y-%m-%d}.")
        for skip in over
    )


def expire_proposals(context: MaintenanceContext) -> None:
    """Close the proposals that no decision can carry out: their target is purged, or would have ended already."""
    after: str | None = None
    while not context.interrupted:
        found, after = context.store.proposals.page(
            OPEN_PROPOSAL_STATES, at=context.now, after=after, limit=_PROPOSALS_PAGE
        )
        gone = [(proposal, why) for proposal in found if (why := _reason_proposal_is_moot(context, proposal))]
        if gone and not context.dry_run:
            _close_proposals(context, gone)
        context.record(MaintenanceAction("expire", "proposal", proposal.id, why) for proposal, why in gone)
        if after is None:
            return


def _close_proposals(context: MaintenanceContext, gone: Iterable[tuple[Proposal, str]]) -> None:
    with context.transaction("proposals that ended") as tx:
        for proposal, why in gone:
            if is_current(tx, proposal):
                ended = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(ended, base=proposal.version)
                _archive_pending_memory(tx, proposal)


def _archive_pending_memory(tx: Transaction, proposal: Proposal) -> None:
    """Archive a memory that waited for a decision that nobody takes any more."""
    target = tx.get_named(proposal.target, proposal.target_id)
    if proposal.action == "create" and isinstance(target, Memory) and target.status == "pending":
        tx.put(msgspec.structs.replace(target, status="archived"), base=target.version)


def _reason_proposal_is_moot(context: MaintenanceContext, proposal: Proposal) -> str:
    target = context.store.find_named(proposal.target, proposal.target_id)
    creates_on_approval = proposal.action == "create" and proposal.target in ("skip", "item")
    if target is None and not creates_on_approval:
        return "What it is about does not exist any more."
    if proposal.action == "merge" and context.store.find(Memory, str(proposal.evidence["other"])) is None:
        return "One of the two memories does not exist any more."
    ends = getattr(target, "expires_at", None) if target is not None else _proposed_end(proposal)
    if ends is not None and ends <= context.now and proposal.action == "create":
        return f"It would have ended on {ends:%Y-%m-%d}."
    if proposal.target == "contradiction" and getattr(target, "status", "") == "resolved":
        return "The contradiction is resolved."
    return ""


def _proposed_end(proposal: Proposal) -> datetime | None:
    try:
        return parse_moment(proposal.payload["expires_at"], "expires_at") if "expires_at" in proposal.payload else None
    except InvalidField:
        return None


_SKIP_EXPIRY_REASON = "expiring_skip"
"""The reason code of a proposal to extend a skip."""

_SKIP_NOTICE = timedelta(days=3)
_SHORTEST_SKIP = timedelta(days=1)
_LAST_MOMENT = datetime(9999, 1, 1, tzinfo=UTC)


def ask_about_skips(context: MaintenanceContext) -> None:
    """Propose to extend each skip that ends soon and was hit; close such proposals that are moot.

    A rejection lets it end. The same is never proposed twice: the new end is counted from the old one, so the proposal
    is the same as long as the skip is.
    """
    _close_moot_skip_proposals(context)
    for skip in context.with_progress("Looking at skips that end soon", context.store.lists.skips(at=context.now)):
        if skip.hits and skip.expires_at - context.now <= _SKIP_NOTICE:
            _propose_skip_extension(context, skip)


def _propose_skip_extension(context: MaintenanceContext, skip: Skip) -> None:
    length = _length_of_skip(context.store, skip)
    if skip.expires_at + length >= _LAST_MOMENT:
        return
    payload = {"expires_at": format_moment(skip.expires_at + length)}
    if context.store.proposals.same(fingerprint_of("edit", "skip", skip.id, payload)) is not None:
        return
    times = "once" if skip.hits == 1 else f"{skip.hits:,} times"
    why = f"It ends on {skip.expires_at:%Y-%m-%d} and has been hit {times}."
    context.record([MaintenanceAction("extend", "skip", skip.id, why, waits=True)])
    if context.dry_run:
        return
    evidence = {"ends": format_moment(skip.expires_at), "hits": skip.hits}
    if skip.last_hit_at is not None:
        evidence["last_hit"] = format_moment(skip.last_hit_at)
    with context.transaction(why) as tx:
        if is_current(tx, skip):
            verdict = Verdict("propose", (_SKIP_EXPIRY_REASON,))
            context.gate.propose(tx, ProposalDraft("edit", skip, payload, evidence), verdict)


def _length_of_skip(store: Store, skip: Skip) -> timedelta:
    """Return the last length of a skip: from its creation, or from its previous end."""
    began = skip.created_at
    for revision in store.journal.history(Skip, skip.id):
        before = revision.record
        if before is not None and before.expires_at != skip.expires_at:
            # A shortened skip is measured from the moment of the change.
            began = before.expires_at if before.expires_at < skip.expires_at else skip.updated_at
            break
    return max(skip.expires_at - began, _SHORTEST_SKIP)


def _close_moot_skip_proposals(context: MaintenanceContext) -> None:
    """Close the proposals to extend skips that are over or were changed since."""
    for proposal in context.store.proposals.waiting_for(_SKIP_EXPIRY_REASON):
        why = _reason_skip_proposal_is_moot(context, proposal)
        if not why:
            continue
        context.record([MaintenanceAction("expire", "proposal", proposal.id, why)])
        if context.dry_run:
            continue
        with context.transaction("questions about skips that ended") as tx:
            if is_current(tx, proposal):
                closed = msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why)
                tx.put(closed, base=proposal.version)


def _reason_skip_proposal_is_moot(context: MaintenanceContext, proposal: Proposal) -> str:
    skip: Skip | None = context.store.find(Skip, proposal.target_id)
    if skip is None or skip.expires_at <= context.now:
        return "The skip is over."
    # Another version with the same end and words, as an undo leaves it, is the skip that was asked about.
    asked = context.store.journal.image(Skip, skip.id, proposal.base_version)
    unchanged = asked is not None and (asked.item, asked.reason, asked.expires_at) == (
        skip.item,
        skip.reason,
        skip.expires_at,
    )
    return "" if unchanged else "The skip was changed since."


_BranchState = Literal["open", "merged", "gone"]

_LOCAL, _UPSTREAM = "refs/heads/", "refs/remotes/origin/"
"""The folders of a repository that name its branches, and those of the repository that it was cloned from."""

_OWN_COMMITS = ("commit", "cherry-pick", "revert", "am")
"""How the log of a branch begins to name a commit that was made on it: one that has none yet is not merged."""


def offer_ended_branches(context: MaintenanceContext) -> None:
    """Propose for each memory of a branch that was merged, or is gone, that it belong to the project from now on."""
    found = (parts_of_branch(namespace) for namespace, _ in context.store.memories.namespaces())
    branches = sorted({parts[:2] for parts in found if parts is not None})
    for project, branch in context.with_progress("Looking at branches", branches):
        home = context.store.settings.get(f"project projects/{project}")
        if home is None or not Path(home).is_dir():
            continue  # the repository is elsewhere, and says nothing
        try:
            state = _branch_state(Path(home), branch)
        except InvalidInput as error:
            context.problems.append(f"Whether the branch {branch} of {project} was merged is not known: {error}")
            continue
        if state != "open":
            for memory in _memories_of_branch(context, branch_namespace(f"projects/{project}", branch)):
                _offer_project(context, memory, branch, state)


def _memories_of_branch(context: MaintenanceContext, namespace: str) -> Iterator[Memory]:
    here, after = AllOf((OneOf("status", ("active", "compacted")), Under(namespace))), None
    while True:
        page = context.store.memories.page(here, after=after)
        yield from page.items
        after = page.next
        if after is None:
            return


def _offer_project(context: MaintenanceContext, memory: Memory, branch: str, state: _BranchState) -> None:
    why = f"The branch {branch} was merged." if state == "merged" else f"There is no branch {branch} any more."
    payload = {"namespace": namespace_without_branch(memory.namespace)}
    action = MaintenanceAction("branch", "memory", memory.id, why, waits=True)
    context.propose(action, memory, "edit", payload, Verdict("propose", (f"branch_{state}",)), {"branch": branch})


def _branch_state(repository: Path, branch: str) -> _BranchState:
    """Return whether a branch still goes its own way, as far as a repository knows; its name may be coded.

    A branch that was squashed into one commit counts as open until it is deleted: nothing tells it from one that goes
    on. Raises `InvalidInput` where git cannot read the repository.
    """
    references = _branches_of(repository)
    found = [
        name
        for where in (_LOCAL, _UPSTREAM)
        for name in references
        if name.startswith(where) and is_name_of_branch(branch, name.removeprefix(where))
    ]
    if not found:
        return "gone"
    upstream = references.get(f"{_UPSTREAM}HEAD", "").removeprefix(_UPSTREAM)
    names = (upstream,) if upstream else USUAL_DEFAULT_BRANCHES
    trunks = [f"{where}{name}" for where in (_LOCAL, _UPSTREAM) for name in names if f"{where}{name}" in references]
    is_merged = any(all(_is_merged_into(repository, name, trunk) for name in found) for trunk in trunks)
    return "merged" if is_merged else "open"


def _branches_of(repository: Path) -> Mapping[str, str]:
    """Return the branches of a repository, each with the one that it stands for, if it is a name for another."""
    rows = run_git(repository, "for-each-ref", "--format=%(refname) %(symref)", _LOCAL, _UPSTREAM)
    pairs = (line.partition(" ") for line in rows.decode(errors="replace").split("\n") if line)
    return {name: symref for name, _, symref in pairs}


def _is_merged_into(repository: Path, name: str, trunk: str) -> bool:
    """Tell whether each commit of a branch is in the trunk, as it is or as another commit with the same change."""
    marks = [line[:1] for line in run_git(repository, "cherry", trunk, name).decode().splitlines()]
    if marks or not name.startswith(_LOCAL):
        return "+" not in marks
    log = run_git(repository, "log", "--walk-reflogs", "--format=%gs", name, "--").decode(errors="replace")
    return any(line.startswith(_OWN_COMMITS) for line in log.splitlines())
