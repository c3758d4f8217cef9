"""A limit on the versions that are kept: texts go, and who wrote what and when stays, in a journal that verifies."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.compaction import compact
from memento_tui.api.integrity import check_rows
from memento_tui.errors import Conflict, NotAllowed
from memento_tui.formats.import_export import run_import
from memento_tui.model import Memory
from tests.made import edit
from tests.unit.cli_program import Program, without_engine

_EDITS = 6
_TEXT = "The cache of the build lies in the folder of the project, and is thrown away at night. " * 4


def _limit(data_dir: Path, versions: int, days: int = 0) -> Path:
    with (data_dir / "config.toml").open("a", encoding="utf-8") as config:
        config.write(f"\n[history]\nversions = {versions}\ndays = {days}\n")
    return data_dir


@pytest.fixture
def limited(data_dir: Path) -> Iterator[Workspace]:
    """A workspace that keeps two versions besides the first, with a memory ``m`` of seven."""
    with memento_tui.open(_limit(data_dir, 2)) as workspace:
        workspace.remember(_TEXT, id="m")
        for number in range(_EDITS):
            edit(workspace, "m", content=f"{_TEXT}Edited {number}.")
        yield workspace


def _later(patch: pytest.MonkeyPatch, days: int) -> None:
    now = clock.now() + timedelta(days=days)
    patch.setattr(clock, "now", lambda: now)


def _kept(workspace: Workspace) -> list[int]:
    """Return the versions of the memory that have a text."""
    return [one.version for one in workspace._store.journal.history(Memory, "m") if one.record is not None]


def test_the_first_and_the_newest_versions_keep_their_texts_and_all_their_entries(limited: Workspace) -> None:
    before = [(one.entry.seq, one.version) for one in limited._store.journal.history(Memory, "m")]
    done = compact(limited)
    assert (done.dropped, done.dry_run) == (4, False)
    assert _kept(limited) == [7, 6, 1]
    after = limited._store.journal.history(Memory, "m")
    assert [(one.entry.seq, one.version) for one in after] == before
    assert [one.dropped for one in after] == [False, False, True, True, True, True, False]
    assert "no longer kept" in after[2].missing
    assert after[0].record == limited.get("m")
    assert limited._store.journal.verify() is None
    assert check_rows(limited).ok


def test_what_stays_is_read_though_it_was_packed_against_what_went(data_dir: Path) -> None:
    with memento_tui.open(_limit(data_dir, 2)) as workspace:
        workspace.remember("Short, and of something else altogether.", id="m")
        edit(workspace, "m", content=_TEXT)
        for number in range(3):
            edit(workspace, "m", content=f"{_TEXT}Edited {number}.")
        assert compact(workspace).dropped == 2
        kept = [one.record for one in workspace._store.journal.history(Memory, "m") if one.record is not None]
        assert [record.content.removeprefix(_TEXT) for record in kept[:2]] == ["Edited 2.", "Edited 1."]
        assert workspace._store.journal.verify() is None


def test_a_version_before_another_status_stays_to_be_gone_back_to(data_dir: Path) -> None:
    with memento_tui.open(_limit(data_dir, 1)) as workspace:
        workspace.remember(_TEXT, id="m")
        for number in range(2):
            edit(workspace, "m", content=f"{_TEXT}Edited {number}.")
        workspace.forget("m")
        workspace.restore("m")
        edit(workspace, "m", content=f"{_TEXT}Edited again.")
        assert compact(workspace).dropped == 2
        assert _kept(workspace) == [6, 4, 3, 1]


def test_what_waits_for_a_decision_keeps_the_versions_that_it_was_made_from(limited: Workspace) -> None:
    seventh = limited.verify("m")
    with Workspace(limited.paths.root, actor="agent", channel="mcp", session="s") as agent:
        agent.update("m", content="Another text.", base_version=seventh.version)
    (waiting,) = limited._store.proposals.about("m")
    for number in range(3):
        edit(limited, "m", tags=[f"t{number}"])
    assert compact(limited).dropped == 0
    limited.review.reject(waiting.id)
    assert compact(limited).dropped > 0


def test_without_a_limit_and_for_days_that_are_kept_nothing_is_dropped(data_dir: Path, workspace: Workspace) -> None:
    workspace.remember(_TEXT, id="m")
    for number in range(_EDITS):
        edit(workspace, "m", content=f"Edited {number}.")
    assert compact(workspace).dropped == 0
    with memento_tui.open(_limit(data_dir, 1, days=30)) as person:
        assert compact(person).dropped == 0
        assert len(_kept(person)) == _EDITS + 1
        assert person.backups.list() == []


def test_versions_are_dropped_once_they_are_old_enough(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with memento_tui.open(_limit(data_dir, 1, days=30)) as workspace:
        workspace.remember(_TEXT, id="m")
        for number in range(3):
            edit(workspace, "m", content=f"Edited {number}.")
        _later(monkeypatch, 31)
        edit(workspace, "m", content="Edited at last.")
        assert compact(workspace).dropped == 3
        assert _kept(workspace) == [5, 1]
        edit(workspace, "m", content="Edited once more.")
        assert compact(workspace).dropped == 0
        _later(monkeypatch, 31)
        assert compact(workspace).dropped == 1
        assert _kept(workspace) == [6, 1]
        assert workspace._store.journal.verify() is None


def test_a_dry_run_says_what_would_go_and_changes_nothing(limited: Workspace) -> None:
    head = limited._store.journal.head()
    planned = compact(limited, dry_run=True)
    assert (planned.dropped, planned.dry_run, planned.backup) == (4, True, "")
    assert (limited._store.journal.head(), len(_kept(limited)), limited.backups.list()) == (head, _EDITS + 1, [])


def test_a_backup_is_made_first_and_holds_what_went(limited: Workspace) -> None:
    done = compact(limited)
    (backup,) = limited.backups.list()
    assert (backup.name, backup.why, limited.backups.verify(backup.name)) == (done.backup, "before limit", None)
    limited.backups.restore(backup.name)
    with memento_tui.open(limited.paths.root) as restored:
        assert len(_kept(restored)) == _EDITS + 1


def test_undo_says_what_is_missing_and_goes_on_with_what_is_there(limited: Workspace) -> None:
    compact(limited)
    with pytest.raises(Conflict, match=r"the versions that it needs are no longer kept"):
        limited.undo(4)
    limited.undo()
    assert limited.get("m").content.endswith("Edited 4.")
    assert limited._store.journal.verify() is None


def test_letting_go_is_not_taken_back_and_says_so(limited: Workspace) -> None:
    compact(limited)
    row = next(iter(limited.activity.rows([limited._store.journal.head()])))
    assert (row.entry.action, row.entry.actor) == ("limit history", "person")
    assert "only a backup has them" in row.obstacle
    with pytest.raises(NotAllowed, match="let earlier versions go"):
        limited.undo(row.entry.seq)
    assert [change.missing for change in limited.activity.action(row.entry.seq).changed] == [
        "its text is no longer kept ([history] in config.toml)"
    ]


def test_the_past_names_what_it_cannot_show(limited: Workspace) -> None:
    limited.remember("Another note.", id="n")
    compact(limited)
    with limited.at("entry 3") as past:
        assert past.count == 0
        assert past.remark.startswith("1 record is left out")
    with limited.at("entry 1") as past:
        assert (past.get("m").content, past.remark) == (_TEXT, "")
    with limited.at("entry 8") as past:
        assert past.get("m").content.endswith("Edited 5.")


@pytest.mark.parametrize("version", [3, 6])
def test_a_text_that_no_entry_says_was_dropped_is_missed(limited: Workspace, version: int) -> None:
    if version > 5:
        compact(limited)
    empty = "UPDATE stored_change SET image = NULL, nonce = NULL, base = NULL, packed = NULL WHERE version = ?"
    with limited._store.database.writing() as connection:
        connection.execute(f"{empty} AND record = 'memory'", (version,))
    assert "was removed, and no later entry says so" in str(limited._store.journal.verify())


def test_what_was_dropped_is_purged_like_anything_else(limited: Workspace) -> None:
    compact(limited)
    limited.purge("m", "a leak")
    assert limited._store.journal.verify() is None
    assert limited._store.journal.purged("memory", ["m"]) == {"m"}
    assert b"cache of the build" not in b"".join(path.read_bytes() for path in limited.paths.root.glob("memento.db*"))


def test_a_memory_whose_making_is_undone_was_not_purged(limited: Workspace) -> None:
    compact(limited)
    with limited._store.database.writing() as connection:
        connection.execute("DELETE FROM memory WHERE id = 'm'")
    assert limited._store.journal.purged("memory", ["m"]) == set()


def test_what_a_source_had_stays_to_be_compared_when_it_is_imported_again(data_dir: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"record": "memory", "id": "m", "content": "The port of the cache is 8080."}\n')
    with memento_tui.open(_limit(data_dir, 1)) as workspace:
        assert run_import(workspace, "memento", notes).imported == 1
        for number in range(3):
            edit(workspace, "m", title=f"Title {number}")
        compact(workspace)
        notes.write_text('{"record": "memory", "id": "m", "content": "The port of the cache is 9090."}\n')
        run_import(workspace, "memento", notes)
        assert workspace.get("m").title == "Title 2"
        assert workspace._store.journal.verify() is None


def test_in_a_hub_nothing_is_dropped_and_it_is_said(limited: Workspace) -> None:
    with limited._store.database.writing() as connection:
        connection.execute("INSERT INTO hub_record VALUES ('memory', 'm', 1, 7, NULL)")
    done = compact(limited)
    assert (done.dropped, done.is_shared, len(_kept(limited))) == (0, True, _EDITS + 1)


def test_the_command_says_how_many_were_dropped_and_where_they_are(tmp_path: Path) -> None:
    memento = Program(_limit(without_engine(tmp_path / "data"), 1))
    memento.add("The port is 8080.")
    with memento_tui.open(memento.data_dir) as workspace:
        (memory,) = workspace.list().items
        for port in (9090, 7070):
            edit(workspace, memory.id, content=f"The port is {port}.")
    assert memento.json("compact", "--dry-run")["dropped"] == 1
    said = memento.run("compact").out
    assert "1 version beyond [history] was dropped" in said
    assert ".db holds them" in said
    assert "no longer kept" in memento.run("history", memory.id).out
