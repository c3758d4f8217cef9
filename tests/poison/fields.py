"""Where texts stand in what a channel takes: derived from its own JSON schema, or from a document that it wrote."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Path", "at", "leaves", "path_text", "put", "sample", "text_places", "with_text"]

Path: TypeAlias = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

_SENSIBLE: Mapping[str, Any] = {
    "expires": "30d",
    "ttl": "30d",
    "expires_at": "2027-01-15T00:00:00Z",
    "cwd": "/tmp",  # noqa: S108 - nothing is there
    "bank_id": "projects/site",
    "namespace": "projects/site",
    "date": "2026-11-20",
    "repo_slug": "site",
    "label": "see also",
    "path": "docs/page.md",
    "validity_context": "on Linux",
    "certainty": 3,
    "category": "active_work",
    "resolution": "merged",
    "type": "fact",
    "status": "active",
}
"""Values by the names of fields, where one of the type would be refused."""


_CARRIERS = frozenset(
    {"content", "text", "item", "reason", "title", "category", "session_summary", "expires", "source_ids"}
)
"""Fields without which a new record is none, though not every schema says so."""


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the alternatives of a schema, without references."""
    if "$ref" in schema:
        return _resolved(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return [one for part in schema["anyOf"] for one in _resolved(part, definitions)]
    kinds = schema.get("type")
    return [{**schema, "type": kind} for kind in kinds] if isinstance(kinds, list) else [schema]


def text_places(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the path to each text that a schema has room for; words of a closed list are none."""
    for one in _resolved(schema, definitions):
        if one.get("type") == "object":
            for name, field in one.get("properties", {}).items():
                yield from ((name, *rest) for rest in text_places(field, definitions))
            if not one.get("properties"):
                yield ("note",)
        elif one.get("type") == "array":
            yield from ((0, *rest) for rest in text_places(one.get("items", {}), definitions))
        elif one.get("type") == "string" and not one.get("enum"):
            yield ()


def sample(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], name: str, towards: Path = (), *, whole: bool = False
) -> Any:
    """Return a value that a schema accepts: what is required, and what leads ``towards`` a place.

    ``whole`` adds what a new record must have, required or not.
    """
    one = _resolved(schema, definitions)[0]
    kind = one.get("type")
    if kind == "object":
        fields = one.get("properties", {})
        wanted = [*one.get("required", ()), *(str(part) for part in towards[:1])]
        wanted += [key for key in fields if whole and key in _CARRIERS] if name != "linkages" else ["id", "path"]
        made = {
            key: sample(fields.get(key, {}), definitions, key, towards[1:] if towards[:1] == (key,) else ())
            for key in dict.fromkeys(wanted)
        }
        if name == "linkages":
            made["type"] = "file" if towards[:1] == ("path",) else "memory"
        return made
    if kind == "array":
        return [sample(one.get("items", {}), definitions, name, towards[1:])]
    choices = one.get("enum")
    if name in _SENSIBLE and (not choices or _SENSIBLE[name] in choices):
        return _SENSIBLE[name]
    if choices:
        return choices[0]
    return {"integer": 1, "number": 1.0, "boolean": False, "null": None}.get(str(kind), f"The {name} of the site")


def at(value: Any, path: Path) -> Any:
    """Return the value that a path leads to."""
    for part in path:
        value = value[part]
    return value


def put(value: Any, path: Path, inner: Any) -> None:
    """Put a value where a path leads."""
    at(value, path[:-1])[path[-1]] = inner


def with_text(value: Any, path: Path, text: str) -> Any:
    """Return a copy of a value with a text where a path leads."""
    if not path:
        return text
    changed = copy.deepcopy(value)
    put(changed, path, text)
    return changed


def leaves(value: Any, before: Path = ()) -> Iterator[Path]:
    """Yield the path to each text in a document."""
    if isinstance(value, str):
        yield before
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, (*before, name))
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*before, number))


def path_text(path: Path) -> str:
    """Return a path as it is named in a report; positions in a list make no difference."""
    return ".".join("*" if isinstance(part, int) else part for part in path) or "text"
