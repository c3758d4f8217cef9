"""Every error that memento raises on purpose, each a sentence with a next step."""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, whose import a hook would wait for
if TYPE_CHECKING:
    from typing import ClassVar

__all__ = [
    "AmbiguousId",
    "Conflict",
    "DamagedFile",
    "DataDirectoryError",
    "EngineUnavailable",
    "InvalidField",
    "InvalidInput",
    "LockedWorkspace",
    "LostData",
    "MementoError",
    "NotAllowed",
    "NotFound",
    "ReadOnlyMode",
    "RiskNotAccepted",
]


class MementoError(Exception):
    """A failure that is reported to the caller in one sentence.

    ``message`` says what was wrong, ``hint`` what to do next (it may be empty).
    ``code`` is a stable word for programs, ``exit_code`` the status of a command that fails with it.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def as_dict(self) -> dict[str, object]:
        """Return the object that ``--json`` prints under ``error``."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


class InvalidInput(MementoError):
    """The input cannot be used as it is."""

    code = "invalid_input"
    exit_code = 2


class InvalidField(InvalidInput):
    """One field of a record breaks one of its rules."""

    code = "invalid_field"

    def __init__(self, field: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{field}: {reason}.", hint)
        self.field = field
        self.reason = reason

    def as_dict(self) -> dict[str, object]:
        """Return the error with the field and the reason apart."""
        return {**super().as_dict(), "field": self.field, "reason": self.reason}


class NotFound(MementoError):
    """No record has the requested id."""

    code = "not_found"
    exit_code = 3


class AmbiguousId(NotFound):
    """Several records have ids that begin with the prefix that was given."""

    code = "ambiguous_id"

    def __init__(self, prefix: str, candidates: list[str], *, what: str = "id", waiting: bool = False) -> None:
        """Say which records are meant; ``waiting`` where they are proposals about the one record that was named."""
        shown = ", ".join(candidates[:5]) + (" and others" if len(candidates) > 5 else "")  # noqa: PLR2004 - a line's worth
        if waiting:
            super().__init__(f"Several proposals wait about {prefix!r}: {shown}.", "Name the one that you mean.")
        else:
            super().__init__(f"Several {what}s begin with {prefix!r}: {shown}.", f"Type more of the {what}.")
        self.candidates = candidates

    def as_dict(self) -> dict[str, object]:
        """Return the error with the ids that were meant, perhaps."""
        return {**super().as_dict(), "candidates": self.candidates}


class Conflict(MementoError):
    """A record is no longer at the version that a change was made from.

    ``current`` is the record as it stands and ``attempted`` the one that was refused (of an undo, the one that the
    entry wrote), both as plain mappings; either is ``None`` where the record does not exist on that side.
    """

    code = "conflict"
    exit_code = 4

    def __init__(
        self,
        message: str,
        hint: str = "Read it again, then make your change from what it says now.",
        *,
        current: dict[str, object] | None = None,
        attempted: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.current = current
        self.attempted = attempted

    def as_dict(self) -> dict[str, object]:
        """Return the error with both sides."""
        return {**super().as_dict(), "current": self.current, "attempted": self.attempted}


class NotAllowed(MementoError):
    """The caller may not do that; for an agent, because a person decides it."""

    code = "not_allowed"
    exit_code = 5


class RiskNotAccepted(NotAllowed):
    """An approval could do harm, and names another risk than the proposal has, or none."""

    code = "risky"

    def __init__(self, proposal: str, risk: str, what: str) -> None:
        super().__init__(
            f"The proposal {proposal} {what}, so it is approved only with a second yes.",
            f"Look at it: memento review show {proposal}. Then approve it with --despite {risk}.",
        )
        self.risk = risk
        self.what = what

    def as_dict(self) -> dict[str, object]:
        """Return the error with the risk, as an approval has to name it."""
        return {**super().as_dict(), "risk": self.risk}


class DataDirectoryError(MementoError):
    """The data directory is missing, read-only, full, damaged or from a newer version."""

    code = "data_directory"
    exit_code = 6


class DamagedFile(DataDirectoryError):
    """The fault lies in the file itself, and stays."""


class LostData(DataDirectoryError):
    """The database is gone, or is not the one that the directory held."""

    code = "lost_data"


class LockedWorkspace(DataDirectoryError):
    """A database or a backup is encrypted, and its key is locked."""

    code = "locked"

    def __init__(self, file: object, key_id: str) -> None:
        super().__init__(f"{file} is encrypted and locked (key {key_id}).", "`memento unlock` asks for the passphrase.")
        self.key_id = key_id


class ReadOnlyMode(DataDirectoryError):
    """memento was started to change nothing."""

    code = "read_only"

    def __init__(self) -> None:
        super().__init__(
            "memento was started read-only, so nothing is changed.",
            "Start it without --read-only and MEMENTO_READ_ONLY to change something.",
        )


class EngineUnavailable(MementoError):
    """The background engine does not answer."""

    code = "engine_unavailable"
    exit_code = 7
