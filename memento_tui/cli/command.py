"""Declare commands: the options that all of them take, examples in their help, and the workspace they open."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from memento_tui.cli.author import CommandAuthor, command_author
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, ReadOnlyMode
from memento_tui.hosts.registry import has_terminal, running_host
from memento_tui.locations import asks_read_only
from memento_tui.paths import DataPaths, data_directory
from memento_tui.text.near_names import nearest_name

__all__ = [
    "CliSession",
    "Command",
    "CommandFunction",
    "Group",
    "PathArgument",
    "command",
    "current_session",
    "group",
    "in_clear_option",
    "open_workspace",
]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


class PathArgument(click.Path):
    """The type of an argument that names a file or folder; an empty one is refused.

    It comes from a script whose variable is unset: the current directory, which it would name, was not meant.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click declares it
        """Return the path."""
        if value == "":
            self.fail("it is empty; name a file or folder.", param, ctx)
        return super().convert(value, param, ctx)


class CliSession:
    """The options that hold for one run of the program."""

    def __init__(self) -> None:
        self.data_dir: Path | None = None
        """The value of ``--data-dir``; ``None`` leaves it to ``MEMENTO_HOME`` or the platform.

        It is what programs of agents use; what a person does uses `directory`.
        """
        self.as_json = False
        self.read_only = asks_read_only()
        """Whether the command may write nothing to the data directory."""

    @property
    def directory(self) -> Path:
        """The data directory: that of ``--data-dir`` or ``MEMENTO_HOME``, else the workspace that the person chose.

        The choice holds where a person types: an agent, and a script of nobody's, keep the default directory.
        """
        if self.data_dir is None and running_host(os.environ) is None and has_terminal():
            from memento_tui.known_workspaces import chosen_directory  # noqa: PLC0415 - help is shown without it

            return data_directory(chosen_directory())
        return data_directory(self.data_dir)

    @property
    def paths(self) -> DataPaths:
        """The paths in the data directory of this run."""
        return DataPaths(self.directory)

    @property
    def author(self) -> CommandAuthor:
        """In whose name the command runs."""
        return command_author(self.paths)


def current_session() -> CliSession:
    """Return the session of the command that is running."""
    return click.get_current_context().ensure_object(CliSession)


@contextmanager
def open_workspace(*, create: bool = False) -> Iterator[Workspace]:
    """Open the workspace for the length of a block, in the name of whoever runs the command.

    ``create`` begins a new data directory where there is none; commands that only read leave it out, so that a
    mistyped path is an error and not an empty workspace. Raises `DataDirectoryError`.
    """
    from memento_tui.api import Workspace  # noqa: PLC0415 - a command's help is shown without it

    if not os.environ.get("MEMENTO_DEBUG"):
        # Problems are printed for the person; the log would repeat them on standard error.
        logging.getLogger("memento_tui").addHandler(logging.NullHandler())
    session = current_session()
    author = session.author
    from memento_tui.cli.interaction import staged_progress  # noqa: PLC0415 - it uses this module

    with staged_progress() as progress:  # an older format is brought to the present one
        opened = Workspace(
            session.directory,
            actor=author.actor,
            channel="cli",
            agent=author.agent,
            session=author.session,
            create=create,
            read_only=session.read_only,
            progress=progress,
        )
    with opened as workspace:
        try:
            yield workspace
        except NotAllowed as error:
            author.explain(error)
            raise
        if click.get_current_context().info_name != "maintain":
            from memento_tui.api.maintenance_schedule import start_maintenance_if_due  # noqa: PLC0415 - as above

            start_maintenance_if_due(workspace, "command")


in_clear_option = click.option(
    "--in-clear", is_flag=True, help="Write an encrypted workspace's memories in clear; else that is refused."
)
"""The option that lets texts of an encrypted workspace be written to files that are not encrypted."""


CommandFunction = Callable[..., Any]


def _set_json(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's callback
    session = ctx.ensure_object(CliSession)
    session.as_json = session.as_json or value


def _set_data_dir(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    session = ctx.ensure_object(CliSession)
    session.data_dir = Path(value) if value else session.data_dir


def _set_read_only(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's callback
    session = ctx.ensure_object(CliSession)
    session.read_only = session.read_only or value


def shared_options() -> list[click.Parameter]:
    """Return the options that every command takes."""
    return [
        click.Option(
            ["--data-dir"],
            type=PathArgument(),
            metavar="DIR",
            expose_value=False,
            callback=_set_data_dir,
            help="The data directory; MEMENTO_HOME names it too.",
        ),
        click.Option(
            ["--json"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set_json,
            help="Print one JSON value, errors too.",
        ),
        click.Option(
            ["--read-only"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set_read_only,
            help="Write nothing to the data directory or the list of workspaces; MEMENTO_READ_ONLY=1 says it too.",
        ),
    ]


def _check_utf8(values: Iterable[Any]) -> None:
    """Raise `InvalidInput` for arguments that are not UTF-8; only paths may be any bytes."""
    for value in values:
        if isinstance(value, tuple):
            _check_utf8(value)
        elif isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise InvalidInput(
                    f"The argument {value!r:.60} is not UTF-8 (at character {error.start}).",
                    "Convert the text to UTF-8 first.",
                ) from None


class _CommandWithExamples(click.Command):
    """A command or group with the options of all, and a block of examples at the end of its help."""

    def __init__(self, *args: Any, examples: str = "", **options: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **options)
        self.params.extend(shared_options())
        self.examples = inspect.cleandoc(examples)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples as they stand."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.splitlines():
                    formatter.write(f"  {line}\n")


_REMOVING = ("rm", "remove", "delete", "forget", "revoke")
"""Words for taking something away; a group has one of them, and any other leads to it."""

_MOST_NAMED = 12
"""Commands of a group that an error names; of more its help is the place."""

Decides = bool | Callable[[Mapping[str, Any]], bool]
"""Whether a command makes a decision of a person's, or a function that tells it from the command's parameters."""

Writes = bool | Callable[[Mapping[str, Any]], bool]
"""Whether a command writes files of the data directory beside the database, or a function that tells it likewise."""


class Command(_CommandWithExamples):
    """One command; ``decides`` says that it runs in the person's name or not at all, ``writes`` not read-only.

    What is written to the database needs no ``writes``: the database refuses it.
    """

    def __init__(self, *args: Any, decides: Decides = False, writes: Writes = False, **options: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **options)
        self.decides = decides
        self.writes = writes

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Check that the arguments are UTF-8 and that the command may run here, and run it."""
        _check_utf8(ctx.params.values())
        if current_session().read_only and (self.writes(ctx.params) if callable(self.writes) else self.writes):
            raise ReadOnlyMode
        if self.decides(ctx.params) if callable(self.decides) else self.decides:
            current_session().author.require_person(ctx.command_path)
        try:
            return super().invoke(ctx)
        except InvalidField as error:
            _name_option(error, self.params)
            raise


_OTHER_NAMES_OF_FIELDS = {"expires_at": ("expires", "until"), "validity_context": ("validity",)}
"""The options that set a field whose name is not theirs, by field."""


def _name_option(error: InvalidField, params: Iterable[click.Parameter]) -> None:
    """Let an error about a field name the option that gives it, where the command has one: the person typed that."""
    names = {error.field, *_OTHER_NAMES_OF_FIELDS.get(error.field, ())}
    option = next((one for one in params if isinstance(one, click.Option) and one.name in names), None)
    if option is not None:
        error.message = f"{max(option.opts, key=len)}: {error.reason}."


class Group(_CommandWithExamples, click.Group):
    """A command with commands of its own."""

    command_class = Command
    other_words: ClassVar[Mapping[str, str]] = {}
    """The words of other programs that somebody may type, with the command that each stands for."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name. Raises `click.UsageError` with the name that was meant."""
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        known = self.list_commands(ctx)
        removing = next((word for word in _REMOVING if word in known), "") if name.lower() in _REMOVING else ""
        near = self.other_words.get(name.lower(), "") or removing or nearest_name(name.lower(), known)
        if near:
            meant = f" Did you mean {near}?"
        else:
            meant = f" There are {', '.join(known)}." if len(known) <= _MOST_NAMED else ""
        raise click.UsageError(f"There is no command {name!r:.60}.{meant}", ctx)


def command(name: str, **options: Any) -> Callable[[CommandFunction], Command]:  # noqa: ANN401 - click's own
    """Declare a command; ``examples`` are lines for the end of its help, ``decides`` and ``writes`` as `Command`."""
    return click.command(name, cls=Command, **options)


def group(name: str, **options: Any) -> Callable[[CommandFunction], Group]:  # noqa: ANN401 - click's own
    """Declare a group of commands; ``examples`` are lines for the end of its help."""
    return click.group(name, cls=Group, **options)
