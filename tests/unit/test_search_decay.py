from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.config import DecayPreset
from memento_tui.model import Memory
from memento_tui.search.decay import decay_curve, decay_factor, preset_weight
from memento_tui.search.ranking import HIGHEST_FACTOR, LOWEST_FACTOR
from tests.made import NOW, note, put, without_engine

PRESETS: tuple[DecayPreset, ...] = get_args(DecayPreset)


def aged(days: float, certainty: int = 3, *, used: int = 0, hours_since_use: float | None = None) -> Memory:
    """Return a memory of an age, with its uses and the hours since the last of them."""
    last = None if hours_since_use is None else NOW - timedelta(hours=hours_since_use)
    written = NOW - timedelta(days=days)
    return note(created_at=written, certainty=certainty, used_count=used, last_used_at=last)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (aged(0), 1.0),  # 1 x 1 x 1
        (aged(60), 0.0026288),  # 0.5^(1440 / 168) = 0.5^8.5714
        (aged(7, used=3, hours_since_use=48), 1.0),  # 0.5 x (1 + 0.3 x 2) x (1 + 0.5 x 0.5)
        (aged(14, used=1, hours_since_use=96), 0.365625),  # 0.25 x 1.3 x 1.125
        (aged(0, used=1023, hours_since_use=0), 3.0),  # 1 x min(2, 1 + 0.3 x 10) x 1.5
        (aged(21, used=7), 0.2375),  # 0.125 x (1 + 0.3 x 3) x 1: used, but when is not known
    ],
)
def test_protocol_weighs_by_its_published_product(memory: Memory, expected: float) -> None:
    assert preset_weight("protocol", memory, NOW) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("days", "certainty", "expected"),
    [
        (0, 1, 1.0),
        (90, 1, 0.5),
        (90, 2, 0.5),
        (270, 2, 0.125),
        (90, 3, 0.70711),
        (180, 3, 0.5),
        (9000, 4, 1),
        (1, 5, 1),
    ],
)
def test_vault_halves_in_90_days_slower_at_certainty_3_and_never_above(
    days: int, certainty: int, expected: float
) -> None:
    assert preset_weight("vault", aged(days, certainty), NOW) == pytest.approx(expected, rel=1e-4)
    used = aged(days, certainty, used=20, hours_since_use=1)
    assert preset_weight("vault", used, NOW) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (aged(0), 1.0),
        (aged(90), 1.0),  # before the rule applies
        (aged(180), 0.5),
        (aged(270), 0.25),
        (aged(400, used=1, hours_since_use=180 * 24), 0.5),  # the one use was the last touch
        (aged(400, used=2, hours_since_use=300 * 24), 1.0),  # used twice
        (note(created_at=NOW - timedelta(days=400), stability="verified"), 1.0),
    ],
)
def test_bank_keeps_the_weight_full_until_its_rule_demotes(memory: Memory, expected: float) -> None:
    assert preset_weight("bank", memory, NOW) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (aged(0, 2), 0.625),  # 0.10 / 0.16
        (aged(90, 2), 0.3125),
        (aged(0, 5, used=15, hours_since_use=0), 1.0),
        (aged(900, 5, used=3, hours_since_use=90 * 24), 0.71875),  # (0.10 + 0.06 x 0.5 x 0.5) / 0.16
    ],
)
def test_balanced_adds_freshness_and_use(memory: Memory, expected: float) -> None:
    assert preset_weight("balanced", memory, NOW) == pytest.approx(expected)


def test_what_a_person_verified_is_as_fresh_as_if_it_had_been_changed_then() -> None:
    old = note(created_at=NOW - timedelta(days=180), stability="verified")
    confirmed = note(created_at=NOW - timedelta(days=180), stability="verified", verified_at=NOW.isoformat())
    assert decay_factor(old, NOW).age == pytest.approx(0.5)
    assert decay_factor(confirmed, NOW).age == 1


def test_the_tier_sets_the_half_life_and_what_was_new_fades_more_slowly() -> None:
    def age(**fields: Any) -> float:  # noqa: ANN401 - the fields of a memory
        return decay_factor(note(created_at=NOW - timedelta(days=90), certainty=2, **fields), NOW).age

    assert age() == pytest.approx(0.5)
    assert age(tier="working") == pytest.approx(0.5**3)
    assert age(tier="long_term") == pytest.approx(0.5**0.5)
    assert age(tier="shared") == pytest.approx(0.5**0.25)
    assert age(surprise=0.0) == pytest.approx(0.5)
    assert age(surprise=1.0) == pytest.approx(0.5 ** (1 / 1.5))
    of_vault = note(created_at=NOW - timedelta(days=90), certainty=2, tier="shared", surprise=1.0)
    assert preset_weight("vault", of_vault, NOW) == pytest.approx(0.5)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_trusted_source_counts_for_more_within_the_bounds(preset: DecayPreset) -> None:
    factors = [decay_factor(note(created_at=NOW, confidence=one), NOW, preset=preset).factor for one in (0.0, 0.5, 1.0)]
    assert factors == sorted(factors)
    assert 0 < factors[2] - factors[0] < (HIGHEST_FACTOR - LOWEST_FACTOR) / 5


@pytest.mark.parametrize("preset", PRESETS)
def test_a_weight_that_is_as_high_or_as_low_as_can_be_reaches_the_bounds_and_no_further(preset: DecayPreset) -> None:
    best = note(
        created_at=NOW,
        certainty=5,
        confidence=1.0,
        stability="stable",
        used_count=2**40,
        last_used_at=NOW.isoformat(),
        verified_at="2026-01-01",
    )
    worst = note(created_at=NOW - timedelta(days=30_000), certainty=1, confidence=0.0)
    assert decay_factor(best, NOW, preset=preset).factor == pytest.approx(HIGHEST_FACTOR)
    assert decay_factor(worst, NOW, preset=preset).factor == pytest.approx(LOWEST_FACTOR)


def test_protocol_buried_a_60_day_old_exact_match_under_a_fresh_irrelevant_one_and_no_preset_does() -> None:
    exact, irrelevant = aged(60), aged(0)
    keyword_exact, keyword_irrelevant = 3 / 3, 1 / 3
    assert keyword_exact * preset_weight("protocol", exact, NOW) == pytest.approx(0.0026, abs=5e-5)
    assert keyword_irrelevant * preset_weight("protocol", irrelevant, NOW) == pytest.approx(0.333, abs=5e-4)
    for preset in PRESETS:
        score = keyword_exact * decay_factor(exact, NOW, preset=preset).factor
        assert score > 2 * keyword_irrelevant * decay_factor(irrelevant, NOW, preset=preset).factor


@pytest.mark.parametrize("preset", PRESETS)
def test_an_old_exact_match_comes_first_in_a_search_under_every_preset(tmp_path: Path, preset: DecayPreset) -> None:
    folder = without_engine(tmp_path / "data")
    with (folder / "config.toml").open("a") as config:
        config.write(f'[maintenance]\ndecay = "{preset}"\n')
    with memento_tui.open(folder) as workspace:
        put(
            workspace._store,
            note(
                "rotate the staging database password",
                id="old",
                created_at=clock.now() - timedelta(days=60),
                certainty=1,
            ),
            *(note(f"the password of service {n}", id=f"new{n}", certainty=5, stability="stable") for n in range(5)),
        )
        workspace.used([f"new{n}" for n in range(5)] * 20)
        found = workspace.search("rotate staging database password", mode="keyword").results
        listed = workspace.search("-tag:x", mode="keyword").results
    assert found[0].id == "old"
    assert len(found) == 6
    (old,) = (hit for hit in found if hit.id == "old")
    expected = decay_factor(old.memory, clock.now(), preset=preset)
    assert old.life.factor == pytest.approx(expected.factor, abs=1e-5)
    assert old.explain()["weight"] == pytest.approx(expected.weight, abs=1e-5)
    (old,) = (hit for hit in listed if hit.id == "old")
    assert old.life.factor == pytest.approx(expected.factor, abs=1e-5)


def test_the_presets_tell_different_things_of_one_memory() -> None:
    memory = aged(120, 2, used=1, hours_since_use=24)
    assert len({round(decay_factor(memory, NOW, preset=preset).factor, 4) for preset in PRESETS}) == len(PRESETS)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_curve_is_the_life_at_those_days_and_only_falls(preset: DecayPreset) -> None:
    memory = aged(3, 3, used=4, hours_since_use=5)
    days = [0, 0.5, 7, 90, 91, 365]
    drawn = decay_curve(memory, NOW, preset, days)
    assert [day for day, _ in drawn] == days
    assert drawn[2][1] == decay_factor(memory, NOW + timedelta(days=7), preset=preset)
    factors = [life.factor for _, life in drawn]
    assert factors == sorted(factors, reverse=True)
    halved = decay_curve(memory, NOW, preset, [0], superseded=True)[0][1]
    assert halved.factor == pytest.approx(factors[0] / 2)
