"""A function as a tool: on a thread of its own, with no argument that it does not know, described in few words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations

from memento_tui.agent.seats import Seats

__all__ = ["strict_tool"]


def strict_tool(function: Callable[..., CallToolResult], title: str, hints: ToolAnnotations, seats: Seats) -> Tool:
    """Return a function as a tool that runs on a thread of ``seats`` and refuses arguments that it does not know."""

    @functools.wraps(function)
    async def run(**arguments: Any) -> CallToolResult:  # noqa: ANN401 - the function's own
        return await seats.run(function, **arguments)

    tool = Tool.from_function(run, title=title, description=inspect.getdoc(function), annotations=hints)
    metadata = tool.fn_metadata
    metadata.arg_model.model_config["extra"] = "forbid"
    metadata.arg_model.model_rebuild(force=True)
    tool.parameters = _terse(metadata.arg_model.model_json_schema(by_alias=True))
    metadata.output_schema = _terse(metadata.output_schema or {}, "description", "default")
    return tool


def _terse(schema: dict[str, Any], *words: str) -> dict[str, Any]:
    """Return a schema without titles, which repeat the names, without null defaults, and without ``words``.

    Every host reads the list of tools again in every session.
    """
    return cast("dict[str, Any]", _without(schema, frozenset({"title", *words}), names=False))


def _without(node: Any, words: frozenset[str], *, names: bool) -> Any:  # noqa: ANN401 - any JSON
    """``names`` says that the keys of this object are the schema's own names, not words of its language."""
    if isinstance(node, list):
        return [_without(part, words, names=False) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        is_noise = key in words or (key == "default" and value is None)
        if names or not is_noise:
            kept[key] = _without(value, words, names=not names and key in ("properties", "$defs"))
    return kept
