"""Turn every failure of a tool into a sentence that the agent can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memento_tui.errors import Conflict, InvalidField, MementoError
from memento_tui.model import Memory
from memento_tui.policy.policy import AGENT_FIELDS
from memento_tui.text.fence import fenced, quoted_id

__all__ = ["UNEXPECTED_ERROR", "message_of_error", "unknown_tool_message"]

UNEXPECTED_ERROR = (
    "memento failed in a way that it did not expect; its log on standard error says how."
    " Try once more; if that fails too, go on without it."
)

_OWNER_ONLY_FIELDS = frozenset(Memory.__struct_fields__) - AGENT_FIELDS - {"id"}
"""The fields whose refusal is explained. An ``id`` is a slip where a tool takes ``ids`` or none."""
_ARGUMENT_OF_FIELD = {"expires_at": "expires", "source.url": "source_url"}
"""The arguments whose names differ from the fields that they set, by field."""
_TYPE_NAMES = {"string": "a text", "integer": "a whole number", "array": "a list of texts"}


def unknown_tool_message(name: str, known: Sequence[str], others: Mapping[str, str]) -> str:
    """Return the sentence for a tool that does not exist here; ``others`` are the profiles that have it, titled."""
    listed = f"The tools here are {', '.join(known)}."
    if not others:
        return f"There is no tool {name!r:.60}. {listed}"
    systems = " and ".join(others.values())
    commands = " or ".join(f"memento mcp --profile {profile}" for profile in others)
    return f"{name} is a tool of {systems}: a person can serve it with {commands}. {listed}"


def message_of_error(error: BaseException, tool: str, schema: Mapping[str, Any]) -> str | None:
    """Return the sentence for an error of a tool with this input schema; ``None`` for an error that nobody foresaw."""
    if isinstance(error, ValidationError):
        return _arguments_message(error, tool, schema)
    if isinstance(error, Conflict):
        return "\n".join([str(error), *_current_state_text(error.current)])
    if isinstance(error, InvalidField):
        name = _ARGUMENT_OF_FIELD.get(error.field, error.field)
        return f"{name}: {error.reason}. {error.hint}".strip()
    if isinstance(error, MementoError):
        return str(error)
    return None


def _arguments_message(error: ValidationError, tool: str, schema: Mapping[str, Any]) -> str:
    known: Mapping[str, Any] = schema["properties"]
    details = error.errors(include_url=False)
    unknown = [str(detail["loc"][0]) for detail in details if detail["type"] == "extra_forbidden"]
    sentences = [_unknown_arguments_message(unknown, tool, list(known))] if unknown else []
    sentences += [_argument_message(detail, tool, known) for detail in details if detail["type"] != "extra_forbidden"]
    return " ".join(sentences)


def _unknown_arguments_message(names: list[str], tool: str, known: list[str]) -> str:
    listed = ", ".join(f"{name!r:.60}" for name in names[:10])
    takes = f"It takes {', '.join(known)}." if known else "It takes no arguments."
    governed = [name for name in names if name in _OWNER_ONLY_FIELDS]
    if governed:
        return (
            f"An agent may not set {', '.join(governed)}; a person decides that. {tool} does not take {listed}. {takes}"
        )
    return f"{tool} does not take {listed}; nothing was done. {takes}"


def _argument_message(detail: ErrorDetails, tool: str, known: Mapping[str, Any]) -> str:
    name = str(detail["loc"][0])
    if detail["type"] == "missing":
        return f"{tool} needs {name}."
    return f"{name}: must be {_expected_type(known.get(name, {}))}; not {detail['input']!r:.60}."


def _expected_type(schema: Mapping[str, Any]) -> str:
    expected = _TYPE_NAMES.get(schema.get("type", ""), "of another type")
    for low, high in (("minimum", "maximum"), ("minItems", "maxItems")):
        if low in schema and high in schema:
            expected += f", {schema[low]} to {schema[high]}"
        elif low in schema:
            expected += f", at least {schema[low]}"
        elif high in schema:
            expected += f", at most {schema[high]}"
    if "maxLength" in schema:
        expected += f" of at most {schema['maxLength']:,} characters"
    return expected


def _current_state_text(current: Mapping[str, object] | None) -> list[str]:
    """Return the lines from which an agent can make its change again: the present id, version and text."""
    if current is None:
        return []
    lines = [f"It is {quoted_id(str(current.get('id', '')))} at version {current.get('version', 1)} now."]
    content = current.get("content")
    if isinstance(content, str) and content and current.get("status") not in ("pending", "rejected", "deleted"):
        lines.append(fenced(content, untrusted=current.get("source_type") == "external"))
    return lines
