from __future__ import annotations

import random
from pathlib import Path

import apsw
import msgspec
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.consolidation import consolidate
from memento_tui.errors import DataDirectoryError, InvalidField, NotAllowed, NotFound
from memento_tui.model import Exposure, Memory, make_contradiction, make_exposure
from memento_tui.storage.hub_state import HubRecord
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
    memory = workspace.remember("hunter2 is the name of the fox")
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
        reader = apsw.Connection(str(data_dir / "memento.db"))
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


def test_a_purged_name_or_note_leaves_what_the_hub_is_known_to_have(workspace: Workspace, data_dir: Path) -> None:
    with memento_tui.open(data_dir, actor="agent", agent="marmalade", session="ses-marie") as agent:
        memory = agent.remember("The staging cluster lives in Frankfurt.")
        agent.remember("A page says otherwise.", source_type="external")
    proposal = workspace.review.list()[0][0].proposal
    workspace.reject(memory.id, "as Marie said")
    rejection = workspace._store.journal.head()
    text = msgspec.structs.replace(workspace.get(memory.id), content="Another member's text.", version=9)
    card = msgspec.structs.replace(proposal, note="as Marie said", version=9)
    with workspace.gate.transaction("hub") as tx:
        known = [HubRecord("memory", text.id, 9, text), HubRecord("proposal", card.id, 9, card)]
        workspace._store.hub.put(tx, known)
    for kind, name in (("agent", "marmalade"), ("session", "ses-marie")):
        workspace.purge(name, "a client's name", kind=kind)
    workspace.purge(str(rejection), "it names her", kind="note")
    assert [files_with(data_dir, gone) for gone in ("marmalade", "ses-marie", "as Marie said")] == [[], [], []]
    kept = workspace._store.hub.record("memory", memory.id)
    assert kept is not None
    assert isinstance(kept.after, Memory)
    assert (kept.after.content, kept.after.source.agent) == ("Another member's text.", "purged")
    assert workspace._store.journal.verify() is None


# Every kind of record


def _made(workspace: Workspace, agent: Workspace, kind: str) -> str:
    """Make a record of a kind that holds the secret; return its id."""
    if kind == "skip":
        return workspace.skips.add(SECRET, f"because of {SECRET}", "7d").id
    if kind == "item":
        return workspace.items.create(SECRET, content=f"deploy with {SECRET}").id
    if kind == "crystal":
        return workspace.crystals.write(f"You are {SECRET}.").id
    if kind == "proposal":
        waiting = agent.remember(f"A page says {SECRET}.", source_type="external")
        return workspace.review.list()[0][0].proposal.id if waiting.status == "pending" else ""
    return workspace.remember(f"The horse is called {SECRET}.").id


@pytest.mark.parametrize("kind", ["memory", "skip", "item", "crystal", "proposal"])
def test_every_kind_of_record_is_purged_from_every_byte(
    workspace: Workspace, agent: Workspace, data_dir: Path, kind: str
) -> None:
    record_id = _made(workspace, agent, kind)
    workspace.search("horse", mode="keyword")
    assert files_with(data_dir, SECRET)
    workspace.purge(record_id[: len(record_id) - 1], "a password leaked", kind=kind)
    assert files_with(data_dir, SECRET) == []
    assert workspace.find_record(kind, record_id) is None
    assert workspace._store.journal.verify() is None


def test_a_contradiction_is_purged_by_itself(workspace: Workspace, data_dir: Path) -> None:
    older, newer = workspace.remember("The port is 1."), workspace.remember("The port is 2.")
    fields = {"older": older.id, "newer": newer.id, "kind": "temporal", "why": f"one says {SECRET}"}
    made = make_contradiction({**fields, "older_spans": [[0, 3]], "newer_spans": [[0, 3]], "score": 0.9})
    with workspace.gate.transaction("contradict") as tx:
        tx.put(made, base=0)
    workspace.purge(made.id, "it quotes", kind="contradiction")
    assert files_with(data_dir, SECRET) == []
    assert {memory.id for memory in workspace.list().items} == {older.id, newer.id}


def test_a_purged_proposal_takes_the_memory_that_it_would_make(workspace: Workspace, agent: Workspace) -> None:
    waiting = agent.remember("A page says this.", source_type="external")
    proposal = workspace.review.list()[0][0].proposal
    workspace.purge(proposal.id, "leaked", kind="proposal")
    assert workspace.find(waiting.id) is None
    assert workspace.review.count() == 0


def test_a_kind_that_is_none_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InvalidField, match="memory, skip"):
        workspace.purge("x", "leaked", kind="elephant")


# Notes and names


def _shown(memory: Memory, session: str) -> Exposure:
    fields = {"memory_id": memory.id, "memory_version": 1, "session": session, "channel": "mcp"}
    return make_exposure({**fields, "rank": 1, "score": 0.5, "tokens": 9})


def test_the_reason_of_a_rejection_goes_with_what_was_rejected(workspace: Workspace, data_dir: Path) -> None:
    memory = workspace.remember("harmless")
    workspace.reject(memory.id, f"it names the horse {SECRET}")
    assert files_with(data_dir, SECRET)
    workspace.purge(memory.id, "the reason quoted it")
    assert files_with(data_dir, SECRET) == []
    assert workspace._store.journal.verify() is None


def test_a_note_is_purged_and_the_rest_of_its_entry_stays(workspace: Workspace, data_dir: Path) -> None:
    one, two = workspace.remember("one"), workspace.remember("two")
    workspace.reject(one.id, f"ask {SECRET}")
    seq = workspace._store.journal.head()
    workspace.update(two.id, title="later")
    workspace.purge(str(seq), "a name leaked", kind="note")
    assert files_with(data_dir, SECRET) == []
    assert workspace._store.journal.verify() is None
    entry = workspace._store.journal.entries(before=seq + 1, limit=1)[0]
    assert (entry.action, entry.note) == ("reject", "")
    row = workspace.activity.rows([seq + 2])[0]
    assert (row.record, row.record_id, row.headline) == ("entry", str(seq), "")
    assert workspace.find_record(row.record, row.record_id) is None
    assert [change.purged for change in workspace.activity.action(seq + 2).changed] == [True]
    with pytest.raises(NotFound, match="with a note"):
        workspace.purge(str(seq), "again", kind="note")
    workspace.undo(seq)
    assert workspace.get(one.id).status == "active"


@pytest.mark.parametrize("field", ["agent", "session"])
def test_a_name_is_purged_wherever_it_stands(data_dir: Path, field: str) -> None:
    names = {"agent": "claude", "session": "s1", field: SECRET}
    with Workspace(data_dir, actor="agent", channel="mcp", **names) as agent:  # type: ignore[arg-type] # two names
        memory = agent.remember("The port is 8080.")
        agent.update(memory.id, title="Ports", base_version=1)
        agent.skips.add("reading vendor", "third-party", "7d")
        agent.remember("A page says this.", source_type="external")
        agent.exposures.record([_shown(memory, names["session"])])
        agent.used([memory.id])
        ids = [agent.remember(f"Step {n} needs the VPN.").id for n in range(2)]
        consolidate(agent, ids, "Every step needs the VPN.")
    with Workspace(data_dir) as workspace:
        if field == "session":
            workspace.sessions.quarantine(SECRET)
        workspace.search("port", mode="keyword")
        assert files_with(data_dir, SECRET)
        workspace.purge(SECRET, "the name is a key", kind=field)
        assert files_with(data_dir, SECRET) == []
        assert workspace._store.journal.verify() is None
        assert getattr(workspace.get(memory.id).source, field) == "purged"
        assert workspace.get(memory.id).content == "The port is 8080."
        if field == "session":
            workspace.sessions.release("purged")
        assert [hit.id for hit in workspace.search("port 8080", mode="keyword").results] == [memory.id]
        with pytest.raises(NotFound, match="no trace"):
            workspace.purge(SECRET, "again", kind=field)


def test_an_entry_that_was_altered_after_a_purge_is_still_found(workspace: Workspace) -> None:
    memory = workspace.remember("one")
    workspace.reject(memory.id, "first")
    seq = workspace._store.journal.head()
    workspace.purge(str(seq), "leaked", kind="note")
    with workspace._store.database.writing() as connection:
        connection.execute("UPDATE entry SET note = 'forged' WHERE seq = ?", (seq,))
    assert workspace._store.journal.verify() == f"Entry {seq} was altered, or the one before it was."


def test_a_secret_in_a_reason_or_a_name_is_not_stored(data_dir: Path) -> None:
    key = "AKIA" + "Q7ZK2M9XWE4R6T8Y"
    with Workspace(data_dir, actor="agent", channel="mcp", agent=f"bot {key}", session=key) as agent:
        memory = agent.remember("one")
        agent.exposures.record([_shown(memory, key)])
        agent.used([memory.id])
    with Workspace(data_dir) as workspace:
        workspace.reject(memory.id, f"it holds {key}")
        workspace.undo()
        workspace.purge(memory.id, f"it held {key}")
        assert files_with(data_dir, key) == []
        assert workspace._store.journal.entries()[0].note == "it held [secret removed: AWS access key]"


# A purge and the undoing of what it was part of


def test_the_rest_of_a_batch_is_taken_back_without_what_was_purged(workspace: Workspace) -> None:
    one, two, three = (workspace.remember(text) for text in ("one", "two", "three"))
    with workspace.one_undo():
        for memory in (one, two, three):
            workspace.forget(memory.id)
    workspace.purge(two.id, "leaked")
    undone = workspace.undo()
    assert len(undone) == 2
    assert {memory.id for memory in workspace.list().items} == {one.id, three.id}
    workspace.redo()
    assert workspace.list().items == []
    assert workspace._store.journal.verify() is None


def test_a_purge_among_a_batch_does_not_keep_the_rest_from_being_taken_back(workspace: Workspace) -> None:
    one, two = workspace.remember("one"), workspace.remember("two")
    with workspace.one_undo():
        workspace.forget(one.id)
        workspace.purge(two.id, "leaked")
    workspace.undo()
    assert [memory.id for memory in workspace.list().items] == [one.id]


def test_an_entry_of_many_records_is_taken_back_without_the_purged_one(workspace: Workspace) -> None:
    made = workspace.remember_many({"content": f"fact {n}"} for n in range(3))
    workspace.purge(made[1].id, "leaked")
    workspace.undo()
    assert workspace.list().items == []
    assert workspace._store.journal.verify() is None


def test_what_was_purged_altogether_is_passed_over_by_the_undo_key(workspace: Workspace) -> None:
    workspace.remember("zero")
    secret = workspace.remember("one")
    workspace.purge(secret.id, "leaked")
    workspace.undo()
    assert workspace.list().items == []
