"""Join the trust of several memories: a text made of them is no better than the worst of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memento_tui.model.memory import Memory
from memento_tui.model.memory_fields import SENSITIVITIES, SOURCE_TYPES

__all__ = ["inherited_fields"]


def inherited_fields(sources: Sequence[Memory]) -> dict[str, Any]:
    """Return the least trusted origin, the highest sensitivity and the highest injection score of some memories."""
    return {
        "source_type": max((source.source_type for source in sources), key=SOURCE_TYPES.index),
        "sensitivity": max((source.sensitivity for source in sources), key=SENSITIVITIES.index),
        "injection_score": max(source.injection_score for source in sources),
    }
