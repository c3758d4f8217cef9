"""A database of each earlier format is brought up to date with all that it holds."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import apsw

import memento_tui
from memento_tui.api.integrity import check_rows
from tests.made import without_engine


def test_tags_of_two_forms_become_one_and_the_journal_stays_as_it_was(tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "café") for form in ("NFC", "NFD"))
    with memento_tui.open(without_engine(tmp_path / "data")) as workspace:
        one, other = (workspace.remember(f"We met in {form}.", tags=[form]) for form in (composed, decomposed))
        before, images = list(workspace.export_records()), [workspace._store.journal.changes(seq) for seq in (1, 2)]
        path = workspace.paths.database
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM memory_tag")
    rows = [(composed, one.id), (decomposed, other.id)]
    connection.executemany("INSERT INTO memory_tag SELECT ?, number FROM memory WHERE id = ?", rows)
    connection.execute("PRAGMA user_version = 12")
    connection.close()
    with memento_tui.open(tmp_path / "data") as workspace:
        assert {memory.id for memory in workspace.list(f"tag:{decomposed}").items} == {one.id, other.id}
        assert list(workspace.export_records()) == before
        assert [workspace._store.journal.changes(seq) for seq in (1, 2)] == images
        assert workspace._store.journal.verify() is None
        assert check_rows(workspace).ok
