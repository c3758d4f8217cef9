"""Opening the files that a memory cites: those of the person's repository, in the person's editor, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.api.code_check import cited_files, repository_of
from memento_tui.tui.screens.dialogs import ChoiceScreen
from memento_tui.tui.sections import memories
from tests.tui.app_driver import opened


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two files, in which the person works, and a file beside it."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    for name in ("src/server.py", "src/port.py"):
        (root / name).write_text("x = 1\n")
    (tmp_path / "secret.py").write_text("key = 1\n")
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    monkeypatch.chdir(root / "src")
    return root


@pytest.fixture
def opened_files(monkeypatch: pytest.MonkeyPatch) -> Sequence[Sequence[str]]:
    """The commands that were run in the terminal."""
    ran: list[Sequence[str]] = []
    monkeypatch.setenv("VISUAL", "true")

    def run(_app: object, command: Sequence[str]) -> int:
        ran.append(command)
        return 0

    monkeypatch.setattr(memories, "run_in_terminal", run)
    return ran


def test_only_regular_files_of_the_repository_are_cited_files(repository: Path, workspace: Workspace) -> None:
    assert repository_of(repository / "src") == repository
    text = "See `src/server.py`, ../secret.py, out.py, /etc/passwd, src/ and src/none.py; src/server.py:12 again."
    memory = workspace.remember(text, id="port")
    workspace.relate("port", "src/port.py", "file")
    workspace.relate("port", "../secret.py", "file")
    workspace.relate("port", "src", "file")
    found = cited_files(workspace, workspace.get(memory.id), repository)
    assert [str(file.relative_to(repository)) for file in found] == ["src/port.py", "src/server.py"]


async def test_the_one_file_is_opened_at_once_and_of_several_one_is_chosen(
    repository: Path, data_dir: Path, workspace: Workspace, opened_files: Sequence[Sequence[str]]
) -> None:
    workspace.remember("It cites nothing.", id="none")
    async with opened(data_dir) as app:
        await app.press("F")
        await app.until(lambda: "It cites no file" in app.told, "it is said")
        workspace.remember("The port stands in src/port.py.", id="one")
        await app.until(lambda: app.memories.rows.total == 2, "it is listed")
        await app.press("g", "F")
        await app.until(lambda: len(opened_files) == 1, "it is opened")
        workspace.remember("Ports: src/port.py and src/server.py.", id="two")
        await app.until(lambda: app.memories.rows.total == 3, "it is listed")
        await app.press("g", "F")
        await app.until(lambda: isinstance(app.app.screen, ChoiceScreen), "it is asked")
        await app.press("b")
        await app.until(lambda: len(opened_files) == 2, "it is opened")
    assert opened_files == [
        ["true", str(repository / "src" / "port.py")],
        ["true", str(repository / "src" / "server.py")],
    ]


@pytest.mark.usefixtures("repository")
async def test_the_page_that_it_is_from_is_opened_once_its_address_was_seen(
    data_dir: Path, workspace: Workspace, opened_files: Sequence[Sequence[str]]
) -> None:
    workspace.remember("The port is 80.", id="web", source={"url": "https://docs.example.org/ports"})
    async with opened(data_dir) as app:
        await app.until(lambda: app.memories.rows.total == 1, "it is listed")
        await app.press("F")
        await app.until(lambda: isinstance(app.app.screen, ChoiceScreen), "it is asked")
        assert not opened_files
        assert "https://docs.example.org/ports" in app.text("_ChoiceLine")
        await app.press("a")
        await app.until(lambda: len(opened_files) == 1, "it is opened")
    assert list(opened_files[0][1:]) == ["-m", "webbrowser", "https://docs.example.org/ports"]
