from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.api.result_choice import choose_results, without_summarized_sources
from memento_tui.search.decay import DecayFactor, rank_below_successors
from memento_tui.search.fair_share import fair_results
from memento_tui.search.scoring import diversify
from memento_tui.storage.memory_queries import WeighedMemory
from tests.made import NOW

NAMES = [f"n{number}" for number in range(160)]


@dataclass
class Candidates:
    """Candidates with their matches, and what a database would say of them; it notes which were read."""

    matches: dict[str, float]
    rows: dict[str, WeighedMemory]
    factors: dict[str, float]
    links: dict[str, tuple[str, ...]]
    sessions: dict[str, str]
    was_read: set[str] = field(default_factory=set)

    def weighed(self, ids: Sequence[str]) -> dict[str, WeighedMemory]:
        """Return the rows of those that may be found."""
        self.was_read |= set(ids)
        return {name: self.rows[name] for name in ids if name in self.rows}

    def successors(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the links of those that others replace."""
        return {name: self.links[name] for name in ids if name in self.links}

    def writers(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the sessions that wrote them."""
        return {name: self.sessions[name] for name in ids if name in self.sessions}

    def life(self, row: WeighedMemory, superseded: bool) -> DecayFactor:  # noqa: FBT001 - as `choose_results` calls it
        """Return the factor that was drawn, halved for what another replaces."""
        is_halved = superseded or row.status in ("superseded", "consolidated")
        factor = self.factors[row.id] * (0.5 if is_halved else 1.0)
        return DecayFactor(factor, 0, 0, 0, 0, 0, is_halved, 0)

    def choose(self, limit: int, *, with_sources: bool = False, shares: bool = False) -> list[tuple[str, float]]:
        """Return the results, read no further than necessary."""
        found = choose_results(self.matches, self, self.life, limit, with_sources=with_sources, shares=shares)
        return [(one.id, one.score) for one in found]


def row(name: str, *, kind: str = "fact", status: str = "active", stability: str = "draft") -> WeighedMemory:
    return WeighedMemory(name, kind, 3, 0.5, None, "short_term", stability, status, NOW, NOW, None, 0, None)


def chosen_of_all(given_: Candidates, limit: int, *, with_sources: bool, shares: bool) -> list[tuple[str, float]]:
    """Return the results of the plain rule, which reads every candidate."""
    rows: Mapping[str, WeighedMemory] = given_.weighed(list(given_.matches))
    links: Mapping[str, Collection[str]] = given_.successors(list(rows))
    if not with_sources:
        rows = without_summarized_sources(rows, links)
    scores = {name: given_.matches[name] * given_.life(one, name in links).factor for name, one in rows.items()}
    ordered = rank_below_successors(scores, links)
    chosen = diversify(ordered, {name: one.kind for name, one in rows.items()}, limit)
    if shares and len(ordered) > len(chosen):
        near = list(dict.fromkeys((*ordered[: 5 * limit], *chosen)))
        chosen = fair_results(
            chosen, near, given_.writers([name for name, _ in near if rows[name].stability == "draft"])
        )
    return chosen


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    """Draw candidates of few kinds and writers, many of them equally good, some replaced by others."""
    names = NAMES[: draw(st.integers(0, 80))]
    shares = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.72, 0.9, 1.0]) | st.floats(0, 1)
    seldom = draw(st.sampled_from([0, 1, 8]))

    def one_in_many() -> bool:
        return seldom > 0 and draw(st.integers(0, 30)) < seldom

    rows = {
        name: row(
            name,
            kind=draw(st.sampled_from("aaab")),
            status="consolidated" if one_in_many() else "active",
            stability=draw(st.sampled_from(["draft", "verified"])),
        )
        for name in names
        if not one_in_many()
    }
    return Candidates(
        {name: draw(shares) for name in names},
        rows,
        {name: draw(st.sampled_from([0.85, 1.0, 1.15]) | st.floats(0.85, 1.15)) for name in names},
        {
            name: tuple(draw(st.lists(st.sampled_from([*names, "elsewhere"]), min_size=1, max_size=3)))
            for name in names
            if one_in_many()
        },
        {name: draw(st.sampled_from("xxy")) for name in names if draw(st.booleans())},
    )


@given(candidates(), st.integers(1, 14), st.booleans(), st.booleans())
def test_reading_the_best_alone_gives_the_results_of_reading_every_candidate(
    drawn: Candidates,
    limit: int,
    with_sources: bool,  # noqa: FBT001 - drawn
    shares: bool,  # noqa: FBT001 - drawn
) -> None:
    expected = chosen_of_all(drawn, limit, with_sources=with_sources, shares=shares)
    assert drawn.choose(limit, with_sources=with_sources, shares=shares) == expected


def many(matches: Mapping[str, float], kinds: str = "ab") -> Candidates:
    """Return candidates of alternating kinds that nothing distinguishes but their matches."""
    rows = {name: row(name, kind=kinds[place % len(kinds)]) for place, name in enumerate(matches)}
    return Candidates(dict(matches), rows, dict.fromkeys(matches, 1.0), {}, {})


def test_what_cannot_come_among_the_results_is_not_read() -> None:
    drawn = many({name: 0.9 if place < 70 else 0.3 for place, name in enumerate(NAMES)})
    assert [name for name, _ in drawn.choose(5)] == sorted(NAMES[:70])[:5]
    assert drawn.was_read == set(NAMES[:70])


def test_another_kind_is_looked_for_as_far_as_it_could_take_a_place() -> None:
    drawn = many({name: 0.9 - 0.004 * place for place, name in enumerate(NAMES)}, kinds="a")
    drawn.rows["n60"] = row("n60", kind="b")
    assert "n60" in dict(drawn.choose(5))
    assert not set(NAMES[130:]) & drawn.was_read


def test_where_one_candidate_replaces_another_all_are_read() -> None:
    drawn = many({name: 0.9 if place < 70 else 0.3 for place, name in enumerate(NAMES)})
    drawn.links["n0"] = ("n159",)
    drawn.choose(5)
    assert drawn.was_read == set(NAMES)
