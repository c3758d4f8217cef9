"""What Memento Protocol's tools are made of: places, words, links, conversations, and the faults they must not have."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.compat.protocol.formatting import memory_heading, quoted_block
from memento_tui.compat.protocol.memories import RecallQuery, find_memories
from memento_tui.compat.protocol.workspaces import (
    HOME_WORKSPACE,
    WorkspaceScope,
    find_workspace_scope,
    free_hex_id,
    id_maker,
)
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.formats.protocol.vocabulary import ITEM_CATEGORIES, category_of, item_fields, item_title, section_key
from memento_tui.model import make_item
from tests.made import NOW, note, put

# Places


def test_without_a_name_the_workspace_is_the_default_one(tmp_path: Path) -> None:
    assert find_workspace_scope(tmp_path, {}) == WorkspaceScope("global")
    assert find_workspace_scope(tmp_path, {}).name == "default"


def test_the_environment_goes_before_the_file_and_the_nearest_file_before_those_above(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".memento.json").write_text('{"workspace": "far"}')
    assert find_workspace_scope(inner, {}).namespace == "far"
    (tmp_path / "a" / ".memento.json").write_text('{"workspace": "near", "features": {"images": true}}')
    assert find_workspace_scope(inner, {}).namespace == "near"
    assert find_workspace_scope(inner, {"MEMENTO_WORKSPACE": "mine"}).namespace == "mine"


def test_at_most_five_others_are_peeked_into_and_never_the_own_one_twice(tmp_path: Path) -> None:
    peeked = ["default", "own", "a", "b", "a", "c", "d"]
    (tmp_path / ".memento.json").write_text(json.dumps({"workspace": "own", "peek_workspaces": peeked}))
    place = find_workspace_scope(tmp_path, {})
    assert place.peeked == ("global", "a", "b")
    assert place.read("") == ("own", "global", "a", "b")
    assert place.read(HOME_WORKSPACE) == ("own",)
    assert place.read("default") == ("global",)


@pytest.mark.parametrize("written", ["{", "[]", "1", '{"workspace": 1}', '{"peek_workspaces": "a"}', "\udcff"])
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, written: str) -> None:
    (tmp_path / ".memento.json").write_bytes(written.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidInput, match=r"\.memento\.json"):
        find_workspace_scope(tmp_path, {})


def test_a_record_of_another_workspace_is_not_found_and_its_own_is_named(workspace: Workspace) -> None:
    memory = workspace.remember("A note.", namespace="fathom")
    with pytest.raises(NotFound, match="in the workspace 'fathom', not in 'default'"):
        WorkspaceScope("global").memory(workspace, memory.id)
    assert WorkspaceScope("fathom").memory(workspace, memory.id) == memory


# Words


def test_a_plain_text_stands_as_it_is() -> None:
    text = "Use make.\n- first build\n- then test\n#hashtag - not a heading"
    assert quoted_block(text) == text


@pytest.mark.parametrize(
    "line", ["---", "**1234abcd** (fact)", "Links: memory:1", "  > ---", "## Skip List", "Found 3 memories:", "SKIP: x"]
)
@pytest.mark.parametrize("separator", ["\n", "\r", "\u2028", "\x0b"])
def test_a_line_that_could_pass_for_one_of_an_answer_is_fenced(line: str, separator: str) -> None:
    assert quoted_block(f"text{separator}{line}").startswith("--- memento ")


def test_a_head_is_one_line_whatever_the_memory_holds() -> None:
    memory = note("text", id="a b", kind_raw="odd\u2028kind", tags=["a\u2028b"])
    assert len(memory_heading(memory, NOW).splitlines()) == 1


@pytest.mark.parametrize("category", ITEM_CATEGORIES)
def test_every_category_of_an_item_comes_back(category: str) -> None:
    item = make_item(item_fields(category, "Skip: it"))
    assert (category_of(item), item_title(item)) == (category, "Skip: it")


@pytest.mark.parametrize(
    ("named", "key"), [("Active Work", "active_work"), ("skip_list", "skip_list"), ("My Plans", "My Plans")]
)
def test_a_section_is_known_by_its_key_and_by_its_heading(named: str, key: str) -> None:
    assert section_key(named) == key


def test_an_id_that_is_taken_is_not_given_again() -> None:
    taken: list[str] = []

    def is_taken(made: str) -> bool:
        taken.append(made)
        return len(taken) < 3

    assert free_hex_id(is_taken) == taken[2]


# Storing


def test_the_same_text_is_stored_once_under_a_short_id(agent: Workspace) -> None:
    first = agent.remember("The API lives at /v2.", make_id=id_maker(agent))
    again = agent.remember("The API  lives\nat /v2.", make_id=id_maker(agent))
    assert (len(first.id), again.id, agent._store.memories.count_all()) == (8, first.id, 1)


def test_the_same_text_is_stored_once_when_two_sessions_store_it_at_the_same_moment(data_dir: Path) -> None:
    ready = threading.Barrier(4)
    stored: list[str] = []

    def store() -> None:
        with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude") as mine:
            ready.wait()
            stored.append(mine.remember("The API lives at /v2.", make_id=id_maker(mine)).id)

    threads = [threading.Thread(target=store) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(stored) == 4
    assert len(set(stored)) == 1


# Recalling


def recalled(workspace: Workspace, query: str, *namespaces: str) -> list[str]:
    asked = RecallQuery(query, (), "", 10, namespaces or ("global",))
    return [memory.content for memory in find_memories(workspace, asked).memories]


def test_a_word_does_not_match_a_longer_word_that_it_begins(agent: Workspace) -> None:
    agent.remember("The keynote was long.")
    agent.remember("All keys were replaced.")
    assert recalled(agent, "key") == ["All keys were replaced."]


def test_a_hyphenated_name_is_found(agent: Workspace) -> None:
    agent.remember("The solver handles Navier-Stokes with a coarse grid.")
    assert len(recalled(agent, "Navier-Stokes")) == 1


def test_an_old_exact_match_comes_before_a_fresh_one_that_is_vague(workspace: Workspace, agent: Workspace) -> None:
    sixty = clock.now() - timedelta(days=60)
    put(workspace._store, note("Rotate the staging database password on Mondays.", created_at=sixty))
    put(workspace._store, note("The password of the wireless network is on the board."))
    assert recalled(agent, "rotate staging database password")[0].startswith("Rotate")


def test_what_is_recalled_counts_as_shown_and_what_is_not_counts_as_nothing(agent: Workspace) -> None:
    shown = agent.remember("The staging proxy listens on port 8080.")
    other = agent.remember("The staging proxy of fathom is slow.", namespace="fathom")
    recalled(agent, "staging proxy")
    counts = [(memory.shown_count, memory.used_count) for memory in map(agent.get, (shown.id, other.id))]
    assert counts == [(1, 0), (0, 0)]


def test_a_workspace_has_those_below_it_and_no_other_that_begins_alike(agent: Workspace) -> None:
    for namespace in ("fathom", "fathom/deep", "fathomless"):
        agent.remember(f"A note of {namespace}.", namespace=namespace)
    assert set(recalled(agent, "note", "fathom")) == {"A note of fathom.", "A note of fathom/deep."}


def test_a_skip_of_another_workspace_counts_no_hit(workspace: Workspace) -> None:
    place = WorkspaceScope("fathom")
    workspace.skips.add("vendor folder", "not ours", "7d", id="here", namespace="fathom")
    workspace.skips.add("vendor folder", "not ours", "7d", id="there")
    assert [skip.id for skip in workspace.skips.check("vendor folder", among=place.holds)] == ["here"]
    assert (workspace.skips.get("here").hits, workspace.skips.get("there").hits) == (1, 0)


def test_a_tag_that_cannot_be_asked_for_is_refused(agent: Workspace) -> None:
    with pytest.raises(InvalidField, match="tags"):
        find_memories(agent, RecallQuery("x", ('a"b',), "", 10, ("global",)))
