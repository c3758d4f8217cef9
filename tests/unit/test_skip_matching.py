from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import memento_tui
from memento_tui.mcp.tools.working_memory import SkipTools
from memento_tui.text.skip_matching import mentions_of, skip_matches
from tests.benchmarks.skips import shares


@pytest.mark.parametrize(
    ("item", "text", "matches"),
    [
        ("flaky login test", "the login test fails again", True),
        ("flaky login test", "add a test for the cart", False),
        ("reading `vendor/`", "vendor/lib.js", True),
        ("reading `vendor/`", "the vendor sent us an invoice", False),
        ("HN: MMAcevedo/Lena (qntm)", "summarise the story about MMAcevedo", True),
        ("HN: MMAcevedo/Lena (qntm)", "post our launch to HN", False),
        ("issue #482", "have another look at #482", True),
        ("issue #482", "have another look at #483", False),
        ("vendored folder", "the folder of our vendors", False),
        ("migrating to Postgres", "the postgres query is slow", False),
        ("upgrading webpack to version 6", "let's bump webpack to v6", True),
        ("upgrading webpack to version 6", "can you move us to webpack 6?", True),
        ("upgrading webpack to version 6", "upgrade webpack", True),
        ("upgrading webpack to version 6", "upgrade webpack to 7", False),
        ("upgrading webpack to version 6", "upgrade eslint to version 6", False),
        ("upgrading webpack to version 6", "webpack prints a warning", False),
        ("do not touch the legacy SOAP endpoint", "fix the SOAP endpoints", True),
        ("don't touch the migrations folder", "why does migrations/0042_add_index.py fail?", True),
        ("reading the vendor directory", "open vendor/lib.js and explain", True),
        ("reading the vendor directory", "the vendor sent us an invoice", False),
        ("migrating from Jest to Vitest", "start the vitest migration", True),
        ("the release notes of version 2", "write the release notes of version 3", False),
        ("flaky Safari checkout test", "checkout main and run the flaky test for payments", False),
        ("never push to the release branch", "push my branch", False),
        ("本番デプロイ", "本番デプロイの手順", True),
        ("用Redis缓存", "我们要用Redis缓存会话", True),
        ("用Redis缓存", "我们要用Kafka缓存会话", False),
        ("Bru\u0308cke bauen", "Sollen wir die Brücke bauen?", True),
        ("x" * 90, "y" * 90, False),
        ("", "anything", False),
        ("anything", "...", False),
    ],
)
def test_a_skip_matches_by_the_words_that_tell_its_item_from_others(
    item: str,
    text: str,
    matches: bool,  # noqa: FBT001 - a table
) -> None:
    assert skip_matches(mentions_of(text), item) is matches


def test_most_reasonable_pairs_match_and_hardly_any_unreasonable_ones() -> None:
    for half in shares():
        assert half.matched >= 0.8, half
        assert half.falsely_matched <= (0.05 if half.name == "by a helper, second set" else 0), half


_ROOT = Path(memento_tui.__file__).parents[1]


@pytest.mark.parametrize("page", ["REFERENCE.md", "GUIDE.md"])
def test_each_skip_check_that_the_documents_show_meets_a_skip_that_they_add(page: str) -> None:
    # REFERENCE.md holds the help of every command, which another test holds to the code.
    text = (_ROOT / page).read_text(encoding="utf-8")
    added = set(re.findall(r'memento skip add "([^"]+)"', text))
    checked = set(re.findall(r'memento skip check "([^"]+)"', text))
    assert checked
    met = {query for query, item in product(checked, added) if skip_matches(mentions_of(query), item)}
    assert met == checked
    used = {item for query, item in product(checked, added) if skip_matches(mentions_of(query), item)}
    assert used == added


def test_what_a_tool_says_meets_a_skip_does() -> None:
    described = SkipTools.skip_check.__doc__ or ""
    pairs = re.findall(r"`([^`]+)` meets `([^`]+)`", described)
    assert pairs
    assert all(skip_matches(mentions_of(query), item) for query, item in pairs)
