from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.compat.http.keys import ApiKeys, Caller
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def test_accounts_are_listed_and_revoked(memento: Program, tmp_path: Path) -> None:
    with Workspace(tmp_path / "data") as workspace:
        keys = ApiKeys(workspace.settings, workspace.paths.http_key)
        assert "no account" in memento.run("account").out
        found = [keys.sign_up(name) for name in ("ana", "eve")]
        workspace.remember("Otters like fish.", namespace="accounts/ana/default")
        listed = memento.json("account")["items"]
        assert [(row["name"], row["namespace"], row["memories"], row["revoked_at"]) for row in listed] == [
            ("ana", "accounts/ana", 1, None),
            ("eve", "accounts/eve", 0, None),
        ]
        assert not any(key in str(listed) for _, key in found)
        assert memento.run("account", "revoke", "ana").out == "ana  revoked\n"
        assert [keys.caller_of(key) for _, key in found] == [None, Caller("eve")]
    lines = memento.run("account", "list").out.splitlines()
    assert ("revoked" in lines[1], "valid" in lines[2]) == (True, True)


def test_each_account_has_its_own_outcome(memento: Program, tmp_path: Path) -> None:
    with Workspace(tmp_path / "data") as workspace:
        ApiKeys(workspace.settings, workspace.paths.http_key).sign_up("ana")
    ended = memento.run("account", "revoke", "nobody", "ana", "--json")
    assert ended.code == 3
    assert [outcome["status"] for outcome in ended.data["outcomes"]] == ["failed", "revoked"]
    assert memento.run("account", "revoke", "ana").code == 5
