"""memento in an environment without the extra `meaning`: real processes to which its packages are not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memento_tui.paths import DataPaths
from tests.journeys.cli_shell import Shell

_WITHOUT_MEANING = Path(__file__).parent / "without_meaning"
_HOW = "`memento engine install` installs it"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path / "data")
    made.environment["PYTHONPATH"] = os.pathsep.join(
        [str(_WITHOUT_MEANING), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    return made


def test_what_is_remembered_is_found_checked_maintained_and_purged_without_the_extra(shell: Shell) -> None:
    shell.data_dir.mkdir(mode=0o700)
    model = shell.data_dir / "judge"
    (shell.data_dir / "config.toml").write_text(f'[engine]\nentailment_model = "{model}"\n')
    model.mkdir()
    (model / "config.json").write_text("{}")
    made = shell.json("add", "The login service listens on port 8443.")["id"]

    found = shell.run("search", "which port is the login on")
    assert found.returncode == 0
    assert b"8443" in found.stdout
    assert _HOW in found.stderr.decode()

    assert not DataPaths(shell.data_dir).engine_log.exists()
    findings = {finding["name"]: finding for finding in shell.json("doctor")["findings"]}
    assert findings["semantic index"]["detail"] == "not installed: words only"
    assert _HOW in findings["semantic index"]["hint"]

    # Vectors of a time when the packages were here hold what is purged.
    vectors = DataPaths(shell.data_dir).semantic_index
    vectors.mkdir(parents=True)
    (vectors / "of another time").write_text("8443")
    compared = {finding["name"]: finding for finding in shell.json("doctor")["findings"]}["vectors"]
    assert (compared["ok"], _HOW in compared["hint"]) == (True, True)
    run = shell.run("maintain", "--json")
    assert run.returncode == 0
    assert "Searching by meaning is not installed" in run.stdout.decode()
    assert shell.run("purge", made, "--reason", "leaked", "--yes").returncode == 0
    assert not vectors.exists()
    assert not DataPaths(shell.data_dir).engine_log.exists()


def test_the_engine_refuses_to_start_and_says_how_to_get_what_it_needs(shell: Shell) -> None:
    shell.json("add", "anything")
    for command in (("engine", "start"), ("search", "anything", "--wait"), ("reindex", "--semantic")):
        ended = shell.run(*command)
        assert ended.returncode == 7
        assert _HOW in ended.stderr.decode()
    assert _HOW in shell.run("engine").stdout.decode()
    indexed = shell.run("reindex")
    assert (indexed.returncode, _HOW in indexed.stderr.decode()) == (0, True)
