"""The token of a test's own scripts: tests have no terminal, so each data directory gets one, as a person makes it."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api.tokens import ScriptTokens
from memento_tui.cli.author import TOKEN_VARIABLE
from memento_tui.paths import DataPaths

__all__ = ["token_environment"]

_NAME = "tests"
_made: dict[Path, str] = {}


def token_environment(data_dir: Path) -> dict[str, str]:
    """Return the environment in which a command on a data directory is the person's.

    Where there is no directory it holds no token: then a command begins a new one, or tells that there is none.
    """
    if not data_dir.is_dir():
        return {TOKEN_VARIABLE: ""}
    tokens = ScriptTokens(DataPaths(data_dir))
    if data_dir not in _made or not tokens.accepts(_made[data_dir]):
        _made[data_dir] = tokens.make(_NAME)
    return {TOKEN_VARIABLE: _made[data_dir]}
