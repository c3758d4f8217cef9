"""Show memories as notes of a vault, by path, properties and text; store notes; define the results of the tools.

A memory that came from a note, or was stored as one, keeps its path. Any other gets one that its title and id make up,
``notes/<title>.<id>.md``: it stays the same when other notes are stored, and leads back to the memory by the id.

A result is as Memento Vault's clients read it: JSON in the text, one block for each object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.formats.frontmatter import InvalidFrontmatter, dump_property, read_properties
from memento_tui.formats.note import LINK_PROPERTIES
from memento_tui.formats.vault import EXTRA_KEY, NOTE_SUFFIX, NoteExport, kept_note
from memento_tui.maintenance.aging import whole_text
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, OneOf
from memento_tui.model.memory import RECALLED_STATUSES, parse_kind
from memento_tui.operations.memories import is_readable
from memento_tui.operations.outcome import store_memory
from memento_tui.operations.relations import all_labels, links_of, memory_titled
from memento_tui.projects import find_project, namespace_of_project
from memento_tui.text.markdown import find_wikilinks

__all__ = [
    "FLEETING_FOLDER",
    "NOTES_FOLDER",
    "UNKNOWN_PROJECT",
    "CaptureResult",
    "FoundNote",
    "Inventory",
    "ListedNote",
    "NoteDraft",
    "PromptContext",
    "ReindexResult",
    "SearchResults",
    "Snapshot",
    "StatusResult",
    "StoreResult",
    "StoredNote",
    "WholeNote",
    "error_result",
    "find_note",
    "free_path",
    "is_in_project_scope",
    "list_result",
    "mark_superseded",
    "namespace_of_named_project",
    "note_at",
    "note_text",
    "object_result",
    "path_of",
    "put_note",
    "refusal",
    "slug_of",
    "slug_of_namespace",
    "whole_note",
]


class FoundNote(BaseModel):
    """One result of a search."""

    path: str
    title: str
    score: float
    snippet: str
    id: str
    labels: list[str]
    content: str | None = None


class SearchResults(BaseModel):
    """The results of a search, best first."""

    result: list[FoundNote]


class PromptContext(BaseModel):
    """The context that a host may show to its model, or the reason why there is none."""

    should_inject: bool
    content: str
    source: str
    results: list[FoundNote]
    reason: str | None = None
    metadata: dict[str, Any] | None = None


class StoreResult(BaseModel):
    """The outcome of storing a note; ``pending``: a person decides about it, ``reason``: why."""

    path: str
    title: str
    id: str
    created: bool | None = None
    idempotent: bool | None = None
    pending: bool | None = None
    supersedes: str | None = None
    reason: str | None = None


class Snapshot(BaseModel):
    """A day's snapshot: its path, the one that it replaces, and its number."""

    path: str
    supersedes: str | None
    version: int
    idempotent: bool | None = None
    pending: bool | None = None
    reason: str | None = None


class CaptureResult(BaseModel):
    """The records that were kept of a session."""

    session_id: str
    project: str
    note_path: str | None = None
    fleeting: str | None = None
    deduplicated: bool | None = None
    proposed: int | None = None
    pending: bool | None = None
    reason: str | None = None


class _NoteLink(BaseModel):
    """A link to (out) or from (in) another note, an item or a file; ``target`` leads there by memento_get."""

    type: str
    direction: str
    target: str
    title: str = ""
    labels: list[str]


class WholeNote(BaseModel):
    """A note with its properties, as an export writes it."""

    path: str
    title: str
    content: str
    id: str
    labels: list[str]
    links: list[_NoteLink] = []


class ListedNote(BaseModel):
    """One note of the inventory."""

    path: str
    title: str
    hash: str | None = None
    labels: list[str] = []


class Inventory(BaseModel):
    """Every note that is recalled, by path."""

    result: list[ListedNote]


class StatusResult(BaseModel):
    """The numbers of notes, and the settings of the vault."""

    vault_id: str
    vault_path: str
    vault_exists: bool = True
    qmd_available: bool = True
    """Whether notes can be searched; clients know the field by the name of the original's search program."""
    note_count: int
    project_count: int
    fleeting_count: int
    waiting: int
    config: dict[str, Any]


class ReindexResult(BaseModel):
    """How many notes the rebuilt index holds."""

    status: str
    notes_indexed: int


def object_result(result: BaseModel, *, keep: Sequence[str] = ()) -> CallToolResult:
    """Return an object as a result, without the fields that are ``None``, but for those named in ``keep``."""
    plain = result.model_dump(mode="json", exclude_none=True) | {name: getattr(result, name) for name in keep}
    return CallToolResult(content=[_json_block(plain)], structured_content=plain)


def list_result(results: Sequence[BaseModel]) -> CallToolResult:
    """Return a list as a result; an empty one has no block."""
    plain = [result.model_dump(mode="json", exclude_none=True) for result in results]
    return CallToolResult(content=[_json_block(entry) for entry in plain], structured_content={"result": plain})


def error_result(sentence: str, **more: str) -> CallToolResult:
    """Return an error result with the reason, in the form that these clients know from success."""
    return CallToolResult(content=[_json_block({"error": sentence, **more})], is_error=True)


def refusal(sentence: str) -> CallToolResult:
    """Return such a result for a call that no tool saw."""
    return error_result(sentence)


def _json_block(value: object) -> TextContent:
    return TextContent(type="text", text=json.dumps(value, ensure_ascii=False))


UNKNOWN_PROJECT = "unknown"
"""These clients' name for an unknown project."""

_PROJECTS_PREFIX = "projects/"
_UNSAFE_CHARS = re.compile(r"[^\w.-]+")


def namespace_of_named_project(workspace: Workspace, project: str) -> str:
    """Return the namespace of a project, given by its directory or name; empty for no project."""
    written = project.strip()
    if not written:
        return ""
    if Path(written).is_absolute():
        repository = find_project(written)
        if repository is not None:
            return namespace_of_project(repository, workspace.settings.get, workspace.settings.set)
    parts = written.replace("\\", "/").rstrip("/").split("/")
    # The last part of a path on another machine is the project's name; a name of two parts is its owner and itself.
    names = parts if len(parts) <= 2 and parts[0] not in ("", "~") and not parts[0].endswith(":") else parts[-1:]  # noqa: PLR2004 - its owner and its name
    slugs = [slug for name in names if (slug := _UNSAFE_CHARS.sub("-", name.strip().lower()).strip("-."))]
    return _PROJECTS_PREFIX + "/".join(slugs) if slugs else ""


def slug_of_namespace(namespace: str) -> str:
    """Return the name of a project, `UNKNOWN` for no project."""
    return namespace.removeprefix(_PROJECTS_PREFIX) or UNKNOWN_PROJECT


def is_in_project_scope(memory: Memory, project: str) -> bool:
    """Tell whether a memory may matter in a project (a namespace; empty for none): not if it is another project's."""
    namespace = memory.namespace.casefold()
    own = project.casefold()
    return not own or not namespace.startswith(_PROJECTS_PREFIX) or f"{namespace}/".startswith(f"{own}/")


NOTES_FOLDER = "notes"
FLEETING_FOLDER = "fleeting"
"""The folder, and the namespace, of the logs of each day's sessions."""

_MAX_SLUG_CHARS = 80

_DROPPED_CHARS, _SLUG_GAPS = re.compile(r"[^a-z0-9\s-]"), re.compile(r"[\s-]+")
_ADDRESSABLE_STATUSES = (*RECALLED_STATUSES, "archived", "pending")


def slug_of(title: str) -> str:
    """Return the file name that a title makes, without its ending; its clients compute the same."""
    return _SLUG_GAPS.sub("-", _DROPPED_CHARS.sub("", title.lower().strip()))[:_MAX_SLUG_CHARS]


def path_of(memory: Memory) -> str:
    """Return the path of a memory's note."""
    made_up = f"{NOTES_FOLDER}/{slug_of(memory.headline) or 'note'}.{quote(memory.id, safe='')}{NOTE_SUFFIX}"
    return kept_note(memory).path or made_up


def free_path(workspace: Workspace, slug: str, mark: str) -> str:
    """Return ``notes/<slug>.md``, or where another note has that path, one with ``mark`` in it."""
    path = f"{NOTES_FOLDER}/{slug or 'note'}{NOTE_SUFFIX}"
    return path if note_at(workspace, path) is None else f"{NOTES_FOLDER}/{slug or 'note'}-{mark}{NOTE_SUFFIX}"


def note_at(workspace: Workspace, path: str) -> Memory | None:
    """Return the memory that keeps a path, the latest of several."""
    return next(iter(_memories_at(workspace, [path])), None)


def find_note(workspace: Workspace, reference: str) -> Memory:
    """Return the memory with a path, a file name, a wikilink, a title or an id.

    Raises:
        NotFound, AmbiguousId: none has that name, or several have ids that begin so.

    """
    links = find_wikilinks(reference)
    name = (links[0].target if links else reference).strip()
    if not name:
        raise InvalidInput("The path is empty.", "Give a path as memento_search or memento_list returns it.")
    at_path = _memories_at(workspace, list(_candidate_paths(name)))
    if at_path:
        return at_path[0]
    parts = PurePosixPath(name).name.removesuffix(NOTE_SUFFIX).split(".", 1)
    made_up = workspace.find(unquote(parts[1])) if len(parts) > 1 else None
    if isinstance(made_up, Memory):
        return made_up
    titled = memory_titled(workspace, parts[0], slug_of)
    if titled is not None:
        return titled
    try:
        return workspace.get(name)
    except NotFound:
        raise NotFound(f"Note not found: {name:.200}.", "Take a path from memento_search or memento_list.") from None


def _candidate_paths(name: str) -> Iterator[str]:
    """Yield the paths that a name may stand for, the whole name before its last parts: clients also give full paths."""
    path = PurePosixPath(name if name.lower().endswith(NOTE_SUFFIX) else f"{name}{NOTE_SUFFIX}")
    parts = [part for part in path.parts if part != "/"]
    for start in range(len(parts)):
        yield "/".join(parts[start:])
    yield f"{NOTES_FOLDER}/{path.name}"


def _memories_at(workspace: Workspace, paths: list[str]) -> list[Memory]:
    """Return the memories that keep one of these paths, the first path's first, of one path the latest first."""
    tree = AllOf((OneOf("note_path", tuple(paths)), OneOf("status", _ADDRESSABLE_STATUSES)))
    memories: list[Memory] = []
    page = workspace.list_where(tree)
    while True:
        memories += [memory for memory in page.items if path_of(memory) in paths]
        if page.next is None:
            break
        page = workspace.list_where(tree, after=page.next)
    return sorted(memories, key=lambda memory: paths.index(path_of(memory)))


def note_text(workspace: Workspace, memory: Memory) -> str:
    """Return the text of a memory's note with its properties, as an export writes it."""
    linked = LINK_PROPERTIES.values()
    relations = [relation for relation in workspace.relations(memory.id, direction="out") if relation.type in linked]
    ends = workspace.get_many([relation.dst for relation in relations])
    whole = msgspec.structs.replace(memory, content=whole_text(memory))
    notes = NoteExport([whole, *ends.values()])
    return notes.text(whole, [relation for relation in relations if relation.dst in ends])


def whole_note(workspace: Workspace, memory: Memory) -> WholeNote:
    """Return a note in full.

    Raises:
        NotAllowed: it waits for a person, or was rejected.

    """
    if not is_readable(memory):
        raise NotAllowed(f"The note {path_of(memory)} is {memory.status}.", "Its text is withheld; go on without it.")
    now = clock.now()
    return WholeNote(
        path=path_of(memory),
        title=memory.headline,
        content=note_text(workspace, memory),
        id=memory.id,
        labels=all_labels(workspace, [memory])[memory.id],
        links=[
            _NoteLink(type=kind, direction=direction, target=target, title=headline, labels=labels)
            for kind, direction, target, headline, labels in links_of(workspace, memory, now)
        ],
    )


_KIND_ALIASES = {"debug": "bugfix", "debugging": "bugfix", "fix": "bugfix", "bug-fix": "bugfix", "session": "discovery"}
"""Older names of types, as this system reads them."""
_PLAIN_PROPERTIES = ("project", "branch", "date")


@dataclass(frozen=True)
class NoteDraft:
    """The fields of a note as a client sends them."""

    path: str
    title: str
    body: str
    kind: str
    source: str
    """The word in the property ``source``: which of this system's writers it is from."""
    namespace: str = ""
    """Empty for no project."""
    tags: tuple[str, ...] = ()
    certainty: int | None = None
    session: str = ""
    validity_context: str = ""
    properties: Mapping[str, Any] | None = None
    """Further properties, which memento has no field for."""
    fields: Mapping[str, Any] | None = None
    """Further fields of the memory."""


@dataclass(frozen=True)
class StoredNote:
    """The memory that holds a note, whether it is a new one, and further sentences for the agent."""

    memory: Memory
    is_new: bool
    reason: str

    @property
    def pending(self) -> bool | None:
        """``True`` where the note waits for a person's decision, else ``None``."""
        return True if self.memory.status == "pending" else None


def put_note(workspace: Workspace, draft: NoteDraft) -> StoredNote:
    """Store a note; where the same text is known in its project, return the memory that holds it.

    Raises:
        InvalidField: a field breaks a rule.
        NotAllowed: a person rejected the same before.

    """
    kind, raw = parse_kind(_KIND_ALIASES.get(draft.kind.strip().lower(), draft.kind))
    properties = _draft_properties(draft)
    head = f"---\n{''.join(_property_line(name, value) for name, value in properties.items())}---\n"
    fields: dict[str, Any] = {
        "title": draft.title,
        "kind": kind,
        "kind_raw": raw or (draft.kind if draft.kind.strip().lower() in _KIND_ALIASES else ""),
        "tags": list(draft.tags),
        "validity_context": draft.validity_context,
        "source": {"agent": workspace.author.agent, "session": draft.session or workspace.author.session},
        "extra": {EXTRA_KEY: {"path": draft.path, "head": head}, "frontmatter": properties},
    }
    if draft.namespace:
        fields["namespace"] = draft.namespace
    if draft.certainty is not None:
        fields["certainty"] = draft.certainty
    outcome = store_memory(workspace, draft.body.strip(), **fields, **(draft.fields or {})).accepted()
    return StoredNote(outcome.memory, is_new=not outcome.is_known, reason=outcome.remark)


def _draft_properties(draft: NoteDraft) -> dict[str, Any]:
    own = {
        "title": draft.title,
        "type": draft.kind,
        "tags": list(draft.tags),
        "source": draft.source,
        "certainty": draft.certainty,
        "validity-context": draft.validity_context,
        "date": f"{clock.now():%Y-%m-%dT%H:%M}",
        "session_id": draft.session,
    }
    present = {name: value for name, value in own.items() if value not in (None, "")}
    further = {name: value for name, value in (draft.properties or {}).items() if value not in (None, "")}
    return present | {name: value for name, value in further.items() if name not in present}


def _property_line(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    if name == "tags":
        # On one line: its clients look for the brackets behind the name. JSON is YAML.
        return f"tags: {json.dumps(value, ensure_ascii=False)}\n"
    plain = f"{name}: {value}\n"
    # Where YAML allows it without quotation marks, which its clients would take for a part of a path.
    return plain if name in _PLAIN_PROPERTIES and _line_has_value(plain, value) else dump_property(name, value)


def _line_has_value(line: str, value: object) -> bool:
    try:
        properties = read_properties(line)
    except InvalidFrontmatter:
        return False
    return properties is not None and [read.value for read in properties] == [value]


def mark_superseded(workspace: Workspace, new: Memory, old: Memory) -> str:
    """Mark a note as the successor of another, which then ranks below it; return why not, or an empty text.

    A note that a person verified keeps its place until a person decides otherwise.
    """
    if old.id == new.id:
        return "A note cannot take its own place."
    try:
        workspace.relate(new.id, old.id, "supersedes")
    except MementoError as error:  # the new note is stored, which is worth more than the arrow
        return f"{path_of(old)} keeps its place. {error}"
    return ""
