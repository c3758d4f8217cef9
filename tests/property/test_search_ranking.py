from __future__ import annotations

from datetime import timedelta

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.records import Memory
from memento_tui.records.memory import STABILITIES, STATUSES
from memento_tui.search.fusion import fuse
from memento_tui.search.life import life_of
from tests.made import NOW, note

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


@given(memories(), st.booleans())
def test_life_moves_a_score_by_fifteen_in_a_hundred_at_most(memory: Memory, declared: bool) -> None:  # noqa: FBT001 - drawn
    life = life_of(memory, NOW, superseded=declared)
    assert life.superseded == (declared or memory.status in ("superseded", "consolidated"))
    factor = life.factor * (2 if life.superseded else 1)
    assert 0.85 - 1e-9 <= factor <= 1.15 + 1e-9
    assert all(0 <= part <= 1 for part in (life.age, life.use, life.certainty, life.stability))


@given(memories(), memories())
def test_being_shown_alone_never_raises_a_memory(memory: Memory, other: Memory) -> None:
    seen = msgspec.structs.replace(memory, shown_count=other.shown_count)
    assert life_of(seen, NOW) == life_of(memory, NOW)


SCORES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 100)), max_size=8, unique_by=lambda pair: pair[0])
NEARNESS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.floats(-1, 1)), max_size=8, unique_by=lambda pair: pair[0]
)


@given(SCORES, st.floats(0, 1000), st.none() | NEARNESS)
def test_a_relevance_lies_between_nothing_and_all(
    keyword: list[tuple[str, float]], ceiling: float, semantic: list[tuple[str, float]] | None
) -> None:
    keyword.sort(key=lambda pair: -pair[1])
    fused = fuse(keyword, ceiling, semantic)
    assert set(fused) == {name for name, _ in [*keyword, *(semantic or [])]}
    assert all(0 <= found.score <= 1 for found in fused.values())


@given(SCORES, st.floats(0.1, 1000))
def test_a_higher_keyword_score_is_never_a_lower_relevance(keyword: list[tuple[str, float]], ceiling: float) -> None:
    fused = fuse(keyword, ceiling, None)
    by_score = sorted(keyword, key=lambda pair: pair[1])
    relevances = [fused[name].score for name, _ in by_score]
    assert relevances == sorted(relevances)
