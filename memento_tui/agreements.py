"""Require the person's agreement to each address in a data directory before data is sent to it.

Somebody else may have written a data directory's ``config.toml``, and the part in a hub that its database holds, so the
agreements lie beside the list of workspaces, never inside a directory. One holds for every workspace of this machine,
for its address and key variable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memento_tui import machine_lists
from memento_tui.config import Config, LanguageModelConfig
from memento_tui.errors import DataDirectoryError, MementoError, NotAllowed
from memento_tui.locations import agreements_location

__all__ = [
    "Destination",
    "agree_by_typing",
    "agree_to",
    "destinations",
    "is_agreed",
    "refusal",
    "refusals",
    "require_agreement",
    "withdraw_agreements",
]

LANGUAGE_MODEL, SHARED_VECTORS, HUB = "language_model", "engine.shared_vectors", "hub"

_WHAT_IS_SENT = {
    LANGUAGE_MODEL: "memories",
    SHARED_VECTORS: "vectors made of shared memories",
    HUB: "shared memories, and the password of your login,",
}

_LIST = "the list of what you agreed to"
"""The name of the list in a sentence."""

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,60}", re.ASCII)


class Destination(NamedTuple):
    """A place that a data directory would send something to."""

    setting: str
    """The section or setting that names it; ``hub`` for the database's part in one."""
    address: str
    key_variable: str = ""
    """The environment variable whose value goes there; empty where ``config.toml`` names none."""

    @classmethod
    def of_language_model(cls, config: LanguageModelConfig) -> Destination:
        """Return that of a language model's endpoint."""
        return cls(LANGUAGE_MODEL, config.url, config.key_variable)

    @classmethod
    def of_shared_vectors(cls, address: str) -> Destination:
        """Return that of vectors on object storage."""
        return cls(SHARED_VECTORS, address)

    @classmethod
    def of_hub(cls, address: str) -> Destination:
        """Return that of a hub's PostgreSQL."""
        return cls(HUB, address)

    @property
    def named_by(self) -> str:
        """The file of the data directory that names it."""
        return "memento.db" if self.setting == HUB else "config.toml"

    @property
    def in_words(self) -> str:
        """The data that is sent and its whole address, in words; the end of an address says whose it is.

        A key that was written in the place of its variable's name is not repeated.
        """
        shown = self.address if self.address.isprintable() else repr(self.address)
        sent = _WHAT_IS_SENT[self.setting]
        if self.key_variable:
            is_name = _VARIABLE.fullmatch(self.key_variable)
            named = self.key_variable if is_name else f"that {self.setting}.key_variable names"
            sent = f"{sent} and the value of the environment variable {named}"
        return f"{sent} to {shown}"


def destinations(config: Config, hub: str = "") -> Sequence[Destination]:
    """Return every place that a ``config.toml`` would send something to, and the hub at an address."""
    vectors = config.engine.shared_vectors
    return [
        *([Destination.of_language_model(config.language_model)] if config.language_model.url else []),
        *([Destination.of_shared_vectors(vectors)] if vectors else []),
        *([Destination.of_hub(hub)] if hub else []),
    ]


def is_agreed(destination: Destination) -> bool:
    """Tell whether the person agreed to exactly this. Raises `DataDirectoryError` where that cannot be read."""
    return destination in _read(_file())


def require_agreement(destination: Destination) -> None:
    """Raise an error unless the person agreed to the destination; every sender calls this first.

    Raises:
        NotAllowed: they did not, or what they agreed to cannot be read.

    """
    try:
        if is_agreed(destination):
            return
    except MementoError as error:
        raise NotAllowed(f"{error.message} Nothing is sent.", error.hint) from error
    raise NotAllowed(
        f"{destination.named_by} would send {destination.in_words};"
        " nothing is sent, because you have not agreed to that.",
        "To agree, run `memento settings agree` in a terminal of your own.",
    )


def refusal(destination: Destination) -> NotAllowed | None:
    """Return why nothing is sent to a place; ``None`` where the person agreed to it."""
    try:
        require_agreement(destination)
    except NotAllowed as error:
        return error
    return None


def refusals(named: Sequence[Destination]) -> Mapping[Destination, NotAllowed]:
    """Return why nothing is sent to those of the places that the person did not agree to."""
    return {one: error for one in named if (error := refusal(one)) is not None}


def agree_by_typing(name: str, before: Config, now: Config) -> None:
    """Record the agreement of a person who typed the setting ``name``, which changed ``before`` to ``now``.

    They agreed to what they typed. What else belongs to it, such as a key variable that stood in the file, must be
    nothing, or have been agreed to before. Raises `DataDirectoryError`.
    """
    if name == SHARED_VECTORS and now.engine.shared_vectors:
        agree_to(Destination.of_shared_vectors(now.engine.shared_vectors))
    if name in (f"{LANGUAGE_MODEL}.url", f"{LANGUAGE_MODEL}.key_variable") and now.language_model.url:
        changed = Destination.of_language_model(now.language_model)
        is_all_typed = name.endswith(".url") and not changed.key_variable
        if is_all_typed or is_agreed(Destination.of_language_model(before.language_model)):
            agree_to(changed)


def agree_to(destination: Destination) -> None:
    """Note that the person agreed; the caller answers for that. Raises `DataDirectoryError`."""
    with machine_lists.changing(_file(), _LIST):
        agreed = _read(_file())
        if destination not in agreed:
            _write([*agreed, destination])


def withdraw_agreements() -> int:
    """Take back whatever was agreed to, and return how much that was. Raises `DataDirectoryError`."""
    with machine_lists.changing(_file(), _LIST):
        agreed = _read(_file())
        if agreed:
            _write([])
    return len(agreed)


def _file() -> Path:
    return Path(agreements_location())


def _read(file: Path) -> list[Destination]:
    """Return the agreements; none where there is no file. Raises `DataDirectoryError` where it cannot be read."""
    try:
        return [_destination(one) for one in json.loads(file.read_bytes())["agreed"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no such list"
        raise DataDirectoryError(
            f"What you agreed to, in {file}, cannot be read: {reason}.", "Mend it or move it away, then agree again."
        ) from error


def _destination(held: Any) -> Destination:  # noqa: ANN401 - whatever stands in the file
    return Destination(str(held["setting"]), str(held["address"]), str(held["key_variable"]))


def _write(agreed: Sequence[Destination]) -> None:
    content = json.dumps({"agreed": [one._asdict() for one in agreed]}, indent=1).encode()
    machine_lists.write(_file(), _LIST, content)
