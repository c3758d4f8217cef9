"""The workspace: memento's Python API, which the command line, the MCP server and the app themselves use."""

from __future__ import annotations

from memento_tui.workspace.workspace import Outcome, Workspace

__all__ = ["Outcome", "Workspace"]
