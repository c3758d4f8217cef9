"""A candidate: one thing that a transcript may have taught, with the words and lines it rests on."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Candidate", "Found", "Target"]

Target = Literal["memory", "skip", "item"]


class Candidate(msgspec.Struct, frozen=True):
    """One memory, skip or working item to propose."""

    target: Target
    fields: dict[str, Any]
    """Plain values for `make_memory`, `make_skip` or `make_item`."""
    first_line: int
    last_line: int
    quote: str
    """The words of the transcript that it rests on, at most 300 characters, whole words."""
    rule: str
    """The name of the rule that found it, one of `distilling.RULES`."""
    score: float
    """From 0 to 1: how often a rule of this kind, in these words, is worth a person's glance. Set by hand."""


class Found(msgspec.Struct, frozen=True):
    """What a rule found in one sentence: a candidate that does not know its place yet."""

    target: Target
    fields: dict[str, Any]
    rule: str
    score: float
