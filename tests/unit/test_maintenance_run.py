"""A sleep without the engine: what it does, that it is safe to run twice and to interrupt, and what it never does."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import NotAllowed
from memento_tui.maintenance import comparison
from memento_tui.maintenance.consolidation import step
from memento_tui.maintenance.consolidation.drafting import Draft
from memento_tui.maintenance.context import Comparators, MaintenanceContext, neighbours_by_words
from memento_tui.maintenance.run import MaintenanceReport, run_maintenance
from memento_tui.model import Contradiction, Memory, Proposal, Relation, Skip, make_memory, make_skip
from memento_tui.storage.journal import Author
from tests.clocks import START
from tests.made import edit, put, unguarded
from tests.unit.cli_program import Program, without_engine

AGO = {days: START - timedelta(days=days) for days in (5, 100, 200, 400)}


def actions(report: MaintenanceReport) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for deed in report.actions:
        found.setdefault(deed.action, []).append(deed.id)
    return found


def old(workspace: Workspace, identity: str, days: int, **fields: Any) -> Memory:  # noqa: ANN401 - fields
    """Store a memory as if it had been written so many days ago, in this store too."""
    moment = AGO[days]
    memory = make_memory({"id": identity, "content": "One sentence. Another one.", "created_at": moment, **fields})
    memory = msgspec.structs.replace(memory, updated_at=moment)
    with unguarded(workspace._store, workspace.author, "test", now=moment) as tx:
        return tx.put(memory, base=0)


def everything(workspace: Workspace) -> list[Any]:
    records = [memory for batch in workspace._store.memories.batches() for memory in batch]
    return [records, *(workspace._store.all_of(record) for record in (Proposal, Contradiction, Relation, Skip))]


def test_what_has_expired_and_what_nobody_touched_ages(workspace: Workspace) -> None:
    old(workspace, "over", 5, expires_at=clock.now() - timedelta(days=1))
    old(workspace, "fading", 200, content="The first sentence stays. The second is kept aside.")
    old(workspace, "certain", 400, certainty=5, content="Bread needs an hour to rise.")
    old(workspace, "pinned", 400, pinned=True, content="The key hangs behind the door.")
    report = maintain_workspace(workspace)
    assert actions(report) == {"expire": ["over"], "compact": ["fading"]}
    assert workspace.get("over").status == "archived"
    compacted = workspace.get("fading")
    assert (compacted.status, compacted.content) == ("compacted", "The first sentence stays.")
    assert compacted.extra["original_content"] == "The first sentence stays. The second is kept aside."
    assert {workspace.get(name).status for name in ("certain", "pinned")} == {"active"}


def test_restoring_a_compacted_memory_brings_its_whole_text_back_for_good(workspace: Workspace) -> None:
    old(workspace, "fading", 200, content="The first sentence stays. The second is kept aside.")
    maintain_workspace(workspace)
    assert workspace.restore("fading").content == "The first sentence stays. The second is kept aside."
    assert maintain_workspace(workspace).actions == ()


def test_a_memory_that_was_imported_yesterday_does_not_age_by_what_it_did_elsewhere(workspace: Workspace) -> None:
    put(workspace._store, make_memory({"content": "Old elsewhere. New here.", "created_at": AGO[400]}))
    assert maintain_workspace(workspace).actions == ()


def test_what_a_sleep_compacted_is_there_after_many_more_sleeps(workspace: Workspace) -> None:
    old(workspace, "fading", 200, content="The first sentence stays. The second is kept aside.")
    for _ in range(5):
        maintain_workspace(workspace)
    assert workspace.get("fading").status == "compacted"
    assert workspace.get("fading").extra["original_content"].endswith("kept aside.")


def test_a_dry_run_tells_what_a_sleep_does_and_writes_nothing(workspace: Workspace, agent: Workspace) -> None:
    old(workspace, "over", 5, expires_at=clock.now() - timedelta(days=1))
    memory = agent.remember("Use the staging proxy for every test of the payment flow.")
    for number in range(3):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    before, head = everything(workspace), workspace._store.journal.head()
    told = maintain_workspace(workspace, dry_run=True)
    assert (everything(workspace), workspace._store.journal.head()) == (before, head)
    done = maintain_workspace(workspace)
    assert actions(told) == actions(done) == {"expire": ["over"], "promote": [memory.id]}


def test_a_second_sleep_finds_nothing_to_do(workspace: Workspace, agent: Workspace) -> None:
    old(workspace, "over", 5, expires_at=clock.now() - timedelta(days=1))
    old(workspace, "fading", 200)
    for n in range(4):
        agent.remember(f"The deploy script of service {n} needs the VPN and a fresh token.", tags=["deploy"])
    memory = agent.remember("Use the staging proxy for every test of the payment flow.")
    for number in range(3):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    assert maintain_workspace(workspace).actions
    before = everything(workspace)
    assert maintain_workspace(workspace).actions == ()
    assert everything(workspace) == before


def test_one_undo_takes_back_a_whole_sleep(workspace: Workspace) -> None:
    old(workspace, "over", 5, expires_at=clock.now() - timedelta(days=1))
    old(workspace, "fading", 200)
    before = everything(workspace)[0]
    maintain_workspace(workspace)
    newest = workspace._store.journal.entries(limit=1)[0]
    assert (newest.actor, newest.action) == ("system", "maintain")
    workspace.undo(newest.seq)
    after = everything(workspace)[0]
    plain = [[msgspec.structs.replace(memory, version=1) for memory in memories] for memories in (before, after)]
    assert plain[0] == plain[1]


def test_what_a_run_changed_again_does_not_stand_in_the_way_of_the_persons_undo(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember("Use the staging proxy for every test of the payment flow.", certainty=1)
    workspace.update(memory.id, certainty=2)
    change = workspace._store.journal.head()
    for number in range(3):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    maintain_workspace(workspace)
    assert workspace.get(memory.id).certainty == 3
    workspace.undo(change)
    assert workspace.get(memory.id).certainty == 1


def test_an_undo_of_a_text_takes_its_compaction_back_and_nothing_that_somebody_else_wrote(
    workspace: Workspace, agent: Workspace
) -> None:
    old(workspace, "fading", 200, content="The first sentence stays. The second is kept aside.")
    with unguarded(workspace._store, workspace.author, "update", now=AGO[200]) as tx:
        memory = tx.require(Memory, "fading")
        tx.put(msgspec.structs.replace(memory, content="Another sentence. And one more."), base=memory.version)
    change = workspace._store.journal.head()
    maintain_workspace(workspace)
    assert workspace.get("fading").status == "compacted"
    agent.update("fading", tags=["new"], base_version=workspace.get("fading").version)
    workspace.undo(change)
    back = workspace.get("fading")
    assert (back.status, back.content) == ("active", "The first sentence stays. The second is kept aside.")
    assert "original_content" not in back.extra
    assert back.tags == ("new",)


def test_an_interrupted_sleep_says_so_and_the_next_one_does_the_rest(workspace: Workspace) -> None:
    for number in range(3):
        old(workspace, f"m{number}", 5, expires_at=clock.now() - timedelta(days=1))
    stopping = threading.Event()
    stopping.set()
    report = maintain_workspace(workspace, stopping=stopping)
    assert (report.interrupted, report.actions) == (True, ())
    assert actions(maintain_workspace(workspace)) == {"expire": ["m0", "m1", "m2"]}


def test_two_sleeps_at_once_are_refused(workspace: Workspace, data_dir: Path) -> None:
    refused: list[str] = []

    def meanwhile(_what: str, _done: int, _total: int) -> None:
        if not refused:
            with memento_tui.open(data_dir) as other, pytest.raises(NotAllowed, match="in progress") as caught:
                maintain_workspace(other)
            refused.append(str(caught.value))

    workspace.remember("anything")
    maintain_workspace(workspace, progress=meanwhile)
    assert len(refused) == 1


def test_a_skip_that_is_over_for_a_month_leaves_the_list_and_a_younger_one_stays(workspace: Workspace) -> None:
    with unguarded(workspace._store, workspace.author, "test") as tx:
        for identity, days in (("old", 40), ("new", 3)):
            ended = clock.now() - timedelta(days=days)
            fields = {"id": identity, "item": "x", "reason": "y", "expires_at": ended, "created_at": AGO[100]}
            tx.put(make_skip(fields, stored=True), base=0)
    assert actions(maintain_workspace(workspace)) == {"end": ["old"]}
    assert [skip.id for skip in workspace.skips.list(ended=True)] == ["new"]


def test_proposals_that_nobody_can_decide_about_expire(workspace: Workspace, agent: Workspace) -> None:
    soon = (clock.now() + timedelta(hours=1)).isoformat()
    ending = agent.remember("From a page, for an hour.", source_type="external", expires_at=soon)
    kept = agent.remember("From a page, for good.", source_type="external")
    verified = workspace.remember("Use port 8080.", stability="verified")
    edit(agent, verified.id, content="Use port 9090.")
    with unguarded(workspace._store, workspace.author, "test") as tx:
        tx.remove(tx.require(Memory, verified.id), base=verified.version)
        memory = tx.require(Memory, ending.id)
        tx.put(msgspec.structs.replace(memory, expires_at=clock.now() - timedelta(minutes=1)), base=memory.version)
    assert len(actions(maintain_workspace(workspace))["expire"]) == 2
    states = {p.target_id: p.state for p in workspace._store.all_of(Proposal)}
    assert states == {ending.id: "expired", kept.id: "pending", verified.id: "expired"}
    assert all(p.note for p in workspace._store.all_of(Proposal) if p.state == "expired")


def test_confirmed_use_in_three_sessions_asks_a_person_and_verifies_nothing_by_itself(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember("Use the staging proxy for every test of the payment flow.", certainty=1)
    for number in range(3):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    report = maintain_workspace(workspace)
    assert actions(report) == {"certainty": [memory.id], "promote": [memory.id]}
    grown = workspace.get(memory.id)
    assert (grown.certainty, grown.stability) == (2, "draft")
    (pending,), _ = workspace.review.list()
    assert pending.proposal.reasons == ("earned_trust",)
    workspace.review.approve(pending.proposal.id)
    assert workspace.get(memory.id).stability == "verified"


def test_a_person_who_confirms_a_draft_of_use_makes_it_surer_than_use_alone_does(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember("Use the staging proxy for every test of the payment flow.", certainty=3)
    for number in range(9):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    maintain_workspace(workspace)
    assert workspace.get(memory.id).certainty == 3
    (pending,), _ = workspace.review.list()
    assert pending.proposal.payload == {"stability": "verified", "certainty": 4}
    workspace.review.approve(pending.proposal.id)
    grown = workspace.get(memory.id)
    assert (grown.certainty, grown.stability) == (4, "verified")


def test_use_in_one_session_and_being_shown_earn_nothing(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("Use the staging proxy for every test of the payment flow.", certainty=1)
    for _ in range(50):
        workspace._store.usage.count("memory", [memory.id], shown=1)
        workspace._store.usage.count("memory", [memory.id], used=1, session="s1")
    assert maintain_workspace(workspace).actions == ()


def test_a_verified_memory_of_use_is_offered_a_longer_life(workspace: Workspace) -> None:
    memory = workspace.remember("Use the staging proxy.", stability="verified")
    for number in range(2):
        workspace._store.usage.count("memory", [memory.id], used=1, session=f"later-{number}")
    maintain_workspace(workspace)
    (pending,), _ = workspace.review.list()
    assert (pending.proposal.reasons[0], pending.proposal.payload) == ("promotion", {"tier": "long_term"})
    workspace.review.approve(pending.proposal.id)
    assert workspace.get(memory.id).tier == "long_term"


def test_near_duplicates_that_came_in_bulk_are_proposed_one_merge_for_each(workspace: Workspace) -> None:
    texts = [f"The nightly backup of the staging database takes about two hours{'!' * n}" for n in range(4)]
    workspace.remember_many({"content": text} for text in texts)
    report = maintain_workspace(workspace)
    assert len(actions(report)["merge"]) == 2
    assert maintain_workspace(workspace).actions == ()


def test_contradictions_are_found_by_words_alone_where_there_is_no_engine(workspace: Workspace) -> None:
    workspace.remember_many(
        [
            {"content": "The staging API listens on port 8080 behind the proxy."},
            {"content": "The staging API listens on port 9090 behind the proxy."},
        ]
    )
    assert "contradiction" in actions(maintain_workspace(workspace, asked=["contradictions"]))
    (dispute,), _ = workspace.contradictions.list()
    assert dispute.older is not None
    start, end = dispute.contradiction.older_spans[0]
    assert "8080" in dispute.older.content[start:end]
    assert [memory.certainty for memory in workspace.list().items] == [3, 3]
    assert maintain_workspace(workspace, asked=["contradictions"]).actions == ()


def test_what_was_called_no_contradiction_is_never_raised_again(workspace: Workspace) -> None:
    first, second = workspace.remember_many(
        [
            {"content": "The staging API listens on port 8080 behind the proxy."},
            {"content": "The staging API listens on port 9090 behind the proxy."},
        ]
    )
    maintain_workspace(workspace, asked=["contradictions"])
    (dispute,), _ = workspace.contradictions.list()
    workspace.contradictions.resolve(dispute.contradiction.id, "not_a_contradiction")
    assert workspace.get(first.id).certainty == first.certainty
    workspace.update(second.id, content="The staging API listens on port 9091 behind the proxy.")
    maintain_workspace(workspace, asked=["contradictions"])
    assert workspace.contradictions.count() == 0


def test_a_clock_that_was_set_back_ages_nothing(workspace: Workspace) -> None:
    ahead = make_memory({"content": "From the future.", "created_at": clock.now() + timedelta(days=500)})
    put(workspace._store, ahead)
    assert maintain_workspace(workspace).actions == ()


def test_the_command_line_tells_what_a_sleep_did(tmp_path: Path) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("Nothing is due about this.")
    assert "Nothing is due." in memento.run("maintain").out
    told = memento.json("maintain", "--dry-run")
    assert (told["actions"], told["dry_run"], told["interrupted"]) == ([], True, False)


def test_what_an_account_wrote_is_consolidated_with_nothing(workspace: Workspace) -> None:
    with unguarded(workspace._store, Author("agent", "http", "anyone"), "remember") as tx:
        for place in ("global", "accounts/anyone"):
            for text in (
                "The deploy script of billing needs the VPN.",
                "Before a deploy the search service is drained.",
                "The deploy script of billing needs the VPN. Before a deploy the search service is drained.",
            ):
                tx.put(make_memory({"content": text, "namespace": place, "tags": ["deploy"]}), base=0)
    maintain_workspace(workspace, asked=["consolidate"])
    made = [one.target for one in workspace.review.list()[0] if one.proposal.reasons == ("consolidation",)]
    assert made
    sources = {relation.dst for memory in made for relation in workspace._store.memories.relations_of(memory.id)}
    assert {workspace.get(name).namespace for name in sources} == {"global"}


def test_what_is_made_of_a_confidential_memory_is_confidential() -> None:
    sources = [make_memory({"content": "one"}), make_memory({"content": "two", "sensitivity": "confidential"})]
    made = step._make_consolidated_memory(Draft("a title", "one and two", "extractive"), sources, "fact", "merge")
    assert made.sensitivity == "confidential"


def test_contradictions_are_proposed_on_request_alone_and_then_of_all_memories(workspace: Workspace) -> None:
    workspace.remember("The staging API listens on port 8080 behind the proxy.")
    workspace.remember("The staging API listens on port 9090 behind the proxy.")
    assert maintain_workspace(workspace).actions == ()
    assert maintain_workspace(workspace).actions == ()
    assert len(actions(maintain_workspace(workspace, dry_run=True, asked=["contradictions"]))["contradiction"]) == 1
    assert workspace.contradictions.count() == 0
    assert len(actions(maintain_workspace(workspace, asked=["contradictions"]))["contradiction"]) == 1
    assert maintain_workspace(workspace, asked=["contradictions"]).actions == ()


def test_where_a_model_weighs_contradictions_every_run_proposes_them(workspace: Workspace) -> None:
    workspace.remember("The staging API listens on port 8080 behind the proxy.")
    workspace.remember("The staging API listens on port 9090 behind the proxy.")
    comparators = Comparators(workspace.search_engine.keyword, entailment=lambda pairs: [0.9 for _ in pairs])
    report = run_maintenance(workspace._store, workspace.config, comparators, workspace.paths)
    assert len(actions(report)["contradiction"]) == 1


def test_what_a_longer_text_denies_is_proposed_where_it_is_asked_for_by_name(workspace: Workspace) -> None:
    long = workspace.remember(
        "Deploy on Fridays with the release script. Tell the team before it starts.", title="Deploy"
    )
    workspace.remember("Never deploy on Fridays with the release script.", title="Deploy")
    assert "contradiction" not in actions(maintain_workspace(workspace, asked=["contradictions"]))
    assert len(actions(maintain_workspace(workspace, dry_run=True, asked=["denials"]))["contradiction"]) == 1
    assert len(actions(maintain_workspace(workspace, asked=["denials"]))["contradiction"]) == 1
    workspace.remember("Never restart the worker during the day.", title="Worker")
    workspace.remember("Restart the worker during the day.", title="Worker")
    assert len(actions(maintain_workspace(workspace, asked=["contradictions"]))["contradiction"]) == 1
    assert workspace.get(long.id).status == "active"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never deploy on Fridays.", "Deploy on Fridays."),
        ("The worker must not be restarted during the day.", "The worker may be restarted during the day."),
        ("We use Postgres for the session store.", "We switched to Redis for the session store."),
    ],
)
def test_a_run_finds_a_plain_contradiction_by_words_alone(workspace: Workspace, older: str, newer: str) -> None:
    before, after = workspace.remember(older), workspace.remember(newer)
    workspace.remember("Invoices are sent by the first of a month.")
    maintain_workspace(workspace, asked=["contradictions"])
    (found,) = workspace._store.all_of(Contradiction)
    assert (found.older, found.newer) == (before.id, after.id)


def test_a_run_compares_so_many_long_texts_and_the_next_ones_go_on_where_it_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_MOST_LONG_CHARACTERS", 20_000)
    monkeypatch.setattr(comparison, "_MOST_PAGE_CHARACTERS", 20_000)
    text = "".join(f"Host{number} is up. " for number in range(600))
    for number in range(8):
        workspace.remember(f"{text}Number {number} is here.")
    compared: list[str] = []

    def noted(context: MaintenanceContext, memory: Memory) -> list[tuple[str, float]]:
        compared.append(memory.id)
        return neighbours_by_words(context, memory)

    monkeypatch.setattr(comparison, "neighbours_by_words", noted)
    reports = [maintain_workspace(workspace) for _ in range(4)]
    assert "Many long texts are new: the rest of them is compared by the next run." in reports[0].problems
    assert not reports[-1].problems
    assert len(compared) == len(set(compared)) == 8, "each once, whatever a run leaves"


def test_a_page_of_long_texts_is_as_short_as_one_that_is_soon_done(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_MOST_PAGE_CHARACTERS", 1_000)
    workspace.remember_many({"content": f"Short {number}."} for number in range(20))
    for number in range(3):
        workspace.remember(f"{number} {'word ' * 150}")
    sizes: list[int] = []
    read = comparison._changed_memories

    def noted(context: MaintenanceContext, after: int) -> tuple[dict[str, Memory], int]:
        found = read(context, after)
        sizes.append(len(found[0]))
        return found

    monkeypatch.setattr(comparison, "_changed_memories", noted)
    maintain_workspace(workspace)
    assert sizes == [20, 1, 1, 1]
