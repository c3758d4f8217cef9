"""The keyword index is derived: whatever happens to its files, a search answers from what the database holds."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import DataDirectoryError
from memento_tui.search import keyword_index, keyword_query
from tests.made import edit, without_engine

MISSING = "The keyword index was missing and has been rebuilt."
DAMAGED = "The keyword index was damaged and has been rebuilt."
QUERIES = ["alpha", "relLangURL", '"alpha beta"', "alpha tag:t certainty:>=2 expires:>1d", "alpha -gamma", "title3"]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose index has several segments with deletions; tests work on copies."""
    data_dir = without_engine(tmp_path_factory.mktemp("indexed") / "data")
    with memento_tui.open(data_dir) as workspace:
        for round_ in range(3):
            for number in range(8):
                text = f"alpha beta relLangURL word{number} {'gamma' if number % 2 else ''} {round_}"
                workspace.remember(text, tags=["t"], title=f"title{number}", expires_at="900d" if number % 3 else None)
            workspace.search("alpha")
        workspace.forget(workspace.list().items[0].id)
        workspace.search("alpha")
    return data_dir


@pytest.fixture
def copied(indexed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(indexed, tmp_path / "data"))


def answers(data_dir: Path, writes: int = 1) -> tuple[list[list[str]], str]:
    """Return what each query finds, by content, and the notice; afterwards what is written must be found as well."""
    with memento_tui.open(data_dir) as workspace:
        found = []
        for query in QUERIES:
            answer = workspace.search(query, mode="keyword", limit=100)
            assert answer.total == len(answer.results)
            found.append(sorted(hit.memory.content for hit in answer.results))
        notice = workspace.search_engine.keyword.notice
        for number in range(writes):
            memory = workspace.remember(f"written after{number}")
            assert [hit.id for hit in workspace.search(f"after{number}").results] == [memory.id]
        return found, notice or workspace.search_engine.keyword.notice


@pytest.fixture(scope="module")
def expected(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    found, notice = answers(Path(shutil.copytree(indexed, tmp_path_factory.mktemp("expected") / "data")))
    assert notice == ""
    assert [len(contents) for contents in found] == [23, 23, 23, 14, 12, 3]
    return found


def index_files(data_dir: Path, pattern: str = "*") -> list[Path]:
    return sorted(path for path in (data_dir / "index" / "keyword").glob(pattern) if path.is_file())


@pytest.mark.parametrize("below", ["index", "index/keyword"])
def test_a_deleted_index_is_rebuilt_with_a_notice(copied: Path, expected: list[list[str]], below: str) -> None:
    shutil.rmtree(copied / below)
    assert answers(copied) == (expected, MISSING)


def test_an_emptied_index_is_rebuilt_with_a_notice(copied: Path, expected: list[list[str]]) -> None:
    for path in index_files(copied):
        path.unlink()
    assert answers(copied) == (expected, MISSING)


def test_a_file_where_the_index_should_be_gives_way_to_one(copied: Path, expected: list[list[str]]) -> None:
    shutil.rmtree(copied / "index" / "keyword")
    (copied / "index" / "keyword").write_text("not a directory")
    assert answers(copied) == (expected, MISSING)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff\x00garbage", b'{"segments": [], "schema": []}'])
@pytest.mark.parametrize("name", ["meta.json", ".managed.json"])
def test_an_index_whose_description_is_garbage_is_rebuilt(
    copied: Path, expected: list[list[str]], name: str, content: bytes
) -> None:
    (copied / "index" / "keyword" / name).write_bytes(content)
    found, notice = answers(copied)
    assert found == expected
    assert notice in ((DAMAGED, "") if name == ".managed.json" else (DAMAGED,))


@pytest.mark.parametrize("suffix", ["store", "pos", "idx", "term", "fast", "fieldnorm", "del"])
@pytest.mark.parametrize("damage", ["empty", "half", "garbage", "gone"])
def test_a_damaged_segment_is_rebuilt_with_a_notice(
    copied: Path, expected: list[list[str]], suffix: str, damage: str
) -> None:
    for path in index_files(copied, f"*.{suffix}"):
        size = path.stat().st_size
        if damage == "empty":
            path.write_bytes(b"")
        elif damage == "half":
            path.write_bytes(path.read_bytes()[: size // 2])
        elif damage == "garbage":
            path.write_bytes(random.Random(1).randbytes(size))  # noqa: S311 - not for secrets
        else:
            path.unlink()
    assert answers(copied) == (expected, DAMAGED)


def _scratched(path: Path, rng: random.Random, count: int) -> None:
    """Alter some bytes before the footer that Tantivy looks at when it opens a file."""
    data = bytearray(path.read_bytes())
    for _ in range(count):
        data[rng.randrange(max(1, len(data) - 120))] = rng.randrange(256)
    path.write_bytes(data)


@pytest.mark.parametrize("seed", range(6))
def test_damage_that_shows_only_when_it_is_read_never_stops_a_search(
    copied: Path, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    suffix = ("store", "idx", "term", "fast", "fieldnorm", "pos")[seed % 6]
    for path in index_files(copied, f"*.{suffix}"):
        _scratched(path, rng, 200)
    found, _ = answers(copied, writes=3)
    assert len(found) == len(QUERIES)
    capfd.readouterr()  # Tantivy's own panics speak on the error stream


def test_an_index_deleted_under_an_open_workspace_is_rebuilt_at_the_next_write(copied: Path) -> None:
    with memento_tui.open(copied) as workspace:
        assert workspace.search("alpha").total == 23
        shutil.rmtree(copied / "index")
        assert workspace.search("alpha").total == 23
        workspace.remember("alpha again")
        answer = workspace.search("alpha")
        assert (answer.total, answer.notice) == (24, MISSING)


def test_the_first_index_of_a_store_comes_without_a_notice(workspace: Workspace) -> None:
    workspace.remember("alpha")
    assert (workspace.search("alpha").total, workspace.search("alpha").notice) == (1, "")


def test_an_index_of_another_store_is_rebuilt(copied: Path, tmp_path: Path) -> None:
    other = without_engine(tmp_path / "other")
    with memento_tui.open(other) as workspace:
        for number in range(40):
            workspace.remember(f"other {number}")
    shutil.copytree(copied / "index", other / "index")
    with memento_tui.open(other) as workspace:
        assert workspace.search("alpha").total == 0
        assert workspace.search("other").total == 40


def test_an_index_of_another_version_is_rebuilt(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyword_index, "SCHEMA_VERSION", keyword_query.SCHEMA_VERSION + "x")
    with memento_tui.open(copied) as workspace:
        answer = workspace.search("alpha")
        assert (answer.total, answer.notice) == (23, "")


def test_an_index_of_another_schema_is_rebuilt(copied: Path, expected: list[list[str]]) -> None:
    meta = copied / "index" / "keyword" / "meta.json"
    meta.write_text(meta.read_text().replace('"name":"words"', '"name":"wurds"').replace('"words"', '"wurds"'))
    found, _ = answers(copied)
    assert found == expected


def test_a_restored_backup_is_indexed_as_it_is_and_not_as_it_was_later(tmp_path: Path) -> None:
    data_dir, backup = without_engine(tmp_path / "data"), tmp_path / "backup.db"
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("alpha before", id="before")
    shutil.copy(data_dir / "memento.db", backup)
    with memento_tui.open(data_dir) as workspace:
        for number in range(5):
            workspace.remember(f"alpha lost {number}")
        assert workspace.search("alpha").total == 6
    shutil.copy(backup, data_dir / "memento.db")
    (data_dir / "workspace.json").unlink()  # as the message says that tells of the older copy
    with memento_tui.open(data_dir) as workspace:
        assert [hit.id for hit in workspace.search("alpha").results] == ["before"]
        for number in range(5):
            workspace.remember(f"alpha instead {number}", id=f"instead{number}")
        assert len(workspace.search("alpha").results) == 6
        assert workspace.search("lost").total == 0


def test_a_search_reflects_what_another_writer_wrote_before_it(workspace: Workspace, agent: Workspace) -> None:
    assert workspace.search("alpha").total == 0
    for number in range(5):
        memory = agent.remember(f"alpha {number}")
        assert workspace.search("alpha").total == number + 1
        edit(agent, memory.id, content=f"beta {number}")
        assert memory.id not in [hit.id for hit in workspace.search("alpha").results]
        assert [hit.id for hit in workspace.search(f'"beta {number}"').results] == [memory.id]
        edit(agent, memory.id, content=f"alpha {number}")


@pytest.mark.parametrize(
    "gone",
    [
        lambda w, m: w.forget(m.id),
        lambda w, _: w.undo(),
        lambda w, m: w.purge(m.id, "leaked"),
        lambda w, m: w.update(m.id, status="archived"),
        lambda w, m: w.update(m.id, expires_at="2020-01-01"),
        lambda w, m: w.update(m.id, sensitivity="restricted"),
        lambda w, m: w.update(m.id, content="other words"),
    ],
)
def test_what_goes_is_not_found_from_the_next_search_on(
    workspace: Workspace, gone: Callable[[Workspace, object], object]
) -> None:
    memory = workspace.remember("alpha")
    assert workspace.search("alpha").total == 1
    gone(workspace, memory)
    answer = workspace.search("alpha")
    assert (answer.results, answer.total) == ([], 0)


def test_while_another_process_writes_the_index_a_search_answers_from_what_there_is(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_index, "_LOCK_SECONDS", 0.0)
    with memento_tui.open(copied) as workspace:
        assert workspace.search("alpha").total == 23
        workspace.remember("alpha more")
        with FileLock(workspace.paths.keyword_lock):
            assert workspace.search("alpha").total == 23
            with pytest.raises(DataDirectoryError, match="cannot be written"):
                workspace.search_engine.keyword.rebuild()
        assert workspace.search("alpha").total == 24


def test_an_index_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    (data_dir / "index").write_text("in the way")
    with memento_tui.open(data_dir) as workspace:
        workspace.remember("alpha")
        with pytest.raises(DataDirectoryError, match=r"index is a file, where the folder of the keyword") as caught:
            workspace.search("alpha")
        assert caught.value.hint.startswith("Move the file away")
        (data_dir / "index").unlink()
        assert workspace.search("alpha").total == 1


def test_rebuilding_tells_how_far_it_is_and_how_many_there_are(workspace: Workspace) -> None:
    workspace.remember_many({"content": f"alpha {number}"} for number in range(2500))
    told: list[tuple[int, int]] = []
    assert workspace.search_engine.keyword.rebuild(lambda done, total: told.append((done, total))) == 2500
    assert told == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert workspace.search("alpha").total == 2500
    assert workspace.search_engine.keyword.indexed_seq == workspace._store.journal.head()


def test_a_long_flood_of_small_writes_keeps_the_index_in_few_files(workspace: Workspace) -> None:
    for number in range(30):
        workspace.remember(f"alpha {number}")
        assert workspace.search("alpha").total == number + 1
    assert len(index_files(workspace.paths.root, "*.idx")) <= 30


@pytest.fixture
def two(data_dir: Path) -> Iterator[tuple[Workspace, Workspace]]:
    with memento_tui.open(data_dir) as one, memento_tui.open(data_dir) as other:
        yield one, other


def test_two_open_workspaces_survive_each_other_rebuilding(two: tuple[Workspace, Workspace]) -> None:
    one, other = two
    one.remember("alpha one")
    assert other.search("alpha").total == 1
    one.search_engine.keyword.rebuild()
    other.remember("alpha two")
    assert (one.search("alpha").total, other.search("alpha").total) == (2, 2)
    shutil.rmtree(one.paths.keyword_index)
    one.remember("alpha three")
    assert (other.search("alpha").total, one.search("alpha").total) == (3, 3)


def test_a_limit_beyond_every_number_of_memories_costs_nothing(workspace: Workspace) -> None:
    workspace.remember("alpha")
    assert len(workspace.search("alpha", limit=10**9).results) == 1


def test_a_memory_that_changes_while_segments_are_merged_is_in_the_index_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = workspace.search_engine.keyword
    for round_ in range(8):
        monkeypatch.setattr(keyword_index, "_MOST_SEGMENTS", 1000)
        for number in range(7):
            workspace.remember(f"An otter lives in river {round_ * 100 + number}.")
            index.catch_up()
        changed = workspace.remember(f"The port of service {round_} is {8000 + round_}.")
        workspace.remember(f"What keeps the segment of the other {round_ * 3} from being empty.")
        index.catch_up()
        workspace.remember(f"The colour of hall {round_} is {9000 + round_}.")
        index.catch_up()
        # The segment that it is in was changed by the last commit, and is merged while this one is made.
        workspace.update(changed.id, content=f"The port of service {round_} has moved to {7000 + round_}.")
        monkeypatch.setattr(keyword_index, "_MOST_SEGMENTS", 0)
        index.catch_up()
        assert index.differences() == []
