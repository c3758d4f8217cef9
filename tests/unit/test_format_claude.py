from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats import claude
from memento_tui.formats.base import source_digest
from memento_tui.formats.claude import ClaudeStatement, IndexEntry, parse_statements
from tests.unit.format_reading import Reading, reading

PROJECT = "-home-me-code-app"

INDEX = """# App memory
*Last consolidated: 2026-05-21*

## Files
- [Testing rules](feedback_tests.md) — how tests are named
- [Deep](topics/deep.md): more
- [Gone](gone.md) is a file that nobody wrote yet

## Site
- **Host:** example.org
- **Plan:** free

## Lessons
- Always save the files before you commit them
  and push afterwards
- Keep posts to one a day, quality first

### Empty

### Table
| a | b |
|---|---|

## Goals
Some prose.
- And a bullet that has enough words
- And another one with enough words
"""

TOPIC = """---
name: feedback_tests
description: "Test names are sentences about behaviour"
metadata:
  node_type: memory
  type: feedback
  originSessionId: 5da15695-411e
  modified: 2026-08-04T16:04:24.602Z
---

Name tests as sentences. See [[other_topic]].
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    memory = tmp_path / ".claude" / "projects" / PROJECT / "memory"
    put(memory / "MEMORY.md", INDEX)
    put(memory / "feedback_tests.md", TOPIC)
    put(memory / "topics" / "deep.md", "# Deep\ntext")
    put(tmp_path / ".claude" / "projects" / "-other" / "session.jsonl", "{}")
    put(tmp_path / ".claude" / "projects" / "-other" / "note.md", "not memory")
    return tmp_path / ".claude"


def read(root: Path) -> Reading:
    return reading(claude.read(root))


KEYS = [
    f"{PROJECT}/{key}"
    for key in (
        "MEMORY.md#app-memory",
        "MEMORY.md#files",
        "MEMORY.md#site",
        "MEMORY.md#lessons.1",
        "MEMORY.md#lessons.2",
        "MEMORY.md#goals",
        "feedback_tests.md",
        "topics/deep.md",
    )
]


@pytest.mark.parametrize(
    "place",
    ["", "projects", f"projects/{PROJECT}", f"projects/{PROJECT}/memory", f"projects/{PROJECT}/memory/MEMORY.md"],
)
def test_the_same_memories_are_found_wherever_one_points(home: Path, place: str) -> None:
    found = read(home / place)
    assert found.keys == KEYS
    assert found.refused == []
    assert {memory.namespace for memory in found.memories.values()} == {f"claude/{PROJECT}"}
    assert claude.count(home / place) == 3


def test_an_index_is_parted_into_statements_that_stand_by_themselves(home: Path) -> None:
    memories = read(home).memories
    lesson = memories[f"{PROJECT}/MEMORY.md#lessons.1"]
    assert lesson.title == "Lessons: Always save the files before you commit them"
    assert lesson.content == "Always save the files before you commit them\nand push afterwards"
    kept = {"project": PROJECT, "path": "MEMORY.md", "section": "Lessons", "anchor": "lessons.1"}
    assert lesson.extra == {"claude": {**kept, "said": source_digest(lesson.content.encode()).hex()}}
    assert (lesson.source_type, lesson.source.agent) == ("derived", "claude-code")
    site = memories[f"{PROJECT}/MEMORY.md#site"]
    assert (site.title, site.content) == ("Site", "## Site\n- **Host:** example.org\n- **Plan:** free")
    assert memories[f"{PROJECT}/MEMORY.md#goals"].content.startswith("## Goals\nSome prose.\n- And")


def test_an_entry_of_the_index_is_kept_with_its_file_and_one_without_a_file_stays(home: Path) -> None:
    memories = read(home).memories
    entry = "- [Testing rules](feedback_tests.md) — how tests are named"
    assert memories[f"{PROJECT}/feedback_tests.md"].extra["claude"]["index"] == entry
    assert memories[f"{PROJECT}/topics/deep.md"].extra["claude"]["index"] == "- [Deep](topics/deep.md): more"
    assert memories[f"{PROJECT}/MEMORY.md#files"].content.count("\n- ") == 1


def test_statements_know_their_lines(home: Path) -> None:
    lines = {one.key.split("/", 1)[1]: one.line for one in read(home).taken}
    assert lines["MEMORY.md#site"] == 9
    assert lines["MEMORY.md#lessons.2"] == 16


def test_a_topic_file_says_what_it_is(home: Path) -> None:
    found = read(home)
    topic = found.memories[f"{PROJECT}/feedback_tests.md"]
    assert topic.title == "Test names are sentences about behaviour"
    assert (topic.kind, topic.kind_raw) == ("instruction", "feedback")
    assert (topic.source.session, topic.source.agent) == ("5da15695-411e", "claude-code")
    assert topic.updated_at == datetime(2026, 8, 4, 16, 4, 24, 602000, tzinfo=UTC)
    assert topic.content == "\nName tests as sentences. See [[other_topic]].\n"
    assert topic.extra["frontmatter"]["metadata"]["type"] == "feedback"
    links = {one.key: one.links for one in found.taken}
    assert links[f"{PROJECT}/feedback_tests.md"] == (("related", "other_topic", ""),)


@pytest.mark.parametrize(
    ("kind", "expected", "raw"),
    [
        ("user", "preference", "user"),
        ("project", "observation", "project"),
        ("reference", "fact", "reference"),
        ("anti-pattern", "anti_pattern", "anti-pattern"),
        ("{a: 1}", "fact", ""),
    ],
)
def test_the_types_of_claude_code_are_kinds_here_and_kept(tmp_path: Path, kind: str, expected: str, raw: str) -> None:
    put(tmp_path / "memory" / "a.md", f"---\nname: A name\ntype: {kind}\n---\ntext")
    (memory,) = read(tmp_path / "memory").memories.values()
    assert (memory.kind, memory.kind_raw, memory.title) == (expected, raw, "A name")


def test_a_topic_file_without_frontmatter_is_a_plain_note(home: Path) -> None:
    memory = read(home).memories[f"{PROJECT}/topics/deep.md"]
    assert (memory.title, memory.content, memory.source_type) == ("Deep", "# Deep\ntext", "derived")


def test_a_bullet_keeps_its_key_when_another_section_grows(home: Path) -> None:
    before = {one.key: one.digest for one in read(home).taken}
    path = home / "projects" / PROJECT / "memory" / "MEMORY.md"
    put(
        path,
        INDEX.replace("## Site", "## New\n- One thing that was learned\n- Another thing that was learned\n\n## Site"),
    )
    after = {one.key: one.digest for one in read(home).taken}
    # The part that stands first keeps the whole index for the way back.
    first = f"{PROJECT}/MEMORY.md#app-memory"
    assert [key for key in before if after[key] != before[key]] == [first]
    assert len(after) == len(before) + 2


def test_bad_files_cost_no_other(home: Path, tmp_path: Path) -> None:
    memory = home / "projects" / PROJECT / "memory"
    (memory / "MEMORY.md").write_bytes(b"# A\n\xff")
    put(memory / "bad.md", "---\na: b: c\n---\n")
    put(memory / "empty.md", "")
    (memory / "stolen.md").symlink_to(put(tmp_path / "outside.md", "x"))
    found = read(home)
    assert found.keys == [f"{PROJECT}/feedback_tests.md", f"{PROJECT}/topics/deep.md"]
    assert [(one.file.split("/", 1)[1], one.line) for one in found.refused] == [
        ("stolen.md", 0),
        ("MEMORY.md", 2),
        ("bad.md", 2),
        ("empty.md", 0),
    ]


@pytest.mark.parametrize("text", ["", "# Only\n## Headings\n"])
def test_an_index_that_says_nothing_is_refused(tmp_path: Path, text: str) -> None:
    put(tmp_path / "memory" / "MEMORY.md", text)
    assert "is empty" in read(tmp_path / "memory").only_refused.reason


def test_an_index_of_a_megabyte_and_a_section_over_the_limit_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "a" / "memory" / "MEMORY.md", "x" * 1_048_576)
    put(tmp_path / "b" / "memory" / "MEMORY.md", "## Big\n" + "x" * 262_145 + "\n## Small\ntext\n")
    found = read(tmp_path)
    assert found.keys == ["b/MEMORY.md#small"]
    assert [(one.file, one.line) for one in found.refused] == [("a/MEMORY.md", 0), ("b/MEMORY.md", 1)]


def test_a_project_behind_a_link_that_leads_out_is_refused(home: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "memory" / "MEMORY.md", "secret text")
    (home / "projects" / "zz").symlink_to(tmp_path / "elsewhere")
    found = read(home)
    assert found.keys == KEYS
    assert [one.file for one in found.refused] == ["zz"]


def test_a_folder_without_any_memory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no memory of Claude Code"):
        read(tmp_path)
    with pytest.raises(InvalidInput):
        read(tmp_path / "missing")


def parts(text: str, *files: str) -> list[ClaudeStatement | IndexEntry]:
    return list(parse_statements(text, files))


def test_text_without_headings_is_one_statement_or_its_bullets() -> None:
    assert parts("Some text.\nMore.\n") == [ClaudeStatement("start", "", "", "Some text.\nMore.", 1)]
    assert [
        one.content for one in parts("- one two three four\n- five six seven eight") if isinstance(one, ClaudeStatement)
    ] == [
        "one two three four",
        "five six seven eight",
    ]


def test_headings_and_bullets_in_code_are_no_structure() -> None:
    fenced = "  ```\n## not a heading\n- not a bullet at all here\n  ```\n"
    text = f"## A\n- a bullet with some code:\n{fenced}- another bullet with four words\n"
    found = [one for one in parts(text) if isinstance(one, ClaudeStatement)]
    assert [one.anchor for one in found] == ["a.1", "a.2"]
    assert found[0].content.endswith("```")


def test_sections_of_one_name_are_told_apart() -> None:
    text = "## A\none\n## B\n### A\ntwo\n## A\nthree\n# Title\n## A\nfour\n"
    found = [one for one in parts(text) if isinstance(one, ClaudeStatement)]
    assert [(one.anchor, one.title) for one in found] == [
        ("a", "A"),
        ("b-a", "B / A"),
        ("a~2", "A"),
        ("a~3", "A"),
    ]


def test_the_line_breaks_of_windows_make_no_difference() -> None:
    assert parts(INDEX.replace("\n", "\r\n"), "feedback_tests.md") == parts(INDEX, "feedback_tests.md")
