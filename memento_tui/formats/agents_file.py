"""Read and write instruction files for agents (CLAUDE.md, AGENTS.md, GEMINI.md), one memory a section.

A section that several files of one project hold word for word is one memory, which keeps its place in each of them.
The rules of Cursor, Windsurf, Copilot and Cline are instructions as well, one memory a file, and so are read the notes
that Serena keeps in a project, which are facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidInput
from memento_tui.formats import agents_file_locations
from memento_tui.formats.agents_file_locations import (
    EXTRA_KEY,
    FILE_NAMES,
    FilePlace,
    instruction_files,
    is_file_name,
    is_rule_folder,
    places_of,
)
from memento_tui.formats.base import (
    ENDED_STATUSES,
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    namespace_from_parts,
    one_line,
    project_of_hidden,
    read_existing,
    replace_if_unchanged,
    source_digest,
    write_atomically,
    write_error,
)
from memento_tui.formats.frontmatter import split_note
from memento_tui.formats.source_files import (
    LoadedFile,
    SourceFile,
    decode_text,
    has_folder,
    load_file,
)
from memento_tui.model import Memory
from memento_tui.model.validation import MAX_CONTENT_BYTES, MAX_LINE_LENGTH
from memento_tui.text.markdown import parse_heading, without_fences

__all__ = [
    "BLOCK_BEGIN",
    "BLOCK_END",
    "BLOCK_FORMAT",
    "FORMAT",
    "count",
    "parse_sections",
    "read",
    "write",
    "write_block",
]

BLOCK_BEGIN, BLOCK_END = "<!-- memento:begin -->", "<!-- memento:end -->"

_MAX_SECTION_LEVEL = 3
_MAX_FILE_BYTES = 4_000_000
"""Bytes; hosts warn at a hundredth of it."""
_BYTE_ORDER_MARK = "\ufeff"
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w]+")


class Section(msgspec.Struct, frozen=True):
    """One section of a file. All of them, as ``before + text + after``, are the file."""

    names: tuple[str, ...]
    """The headings above it, its own included."""
    text: str
    before: str
    after: str
    line: int
    """The line at which its text begins, counted from 1."""


class _Found(msgspec.Struct, frozen=True):
    """One section or rule of one file."""

    key: str
    names: tuple[str, ...]
    """The headings that are its title; none where that is the name of its file."""
    fields: dict[str, Any]
    kept: FilePlace
    file: LoadedFile
    line: int


def count(root: Path) -> int:
    """Return the number of files, without opening one."""
    return sum(isinstance(file, SourceFile) for file in instruction_files(root))


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the sections of one file, whatever its name, or of the files that hosts read below a folder.

    The namespace is ``projects/<folder>``; of a file in a hidden folder that of the project whose folder it is, and of
    one in the home directory, such as ``~/.claude``, ``global``. A section that several files of one namespace hold
    is yielded once, with its place in each of them.

    Raises:
        InvalidInput: there is nothing at ``root``, or no such file.

    """
    has_file = False
    top = root.resolve() if root.is_dir() else root.resolve().parent
    same: dict[tuple[object, ...], list[_Found]] = {}
    for file in instruction_files(root):
        has_file = True
        in_this_file: dict[tuple[object, ...], int] = {}
        for found in [file] if isinstance(file, Refused) else _read_file(file, top):
            if isinstance(found, Refused):
                yield found
                continue
            fields, is_rule = found.fields, found.kept.rule_kind is not None
            said = _rule_text(found) if is_rule else None
            text = (fields["namespace"], fields["kind"], found.names, fields["content"], said)
            nth = in_this_file[text] = in_this_file.get(text, 0) + 1
            same.setdefault((*text, nth), []).append(found)
    if not has_file:
        raise InvalidInput(f"There is no file of instructions in {root}.", "Name a CLAUDE.md or AGENTS.md.")
    for places in same.values():
        yield _record(*places)


def _rule_text(found: _Found) -> str:
    """Return a rule's fields besides its text as a string: its title, unless that is its file's name, and its scope."""
    left_out = {"content", "created_at", *(["title"] if found.kept.title else [])}
    return repr(sorted((name, value) for name, value in found.fields.items() if name not in left_out))


def _record(first: _Found, *others: _Found) -> ImportRecord:
    """Return the record of a section that one file or several hold."""
    source = f"{first.kept.place}\x00{first.fields['content']}".encode() + first.file.data
    for other in others:
        source += f"\x00{other.kept.path}\x00{other.kept.place}".encode() + other.file.data
    title = str(first.fields["title"])
    also = (  # what has no title of its own is read with the one that its memory gets
        msgspec.structs.replace(other.kept, title=title) if other.kept.title else other.kept for other in others
    )
    kept = msgspec.structs.replace(first.kept, also=tuple(also))
    return ImportRecord(
        key=first.key,
        record="memory",
        fields={**first.fields, "extra": {EXTRA_KEY: msgspec.to_builtins(kept)}},
        digest=source_digest(source),
        file=first.kept.path,
        line=first.line,
    )


def _read_file(file: SourceFile, top: Path) -> Iterator[_Found | Refused]:
    loaded = load_file(file, _MAX_FILE_BYTES)
    if isinstance(loaded, Refused):
        yield loaded
        return
    text = decode_text(loaded.data, file.name)
    if isinstance(text, Refused):
        yield text
        return
    named = agents_file_locations.rule_kind(file.name)
    kind = named or agents_file_locations.rule_kind(file.path)
    is_rule = kind is not None
    rules = kind.folder if kind is not None and named is None else ""
    parts = [rule] if is_rule and (rule := _parse_rule(text)) else [] if is_rule else parse_sections(text)
    if not parts:
        yield Refused(file.name, 0, f"holds no text below {'its frontmatter' if is_rule else 'a heading'}")
    used: dict[str, int] = {}
    namespace = _namespace(top, file.name, is_rule=is_rule)
    for place, part in enumerate(parts):
        anchor = _NOT_IN_AN_ANCHOR.sub("-", " ".join(part.names).lower()).strip("-") or "start"
        used[anchor] = times = used.get(anchor, 0) + 1
        if len(part.text.encode()) > MAX_CONTENT_BYTES:
            yield Refused(file.name, part.line, f"has a section of more than {MAX_CONTENT_BYTES:,} bytes")
            continue
        names = _title_names(part)
        fields = {
            "content": part.text,
            "title": one_line(" / ".join(names) or PurePosixPath(file.name).name, MAX_LINE_LENGTH),
            "kind": "instruction" if kind is None else kind.memory_kind,
            "namespace": namespace,
            "created_at": loaded.modified,
        }
        own_title = ""
        if kind is not None:
            given = agents_file_locations.rule_fields(split_note(part.before).yaml, kind)
            own_title = "" if "title" in given else str(fields["title"])
            fields |= given
        yield _Found(
            key=file.name if is_rule else f"{file.name}#{anchor}" + (f"~{times}" if times > 1 else ""),
            names=names,
            fields=fields,
            kept=FilePlace(
                file.name, place, part.before, part.after, source_digest(loaded.data).hex(), own_title, rules
            ),
            file=loaded,
            line=part.line,
        )


def _parse_rule(text: str) -> Section | None:
    """Return the text of a rules file as one section; ``None`` where it holds no text."""
    note = split_note(text)
    lead, words, after = _without_space(note.body)
    heading = parse_heading(words.split("\n", 1)[0])
    before = note.head + lead
    return Section((heading[1],) if heading else (), words, before, after, before.count("\n") + 1) if words else None


def _namespace(top: Path, name: str, *, is_rule: bool) -> str:
    folder = (top / name).parent
    if is_rule:
        folder = next((above for above in (folder, *folder.parents) if above.name.startswith(".")), folder)
        if folder.parent != top and folder.is_relative_to(top):
            folder = folder.parent  # a part of the project, as for a CLAUDE.md that lies there
    hidden = top if top.name.startswith(".") else folder
    if hidden.name.startswith("."):
        project = project_of_hidden(hidden)
        return namespace_from_parts(["projects", project]) if project else "global"
    return namespace_from_parts(["projects", top.name or "root", *folder.parts[len(top.parts) :]])


def _title_names(part: Section) -> tuple[str, ...]:
    # The heading of level 1 is the file's title: it names its own section and is left out of the others.
    return tuple(name for name in (part.names[1:] if len(part.names) > 1 else part.names) if name)


def parse_sections(text: str) -> list[Section]:
    """Return the sections of a text in their order; none where it holds no text but headings."""
    sections: list[Section] = []
    before, line = "", 1
    for names, part in _parts(text):
        lead, words, rest = _without_space(part)
        if names is None or not _has_words(words):
            before += part
        else:
            start = line + lead.count("\n")
            sections.append(Section(names, words, before + lead, rest, start))
            before = ""
        line += part.count("\n")
    if before and sections:
        last = sections[-1]
        sections[-1] = msgspec.structs.replace(last, after=last.after + before)
    return sections


def _without_space(text: str) -> tuple[str, str, str]:
    """Split a text into the white space before its words, the words, and the white space after them.

    The mark of the byte order with which a file may begin is none of its words.
    """
    begun = text.lstrip().removeprefix(_BYTE_ORDER_MARK).lstrip()
    words = begun.rstrip()
    return text[: len(text) - len(begun)], words, begun[len(words) :]


def _has_words(words: str) -> bool:
    lines = words.splitlines()
    own = lines[1:] if lines and parse_heading(lines[0]) is not None else lines
    return any(line.strip(f"{_BYTE_ORDER_MARK} \t") for line in own)


def _parts(text: str) -> Iterator[tuple[tuple[str, ...] | None, str]]:
    """Yield the parts of a text, each with the headings above it; ``None`` marks a managed block."""
    lines = text.split("\n")
    bare = without_fences(text).split("\n")
    above: list[tuple[int, str]] = []
    own: list[str] = []
    names: tuple[str, ...] | None = ()
    inside = False
    for number, (line, open_line) in enumerate(zip(lines, bare, strict=True)):
        whole = line if number == len(lines) - 1 else line + "\n"
        level = _heading_of(open_line)
        if inside or open_line.strip() == BLOCK_BEGIN:
            if not inside:
                yield names, "".join(own)
                own, inside = [], True
            own.append(whole)
            if open_line.strip() == BLOCK_END:
                yield None, "".join(own)
                own, inside = [], False
            continue
        if level is not None:
            yield names, "".join(own)
            own = []
            above = [(depth, name) for depth, name in above if depth < level[0]] + [level]
            names = tuple(name for _, name in above)
        own.append(whole)
    yield None if inside else names, "".join(own)


def _heading_of(line: str) -> tuple[int, str] | None:
    found = parse_heading(line.removeprefix(_BYTE_ORDER_MARK))
    return found if found is not None and found[0] <= _MAX_SECTION_LEVEL else None


def write(records: Iterable[ExportRecord], path: Path) -> ExportReport:
    """Write the files that sections were read from, below a folder, or the one of them that ``path`` is.

    A file that is there is replaced only while it holds the very bytes that were read. A section of it that no memory
    stands for, such as one that an import refused, or whose text waits for a person, stays as it is in the file.
    """
    files: dict[str, list[_Part]] = {}
    seen: set[str] = set()
    left_out = waiting = 0
    for record in records:
        places = places_of(record.extra) if isinstance(record, Memory) else ()
        if places and isinstance(record, Memory) and record.status == "pending":
            waiting += 1
            places = ()
        for kept in places:
            files.setdefault(kept.path, []).append((kept, record))  # type: ignore[arg-type]  # only memories have some
        left_out += not places
        seen.update([record.id] if places else [])
    is_file = is_file_name(path.name) and not has_folder(path)
    if is_file and len(files) > 1:
        files = {_file_of(files, path): files[_file_of(files, path)]}
    refused: list[Refused] = []
    notices = [_waiting_notice(waiting)] if waiting else []
    there_before = {name for name in files if (path if is_file else path / name).exists()}
    present: set[str] = set()
    counted: set[str] = set()
    written = 0
    for name, parts in sorted(files.items()):
        target = path if is_file else path / name
        there = read_existing(target)
        digest = _last_read_digest(parts, there)
        # A section with another digest was no longer there when the file was read last.
        current = sorted((part for part in parts if part[0].digest == digest), key=_position)
        present.update(memory.id for _, memory in current)
        text, stay = _whole_text(current, there if source_digest(there).hex() == digest else b"")
        top = path.parent if target == path else path
        outcome = replace_if_unchanged(target, top, name, text.encode(errors="surrogateescape"), digest)
        if isinstance(outcome, Refused):
            refused.append(outcome)
            continue
        written += outcome
        counted.update(memory.id for _, memory in current if memory.status not in ENDED_STATUSES)
        notices += _rival_notices(name, current)
        if there_before and name not in there_before:
            notices.append(f"{name} was not there any more, and was written again with what it held when it was read.")
        if stay:
            notices.append(f"{name}: {stay} of its sections stayed as they were, because no import took them in.")
    return ExportReport(
        records=len(counted),
        files=written,
        left_out=left_out + len(seen - present),
        refused=tuple(refused),
        notices=tuple(notices),
    )


def _file_of(files: dict[str, list[_Part]], path: Path) -> str:
    """Return the read file that a path means: by its name, and among several of the same name by its content."""
    digest = source_digest(read_existing(path)).hex()
    named = [name for name in files if PurePosixPath(name).name == path.name]
    read_so = [name for name in named if any(kept.digest == digest for kept, _ in files[name])]
    for found in (named, read_so):
        if len(found) == 1:
            return found[0]
    raise InvalidInput(f"There are sections of {len(files)} files.", "Name a folder for all of them.")


_Part = tuple[FilePlace, Memory]


_REPLACED_STATUSES = ("superseded", "consolidated", "archived")
"""The statuses of memories that give way to another one of the same place."""


def _waiting_notice(count: int) -> str:
    texts = "1 text that waits for a decision is" if count == 1 else f"{count} texts that wait for a decision are"
    return f"{texts} not written. Decide in Review first."


def _position(part: _Part) -> tuple[int, int, datetime, str]:
    """Return the order of the parts of a file; of several memories at one place the one that is to stand is last."""
    kept, memory = part
    is_live = memory.status not in _REPLACED_STATUSES
    is_trusted = memory.pinned or memory.stability != "draft"
    rank = 0 if memory.status in ENDED_STATUSES else 1 + 2 * is_live + is_trusted
    return kept.place, rank, memory.updated_at, memory.id


def _rival_notices(name: str, current: Iterable[_Part]) -> list[str]:
    """Return a sentence for each section for which several memories that hold say different things."""
    holding: dict[int, list[Memory]] = {}
    for kept, memory in current:
        if memory.status not in (*ENDED_STATUSES, *_REPLACED_STATUSES):
            holding.setdefault(kept.place, []).append(memory)
    return [
        f"{name}: {len(memories)} memories stand for its section {place + 1} and differ. {memories[-1].id} is written,"
        f" {', '.join(memory.id for memory in memories[:-1])} not."
        for place, memories in holding.items()
        if len({memory.content for memory in memories}) > 1
    ]


def _last_read_digest(parts: Iterable[_Part], there: bytes) -> str:
    """Return the digest of the file as it was read last: the one it has now, if it was ever read so."""
    now = source_digest(there).hex()
    known = {kept.digest: memory.updated_at for kept, memory in sorted(parts, key=lambda part: part[1].updated_at)}
    return now if now in known else max(known, key=lambda digest: (known[digest], digest))


def _whole_text(present: Iterable[_Part], there: bytes) -> tuple[str, int]:
    """Return the text of a file, and how many sections of it are taken from ``there``, the file as it was read."""
    texts = {kept.place: _section_text(kept, memory) for kept, memory in present}
    is_rule = any(kept.rule_kind is not None for kept, _ in present)
    sections = [] if is_rule else parse_sections(there.decode(errors="surrogateescape"))
    own = dict(enumerate(part.before + part.text + part.after for part in sections))
    return "".join(text for _, text in sorted({**own, **texts}.items())), len(own.keys() - texts.keys())


def _section_text(kept: FilePlace, memory: Memory) -> str:
    if memory.status not in ENDED_STATUSES:
        kind = kept.rule_kind
        before = (
            kept.before if kind is None else agents_file_locations.changed_head(kept.before, memory, kept.title, kind)
        )
        return before + memory.content + kept.after
    # The headings that stand before a section may belong to those after it as well.
    return kept.before if kept.before.strip() and kept.rule_kind is None else ""


def write_block(records: Iterable[ExportRecord], path: Path) -> ExportReport:
    """Write the verified and pinned instructions into the managed block of a file, which it gains if it has none.

    Raises:
        InvalidInput: the path is a folder or a link, its file is not text, or its marks do not come in one pair.

    """
    if path.is_dir() or path.is_symlink():
        raise InvalidInput(f"{path} is not a file.", "Name the file that holds the block, such as CLAUDE.md.")
    now = clock.now()
    kept: list[Memory] = []
    refused: list[Refused] = []
    left_out = 0
    for record in records:
        if not isinstance(record, Memory) or not _belongs_in_block(record, now):
            left_out += 1
        elif BLOCK_BEGIN in record.content or BLOCK_END in record.content or "\n" in record.title:
            refused.append(Refused(record.id, 0, "holds one of the block's own marks, and is left out"))
        else:
            kept.append(record)
    kept.sort(key=lambda memory: (memory.namespace, memory.headline.casefold(), memory.id))
    try:
        present = path.read_bytes().decode() if path.exists() else ""
        text = _with_block(present, kept, path)
        if text != present:
            write_atomically(path, [text.encode()])
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8, so it is left alone.", "Convert it to UTF-8 first.") from None
    except OSError as error:
        raise write_error(path, error) from error
    return ExportReport(records=len(kept), files=int(text != present), left_out=left_out, refused=tuple(refused))


def _belongs_in_block(memory: Memory, now: datetime) -> bool:
    trusted = memory.pinned or memory.stability != "draft"
    holds = memory.status == "active" and (memory.expires_at is None or memory.expires_at > now)
    is_own = EXTRA_KEY not in memory.extra  # a section stands in its own file already
    return memory.kind == "instruction" and trusted and holds and is_own and memory.sensitivity == "normal"


def _with_block(present: str, memories: Iterable[Memory], path: Path) -> str:
    line_break = "\r\n" if "\r\n" in present else "\n"
    block = [BLOCK_BEGIN, *(line for memory in memories for line in _lines(memory)), BLOCK_END]
    written = line_break.join(block)
    begin, end = present.find(BLOCK_BEGIN), present.find(BLOCK_END)
    if begin < 0 and end < 0:
        gap = "" if not present else line_break if present.endswith("\n") else 2 * line_break
        return f"{present}{gap}{written}{line_break}"
    if not 0 <= begin < end or present.count(BLOCK_BEGIN) != 1 or present.count(BLOCK_END) != 1:
        raise InvalidInput(
            f"{path} does not hold one {BLOCK_BEGIN} followed by one {BLOCK_END}.",
            "Mend the two marks, or remove both.",
        )
    return present[:begin] + written + present[end + len(BLOCK_END) :]


def _lines(memory: Memory) -> list[str]:
    body = memory.content.strip().replace("\r\n", "\n").split("\n")
    headed = body[0].lstrip().startswith("#")
    return ["", *([] if headed or not memory.title else [f"## {memory.title}", ""]), *body, ""]


def _is_source(path: Path) -> bool:
    is_named = path.name.lower() in (*FILE_NAMES, *agents_file_locations.SINGLE_FILES)
    is_known = is_named or agents_file_locations.rule_kind(str(path.resolve())) is not None
    return (is_known and path.is_file()) or is_rule_folder(path)


FORMAT = Format(
    name="agents-file",
    title="Instructions for agents",
    description="CLAUDE.md, AGENTS.md, GEMINI.md by section; hosts' rules; Serena's notes; or a project",
    read=read,
    count=count,
    write=write,
    is_place=_is_source,
)


BLOCK_FORMAT = Format(
    name="agents-block",
    title="Block of instructions for agents",
    description="the verified instructions in a marked block of such a file, whose other text stays as it is",
    read=read,
    count=count,
    write=write_block,
)
