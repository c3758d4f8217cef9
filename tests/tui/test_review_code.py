"""What Review shows of memories whose code changed, and what each answer makes of them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.code_check import refresh_code_notes
from memento_tui.tui.screens.dialogs import AskLine
from tests.made import always
from tests.tui.app_driver import Driver, opened
from tests.unit.code_repository import CodeRepository

TEXTS = {
    "gone": "Invoices are numbered by quarter in src/invoices.py.",
    "moved": "Letters are queued in src/mail.py.",
    "value": "`MAX_TRIES` is 30: more would exceed the provider's limit.",
}


@pytest.fixture
def asked(workspace: Workspace, data_dir: Path, tmp_path: Path) -> Path:
    """Three memories about code: of a file that is gone, of one that moved, and of a constant with another value."""
    repository = CodeRepository(tmp_path / "site")
    files: dict[str, str | None] = {"src/invoices.py": "x = 1\n", "src/mail.py": "y = 1\n" * 9}
    at = repository.commit({**files, "src/limits.py": "MAX_TRIES = 30\n"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: at + timedelta(minutes=1))
        for name, text in TEXTS.items():
            workspace.remember(text, make_id=always(name), namespace="projects/site")
    repository.commit({"src/invoices.py": None}, "no invoices")
    repository.move("src/mail.py", "post/letters.py")
    repository.commit({"src/limits.py": "MAX_TRIES = 5\n"})
    refresh_code_notes(workspace, repository.root, ["projects/site"], workspace.paths.code_notes(repository.root))
    return data_dir


async def queue(app: Driver) -> None:
    await app.press("3")
    await app.until(lambda: bool(app.app.query("#review")), "the section is made")
    await app.until(lambda: app.review.rows.total == 3, "the queue is read")


def shown(app: Driver) -> str:
    return app.text("#review-heading") + "\n" + app.text("#review-body")


async def test_the_reason_the_answers_and_the_text_are_shown(asked: Path) -> None:
    async with opened(asked) as app:
        await queue(app)
        assert "src/invoices.py was deleted on 2026-03-02" in shown(app)
        assert "if you approve: it is deleted" in shown(app)
        assert TEXTS["gone"] in shown(app)
        await app.press("j")
        await app.until(lambda: "post/letters.py" in shown(app), "the next is shown")
        assert "the new places are written into it" in shown(app)
        await app.press("j")
        await app.until(lambda: "MAX_TRIES was 30 and is 5 now." in shown(app), "the last is shown")
        assert "it still holds, and counts as verified by you today" in shown(app)
        assert TEXTS["value"] in shown(app)


async def test_approving_deletes_corrects_or_confirms(asked: Path, workspace: Workspace) -> None:
    async with opened(asked) as app:
        await queue(app)
        for left in (2, 1, 0):
            await app.press("a")
            await app.until(lambda left=left: app.review.rows.total == left, "one is decided")  # type: ignore[misc]
    assert workspace.get("gone").status == "deleted"
    assert workspace.get("moved").content == "Letters are queued in post/letters.py."
    assert (workspace.get("value").content, workspace.get("value").stability) == (TEXTS["value"], "verified")


async def test_rejecting_the_deletion_keeps_the_memory(asked: Path, workspace: Workspace) -> None:
    async with opened(asked) as app:
        await queue(app)
        await app.press("x")
        await app.until(lambda: isinstance(app.app.screen, AskLine), "the reason is asked")
        await app.press("enter")
        await app.until(lambda: app.review.rows.total == 2, "one is decided")
    assert workspace.get("gone").status == "active"
