from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from memento_tui.api import Workspace
from memento_tui.config import ReviewConfig
from memento_tui.errors import InvalidInput
from memento_tui.policy.policy import (
    FIXED_RULES,
    POLICY_RULES,
    PolicyPreset,
    WriteIntent,
    applicable_rulings,
    judge,
    preset_rules,
    rules_in_force,
)
from tests.unit.cli_program import Program, without_engine

PRESETS: tuple[PolicyPreset, ...] = get_args(PolicyPreset)


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_a_rule_of_the_config_takes_the_place_of_the_presets() -> None:
    rules = rules_in_force(ReviewConfig("guarded", {"skip": "propose"}))
    assert judge(rules, WriteIntent("create", "skip")).reasons == ("own_rule",)
    assert judge(rules, WriteIntent("create", "item")).answer == "apply"
    assert (rules.source("skip"), rules.source("item")) == ("config.toml", "preset guarded")


@pytest.mark.parametrize(
    ("preset", "rules", "said"),
    [
        ("guarded", {"new_memory": "propose", "new_external": "draft"}, "new_external .* contradicts new_memory"),
        ("strict", {"distillation": "draft"}, "distillation .* contradicts new_memory"),
        ("strict", {"consolidation": "draft"}, "consolidation .* contradicts new_memory"),
        ("open", {"change_draft": "propose"}, "change_verified .* contradicts change_draft"),
        ("open", {"skips": "apply"}, "no rule 'skips'"),
        ("open", {"skip": "draft"}, "skip under .* cannot be 'draft'"),
        ("open", {"secret": "apply"}, "secret under .* cannot be set"),
        ("open", {"trust": "propose"}, "trust under .* cannot be set"),
    ],
)
def test_rules_that_do_not_exist_or_contradict_each_other_are_refused_by_name(
    preset: str, rules: dict[str, str], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        rules_in_force(ReviewConfig(preset, rules))  # type: ignore[arg-type] # one of the presets
    assert caught.value.hint


def test_every_preset_agrees_with_itself() -> None:
    for preset in PRESETS:
        assert rules_in_force(ReviewConfig(preset)) == preset_rules(preset)
        for name, rule in POLICY_RULES.items():
            assert getattr(rule, preset) in rule.choices, name


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (WriteIntent("create", secret_found=True), "secret_found"),
        (WriteIntent("create", "skip", secret_found=True), "secret_found"),
        (WriteIntent("create", injection_score=0.5), "injection_suspected"),
        (WriteIntent("edit", origin="merge"), "near_duplicate"),
        (WriteIntent("edit", origin="trust"), "earned_trust"),
        (WriteIntent("edit", "contradiction"), "resolution"),
    ],
)
def test_what_always_asks_a_person_does_so_under_every_preset(preset: str, intent: WriteIntent, reason: str) -> None:
    verdict = judge(preset_rules(preset), intent)  # type: ignore[arg-type] # one of the presets
    assert verdict.answer == "propose"
    assert reason in verdict.reasons


@pytest.mark.parametrize(
    ("origin", "answers"),
    [("consolidation", ("draft", "propose", "propose")), ("distillation", ("draft", "propose", "propose"))],
)
def test_what_jobs_make_waits_unless_the_preset_is_open(origin: str, answers: tuple[str, ...]) -> None:
    intent = WriteIntent("create", origin=origin)  # type: ignore[arg-type] # one of the origins
    assert tuple(judge(preset_rules(preset), intent).answer for preset in PRESETS) == answers


def test_an_explanation_names_every_rule_that_applies_and_agrees_with_the_verdict() -> None:
    for preset, external, score, secret in product(PRESETS, (False, True), (0.0, 0.9), (False, True)):
        intent = WriteIntent("create", external=external, injection_score=score, secret_found=secret)
        rules = preset_rules(preset)
        found = applicable_rulings(rules, intent)
        assert {ruling.rule for ruling in found} <= POLICY_RULES.keys() | FIXED_RULES.keys()
        assert any(ruling.asks for ruling in found) == (judge(rules, intent).answer == "propose")


def test_the_command_line_explains_a_write(memento: Program) -> None:
    memento.add("anything")
    told = memento.json("policy", "explain", "create", "memory", "--external")
    assert told["answer"] == "propose"
    assert [reason["code"] for reason in told["reasons"]] == ["external_source"]
    assert {rule["rule"]: rule["asks"] for rule in told["rules"]} == {"new_external": True, "new_memory": False}
    own = memento.json("policy", "explain", "edit", "memory", "--person", "--verified")
    assert (own["answer"], own["rules"]) == ("apply", [])
    assert "for you to decide" in memento.run("policy", "explain", "edit", "memory", "--verified").out


def test_the_command_line_shows_the_rules_in_force(memento: Program) -> None:
    memento.add("anything")
    (memento.data_dir / "config.toml").write_text('[review.rules]\nitem = "propose"\n', encoding="utf-8")
    told = memento.json("policy")
    assert told["preset"] == "guarded"
    by_name = {rule["rule"]: rule for rule in told["rules"]}
    assert by_name["item"]["set_by"] == "config.toml"
    assert by_name["secret"]["set_by"] == "always"
    assert by_name.keys() == POLICY_RULES.keys() | FIXED_RULES.keys()


def test_a_config_that_contradicts_itself_stops_every_command_with_a_sentence(memento: Program) -> None:
    memento.add("anything")
    (memento.data_dir / "config.toml").write_text(
        '[review.rules]\nnew_memory = "propose"\nnew_external = "draft"\n', encoding="utf-8"
    )
    ended = memento.run("list", "--json")
    assert ended.code == 2
    assert "contradicts" in ended.error["message"]


def test_an_unknown_preset_is_told_by_name(workspace: Workspace) -> None:
    workspace.paths.config.write_text('[review]\npreset = "lax"\n', encoding="utf-8")
    with pytest.raises(InvalidInput, match="lax"):
        Workspace(workspace.paths.root)
