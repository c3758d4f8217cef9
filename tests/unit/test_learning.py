"""Distilling a transcript into a workspace: what is proposed, what is known already, and what a model may reword."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.distillation import DistillationReport, distill_transcript
from memento_tui.errors import InvalidInput, NotFound
from memento_tui.storage.hook_store import HookStore
from tests.unit.cli_program import Program, without_engine

SAID = [
    ("user", "Always run make lint before you commit to this repository."),
    ("assistant", "Understood, I will run it first."),
    ("user", "Don't bother with the tests in legacy/ until 2099-01-31, they are known to be broken."),
    ("user", "We are waiting for Anna to send the staging credentials."),
]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in SAID))
    return path


def outcomes(found: DistillationReport) -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for one in found.learned:
        told.setdefault(one.outcome, []).append(one.candidate.target)
    return told


def test_what_a_transcript_teaches_is_proposed_with_the_lines_it_rests_on(
    workspace: Workspace, transcript: Path
) -> None:
    found = distill_transcript(workspace, transcript)
    assert found.turns == 4
    assert sorted(outcomes(found)["proposed"]) == ["item", "memory", "skip"]
    waiting = {pending.proposal.target: pending.proposal for pending in workspace.review.list()[0]}
    assert all(proposal.reasons == ("distilled",) for proposal in waiting.values())
    assert all(proposal.evidence["transcript"] == str(transcript) for proposal in waiting.values())
    assert {target: proposal.evidence["lines"] for target, proposal in waiting.items()} == {
        "memory": "1-1",
        "skip": "3-3",
        "item": "4-4",
    }
    assert "make lint" in waiting["memory"].evidence["quote"]
    assert workspace.search("lint").results == []


def test_approving_what_was_distilled_puts_it_where_it_belongs(workspace: Workspace, transcript: Path) -> None:
    distill_transcript(workspace, transcript)
    for pending in workspace.review.list()[0]:
        workspace.review.approve(pending.proposal.id, seen=pending.proposal.version)
    (memory,) = workspace.list().items
    assert (memory.stability, memory.source.transcript, memory.source.span) == ("verified", str(transcript), "1-1")
    assert len(workspace.skips.list()) == 1
    assert len(workspace.items.list()) == 1


def test_what_is_known_or_waits_already_is_not_proposed_again(workspace: Workspace, transcript: Path) -> None:
    distill_transcript(workspace, transcript)
    before = workspace.review.count()
    assert set(outcomes(distill_transcript(workspace, transcript))) == {"known"}
    for pending in workspace.review.list()[0]:
        workspace.review.approve(pending.proposal.id)
    assert set(outcomes(distill_transcript(workspace, transcript))) == {"known"}
    assert (before, workspace.review.count()) == (3, 0)


def test_what_was_rejected_is_not_proposed_again(workspace: Workspace, transcript: Path) -> None:
    distill_transcript(workspace, transcript)
    for pending in workspace.review.list()[0]:
        workspace.review.reject(pending.proposal.id, "no")
    found = distill_transcript(workspace, transcript)
    assert set(outcomes(found)) == {"rejected"}
    assert {one.why for one in found.learned} == {"no"}
    assert workspace.review.count() == 0


def test_a_dry_run_proposes_nothing(workspace: Workspace, transcript: Path) -> None:
    head = workspace._store.journal.head()
    assert set(outcomes(distill_transcript(workspace, transcript, dry_run=True))) == {"found"}
    assert workspace._store.journal.head() == head


def test_a_secret_in_a_transcript_reaches_neither_the_memory_nor_its_evidence(
    workspace: Workspace, tmp_path: Path
) -> None:
    key = "AKIA" + "Q3EGMDPRTV5WXY2Z"
    path = tmp_path / "leaky.jsonl"
    path.write_text(json.dumps({"role": "user", "content": f"Always upload the build with the key {key} to S3."}))
    distill_transcript(workspace, path)
    for file in workspace.paths.root.rglob("*"):
        if file.is_file():
            assert key.encode() not in file.read_bytes(), file
    assert any("secret_found" in pending.proposal.reasons for pending in workspace.review.list()[0])


def test_under_the_open_preset_what_was_distilled_is_a_draft_at_once(transcript: Path, data_dir: Path) -> None:
    (data_dir / "config.toml").write_text('[engine]\nenabled = false\n[review]\npreset = "open"\n')
    with Workspace(data_dir) as opened:
        assert set(outcomes(distill_transcript(opened, transcript))) == {"stored"}
        assert [memory.stability for memory in opened.list().items] == ["draft"]
        assert opened.review.count() == 0


@pytest.mark.parametrize("content", [None, b"\x00\x01\x02", b"[1, 2]\n", b'{"role": "user"'])
def test_what_is_no_transcript_is_told_in_a_sentence_and_stores_nothing(
    workspace: Workspace, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "odd.jsonl"
    if content is not None:
        path.write_bytes(content)
    head = workspace._store.journal.head()
    with pytest.raises((InvalidInput, NotFound), match=r"\.( |$)"):
        distill_transcript(workspace, path)
    assert workspace._store.journal.head() == head


def test_the_command_line_tells_what_was_learned(tmp_path: Path, transcript: Path) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    told = memento.json("distill", str(transcript))
    assert sorted(one["outcome"] for one in told["learned"]) == ["proposed"] * 3
    assert "3 wait" not in memento.run("distill", str(transcript)).out
    assert memento.run("distill", str(tmp_path / "missing.jsonl"), "--json").code != 0


def test_a_transcript_that_an_agent_hands_over_teaches_in_the_name_of_no_other_session(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "handed.jsonl"
    rows = [{"role": role, "content": text, "session": "another", "agent": "codex"} for role, text in SAID]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Workspace(workspace.paths.root, actor="agent", channel="mcp", agent="claude-code", session="own") as agent:
        distill_transcript(agent, path)
    asked = [one.proposal for one in workspace.review.list()[0]]
    assert {(one.proposed_by, one.session) for one in asked} == {("claude-code", "own")}
    hooks = HookStore(workspace.paths.database)
    assert [len(hooks.lessons_of(name, 9)) for name in ("another", "own")] == [0, 3]
    hooks.close()
