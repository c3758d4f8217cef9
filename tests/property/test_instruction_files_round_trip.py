"""Files that agents read at their start go back as they were: CLAUDE.md and its like, and Claude Code's own memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from memento_tui.formats import agents_file, claude, claude_export
from memento_tui.formats.base import ImportRecord, Refused
from memento_tui.model import Memory, make_memory

_WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
_LINE = st.one_of(
    _WORDS,
    st.builds(
        "{} {}".format, st.sampled_from(["#", "##", "###", "######", "-", "*", "+", "1.", ">", "  -", "    "]), _WORDS
    ),
    st.sampled_from(
        ["", "", " ", "#", "##", "---", "===", "```", "~~~", "<!-- x", "-->", "- [Tests](topic.md) - how", "a\r"]
    ),
)
_DOCUMENT = st.builds(
    lambda lines, end: "\n".join(lines) + end, st.lists(_LINE, max_size=14), st.sampled_from(["", "\n", "\n\n", "\r\n"])
)
_NAME = st.sampled_from(
    [
        "CLAUDE.md",
        "AGENTS.md",
        ".cursorrules",
        "sub/CLAUDE.md",
        "sub/deeper/GEMINI.md",
        ".cursor/rules/a.mdc",
        ".clinerules/b.md",
        ".serena/memories/d.md",
        "sub/.github/instructions/c.instructions.md",
    ]
)
_FRONTMATTER = st.lists(
    st.one_of(
        st.builds(
            "{}: {}".format,
            st.sampled_from(["description", "globs", "applyTo", "paths", "alwaysApply", "author"]),
            _WORDS,
        ),
        st.sampled_from(["globs: *.{ts,tsx}, **/*.py", "globs:", '  - "a/**"', "# mine", "---", ""]),
    ),
    max_size=6,
).map(lambda lines: "---\n" + "".join(f"{line}\n" for line in lines) + "---\n")


@contextmanager
def folders() -> Iterator[tuple[Path, Path]]:
    """Yield a folder to read and one to write."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / "from", Path(name) / "to"


def put(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())


def present(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_bytes().decode() for path in root.rglob("*") if path.is_file()}


def taken(found: Iterable[ImportRecord | Refused]) -> list[tuple[str, Memory]]:
    """Return the memories of a reading, each with the file that it is from."""
    return [(one.file, make_memory(one.fields)) for one in found if isinstance(one, ImportRecord)]


@given(st.dictionaries(_NAME, _DOCUMENT | st.builds("{}{}".format, _FRONTMATTER, _DOCUMENT), min_size=1, max_size=3))
@example({"CLAUDE.md": "# A\n\n# B\r\n```\n# no\n"})
@example({"CLAUDE.md": "# A\nx\n", "AGENTS.md": "# A\nx\n", ".cursor/rules/a.mdc": "---\nglobs: *.ts\n---\nx\n"})
@example({".cursor/rules/a.mdc": "x\n", ".clinerules/b.md": "x\n"})
@example({".cursor/rules/a.mdc": "---\ndescription: A\n---\nx\n", ".clinerules/b.md": "x\n"})
@example({".cursor/rules/a.mdc": "x\n", ".clinerules/b.md": "---\ndescription: A\n---\nx\n"})
@example({".cursor/rules/a.mdc": "---\nglobs: *.ts\n---\nx\n", ".cursor/rules/b.mdc": "---\nglobs: *.py\n---\nx\n"})
def test_files_of_instructions_return_byte_for_byte(files: dict[str, str]) -> None:
    with folders() as (source, target):
        put(source, files)
        found = list(agents_file.read(source))
        refused = {one.file for one in found if isinstance(one, Refused)}
        agents_file.write([memory for _, memory in taken(found)], target)
        assert present(target) == {name: text for name, text in files.items() if name not in refused}


@given(_DOCUMENT, st.dictionaries(st.sampled_from(["topic.md", "sub/other.md"]), _DOCUMENT, max_size=2))
@example("- [Tests](topic.md) - how\n", {"topic.md": "---\nname: x   # kept\n---\n\nText.\n"})
def test_the_memory_of_claude_code_returns_byte_for_byte(index: str, topics: dict[str, str]) -> None:
    place = "projects/-srv-shop/memory"
    files = {f"{place}/{name}": text for name, text in {"MEMORY.md": index, **topics}.items()}
    with folders() as (source, target):
        put(source, files)
        (target / "projects").mkdir(parents=True)
        found = taken(claude.read(source))
        claude_export.write([memory for _, memory in found], target)
        written = present(target)
        assert written == {name: files[name] for name in written}
        assert {f"{place}/{name.partition('/')[2]}" for name, _ in found} <= set(written)
