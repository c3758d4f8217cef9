"""Screen the texts of records and the names of branches: take secrets out, and score orders to a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from memento_tui.model import AnyRecord, Memory
from memento_tui.model.validation import text_of, texts_image
from memento_tui.policy.secrets import RemovedSecret, redact_record, redact_text
from memento_tui.policy.suspicion import SUSPICIOUS_SCORE, Suspicion, suspicion_of

__all__ = ["Screened", "Screening", "namespace_to_write"]


def namespace_to_write(namespaces: Sequence[str]) -> str:
    """Return the first of a branch's namespaces (`memento_tui.branches`) that may be stored; empty for none.

    One that reads as a secret or like an order to a model would let every memory of the branch wait for a person.
    """
    for namespace in namespaces:
        if not redact_text(namespace)[1] and suspicion_of(namespace).score < SUSPICIOUS_SCORE:
            return namespace
    return ""


_MAX_REMEMBERED = 8_192
"""Texts whose screening is remembered: a batch of an import is screened when it is planned and when it is written."""


class Screened(msgspec.Struct, frozen=True):
    """A record that may be stored, and the findings of its screening."""

    record: Any
    injection_score: float
    secret_found: bool
    evidence: dict[str, Any]
    """The removed secrets and the suspicious passages, for the person who decides."""


class Screening:
    """Screens one author's records, with a cache of results so that no text is read twice."""

    def __init__(self) -> None:
        self.vouched: dict[tuple[str, str], AnyRecord] = {}
        """Records that this workspace signed, by kind and id; see `memento_tui.policy.gate.Gate.vouch`."""
        self._clean: dict[bytes, Suspicion] = {}
        """The suspicion of texts without secrets, by their digests."""

    def screen(self, record: AnyRecord) -> Screened:
        """Take the secrets out of a record, and score all its texts; a memory's own score is never lowered."""
        key = hashlib.blake2b(texts_image(record), digest_size=16).digest()
        suspicion = self._clean.get(key)
        clean: AnyRecord = record
        removals: tuple[RemovedSecret, ...] = ()
        if suspicion is None:
            clean, removals = redact_record(record)
            suspicion = suspicion_of(text_of(clean))
            if not removals:
                self._remember(key, suspicion)
        score = suspicion.score
        if isinstance(clean, Memory):
            score = max(score, clean.injection_score)
            if score != clean.injection_score:
                clean = msgspec.structs.replace(clean, injection_score=score)
        evidence: dict[str, Any] = {}
        if removals:
            evidence["removed"] = msgspec.to_builtins(removals)
        if suspicion.signs:
            evidence["suspicion"] = [{"rule": sign.rule, "quote": sign.quote} for sign in suspicion.signs]
        return Screened(clean, score, bool(removals), evidence)

    def _remember(self, key: bytes, suspicion: Suspicion) -> None:
        if len(self._clean) >= _MAX_REMEMBERED:
            self._clean.clear()
        self._clean[key] = suspicion
