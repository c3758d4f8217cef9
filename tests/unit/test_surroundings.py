"""What surrounds a thing that waits: only transcripts that are plainly named are read, and secrets are not repeated."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.api.review import PendingProposal
from memento_tui.api.review_context import TranscriptExcerpt, similar_memories, transcript_excerpt
from tests.made import always


def waiting(workspace: Workspace, agent: Workspace, **source: str) -> PendingProposal:
    agent.remember("Learned there.", source_type="external", source=source)
    item = workspace.inbox.get(workspace.inbox.view().ids(0, 1)[0])
    assert isinstance(item, PendingProposal)
    return item


def read(workspace: Workspace, agent: Workspace, **source: str) -> TranscriptExcerpt:
    found = transcript_excerpt(waiting(workspace, agent, **source))
    assert found is not None
    return found


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    key = "AKIA" + "Q3EGMDPRTV5WXY2Z"
    said = ["one", "two", f"the key is {key}", "four\n" * 30, "x" * 9_000]
    path.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in said))
    return path


@pytest.mark.parametrize(
    ("span", "before", "source", "after"),
    [("1-2", [], [1, 2], [3, 4]), ("2", [1], [2], [3, 4]), ("4-5", [2, 3], [4, 5], []), ("9", [], [], [])],
)
def test_the_lines_of_the_span_are_returned_with_two_turns_before_and_after_them(
    workspace: Workspace,
    agent: Workspace,
    transcript: Path,
    span: str,
    before: list[int],
    source: list[int],
    after: list[int],
) -> None:
    found = read(workspace, agent, transcript=str(transcript), span=span)
    assert [one.first_line for one in found.said] == [*before, *source, *after]
    assert [one.first_line for one in found.said if one.is_source] == source
    assert found.problem == ("" if source else "These lines say nothing that can be read.")


def test_secrets_are_not_repeated_and_long_texts_are_cut(
    workspace: Workspace, agent: Workspace, transcript: Path
) -> None:
    found = read(workspace, agent, transcript=str(transcript), span="3-5")
    key, lines, letters = found.said[2:]
    assert "AKIA" not in key.text
    assert (lines.text.count("\n"), lines.is_cut) == (19, True)
    assert (len(letters.text), letters.is_cut) == (4_000, True)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"transcript": "session.jsonl", "span": "1"}, "whole path"),
        ({"transcript": "/no/such/file.jsonl", "span": "1"}, "not there"),
        ({"transcript": "/dev/zero", "span": "1"}, "not a plain file"),
        ({"transcript": "/etc", "span": "1"}, "not a plain file"),
        ({"transcript": "/etc/passwd", "span": "1"}, "not a transcript"),
        ({"transcript": "/" + "x" * 300, "span": "1"}, "cannot be read"),
        ({"transcript": "/etc/passwd", "span": "somewhere"}, ""),
    ],
)
def test_what_is_no_plain_transcript_is_not_read(
    workspace: Workspace, agent: Workspace, source: dict[str, Any], problem: str
) -> None:
    found = read(workspace, agent, **source)
    assert found.said == ()
    assert problem in found.problem


def test_neither_a_link_nor_a_pipe_is_followed(
    workspace: Workspace, agent: Workspace, transcript: Path, tmp_path: Path
) -> None:
    link, pipe = tmp_path / "link.jsonl", tmp_path / "pipe.jsonl"
    link.symlink_to(transcript)
    os.mkfifo(pipe)
    item = waiting(workspace, agent, transcript=str(link), span="1")
    for path in (link, pipe):
        workspace.update(item.proposal.target_id, source={"transcript": str(path), "span": "1"})
        found = transcript_excerpt(workspace.review.get(item.proposal.id))
        assert found is not None
        assert "not a plain file" in found.problem


def test_memories_alike_are_found_without_those_that_are_shown_anyway(workspace: Workspace, agent: Workspace) -> None:
    workspace.remember("The cache must be warm before a deploy.", id="alike")
    workspace.remember("Something else entirely about lunch.", id="lunch")
    workspace.search("cache")
    agent.remember("The cache must be warm before each deploy.", source_type="external", make_id=always("new"))
    workspace.search("cache")
    item = workspace.review.get("new")
    assert [near.memory.id for near in similar_memories(workspace, item)] == ["alike"]
    assert transcript_excerpt(item) is None
