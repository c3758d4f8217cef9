"""A function as a tool: on a thread of its own, with no argument that it does not know, described in few words."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations

from memento_tui.agent.seats import Seats

__all__ = ["hints", "strict_tool"]


def hints(*, read_only: bool = False, destructive: bool = False, idempotent: bool = False) -> ToolAnnotations:
    """Return what a host is told of a tool, by which it decides whether to ask first; none leaves this machine."""
    return ToolAnnotations(
        read_only_hint=read_only, destructive_hint=destructive, idempotent_hint=idempotent, open_world_hint=False
    )


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
    if metadata.output_schema is not None:  # a tool of text alone has none
        metadata.output_schema = _shallow(metadata.output_schema)
    return tool


def _terse(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles, which repeat the names, and without null defaults.

    Every host reads the list of tools again in every session.
    """
    return cast("dict[str, Any]", _without(schema, frozenset({"title"}), names=False))


def _shallow(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of a result that names its fields and their types, and says nothing of what is within them.

    Whole ones were three fifths of the list of tools.
    """
    fields = schema.get("properties", {})
    return {"type": "object", "properties": {name: {"type": _type_of(field)} for name, field in fields.items()}}


def _type_of(field: dict[str, Any]) -> Any:  # noqa: ANN401 - a name or a list of names
    if "anyOf" in field:
        return [_type_of(part) for part in field["anyOf"]]
    return field.get("type", "object")


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
