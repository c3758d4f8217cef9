"""The rules of the gate: what each preset says of each kind of write, and what a person changed in ``config.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from memento_tui.config import ReviewConfig
from memento_tui.errors import InvalidInput

__all__ = ["FIXED", "PRESETS", "RULES", "Preset", "Rule", "Rules", "Setting", "preset_rules", "rules_of"]

Preset = Literal["open", "guarded", "strict"]
Setting = Literal["apply", "draft", "once_persons", "propose"]
PRESETS: tuple[Preset, ...] = ("open", "guarded", "strict")

_STRICTNESS: dict[str, int] = {"apply": 0, "draft": 0, "once_persons": 1, "propose": 2}


class Rule(msgspec.Struct, frozen=True):
    """One row of the policy table."""

    about: str
    """The writes that it rules, in words."""
    open: Setting
    guarded: Setting
    strict: Setting
    choices: tuple[Setting, ...] = ("apply", "propose")


_DRAFT: tuple[Setting, ...] = ("draft", "propose")

RULES: dict[str, Rule] = {
    "new_memory": Rule("a new memory of the person or derived by an agent", "draft", "draft", "propose", _DRAFT),
    "new_external": Rule("a new memory from an external source", "draft", "propose", "propose", _DRAFT),
    "change_draft": Rule("a change or deletion of a draft", "apply", "apply", "apply"),
    "change_verified": Rule(
        "a change or deletion of a verified, stable or essential memory", "apply", "propose", "propose"
    ),
    "consolidation": Rule("a memory made of several", "draft", "propose", "propose", _DRAFT),
    "distillation": Rule("what is learned from a transcript", "draft", "propose", "propose", _DRAFT),
    "promotion": Rule("a move to a longer-lived tier", "apply", "propose", "propose"),
    "crystal": Rule(
        "a new identity; once_persons: as soon as you wrote or approved one",
        "apply",
        "once_persons",
        "propose",
        ("apply", "once_persons", "propose"),
    ),
    "skip": Rule("a skip added, changed or removed by an agent", "apply", "apply", "propose"),
    "item": Rule("a working item added, changed or removed by an agent", "apply", "apply", "propose"),
}
"""The rules that a preset sets and a person may change."""

FIXED: dict[str, str] = {
    "suspicious": "a text that reads like orders for a model",
    "secret": "a text that held a secret",
    "merge": "two near duplicates becoming one",
    "trust": "a memory being called verified or stable",
    "resolution": "how a contradiction is resolved",
}
"""The rules that always ask a person, whatever is configured."""

_AT_LEAST = {
    "new_external": "new_memory",
    "consolidation": "new_memory",
    "distillation": "new_memory",
    "change_verified": "change_draft",
}
"""The first must ask wherever the second does: it lets in the same or worse."""


class Rules(msgspec.Struct, frozen=True):
    """The setting of each rule, and which of them the person chose."""

    preset: Preset
    settings: Mapping[str, Setting]
    chosen: frozenset[str] = frozenset()

    def __getitem__(self, rule: str) -> Setting:
        """Return the setting of a rule; a fixed one proposes."""
        return "propose" if rule in FIXED else self.settings[rule]

    def source(self, rule: str) -> str:
        """Return in words who set a rule."""
        if rule in FIXED:
            return "always"
        return "config.toml" if rule in self.chosen else f"preset {self.preset}"


def preset_rules(preset: Preset) -> Rules:
    """Return the rules as a preset sets them."""
    return Rules(preset, {name: getattr(rule, preset) for name, rule in RULES.items()})


def rules_of(config: ReviewConfig) -> Rules:
    """Return the rules in force.

    Raises:
        InvalidInput: a rule does not exist, cannot be set so, or contradicts another.

    """
    standing = dict(preset_rules(config.preset).settings)
    for name, setting in config.rules.items():
        standing[name] = _checked(name, setting)
    for rule, other in _AT_LEAST.items():
        if _STRICTNESS[standing[rule]] < _STRICTNESS[standing[other]]:
            raise InvalidInput(
                f'config.toml: under [review.rules], {rule} = "{standing[rule]}" contradicts'
                f' {other} = "{standing[other]}": {RULES[rule].about} would be let in without a person,'
                f" {RULES[other].about} would not.",
                f'Set {rule} = "propose", or loosen {other}.',
            )
    return Rules(config.preset, standing, frozenset(config.rules))


def _checked(name: str, setting: str) -> Setting:
    if name in FIXED:
        raise InvalidInput(
            f"config.toml: the rule {name} under [review.rules] cannot be set: {FIXED[name]} always waits.",
            "Delete the line.",
        )
    if name not in RULES:
        raise InvalidInput(
            f"config.toml: there is no rule {name!r:.60} under [review.rules].", f"There are {', '.join(RULES)}."
        )
    for choice in RULES[name].choices:
        if setting == choice:
            return choice
    raise InvalidInput(
        f"config.toml: the rule {name} under [review.rules] cannot be {setting!r:.60}.",
        f"It is one of {', '.join(RULES[name].choices)}.",
    )
