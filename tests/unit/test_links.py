from __future__ import annotations

from memento_tui.api import Workspace
from memento_tui.api.queries import links_of
from memento_tui.model import make_contradiction, make_relation
from tests.made import unguarded


def test_every_relation_reads_from_the_side_that_is_looked_at(workspace: Workspace) -> None:
    new, old = workspace.remember("new", id="new"), workspace.remember("old", id="old")
    for kind, there, back in (
        ("supersedes", ("replaces", "out"), ("replaced by", "in")),
        ("consolidated_from", ("made of", "out"), ("part of", "in")),
        ("contradicts", ("contradicts", "both"), ("contradicts", "both")),
        ("related", ("related", "out"), ("related", "in")),
    ):
        workspace.relate(new.id, old.id, kind, f"label of {kind}")
        mine, theirs = links_of(workspace, "new")[-1], links_of(workspace, "old")[-1]
        assert (mine.word, mine.direction, mine.end, mine.headline) == (*there, "old", "old")
        assert (theirs.word, theirs.direction, theirs.end, theirs.headline) == (*back, "new", "new")
        assert mine.label == theirs.label == f"label of {kind}"
        assert mine.can_be_walked
        workspace.undo()


def test_files_and_items_are_told_and_cannot_be_walked_to(workspace: Workspace) -> None:
    memory = workspace.remember("text")
    item = workspace.items.create("deploy", category="active_work")
    workspace.relate(memory.id, "src/app.py", "file")
    workspace.relate(memory.id, item.id, "item")
    file, work = links_of(workspace, memory.id)
    assert (file.end_kind, file.end, file.state, file.can_be_walked) == ("file", "src/app.py", "", False)
    assert (work.end_kind, work.headline, work.can_be_walked) == ("item", "deploy", False)


def test_an_end_that_is_deleted_purged_or_gone_is_told(workspace: Workspace) -> None:
    memory = workspace.remember("text")
    for name in ("deleted", "purged"):
        workspace.remember(f"the {name} one", id=name)
    workspace.purge("purged", "it leaked")
    workspace.forget("deleted")
    with unguarded(workspace._store, workspace.author, "relate") as tx:
        for name in ("deleted", "purged", "never"):
            tx.put(make_relation({"src": memory.id, "dst": name}), base=0)
    states = {link.end: (link.state, link.can_be_walked) for link in links_of(workspace, memory.id)}
    assert states == {"deleted": ("deleted", True), "purged": ("purged", False), "never": ("gone", False)}


def test_unresolved_contradictions_come_first(workspace: Workspace) -> None:
    old, new = workspace.remember("port 1", id="old"), workspace.remember("port 2", id="new")
    workspace.relate(old.id, new.id, "related")
    found = make_contradiction({"older": "old", "newer": "new", "why": "the port differs", "score": 0.9})
    with unguarded(workspace._store, workspace.author, "detect") as tx:
        tx.put(found, base=0)
    first, second = links_of(workspace, "new")
    assert (first.type, first.word, first.end, first.label) == (
        "contradiction",
        "in conflict with",
        "old",
        "the port differs",
    )
    assert second.type == "related"
    workspace.contradictions.resolve(found.id, "not_a_contradiction")
    assert [link.type for link in links_of(workspace, "new")] == ["related"]
