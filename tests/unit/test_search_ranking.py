from __future__ import annotations

from datetime import timedelta
from typing import Literal

import msgspec
import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.search.decay import decay_factor, rank_below_successors
from memento_tui.search.scoring import WordEvidence, fuse
from tests.made import NOW, note, put


def ranked(workspace: Workspace, query: str) -> list[str]:
    return [hit.id for hit in workspace.search(query, mode="keyword").results]


def test_an_old_exact_match_stays_above_fresh_vague_ones(workspace: Workspace) -> None:
    old = clock.now() - timedelta(days=2000)
    put(
        workspace._store,
        note("the staging database password rotates on mondays", id="old", created_at=old, certainty=1),
        *(
            note(f"a note about the password of service {number}", id=f"fresh{number}", certainty=5, stability="stable")
            for number in range(10)
        ),
    )
    workspace.used([f"fresh{number}" for number in range(10)] * 20)
    assert ranked(workspace, "staging database password mondays")[0] == "old"


def test_of_two_that_say_the_same_the_fresher_surer_and_more_used_comes_first(workspace: Workspace) -> None:
    old = clock.now() - timedelta(days=120)
    base = {"content": "deploy with make ship"}
    put(
        workspace._store,
        note(**base, id="plain", namespace="a"),
        note(**base, id="old", namespace="b", created_at=old),
        note(**base, id="sure", namespace="c", certainty=5),
        note(**base, id="verified", namespace="d", stability="verified"),
    )
    order = ranked(workspace, "deploy ship")
    assert order.index("sure") < order.index("plain") < order.index("old")
    assert order.index("verified") < order.index("plain")
    workspace.used(["old"] * 16)
    order = ranked(workspace, "deploy ship")
    assert order.index("old") < order.index("plain")


@pytest.mark.parametrize("by_status", [True, False])
def test_what_is_superseded_comes_after_its_successor(workspace: Workspace, *, by_status: bool) -> None:
    put(
        workspace._store,
        note("deploy on friday deploy on friday", id="old", certainty=5, stability="verified"),
        note("we deploy on monday and never on friday", id="new", stability="verified", certainty=1),
    )
    assert ranked(workspace, "deploy friday") == ["old", "new"]
    if by_status:
        workspace.update("old", status="superseded")
    else:
        workspace.relate("new", "old", type="supersedes")
    assert ranked(workspace, "deploy friday") == ["new", "old"]
    explained = {hit.id: hit.explain() for hit in workspace.search("deploy friday", mode="keyword").results}
    assert (explained["old"]["superseded"], explained["new"]["superseded"]) == (True, False)


def test_a_declared_supersession_has_an_effect_on_rank_however_much_better_the_old_one_matches(
    workspace: Workspace,
) -> None:
    query = "which port does the staging proxy listen on"
    put(
        workspace._store,
        note("the staging proxy listens on port 8080", title="staging proxy port", id="old", certainty=5),
        note("since may everything of the proxy runs behind the gateway at 443", id="new", certainty=1),
        note("a proxy is a server between others", id="aside"),
    )
    workspace.used(["old"] * 20)
    before = {hit.id: hit.score for hit in workspace.search(query, mode="keyword").results}
    assert before["old"] > 2.5 * before["new"]
    workspace.relate("new", "old", type="supersedes")
    hits = workspace.search(query, mode="keyword").results
    assert [hit.id for hit in hits if hit.id != "aside"] == ["new", "old"]
    after = {hit.id: hit for hit in hits}
    assert after["old"].score == pytest.approx(0.999 * after["new"].score)
    told = after["old"].explain()
    assert told["score"] == pytest.approx(told["match"] * told["life"])
    assert told["held"] < 1


def test_fragments_never_outrank_their_own_consolidation_even_where_they_match_word_for_word(
    workspace: Workspace,
) -> None:
    texts = ["retry the upload three times", "wait two seconds between uploads", "give the upload up after a minute"]
    put(
        workspace._store,
        *(note(text, id=f"part{number}", certainty=5) for number, text in enumerate(texts)),
        note("Transfers: try again thrice, pause briefly, and give an upload up within sixty seconds.", id="whole"),
    )
    assert ranked(workspace, texts[0])[0] == "part0"
    for number in range(len(texts)):
        workspace.relate("whole", f"part{number}", type="consolidated_from")
    for text in texts:
        order = ranked(workspace, text)
        assert "whole" in order
        assert order[0] == "whole"
        assert len(order) > 1


def test_a_chain_of_successors_stands_in_its_order_and_a_circle_ends(workspace: Workspace) -> None:
    put(
        workspace._store,
        note("deploy deploy deploy", id="first"),
        note("deploy deploy and then some more words", id="second"),
        note("to deploy is a matter of many other words that nobody asks for at all", id="third"),
    )
    assert ranked(workspace, "deploy") == ["first", "second", "third"]
    workspace.relate("second", "first", type="supersedes")
    workspace.relate("third", "second", type="supersedes")
    assert ranked(workspace, "deploy") == ["third", "second", "first"]
    workspace.relate("first", "third", type="supersedes")
    assert sorted(ranked(workspace, "deploy")) == ["first", "second", "third"]


def test_a_successor_that_the_search_did_not_find_only_halves_the_old_one(workspace: Workspace) -> None:
    put(workspace._store, note("deploy on friday", id="old"), note("ship on monday", id="new"))
    (before,) = workspace.search("deploy friday", mode="keyword").results
    workspace.relate("new", "old", type="supersedes")
    (after,) = workspace.search("deploy friday", mode="keyword").results
    assert after.life.factor == pytest.approx(before.life.factor / 2, rel=1e-4)
    assert after.score == pytest.approx(after.match.score * after.life.factor)
    assert (before.life.held, after.life.held) == (1, 1)


def test_a_chain_as_long_as_a_store_is_put_in_order() -> None:
    length = 20_000
    scores = {str(number): 1.0 for number in range(length)}
    links = {str(number): [str(number + 1)] for number in range(length - 1)}
    ordered = [name for name, _ in rank_below_successors(scores, links)]
    assert ordered == [str(number) for number in reversed(range(length))]


def test_a_successor_that_is_deleted_gives_the_old_its_place_back(workspace: Workspace) -> None:
    put(workspace._store, note("deploy on friday", id="old"), note("deploy on monday or friday", id="new"))
    workspace.relate("new", "old", type="supersedes")
    (old,) = (hit for hit in workspace.search("deploy friday").results if hit.id == "old")
    assert old.life.superseded
    workspace.forget("new")
    (old,) = workspace.search("deploy friday").results
    assert not old.life.superseded


def test_an_agent_cannot_bury_a_verified_memory_by_naming_a_successor(workspace: Workspace, agent: Workspace) -> None:
    put(workspace._store, note("deploy on friday", id="old", stability="verified"), note("deploy now", id="draft"))
    with pytest.raises(NotAllowed, match="only a person says that another takes its place"):
        agent.relate("draft", "old", type="supersedes")
    workspace.relate("draft", "old", type="supersedes")
    assert not any(hit.life.superseded for hit in workspace.search("deploy").results)


@pytest.mark.parametrize(
    ("hidden", "name"),
    [
        ({"status": "pending"}, "is:pending"),
        ({"status": "archived"}, "is:archived"),
        ({"status": "rejected"}, "status:rejected"),
        ({"status": "deleted"}, "is:deleted"),
        ({"expires_at": "2020-01-01"}, "is:expired"),
        ({"sensitivity": "restricted"}, "is:restricted"),
        ({"sensitivity": "restricted"}, "id:hidden"),
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_what_is_not_recalled_is_found_only_by_name(
    workspace: Workspace, hidden: dict[str, str], name: str, mode: Literal["keyword", "hybrid"]
) -> None:
    put(
        workspace._store,
        note("alpha one", id="hidden", tags=["t"], **hidden),
        note("alpha two", id="shown", tags=["t"]),
    )
    for query in ("alpha", "tag:t", "alpha -is:pinned", "alpha -is:archived", "-is:deleted", "alpha -expires:<7d"):
        answer = workspace.search(query, mode=mode)
        assert [hit.id for hit in answer.results] == ["shown"], query
        assert answer.total == 1
    named = workspace.search(f"alpha {name}", mode=mode)
    assert [hit.id for hit in named.results] == ["hidden"]


def test_what_ends_within_days_is_told_from_what_has_ended(workspace: Workspace) -> None:
    workspace.remember("alpha soon", id="soon", expires_at="2d")
    workspace.remember("alpha late", id="late", expires_at="90d")
    workspace.remember("alpha over", id="over", expires_at="2020-01-01")
    assert ranked(workspace, "alpha expires:<7d") == ["soon"]
    assert ranked(workspace, "alpha expires:>7d") == ["late"]
    assert ranked(workspace, "alpha is:expired") == ["over"]
    assert ranked(workspace, "alpha expires:<2021-01-01") == ["over"]


def _crowd(count: int) -> list[str]:
    return [f"unrelated sentence {number} about gardens, kitchens and trains" for number in range(count)]


def test_a_score_means_the_same_from_query_to_query_and_as_the_store_grows(workspace: Workspace) -> None:
    workspace.remember_many({"content": text} for text in _crowd(60))
    workspace.remember("postgres vacuum locks the table", id="a")
    workspace.remember("grafana dashboard shows latency", id="b")
    full_a = workspace.search("postgres vacuum locks table", mode="keyword").results[0]
    full_b = workspace.search("grafana dashboard latency", mode="keyword").results[0]
    part = workspace.search("grafana of postgres on kubernetes clusters", mode="keyword").results[0]
    nothing = workspace.search("elephant giraffe zebra lion", mode="keyword")
    assert (full_a.id, full_b.id) == ("a", "b")
    assert full_a.score == pytest.approx(full_b.score, rel=0.15)
    assert part.score < 0.7 * full_b.score
    assert nothing.results == []
    workspace.remember_many({"content": text + " more"} for text in _crowd(200))
    later = workspace.search("postgres vacuum locks table", mode="keyword").results[0]
    assert later.score == pytest.approx(full_a.score, rel=0.15)


def test_the_top_hit_of_a_poor_answer_does_not_look_like_a_good_one(workspace: Workspace) -> None:
    workspace.remember_many({"content": text} for text in _crowd(40))
    workspace.remember("postgres vacuum locks the table", id="a")
    good = workspace.search("postgres vacuum locks", mode="keyword").results[0].score
    poor = workspace.search("trains postgresql upgrade window calendar", mode="keyword").results[0].score
    assert poor < good / 2


def test_explaining_shows_every_number_that_made_the_score(workspace: Workspace) -> None:
    workspace.remember("alpha beta")
    (hit,) = workspace.search("alpha", mode="keyword").results
    told = hit.explain()
    assert told["score"] == pytest.approx(told["match"] * told["life"])
    assert (told["keyword_rank"], told["semantic"], told["semantic_rank"]) == (1, None, None)
    assert told["keyword"] == told["relevance"]
    assert set(told) >= {"age", "use", "certainty", "stability", "superseded"}


def test_life_decays_by_half_in_its_half_life_and_not_at_all_for_what_is_certain() -> None:
    def age(days: int, certainty: int) -> float:
        return decay_factor(note(created_at=NOW - timedelta(days=days), certainty=certainty), NOW).age

    assert age(0, 1) == 1
    assert age(90, 1) == age(90, 2) == pytest.approx(0.5)
    assert age(180, 3) == pytest.approx(0.5)
    assert age(3000, 4) == age(3000, 5) == 1
    assert age(-5, 1) == 1


def test_use_fades_from_the_last_time() -> None:
    used = msgspec.structs.replace(note(created_at=NOW), used_count=15, last_used_at=NOW)
    stale = msgspec.structs.replace(used, last_used_at=NOW - timedelta(days=90))
    never = msgspec.structs.replace(used, last_used_at=None, used_count=0)
    assert [decay_factor(memory, NOW).use for memory in (used, stale, never)] == pytest.approx([1.0, 0.5, 0.0])


def test_each_view_of_a_query_is_told_and_the_missing_one_counts_as_nothing() -> None:
    words = {"both": WordEvidence(5.0), "words": WordEvidence(2.0), "meaning": WordEvidence(0.0, coverage=0.5)}
    fused = fuse(words, 10.0, [("meaning", 0.9), ("both", 0.6), ("far", -0.1)])
    assert {name: (found.keyword_rank, found.semantic_rank) for name, found in fused.items()} == {
        "both": (1, 2),
        "words": (2, None),
        "meaning": (None, 1),
        "far": (None, 3),
    }
    assert fused["both"].score > fused["words"].score
    assert fused["far"].semantic == 0
    assert fuse({}, 0.0, None) == {}
    assert fuse({"a": WordEvidence(1.0)}, 0.0, None)["a"].score == 0
    by_words = fuse({"a": WordEvidence(5.0)}, 10.0, None)["a"]
    assert (by_words.relevance, by_words.semantic) == (by_words.keyword, None)
    by_meaning = fuse(None, 0.0, [("a", 0.5)])["a"]
    assert (by_meaning.relevance, by_meaning.score, by_meaning.keyword) == (0.5, 0.5, None)


def test_what_helps_to_order_results_is_no_part_of_the_relevance() -> None:
    plain, helped = WordEvidence(5.0, 0.5, 0.0, 0.0), WordEvidence(5.0, 1.0, 1.0, 1.0)
    fused = fuse({"plain": plain, "helped": helped}, 10.0, [("plain", 0.6), ("helped", 0.6)])
    assert fused["helped"].score > fused["plain"].score
    assert fused["helped"].relevance == fused["plain"].relevance


@pytest.mark.parametrize(("mode", "results"), [("keyword", 1), ("semantic", 0), ("hybrid", 1)])
def test_a_workspace_whose_engine_is_off_answers_by_keyword_and_says_so(
    workspace: Workspace, mode: Literal["keyword", "semantic", "hybrid"], results: int
) -> None:
    workspace.remember("alpha")
    answer = workspace.search("alpha", mode=mode)
    assert (answer.semantic, len(answer.results)) == ("off", results)
