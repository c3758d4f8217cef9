from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memento_tui.cli.main import COMMANDS, root
from memento_tui.storage.memory_queries import MemoryQueries
from tests.unit.cli_program import Ended, Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "data"))


def _check(ended: Ended, exit_code: int, code: str) -> None:
    assert (ended.code, ended.error["code"]) == (exit_code, code)
    assert ended.error["message"]
    assert "hint" in ended.error
    assert ended.err == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--json"],
        ["nonsense", "--json"],
        ["--json", "nonsense"],
        ["list", "--nonsense", "--json"],
        ["add", "--json"],
        ["add", "text", "--kind", "nonsense", "--json"],
        ["list", "--limit", "0", "--json"],
        ["review", "nonsense", "--json"],
        ["skip", "add", "item", "--json"],
        ["skip", "edit", "id", "--json"],
        ["import", "nonsense", "/", "--json"],
        ["history", "a", "b", "--json"],
    ],
)
def test_a_wrong_command_line_is_an_error_in_json(memento: Program, arguments: list[str]) -> None:
    _check(memento.run(*arguments), 2, "usage")


def test_without_json_an_error_is_words_on_standard_error(memento: Program) -> None:
    ended = memento.run("list", "--nonsense")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines() == [
        "Usage: memento list [OPTIONS] [FILTER]...",
        "memento: No such option '--nonsense'.",
        "`memento list --help` shows how it is used.",
    ]


def test_a_missing_word_is_told_with_those_that_it_may_be_in_one_line(memento: Program) -> None:
    told = memento.run("completion", "--json").error["message"]
    assert told == "Missing argument 'SHELL'. Choose from: bash, zsh, fish"


def test_the_tables_of_keys_are_one_json_value_too(memento: Program) -> None:
    assert memento.json("keys", "--markdown") == {"markdown": memento.run("keys", "--markdown").out.rstrip("\n")}


def test_json_after_two_dashes_is_text(memento: Program) -> None:
    ended = memento.run("add", "--", "--json")
    assert ended.code == 0
    assert ended.out.endswith("remembered\n")
    assert memento.json("list")["items"][0]["content"] == "--json"


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_refused(memento: Program, text: str) -> None:
    ended = memento.run("add", text, "--json")
    _check(ended, 2, "invalid_field")
    assert (ended.error["field"], ended.error["reason"]) == ("content", "is empty")


@pytest.mark.parametrize(
    ("size", "said"), [(1_000_000, "is 1,000,000 bytes long"), (9_000_000, "is over 4,194,304 bytes long")]
)
def test_a_text_that_is_too_long_is_refused(memento: Program, size: int, said: str) -> None:
    ended = memento.run("add", "-", "--json", stdin=b"a" * size)
    _check(ended, 2, "invalid_field")
    assert said in ended.error["reason"]


def test_standard_input_that_is_not_utf8_is_refused(memento: Program) -> None:
    ended = memento.run("add", "-", "--json", stdin=b"abc\xff")
    _check(ended, 2, "invalid_input")
    assert "not UTF-8 (at byte 3)" in ended.error["message"]


@pytest.mark.parametrize("command", [["add"], ["show"], ["search"], ["list"], ["rm", "x"], ["skip", "check"]])
def test_an_argument_that_is_not_utf8_is_refused(memento: Program, command: list[str]) -> None:
    memento.add("something")
    _check(memento.run(*command, "abc\udcff", "--json"), 2, "invalid_input")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--certainty", "9"], "certainty"),
        (["--certainty", "much"], "certainty"),
        (["--confidence", "2"], "confidence"),
        (["--expires", "someday"], "expires_at"),
        (["--namespace", "../up"], "namespace"),
        (["--title", "two\nlines"], "title"),
        (["--extra", "{"], "extra"),
        (["--extra", "[1]"], "extra"),
        (["--id", ""], "id"),
        (["--valid-from", "2027-01-01", "--valid-to", "2026-01-01"], "valid_to"),
    ],
)
def test_a_field_that_breaks_its_rule_is_named(memento: Program, options: list[str], field: str) -> None:
    ended = memento.run("add", "text", *options, "--json")
    _check(ended, 2, "invalid_field")
    assert ended.error["field"] == field


@pytest.mark.parametrize(
    "command", [["show"], ["edit", "--title", "x"], ["rm"], ["restore"], ["history"], ["skip", "remove"]]
)
def test_an_unknown_id_is_not_found(memento: Program, command: list[str]) -> None:
    memento.add("something")
    _check(memento.run(*command, "nope", "--json"), 3, "not_found")
    _check(memento.run(*command, "", "--json"), 3, "not_found")


def test_a_beginning_that_several_ids_share_is_not_found_and_names_them(memento: Program) -> None:
    memento.add("one", "--id", "abc-1")
    memento.add("two", "--id", "abc-2")
    ended = memento.run("show", "abc", "--json")
    _check(ended, 3, "ambiguous_id")
    assert ended.error["candidates"] == ["abc-1", "abc-2"]


def test_a_change_from_an_old_version_is_a_conflict_with_both_sides(memento: Program) -> None:
    given = memento.add("one")
    memento.json("edit", given, "--title", "first")
    ended = memento.run("edit", given, "--title", "second", "--base-version", "1", "--json")
    _check(ended, 4, "conflict")
    assert ended.error["current"]["title"] == "first"
    assert ended.error["attempted"]["title"] == "second"


@pytest.mark.parametrize(
    "command",
    [
        ("edit", "{id}@1", "--title", "second", "--base-version", "2"),
        ("item", "edit", "{id}@1", "--title", "second", "--base-version", "2"),
        ("review", "reject", "{id}@1", "--seen", "2"),
    ],
)
def test_two_versions_that_differ_are_a_sentence(memento: Program, command: tuple[str, ...]) -> None:
    memento.add("one", "--id", "abc")
    ended = memento.run(*(part.format(id="abc") for part in command), "--json")
    _check(ended, 2, "invalid_input")
    assert "abc@1 names version 1, and the option version 2." in ended.error["message"]


def test_one_version_may_be_named_twice(memento: Program) -> None:
    given = memento.add("one")
    memento.json("edit", given, "--title", "first")
    assert memento.run("edit", f"{given}@2", "--title", "second", "--base-version", "2", "--json").code == 0


def test_an_id_that_is_taken_is_a_conflict(memento: Program) -> None:
    memento.add("one", "--id", "same")
    _check(memento.run("add", "two", "--id", "same", "--json"), 4, "conflict")


def test_a_change_to_a_deleted_memory_is_not_allowed(memento: Program) -> None:
    given = memento.add("one")
    memento.json("rm", given)
    _check(memento.run("edit", given, "--title", "x", "--json"), 5, "not_allowed")


_WRITERS = {"add", "import", "mcp", "serve", "mirror", "skip", "item", "crystal", "engine"}
_WITHOUT_DATA = {"paths", "doctor", "web", "keys", "install", "uninstall", "status", "completion", "workspace"}
READERS = sorted(set(COMMANDS) - _WRITERS - _WITHOUT_DATA - {"distill"})
_ARGUMENTS = {
    "timeline": ["x"],
    "links": ["x"],
    "relate": ["x", "y"],
    "search": ["x"],
    "show": ["x"],
    "edit": ["x"],
    "rm": ["x"],
    "restore": ["x"],
    "export": ["-"],
}


@pytest.mark.parametrize("name", READERS)
def test_a_mistyped_data_directory_is_an_error_and_is_not_made(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento_tui.cli.author.has_terminal", lambda: True)
    memento = Program(tmp_path / "mistyped")
    arguments = _ARGUMENTS.get(name, ["x", "--reason", "y"] if name in ("purge", "reject") else [])
    _check(memento.run(name, *arguments, "--json"), 6, "data_directory")
    assert not memento.data_dir.exists()


def test_a_data_directory_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    _check(Program(tmp_path / "file" / "data").run("add", "x", "--json"), 6, "data_directory")


@pytest.mark.parametrize("command", [["add", "x"], ["list"]])
def test_a_data_directory_whose_path_is_not_utf8_is_an_error_and_is_not_made(
    tmp_path: Path, command: list[str]
) -> None:
    memento = Program(tmp_path / "caf\udce9")
    _check(memento.run(*command, "--json"), 6, "data_directory")
    assert not memento.data_dir.exists()


def test_a_newer_database_is_left_alone(memento: Program) -> None:
    memento.add("one")
    connection = apsw.Connection(str(memento.data_dir / "memento.db"))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    ended = memento.run("list", "--json")
    _check(ended, 6, "data_directory")
    assert "newer memento" in ended.error["message"]


def test_a_damaged_database_is_an_error_that_says_what_to_do(memento: Program) -> None:
    (memento.data_dir / "memento.db").write_bytes(b"not a database at all, not even close" * 100)
    ended = memento.run("list", "--json")
    _check(ended, 6, "data_directory")
    assert "backup" in ended.error["hint"]


def test_a_wrong_configuration_is_an_error_that_names_the_file(memento: Program) -> None:
    (memento.data_dir / "config.toml").write_text("[review]\npreset = 'lenient'\n")
    ended = memento.run("add", "x", "--json")
    _check(ended, 2, "invalid_input")
    assert "config.toml" in ended.error["message"]


def _fail(*_: object, **__: object) -> None:
    raise ZeroDivisionError("a fault")


def test_a_fault_of_the_program_says_so_and_where_to_look(memento: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    memento.add("one")
    monkeypatch.setattr(MemoryQueries, "tags", _fail)
    ended = memento.run("tags", "--json")
    _check(ended, 1, "bug")
    assert "ZeroDivisionError: a fault" in ended.error["message"]
    assert "MEMENTO_DEBUG=1" in ended.error["hint"]
    monkeypatch.setenv("MEMENTO_DEBUG", "1")
    assert "Traceback" in memento.run("tags").err


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_command_ends_with_130(memento: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    memento.add("one")
    monkeypatch.setattr(MemoryQueries, "tags", _interrupt)
    ended = memento.run("tags", "--json")
    assert (ended.code, ended.error["code"]) == (130, "interrupted")


def test_data_dir_and_json_may_stand_before_and_after_the_command(tmp_path: Path) -> None:
    memento = Program(tmp_path / "not this one")
    other = str(tmp_path / "other")
    memento.run("add", "one", "--data-dir", other)
    for arguments in (["--data-dir", other, "--json", "list"], ["list", "--json", "--data-dir", other]):
        assert [item["content"] for item in memento.run(*arguments).data["items"]] == ["one"]
    assert not memento.data_dir.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lst"], "There is no command 'lst'. Did you mean list?"),
        (["ls"], "There is no command 'ls'. Did you mean list?"),
        (["Delete", "7f3k"], "There is no command 'Delete'. Did you mean rm?"),
        (["help"], "There is no command 'help'. Did you mean --help?"),
        (["frobnicate"], "There is no command 'frobnicate'."),
        (["backup", "mkae"], "There is no command 'mkae'. Did you mean make?"),
        (["workspace", "open"], "There is no command 'open'. There are add, list, remove, use."),
    ],
)
def test_a_command_that_is_none_is_met_with_the_one_that_was_meant(
    memento: Program, arguments: list[str], told: str
) -> None:
    ended = memento.run(*arguments, "--json")
    assert (ended.code, ended.error["message"]) == (2, told)


def test_every_word_of_another_program_leads_to_a_command_or_an_option_that_there_is(memento: Program) -> None:
    assert set(root.other_words) & set(COMMANDS) == set()
    for meant in root.other_words.values():
        assert memento.run(*([meant] if meant.startswith("--") else [meant, "--help"])).code == 0


@pytest.mark.parametrize("name", ["latest", "nope"])
def test_without_a_backup_the_way_to_make_one_is_told(memento: Program, name: str) -> None:
    memento.add("The port is 8080.")
    error = memento.run("backup", "restore", name, "--yes", "--json").error
    assert (error["message"], error["hint"]) == ("There is no backup yet.", "`memento backup make` makes one.")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["skip", "add", "vendor/", "--reason", "generated", "--until", "2020-01-01"], "--until: is not in the future"),
        (["skip", "add", "vendor/", "--reason", "generated", "--until", "soon"], "--until: must be a date"),
        (["add", "The port is 8080.", "--expires", "soon"], "--expires: must be a date"),
        (["add", "The port is 8080.", "--certainty", "9"], "--certainty: must be a whole number from 1 to 5"),
        (["item", "add", ""], "title: is empty"),
    ],
)
def test_a_wrong_value_is_told_with_the_option_that_was_typed(
    memento: Program, arguments: list[str], told: str
) -> None:
    error = memento.run(*arguments, "--json").error
    assert error["message"].startswith(told)
    assert error["field"] in ("expires_at", "certainty", "title")


@pytest.mark.parametrize("word", ["rm", "delete", "forget"])
def test_each_word_for_taking_away_leads_to_that_of_the_group(memento: Program, word: str) -> None:
    assert f"There is no command {word!r}. Did you mean remove?" in memento.run("searches", word, "x").err


@pytest.mark.parametrize(
    "arguments",
    [
        ["import", ""],
        ["import", "vault", ""],
        ["export", ""],
        ["mirror", "", "--once"],
        ["workspace", "add", ""],
        ["distill", ""],
        ["session", "check", ""],
        ["install", "claude-code", "--plugin", ""],
    ],
)
def test_an_empty_path_is_refused_and_is_not_the_current_directory(
    memento: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    current = tmp_path / "current"
    current.mkdir()
    (current / "note.md").write_text("The hall has 40 seats.\n")
    monkeypatch.chdir(current)
    ended = memento.run(*arguments, "--json")
    _check(ended, 2, "usage")
    assert "it is empty; name a file or folder" in ended.error["message"]
    assert [path.name for path in current.iterdir()] == ["note.md"]
