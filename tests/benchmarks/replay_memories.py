"""The memories of real agents that sessions are replayed over, by the digests of their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memento_tui.formats import agents_file, beads, engram, vault
from memento_tui.formats.base import ImportRecord

__all__ = ["digest_of", "real_memories"]

_DIGEST_CHARS = 12


def digest_of(text: str) -> str:
    """Return the name by which the data of the benchmarks means a text that it must not hold."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def real_memories(root: Path) -> dict[str, dict[str, Any]]:
    """Return the content, the title and the kind of each memory by the digest of its text.

    ``root`` is the unpacked archive. Of the historical versions of an instruction file each section is taken once, as
    it was written last. Archived memories, which are never recalled, are left out.
    """
    found: dict[str, dict[str, Any]] = {}
    for fields in _all_fields(root):
        if fields.get("content", "").strip() and fields.get("status") != "archived":
            kept = {name: fields[name] for name in ("content", "title", "kind") if fields.get(name)}
            found[digest_of(fields["content"])] = kept
    return found


def _all_fields(root: Path) -> Iterator[dict[str, Any]]:
    folders = (
        (engram, root / "Cobies+gentle-ai" / ".engram"),
        (beads, root / "gastownhall+beads" / ".beads" / "backup"),
        (vault, root / "oraios+serena" / ".serena" / "memories"),
    )
    for reader, folder in folders:
        yield from (one.fields for one in reader.read(folder) if isinstance(one, ImportRecord) and not one.deleted)
    instructions = root / "doobidoo+mcp-memory-service"
    versions = [*sorted((instructions / "CLAUDE_md_history").glob("*.md")), instructions / "CLAUDE.md"]
    sections = {
        part.names: part.text
        for version in versions
        for part in agents_file.parse_sections(version.read_text(encoding="utf-8"))
    }
    for names, text in sections.items():
        yield {"content": text, "title": " / ".join(filter(None, names[1:] or names)), "kind": "instruction"}
