"""What a person may set in ``config.toml``, with the values that hold where nothing is set."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from memento_tui.errors import DataDirectoryError, InvalidInput

__all__ = ["Config", "EngineConfig", "ReviewConfig", "load_config"]


class ReviewConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The gate: which writes wait for a person."""

    preset: Literal["open", "guarded", "strict"] = "guarded"


class EngineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The background process that embeds and answers semantic queries."""

    enabled: bool = True
    model: str = ""
    """A folder that holds a sentence-transformers model; empty for the one that is installed with memento."""
    idle_seconds: Annotated[float, msgspec.Meta(gt=0)] = 900
    """How long the engine stays when nobody asks it anything."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``config.toml``."""

    review: ReviewConfig = ReviewConfig()
    engine: EngineConfig = EngineConfig()


def load_config(path: Path) -> Config:
    """Read ``config.toml``; a missing file is an empty one.

    Raises:
        InvalidInput: it is not TOML, or holds a setting or value that does not exist.
        DataDirectoryError: it cannot be read.

    """
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return Config()
    except OSError as error:
        raise DataDirectoryError(
            f"{path} cannot be read: {error.strerror}.", "Check that you may read the data directory."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}.", "Save it as UTF-8.") from error
    try:
        return msgspec.convert(tomllib.loads(text), Config)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise InvalidInput(
            f"{path}: {error}.", "Mend the line, or delete the file to return to the defaults."
        ) from error
