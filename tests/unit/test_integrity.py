"""What is derived is compared with what it is made from, after real damage, and made anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.integrity import check_keyword_index, check_rows, repair
from memento_tui.embedding.index_worker import check_at_start
from memento_tui.errors import DataDirectoryError, NotAllowed
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.search.keyword_query import make_document

TEXTS = ("The staging port is 8080.", "Deploys run from deploy.sh.", "Otters eat fish near the river.")


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    for number, text in enumerate(TEXTS):
        workspace.remember(text, id=f"m{number}", tags=["Über", f"t{number}"])
    workspace.skips.add("vendor", "generated", "7d")
    workspace.update("m1", title="Deploying")
    workspace.search("port", mode="keyword")
    return workspace


def rows(workspace: Workspace) -> list[tuple[object, ...]]:
    """Return the memories' rows without the numbers, which only order them."""
    found = workspace._store.database.connection.execute("SELECT * FROM memory ORDER BY id").fetchall()
    return [row[1:] for row in found]


BEHIND_ITS_BACK = {
    "UPDATE memory SET content = 'The port is 9999.' WHERE id = 'm0'": r"memory m0 was changed .*\(content\)",
    "UPDATE memory SET certainty = 5, version = 1 WHERE id = 'm1'": r"memory m1 was changed .*certainty.*version",
    "DELETE FROM memory WHERE id = 'm2'": r"memory m2 is missing",
    "UPDATE skip SET reason = 'none'": r"skip \w+ was changed .*\(reason\)",
    "DELETE FROM memory_tag WHERE tag = 't2'": r"table of tags",
    "INSERT INTO memory_tag SELECT 'secret', number FROM memory WHERE id = 'm0'": r"table of tags",
}


@pytest.mark.parametrize("statement", BEHIND_ITS_BACK)
def test_a_row_that_was_changed_behind_the_journal_is_found_and_put_back(filled: Workspace, statement: str) -> None:
    before = rows(filled)
    assert check_rows(filled).ok
    filled._store.database.connection.execute(statement)
    finding = check_rows(filled)
    assert re.search(BEHIND_ITS_BACK[statement], finding.detail)
    assert "doctor --repair" in finding.hint
    assert "is kept as memento-" in " ".join(repair(filled))
    assert check_rows(filled).ok
    assert rows(filled) == before
    assert [one.why for one in filled.backups.list()] == ["before repair"]
    assert [hit.id for hit in filled.search("otters", mode="keyword").results] == ["m2"]


def test_a_row_that_the_journal_never_had_is_explained_and_stays(filled: Workspace) -> None:
    execute = filled._store.database.connection.execute
    execute("CREATE TEMP TABLE copy AS SELECT * FROM memory WHERE id = 'm0'")
    execute("UPDATE copy SET id = 'stranger', number = 99")
    execute("INSERT INTO memory SELECT * FROM copy")
    execute("INSERT INTO memory_tag SELECT tag, 99 FROM memory_tag JOIN memory USING (number) WHERE id = 'm0'")
    finding = check_rows(filled)
    assert finding.detail == "memory stranger is not in the journal"
    assert "Compare it with a backup" in finding.hint
    repair(filled)
    assert filled.get("stranger").content == TEXTS[0]


def test_nothing_is_put_back_from_a_journal_that_was_altered_too(filled: Workspace) -> None:
    execute = filled._store.database.connection.execute
    execute("UPDATE memory SET content = 'false' WHERE id = 'm0'")
    execute("UPDATE stored_change SET image = replace(image, '8080', '9090')")
    with pytest.raises(DataDirectoryError, match="cannot be mended from the journal"):
        repair(filled)
    assert filled.get("m0").content == "false"
    assert filled.backups.list() == []


def test_no_repair_is_recommended_where_an_altered_journal_makes_it_refuse(filled: Workspace) -> None:
    execute = filled._store.database.connection.execute
    execute("UPDATE memory SET content = 'false' WHERE id = 'm0'")
    execute("UPDATE stored_change SET image = replace(image, '8080', '9090')")
    hint = check_rows(filled).hint
    assert "doctor --repair" not in hint
    assert "`memento backup restore`" in hint


def test_an_agent_repairs_nothing(agent: Workspace) -> None:
    with pytest.raises(NotAllowed, match="Only a person repairs"):
        repair(agent)


def test_the_comparison_can_be_limited_to_what_changed_last(filled: Workspace) -> None:
    head = filled._store.journal.head()
    filled._store.database.connection.execute("UPDATE memory SET content = 'false' WHERE id = 'm0'")
    assert check_rows(filled, since=head - 1).ok
    assert not check_rows(filled, since=0).ok


def flip(path: Path) -> None:
    """Turn over every bit of the first half of a file: before the footer that Tantivy reads when it opens it."""
    content = path.read_bytes()
    half = len(content) // 2
    path.write_bytes(bytes(byte ^ 0xFF for byte in content[:half]) + content[half:])


@pytest.mark.parametrize("suffix", ["term", "idx", "pos", "fast", "store", "fieldnorm"])
def test_a_damaged_file_of_the_keyword_index_is_found_by_its_checksum(filled: Workspace, suffix: str) -> None:
    assert check_keyword_index(filled).ok
    for path in filled.paths.keyword_index.glob(f"*.{suffix}"):
        flip(path)
    finding = check_keyword_index(filled)
    assert f".{suffix} damaged" in finding.detail
    assert "doctor --repair" in finding.hint
    assert "the keyword index was built anew, with 3 memories" in repair(filled)
    assert check_keyword_index(filled).ok


def test_a_file_that_a_killed_program_left_half_written_is_no_part_of_the_keyword_index(filled: Workspace) -> None:
    assert check_keyword_index(filled).ok
    (filled.paths.keyword_index / f"{'0' * 32}.term").write_bytes(b"half a se")
    assert check_keyword_index(filled).ok


@pytest.mark.parametrize("place", range(0, 400, 23))
def test_a_search_in_a_damaged_file_of_terms_rebuilds_it_and_does_not_say_that_nothing_was_found(
    filled: Workspace, place: int
) -> None:
    filled.close()
    for path in filled.paths.keyword_index.glob("*.term"):
        content = bytearray(path.read_bytes())
        content[place % (len(content) - 150)] ^= 0xFF
        path.write_bytes(content)
    with memento_tui.open(filled.paths.root) as again:
        for query, expected in (("otters", "m2"), ("staging", "m0"), ("deploy.sh", "m1")):
            assert [hit.id for hit in again.search(query, mode="keyword").results] == [expected]


def test_an_index_that_lacks_a_memory_or_holds_an_older_text_is_found(filled: Workspace) -> None:
    filled._store.database.connection.execute("UPDATE memory SET updated_at = '2020-01-01T00:00:00Z' WHERE id = 'm0'")
    assert "1 of 3 sampled memories are not as they are now, such as m0" in check_keyword_index(filled).detail
    filled._store.database.connection.execute("UPDATE memory SET id = 'other' WHERE id = 'm2'")
    detail = check_keyword_index(filled).detail
    assert "1 memory is missing, such as other" in detail
    assert "1 memory is in it that does not exist, such as m2" in detail


def test_an_engine_that_starts_checks_the_last_entries_and_rebuilds_a_damaged_index(filled: Workspace) -> None:
    index = filled.search_engine.keyword
    assert check_at_start(filled._store, index) == []
    filled._store.database.connection.execute("DELETE FROM memory WHERE id = 'm2'")
    for path in filled.paths.keyword_index.glob("*.term"):
        flip(path)
    again = KeywordIndex(filled.paths.keyword_index, filled.paths.keyword_lock, filled._store)
    assert check_at_start(filled._store, again) == [
        "memory m2 is missing",
        "the keyword index was damaged and has been rebuilt",
    ]
    assert check_at_start(filled._store, again) == ["memory m2 is missing"]


def test_a_memory_that_is_in_the_keyword_index_twice_is_found_once_and_the_index_made_anew(
    workspace: Workspace,
) -> None:
    memory = workspace.remember("The port of the otter is 8080.")
    workspace.search("otter", mode="keyword")
    index = workspace.search_engine.keyword
    writer = index._open().writer(15_000_000, 1)
    writer.add_document(make_document(memory, None))
    writer.commit()
    writer.wait_merging_threads()
    with memento_tui.open(workspace.paths.root) as other:
        assert "twice" in check_keyword_index(other).detail
        assert [hit.id for hit in other.search("otter", mode="keyword").results] == [memory.id]
        assert check_keyword_index(other).ok
