from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memento_tui.formats.base import ExportRecord, ImportRecord, Refused
from memento_tui.formats.protocol import local, sqlite
from memento_tui.formats.protocol.columns import parse_blocks
from memento_tui.model import make_crystal, make_item, make_memory, make_relation, make_skip
from tests.depth import examples
from tests.unit.protocol_sources import as_file, database, rows

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXT = st.text(CHARACTERS, max_size=40)
WORDS = TEXT.filter(lambda text: bool(text.strip()))
LINE = st.text(st.characters(categories=["L", "N"], include_characters=" -."), min_size=1, max_size=30).filter(
    str.strip
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
MOMENT = st.sampled_from(
    [
        "2026-02-14 10:00:00",
        "2026-02-14T10:00:00.000Z",
        "2026-02-14",
        "2026-02-14T10:00:00+02:00",
        "never",
        "7d",
        "",
        "x",
    ]
)
IDS = [f"{n:08x}" for n in range(6)]
LINKAGE = st.one_of(
    st.fixed_dictionaries({"type": st.just("memory"), "id": st.sampled_from([*IDS, "gone"])}, optional={"label": LINE}),
    st.fixed_dictionaries({"type": st.just("file"), "path": LINE}),
    st.fixed_dictionaries({"type": st.just("item"), "id": LINE}, optional={"label": st.just("consolidated-from")}),
    JSON,
)
TAGS = st.lists(TEXT | st.just("source:x"), max_size=4)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)


MAKERS: Mapping[str, Callable[[Mapping[str, Any]], ExportRecord]] = {
    "memory": make_memory,
    "skip": lambda fields: make_skip(fields, stored=True),
    "item": make_item,
    "crystal": make_crystal,
}


def records_of(found: list[ImportRecord | Refused]) -> list[ExportRecord]:
    """Make the records of what a reader found, with the relations that an import draws between them."""
    made: list[ExportRecord] = []
    ids: dict[str, str] = {}
    taken = [one for one in found if isinstance(one, ImportRecord)]
    for one in taken:
        record: ExportRecord = MAKERS[one.record](one.fields)
        made.append(record)
        if one.record == "memory":
            ids[one.key] = record.id
    for one in taken:
        for kind, target, label in one.links:
            end = target if kind in ("file", "item") else ids.get(target)
            if end is not None and end != ids[one.key]:
                made.append(make_relation({"src": ids[one.key], "dst": end, "type": kind, "label": label}))
    return made


@st.composite
def memory_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    return [
        {
            "id": identity,
            "content": draw(WORDS),
            "type": draw(st.sampled_from(["fact", "observation", "insight", "", "a\nb"]) | TEXT),
            "tags": draw(TAGS.map(json.dumps) | TEXT | st.none()),
            "created_at": draw(MOMENT | st.none()),
            "expires_at": draw(MOMENT | st.none()),
            "relevance": draw(NUMBERS),
            "access_count": draw(st.integers(0, 2**40)),
            "consolidated": draw(st.sampled_from([0, 1])),
            "consolidated_into": draw(st.none() | st.sampled_from([*IDS, "gone", ""])),
            "linkages": draw(st.lists(LINKAGE, max_size=3).map(json.dumps) | TEXT | st.none()),
            "embedded_at": draw(st.none() | TEXT),
            "images": draw(st.just("[]") | TEXT),
            "unknown": draw(st.none() | TEXT | NUMBERS | st.binary(max_size=9)),
        }
        for identity in draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4))
    ]


@st.composite
def other_rows(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    skips = [
        {"id": "s1", "item": draw(LINE), "reason": draw(LINE), "expires_at": draw(MOMENT), "added_at": draw(MOMENT)}
    ]
    items = [
        {
            "id": "i1",
            "category": draw(st.sampled_from(["active_work", "skip_list", "skip", "odd"]) | TEXT),
            "title": draw(WORDS.filter(lambda text: bool(" ".join(text.split())))),
            "content": draw(TEXT),
            "status": draw(st.sampled_from(["active", "archived", "odd"])),
            "priority": draw(st.integers(-(2**40), 2**40)),
            "tags": draw(TAGS.map(json.dumps) | TEXT),
            "next_action": draw(st.none() | TEXT),
            "last_touched": draw(MOMENT),
            "created_at": draw(MOMENT),
            "updated_at": draw(MOMENT),
        }
    ]
    sections = [{"section_key": draw(LINE), "heading": draw(LINE), "content": draw(TEXT), "updated_at": draw(MOMENT)}]
    crystals = [
        {"id": "c1", "crystal": draw(WORDS), "source_count": draw(st.integers(0, 9)), "created_at": draw(MOMENT)}
    ]
    log = [{"id": n, "memory_id": draw(TEXT), "query": draw(TEXT), "accessed_at": draw(MOMENT)} for n in range(1, 3)]
    return {
        "skip_list": skips,
        "working_memory_items": items,
        "working_memory_sections": sections,
        "identity_snapshots": crystals,
        "access_log": log,
    }


@settings(max_examples=examples(60))
@given(memory_rows(), other_rows())
def test_rows_of_the_database_return_as_they_were(
    memories: list[dict[str, Any]], others: dict[str, list[dict[str, Any]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = database(Path(folder) / "default.db", memories=memories, **others)
        found = list(sqlite.read(source))
        assert [one for one in found if isinstance(one, Refused)] == []
        written = sqlite.write(records_of(found), Path(folder) / "out")
        assert written.refused == ()
        assert rows(Path(folder) / "out" / "default.db") == rows(source)
        again = list(sqlite.read(Path(folder) / "out" / "default.db"))
        assert {(one.key, one.digest) for one in again if isinstance(one, ImportRecord) and one.record != "item"} == {
            (one.key, one.digest) for one in found if isinstance(one, ImportRecord) and one.record != "item"
        }


@st.composite
def memory_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    optional = {
        "type": st.sampled_from(["fact", "insight"]) | JSON,
        "tags": TAGS | JSON,
        "created": MOMENT | JSON,
        "expires": st.none() | MOMENT | JSON,
        "consolidated": st.booleans() | JSON,
        "consolidated_into": st.sampled_from([*IDS, "gone"]) | JSON,
        "consolidated_from": st.lists(st.sampled_from([*IDS, "gone"]), max_size=3) | JSON,
        "linkages": st.lists(LINKAGE, max_size=3) | JSON,
        "mood": JSON,
        "created_at": JSON,
    }
    identities = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=4))
    return [
        draw(st.fixed_dictionaries({"id": st.just(identity), "content": WORDS}, optional=optional))
        for identity in identities
    ]


SKIPS = st.lists(
    st.fixed_dictionaries(
        {"item": LINE, "reason": LINE, "expires": MOMENT | JSON}, optional={"added": MOMENT, "x": JSON}
    ),
    max_size=3,
)
ITEMS = st.fixed_dictionaries(
    {"title": WORDS.filter(lambda text: bool(" ".join(text.split())))},
    optional={
        "id": st.just("i1") | JSON,
        "category": st.sampled_from(["active_work", "skip_list", "skip"]) | JSON,
        "content": TEXT | JSON,
        "status": st.sampled_from(["active", "odd"]) | JSON,
        "priority": JSON,
        "tags": TAGS | JSON,
        "next_action": JSON,
        "created": MOMENT,
        "updated_at": MOMENT | JSON,
        "mood": JSON,
    },
)
DOCUMENTS = st.lists(
    st.sampled_from(
        [
            "# Working Memory\n",
            "## A\n",
            "## A",
            "##\n",
            "## \n",
            "---\n",
            "---",
            "\n",
            "\n\n",
            "text",
            " ",
            "\r\n",
            "\x0c",
            "é",
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=examples(60))
@given(memory_files(), SKIPS, ITEMS, DOCUMENTS, st.sampled_from([None, 0, 2]))
def test_local_files_return_byte_for_byte(
    memories: list[dict[str, Any]], skips: list[dict[str, Any]], item: dict[str, Any], text: str, indent: int | None
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "in" / ".memento"
        for one in memories:
            path = as_file(folder / "memories" / f"{one['id']}.json", one)
            path.write_text(json.dumps(one, indent=indent), encoding="utf-8")
        as_file(folder / "items" / "an item.json", item)
        as_file(folder / "skip-index.json", [{"id": f"s{n}", **one} for n, one in enumerate(skips)])
        (folder / "working-memory.md").write_bytes(text.encode())
        found = list(local.read(folder))
        assert [one for one in found if isinstance(one, Refused)] == []
        local.write(records_of(found), Path(name) / "out")
        out = Path(name) / "out" / "default" / ".memento"
        before = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
        after = {path.relative_to(out): path.read_bytes() for path in out.rglob("*.*")}
        if not text:
            del before[Path("working-memory.md")], after[Path("working-memory.md")]
        assert after == before


@given(DOCUMENTS | TEXT)
def test_the_blocks_of_a_document_are_the_document(text: str) -> None:
    assert "".join(block.text for block in parse_blocks(text)) == text


NOISE = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [b"[", b"]", b"{", b"}", b'"id"', b":", b'"a"', b",", b'"content"', b'"item"', b'"reason"', b"1e999"]  # noqa: RUF005 - two rows
            + [b"\xff", b"\x00", b"## ", b"\n", b"\\ud800", b"null", b"9" * 400, b"\xef\xbb\xbf", b"-"]
        ),
        max_size=20,
    ).map(b"".join),
)


@given(NOISE, st.sampled_from(["memories/a.json", "items/a.json", "skip-index.json", "working-memory.md"]))
def test_no_bytes_stop_the_reader_of_local_files(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        as_file(Path(folder) / "memories" / "b.json", {"id": "b", "content": "whole"})
        path = Path(folder) / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        found = list(local.read(Path(folder)))
        assert any(isinstance(one, ImportRecord) and one.key == "b" for one in found)


@given(st.binary(min_size=1, max_size=64), st.integers(0, 40_000))
def test_no_damage_stops_the_reader_of_a_database(damage: bytes, place: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = database(Path(folder) / "a.db", memories=[{"id": str(n), "content": "x" * 300} for n in range(30)])
        data = bytearray(source.read_bytes())
        place %= len(data)
        data[place : place + len(damage)] = damage[: len(data) - place]
        source.write_bytes(data)
        for one in sqlite.read(source):
            assert isinstance(one, ImportRecord) or one.reason
