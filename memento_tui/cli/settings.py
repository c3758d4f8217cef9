"""The command ``settings``: see every setting of ``config.toml``, and change one with its comments kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from memento_tui.cli.author import is_own_terminal, require_own_terminal
from memento_tui.cli.command import current_session, group, open_workspace
from memento_tui.cli.interaction import confirm
from memento_tui.cli.output import emit, note, safe, table
from memento_tui.errors import DataDirectoryError

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.agreements import Destination
    from memento_tui.api.configuration import SettingsFile, SettingState


def _file() -> SettingsFile:
    from memento_tui.api.configuration import SettingsFile  # noqa: PLC0415 - a command's help is shown without it

    session = current_session()
    if not session.paths.root.is_dir():
        raise DataDirectoryError(f"There is no directory {session.paths.root}.", "Check the path.")
    return SettingsFile(session.paths, read_only=session.read_only, typed_by_person=is_own_terminal())


def _complete_name(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the settings that begin as typed, for a shell."""
    from memento_tui.api.configuration import all_settings  # noqa: PLC0415 - as above

    return [CompletionItem(one.name, help=one.meaning) for one in all_settings() if one.name.startswith(typed)]


def _complete_value(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the values of the setting that was named, where it has a choice of them."""
    from memento_tui.api.configuration import all_settings  # noqa: PLC0415 - as above

    setting = next((one for one in all_settings() if one.name == context.params.get("name")), None)
    choices = () if setting is None else ("true", "false") if setting.kind == "bool" else setting.choices
    return [CompletionItem(choice) for choice in choices if choice.startswith(typed)]


def _object(state: SettingState) -> dict[str, Any]:
    setting = state.setting
    return {
        "name": setting.name,
        "value": state.value,
        "source": state.source,
        "default": setting.default,
        "takes": list(setting.choices) or setting.takes,
        "meaning": setting.meaning,
    }


@group(
    "settings",
    invoke_without_command=True,
    short_help="Show and change the settings of config.toml.",
    examples="""
    memento settings
    memento settings set review.preset strict
    memento settings reset review.preset
    """,
)
@click.pass_context
def settings(ctx: click.Context) -> None:
    """Show and change the settings of config.toml. Comments in it are kept. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_settings)


@settings.command(
    "list",
    short_help="List every setting with its value and where that stands.",
    examples="""
    memento settings list
    memento settings list --json
    """,
)
def list_settings() -> None:
    """List every setting with its value, and the line of config.toml that sets it."""
    states = _file().states()
    emit(lambda: {"items": [_object(state) for state in states]}, lambda: _settings_table(states))


def _settings_table(states: Sequence[SettingState]) -> str:
    rows = [
        [state.setting.name, safe(state.value), state.source, state.setting.meaning.replace("`", "")]
        for state in states
    ]
    return table(["SETTING", "VALUE", "FROM", "MEANING"], rows)


@settings.command(
    "set",
    decides=True,
    short_help="Change a setting.",
    examples="""
    memento settings set hooks.prompt_tokens 200
    memento settings set maintenance.backups false
    """,
)
@click.argument("name", shell_complete=_complete_name)
@click.argument("value", shell_complete=_complete_value)
def set_setting(name: str, value: str) -> None:
    """Write the setting NAME into config.toml; a value that it cannot have is refused."""
    file = _file()
    before = file.state(name)
    now = file.set(name, value)
    emit(lambda: _object(now), lambda: safe(f"{name}: {now.value or 'empty'}; it was {before.value or 'empty'}."))
    for problem in file.withheld(name):
        note(problem)


@settings.command(
    "reset",
    decides=True,
    short_help="Let a setting have its default.",
    examples="""
    memento settings reset hooks.prompt_tokens
    """,
)
@click.argument("name", shell_complete=_complete_name)
def reset_setting(name: str) -> None:
    """Take the line of the setting NAME out of config.toml."""
    file = _file()
    before = file.state(name)
    now = file.reset(name)
    emit(lambda: _object(now), lambda: safe(f"{name}: {now.value or 'empty'}; it was {before.value or 'empty'}."))


@settings.command(
    "agree",
    writes=True,
    short_help="Agree to what this workspace sends off this machine.",
    examples="""
    memento settings agree
    """,
)
def agree() -> None:
    """Show what config.toml, and the hub in the database, would send where, and ask whether you agree.

    Until you do nothing is sent there: somebody else may have made the directory. It takes a terminal of your own. What
    you agree to holds for that address with that key variable, in every workspace of this machine.
    """
    from memento_tui.agreements import agree_to, is_agreed  # noqa: PLC0415 - a command's help is shown without it

    require_own_terminal("Agreeing to what is sent")
    named = _named_places()
    for one in named:
        if not is_agreed(one):
            said = f"{one.named_by} would send {one.in_words}"
            unasked, declined = f"{said}: nobody can be asked.", "Nothing is sent there."
            confirm(f"{said}. Agree", yes=False, unasked=unasked, declined=declined, hint="Do it without --json.")
            agree_to(one)
    emit(
        {"agreed": [one._asdict() for one in named]},
        lambda: (
            safe("\n".join(f"Agreed: {one.in_words}." for one in named), multiline=True)
            or "This workspace sends nothing off this machine."
        ),
    )


def _named_places() -> Sequence[Destination]:
    """Return every place that the workspace would send something to; a directory without a database is in no hub."""
    from memento_tui.agreements import destinations  # noqa: PLC0415 - a command's help is shown without it
    from memento_tui.api.configuration import workspace_destinations  # noqa: PLC0415 - as above
    from memento_tui.config import load_config  # noqa: PLC0415 - as above

    file = _file()
    if not current_session().paths.database.exists():
        return destinations(load_config(file.path))
    with open_workspace() as workspace:
        return workspace_destinations(workspace)


@settings.command(
    "withdraw",
    writes=True,
    decides=True,
    short_help="Take back what you agreed to send.",
    examples="""
    memento settings withdraw
    """,
)
def withdraw() -> None:
    """Take back whatever you agreed to send off this machine, in every workspace; `agree` asks anew."""
    from memento_tui.agreements import withdraw_agreements  # noqa: PLC0415 - a command's help is shown without it

    count = withdraw_agreements()
    emit({"withdrawn": count}, lambda: f"Withdrawn: {count}. Nothing is sent there until you agree again.")


commands = {"settings": settings}
