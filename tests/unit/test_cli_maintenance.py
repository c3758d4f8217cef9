from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import apsw
import pytest

from memento_tui.paths import DataPaths
from memento_tui.search import engine_client
from memento_tui.storage.connection import SQLITE_VERSION
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    """A workspace of one memory."""
    program = Program(without_engine(tmp_path / "data"))
    program.add("The users endpoint is /v2/users.")
    return program


def _findings(memento: Program, exit_code: int = 0) -> dict[str, dict[str, Any]]:
    ended = memento.run("doctor", "--json")
    assert ended.code == exit_code
    assert ended.data["healthy"] is (exit_code == 0)
    return {finding["name"]: finding for finding in ended.data["findings"]}


def test_a_healthy_workspace_has_nothing_to_mend(memento: Program) -> None:
    findings = _findings(memento)
    assert all(finding["ok"] and not finding["hint"] for finding in findings.values())
    assert "1 memory, 1 journal entry" in findings["contents"]["detail"]
    assert set(findings) == {
        *("data directory", "permissions", "disk", "versions", "settings", "contents", "backups", "pages", "journal"),
        *("keyword index", "semantic index", "records", "vectors", "encryption"),
    }
    assert f"SQLite {SQLITE_VERSION}" in findings["versions"]["detail"]
    in_words = memento.run("doctor")
    assert all(line.startswith("ok ") for line in in_words.out.splitlines())


def test_a_journal_that_was_altered_is_found(memento: Program) -> None:
    connection = apsw.Connection(str(memento.data_dir / "memento.db"))
    connection.execute("UPDATE stored_change SET image = replace(image, '/v2', '/v3')")
    connection.close()
    finding = _findings(memento, 6)["journal"]
    assert not finding["ok"]
    assert "entry 1 was altered" in finding["detail"]
    assert "BAD  journal" in memento.run("doctor").out


def test_a_record_that_was_changed_behind_the_journal_is_found_and_mended(memento: Program) -> None:
    connection = apsw.Connection(str(memento.data_dir / "memento.db"))
    connection.execute("UPDATE memory SET content = replace(content, '/v2', '/v3')")
    connection.close()
    assert "(content)" in _findings(memento, 6)["records"]["detail"]
    mended = memento.json("doctor", "--repair")
    assert mended["healthy"]
    assert "is again as the journal says" in mended["mended"][0]
    assert "/v2" in memento.json("list")["items"][0]["content"]


def test_a_directory_that_memento_may_not_close_is_found(memento: Program) -> None:
    (memento.data_dir / "notes.txt").write_text("Somebody else's.")
    memento.data_dir.chmod(0o755)
    finding = _findings(memento, 6)["permissions"]
    assert f"may have access to {memento.data_dir};" in finding["detail"]
    assert "it holds other files too, such as 'notes.txt'" in finding["detail"]
    assert finding["hint"] == f"chmod 700 {memento.data_dir}"
    assert memento.data_dir.stat().st_mode & 0o777 == 0o755
    assert (memento.data_dir / "memento.db").stat().st_mode & 0o777 == 0o600


def test_a_damaged_database_is_a_finding_beside_the_others(memento: Program) -> None:
    for file in memento.data_dir.glob("memento.db*"):
        file.unlink()
    (memento.data_dir / "memento.db").write_bytes(b"damaged" * 1000)
    findings = _findings(memento, 6)
    assert "damaged" in findings["database"]["detail"]
    assert findings["disk"]["ok"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[engine]\nentailment_model = "/none/such"', "the folder /none/such does not exist"),
        ('[engine]\nmodel = "/"', "holds no model"),
        ('[language_model]\nurl = "localhost:11434"\nmodel = "m"', "is no web address"),
        ('[language_model]\nurl = "http://localhost:11434/v1"', "language_model.model is missing"),
        ('[language_model]\nmodel = "m"', "has no url"),
        ('[language_model]\nurl = "http://x/v1"\nmodel = "m"\nkey_variable = "NO_SUCH_KEY"', "NO_SUCH_KEY is not set"),
    ],
)
def test_settings_that_only_the_engine_or_a_sleep_reads_are_checked(memento: Program, settings: str, said: str) -> None:
    (memento.data_dir / "config.toml").write_text(settings)
    finding = _findings(memento, 6)["settings"]
    assert said in finding["detail"]
    assert finding["hint"]


def test_a_damaged_page_is_found_by_reading_all_of_them(memento: Program) -> None:
    connection = apsw.Connection(str(memento.data_dir / "memento.db"))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    query = "SELECT rootpage FROM sqlite_schema WHERE name = 'injection_session'"
    (root,) = [row[0] for row in connection.execute(query)]
    connection.close()
    with (memento.data_dir / "memento.db").open("r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)
    findings = _findings(memento, 6)
    assert not findings["pages"]["ok"]
    assert "backup restore" in findings["pages"]["hint"]
    assert findings["journal"]["ok"]


def test_a_backup_that_cannot_be_restored_is_a_finding(memento: Program) -> None:
    made = memento.json("backup", "make")
    assert "1, the last of" in _findings(memento)["backups"]["detail"]
    Path(made["path"]).write_bytes(b"damaged" * 1000)
    assert made["name"] in _findings(memento, 6)["backups"]["detail"]


def test_a_missing_directory_is_a_finding(tmp_path: Path) -> None:
    findings = _findings(Program(tmp_path / "none"), 6)
    assert not findings["data directory"]["ok"]
    assert not (tmp_path / "none").exists()


def test_unsaved_drafts_are_told(memento: Program) -> None:
    drafts = DataPaths(memento.data_dir).drafts
    drafts.mkdir(mode=0o700)
    (drafts / "abc-1.md").write_text("unsaved")
    assert "1 unsaved" in _findings(memento)["drafts"]["detail"]


def test_reindex_builds_the_keyword_index_anew(memento: Program) -> None:
    memento.json("search", "users")
    index = DataPaths(memento.data_dir).keyword_index
    before = {file.name for file in index.iterdir() if file.suffix == ".store"}
    assert memento.json("reindex", "--keyword") == {"keyword": 1, "semantic": None}
    assert before.isdisjoint(file.name for file in index.iterdir())
    assert len(memento.json("search", "users")["results"]) == 1
    assert memento.run("reindex", "--keyword").out == "The keyword index holds 1 memory.\n"


def test_a_semantic_index_needs_an_engine(memento: Program) -> None:
    assert memento.run("reindex", "--semantic", "--json").code == 7


def test_paths_are_told_before_anything_exists(tmp_path: Path) -> None:
    memento = Program(tmp_path / "none")
    paths = memento.json("paths")
    assert paths["root"] == str(tmp_path / "none")
    assert paths["database"] == str(tmp_path / "none" / "memento.db")
    assert ["database", paths["database"]] in [line.split() for line in memento.run("paths").out.splitlines()]
    assert not (tmp_path / "none").exists()


def test_an_engine_that_is_switched_off_is_said(memento: Program) -> None:
    assert memento.json("engine") == {"state": "stopped"}
    assert memento.run("engine").out == "No engine is running; a search starts one.\n"
    ended = memento.run("engine", "start", "--json")
    assert (ended.code, ended.error["code"]) == (7, "engine_unavailable")
    assert "config.toml" in ended.error["hint"]
    assert memento.json("engine", "stop") == {"stopped": False}


def test_an_engine_that_does_not_answer_is_not_said_to_be_gone(
    memento: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_client, "_ANSWER_SECONDS", 0.01)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(DataPaths(memento.data_dir).engine_socket))
        silent.listen()
        assert memento.json("engine") == {"state": "silent"}
        assert memento.run("engine").out.startswith("The engine runs and does not answer. End its process")
        ended = memento.run("engine", "stop", "--json")
        assert (ended.code, ended.error["code"]) == (7, "engine_unavailable")


def test_the_log_of_the_engine_is_safe_to_show(memento: Program) -> None:
    assert memento.json("engine", "logs") == {"lines": []}
    DataPaths(memento.data_dir).engine_log.write_text("one\ntwo \x1b[2J\nthree\n")
    assert memento.json("engine", "logs", "--lines", "2") == {"lines": ["two \x1b[2J", "three"]}
    assert memento.run("engine", "logs", "--lines", "2").out == "two <ESC>[2J\nthree\n"
