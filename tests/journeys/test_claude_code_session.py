"""A session of Claude Code played back from its recording, against the commands that `memento install` wrote."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.claude_code import ClaudeCode
from tests.journeys.host_home import HostHome
from tests.journeys.tmux_terminal import app_in_tmux, needs_tmux

FIRST, SECOND = "91186ece-f777-454f-9f8a-ec5150214c3d", "b7a0c1d2-3e4f-4a5b-8c6d-7e8f9a0b1c2d"
DEPLOY = (
    "Deploys of the billing service go to staging first, with scripts/deploy.sh --region ams;"
    " run pg_dump before, and wait for health at /v2/ready."
)
MONTH = "src/export.py: a month ends at midnight UTC; local midnight loses the invoices of its last evening."
CENTS = "Every amount of money is kept in cents, as an integer; a float loses some of them when it is summed."
RULE, VPN = "store every timestamp in UTC", "needs the VPN"


def furnished(root: Path) -> HostHome:
    """Return a person's home, who has remembered a few things and then installed memento into Claude Code."""
    made = HostHome(root)
    made.add(DEPLOY, "--id", "deploy-lane", "--kind", "decision")
    made.add(MONTH, "--id", "month-end", "--kind", "bugfix", "--namespace", "projects/billing")
    made.add(CENTS, "--id", "cents", "--pin")
    made.add("The site's pictures are cut by a worker of the billing service.", "--namespace", "projects/site")
    made.shell.json("crystal", "write", "I look after the money, and I am careful with it.")
    made.shell.json("item", "add", "Move billing to the new API", "--next", "write the adapter")
    made.shell.json("skip", "add", "the e2e suite", "--reason", "it takes an hour", "--until", "30d")
    made.shell.json("install", "claude-code", "--yes")
    return made


@pytest.fixture
def house(tmp_path: Path) -> HostHome:
    return furnished(tmp_path)


@pytest.fixture
def claude(house: HostHome) -> ClaudeCode:
    return ClaudeCode(house, FIRST)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> ClaudeCode:
    """A session that is over, and whose lessons wait. Tests only look at it."""
    claude = ClaudeCode(furnished(tmp_path_factory.mktemp("finished")), FIRST)
    with claude.agent() as agent:
        claude.play(agent)
    claude.house.waiting(RULE, VPN)
    return claude


def lessons(waiting: list[dict[str, Any]], words: str) -> list[dict[str, Any]]:
    """Return what waits and says these words."""
    return [one for one in waiting if words in str(one["record"])]


def test_each_moment_of_a_session_is_told_what_it_needs_and_nothing_more(finished: ClaudeCode) -> None:
    told = finished.told
    for words in ("careful with it", CENTS, "write the adapter", "it takes an hour", "projects/billing"):
        assert words in told["start"]
    # What this project learned the hard way is told as it starts, what is about everything when it is asked for.
    assert "month-end bugfix" in told["start"]
    assert "deploy-lane" not in told["start"]
    assert "deploy-lane decision" in told["deploy"]
    assert "pictures" not in told["deploy"]
    assert "because the runner is being replaced" in told["skipped"]
    assert CENTS in told["compacted"]
    assert "deploy-lane decision" in told["deploy after compacting"]
    silent = (
        "stop",
        "complaint",
        "bash",
        "read",
        "read again",
        "deploy again",
        "thanks",
        "rule",
        "compacting",
        "vpn",
        "end",
    )
    assert {step: told[step] for step in silent} == dict.fromkeys(silent, "")
    assert finished.house.hook_log == ""


def test_what_the_agent_has_just_stored_itself_is_not_told_to_it(finished: ClaudeCode) -> None:
    assert "batch-3" in str(finished.house.shell.json("list"))
    assert finished.told["own memory"] == ""


def test_what_the_agent_found_by_a_search_is_not_told_to_it_again(house: HostHome, claude: ClaudeCode) -> None:
    with claude.agent() as agent:
        claude.play(agent, until="start")
        agent.call("search", query="deploys of the billing service to staging")
        claude.play(agent, until="deploy")
    assert claude.told["deploy"] == ""
    assert "deploy-lane" in [one["memory_id"] for one in house.injections(FIRST)]


def test_the_person_sees_what_was_shown_what_was_used_and_what_the_agent_did(finished: ClaudeCode) -> None:
    house = finished.house
    hooks = [one for one in house.injections(FIRST) if one["channel"] == "hook"]
    start = {"cents", "month-end"}
    told = [one["memory_id"] for one in hooks]
    assert (set(told[:2]), told[2], set(told[3:5]), told[5:]) == (start, "deploy-lane", start, ["deploy-lane"])
    assert all(one["tokens"] > 0 and 0 < one["score"] <= 1.15 for one in hooks)
    used = {one["memory_id"] for one in hooks if one["used_at"]}
    assert "deploy-lane" in used
    assert "cents" not in used
    assert house.shell.json("show", "deploy-lane")["used_count"] == 1
    assert house.shell.json("show", "cents")["used_count"] == 0

    (builds,) = [skip for skip in house.shell.json("skip", "list")["items"] if "Windows" in skip["item"]]
    assert builds["hits"] == 1
    done = house.shell.json("activity", f"session:{FIRST}")["items"][::-1]
    assert {entry["agent"] for entry in done} == {"claude-code"}
    actions = [(entry["actor"], entry["channel"], entry["action"]) for entry in done]
    assert actions[:2] == [("agent", "mcp", "remember"), ("agent", "mcp", "skip add")]
    assert set(actions[2:]) == {("system", "distill", "distill")}


def test_what_the_session_taught_waits_with_the_lines_it_rests_on_and_each_lesson_once(finished: ClaudeCode) -> None:
    waiting = finished.house.waiting()
    lines = finished.transcript.read_text(encoding="utf-8").splitlines()
    for one in waiting:
        evidence = one["evidence"]
        assert evidence["transcript"] == str(finished.transcript)
        first, _, last = evidence["lines"].partition("-")
        said = "\n".join(lines[int(first) - 1 : int(last)])
        assert all(word in said for word in re.findall(r"\w+", evidence["quote"]))
    texts = str([one["record"] for one in waiting])
    # A summary that the host made, what a tool printed and what memento told itself are no lessons.
    for never in ("Fortran", "cron", "Every amount of money", "local midnight loses"):
        assert never not in texts
    assert {lesson: len(lessons(waiting, lesson)) for lesson in (RULE, VPN)} == {RULE: 1, VPN: 1}


def test_once_the_person_approves_a_lesson_the_next_session_is_told_it(house: HostHome, claude: ClaudeCode) -> None:
    claude.steps = [step for step in claude.steps if step.get("step") in ("start", "rule", "end")]
    with claude.agent() as agent:
        claude.play(agent)
    (rule,) = house.waiting(RULE)
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "should the templates convert a timestamp from UTC?"}
    second = ClaudeCode(house, SECOND)
    assert second.fire(**prompt) == ""
    house.shell.json("review", "approve", rule["id"])
    told = second.fire(**prompt)
    assert RULE in told
    assert rule["target_id"] in told
    assert second.fire(**prompt) == ""


def test_two_sessions_at_once_in_worktrees_of_a_repository_share_its_memory_and_each_is_told_it(
    house: HostHome,
) -> None:
    one, other = ClaudeCode(house, FIRST), ClaudeCode(house, SECOND, house.worktree("hotfix"))
    with one.agent() as agent, other.agent() as second_agent:
        while one.steps:
            one.play_one(agent)
            other.play_one(second_agent)
    waiting = house.waiting(RULE, VPN)

    assert "projects/billing" in one.told["start"]
    for step in ("start", "deploy", "read", "skipped", "deploy after compacting"):
        assert without_marks(one.told[step]) == without_marks(other.told[step])
    # Both stored one text; it is the memory of the one that came first, and news to the other.
    assert one.told["own memory"] == ""
    assert "batch-3" in other.told["own memory"]
    for session in (FIRST, SECOND):
        hooks = [row["memory_id"] for row in house.injections(session) if row["channel"] == "hook"]
        known = [name for name in hooks if name in ("cents", "deploy-lane", "month-end")]
        assert sorted(known) == ["cents", "cents", "deploy-lane", "deploy-lane", "month-end", "month-end"]
    assert {lesson: len(lessons(waiting, lesson)) for lesson in (RULE, VPN)} == {RULE: 1, VPN: 1}
    assert str(house.shell.json("list")).count("on the host batch-3;") == 1
    assert house.hook_log == ""


def without_marks(told: str) -> list[str]:
    """Return a block without the fence's own lines, which differ each time."""
    return [line for line in told.splitlines() if not line.startswith("---")]


@needs_tmux
def test_a_person_who_has_the_app_open_sees_injections_and_lessons_as_they_come(
    house: HostHome, claude: ClaudeCode
) -> None:
    with app_in_tmux(house.data_dir, "--open", "activity") as screen, claude.agent() as agent:
        screen.shows("added")
        screen.press("i")
        screen.shows("No agent was shown a memory yet.")
        claude.play(agent, until="deploy")
        screen.shows(
            "Deploys of the billing",
            "Every amount of money",
            "src/export.py: a month",
            f"{FIRST[:7]}",
            "through hook",
            "not seen to be",
        )
        claude.play(agent)
        screen.shows("Review 3")
        screen.press("3")
        screen.shows("store every timestamp", "The nightly", "learned from a transcript", "it rests on:")
