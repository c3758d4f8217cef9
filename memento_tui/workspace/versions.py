"""Earlier versions of a memory: in what they differ, and making one of them the present one again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from memento_tui.errors import NotAllowed, NotFound
from memento_tui.records import Memory
from memento_tui.upkeep.aging import uncompacted

if TYPE_CHECKING:
    from memento_tui.store.store import Revision
    from memento_tui.workspace.workspace import Workspace

__all__ = ["RESTORED", "Restored", "changed_fields", "restore_version"]

RESTORED = (
    "content",
    "title",
    "kind",
    "namespace",
    "tags",
    "certainty",
    "validity_context",
    "valid_from",
    "valid_to",
    "expires_at",
    "sensitivity",
)
"""What an earlier version gives back: what the memory says, and what a person sets in an edit.

Status, tier, pin and verification tell what became of the memory since, and stay as they are.
"""


class Restored(msgspec.Struct, frozen=True):
    """The memory as it stands now, and the fields that were set back; none where nothing differed."""

    memory: Memory
    fields: tuple[str, ...]
    removed: tuple[str, ...] = ()
    """The kinds of secrets that were taken out of what was set back."""


def changed_fields(before: Memory | None, after: Memory) -> tuple[str, ...]:
    """Return the names of the fields in which two versions differ, other than those that count and date versions."""
    if before is None:
        return ()
    silent = ("id", "version", "updated_at", "shown_count", "used_count", "last_used_at")
    names = (name for name in Memory.__struct_fields__ if name not in silent)
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


def restore_version(workspace: Workspace, memory_id: str, version: int, *, base_version: int | None = None) -> Restored:
    """Make what a memory said at an earlier version what it says now: one new version, which undo takes back.

    ``base_version`` is the version that the person was looking at; without it the present one is changed.

    Raises:
        NotFound, AmbiguousId: no memory, or several, have that id; or it never had that version.
        NotAllowed: an agent asks, the text of that version was purged, or the memory is deleted.
        Conflict: the memory is no longer at ``base_version``.

    """
    if workspace.author.actor != "person":
        raise NotAllowed("Only a person restores a version.", "Make the change you want instead.")
    current = workspace.get(memory_id)
    before = uncompacted(_image(workspace.history(current.id), current.id, version))
    changes = {name: getattr(before, name) for name in RESTORED}
    fields = tuple(name for name in RESTORED if getattr(current, name) != changes[name])
    if not fields:
        return Restored(current, ())
    if current.status == "compacted":
        # Else its full text would stay beside the one that is set back, and replace it the next time it is restored.
        whole = uncompacted(current)
        changes |= {"status": whole.status, "extra": whole.extra}
    outcome = workspace.update(current.id, base_version=base_version or current.version, **changes)
    return Restored(outcome.memory, fields, outcome.removed)


def _image(revisions: Sequence[Revision], memory_id: str, version: int) -> Memory:
    found = next((revision for revision in revisions if revision.version == version), None)
    if found is None:
        raise NotFound(
            f"The memory {memory_id} has no version {version}.", f"`memento history {memory_id}` lists its versions."
        )
    if found.purged:
        raise NotAllowed(f"The text of version {version} was purged.", "It cannot return.")
    if found.record is None:
        raise NotAllowed(f"Version {version} says that the memory was removed.", "Choose one that holds a text.")
    record: Memory = found.record
    return record
