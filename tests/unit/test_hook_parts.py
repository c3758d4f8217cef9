"""The parts of a hook, one by one: what hosts send, settings, projects, the words of a prompt."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from memento_tui.config import Config, HooksConfig, MaintenanceConfig, load_config
from memento_tui.errors import InvalidInput
from memento_tui.hooks.host_events import HookCall, format_answer, parse_call
from memento_tui.hooks.main import Arguments, _is_trivial
from memento_tui.hooks.settings import HookSettings, read_settings
from memento_tui.hosts.moments import EVERY_TURN_EVENTS, FLAT_ANSWER_HOSTS, MOMENT_OF_EVENT, NOTICE_HOSTS
from memento_tui.hosts.registry import HOSTS
from memento_tui.projects import find_project, namespace_of_project
from memento_tui.storage import hook_store
from memento_tui.storage.database import newest_format
from memento_tui.text.keywords import content_words, prompt_parts


def parsed(host: str, event: str, **fields: object) -> HookCall:
    call = parse_call(host, event, json.dumps(fields).encode())
    assert call is not None
    return call


@pytest.mark.parametrize(
    ("host", "event", "moment"),
    [
        ("claude-code", "SessionStart", "start"),
        ("claude-code", "UserPromptSubmit", "prompt"),
        ("claude-code", "PreCompact", "end"),
        ("codex", "UserPromptSubmit", "prompt"),
        ("gemini", "BeforeAgent", "prompt"),
        ("gemini", "AfterAgent", "end"),
        ("gemini", "PreCompress", "end"),
        ("cursor", "beforeSubmitPrompt", "prompt"),
        ("cursor", "sessionStart", "start"),
        ("cursor", "stop", "end"),
    ],
)
def test_each_hosts_own_name_of_an_event_is_understood(host: str, event: str, moment: str) -> None:
    assert parsed(host, event).moment == moment


def test_the_event_in_the_input_serves_where_none_is_named() -> None:
    assert parsed("claude-code", "", hook_event_name="Stop").moment == "end"


def test_the_fields_of_each_host_come_to_the_same_call() -> None:
    claude = parsed("claude-code", "UserPromptSubmit", session_id="s", cwd="/w", transcript_path="/t", prompt="p")
    cursor = parsed("cursor", "beforeSubmitPrompt", conversation_id="s", workspace_roots=["/w"], prompt="p")
    assert (
        (claude.session, claude.cwd, claude.prompt) == (cursor.session, cursor.cwd, cursor.prompt) == ("s", "/w", "p")
    )
    gemini = parsed("gemini", "BeforeTool", tool_name="read_file", tool_input={"absolute_path": "/w/a.py"})
    assert gemini.file == "/w/a.py"


@pytest.mark.parametrize(
    ("source", "fresh"), [("startup", True), ("clear", True), ("compact", True), ("resume", False)]
)
def test_only_a_session_with_an_empty_context_is_fresh(source: str, fresh: bool) -> None:  # noqa: FBT001 - a table
    assert parsed("claude-code", "SessionStart", source=source).is_fresh is fresh


def test_an_answer_adds_context_and_decides_nothing() -> None:
    call = parsed("claude-code", "PreToolUse", tool_name="Read", tool_input={"file_path": "a"})
    said = json.loads(format_answer(call, "a fact"))
    assert said == {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "a fact"}}
    assert format_answer(call, "") == ""
    assert json.loads(format_answer(call._replace(host="cursor"), "a fact")) == {"additional_context": "a fact"}
    assert len(json.loads(format_answer(call, "x" * 50_000))["hookSpecificOutput"]["additionalContext"]) == 10_000


def test_arguments_are_read_in_any_order_and_unknown_ones_left_alone() -> None:
    given = Arguments(["--data-dir", "/d", "Stop", "--host=codex", "--later", "more"])
    assert (given.event, given.host, given.data_dir) == ("Stop", "codex", "/d")
    assert Arguments([]).host == "claude-code"


def test_the_program_knows_the_events_of_the_hosts_and_no_others() -> None:
    events = {event.name.lower() for host in HOSTS.values() for event in host.events}
    assert events == set(MOMENT_OF_EVENT)
    assert events >= EVERY_TURN_EVENTS
    assert {name for name, host in HOSTS.items() if host.events} >= FLAT_ANSWER_HOSTS | NOTICE_HOSTS


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, that looks good",
        "yes, go on",
        "OK",
        "that\u2019s great!",
        "",
        "Thank you very much :)",
        "do it - please",
    ],
)
def test_a_prompt_without_a_subject_ends_at_once(prompt: str) -> None:
    assert _is_trivial(json.dumps({"session_id": "s", "prompt": prompt}).encode())
    assert content_words(prompt) == []


@pytest.mark.parametrize(
    "raw",
    [
        b'{"prompt": "run the tests again"}',
        b'{"prompt": "yes, deploy it"}',
        b'{"prompt": "ok ok ok ok ok ok ok ok ok"}',
        b'{"prompt": 3}',
        b'["yes"]',
        b"{}",
        b'{"prompt": "yes"',
        b'{"prompt": "yes"} {}',
        b"",
        b"\xff",
        json.dumps({"prompt": "yes", "more": "x" * 5_000}).encode(),
    ],
)
def test_any_other_input_is_looked_at(raw: bytes) -> None:
    assert not _is_trivial(raw)


def test_the_settings_of_hooks_are_those_that_the_configuration_checks(tmp_path: Path) -> None:
    checked = HooksConfig()
    for name in HooksConfig.__struct_fields__:
        assert getattr(HookSettings(), name) == getattr(checked, name)
    assert HookSettings().decay == Config().maintenance.decay
    file = tmp_path / "config.toml"
    assert read_settings(file) == HookSettings()
    for section in ("maintenance", "upkeep"):
        file.write_text(f"[hooks]\nprompt_tokens = 50\nthreshold = 1\nlearn = 'no'\n[{section}]\ndecay = 'vault'\n")
        assert read_settings(file) == HookSettings(prompt_tokens=50, threshold=1, decay="vault")
    file.write_text("[hooks\n")
    assert read_settings(file) == HookSettings()


def test_the_former_names_of_settings_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[upkeep]\ndecay = 'vault'\nsleep_when_idle = false\n")
    assert load_config(file).maintenance == MaintenanceConfig(decay="vault", run_when_idle=False)
    file.write_text("[upkeep]\ndecay = 'x'\n")
    with pytest.raises(InvalidInput, match=r"maintenance\.decay cannot be"):
        load_config(file)


def test_hooks_read_the_form_of_the_database_that_this_version_writes() -> None:
    assert newest_format() == hook_store.DATABASE_FORMAT


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)  # noqa: S603, S607 - a real repository
    return folder


def test_a_directory_within_a_repository_belongs_to_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "My Site!")
    (root / "src").mkdir()
    project = find_project(root / "src")
    assert project is not None
    assert (project.root, project.name) == (root.resolve(), "my-site")
    assert namespace_of_project(project, dict[str, str]().get, None) == "projects/my-site"


def test_two_repositories_of_one_name_do_not_share_a_memory(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    first, second = (find_project(repository(tmp_path / owner / "api")) for owner in ("dana", "eli"))
    assert first is not None
    assert second is not None
    assert namespace_of_project(first, kept.get, kept.__setitem__) == "projects/api"
    assert namespace_of_project(second, kept.get, kept.__setitem__) == "projects/eli-api"
    assert namespace_of_project(first, kept.get, kept.__setitem__) == "projects/api"


def test_a_repository_that_moved_keeps_its_memory(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    root = repository(tmp_path / "old" / "api")
    before = find_project(root)
    assert before is not None
    namespace_of_project(before, kept.get, kept.__setitem__)
    (tmp_path / "new").mkdir()
    moved = find_project(root.rename(tmp_path / "new" / "api"))
    assert moved is not None
    assert namespace_of_project(moved, kept.get, kept.__setitem__) == "projects/api"


def test_a_home_directory_and_what_is_not_there_are_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_project(tmp_path) is None
    assert find_project("/") is None
    assert find_project("") is None
    assert find_project(tmp_path / "missing") is None
    (tmp_path / "notes").mkdir()
    found = find_project(tmp_path / "notes")
    assert found is not None
    assert found.name == "notes"


@pytest.mark.parametrize(
    "text", ["", "yes", "ok, go on", "/compact", "!ls", "12 34", "thanks!! :)", "run the tests again"]
)
def test_a_trivial_prompt_has_no_words_to_look_for(text: str) -> None:
    assert content_words(text) == []


def test_the_words_of_a_prompt_are_what_could_name_its_subject() -> None:
    asked = "Please look at `src/parser.py`: why does Dana's tokenizer drop the first token?"
    assert content_words(asked) == ["src/parser.py", "Dana", "tokenizer", "drop", "token"]


def test_a_prompt_of_several_sentences_has_a_part_for_each() -> None:
    text = "The weather was lovely in Lisbon. " * 3 + "Now deploy the billing service.\nyes"
    parts = prompt_parts(text)
    assert ["deploy", "billing", "service"] in parts.sentences
    assert parts.whole == [["weather", "lovely", "Lisbon", "deploy", "billing", "service", "yes"]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hooks]\nprompt_tokens = 'many'", "hooks.prompt_tokens must be a whole number, not text in quotation marks"),
        ("[hooks]\nlearn = 1", "hooks.learn must be true or false, not a whole number"),
        ("[hooks]\nthreshold = -1", "hooks.threshold must be at least 0"),
        ("[hooks]\nloud = true", "there is no setting hooks.loud"),
        ("hooks = 3", "hooks must be a section, not a whole number"),
    ],
)
def test_a_wrong_setting_is_named_in_the_words_of_its_writer(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=re.escape(said)):
        load_config(file)


@pytest.mark.parametrize("name", ["cwd", "transcript_path", "file_path"])
def test_a_path_longer_than_any_that_can_be_opened_is_not_followed(name: str) -> None:
    for path, kept in (("/a" * 2048, "/a" * 2048), ("/a" * 50_000, "")):
        call = parsed("claude-code", "PreToolUse", tool_name="Read", session_id="s", **{name: path})
        assert (call.cwd or call.transcript or call.file) == kept
    roots = parsed("cursor", "beforeSubmitPrompt", conversation_id="s", workspace_roots=["/a" * 50_000])
    assert roots.cwd == ""
