"""What is imported before anything happens: it decides how soon the app and every command are there."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli_program import Program, without_engine

_LIGHT = """
import sys
from memento_tui.cli.main import main
{action}
import json
print("\\n" + json.dumps(sorted(sys.modules)))
"""
HEAVY = {
    "apsw",
    "aiohttp",
    "lancedb",
    "mcp",
    "memento_tui.embedding",
    "memento_tui.formats",
    "memento_tui.search",
    "memento_tui.storage",
    "memento_tui.tui",
    "memento_tui.api",
    "msgspec",
    "pydantic",
    "rich",
    "sentence_transformers",
    "tantivy",
    "textual",
    "torch",
}


def _imported(action: str, *, shows: str = "") -> set[str]:
    found = subprocess.run(  # noqa: S603 - this test's own program
        [sys.executable, "-c", _LIGHT.format(action=action)], capture_output=True, text=True, check=True
    )
    assert shows in found.stdout
    loaded: list[str] = json.loads(found.stdout.splitlines()[-1])
    return set(loaded)


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        ("", set()),
        ("main(['--help'])", set()),
        ("main(['--version'])", set()),
        ("main(['paths', '--json'])", {"apsw"}),  # an encrypted workspace keeps its indexes elsewhere
        ("main(['nonsense'])", set()),
        ("main(['mcp', '--help'])", set()),
        ("main(['web', '--help'])", set()),
        ("main(['add', '--help'])", {"memento_tui.storage", "msgspec", "apsw"}),
    ],
)
def test_nothing_is_imported_that_is_not_used(action: str, allowed: set[str]) -> None:
    assert _imported(action) & (HEAVY - allowed) == set()


def test_a_write_needs_no_engine_and_no_screen() -> None:
    action = "import os, tempfile; os.environ['MEMENTO_HOME'] = tempfile.mkdtemp(); main(['add', 'text'])"
    unneeded = {"lancedb", "torch", "sentence_transformers", "mcp", "textual", "rich", "memento_tui.embedding"}
    assert _imported(action) & unneeded == set()


def test_completing_an_id_needs_no_engine_no_index_and_no_screen(tmp_path: Path) -> None:
    place = without_engine(tmp_path / "w")
    memory_id = Program(place).add("The door is green.")
    environment = {"MEMENTO_HOME": str(place), "_MEMENTO_COMPLETE": "fish_complete", "COMP_WORDS": "memento show "}
    action = f"import os; os.environ |= {environment | {'COMP_CWORD': ''}}\ntry: main([])\nexcept SystemExit: pass"
    loaded = _imported(action, shows=memory_id)
    assert loaded & {"lancedb", "torch", "sentence_transformers", "mcp", "textual", "rich", "tantivy"} == set()


_INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["memento", "paths"]
from memento_tui.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("module", "code", "told"),
    [
        ("memento_tui.cli.main", -signal.SIGINT, ""),
        ("memento_tui.cli.command", -signal.SIGINT, ""),
        ("memento_tui.cli.system", 130, "\nmemento: Interrupted.\n"),
    ],
)
def test_an_interrupt_at_any_moment_of_the_start_prints_no_trace(module: str, code: int, told: str) -> None:
    ended = subprocess.run(  # noqa: S603 - this test's own program
        [sys.executable, "-c", _INTERRUPTED.format(module=module)], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", told)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_whose_caller_closed_a_standard_stream_does_its_work_and_ends_well(
    tmp_path: Path, closed: str
) -> None:
    program = f'exec "$0" -m memento_tui --data-dir "$1" "$2" "$3" {closed}'
    shell = ["sh", "-c", program, sys.executable, str(without_engine(tmp_path / "data"))]
    assert subprocess.run([*shell, "add", "The hall has 40 seats."], check=False).returncode == 0  # noqa: S603 - this test's own program
    assert subprocess.run([*shell, "show", "nothing"], check=False, capture_output=True).returncode == 3  # noqa: S603 - as above
    kept = Program(tmp_path / "data").json("list")["items"]
    assert [memory["content"] for memory in kept] == ["The hall has 40 seats."]
