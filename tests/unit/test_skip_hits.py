"""When a skip fired: for which session, and by which of its own words; what was asked is kept nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.storage import statements
from memento_tui.text.skip_matching import matched_words, mentions_of
from tests.encrypted import files_with


@pytest.mark.parametrize(
    ("item", "text", "words"),
    [
        ("flaky login test", "the login test fails again", "login test"),
        ("reading `vendor/`", "vendor/lib.js", "vendor/"),
        ("HN: MMAcevedo/Lena (qntm)", "summarise the story about MMAcevedo", "MMAcevedo/Lena"),
        ("issue #482", "have another look at #482", "#482"),
        ("本番デプロイ", "本番デプロイの手順", "本番デプロイ"),
        ("the tests", "run the tests again", "tests"),
        ("issue #482", "have another look at #483", ""),
    ],
)
def test_the_words_that_a_skip_is_found_by_are_its_own(item: str, text: str, words: str) -> None:
    assert matched_words(mentions_of(text), item) == words


def test_a_hit_tells_the_session_the_channel_and_the_words_but_not_what_was_asked(
    data_dir: Path, workspace: Workspace, agent: Workspace
) -> None:
    skip = workspace.skips.add("reading vendor/", "generated", "30d")
    agent.skips.check("may I read vendor/lib.js, which the marmalade client wrote?")
    (hit,) = workspace.skips.hits(skip.id)
    assert (hit.session, hit.channel, hit.words) == (agent.author.session, "mcp", "reading vendor/")
    assert workspace.skips.get(skip.id).hits == 1
    assert files_with("marmalade", data_dir) == []


def test_the_last_hits_are_kept_and_all_are_counted(workspace: Workspace) -> None:
    skip = workspace.skips.add("reading vendor/", "generated", "30d")
    other = workspace.skips.add("issue #482", "waits", "30d")
    workspace.skips.check("issue #482")
    for _ in range(statements._HITS_KEPT + 3):
        workspace.skips.check("vendor/")
    assert len(workspace.skips.hits(skip.id, limit=1_000)) == statements._HITS_KEPT
    assert workspace.skips.get(skip.id).hits == statements._HITS_KEPT + 3
    assert len(workspace.skips.hits(other.id)) == 1


def test_a_purge_of_a_skip_takes_the_words_that_it_fired_by(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        skip = workspace.skips.add("calling heron-4711", "it is down", "7d")
        workspace.skips.check("call heron-4711 again")
        workspace._store.purge(workspace.author, "skip", skip.id, "a secret")
        assert workspace.skips.hits(skip.id) == []
    assert files_with("heron-4711", data_dir) == []
