"""What of a text counts as citing code."""

from __future__ import annotations

import pytest

from memento_tui.maintenance.code.citations import code_citations
from tests.steps import grows_in_proportion


def cited(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in code_citations(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Retries are in src/client.py:42.", [("path", "src/client.py")]),
        ("Look at client.py, then at docs/.", [("path", "client.py"), ("path", "docs/")]),
        ("`Client.send` calls `retry()` twice.", [("symbol", "Client.send"), ("symbol", "retry")]),
        ("The limit is `MAX_TRIES`; parse_line() obeys it.", [("symbol", "MAX_TRIES"), ("symbol", "parse_line")]),
        ("`fetch(url, tries=3)` and `Cache::get`.", [("symbol", "fetch"), ("symbol", "Cache.get")]),
        ("Fixed by 1a2b3c4d5e.", [("commit", "1a2b3c4d5e")]),
        ("/home/dana/site/src/app.ts starts it.", [("path", "/home/dana/site/src/app.ts")]),
    ],
)
def test_paths_symbols_and_commits_are_found(text: str, found: list[tuple[str, str]]) -> None:
    assert cited(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "See https://example.com/src/client.py and user@host.py.",
        "The port is 8080, the date 2026/11/22, the version 1.2.3.",
        "Use plain `word`, e.g. in the morning.",
        "Settings are in ~/.config/app.toml and $HOME/x.py and <name>/y.py.",
        "Names like projects/<name> stand for any.",
        "The number 1234567 and the word deadbeef are no commits.",
    ],
)
def test_what_only_looks_like_code_is_left_out(text: str) -> None:
    assert cited(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "src/old.py was removed in March.",
        "`load_all()` no longer exists.",
        "We renamed `load_all`.",
        "`load_all` is to be replaced.",
        "The old `load_all` waited.",
        "New are two, deleted `src/a.py`, `src/b.py` and **`src/c.py`**.",
        "~~`src/a.py`~~ — replaced by another.",
        "src/a.py, src/b.py and src/c.py will soon be removed.",
        "The parser was moved from src/a.py.",
        "Use plain words instead of `load_all`.",
        "The helpers in src/a.py for the parser were deleted.",
        "Removed: `load_all`, `load_one`.",
        "`load_all` used to wait, and there is no `load_one`.",
        "src/cache.py will be added later.",
    ],
)
def test_a_sentence_about_the_past_or_a_plan_cites_nothing(text: str) -> None:
    assert cited(text) == []


def test_only_the_sentence_that_speaks_of_the_past_is_left_out() -> None:
    assert cited("src/old.py was removed. The code is in src/new.py.") == [("path", "src/new.py")]


def test_what_took_the_place_of_another_thing_is_cited() -> None:
    assert cited("We renamed `Clash` to `Contradiction.kind`.") == [("symbol", "Contradiction.kind")]
    assert cited("Call `load_one` instead of `load_all`.") == [("symbol", "load_one")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call `warm_pool` before `drain_pool`, or it hangs.", ["warm_pool", "drain_pool"]),
        ("`seal_vault` will raise when the key is missing.", ["seal_vault"]),
        ("`purge_rows` removes what is old and should be run before a deploy.", ["purge_rows"]),
        ("`read_page` is used to list legacy rows that were deleted.", ["read_page"]),
        ("`move_cursor` moves the cursor until no line is left.", ["move_cursor"]),
    ],
)
def test_a_word_of_the_past_that_is_said_of_something_else_leaves_no_name_out(text: str, names: list[str]) -> None:
    assert [name for _, name in cited(text)] == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Throttle.acquire in src/pool.py waits.", [("path", "src/pool.py"), ("symbol", "Throttle.acquire")]),
        ("The pool is filled by warm_pool.", [("symbol", "warm_pool")]),
        ("It is warm_pool: `warm_pool`.", [("symbol", "warm_pool")]),
        ("E.g. and i.e. www.example.com, two_words@host.org and ~/my_notes are no names.", []),
    ],
)
def test_a_class_with_its_member_and_a_name_with_an_underscore_need_no_quotation_marks(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert cited(text) == found


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("Run `make ship` at the end.", ["make ship"]),
        ("`make lint test CI=1`, then `npm run build -- --quiet`.", ["make lint", "make test", "npm run build"]),
        ("`npm test` and `yarn bundle`.", ["npm run test", "npm run bundle"]),
        ("`make -j4` and to make sure.", []),
    ],
)
def test_the_targets_of_commands_are_found(text: str, targets: list[str]) -> None:
    assert [name for kind, name in cited(text) if kind == "target"] == targets


@pytest.mark.parametrize("part", ["`a_b` was ", "moved `a_b` ", "`a_b`, ", "removed the old and ", "make "])
def test_a_long_sentence_is_read_in_steps_in_proportion(part: str) -> None:
    grows_in_proportion(lambda times: code_citations(part * times), 400)
