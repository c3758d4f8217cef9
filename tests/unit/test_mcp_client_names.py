from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp.server.mcpserver import Context

from memento_tui.mcp.workspaces import client_name


def request(given: str | None, headers: dict[str, str] | None = None) -> Context[Any, Any]:
    """Stand in for the SDK's context of a request."""
    params = None if given is None else SimpleNamespace(client_info=SimpleNamespace(name=given))
    return cast("Context[Any, Any]", SimpleNamespace(session=SimpleNamespace(client_params=params), headers=headers))


@pytest.mark.parametrize(
    ("given", "headers", "name"),
    [
        ("claude-code", None, "claude-code"),
        ("claude-code", {"user-agent": "node"}, "claude-code"),
        ("raw\x1b[2J\nhost", None, "raw[2J host"),
        ("x" * 500, None, "x" * 100 + " ..."),
        ("", {"user-agent": "node"}, "agent"),
        (None, {"user-agent": "claude-code/2.1.0 (cli)"}, "claude-code"),
        (None, {"user-agent": "Python-urllib/3.11"}, "Python-urllib"),
        (None, {"user-agent": "\x1b]0;x\x07/1"}, "]0;x"),
        (None, {"user-agent": "/"}, "agent"),
        (None, {}, "agent"),
        (None, None, "agent"),
    ],
)
def test_a_client_is_known_by_the_name_it_gives_else_by_its_program(
    given: str | None, headers: dict[str, str] | None, name: str
) -> None:
    assert client_name(request(given, headers)) == name
