from __future__ import annotations

from datetime import timedelta
from typing import get_args

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.config import DecayPreset
from memento_tui.model import Memory
from memento_tui.model.memory import STABILITIES, STATUSES
from memento_tui.search.decay import decay_curve, decay_factor, preset_weight, rank_below_successors
from memento_tui.search.scoring import WordEvidence, fuse
from tests.made import NOW, note

PRESETS = st.sampled_from(get_args(DecayPreset))
DAYS = st.floats(-400, 40_000).map(lambda days: timedelta(days=days))


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Return memories at every stage of life."""
    made = note(
        created_at=NOW - timedelta(days=draw(st.integers(0, 40_000))),
        updated_at=NOW - draw(DAYS),
        certainty=draw(st.integers(1, 5)),
        stability=draw(st.sampled_from(STABILITIES)),
        status=draw(st.sampled_from(STATUSES)),
    )
    used = draw(st.none() | DAYS)
    return msgspec.structs.replace(
        made,
        used_count=draw(st.integers(0, 2**40)),
        shown_count=draw(st.integers(0, 2**40)),
        last_used_at=None if used is None else NOW - used,
    )


@given(memories(), PRESETS, st.booleans())
def test_life_moves_a_score_by_fifteen_in_a_hundred_at_most(
    memory: Memory,
    preset: DecayPreset,
    declared: bool,  # noqa: FBT001 - drawn
) -> None:
    life = decay_factor(memory, NOW, preset=preset, superseded=declared)
    assert life.superseded == (declared or memory.status in ("superseded", "consolidated"))
    factor = life.factor * (2 if life.superseded else 1)
    assert 0.85 - 1e-9 <= factor <= 1.15 + 1e-9
    assert all(0 <= part <= 1 for part in (life.age, life.use, life.certainty, life.stability))


@given(memories(), memories(), PRESETS)
def test_being_shown_counts_for_nothing(memory: Memory, other: Memory, preset: DecayPreset) -> None:
    seen = msgspec.structs.replace(memory, shown_count=other.shown_count)
    assert preset_weight(preset, seen, NOW) == preset_weight(preset, memory, NOW)
    assert decay_factor(seen, NOW, preset=preset) == decay_factor(memory, NOW, preset=preset)
    assert decay_curve(seen, NOW, preset, [0, 400]) == decay_curve(memory, NOW, preset, [0, 400])


@given(memories(), memories(), PRESETS)
def test_no_life_raises_the_vague_above_what_is_half_as_relevant_again(
    old: Memory, fresh: Memory, preset: DecayPreset
) -> None:
    exact, vague = (decay_factor(memory, NOW, preset=preset) for memory in (old, fresh))
    if not exact.superseded:
        assert 1.5 * exact.factor > vague.factor


@given(memories(), PRESETS, DAYS, DAYS)
def test_a_weight_never_rises_while_nothing_happens(
    memory: Memory, preset: DecayPreset, one: timedelta, two: timedelta
) -> None:
    sooner, later = sorted((NOW + one, NOW + two))
    assert preset_weight(preset, memory, later) <= preset_weight(preset, memory, sooner)


NAMES = "abcdefgh"
LINKS = st.dictionaries(st.sampled_from(NAMES + "xy"), st.lists(st.sampled_from(NAMES + "xy"), max_size=3))
PLACED = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.0, 0.1, 0.5, 0.9]) | st.floats(0, 1))


def _reaches(start: str, end: str, links: dict[str, list[str]]) -> bool:
    seen, todo = {start}, [start]
    while todo:
        for name in links.get(todo.pop(), []):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return end in seen


@given(PLACED, LINKS)
def test_whatever_is_replaced_stands_below_what_replaced_it(
    scores: dict[str, float], links: dict[str, list[str]]
) -> None:
    ordered = rank_below_successors(scores, links)
    places = {name: place for place, (name, _) in enumerate(ordered)}
    reached = dict(ordered)
    known = {old: [new for new in links.get(old, []) if new in scores] for old in scores}
    assert reached.keys() == scores.keys()
    assert len(ordered) == len(scores)
    assert [score for _, score in ordered] == sorted(reached.values(), reverse=True)
    assert all(reached[name] <= score for name, score in scores.items())
    for old, names in known.items():
        for new in names:
            if not _reaches(new, old, known):
                assert places[old] > places[new]
                assert reached[old] <= 0.999 * reached[new]
        if not names:
            assert reached[old] == scores[old]


@given(PLACED, LINKS)
def test_the_order_depends_on_nothing_but_the_scores_and_the_links(
    scores: dict[str, float], links: dict[str, list[str]]
) -> None:
    turned = {name: links[name][::-1] for name in reversed(links)}
    assert rank_below_successors(dict(reversed(scores.items())), turned) == rank_below_successors(scores, links)


SCORES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100)), max_size=8, unique_by=lambda pair: pair[0])
NEARNESS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(-1, 1)), max_size=8, unique_by=lambda pair: pair[0]
)


SHARES = st.floats(0, 1)
WORDS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.builds(WordEvidence, st.floats(0, 100), SHARES, SHARES, SHARES), max_size=8
)


@given(WORDS, st.floats(0, 1000), st.none() | NEARNESS)
def test_a_relevance_lies_between_nothing_and_all(
    words: dict[str, WordEvidence], ceiling: float, semantic: list[tuple[str, float]] | None
) -> None:
    fused = fuse(words, ceiling, semantic)
    assert set(fused) == {*words, *dict(semantic or [])}
    assert all(0 <= found.score <= 1 for found in fused.values())
    assert all(0 <= found.relevance <= 1 for found in fused.values())


@given(SCORES, st.floats(0.1, 1000))
def test_a_higher_keyword_score_is_never_a_lower_relevance(keyword: list[tuple[str, float]], ceiling: float) -> None:
    fused = fuse({name: WordEvidence(score) for name, score in keyword}, ceiling, None)
    by_score = sorted(keyword, key=lambda pair: pair[1])
    relevances = [fused[name].relevance for name, _ in by_score]
    assert relevances == sorted(relevances)
