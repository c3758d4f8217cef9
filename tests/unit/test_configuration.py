"""The settings of config.toml: all of them listed with their source, one changed, everything else left as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api.configuration import SettingsFile, all_settings
from memento_tui.config import MAX_CONFIG_BYTES, line_of, load_config, with_value, without_value
from memento_tui.errors import InvalidInput, NotFound, ReadOnlyMode
from memento_tui.hooks.settings import engine_is_enabled, read_settings
from memento_tui.paths import DataPaths
from tests.files import taking_rights
from tests.unit.cli_program import Program

WRITTEN = """\
# My settings.

[engine]
enabled = false  # this machine is small

[hooks]
# Fewer tokens.
prompt_tokens = 200

[review.rules]
promotion = "apply"
"""


@pytest.fixture
def file(tmp_path: Path) -> SettingsFile:
    (tmp_path / "config.toml").write_text(WRITTEN)
    return SettingsFile(DataPaths(tmp_path))


def text(file: SettingsFile) -> str:
    return file.path.read_text()


def test_a_file_of_any_length_is_answered_with_a_sentence_and_none_is_made(file: SettingsFile) -> None:
    room = MAX_CONFIG_BYTES - len(WRITTEN)
    file.path.write_text(f"{WRITTEN}{'#' * (room - 1)}\n")
    with pytest.raises(InvalidInput, match="would have more than 65,536 bytes"):
        file.set("app.theme", "nord")
    assert len(file.content()) == MAX_CONFIG_BYTES
    assert not load_config(file.path).engine.enabled
    file.path.write_text(f"{WRITTEN}{'#' * room}\n")
    with pytest.raises(InvalidInput, match="has 65,537 bytes; the limit is 65,536"):
        load_config(file.path)


def test_every_setting_has_a_meaning_and_a_source(file: SettingsFile) -> None:
    states = {state.id: state for state in file.states()}
    assert set(states) == {setting.name for setting in all_settings()}
    assert all(setting.meaning for setting in all_settings())
    assert (states["engine.enabled"].value, states["engine.enabled"].source) == ("false", "config.toml, line 4")
    assert (states["hooks.start_tokens"].value, states["hooks.start_tokens"].source) == ("1000", "default")
    assert states["review.rules.promotion"].source == "config.toml, line 11"
    assert states["review.rules.skip"].source == "preset guarded"


def test_a_value_is_changed_in_its_place_and_comments_stay(file: SettingsFile) -> None:
    file.set("engine.enabled", "true")
    assert text(file) == WRITTEN.replace("enabled = false  #", "enabled = true  #")


def test_a_value_is_added_to_its_section_or_to_a_new_one(file: SettingsFile) -> None:
    file.set("hooks.remind", "no")
    file.set("app.theme", "nord # light")
    changed = text(file)
    assert "prompt_tokens = 200\nremind = false\n\n[review.rules]" in changed
    assert changed.endswith('\n\n[app]\ntheme = "nord # light"\n')
    assert load_config(file.path).app.theme == "nord # light"


def test_a_new_value_does_not_come_between_a_section_and_the_comment_above_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[app]\ncounts = true\n# until here\n\n# How much is asked.\n[review]\npreset = 'strict'\n# end\n")
    file = SettingsFile(DataPaths(tmp_path))
    file.set("app.keymap", "emacs")
    file.set("review.burst", "9")
    assert path.read_text() == (
        '[app]\ncounts = true\n# until here\nkeymap = "emacs"\n\n'
        "# How much is asked.\n[review]\npreset = 'strict'\n# end\nburst = 9\n"
    )


def test_a_value_goes_back_to_its_default_and_the_comment_above_it_stays(file: SettingsFile) -> None:
    state = file.reset("hooks.prompt_tokens")
    assert (state.value, state.source) == ("300", "default")
    assert text(file) == WRITTEN.replace("prompt_tokens = 200\n", "")


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("hooks.prompt_tokens", "many", "must be a whole number, not 'many'"),
        ("hooks.prompt_tokens", "-1", "prompt_tokens"),
        ("engine.idle_seconds", "1e300", "engine.idle_seconds must be at most 2,592,000"),
        ("engine.idle_seconds", "0", "engine.idle_seconds must be above 0"),
        ("language_model.timeout_seconds", "86400", "must be at most 3,600"),
        ("hooks.start_tokens", "9" * 30, "hooks.start_tokens must be at most 1,000,000"),
        ("review.burst", "x", "must be a whole number, not 'x'"),
        ("hooks.threshold", "1.5", "hooks.threshold must be at most 1"),
        ("engine.enabled", "perhaps", "must be true or false"),
        ("review.preset", "loose", "cannot be 'loose'; it is open, guarded, strict"),
        ("review.rules.new_external", "draft", "contradicts"),
        ("app.theme", "two\nlines", "must be one line of text"),
    ],
)
def test_a_wrong_value_is_said_and_nothing_is_written(file: SettingsFile, name: str, typed: str, said: str) -> None:
    if name == "review.rules.new_external":
        file.set("review.rules.new_memory", "propose")
    before = text(file)
    with pytest.raises(InvalidInput, match=said):
        file.check(name, typed)
    with pytest.raises(InvalidInput, match=said):
        file.set(name, typed)
    assert text(file) == before


@pytest.mark.parametrize("written", ["hooks = { prompt_tokens = 200 }\n", "hooks.prompt_tokens = 200\n"])
def test_a_file_in_another_form_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "config.toml").write_text(written)
    file = SettingsFile(DataPaths(tmp_path))
    with pytest.raises(InvalidInput, match="in a form that memento does not change"):
        file.set("hooks.prompt_tokens", "100")
    assert text(file) == written


def test_the_former_name_of_a_section_is_kept(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[upkeep]\ndecay = "bank"\n')
    file = SettingsFile(DataPaths(tmp_path))
    file.set("maintenance.run_when_idle", "false")
    assert text(file) == '[upkeep]\ndecay = "bank"\nsleep_when_idle = false\n'
    assert load_config(file.path).maintenance.decay == "bank"
    assert file.state("maintenance.run_when_idle").value == "false"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"# a\r\n[hooks]\r\nprompt_tokens = 3 # c\r\n", b"# a\r\n[hooks]\r\nprompt_tokens = 5 # c\r\n"),
        (b"# a\r\n", b"# a\r\n\r\n[hooks]\r\nprompt_tokens = 5\r\n"),
        (b"[hooks]\r\n# none\r\n", b"[hooks]\r\n# none\r\nprompt_tokens = 5\r\n"),
        ("# a\u2028b\u0085c\n[hooks]\n".encode(), "# a\u2028b\u0085c\n[hooks]\nprompt_tokens = 5\n".encode()),
        (b"[hooks]\nprompt_tokens = 3", b"[hooks]\nprompt_tokens = 5"),
    ],
)
def test_line_ends_stay_as_they_are_and_an_undo_puts_every_byte_back(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    file = SettingsFile(DataPaths(tmp_path))
    file.path.write_bytes(before)
    file.set("hooks.prompt_tokens", "5")
    assert file.path.read_bytes() == after
    file.undo()
    assert file.path.read_bytes() == before


@pytest.mark.parametrize(
    ("written", "said"), [("[hooks\nx = 1\n", "not TOML"), ("[[hooks]]\nprompt_tokens = 4\n", "hooks is no table")]
)
def test_a_file_that_is_broken_while_the_settings_are_shown_is_said_by_every_change(
    file: SettingsFile, written: str, said: str
) -> None:
    file.path.write_text(written)
    for change in (
        lambda: file.set("hooks.prompt_tokens", "5"),
        lambda: file.check("maintenance.backups", "false"),
        lambda: file.reset("hooks.prompt_tokens"),
    ):
        with pytest.raises(InvalidInput):
            change()
    with pytest.raises(InvalidInput, match=said):
        file.set("hooks.prompt_tokens", "5")
    assert file.path.read_text() == written


@pytest.mark.parametrize("typed", ["inf", "-inf", "nan", "1e999"])
def test_a_number_that_is_not_finite_is_none(file: SettingsFile, typed: str) -> None:
    with pytest.raises(InvalidInput, match=f"engine.idle_seconds must be a number, not '{typed}'"):
        file.set("engine.idle_seconds", typed)


def test_changes_are_undone_one_by_one_unless_somebody_else_wrote(file: SettingsFile) -> None:
    file.set("engine.enabled", "true")
    file.set("hooks.remind", "false")
    assert file.undo()
    assert "remind" not in text(file)
    assert file.undo()
    assert text(file) == WRITTEN
    assert not file.undo()
    file.set("engine.enabled", "true")
    file.path.write_text("# another program\n")
    with pytest.raises(InvalidInput, match="changed by another program"):
        file.undo()
    assert text(file) == "# another program\n"


def test_what_an_editor_made_of_the_file_is_undone_as_one_change_whatever_it_wrote(file: SettingsFile) -> None:
    file.set("engine.enabled", "true")
    before = file.content()
    assert not file.note_edit(before)
    file.path.write_bytes(b"[engine\n# \xff\n")
    assert file.note_edit(before)
    assert file.undo()
    assert file.content() == before
    assert file.undo()
    assert text(file) == WRITTEN
    assert not file.undo()


def test_a_rule_is_not_put_back_to_its_preset_where_another_rule_contradicts_that(file: SettingsFile) -> None:
    file.set("review.preset", "open")
    file.set("review.rules.change_verified", "propose")
    file.set("review.rules.change_draft", "propose")
    before = text(file)
    with pytest.raises(InvalidInput, match="contradicts"):
        file.reset("review.rules.change_verified")
    assert text(file) == before
    file.check_opens()


def test_rules_that_contradict_each_other_are_said_of_a_file_that_can_be_read(file: SettingsFile) -> None:
    file.path.write_text('[review.rules]\nnew_memory = "propose"\nnew_external = "draft"\n')
    assert file.states()
    with pytest.raises(InvalidInput, match="contradicts"):
        file.check_opens()


def test_a_link_stays_one_and_permissions_stay(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.toml"
    kept.write_text(WRITTEN)
    kept.chmod(0o640)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.toml").symlink_to(kept)
    with taking_rights(0o077):  # as in memento's programs
        SettingsFile(DataPaths(tmp_path / "data")).set("hooks.remind", "false")
    assert (tmp_path / "data" / "config.toml").is_symlink()
    assert "remind = false" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o640


def test_a_secret_in_a_value_is_not_shown(file: SettingsFile) -> None:
    file.set("language_model.url", "https://me:hunter2secret99@models.example/v1")
    state = file.state("language_model.url")
    assert "hunter2secret99" not in state.value
    assert state.hides_secret
    assert not file.state("engine.enabled").hides_secret


def test_read_only_nothing_is_written(file: SettingsFile) -> None:
    with pytest.raises(ReadOnlyMode):
        SettingsFile(DataPaths(file.path.parent), read_only=True).set("engine.enabled", "true")
    assert text(file) == WRITTEN


def test_the_plain_form_is_found_whatever_stands_around_it() -> None:
    toml = '[a]\nx = "#1" # one\n  y=2\n[a.b]\n"x" = 3\n\n# the end\n'
    assert (line_of(toml, "a", "x"), line_of(toml, "a", "y"), line_of(toml, "a.b", "x")) == (2, 3, 5)
    assert line_of(toml, "b", "x") is None
    assert with_value(toml, "a", "x", "9").splitlines()[1] == "x = 9 # one"
    assert without_value(toml, "a.b", "x") == toml.replace('"x" = 3\n', "")


def test_commands_list_set_and_reset(tmp_path: Path) -> None:
    program = Program(tmp_path / "data")
    program.data_dir.mkdir(mode=0o700)
    listed = {one["name"]: one for one in program.json("settings")["items"]}
    assert listed["review.preset"]["takes"] == ["open", "guarded", "strict"]
    assert "review.preset: strict; it was guarded." in program.run("settings", "set", "review.preset", "strict").out
    assert program.json("settings", "reset", "review.preset")["value"] == "guarded"
    assert program.run("settings", "set", "review.nothing", "1").code == 3
    assert program.run("settings", "set", "review.burst", "-2").code == 2
    with pytest.raises(NotFound):
        SettingsFile(DataPaths(program.data_dir)).check("no.such", "1")


def test_a_file_with_a_byte_order_mark_is_read_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xef\xbb\xbf" + WRITTEN.encode())
    assert not load_config(path).engine.enabled
    assert not engine_is_enabled(path)
    assert read_settings(path).prompt_tokens == 200
    file = SettingsFile(DataPaths(tmp_path))
    assert file.set("hooks.prompt_tokens", "100").source == "config.toml, line 8"
    assert text(file) == WRITTEN.replace("200", "100")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("review.presett", "Did you mean review.preset?"),
        ("preset", "Did you mean review.preset?"),
        ("nonsense", "`memento settings` lists them."),
    ],
)
def test_a_setting_that_is_none_is_met_with_the_one_that_was_meant(file: SettingsFile, name: str, hint: str) -> None:
    with pytest.raises(NotFound) as told:
        file.set(name, "open")
    assert told.value.hint == hint
