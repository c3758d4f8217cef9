"""Write REFERENCE.md: every key, command, setting, tool, format and host, taken from the code that has them.

``make reference`` runs this; a test holds the file to it.
"""

from __future__ import annotations

import inspect
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from memento_tui import config, errors
from memento_tui.api.configuration import Setting, all_settings, explained_attributes
from memento_tui.cli.main import COMMANDS, root
from memento_tui.config import toml_value
from memento_tui.formats.registry import FORMATS
from memento_tui.hosts.programs import BARE_PROGRAMS
from memento_tui.hosts.registry import HOSTS, Host, HostPaths
from memento_tui.mcp.profiles import PROFILES
from memento_tui.mcp.workspaces import open_mcp_workspaces
from memento_tui.search.query_language import FIELDS
from memento_tui.tui.commands import markdown_table

FILE = Path(__file__).parents[1] / "REFERENCE.md"

_HEAD = """\
# Reference

Every key, command, setting, tool, format and host of memento. This page is made from the code by `make reference`;
[README.md](README.md) is the way in.

[Keys](#keys) · [Queries](#queries) · [Commands](#commands) · [Exit codes](#exit-codes) · [Settings](#settings) ·
[Tools](#tools) · [Formats](#formats) · [Hosts](#hosts)
"""

_MOMENTS = {"start": "start", "prompt": "prompt", "read": "file read", "write": "write to memento", "end": "end"}


def render() -> str:
    """Return the whole page."""
    parts = [_HEAD, _keys(), _queries(), _commands(), _exit_codes(), _settings(), _tools(), _formats(), _hosts()]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; a bar in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _keys() -> str:
    """Return the keys of the app, by the place in which they hold."""
    note = (
        "Any key can be changed: `memento keys` lists the names of the app's commands, and `[keys]` in `config.toml` "
        "gives them other keys."
    )
    return f"## Keys\n\n{note}\n\n{markdown_table()}"


def _queries() -> str:
    """Return what a search can ask for."""
    note = (
        'Free words, `"a phrase"`, `-not` before any of them, and fields. Words are stemmed; names are found in parts.'
    )
    return f"## Queries\n\n{note}\n\n" + _table(["field", "takes"], [[f"`{name}:`", FIELDS[name]] for name in FIELDS])


def _commands() -> str:
    """Return every command with its options, as its ``--help`` explains them."""
    shared = "`--json`, `--data-dir DIR` and `--read-only` stand with every command; they are not repeated below."
    parts = ["## Commands", shared]
    context = click.Context(root, info_name="memento")
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        parts += _command(command, click.Context(command, context, info_name=name), 3)
    return "\n\n".join(parts)


def _command(command: click.Command, context: click.Context, level: int) -> Iterator[str]:
    """Yield the paragraphs of a command and of the commands below it."""
    yield f"{'#' * level} {context.command_path}"
    usage = command.get_usage(context).removeprefix("Usage: ").replace("[OPTIONS] ", "")
    yield f"```text\n{' '.join(usage.split())}\n```"
    yield inspect.cleandoc(command.help or "").split("\f")[0].strip()
    if rows := list(_options(command, context)):
        yield _table(["option", "meaning"], rows)
    if examples := getattr(command, "examples", ""):
        yield f"```sh\n{examples}\n```"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            if not found.hidden:
                yield from _command(found, click.Context(found, context, info_name=name), level + 1)


def _options(command: click.Command, context: click.Context) -> Iterator[list[str]]:
    """Yield the options of a command but for those that every command takes."""
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if (
            record is not None
            and record[1]
            and not {"--json", "--data-dir", "--read-only", "--help"} & set(option.opts)
        ):
            yield [f"`{record[0]}`", " ".join(record[1].split())]


def _exit_codes() -> str:
    """Return what the status of a command means."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.MementoError)]
    meanings: dict[int, str] = {}
    for kind in sorted(kinds, key=lambda kind: len(kind.__mro__)):
        meanings.setdefault(kind.exit_code, inspect.cleandoc(kind.__doc__ or "").splitlines()[0])
    meanings |= {0: "Done.", 1: "A fault in memento itself.", 130: "Interrupted."}
    return "## Exit codes\n\n" + _table(["code", "meaning"], [[str(code), meanings[code]] for code in sorted(meanings)])


def _settings() -> str:
    """Return the settings of ``config.toml`` with their types and defaults."""
    about_file = (
        "`config.toml` lies in the data directory; `memento paths` prints where that is. `F2` in the app and "
        "`memento settings` show every setting with its value and where that stands, and change it with comments kept."
    )
    parts = ["## Settings", about_file]
    explained = explained_attributes(config)
    for section in msgspec.structs.fields(config.Config):
        kind = section.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            about = inspect.cleandoc(kind.__doc__ or "").splitlines()[0].replace("``", "`")
        else:
            about = explained.get(f"Config.{section.name}", "")
        for name in (section.name, f"{section.name}.rules"):
            known = [setting for setting in all_settings() if setting.section == name]
            if known or name == section.name:
                parts.append(f"### [{name}]\n\n{about if name == section.name else explained['ReviewConfig.rules']}")
            if known:
                parts.append(_table(["setting", "type", "default", "meaning"], map(_setting_row, known)))
    return "\n\n".join(parts)


def _setting_row(setting: Setting) -> list[str]:
    default = "the preset's" if setting.default is None else f"`{toml_value(setting.default)}`"
    return [f"`{setting.key}`", setting.takes, default, setting.meaning]


def _tools() -> str:
    """Return the tools of each profile with their parameters and what a model is told of each."""
    parts = [
        "## Tools",
        "`memento mcp --profile NAME` serves them over stdio, `memento serve` over HTTP. Brackets: may be left out.",
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_mcp_workspaces(Path(folder) / "unused", "session") as workspaces,
    ):
        for name, profile in PROFILES.items():
            rows = [
                [f"`{tool.name}`", _parameters(tool.parameters), _first_sentence(tool.description)]
                for tool in profile.tools(workspaces)
            ]
            parts += [f"### {name}: {profile.title}", _table(["tool", "parameters", "purpose"], rows)]
    return "\n\n".join(parts)


def _parameters(schema: dict[str, object]) -> str:
    """Return the names of a tool's parameters, the optional ones in brackets."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    assert isinstance(properties, dict)
    assert isinstance(required, list)
    return " ".join(f"`{name}`" if name in required else f"[`{name}`]" for name in properties) or "none"


def _first_sentence(text: str) -> str:
    """Return the first sentence of a description on one line."""
    plain = re.sub(r"\s+", " ", text).strip()
    return re.split(r"(?<=[.;:])\s", plain, maxsplit=1)[0].rstrip(";:")


def _formats() -> str:
    """Return the formats that are imported and exported."""
    rows = [[f"`{one.name}`", one.title, one.description] for one in FORMATS.values()]
    return "## Formats\n\n`memento import FORMAT PATH` and `memento export PATH --format FORMAT`.\n\n" + _table(
        ["format", "system", "files"], rows
    )


def _hosts() -> str:
    """Return the agents' hosts, the files of theirs that ``memento install`` edits, and when its hooks run."""
    rows = [[f"`{host.name}`", host.title, *_host_cells(host)] for host in HOSTS.values()]
    return "## Hosts\n\n" + _table(["`memento install`", "host", "files that it edits", "hooks"], rows)


def _host_cells(host: Host) -> list[str]:
    """Return the files of a host and the moments at which its hooks run."""
    files = host.files(HostPaths(Path("/home/me"), {}, platform="linux"), BARE_PROGRAMS)
    moments = dict.fromkeys(_MOMENTS[event.moment] for event in host.events if event.seconds is not None)
    return [" ".join(f"`{str(file.path).replace('/home/me', '~')}`" for file in files), ", ".join(moments) or "none"]


if __name__ == "__main__":
    FILE.write_text(render(), encoding="utf-8")
    print(f"{FILE.name}: {len(render().splitlines()):,} lines")  # noqa: T201 - it tells how it went
