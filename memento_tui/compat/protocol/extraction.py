"""Tools that make new memories of old ones and of conversations: consolidate, extract. Both propose by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.api import Workspace
from memento_tui.api.consolidation import consolidate
from memento_tui.api.distillation import DistillationReport, distill_text
from memento_tui.compat.protocol.formatting import (
    OMITTED,
    MemoryType,
    entry_id,
    pending_text,
    rejected_text,
    text_result,
)
from memento_tui.compat.protocol.workspaces import ToolContext, id_maker
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidField
from memento_tui.maintenance.distillation.proposals import DistillationResult
from memento_tui.maintenance.distillation.statements import Candidate
from memento_tui.mcp.tool import given_arguments
from memento_tui.model.memory import KINDS
from memento_tui.model.validation import check_choice
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import one_line, quoted_id

__all__ = ["EXTRACTION_MODES", "ExtractionTools", "extract_lessons", "is_new_lesson", "lesson_text", "lesson_type"]

EXTRACTION_MODES: Mapping[str, int] = {"distill": 20, "seeds": 3}
"""How many things each mode looks for if the caller does not say."""

_SEED_KINDS = ("preference", "fact", "observation")
"""The kinds of seeds: only those about the person."""


def extract_lessons(
    workspace: Workspace,
    transcript: str,
    source: str,
    *,
    mode: str,
    limit: int,
    namespace: str,
    language_model: LanguageModelConfig | None = None,
) -> DistillationReport:
    """Propose the lessons of a transcript from a ``source``; ``mode`` is one of `EXTRACTION_MODES`.

    ``language_model`` is the caller's; ``None`` for the person's own.
    """
    selects: Callable[[Candidate], bool] | None = _is_seed if mode == "seeds" else None
    return distill_text(
        workspace,
        transcript,
        source,
        limit=limit,
        wanted=selects,
        fields={"namespace": namespace},
        make_id=id_maker(workspace),
        language_model=language_model,
    )


def _is_seed(candidate: Candidate) -> bool:
    return candidate.target == "memory" and candidate.fields["kind"] in _SEED_KINDS


def is_new_lesson(lesson: DistillationResult) -> bool:
    """Tell whether a lesson is new: stored, or proposed to a person."""
    return lesson.outcome in ("proposed", "stored")


def lesson_text(lesson: DistillationResult) -> str:
    """Return the text of a lesson."""
    fields = lesson.candidate.fields
    return str(fields.get("content") or fields.get("title") or fields.get("item") or "")


def lesson_type(lesson: DistillationResult) -> str:
    """Return the type of a lesson: a memory's own, else ``skip`` or ``item``."""
    return (
        lesson.candidate.fields.get("kind", "fact") if lesson.candidate.target == "memory" else lesson.candidate.target
    )


_MIN_TRANSCRIPT_CHARS, _MAX_TRANSCRIPT_CHARS = 100, 1_000_000
"""Characters of a transcript. A shorter one teaches nothing; a longer one is sent in parts."""

_MAX_SOURCES = 100


class ExtractionTools:
    """The tools that make memories of other memories and of conversations."""

    def __init__(self, tool_context: ToolContext) -> None:
        self._tool_context = tool_context

    def memento_consolidate(
        self,
        ctx: Context,
        source_ids: Annotated[list[str], Field(description="two or more")],
        *,
        content: Annotated[str, Field(description="what they say together; drafted if left out")] = "",
        type: MemoryType = OMITTED,  # noqa: A002 - the system's name for it
        tags: Annotated[list[str], Field(description="added to those of the sources")] = OMITTED,
    ) -> CallToolResult:
        """Propose one memory for several that overlap. The sources stay until a person agrees, and are never lost."""
        workspace, scope = self._tool_context.of(ctx)
        ids = [scope.memory(workspace, source).id for source in source_ids]
        fields = given_arguments(kind=check_choice(type, "type", KINDS) if type else OMITTED, tags=tags)
        outcome = consolidate(
            workspace,
            ids,
            content,
            fields={**fields, "namespace": scope.namespace},
            make_id=id_maker(workspace),
        )
        if outcome.memory.status == "rejected":
            return text_result(rejected_text("Not consolidated", outcome.proposal.note if outcome.proposal else ""))
        sources = ", ".join(quoted_id(source.id) for source in outcome.sources)
        what = f"{len(outcome.sources)} memories into {quoted_id(outcome.memory.id)}"
        if outcome.proposal is not None:
            pending = pending_text(reasons_in_words(outcome.proposal.reasons))
            return text_result(
                f"Consolidated {what}{pending}; until then the sources are recalled as before. Sources: [{sources}]"
            )
        return text_result(f"Consolidated {what}. Sources: [{sources}]")

    def memento_extract(
        self,
        ctx: Context,
        transcript: Annotated[str, Field(description="User: ... / Assistant: ...")],
        *,
        mode: Annotated[str, Field(json_schema_extra={"enum": list(EXTRACTION_MODES)})] = "distill",
        max_memories: int = OMITTED,
    ) -> CallToolResult:
        """Learn from a conversation what will still hold next month; seeds: only what the person is like and likes."""
        workspace, scope = self._tool_context.of(ctx)
        check_choice(mode, "mode", EXTRACTION_MODES)
        _check_length(transcript)
        limit = EXTRACTION_MODES[mode] if max_memories is OMITTED else max(1, min(max_memories, _MAX_SOURCES))
        report = extract_lessons(
            workspace, transcript, "memento_extract", mode=mode, limit=limit, namespace=scope.namespace
        )
        return text_result(_extraction_text(report))


def _check_length(transcript: str) -> None:
    if len(transcript.strip()) < _MIN_TRANSCRIPT_CHARS:
        raise InvalidField("transcript", f"is too short: it takes at least {_MIN_TRANSCRIPT_CHARS} characters")
    if len(transcript) > _MAX_TRANSCRIPT_CHARS:
        raise InvalidField(
            "transcript", f"has {len(transcript):,} characters; the limit is {_MAX_TRANSCRIPT_CHARS:,}", "Split it."
        )


def _extraction_text(report: DistillationReport) -> str:
    lessons = [lesson for lesson in report.learned if is_new_lesson(lesson)]
    omitted = [_unstored_lesson_line(lesson) for lesson in report.learned if lesson.outcome in ("rejected", "refused")]
    if not lessons:
        return "\n".join(["No novel memories found in transcript.", *omitted, *report.problems])
    waiting = sum(lesson.outcome == "proposed" for lesson in lessons)
    lines = [
        f"Extracted {_count_lines(lessons)} from transcript:",
        "",
        *map(_lesson_line, lessons),
        *omitted,
        *report.problems,
    ]
    if waiting:
        lines += ["", f"Waiting for a person's approval, and not recalled until then: {waiting}."]
    return "\n".join(lines)


def _count_lines(lessons: Sequence[DistillationResult]) -> str:
    names = {"memory": ("memory", "memories"), "item": ("working item", "working items"), "skip": ("skip", "skips")}
    counts: Counter[str] = Counter(singular.candidate.target for singular in lessons)
    return ", ".join(
        f"{counts[target]} {singular if counts[target] == 1 else plural}"
        for target, (singular, plural) in names.items()
        if target == "memory" or counts[target]
    )


def _lesson_line(lesson: DistillationResult) -> str:
    return f"- {entry_id(lesson.id)} ({lesson_type(lesson)}): {one_line(lesson_text(lesson))}"


def _unstored_lesson_line(lesson: DistillationResult) -> str:
    if lesson.outcome == "rejected":
        note = f": {one_line(lesson.why)}" if lesson.why else ""
        return f"- left out, a person rejected the same before{note}: {one_line(lesson_text(lesson))}"
    return f"- left out, {one_line(lesson.why)}: {one_line(lesson_text(lesson))}"
