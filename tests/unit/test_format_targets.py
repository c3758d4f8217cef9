from __future__ import annotations

import pytest

from memento_tui.formats.note import LinkTargets


@pytest.fixture
def targets() -> LinkTargets:
    found = LinkTargets()
    for key, names in {
        "Home.md": ["Start page"],
        "work/Plan.md": ["The plan", "Roadmap"],
        "private/Plan.md": [],
        "private/deep/Note.md": [],
        "deep/Note.md": [],
        "v1.5.md": [],
    }.items():
        found.add(key, names)
    return found


@pytest.mark.parametrize(
    ("written", "source", "expected"),
    [
        ("Home", "", "Home.md"),
        ("home", "work/Plan.md", "Home.md"),
        ("Home.md", "", "Home.md"),
        ("/Home", "work/Plan.md", "Home.md"),
        ("Plan", "", "private/Plan.md"),
        ("Plan", "work/Other.md", "work/Plan.md"),
        ("work/Plan", "private/x.md", "work/Plan.md"),
        ("deep/Note", "", "deep/Note.md"),
        ("deep/Note", "private/x.md", "private/deep/Note.md"),
        ("../work/Plan.md", "private/x.md", "work/Plan.md"),
        ("the PLAN", "", "work/Plan.md"),
        ("Roadmap", "", "work/Plan.md"),
        ("v1.5", "", "v1.5.md"),
        ("lan", "", None),
        ("Missing", "", None),
        ("", "", None),
        ("../../etc/passwd", "", None),
    ],
)
def test_a_link_means_what_its_writer_meant(
    targets: LinkTargets, written: str, source: str, expected: str | None
) -> None:
    assert targets.resolve(written, source) == expected


def test_a_note_that_was_read_answers_to_its_title_its_aliases_and_its_name() -> None:
    targets = LinkTargets()
    targets.add_note("p/a.md", "A title", {"aliases": ["Other", 7], "alias": "Third", "name": "feedback_tests"})
    targets.add_note("b.md", "", {"aliases": None})
    assert [targets.resolve(name) for name in ("a title", "other", "7", "third", "feedback_tests")] == ["p/a.md"] * 5


def test_a_link_means_a_note_however_the_accents_of_its_name_are_encoded() -> None:
    targets = LinkTargets()
    targets.add("haus/Tu\u0308r.md", ["Die Tür"])
    assert targets.resolve("Tür") == "haus/Tu\u0308r.md"
    assert targets.resolve("die Tu\u0308r") == "haus/Tu\u0308r.md"
