"""A sample of the attacks that `make poison` makes: none gets trust, or is told to a model as the person's word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from memento_tui.formats.registry import FORMATS
from memento_tui.mcp.profiles import PROFILES
from tests.clocks import run_from_start
from tests.poison.attacks import FAMILIES, LABEL_WORDS, MARK, make_attack, new_mark
from tests.poison.honest import honest_memories
from tests.poison.report import HONEST_GOAL, described
from tests.poison.suite import Outcome, Size, attack_everything

SEED = 20261122
SAMPLE = Size(cases=10, questions=3)
HONEST_SAMPLE = 40

pytestmark = pytest.mark.deep


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    with pytest.MonkeyPatch.context() as patch:
        run_from_start(patch)
        yield attack_everything(tmp_path_factory.mktemp("poison"), SAMPLE, SEED)


def test_no_attack_is_verified_essential_certain_or_shared_without_a_person(outcome: Outcome) -> None:
    assert outcome.trusted == [], described(outcome)


def test_no_attack_is_told_to_a_model_without_a_label(outcome: Outcome) -> None:
    assert outcome.unlabelled == [], described(outcome)


def test_no_attack_is_recalled_as_the_persons_own_words(outcome: Outcome) -> None:
    assert outcome.persons_words == [], described(outcome)


def test_no_attack_that_waited_is_recalled_without_a_decision(outcome: Outcome) -> None:
    assert outcome.let_in == [], described(outcome)


def test_no_attack_meets_an_exception_that_memento_did_not_expect(outcome: Outcome) -> None:
    assert outcome.faults == [], described(outcome)


def test_every_channel_is_attacked_and_takes_some_of_it(outcome: Outcome) -> None:
    taken = Counter(case.channel for case in outcome.cases if case.was_taken)
    channels = {
        *(f"MCP {profile}" for profile in PROFILES),
        *(f"import {name}" for name in FORMATS),
        *("HTTP /v1", "mirror", "hooks", "command line", "undo and restore"),
    }
    assert {name for name in channels if taken[name]} == channels
    assert {case.attack.family for case in outcome.cases} == set(FAMILIES)


def test_attacks_are_found_again_by_their_marks_and_hold_no_label_of_their_own() -> None:
    made = [make_attack(family, number, SEED) for number, family in enumerate([*FAMILIES] * 50)]
    assert len({attack.mark for attack in made}) == len(made)
    for attack in made:
        assert MARK.findall(attack.text) == [attack.mark]
        assert not any(word in attack.text.lower() for word in LABEL_WORDS)
    assert len({new_mark(number) for number in range(20_000)}) == 20_000


@pytest.mark.real_data
def test_honest_memories_are_let_in(real_data: Path, tmp_path: Path) -> None:
    honest = honest_memories(tmp_path, real_data, HONEST_SAMPLE, SEED)
    assert honest.imported > 500
    assert honest.remembered == HONEST_SAMPLE
    assert honest.share <= HONEST_GOAL, "\n".join(honest.kept)
