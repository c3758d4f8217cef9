"""Choose the namespace of a branch's memories so that its name is told to nobody where it should not be."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.policy.prompt_injection import SUSPICIOUS_SCORE, suspicion_of
from memento_tui.policy.secrets import redact_text

__all__ = ["namespace_to_write"]


def namespace_to_write(namespaces: Sequence[str]) -> str:
    """Return the first of a branch's namespaces (`memento_tui.branches`) that may be stored; empty for none.

    One that reads as a secret or like an order to a model would let every memory of the branch wait for a person.
    """
    for namespace in namespaces:
        if not redact_text(namespace)[1] and suspicion_of(namespace).score < SUSPICIOUS_SCORE:
            return namespace
    return ""
