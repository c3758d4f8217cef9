"""Decide for each write whether it is applied, applied as a draft or proposed to a person, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from memento_tui.config import ReviewConfig
from memento_tui.defaults import REVIEW_BURST
from memento_tui.errors import InvalidInput
from memento_tui.model.memory_fields import FIELDS
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE

__all__ = [
    "AGENT_FIELDS",
    "FIXED_RULES",
    "POLICY_RULES",
    "REASONS",
    "PolicyPreset",
    "PolicySettings",
    "Verdict",
    "WriteIntent",
    "applicable_rulings",
    "judge",
    "preset_rules",
    "reasons_in_words",
    "rules_in_force",
]

PolicyPreset = Literal["open", "guarded", "strict"]
RuleSetting = Literal["apply", "draft", "once_persons", "propose"]

_STRICTNESS: dict[str, int] = {"apply": 0, "draft": 0, "once_persons": 1, "propose": 2}


class PolicyRule(msgspec.Struct, frozen=True):
    """One row of the policy table."""

    about: str
    """The writes that it rules, in words."""
    open: RuleSetting
    guarded: RuleSetting
    strict: RuleSetting
    choices: tuple[RuleSetting, ...] = ("apply", "propose")


_DRAFT_OR_PROPOSE: tuple[RuleSetting, ...] = ("draft", "propose")

POLICY_RULES: dict[str, PolicyRule] = {
    "new_memory": PolicyRule(
        "a new memory of the person or derived by an agent", "draft", "draft", "propose", _DRAFT_OR_PROPOSE
    ),
    "new_external": PolicyRule(
        "a new memory from an external source", "draft", "propose", "propose", _DRAFT_OR_PROPOSE
    ),
    "change_draft": PolicyRule("a change or deletion of a draft", "apply", "apply", "apply"),
    "change_verified": PolicyRule(
        "a change or deletion of a verified, stable or essential memory, or what hides a record that you wrote",
        "apply",
        "propose",
        "propose",
    ),
    "consolidation": PolicyRule("a memory made of several", "draft", "propose", "propose", _DRAFT_OR_PROPOSE),
    "distillation": PolicyRule("what is learned from a transcript", "draft", "propose", "propose", _DRAFT_OR_PROPOSE),
    "promotion": PolicyRule("a move to a longer-lived tier", "apply", "propose", "propose"),
    "crystal": PolicyRule(
        "a new identity; once_persons: as soon as you wrote or approved one",
        "apply",
        "once_persons",
        "propose",
        ("apply", "once_persons", "propose"),
    ),
    "skip": PolicyRule("a skip added, changed or removed by an agent", "apply", "apply", "propose"),
    "item": PolicyRule("a working item added, changed or removed by an agent", "apply", "apply", "propose"),
}
"""The rules that a preset sets and a person may change."""

FIXED_RULES: dict[str, str] = {
    "suspicious": "a text that reads like orders for a model",
    "secret": "a text that held a secret",
    "merge": "two near duplicates becoming one",
    "trust": "a memory being called verified or stable",
    "resolution": "how a contradiction is resolved",
    "branch": "what was learned on a Git branch leaving it",
}
"""The rules that always ask a person, whatever is configured."""

_MIN_STRICTNESS = {
    "new_external": "new_memory",
    "consolidation": "new_memory",
    "distillation": "new_memory",
    "change_verified": "change_draft",
}
"""The first must ask wherever the second does: it lets in the same or worse."""


class PolicySettings(msgspec.Struct, frozen=True):
    """The setting of each rule, and which of them the person chose."""

    preset: PolicyPreset
    settings: Mapping[str, RuleSetting]
    chosen: frozenset[str] = frozenset()
    burst: int = REVIEW_BURST
    """Writes of one session in an hour after which further ones wait; 0 for no limit."""

    def __getitem__(self, rule: str) -> RuleSetting:
        """Return the setting of a rule; a fixed one proposes."""
        return "propose" if rule in FIXED_RULES else self.settings[rule]

    def source(self, rule: str) -> str:
        """Return in words who set a rule."""
        if rule in FIXED_RULES:
            return "always"
        return "config.toml" if rule in self.chosen else f"preset {self.preset}"


def preset_rules(preset: PolicyPreset) -> PolicySettings:
    """Return the rules as a preset sets them."""
    return PolicySettings(preset, {name: getattr(rule, preset) for name, rule in POLICY_RULES.items()})


def rules_in_force(config: ReviewConfig) -> PolicySettings:
    """Return the rules in force.

    Raises:
        InvalidInput: a rule does not exist, cannot be set so, or contradicts another.

    """
    standing = dict(preset_rules(config.preset).settings)
    for name, setting in config.rules.items():
        standing[name] = _check_setting(name, setting)
    for rule, other in _MIN_STRICTNESS.items():
        if _STRICTNESS[standing[rule]] < _STRICTNESS[standing[other]]:
            raise InvalidInput(
                f'config.toml: under [review.rules], {rule} = "{standing[rule]}" contradicts'
                f' {other} = "{standing[other]}": {POLICY_RULES[rule].about} would be let in without a person,'
                f" {POLICY_RULES[other].about} would not.",
                f'Set {rule} = "propose", or loosen {other}.',
            )
    return PolicySettings(config.preset, standing, frozenset(config.rules), config.burst)


def _check_setting(name: str, setting: str) -> RuleSetting:
    if name in FIXED_RULES:
        raise InvalidInput(
            f"config.toml: the rule {name} under [review.rules] cannot be set: {FIXED_RULES[name]} always waits.",
            "Delete the line.",
        )
    if name not in POLICY_RULES:
        raise InvalidInput(
            f"config.toml: there is no rule {name!r:.60} under [review.rules].", f"There are {', '.join(POLICY_RULES)}."
        )
    for choice in POLICY_RULES[name].choices:
        if setting == choice:
            return choice
    raise InvalidInput(
        f"config.toml: the rule {name} under [review.rules] cannot be {setting!r:.60}.",
        f"It is one of {', '.join(POLICY_RULES[name].choices)}.",
    )


PolicyAnswer = Literal["apply", "draft", "propose"]
Job = Literal["", "consolidation", "distillation", "promotion", "merge", "trust"]

REASONS: dict[str, str] = {
    "external_source": "it comes from outside: a page, a tool's output, another party",
    "injection_suspected": "it reads like orders for a model",
    "secret_found": "it held a secret, which was removed before it was stored",
    "verified_target": "it changes something that a person has verified or made essential",
    "hides_persons": "you wrote it, and it would be told no longer, later, to fewer, elsewhere or in other words",
    "strict_policy": "the strict policy asks a person about every write",
    "own_rule": "a rule in config.toml asks a person about it",
    "held_import": "you asked to look at everything that is imported",
    "changed_in_both": "it was changed both here and in the mirrored folder",
    "laid_aside": "it changes something that was shortened or archived",
    "asked_to_wait": "it was written down to be looked at first",
    "identity_from_file": "a file states who the agent is",
    "pending_in_source": "it was waiting where it was imported from",
    "person_wrote_identity": "a person has written or approved the present identity",
    "near_duplicate": "it says nearly what another memory says",
    "consolidation": "it would stand for several memories",
    "distilled": "it was learned from a transcript",
    "promotion": "it would be kept for longer",
    "earned_trust": "use has confirmed it, and only a person calls a memory verified",
    "resolution": "two memories contradict each other, and one answer was suggested",
    "copied_from_outside": "what it says stands in what a tool returned from outside",
    "joined_orders": "joined with another write of the same agent it reads like orders for a model",
    "like_rejected": "it says again, in nearly the same words, what you turned down",
    "burst": "its session, or the folder of its note, wrote more in an hour than these do",
    "quarantined": "you took its session out of recall until you have looked at what it wrote",
    "code_gone": "what it cites of the code is gone from the repository",
    "code_changed": "the code that it cites changed since it was written or last confirmed",
    "leaves_branch": "it was learned on a branch of Git, and would be told elsewhere from now on",
    "branch_merged": "the branch of Git on which it was learned was merged",
    "branch_gone": "the branch of Git on which it was learned is gone, merged or given up",
    "changed_on_both": "it was changed on this machine and on another",
    "other_member": "it was written on another machine, and this one asks a person about it",
    "expiring_skip": "the skip ends within three days, and it has kept the agent from something",
}
"""A sentence for each reason code, for the person who decides."""


def reasons_in_words(codes: Iterable[str]) -> list[str]:
    """Return the sentences of reason codes; the code itself where it is of a newer version."""
    return [REASONS.get(code, code) for code in codes]


AGENT_FIELDS = frozenset(field.name for field in FIELDS if field.agent_may_set)
"""The fields of a memory that an agent may set. Trust, life and use are not its to set."""

_GENERAL_REASONS = frozenset({"strict_policy", "own_rule"})


class WriteIntent(msgspec.Struct, frozen=True):
    """A write that is about to happen."""

    action: Literal["create", "edit", "delete"]
    target: Literal["memory", "skip", "item", "crystal", "contradiction"] = "memory"
    by_person: bool = False
    external: bool = False
    injection_score: float = 0.0
    target_verified: bool = False
    """The memory that would change is verified, stable or essential."""
    identity_is_persons: bool = False
    """A person wrote or approved the crystal that is current."""
    origin: Job = ""
    """The job that made it, where that has a rule of its own."""
    secret_found: bool = False
    hides_persons: bool = False
    """The change would hide a person's text from agents, in full or in part, or reword their skip."""
    leaves_branch: bool = False
    """The memory lies in the namespace of a branch of Git, and would no longer."""


class Verdict(msgspec.Struct, frozen=True):
    """The policy's answer, with a reason code for each rule that requires a person."""

    answer: PolicyAnswer
    reasons: tuple[str, ...] = ()


class Ruling(msgspec.Struct, frozen=True):
    """The ruling of one rule that applies to a write."""

    rule: str
    about: str
    setting: str
    source: str
    """Who set it: ``preset guarded``, ``config.toml`` or ``always``."""
    asks: bool
    reason: str
    """The reason code of the rule where it requires a person."""


def judge(rules: PolicySettings, intent: WriteIntent) -> Verdict:
    """Apply the policy table to one write.

    A person at the keyboard edits and deletes freely: the gate exists to ask that person.
    """
    if _is_free(intent):
        return Verdict("apply")
    reasons = list(dict.fromkeys(ruling.reason for ruling in applicable_rulings(rules, intent) if ruling.asks))
    if reasons:
        # That a preset asks about everything is worth saying only where nothing more telling is said.
        specific = [reason for reason in reasons if reason not in _GENERAL_REASONS]
        return Verdict("propose", tuple(specific or reasons))
    is_new_memory = intent.target == "memory" and intent.action == "create"
    return Verdict("draft" if is_new_memory else "apply")


def _is_free(intent: WriteIntent) -> bool:
    return intent.by_person and (intent.action != "create" or intent.target != "memory")


def applicable_rulings(rules: PolicySettings, intent: WriteIntent) -> list[Ruling]:
    """Return the ruling of each rule that applies to a write, in the order of the policy table."""
    if _is_free(intent):
        return []
    return [_make_ruling(rules, intent, rule, reason) for rule, reason in _applicable_rules(intent)]


def _make_ruling(rules: PolicySettings, intent: WriteIntent, rule: str, reason: str) -> Ruling:
    setting = rules[rule]
    asks = setting == "propose" or (setting == "once_persons" and intent.identity_is_persons)
    if not reason:
        reason = "own_rule" if rule in rules.chosen else "strict_policy"
    about = FIXED_RULES[rule] if rule in FIXED_RULES else POLICY_RULES[rule].about
    return Ruling(rule, about, setting, rules.source(rule), asks, reason)


def _applicable_rules(intent: WriteIntent) -> Iterator[tuple[str, str]]:
    """Yield the rules that apply to a write, each with its reason (empty where it has none of its own)."""
    if intent.secret_found:
        yield "secret", "secret_found"
    if intent.injection_score >= SUSPICIOUS_SCORE:
        yield "suspicious", "injection_suspected"
    if intent.target == "contradiction":
        yield "resolution", "resolution"
    elif intent.target == "crystal":
        yield "crystal", "person_wrote_identity" if intent.identity_is_persons else ""
    elif intent.target in ("skip", "item"):
        yield intent.target, ""
        if intent.hides_persons:
            yield "change_verified", "hides_persons"
        if intent.origin == "distillation":
            yield "distillation", "distilled"
    elif intent.action == "create":
        yield from _new_memory(intent)
    else:
        yield from _changed_memory(intent)


def _new_memory(intent: WriteIntent) -> Iterator[tuple[str, str]]:
    if intent.external:
        yield "new_external", "external_source"
    if intent.origin == "consolidation":
        yield "consolidation", "consolidation"
    if intent.origin == "distillation":
        yield "distillation", "distilled"
    yield "new_memory", ""


def _changed_memory(intent: WriteIntent) -> Iterator[tuple[str, str]]:
    if intent.origin == "promotion":
        yield "promotion", "promotion"
        return
    if intent.origin == "merge":
        yield "merge", "near_duplicate"
    if intent.origin == "trust":
        yield "trust", "earned_trust"
    if intent.external and intent.action == "edit":
        # What could not come in as a new memory does not come in as a new text of an old one.
        yield "new_external", "external_source"
    if intent.leaves_branch:
        yield "branch", "leaves_branch"
    if intent.target_verified:
        yield "change_verified", "verified_target"
    elif intent.hides_persons:
        yield "change_verified", "hides_persons"
    else:
        yield "change_draft", ""
