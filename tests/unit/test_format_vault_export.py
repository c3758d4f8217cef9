from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.formats import vault
from memento_tui.formats.note import LinkTargets
from memento_tui.model import Memory, Relation, make_item, make_memory, make_relation
from tests.unit.format_reading import Reading, reading


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def put(root: Path, name: str, text: str | bytes) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(root: Path) -> Reading:
    return reading(vault.read(root))


def imported(root: Path) -> tuple[list[Memory], list[Relation]]:
    """Return the notes of a vault as an import leaves them: as memories with ids, and links that found their target."""
    found = read(root)
    targets = LinkTargets()
    for one in found.taken:
        targets.add_note(one.key, one.fields["title"], one.fields["extra"].get("frontmatter", {}))
    memories = found.memories
    relations = [
        make_relation({"src": memories[one.key].id, "dst": memories[target].id, "type": kind, "label": label})
        for one in found.taken
        for kind, written, label in one.links
        if (target := targets.resolve(written, one.key)) not in (None, one.key)
    ]
    return list(memories.values()), relations


def changed(memory: Memory, **values: object) -> Memory:
    fields: dict[str, Any] = {name: getattr(memory, name) for name in memory.__struct_fields__}
    return make_memory({**fields, **values})


def edited(tmp_path: Path, text: str, **values: object) -> str:
    """Return a note's text after an import, a change in memento and an export."""
    put(tmp_path / "in", "a.md", text)
    (memory,) = imported(tmp_path / "in")[0]
    assert vault.write([changed(memory, **values)], tmp_path / "out").files == 1
    return (tmp_path / "out" / "a.md").read_bytes().decode()


UNTOUCHED = {
    "plain.md": "Just text.",
    "windows.md": "---\r\ntitle: a\r\ntags: [x]\r\n---\r\nLine one\r\nLine two\r\n",
    "mixed.md": "---\r\ntitle: a\n---\none\r\ntwo\n",
    "mark.md": "\ufeff---\ntitle: a\n---\nbody",
    "mark only.md": "\ufeffbody",
    "head only.md": "---\ntags:\n  - daily\n---",
    "head and space.md": "---\ntags:   [daily]  # c\n---\n\n \n",
    "rules.md": "---\nprose\n---\nmore",
    "list.md": "---\n- a\n---\nmore",
    "odd.md": '---\n{title: "a", date: 2024-1-1, n: 1.10}\n---\n\n\nbody  \n\n',
    "anchors.md": "---\na: &x [1]\nb: *x\ntags: [a, A, '#a']\n---\nbody #a #b",
    "links.md": "---\nsupersedes: '[[plain]]'\nrelated: [windows]\n---\n[[mixed]] ![[a.png]] [x](sub/deep%20one.md)",
    "sub/deep one.md": "%% comment %%\n> [!note] callout\n![[plain]]\n\n```\n---\n```\n",
    "sub/Kind.md": "---\ntype: ['[[Odd Kind]]']\ncertainty: high\ndate: whenever\n---\n#tag",
    "sub/no\u00a0break space.md": "text",
}


def test_an_untouched_vault_returns_byte_for_byte(tmp_path: Path, out: Path) -> None:
    for name, text in UNTOUCHED.items():
        put(tmp_path / "in", name, text)
    memories, relations = imported(tmp_path / "in")
    assert len(memories) == len(UNTOUCHED)
    assert {relation.type for relation in relations} == {"supersedes", "related"}
    written = vault.write([*memories, *relations], out)
    assert (written.files, written.refused, written.left_out) == (len(UNTOUCHED), (), 0)
    assert {name: (out / name).read_bytes().decode() for name in UNTOUCHED} == UNTOUCHED


def test_an_export_onto_the_untouched_vault_writes_nothing(tmp_path: Path) -> None:
    for name, text in UNTOUCHED.items():
        put(tmp_path / "in", name, text)
    memories, relations = imported(tmp_path / "in")
    written = vault.write([*memories, *relations], tmp_path / "in")
    assert (written.files, written.refused) == (0, ())


def test_a_change_of_one_field_changes_the_lines_of_its_property_only(tmp_path: Path) -> None:
    text = '---\n# mine\ntitle: "Old"   # quoted\nmood: 1.50\ncertainty: 2\n---\nbody\n'
    after = edited(tmp_path, text, title="New", certainty=5, tags=["a b"], kind="decision", validity_context="now")
    assert after == (
        "---\n# mine\ntitle: New\nmood: 1.50\ncertainty: 5\n"
        "type: decision\ntags:\n- a b\nvalidity-context: now\n---\nbody\n"
    )


def test_a_change_of_the_text_leaves_the_head(tmp_path: Path) -> None:
    text = "---\r\nmood:   good\r\n---\r\nold\r\n"
    assert edited(tmp_path, text, content="new\r\n") == "---\r\nmood:   good\r\n---\r\nnew\r\n"


def test_a_text_that_is_given_to_a_note_of_properties_only_becomes_its_body(tmp_path: Path) -> None:
    assert edited(tmp_path, "---\nmood: good\n---", content="text") == "---\nmood: good\n---\ntext"


def test_a_note_without_a_head_gains_one_when_it_has_to_say_more(tmp_path: Path) -> None:
    assert edited(tmp_path, "# Heading\r\nbody", certainty=5) == "---\r\ncertainty: 5\r\n---\r\n# Heading\r\nbody"


def test_a_tag_of_the_body_is_not_written_into_the_head_unless_it_left_the_body(tmp_path: Path) -> None:
    text = "---\ntags: [own]\n---\nbody #inline"
    assert edited(tmp_path / "one", text, certainty=4).startswith("---\ntags: [own]\n")
    assert edited(tmp_path / "two", text, content="body") == "---\ntags:\n- own\n- inline\n---\nbody"


def test_removed_tags_and_a_removed_context_leave_the_head(tmp_path: Path) -> None:
    text = "---\ntags: [own]\nvalidity-context: now\nmood: 1\n---\nbody"
    assert edited(tmp_path, text, tags=[], validity_context="") == "---\nmood: 1\n---\nbody"


def test_a_text_that_begins_like_frontmatter_stays_text(tmp_path: Path, out: Path) -> None:
    content = "---\ntitle: forged\n---\nbody"
    edited(tmp_path, "plain", content=content)
    vault.write([make_memory({"id": "native", "content": content, "title": "T"})], out)
    found = read(out)
    assert sorted(one.content for one in found.memories.values()) == [content, content]
    assert "forged" not in {one.title for one in found.memories.values()}


def test_a_memory_of_memento_becomes_a_note_that_an_import_knows_again(out: Path) -> None:
    memory = make_memory(
        {
            "id": "m1",
            "content": "WAL lets readers run.\n",
            "title": 'Use "WAL": always / now?',
            "namespace": "projects/app",
            "kind": "decision",
            "tags": ["a", "true", "2024"],
            "certainty": 4,
            "validity_context": "SQLite: 3.7+",
            "created_at": "2026-01-02T03:04:05.678901Z",
            "updated_at": "2026-02-02T00:00Z",
            "source": {"agent": "codex", "session": "s1", "transcript": "t.jsonl"},
            "source_type": "derived",
        }
    )
    written = vault.write([memory], out)
    assert (written.records, written.files) == (1, 1)
    path = out / "projects" / "app" / "Use WAL always now.md"
    assert path.read_text(encoding="utf-8") == (
        "---\n"
        'title: "Use \\"WAL\\": always / now?"\n'
        "type: decision\n"
        'tags:\n- a\n- "true"\n- "2024"\n'
        "certainty: 4\n"
        'validity-context: "SQLite: 3.7+"\n'
        "date: 2026-01-02T03:04:05.678901Z\n"
        "updated: 2026-02-02T00:00:00Z\n"
        "source: session\n"
        "agent: codex\n"
        "session_id: s1\n"
        "transcript_path: t.jsonl\n"
        "memento_id: m1\n"
        "memento_namespace: projects/app\n"
        "---\n"
        "WAL lets readers run.\n"
    )
    (found,) = read(out).memories.values()
    assert changed(found, extra={}) == memory


def test_relations_become_links_and_those_that_the_text_makes_already_do_not(tmp_path: Path, out: Path) -> None:
    put(tmp_path / "in", "a.md", "see [[b]]")
    put(tmp_path / "in", "b.md", "---\nsupersedes: '[[c]]'\n---\nx")
    put(tmp_path / "in", "c.md", "x")
    memories, relations = imported(tmp_path / "in")
    by_path = {memory.extra["vault"]["path"]: memory.id for memory in memories}
    native = make_memory({"id": "n", "content": "x", "title": "New [one]"})
    added = [
        make_relation({"src": by_path["a.md"], "dst": "n"}),
        make_relation({"src": by_path["b.md"], "dst": by_path["a.md"], "type": "supersedes"}),
        make_relation({"src": "n", "dst": by_path["a.md"], "type": "consolidated_from"}),
        make_relation({"src": "n", "dst": "elsewhere", "type": "contradicts"}),
        make_relation({"src": "n", "dst": "main.py", "type": "file"}),
    ]
    written = vault.write([*memories, native, *relations, *added, make_item({"title": "i"})], out)
    assert written.left_out == 3
    assert (out / "a.md").read_text(encoding="utf-8") == '---\nrelated:\n- "[[global/New one]]"\n---\nsee [[b]]'
    assert (out / "b.md").read_text(encoding="utf-8") == '---\nsupersedes:\n- "[[c]]"\n- "[[a]]"\n---\nx'
    links = {one.key: one.links for one in read(out).taken}
    assert links["global/New one.md"] == (("consolidated_from", "a", ""),)
    again, relations_again = imported(out)
    assert len(again) == 4
    assert len(relations_again) == len(relations) + 3


def test_deleted_memories_are_left_out(out: Path) -> None:
    written = vault.write([make_memory({"content": "x", "status": "deleted"})], out)
    assert (written.records, written.files, written.left_out) == (0, 0, 1)


def test_memories_of_one_title_get_names_of_their_own(out: Path) -> None:
    memories = [make_memory({"id": name, "content": "x", "title": "Same"}) for name in ("a", "b", "b?", "b*")]
    vault.write(memories, out)
    assert sorted(path.name for path in (out / "global").iterdir()) == [
        "Same (b) 2.md",
        "Same (b) 3.md",
        "Same (b).md",
        "Same.md",
    ]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("../../etc/passwd", "etc passwd"),
        ("...", "unnamed"),
        (".hidden", "hidden"),
        ("\u202egnp.exe\u200b", "gnp.exe"),
        ("字" * 300, "字" * 40),
        ("a\x07b", "a b"),
    ],
)
def test_every_title_makes_a_name_that_can_be_written(out: Path, title: str, name: str) -> None:
    vault.write([make_memory({"content": "x", "title": title})], out)
    assert [path.name for path in (out / "global").iterdir()] == [f"{name}.md"]


@pytest.mark.parametrize(
    "path",
    ["../escape.md", "/escape.md", "a/../../escape.md", ".obsidian/x.md", "a.txt", "a//b.md", "", "a\nb.md", 5],
)
def test_a_place_that_leads_out_of_the_folder_is_never_written(tmp_path: Path, out: Path, path: object) -> None:
    memory = make_memory({"id": "m", "content": "x", "title": "T", "extra": {"vault": {"path": path, "head": "x"}}})
    vault.write([memory], out)
    assert [found.relative_to(tmp_path).as_posix() for found in tmp_path.rglob("*") if found.is_file()] == [
        "out/global/T.md"
    ]


def test_a_link_in_the_folder_is_never_written_through(tmp_path: Path, out: Path) -> None:
    target = put(tmp_path, "outside/a.md", "mine")
    out.mkdir()
    (out / "folder").symlink_to(tmp_path / "outside")
    (out / "b.md").symlink_to(target)
    memories = [
        make_memory({"content": "x", "extra": {"vault": {"path": path}}}) for path in ("folder/a.md", "b.md", "c.md")
    ]
    written = vault.write(memories, out)
    assert [one.file for one in written.refused] == ["folder/a.md", "b.md"]
    assert (written.records, written.files) == (1, 1)
    assert target.read_text(encoding="utf-8") == "mine"


def test_a_note_that_was_changed_since_it_was_read_is_not_replaced(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "old")
    (memory,) = imported(tmp_path)[0]
    path.write_text("changed in the editor", encoding="utf-8")
    written = vault.write([changed(memory, content="changed in memento")], tmp_path)
    assert [one.file for one in written.refused] == ["a.md"]
    assert path.read_text(encoding="utf-8") == "changed in the editor"


def test_a_note_that_is_as_it_was_read_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", "old")
    path.chmod(0o644)
    (memory,) = imported(tmp_path)[0]
    assert vault.write([changed(memory, content="new")], tmp_path).files == 1
    assert path.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_note_that_is_in_the_way_of_a_folder_costs_only_what_needs_the_folder(out: Path) -> None:
    memories = [
        make_memory({"content": "x", "extra": {"vault": {"path": path}}}) for path in ("a.md", "a.md/b.md", "c.md")
    ]
    written = vault.write(memories, out)
    assert [one.file for one in written.refused] == ["a.md/b.md"]
    assert written.records == 2


@pytest.mark.parametrize(
    "kept",
    [
        "text",
        {"head": 5},
        {"path": "a.md", "head": "no frontmatter"},
        {"path": "a.md", "head": "---\na: b: c\n---\n"},
        {"path": "a.md", "head": "---\na: 1\n---\nmore"},
        {"path": "a.md", "body": "forged", "head": ""},
        {"path": "a.md", "digest": "forged"},
    ],
)
def test_values_that_another_hand_put_where_the_import_keeps_its_own_never_change_the_text(
    out: Path, kept: object
) -> None:
    vault.write([make_memory({"content": "true text", "title": "T", "extra": {"vault": kept}})], out)
    (found,) = read(out).memories.values()
    assert (found.content, found.title) == ("true text", "T")


def test_a_memory_without_a_text_is_an_error(out: Path) -> None:
    blank = Memory(
        id="a",
        content=" ",
        created_at=make_memory({"content": "x"}).created_at,
        updated_at=make_memory({"content": "x"}).created_at,
    )
    with pytest.raises(InvalidInput, match="has no text"):
        vault.write([blank], out)
