from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from mcp_types import CallToolResult
from pydantic import BaseModel, ValidationError

from memento_tui import operations
from memento_tui.mcp.results import UNEXPECTED_ERROR, message_of_error
from memento_tui.mcp.server import build_server
from memento_tui.mcp.workspaces import open_mcp_workspaces


def test_what_nobody_foresaw_is_a_sentence_for_the_agent_and_a_traceback_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_mcp_workspaces(tmp_path, "session") as mcp_workspaces, caplog.at_level(logging.ERROR):
        # Without a request there is no client to act for, which no host can bring about.
        answered = asyncio.run(build_server(mcp_workspaces).call_tool("status", {}))

    assert isinstance(answered, CallToolResult)
    assert answered.is_error
    assert [block.text for block in answered.content if block.type == "text"] == [UNEXPECTED_ERROR]
    assert "outside of a request" in caplog.text
    assert caplog.records[-1].exc_info is not None


def test_a_server_opens_nothing_before_a_tool_needs_it(tmp_path: Path) -> None:
    with open_mcp_workspaces(tmp_path / "data", "session") as mcp_workspaces:
        asyncio.run(build_server(mcp_workspaces).list_tools())

    assert not (tmp_path / "data").exists()


def test_a_server_imports_no_profile_but_its_own(tmp_path: Path) -> None:
    check = (
        "import sys; from pathlib import Path; from memento_tui.mcp.profiles import PROFILES;"
        " from memento_tui.mcp.workspaces import open_mcp_workspaces; from memento_tui.mcp.server import build_server;"
        f" build_server(open_mcp_workspaces(Path({str(tmp_path)!r}), 's'));"
        " print([name for name, one in PROFILES.items() if one.module in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)  # noqa: S603 - our own code

    assert done.stdout == "['native']\n"


def test_the_operations_import_neither_mcp_nor_pydantic() -> None:
    modules = sorted(path.stem for path in Path(operations.__file__).parent.glob("*.py") if path.stem != "__init__")
    imports = ", ".join(f"memento_tui.operations.{name}" for name in modules)
    check = f"import sys, {imports}; print([m for m in ('mcp', 'mcp_types', 'pydantic') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)  # noqa: S603 - our own code

    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"minimum": 1, "maximum": 5}, "a whole number, 1 to 5"),
        ({"minimum": 1}, "a whole number, at least 1"),
        ({"maximum": 5}, "a whole number, at most 5"),
    ],
)
def test_a_refused_argument_is_told_its_bounds_also_where_one_end_is_open(bounds: dict[str, int], said: str) -> None:
    class Arguments(BaseModel):
        limit: Literal[3]

    schema = {"properties": {"limit": {"type": "integer", **bounds}}}
    with pytest.raises(ValidationError) as caught:
        Arguments.model_validate({"limit": 9})
    assert message_of_error(caught.value, "search", schema) == f"limit: must be {said}; not 9."
