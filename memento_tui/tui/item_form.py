"""The form of a working item."""

from __future__ import annotations

from typing import Any

from memento_tui.records import WorkingItem
from memento_tui.records.item import CATEGORIES
from memento_tui.tui.screens.form import Field
from memento_tui.workspace.list_query import CATEGORY_WORDS, STATUS_WORDS, category_named, status_named

__all__ = ["item_fields", "plain_value"]


def item_fields(item: WorkingItem | None = None, *, category: str = CATEGORIES[0]) -> list[Field]:
    """Return the fields of a form with what an item says, or those of a new one of a category."""
    word = CATEGORY_WORDS[item.category if item else category]
    fields = [
        Field("title", "Title", item.title if item else ""),
        Field("next_action", "Next action", item.next_action if item else ""),
        Field("category", "Category (active work, standing, waiting or session)", word),
        Field("priority", "Priority (the highest comes first)", str(item.priority if item else 0)),
        Field("tags", "Tags, with commas between", ", ".join(item.tags) if item else ""),
        Field("content", "What there is to know", item.content if item else "", multiline=True),
        Field("namespace", "Namespace", item.namespace if item else "global"),
    ]
    if item is not None:
        fields.insert(3, Field("status", f"Status ({', '.join(STATUS_WORDS.values())})", STATUS_WORDS[item.status]))
    return fields


def plain_value(name: str, text: str) -> Any:  # noqa: ANN401 - the field's own type
    """Return the value of a field of its text in the form. Raises `InvalidInput`."""
    if name == "category":
        return category_named(text)
    if name == "status":
        return status_named(text)
    if name == "tags":
        return [tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")]
    return text if name == "content" else text.strip()
