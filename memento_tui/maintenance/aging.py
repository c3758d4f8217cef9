"""Rules of aging: expiry, demotion, compaction to a first sentence, archiving. Pure functions, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

from memento_tui.config import DecayPreset
from memento_tui.errors import InvalidField
from memento_tui.model import Memory, Skip
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.validation import check_extra
from memento_tui.moments import format_moment
from memento_tui.search.decay import last_touched
from memento_tui.search.ranking import BANK_DAYS, BANK_USES

__all__ = [
    "ORIGINAL_TEXT_KEY",
    "AgingChange",
    "AgingStep",
    "due_change",
    "is_skip_over",
    "reason_not_to_age",
    "restore_compacted",
    "upcoming_steps",
    "whole_text",
]

AgingAction = Literal["expire", "demote", "compact", "archive"]

ORIGINAL_TEXT_KEY = "original_content"
"""The key in `Memory.extra` of the full text of a compacted memory."""
_DEMOTED_AT_KEY, _COMPACTED_AT_KEY = "demoted_at", "compacted_at"

_CERTAIN = 4
"""The certainty from which only its own expiry ends a memory (Memento Vault's rule)."""
_VAULT_UNSURE, _VAULT_UNSURE_DAYS = 2, 60
_VAULT_BUGFIX_DAYS, _VAULT_SUPERSEDED_DAYS, _VAULT_YOUNGEST_DAYS = 90, 14, 30

_STEP_ORDER: tuple[AgingAction, ...] = ("demote", "compact", "archive", "expire")
"""The steps from the first to the last; of two that are due, the later one replaces the other."""

_LAST_MOMENT = datetime.max.replace(tzinfo=UTC)


class AgingStep(msgspec.Struct, frozen=True):
    """The next step for a memory that nobody touches, its earliest moment, and the reason."""

    action: AgingAction
    at: datetime
    why: str
    """One sentence, without any of the memory's own text."""


class AgingChange(msgspec.Struct, frozen=True):
    """A memory after a step. Its version is the one from which the change was made."""

    memory: Memory
    action: AgingAction
    why: str


def due_change(
    memory: Memory,
    now: datetime,
    *,
    preset: DecayPreset = "balanced",
    superseded_since: datetime | None = None,
    known_since: datetime | None = None,
) -> AgingChange | None:
    """Return the step that is due for a memory, or ``None``.

    Its own expiry ends every recalled memory, even a pinned one: somebody set that date. `Memory.valid_to` ends none,
    since what was once true may be asked for. Otherwise a memory that is pinned or has certainty 4 or 5 does not age,
    and one that is verified or stable is demoted at most: a person verified it, so a person decides that it goes.

    ``superseded_since`` is when another memory took its place, for Memento Vault's rule. ``known_since`` is when the
    store first held it, if the caller wants that to count as a touch: an import's memories may be old on their first
    day here. Where ``now`` is before the last touch the clock was set back, and nothing ages.
    """
    if now < _last_touch(memory, known_since):
        return None
    due = [step for step in _steps(memory, preset, superseded_since, known_since) if step.at <= now]
    if not due:
        return None
    step = max(due, key=lambda step: _STEP_ORDER.index(step.action))
    return AgingChange(_apply_step(memory, step.action, now), step.action, step.why)


def upcoming_steps(
    memory: Memory,
    now: datetime,
    *,
    preset: DecayPreset = "balanced",
    superseded_since: datetime | None = None,
    known_since: datetime | None = None,
) -> list[AgingStep]:
    """Return the coming steps for a memory that nobody touches, soonest first; one that is due is dated now."""
    found: list[AgingStep] = []
    while len(found) < len(_STEP_ORDER):
        steps = _steps(memory, preset, superseded_since, known_since)
        if not steps:
            break
        step = min(steps, key=lambda step: (max(step.at, now), -_STEP_ORDER.index(step.action)))
        now = max(step.at, now)
        found.append(msgspec.structs.replace(step, at=now))
        memory = _apply_step(memory, step.action, now)
    return found


def reason_not_to_age(memory: Memory) -> str:
    """Return the reason, as a sentence, why maintenance neither compacts nor archives a memory; "" if it may."""
    full = memory.status == "active" and not _has_room(memory)
    unknown = memory.status == "compacted" and _recorded_moment(memory, _COMPACTED_AT_KEY) is None
    reasons = {
        f"It is {memory.status}, so maintenance leaves it alone.": memory.status not in RECALLED_STATUSES,
        "It is pinned, so it is neither shortened nor archived.": memory.pinned,
        f"Its certainty is {memory.certainty}, so it is neither shortened nor archived.": memory.certainty >= _CERTAIN,
        f"It is {memory.stability}, so only a person's decision compacts or archives it.": memory.stability != "draft",
        f"It was used {memory.used_count} times, so it is neither shortened nor archived.": memory.used_count
        >= BANK_USES,
        "It is a preview of unknown age, so it stays.": unknown,
        "Its other fields leave no room to keep the original of a preview, so it stays whole.": full,
    }
    return next((sentence for sentence, holds in reasons.items() if holds), "")


def restore_compacted(memory: Memory) -> Memory:
    """Return a compacted memory with its original text and active again, any other memory unchanged.

    The caller sets `Memory.updated_at`, so that it counts as touched. A preview that was edited is replaced too: the
    journal keeps it as a version. Without an original, which an edit of ``extra`` may have dropped, the text stays.
    """
    if memory.status != "compacted":
        return memory
    extra = {
        name: value
        for name, value in memory.extra.items()
        if name not in (ORIGINAL_TEXT_KEY, _DEMOTED_AT_KEY, _COMPACTED_AT_KEY)
    }
    original = memory.extra.get(ORIGINAL_TEXT_KEY)
    content = original if isinstance(original, str) and original.strip() else memory.content
    return msgspec.structs.replace(memory, content=content, status="active", extra=extra)


def whole_text(memory: Memory) -> str:
    """Return the text of a memory in full: the original where maintenance made a preview of it.

    A preview that somebody has edited since is the text.
    """
    original = memory.extra.get(ORIGINAL_TEXT_KEY)
    if memory.status not in ("compacted", "archived") or not isinstance(original, str) or not original.strip():
        return memory.content
    return original if _preview_of(original) == memory.content else memory.content


def is_skip_over(skip: Skip, now: datetime) -> bool:
    """Tell whether a skip has ended. Every skip ends, so that avoidance does not outlive its reason."""
    return skip.expires_at <= now


def _steps(
    memory: Memory, preset: DecayPreset, superseded_since: datetime | None, known_since: datetime | None
) -> list[AgingStep]:
    """Return the next step of each rule that applies to a memory."""
    if memory.status not in RECALLED_STATUSES:
        return []
    found = []
    if memory.expires_at is not None:
        found.append(AgingStep("expire", memory.expires_at, f"It was to hold until {_day(memory.expires_at)}."))
    if memory.pinned or memory.certainty >= _CERTAIN:
        return found
    touched = _last_touch(memory, known_since)
    if preset == "vault" and memory.stability == "draft":
        found += _vault_steps(memory, touched, superseded_since)
    if memory.used_count < BANK_USES:
        found += _ladder_steps(memory, touched)
    return found


def _last_touch(memory: Memory, known_since: datetime | None) -> datetime:
    return max(last_touched(memory), known_since or memory.created_at)


def _vault_steps(memory: Memory, touched: datetime, superseded_since: datetime | None) -> Iterator[AgingStep]:
    """Yield the steps of Memento Vault's clean-up: certainty 1-2 after 60 days, bugfix after 90, superseded after 14.

    It counts days from a note's date. Here they count from the last touch, the softer reading, but for the 30 days that
    a note is kept at least, which count from its creation.
    """
    if memory.status == "compacted":
        return  # the ladder archives it after a wait of its own
    youngest = _after(memory.created_at, _VAULT_YOUNGEST_DAYS)
    if memory.certainty <= _VAULT_UNSURE:
        at = max(youngest, _after(touched, _VAULT_UNSURE_DAYS))
        why = f"Its certainty is {memory.certainty} and nobody touched it for {_VAULT_UNSURE_DAYS} days."
        yield AgingStep("archive", at, why)
    if memory.kind == "bugfix":
        at = max(youngest, _after(touched, _VAULT_BUGFIX_DAYS))
        yield AgingStep("archive", at, f"It tells of a bugfix and nobody touched it for {_VAULT_BUGFIX_DAYS} days.")
    if superseded_since is not None:
        at = max(youngest, _after(superseded_since, _VAULT_SUPERSEDED_DAYS))
        yield AgingStep("archive", at, f"Another memory took its place on {_day(superseded_since)}.")


def _ladder_steps(memory: Memory, touched: datetime) -> Iterator[AgingStep]:
    """Yield the next step of a memory on the ladder; a touch begins each wait anew."""
    used = "never used" if memory.used_count == 0 else "used once"
    since = f"It was {used} and nobody touched it since {_day(touched)}"
    if memory.tier in ("long_term", "shared"):
        yield AgingStep("demote", _after(touched, BANK_DAYS), f"{since}.")
        return
    if memory.stability != "draft":
        return
    if memory.status == "compacted":
        # Without the moment of its compaction it stays: a preview must not be archived too soon.
        compacted = _recorded_moment(memory, _COMPACTED_AT_KEY)
        if compacted is not None:
            why = f"{since}; it has been a preview since {_day(compacted)}."
            yield AgingStep("archive", _after(max(compacted, touched), BANK_DAYS), why)
        return
    demoted = _recorded_moment(memory, _DEMOTED_AT_KEY)
    # A memory that was in the lowest tier all along waits as long as one that was demoted first.
    begun = demoted if demoted is not None and demoted >= touched else _after(touched, BANK_DAYS)
    if memory.status == "active":
        if _has_room(memory):
            yield AgingStep("compact", _after(begun, BANK_DAYS), f"{since}.")
        return
    # Compaction would hide that another memory took its place, so this one skips that step but not its wait.
    yield AgingStep("archive", _after(begun, 2 * BANK_DAYS), f"{since}, and it is {memory.status}.")


def _apply_step(memory: Memory, action: AgingAction, now: datetime) -> Memory:
    """Return the memory after a step taken at ``now``."""
    if action == "demote":
        extra = {**memory.extra, _DEMOTED_AT_KEY: format_moment(now)}
        return msgspec.structs.replace(memory, tier="short_term", extra=extra)
    if action == "compact":
        return _compacted(memory, now)
    return msgspec.structs.replace(memory, status="archived")


def _compacted(memory: Memory, now: datetime) -> Memory:
    extra: dict[str, Any] = {**memory.extra, ORIGINAL_TEXT_KEY: memory.content, _COMPACTED_AT_KEY: format_moment(now)}
    return msgspec.structs.replace(memory, content=_preview_of(memory.content), status="compacted", extra=extra)


def _preview_of(text: str) -> str:
    from memento_tui.text.sentences import first_sentence  # noqa: PLC0415 - the app restores previews and makes none

    sentence = first_sentence(text)
    return sentence if sentence.strip() else text


def _has_room(memory: Memory) -> bool:
    """Tell whether ``extra`` has room for the original text; without it the memory is not compacted."""
    try:
        check_extra({**memory.extra, ORIGINAL_TEXT_KEY: memory.content, _COMPACTED_AT_KEY: format_moment(_LAST_MOMENT)})
    except InvalidField:
        return False
    return True


def _recorded_moment(memory: Memory, name: str) -> datetime | None:
    """Return a moment that a step wrote into ``extra``, or ``None`` for any other value there."""
    value = memory.extra.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is UTC else None


def _after(moment: datetime, days: int) -> datetime:
    """Return the moment ``days`` later, or the last moment of the calendar."""
    return moment + timedelta(days=days) if _LAST_MOMENT - moment > timedelta(days=days) else _LAST_MOMENT


def _day(moment: datetime) -> str:
    return format_moment(moment)[:10]
