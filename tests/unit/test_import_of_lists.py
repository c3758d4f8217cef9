"""A bullet of Claude's index stays the same memory wherever it stands, and nobody else's text gets what it earned."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.formats.import_export import ImportReport, run_export, run_import
from memento_tui.model import Memory

APPLE, BANANA, CHERRY = (
    "Deploys wait for Friday afternoon",
    "The staging database is called heron",
    "Nobody edits generated files by hand",
)
ZEBRA = "Invoices are printed in landscape format"


class Index:
    """A MEMORY.md with one list."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace = workspace
        self.folder = folder
        self.path = folder / "MEMORY.md"

    def take(self, *bullets: str) -> tuple[int, int]:
        """Write the list and import it; return how many were imported, and how many refused."""
        if bullets:
            self.path.write_text("# Index\n\n## Facts\n" + "".join(f"- {bullet}\n" for bullet in bullets))
        report: ImportReport = run_import(self.workspace, "claude", self.folder)
        return report.imported, len(report.refused)

    def all(self) -> dict[str, Memory]:
        return {one.content: one for batch in self.workspace._store.memories.batches() for one in batch}

    def bullets(self) -> list[str]:
        return [line[2:] for line in self.path.read_text().splitlines() if line.startswith("- ")]


@pytest.fixture
def index(workspace: Workspace, tmp_path: Path) -> Index:
    folder = tmp_path / "project" / "memory"
    folder.mkdir(parents=True)
    return Index(workspace, folder)


def test_a_line_that_is_put_in_on_top_does_not_inherit_what_a_person_verified(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    before = {text: memory.id for text, memory in index.all().items()}
    index.workspace.verify(before[APPLE])
    assert index.take(ZEBRA, APPLE, BANANA, CHERRY) == (1, 0)
    after = index.all()
    assert {text: memory.id for text, memory in after.items() if text != ZEBRA} == before
    assert (after[APPLE].stability, after[ZEBRA].stability) == ("verified", "draft")
    head = index.workspace._store.journal.head()
    assert index.take() == (0, 0)
    assert index.workspace._store.journal.head() == head


def test_a_line_that_was_deleted_here_takes_no_other_with_it(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    index.workspace.forget(index.all()[APPLE].id)
    run_export(index.workspace, index.folder, format_name="claude")
    assert index.bullets() == [BANANA, CHERRY]
    assert index.take() == (0, 0)
    assert {text: memory.status for text, memory in index.all().items()} == {
        APPLE: "deleted",
        BANANA: "active",
        CHERRY: "active",
    }


def test_a_line_that_moved_and_was_edited_on_one_side_is_the_same(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    memories = index.all()
    index.workspace.update(memories[BANANA].id, content=BANANA + ", as ever")
    assert index.take(CHERRY.replace("Nobody", "No person"), BANANA, ZEBRA) == (1, 0)
    assert index.workspace.get(memories[BANANA].id).content == BANANA + ", as ever"
    assert index.workspace.get(memories[CHERRY].id).content == CHERRY.replace("Nobody", "No person")
    assert index.workspace.get(memories[APPLE].id).content == APPLE
    run_export(index.workspace, index.folder, format_name="claude")
    assert index.bullets() == [CHERRY.replace("Nobody", "No person"), BANANA + ", as ever", ZEBRA]


def test_a_line_that_is_gone_from_the_list_never_overwrites_another(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    index.take(BANANA, CHERRY, ZEBRA)
    index.workspace.update(index.all()[APPLE].id, content=APPLE + ", and only then")
    written = run_export(index.workspace, index.folder, format_name="claude")
    assert (index.bullets(), written.refused, written.left_out) == ([BANANA, CHERRY, ZEBRA], (), 1)


def test_a_line_that_was_changed_on_both_sides_stays_in_the_file_as_it_is_there(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    index.workspace.update(index.all()[BANANA].id, content=BANANA + ", as ever")
    assert index.take(APPLE, BANANA + ", since May", CHERRY) == (0, 1)
    run_export(index.workspace, index.folder, format_name="claude")
    assert index.bullets() == [APPLE, BANANA + ", since May", CHERRY]


def test_two_lines_with_one_text_are_two_memories(index: Index) -> None:
    assert index.take(APPLE, APPLE, BANANA) == (3, 0)
    assert index.take(BANANA, APPLE, APPLE) == (0, 0)
    assert index.take() == (0, 0)


def test_a_line_that_was_purged_does_not_come_back_in_another_place(index: Index) -> None:
    index.take(APPLE, BANANA, CHERRY)
    index.workspace.purge(index.all()[BANANA].id, "leaked")
    assert index.take(ZEBRA, CHERRY, APPLE, BANANA) == (1, 1)
    assert BANANA not in index.all()
    assert index.take(APPLE, CHERRY, ZEBRA) == (0, 0)


def test_a_line_that_is_too_long_leaves_the_others_in_their_places(index: Index) -> None:
    long = "far too long a line " * 13_200
    assert index.take(APPLE, long, BANANA) == (2, 1)
    assert index.take(ZEBRA, APPLE, long, BANANA) == (1, 1)
    assert sorted(index.all()) == sorted([APPLE, BANANA, ZEBRA])
