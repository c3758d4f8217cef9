"""Hosts' files with other people's entries: memento comes and goes, and what is theirs stays to the byte."""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memento_tui.hosts import json_entries
from tests.depth import examples
from tests.unit.installing import PROGRAMS, Home, contents

NAMES = st.one_of(
    st.sampled_from(["mcpServers", "hooks", "SessionStart", "mcp", "a//b", "memento2"]), st.text(max_size=6)
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OTHER_GROUP = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"type": st.just("command"), "command": st.text()}), max_size=2)},
    optional={"matcher": st.sampled_from(["Read", "*", ""])},
)
EVENTS = st.sampled_from(["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "Notification", "BeforeAgent"])
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "mcpServers": st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=3),
        "hooks": st.dictionaries(EVENTS, st.lists(OTHER_GROUP, max_size=2), max_size=3),
        "theme": SCALARS,
        "permissions": VALUES,
    },
)


class Writer:
    """Writes a value as some person or program might: any layout, and comments where the format has them."""

    def __init__(self, draw: st.DrawFn, *, comments: bool) -> None:
        self._draw = draw
        self._comments = comments
        self._newline = draw(st.sampled_from(["\n", "\r\n"]))
        self._unit = draw(st.sampled_from(["  ", "    ", "\t"]))
        self._layout = draw(st.sampled_from(["one line", "lines", "mixed"]))

    def gap(self) -> str:
        kinds = ["", " "] + (['/* { " */', f"// , }}{self._newline}"] if self._comments else [])
        return self._draw(st.sampled_from(kinds))

    def written(self, value: object, depth: int = 0) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=self._draw(st.booleans()))
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if isinstance(value, dict):
            members = [
                f"{json.dumps(name)}{self.gap()}:{self.gap()}{self.written(inner, depth + 1)}"
                for name, inner in value.items()
            ]
        else:
            members = [self.written(inner, depth + 1) for inner in value]
        is_split = {"one line": False, "lines": True}.get(self._layout, self._draw(st.booleans()))
        between = self._newline + self._unit * (depth + 1) if is_split else ""
        end = self._newline + self._unit * depth if is_split else ""
        last = "," if members and self._comments and self._draw(st.booleans()) else ""
        inside = f"{self.gap()},{self.gap()}{between}".join(members)
        return f"{opening}{self.gap()}{between if members else ''}{inside}{self.gap()}{last}{self.gap()}{end}{closing}"


@st.composite
def documents(draw: st.DrawFn, *, comments: bool) -> tuple[str, dict[str, Any]]:
    value = draw(SETTINGS)
    writer = Writer(draw, comments=comments)
    return writer.gap() + writer.written(value) + writer.gap() + draw(st.sampled_from(["", "\n"])), value


@contextmanager
def _home() -> Iterator[Home]:
    root = Path(tempfile.mkdtemp())
    try:
        yield Home(root)
    finally:
        shutil.rmtree(root)


@given(documents(comments=True))
def test_any_layout_is_read_as_what_it_says(document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    assert json_entries.parse_jsonc(text) == value


@given(documents(comments=True), NAMES, VALUES)
def test_a_member_put_in_and_taken_out_leaves_the_rest(
    document: tuple[str, dict[str, Any]], name: str, value: object
) -> None:
    text, before = document
    assume(name not in before)
    made = json_entries.put_value(text, (name,), value)
    assert json_entries.parse_jsonc(made) == {**before, name: value}
    left = json_entries.remove_value(made, (name,))
    assert json_entries.parse_jsonc(left) == before
    if before:
        assert left == text


@given(documents(comments=True), st.data())
def test_any_member_can_be_taken_out(document: tuple[str, dict[str, Any]], data: st.DataObject) -> None:
    text, before = document
    assume(before)
    name = data.draw(st.sampled_from(list(before)))
    assert json_entries.parse_jsonc(json_entries.remove_value(text, (name,))) == {
        key: value for key, value in before.items() if key != name
    }


@settings(max_examples=examples(50))
@given(documents(comments=True), st.sampled_from(["claude-code", "gemini", "cursor", "opencode", "claude-desktop"]))
def test_every_host_gets_its_files_back_to_the_byte(document: tuple[str, dict[str, Any]], host: str) -> None:
    text, _ = document
    with _home() as home:
        for file in home.files(host):
            if file.path.suffix == ".json":
                home.write(str(file.path.relative_to(home.root)), text)
        before = contents(home.root)
        home.install(host)
        made = contents(home.root)
        assert home.install(host) == []
        assert contents(home.root) == made
        home.uninstall(host)
        assert contents(home.root) == before


@settings(max_examples=examples(50))
@given(documents(comments=True), NAMES, VALUES)
def test_what_others_write_after_memento_came_stays(
    document: tuple[str, dict[str, Any]], name: str, value: object
) -> None:
    text, before = document
    assume(name not in {*before, "mcpServers", "hooks"})
    with _home() as home:
        settings = home.write(".gemini/settings.json", text)
        home.install("gemini")
        settings.write_bytes(json_entries.put_value(settings.read_bytes().decode(), (name,), value).encode())
        home.uninstall("gemini")
        assert json_entries.parse_jsonc(settings.read_bytes().decode()) == {**before, name: value}


TOML_TABLES = st.lists(
    st.sampled_from(
        [
            '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "-y", # always\n  "docs",\n]\n',
            '[mcp_servers.docs2.env]\nKEY = "[mcp_servers.memento]"\n',
            '[projects."/home/me/a [b]"]\ntrust_level = "trusted"\n',
            '[[profiles_of_mine]]\nname = "x"\n',
            "[tui]\n# theme = 'x'\nnotifications = true\n",
            '[mcp_servers.other]\nurl = "https://example.org/mcp" # theirs\n\n\n# a comment at the end\n',
            'notes = """\n[mcp_servers.memento]\ncommand = "not a table"\n"""\n',
        ]
    ),
    unique=True,
    max_size=5,
)


@settings(max_examples=examples(50))
@given(
    TOML_TABLES,
    st.sampled_from(["", 'model = "gpt-5" # mine\n\n']),
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_codex_gets_its_settings_back_to_the_byte(tables: list[str], head: str, end: str, newline: str) -> None:
    text = ((head + "\n".join(tables)).rstrip("\n") + end).replace("\n", newline)
    assume(text)
    with _home() as home:
        config = home.write(".codex/config.toml", text)
        before = contents(home.root)
        home.install("codex")
        read = tomllib.loads(config.read_text())
        program, *arguments = PROGRAMS.server_command()
        assert read["mcp_servers"].pop("memento") == {"command": program, "args": arguments}
        assert {**tomllib.loads(text), "mcp_servers": read["mcp_servers"]} == read
        assert config.read_bytes().startswith(text.encode())
        home.uninstall("codex")
        assert contents(home.root) == before


@given(TOML_TABLES)
def test_tables_that_come_after_memento_stay(tables: list[str]) -> None:
    with _home() as home:
        home.install("codex")
        config = home.root / ".codex" / "config.toml"
        later = "\n" + "\n".join(table for table in tables if not table.startswith("notes"))
        config.write_text(config.read_text() + later)
        home.uninstall("codex")
        left = config.read_text() if config.exists() else ""
        assert tomllib.loads(left) == tomllib.loads(later)
