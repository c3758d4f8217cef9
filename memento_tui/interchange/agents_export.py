"""Writing files of instructions for agents: whole files that were read before, or a block within anybody's file.

`write` puts every section back where it stood: a file whose memories did not change returns byte for byte, and an
edited memory changes its own section only. A heading is part of its section's text; a memory's title is not written.

`write_block` writes what a person has verified or pinned among the instructions between two marks,
``<!-- memento:begin -->`` and ``<!-- memento:end -->``. Not a byte outside of the marks changes. What nobody verified
stays out, because every session of an agent would obey it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path, PurePosixPath

import msgspec

from memento_tui import clock
from memento_tui.errors import InvalidInput
from memento_tui.interchange.agents_file import BEGIN, END, KEPT, Kept, sections
from memento_tui.interchange.incoming import Refused, source_digest
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.records import Memory

__all__ = ["write", "write_block"]

_GONE = ("deleted", "rejected")


def write(records: Iterable[Outgoing], path: Path) -> Written:
    """Write the files that sections were read from, below a folder, or to ``path`` itself if that is a ``.md`` file.

    A file that is there is replaced only while it holds the very bytes that were read. A section of it that no memory
    stands for, such as one that an import refused, stays as it is in the file.
    """
    files: dict[str, list[_Part]] = {}
    left_out = 0
    for record in records:
        kept = _kept(record) if isinstance(record, Memory) else None
        if kept is None or not isinstance(record, Memory):
            left_out += 1
        else:
            files.setdefault(kept.path, []).append((kept, record))
    refused: list[Refused] = []
    told: list[str] = []
    written = count = 0
    if path.suffix.lower() == ".md" and len(files) > 1:
        raise InvalidInput(f"There are sections of {len(files)} files.", "Name a folder for all of them.")
    for name, parts in sorted(files.items()):
        target = path if path.suffix.lower() == ".md" else path / name
        there = _there(target)
        digest = _last_read(parts, there)
        # A section with another digest was no longer there when the file was read last.
        present = sorted((part for part in parts if part[0].digest == digest), key=_place)
        left_out += len(parts) - len(present)
        text, stay = _whole_text(present, there if source_digest(there).hex() == digest else b"")
        outcome = _put(path, target, name, text.encode(errors="surrogateescape"), digest)
        if isinstance(outcome, Refused):
            refused.append(outcome)
            continue
        written += outcome
        count += sum(memory.status not in _GONE for _, memory in present)
        if stay:
            told.append(f"{name}: {stay} of its sections stayed as they were, because no import took them in.")
    return Written(records=count, files=written, left_out=left_out, refused=tuple(refused), told=tuple(told))


_Part = tuple[Kept, Memory]


def _place(part: _Part) -> tuple[int, str]:
    return part[0].place, part[1].id


def _there(target: Path) -> bytes:
    """Return what a file holds now; nothing where it cannot be read, which is told of when it is to be written."""
    try:
        return b"" if target.is_symlink() else target.read_bytes()
    except OSError:
        return b""


def _last_read(parts: Iterable[_Part], there: bytes) -> str:
    """Return the digest of the file as it was read last: the one it has now, if it was ever read so."""
    now = source_digest(there).hex()
    known = {kept.digest: memory.updated_at for kept, memory in sorted(parts, key=lambda part: part[1].updated_at)}
    return now if now in known else max(known, key=lambda digest: (known[digest], digest))


def _whole_text(present: Iterable[_Part], there: bytes) -> tuple[str, int]:
    """Return the text of a file, and how many sections of it are taken from ``there``, the file as it was read."""
    texts: dict[int, str] = {}
    for kept, memory in present:
        texts[kept.place] = texts.get(kept.place, "") + _text(kept, memory)
    own = dict(
        enumerate(part.before + part.text + part.after for part in sections(there.decode(errors="surrogateescape")))
    )
    return "".join(text for _, text in sorted({**own, **texts}.items())), len(own.keys() - texts.keys())


def _kept(memory: Memory) -> Kept | None:
    """Return what was kept of a section. It has passed through a database that agents write to, so it is checked."""
    try:
        kept = msgspec.convert(memory.extra.get(KEPT), Kept)
    except msgspec.ValidationError:
        return None
    names = PurePosixPath(kept.path).parts
    is_safe = names and ".." not in names and not kept.path.startswith("/") and kept.path.lower().endswith(".md")
    return kept if is_safe and kept.path.isprintable() else None


def _text(kept: Kept, memory: Memory) -> str:
    if memory.status not in _GONE:
        return kept.before + memory.content + kept.after
    # The headings that stand before a section may belong to those after it as well.
    return kept.before if kept.before.strip() else ""


def _put(root: Path, target: Path, name: str, data: bytes, digest: str) -> Refused | bool:
    try:
        top = root.resolve() if target != root else root.parent.resolve()
        if target.is_symlink() or not target.parent.resolve().is_relative_to(top):
            return Refused(name, 0, "lies behind a link, and is not written")
        if target.exists():
            present = target.read_bytes()
            if present == data:
                return False
            if source_digest(present).hex() != digest:
                return Refused(name, 0, "is there already with another text, and is not replaced; import it first")
        put_in_place(target, [data])
    except OSError as error:
        return Refused(name, 0, f"cannot be written: {error.strerror or error}")
    return True


def write_block(records: Iterable[Outgoing], path: Path) -> Written:
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
        if not isinstance(record, Memory) or not _belongs(record, now):
            left_out += 1
        elif BEGIN in record.content or END in record.content or "\n" in record.title:
            refused.append(Refused(record.id, 0, "holds one of the block's own marks, and is left out"))
        else:
            kept.append(record)
    kept.sort(key=lambda memory: (memory.namespace, memory.headline.casefold(), memory.id))
    try:
        present = path.read_bytes().decode() if path.exists() else ""
        text = _with_block(present, kept, path)
        if text != present:
            put_in_place(path, [text.encode()])
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} is not UTF-8, so it is left alone.", "Convert it to UTF-8 first.") from None
    except OSError as error:
        raise cannot_write(path, error) from error
    return Written(records=len(kept), files=int(text != present), left_out=left_out, refused=tuple(refused))


def _belongs(memory: Memory, now: datetime) -> bool:
    trusted = memory.pinned or memory.stability != "draft"
    holds = memory.status == "active" and (memory.expires_at is None or memory.expires_at > now)
    is_own = KEPT not in memory.extra  # a section stands in its own file already
    return memory.kind == "instruction" and trusted and holds and is_own and memory.sensitivity == "normal"


def _with_block(present: str, memories: Iterable[Memory], path: Path) -> str:
    line_break = "\r\n" if "\r\n" in present else "\n"
    block = [BEGIN, *(line for memory in memories for line in _lines(memory)), END]
    written = line_break.join(block)
    begin, end = present.find(BEGIN), present.find(END)
    if begin < 0 and end < 0:
        gap = "" if not present else line_break if present.endswith("\n") else 2 * line_break
        return f"{present}{gap}{written}{line_break}"
    if not 0 <= begin < end or present.count(BEGIN) != 1 or present.count(END) != 1:
        raise InvalidInput(
            f"{path} does not hold one {BEGIN} followed by one {END}.", "Mend the two marks, or remove both."
        )
    return present[:begin] + written + present[end + len(END) :]


def _lines(memory: Memory) -> list[str]:
    body = memory.content.strip().replace("\r\n", "\n").split("\n")
    headed = body[0].lstrip().startswith("#")
    return ["", *([] if headed or not memory.title else [f"## {memory.title}", ""]), *body, ""]
