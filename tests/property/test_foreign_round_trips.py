"""What came from another system's files goes back as it was, through its reader, the records and its writer."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.formats import beads, engram, mcp_reference, mem0
from memento_tui.formats.base import ExportRecord, ImportRecord, Refused
from memento_tui.formats.columns import encode_go_json, format_foreign_moment, parse_foreign_moment
from memento_tui.model import Memory, Relation, WorkingItem, make_item, make_memory, make_relation

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)
WORDS = TEXT.filter(str.strip)
PROSE = st.one_of(WORDS, st.sampled_from(["a\nb", "## Design\n\nx", "x\n\n## Notes\n\ny", " a ", "\n\na", "<&>\u2028"]))
WORD = st.text("abcdefgh-", min_size=1, max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
UNKNOWN = st.dictionaries(TEXT.map(lambda text: f"x{text}"), JSON, max_size=2)
DAY = st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - a bound has no zone
MOMENT = st.one_of(
    DAY.map(lambda day: day.isoformat()),
    DAY.map(lambda day: f"{day:%Y-%m-%dT%H:%M:%SZ}"),
    DAY.map(lambda day: f"{day:%Y-%m-%d %H:%M:%S}"),
    DAY.map(lambda day: int(day.timestamp())),
)
ISO = DAY.map(lambda day: f"{day:%Y-%m-%dT%H:%M:%SZ}")
PLAIN = DAY.map(lambda day: f"{day:%Y-%m-%d %H:%M:%S}")


def merged(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda found: {name: value for part in found for name, value in part.items()})


def taken(found: Iterable[ImportRecord | Refused]) -> list[ImportRecord]:
    whole = list(found)
    assert [one for one in whole if isinstance(one, Refused)] == []
    return [one for one in whole if isinstance(one, ImportRecord)]


def records(found: Iterable[ImportRecord]) -> list[ExportRecord]:
    """Make the records of a reading, and the relations that their links draw."""
    made: dict[str, tuple[ImportRecord, Memory | WorkingItem]] = {
        one.key: (one, make_item(one.fields) if one.record == "item" else make_memory(one.fields)) for one in found
    }
    relations: list[Relation] = [
        make_relation({"src": record.id, "dst": made[target][1].id, "type": kind, "label": label})
        for one, record in made.values()
        for kind, target, label in one.links
        if made[target][1].id != record.id
    ]
    return [*(record for _, record in made.values()), *relations]


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def put_lines(path: Path, values: Iterable[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(encode_go_json(value) + b"\n" for value in values))


ENTITY = merged(
    st.fixed_dictionaries({}, optional={"type": st.just("entity")}),
    st.fixed_dictionaries(
        {"entityType": TEXT, "observations": st.lists(PROSE | TEXT | JSON, max_size=4)},
        optional={"createdAt": MOMENT, "updatedAt": MOMENT | st.none()},
    ),
    UNKNOWN,
)


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    names = draw(st.lists(WORDS, unique=True, max_size=5))
    entities = [{"name": name, **draw(ENTITY)} for name in names]
    ends = st.sampled_from(names) | WORDS if names else WORDS
    relation = merged(
        st.fixed_dictionaries(
            {"from": ends, "to": ends, "relationType": st.sampled_from(["owns", "", "related", "a b"]) | PROSE}
        ),
        UNKNOWN,
    )
    return entities + draw(st.lists(relation, max_size=6))


@given(graphs())
def test_a_graph_returns_line_for_line(graph: list[dict[str, Any]]) -> None:
    with folder() as root:
        put_lines(root / "memory.jsonl", graph)
        found = taken(mcp_reference.read(root / "memory.jsonl"))
        assert len({one.key for one in found}) == len(found)
        mcp_reference.write(records(found), root / "out.jsonl")
        assert lines(root / "out.jsonl") == graph


MEM0 = merged(
    st.fixed_dictionaries(
        {"id": st.uuids().map(str), "memory": PROSE},
        optional={
            "hash": TEXT,
            "metadata": JSON,
            "categories": st.lists(TEXT, max_size=3) | st.none(),
            "created_at": MOMENT | st.none(),
            "updated_at": MOMENT | st.none(),
            "expiration_date": st.none() | DAY.map(lambda day: f"{day:%Y-%m-%d}") | TEXT,
            "user_id": st.none() | TEXT,
            "agent_id": st.none() | TEXT,
            "app_id": st.none() | TEXT,
            "run_id": st.none() | TEXT,
        },
    ).filter(lambda one: one.keys() & {"hash", "user_id", "id"}),
    UNKNOWN,
)
TRIPLE = merged(
    st.fixed_dictionaries({"source": WORDS, "relationship": WORDS}),
    st.sampled_from(["target", "destination"]).flatmap(lambda name: st.fixed_dictionaries({name: WORDS})),
    UNKNOWN,
)


@given(
    st.lists(MEM0, max_size=4, unique_by=lambda one: one["id"]),
    st.lists(TRIPLE, max_size=3, unique_by=mem0.relation_sentence),
    st.sampled_from([None, 2]),
)
def test_a_document_of_mem0_returns_with_every_value(
    memories: list[dict[str, Any]], relations: list[dict[str, Any]], indent: int | None
) -> None:
    document = {"results": memories, **({"relations": relations} if relations else {})}
    with folder() as root:
        (root / "in.json").write_text(json.dumps(document, indent=indent, ensure_ascii=False), encoding="utf-8")
        mem0.write(records(taken(mem0.read(root / "in.json"))), root / "out.json")
        assert json.loads((root / "out.json").read_bytes()) == document


@st.composite
def chunks(draw: st.DrawFn) -> list[dict[str, list[dict[str, Any]] | None]]:
    """Draw the chunks of one history, in which nothing is told twice."""
    number = 0

    def some(sort: str, *parts: st.SearchStrategy[dict[str, Any]]) -> list[dict[str, Any]] | None:
        nonlocal number
        found = []
        for one in draw(st.lists(merged(*parts, UNKNOWN), max_size=3)):
            number += 1
            given = {"id": f"s{number}"} if sort == "session" else {"id": number, "sync_id": f"{sort}-{number}"}
            found.append({**given, **one})
        return found or None

    places = st.fixed_dictionaries({}, optional={"project": TEXT})
    sessions = st.fixed_dictionaries({"directory": TEXT, "started_at": PLAIN}, optional={"summary": PROSE})
    observations = st.fixed_dictionaries(
        {"type": TEXT, "title": TEXT, "content": PROSE, "created_at": PLAIN, "updated_at": PLAIN},
        optional={"scope": st.sampled_from(["personal", "project"]), "session_id": TEXT},
    )
    prompts = st.fixed_dictionaries({"content": PROSE}, optional={"created_at": PLAIN})
    history = [
        {
            "sessions": some("session", places, sessions),
            "observations": some("obs", places, observations),
            "prompts": some("prompt", places, prompts),
        }
        for _ in range(draw(st.integers(1, 3)))
    ]
    return [chunk for chunk in history if any(chunk.values())]


@given(chunks())
def test_chunks_of_engram_return_to_the_byte_and_with_their_ids(history: list[dict[str, Any]]) -> None:
    with folder() as root:
        home = root / ".engram"
        (home / "chunks").mkdir(parents=True)
        entries = []
        for nth, chunk in enumerate(history):
            data = encode_go_json(chunk)
            identity = engram.chunk_id(data)
            (home / "chunks" / f"{identity}.jsonl.gz").write_bytes(gzip.compress(data))
            counts = {name: len(chunk[key] or ()) for name, key in zip(COUNTED, chunk, strict=True)}
            entries.append({"id": identity, "created_by": "x", "created_at": f"2026-01-0{nth + 1}T00:00:00Z", **counts})
        manifest = {"version": 1, "chunks": entries}
        (home / "manifest.json").write_text(json.dumps(manifest))
        engram.write(records(taken(engram.read(root))), root / "out")
        assert json.loads((root / "out" / "manifest.json").read_bytes()) == manifest
        for entry in entries:
            name = f"chunks/{entry['id']}.jsonl.gz"
            written = gzip.decompress((root / "out" / name).read_bytes())
            assert written == gzip.decompress((home / name).read_bytes())


COUNTED = ("sessions", "memories", "prompts")

ISSUE = merged(
    st.fixed_dictionaries({"id": WORD, "title": WORDS, "priority": st.integers(0, 4) | st.integers() | st.none()}),
    st.fixed_dictionaries(
        {},
        optional={
            "description": PROSE | st.none() | st.just(""),
            "design": PROSE,
            "acceptance_criteria": PROSE | st.just(""),
            "notes": PROSE | st.none(),
            "status": st.sampled_from(["open", "closed", "blocked", "hooked", "pinned", "own-status", "deferred"]),
            "issue_type": st.sampled_from(["bug", "gate", "task"]),
            "created_at": ISO,
            "updated_at": ISO,
            "closed_at": ISO | st.none(),
            "pinned": st.booleans() | st.integers(0, 1),
        },
    ),
    UNKNOWN,
)
REMEMBERED = st.dictionaries(WORDS, PROSE, max_size=3)


def by_id(issue: dict[str, Any]) -> str:
    return str(issue["id"])


@given(
    st.lists(
        merged(
            st.just({"_type": "issue"}),
            ISSUE,
            st.fixed_dictionaries(
                {},
                optional={
                    "labels": st.lists(TEXT, max_size=3) | st.none(),
                    "dependencies": st.lists(UNKNOWN, max_size=2),
                    "comments": st.lists(UNKNOWN, max_size=2),
                },
            ),
        ),
        max_size=4,
        unique_by=by_id,
    ),
    REMEMBERED,
)
def test_an_export_of_beads_returns_line_for_line(issues: list[dict[str, Any]], remembered: dict[str, str]) -> None:
    whole = issues + [{"_type": "memory", "key": key, "value": value} for key, value in remembered.items()]
    with folder() as root:
        put_lines(root / "in.jsonl", whole)
        beads.write(records(taken(beads.read(root / "in.jsonl"))), root / "out.jsonl")
        assert lines(root / "out.jsonl") == whole


@st.composite
def backups(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    issues = draw(st.lists(ISSUE, min_size=1, max_size=3, unique_by=by_id))
    tables: dict[str, list[dict[str, Any]]] = {"issues": issues}
    names = [issue["id"] for issue in issues]
    for table in ("dependencies", "comments", "events"):
        rows = draw(st.lists(merged(st.fixed_dictionaries({"issue_id": st.sampled_from(names)}), UNKNOWN), max_size=4))
        tables[table] = [{"id": nth, **row} for nth, row in enumerate(rows)]
    tables["labels"] = [
        {"issue_id": name, "label": label} for name in names for label in draw(st.lists(WORD, unique=True, max_size=2))
    ]
    tables["config"] = [{"key": f"kv.memory.{key}", "value": value} for key, value in draw(REMEMBERED).items()]
    return {name: rows for name, rows in tables.items() if rows}


@given(backups())
def test_a_backup_of_beads_returns_table_for_table(tables: dict[str, list[dict[str, Any]]]) -> None:
    with folder() as root:
        for name, rows in tables.items():
            put_lines(root / ".beads" / "backup" / f"{name}.jsonl", rows)
        beads.write(records(taken(beads.read(root))), root / "out")
        assert {path.stem: lines(path) for path in (root / "out").iterdir()} == tables


@given(DAY, MOMENT | TEXT | st.integers() | st.none())
def test_a_moment_is_written_as_the_source_wrote_its_own(moment: datetime, given_before: object) -> None:
    whole = moment.replace(microsecond=0)
    written = format_foreign_moment(whole, given_before)
    if parse_foreign_moment(written) is not None:
        assert parse_foreign_moment(written) == whole
    if (before := parse_foreign_moment(given_before)) is not None:
        assert format_foreign_moment(before, given_before) == given_before


NAMES = st.sampled_from(
    [
        "entity",
        "relations",
        "relation",
        "memory",
        "chunk",
        "observation",
        "session",
        "mutations",
        "issue",
        "labels",
        "id",
        "name",
        "from",
        "to",
        "line",
        "key",
        "title",
        "content",
        "created_at",
        "updated_at",
        "comments",
        "prompt",
        "type",
        "source",
        "target",
        "relationship",
        "observations",
        "relationType",
        "results",
        "value",
        "sessions",
        "prompts",
        "sync_id",
        "_type",
        "priority",
    ]
)
ODD = st.recursive(
    st.none() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(ODD, st.sampled_from(["active", "deleted", "pending", "rejected"]))
def test_what_another_hand_put_where_a_format_keeps_its_own_never_stops_an_export(odd: Any, status: str) -> None:  # noqa: ANN401 - whatever JSON has
    for format_name, writer in (
        ("mcp-reference", mcp_reference),
        ("mem0", mem0),
        ("engram", engram),
        ("beads", beads),
    ):
        memory = make_memory({"content": "x", "status": status, "extra": {format_name: odd}})
        item = make_item({"title": "x", "extra": {format_name: odd}})
        with folder() as root:
            written = writer.write([memory, item], root / "out")
            assert written.records + written.left_out >= 1


@given(st.lists(ODD | st.dictionaries(NAMES, ODD, max_size=6), max_size=4), st.binary(max_size=30))
def test_no_reader_fails_at_whatever_a_file_holds(values: list[Any], junk: bytes) -> None:
    whole = b"\n".join([*(json.dumps(value).encode() for value in values), junk])
    with folder() as root:
        (root / "chunks").mkdir()
        one = json.dumps(values[0] if values else None).encode()
        files = {"a.jsonl": whole, "a.json": whole, "b.json": one, "chunks/a.jsonl.gz": gzip.compress(one)}
        for name, data in {**files, "chunks/b.jsonl.gz": whole, "manifest.json": one}.items():
            (root / name).write_bytes(data)
        for reader in (mcp_reference, mem0, engram, beads):
            for found in reader.read(root):
                assert isinstance(found, ImportRecord | Refused)
            assert reader.count(root) >= 0
