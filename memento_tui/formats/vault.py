"""Read and write a folder of Markdown notes: an Obsidian vault, a Memento Vault, or any other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.agents_file_locations import FILE_NAMES
from memento_tui.formats.base import (
    MEMORY_BANK,
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    namespace_from_parts,
    project_of_hidden,
    project_of_memory_bank,
    replace_if_unchanged,
    source_digest,
)
from memento_tui.formats.frontmatter import MAX_FRONTMATTER_LENGTH, InvalidFrontmatter, change_properties
from memento_tui.formats.note import LINK_PROPERTIES, LinkTargets, Note, property_text, property_texts, read_note
from memento_tui.formats.source_files import LoadedFile, SourceFile, count_files, decode_text, load_file, walk_files
from memento_tui.model import Memory, Relation
from memento_tui.model.validation import CONTROL_CHARACTERS, MAX_CONTENT_BYTES
from memento_tui.text import markdown

__all__ = [
    "EXTRA_KEY",
    "FORMAT",
    "MAX_NOTE_BYTES",
    "NOTE_SUFFIX",
    "VAULT_FILES",
    "KeptNote",
    "NoteExport",
    "count",
    "kept_note",
    "link_properties",
    "names_instructions",
    "note_fields",
    "note_text",
    "parse_file",
    "paths_of",
    "read",
    "read_note_properties",
    "without_place",
    "write",
]

NOTE_SUFFIX = ".md"
EXTRA_KEY = "vault"
"""The key of ``extra`` for the data that is needed to write the note again."""
MAX_NOTE_BYTES = MAX_CONTENT_BYTES + MAX_FRONTMATTER_LENGTH

VAULT_FILES = ("memento.yml", "vault-identity.json")
"""The files in the root of a Memento Vault; its folder ``archive`` holds the notes that it no longer recalls."""
_AGENT_SOURCES = ("session", "inception", "mcp", "mcp-capture")
_PERSON_SOURCES = ("manual", "user")
_URL = re.compile(r"https?://\S+")
_NOT_IN_A_SLUG = re.compile(r"[^\w.-]+")


def count(root: Path) -> int:
    """Return the number of notes, without opening one."""
    return count_files(root, NOTE_SUFFIX)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the notes below a folder, or one note. Folders and files whose names begin with a dot are passed over.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    real = root.resolve()
    folder = real if real.is_dir() else real.parent
    project = project_of_hidden(folder)
    vault = ("projects", project) if project else (folder.name or "vault",)
    archives = any((folder / name).is_file() for name in VAULT_FILES)
    ids: set[str] = set()
    for source in walk_files(root, NOTE_SUFFIX):
        if isinstance(source, Refused):
            yield source
        else:
            names = _names_of_memory_bank(folder, source.name)
            yield _read_file(
                source, names or _names_of(vault, source.name), ids, archives=archives, in_bank=bool(names)
            )


def _names_of(vault: tuple[str, ...], name: str) -> tuple[str, ...]:
    return (*vault, *PurePosixPath(name).parts[:-1])


def _names_of_memory_bank(folder: Path, name: str) -> tuple[str, ...]:
    """Return the names that the namespace of a note in a project's ``memory-bank`` has; none for another note."""
    below = PurePosixPath(name).parts[:-1]
    if folder.name == MEMORY_BANK:
        bank = folder
    elif MEMORY_BANK in below:
        at = below.index(MEMORY_BANK) + 1
        bank, below = folder.joinpath(*below[:at]), below[at:]
    else:
        return ()
    project = project_of_memory_bank(bank)
    return ("projects", *project, *below) if project else ()


def _read_file(
    file: SourceFile, place: tuple[str, ...], ids: set[str], *, archives: bool, in_bank: bool
) -> ImportRecord | Refused:
    """Return the record of a file; ``place`` are the names of its namespace where it gives none itself."""
    loaded = load_file(file, MAX_NOTE_BYTES)
    if isinstance(loaded, Refused):
        return loaded
    note = parse_file(file.name, loaded)
    if isinstance(note, Refused):
        return note
    fields = note_fields(note, loaded)
    fields["namespace"] = _namespace(note, place)
    identity = property_text(note.properties.get("memento_id"))
    if identity and identity not in ids:  # a note that was copied in its folder brings the id of the first one along
        ids.add(identity)
        fields["id"] = identity
    if archives and file.name.startswith("archive/"):
        fields["status"] = "archived"
    fields["extra"] = {EXTRA_KEY: _kept_values(note, file.name, loaded.data)}
    if note.properties:
        fields["extra"]["frontmatter"] = note.properties
    return ImportRecord(
        key=file.name,
        record="memory",
        fields=fields,
        # One that came in before it was known to be of a project is read as changed, so that it moves there.
        digest=source_digest(loaded.data + fields["namespace"].encode() if in_bank else loaded.data),
        file=file.name,
        line=1,
        links=note.links,
        is_placed_by_reader=in_bank and fields["namespace"] == namespace_from_parts(place),
    )


def parse_file(name: str, loaded: LoadedFile) -> Note | Refused:
    """Return the note that a file holds."""
    text = decode_text(loaded.data, name)
    if isinstance(text, Refused):
        return text
    try:
        note = read_note(text, name)
    except InvalidFrontmatter as problem:
        return Refused(name, problem.line + 1, problem.reason)
    if note is None:
        return Refused(name, 0, "is empty: it has neither text nor properties")
    if (size := len(note.content.encode())) > MAX_CONTENT_BYTES:
        return Refused(name, 0, f"has a text of {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}")
    return note


class _NoteProperty(msgspec.Struct, frozen=True):
    """One property of a note's frontmatter that memento understands, both ways."""

    name: str
    read: Callable[[Note], Mapping[str, Any]]
    """Returns fields of a memory."""
    write: Callable[[Memory, Note], Any]
    """Returns the value for a memory, given the note as it is; ``None`` for no property."""
    agrees: Callable[[Memory, Note], bool] | None = None
    """Returns whether the note agrees with the memory, where that is not a comparison of the fields."""

    def has_changed(self, memory: Memory, note: Note) -> bool:
        """Return whether the note differs from the memory."""
        if self.agrees is not None:
            return not self.agrees(memory, note)
        return any(getattr(memory, field) != value for field, value in self.read(note).items())


def _frontmatter_tags(memory: Memory, note: Note) -> tuple[str, ...]:
    return tuple(tag for tag in memory.tags if tag not in note.body_tags)


_DEFAULT_CERTAINTY = 3
_NOTE_PROPERTIES: tuple[_NoteProperty, ...] = (
    _NoteProperty("title", lambda note: {"title": note.title}, lambda memory, _: memory.title),
    _NoteProperty(
        "type",
        lambda note: {"kind": note.kind, "kind_raw": note.kind_raw},
        lambda memory, _: memory.kind_raw or memory.kind,
    ),
    _NoteProperty(
        "tags",
        lambda note: {"tags": note.tags + note.body_tags},
        lambda memory, note: list(_frontmatter_tags(memory, note)) or None,
        agrees=lambda memory, note: _frontmatter_tags(memory, note) == note.tags,
    ),
    _NoteProperty(
        "certainty",
        lambda note: {"certainty": note.certainty or _DEFAULT_CERTAINTY},
        lambda memory, _: memory.certainty,
    ),
    _NoteProperty(
        "validity-context",
        lambda note: {"validity_context": note.validity_context},
        lambda memory, _: memory.validity_context or None,
    ),
)
"""The properties that change with their memory."""


def read_note_properties(note: Note) -> dict[str, Any]:
    """Return the fields of a memory that a note's text and properties give."""
    fields: dict[str, Any] = {"content": note.content}
    for known in _NOTE_PROPERTIES:
        fields |= known.read(note)
    return fields


def note_fields(note: Note, loaded: LoadedFile) -> dict[str, Any]:
    """Return the fields of the new memory that a note becomes; a field that it does not give is left out."""
    fields = {
        **read_note_properties(note),
        "created_at": note.created_at or loaded.modified,
        **_source(note.properties),
    }
    if note.certainty is None:
        del fields["certainty"]
    if note.updated_at is not None:
        fields["updated_at"] = note.updated_at
    return fields


def _source(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a note came from, and whose words it says it is, if it does.

    One that names an address on the web is taken for a clipping of it.
    """
    given = property_text(properties.get("source")).strip()
    address = next((text for text in (given, property_text(properties.get("url"))) if _URL.match(text)), "")
    parts = {
        "agent": property_text(properties.get("agent")),
        "session": property_text(properties.get("session_id")),
        "transcript": property_text(properties.get("transcript_path")),
        "url": address,
    }
    source = {name: text for name, text in parts.items() if text}
    if address or given == "external":
        return {"source": source, "source_type": "external"}
    if given in _PERSON_SOURCES:
        return {"source": source, "source_type": "user"}
    return {"source": source, **({"source_type": "derived"} if given in _AGENT_SOURCES else {})}


def _namespace(note: Note, place: tuple[str, ...]) -> str:
    given = property_text(note.properties.get("memento_namespace"))
    if given:
        return namespace_from_parts(given.split("/"))
    if names := _project(property_text(note.properties.get("project")).strip()):
        return namespace_from_parts(["projects", *names])
    return namespace_from_parts(place)


def _project(given: str) -> list[str]:
    """Return the names in a project property: of a path on some machine the last, of ``owner/name`` both."""
    linked = markdown.find_wikilinks(given)
    names = (linked[0].target if linked else given).replace("\\", "/").rstrip("/").split("/")
    if names[0] in ("", "~") or names[0].endswith(":"):
        names = names[-1:]
    return [slug for name in names if (slug := _NOT_IN_A_SLUG.sub("-", name.strip().lower()).strip("-."))]


def _kept_values(note: Note, name: str, data: bytes) -> dict[str, Any]:
    kept: dict[str, Any] = {"path": name, "digest": source_digest(data).hex()}
    if note.parts.head:
        kept["head"] = note.parts.head
    if note.content != note.parts.body:
        kept["body"] = note.parts.body
    if note.body_tags:
        kept["body_tags"] = list(note.body_tags)
    return kept


_NOT_IN_A_FILE_NAME = re.compile(r'[\\/:*?"<>|#^\[\]]+')
_MAX_NAME_BYTES = 120
_MAX_ID_BYTES = 80
"""Bytes; with an ending, a name and an id stay below the 255 that file systems take."""
_SOURCE_WORDS = {"user": "manual", "derived": "session", "external": "external"}
_LINK_PROPERTY_OF_RELATION = {relation: name for name, relation in LINK_PROPERTIES.items()}


class KeptNote(msgspec.Struct, frozen=True):
    """The data that the import kept of a note. It comes from a database that agents write to, so it is checked."""

    path: str = ""
    digest: str = ""
    head: str = ""
    body: str | None = None


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write memories as notes below ``root``, and the relations between them as links.

    Deleted memories and other records are left out. A note that cannot be put in place is refused and costs no other.

    Raises:
        InvalidInput: a memory has no text.

    """
    memories: list[Memory] = []
    edges: list[Relation] = []
    left_out = 0
    for record in records:
        if isinstance(record, Memory) and record.status != "deleted":
            memories.append(record)
        elif isinstance(record, Relation) and record.type in _LINK_PROPERTY_OF_RELATION:
            edges.append(record)
        else:
            left_out += 1
    notes = NoteExport(memories)
    relations: dict[str, list[Relation]] = {}
    for edge in edges:
        if edge.src in notes.paths and edge.dst in notes.paths:
            relations.setdefault(edge.src, []).append(edge)
        else:
            left_out += 1
    refused: list[Refused] = []
    files = linked = 0
    for memory in memories:
        own = relations.get(memory.id, [])
        path, text = notes.paths[memory.id], notes.text(memory, own)
        outcome = replace_if_unchanged(root / path, root, path, text.encode(), notes.kept[memory.id].digest)
        if isinstance(outcome, Refused):
            refused.append(outcome)
        else:
            files += outcome
            linked += len(own)
    return ExportReport(
        records=len(memories) - len(refused) + linked, files=files, left_out=left_out, refused=tuple(refused)
    )


class NoteExport:
    """The notes of one export: the path and the text of each memory's file."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self.kept: dict[str, KeptNote] = {}
        self.paths: dict[str, str] = {}
        self.targets = LinkTargets()
        taken: set[str] = set()
        for memory in memories:
            self.kept[memory.id] = kept = kept_note(memory)
            path = next(path for path in paths_of(memory, kept) if path.casefold() not in taken)
            taken.add(path.casefold())
            self.paths[memory.id] = path
            frontmatter = memory.extra.get("frontmatter")
            self.targets.add_note(path, memory.title, frontmatter if isinstance(frontmatter, dict) else {})

    def text(self, memory: Memory, relations: Iterable[Relation]) -> str:
        """Return the whole text of a memory's note."""
        kept, path = self.kept[memory.id], self.paths[memory.id]
        return note_text(memory, kept, path, lambda before: self._links(memory, relations, before))

    def _links(self, memory: Memory, relations: Iterable[Relation], before: Note) -> dict[str, Any]:
        """Return the link properties for the relations that the note does not have yet."""
        path = self.paths[memory.id]
        present = {(kind, self.targets.resolve(target, path)) for kind, target, _ in before.links}
        links = ((relation.type, self.paths[relation.dst]) for relation in relations)
        return link_properties(before, (link for link in links if link not in present))


def link_properties(before: Note, links: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the link properties of a note that gains links, each a type of relation and another note's path."""
    changes: dict[str, Any] = {}
    for kind, target in links:
        name = _LINK_PROPERTY_OF_RELATION[kind]
        if name not in changes:
            changes[name] = property_texts(before.properties.get(name))
        changes[name].append(f"[[{target.removesuffix(NOTE_SUFFIX)}]]")
    return changes


def note_text(
    memory: Memory, kept: KeptNote, path: str, more: Callable[[Note], Mapping[str, Any]] = lambda _before: {}
) -> str:
    """Return the whole text of a memory's note at ``path``, made of the head and body that were kept of it.

    ``more`` returns further properties to set, given the note as it was before. Raises `InvalidInput` where the memory
    has no text.
    """
    body = memory.content
    line_break = "\r\n" if "\r\n" in kept.head + body else "\n"
    empty = f"---{line_break}---{line_break}"
    head = kept.head if kept.path else empty
    before = _parse_note(head, body if kept.body is None else kept.body, path)
    if before is None:  # the head is no longer one, or the text begins as if it were frontmatter
        head = empty
        before = _parse_note(head, body, path)
    if before is None:
        raise InvalidInput(f"The memory {memory.id} has no text, so it cannot be a note.")
    if kept.body is not None and before.content == body:
        body = kept.body  # a note of properties only: its content stands for them and is in no file
    changed = (known for known in _NOTE_PROPERTIES if known.has_changed(memory, before))
    changes = {**{known.name: known.write(memory, before) for known in changed}, **more(before)}
    if not kept.path:
        changes |= _memento_properties(memory)
    head = change_properties(head, changes, line_break)
    return head + ("" if not body or head.endswith(("\n", "\ufeff")) or not head else line_break) + body


def kept_note(memory: Memory) -> KeptNote:
    """Return the kept data of the note that a memory came from; empty for any other memory."""
    try:
        kept = msgspec.convert(memory.extra.get(EXTRA_KEY, {}), KeptNote)
    except msgspec.ValidationError:
        return KeptNote()
    return kept if _is_safe_path(kept.path) else KeptNote()


def names_instructions(path: str) -> bool:
    """Tell whether a note's file is one that agents' hosts read as instructions, such as ``CLAUDE.md``."""
    return path.rpartition("/")[2].casefold() in FILE_NAMES


def without_place(memory: Memory) -> Memory:
    """Return a memory without a place that would make its note a file of instructions; agents may name any."""
    if not names_instructions(kept_note(memory).path):
        return memory
    return msgspec.structs.replace(memory, extra={n: v for n, v in memory.extra.items() if n != EXTRA_KEY})


def _is_safe_path(path: str) -> bool:
    """Return whether a path stays below the folder it is written to, outside of every hidden folder."""
    plain = all(name and not name.startswith(".") for name in path.split("/"))
    return plain and path.lower().endswith(NOTE_SUFFIX) and not CONTROL_CHARACTERS.search(path)


def _parse_note(head: str, body: str, path: str) -> Note | None:
    """Return the note that head and body make; ``None`` where a reader would part them in another place."""
    try:
        note = read_note(head + body, path)
    except InvalidFrontmatter:
        return None
    return note if note is not None and note.parts.head == head else None


def paths_of(memory: Memory, kept: KeptNote) -> Iterator[str]:
    """Yield the places for a memory's note, the best first; they never run out."""
    if kept.path:
        yield kept.path
    folders = [_file_name(name, _MAX_NAME_BYTES) for name in memory.namespace.split("/")]
    name = _file_name(memory.headline, _MAX_NAME_BYTES)
    if not names_instructions(name + NOTE_SUFFIX):
        yield "/".join([*folders, name + NOTE_SUFFIX])
    name = f"{name} ({_file_name(memory.id, _MAX_ID_BYTES)})"
    yield "/".join([*folders, name + NOTE_SUFFIX])
    for number in itertools.count(2):
        yield "/".join([*folders, f"{name} {number}{NOTE_SUFFIX}"])


def _file_name(text: str, limit: int) -> str:
    """Return a name that every file system and every wikilink can hold, of at most ``limit`` bytes."""
    plain = "".join(letter if letter.isprintable() else " " for letter in _NOT_IN_A_FILE_NAME.sub(" ", text))
    return " ".join(plain.split()).strip(" .").encode()[:limit].decode(errors="ignore").strip(" .") or "unnamed"


def _memento_properties(memory: Memory) -> dict[str, Any]:
    """Return the properties that a note gains which was no note before."""
    source = memory.source
    updated = memory.updated_at if memory.updated_at != memory.created_at else None
    properties = {
        "tags": list(memory.tags) or None,
        "date": _format_moment(memory.created_at),
        "updated": _format_moment(updated) if updated else None,
        "source": source.url or _SOURCE_WORDS[memory.source_type],
        "agent": source.agent or None,
        "session_id": source.session or None,
        "transcript_path": source.transcript or None,
        "memento_id": memory.id,
        "memento_namespace": memory.namespace,
    }
    return {name: value for name, value in properties.items() if value is not None}


def _format_moment(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _lost_fields(written: ExportRecord, read: ExportRecord) -> set[str]:
    """Return how the note is kept, where it has no property of its owner's, and the tags that its text alone has."""
    if not isinstance(written, Memory) or not isinstance(read, Memory):
        return set()
    own = {*_memento_properties(read), *(known.name for known in _NOTE_PROPERTIES), *LINK_PROPERTIES}
    is_plain = own.issuperset(read.extra.get("frontmatter", {}))
    lost = {f"extra.{name}" for name in (EXTRA_KEY, "frontmatter")} if is_plain else set()
    in_text = read.extra.get(EXTRA_KEY, {}).get("body_tags", ())
    has_same_tags = set(written.tags).union(in_text) == set(read.tags)
    return lost | {"tags"} if has_same_tags else lost


def _is_vault(path: Path) -> bool:
    return any((path / name).exists() for name in (".obsidian", *VAULT_FILES))


FORMAT = Format(
    name="vault",
    title="Folder of notes",
    description="a folder of Markdown notes with frontmatter: Obsidian, Memento Vault, or any other",
    read=read,
    count=count,
    write=write,
    loses=_lost_fields,
    is_place=_is_vault,
    without_place=without_place,
    exports_drafts=False,
)
