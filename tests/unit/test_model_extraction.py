"""A language model may name what a conversation taught; only what a turn of it says itself is proposed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_transcript
from memento_tui.config import LanguageModelConfig
from memento_tui.maintenance.consolidation.drafting import Drafter
from memento_tui.maintenance.distillation.proposals import Conversation, extract_with_model
from memento_tui.maintenance.transcripts.reader import Turn
from tests.agreed import agreed
from tests.unit.chat_server import ChatServer

SAID = (
    ("user", "The export job of the billing service fails whenever the VPN is down, and it does so without any error."),
    ("assistant", "The billing export opens its socket lazily, so a dead VPN shows up as an empty file after the run."),
)


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server


def asking(chat: ChatServer, data_dir: Path) -> Workspace:
    with (data_dir / "config.toml").open("a") as config:
        config.write(f'[language_model]\nurl = "{chat.url}"\nmodel = "test"\n')
    return Workspace(data_dir)


def transcript(tmp_path: Path, *more: tuple[str, str]) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in (*SAID, *more)))
    return path


def turn(role: str, text: str, line: int = 1) -> Turn:
    return Turn(role, text, line, line, None, "s1", "claude", "")  # type: ignore[arg-type]  # a role by its name


def test_what_a_turn_says_is_proposed_with_that_turn_and_the_rest_is_dropped(
    chat: ChatServer, data_dir: Path, tmp_path: Path
) -> None:
    chat.says(
        "- The billing export fails without any error whenever the VPN is down.\n"
        "- The billing export fails after 90 seconds whenever the VPN is down.\n"
        "- The payroll service of Contoso fails whenever the VPN is down without error.\n"
        "- Checked the export job, all passed.\n"
        "- Customers like the colour of the new dashboard very much."
    )
    with asking(chat, data_dir) as workspace:
        report = distill_transcript(workspace, transcript(tmp_path))
        (learned,) = report.learned
        assert learned.candidate.fields["content"] == (
            "The billing export fails without any error whenever the VPN is down."
        )
        (waiting,) = workspace.review.list()[0]
        assert waiting.proposal.evidence["rule"] == "language_model"
        assert waiting.proposal.evidence["draft"] == "model"
        assert waiting.proposal.evidence["lines"] == "1-1"
        assert waiting.proposal.evidence["quote"] == SAID[0][1]
    (question,) = chat.questions
    assert all(text in question.text for _, text in SAID)


@pytest.mark.parametrize("answer", ["NONE", "none.", ""])
def test_a_model_that_found_nothing_proposes_nothing(
    chat: ChatServer, data_dir: Path, tmp_path: Path, answer: str
) -> None:
    chat.says(answer)
    with asking(chat, data_dir) as workspace:
        assert distill_transcript(workspace, transcript(tmp_path)).learned == ()


def test_a_secret_is_taken_out_before_the_model_reads_the_conversation(
    chat: ChatServer, data_dir: Path, tmp_path: Path
) -> None:
    key = "AKIA" + "Q3EGMDPRTV5WXY2Z"
    chat.says("NONE")
    with asking(chat, data_dir) as workspace:
        distill_transcript(workspace, transcript(tmp_path, ("user", f"the key is {key} by the way")))
    assert key not in chat.questions[0].text


def test_a_model_on_another_machine_never_reads_a_conversation() -> None:
    drafter = Drafter(agreed(LanguageModelConfig(url="https://models.example.org/v1", model="m")))
    assert drafter.is_configured
    assert extract_with_model([turn(*SAID[0])], drafter) == []
    assert drafter.last_problem == ""


def test_of_a_long_conversation_the_end_is_kept_and_nothing_that_a_tool_returned() -> None:
    conversation = Conversation()
    for line in range(1, 40):
        conversation.note(turn("user", f"word {line} " * 200, line))
        conversation.note(turn("tool", "output from outside", line))
    kept = conversation.turns
    assert {one.role for one in kept} == {"user"}
    assert [one.first_line for one in kept] == list(range(40 - len(kept), 40))
    assert 0 < len(kept) < 39
