"""The arguments of the tools for a memory's fields, as the declaration of the fields has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from memento_tui.mcp.schemas import WholeMemory
from memento_tui.mcp.tool import UNCHANGED
from memento_tui.model import Memory
from memento_tui.model.memory_fields import FIELDS, MemoryField, in_order
from memento_tui.moments import parse_optional_end
from memento_tui.operations.memories import format_time

__all__ = ["further_fields", "taken_fields", "takes_fields"]

Function = TypeVar("Function", bound=Callable[..., Any])

_ARGUMENTS = {field.argument.name or field.name: (field, field.argument) for field in FIELDS if field.argument}

_ORDER = ("title", "kind", "tags", "namespace", "certainty", "expires", "source_type", "source_url", "validity_context")
"""The order in which the tools list the arguments; those that it lacks follow."""


def takes_fields(
    tool: Literal["remember", "update"], *, behind: tuple[str, ...] = ()
) -> Callable[[Function], Function]:
    """Return a decorator that lists the arguments of a tool for fields in place of its ``**fields``.

    ``behind`` names those of its own arguments that follow them.
    """
    arguments = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=UNCHANGED, annotation=_annotation(field, description)
        )
        for name in in_order(_ARGUMENTS, _ORDER)
        for field, argument in [_ARGUMENTS[name]]
        if (description := getattr(argument, tool)) is not None
    ]

    def list_arguments(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        first = [one for one in own if one.name not in behind]
        last = [one for one in own if one.name in behind]
        listed = signature.replace(parameters=[*first, *arguments, *last])
        setattr(function, "__signature__", listed)  # noqa: B010 - a function's type has no such attribute
        return function

    return list_arguments


def _annotation(field: MemoryField, description: str) -> Any:  # noqa: ANN401 - a type
    of_type: Any = {"a list of words": list[str], "true or false": bool}.get(field.expects, str)
    if field.bounds is not None:
        of_type = int if field.filter == "number" else float
    facts: dict[str, Any] = {"description": description} if description else {}
    if field.choices:
        facts["json_schema_extra"] = {"enum": list(field.choices)}
    return Annotated[of_type, Field(**facts)] if facts else of_type


def taken_fields(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that some arguments give; what is part of a field, or none, keeps its argument's name."""
    fields = {}
    for name, value in arguments.items():
        field = _ARGUMENTS[name][0] if name in _ARGUMENTS else None
        is_moment = field is not None and field.accepts == "a moment"
        fields[name if field is None or field.path else field.name] = parse_optional_end(value) if is_moment else value
    return fields


def further_fields(memory: Memory) -> dict[str, Any]:
    """Return those fields with an argument that `WholeMemory` does not name, where they have a value."""
    own = [field.name for field, _ in _ARGUMENTS.values() if not field.path]
    values = {name: getattr(memory, name) for name in own if name not in WholeMemory.model_fields}
    return {
        name: format_time(value) if isinstance(value, datetime) else value for name, value in values.items() if value
    }
