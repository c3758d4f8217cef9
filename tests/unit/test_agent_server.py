from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_types import CallToolResult

from memento_tui.agent.refusals import UNEXPECTED
from memento_tui.agent.seats import Seats
from memento_tui.agent.server import build


def test_what_nobody_foresaw_is_a_sentence_for_the_agent_and_a_traceback_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Seats(tmp_path, "session") as seats, caplog.at_level(logging.ERROR):
        # Without a request there is no client to act for, which no host can bring about.
        answered = asyncio.run(build(seats).call_tool("status", {}))

    assert isinstance(answered, CallToolResult)
    assert answered.is_error
    assert [block.text for block in answered.content if block.type == "text"] == [UNEXPECTED]
    assert "outside of a request" in caplog.text
    assert caplog.records[-1].exc_info is not None


def test_a_server_opens_nothing_before_a_tool_needs_it(tmp_path: Path) -> None:
    with Seats(tmp_path / "data", "session") as seats:
        asyncio.run(build(seats).list_tools())

    assert not (tmp_path / "data").exists()


def test_putting_a_context_together_does_not_import_the_protocol() -> None:
    modules = "fence", "labels", "recall", "briefing", "decisions"
    imports = ", ".join(f"memento_tui.agent.{name}" for name in modules)
    check = f"import sys, {imports}; print([m for m in ('mcp', 'mcp_types', 'pydantic') if m in sys.modules])"

    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)  # noqa: S603 - our own code

    assert done.stdout == "[]\n"
