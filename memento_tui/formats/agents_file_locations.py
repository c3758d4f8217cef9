"""Say where the instruction files of a folder lie, and where a section stands in them.

Files are found by the names that hosts read, in hidden folders, and the rules of parts, whose frontmatter is read, and
changed where the memory of the rule contradicts it; Serena's notes have none. A section's place is kept in its memory's
``extra``, and checked by imports.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

import msgspec

from memento_tui.api.import_session import ImportSession
from memento_tui.api.types import ImportedRecord
from memento_tui.formats.base import ENDED_STATUSES, Refused, one_line
from memento_tui.formats.columns import Column, Fields, read_fields, record_fields, restore_row
from memento_tui.formats.frontmatter import dump_property, split_note
from memento_tui.formats.source_files import SourceFile, has_file, has_folder, walk_files, walk_folders
from memento_tui.model import AnyRecord, Memory
from memento_tui.model.validation import MAX_LINE_LENGTH

__all__ = [
    "CURSOR",
    "EXTRA_KEY",
    "FILE_NAMES",
    "SINGLE_FILES",
    "FilePlace",
    "KnownPlaces",
    "changed_head",
    "has_hidden",
    "hidden_files",
    "instruction_files",
    "is_file_name",
    "is_in",
    "is_named_so",
    "is_rule_folder",
    "is_spelled_so",
    "places_of",
    "reads_places",
    "rule_fields",
    "rule_kind",
    "settle_places",
]


class RuleKind(NamedTuple):
    """The rules of one host, or its agent's notes: each is a file of its own in a folder of the project."""

    folder: str
    suffix: str
    """The end of the files' names."""
    where: str
    """The property that names the files for which a rule holds; empty where the host writes no frontmatter."""
    form: Literal["bare", "quoted", "list"] = "bare"
    """How the host writes that property."""
    memory_kind: str = "instruction"
    """The kind of the memories that are made of it: an agent's own notes are no instructions."""


CURSOR = RuleKind(".cursor/rules", ".mdc", "globs", "bare")
_KINDS = (
    CURSOR,
    RuleKind(".windsurf/rules", ".md", "globs", "bare"),
    RuleKind(".github/instructions", ".instructions.md", "applyTo", "quoted"),
    RuleKind(".clinerules", ".md", "paths", "list"),
    RuleKind(".serena/memories", ".md", "", memory_kind="fact"),
)
SINGLE_FILES = (".cursorrules", ".windsurfrules", ".clinerules")
"""The files that hold all rules of a project, as Markdown without frontmatter."""


def rule_kind(path: str) -> RuleKind | None:
    """Return the kind of the rule that a file is, by its place in a project; ``None`` for any other file."""
    name = path.lower()
    return next(
        (
            kind
            for kind in _KINDS
            if name.endswith(kind.suffix) and (kind is CURSOR or f"/{kind.folder}/" in f"/{name}")
        ),
        None,
    )


_WHERE = "in files that match "
"""The beginning of the validity context of a rule that names files."""
_PROPERTY = re.compile(r"([A-Za-z]\w*)[ \t]*:")
_LIST_ITEM = re.compile(r"^[ \t]*-[ \t]+", re.MULTILINE)
_PATTERN = re.compile(r"""[ \t]*(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')[ \t]*(?=[,\n]|\Z)|(?:\{[^{}\n]*\}|[^,\n])+""")
"""A pattern of a list: what is quoted, or up to a comma or a line's end outside braces as those of ``*.{ts,tsx}``."""
_FOLDED = re.compile(r"[>|][+-]?[ \t]*\n")
"""The mark of a YAML text that takes several lines."""


def _read_description(value: object) -> Fields:
    title = one_line(_plain(value), MAX_LINE_LENGTH) if isinstance(value, str) else ""
    return {"title": title} if title else {}


def _plain(raw: str) -> str:
    """Return a written value without its quotes."""
    text = _FOLDED.sub("", raw.strip(), count=1).strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    return text


def _read_globs(value: object) -> Fields:
    patterns = _patterns(value) if isinstance(value, str) else ""
    return {"validity_context": one_line(_WHERE + patterns, MAX_LINE_LENGTH) if patterns else ""}


def _patterns(raw: str) -> str:
    """Return the patterns of a line, a list in brackets or a list of lines, with commas between them."""
    text = raw.strip()
    items = text[1:-1] if text[:1] == "[" and text[-1:] == "]" else _LIST_ITEM.sub("", text)
    if items == text and text.count(text[:1]) <= len("''"):
        items = _plain(text)
    parts = (_one_pattern(found[0]) for found in _PATTERN.finditer(items))
    return ", ".join(part for part in parts if part)


def _one_pattern(raw: str) -> str:
    """Return a pattern as it is written in a line: in quotes only where a comma would end it."""
    pattern = _plain(raw)
    first = _PATTERN.match(pattern)
    is_plain = not pattern or (first is not None and first.end() == len(pattern))
    return pattern if is_plain else json.dumps(pattern, ensure_ascii=False)


def _write_globs(fields: Fields, given: object) -> object:
    context = str(fields["validity_context"])
    # Any other sentence about where it holds has no place in the file, so the files that it names stay.
    return context.removeprefix(_WHERE) if context.startswith(_WHERE) else given if context else ""


def _columns(kind: RuleKind) -> tuple[Column, ...]:
    """Return the properties of a rule's frontmatter, each as it is written there."""
    if not kind.where:
        return ()

    def write_where(fields: Fields, given: object) -> object:
        value = _write_globs(fields, given)
        if value == given or not isinstance(value, str) or not value or kind.form == "bare":
            return value
        parts = [part for found in _PATTERN.finditer(value) if (part := _plain(found[0]))]
        # Within one text nothing keeps a comma from ending a pattern, so a list says it.
        is_list = kind.form == "list" or any(_one_pattern(part) != part for part in parts)
        return json.dumps(parts if is_list else ", ".join(parts), ensure_ascii=False)

    return (
        Column("description", _read_description, lambda fields, _: fields["title"]),
        Column(kind.where, _read_globs, write_where, is_optional=True),
    )


class _Place(NamedTuple):
    """A property of the frontmatter: its value as it is written, and its lines, from ``first`` to before ``end``."""

    raw: str
    first: int
    end: int


def _properties(yaml: str) -> dict[str, _Place]:
    """Return the properties by name. Their lines are often no YAML, such as ``globs: *.ts``, so they are not parsed."""
    found: dict[str, _Place] = {}
    name = ""
    for number, line in enumerate(yaml.replace("\r", "").split("\n")):
        if match := _PROPERTY.match(line):
            name = match[1]
            found[name] = _Place(line[match.end() :], number, number + 1)
        elif name and line.strip() and line[0] in " \t-":
            before = found[name]
            found[name] = _Place(f"{before.raw}\n{line}", before.first, number + 1)
    return found


def rule_fields(yaml: str, kind: RuleKind = CURSOR) -> dict[str, Any]:
    """Return the fields of a memory that the frontmatter of a rule gives: its title and where it holds."""
    return read_fields(_columns(kind), {name: place.raw for name, place in _properties(yaml).items()})


def changed_head(head: str, memory: Memory, title: str = "", kind: RuleKind = CURSOR) -> str:
    """Return the head of a rule file, with the properties changed that differ from its memory.

    ``title`` is the one that the rule was read with where it has no description: another one becomes its description.
    """
    parts = split_note(head)
    places = _properties(parts.yaml)
    given = {name: place.raw for name, place in places.items()}
    wanted = restore_row(_columns(kind), record_fields(memory), given)
    if kind.where and title and memory.title not in ("", title) and not given.get("description", "").strip():
        wanted["description"] = memory.title
    changes = {name: value for name, value in wanted.items() if value is not None and value != given.get(name)}
    if not changes:
        return head
    line_break = "\r\n" if "\r\n" in head + memory.content else "\n"
    if not parts.opening.strip("\ufeff"):
        bare = head.removeprefix("\ufeff")
        mark = head.removesuffix(bare)
        parts = split_note(f"{mark}---{line_break}---{line_break}{bare}")
    lines = parts.yaml.split("\n")
    known = sorted((name for name in changes if name in places), key=lambda name: places[name].first, reverse=True)
    for name in known:
        lines[places[name].first : places[name].end] = [_line(name, changes[name], line_break)]
    lines[-1:-1] = [_line(name, value, line_break) for name, value in changes.items() if name not in places]
    return parts.opening + "\n".join(lines) + parts.closing + parts.body


def _line(name: str, value: object, line_break: str) -> str:
    """Return the line of a property. A description is quoted where YAML needs it; any other comes as it is written."""
    written = dump_property(name, value) if name == "description" else f"{name}: {value}".rstrip() + "\n"
    return written.rstrip("\n") + line_break.removesuffix("\n")


FILE_NAMES = (
    *("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md"),
    *("agent.md", "codebuddy.md", "crush.md", "iflow.md", "qwen.md", "warp.md"),
)
"""The files that hosts read, in lower case."""
_HIDDEN_FILES = (".claude/CLAUDE.md", ".github/copilot-instructions.md", *SINGLE_FILES)
"""The hidden files of a project that hosts read."""
_RULE_FOLDERS = tuple(
    dict.fromkeys(
        str(place)
        for folder in (PurePosixPath(kind.folder) for kind in _KINDS)
        for place in (folder, *folder.parents[:-1])
    )
)
"""The folders of the hosts' rules in a project, and the hidden ones in which they lie."""
_MAX_PARTS_EXAMINED = 10_000
"""Folders of a project examined for a guess, so that a wrong path such as ``/`` is answered soon."""
_DEPENDENCIES = frozenset({"node_modules", "site-packages", "venv"})
"""Folders of other people's programs, whose instructions to agents are not about this project."""


def instruction_files(root: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files of instructions that ``root`` is or that lie below it, the hidden ones and rules last."""
    if is_rule_folder(root):
        yield from _rule_folder(root)
        return
    for file in walk_files(root, ".md"):
        folders = PurePosixPath(file.name if isinstance(file, SourceFile) else file.file).parts[:-1]
        if not _DEPENDENCIES.isdisjoint(folders):
            continue
        if isinstance(file, Refused) or root.is_file() or is_named_so(file.name):
            yield file
    yield from _hidden_files(root)
    yield from _rules_of_parts(root)


def is_spelled_so(name: str) -> bool:
    """Tell whether a file's name is one that hosts read, in their spelling: documents are called ``agent.md`` too."""
    return name.lower() in FILE_NAMES and name.partition(".")[0].isupper()


def is_named_so(path: str) -> bool:
    """Tell whether a file below a folder is one that hosts read; in the folder itself in any spelling.

    Hosts on a file system that ignores case read every spelling, and a person may have chosen another.
    """
    name = PurePosixPath(path).name
    return is_spelled_so(name) or (path == name and name.lower() in FILE_NAMES)


def has_hidden(folder: Path) -> bool:
    """Tell whether instructions lie in hidden files or folders of a project or its parts, or the folder is of rules."""
    return any(hidden_files(folder)) or is_rule_folder(folder) or any(_rules_of_parts(folder, _MAX_PARTS_EXAMINED))


def is_in(folder: Path) -> bool:
    """Tell whether instructions lie in a folder itself, or in its hidden files and folders."""
    return has_hidden(folder) or any(is_named_so(file.name) and file.is_file() for file in folder.iterdir())


def hidden_files(folder: Path) -> Iterator[SourceFile]:
    """Yield the files of instructions in the hidden folders of a project."""
    return (file for file in _hidden_files(folder) if isinstance(file, SourceFile))


def is_rule_folder(folder: Path) -> bool:
    """Tell whether a folder is the one of a project's rules for a host, or the hidden one in which that lies."""
    return any(_rule_folder(folder))


def _rule_folder(folder: Path) -> Iterator[SourceFile | Refused]:
    """Yield the instructions in a folder of a host's rules, or in the hidden one in which that lies; none in others."""
    place = folder.resolve()
    for name in _RULE_FOLDERS:
        parts = PurePosixPath(name).parts
        for file in _hidden_files(place.parents[len(parts) - 1]) if place.parts[-len(parts) :] == parts else ():
            if isinstance(file, Refused) and file.file.startswith(f"{name}/"):
                yield Refused(file.file.removeprefix(f"{name}/"), file.line, file.reason)
            elif isinstance(file, SourceFile) and file.name.startswith(f"{name}/"):
                yield SourceFile(file.path, file.name.removeprefix(f"{name}/"))


def _is_behind_link(root: Path, name: str) -> bool:
    """Tell whether a file or folder is a link, or in one below ``root``, which may be a link itself."""
    return any((root / part).is_symlink() for part in (PurePosixPath(name), *PurePosixPath(name).parents[:-1]))


def _hidden_files(root: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files in the hidden folders of a project, the rules of its hosts last."""
    for name in _HIDDEN_FILES if root.is_dir() else ():
        place = root / name
        if has_file(place) and not _is_behind_link(root, name):
            yield SourceFile(str(place.resolve()), name)
    yield from _rules_of(root, "")


def _rules_of(root: Path, below: str) -> Iterator[SourceFile | Refused]:
    """Yield the rules of all hosts that are kept in one folder; ``below`` is its name and a slash, or empty."""
    for kind in _KINDS:
        name = f"{below}{kind.folder}"
        is_there = has_folder(root / name) and not _is_behind_link(root, name)
        for rule in walk_files(root / name, kind.suffix) if is_there else ():
            if isinstance(rule, Refused):
                yield Refused(f"{name}/{rule.file}", rule.line, rule.reason)
            else:
                yield SourceFile(rule.path, f"{name}/{rule.name}")


def _rules_of_parts(root: Path, most: int | None = None) -> Iterator[SourceFile | Refused]:
    """Yield the rules of all hosts that are kept in the parts of a project, or in the first ``most`` folders of it."""
    for folder in itertools.islice(walk_folders(root, _DEPENDENCIES), most):
        yield from _rules_of(root, f"{folder}/")


EXTRA_KEY = "agents_file"
"""The part of ``extra`` that holds the places."""


class FilePlace(msgspec.Struct, frozen=True, omit_defaults=True):
    """The place of a section in a file, and the data of it that is kept beside its text."""

    path: str = ""
    place: int = 0
    """The number of the section in its file, counted from 0."""
    before: str = ""
    after: str = ""
    digest: str = ""
    """The digest of the whole file, so that a change anywhere in it updates the place of every section."""
    title: str = ""
    """The title of a rule whose frontmatter gives none."""
    rules: str = ""
    """The folder of a host's rules in which the file lies, where ``path`` begins below it."""
    also: tuple[FilePlace, ...] = ()
    """The places of the same section in other files of the project."""

    @property
    def rule_kind(self) -> RuleKind | None:
        """The kind of the rule that it is, which is a file of its own; ``None`` for a section."""
        return rule_kind(f"{self.rules}/{self.path}")


def places_of(extra: Mapping[str, Any]) -> tuple[FilePlace, ...]:
    """Return the places of a section, checked, because agents write to the database; none where one is not usable."""
    try:
        kept = msgspec.convert(extra.get(EXTRA_KEY), FilePlace)
    except msgspec.ValidationError:
        return ()
    places = (msgspec.structs.replace(kept, also=()), *kept.also)
    return places if all(_is_safe(place.path) for place in places) else ()


def _with_places(memory: Memory, places: Sequence[FilePlace]) -> Memory:
    """Return a memory with these places, and no other."""
    extra = {name: value for name, value in memory.extra.items() if name != EXTRA_KEY}
    if places:
        extra[EXTRA_KEY] = msgspec.to_builtins(msgspec.structs.replace(places[0], also=tuple(places[1:])))
    return msgspec.structs.replace(memory, extra=extra)


def is_file_name(name: str) -> bool:
    """Tell whether a file of this name may hold instructions."""
    return name.lower().endswith((".md", CURSOR.suffix)) or name in SINGLE_FILES


def _is_safe(path: str) -> bool:
    names = PurePosixPath(path).parts
    is_inside = names and ".." not in names and not path.startswith("/") and is_file_name(names[-1])
    return bool(is_inside) and path.isprintable()


_FORMATS = ("agents-file", "agents-block")
"""The formats that read sections."""


class KnownPlaces:
    """The places that imports of files of instructions gave to memories, for one export."""

    def __init__(self, session: ImportSession) -> None:
        self.passed_over = 0
        """How many memories named a place that no import gave them."""
        self._known: dict[str, set[FilePlace]] = {}
        for row in session.ledger.of_formats(_FORMATS):
            self._known.setdefault(row.record_id, set()).update(_places_in_source(session, row))

    def only_known(self, record: AnyRecord) -> AnyRecord:
        """Return a record with those of its places that an import of the file gave it; agents may name any."""
        if not isinstance(record, Memory) or not (places := places_of(record.extra)):
            return record
        known = self._known.get(record.id, set())
        kept = [place for place in places if place in known]
        if len(kept) == len(places):
            return record
        self.passed_over += record.status not in ENDED_STATUSES
        return _with_places(record, kept)

    def notices(self) -> tuple[str, ...]:
        """Return a sentence about the passed-over files, if there are any."""
        if not self.passed_over:
            return ()
        one = self.passed_over == 1
        names, them = ("memory names", "it") if one else ("memories name", "them")
        given = f"{self.passed_over} {names} a place in a file that the last import of that file did not give {them}"
        return (f"{given}, and {'is' if one else 'are'} not written there. Import the file first.",)


def reads_places(source: str) -> bool:
    """Tell whether a source of the ledger is one of files of instructions."""
    return source.partition(":")[0] in _FORMATS


class _Settlement(msgspec.Struct, frozen=True):
    """The changes for those sections of a source whose key was not found in it when it was read again."""

    keys: list[str]
    """The keys that leave the ledger."""
    memories: list[Memory]
    """The memories with the places that they have now."""


def settle_places(
    session: ImportSession,
    source: str,
    ledger: Mapping[str, ImportedRecord],
    seen: Mapping[str, tuple[FilePlace, ...]],
) -> _Settlement:
    """Return the places to take from memories because another memory has them now, or they are gone.

    ``seen`` has the places that the sections of the source have now, by their keys in the ledger. A section gets
    another key where the first of the files that hold it changes.
    """
    taken = {_identity(place) for places in seen.values() for place in places}
    present: dict[str, list[ImportedRecord]] = {}
    for key in seen:
        if key in ledger:
            present.setdefault(ledger[key].record_id, []).append(ledger[key])
    dropped: dict[str, Memory] = {}
    for key, row in ledger.items():
        if row.record != "memory" or key in seen:
            continue
        is_taken = any(_identity(place) in taken for place in _places_in_source(session, row))
        memory = session.find(row.record_id) if is_taken or row.record_id in present else None
        if memory is not None and memory.status not in ENDED_STATUSES:
            dropped[key] = memory
    elsewhere = session.ledger.of_others(source) if dropped else {}
    changed: dict[str, Memory] = {}
    for memory in dropped.values():
        if memory.id in present or ("memory", memory.id) not in elsewhere:
            settled = _settled(session, memory, present.get(memory.id, ()))
            changed |= {memory.id: settled} if settled != memory else {}
    return _Settlement(list(dropped), list(changed.values()))


def _settled(session: ImportSession, memory: Memory, rows: Iterable[ImportedRecord]) -> Memory:
    """Return a memory with the places that it has in its source now; without any where it is not in it."""
    now = [found for row in rows if (found := _memory_in_source(session, row)) is not None]
    own = places_of(memory.extra)
    # A change of the text that waits for a person moves nothing before the decision.
    if any(found.content != memory.content or places_of(found.extra) == own for found in now):
        return memory
    return _with_places(memory, places_of(now[0].extra) if now else ())


def _identity(place: FilePlace) -> tuple[str, int, str]:
    return place.path, place.place, place.digest


def _places_in_source(session: ImportSession, row: ImportedRecord) -> Iterator[FilePlace]:
    found = _memory_in_source(session, row)
    for place in places_of(found.extra) if found is not None else ():
        yield msgspec.structs.replace(place, also=())


def _memory_in_source(session: ImportSession, row: ImportedRecord) -> Memory | None:
    found = session.ledger.in_source(row)
    return found if isinstance(found, Memory) else None
