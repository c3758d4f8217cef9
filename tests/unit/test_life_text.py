from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.config import DecayPreset
from memento_tui.maintenance.life_report import life_report_data, life_report_lines
from memento_tui.model import Memory
from memento_tui.model.memory import STABILITIES, STATUSES
from memento_tui.search.decay import decay_factor
from tests.made import NOW, note

PRESETS: tuple[DecayPreset, ...] = get_args(DecayPreset)


def aged(days: float, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    """Return a memory of an age whose text would do harm on a terminal."""
    return note("\x1b[2J[/nope]\u202e secret", created_at=NOW - timedelta(days=days), **fields)


def plotted(lines: str) -> list[str]:
    """Return the rows of the curve without their scale."""
    return [line.split(" |", 1)[1] for line in lines.splitlines() if " |" in line]


def test_a_life_is_told_with_its_number_its_parts_and_what_awaits_it() -> None:
    told = life_report_lines(aged(45, tier="long_term"), NOW, "balanced", 80)
    factor = decay_factor(aged(45, tier="long_term"), NOW).factor
    assert f"Factor in search: {factor:.3f} today, preset balanced." in told
    assert "age         0.92  Changed or verified on 2025-12-01; it halves every 360 days" in told
    assert "use         0.00  Never used;" in told
    assert "certainty   0.50  3 of 5;" in told
    assert "stability   0.00  draft; use in 3 sessions" in told
    assert "confidence  0.50  How far its source is trusted" in told
    assert "2026-03-01  It is demoted to short_term." in told
    assert "2026-05-30  It is shortened to its first sentence" in told
    assert "2026-08-28  It is archived" in told


def test_the_curve_falls_from_left_to_right_within_its_scale() -> None:
    told = life_report_lines(aged(0, certainty=1, tier="long_term"), NOW, "vault", 80)
    rows = plotted(told)
    assert len(rows) == 8
    columns = [next(row for row, line in enumerate(rows) if line[at : at + 1] in ("*", ".")) for at in range(74)]
    assert columns == sorted(columns)
    assert columns[0] < columns[-1]
    scale = [line.split(" |")[0] for line in told.splitlines() if " |" in line]
    assert (scale[0], scale[-1]) == ("1.15", "0.85")
    assert [line for line in told.splitlines() if line.split() == ["today", "90", "180", "270", "365"]]


def test_a_memory_that_is_replaced_is_drawn_on_half_the_scale() -> None:
    told = life_report_lines(aged(10), NOW, "balanced", 80, superseded=True)
    scale = [line.split(" |")[0] for line in told.splitlines() if " |" in line]
    assert (scale[0], scale[-1]) == ("0.57", "0.42")
    assert "Another memory takes its place" in told
    assert any("*" in row for row in plotted(told))
    assert life_report_data(aged(10), NOW, "balanced", superseded=True)["superseded"] is True


def test_the_days_after_its_end_are_dots() -> None:
    told = life_report_lines(aged(1, expires_at=NOW + timedelta(days=100)), NOW, "balanced", 106)
    drawn = ["".join(row[at : at + 1].strip() for row in plotted(told)) for at in range(94)]
    marks = "".join(drawn)
    assert set(marks) == {"*", "."}
    assert marks == "*" * marks.count("*") + "." * marks.count(".")
    assert marks.count("*") == pytest.approx(94 * 100 / 365, abs=1.5)
    assert "no search finds it any more" in told
    assert "." not in "".join(plotted(life_report_lines(aged(1, pinned=True), NOW, "balanced", 80)))


def test_what_does_not_age_says_why() -> None:
    assert "It is pinned, so it is neither shortened nor archived." in life_report_lines(
        aged(300, pinned=True), NOW, "balanced", 80
    )
    verified = life_report_lines(aged(300, stability="verified", tier="shared"), NOW, "bank", 80)
    assert "It is demoted" in verified
    assert "only a person's decision" in verified


@pytest.mark.parametrize(
    ("preset", "words"),
    [
        ("protocol", ["halves every 7 days", "up to 10 times", "every 48 hours"]),
        ("vault", ["halves every 180 days", "does not count use"]),
        ("bank", ["full for 90 days", "2 confirmed uses"]),
        ("balanced", ["halves every 180 days", "up to 15 times"]),
    ],
)
def test_each_preset_says_what_moves_it(preset: DecayPreset, words: list[str]) -> None:
    told = " ".join(life_report_lines(aged(5), NOW, preset, 80).split())
    for word in words:
        assert word in told


def test_the_data_holds_what_the_lines_say() -> None:
    memory = aged(45, tier="long_term", used_count=1, last_used_at=NOW - timedelta(days=2))
    told = json.loads(json.dumps(life_report_data(memory, NOW, "protocol")))
    life = decay_factor(memory, NOW, preset="protocol")
    assert told["factor"] == life.factor == told["curve"][0]["factor"]
    assert (told["preset"], told["weight"], told["stays"]) == ("protocol", life.weight, "")
    assert [one["day"] for one in told["curve"]][-1] == 365
    assert [one["action"] for one in told["ahead"]] == ["demote", "compact", "archive"]
    assert all(one["why"] and one["at"] > told["at"] for one in told["ahead"])


MEMORIES = st.builds(
    aged,
    st.floats(-400, 40_000),
    certainty=st.integers(1, 5),
    stability=st.sampled_from(STABILITIES),
    status=st.sampled_from(STATUSES),
    used_count=st.integers(0, 2**40),
    last_used_at=st.none() | st.just(NOW),
    expires_at=st.none() | st.floats(-10, 3000).map(lambda days: NOW + timedelta(days=days)),
)


@given(MEMORIES, st.sampled_from(PRESETS), st.integers(0, 300), st.booleans())
def test_lines_are_plain_ascii_within_the_width_and_hold_nothing_of_the_text(
    memory: Memory,
    preset: DecayPreset,
    width: int,
    replaced: bool,  # noqa: FBT001 - drawn
) -> None:
    told = life_report_lines(memory, NOW, preset, width, superseded=replaced)
    assert told.replace("\n", "").isascii()
    assert told.replace("\n", "").isprintable()
    assert all(len(line) <= max(40, width) for line in told.splitlines())
    assert "secret" not in told
    assert len(plotted(told)) == 8
    columns = max(len(row) for row in plotted(told))
    assert sum(len(row.replace(" ", "")) for row in plotted(told)) == columns
