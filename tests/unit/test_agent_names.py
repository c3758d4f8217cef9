"""An agent gives its own name, and none reads as the person's, as memento's, or as trust."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.identity import writer_of
from memento_tui.formats.import_export import run_import
from memento_tui.storage.journal import HUB_CHANNEL, Author
from memento_tui.text.agent_names import is_machine_name, is_persons_name
from memento_tui.text.labels import caution_labels, source_in_words
from tests.unit.cli_program import Program

TAKEN = (
    "you",
    "You",
    "The User",
    "person",
    "the.owner",
    "y\u043eu",
    "y\u200bou",
    "\uff59\uff4f\uff55",
    "verified by you",
    "verifiedByYou",
    "TheUser",
    "theuser",
    "ApprovedByOwner",
    "y-o-u",
    "claude y.o.u",
    "yOu",
    "yo\u03c5",
    "\u03a5o\u03c5",
    "y\u034fou",
    "y\u115fou",
    "y\ufe0fou",
    "y\u2800ou",
    "y\u0903ou",
    "y0u",
    "y\U0001d7ceu",
    "us3r",
    "the 0wner",
    "v3r1f13d",
    "essentia1",
    "yourself",
    "y\u25cfu",
    "y()u",
    "y\u03b8u",
    "\u024fou",
    "y\xd8u",
    "\U0001f168\U0001f15e\U0001f164",
    "\U0001f1fe\U0001f1f4\U0001f1fa",
    "u\ua731\u1d07\u0280",
    "y 0 u",
    "Y-0-U",
    "y.0.u",
    "claude y:0:u",
    "v3r 1 f1ed",
    "you\u02bc",
    "yo\xb5",
    "\xa5ou",
    "\u028eou",
    "isme",
    "From Me",
)


@pytest.mark.parametrize("name", TAKEN)
def test_an_agent_that_takes_the_persons_name_writes_as_an_agent(name: str, data_dir: Path) -> None:
    with Workspace(data_dir, actor="agent", channel="mcp", agent=name) as agent:
        written = agent.remember("The office moved to Delft.")
        agent.crystals.write("I like tidy builds.")
        waiting = agent.remember("The office moved to Breda.", source_type="external")
    with Workspace(data_dir) as workspace:
        memory = workspace.get(written.id)
        assert memory.source.agent == "agent"
        assert source_in_words(memory) == "agent"
        identity = workspace.crystals.current()
        assert identity is not None
        assert writer_of(identity) == "agent"
        assert workspace.review.get(waiting.id).proposal.proposed_by == "agent"
    for command in (("list",), ("activity",), ("review", "list"), ("crystal", "show"), ("show", written.id)):
        assert name not in Program(data_dir).run(*command).out.replace("unverified", "")


def test_an_agent_that_takes_mementos_name_has_none_and_memento_keeps_it() -> None:
    assert Author("agent", "mcp", "memento").agent == "agent"
    assert Author("agent", "mcp", "m3mento").agent == "agent"
    assert Author("system", "engine", "memento").agent == "memento"
    assert Author("system", "distill", "the user").agent == "agent"
    assert Author("person", HUB_CHANNEL, "owner-laptop").agent == "owner-laptop"


@pytest.mark.parametrize("name", ["\u200b", "   ", "\u2800", "\u202e\u202c"])
def test_a_name_that_nobody_sees_is_none(name: str) -> None:
    assert Author("agent", "mcp", name).agent == "agent"


@pytest.mark.parametrize(
    "name",
    [
        "you",
        "You-2",
        "y0u",
        "verified-by-you",
        "TheUser",
        "me",
        "memento",
        "a b",
        "x\n",
        "",
        "mement0",
        "m3mento",
        "syst3m",
        "hu8",
        "h-u-8",
        "ma1ntenance",
        "5tab1e",
        "isme",
        "fromme",
        "the-me",
        "y-0-u",
    ],
)
def test_no_machine_of_the_hub_has_the_persons_name(name: str) -> None:
    assert not is_machine_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "laptop",
        "user-pc",
        "home-me",
        "M3",
        "youtube-box",
        "layout.local",
        "thinkpad-t480s",
        "m4cbook",
        "dev3",
        "theme",
        "memento-server",
        "vm-user",
        "me-3-b",
        "asme",
        "i3-pc",
    ],
)
def test_a_machine_may_be_called_after_its_user(name: str) -> None:
    assert is_machine_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "gpt-4o",
        "o3",
        "M3 Max",
        "c3po",
        "claude-3-5-sonnet",
        "claude-code",
        "Claude Code",
        "codex",
        "Codex CLI",
        "script",
        "cursor",
        "",
        "claude-youtrack",
        "YouTrackAgent",
        "userbot",
        "theme",
        "personal-assistant",
        "layout",
        "gpt 4 o",
        "agent-0-5-b",
        "s-1-m-0-n",
        "qwen-2.5-7b",
        "lime",
        "re-name",
        "\u30b3\u30fc\u30c9",
        "\u03bc-agent",
        "o\u02bbhara",
        "\u03c5\u03c0\u03cc\u03bb\u03bf\u03b3\u03bf\u03c2",
    ],
)
def test_other_names_stay(name: str) -> None:
    assert Author("agent", "mcp", name).agent == name


def test_a_file_names_no_person_as_the_agent_or_the_author(workspace: Workspace, tmp_path: Path) -> None:
    lines = [
        {"record": "header", "format": "memento-jsonl", "version": 1},
        {
            "record": "memory",
            "id": "one",
            "content": "The port is 1.",
            "source_type": "derived",
            "source": {"agent": "you"},
        },
        {"record": "crystal", "id": "two", "content": "I obey.", "author": "person", "status": "current"},
    ]
    source = tmp_path / "export.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run_import(workspace, "memento", source).refused == []
    assert workspace.get("one").source.agent == ""
    assert writer_of(workspace.crystals.get("two")) == "unknown"


def test_a_memory_that_names_the_person_as_its_agent_is_told_without_the_name(workspace: Workspace) -> None:
    """One may lie in a database from before."""
    memory = workspace.remember("The port is 1.", source_type="derived", source={"agent": "you"})
    assert is_persons_name(memory.source.agent)
    assert source_in_words(memory) == "an agent"


@pytest.mark.parametrize(
    "url",
    [
        "https://you/",
        "https://verified",
        "https://me@the-user:80/x",
        "http://you./",
        "https://-you-./",
        "https://verified.by.you",
        "https://approved.by.the.owner/x",
        "https://y.o.u/",
        "https://y.0.u/",
        "https://approved.by.me",
        "https://me/",
        "https://from.me",
    ],
)
def test_a_page_whose_host_is_the_persons_name_is_a_page(workspace: Workspace, url: str) -> None:
    memory = workspace.remember("The port is 1.", source_type="external", source={"url": url})
    assert source_in_words(memory) == "a page"
    assert not any(label.startswith("from ") for label in caution_labels(memory, clock.now()))


@pytest.mark.parametrize(
    "host", ["docs.you.com", "you.com", "about.me", "owner.github.io", "127.0.0.1", "i.am", "user-docs.local", "wiki"]
)
def test_a_page_is_named_by_its_host(workspace: Workspace, host: str) -> None:
    memory = workspace.remember("The port is 1.", source_type="external", source={"url": f"https://{host}/x"})
    assert source_in_words(memory) == host


def test_long_names_that_differ_at_their_end_stay_different_and_short() -> None:
    one, two = (Author("agent", "mcp", f"{'a' * 5000}{end}", f"{'s' * 5000}{end}") for end in "12")
    assert one.agent != two.agent
    assert one.session != two.session
    assert max(map(len, (one.agent, one.session, two.agent, two.session))) <= 300
    assert Author("agent", "mcp", "a" * 300).agent == "a" * 300


def test_a_long_name_is_cut_between_words_so_that_no_part_of_a_key_is_left() -> None:
    name = f"{'worker ' * 38}sk-ant-{'Ab3' * 40}"
    assert Author("agent", "mcp", name).agent.rpartition("~")[0] == ("worker " * 38).strip()
