"""Read the settings of hooks without the libraries that the rest of memento reads settings with."""

from __future__ import annotations

from pathlib import Path

from memento_tui.defaults import (
    DECAY_PRESETS,
    HOOK_CHECKS_PROVENANCE,
    HOOK_LEARNS,
    HOOK_PROMPT_TOKENS,
    HOOK_REMINDS,
    HOOK_START_TOKENS,
    RELEVANCE_FLOOR,
)
from memento_tui.named_tuple import NamedTuple
from memento_tui.regular_files import read_regular

__all__ = ["HookSettings", "engine_is_enabled", "read_settings"]

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Any

    from memento_tui.config import DecayPreset


class HookSettings(NamedTuple):
    """The fields of ``[hooks]`` in ``config.toml``, and the preset of decay; `memento_tui.config` checks the values."""

    prompt_tokens: int = HOOK_PROMPT_TOKENS
    """Tokens of context for one prompt or file, at most; no host passes on more than 2,500."""
    start_tokens: int = HOOK_START_TOKENS
    """Tokens of context for the start of a session, at most."""
    threshold: float = RELEVANCE_FLOOR
    """The score, 0 to about 1, below which a memory is left out."""
    learn: bool = HOOK_LEARNS
    """Whether lessons are distilled from transcripts and proposed."""
    provenance: bool = HOOK_CHECKS_PROVENANCE
    """Whether the memories of a session are compared with the outputs of its tools."""
    remind: bool = HOOK_REMINDS
    """Whether the person is told once of a session that changed much and remembered nothing."""
    decay: DecayPreset = "balanced"


_FIELD_NAMES = ("prompt_tokens", "start_tokens", "threshold", "learn", "provenance", "remind")


def read_settings(path: Path) -> HookSettings:
    """Return the settings of ``config.toml``; a missing value, or one of a wrong type, has its default.

    `memento doctor` reports a wrong value; a hook has nobody to report it to.
    """
    try:
        raw = read_regular(path)
    except OSError:
        return HookSettings()
    if not any(name in raw for name in (b"hooks", b"decay")):
        return HookSettings()
    import tomllib  # noqa: PLC0415 - a tenth of the hook's own time, and most files set none of these

    try:
        read = tomllib.loads(raw.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return HookSettings()
    defaults = HookSettings()
    hooks = _table(read, "hooks")
    maintenance = _table(read, "maintenance" if "maintenance" in read else "upkeep")  # the section's former name
    values: dict[str, Any] = {
        name: hooks[name]
        for name in _FIELD_NAMES
        if type(hooks.get(name)) is type(getattr(defaults, name)) or (name == "threshold" and hooks.get(name) in (0, 1))
    }
    if maintenance.get("decay") in DECAY_PRESETS:
        values["decay"] = maintenance["decay"]
    return defaults._replace(**values)


def engine_is_enabled(path: Path) -> bool:
    """Tell whether ``config.toml`` lets an engine run; it does unless it says otherwise."""
    import tomllib  # noqa: PLC0415 - as above

    try:
        read = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return True
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return False
    return _table(read, "engine").get("enabled") is not False


def _table(read: dict[str, Any], name: str) -> dict[str, Any]:
    found = read.get(name)
    return found if isinstance(found, dict) else {}
