"""Making new memories of old ones and of conversations: consolidate, extract. Both only ever propose by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.arguments import given
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.protocol.arguments import LEFT_OUT, MemoryType
from memento_tui.agent.protocol.desk import Desk
from memento_tui.agent.protocol.extracting import MODES, extracted, is_kept, text_of, type_of_lesson
from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.agent.protocol.texts import entry_name, said, turned_down, waits
from memento_tui.errors import InvalidField
from memento_tui.records.memory import KINDS
from memento_tui.records.rules import check_choice
from memento_tui.upkeep.learning import Learned
from memento_tui.workspace.consolidating import consolidate
from memento_tui.workspace.learning import Distilled

__all__ = ["GatheringTools"]

_SHORTEST, _LONGEST = 100, 1_000_000
"""Characters of a transcript. What is shorter teaches nothing; what is longer is read in parts."""

_MOST = 100


class GatheringTools:
    """The tools that make memories of what there is."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def memento_consolidate(
        self,
        ctx: Context,
        source_ids: Annotated[list[str], Field(description="two or more")],
        *,
        content: Annotated[str, Field(description="what they say together; drafted if left out")] = "",
        type: MemoryType = LEFT_OUT,  # noqa: A002 - the system's name for it
        tags: Annotated[list[str], Field(description="added to those of the sources")] = LEFT_OUT,
    ) -> CallToolResult:
        """Propose one memory for several that overlap. The sources stay until a person agrees, and are never lost."""
        workspace, place = self._desk.of(ctx)
        ids = [place.memory(workspace, source).id for source in source_ids]
        fields = given(kind=check_choice(type, "type", KINDS) if type else LEFT_OUT, tags=tags)
        made = consolidate(
            workspace,
            ids,
            content,
            fields={**fields, "namespace": place.namespace},
            make_id=fresh_id(workspace),
        )
        if made.memory.status == "rejected":
            return said(turned_down("Not consolidated", made.proposal.note if made.proposal else ""))
        listed = ", ".join(quoted_id(source.id) for source in made.sources)
        what = f"{len(made.sources)} memories into {quoted_id(made.memory.id)}"
        if made.proposal is not None:
            return said(
                f"Consolidated {what}{waits(made.proposal)}; until then the sources are recalled as before."
                f" Sources: [{listed}]"
            )
        return said(f"Consolidated {what}. Sources: [{listed}]")

    def memento_extract(
        self,
        ctx: Context,
        transcript: Annotated[str, Field(description="User: ... / Assistant: ...")],
        *,
        mode: Annotated[str, Field(json_schema_extra={"enum": list(MODES)})] = "distill",
        max_memories: int = LEFT_OUT,
    ) -> CallToolResult:
        """Learn from a conversation what will still hold next month; seeds: only what the person is like and likes."""
        workspace, place = self._desk.of(ctx)
        check_choice(mode, "mode", MODES)
        _check_length(transcript)
        limit = MODES[mode] if max_memories is LEFT_OUT else max(1, min(max_memories, _MOST))
        found = extracted(workspace, transcript, "memento_extract", mode=mode, limit=limit, namespace=place.namespace)
        return said(_extracted_text(found))


def _check_length(transcript: str) -> None:
    if len(transcript.strip()) < _SHORTEST:
        raise InvalidField("transcript", f"is too short: it takes at least {_SHORTEST} characters")
    if len(transcript) > _LONGEST:
        raise InvalidField("transcript", f"has {len(transcript):,} characters; the limit is {_LONGEST:,}", "Split it.")


def _extracted_text(found: Distilled) -> str:
    made = [one for one in found.learned if is_kept(one)]
    others = [_other_line(one) for one in found.learned if one.outcome in ("rejected", "refused")]
    if not made:
        return "\n".join(["No novel memories found in transcript.", *others, *found.problems])
    waiting = sum(one.outcome == "proposed" for one in made)
    lines = [f"Extracted {_counts(made)} from transcript:", "", *map(_line, made), *others, *found.problems]
    if waiting:
        lines += ["", f"Waiting for a person's approval, and not recalled until then: {waiting}."]
    return "\n".join(lines)


def _counts(made: Sequence[Learned]) -> str:
    names = {"memory": ("memory", "memories"), "item": ("working item", "working items"), "skip": ("skip", "skips")}
    counts: Counter[str] = Counter(one.candidate.target for one in made)
    return ", ".join(
        f"{counts[target]} {one if counts[target] == 1 else several}"
        for target, (one, several) in names.items()
        if target == "memory" or counts[target]
    )


def _line(one: Learned) -> str:
    return f"- {entry_name(one.id)} ({type_of_lesson(one)}): {one_line(text_of(one))}"


def _other_line(one: Learned) -> str:
    if one.outcome == "rejected":
        note = f": {one_line(one.why)}" if one.why else ""
        return f"- left out, a person rejected the same before{note}: {one_line(text_of(one))}"
    return f"- left out, {one_line(one.why)}: {one_line(text_of(one))}"
