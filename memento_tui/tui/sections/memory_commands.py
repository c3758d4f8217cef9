"""The commands of the ``:`` line that change memories: the row, the marked rows, or all that the search finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memento_tui import clock
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed
from memento_tui.model import Memory
from memento_tui.model.memory import KINDS, RELATION_TYPES, parse_kind
from memento_tui.model.memory_fields import FIELDS
from memento_tui.policy.resolution import with_changes
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.memory_actions import update
from memento_tui.tui.sections.tag_line import parse_tag_changes

if TYPE_CHECKING:
    from memento_tui.tui.sections.memories import MemoriesSection

__all__ = ["CHANGES", "ROW_COMMANDS", "MemoryCommands", "Targets", "changes_of"]

_OTHERWISE = ("stability", "extra")
"""The fields with an option that no command sets: a memory is verified, and ``extra`` is for programs."""

_FIELDS = {
    field.option.name.removeprefix("--"): field
    for field in FIELDS
    if field.option and not field.path and field.name not in _OTHERWISE
}
"""The fields that a command sets, by the name of the command line's option without its hyphens."""

CHANGES: Mapping[str, tuple[str, str]] = {
    **{
        name: (field.option.metavar if field.option else "", field.option.help if field.option else "")
        for name, field in _FIELDS.items()
    },
    "tag": ("+TAG -TAG", "Tags to add and to remove; without a sign, to add."),
    "valid": ("from WHEN until WHEN", "From when until when it holds; `always` clears both."),
}
"""Every command that changes fields, with the name and the meaning of its argument."""


ROW_COMMANDS: Mapping[str, tuple[str, str]] = {
    "relate": ("ID TYPE", "Relate it to another memory: related, supersedes, contradicts, ..."),
    "purge": ("REASON", "Remove this memory with all its versions, for ever"),
}
"""Every other command for memories, with its argument and its effect."""


class Targets(NamedTuple):
    """The memories that a command is for, and how the line names them."""

    ids: Sequence[str]
    among: str
    """The end of a question about several of them, such as ``marked``."""
    words: str
    """Such as ``3 marked``."""


def changes_of(name: str, argument: str, memory: Memory) -> dict[str, Any]:
    """Return the fields that a command changes in a memory, as `Workspace.update` takes them.

    Raises:
        InvalidInput: the argument is missing or cannot be understood.
        InvalidField: the memory cannot have such a value.

    """
    if not argument:
        takes, about = CHANGES[name]
        raise InvalidInput(f":{name} takes {takes}. {about}", "Type it behind the name.")
    if name == "tag":
        changes: dict[str, Any] = {"tags": _tags(argument, memory)}
    elif name == "valid":
        changes = _validity(argument)
    else:
        field = _FIELDS[name]
        is_cleared = field.accepts == "a moment" and argument.lower() == "never"
        changes = {field.name: None if is_cleared else argument}
        if name == "kind" and parse_kind(argument)[0] not in (argument, "observation"):
            changes = {"kind": parse_kind(argument)[0]}
        elif name == "kind" and argument not in KINDS:
            raise InvalidInput(f"There is no kind {argument!r:.40}.", f"Kinds are {', '.join(KINDS)}.")
    try:
        with_changes(memory, changes, clock.now())  # says what is wrong before anything is asked or written
    except InvalidField as error:
        raise InvalidField(name, error.reason, error.hint) from None  # as the person calls it
    return changes


def _tags(argument: str, memory: Memory) -> list[str]:
    changes = parse_tag_changes(argument)
    if not any(changes):
        raise InvalidInput("No tag was named.", ":tag +api adds one, :tag -old removes one.")
    return changes.applied_to(memory.tags, listed=False)


def _validity(argument: str) -> dict[str, Any]:
    words = argument.split()
    if words == ["always"]:
        return {"valid_from": None, "valid_to": None}
    fields = {"from": "valid_from", "until": "valid_to"}
    changes: dict[str, Any] = {}
    for word, value in zip(words[::2], words[1::2], strict=False):
        if word not in fields:
            break
        changes[fields[word]] = None if value == "never" else value
    if len(changes) * 2 != len(words):
        raise InvalidInput(f":valid cannot read {argument!r:.60}.", "Such as: valid from 2026-01-01 until 2027-01-01.")
    return changes


def _relation(argument: str) -> tuple[str, str]:
    """Return the other end and the type of a relation. Raises `InvalidInput`."""
    other, _, kind = argument.rpartition(" ")
    if not other:
        other, kind = argument, "related"
    if not other:
        raise InvalidInput(":relate takes the id of another memory, and a type.", "Such as: relate 7f3k supersedes.")
    if kind not in RELATION_TYPES:
        raise InvalidInput(f"There is no relation {kind!r:.40}.", f"There are {', '.join(RELATION_TYPES)}.")
    return other.strip(), kind


class MemoryCommands:
    """Carries out commands on the memories of a section; its methods that write must run in a worker of it."""

    def __init__(self, section: MemoriesSection) -> None:
        self._section = section

    def targets(self, *, whole: bool) -> Targets:
        """Return the memories that a command is for; with ``whole`` all that the section lists."""
        rows = self._section.rows
        if whole:
            ids = self._section.listed_ids()
            return Targets(ids, "found", f"all {len(ids):,} found")
        if rows.marks:
            return Targets(self._section.selection.ids(), "marked", f"{len(rows.marks):,} marked")
        ids = self._section.selection.ids()
        return Targets(ids, "", "this memory" if ids else "no memory")

    def check(self, name: str, argument: str, targets: Targets) -> None:
        """Raise a `MementoError` where a command cannot be carried out on the first of its memories."""
        workspace = self._section.memento.workspace
        if not targets.ids:
            raise InvalidInput(f":{name} is for memories, and there is none here.", "Clear the search, or add one.")
        memory = workspace.find(targets.ids[0])
        if memory is None or memory.status == "deleted":
            raise NotAllowed("The memory is deleted.", ":restore brings it back.")
        if name == "purge":
            if len(targets.ids) > 1:
                raise InvalidInput("A purge is for one memory at a time.", "Unmark the others with u.")
            if not argument:
                raise InvalidInput(":purge takes the reason; the journal keeps it.", "Such as: purge it held a key.")
        elif name == "relate":
            other, kind = _relation(argument)
            if kind not in ("file", "item") and workspace.resolve("memory", other) in targets.ids:
                raise InvalidInput("A memory is not related to itself.", "Name another one by its id.")
        else:
            changes_of(name, argument, memory)

    async def relate(self, argument: str, targets: Targets) -> None:
        """Relate each memory to another record; one undo takes all of it back."""
        workspace = self._section.memento.workspace
        other, kind = _relation(argument)

        def relate(memory_id: str, _seen: int | None) -> None:
            workspace.relate(memory_id, other, kind)

        chosen = self._section.actions.seen_versions(targets.ids)
        await self._section.actions.run_on(chosen, f"Relate to {other}", "Related", relate, among=targets.among)

    async def change(self, name: str, argument: str, targets: Targets) -> None:
        """Change a field of each memory; one undo takes all of it back."""
        workspace = self._section.memento.workspace

        def change(memory_id: str, seen: int | None) -> object:
            memory = workspace.get(memory_id)
            return update(workspace, memory, seen, **changes_of(name, argument, memory))

        chosen = self._section.actions.seen_versions(targets.ids)
        await self._section.actions.run_on(chosen, f"{name} {argument} for", "Changed", change, among=targets.among)

    async def purge(self, reason: str, memory_id: str) -> None:
        """Purge a memory once the person has typed its id."""
        section, workspace = self._section, self._section.memento.workspace
        question = AskLine(
            f"Purge {memory_id} with all its versions?", hint="Nothing brings it back. Type its id, Escape leaves"
        )
        typed = await section.app.push_screen_wait(question)
        if typed is None or typed.strip() != memory_id:
            section.memento.show_status("That is not its id. Nothing was purged." if typed else "Nothing was purged.")
            return
        outcome = await in_thread(section, workspace.purge, memory_id, reason)
        section.memento.refresh_after_write()
        left = ", ".join(outcome.backups)
        still = f" These backups may still hold it; memento backup rm removes one: {left}" if left else ""
        section.memento.show_status(f"Purged.{still}")
