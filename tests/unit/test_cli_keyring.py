"""The key of an encrypted workspace in the system's keyring: who is asked nothing, and what is said where it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import keyring.core
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.chainer import ChainerBackend
from keyring.backends.fail import Keyring as NoKeyring

from memento_tui import encryption
from memento_tui.api import encryption as workspace_encryption
from memento_tui.cli import passphrase
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, use_own_memory
from tests.keyring_backend import FileKeyring, PlainKeyring, keyring_environment, use_keyring
from tests.tokens import token_environment
from tests.unit.cli_program import Program, without_engine


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    program = Program(without_engine(tmp_path / "data"))
    program.add("The perihelion is in January.")
    return program


def _encrypt(memento: Program, *options: str) -> str:
    words = ("encrypt", "--yes", *options, "--passphrase-file", "-", "--json")
    ended = memento.run(*words, stdin=PASSPHRASE.encode())
    assert ended.code == 0, ended
    return DataPaths(memento.data_dir).key_id


def _contents(memento: Program) -> list[str]:
    return [item["content"] for item in memento.json("list")["items"]]


def test_with_the_key_in_the_keyring_unlocking_asks_for_nothing(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    key = encryption.read_key(key_id)
    assert key is not None
    assert json.loads(kept.read_text()) == {f"memento {key_id}": key.hex()}
    memento.json("lock")
    assert memento.run("unlock").out == f"Unlocked: {memento.data_dir}.\n"
    assert _contents(memento) == ["The perihelion is in January."]
    memento.json("lock", "--keyring")
    assert json.loads(kept.read_text()) == {}
    assert "A passphrase is needed." in memento.run("unlock").err


def test_a_program_of_its_own_finds_the_key_in_the_keyring(memento: Program, tmp_path: Path) -> None:
    variables = keyring_environment(tmp_path / "keyring.json")
    environment = {**os.environ, **token_environment(memento.data_dir), **variables}

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "memento_tui", "--data-dir", str(memento.data_dir), *words]
        return subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, check=True)  # noqa: S603 - memento itself

    _encrypt(memento)
    run("unlock", "--keyring", "--passphrase-file", "-", stdin=PASSPHRASE)
    memento.json("lock")
    assert run("unlock").stdout == f"Unlocked: {memento.data_dir}.\n"
    assert _contents(memento) == ["The perihelion is in January."]


def test_the_app_asks_the_keyring_before_it_asks_the_person(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    _encrypt(memento, "--keyring")
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return PASSPHRASE

    monkeypatch.setattr(passphrase, "_ask", answer)
    paths = DataPaths(memento.data_dir)
    memento.json("lock")
    passphrase.unlock_for_person(paths, read_only=False)
    assert asked == []
    assert _contents(memento) == ["The perihelion is in January."]
    memento.json("lock")
    kept.unlink()
    passphrase.unlock_for_person(paths, read_only=False)
    assert len(asked) == 1
    assert capsys.readouterr().err == (
        "The system keyring refuses: the collection is locked. Unlock or start it, and try again.\n"
    )


def test_an_agent_s_command_unlocks_nothing_with_the_keyring(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    memento.json("lock")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr("tests.unit.cli_program.token_environment", lambda _root: {})
    assert "A passphrase is needed." in memento.run("unlock").err
    assert encryption.read_key(key_id) is None


@pytest.mark.parametrize("kept", ["00" * 32, "no key", "ab"])
def test_a_key_in_the_keyring_that_opens_nothing_is_not_unlocked(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    file = use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    memento.json("lock")
    file.write_text(json.dumps({f"memento {key_id}": kept}))
    assert "A passphrase is needed." in memento.run("unlock").err
    assert encryption.read_key(key_id) is None
    assert memento.run("unlock", "--passphrase-file", "-", stdin=PASSPHRASE.encode()).code == 0


def test_decrypting_takes_the_key_out_of_the_keyring_or_says_that_it_stays(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    _encrypt(memento, "--keyring")
    assert "keyring" not in memento.run("decrypt", "--yes").err
    assert json.loads(kept.read_text()) == {}
    key_id = _encrypt(memento, "--keyring")
    kept.unlink()
    ended = memento.run("decrypt", "--yes")
    assert ended.code == 0
    assert f"The key stays in the system's keyring, as {key_id}" in ended.err


def test_without_a_keyring_that_guards_it_nothing_is_encrypted_and_the_reason_is_said(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("encrypt", "--yes", "--keyring", "--passphrase-file", "-")
    monkeypatch.setattr(keyring.core, "_keyring_backend", NoKeyring())  # type: ignore[no-untyped-call]
    ended = memento.run(*words, stdin=PASSPHRASE.encode())
    assert (ended.code, "There is no system keyring here." in ended.err) == (5, True)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "keyring", None)
        assert "memento-tui[keyring]" in memento.run(*words, stdin=PASSPHRASE.encode()).err
        assert "is not encrypted." in memento.run("unlock").err
    use_keyring(tmp_path / "keyring.json", monkeypatch, kind=PlainKeyring)
    ended = memento.run(*words, stdin=PASSPHRASE.encode())
    assert "keeps secrets in a file that anybody with the disk can read" in ended.err
    assert DataPaths(memento.data_dir).key_id == ""


def _break(_: object, name: str, *__: object) -> None:
    raise RuntimeError(f"no D-Bus for {name}")


@pytest.mark.parametrize(
    "fault", [RuntimeError("no D-Bus"), AttributeError("no bus"), ModuleNotFoundError("no jeepney")]
)
def test_a_keyring_that_is_broken_keeps_nobody_from_the_passphrase(
    memento: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: Exception,
) -> None:
    use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    memento.json("lock")

    def fail(*_: object) -> None:
        raise fault

    paths = DataPaths(memento.data_dir)
    monkeypatch.setattr(passphrase, "_ask", lambda _question: PASSPHRASE)
    for place, name in ((FileKeyring, "get_password"), (keyring, "get_keyring")):
        with monkeypatch.context() as broken:
            broken.setattr(place, name, fail)
            passphrase.unlock_for_person(paths, read_only=False)
            assert encryption.read_key(key_id) is not None
            assert f"The system keyring refuses: {fault}. Unlock or start it" in capsys.readouterr().err
            assert memento.run("lock").code == 0


def test_a_decryption_is_reported_where_the_keyring_is_broken(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    monkeypatch.setattr(FileKeyring, "delete_password", _break)
    ended = memento.run("decrypt", "--yes")
    assert (ended.code, "memento.db is in clear" in ended.out) == (0, True)
    assert f"The key stays in the system's keyring, as {key_id}" in ended.err


def test_an_encryption_is_reported_where_the_keyring_refuses_the_key(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(tmp_path / "keyring.json", monkeypatch)
    monkeypatch.setattr(FileKeyring, "set_password", _break)
    words = ("encrypt", "--yes", "--keyring", "--passphrase-file", "-")
    ended = memento.run(*words, stdin=PASSPHRASE.encode())
    key_id = DataPaths(memento.data_dir).key_id
    assert ended.code == 0
    assert f"memento.db is encrypted (key {key_id})" in ended.out
    assert "keyring has the key" not in ended.out
    assert "no D-Bus for memento" in ended.err
    assert "try again: memento unlock --keyring" in ended.err
    told = memento.run(*words, "--json", stdin=PASSPHRASE.encode()).data
    assert (told["key_id"], told["in_keyring"]) == (key_id, False)
    assert "no D-Bus for memento" in told["keyring_problem"]
    told = memento.run("unlock", "--keyring", "--passphrase-file", "-", "--json", stdin=PASSPHRASE.encode()).data
    assert (told["keys"], told["in_keyring"]) == ([key_id], False)


def _made(kind: type[KeyringBackend]) -> KeyringBackend:
    return kind()


def test_a_chain_of_keyrings_is_asked_for_one_that_guards_its_secrets(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SecondPlainKeyring(PlainKeyring):
        priority = 0.6

    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    monkeypatch.setattr(keyring.core, "_keyring_backend", ChainerBackend())  # type: ignore[no-untyped-call]
    chain = [_made(SecondPlainKeyring), _made(PlainKeyring)]
    monkeypatch.setattr(ChainerBackend, "backends", chain)
    words = ("encrypt", "--yes", "--keyring", "--passphrase-file", "-")
    ended = memento.run(*words, stdin=PASSPHRASE.encode())
    assert (ended.code, "that anybody with the disk can read" in ended.err) == (5, True)
    assert (DataPaths(memento.data_dir).key_id, kept.read_text()) == ("", "{}")
    chain.insert(0, _made(FileKeyring))
    monkeypatch.setattr(ChainerBackend, "set_password", _break)  # the chain itself goes on to its next member
    key_id = _encrypt(memento, "--keyring")
    assert list(json.loads(kept.read_text())) == [f"memento {key_id}"]


def test_a_decryption_that_is_finished_takes_its_key_out_of_the_keyring(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    _encrypt(memento, "--keyring")

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(workspace_encryption, "_rewrite_backups", end)
        with pytest.raises(KeyboardInterrupt):
            workspace_encryption.decrypt(DataPaths(memento.data_dir))
    memento.json("decrypt", "--yes")
    assert json.loads(kept.read_text()) == {}


def test_locking_says_whether_the_keyring_has_the_key_and_whether_it_was_taken_out(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    _encrypt(memento, "--keyring")
    assert "The system's keyring still has the key" in memento.run("lock").out
    assert (memento.json("lock")["in_keyring"], memento.json("lock")["taken_out"]) == (True, False)
    with monkeypatch.context() as broken:
        broken.setattr(FileKeyring, "delete_password", _break)
        refused = memento.run("lock", "--keyring")
        assert (refused.code, "is locked, but its key stays in the system's keyring" in refused.err) == (1, True)
    assert "Its key was taken out of the system's keyring." in memento.run("lock", "--keyring").out
    assert json.loads(kept.read_text()) == {}
    assert "The system's keyring had no key of it." in memento.run("lock", "--keyring").out
    told = memento.json("lock", "--keyring")
    assert (told["in_keyring"], told["taken_out"]) == (False, False)
    assert "keyring" not in memento.run("lock").out


def test_an_agent_locks_and_leaves_the_keyring_to_the_person(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(tmp_path / "keyring.json", monkeypatch)
    key_id = _encrypt(memento, "--keyring")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr("tests.unit.cli_program.token_environment", lambda _root: {})
    refused = memento.run("lock", "--keyring")
    assert (refused.code, "is for a person to decide" in refused.err) == (5, True)
    assert encryption.read_key(key_id) is not None
    monkeypatch.setattr(FileKeyring, "get_password", _break)  # it is not asked
    assert memento.run("lock").code == 0
    assert (encryption.read_key(key_id), list(json.loads(kept.read_text()))) == (None, [f"memento {key_id}"])
