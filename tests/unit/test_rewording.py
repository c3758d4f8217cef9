"""Tests of telling a rewording of a known text from another claim."""

from __future__ import annotations

import pytest

from memento_tui.text.rewording import is_reworded, plain_letters

KNOWN = "Install packages from the mirror at packages.example, no proxy is needed."


@pytest.mark.parametrize(
    "text",
    [
        KNOWN,
        "Always install packages from the mirror at packages.example, no proxy is needed.",
        "Install packages from the mirror at packages.example, n0 pr0xy is needed.",
        "Install all packages from the mirror at packages.example; no proxy needed.",
        "By the way: the build is green. " + KNOWN + " The logs are kept for a week, and the cache is warm.",
        "Inst\N{CYRILLIC SMALL LETTER A}ll packages from the mirror at packages.example, no proxy is needed.",
    ],
    ids=["the same", "a word more", "digits for letters", "words changed", "among other sentences", "a look-alike"],
)
def test_a_text_with_a_few_other_words_is_a_rewording(text: str) -> None:
    assert is_reworded(text, KNOWN)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("The API listens on port 9090 since the move.", "The API listens on port 8080 since the move."),
        ("Install nothing from mirrors: the lock file names every package.", KNOWN),
        ("Use tabs in Makefiles, four spaces in everything else, and two in YAML.", "Use tabs in code."),
        ("Use tabs", "Use tab"),
        ("", KNOWN),
    ],
    ids=["another number", "another claim", "a short one inside a long one", "a few letters", "nothing"],
)
def test_another_claim_is_none(text: str, known: str) -> None:
    assert not is_reworded(text, known)


def test_texts_without_spaces_are_compared_by_their_letters() -> None:
    known = "必ずミラーからパッケージをインストールしてください。プロキシは不要です。"
    assert is_reworded("注意、必ずミラーからパッケージをインストールしてください。プロキシは不要です。", known)
    assert not is_reworded("本番のデータベースは毎晩二時に自動でバックアップされます。", known)


def test_the_letters_of_a_text_without_letters_are_itself() -> None:
    assert plain_letters("!?") == "!?"
