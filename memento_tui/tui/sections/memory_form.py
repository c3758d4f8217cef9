"""The form of a memory's fields, and the fields that a new memory takes from the search it is written in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, Filter, HasTag, OneOf, Under
from memento_tui.model.memory_fields import FIELDS, FormField, MemoryField, in_order
from memento_tui.moments import format_moment
from memento_tui.tui.widgets.text_draft import Field

__all__ = ["FieldsOfSearch", "changed_fields", "fields_of_search", "form_fields"]

_ORDER = (
    *("title", "kind", "namespace", "tags", "certainty", "validity_context"),
    *("valid_from", "valid_to", "expires_at", "sensitivity"),
)
"""The order of the form; fields that it lacks follow."""

_FORM = {field.name: (field, field.form) for field in FIELDS if field.form}
_MOMENTS = [name for name, (field, _) in _FORM.items() if field.accepts == "a moment"]
_MIDNIGHT = "T00:00:00.000000Z"


def form_fields(memory: Memory) -> list[Field]:
    """Return the fields of the form with the values of a memory."""
    return [_form_field(memory, *_FORM[name]) for name in in_order(_FORM, _ORDER)]


def _form_field(memory: Memory, field: MemoryField, form: FormField) -> Field:
    label = f"{form.label}: {', '.join(field.choices)}" if field.choices else form.label
    return Field(field.name, label, _text(field.name, getattr(memory, field.name)), form.hint)


def _text(name: str, value: Any) -> str:  # noqa: ANN401 - of any field
    if value is None:
        return ""
    if isinstance(value, datetime):
        return format_moment(value).removesuffix(_MIDNIGHT)
    return ", ".join(value) if name == "tags" else str(value)


def changed_fields(memory: Memory, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that a filled form changes, as `Workspace.update` takes them; a moment left empty is none."""
    before = {field.name: field.value for field in form_fields(memory)}
    return {name: _value(name, text.strip()) for name, text in values.items() if text.strip() != before[name].strip()}


def _value(name: str, text: str) -> Any:  # noqa: ANN401 - of any field
    if name == "tags":
        return [tag for part in text.split(",") if (tag := part.strip().lstrip("#"))]
    if name in _MOMENTS:
        return None if text.lower() in ("", "never") else text
    return text


class FieldsOfSearch(msgspec.Struct, frozen=True):
    """The fields that a search requires, which a new memory takes so that it stays in sight."""

    kind: str = ""
    namespace: str = ""
    tags: tuple[str, ...] = ()

    @property
    def fields(self) -> dict[str, Any]:
        """The fields besides the tags, which stand in the editor."""
        return {name: value for name in ("kind", "namespace") if (value := getattr(self, name))}

    @property
    def heading(self) -> str:
        """The words above the editor."""
        kind = self.kind.replace("_", " ") or "memory"
        return f"A new {kind}" + (f" in {self.namespace}" if self.namespace else "")


def fields_of_search(conditions: Filter) -> FieldsOfSearch:
    """Return the one kind, the namespace and the tags that every memory found by some conditions has."""
    found = FieldsOfSearch()
    for part in _required(conditions):
        match part:
            case OneOf("kind", (kind,)):
                found = msgspec.structs.replace(found, kind=kind)
            case Under(namespace):
                found = msgspec.structs.replace(found, namespace=namespace)
            case HasTag(tag):
                found = msgspec.structs.replace(found, tags=(*found.tags, tag))
            case _:
                continue
    return found


def _required(conditions: Filter) -> Iterator[Filter]:
    """Yield the parts that must all hold."""
    if isinstance(conditions, AllOf):
        for part in conditions.parts:
            yield from _required(part)
    else:
        yield conditions
