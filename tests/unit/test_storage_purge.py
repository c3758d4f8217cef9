from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import DataDirectoryError, NotAllowed, NotFound
from memento_tui.model import Memory
from memento_tui.storage.store import Store
from tests.made import PERSON, edit

SECRET = "hunter2-correct-horse"  # noqa: S105 - what is looked for


def files_with(data_dir: Path, text: str) -> list[str]:
    """Return the files below a directory that hold a text, in whatever case."""
    found = [path for path in data_dir.rglob("*") if path.is_file()]
    return [str(path.relative_to(data_dir)) for path in found if text.lower().encode() in path.read_bytes().lower()]


def test_a_purged_text_is_in_no_byte_of_the_directory_and_the_chain_still_holds(
    workspace: Workspace, data_dir: Path
) -> None:
    memory = workspace.remember(f"The horse is called {SECRET}.", title=SECRET, tags=[SECRET], extra={"horse": SECRET})
    workspace.update(memory.id, content=f"The old horse was {SECRET}, the new one is faster.")
    workspace.update(memory.id, content="redacted by hand", title="", tags=[], extra={})
    assert workspace.search("redacted").results
    assert "memento.db" in "".join(files_with(data_dir, SECRET))
    workspace.purge(memory.id, "a password leaked")
    assert files_with(data_dir, SECRET) == []
    assert workspace._store.journal.verify() is None
    assert workspace.search("redacted").results == []
    assert workspace.search("horse").notice == ""


def test_the_words_of_a_purged_text_leave_the_keyword_index_at_once(workspace: Workspace) -> None:
    workspace.remember("something harmless")
    memory = workspace.remember("hunter2 is the password")
    assert workspace.search("hunter2").total == 1
    index = workspace.search_engine.keyword
    assert index._searcher().terms_with_prefix("words", "hunter", limit=9)
    workspace.purge(memory.id, "leaked")
    assert index._searcher().terms_with_prefix("words", "hunter", limit=9) == []
    assert workspace.search("harmless").total == 1


def test_a_purge_reaches_copies_that_moved_about_as_the_file_grew(workspace: Workspace, data_dir: Path) -> None:
    rng = random.Random(7)  # noqa: S311 - not for secrets
    ids = []
    for number in range(150):
        ids.append(workspace.remember("x" * rng.choice([0, 50, 900, 5000]) + f" {SECRET}{number:03d}# ").id)
        workspace.update(ids[number // 2], title=f"{number}" * rng.randrange(200))
    gone = rng.sample(range(150), 30)
    for number in gone:
        workspace.update(ids[number], content="redacted")
        workspace.purge(ids[number], "leaked")
    left = b"".join(path.read_bytes() for path in data_dir.glob("memento.db*"))
    assert [number for number in gone if f"{SECRET}{number:03d}#".encode() in left] == []
    assert workspace._store.journal.verify() is None


def test_text_that_is_replaced_is_overwritten_on_every_platform(workspace: Workspace) -> None:
    assert workspace._store.database.connection.execute("PRAGMA secure_delete").fetchone()[0] == 1


def test_the_proposals_about_a_purged_memory_go_with_it(workspace: Workspace, agent: Workspace, data_dir: Path) -> None:
    memory = workspace.remember("fine", stability="verified")
    edit(agent, memory.id, content=f"now with {SECRET}")
    undone = edit(agent, memory.id, title=f"also {SECRET}").proposal
    assert undone is not None
    workspace.undo(workspace._store.journal.head())
    other = agent.remember("from a page", source_type="external")
    assert workspace.review.count() == 2
    workspace.purge(memory.id, "leaked")
    assert files_with(data_dir, SECRET) == []
    assert [pending.proposal.target_id for pending in workspace.review.list()[0]] == [other.id]
    assert workspace._store.journal.verify() is None


def test_a_purge_says_in_the_journal_who_and_why(workspace: Workspace) -> None:
    memory = workspace.remember(SECRET)
    workspace.purge(memory.id, "a password leaked")
    entry = workspace._store.journal.entries()[0]
    assert (entry.action, entry.note, entry.actor) == ("purge", "a password leaked", "person")
    newest, purged = workspace.history(memory.id)
    assert (newest.removed, newest.record) == (True, None)
    assert (purged.purged, purged.record) == (True, None)


def test_a_memory_that_only_the_journal_remembers_can_be_purged(workspace: Workspace, data_dir: Path) -> None:
    memory = workspace.remember(SECRET)
    workspace.undo()
    assert files_with(data_dir, SECRET)
    workspace.purge(memory.id, "leaked")
    assert files_with(data_dir, SECRET) == []
    assert workspace._store.journal.verify() is None


def test_an_id_that_was_purged_may_be_used_again(workspace: Workspace) -> None:
    workspace.remember(SECRET, id="a")
    workspace.purge("a", "leaked")
    again = workspace.remember("harmless", id="a")
    assert again.version == 3
    assert workspace._store.journal.verify() is None


def test_a_purge_needs_a_reason_a_record_and_a_person(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("one")
    for reason in ("", "  "):
        with pytest.raises(NotAllowed, match="A purge needs a reason"):
            workspace.purge(memory.id, reason)
    with pytest.raises(NotFound):
        workspace.purge("nothing", "why not")
    with pytest.raises(NotFound, match="no trace of one"):
        workspace._store.purge(PERSON, "memory", "nothing", "why not")
    with pytest.raises(NotAllowed, match="Only a person purges"):
        agent.purge(memory.id, "I want to")
    assert workspace.get(memory.id).content == "one"


def test_a_reader_of_an_older_state_that_keeps_the_text_in_the_log_is_told_of(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        memory = workspace.remember(SECRET)
        reader = sqlite3.connect(data_dir / "memento.db")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchone()
        workspace._store.database.connection.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(DataDirectoryError, match="another program still keeps it"):
            workspace.purge(memory.id, "leaked")
        assert workspace._store.find(Memory, memory.id) is None
        reader.close()
    assert files_with(data_dir, SECRET) == []


def test_other_kinds_of_records_are_purged_too(tmp_path: Path) -> None:
    with memento_tui.open(tmp_path / "d") as workspace:
        skip = workspace.skips.add(SECRET, "generated", "7d")
        workspace._store.purge(PERSON, "skip", skip.id, "leaked")
    store = Store(tmp_path / "d" / "memento.db")
    assert files_with(tmp_path, SECRET) == []
    assert store.journal.verify() is None
    store.close()
