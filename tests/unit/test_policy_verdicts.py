from __future__ import annotations

from itertools import product
from typing import get_args, get_type_hints

import pytest

from memento_tui.model import Memory
from memento_tui.policy.policy import AGENT_FIELDS, REASONS, PolicyPreset, Verdict, WriteIntent, judge, preset_rules

PRESETS: tuple[PolicyPreset, ...] = ("open", "guarded", "strict")
DRAFT, APPLY = Verdict("draft"), Verdict("apply")


def propose(*reasons: str) -> Verdict:
    return Verdict("propose", reasons)


TABLE: list[tuple[WriteIntent, Verdict, Verdict, Verdict]] = [
    # an agent's write: what it is, then the answer of open, guarded and strict
    (WriteIntent("create"), DRAFT, DRAFT, propose("strict_policy")),
    (WriteIntent("create", external=True), DRAFT, propose("external_source"), propose("external_source")),
    (
        WriteIntent("create", injection_score=0.5),
        propose("injection_suspected"),
        propose("injection_suspected"),
        propose("injection_suspected"),
    ),
    (
        WriteIntent("create", external=True, injection_score=0.9),
        propose("injection_suspected"),
        propose("injection_suspected", "external_source"),
        propose("injection_suspected", "external_source"),
    ),
    (WriteIntent("create", injection_score=0.49), DRAFT, DRAFT, propose("strict_policy")),
    (WriteIntent("edit"), APPLY, APPLY, APPLY),
    (WriteIntent("delete"), APPLY, APPLY, APPLY),
    (WriteIntent("edit", target_verified=True), APPLY, propose("verified_target"), propose("verified_target")),
    (WriteIntent("delete", target_verified=True), APPLY, propose("verified_target"), propose("verified_target")),
    (WriteIntent("create", "skip"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("edit", "skip"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("delete", "skip"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("create", "item"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("edit", "item"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("delete", "item"), APPLY, APPLY, propose("strict_policy")),
    (WriteIntent("create", "crystal"), APPLY, APPLY, propose("strict_policy")),
    (
        WriteIntent("create", "crystal", identity_is_persons=True),
        APPLY,
        propose("person_wrote_identity"),
        propose("person_wrote_identity"),
    ),
    # a person's own write
    (WriteIntent("create", by_person=True), DRAFT, DRAFT, propose("strict_policy")),
    (
        WriteIntent("create", by_person=True, external=True),
        DRAFT,
        propose("external_source"),
        propose("external_source"),
    ),
    (
        WriteIntent("create", by_person=True, injection_score=1.0),
        propose("injection_suspected"),
        propose("injection_suspected"),
        propose("injection_suspected"),
    ),
    (WriteIntent("edit", by_person=True, target_verified=True), APPLY, APPLY, APPLY),
    (WriteIntent("delete", by_person=True, target_verified=True), APPLY, APPLY, APPLY),
    (WriteIntent("create", "skip", by_person=True), APPLY, APPLY, APPLY),
    (WriteIntent("delete", "item", by_person=True), APPLY, APPLY, APPLY),
    (WriteIntent("create", "crystal", by_person=True, identity_is_persons=True), APPLY, APPLY, APPLY),
]


@pytest.mark.parametrize(("intent", "preset", "verdict"), [
    (intent, preset, verdict) for intent, *verdicts in TABLE for preset, verdict in zip(PRESETS, verdicts, strict=True)
])  # fmt: skip
def test_each_preset_answers_each_write(intent: WriteIntent, preset: PolicyPreset, verdict: Verdict) -> None:
    assert judge(preset_rules(preset), intent) == verdict


def every_intent() -> list[WriteIntent]:
    words, yes_no = get_type_hints(WriteIntent), (False, True)
    actions, targets = get_args(words["action"]), get_args(words["target"])
    return [WriteIntent(*values) for values in product(actions, targets, yes_no, yes_no, (0.0, 1.0), yes_no, yes_no)]


def test_a_stricter_preset_never_lets_through_what_a_laxer_one_holds_back() -> None:
    order = {"apply": 0, "draft": 1, "propose": 2}
    for intent in every_intent():
        answers = [order[judge(preset_rules(preset), intent).answer] for preset in PRESETS]
        assert answers == sorted(answers), intent


def test_whatever_is_held_back_has_reasons_that_are_said_in_words() -> None:
    for intent, preset in product(every_intent(), PRESETS):
        verdict = judge(preset_rules(preset), intent)
        assert bool(verdict.reasons) == (verdict.answer == "propose"), intent
        assert all(REASONS[reason] for reason in verdict.reasons)
        assert len(set(verdict.reasons)) == len(verdict.reasons)


def test_a_new_memory_is_never_more_than_a_draft() -> None:
    for intent, preset in product(every_intent(), PRESETS):
        if (intent.action, intent.target) == ("create", "memory"):
            assert judge(preset_rules(preset), intent).answer in ("draft", "propose")


def test_text_that_reads_like_orders_from_an_agent_is_held_back_by_every_preset() -> None:
    for intent, preset in product(every_intent(), PRESETS):
        if intent.injection_score and not intent.by_person:
            assert judge(preset_rules(preset), intent).answer == "propose", intent


def test_trust_life_and_use_are_not_for_an_agent_to_set() -> None:
    assert set(Memory.__struct_fields__) - AGENT_FIELDS == {
        "created_at",
        "id",
        "injection_score",
        "last_used_at",
        "pinned",
        "shown_count",
        "stability",
        "status",
        "surprise",
        "system_tags",
        "tier",
        "updated_at",
        "used_count",
        "verified_at",
        "verified_by",
        "version",
    }
