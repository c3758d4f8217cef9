"""Define tools: the argument types that several tools share, and a function as a strict tool on a worker thread.

Texts are annotated as plain ``str`` even where they may be left out: for any other annotation the SDK first tries to
read a text as JSON, and a title that happens to look like JSON would not survive that.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from memento_tui.errors import InvalidInput
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model.lists import ITEM_CATEGORIES, ITEM_STATUSES
from memento_tui.model.memory_fields import FIELDS_BY_NAME, SOURCE_TYPES

__all__ = [
    "UNCHANGED",
    "After",
    "BaseVersion",
    "Category",
    "Expires",
    "Id",
    "ItemStatus",
    "Namespace",
    "PageSize",
    "Session",
    "SkipEnd",
    "SourceType",
    "Tags",
    "changed_arguments",
    "given_arguments",
    "hints",
    "strict_tool",
]

UNCHANGED: Any = None
"""The default of an argument that, left out, changes nothing."""


def _description(field: str) -> str | None:
    argument = FIELDS_BY_NAME[field].argument
    return argument.remember if argument else None


Id = Annotated[str, Field(description="id or unique beginning")]
Tags = list[str]
Namespace = Annotated[str, Field(description="e.g. projects/site")]
Expires = Annotated[str, Field(description=_description("expires_at"))]
SkipEnd = Annotated[str, Field(description="2026-12-31 or 7d")]
BaseVersion = Annotated[int, Field(description="version you read")]
SourceType = Annotated[
    str, Field(description=_description("source_type"), json_schema_extra={"enum": list(SOURCE_TYPES)})
]
After = Annotated[str, Field(description="next of the page before")]
PageSize = Annotated[int, Field(ge=1, le=50)]
Session = Annotated[str, Field(description="from session_open")]
Category = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_CATEGORIES)})]
ItemStatus = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_STATUSES)})]


def given_arguments(**arguments: object) -> dict[str, Any]:
    """Return the arguments that were given."""
    return {name: value for name, value in arguments.items() if value is not UNCHANGED}


def changed_arguments(**arguments: object) -> dict[str, Any]:
    """Return the arguments that were given. Raises `InvalidInput` where there are none, for a change needs one."""
    changes = given_arguments(**arguments)
    if not changes:
        raise InvalidInput("Nothing to change was given.", f"Give at least one of {', '.join(arguments)}.")
    return changes


def hints(*, read_only: bool = False, destructive: bool = False, idempotent: bool = False) -> ToolAnnotations:
    """Return the hints by which a host decides whether to ask before it calls a tool; none leaves this machine."""
    return ToolAnnotations(
        read_only_hint=read_only, destructive_hint=destructive, idempotent_hint=idempotent, open_world_hint=False
    )


def strict_tool(
    function: Callable[..., CallToolResult], title: str, hints: ToolAnnotations, mcp_workspaces: McpWorkspaces
) -> Tool:
    """Return a function as a tool that runs on a thread of the workspaces and refuses unknown arguments."""

    @functools.wraps(function)
    async def run(**arguments: Any) -> CallToolResult:  # noqa: ANN401 - the function's own
        return await mcp_workspaces.run(function, **arguments)

    method = getattr(function, "__func__", None)
    described = _DESCRIBED.get(method)
    if described is None:
        # One that a decorator made would be taken for that of `run`, with its `self`.
        setattr(run, "__signature__", inspect.signature(function, eval_str=True))  # noqa: B010
        described = _describe(run, title, hints)
        if method is not None:
            _DESCRIBED[method] = described.model_copy(update={"fn": method})
    return described.model_copy(update={"fn": run})


_DESCRIBED: dict[object, Tool] = {}
"""The tools that were described, by method: their schemas take a tenth of a second, and there are many servers."""


def _describe(run: Callable[..., Awaitable[CallToolResult]], title: str, hints: ToolAnnotations) -> Tool:
    """Return a tool with the schemas of its arguments and of its result."""
    tool = Tool.from_function(run, title=title, description=inspect.getdoc(run), annotations=hints)
    metadata = tool.fn_metadata
    metadata.arg_model.model_config["extra"] = "forbid"
    metadata.arg_model.model_rebuild(force=True)
    tool.parameters = _compact_schema(metadata.arg_model.model_json_schema(by_alias=True))
    if metadata.output_schema is not None:  # a tool of text alone has none
        metadata.output_schema = _shallow_schema(metadata.output_schema)
    return tool


def _compact_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without titles, which repeat the names, and without null defaults.

    Every host reads the list of tools again in every session.
    """
    return cast("dict[str, Any]", _without_keys(schema, frozenset({"title"}), names=False))


def _shallow_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a result with the names and types of its fields, without the fields of those.

    Whole schemas were three fifths of the list of tools.
    """
    fields = schema.get("properties", {})
    return {"type": "object", "properties": {name: {"type": _field_type(field)} for name, field in fields.items()}}


def _field_type(field: dict[str, Any]) -> Any:  # noqa: ANN401 - a name or a list of names
    if "anyOf" in field:
        return [_field_type(part) for part in field["anyOf"]]
    return field.get("type", "object")


def _without_keys(node: Any, words: frozenset[str], *, names: bool) -> Any:  # noqa: ANN401 - any JSON
    """Return JSON without some keys and null defaults.

    ``names`` says that the keys of this object are the schema's own names, not words of its language.
    """
    if isinstance(node, list):
        return [_without_keys(part, words, names=False) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        is_noise = key in words or (key == "default" and value is None)
        if names or not is_noise:
            kept[key] = _without_keys(value, words, names=not names and key in ("properties", "$defs"))
    return kept
