"""How much a text reads like orders smuggled in for a model, and the evidence for it.

The rules (`memento_tui.policy.prompt_injection`) take longer to load than all else that a program needs which only
reads, so they are loaded with the first text that is judged.
"""

from __future__ import annotations

import msgspec

__all__ = ["SUSPICIOUS_SCORE", "InjectionSign", "Suspicion", "suspicion_across", "suspicion_of"]

SUSPICIOUS_SCORE = 0.5
"""From this score on, a text waits for a person."""


class InjectionSign(msgspec.Struct, frozen=True):
    """One piece of evidence: the rule, and the words in the text that it found."""

    rule: str
    quote: str
    start: int
    end: int


class Suspicion(msgspec.Struct, frozen=True):
    """The score, from 0 to 1, and the signs that it rests on, in the order of the text."""

    score: float
    signs: tuple[InjectionSign, ...] = ()


def suspicion_of(text: str) -> Suspicion:
    """Judge a text. The offsets of the signs refer to ``text`` as it is given."""
    from memento_tui.policy.prompt_injection import judge_text  # noqa: PLC0415 - see the module

    return judge_text(text)


def suspicion_across(first: str, second: str) -> Suspicion:
    """Judge two texts read as one, with a space between, by the signs that neither has alone."""
    from memento_tui.policy.prompt_injection import judge_join  # noqa: PLC0415 - see the module

    return judge_join(first, second)
