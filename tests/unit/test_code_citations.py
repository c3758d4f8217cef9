"""What of a text counts as citing code."""

from __future__ import annotations

import pytest

from memento_tui.maintenance.code.checker import code_citations


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
        "Use `make test` or plain `word`, e.g. in the morning.",
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
        "We renamed `Clash` to `Contradiction.kind`.",
        "src/cache.py will be added later.",
    ],
)
def test_a_sentence_about_the_past_or_a_plan_cites_nothing(text: str) -> None:
    assert cited(text) == []


def test_only_the_sentence_that_speaks_of_the_past_is_left_out() -> None:
    assert cited("src/old.py was removed. The code is in src/new.py.") == [("path", "src/new.py")]
