"""Agree, as a person does in a terminal, to what a test's settings send to its own servers."""

from __future__ import annotations

from memento_tui.agreements import Destination, agree_to
from memento_tui.config import LanguageModelConfig

__all__ = ["agreed"]


def agreed(config: LanguageModelConfig) -> LanguageModelConfig:
    """Return the settings of a language model once they are agreed to."""
    agree_to(Destination.of_language_model(config))
    return config
