"""Commands on single memories: add, list, show, edit, delete, restore, reject and purge."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from memento_tui import clock
from memento_tui.cli.command import command, current_session, open_workspace
from memento_tui.cli.interaction import confirm, staged_progress
from memento_tui.cli.options import (
    changes_of,
    fields_of,
    memory_options,
    paging,
    parse_id_and_version,
    past_moment,
    read_text,
)
from memento_tui.cli.output import (
    bold,
    count_of,
    emit,
    for_each,
    format_fields,
    format_time,
    next_page_note,
    note,
    safe,
    table,
    write,
)
from memento_tui.cli.record_completion import complete_ids
from memento_tui.config import DecayPreset
from memento_tui.errors import Conflict, InvalidInput, MementoError
from memento_tui.model import Memory
from memento_tui.model.memory import RELATION_TYPES
from memento_tui.model.validation import to_plain
from memento_tui.text.labels import OtherSide, bracketed, caution_labels, condition_labels, source_in_words

__all__ = ["commands", "contradicting", "memory_rows", "open_past", "with_verifier_names"]

if TYPE_CHECKING:
    from memento_tui.api import ChangeOutcome, Workspace
    from memento_tui.api.drafts import EditorFile
    from memento_tui.api.past import Past
    from memento_tui.api.types import Page, Provenance


@contextmanager
def open_past(workspace: Workspace, at: str) -> Iterator[Past]:
    """Yield the memory as it was, and say in a remark which moment that is."""
    with staged_progress() as progress:
        past = workspace.at(at, progress=progress)
    with past:
        note(f"As it was at {format_time(past.moment)}, after journal entry {past.entry.seq:,}.")
        if past.remark:
            note(past.remark)
        yield past


def plain_query(words: tuple[str, ...]) -> str:
    """Return the words as a query that has only filters.

    Raises:
        InvalidInput: a filter is wrong, or there is free text, which only a search can answer.

    """
    from memento_tui.search.query_language import FIELDS, parse  # noqa: PLC0415 - a command's help is shown without it

    source = " ".join(words)
    query = parse(source)
    if query.unknown and not query.error:
        raise InvalidInput(
            f"Nothing is listed: there is no field {query.unknown[0]:.60}. The fields are {', '.join(FIELDS)}.",
            f"To look for words: memento search {source!r:.200}",
        )
    if query.problems and not query.excluded:
        raise InvalidInput(
            f"Nothing is listed, because a filter is wrong. {query.problems[0]}", "See `memento list --help`."
        )
    if query.words or query.excluded:
        text = (query.words or query.excluded)[0].text
        raise InvalidInput(
            f"A list takes filters such as tag:api; {text!r:.60} is free text.",
            f"To look for words: memento search {source!r:.200}",
        )
    return source


def memory_rows(
    memories: list[Memory], against: Mapping[str, Sequence[str]] | None = None, *, members: Mapping[str, str]
) -> str:
    """Return memories as a table; ``against`` has the ids of the memories that contradict each.

    ``members`` has the member of the hub whose person wrote each, where it was not this machine's.
    """
    now = clock.now()
    sides = {name: [OtherSide(other, "") for other in others] for name, others in (against or {}).items()}
    rows = [
        [
            m.id,
            _status_word(m, now),
            m.stability,
            m.kind,
            m.namespace,
            source_in_words(m, members.get(m.id, "")),
            format_time(m.updated_at),
            f"{m.headline}{bracketed(condition_labels(m, sides.get(m.id, ())))}",
        ]
        for m in memories
    ]
    return table(["ID", "STATUS", "TRUST", "KIND", "NAMESPACE", "BY", "CHANGED", "WHAT"], rows)


def _status_word(memory: Memory, now: datetime) -> str:
    """Return the state of a memory in one word: past or future validity first, then pinned, then its status."""
    if memory.status == "active" and memory.valid_to is not None and memory.valid_to <= now:
        return "past"
    if memory.status == "active" and memory.valid_from is not None and memory.valid_from > now:
        return "future"
    return "pinned" if memory.pinned else memory.status


def with_verifier_names(workspace: Workspace, memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return memories with the name of the person who verified each, for output."""
    if all(memory.verified_at is None for memory in memories):
        return memories
    from memento_tui.api.queries import with_verifiers  # noqa: PLC0415 - seldom needed, and slow to import

    return with_verifiers(workspace, memories)


def contradicting(workspace: Workspace, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids of the memories that contradict each of some memories, where any does."""
    against: dict[str, list[str]] = {}
    for pair in workspace.contradictions.around(ids):
        found = pair.contradiction
        against.setdefault(found.older, []).append(found.newer)
        against.setdefault(found.newer, []).append(found.older)
    return against


@command(
    "add",
    short_help="Add a memory.",
    examples="""
    memento add "The API lives at /v2; /v1 answers 404." --kind decision --tag api,web
    memento add "Deploys are frozen." --expires 7d --json
    git log -1 --format=%B | memento add - --namespace projects/site
    """,
)
@click.argument("text")
@click.option("--id", "memory_id", metavar="ID", help="An id of your own choice.")
@memory_options(editing=False)
def add(text: str, memory_id: str | None, **options: Any) -> None:  # noqa: ANN401 - the options of all fields
    """Add a memory with the content TEXT; `-` reads it from standard input.

    A text that the same namespace holds already, and that is yours or verified, is not stored again.
    """
    from memento_tui.cli.code_audit import project_of_cited_code  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.operations.scope import learned_on_branch  # noqa: PLC0415 - a command's help is shown without it

    fields = fields_of(options) | ({} if memory_id is None else {"id": memory_id})
    started = clock.now()
    with open_workspace(create=True) as workspace:
        if place := learned_on_branch(workspace, fields.get("namespace")):
            fields["namespace"] = place
        memory = workspace.remember(read_text(text), **fields)
        why = workspace.review.why(memory.id) if memory.status == "pending" else []
        place = project_of_cited_code(workspace, memory) if fields.get("namespace") is None else ""
    emit(to_plain(memory), lambda: safe(_added(memory, why, known=memory.created_at < started)))
    if place:
        note(
            f"It cites code and is kept in {memory.namespace}, which every project is told: memento edit {memory.id}"
            f" --namespace {place} keeps it with this one, where all that it cites is checked."
        )


def _added(memory: Memory, why: Sequence[str], *, known: bool) -> str:
    if known:
        return f"{memory.id}  known already"
    if memory.status == "pending":
        return f"{memory.id}  waits for review, because {'; '.join(why)}: memento review show {memory.id}"
    return f"{memory.id}  remembered"


@command(
    "list",
    short_help="List memories, the latest change first.",
    examples="""
    memento list
    memento list kind:decision tag:api certainty:>=4
    memento list is:deleted --json --limit 100
    memento list --at "3 days ago"
    """,
)
@click.argument("filter", nargs=-1)
@past_moment
@paging
def list_memories(filter: tuple[str, ...], after: str | None, limit: int, at: str | None) -> None:  # noqa: A002 - its name in the help
    """List the memories that FILTER selects, the latest change first.

    Filters: tag: kind: ns: is: by: before: after: certainty: confidence: surprise: expires: valid: at: applies:
    status: tier: session: id:, and -tag: and so on for their opposite. Without one, all that a search may return are
    listed, and what holds no longer or not yet as well.
    """
    query = plain_query(filter)
    page: Page[Memory]
    against: Mapping[str, Sequence[str]]
    with open_workspace() as workspace:
        if at is not None:
            with open_past(workspace, at) as past:
                page = past.list(query, after=after, limit=limit)
                against = past.contradicting([memory.id for memory in page.items])
        else:
            page = workspace.list(query, after=after, limit=limit)
            against = contradicting(workspace, [memory.id for memory in page.items])
        members = workspace.activity.members("memory", [memory.id for memory in page.items])
        told = with_verifier_names(workspace, page.items)
    emit(
        lambda: {
            "items": [{**to_plain(memory), "contradicts": against.get(memory.id, [])} for memory in told],
            "next": page.next,
        },
        lambda: (
            memory_rows(page.items, against, members=members) + next_page_note(page.next)
            if page.items
            else "No memories."
        ),
    )


@command(
    "show",
    short_help="Show one memory.",
    examples="""
    memento show 7f3k
    memento show 7f3k --raw > note.md
    memento show 7f3k --life
    memento show 7f3k --at 2026-11-20
    memento show 7f3k --json
    """,
)
@click.argument("id", shell_complete=complete_ids("memory"))
@click.option("--raw", is_flag=True, help="Print only the content, unaltered unless the output is a terminal.")
@click.option("--life", is_flag=True, help="Show how its weight will decay, and when maintenance would act on it.")
@past_moment
def show(id: str, *, raw: bool, life: bool, at: str | None) -> None:  # noqa: A002 - its name in the help
    """Show the memory whose id is or begins with ID."""
    if at is not None:
        if life:
            raise click.UsageError("--life is about the present; leave out --at.")
        with open_workspace() as workspace, open_past(workspace, at) as past:
            memory = past.get(id)
            against = past.contradicting([memory.id]).get(memory.id, ())
            (memory,) = with_verifier_names(workspace, [memory])
            _emit_memory(memory, past.related(memory.id), against, raw=raw)
        return
    with open_workspace() as workspace:
        (memory,) = with_verifier_names(workspace, [workspace.get(id)])
        relations = workspace.related(memory.id)
        against = contradicting(workspace, [memory.id]).get(memory.id, [])
        decay = workspace.config.maintenance.decay
        provenance = workspace.provenance([memory.id])[memory.id] if life else None
    if provenance is not None:
        _show_life(memory, decay, provenance)
        return
    _emit_memory(memory, relations, against, raw=raw)


def _emit_memory(
    memory: Memory, relations: Sequence[tuple[str, str, str]], against: Sequence[str], *, raw: bool
) -> None:
    if raw and not current_session().as_json:
        write((safe(memory.content, multiline=True) if sys.stdout.isatty() else memory.content) + "\n")
        return
    links = [{"type": type_, "direction": direction, "id": end} for type_, direction, end in relations]
    emit(
        {**to_plain(memory), "relations": links, "contradicts": against},
        lambda: _memory_text(memory, relations, against),
    )


def _show_life(memory: Memory, decay: DecayPreset, provenance: Provenance) -> None:
    # most calls do without
    from memento_tui.maintenance.life_report import life_report_data, life_report_lines  # noqa: PLC0415

    now, across = clock.now(), shutil.get_terminal_size().columns
    options: dict[str, Any] = {
        "superseded": bool(provenance.superseded_by),
        "known_since": provenance.first_written,
    }
    emit(
        lambda: life_report_data(memory, now, decay, **options),
        lambda: life_report_lines(memory, now, decay, across, **options),
    )


_FIELDS_SHOWN_APART = {"content", "title", "source", "shown_count", "used_count", "version"}


def _memory_text(memory: Memory, relations: Sequence[tuple[str, str, str]], against: Sequence[str]) -> str:
    plain = {name: getattr(memory, name) for name in Memory.__struct_fields__ if name not in _FIELDS_SHOWN_APART}
    plain |= {part: getattr(memory.source, part) for part in memory.source.__struct_fields__}
    plain["pinned"] = memory.pinned or None
    plain["injection_score"] = memory.injection_score or None
    if memory.shown_count:
        plain["used"] = f"{count_of(memory.used_count, 'time')}, shown {count_of(memory.shown_count, 'time')}"
    plain["how it stands"] = caution_labels(memory, clock.now(), with_age=True)
    plain["contradicts"] = against
    plain["relations"] = [f"{type_} {'->' if way == 'out' else '<-'} {end}" for type_, way, end in relations]
    plain["version"] = memory.version
    heading = f"{bold(safe(memory.title))}\n\n" if memory.title else ""
    return f"{heading}{safe(memory.content, multiline=True)}\n\n{format_fields(plain)}"


@command(
    "edit",
    writes=True,
    short_help="Change a memory, by options or in your editor.",
    examples="""
    memento edit 7f3k                       opens its content in your editor
    memento edit 7f3k --title "Endpoints" --tag api --untag draft
    memento edit 7f3k@3 --content - --json < note.md
    """,
)
@click.argument("id", shell_complete=complete_ids("memory"))
@click.option(
    "--base-version",
    type=click.IntRange(1),
    metavar="VERSION",
    help="The version that you read; any other is a conflict.",
)
@memory_options(editing=True)
def edit(id: str, base_version: int | None, **options: Any) -> None:  # noqa: A002, ANN401 - its name in the help; all fields
    """Change the memory whose id is or begins with ID. ID@VERSION is ID with --base-version VERSION.

    Without an option for a field, its content is opened in $VISUAL, $EDITOR or nano. If it cannot be saved then,
    your text is kept in a file.
    """
    name, base_version = parse_id_and_version(id, base_version)
    with open_workspace() as workspace:
        memory = workspace.get(name)
        if any(value not in (None, ()) for value in options.values()):
            changes = changes_of(options, memory)
            outcome = workspace.update(memory.id, base_version=base_version, **changes)
        else:
            outcome = _edit_in_editor(workspace, memory, base_version or memory.version)
        (told,) = with_verifier_names(workspace, [outcome.memory])
    emit({**to_plain(told), "outcome": outcome.status}, lambda: safe(_edit_outcome_text(outcome, memory)))


def _edit_outcome_text(outcome: ChangeOutcome, before: Memory) -> str:
    if outcome.proposal is not None:
        return f"{outcome.memory.id}  waits for review: memento review show {outcome.proposal.id}"
    is_same = outcome.memory.version == before.version
    done = "not changed" if is_same else f"changed, version {outcome.memory.version}"
    removed = f"; removed before it was stored: {', '.join(outcome.removed)}" if outcome.removed else ""
    return f"{outcome.memory.id}  {done}{removed}"


def _edit_in_editor(workspace: Workspace, memory: Memory, base_version: int) -> ChangeOutcome:
    from memento_tui.api.drafts import EditorFile, editor_command  # noqa: PLC0415 - a command's help is shown without it

    editor = editor_command()
    draft = EditorFile(workspace.paths, memory.id, memory.content)
    with _report_kept_text(draft, memory):
        finished = subprocess.run([*editor, str(draft.path)], check=False)  # noqa: S603 - the person's own editor
        content = draft.read(memory.content)
        if finished.returncode and content != memory.content:
            raise InvalidInput(f"{editor[0]} ended with status {finished.returncode}, so nothing was saved.")
        outcome = workspace.update(memory.id, base_version=base_version, content=content)
    draft.discard()
    return outcome


@contextmanager
def _report_kept_text(draft: EditorFile, memory: Memory) -> Iterator[None]:
    """Add the place of the kept text to the hint of any error."""
    try:
        yield
    except MementoError as error:
        kept = f"Your text is kept in {draft.path}."
        if isinstance(error, Conflict):
            error.hint = f"{kept} Look at what it says now, then: memento edit {memory.id} --content - < {draft.path}"
        else:
            error.hint = f"{error.hint} {kept}".strip()
        raise


@command(
    "rm",
    short_help="Delete memories; they can be restored.",
    examples="""
    memento rm 7f3k
    memento rm 7f3k@2 9x2m@1 --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("memory"))
def rm(ids: tuple[str, ...]) -> None:
    """Delete the memories with these ids. `memento restore` or `memento undo` brings them back.

    ID@VERSION refuses one that has changed since you read it; an agent has to name the version.
    """
    with open_workspace() as workspace:

        def delete(memory_id: str) -> dict[str, Any]:
            name, version = parse_id_and_version(memory_id)
            outcome = workspace.forget(name, base_version=version)
            if outcome.proposal is None:
                return {"id": outcome.memory.id, "status": outcome.memory.status}
            return {"id": outcome.memory.id, "status": "proposed", "proposal": outcome.proposal.id}

        for_each(ids, delete, lambda outcome: f"{outcome['id']}  {outcome['status']}")


@command(
    "restore",
    decides=True,
    short_help="Restore deleted memories, or an earlier version of one.",
    examples="""
    memento restore 7f3k
    memento list is:deleted
    memento restore 7f3k --version 2
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("removed memory"))
@click.option("--version", type=click.IntRange(1), metavar="NUMBER", help="Restore the fields of this version.")
def restore(ids: tuple[str, ...], version: int | None) -> None:
    """Restore memories that were deleted, rejected or archived.

    With --version, restore what the one memory ID said in that version, as a new version; `memento history ID` lists
    the versions.
    """
    if version is not None:
        _restore_version(ids, version)
        return
    with open_workspace() as workspace:

        def restore_one(memory_id: str) -> dict[str, Any]:
            memory = workspace.restore(memory_id)
            return {"id": memory.id, "status": memory.status}

        for_each(ids, restore_one, lambda outcome: f"{outcome['id']}  {outcome['status']}")


def _restore_version(ids: Sequence[str], version: int) -> None:
    from memento_tui.api.queries import restore_version  # noqa: PLC0415 - seldom asked for

    if len(ids) > 1:
        raise InvalidInput("A version is one memory's.", "Name one id with --version.")
    with open_workspace() as workspace:
        restored = restore_version(workspace, ids[0], version)
    memory, fields = restored.memory, restored.fields
    change = f"restored {', '.join(fields)}" if fields else f"nothing differs from version {version}"
    emit(
        {"id": memory.id, "version": memory.version, "changed": list(fields), "removed": list(restored.removed)},
        lambda: safe(f"{memory.id}  version {memory.version}: {change}"),
    )


_PURGE_KINDS = ("memory", "skip", "item", "crystal", "contradiction", "proposal", "note", "agent", "session")


@command(
    "relate",
    short_help="Relate a memory to another record.",
    examples="""
    memento relate 7f3k 2b9d
    memento relate 7f3k 2b9d --type supersedes
    memento relate 7f3k src/server.py --type file
    """,
)
@click.argument("id", shell_complete=complete_ids("memory"))
@click.argument("other", shell_complete=complete_ids("memory"))
@click.option("--type", "kind", type=click.Choice(RELATION_TYPES), default="related", show_default=True)
@click.option("--label", default="", metavar="TEXT", help="A few words about the relation.")
def relate(id: str, other: str, kind: str, label: str) -> None:  # noqa: A002 - its name in the help
    """Relate the memory ID to the record OTHER: a memory, with --type item a working item, with file a path."""
    with open_workspace() as workspace:
        memory_id = workspace.resolve("memory", id)
        workspace.relate(memory_id, other, kind, label)
    emit(
        lambda: {"id": memory_id, "other": other, "type": kind},
        lambda: safe(f"{memory_id} {kind} {other}. memento undo takes it back."),
    )


@command(
    "purge",
    decides=True,
    short_help="Remove a record with all its versions, for a leaked secret.",
    examples="""
    memento purge 7f3kq2m9x1ab --reason "it held a password"
    memento purge 7f3kq2m9x1ab --reason "it held a password" --yes
    memento purge 4m9x --kind skip --reason "its reason names a customer"
    memento purge 812 --kind note --reason "I typed a password"
    memento purge - --kind agent --reason "the name is a key" --yes
    """,
)
@click.argument("id", shell_complete=complete_ids("memory", kind_option="kind"))
@click.option("--reason", required=True, help="Why; the journal keeps it.")
@click.option(
    "--kind",
    type=click.Choice(_PURGE_KINDS),
    default="memory",
    show_default=True,
    help="What ID is: a record's id, a journal entry's number for its note, or a name.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(id: str, reason: str, *, kind: str, yes: bool) -> None:  # noqa: A002 - its name in the help
    """Remove a record and every version of its text, from the journal and the indexes too. This cannot be undone.

    With --kind note, remove the note of the journal entry ID, such as the reason of a rejection. With --kind agent or
    session, put another word in the place of the name ID wherever it stands; `-` reads it from standard input, which no
    shell keeps. The backups in the data directory are purged too; one that cannot be is named. Copies of them that you
    keep elsewhere, and exports, still hold it.
    """
    with open_workspace() as workspace:
        found, headline = _purge_target(workspace, kind, id)
        confirm(
            f"Nothing brings {safe(headline)!r:.60} back. Type its id to purge it",
            yes=yes,
            answer=found,
            unasked="A purge cannot be undone, so it asks first.",
            declined="That is not its id. Nothing was purged.",
        )
        outcome = workspace.purge(found, reason, kind=kind)
    text = f"{found}  purged" if outcome.was_here else f"{found}  was not here any more"
    if outcome.purged_backups and not outcome.was_here:
        text += f"; purged from {count_of(len(outcome.purged_backups), 'backup')}"
    elif outcome.purged_backups:
        text += f", from {count_of(len(outcome.purged_backups), 'backup')} too"
    if outcome.derived:
        text += f"\nThese were derived from it, and may say the same: {', '.join(outcome.derived)}"
    if outcome.backups:
        text += "\nThese backups could not be purged, and may still hold it; `memento backup rm` removes one: "
        text += ", ".join(outcome.backups)
    purged = {"id": found, "status": "purged", **to_plain(outcome)}
    emit(purged, lambda: safe(text, multiline=True))


def _purge_target(workspace: Workspace, kind: str, given: str) -> tuple[str, str]:
    """Return the whole id of the record or note to purge, and a line that shows it."""
    if kind in ("note", "agent", "session"):
        name = read_text(given, kind).strip()
        return name, f"{kind} {name}"
    found = workspace.purger.resolve(kind, given)
    record = workspace.find_record(kind, found)
    names = ("headline", "title", "item", "content", "why")
    lines = (str(getattr(record, name, "")).strip() for name in names)
    return found, next((line.splitlines()[0] for line in lines if line), f"{kind} {found}")


@command(
    "reject",
    decides=True,
    short_help="Reject memories, with a reason that agents read.",
    examples="""
    memento reject 7f3k --reason "That was true of the old cluster only."
    memento reject 7f3k 9x2m --json
    """,
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=complete_ids("memory"))
@click.option("--reason", default="", help="The reason that an agent reads when it tries to store the same text again.")
def reject(ids: tuple[str, ...], reason: str) -> None:
    """Reject the memories with these ids: no search returns them, and no agent can store the same text again.

    `memento restore` or `memento undo` brings them back. Proposals are rejected with `memento review reject`.
    """
    with open_workspace() as workspace:

        def reject_one(memory_id: str) -> dict[str, Any]:
            memory = workspace.reject(memory_id, reason)
            return {"id": memory.id, "status": memory.status}

        for_each(ids, reject_one, lambda outcome: f"{outcome['id']}  {outcome['status']}")


commands = {
    "add": add,
    "list": list_memories,
    "show": show,
    "edit": edit,
    "rm": rm,
    "restore": restore,
    "relate": relate,
    "purge": purge,
    "reject": reject,
}
