from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.formats import claude, memento_core, memento_jsonl, vault
from memento_tui.formats.base import ImportRecord, Refused, namespace_from_parts, one_line, usable_tags
from memento_tui.formats.frontmatter import (
    InvalidFrontmatter,
    change_properties,
    dump_property,
    read_properties,
    split_note,
)
from memento_tui.model import Memory, make_memory
from memento_tui.model.memory import KINDS, SOURCE_TYPES, STATUSES
from memento_tui.model.validation import check_namespace, check_tags

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXT = st.text(CHARACTERS, max_size=60)
CONTENT = st.one_of(
    TEXT,
    st.lists(
        st.sampled_from(
            ["---\n", "---\r\n", "# T\n", "a: 1\n", "- x y z q\n", "#tag ", "[[a]]", "```\n", "`", "\r\n", " "]
        ),
        max_size=12,
    ).map("".join),
).filter(str.strip)
LINE = TEXT.map(lambda text: one_line(text, 50))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
MOMENT = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - a bound has no zone
TAGS = st.lists(TEXT, max_size=4).map(usable_tags)
NAMESPACE = st.lists(TEXT, min_size=1, max_size=3).map(namespace_from_parts)
SAFE_ID = st.text("abcXYZ-_.:0123", min_size=1, max_size=12)


def read_all(reader: Any, data: bytes, name: str) -> list[ImportRecord | Refused]:  # noqa: ANN401 - any module with a read
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory" / name
        path.parent.mkdir()
        path.write_bytes(data)
        return list(reader.read(path.parent))


def only(found: Iterable[ImportRecord | Refused]) -> ImportRecord:
    (one,) = found
    assert isinstance(one, ImportRecord)
    return one


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    source_type = draw(st.sampled_from(SOURCE_TYPES))
    fields: Mapping[str, Any] = {
        "id": draw(SAFE_ID),
        "content": draw(CONTENT),
        "title": draw(LINE),
        "namespace": draw(NAMESPACE),
        "kind": draw(st.sampled_from(KINDS)),
        "kind_raw": draw(LINE),
        "tags": draw(TAGS),
        "system_tags": draw(TAGS),
        "certainty": draw(st.integers(1, 5)),
        "confidence": draw(st.floats(0, 1)),
        "validity_context": draw(LINE),
        "source_type": source_type,
        "source": {"agent": draw(TEXT), "url": draw(TEXT)},
        "status": draw(st.sampled_from(STATUSES)),
        "pinned": draw(st.booleans()),
        "created_at": draw(MOMENT),
        "updated_at": draw(MOMENT),
        "expires_at": draw(st.none() | MOMENT),
        "surprise": draw(st.none() | st.floats(0, 1)),
        "extra": draw(st.dictionaries(TEXT, JSON, max_size=3)),
        "shown_count": draw(st.integers(0, 2**40)),
        "version": draw(st.integers(1, 2**40)),
    }
    return make_memory(fields)


@given(memories())
def test_memento_lines_hold_every_memory(memory: Memory) -> None:
    found = only(read_all(memento_jsonl, b"".join(memento_jsonl.encode([memory])), "a.jsonl"))
    assert make_memory(found.fields) == memory
    assert found.key == memory.id


@given(
    st.fixed_dictionaries(
        {
            "id": SAFE_ID,
            "namespace": st.just("n"),
            "content": CONTENT,
            "tags": st.lists(TEXT) | JSON.filter(bool),
            "created": MOMENT.map(lambda moment: moment.isoformat()),
            "updated": MOMENT.map(lambda moment: moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")),
            "source": st.none() | TEXT.filter(bool) | JSON,
            "relations": st.lists(TEXT.filter(bool), unique=True, max_size=3),
            "ttl": st.none() | MOMENT.map(lambda moment: f"{moment:%Y-%m-%d}"),
        }
    ),
    st.dictionaries(TEXT.map(lambda text: f"x{text}"), JSON, max_size=3),
)
def test_lines_of_memento_core_return_with_every_value(line: dict[str, Any], unknown: dict[str, Any]) -> None:
    line = {**unknown, **line}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "in").mkdir()
        (root / "in" / "n.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        memory = make_memory(only(memento_core.read(root / "in")).fields)
        memento_core.write([memory], root / "out")
        assert json.loads((root / "out" / "memories" / "n.jsonl").read_text(encoding="utf-8")) == line


@given(st.text(CHARACTERS, max_size=200) | CONTENT)
def test_every_note_that_is_taken_returns_byte_for_byte(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "in").mkdir()
        (root / "in" / "a.md").write_bytes(text.encode())
        taken = [one for one in vault.read(root / "in") if isinstance(one, ImportRecord)]
        vault.write([make_memory(one.fields) for one in taken], root / "out")
        for _ in taken:
            assert (root / "out" / "a.md").read_bytes() == text.encode()


@given(memories())
def test_every_memory_becomes_a_note_that_says_the_same(memory: Memory) -> None:
    memory = make_memory(
        {
            **{name: getattr(memory, name) for name in ("id", "content", "title", "namespace", "kind", "certainty")},
            # Obsidian writes some tags with a hash; in a memory they have none.
            "tags": usable_tags(tag.lstrip("#") for tag in memory.tags),
            "validity_context": memory.validity_context,
            "created_at": memory.created_at,
            "updated_at": memory.updated_at,
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        vault.write([memory], Path(folder))
        found = make_memory(only(vault.read(Path(folder))).fields)
    assert found.tags[: len(memory.tags)] == memory.tags
    for name in (
        "id",
        "content",
        "title",
        "namespace",
        "kind",
        "certainty",
        "validity_context",
        "created_at",
        "updated_at",
    ):
        assert getattr(found, name) == getattr(memory, name), name


NOISE = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [
                b"---\n",
                b"a: ",
                b"- ",
                b"&x ",
                b"*x",
                b"[",
                b"]",
                b"{",
                b"}",
                b'"',
                b"'",
                b"|\n",
                b"\n",
                b"\r\n",
                b"\t",
                b": ",
                b"title: ",
                b"tags: ",
                b"date: ",
                b"2024-01-01",
                b"\xff",
                b"\x00",
                b"# ",
                b"```\n",
                b"[[a|b]]",
                b'{"id": "a", "content": "x"}',
                b'{"record": "memory", "content": "x"',
                b"\xef\xbb\xbf",
                b"null",
                b"1e5",
                b"!!",
                b"%",
                b"? ",
            ]
        ),
        max_size=25,
    ).map(b"".join),
)


@given(NOISE)
def test_no_bytes_stop_a_reader_and_what_a_note_yields_is_a_memory(data: bytes) -> None:
    for reader, name in (
        (vault, "a.md"),
        (claude, "MEMORY.md"),
        (claude, "a.md"),
        (memento_core, "a.jsonl"),
        (memento_jsonl, "a.jsonl"),
    ):
        for one in read_all(reader, data, name):
            if isinstance(one, Refused):
                assert one.reason
            elif name.endswith(".md"):
                memory = make_memory(one.fields)
                assert check_namespace(memory.namespace)


@given(TEXT, JSON)
def test_every_property_is_read_as_it_was_written(name: str, value: object) -> None:
    found = read_properties(dump_property(name, value))
    assert found is not None
    assert [(one.name, one.value) for one in found] == [(name, as_read(value))]


def as_read(value: object) -> object:
    """Return what a written value is read as: a fraction that YAML spells in another way stays that text."""
    if isinstance(value, list):
        return [as_read(one) for one in value]
    if isinstance(value, dict):
        return {name: as_read(one) for name, one in value.items()}
    if isinstance(value, float):
        (one,) = read_properties(dump_property("a", value)) or []
        assert float(one.value) == value
        return one.value
    return value


@given(NOISE, st.dictionaries(st.sampled_from(["a", "title", "tags", "new"]), st.none() | JSON, max_size=3))
def test_a_change_of_some_properties_changes_no_other(data: bytes, changes: dict[str, Any]) -> None:
    head = split_note("---\n" + data.decode(errors="ignore") + "\n---\n").head
    try:
        before = read_properties(split_note(head).yaml)
    except InvalidFrontmatter:
        return
    if before is None:
        return
    changes = {name: as_read(value) for name, value in changes.items()}
    after = read_properties(split_note(change_properties(head, changes, "\n")).yaml)
    assert after is not None
    wanted = {one.name: one.value for one in before} | changes
    assert {one.name: one.value for one in after} == {
        name: value for name, value in wanted.items() if value is not None or name not in changes
    }


@given(st.lists(TEXT, max_size=6))
def test_every_name_becomes_one_that_records_allow(words: list[str]) -> None:
    check_namespace(namespace_from_parts(words))
    assert check_tags(usable_tags(words)) == usable_tags(words)
