"""Make tool results: structured for programs, in words for a model; outcomes of changes, and failures as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from memento_tui.api.search import SearchHit
from memento_tui.branches import branch_of
from memento_tui.errors import Conflict, InvalidField, MementoError
from memento_tui.mcp.schemas import ChangeResult, ItemEntry, MemoryLink, RememberResult, SearchResult, SkipEntry
from memento_tui.model import Memory, Proposal, Skip, WorkingItem
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.operations.outcome import StoreOutcome, because, rejection_reason
from memento_tui.policy.policy import AGENT_FIELDS, reasons_in_words
from memento_tui.text.fence import fenced, one_line, quoted_id
from memento_tui.text.labels import bracketed

__all__ = [
    "UNEXPECTED_ERROR",
    "applied_result",
    "change_result",
    "item_entry",
    "item_lines",
    "link_facts",
    "link_line",
    "memory_text",
    "message_of_error",
    "next_page_text",
    "proposal_result",
    "refusal",
    "remember_result",
    "remember_result_text",
    "search_result",
    "search_result_lines",
    "skip_entry",
    "skip_lines",
    "tool_result",
    "unknown_tool_message",
]


def tool_result(text: str, result: BaseModel) -> CallToolResult:
    """Return a result: ``text`` for the model and ``shape`` for programs."""
    structured = result.model_dump(mode="json", exclude_defaults=True)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def refusal(sentence: str) -> CallToolResult:
    """Return an error result with the reason why nothing was done."""
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def search_result(hit: SearchHit, labels: Iterable[str]) -> SearchResult:
    """Return a search result as it is sent, with all that is to be said of it."""
    memory = hit.memory
    return SearchResult(
        id=memory.id,
        title=one_line(memory.headline, 120),
        kind=memory.kind,
        score=round(hit.relevance, 3),
        snippet=one_line(hit.snippet, 400),
        labels=list(labels),
        tags=list(memory.tags),
        namespace=memory.namespace,
    )


def search_result_lines(results: Sequence[SearchResult]) -> str:
    """Return search results in words, fenced, on two lines each: the second alone holds the memory's text."""
    return fenced("\n".join(line for number, result in enumerate(results, 1) for line in _hit_lines(number, result)))


def _hit_lines(number: int, result: SearchResult) -> tuple[str, str]:
    head = f"{number}. {quoted_id(result.id)} {result.kind} {result.score:.2f}{bracketed(result.labels)}"
    # Without a title of its own, the headline is the beginning of the text.
    beginning = result.title.removesuffix(" ...")
    text = result.snippet if result.snippet.startswith(beginning) else f"{result.title}: {result.snippet}"
    return head, f"   {text}"


def memory_text(head: str, facts: Iterable[tuple[str, str]], content: str, *, untrusted: bool) -> str:
    """Return a memory in full below a line about it: those of its facts that are known, a line each, and its text."""
    lines = [f"{name}: {value}" for name, value in facts if value]
    body = "\n".join([*lines, *([""] if lines else []), content])
    return f"{head}\n{fenced(body, untrusted=untrusted)}"


def link_line(link: MemoryLink) -> str:
    """Return where a link leads, in words."""
    arrow = f"{link.type} ->" if link.direction == "out" else f"<- {link.type}"
    return f"{arrow} {quoted_id(link.target)}{bracketed(link.labels)} {link.headline}".rstrip()


def link_facts(links: Iterable[MemoryLink]) -> Iterator[tuple[str, str]]:
    """Yield the links of a memory as facts of `memory_text`."""
    # Nobody verifies a link: a memory's own trust says nothing about where an agent has it lead.
    for link in links:
        yield "link [unverified]", link_line(link)


def skip_entry(skip: Skip) -> SkipEntry:
    """Return a skip as it is sent."""
    return SkipEntry(
        id=skip.id,
        item=skip.item,
        reason=skip.reason,
        expires_at=format_time(skip.expires_at),
        namespace=skip.namespace,
        version=skip.version,
        labels=list_labels(skip),
    )


def skip_lines(skips: Sequence[Skip]) -> str:
    """Return skips in words, fenced, a line for each."""
    return fenced("\n".join(_skip_line(skip) for skip in skips))


def _skip_line(skip: Skip) -> str:
    about = f"until {skip.expires_at:%Y-%m-%d}, version {skip.version}{bracketed(list_labels(skip))}"
    return f"{quoted_id(skip.id)} {about}: skip {one_line(skip.item)} - because {one_line(skip.reason)}"


def item_entry(item: WorkingItem) -> ItemEntry:
    """Return a working item as it is sent."""
    return ItemEntry(
        id=item.id,
        title=item.title,
        category=item.category,
        status=item.status,
        content=item.content,
        next_action=item.next_action,
        priority=item.priority,
        tags=list(item.tags),
        namespace=item.namespace,
        version=item.version,
        labels=list_labels(item),
    )


def item_lines(items: Sequence[WorkingItem]) -> str:
    """Return working items in words, fenced, a line for each."""
    return fenced("\n".join(_item_line(item) for item in items))


def _item_line(item: WorkingItem) -> str:
    parts = [one_line(item.title), one_line(item.content)]
    if item.next_action:
        parts.append(f"next: {one_line(item.next_action)}")
    text = " | ".join(part for part in parts if part)
    marks = bracketed(list_labels(item))
    about = f"{item.category}, {item.status}, priority {item.priority}, version {item.version}"
    return f"{quoted_id(item.id)} {about}{marks}: {text}"


def next_page_text(next_cursor: str | None) -> str:
    """Return the line that follows a page where there may be another one; empty for the last page."""
    return f"\nThere may be more: after={quoted_id(next_cursor)}" if next_cursor else ""


def applied_result(record_id: str, version: int, verb: str) -> CallToolResult:
    """Return the result of a change that is done."""
    text = f"{verb} {quoted_id(record_id)}, version {version}."
    return tool_result(text, ChangeResult(id=record_id, outcome="applied", version=version))


def proposal_result(proposal: Proposal) -> CallToolResult:
    """Return the result of a change that waits for a person."""
    if proposal.state == "rejected":
        return _rejected_result(proposal)
    why = reasons_in_words(proposal.reasons)
    text = (
        f"Proposed: a person decides about {quoted_id(proposal.target_id)}{because(why)}."
        " Until then nothing changes. Do not propose it again; proposals tells the decision."
    )
    return tool_result(text, ChangeResult(id=proposal.target_id, outcome="proposed", why=why))


def _rejected_result(proposal: Proposal) -> CallToolResult:
    target, note = proposal.target_id, proposal.note
    text = (
        f"Not proposed again: a person rejected the same about {quoted_id(target)} before{rejection_reason(note)}"
        " Nothing changed."
    )
    return tool_result(text, ChangeResult(id=target, outcome="rejected", why=[note] if note else []))


def change_result(outcome: Skip | WorkingItem | Proposal, verb: str) -> CallToolResult:
    """Return the result of a change to a skip or working item, whichever of the two it came to."""
    return (
        proposal_result(outcome) if isinstance(outcome, Proposal) else applied_result(outcome.id, outcome.version, verb)
    )


def remember_result(outcome: StoreOutcome) -> RememberResult:
    """Return the outcome of storing a memory as it is sent."""
    note = [outcome.note] if outcome.note else []
    return RememberResult(
        id=outcome.memory.id,
        status=outcome.memory.status,
        duplicate=outcome.is_known,
        why=note if outcome.is_rejected else list(outcome.reasons),
        hint=outcome.hint,
    )


def remember_result_text(outcome: StoreOutcome) -> str:
    """Return the outcome of storing a memory in words."""
    name = quoted_id(outcome.memory.id)
    if outcome.is_pending:
        again = "It waits already" if outcome.is_known else "Stored, but it waits"
        return f"{again} for a person's decision as {name}{because(outcome.reasons)}. Do not store it again."
    if outcome.is_rejected:
        reason = rejection_reason(outcome.note)
        return f"Not stored: a person rejected the same text before ({name}){reason} Do not store it again."
    if outcome.is_known:
        return f"Known already as {name}; nothing new was stored. Use update to change it."
    kept = "of this branch, told only there until a person lets it into the project"
    draft = f"an unverified draft {kept}." if branch_of(outcome.memory.namespace) else "an unverified draft."
    return f"Stored as {name}, {draft} {outcome.hint}".rstrip()


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
