"""Values that changed in otherwise equal lines of two versions of one note."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.maintenance.contradictions.changed_lines import are_versions, changed_lines
from memento_tui.maintenance.contradictions.finder import (
    SCORE_TO_RAISE,
    ContradictionFinder,
    ScoredContradiction,
    compare_memories,
)
from tests.made import NOW, note
from tests.steps import grows_in_proportion

ALIKE = 0.9


def compared(older: str, newer: str, *, days: int = 20, **fields: Any) -> ScoredContradiction | None:  # noqa: ANN401 - fields
    """Compare two states of one section of a file."""
    shared = {"title": "Set-up", "namespace": "shop", **fields}
    return compare_memories(
        note(older, created_at=NOW - timedelta(days=days), **shared), note(newer, created_at=NOW, **shared), ALIKE
    )


def changes(older: str, newer: str) -> list[tuple[str, str]]:
    """Return the values that changed, of the older text and of the newer one."""
    return [
        (older[begin:end], newer[start:stop])
        for line in changed_lines(older, newer)
        for (begin, end), (start, stop) in zip(line.older, line.newer, strict=True)
    ]


@pytest.mark.parametrize(
    ("older", "newer", "changed"),
    [
        ("- The server listens on port 8080", "- The server listens on port 8081", [("8080", "8081")]),
        ("Build for **ES2018** only.", "Build for **ES2022** only.", [("ES2018", "ES2022")]),
        ("Features are F1\u2013F9", "Features are F1\u2013F12", [("F1\u2013F9", "F1\u2013F12")]),
        ("| Store | PostgreSQL 16, Prisma 7 |", "| Store | PostgreSQL 17, Prisma 7 |", [("16", "17")]),
        ("Read `profile.json` before a run.", "Read `profile.toml` before a run.", [("profile.json", "profile.toml")]),
        ("Run it with `tsx scripts/seed.ts`.", "Run it with `node scripts/seed.ts`.", [("tsx", "node")]),
        ("```\nnpm run seed  # fill it\n```", "```\npnpm run seed  # fill it\n```", [("npm", "pnpm")]),
        ("See [Plans](docs/PLANS.md) first.", "See [Plans](docs/work/PLANS.md) first.",
         [("docs/PLANS.md", "docs/work/PLANS.md")]),
        ("A on port 5000, B on port 5173", "A on port 5001, B on port 5174", [("5000", "5001"), ("5173", "5174")]),
        ("Modules have at most ~1000 lines. Ask.", "Modules have at most ~900 lines. Ask.", [("~1000", "~900")]),
    ],
)  # fmt: skip
def test_a_value_that_changed_in_an_otherwise_equal_line_is_found(
    older: str, newer: str, changed: list[tuple[str, str]]
) -> None:
    assert changes(older, newer) == changed
    found = compared(older, newer)
    assert found is not None
    assert found.score >= SCORE_TO_RAISE
    assert found.kind == "temporal"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Last updated: 2026-03-01", "Last updated: 2026-03-09"),  # a stamp
        ("*Last Updated: March 9, 2026 | Version: 4.5*", "*Last Updated: August 7, 2026 | Version: 6.3*"),
        ("Last Updated: 2025-12-31 | Version: 0.2.2", "Last Updated: 2025-12-31 | Version: 0.4.0"),
        ("As of 2026-03-18, the project has an importer.", "As of 2026-03-21, the project has an importer."),
        ("### CLI Commands (v0.4.0)", "### CLI Commands (v0.9.0)"),  # a heading
        ("Last commit: 1a2b3c4", "Last commit: 5d6e7f8"),
        ("- `make test` runs them (108 tests)", "- `make test` runs them (248 tests)"),  # two runs
        ("All checks: 52 passed", "All checks: 61 passed"),
        ("Make a tag, for example `v0.1.2`.", "Make a tag, for example `v0.3.0`."),  # examples
        (
            "| Kind | Example |\n|---|---|\n| Handler | `OrderHandler` |",
            "| Kind | Example |\n|---|---|\n| Handler | `OrderCommandHandler` |",
        ),
        ("For example:\n\n```\ncurl host:8000/a\n```", "For example:\n\n```\ncurl host:9000/a\n```"),
        ("- **Google**: signs in with a token", "- **GitHub**: signs in with a token"),  # another line of a list
        ("- `a.py`: helpers of the parser", "- `b.py`: helpers of the parser"),
        ("- Fixed the timeout of `sync` in `jobs.py`", "- Fixed the timeout of `purge` in `jobs.py`"),  # what was done
        ("Next to be done is issue #12", "Next to be done is issue #15"),
        ("```\npytest -q tests/unit/api\n```", "```\npytest -q tests/unit/web\n```"),  # another command
        ("Phase 3: build the site", "Phase 4: build the site"),
        ("1. Read the plan\n2. Build it", "1. Ask first\n2. Read the plan\n3. Build it"),  # numbered anew
        ("- The grid has 1\u20134 columns", "- The grid has 1-4 columns"),  # another dash
        ("- Sources are in `app/core` now", "- Sources are in `src/app/core` now"),  # the same place, told more fully
        ("- It uses `HotkeyManager.swift` for this", "- It uses `HotkeyManager` for this"),
        ("- Vitest runs all (unit/browser)", "- Vitest runs all (unit/component/browser)"),  # a longer list
        ("- Deploys to Fly / GKE with `ship`", "- Deploys to GKE / Fly with `ship`"),  # another order
        ("- Images are shown as a placeholder", "- Images are shown with their data"),  # other words
        ("- Ask before a release", "- Ask the owner before a release"),
        ("- Use `ruff` here", "- Use `ruff` here\n- Use `mypy` too"),
    ],
)  # fmt: skip
def test_a_stamp_a_run_an_example_another_line_and_other_words_are_no_changed_value(older: str, newer: str) -> None:
    assert changes(older, newer) == []


def test_all_lines_that_changed_are_one_question() -> None:
    older = "- **The API** listens on port `8080`\n- Free port 8080 with care\n- Never kill node"
    newer = older.replace("8080", "8081")
    found = compared(older, newer)
    assert found is not None
    assert [newer[slice(*span)] for span in found.newer_spans] == ["8081", "8081"]
    assert found.why == (
        "The older says “The API listens on port 8080”, the newer “The API listens on port 8081”. "
        "Another line differs too."
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({}, {"title": "Roll-out"}),
        ({}, {"namespace": "shop/web"}),
        ({}, {"extra": {"agents_file": {"path": "packages/web/AGENTS.md"}}}),
        ({}, {"created_at": NOW}),
        ({"title": ""}, {"title": ""}),
    ],
)
def test_versions_have_one_title_place_and_file_and_are_of_two_days(
    older: dict[str, Any], newer: dict[str, Any]
) -> None:
    one = {"title": "Set-up", "namespace": "shop", "extra": {"agents_file": {"path": "AGENTS.md"}}, "created_at": NOW}
    later = {**one, "created_at": NOW + timedelta(days=1)}
    assert are_versions(note("a", **one), note("b", **later))
    assert not are_versions(note("a", **{**one, **older}), note("b", **{**later, **newer}))


def test_a_change_between_two_of_many_versions_is_asked_about_once(workspace: Workspace) -> None:
    lines = "- The server listens on port {}\n- Every module has an owner\n- Ask before a release{}"
    texts = [lines.format(*parts) for parts in ((8080, ""), (8080, " of it"), (9090, " of it"), (9090, ""))]
    ids = [
        workspace.remember(text, title="Ports", created_at=f"2026-0{month}-01").id
        for month, text in enumerate(texts, 1)
    ]
    finder = ContradictionFinder(workspace._store, workspace.gate)
    found = finder.find({one: [(other, ALIKE) for other in ids if other != one] for one in ids})
    assert [(one.older.id, one.newer.id) for one in found] == [(ids[1], ids[2])]
    nearest_of_last = finder.find({ids[3]: [(other, ALIKE) for other in ids[:3]]})
    assert nearest_of_last == []


def test_comparing_versions_takes_time_in_proportion_to_their_length() -> None:
    def text(size: int, port: int) -> str:
        return "\n".join(f"- Service {at} has an owner and a plan" for at in range(size)) + f"\n- It has port {port}"

    grows_in_proportion(lambda size: changed_lines(text(size, 8080), text(size, 8081)), 100)


@pytest.mark.parametrize("mark", ["_", "*", "`", "[ ] ", "a: ", "- ", "9", " ", "1. ", "|"])
def test_a_line_of_one_mark_is_read_in_proportion_to_its_length(mark: str) -> None:
    grows_in_proportion(lambda size: changed_lines(f"{mark * size} a 1", f"{mark * size} a 2"), 400)
