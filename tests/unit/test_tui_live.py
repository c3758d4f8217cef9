"""The live view of the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.tui import journal_watcher
from memento_tui.tui.journal_watcher import JournalWatcher


class FakeClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    made = FakeClock()
    monkeypatch.setattr(journal_watcher, "monotonic", made)
    return made


@pytest.fixture
def view(workspace: Workspace, clock: FakeClock) -> JournalWatcher:
    del clock
    return JournalWatcher(workspace.activity, workspace.author.session)


def test_what_others_write_is_told_and_counted_by_writer_and_deed(view: JournalWatcher, agent: Workspace) -> None:
    agent.remember("one")
    agent.remember("two")
    news = view.poll()
    assert (news.changed, news.summary) == (True, "claude: added x2")
    assert view.poll() == journal_watcher.JournalUpdate()
    assert view.status_text() == "live"


def test_what_the_person_writes_in_another_window_or_program_is_told_as_theirs(
    view: JournalWatcher, data_dir: Path
) -> None:
    for channel in ("tui", "cli"):
        with Workspace(data_dir, channel=channel, session=f"another {channel}") as other:
            other.remember(f"through {channel}")
    assert view.poll().summary == "you, elsewhere: added x2"


def test_nothing_is_told_of_what_the_app_itself_writes(data_dir: Path, clock: FakeClock) -> None:
    del clock
    with Workspace(data_dir, channel="tui", session="me") as mine:
        view = JournalWatcher(mine.activity, "me")
        mine.remember("one")
        assert view.poll() == journal_watcher.JournalUpdate(changed=True)


def test_a_paused_view_tells_for_how_long_and_how_far_behind(
    view: JournalWatcher, agent: Workspace, clock: FakeClock
) -> None:
    view.toggle_pause()
    agent.remember("one")
    clock.now += 130
    assert view.poll() == journal_watcher.JournalUpdate()
    assert view.status_text() == "PAUSED 2m, 1 behind (p)"
    view.toggle_pause()
    assert view.poll().changed
    assert view.status_text() == "live"


def test_a_view_that_cannot_be_renewed_tells_how_old_it_is(
    view: JournalWatcher, workspace: Workspace, clock: FakeClock, data_dir: Path
) -> None:
    workspace._store.close()
    (data_dir / "memento.db").write_bytes(b"no database at all, but long enough to look like one" * 40)
    for beside in ("memento.db-wal", "memento.db-shm"):
        (data_dir / beside).unlink(missing_ok=True)
    clock.now += 20
    assert "damaged" in view.poll().summary
    assert view.poll().summary == ""
    assert view.status_text() == "NOT LIVE, as it was 20s ago"


def test_a_past_that_was_put_in_the_place_of_another_is_seen(view: JournalWatcher, workspace: Workspace) -> None:
    workspace.remember("before the backup")
    backup = workspace.backups.make()
    workspace.remember("after the backup")
    view.poll()
    seen = workspace._store.journal.head()
    workspace.backups.restore(backup.name)
    while workspace._store.journal.head() < seen:
        workspace.remember(f"written again {workspace._store.journal.head()}")
    assert view.poll().changed
    assert not view.poll().changed
