"""Instructions for agents in one Markdown file: CLAUDE.md, AGENTS.md, GEMINI.md. A section is a memory.

The rule, which looks at the text's shape only:

- A heading of level 1 to 3 begins a section, and so does the start of the text. What follows a deeper heading belongs
  to the section around it. Code holds no headings.
- A section's text with its heading is one memory of kind ``instruction``, titled by the headings above it. It is known
  by its file and those headings.
- A heading without text of its own is no memory; it is kept with the section after it.
- What stands between the marks of a managed block came from memento (see `agents_export`) and is passed over.

``extra["agents_file"]`` holds what a return needs: each section keeps what stands before and after its text, so that
all of them together are the file again, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.markdown import heading, without_fences
from memento_tui.interchange.names import namespace_of, one_line
from memento_tui.interchange.tree import SourceFile, decode_text, load, walk
from memento_tui.records.rules import MAX_CONTENT_BYTES, MAX_LINE_LENGTH

__all__ = ["BEGIN", "END", "KEPT", "NAMES", "Kept", "Section", "count", "read", "sections"]

NAMES = ("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md")
"""The files that hosts read, in lower case."""
KEPT = "agents_file"
BEGIN, END = "<!-- memento:begin -->", "<!-- memento:end -->"

_DEEPEST = 3
_LONGEST_FILE = 4_000_000
"""Bytes; hosts warn at a hundredth of it."""
_NOT_IN_AN_ANCHOR = re.compile(r"[^\w]+")


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a section beside its text."""

    path: str = ""
    place: int = 0
    """Which section of the file it is, counted from 0."""
    before: str = ""
    after: str = ""
    digest: str = ""
    """Of the whole file, so that a change anywhere in it brings every section's place up to date."""


class Section(msgspec.Struct, frozen=True):
    """One section of a file. All of them, as ``before + text + after``, are the file."""

    names: tuple[str, ...]
    """The headings above it, its own included."""
    text: str
    before: str
    after: str
    line: int
    """Where its text begins, counted from 1."""


def count(root: Path) -> int:
    """Return the number of files, without opening one."""
    return sum(isinstance(found, SourceFile) for found in _files(root))


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the sections of one file, whatever its name, or of the files that hosts read below a folder.

    The namespace is ``projects/<folder>``; of a file in a hidden folder, such as ``~/.claude``, ``global``.

    Raises:
        InvalidInput: there is nothing at ``root``, or no such file.

    """
    found = False
    top = root.resolve() if root.is_dir() else root.resolve().parent
    for file in _files(root):
        found = True
        yield from [file] if isinstance(file, Refused) else _read_file(file, top)
    if not found:
        raise InvalidInput(f"There is no file of instructions in {root}.", "Name a CLAUDE.md or AGENTS.md.")


def _files(root: Path) -> Iterator[SourceFile | Refused]:
    for found in walk(root, ".md"):
        if isinstance(found, Refused) or root.is_file() or PurePosixPath(found.name).name.lower() in NAMES:
            yield found


def _read_file(file: SourceFile, top: Path) -> Iterator[Incoming | Refused]:
    loaded = load(file, _LONGEST_FILE)
    if isinstance(loaded, Refused):
        yield loaded
        return
    text = decode_text(loaded.data, file.name)
    if isinstance(text, Refused):
        yield text
        return
    parts = sections(text)
    if not parts:
        yield Refused(file.name, 0, "holds no text below a heading")
    used: dict[str, int] = {}
    folders = (top / file.name).parent.parts[len(top.parts) :]
    namespace = "global" if top.name.startswith(".") else namespace_of(["projects", top.name or "root", *folders])
    for place, part in enumerate(parts):
        anchor = _NOT_IN_AN_ANCHOR.sub("-", " ".join(part.names).lower()).strip("-") or "start"
        used[anchor] = times = used.get(anchor, 0) + 1
        if len(part.text.encode()) > MAX_CONTENT_BYTES:
            yield Refused(file.name, part.line, f"has a section of more than {MAX_CONTENT_BYTES:,} bytes")
            continue
        kept = Kept(file.name, place, part.before, part.after, source_digest(loaded.data).hex())
        yield Incoming(
            key=f"{file.name}#{anchor}" if times == 1 else f"{file.name}#{anchor}~{times}",
            record="memory",
            fields={
                "content": part.text,
                "title": _title(part, file.name),
                "kind": "instruction",
                "namespace": namespace,
                "created_at": loaded.modified,
                "extra": {KEPT: msgspec.to_builtins(kept)},
            },
            digest=source_digest(f"{place}\x00{part.text}".encode() + loaded.data),
            file=file.name,
            line=part.line,
        )


def _title(part: Section, file: str) -> str:
    # The heading of level 1 is the file's title: it names its own section and is left out of the others.
    names = part.names[1:] if len(part.names) > 1 else part.names
    return one_line(" / ".join(name for name in names if name) or PurePosixPath(file).name, MAX_LINE_LENGTH)


def sections(text: str) -> list[Section]:
    """Return the sections of a text in their order; none where it holds no text but headings."""
    found: list[Section] = []
    before, line = "", 1
    for names, part in _parts(text):
        words = part.strip()
        lead = part[: len(part) - len(part.lstrip())]
        rest = part[len(lead) + len(words) :]
        if names is None or not _says_something(words):
            before += part
        else:
            start = line + lead.count("\n")
            found.append(Section(names, words, before + lead, rest, start))
            before = ""
        line += part.count("\n")
    if before and found:
        last = found[-1]
        found[-1] = msgspec.structs.replace(last, after=last.after + before)
    return found


def _says_something(words: str) -> bool:
    lines = words.splitlines()
    own = lines[1:] if lines and heading(lines[0]) is not None else lines
    return any(line.strip("\ufeff \t") for line in own)


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
        level = _level(open_line)
        if inside or open_line.strip() == BEGIN:
            if not inside:
                yield names, "".join(own)
                own, inside = [], True
            own.append(whole)
            if open_line.strip() == END:
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


def _level(line: str) -> tuple[int, str] | None:
    found = heading(line.removeprefix("\ufeff"))
    return found if found is not None and found[0] <= _DEEPEST else None
