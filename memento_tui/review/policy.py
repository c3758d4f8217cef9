"""The policy: for each write, whether it is applied, applied as a draft, or proposed to a person, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["AGENT_FIELDS", "REASONS", "Intent", "Verdict", "judge"]

Answer = Literal["apply", "draft", "propose"]
Preset = Literal["open", "guarded", "strict"]

REASONS: dict[str, str] = {
    "external_source": "it comes from outside: a page, a tool's output, another party",
    "injection_suspected": "it reads like orders for a model",
    "verified_target": "it changes something that a person or confirmed use has verified",
    "strict_policy": "the strict policy asks a person about every write",
    "held_import": "you asked to look at everything that is imported",
    "pending_in_source": "it was waiting where it was imported from",
    "person_wrote_identity": "a person has written or approved the present identity",
}
"""What each reason code says to the person who decides."""

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

_SUSPICIOUS = 0.5
"""From this injection score on, a text waits for a person under every preset."""


class Intent(msgspec.Struct, frozen=True):
    """A write that is about to happen."""

    action: Literal["create", "edit", "delete"]
    target: Literal["memory", "skip", "item", "crystal"] = "memory"
    by_person: bool = False
    external: bool = False
    injection_score: float = 0.0
    target_verified: bool = False
    """The memory that would change is verified or stable."""
    identity_is_persons: bool = False
    """A person wrote or approved the crystal that is current."""


class Verdict(msgspec.Struct, frozen=True):
    """The policy's answer, with a reason code for each rule that asked for a person."""

    answer: Answer
    reasons: tuple[str, ...] = ()


def judge(preset: Preset, intent: Intent) -> Verdict:
    """Apply the policy table to one write.

    A person at the keyboard edits and deletes freely: the gate exists to ask that person.
    """
    if intent.by_person and (intent.action != "create" or intent.target != "memory"):
        return Verdict("apply")
    reasons = _reasons(preset, intent)
    if reasons:
        return Verdict("propose", tuple(reasons))
    is_new_memory = intent.target == "memory" and intent.action == "create"
    return Verdict("draft" if is_new_memory else "apply")


def _reasons(preset: Preset, intent: Intent) -> list[str]:
    found = []
    if intent.injection_score >= _SUSPICIOUS:
        found.append("injection_suspected")
    if preset == "open":
        return found
    if intent.external and intent.action == "create":
        found.append("external_source")
    if intent.target_verified and intent.action != "create":
        found.append("verified_target")
    if intent.target == "crystal" and intent.identity_is_persons:
        found.append("person_wrote_identity")
    if preset == "strict" and not found and _asks_always(intent):
        found.append("strict_policy")
    return found


def _asks_always(intent: Intent) -> bool:
    return intent.action == "create" or intent.target != "memory"
