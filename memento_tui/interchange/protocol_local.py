"""The local files of Memento Protocol: ``.memento/`` with ``working-memory.md``, ``memories/``, ``items/`` and skips.

A folder that is given by itself, or that holds ``.memento``, is the workspace ``default``. In any other folder every
``.memento`` below it is a workspace by the name of the path to it.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.incoming import Incoming, RecordName, Refused, source_digest
from memento_tui.interchange.names import namespace_of as namespace_of_parts
from memento_tui.interchange.protocol_columns import KEPT, listed
from memento_tui.interchange.protocol_document import HEAD, blocks
from memento_tui.interchange.protocol_files import FILE, ITEM, LINKS, MEMORY, SKIP, decoded, is_in_order, kept_text
from memento_tui.interchange.protocol_model import section_key
from memento_tui.interchange.protocol_records import At, Links, Place, each_once, item, memory, section, skip
from memento_tui.interchange.tree import SourceFile, decode_text, load, walk

__all__ = ["DOCUMENT", "FOLDER", "SKIPS", "count", "is_workspace", "read", "workspaces"]

FOLDER = ".memento"
DOCUMENT = "working-memory.md"
SKIPS = "skip-index.json"
_SUFFIX = ".json"

_LARGEST = 16 * 1024 * 1024
"""Bytes of one file."""
_MOST_FOLDERS = 100_000
"""Folders looked into for workspaces, so that a wrong path such as ``/`` comes to an end."""


def is_workspace(folder: Path) -> bool:
    """Tell whether a folder has the files of a workspace."""
    if (folder / DOCUMENT).is_file() or (folder / SKIPS).is_file():
        return True
    return any(next(_json_files(folder / name), None) is not None for name in ("memories", "items"))


def _json_files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.glob(f"*{_SUFFIX}") if path.is_file())
    except OSError:
        return  # reading it reports the reason


def workspaces(root: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """Yield the folders of workspaces with their names, which are empty for the one that is ``root`` itself.

    Raises:
        InvalidInput: there is no folder at ``root``.

    """
    if not root.is_dir():
        raise InvalidInput(f"{root} is no folder.", f"Name the folder {FOLDER}, or one that holds such folders.")
    for folder in (root, root / FOLDER):
        if is_workspace(folder):
            yield folder, PurePosixPath()
            return
    waiting = deque([PurePosixPath()])
    looked = 0
    while waiting and looked < _MOST_FOLDERS:
        name = waiting.popleft()
        looked += 1
        try:
            with os.scandir(root / name) as listing:
                below = sorted(entry.name for entry in listing if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue  # nothing can be read there; what lies beside it can
        if FOLDER in below and is_workspace(root / name / FOLDER):
            yield root / name / FOLDER, name
        waiting.extend(name / one for one in below if one != FOLDER)


def count(root: Path) -> int:
    """Return the number of files."""
    return sum(1 for folder, _ in workspaces(root) for _ in _files(folder))


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield what the workspaces hold. Every file is read twice, so that what is held at a time are ids and not texts.

    Raises:
        InvalidInput: there is no folder at ``root``, or no workspace in it.

    """
    found = list(workspaces(root))
    if not found:
        raise InvalidInput(f"{root} holds no files of Memento Protocol.", f"Name the folder {FOLDER}.")
    return each_once(_read(found))


def _read(found: list[tuple[Path, PurePosixPath]]) -> Iterator[Incoming | Refused]:
    used: Counter[tuple[RecordName, str]] = Counter()
    made_from: dict[Path, dict[str, list[str]]] = {}
    for folder, _ in found:
        ids, made_from[folder] = _survey(folder)
        used.update(ids)
    shared = frozenset(one for one, times in used.items() if times > 1)
    for folder, name in found:
        own = str(name) in (".", "default")
        place = Place(
            namespace="global" if own else namespace_of_parts(name.parts),
            prefix="" if len(found) == 1 and str(name) == "." else f"{name}/",
            shared=shared,
            made_from=made_from[folder],
            form=FILE,
        )
        shown = "" if str(name) == "." else f"{name}/{FOLDER}/"
        for one in _files(folder):
            yield from _of_file(place, one, shown) if isinstance(one, SourceFile) else [one]


def _files(folder: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files of a workspace, named from its folder on."""
    for name in ("memories", "items"):
        if (folder / name).is_dir():
            for found in walk(folder / name, _SUFFIX, hidden=True):
                if isinstance(found, Refused):
                    yield Refused(f"{name}/{found.file}", found.line, found.reason)
                else:
                    yield SourceFile(found.path, f"{name}/{found.name}")
    for name in (SKIPS, DOCUMENT):
        if (folder / name).is_file():
            yield SourceFile(str(folder / name), name)


def _survey(folder: Path) -> tuple[set[tuple[RecordName, str]], dict[str, list[str]]]:
    """Return the ids that a workspace uses, and which memories were consolidated into which."""
    ids: set[tuple[RecordName, str]] = set()
    made_from: dict[str, list[str]] = {}
    for file in _files(folder):
        if isinstance(file, Refused) or file.name == DOCUMENT:
            continue
        for value in _objects(file):
            identity, into = value.get("id"), value.get("consolidated_into")
            if isinstance(identity, str):
                ids.add((_record(file.name), identity))
                if isinstance(into, str):
                    made_from.setdefault(into, []).append(identity)
    return ids, made_from


def _objects(file: SourceFile) -> list[dict[str, Any]]:
    """Return the objects of a JSON file; none where it cannot be read, which `_of_file` says."""
    read = _value(file, file.name)
    value = [] if isinstance(read, Refused) else read[0]
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _record(name: str) -> RecordName:
    return "skip" if name == SKIPS else "memory" if name.startswith("memories/") else "item"


def _value(file: SourceFile, shown: str) -> tuple[Any, str] | Refused:
    """Return the value of a JSON file, and its text."""
    text = _text(file, shown)
    if isinstance(text, Refused):
        return text
    try:
        return decoded(text), text
    except ValueError as error:
        return Refused(shown, 0, f"is not whole JSON: {error}")


def _text(file: SourceFile, shown: str) -> str | Refused:
    loaded = load(file, _LARGEST)
    if isinstance(loaded, Refused):
        return Refused(shown, loaded.line, loaded.reason)
    return decode_text(loaded.data, shown)


def _of_file(place: Place, file: SourceFile, above: str) -> Iterator[Incoming | Refused]:
    shown = above + file.name
    if file.name == DOCUMENT:
        text = _text(file, shown)
        yield from [text] if isinstance(text, Refused) else _sections(place, text, shown)
        return
    read = _value(file, shown)
    if isinstance(read, Refused):
        yield read
        return
    value, text = read
    if file.name == SKIPS:
        yield from _skips(place, value, text, shown)
    elif not isinstance(value, dict):
        yield Refused(shown, 1, "is not an object with fields")
    else:
        at = At(shown, 1, source_digest(text.encode()))
        columns, make = (MEMORY, _memory) if file.name.startswith("memories/") else (ITEM, _item)
        beside: dict[str, Any] = kept_text(columns, value, text)
        if file.name.partition("/")[2] != f"{value.get('id')}{_SUFFIX}":
            beside["name"] = file.name.partition("/")[2]
        yield _keeping(make(place, value, at), beside)


def _memory(place: Place, value: dict[str, Any], at: At) -> Incoming | Refused:
    own = {name: given for name, given in value.items() if name not in LINKS}
    sources = [one for one in listed(value.get("consolidated_from")) if isinstance(one, str)]
    kept = {name: value[name] for name in LINKS if name in value}
    return memory(place, MEMORY, own, at, Links(linkages=listed(value.get("linkages")), sources=sources, kept=kept))


def _item(place: Place, value: dict[str, Any], at: At) -> Incoming | Refused:
    return item(place, ITEM, value, at)


def _skips(place: Place, value: object, text: str, shown: str) -> Iterator[Incoming | Refused]:
    if not isinstance(value, list):
        yield Refused(shown, 1, "is not a list of skips")
        return
    nth = 0
    for entry, line in zip(value, _lines_of(text), strict=False):
        if not isinstance(entry, dict):
            yield Refused(shown, line, "is not an object with fields")
            continue
        at = At(shown, line, source_digest(msgspec.json.encode(entry, order="sorted")))
        beside = {"nth": nth} if is_in_order(SKIP, entry) else {"nth": nth, "order": list(entry)}
        found = _keeping(skip(place, SKIP, entry, at, "expires"), beside)
        nth += isinstance(found, Incoming)
        yield found


def _lines_of(text: str) -> Iterator[int]:
    """Yield the line on which each element of a JSON list begins, then the last of them for ever."""
    decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode
    position, line, counted = text.index("[") + 1, 1, 0
    try:
        while True:
            while text[position] in " \t\r\n,":
                position += 1
            _, end = decode(text, position)
            line += text.count("\n", counted, position)
            yield line
            counted, position = position, end
    except (ValueError, RecursionError):  # the end of the list, or what only the other decoder reads
        yield from itertools.repeat(line)


def _sections(place: Place, text: str, shown: str) -> Iterator[Incoming | Refused]:
    used: Counter[str] = Counter()
    for nth, block in enumerate(blocks(text)):
        if block.text in (HEAD, f"{HEAD}\n"):
            continue
        kept = {"heading": block.heading, "lead": block.lead, "tail": block.tail, "nth": nth}
        key = section_key(block.title) if block.heading else ""
        used[key] += 1
        key += f"~{used[key]}" if used[key] > 1 else ""
        at = At(shown, block.line, source_digest(block.text.encode()))
        title = block.title if block.heading else "Working Memory"
        yield section(place, key, title, block.content, place.kept(kept), at, name=key or DOCUMENT)


def _keeping(found: Incoming | Refused, values: dict[str, Any]) -> Incoming | Refused:
    """Return a record that keeps something more of its file."""
    if isinstance(found, Incoming) and values:
        extra = found.fields.setdefault("extra", {})
        extra.setdefault(KEPT, {}).setdefault(FILE, {}).update(values)
    return found
