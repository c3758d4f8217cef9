"""Putting a note into the workspace: what its properties say, where it lies, and what became of it at the gate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memento_tui import clock
from memento_tui.agent.vault.notes import path_of
from memento_tui.agent.waiting import check_not_rejected, why_it_waits
from memento_tui.errors import MementoError
from memento_tui.interchange.properties import BadProperties, dump_property, read_properties
from memento_tui.interchange.vault import KEPT
from memento_tui.records import Memory
from memento_tui.records.memory import kind_of
from memento_tui.workspace import Workspace

__all__ = ["Draft", "Put", "put_note", "replace_by"]

_KINDS = {"debug": "bugfix", "debugging": "bugfix", "fix": "bugfix", "bug-fix": "bugfix", "session": "discovery"}
"""Older names of types, as this system reads them."""
_PLAIN = ("project", "branch", "date")


@dataclass(frozen=True)
class Draft:
    """A note as a client gives it."""

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
class Put:
    """The memory that a note is now, whether it is a new one, and why it waits for a person."""

    memory: Memory
    is_new: bool
    reason: str

    @property
    def pending(self) -> bool | None:
        """Whether a person decides about it; ``None`` for no."""
        return True if self.memory.status == "pending" else None


def put_note(workspace: Workspace, draft: Draft) -> Put:
    """Store a note; where the same text is known in its project, return the memory that says it.

    Raises:
        InvalidField: a field breaks a rule.
        NotAllowed: a person rejected the same before.

    """
    kind, raw = kind_of(_KINDS.get(draft.kind.strip().lower(), draft.kind))
    properties = _properties(draft)
    head = f"---\n{''.join(_line(name, value) for name, value in properties.items())}---\n"
    fields: dict[str, Any] = {
        "title": draft.title,
        "kind": kind,
        "kind_raw": raw or (draft.kind if draft.kind.strip().lower() in _KINDS else ""),
        "tags": list(draft.tags),
        "validity_context": draft.validity_context,
        "source": {"agent": workspace.author.agent, "session": draft.session or workspace.author.session},
        "extra": {KEPT: {"path": draft.path, "head": head}, "frontmatter": properties},
    }
    if draft.namespace:
        fields["namespace"] = draft.namespace
    if draft.certainty is not None:
        fields["certainty"] = draft.certainty
    began = clock.now()
    memory = workspace.remember(draft.body.strip(), **fields, **(draft.fields or {}))
    check_not_rejected(workspace, memory)
    return Put(memory, memory.created_at >= began, why_it_waits(workspace, memory))


def _properties(draft: Draft) -> dict[str, Any]:
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
    kept = {name: value for name, value in own.items() if value not in (None, "")}
    more = {name: value for name, value in (draft.properties or {}).items() if value not in (None, "")}
    return kept | {name: value for name, value in more.items() if name not in kept}


def _line(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    if name == "tags":
        # On one line: its clients look for the brackets behind the name. JSON is YAML.
        return f"tags: {json.dumps(value, ensure_ascii=False)}\n"
    plain = f"{name}: {value}\n"
    # Where YAML allows it without quotation marks, which its clients would take for a part of a path.
    return plain if name in _PLAIN and _means(plain, value) else dump_property(name, value)


def _means(line: str, value: object) -> bool:
    try:
        found = read_properties(line)
    except BadProperties:
        return False
    return found is not None and [one.value for one in found] == [value]


def replace_by(workspace: Workspace, new: Memory, old: Memory) -> str:
    """Say that a note takes the place of another, which is then found below it; return why not, or nothing.

    What a person verified keeps its place until a person says otherwise.
    """
    if old.id == new.id:
        return "A note cannot take its own place."
    try:
        workspace.relate(new.id, old.id, "supersedes")
    except MementoError as error:  # the new note is stored, which is worth more than the arrow
        return f"{path_of(old)} keeps its place. {error}"
    return ""
