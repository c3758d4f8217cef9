"""Values that the reader of ``config.toml`` shares with memento-hook, which reads it without that module's libraries.

Standard library only.
"""

from __future__ import annotations

__all__ = [
    "DECAY_PRESETS",
    "HOOK_CHECKS_PROVENANCE",
    "HOOK_LEARNS",
    "HOOK_PROMPT_TOKENS",
    "HOOK_REMINDS",
    "HOOK_START_TOKENS",
    "RELEVANCE_FLOOR",
    "REVIEW_BURST",
]

DECAY_PRESETS = ("balanced", "protocol", "vault", "bank")
"""The formulas by which memories lose weight, those of `memento_tui.config.DecayPreset`."""

HOOK_PROMPT_TOKENS = 300
"""Tokens: the most that the context for one prompt or file takes."""

HOOK_START_TOKENS = 1_000
"""Tokens: the most that the context for the start of a session takes."""

RELEVANCE_FLOOR = 0.5
"""The relevance, 0 to 1, below which a memory is not shown to a model: `memento_tui.search.ranking.clears_floor`.

`memento_tui.search.ranking.SENTENCE_WEIGHT` says what it was chosen on.
"""

HOOK_LEARNS = True
"""Whether hooks have transcripts distilled, which proposes memories, skips and working items."""

HOOK_CHECKS_PROVENANCE = True
"""Whether hooks have a session's memories compared with the outside texts that its tools returned."""

HOOK_REMINDS = True
"""Whether the end of a turn tells the person, once a session, that it changed much and remembered nothing."""

REVIEW_BURST = 60
"""Writes: the most that one session of an agent makes in an hour before further ones wait for a person.

Twice the busiest hour of a session in the 762 observations of the engram set, which has 27.
"""
