from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats import vault
from memento_tui.formats.base import ImportRecord
from memento_tui.model import Memory
from tests.unit.format_reading import Reading, reading

FULL = """---
title: "Use WAL mode"
type: decision
tags:
  - sqlite
  - "#storage"
date: 2026-03-04T10:30
source: session
certainty: 4
validity-context: "Only valid for SQLite 3.7+"
supersedes: "[[use-delete-mode]]"
synthesized_from:
  - "[[one]]"
  - two
project: My App
branch: main
session_id: abc-123
unknown: {a: [1, 2.50], b: 2024-01-01}
---
WAL lets readers run beside a writer. See [[checkpoints|the notes]]. #durability

`#not-a-tag` and `[[not-a-link]]`

```
#not-a-tag [[not-a-link]]
```

## Related
- [[one]]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "brain").mkdir()
    return tmp_path / "brain"


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(root: Path) -> Reading:
    return reading(vault.read(root))


def note(root: Path, text: str | bytes, name: str = "notes/a note.md") -> ImportRecord:
    put(root, name, text)
    return read(root).only


def memory(root: Path, text: str | bytes, name: str = "notes/a note.md") -> Memory:
    put(root, name, text)
    (found,) = read(root).memories.values()
    return found


def test_a_note_of_memento_vault_becomes_a_memory(root: Path) -> None:
    found = memory(root, FULL)
    assert found.title == "Use WAL mode"
    assert (found.kind, found.kind_raw) == ("decision", "")
    assert found.tags == ("sqlite", "storage", "durability")
    assert found.certainty == 4
    assert found.validity_context == "Only valid for SQLite 3.7+"
    assert found.created_at == datetime(2026, 3, 4, 10, 30, tzinfo=UTC)
    assert found.namespace == "projects/my-app"
    assert (found.source.session, found.source_type) == ("abc-123", "derived")
    assert found.content == FULL.split("---\n", 2)[2]


def test_tags_of_the_body_can_be_told_from_those_of_the_frontmatter(root: Path) -> None:
    assert note(root, FULL).fields["extra"]["vault"]["body_tags"] == ["durability"]


def test_links_come_from_the_properties_and_the_body_but_not_from_code(root: Path) -> None:
    assert note(root, FULL).links == (
        ("supersedes", "use-delete-mode", ""),
        ("consolidated_from", "one", ""),
        ("consolidated_from", "two", ""),
        ("related", "checkpoints", "the notes"),
        ("related", "one", ""),
    )


def test_links_in_other_properties_carry_the_propertys_name(root: Path) -> None:
    text = '---\ncategories:\n  - "[[Trips]]"\nplace: {where: "[[Kyoto]]"}\nsupersedes: ""\n---\nbody'
    assert note(root, text).links == (("related", "Trips", "categories"), ("related", "Kyoto", "place"))


def test_every_property_is_kept_as_a_plain_value_and_the_head_as_it_is_written(root: Path) -> None:
    extra = note(root, FULL).fields["extra"]
    assert extra["frontmatter"]["unknown"] == {"a": [1, "2.50"], "b": "2024-01-01"}
    assert list(extra["frontmatter"])[:2] == ["title", "type"]
    assert extra["vault"]["head"] + FULL.split("---\n", 2)[2] == FULL


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Given\n---\n# Heading", "Given"),
        ("---\ntitle: 007\n---\n# Heading", "007"),
        ("---\ntitle: [First, Second]\n---\n", "First"),
        ('---\ntitle: "two\\nlines"\n---\n', "two lines"),
        ("---\ntitle: {a: 1}\n---\n# Heading", "Heading"),
        ("---\ntitle:\n---\n# Heading", "Heading"),
        ('---\ntitle: ""\n---\n# Heading', ""),
        ("text\n\n# Heading #\n", "Heading"),
        ("text\n## Two\n", "a note"),
        (f"---\ntitle: {'x' * 2000}\n---\n", "x" * 1000),
    ],
)
def test_the_title_is_the_given_one_else_the_first_heading_else_the_files_name(
    root: Path, text: str, title: str
) -> None:
    assert memory(root, text).title == title


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[a, b]", ("a", "b")),
        ("a, b c", ("a", "b", "c")),
        ('"#a, #b"', ("a", "b")),
        ("\n  - a\n  - a", ("a",)),
        ("2024", ("2024",)),
        ("[2024, 1.5, true, null]", ("2024", "1.5", "true")),
        ("true", ("true",)),
        ("", ()),
        ("{a: 1}", ()),
        ("[[nested], {a: 1}]", ("nested",)),
        ('["", " ", "#"]', ()),
        (f"[{'x' * 101}, ok]", ("ok",)),
        ('["a\\nb", ok]', ("ok",)),
        (f"[{', '.join(f't{n}' for n in range(300))}]", tuple(f"t{n}" for n in range(200))),
    ],
)
def test_tags_of_every_shape_are_read_and_none_costs_the_note(root: Path, written: str, tags: tuple[str, ...]) -> None:
    assert memory(root, f"---\ntags: {written}\n---\nbody").tags == tags


def test_a_body_full_of_tags_costs_nothing(root: Path) -> None:
    body = " ".join(f"#tag{number}" for number in range(1000)) + " #" + "x" * 5000
    assert len(memory(root, f"---\ntags: [own]\n---\n{body}").tags) == 200


@pytest.mark.parametrize(
    "written",
    [
        "[2024-01-02]",
        "5",
        "yesterday",
        "2024-13-45",
        "{{date}}",
        "7d",
        "null",
        "true",
        '""',
        "{a: 1}",
        "0001-01-01T00:00+14:00",
    ],
)
def test_a_date_that_is_none_leaves_the_time_of_the_file(root: Path, written: str) -> None:
    path = put(root, "a.md", f"---\ndate: {written}\n---\nbody")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (found,) = read(root).memories.values()
    assert found.created_at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert "date" in found.extra["frontmatter"]


@pytest.mark.parametrize(
    ("text", "name", "moment"),
    [
        ("---\ndate: 2024-01-02\n---\nx", "a.md", datetime(2024, 1, 2, tzinfo=UTC)),
        ("---\ncreated: 2024-01-02T10:00:00+02:00\n---\nx", "a.md", datetime(2024, 1, 2, 8, tzinfo=UTC)),
        ("---\ndate: nonsense\ncreated: '2024-01-02 10:00'\n---\nx", "a.md", datetime(2024, 1, 2, 10, tzinfo=UTC)),
        ("x", "fleeting/2024-01-02.md", datetime(2024, 1, 2, tzinfo=UTC)),
        ("x", "2024-01-02T101112_abc.md", datetime(2024, 1, 2, tzinfo=UTC)),
    ],
)
def test_a_note_is_as_old_as_it_says_else_as_its_name_says(root: Path, text: str, name: str, moment: datetime) -> None:
    assert memory(root, text, name).created_at == moment


def test_a_note_says_when_it_was_changed(root: Path) -> None:
    found = memory(root, "---\ncreated: 2024-01-02\nupdated: 2024-02-03\n---\nx")
    assert found.updated_at == datetime(2024, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "kind", "raw"),
    [
        ("anti-pattern", "anti_pattern", "anti-pattern"),
        ('["[[Cities]]"]', "observation", "Cities"),
        ("5", "observation", "5"),
        ("{a: 1}", "fact", ""),
        ("x" * 500, "observation", "x" * 100),
    ],
)
def test_kinds_of_every_shape_are_read(root: Path, written: str, kind: str, raw: str) -> None:
    found = memory(root, f"---\ntype: {written}\n---\nx")
    assert (found.kind, found.kind_raw) == (kind, raw)


@pytest.mark.parametrize(
    ("written", "certainty"), [("5", 5), ('"2"', 2), ("high", 3), ("9", 3), ("2.5", 3), ("true", 3)]
)
def test_a_certainty_that_is_none_is_left_out(root: Path, written: str, certainty: int) -> None:
    assert memory(root, f"---\ncertainty: {written}\n---\nx").certainty == certainty


@pytest.mark.parametrize(
    ("head", "source_type", "url"),
    [
        ("a: 1", "user", ""),
        ("source: manual", "user", ""),
        ("source: inception", "derived", ""),
        ("source: mcp-capture", "derived", ""),
        ("source: https://example.org/a", "external", "https://example.org/a"),
        ("url: https://example.org/a", "external", "https://example.org/a"),
        ("source: [a, b]", "user", ""),
    ],
)
def test_a_note_says_where_it_came_from(root: Path, head: str, source_type: str, url: str) -> None:
    found = memory(root, f"---\n{head}\n---\nx")
    assert (found.source_type, found.source.url) == (source_type, url)


@pytest.mark.parametrize(
    ("project", "namespace"),
    [
        ("My App!", "projects/my-app"),
        ("acme/app", "projects/acme/app"),
        ("/home/me/code/App", "projects/app"),
        ("~/code/App/", "projects/app"),
        ("C:\\code\\App", "projects/app"),
        ('"[[Project X]]"', "projects/project-x"),
        ("[one, two]", "projects/one"),
        ("../../etc", "projects/etc"),
        ("x" * 500, "brain/notes/deep"),
        ("///", "brain/notes/deep"),
        ("", "brain/notes/deep"),
    ],
)
def test_the_namespace_is_the_project_else_the_folder(root: Path, project: str, namespace: str) -> None:
    found = memory(root, f"---\nproject: {project}\n---\nx", "notes/deep/a.md").namespace
    assert found == ("projects" if len(project) == 500 else namespace)


def test_odd_folder_names_become_a_namespace_that_records_allow(root: Path) -> None:
    name = "/".join([" spaced ", "back\\slash", "tab\there", *["long" * 25] * 4, "a.md"])
    found = memory(root, "x", name)
    assert found.namespace.startswith("brain/spaced/back-slash/tab-here/longlong")
    assert len(found.namespace) <= 300


def test_a_note_alone_is_a_vault_of_one(root: Path) -> None:
    put(root, "b.md", "x")
    path = put(root, "a.md", "x")
    incoming = read(path).only
    assert (incoming.key, incoming.fields["namespace"]) == ("a.md", "brain")


def test_the_memories_in_a_hidden_folder_of_a_project_are_those_of_the_project(tmp_path: Path) -> None:
    put(tmp_path, "site/.serena/memories/a.md", "x")
    put(tmp_path, "site/.serena/memories/.obsidian/b.md", "x")
    assert read(tmp_path / "site" / ".serena" / "memories").only.fields["namespace"] == "projects/site"


@pytest.mark.parametrize(
    ("named", "note", "expected"),
    [
        ("site/memory-bank", "progress.md", "projects/site"),
        ("site/memory-bank", "plan/one.md", "projects/site/plan"),
        ("site", "memory-bank/plan/one.md", "projects/site/plan"),
        ("code", "site/memory-bank/progress.md", "projects/site"),
        ("code", "Big Site/memory-bank/progress.md", "projects/big-site"),
        ("site", "docs/progress.md", "site/docs"),
    ],
)
def test_the_notes_of_a_memory_bank_are_those_of_the_project_that_it_lies_in(
    tmp_path: Path, named: str, note: str, expected: str
) -> None:
    put(tmp_path, f"{named}/{note}", "x")
    assert read(tmp_path / named).only.fields["namespace"] == expected


@pytest.mark.parametrize("named", ["code", "code/site", "code/site/web", "code/site/web/memory-bank"])
def test_a_memory_bank_in_a_part_of_a_repository_is_of_the_repository_that_hooks_name(
    tmp_path: Path, named: str
) -> None:
    put(tmp_path, "code/site/.git/HEAD", "ref: refs/heads/main\n")
    put(tmp_path, "code/site/web/memory-bank/progress.md", "x")
    assert read(tmp_path / named).only.fields["namespace"] == "projects/site/web"


@pytest.mark.parametrize(
    ("named", "note", "expected"),
    [("dana/memory-bank", "garden.md", "memory-bank"), ("dana", "memory-bank/garden.md", "dana/memory-bank")],
)
def test_a_memory_bank_in_the_home_directory_belongs_to_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str, note: str, expected: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "dana"))
    put(tmp_path, f"{named}/{note}", "x")
    assert read(tmp_path / named).only.fields["namespace"] == expected


def test_a_hidden_vault_in_the_home_directory_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path, ".notes/a.md", "x")
    assert read(tmp_path / ".notes").only.fields["namespace"] == ".notes"


def test_the_archive_of_a_memento_vault_is_archived_and_no_other_folder_of_that_name(root: Path) -> None:
    put(root, "archive/a.md", "x")
    assert memory(root, "x", "archive/a.md").status == "active"
    put(root, "memento.yml", "")
    assert read(root).memories["archive/a.md"].status == "archived"


@pytest.mark.parametrize("text", ["", " \n\t\n", "---\n---\n", "---\n# only a comment\n---\n\n", "\ufeff"])
def test_a_note_that_says_nothing_is_refused(root: Path, text: str) -> None:
    put(root, "a.md", text)
    refused = read(root).only_refused
    assert (refused.file, refused.line) == ("a.md", 0)
    assert refused.reason == "is empty: it has neither text nor properties"


def test_a_note_of_properties_only_has_them_as_its_text(root: Path) -> None:
    text = '---\ncategories:\n  - "[[Trips]]"\n  - Other\nstart: 2023-09-12\nrating:\nplace: {city: Kyoto}\n---\n\n'
    incoming = note(root, text)
    assert incoming.fields["content"] == (
        'categories: [[Trips]], Other\nstart: 2023-09-12\nrating:\nplace: {"city":"Kyoto"}\n'
    )
    assert incoming.fields["extra"]["vault"]["body"] == "\n"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("---\ntitle: a\ntags: [a, b\n---\nbody", 4, "not valid YAML"),
        ("---\ntitle: a: b\n---\nbody", 2, "not valid YAML"),
        ("---\r\ntitle: a\r\nbad: @x\r\n---\r\n", 3, "not valid YAML"),
        ("---\na: 1\na: 2\n---\nbody", 3, "names 'a' twice"),
        ("---\na: &a [*a]\n---\nbody", 2, "unfolds"),
    ],
)
def test_frontmatter_that_cannot_be_used_is_refused_with_the_line_in_the_file(
    root: Path, text: str, line: int, reason: str
) -> None:
    put(root, "bad.md", text)
    put(root, "good.md", "x")
    found = read(root)
    assert found.keys == ["good.md"]
    assert [(one.file, one.line) for one in found.refused] == [("bad.md", line)]
    assert reason in found.refused[0].reason


def test_an_alias_bomb_is_refused_soon(root: Path) -> None:
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    put(root, "bomb.md", "---\na0: &a0 [x]\n" + "\n".join(levels) + "\n---\nbody")
    assert "unfolds to more than 10,000 values" in read(root).only_refused.reason


@pytest.mark.parametrize("text", ["---\nJust prose.\n---\nmore", "---\n- a\n- b\n---\n", "---\n5\n---\n"])
def test_a_page_between_two_rules_is_text_and_not_frontmatter(root: Path, text: str) -> None:
    incoming = note(root, text)
    assert incoming.fields["content"] == text
    assert "frontmatter" not in incoming.fields["extra"]


def test_bytes_that_are_not_utf8_are_refused_with_their_line_and_cost_no_other_note(root: Path) -> None:
    put(root, "bad.md", b"---\ntitle: a\n---\nna\xefve\n")
    put(root, "good.md", "x")
    found = read(root)
    assert found.keys == ["good.md"]
    assert [(one.file, one.line) for one in found.refused] == [("bad.md", 4)]


def test_a_file_of_a_megabyte_and_a_text_over_the_limit_are_refused_with_their_sizes(root: Path) -> None:
    put(root, "a.md", "x" * 1_048_576)
    put(root, "b.md", "x" * 262_145)
    put(root, "c.md", "x" * 262_144)
    found = read(root)
    assert found.keys == ["c.md"]
    assert [one.reason for one in found.refused] == [
        "is 1,048,576 bytes long; the limit is 327,680",
        "has a text of 262,145 bytes; the limit is 262,144",
    ]


def test_links_that_lead_out_are_refused_and_loops_end(root: Path, tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md", "x")
    put(root, "a.md", "x")
    (root / "stolen.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    found = read(root)
    assert found.keys == ["a.md"]
    assert [one.file for one in found.refused] == ["folder", "stolen.md"]


def test_the_digest_is_of_the_bytes_and_not_of_the_time(root: Path) -> None:
    path = put(root, "a.md", "x")
    first = read(root).only.digest
    os.utime(path, (1, 1))
    assert read(root).only.digest == first
    path.write_text("y", encoding="utf-8")
    assert read(root).only.digest != first


def test_a_note_that_an_export_wrote_is_known_again_by_its_id_and_a_copy_of_it_is_not(root: Path) -> None:
    text = "---\nmemento_id: m1\nmemento_namespace: projects/app\n---\nx"
    put(root, "a.md", text)
    put(root, "a copy.md", text)
    fields: list[dict[str, Any]] = [one.fields for one in read(root).taken]
    assert [one.get("id") for one in fields] == ["m1", None]
    assert [one["namespace"] for one in fields] == ["projects/app", "projects/app"]


def test_notes_are_counted_without_being_read(root: Path) -> None:
    put(root, "a.md", b"\xff")
    put(root, "b/c.md", "")
    put(root, "d.txt", "")
    assert vault.count(root) == 2
    with pytest.raises(InvalidInput, match="nothing at"):
        read(root / "missing")
