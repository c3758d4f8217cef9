from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_a_result_has_an_id_a_score_a_snippet_and_the_memory(memento: Program) -> None:
    given = memento.add("The users endpoint is /v2/users.", "--title", "Endpoints", "--tag", "api")
    memento.add("Deploys happen on Tuesdays.")
    found = memento.json("search", "users endpoint")
    (hit,) = found["results"]
    assert (hit["id"], hit["title"], hit["tags"]) == (given, "Endpoints", ["api"])
    assert 0 < hit["score"] <= 1.5
    assert [hit["snippet"][start:end] for start, end in hit["marks"]] == ["users", "endpoint", "users"]
    assert {name: found[name] for name in ("total", "semantic", "problems", "notice")} == {
        "total": 1,
        "semantic": "off",
        "problems": [],
        "notice": "",
    }


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_words_are_found_in_these_modes_without_an_engine(memento: Program, mode: str) -> None:
    memento.add("The users endpoint is /v2/users.")
    assert len(memento.json("search", "/v2/users", "--mode", mode)["results"]) == 1


def test_meaning_alone_finds_nothing_without_an_engine(memento: Program) -> None:
    memento.add("The users endpoint is /v2/users.")
    found = memento.json("search", "users", "--mode", "semantic")
    assert (found["results"], found["semantic"]) == ([], "off")


def test_the_limit_is_obeyed(memento: Program) -> None:
    for number in range(5):
        memento.add(f"users number {number}")
    found = memento.json("search", "users", "--limit", "2")
    assert (len(found["results"]), found["total"]) == (2, 5)


def test_words_may_be_given_apart_or_together(memento: Program) -> None:
    memento.add("users endpoint", "--kind", "decision")
    memento.add("users table", "--kind", "fact")
    for query in (["users", "kind:decision"], ["users kind:decision"], ["users -table"], ['"users endpoint"']):
        assert [hit["content"] for hit in memento.json("search", *query)["results"]] == ["users endpoint"]


def test_a_quotation_mark_that_is_not_closed_is_said_and_the_rest_is_searched(memento: Program) -> None:
    memento.add("users endpoint")
    found = memento.json("search", '"users')
    assert len(found["results"]) == 1
    ended = memento.run("search", '"users')
    assert ended.err == found["problems"][0] + "\n"
    assert "users endpoint" in ended.out


@pytest.mark.parametrize(
    "query", ["users kind:nonsense", "users kindd:fact", "certainty:abc", "certainty:4..2", "-users"]
)
def test_a_query_that_cannot_be_used_is_an_error_and_nothing_is_listed(memento: Program, query: str) -> None:
    memento.add("users endpoint")
    ended = memento.run("search", "--", query)
    assert (ended.code, ended.out) == (2, "")
    assert "memento search --help" in ended.err


def test_explain_shows_the_numbers(memento: Program) -> None:
    memento.add("users endpoint")
    (hit,) = memento.json("search", "users", "--explain")["results"]
    assert hit["explain"]["keyword_rank"] == 1
    assert hit["explain"]["score"] == pytest.approx(hit["score"], abs=1e-6)
    assert "keyword_rank 1" in memento.run("search", "users", "--explain").out


def test_a_person_reads_what_was_found_and_that_nothing_was(memento: Program) -> None:
    given = memento.add("# Endpoints\nThe users endpoint is /v2/users.")
    lines = memento.run("search", "users").out.splitlines()
    assert lines[0].endswith("  Endpoints")
    assert lines[1].split() == [given, "fact,", "global", "[unverified]"]
    assert "/v2/users" in lines[2]
    assert memento.run("search", "absent").out == "Nothing found.\n"


def test_waiting_without_an_engine_waits_for_the_words(memento: Program) -> None:
    memento.add("users endpoint")
    assert len(memento.json("search", "users", "--wait")["results"]) == 1
