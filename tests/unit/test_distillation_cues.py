"""What is labelled in a conversation is proposed: lessons, root causes, decisions, notes and skips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_transcript
from memento_tui.maintenance.distillation.cues import LANGUAGES, CueLanguage
from memento_tui.maintenance.distillation.distiller import Candidate, distill
from memento_tui.maintenance.transcripts.reader import read_transcript

STATEMENTS = [
    "Lesson learned: run `make generate` before building, or the build uses stale protobuf code.",
    "Always call /v2/users, because /v1/users answers 404.",
    "The root cause is that the connection pool was never closed after a timeout.",
    "Decision: use Postgres instead of MySQL because we need JSONB indexes.",
    "Never push to `main` without a review.",
    "Note for later: the staging database is called heron.",
]

SKIPS = {
    "Do not look into the flaky login test until the vendor answers.": "the flaky login test",
    "No need to check the mail server again until Monday.": "the mail server",
    "Leave the vendor/ folder alone until March.": "the vendor/ folder",
    "Stop checking the aurora forecast until Kp is above 4.": "the aurora forecast",
    "Don't investigate issue #482 again before next week, it waits for upstream.": "issue #482",
    "Do not retry the nightly export until the disk is replaced.": "the nightly export",
    "Already read Lena by qntm, skip it if it comes up.": "Lena by qntm",
}


def said(tmp_path: Path, text: str, role: str = "assistant") -> Path:
    turns = [("user", "Look at the build please."), ("assistant", "I look at it."), (role, text)]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({"role": who, "content": words}) + "\n" for who, words in turns))
    return path


def found(tmp_path: Path, text: str, role: str = "assistant") -> list[Candidate]:
    return distill(read_transcript(said(tmp_path, text, role), on_problem=pytest.fail))


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("text", STATEMENTS)
def test_a_plain_statement_of_what_was_learned_is_one_candidate_whoever_says_it(
    tmp_path: Path, text: str, role: str
) -> None:
    (candidate,) = found(tmp_path, text, role)
    assert candidate.target == "memory"
    assert candidate.quote == text
    assert (candidate.fields["source_type"], candidate.fields["certainty"]) == (
        ("user", 4) if role == "user" else ("derived", 3)
    )


def test_each_of_them_waits_for_a_person_as_one_proposal(workspace: Workspace, tmp_path: Path) -> None:
    report = distill_transcript(workspace, said(tmp_path, "\n\n".join(STATEMENTS)))
    assert [one.outcome for one in report.learned] == ["proposed"] * len(STATEMENTS)
    assert workspace.review.count() == len(STATEMENTS)
    assert workspace.search("heron").results == []


@pytest.mark.parametrize("text", SKIPS)
def test_a_person_says_in_many_ways_what_is_to_be_left_alone(tmp_path: Path, text: str) -> None:
    (candidate,) = found(tmp_path, text, "user")
    assert (candidate.target, candidate.fields["item"]) == ("skip", SKIPS[text])


def test_an_agents_note_for_later_may_be_a_skip(tmp_path: Path) -> None:
    (candidate,) = found(tmp_path, "Note for later: do not look into issue #482 until 2027-01-15.")
    assert (candidate.target, candidate.fields["item"]) == ("skip", "issue #482")
    assert candidate.fields["expires_at"].startswith("2027-01-15")


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_each_language_hears_its_cue_and_not_the_word_alone(tmp_path: Path, language: CueLanguage) -> None:
    (candidate,) = found(tmp_path, language.finds)
    assert candidate.rule == "labelled"
    assert str(candidate.fields["content"]).casefold() in language.finds.casefold()
    assert found(tmp_path, language.misses) == []


@pytest.mark.parametrize(
    ("text", "content", "kind"),
    [
        (
            "**Root cause**: the cache key left out the locale.",
            "Root cause: the cache key left out the locale.",
            "discovery",
        ),
        (
            "- Gotcha: the importer drops rows whose date is empty.",
            "The importer drops rows whose date is empty.",
            "anti_pattern",
        ),
        (
            "Lesson: never trust `schema.json` after a migration.",
            "Never trust `schema.json` after a migration.",
            "instruction",
        ),
    ],
)
def test_a_label_says_what_kind_of_memory_it_is(tmp_path: Path, text: str, content: str, kind: str) -> None:
    (candidate,) = found(tmp_path, text)
    assert (candidate.fields["content"], candidate.fields["kind"]) == (content, kind)


@pytest.mark.parametrize(
    "text",
    [
        "Lessons learned:",
        "Lesson learned: this one.",
        "Decision: continue with the second step.",
        "Root cause: unknown.",
        "Is the root cause that the pool is never closed?",
        "The root cause is still not clear to me at all.",
        "Maybe the lesson: tests should run first.",
        "Learned: ran the tests, all passed.",
        "Always consult a doctor before you start a diet.",
        "I will never push to `main` again.",
        "```\nLesson learned: run make generate before the build.\n```",
    ],
)
def test_what_teaches_nothing_is_no_candidate(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, text) == []
