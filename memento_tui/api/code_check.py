"""Check the memories of a project against its repository: find citations of code that changed, moved or is gone.

Nothing of it is decided: a hook says it with the memory, and Review asks the person once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.api.workspace import Workspace
from memento_tui.branches import SCOPED_NAMESPACE_ROOTS
from memento_tui.maintenance.code.checker import CodeFinding, WrittenMemory, check_code
from memento_tui.maintenance.code.citations import code_citations
from memento_tui.maintenance.code.git_history import GitHistory
from memento_tui.maintenance.code.notes import CodeNote, CodeNotes, write_notes
from memento_tui.model import Memory, Proposal
from memento_tui.model.filters import AllOf, AnyOf, Filter, Not, OneOf, Under
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.policy.gate import Gate, ProposalDraft
from memento_tui.policy.policy import Verdict
from memento_tui.storage.journal import Author
from memento_tui.storage.transaction import Transaction

__all__ = [
    "CheckedMemory",
    "CodeReport",
    "check_code_citations",
    "cited_files",
    "cites_code_of",
    "refresh_code_notes",
    "repository_of",
]


def repository_of(folder: Path) -> Path:
    """Return the repository that a folder lies in; the folder itself where it is in none."""
    here = folder.resolve()
    return next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)


def cited_files(workspace: Workspace, memory: Memory, root: Path) -> list[Path]:
    """Return the files below ``root`` that a memory cites or is related to, in order, each once.

    Whoever wrote the memory chose the paths: what leads out of ``root``, by ``..`` or a link, is left out, and so is
    what is no regular file.
    """
    related = [end for kind, direction, end in workspace.related(memory.id) if (kind, direction) == ("file", "out")]
    cited = [found.text for found in code_citations(f"{memory.title}\n{memory.content}") if found.kind == "path"]
    top, files = root.resolve(), dict[Path, None]()
    for path in (*related, *cited):
        try:
            file = (top / path).resolve()
            if file.is_relative_to(top) and file.is_file():
                files[file] = None
        except (OSError, ValueError):  # no path that this file system can have
            continue
    return list(files)


def cites_code_of(workspace: Workspace, memory: Memory, root: Path) -> bool:
    """Tell whether a memory cites a file that stands below ``root``, or a symbol or a target, of whatever project."""
    cited = code_citations(f"{memory.title}\n{memory.content}")
    is_of_code = any(one.kind in ("symbol", "target") and not one.is_plain for one in cited)
    return is_of_code or bool(cited_files(workspace, memory, root))


GONE, CHANGED = "code_gone", "code_changed"
"""The reason codes of proposals about memories that cite code."""

_MOST_WAITING = 20
"""Proposals about code that wait at once; the rest are raised when those are decided, the most shown first."""

_PAGE = 500
_MOST_LABELS = 2
"""Citations that the line of a memory names."""


class CheckedMemory(msgspec.Struct, frozen=True):
    """One memory that cites code which has changed, moved or gone."""

    memory: Memory
    finding: CodeFinding


class CodeReport(msgspec.Struct, frozen=True):
    """The memories of one project whose citations of its code no longer hold."""

    root: str
    head: str
    """The commit that they were held against."""
    memories: int
    """How many memories the project has."""
    shared: int
    """How many there are of no project, which every project is told."""
    citing: int
    """How many of both cite what stood in the repository when they were written or last confirmed."""
    found: tuple[CheckedMemory, ...]
    """The memories with outdated citations: removed code before changed code, then the most shown first."""


def check_code_citations(workspace: Workspace, root: Path, namespaces: Sequence[str]) -> CodeReport:
    """Return a report on the outdated citations in memories of some namespaces and of none; nothing is written.

    One of no project counts only if it cites a file of the repository by its path: another may have all else too.

    Raises:
        InvalidInput: there is no Git repository with a commit, or git cannot read it.

    """
    history = GitHistory(root)
    own = _memories(workspace, AnyOf(tuple(Under(namespace) for namespace in namespaces))) if namespaces else {}
    shared = _memories(workspace, Not(AnyOf(tuple(Under(root) for root in SCOPED_NAMESPACE_ROOTS))))
    memories = {**shared, **own}
    found, citing = check_code(history, (_written(one, None, own) for one in memories.values()))
    confirmed = {one.id: moment for one in found if (moment := _kept_at(workspace, one.id)) is not None}
    if confirmed:
        again, _ = check_code(history, (_written(memories[name], moment, own) for name, moment in confirmed.items()))
        found = [one for one in found if one.id not in confirmed] + again
    checked = [CheckedMemory(memories[one.id], one) for one in found]
    checked.sort(key=lambda one: (one.finding.state != "gone", -one.memory.shown_count, one.memory.id))
    return CodeReport(str(root), history.head, len(own), len(memories) - len(own), citing, tuple(checked))


def refresh_code_notes(workspace: Workspace, root: Path, namespaces: Sequence[str], file: Path) -> CodeReport:
    """Check the memories, write the notes that hooks read to ``file``, and propose each finding in Review once.

    Raises like `check_code_citations`.
    """
    mark = workspace._store.journal.mark(workspace._store.journal.head())
    report = check_code_citations(workspace, root, namespaces)
    write_notes(file, CodeNotes(report.head, mark, {one.memory.id: _note(one) for one in report.found}))
    _raise_in_review(workspace, report)
    return report


def _memories(workspace: Workspace, within: Filter) -> dict[str, Memory]:
    tree = AllOf((OneOf("status", RECALLED_STATUSES), Not(OneOf("sensitivity", ("restricted",))), within))
    found: dict[str, Memory] = {}
    after = None
    while True:
        page = workspace._store.memories.page(tree, after=after, limit=_PAGE)
        found.update((memory.id, memory) for memory in page.items)
        after = page.next
        if after is None:
            break
    return found


def _written(memory: Memory, kept_at: datetime | None, own: Container[str]) -> WrittenMemory:
    moments = (memory.updated_at, memory.verified_at, kept_at)
    at = max(moment for moment in moments if moment is not None)
    return WrittenMemory(memory.id, f"{memory.title}\n{memory.content}", at, memory.id in own)


def _kept_at(workspace: Workspace, memory_id: str) -> datetime | None:
    """Return when a person last turned down such a proposal about a memory, which says that it holds."""
    decided = (
        proposal.decided_at
        for proposal in workspace._store.proposals.about(memory_id)
        if proposal.state == "rejected" and {GONE, CHANGED} & set(proposal.reasons) and proposal.decided_at is not None
    )
    return max(decided, default=None)


def _note(one: CheckedMemory) -> CodeNote:
    cited = one.finding.citations
    labels = "; ".join(citation.label for citation in cited[:_MOST_LABELS])
    is_gone = one.finding.state == "gone"
    paths = tuple(citation.path for citation in cited if is_gone and citation.path)
    return CodeNote(one.memory.version, is_gone, labels, paths)


# Review


def _raise_in_review(workspace: Workspace, report: CodeReport) -> None:
    store = workspace._store
    gate = Gate(store, Author("system", "code", agent="memento"), workspace.gate.rules)
    waiting = [*store.proposals.waiting_for(GONE), *store.proposals.waiting_for(CHANGED)]
    current = {_fingerprint(one): one for one in report.found}
    moot = [p for p in waiting if p.evidence.get("repository") == report.root and p.fingerprint not in current]
    if moot:
        _close(gate, moot)
    room = _MOST_WAITING - len(waiting) + len(moot)
    for fingerprint, one in current.items():
        if room > 0 and store.proposals.same(fingerprint) is None and _propose(gate, report, one, fingerprint):
            room -= 1


def _propose(gate: Gate, report: CodeReport, one: CheckedMemory, fingerprint: str) -> bool:
    memory, is_gone = one.memory, one.finding.state == "gone"
    payload = {} if is_gone else _change(one)
    evidence = {
        "code": [citation.why for citation in one.finding.citations],
        "repository": report.root,
        "commit": report.head,
    }
    draft = ProposalDraft("delete" if is_gone else "edit", memory, payload, evidence, fingerprint)
    with gate.transaction("code", note=one.finding.citations[0].label) as tx:
        if not _is_current(tx, memory):
            return False
        gate.propose(tx, draft, Verdict("propose", (GONE if is_gone else CHANGED,)))
    return True


def _change(one: CheckedMemory) -> dict[str, Any]:
    """Return the proposed change of a memory: the new paths of moved files, else a new confirmation."""
    text, title = one.memory.content, one.memory.title
    for citation in one.finding.citations:
        if citation.state == "moved":
            name = re.compile(rf"(?<![\w/.-]){re.escape(citation.cited)}(?![\w/-])")
            to = citation.to.replace("\\", r"\\")  # as the replacement of a pattern
            text, title = name.sub(to, text), name.sub(to, title)
    changes = {"content": text} if text != one.memory.content else {}
    changes |= {"title": title} if title != one.memory.title else {}
    return changes or {"stability": "verified" if one.memory.stability == "draft" else one.memory.stability}


def _fingerprint(one: CheckedMemory) -> str:
    """Return 16 bytes over a memory's text and its outdated citations: the same finding is proposed only once."""
    cited = sorted((citation.kind, citation.cited, citation.state, citation.to) for citation in one.finding.citations)
    about = ["code", one.memory.id, one.memory.content, one.finding.state, cited]
    return hashlib.blake2b(msgspec.json.encode(about), digest_size=16).hexdigest()


def _close(gate: Gate, moot: Iterable[Proposal]) -> None:
    with gate.transaction("proposals that ended") as tx:
        for proposal in moot:
            current = tx.get(Proposal, proposal.id)
            if current is not None and current.version == proposal.version:
                why = "The memory was changed, or what it cites is as it was."
                tx.put(
                    msgspec.structs.replace(proposal, state="expired", decided_at=tx.now, note=why),
                    base=proposal.version,
                )


def _is_current(tx: Transaction, memory: Memory) -> bool:
    current = tx.get(Memory, memory.id)
    return current is not None and current.version == memory.version
