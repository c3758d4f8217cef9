"""The arguments that several tools of this system take."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from memento_tui.agent.arguments import UNCHANGED
from memento_tui.interchange.protocol_model import ITEM_CATEGORIES
from memento_tui.records.item import ITEM_STATUSES

__all__ = ["LEFT_OUT", "ImagePath", "ItemCategory", "ItemStatus", "Limit", "MemoryType", "Where"]

LEFT_OUT: Any = UNCHANGED
"""The default of an argument that has none of its own."""

TYPES = ("fact", "decision", "observation", "instruction")
"""The types that this system has; every kind of memento is taken as well."""

MemoryType = Annotated[str, Field(json_schema_extra={"enum": list(TYPES)})]
ItemCategory = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_CATEGORIES)})]
ItemStatus = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_STATUSES)})]
ImagePath = Annotated[str, Field(description="jpeg, png, gif or webp in this project")]
Where = Annotated[str, Field(description="a workspace; <home> for your own alone")]
Limit = Annotated[int, Field(description="1 to 100")]
