"""Contradictions between two memories: what is raised, of which kind, and which words differ."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memento_tui.maintenance.contradictions.attributes import ATTRIBUTE_FEATURES, UPDATE_FEATURES
from memento_tui.maintenance.contradictions.differing_values import VALUE_FEATURES
from memento_tui.maintenance.contradictions.finder import (
    SCORE_TO_RAISE,
    WEIGHTS,
    ScoredContradiction,
    compare_memories,
    weigh_with_entailment,
)
from memento_tui.maintenance.contradictions.negation import NEGATION_FEATURES
from memento_tui.model import Memory
from tests.made import NOW, note
from tests.steps import grows_in_proportion

ALIKE = 0.75
"""The cosine that notes on one subject commonly have."""

CONTRADICTIONS = [
    # values
    ("The server listens on port 8080", "The server listens on port 9090", "8080", "9090"),
    ("The request timeout is 30 s", "The request timeout is 60 seconds", "30 s", "60 seconds"),
    ("Uploads are limited to 10 MB", "Uploads are limited to 25 MB", "10 MB", "25 MB"),
    ("The plan costs $20 a month", "The plan costs $35 a month", "$20", "$35"),
    ("The project requires Python 3.11", "The project requires Python 3.12", "3.11", "3.12"),
    ("The staging database runs PostgreSQL 14", "The staging database runs PostgreSQL 16", "14", "16"),
    ("Standup is on Monday", "Standup is on Wednesday", "Monday", "Wednesday"),
    ("Releases are cut every two weeks", "Releases are cut every week", "every two weeks", "every week"),
    ("Retries are capped at three", "Retries are capped at five", "three", "five"),
    ("The cluster has 3 worker nodes", "The cluster has five worker nodes", "3", "five"),
    ("The nightly backup starts at 02:00", "The nightly backup starts at 04:30", "02:00", "04:30"),
    ("The SDK is pinned to v1.4.2", "The SDK is pinned to v2.0.0", "v1.4.2", "v2.0.0"),
    ("CPU throttling begins at 80%", "CPU throttling begins at 95%", "80%", "95%"),
    ("The API lives at /v2; /v1 answers 404", "The API lives at /v1", "/v2", "/v1"),
    ("I have 20 titles on my watch list", "I have 25 titles on my watch list now", "20", "25"),
    ("Service number 3 listens on port 8003", "Service number 3 listens on port 8303", "8003", "8303"),
    # denials and opposites
    ("Use mutexes in the scheduler", "Do not use mutexes in the scheduler", "mutexes scheduler", "not use"),
    ("Always rebase before merging", "Never rebase before merging", "rebase merging", "Never rebase"),
    ("Avoid global state in the handlers", "Use global state in the handlers", "Avoid global", "state handlers"),
    ("Tests must not touch the network", "Tests must touch the network", "not touch", "touch network"),
    (
        "The migration script is idempotent",
        "The migration script isn't idempotent",
        "script idempotent",
        "isn't idempotent",
    ),
    ("Don't commit the lock file", "Commit the lock file", "Don't commit", "lock file"),
    ("The scheduler runs jobs in parallel", "The scheduler cannot run jobs in parallel", "jobs parallel", "cannot run"),
    ("Feature flags are enabled in staging", "Feature flags are disabled in staging", "enabled", "disabled"),
    ("The cache is enabled by default", "The cache is disabled by default", "enabled", "disabled"),
    ("Code review is required for every change", "Code review is optional for every change", "required", "optional"),
    ("The settings endpoint is public", "The settings endpoint is private", "public", "private"),
    # another filler for the same slot
    ("The default branch is main", "The default branch is develop", "main", "develop"),
    ("Deploys go through Jenkins", "Deploys go through GitHub Actions", "Jenkins", "GitHub Actions"),
    ("Config lives in config.toml", "Config lives in settings.yaml", "config.toml", "settings.yaml"),
    ("Alice owns the billing service", "Bob owns the billing service", "Alice", "Bob"),
    ("The user's favorite color is blue", "The user's favorite color is green", "blue", "green"),
    ("Dates are formatted as ISO 8601", "Dates are formatted as RFC 2822", "ISO 8601", "RFC 2822"),
    ("Auth tokens are JWTs signed with HS256", "Auth tokens are JWTs signed with RS256", "HS256", "RS256"),
    ("We use npm for installs", "We use pnpm for installs", "npm", "pnpm"),
    # told changes
    ("Deploys go through Jenkins", "Deploys moved to GitHub Actions", "Jenkins", "GitHub Actions"),
    ("Deploys go through Jenkins", "We moved from Jenkins to GitHub Actions", "Jenkins", "GitHub Actions"),
    ("The build uses Webpack", "The build was switched to Vite", "Webpack", "Vite"),
    ("Sessions are stored in Redis", "Sessions are stored in Postgres now", "Redis", "Postgres"),
    ("The user works at Google", "The user works at Stripe now", "Google", "Stripe"),
    ("API errors return problem+json", "API errors no longer return problem+json", "problem+json", "problem+json"),
]

AGREEING_OR_APART = [
    ("Service number 3 of the shop listens on port 8003", "Service number 103 of the shop listens on port 8103"),
    ("The request timeout is 60 s", "The request timeout is 1 minute"),
    ("The build takes about 5 minutes", "The build takes 5 minutes"),
    ("The budget is over $34 million", "The budget is $34.2 million"),
    ("The kernel is 2.6", "The kernel is 2.6.18"),
    ("The worker never retries failed jobs", "The worker does not retry failed jobs"),
    ("We chose SQLite because it needs no server", "SQLite was chosen since no server is needed"),
    ("The parser is fast and the lexer is slow", "The lexer is slow and the parser is fast"),
    ("Backups run at 02:00 every night", "Backups run at 02:00 each night and are kept for 30 days"),
    ("Visual Basic is supported by the host", "VisualBasic is supported by the host"),
    ("The U.S. office is in Denver", "The US office is in Denver"),
    ("Don't disable the cache", "Keep the cache enabled"),
    ("PR #12 fixes the login bug", "PR #19 fixes the logout bug"),
    ("Phase 3 of the rollout is done", "Phase 4 of the rollout is done"),
    ("Alice owns the billing service", "Bob owns the search service"),
    ("We use pytest for tests", "We use ruff for linting"),
    ("The API is written in Rust", "The API is deployed on Fly"),
    ("The cache uses Redis", "The queue uses RabbitMQ"),
    ("Redis is fast", "Redis is single-threaded"),
    ("The web app runs on Node", "The web app is styled with Tailwind"),
    ("The parser handles CSV", "The parser handles JSON"),
    ("I love pizza", "I love sushi"),
    ("Alice joined in March", "Bob joined in May"),
    ("The API has 40 endpoints", "The CLI has 12 commands"),
    ("The search index takes 3 GB", "The image cache takes 8 GB"),
    ("Do not log passwords", "Log every request with its id"),
    ("The frontend is written in TypeScript", "The backend is written in Go"),
    ("Run the linter before pushing", "Run the tests before pushing"),
    ("Should the server listen on port 8080?", "Is the cache not enabled?"),
    ("On Windows the config lives in AppData", "On Linux the config lives in ~/.config"),
    ("I sold 15 jars of jam at the Homemade Market on May 29th", "I sold 12 bunches of herbs at the farm on May 15th"),
    ("1. Install the driver", "2. Install the driver"),
    ("A dog is running in the snow", "A dog is sleeping on the sofa"),
]


def _compare(older: str, newer: str, similarity: float = ALIKE, **fields: Any) -> ScoredContradiction | None:  # noqa: ANN401 - a memory's
    return compare_memories(note(older, created_at=NOW), note(newer, created_at=NOW, **fields), similarity)


def _found(older: str, newer: str, similarity: float = ALIKE) -> ScoredContradiction:
    clash = _compare(older, newer, similarity)
    assert clash is not None
    return clash


def _words(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    return " ".join(text[start:end] for start, end in spans)


@pytest.mark.parametrize(("older", "newer", "older_words", "newer_words"), CONTRADICTIONS)
def test_a_contradiction_is_raised_with_the_words_that_differ(
    older: str, newer: str, older_words: str, newer_words: str
) -> None:
    clash = _found(older, newer)

    assert clash.score >= SCORE_TO_RAISE
    assert _words(older, clash.older_spans) == older_words
    assert _words(newer, clash.newer_spans) == newer_words


@pytest.mark.parametrize(("older", "newer"), AGREEING_OR_APART)
def test_what_agrees_or_speaks_of_something_else_is_not_raised(older: str, newer: str) -> None:
    clash = _compare(older, newer)

    assert clash is None or clash.score < SCORE_TO_RAISE


def test_one_differing_clause_is_found_in_two_longer_notes() -> None:
    older = "# Service\n\nThe service is written in Go.\n\n- It listens on port 8080\n- Logs go to stdout\n- Owner: ops"
    newer = "# Service\n\n- Owner: ops\n- It listens on port 9090\n- Written in Go\n- Logs go to stdout"

    clash = _found(older, newer)

    assert clash.score >= SCORE_TO_RAISE
    assert (_words(older, clash.older_spans), _words(newer, clash.newer_spans)) == ("8080", "9090")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Focus on what changed, not how or why", "Focus on what changed, not how or why\n- Doubt every guess"),
        (
            "The client opts in by `tasks` (not None)\n- The tool allows it",
            "The client opts in by `tasks` (not None)\n- On the first line alone the tool allows it",
        ),
    ],
)
def test_a_sentence_that_both_texts_hold_contradicts_nothing(older: str, newer: str) -> None:
    sides = (f"- Keep it short\n- {older}", f"- Keep it short\n- {newer}")
    found = _compare(*sides, 0.9)
    assert found is None or found.score < SCORE_TO_RAISE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Integration tests hit real APIs", "Integration tests hit real APIs (no mocks)"),
        ("Absolute imports only - no relative imports", "Absolute imports only"),
    ],
)
def test_what_is_excluded_and_the_other_never_speaks_of_contradicts_nothing(one: str, other: str) -> None:
    for sides in ((one, other), (other, one)):
        found = _compare(*sides, 0.9)
        assert found is None or found.score < SCORE_TO_RAISE
    assert _found("There is no staging server", "There is a staging server").score >= SCORE_TO_RAISE


def test_the_reason_is_one_line_that_quotes_both_sides() -> None:
    clash = _found("The server listens on port 8080", "The server listens on port 9090")

    assert clash.why == "The older says “port 8080”, the newer “port 9090”."


def test_the_reason_stays_one_short_printable_line_whatever_the_text_holds() -> None:
    older = "The default branch is main\x1b]52;c;aGk=\x07" + "x" * 400
    newer = "The default branch is develop\u202e\u2028" + "y" * 400

    clash = _found(older, newer)

    assert clash.why.isprintable()
    assert len(clash.why) < 300


def test_a_told_change_is_temporal() -> None:
    assert _found("Deploys go through Jenkins", "Deploys moved to GitHub Actions").kind == "temporal"


def test_a_count_that_differs_is_genuine_in_one_hour_and_temporal_after_a_month() -> None:
    older = note("I have read 200 pages of the book", created_at=NOW)
    same_hour = compare_memories(older, note("I have read 220 pages of the book", created_at=NOW), ALIKE)
    later = compare_memories(
        older, note("I have read 220 pages of the book", created_at=NOW + timedelta(days=30)), ALIKE
    )

    assert same_hour is not None
    assert same_hour.kind == "genuine"
    assert later is not None
    assert later.kind == "temporal"


def test_time_between_the_writing_raises_the_score_of_a_difference_in_value() -> None:
    older = note("I have read 200 pages of the book", created_at=NOW)
    scores = [
        clash.score
        for days in (0, 1, 7, 30, 365)
        if (
            clash := compare_memories(
                older, note("I have read 220 pages", created_at=NOW + timedelta(days=days)), ALIKE
            )
        )
    ]

    assert len(scores) == 5
    assert scores == sorted(scores)
    assert scores[0] < scores[1]


def test_what_ceased_to_hold_before_the_other_began_to_contradicts_nothing() -> None:
    older = note("The default branch is main", valid_to=NOW)
    newer = note("The default branch is develop", valid_from=NOW + timedelta(days=1))
    assert compare_memories(older, newer, ALIKE) is None
    assert compare_memories(newer, older, ALIKE) is None
    still = note("The default branch is main", valid_to=NOW + timedelta(days=2))
    assert compare_memories(still, newer, ALIKE) is not None


@pytest.mark.parametrize(
    ("ours", "theirs", "kind"),
    [
        ({"validity_context": "PostgreSQL 15"}, {"validity_context": "PostgreSQL 16"}, "scoped"),
        ({"validity_context": "PostgreSQL 15"}, {"validity_context": "postgresql  15"}, "genuine"),
        ({"validity_context": "PostgreSQL 15"}, {}, "genuine"),
        ({"namespace": "projects/api"}, {"namespace": "projects/web"}, "scoped"),
        ({"namespace": "projects/api"}, {"namespace": "projects/api/auth"}, "genuine"),
        ({"namespace": "projects/api"}, {}, "genuine"),
    ],
)
def test_different_contexts_and_projects_make_it_scoped(
    ours: dict[str, Any], theirs: dict[str, Any], kind: str
) -> None:
    older = note("The cache is enabled by default", created_at=NOW, **ours)
    newer = note("The cache is disabled by default", created_at=NOW, **theirs)

    clash = compare_memories(older, newer, ALIKE)

    assert clash is not None
    assert clash.kind == kind


def test_sentences_that_name_different_surroundings_are_scoped_and_score_lower() -> None:
    apart = _found("In production the timeout is 30 s", "In staging the timeout is 60 s")
    together = _found("In production the timeout is 30 s", "In production the timeout is 60 s")

    assert (apart.kind, together.kind) == ("scoped", "genuine")
    assert apart.score < together.score


def test_texts_that_differ_in_white_space_alone_are_no_contradiction() -> None:
    assert _compare("The port is 8080", "The  port is\n8080 ") is None


def test_the_title_tells_what_a_bare_text_is_about() -> None:
    with_title = compare_memories(
        note("It is 8080", title="Port of the API"), note("It is 9090", title="Port of the API"), ALIKE
    )
    without = compare_memories(note("It is 8080"), note("It is 9090"), ALIKE)

    assert with_title is not None
    assert with_title.score > (without.score if without else 0.0)


def test_a_model_that_agrees_raises_the_score_and_one_that_does_not_lowers_it() -> None:
    clash = _found("The default branch is main", "The default branch is develop")

    surer, doubtful = weigh_with_entailment(clash, 0.99), weigh_with_entailment(clash, 0.01)

    assert doubtful.score < clash.score < surer.score
    assert weigh_with_entailment(clash, clash.score).score == pytest.approx(clash.score, abs=1e-3)
    assert (surer.why, surer.older_spans) == (clash.why, clash.older_spans)
    assert all(0 <= weigh_with_entailment(clash, chance).score <= 1 for chance in (0.0, 1.0))


_LINES = st.sampled_from(
    [
        *(text for older, newer, *_ in CONTRADICTIONS for text in (older, newer)),
        *(text for pair in AGREEING_OR_APART for text in pair),
    ]
)
_LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
_NOTES = st.one_of(st.lists(_LINES, min_size=1, max_size=4).map(". ".join), st.text(_LETTERS, min_size=1, max_size=300))


def _memory(text: str, days: int = 0) -> Memory:
    return note(text, created_at=NOW + timedelta(days=days))


@given(_NOTES.filter(str.strip), _NOTES.filter(str.strip), st.floats(0, 1), st.integers(0, 400))
@example("0 7-1.2.3.4%", "0 7-1.2.3.5%", 1.0, 0)
@example("İ is 5 İ", "İ is 6 İ", 1.0, 0)
def test_spans_are_whole_words_within_the_texts(older: str, newer: str, similarity: float, days: int) -> None:
    clash = compare_memories(_memory(older), _memory(newer, days), similarity)
    if clash is None:
        return

    assert 0 <= clash.score <= 1
    for text, spans in ((older, clash.older_spans), (newer, clash.newer_spans)):
        assert spans
        for start, end in spans:
            assert 0 <= start < end <= len(text)
            assert text[start:end] == text[start:end].strip()
            assert start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())


@given(_NOTES.filter(str.strip), _NOTES.filter(str.strip), st.floats(0, 1), st.integers(0, 400))
def test_changing_the_sides_changes_the_sides_of_the_spans_alone(
    older: str, newer: str, similarity: float, days: int
) -> None:
    one, other = _memory(older), _memory(newer, days)
    there, back = compare_memories(one, other, similarity), compare_memories(other, one, similarity)
    if there is None or back is None:
        assert there is back
        return

    assert (there.score, there.kind) == (back.score, back.kind)
    assert (there.older_spans, there.newer_spans) == (back.newer_spans, back.older_spans)


@given(_NOTES.filter(str.strip), st.floats(0, 1))
def test_a_text_never_contradicts_itself(text: str, similarity: float) -> None:
    assert compare_memories(_memory(text), _memory(text, 3), similarity) is None


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "1",
        "1,",
        "1-",
        "1.",
        "- ",
        ".",
        "'",
        "\n",
        "a/b_",
        "not ",
        "is now ",
        "The port is 8080. ",
        "Go. ",
        "\U0001f600",
    ],
)
def test_hostile_texts_are_compared_in_steps_in_proportion_to_their_length(unit: str) -> None:
    _grows(lambda size: (unit * size)[:size])


def test_a_text_of_many_numbers_is_compared_in_steps_in_proportion_to_its_length() -> None:
    _grows(lambda size: "".join(f"Worker {number} has {number} jobs. " for number in range(size // 25)))


def _grows(text: Callable[[int], str]) -> None:
    other = _memory("The port is 9090 and the worker has no jobs now", 3)
    grows_in_proportion(
        lambda size: compare_memories(_memory(f"{text(size)}x"), _memory(f"{text(size)}y not 7", 3), 0.9), 400
    )
    grows_in_proportion(lambda size: compare_memories(_memory(f"{text(size)}z"), other, 0.5), 400)


def test_every_feature_of_a_family_has_its_weight() -> None:
    features = {
        "value": VALUE_FEATURES,
        "denial": NEGATION_FEATURES,
        "slot": ATTRIBUTE_FEATURES,
        "update": UPDATE_FEATURES,
    }
    assert {family: len(names) for family, names in features.items()} == {
        family: len(weights.features) for family, weights in WEIGHTS.items()
    }
