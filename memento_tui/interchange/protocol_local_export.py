"""Records as the local files of Memento Protocol: ``<workspace>/.memento/``."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from memento_tui.errors import InvalidInput
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.protocol_columns import ENDLESS, listed, row_of
from memento_tui.interchange.protocol_document import HEAD, Block, document
from memento_tui.interchange.protocol_files import FILE, ITEM, MEMORY, SKIP, as_text, decoded
from memento_tui.interchange.protocol_linkages import linkages_of, links_of, merged
from memento_tui.interchange.protocol_local import DOCUMENT, FOLDER, SKIPS
from memento_tui.interchange.protocol_model import SECTION, SECTIONS
from memento_tui.interchange.protocol_outgoing import Departing, DepartingMemory, Workspace, parted

__all__ = ["write"]

_FROM = "consolidated_from"
_SUFFIX = ".json"
_LONGEST_NAME = 200
"""Bytes of a file's name, with room for what an operating system or a sync adds."""

_File = tuple[PurePosixPath, str]
"""A file's path from the workspace's folder on, and its text."""


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write ``root/<workspace>/.memento/`` for every workspace that there is.

    The format has no place for trust, titles, identity crystals and memories that nobody has approved. What is
    superseded or archived here is not recalled there either.

    Raises:
        InvalidInput: one of the folders is there already, or cannot be written.

    """
    workspaces = parted(records, FILE)
    folders = {root / name / FOLDER: workspace for name, workspace in workspaces.by_name.items()}
    for folder in folders:
        if folder.exists():
            raise InvalidInput(f"{folder} is there already.", "Choose an empty folder.")
    files = left_out = written = 0
    for folder, workspace in folders.items():
        keepers = [item for item in workspace.items if "rows" in item.kept]
        left_out += len(workspace.crystals) + len(keepers)
        written += len(workspace.memories) + len(workspace.skips) + len(workspace.items) - len(keepers)
        for name, text in _files(workspace):
            path = folder / name
            try:
                put_in_place(path, [text.encode("utf-8", "backslashreplace")])
            except OSError as error:
                raise cannot_write(path, error) from error
            files += 1
    return Written(records=written + workspaces.relations, files=files, left_out=workspaces.left_out + left_out)


def _files(workspace: Workspace) -> Iterator[_File]:
    used: set[PurePosixPath] = set()
    for memory in workspace.memories.values():
        yield _path("memories", memory, used), _spelled(_memory(memory, workspace), memory.kept)
    skips = list(workspace.skips)
    sections: list[Departing] = []
    for item in workspace.items:
        if "rows" in item.kept:
            continue
        if item.kept.get("table") == "skip_list":
            skips += [_as_skip(item)] if item.fields["status"] == "active" else []
        elif item.kept.get("heading") is not None or item.fields["extra"].get(SECTION):
            sections.append(item)
        else:
            yield _path("items", item, used), _spelled(row_of(ITEM, item.fields, item.kept), item.kept)
    yield PurePosixPath(SKIPS), as_text([_entry(skip) for skip in sorted(skips, key=_place)])
    sections.sort(key=_place)
    # The first block that was read has the number 0: it is the head, or a section of a document without one.
    has_own_start = bool(sections) and _place(sections[0]) == 0
    yield PurePosixPath(DOCUMENT), document(map(_block, sections), "" if has_own_start else HEAD)


def _place(record: Departing) -> float:
    nth = record.kept.get("nth")
    return nth if isinstance(nth, int) else float("inf")


def _as_skip(item: Departing) -> Departing:
    fields = {**item.fields, "item": item.fields["title"], "reason": item.fields["content"], "expires_at": None}
    return Departing(fields=fields, kept=item.kept)


def _entry(skip: Departing) -> dict[str, Any]:
    """Return the entry of a skip; one without an end that came from elsewhere is written as this format has them."""
    kept = skip.kept
    row = row_of(SKIP, skip.fields, kept)
    order = kept.get("order")
    if isinstance(order, list):
        return {**{name: row[name] for name in order if isinstance(name, str) and name in row}, **row}
    return row if "nth" in kept or row["expires"] is not None else {**row, "expires": ENDLESS}


def _memory(memory: DepartingMemory, workspace: Workspace) -> dict[str, Any]:
    """Return the object of a memory; it has no field for links that there are none of, unless it came with it."""
    fields, kept, present = memory.fields, memory.kept, workspace.others(memory.fields["id"])
    given, linkages = listed(kept.get("consolidated_from")), listed(kept.get("linkages"))
    told = {*workspace.told_to(fields["id"]), *(end for kind, end, _ in links_of(linkages, (), "") if kind == _FROM)}
    sources = [one for one in memory.made_from if one in given or one not in told]
    links = {
        "consolidated_into": workspace.into(memory),
        "consolidated_from": merged(given, sources, present),
        "linkages": linkages_of(linkages, memory.arrows, present, memory.made_from),
    }
    row = row_of(MEMORY, fields, kept)
    for name, value in links.items():
        if name in kept and (kept[name] == value or listed(kept[name]) == value):
            row[name] = kept[name]
        elif value:
            row[name] = value
    return row


def _spelled(value: dict[str, Any], kept: Mapping[str, Any]) -> str:
    """Return the text of an object: the one it was read from, if that still says the same."""
    text = kept.get("text")
    try:
        return text if isinstance(text, str) and decoded(text) == value else as_text(value)
    except ValueError:
        return as_text(value)


def _path(folder: str, record: Departing, used: set[PurePosixPath]) -> PurePosixPath:
    """Return the file of a record: the one that it came from, or one by its id."""
    identity = str(record.fields["id"])
    written = record.kept.get("name")
    name = PurePosixPath(written if isinstance(written, str) else quote(identity, safe=" @+=,~") + _SUFFIX)
    is_inside = not name.is_absolute() and ".." not in name.parts and "\x00" not in str(name)
    is_usable = is_inside and name.suffix == _SUFFIX and len(name.name.encode()) <= _LONGEST_NAME
    digest = hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()
    others = (PurePosixPath(f"{digest}{'~' * again}{_SUFFIX}") for again in itertools.count())
    candidates = itertools.chain([name] if is_usable else [], others)
    name = next(one for one in candidates if folder / one not in used)
    used.add(folder / name)
    return folder / name


def _block(item: Departing) -> Block | tuple[str, str]:
    parts = [item.kept.get(name) for name in ("heading", "lead", "tail")]
    title, content = item.fields["title"], item.fields["content"]
    if not all(isinstance(part, str) for part in parts):
        key = item.fields["extra"].get(SECTION)
        return SECTIONS.get(str(key), title) if title == key else title, content
    heading, lead, tail = (str(part) for part in parts)
    block = Block(heading, lead, content, tail)
    return block if not heading or block.title == title else block._replace(heading=f"## {title}\n")
