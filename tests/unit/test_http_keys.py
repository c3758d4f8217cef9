"""Keys of the HTTP server: made once, kept as hashes, and each opening its own namespaces."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.accounts import Accounts
from memento_tui.api.backups import replace_damaged
from memento_tui.compat.http.guard import is_loopback
from memento_tui.compat.http.keys import ApiKeys, Caller, check_key
from memento_tui.errors import DataDirectoryError, InvalidField, InvalidInput, NotAllowed, NotFound


def test_two_servers_that_start_at_once_have_one_key(workspace: Workspace) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: ApiKeys(workspace.settings, workspace.paths.http_key).own, range(16)))
    assert len(set(made)) == 1
    assert [path.name for path in workspace.paths.root.glob("http.key*")] == ["http.key"]


def test_a_key_that_is_changed_by_one_server_is_changed_for_all(workspace: Workspace) -> None:
    one, other = (ApiKeys(workspace.settings, workspace.paths.http_key) for _ in range(2))
    before = one.own
    fresh = one.rotate(Caller())
    assert (other.caller_of(before), other.caller_of(fresh)) == (None, Caller())


def test_a_key_file_that_is_gone_lets_nobody_in(workspace: Workspace) -> None:
    keys = ApiKeys(workspace.settings, workspace.paths.http_key)
    workspace.paths.http_key.unlink()
    with pytest.raises(DataDirectoryError, match="cannot be read"):
        keys.caller_of("mp_live_00000000000000000000000000000000")


def test_an_account_is_known_by_its_key_of_which_only_the_hash_is_kept(workspace: Workspace) -> None:
    keys = ApiKeys(workspace.settings, workspace.paths.http_key)
    caller, key = keys.sign_up("Ana's laptop")
    assert caller.account == "ana-s-laptop"
    assert keys.caller_of(key) == caller
    assert keys.caller_of(key[:-1]) is None
    assert key not in (workspace.settings.get("http.accounts") or "")
    assert key.encode() not in workspace.paths.database.read_bytes()


@pytest.mark.parametrize("name", ["", "///", "...", "ünï", "a" * 500, "accounts/x", "global"])
def test_any_name_makes_an_account_below_accounts(workspace: Workspace, name: str) -> None:
    caller, _ = ApiKeys(workspace.settings, workspace.paths.http_key).sign_up(name)
    parts = caller.namespace_of("default").split("/")
    assert (parts[0], len(parts), parts[2]) == ("accounts", 3, "default")


def test_there_is_an_end_to_accounts(workspace: Workspace) -> None:
    keys = ApiKeys(workspace.settings, workspace.paths.http_key)
    for _ in range(100):
        keys.sign_up("many")
    with pytest.raises(NotAllowed, match="100 accounts"):
        keys.sign_up("one more")


def test_a_revoked_account_gives_room_to_another_but_not_its_name(workspace: Workspace) -> None:
    keys = ApiKeys(workspace.settings, workspace.paths.http_key)
    _, key = keys.sign_up("ana")
    accounts = Accounts(workspace.settings)
    assert accounts.revoke("ana").is_revoked
    assert keys.caller_of(key) is None
    with pytest.raises(NotFound, match="revoked"):
        keys.rotate(Caller("ana"))
    with pytest.raises(NotAllowed, match="already"):
        accounts.revoke("ana")
    with pytest.raises(NotFound, match="eve"):
        accounts.revoke("eve")
    assert keys.sign_up("ana")[0] == Caller("ana-2")
    for _ in range(99):
        keys.sign_up("many")


def test_a_name_that_memories_are_kept_under_is_nobody_elses(workspace: Workspace) -> None:
    keys = ApiKeys(workspace.settings, workspace.paths.http_key)
    assert keys.sign_up("ana", {"ana", "ana-2"})[0] == Caller("ana-3")


def test_a_restored_backup_revives_no_key(workspace: Workspace) -> None:
    keys, accounts = ApiKeys(workspace.settings, workspace.paths.http_key), Accounts(workspace.settings)
    own_before = keys.own
    _, rotated = keys.sign_up("rotated")
    _, revoked = keys.sign_up("revoked")
    _, same = keys.sign_up("same")
    workspace.backups.make()
    own, fresh = keys.rotate(Caller()), keys.rotate(Caller("rotated"))
    accounts.revoke("revoked")
    _, later = keys.sign_up("later")
    workspace.backups.restore("latest")
    assert [keys.caller_of(key) for key in (own_before, rotated, revoked)] == [None] * 3
    assert [keys.caller_of(key) for key in (own, fresh, same, later)] == [
        Caller(),
        Caller("rotated"),
        Caller("same"),
        Caller("later"),
    ]


def test_a_restored_backup_of_a_time_with_accounts_brings_none_back_where_there_are_none(workspace: Workspace) -> None:
    workspace.backups.make()
    accounts = Accounts(workspace.settings)
    accounts.add("ana")
    workspace.backups.restore("latest")
    assert [account.name for account in accounts.list()] == ["ana"]


def test_a_backup_in_the_place_of_a_damaged_database_revives_no_key(data_dir: Path) -> None:
    with memento_tui.open(data_dir) as workspace:
        keys = ApiKeys(workspace.settings, workspace.paths.http_key)
        _, key = keys.sign_up("ana")
        workspace.backups.make()
        paths, author = workspace.paths, workspace.author
    paths.database.write_bytes(b"damaged")
    replace_damaged(paths, author, "latest")
    with memento_tui.open(data_dir) as workspace:
        keys = ApiKeys(workspace.settings, workspace.paths.http_key)
        assert keys.caller_of(key) is None
        assert [account.is_revoked for account in Accounts(workspace.settings).list()] == [True]
        assert keys.sign_up("ana")[0] == Caller("ana-2")


def test_a_workspace_is_a_namespace_and_back() -> None:
    own, account = Caller(), Caller("ana")
    for caller, workspace, namespace in (
        (own, "default", "global"),
        (own, "", "global"),
        (own, "projects/site", "projects/site"),
        (account, "default", "accounts/ana/default"),
        (account, "site", "accounts/ana/site"),
    ):
        assert caller.namespace_of(workspace) == namespace
        assert caller.workspace_of(namespace) == (workspace or "default")
        assert caller.sees(namespace)
    assert not account.sees("global")
    assert not account.sees("accounts/ana-2/default")


@pytest.mark.parametrize("name", ["..", "a/../b", "a//b", "/a", "a/", 'q"', "a,b", "\x00", "x" * 101, "\ud800"])
@pytest.mark.parametrize("caller", [Caller(), Caller("ana")])
def test_a_name_that_could_reach_elsewhere_is_no_workspace(caller: Caller, name: str) -> None:
    with pytest.raises(InvalidField, match="workspace"):
        caller.namespace_of(name)


@pytest.mark.parametrize("key", ["", "short", "x" * 15, "a b c d e f g h i j k", "ü" * 20, "x" * 20 + "\n"])
def test_a_key_that_cannot_be_sent_or_is_short_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput):
        check_key(key)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LocalHost"])
def test_loopback_is_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "::", "10.0.0.1", "example.org", "127.0.0.1.evil.example", "localhost.evil"])
def test_nothing_else_is_loopback(host: str) -> None:
    assert not is_loopback(host)
