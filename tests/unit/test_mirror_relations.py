"""Links in mirrored notes draw relations, and relations that are made here are written into notes."""

from __future__ import annotations

from pathlib import Path

import memento_tui
from memento_tui.api import Workspace
from memento_tui.formats.import_export import run_import
from memento_tui.mirror.mirror import Mirror
from memento_tui.model import Relation
from tests.made import without_engine
from tests.unit.mirroring import put, step


def arrows(workspace: Workspace) -> set[tuple[str, str, str, str]]:
    """Return the relations, each end as its memory's title."""
    named = {memory.id: memory.title for batch in workspace._store.memories.batches() for memory in batch}
    return {(named[one.src], one.type, named[one.dst], one.label) for one in workspace._store.all_of(Relation)}


VAULT = {
    "Plan.md": "---\nsupersedes: Old plan\n---\nSee [[Roses|the roses]] and [this](sub/Soil.md), not `[[Code]]`.\n",
    "Old plan.md": "Before. ![[picture.png]] [[Nowhere]]\n",
    "Code.md": "x\n",
    "sub/Roses.md": "---\naliases: [Rosa]\nparent: '[[Plan]]'\n---\nRed.\n",
    "sub/Soil.md": "Loam for [[Rosa]].\n",
}


def test_links_draw_what_an_import_of_the_folder_draws(
    workspace: Workspace, mirror: Mirror, folder: Path, tmp_path: Path
) -> None:
    for name, text in VAULT.items():
        put(folder, name, text)
    step(mirror)
    with memento_tui.open(without_engine(tmp_path / "imported")) as other:
        run_import(other, "vault", folder)
        assert arrows(workspace) == arrows(other) != set()
    assert step(mirror) == []
    assert {name: (folder / name).read_text() for name in VAULT} == VAULT


def test_a_link_that_comes_or_goes_takes_its_relation_with_it(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "A.md", "To [[B]].\n")
    step(mirror)
    assert arrows(workspace) == set()
    put(folder, "sub/B.md", "There.\n")
    assert step(mirror) == [("taken", "sub/B.md"), ("related", "A.md")]
    assert arrows(workspace) == {("A", "related", "B", "")}
    path = path.rename(folder / "sub/A.md")  # what its link drew is still known as that
    step(mirror)
    path.write_text("To nothing.\n")
    assert step(mirror) == [("changed", "sub/A.md"), ("related", "sub/A.md")]
    assert arrows(workspace) == set()


def test_a_relation_made_here_is_a_property_of_its_note_and_its_prose_stays(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    text = "---\n# mine\nrelated: ['[[C]]']   # kept\n---\nProse  with [[C]].\r\n\n> [!note] callout"
    path = put(folder, "A.md", text)
    put(folder, "sub/B.md", "There.")
    put(folder, "C.md", "There.")
    step(mirror)
    ids = {memory.title: memory.id for memory in workspace.list().items}
    workspace.relate(ids["A"], ids["B"])
    workspace.relate(ids["A"], ids["C"], label="said already")
    workspace.relate(ids["A"], "src/main.py", "file")
    assert step(mirror) == [("written", "A.md")]
    written = path.read_bytes().decode()
    assert "[[sub/B]]" in written
    assert written.count("[[C]]") == 2
    assert written.endswith("---\nProse  with [[C]].\r\n\n> [!note] callout")
    assert "# mine\n" in written
    assert step(mirror) == []


def test_what_a_person_took_out_of_the_note_or_took_back_here_does_not_return(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    path = put(folder, "A.md", "One.")
    linked = put(folder, "B.md", "To [[A]].")
    step(mirror)
    ids = {memory.title: memory.id for memory in workspace.list().items}
    (drawn,) = (entry for entry in workspace._store.journal.entries() if entry.note == "links of notes")
    workspace.undo(drawn.seq)
    workspace.relate(ids["A"], ids["B"], "contradicts")
    step(mirror)
    assert "contradicts" in path.read_text()
    path.write_text("One, alone.")
    linked.write_text("To [[A]], and more.")
    step(mirror)
    assert step(mirror) == []
    assert path.read_text() == "One, alone."
    assert arrows(workspace) == {("A", "contradicts", "B", "")}


def test_a_note_does_not_replace_what_a_person_verified(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    put(folder, "A.md", "Verified.")
    step(mirror)
    workspace.verify(workspace.list().items[0].id)
    put(folder, "B.md", "---\nsupersedes: '[[A]]'\ncontradicts: '[[A]]'\n---\nOther.")
    step(mirror)
    assert arrows(workspace) == {("B", "contradicts", "A", "")}
    assert step(mirror) == []


def test_links_of_a_text_that_waits_wait_with_it(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    path = put(folder, "A.md", "Verified.")
    put(folder, "B.md", "Other.")
    step(mirror)
    found = next(memory for memory in workspace.list().items if memory.title == "A")
    workspace.verify(found.id)
    path.write_text("Verified, see [[B]].")
    assert step(mirror) == [("waits", "A.md")]
    assert arrows(workspace) == set()
    workspace.review.approve(workspace.review.list()[0][0].proposal.id)
    assert step(mirror) == [("related", "A.md")]
    assert arrows(workspace) == {("A", "related", "B", "")}


def test_a_mirror_that_starts_anew_or_holds_draws_nothing_twice(workspace: Workspace, folder: Path) -> None:
    put(folder, "A.md", "To [[B]].")
    put(folder, "B.md", "There.")
    with Mirror(workspace, folder, quiet_seconds=0, hold=True) as mirror:
        step(mirror)
    assert workspace._store.all_of(Relation) == []
    for asked in workspace.review.list()[0]:
        workspace.review.approve(asked.proposal.id)
    for _ in range(2):
        with Mirror(workspace, folder, quiet_seconds=0) as mirror:
            step(mirror)
            assert step(mirror) == []
    assert arrows(workspace) == {("A", "related", "B", "")}
