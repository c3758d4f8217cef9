"""The arguments that several tools take, with what the model reads about each.

Texts are annotated as plain ``str`` even where they may be left out: for any other annotation the SDK first tries to
read a text as JSON, and a title that happens to look like JSON would not survive that.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from memento_tui.errors import InvalidInput
from memento_tui.records.item import CATEGORIES, ITEM_STATUSES
from memento_tui.records.memory import KINDS, SOURCE_TYPES

__all__ = [
    "UNCHANGED",
    "After",
    "BaseVersion",
    "Category",
    "Expires",
    "Id",
    "ItemStatus",
    "Kind",
    "Namespace",
    "PageSize",
    "Session",
    "SkipEnd",
    "SourceType",
    "Tags",
    "changes",
    "given",
]

UNCHANGED: Any = None
"""The default of an argument that, left out, changes nothing."""

Id = Annotated[str, Field(description="id or unique beginning")]
Kind = Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
Tags = list[str]
Namespace = Annotated[str, Field(description="e.g. projects/site")]
Expires = Annotated[str, Field(description="2026-12-31, 30d or never")]
SkipEnd = Annotated[str, Field(description="2026-12-31 or 7d")]
BaseVersion = Annotated[int, Field(description="version you read")]
SourceType = Annotated[
    str,
    Field(description="external: from a page or a tool's output", json_schema_extra={"enum": list(SOURCE_TYPES)}),
]
After = Annotated[str, Field(description="next of the page before")]
PageSize = Annotated[int, Field(ge=1, le=50)]
Session = Annotated[str, Field(description="from session_open")]
Category = Annotated[str, Field(json_schema_extra={"enum": list(CATEGORIES)})]
ItemStatus = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_STATUSES)})]


def given(**arguments: object) -> dict[str, Any]:
    """Return the arguments that were given."""
    return {name: value for name, value in arguments.items() if value is not UNCHANGED}


def changes(**arguments: object) -> dict[str, Any]:
    """Return the arguments that were given, of which a change needs at least one. Raises `InvalidInput`."""
    found = given(**arguments)
    if not found:
        raise InvalidInput("Nothing to change was given.", f"Give at least one of {', '.join(arguments)}.")
    return found
