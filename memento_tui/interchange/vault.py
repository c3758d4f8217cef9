"""A folder of Markdown notes: an Obsidian vault, a Memento Vault, or any other.

A note is one memory, known by its path. Its text is the memory's content, unchanged; of a note that has properties and
no text, those properties as lines. The namespace is ``memento_namespace`` where the note has it (an export writes it),
else ``projects/<project>`` where it names a project, else the vault's name with the folders the note lies in.

``extra["frontmatter"]`` holds every property as a plain value, ``extra["vault"]`` what a return needs to restore the
file byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from memento_tui.interchange import markdown
from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.names import namespace_of
from memento_tui.interchange.note import Note, read_note, text_of
from memento_tui.interchange.properties import LONGEST, BadProperties
from memento_tui.interchange.tree import Loaded, SourceFile, count_files, decode_text, load, walk
from memento_tui.records.rules import MAX_CONTENT_BYTES

__all__ = ["KEPT", "LONGEST_FILE", "SUFFIX", "VAULT_FILES", "count", "note_fields", "parse_file", "read"]

SUFFIX = ".md"
KEPT = "vault"
"""The key of ``extra`` for what a return needs."""
LONGEST_FILE = MAX_CONTENT_BYTES + LONGEST

VAULT_FILES = ("memento.yml", "vault-identity.json")
"""What a Memento Vault has in its root; its folder ``archive`` holds what it no longer recalls."""
_BY_AN_AGENT = ("session", "inception", "mcp", "mcp-capture")
_URL = re.compile(r"https?://\S+")
_NOT_IN_A_SLUG = re.compile(r"[^\w.-]+")


def count(root: Path) -> int:
    """Return the number of notes, without opening one."""
    return count_files(root, SUFFIX)


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the notes below a folder, or one note. Folders and files whose names begin with a dot are passed over.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    real = root.resolve()
    folder = real if real.is_dir() else real.parent
    vault = folder.name or "vault"
    archives = any((folder / name).is_file() for name in VAULT_FILES)
    ids: set[str] = set()
    for found in walk(root, SUFFIX):
        yield found if isinstance(found, Refused) else _read_file(found, vault, ids, archives=archives)


def _read_file(file: SourceFile, vault: str, ids: set[str], *, archives: bool) -> Incoming | Refused:
    loaded = load(file, LONGEST_FILE)
    if isinstance(loaded, Refused):
        return loaded
    note = parse_file(file.name, loaded)
    if isinstance(note, Refused):
        return note
    fields = note_fields(note, loaded)
    fields["namespace"] = _namespace(note, vault, file.name)
    identity = text_of(note.properties.get("memento_id"))
    if identity and identity not in ids:  # a note that was copied in its folder brings the id of the first one along
        ids.add(identity)
        fields["id"] = identity
    if archives and file.name.startswith("archive/"):
        fields["status"] = "archived"
    fields["extra"] = {KEPT: _kept(note, file.name, loaded.data)}
    if note.properties:
        fields["extra"]["frontmatter"] = note.properties
    return Incoming(
        key=file.name,
        record="memory",
        fields=fields,
        digest=source_digest(loaded.data),
        file=file.name,
        line=1,
        links=note.links,
    )


def parse_file(name: str, loaded: Loaded) -> Note | Refused:
    """Return the note that a file holds."""
    text = decode_text(loaded.data, name)
    if isinstance(text, Refused):
        return text
    try:
        note = read_note(text, name)
    except BadProperties as problem:
        return Refused(name, problem.line + 1, problem.reason)
    if note is None:
        return Refused(name, 0, "is empty: it has neither text nor properties")
    if (size := len(note.content.encode())) > MAX_CONTENT_BYTES:
        return Refused(name, 0, f"has a text of {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}")
    return note


def note_fields(note: Note, loaded: Loaded) -> dict[str, Any]:
    """Return the fields that every kind of note has: its text, and what its properties say about it."""
    fields: dict[str, Any] = {
        "content": note.content,
        "title": note.title,
        "kind": note.kind,
        "kind_raw": note.kind_raw,
        "tags": note.tags + note.body_tags,
        "created_at": note.created_at or loaded.modified,
        "validity_context": note.validity_context,
        **_source(note.properties),
    }
    if note.certainty is not None:
        fields["certainty"] = note.certainty
    if note.updated_at is not None:
        fields["updated_at"] = note.updated_at
    return fields


def _source(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a note came from; one that names an address on the web is taken for a clipping of it."""
    given = text_of(properties.get("source")).strip()
    address = next((text for text in (given, text_of(properties.get("url"))) if _URL.match(text)), "")
    parts = {
        "agent": text_of(properties.get("agent")),
        "session": text_of(properties.get("session_id")),
        "transcript": text_of(properties.get("transcript_path")),
        "url": address,
    }
    kind = "external" if address or given == "external" else "derived" if given in _BY_AN_AGENT else "user"
    return {"source": {name: text for name, text in parts.items() if text}, "source_type": kind}


def _namespace(note: Note, vault: str, name: str) -> str:
    given = text_of(note.properties.get("memento_namespace"))
    if given:
        return namespace_of(given.split("/"))
    if names := _project(text_of(note.properties.get("project")).strip()):
        return namespace_of(["projects", *names])
    return namespace_of([vault, *PurePosixPath(name).parts[:-1]])


def _project(given: str) -> list[str]:
    """Return the names in a project property: of a path on some machine the last, of ``owner/name`` both."""
    linked = markdown.wikilinks(given)
    names = (linked[0].target if linked else given).replace("\\", "/").rstrip("/").split("/")
    if names[0] in ("", "~") or names[0].endswith(":"):
        names = names[-1:]
    return [slug for name in names if (slug := _NOT_IN_A_SLUG.sub("-", name.strip().lower()).strip("-."))]


def _kept(note: Note, name: str, data: bytes) -> dict[str, Any]:
    kept: dict[str, Any] = {"path": name, "digest": source_digest(data).hex()}
    if note.parts.head:
        kept["head"] = note.parts.head
    if note.content != note.parts.body:
        kept["body"] = note.parts.body
    if note.body_tags:
        kept["body_tags"] = list(note.body_tags)
    return kept
