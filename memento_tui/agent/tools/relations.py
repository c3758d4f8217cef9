"""Relations between memories, and from a memory to a file or a working item."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.answers import answer
from memento_tui.agent.arguments import UNCHANGED, given
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.labels import is_readable
from memento_tui.agent.seats import Seats
from memento_tui.agent.shapes import Written
from memento_tui.errors import NotAllowed
from memento_tui.records.rules import check_choice

__all__ = ["RelationTools"]

_TYPES = ("related", "supersedes", "contradicts", "file", "item")
"""What an agent may draw; that a memory stands for others (``consolidated_from``) is for a merge to say."""

RelationType = Annotated[str, Field(json_schema_extra={"enum": list(_TYPES)})]


class RelationTools:
    """The tool for relations."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def relate(
        self,
        ctx: Context,
        src: Annotated[str, Field(description="id of a memory")],
        dst: Annotated[str, Field(description="id, or a path for type file")],
        type: RelationType = UNCHANGED,  # noqa: A002 - the relation's name for it
        label: str = UNCHANGED,
    ) -> Annotated[CallToolResult, Written]:
        """Link a memory to another, a file it is about, or a working item; supersedes: src replaces dst."""
        kind = "related" if type is UNCHANGED else check_choice(type, "type", _TYPES)
        workspace = self._seats.of(ctx)
        source = workspace.get(src)
        if not is_readable(source):
            raise NotAllowed(f"The memory {source.id} is {source.status}.", "Link it once a person has let it in.")
        workspace.relate(source.id, dst, kind, **given(label=label))
        text = f"Linked {quoted_id(source.id)}: {kind} {one_line(dst, 200)}."
        return answer(text, Written(id=source.id, outcome="applied", version=source.version))
