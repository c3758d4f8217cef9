from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, NotAllowed
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.formats.registry import FORMATS, detect_format
from memento_tui.model import Crystal, Relation, Skip, WorkingItem
from tests.made import without_engine


class Source:
    """A file of memento's own lines that changes from import to import."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        self.workspace = workspace
        self.path = path

    def write(self, *records: dict[str, Any] | str) -> None:
        lines = [r if isinstance(r, str) else json.dumps({"record": "memory", **r}) for r in records]
        self.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def take(self, *records: dict[str, Any] | str, **options: Any) -> tuple[int, int, int, int, int]:  # noqa: ANN401 - of run_import
        """Write the records, import them; return how many were imported, updated, unchanged, deleted and refused."""
        if records:
            self.write(*records)
        return counts(run_import(self.workspace, "memento", self.path, **options))

    def by_title(self, title: str) -> Any:  # noqa: ANN401 - a memory
        found = [m for batch in self.workspace._store.memories.batches() for m in batch if m.title == title]
        assert len(found) == 1, found
        return found[0]


def counts(report: ImportReport) -> tuple[int, int, int, int, int]:
    return (report.imported, report.updated, report.unchanged, report.deleted, len(report.refused))


@pytest.fixture
def source(workspace: Workspace, tmp_path: Path) -> Source:
    return Source(workspace, tmp_path / "source.jsonl")


A, B = {"title": "A", "content": "alpha", "tags": ["x"]}, {"title": "B", "content": "beta"}


def test_a_second_run_changes_nothing(workspace: Workspace, source: Source) -> None:
    assert source.take(A, B) == (2, 0, 0, 0, 0)
    head = workspace._store.journal.head()
    assert source.take(A, B) == (0, 0, 2, 0, 0)
    assert source.take(B, A) == (0, 0, 2, 0, 0)
    assert workspace._store.journal.head() == head


def test_a_changed_source_updates_what_changed(workspace: Workspace, source: Source) -> None:
    source.take(A, B)
    before = source.by_title("A")
    assert source.take({**A, "content": "alpha two", "tags": []}, B) == (0, 1, 1, 0, 0)
    after = source.by_title("A")
    assert (after.id, after.content, after.tags, after.version) == (before.id, "alpha two", (), 2)
    assert source.by_title("B").version == 1
    assert source.take() == (0, 0, 2, 0, 0)
    assert [revision.entry.channel for revision in workspace.history(after.id)] == ["import", "import"]


def test_a_field_that_the_source_no_longer_has_returns_to_its_default(source: Source) -> None:
    source.take({**A, "certainty": 5, "expires_at": "2030-01-01"})
    assert source.take({"title": "A", "content": "alpha"}) == (0, 1, 0, 0, 0)
    after = source.by_title("A")
    assert (after.tags, after.certainty, after.expires_at) == ((), 3, None)


def test_a_source_that_only_says_the_same_in_other_words_is_unchanged(workspace: Workspace, source: Source) -> None:
    source.take(A)
    head = workspace._store.journal.head()
    reordered = json.dumps({"tags": ["x"], "content": "alpha", "record": "memory", "title": "A"}, indent=None) + "  "
    assert source.take(reordered) == (0, 0, 1, 0, 0)
    assert workspace._store.journal.head() == head


def test_changes_on_both_sides_are_joined_where_they_do_not_touch(workspace: Workspace, source: Source) -> None:
    source.take(A)
    memory = source.by_title("A")
    workspace.update(memory.id, tags=["mine"], certainty=2)
    assert source.take({**A, "content": "alpha two"}) == (0, 1, 0, 0, 0)
    joined = workspace.get(memory.id)
    assert (joined.content, joined.tags, joined.certainty) == ("alpha two", ("mine",), 2)


def test_a_text_that_its_source_changed_is_no_surer_than_a_file_may_be(workspace: Workspace, source: Source) -> None:
    source.take(A)
    workspace.update(source.by_title("A").id, certainty=5)
    assert source.take({**A, "content": "alpha two"}) == (0, 1, 0, 0, 0)
    after = source.by_title("A")
    assert (after.content, after.certainty) == ("alpha two", 3)


def test_what_a_person_changed_outlives_every_later_change_of_the_source(workspace: Workspace, source: Source) -> None:
    source.take(A)
    memory = source.by_title("A")
    workspace.update(memory.id, tags=["mine"], certainty=2)
    for number in range(3):
        assert source.take({**A, "content": f"alpha {number}"}) == (0, 1, 0, 0, 0)
        kept = workspace.get(memory.id)
        assert (kept.content, kept.tags, kept.certainty) == (f"alpha {number}", ("mine",), 2)
    assert source.take({**A, "content": "alpha 2", "certainty": 1})[4] == 1
    assert workspace.get(memory.id).certainty == 2


def test_a_field_changed_on_both_sides_is_refused_until_they_agree(workspace: Workspace, source: Source) -> None:
    source.take(A, B)
    memory = source.by_title("A")
    workspace.update(memory.id, content="mine")
    for _ in range(2):
        source.write({**A, "content": "theirs"}, B)
        report = run_import(workspace, "memento", source.path)
        assert counts(report) == (0, 0, 1, 0, 1)
        (refused,) = report.refused
        assert (refused.file, refused.line) == ("source.jsonl", 1)
        assert refused.reason.startswith(f"content changed both here (memory {memory.id}) and in the source.")
        assert workspace.get(memory.id).content == "mine"
    workspace.update(memory.id, content="theirs")
    assert source.take() == (0, 0, 2, 0, 0)
    assert source.take({**A, "content": "theirs, later"}, B) == (0, 1, 1, 0, 0)
    assert workspace.get(memory.id).content == "theirs, later"


def test_a_tombstone_deletes_and_a_return_brings_back(workspace: Workspace, source: Source) -> None:
    named = {**A, "id": "a"}
    source.take(named)
    workspace.update("a", tags=["mine"])
    assert source.take({**named, "deleted": True}) == (0, 0, 0, 1, 0)
    assert workspace.get("a").status == "deleted"
    assert source.take({**named, "deleted": True}) == (0, 0, 1, 0, 0)
    assert source.take(named) == (0, 1, 0, 0, 0)
    back = workspace.get("a")
    assert (back.status, back.tags) == ("active", ("mine",))


def test_a_tombstone_of_what_never_was_makes_nothing(workspace: Workspace, source: Source) -> None:
    assert source.take({**A, "id": "a", "deleted": True}) == (0, 0, 0, 0, 0)
    assert workspace._store.memories.count_all() == 0


def test_what_a_person_deleted_stays_deleted(workspace: Workspace, source: Source) -> None:
    source.take(A)
    memory = source.by_title("A")
    workspace.forget(memory.id)
    assert source.take(A) == (0, 0, 1, 0, 0)
    source.take({**A, "content": "alpha two"})
    assert workspace.get(memory.id).status == "deleted"


def test_an_import_is_undone_as_a_whole_and_can_be_done_again(workspace: Workspace, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "one.md").write_text("links to [[two]]")
    (vault / "two.md").write_text("text")
    kept = workspace.remember("mine")
    assert counts(run_import(workspace, "vault", vault)) == (2, 0, 0, 0, 0)
    first = {memory.title: memory.id for memory in workspace.list("ns:vault").items}
    assert workspace.related(first["one"]) == [("related", "out", first["two"])]
    workspace.undo()
    assert [memory.id for memory in workspace.list().items] == [kept.id]
    assert workspace._store.all_of(Relation) == []
    assert counts(run_import(workspace, "vault", vault)) == (2, 0, 0, 0, 0)
    assert {memory.title: memory.id for memory in workspace.list("ns:vault").items} == first
    assert workspace.related(first["one"]) == [("related", "out", first["two"])]
    assert counts(run_import(workspace, "vault", vault)) == (0, 0, 2, 0, 0)
    assert len(workspace._store.all_of(Relation)) == 1


def test_after_an_undone_import_a_changed_source_is_followed_from_what_it_says_now(
    workspace: Workspace, source: Source
) -> None:
    source.take(A)
    workspace.undo()
    assert source.take({**A, "content": "alpha two"}) == (1, 0, 0, 0, 0)
    assert source.take({**A, "content": "alpha three"}) == (0, 1, 0, 0, 0)
    assert source.by_title("A").content == "alpha three"
    assert workspace._store.journal.verify() is None


def test_links_follow_the_text_that_makes_them(workspace: Workspace, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in {"one": "[[two]] and [[nowhere]] and [[one]]", "two": "text", "a>b": "[[two]]"}.items():
        (vault / f"{name}.md").write_text(text)
    run_import(workspace, "vault", vault)
    ids = {memory.title: memory.id for memory in workspace.list(limit=10).items}
    two = ids["two"]
    assert workspace.related(ids["one"]) == workspace.related(ids["a>b"]) == [("related", "out", two)]
    (vault / "one.md").write_text("[[a>b]]")
    run_import(workspace, "vault", vault)
    assert workspace.related(ids["one"]) == [("related", "out", ids["a>b"])]
    (vault / "a>b.md").write_text("no link any more")
    run_import(workspace, "vault", vault)
    assert workspace.related(two) == []
    (vault / "a>b.md").unlink()
    (vault / "one.md").write_text("[[two]]")
    assert counts(run_import(workspace, "vault", vault)) == (0, 1, 1, 0, 0)
    assert workspace.related(two) == [("related", "in", ids["one"])]


def test_a_supersession_in_a_vault_demotes_the_old_note(workspace: Workspace, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "old.md").write_text("deploy on friday, on friday")
    (vault / "new.md").write_text('---\nsupersedes: "[[old]]"\n---\ndeploy on monday, not on friday')
    run_import(workspace, "vault", vault)
    assert [hit.memory.title for hit in workspace.search("deploy friday", mode="keyword").results] == ["new", "old"]


def test_notes_of_a_memory_bank_that_came_in_outside_of_their_project_move_there_unless_a_person_moved_them(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = tmp_path / "site" / "memory-bank"
    bank.mkdir(parents=True)
    (bank / "progress.md").write_text("the ferry docks on the north quay")
    (bank / "plan.md").write_text("paint the harbour office")
    with monkeypatch.context() as before:
        before.setattr("memento_tui.formats.vault.MEMORY_BANK", "another-name")
        run_import(workspace, "vault", bank)
    own = {memory.title: memory for memory in workspace.list().items}
    assert {memory.namespace for memory in own.values()} == {"memory-bank"}
    workspace.update(own["plan"].id, namespace="work")
    assert counts(run_import(workspace, "vault", bank)) == (0, 1, 1, 0, 0)
    assert workspace.get(own["progress"].id).namespace == "projects/site"
    assert workspace.get(own["plan"].id).namespace == "work"
    assert counts(run_import(workspace, "vault", bank)) == (0, 0, 2, 0, 0)
    (bank / "plan.md").write_text("paint the harbour office green")
    assert counts(run_import(workspace, "vault", bank)) == (0, 1, 1, 0, 0)
    assert workspace.get(own["plan"].id).namespace == "work"


def test_a_project_imported_after_its_memory_bank_brings_no_second_copy(workspace: Workspace, tmp_path: Path) -> None:
    bank = tmp_path / "code" / "site" / "memory-bank"
    bank.mkdir(parents=True)
    (bank / "progress.md").write_text("the ferry docks on the north quay")
    assert counts(run_import(workspace, "vault", bank)) == (1, 0, 0, 0, 0)
    for folder in (bank.parent, bank.parent.parent):
        assert counts(run_import(workspace, "vault", folder)) == (0, 0, 1, 0, 0)


def test_a_folder_that_was_moved_is_known_again(workspace: Workspace, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(3):
        (vault / f"{number}.md").write_text(f"note {number}")
    run_import(workspace, "vault", vault)
    ids = sorted(memory.id for memory in workspace.list().items)
    moved = tmp_path / "elsewhere" / "vault"
    shutil.copytree(vault, moved)
    shutil.rmtree(vault)
    assert counts(run_import(workspace, "vault", moved)) == (0, 0, 3, 0, 0)
    workspace.update(ids[0], tags=["mine"])
    for number in range(3):
        (moved / f"{number}.md").write_text(f"note {number}, changed")
    assert counts(run_import(workspace, "vault", moved)) == (0, 3, 0, 0, 0)
    assert sorted(memory.id for memory in workspace.list().items) == ids
    assert workspace.get(ids[0]).tags == ("mine",)


def test_a_moved_and_changed_source_of_named_records_is_joined_with_what_is_here(
    workspace: Workspace, source: Source, tmp_path: Path
) -> None:
    source.take({**A, "id": "a"})
    workspace.update("a", tags=["mine"])
    other = Source(workspace, tmp_path / "moved.jsonl")
    source.path.unlink()
    assert other.take({**A, "id": "a", "content": "alpha two"}) == (0, 1, 0, 0, 0)
    assert (workspace.get("a").content, workspace.get("a").tags) == ("alpha two", ("mine",))
    assert other.take({**A, "id": "a", "content": "alpha three"}) == (0, 1, 0, 0, 0)
    assert workspace.get("a").tags == ("mine",)


def test_two_sources_that_share_an_id_do_not_overwrite_each_other(
    workspace: Workspace, source: Source, tmp_path: Path
) -> None:
    source.take({**A, "id": "1"})
    other = Source(workspace, tmp_path / "other.jsonl")
    other.write({**B, "id": "1"}, {**A, "id": "2", "title": "D"})
    report = run_import(workspace, "memento", other.path)
    assert counts(report) == (1, 0, 0, 0, 1)
    assert report.refused[0].line == 1
    assert f"the memory 1 comes from {source.path}, and says something else there." in report.refused[0].reason
    assert workspace.get("1").content == "alpha"


@pytest.mark.parametrize("versions", [0, 2])
def test_an_export_edited_by_hand_is_joined_with_what_was_done_since(
    workspace: Workspace, tmp_path: Path, versions: int
) -> None:
    memory = workspace.remember("alpha", title="A", tags=["x"])
    for number in range(versions):
        workspace.update(memory.id, certainty=number + 1)
    path = tmp_path / "export.jsonl"
    run_export(workspace, path)
    path.write_text(path.read_text().replace("alpha", "alpha by hand"))
    workspace.update(memory.id, title="newer here")
    assert counts(run_import(workspace, "memento", path)) == (0, 1, 0, 0, 0)
    assert (workspace.get(memory.id).content, workspace.get(memory.id).title) == ("alpha by hand", "newer here")
    path.write_text(path.read_text().replace('"title":"A"', '"title":"by hand"'))
    report = run_import(workspace, "memento", path)
    assert counts(report) == (0, 0, 0, 0, 1)
    assert report.refused[0].reason.startswith(f"title changed both here (memory {memory.id}) and in the source.")


@pytest.mark.parametrize("format_name", ["memento-core", "mem0", "engram", "protocol-local"])
def test_an_export_of_what_came_from_elsewhere_says_nothing_new(
    workspace: Workspace, tmp_path: Path, format_name: str
) -> None:
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        other.remember("alpha", title="A")
        other.remember("beta", title="B")
        run_export(other, tmp_path / "one", format_name=format_name)
    run_import(workspace, format_name, tmp_path / "one")
    workspace.update(workspace.list().items[0].id, content="mine")
    run_export(workspace, tmp_path / "two", format_name=format_name)
    imported, updated, unchanged, deleted, refused = counts(run_import(workspace, format_name, tmp_path / "two"))
    assert (imported, updated, deleted, refused) == (0, 0, 0, 0)
    assert unchanged >= 2
    assert [one.content for one in workspace.list().items].count("mine") == 1
    assert workspace._store.journal.verify() is None


def test_an_export_that_was_packed_by_gzip_is_read_as_it_is(workspace: Workspace, tmp_path: Path) -> None:
    for number in range(200):
        workspace.remember(f"alpha {number} {hash(number * 7919)}")
    run_export(workspace, tmp_path / "export.jsonl")
    packed = tmp_path / "export.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "export.jsonl").read_bytes()))
    assert detect_format(packed) == "memento"
    told: list[tuple[str, int, int]] = []
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        report = run_import(other, "memento", packed, progress=lambda *step: told.append(step))
        assert counts(report) == (200, 0, 0, 0, 0)
        assert ("Importing", 201, 201) in told
    packed.write_bytes(packed.read_bytes()[:-1000])
    with memento_tui.open(without_engine(tmp_path / "third")) as third:
        report = run_import(third, "memento", packed)
        assert 0 < report.imported < 200
        assert "is damaged, and was read up to there" in " ".join(one.reason for one in report.refused)


def test_an_older_export_does_not_take_back_what_was_done_since(workspace: Workspace, tmp_path: Path) -> None:
    memory = workspace.remember("alpha")
    path = tmp_path / "export.jsonl"
    run_export(workspace, path)
    workspace.update(memory.id, content="alpha two")
    assert counts(run_import(workspace, "memento", path)) == (0, 0, 1, 0, 0)
    assert workspace.get(memory.id).content == "alpha two"


def test_a_line_written_by_hand_changes_what_it_names(workspace: Workspace, source: Source) -> None:
    workspace.remember("alpha", id="a", title="A", tags=["x"])
    assert source.take({"id": "a", "content": "alpha by hand"}) == (0, 1, 0, 0, 0)
    changed = workspace.get("a")
    assert (changed.content, changed.title, changed.tags) == ("alpha by hand", "A", ("x",))
    assert source.take({"id": "a", "content": "alpha again"}) == (0, 1, 0, 0, 0)
    source.path.rename(source.path.with_name("other.jsonl"))
    assert source.take({"id": "a", "content": "once more", "version": 3}) == (0, 1, 0, 0, 0)
    assert (workspace.get("a").title, workspace.get("a").tags) == ("A", ("x",))


def test_a_whole_workspace_moves_through_an_export(workspace: Workspace, agent: Workspace, tmp_path: Path) -> None:
    one = workspace.remember("one", stability="verified", pinned=True, expires_at="900d", extra={"a": [1]})
    two = agent.remember("two", tags=["é"])
    agent.remember("from a page", source_type="external")
    workspace.forget(two.id)
    workspace.relate(one.id, two.id)
    workspace.skips.add("folder", "generated", "7d")
    workspace.items.create("work")
    workspace.crystals.write("I am careful.")
    path = tmp_path / "export.jsonl"
    run_export(workspace, path)
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        moved = run_import(other, "memento", path)
        assert (counts(moved), moved.waiting) == ((6, 0, 0, 0, 0), 1)
        for record in (Relation, Skip, WorkingItem, Crystal):
            assert [r.id for r in other._store.all_of(record)] == [r.id for r in workspace._store.all_of(record)]
        assert {m.id: (m.status, m.stability) for batch in other._store.memories.batches() for m in batch} == {
            m.id: (m.status, "draft") for batch in workspace._store.memories.batches() for m in batch
        }
        assert other.get(one.id).extra["a"] == [1]
        waiting = {pending.proposal.reasons: pending.proposal.id for pending in other.review.list()[0]}
        assert set(waiting) == {("external_source", "pending_in_source"), ("identity_from_file",)}
        assert other.crystals.current() is None
        for proposal_id in waiting.values():
            other.review.approve(proposal_id)
        assert other.crystals.current() is not None
        assert counts(run_import(other, "memento", path)) == (0, 0, 7, 0, 0)
        assert other._store.journal.verify() is None


def test_an_imported_identity_does_not_replace_the_present_one(workspace: Workspace, tmp_path: Path) -> None:
    workspace.crystals.write("I am theirs.")
    path = tmp_path / "export.jsonl"
    run_export(workspace, path)
    with memento_tui.open(without_engine(tmp_path / "other")) as other:
        mine = other.crystals.write("I am mine.")
        run_import(other, "memento", path)
        assert other.crystals.current() == mine
        assert sorted((c.content, c.status) for c in other.crystals.timeline()) == [
            ("I am mine.", "current"),
            ("I am theirs.", "past"),
        ]
        assert counts(run_import(other, "memento", path)) == (0, 0, 1, 0, 0)


def test_held_memories_wait_for_a_person_even_when_their_source_changes(workspace: Workspace, source: Source) -> None:
    full = {**A, "status": "active", "stability": "draft"}
    assert source.take(full, B, hold=True) == (2, 0, 0, 0, 0)
    assert workspace.list().items == []
    assert {tuple(p.proposal.reasons) for p in workspace.review.list()[0]} == {("held_import",)}
    assert source.take({**full, "content": "alpha two"}, B, hold=True) == (0, 1, 1, 0, 0)
    memory = source.by_title("A")
    assert (memory.status, memory.content) == ("pending", "alpha two")
    workspace.review.approve(source.by_title("B").id)
    assert [m.title for m in workspace.list().items] == ["B"]
    assert source.take({**full, "content": "alpha two"}, {**B, "content": "beta two"}) == (0, 0, 1, 0, 0)
    approved = source.by_title("B")
    assert (approved.status, approved.stability, approved.content) == ("active", "verified", "beta")
    workspace.review.approve(approved.id)
    assert source.by_title("B").content == "beta two"
    assert source.take({**full, "content": "alpha two"}, {**B, "content": "beta two"}) == (0, 0, 2, 0, 0)


def test_a_dry_run_tells_the_same_and_changes_nothing(workspace: Workspace, source: Source) -> None:
    source.take(A, {**B, "id": "b"}, {"title": "C", "content": "gamma"})
    workspace.update(source.by_title("C").id, content="mine")
    source.write(
        {**A, "content": "alpha two"},
        {**B, "id": "b", "deleted": True},
        {"title": "C", "content": "theirs"},
        {"title": "D", "content": "delta"},
        {"title": "E", "content": ""},
    )
    head, ledger = workspace._store.journal.head(), workspace._store.imports.of(f"memento:{source.path}")
    dry = run_import(workspace, "memento", source.path, dry_run=True)
    assert counts(dry) == (1, 1, 0, 1, 2)
    assert (workspace._store.journal.head(), workspace._store.imports.of(f"memento:{source.path}")) == (head, ledger)
    assert run_import(workspace, "memento", source.path) == dry


def test_what_is_refused_is_told_by_file_line_and_reason_and_costs_nothing_else(
    workspace: Workspace, source: Source
) -> None:
    source.write(
        A,
        "{ this is not JSON",
        {"title": "two", "content": ""},
        {"title": "three", "content": "x" * 300_000},
        {"title": "four", "content": "ok", "certainty": 9},
        {"title": "five", "content": "ok", "namespace": "../up"},
        {"record": "rumour", "content": "ok"},
        '{"record": "memory", "content": "\\ud800"}',
        {"record": "memory", "title": "nine", "content": "ok", "extra": {"a": "\x00"}},
        {"record": "skip", "item": "a", "reason": "b", "expires_at": "never"},
        B,
    )
    report = run_import(workspace, "memento", source.path)
    assert report.imported == 3
    assert [(refused.file, refused.line) for refused in report.refused] == [
        ("source.jsonl", line) for line in (2, 3, 4, 5, 6, 7, 8, 10)
    ]
    assert all(refused.reason for refused in report.refused)
    assert sorted(memory.title for memory in workspace.list().items) == ["A", "B", "nine"]


def test_a_purged_memory_does_not_come_back_with_its_source(workspace: Workspace, source: Source) -> None:
    source.take(A, {**B, "id": "b"})
    for memory_id in (source.by_title("A").id, "b"):
        workspace.purge(memory_id, "leaked")
    for records in ((A, {**B, "id": "b"}), ({**A, "content": "changed"}, {**B, "id": "b", "content": "changed"})):
        source.write(*records)
        report = run_import(workspace, "memento", source.path)
        assert counts(report) == (0, 0, 0, 0, 2)
        assert all("was purged here" in refused.reason for refused in report.refused)
    assert workspace._store.memories.count_all() == 0


def test_a_purge_empties_what_the_ledger_kept_of_the_source(workspace: Workspace, source: Source) -> None:
    source.take({**A, "content": "hunter2-secret"})
    memory = source.by_title("A")
    workspace.update(memory.id, tags=["mine"])
    source.take({**A, "content": "hunter2-secret", "certainty": 5})
    assert any(row.in_source for row in workspace._store.imports.of(f"memento:{source.path}").values())
    workspace.purge(memory.id, "leaked")
    left = b"".join(path.read_bytes() for path in workspace.paths.root.rglob("*") if path.is_file())
    assert b"hunter2-secret" not in left


def test_progress_is_told_of_what_was_read(workspace: Workspace, source: Source) -> None:
    told: list[tuple[str, int, int]] = []
    source.write(*({"title": str(number), "content": f"text {number}"} for number in range(4500)))
    run_import(workspace, "memento", source.path, progress=lambda *step: told.append(step))
    read = [done for what, done, _ in told if what == "Importing"]
    assert (read[-1], read) == (4500, sorted(read))
    assert len(read) >= 3
    workspace.undo()
    assert workspace._store.memories.count_all() == 0


def test_an_import_is_indexed_before_it_ends_so_that_no_search_waits_for_it(
    workspace: Workspace, source: Source
) -> None:
    workspace.remember("what was here before")
    told: list[str] = []
    source.write(*({"title": str(number), "content": f"alpha text {number}"} for number in range(150)))
    run_import(workspace, "memento", source.path, dry_run=True)
    assert workspace.search_engine.keyword.indexed_seq < workspace.activity.head()
    run_import(workspace, "memento", source.path, progress=lambda what, _done, _total: told.append(what))
    assert workspace.search_engine.keyword.indexed_seq == workspace.activity.head()
    steps = list(dict.fromkeys(told))
    assert (steps[0], steps[-2:]) == ("Copying", ["Importing", "Indexing"])
    assert len(workspace.search("alpha", limit=5).results) == 5


@pytest.mark.deep
def test_the_relations_of_a_large_source_come_and_go_with_it(workspace: Workspace, tmp_path: Path) -> None:
    def write(step: int) -> None:
        lines = [{"id": f"m{n}", "content": f"text {n}", "relations": [f"m{n - step}"]} for n in range(1100)]
        (tmp_path / "g.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        run_import(workspace, "memento-core", tmp_path / "g.jsonl")

    def ends() -> set[tuple[str, str]]:
        return {(one.src, one.dst) for one in workspace._store.all_of(Relation)}

    write(1)
    assert ends() == {(f"m{n}", f"m{n - 1}") for n in range(1, 1100)}
    write(2)
    assert ends() == {(f"m{n}", f"m{n - 2}") for n in range(2, 1100)}
    workspace.undo()
    assert ends() == {(f"m{n}", f"m{n - 1}") for n in range(1, 1100)}
    workspace.undo()
    assert workspace._store.memories.count_all() == 0
    assert workspace._store.journal.verify() is None


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda w, p: run_import(w, "diary", p), "is not a format that memento reads"),
        (lambda w, p: run_import(w, "memento", p / "none"), "There is nothing at"),
        (lambda w, p: run_export(w, p, format_name="protocol-rest"), "is on a server, not in files"),
        (lambda w, _: run_export(w, "https://memento.example.org", format_name="vault"), "is in files, not at"),
    ],
)
def test_an_import_or_export_that_cannot_begin_says_why(
    workspace: Workspace, tmp_path: Path, act: Callable[[Workspace, Path], object], error: str
) -> None:
    with pytest.raises(InvalidInput, match=error):
        act(workspace, tmp_path)


def test_an_agent_imports_nothing(agent: Workspace, source: Source) -> None:
    source.write(A)
    with pytest.raises(NotAllowed, match="Only a person imports"):
        run_import(agent, "memento", source.path)


def test_files_whose_names_are_not_text_are_told_of(workspace: Workspace, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "good.md").write_text("text")
    bad = vault / b"b\xffd.md".decode("utf-8", "surrogateescape")
    bad.write_text("text of the other")
    report = run_import(workspace, "vault", vault)
    assert report.imported + len(report.refused) == 2
    assert counts(run_import(workspace, "vault", vault))[0] == 0
    assert workspace._store.journal.verify() is None


REAL = [
    ("vault", "kepano+kepano-obsidian", 102, 0),
    ("vault", "foambubble+foam", 88, 0),
    ("vault", "oraios+serena/.serena/memories", 6, 0),
    ("vault", "doobidoo+mcp-memory-service/CLAUDE_md_history", 26, 0),
    ("claude", "0xMal0u+aeon/memory", None, 0),
    ("memento-core", "maithanhduyan+memory-graph", 0, None),
]


READ_ELSEWHERE = {(format_name, place) for format_name, place, _, _ in REAL} | {("engram", "Cobies+gentle-ai")}
"""Folders that a test of their own reads as what they are, twice as here; the last is that of `test_format_engram`."""


@pytest.mark.deep
@pytest.mark.real_data
@pytest.mark.parametrize("format_name", FORMATS)
def test_every_real_folder_read_as_any_format_is_taken_or_refused_in_words(
    workspace: Workspace, real_data: Path, format_name: str
) -> None:
    told: list[InvalidInput] = []
    for folder in sorted(real_data.iterdir()):
        if (format_name, folder.name) in READ_ELSEWHERE:
            continue
        try:
            report = run_import(workspace, format_name, folder)
        except InvalidInput as error:
            told.append(error)
            continue
        assert all(one.file and one.reason for one in report.refused), folder
        again = run_import(workspace, format_name, folder)
        assert counts(again) == (0, 0, report.imported, 0, len(report.refused)), folder
    assert all(error.hint.endswith(".") for error in told)
    assert workspace._store.journal.verify() is None


@pytest.mark.deep
@pytest.mark.real_data
def test_real_folders_are_taken_whole_and_only_once_live_side_by_side_and_are_taken_back_one_by_one(
    workspace: Workspace, real_data: Path
) -> None:
    for format_name, place, imported, refused in REAL:
        before = workspace._store.memories.count_all()
        report = run_import(workspace, format_name, real_data / place)
        assert imported in (None, report.imported), place
        assert refused in (None, len(report.refused)), place
        assert report.imported or report.refused, place
        assert all(one.file and one.reason for one in report.refused), place
        assert workspace._store.memories.count_all() == before + report.imported, place
        head = workspace._store.journal.head()
        again = run_import(workspace, format_name, real_data / place)
        assert counts(again) == (0, 0, report.imported, 0, len(report.refused)), place
        assert workspace._store.journal.head() == head, place
    assert workspace._store.journal.verify() is None
    total = workspace._store.memories.count_all()
    assert total > 222
    for memory in workspace.list(limit=1000).items:
        assert workspace.search(f"id:{memory.id}").total == 1
    relations = len(workspace._store.all_of(Relation))
    assert relations > 50
    found = workspace.search("obsidian template", mode="keyword")
    assert found.results
    while workspace._store.memories.count_all():
        workspace.undo()
    assert workspace._store.all_of(Relation) == []
    while workspace._store.memories.count_all() < total:
        workspace.redo()
    assert len(workspace._store.all_of(Relation)) == relations
    assert workspace._store.journal.verify() is None
    assert [hit.id for hit in workspace.search("obsidian template", mode="keyword").results] == [
        hit.id for hit in found.results
    ]


def test_a_line_that_differs_in_case_alone_from_one_of_another_file_is_a_memory_of_its_own(
    workspace: Workspace, tmp_path: Path
) -> None:
    for name, text in (("one", "Run with -v."), ("two", "Run with -V."), ("three", "Run  with -V.")):
        Source(workspace, tmp_path / f"{name}.jsonl").take({"content": text, "namespace": "cli"})
    held = [memory.content for batch in workspace._store.memories.batches() for memory in batch]
    assert held == ["Run with -v.", "Run with -V."]
