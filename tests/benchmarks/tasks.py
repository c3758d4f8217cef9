"""Do twenty-one tasks of a day with the app, in a real terminal at a person's pace.

``python -m tests.benchmarks.tasks`` writes their table. Each begins in an app of its own, on a fresh copy of the sample
with a long text and a Markdown text beside it. A key is pressed every fifth of a second; what a person would wait to
see is waited for. The seconds go from the first key to the moment when the screen, or the database, shows that the task
is done. Words behind the command choose the tasks that have them in their names, and write nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import NamedTuple

import memento_tui
from memento_tui.api import Workspace
from tests.benchmarks.table import write_section
from tests.journeys import tmux_terminal
from tests.journeys.tmux_terminal import Screen

__all__ = ["TASKS", "Hand"]

_RESULTS = Path(__file__).with_name("RESULTS.md")
_HEADING = "Twenty-one tasks"
_HOW = """\
Made by `python -m tests.benchmarks.tasks`: each task of a report on an earlier state, its nine defects, eleven wishes
and the inbox, done in a real terminal (tmux, 140x42) on the sample, a key every fifth of a second, so that most of the
seconds are the hand's; on two shared cores at a load of {load:.0f}. Before is what the report found; it gives no keys
and seconds, for most could not be done.
"""

_PAUSE_SECONDS = 0.2
"""Seconds between two keys: a person who knows what to press next."""

_GIVE_UP_SECONDS = 10
"""Seconds after which a task that shows nothing is one that cannot be done."""

_MARKDOWN = """\
# How to release

1. Run the checks.
2. Tag it:

```sh
git tag v1.2.0
```
"""
_LONG_LINES = 5_000


class Hand:
    """A person at one terminal: counts the keys, and looks at the screen and at the database."""

    def __init__(self, screen: Screen, data: Path) -> None:
        self.screen = screen
        self.data = data
        self.keys = 0
        self._began = 0.0

    def press(self, *keys: str, pause: float = _PAUSE_SECONDS) -> None:
        """Press keys, by tmux's names."""
        for key in keys:
            self._began = self._began or monotonic()
            self.screen.press(key)
            self.keys += 1
            sleep(pause)

    def type(self, text: str) -> None:
        """Type a text letter by letter."""
        for letter in text:
            self._began = self._began or monotonic()
            self.screen.type(letter)
            self.keys += 1
            sleep(_PAUSE_SECONDS)

    def sees(self, *texts: str) -> None:
        """Wait until all of these are on the screen."""
        self.screen.shows(*texts)

    def sees_no_more(self, text: str) -> None:
        """Wait until this has left the screen."""
        self.screen.until(lambda: text not in self.screen.text, f"{text} is gone")

    def holds(self, question: Callable[[Workspace], bool]) -> None:
        """Wait until something is true of the workspace."""
        with memento_tui.open(self.data) as workspace:
            self.screen.until(lambda: question(workspace), "the workspace holds it")

    @property
    def seconds(self) -> float:
        """Seconds since the first key."""
        return monotonic() - self._began


def _leave_side_views(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    for _ in range(3):
        hand.press("h", "3", "2", pause=0.05)
        hand.press("Escape")  # what follows at once would be one key with it
        hand.press("l", pause=0.05)
        hand.press("Escape")
    hand.press("j")
    hand.sees("h History", ">  .  fact     The longest text")


def _take_back_an_edit(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("t")
    hand.sees("Tags")
    hand.type("fresh")
    hand.press("Enter")
    hand.holds(lambda workspace: dict(workspace.tags(500)).get("fresh") == 1)
    hand.press("z")
    hand.holds(lambda workspace: "fresh" not in dict(workspace.tags(500)))


def _delete_a_range(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    before = _active(hand)
    hand.press("v", "j", "j", "d")
    hand.press("y")
    hand.holds(lambda workspace: workspace.count_all() > 0 and _listed(workspace) == before - 3)
    hand.press("z")
    hand.holds(lambda workspace: _listed(workspace) == before)


def _listed(workspace: Workspace) -> int:
    return sum(count for _, count in workspace.facet_counts("kind"))


def _active(hand: Hand) -> int:
    with memento_tui.open(hand.data) as workspace:
        return _listed(workspace)


def _tag_marked_rows(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("Space", "Space", "Space", "Space", "t")
    hand.type("+seen")
    hand.press("Enter", "y")
    hand.holds(lambda workspace: dict(workspace.tags(500)).get("seen") == 4)


def _edit_the_best_result(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("/")
    hand.type("one clock")
    hand.press("Enter", "e")
    hand.sees("^s Save", "One clock")
    hand.press("Escape")


def _read_only(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact", "read-only")
    hand.press("n")
    hand.sees("started read-only")


def _find_a_section_and_a_typing_error(hand: Hand) -> None:
    hand.press("C-p")
    hand.sees("Search for commands")
    hand.type("health")
    hand.sees("Go to what needs care")
    hand.press("Escape", "2", "/")
    hand.type("kindd:fact")
    hand.sees("kind")
    hand.press("Enter")


def _type_ahead_of_a_dialog(hand: Hand) -> None:
    hand.press("3")
    hand.sees("orders")
    hand.press("j", "j")
    hand.press("x", "a", "a", "a", pause=0.0)
    hand.sees("Reject")
    hand.press("Escape")
    hand.holds(lambda workspace: workspace.inbox.count() == 8)


def _scroll_a_long_text(hand: Hand) -> None:
    hand.press("2", "/")
    hand.type("longest")
    hand.press("Enter")
    hand.sees("line 3 of the longest text")
    hand.press(*["J"] * 10, pause=0.05)
    hand.sees("line 14 of the longest text")


def _expiring(workspace: Workspace, within: str) -> int:
    return len(workspace.list(f"expires:<{within}").items)


def _change_what_governs(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("Space", "Space", ":")
    hand.type("expires 30d")
    hand.press("Enter", "y")
    hand.holds(lambda workspace: _expiring(workspace, "31d") == _expiring(workspace, "29d") + 2)


def _decide_by_risk(hand: Hand) -> None:
    hand.press("3")
    hand.sees("reads like orders")
    sleep(0.6)
    hand.press("x")
    hand.sees("Reject")
    hand.type("an attack")
    hand.press("Enter")
    hand.holds(lambda workspace: workspace.inbox.count() == 7)
    hand.press("z")
    hand.holds(lambda workspace: workspace.inbox.count() == 8)
    hand.sees("Theme package 2.1")


def _learn_what_a_mark_means(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("?")
    hand.type("marks")
    hand.sees("+ verified")
    hand.press("Escape")


def _why_is_this_here(hand: Hand) -> None:
    hand.press("2", "/")
    hand.type("journal")
    hand.press("Enter", "w")
    hand.sees("score")


def _count_ahead(hand: Hand) -> None:
    hand.press("F2")
    hand.sees("Settings")
    hand.press("G")
    hand.sees("app.counts")
    hand.press("Enter")
    hand.sees("app.counts: true")
    hand.press("Escape")
    hand.sees_no_more("Settings")
    hand.press("]")
    hand.sees("fact")
    hand.press("5", "j")
    hand.sees("live")


def _complete_a_search(hand: Hand) -> None:
    hand.press("2", "/")
    hand.type("kin")
    hand.press("Tab")
    hand.type("dec")
    hand.press("Tab", "Enter")
    hand.sees("kind:decision", "decide")


def _read_markdown(hand: Hand) -> None:
    hand.press("2", "/")
    hand.type("how to release")
    hand.press("Enter")
    hand.sees("How to release", "git tag v1.2.0")
    hand.sees_no_more("```")


def _copy_a_text(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("y", "y")
    hand.sees("opied")


def _sort_and_zoom(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press(",")
    hand.sees("Newest first.")
    hand.press("\\")
    hand.sees("The list alone.")


def _follow_an_undo(hand: Hand) -> None:
    hand.press("2")
    hand.sees("fact")
    hand.press("d", "z")
    hand.sees("goes there")
    hand.press("U")
    hand.sees("id:")


def _switch_the_workspace(hand: Hand) -> None:
    hand.press("F4")
    hand.sees("Workspaces", "here")
    hand.press("a")
    hand.screen.press("C-u")
    hand.type(str(hand.data.parent / "other"))
    hand.press("Enter")
    hand.sees("Workspaces")
    hand.press("Enter")
    hand.sees(f"{hand.data.parent.name}/other")


def _begin_the_day(hand: Hand) -> None:
    hand.sees("Decide next", "Theme package 2.1")
    hand.press("a")
    hand.sees("You are asked because")
    sleep(0.6)
    hand.press("l")
    hand.holds(lambda workspace: workspace.inbox.count() == 7)


class Task(NamedTuple):
    """One task: its name, what the report said of it, and how it is done."""

    name: str
    before: str
    act: Callable[[Hand], None]


TASKS: tuple[Task, ...] = (
    Task(
        "open and leave side views quickly",
        "the app ended, 12 of 12 times",
        _leave_side_views,
    ),
    Task("change the tags of a memory and take it back", "`z` could jam for ever", _take_back_an_edit),
    Task("delete a range of three rows, and take it back", "one row was deleted", _delete_a_range),
    Task("tag four marked rows", '"Changed the tags of 4", and nothing was written', _tag_marked_rows),
    Task("search, and edit the best result", "`e` could hit another memory", _edit_the_best_result),
    Task("look at a workspace that must not change", "a traceback at `n`", _read_only),
    Task(
        "find a section by its name; mistype a field",
        "not found; the field became a word",
        _find_a_section_and_a_typing_error,
    ),
    Task("type ahead of a dialog", "approved what was being rejected", _type_ahead_of_a_dialog),
    Task("scroll through a text of 250 kB", "370 ms a key", _scroll_a_long_text),
    Task("let two memories expire in 30 days", "nowhere in the app", _change_what_governs),
    Task(
        "reject the riskiest with a reason, and get the card back",
        "not in order of risk; the card did not come back",
        _decide_by_risk,
    ),
    Task("learn what a mark in a row means", "nowhere", _learn_what_a_mark_means),
    Task("see why a result stands where it does", "not shown", _why_is_this_here),
    Task("switch counts on, and go five rows down", "no counts", _count_ahead),
    Task("write a filter by completion", "no completion", _complete_a_search),
    Task("read a text in Markdown with code", "shown raw", _read_markdown),
    Task("copy a text", "the id alone", _copy_a_text),
    Task("sort, and give the list all the room", "neither", _sort_and_zoom),
    Task("delete, undo, and go to what came back", "the line named nothing", _follow_an_undo),
    Task("add another workspace and go there", "leave, and start it with its path", _switch_the_workspace),
    Task("begin the day: open what waits first, put it off", "Home showed no memory", _begin_the_day),
)
"""The tasks, in the order of the report."""


def _made(folder: Path) -> Path:
    """Load the sample, and put a long text and a Markdown text beside it."""
    data, loader = folder / "sample", Path(__file__).parents[2] / "data" / "load_sample.py"
    subprocess.run([sys.executable, str(loader), str(data)], check=True)  # noqa: S603 - our own script
    (data / "config.toml").write_text("[engine]\nenabled = false\n")
    with memento_tui.open(data) as workspace:
        lines = (f"line {number} of the longest text, which goes on for quite a while" for number in range(_LONG_LINES))
        workspace.remember("\n\n".join(lines)[:250_000], title="The longest text")
        workspace.remember(_MARKDOWN, title="How to release")
    return data


def _do(task: Task, data: Path) -> str:
    """Do one task in an app of its own, and return its row of the table."""
    screen = Screen((140, 42))
    options = ["--read-only"] if task.act is _read_only else []
    screen.start(sys.executable, "-m", "memento_tui", "--data-dir", str(data), *options)
    try:
        screen.shows("? Keys", "Decide next")
        hand = Hand(screen, data)
        task.act(hand)
        done = f"{hand.keys} | {hand.seconds:.1f}"
    except AssertionError as error:
        sys.stderr.write(f"{task.name}: {error}\n")
        done = "**not done** | "
    finally:
        screen.close()
    return f"| {task.name} | {task.before} | {done} |"


def main() -> None:
    """Do every task, or those that were named, and print the table."""
    chosen = [task for task in TASKS if all(word in task.name for word in sys.argv[1:])]
    rows = ["| task | before | keys | seconds |", "|---|---|---|---|"]
    tmux_terminal._DEADLINE_SECONDS = _GIVE_UP_SECONDS
    with tempfile.TemporaryDirectory(prefix="memento-tasks-") as name:
        folder = Path(name)
        made = _made(folder)
        os.environ["XDG_STATE_HOME"] = str(folder / "state")
        shutil.copytree(made, folder / "other")
        for number, task in enumerate(chosen):
            shutil.copytree(made, folder / f"{number}")
            rows.append(_do(task, folder / f"{number}"))
            sys.stdout.write(f"{rows[-1]}\n")
    if len(chosen) == len(TASKS):
        how = _HOW.format(load=os.getloadavg()[0])
        write_section(_RESULTS, _HEADING, f"{how}\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
