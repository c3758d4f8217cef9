"""The commands about encryption, and what every other command and a hook say of a locked workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.cli import passphrase
from memento_tui.errors import NotAllowed
from memento_tui.paths import DataPaths
from tests.encrypted import PASSPHRASE, cheap_passphrases, files_with, use_own_memory
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cheap_passphrases(monkeypatch)
    return use_own_memory(tmp_path, monkeypatch)


@pytest.fixture
def memento(memory: Path, tmp_path: Path) -> Program:
    """A workspace of one memory, encrypted and unlocked."""
    assert not memory.exists()
    program = Program(without_engine(tmp_path / "data"))
    program.add("The perihelion is in January.")
    (tmp_path / "passphrase.txt").write_text(f"{PASSPHRASE}\nnot this line\n")
    program.json("encrypt", "--yes", "--passphrase-file", str(tmp_path / "passphrase.txt"))
    return program


def test_encrypting_says_what_became_of_it_and_how_to_keep_the_key(memory: Path, tmp_path: Path) -> None:
    assert not memory.exists()
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("The perihelion is in January.")
    memento.json("backup", "make")
    ended = memento.run("encrypt", "--yes", "--passphrase-file", "-", stdin=PASSPHRASE.encode())
    assert ended.code == 0, ended
    key_id = DataPaths(memento.data_dir).key_id
    assert f"memento.db is encrypted (key {key_id}), and 1 backup with it." in ended.out
    assert "Copy the key file with your backups" in ended.out
    assert files_with("perihelion", memento.data_dir) == []
    assert memento.run("decrypt", "--yes").out.endswith("memento.db is in clear, and 1 backup with it.\n")


def test_nothing_is_encrypted_without_consent_or_a_passphrase(memory: Path, tmp_path: Path) -> None:
    assert not memory.exists()
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("The perihelion is in January.")
    assert "Encrypting needs a decision." in memento.run("encrypt").err
    assert "A passphrase is needed." in memento.run("encrypt", "--yes").err
    missing = memento.run("encrypt", "--yes", "--passphrase-file", str(tmp_path / "none"))
    assert (missing.code, "cannot be read" in missing.err) == (2, True)
    folder = memento.run("encrypt", "--yes", "--passphrase-file", str(tmp_path), "--json").error
    assert folder["message"] == f"The passphrase cannot be read from {tmp_path}: Is a directory."
    assert folder["hint"] == "Name a file whose first line is the passphrase."
    assert DataPaths(memento.data_dir).key_id == ""


def test_a_locked_workspace_answers_every_command_with_one_sentence(memento: Program) -> None:
    memento.json("lock")
    before = {file: file.read_bytes() for file in memento.data_dir.rglob("*.db*")}
    key_id = DataPaths(memento.data_dir).key_id
    for words in (["list"], ["search", "perihelion"], ["add", "More."], ["backup", "make"], ["export", "-"]):
        ended = memento.run(*words)
        assert ended.code == 6
        assert ended.out == ""
        assert ended.err.splitlines() == [
            f"memento: {memento.data_dir}/memento.db is encrypted and locked (key {key_id}).",
            "`memento unlock` asks for the passphrase.",
        ]
    assert memento.run("list", "--json").error["code"] == "locked"
    assert {file: file.read_bytes() for file in memento.data_dir.rglob("*.db*")} == before


def test_unlocking_takes_the_passphrase_from_a_pipe(memento: Program) -> None:
    memento.json("lock")
    assert memento.run("unlock", "--passphrase-file", "-", stdin=b"wrong one").code == 5
    assert memento.run("unlock", "--passphrase-file", "-", stdin=PASSPHRASE.encode()).out.startswith("Unlocked: ")
    assert [item["content"] for item in memento.json("list")["items"]] == ["The perihelion is in January."]
    assert "Locked: " in memento.run("lock").out
    assert "Nothing of " in memento.run("lock").out


def test_the_passphrase_is_changed_with_the_one_before(memento: Program, tmp_path: Path) -> None:
    (tmp_path / "new.txt").write_text("another passphrase")
    words = ["passphrase", "--passphrase-file", str(tmp_path / "passphrase.txt")]
    assert memento.json(*words, "--new-passphrase-file", str(tmp_path / "new.txt")) == {"changed": True}
    memento.json("lock")
    assert memento.run("unlock", "--passphrase-file", str(tmp_path / "passphrase.txt")).code == 5
    memento.json("unlock", "--passphrase-file", str(tmp_path / "new.txt"))


def test_a_copy_in_clear_is_made_only_where_the_person_says_so(memento: Program, tmp_path: Path) -> None:
    file, folder = tmp_path / "out.jsonl", tmp_path / "notes"
    for words in (["export", str(file)], ["export", "-"], ["mirror", str(folder), "--once"]):
        refused = memento.run(*words)
        assert (refused.code, "would be in clear" in refused.err, refused.out) == (5, True, "")
    assert not file.exists()
    assert not folder.exists()
    assert memento.run("export", str(file), "--in-clear").code == 0
    assert memento.run("mirror", str(folder), "--once", "--in-clear").code == 0
    assert files_with("perihelion", tmp_path / "notes")
    assert "perihelion" in file.read_text()


def test_the_doctor_says_that_it_is_encrypted_and_what_is_not(memento: Program) -> None:
    findings = {finding["name"]: finding for finding in memento.json("doctor")["findings"]}
    assert findings["encryption"]["ok"]
    assert DataPaths(memento.data_dir).key_id in findings["encryption"]["detail"]
    assert "missing" not in findings["keyword index"]["detail"]
    (memento.data_dir / "drafts").mkdir()
    (memento.data_dir / "drafts" / "note.md").write_text("In clear.")
    ended = memento.run("doctor", "--json")
    finding = next(one for one in ended.data["findings"] if one["name"] == "encryption")
    assert (ended.code, finding["ok"], "drafts" in finding["detail"]) == (6, False, True)
    memento.json("encrypt", "--passphrase-file", "-", stdin=PASSPHRASE.encode())
    assert (DataPaths(memento.data_dir).drafts / "note.md").read_text() == "In clear."
    assert memento.json("doctor")["healthy"]


def test_the_app_asks_for_the_passphrase_three_times(
    memento: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = DataPaths(memento.data_dir)
    typed: list[str] = []
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return typed.pop(0)

    monkeypatch.setattr(passphrase, "_ask", answer)
    passphrase.unlock_for_person(paths, read_only=False)  # it is unlocked
    assert asked == []
    memento.json("lock")
    typed += ["wrong one", PASSPHRASE]
    passphrase.unlock_for_person(paths, read_only=False)
    assert asked == [f"Passphrase of {memento.data_dir}"] * 2
    assert capsys.readouterr().err == "The passphrase is wrong. Type it again; nobody can look it up.\n"
    memento.json("list")
    memento.json("lock")
    typed += ["wrong one"] * 3
    with pytest.raises(NotAllowed, match="The passphrase is wrong"):
        passphrase.unlock_for_person(paths, read_only=False)
    assert len(asked) == 5
    passphrase.unlock_for_person(DataPaths(memento.data_dir / "none"), read_only=False)  # nothing there is encrypted


def test_unlocking_read_only_writes_nothing_to_the_directory(memento: Program) -> None:
    memento.json("lock")
    key_file = next((memento.data_dir / "backups").glob("key-*.json"))
    key_file.unlink()
    memento.json("--read-only", "unlock", "--passphrase-file", "-", stdin=PASSPHRASE.encode())
    assert not key_file.exists()
    memento.json("unlock", "--passphrase-file", "-", stdin=PASSPHRASE.encode())
    assert key_file.exists()


@pytest.mark.parametrize("command", ["unlock", "decrypt", "passphrase"])
def test_what_is_not_encrypted_is_told_before_anything_is_asked(tmp_path: Path, command: str) -> None:
    memento = Program(without_engine(tmp_path / "data"))
    memento.add("The perihelion is in January.")
    ended = memento.run(command, "--json")
    assert ended.error["message"] == f"{memento.data_dir}/memento.db is not encrypted."
    assert ended.error["hint"] == "`memento encrypt` does that."
