"""The policy: for each write, whether it is applied, applied as a draft, or proposed to a person, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from memento_tui.review.injection import SUSPICIOUS
from memento_tui.review.rules import FIXED, RULES, Rules

__all__ = ["AGENT_FIELDS", "REASONS", "Intent", "Origin", "Ruling", "Verdict", "judge", "reasons_in_words", "rulings"]

Answer = Literal["apply", "draft", "propose"]
Origin = Literal["", "consolidation", "distillation", "promotion", "merge", "trust"]

REASONS: dict[str, str] = {
    "external_source": "it comes from outside: a page, a tool's output, another party",
    "injection_suspected": "it reads like orders for a model",
    "secret_found": "it held a secret, which was removed before it was stored",
    "verified_target": "it changes something that a person has verified or made essential",
    "strict_policy": "the strict policy asks a person about every write",
    "own_rule": "a rule in config.toml asks a person about it",
    "held_import": "you asked to look at everything that is imported",
    "changed_in_both": "it was changed both here and in the mirrored folder",
    "laid_aside": "it changes something that was shortened or archived",
    "asked_to_wait": "it was written down to be looked at first",
    "pending_in_source": "it was waiting where it was imported from",
    "person_wrote_identity": "a person has written or approved the present identity",
    "near_duplicate": "it says nearly what another memory says",
    "consolidation": "it would stand for several memories",
    "distilled": "it was learned from a transcript",
    "promotion": "it would be kept for longer",
    "earned_trust": "use has confirmed it, and only a person calls a memory verified",
    "resolution": "two memories contradict each other, and one answer was suggested",
    "expiring_skip": "the skip ends within three days, and it has kept the agent from something",
}
"""What each reason code says to the person who decides."""


def reasons_in_words(codes: Iterable[str]) -> list[str]:
    """Return what reason codes say; a code of a newer version stands as it is."""
    return [REASONS.get(code, code) for code in codes]


AGENT_FIELDS = frozenset(
    {
        "certainty",
        "confidence",
        "content",
        "expires_at",
        "extra",
        "id",
        "kind",
        "kind_raw",
        "namespace",
        "sensitivity",
        "source",
        "source_type",
        "tags",
        "title",
        "valid_from",
        "valid_to",
        "validity_context",
    }
)
"""What an agent may say of a memory. Trust, life and use are not its to set."""

_GENERAL = frozenset({"strict_policy", "own_rule"})


class Intent(msgspec.Struct, frozen=True):
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
    origin: Origin = ""
    """The job that made it, where that has a rule of its own."""
    secret_found: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """The policy's answer, with a reason code for each rule that asked for a person."""

    answer: Answer
    reasons: tuple[str, ...] = ()


class Ruling(msgspec.Struct, frozen=True):
    """What one rule that applies says of a write."""

    rule: str
    about: str
    setting: str
    source: str
    """Who set it: ``preset guarded``, ``config.toml`` or ``always``."""
    asks: bool
    reason: str
    """The reason code it gives where it asks."""


def judge(rules: Rules, intent: Intent) -> Verdict:
    """Apply the policy table to one write.

    A person at the keyboard edits and deletes freely: the gate exists to ask that person.
    """
    if _is_free(intent):
        return Verdict("apply")
    asked = list(dict.fromkeys(ruling.reason for ruling in rulings(rules, intent) if ruling.asks))
    if asked:
        # That a preset asks about everything is worth saying only where nothing more telling is said.
        telling = [reason for reason in asked if reason not in _GENERAL]
        return Verdict("propose", tuple(telling or asked))
    is_new_memory = intent.target == "memory" and intent.action == "create"
    return Verdict("draft" if is_new_memory else "apply")


def _is_free(intent: Intent) -> bool:
    return intent.by_person and (intent.action != "create" or intent.target != "memory")


def rulings(rules: Rules, intent: Intent) -> list[Ruling]:
    """Return what each rule that applies to a write says, in the order of the policy table."""
    if _is_free(intent):
        return []
    return [_ruling(rules, intent, rule, reason) for rule, reason in _applying(intent)]


def _ruling(rules: Rules, intent: Intent, rule: str, reason: str) -> Ruling:
    setting = rules[rule]
    asks = setting == "propose" or (setting == "once_persons" and intent.identity_is_persons)
    if not reason:
        reason = "own_rule" if rule in rules.chosen else "strict_policy"
    about = FIXED[rule] if rule in FIXED else RULES[rule].about
    return Ruling(rule, about, setting, rules.source(rule), asks, reason)


def _applying(intent: Intent) -> Iterator[tuple[str, str]]:
    """Yield the rules that apply to a write, each with its reason (empty where it has none of its own)."""
    if intent.secret_found:
        yield "secret", "secret_found"
    if intent.injection_score >= SUSPICIOUS:
        yield "suspicious", "injection_suspected"
    if intent.target == "contradiction":
        yield "resolution", "resolution"
    elif intent.target == "crystal":
        yield "crystal", "person_wrote_identity" if intent.identity_is_persons else ""
    elif intent.target in ("skip", "item"):
        yield intent.target, ""
        if intent.origin == "distillation":
            yield "distillation", "distilled"
    elif intent.action == "create":
        yield from _new_memory(intent)
    else:
        yield from _changed_memory(intent)


def _new_memory(intent: Intent) -> Iterator[tuple[str, str]]:
    if intent.external:
        yield "new_external", "external_source"
    if intent.origin == "consolidation":
        yield "consolidation", "consolidation"
    if intent.origin == "distillation":
        yield "distillation", "distilled"
    yield "new_memory", ""


def _changed_memory(intent: Intent) -> Iterator[tuple[str, str]]:
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
    if intent.target_verified:
        yield "change_verified", "verified_target"
    else:
        yield "change_draft", ""
