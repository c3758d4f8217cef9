"""memento's Python API, which the command line, the MCP server and the app themselves use."""

from __future__ import annotations

from memento_tui.api.memories import ChangeOutcome
from memento_tui.api.workspace import Workspace

__all__ = ["ChangeOutcome", "Workspace"]
