"""The ``:`` line: ask for a command and for the rows that it is for, and carry it out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.api.line_history import LineHistory
from memento_tui.api.query_completion import QueryHelper, Suggestions
from memento_tui.app_sections import SECTION_NAMES
from memento_tui.errors import InvalidInput, MementoError, ReadOnlyMode
from memento_tui.known_workspaces import KnownWorkspaces
from memento_tui.paths import typed_path
from memento_tui.text.near_names import nearest_name
from memento_tui.text.quantities import count_of
from memento_tui.tui.command_words import APP_COMMANDS, CommandWords, TypedLine
from memento_tui.tui.commands import Command, KeyScope, bindings
from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Confirm, Dialog
from memento_tui.tui.screens.workspaces import go_to_workspace
from memento_tui.tui.section import ROW_CHANGED, in_thread
from memento_tui.tui.sections.memories import MemoriesSection
from memento_tui.tui.sections.memory_commands import CHANGES, ROW_COMMANDS, MemoryCommands, Targets
from memento_tui.tui.widgets.completion import CompletingInput

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

__all__ = ["CommandLineScreen", "TypedCommands"]


class _CommandInput(CompletingInput):
    """The line itself; its keys are those of the scope ``command``."""

    SCOPE: ClassVar[KeyScope] = "command"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("command")]

    def __init__(
        self, complete: Callable[[str, int], Suggestions], run: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        super().__init__(complete=complete, history_place="command_line", id="command-input", above=True)
        self._run = run
        self._leave = leave

    def action_take(self) -> None:
        """Take the suggestion."""
        self.take()

    def action_go(self, step: int) -> None:
        """Go to another suggestion, or to an earlier or later command."""
        self.go(step)

    def action_run(self) -> None:
        """Take the suggestion that was gone to; else run the command."""
        if not self.take_if_chosen():
            self._run()

    def action_leave(self) -> None:
        """Leave the line."""
        self._leave()

    def action_erase(self) -> None:
        """Erase a letter; leave the line where it is empty."""
        if self.value:
            self.action_delete_left()
        else:
            self._leave()


class CommandLineScreen(Dialog[str | None]):
    """Asks for a command. Enter returns the line, Escape returns ``None``.

    ``prompt`` returns what a line would be for, such as ``3 marked``; ``complete`` its suggestions, on a thread;
    ``check`` raises a `MementoError` for a line that cannot be carried out: it is shown, and the line stays.
    """

    AUTO_FOCUS: ClassVar[str | None] = "#command-input"

    def __init__(
        self,
        prompt: Callable[[str], str],
        complete: Callable[[str, int], Suggestions],
        check: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._prompt = prompt
        self._check = check
        self._shown_prompt = Static(classes="command-prompt")
        self._problem = Static(classes="command-problem")
        self.line = _CommandInput(complete, self._run_line, self._leave)
        """The line that is being typed."""

    def compose(self) -> ComposeResult:
        """Show the line at the bottom, and its problem above it."""
        yield self.line.suggestions
        with Vertical(classes="command-line"):
            yield self._problem
            with Horizontal():
                yield self._shown_prompt
                yield self.line

    def on_mount(self) -> None:
        """Show the purpose of the line."""
        self._show_prompt("")

    @on(Input.Changed)
    def _line_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_prompt(event.value)
        self._problem.display = False

    def _show_prompt(self, line: str) -> None:
        self._shown_prompt.update(literal(f"{self._prompt(line)} :", "$text-accent"))

    def _run_line(self) -> None:
        if not self.line.value.strip(" :%"):
            self._leave()
            return
        try:
            self._check(self.line.value)
        except MementoError as error:
            self.line.suggestions.close()  # they would cover it
            self._problem.update(literal(str(error), "$text-warning"))
            self._problem.display = True
        else:
            self.dismiss(self.line.value)

    def _leave(self) -> None:
        self.dismiss(None)


_GOING = ("open", "search", "saved", "workspace", "at")
"""The commands that lead somewhere."""


class TypedCommands:
    """One use of the ``:`` line, at the place that ``scopes`` describe; `ask_and_run` must run in a worker of the app.

    ``run_key`` carries out a command that has a key, as the key does.
    """

    def __init__(self, app: MementoApp, scopes: list[str], run_key: Callable[[Command], Awaitable[None]]) -> None:
        self._app = app
        self._run_key = run_key
        section = app.section
        self._memories = section if isinstance(section, MemoriesSection) and "memories" in scopes else None
        self._changes = None if self._memories is None else MemoryCommands(self._memories)
        workspace = app.workspace
        self._words = CommandWords(
            scopes,
            QueryHelper(workspace),
            themes=lambda: sorted(app.available_themes),
            searches=lambda: [saved.name for saved in workspace.saved_searches.list()],
            workspaces=_workspace_names,
            own=app.own.help(),
        )

    async def ask_and_run(self) -> None:
        """Ask for a command and carry it out."""
        screen = CommandLineScreen(self._prompt, self._words.complete, self._check)
        meant = self._app.section.chosen()
        line = await self._app.push_screen_wait(screen)
        if line is not None and self._acts_on_rows(TypedLine.parse(line).name) and self._app.section.chosen() != meant:
            self._app.show_status(ROW_CHANGED, problem=True)
        elif line is not None:
            await in_thread(self._app.section, LineHistory(self._app.workspace.settings, "command_line").keep, line)
            await self._run(TypedLine.parse(line))

    def _acts_on_rows(self, name: str) -> bool:
        return name in CHANGES or name in ROW_COMMANDS or name in self._words.keyed or name in self._app.own.commands

    def _writes(self, name: str) -> bool:
        keyed = self._words.keyed.get(name)
        return name in (*CHANGES, *ROW_COMMANDS, "import", "save") or (keyed is not None and keyed.writes)

    def _targets(self, typed: TypedLine) -> Targets:
        if self._changes is None:
            return Targets((), "", self._app.section.SCOPE)
        return self._changes.targets(whole=typed.whole)

    def _prompt(self, line: str) -> str:
        return self._targets(TypedLine.parse(line)).words

    def _check(self, line: str) -> None:
        """Raise a `MementoError` for a line that cannot be carried out."""
        typed = TypedLine.parse(line)
        self._words.check_name(typed.name)
        is_change = typed.name in CHANGES or typed.name in ROW_COMMANDS
        if typed.whole and not is_change:
            raise InvalidInput(f"% is for changes, and :{typed.name} is none.", "Leave it out.")
        if self._app.workspace.is_read_only and self._writes(typed.name):
            raise ReadOnlyMode
        if is_change and self._changes is not None:
            self._changes.check(typed.name, typed.argument, self._targets(typed))
        elif typed.name in APP_COMMANDS and not typed.argument:
            takes, about = APP_COMMANDS[typed.name]
            raise InvalidInput(f":{typed.name} takes {takes}. {about}.", "Type it behind the name.")
        elif typed.argument and (typed.name in self._words.keyed or typed.name in self._app.own.help()):
            raise InvalidInput(f":{typed.name} takes nothing behind its name.", "Leave it out.")
        elif typed.name == "open":
            _section_and_query(typed.argument)
        elif typed.name == "theme":
            _check_theme(typed.argument, list(self._app.available_themes))

    async def _run(self, typed: TypedLine) -> None:
        app, name, argument = self._app, typed.name, typed.argument
        if name in CHANGES and self._changes is not None:
            await self._changes.change(name, argument, self._targets(typed))
        elif name == "relate" and self._changes is not None:
            await self._changes.relate(argument, self._targets(typed))
        elif name == "purge" and self._changes is not None:
            await self._changes.purge(argument, self._targets(typed).ids[0])
        elif name == "save":
            self._save_search(argument)
        elif name == "theme":
            app.theme = argument
        elif name == "export":
            await self._export(argument)
        elif name == "import":
            self._import(argument)
        elif name in app.own.help():
            await app.go_own(name)
        elif name in (*SECTION_NAMES, *_GOING):
            await self._go(name, argument)
        else:
            await self._run_key(self._words.keyed[name])

    async def _go(self, name: str, argument: str) -> None:
        """Go to a section, to the results of a search, or to another workspace."""
        app = self._app
        if name in SECTION_NAMES:
            await self._open(name, argument)
        elif name == "open":
            await self._open(*_section_and_query(argument))
        elif name == "search":
            await app.open_section("memories", argument)
        elif name == "saved":
            await app.open_section("memories", app.workspace.saved_searches.get(argument.strip('"')).query)
        elif name == "workspace":
            await go_to_workspace(app, KnownWorkspaces().find(argument))
        elif name == "at":
            from memento_tui.tui.screens.past import PastScreen  # noqa: PLC0415 - seldom needed

            app.push_screen(PastScreen(argument))

    async def _open(self, name: str, query: str) -> None:
        if query:
            await self._app.open_section(name, query)
        else:
            await self._app.action_section(name)

    def _save_search(self, name: str) -> None:
        app, query = self._app, self._memories.filter if self._memories is not None else ""
        saved = app.workspace.saved_searches.save(name, query)
        app.show_status(f"Saved as {saved.name}. :saved {saved.name} goes there.")

    def _import(self, argument: str) -> None:
        from memento_tui.tui.screens.import_offer import offer_import_of  # noqa: PLC0415 - seldom needed

        offer_import_of(self._app, _local_path(argument)[0])

    async def _export(self, argument: str) -> None:
        from memento_tui.formats.import_export import run_export  # noqa: PLC0415 - seldom needed
        from memento_tui.formats.registry import FORMATS  # noqa: PLC0415 - as above

        app = self._app
        app.workspace.check_may_leave()
        place, _, last = argument.rpartition(" ")
        path, name = (place, last) if place and last in FORMATS else (argument, "memento")
        target, is_there = _local_path(path)
        if is_there:
            question = Content("Write over ") + literal(str(target), "bold") + Content("?")
            if not await app.push_screen_wait(Confirm(question)):
                return
        app.show_status("Exporting ...")
        written = await in_thread(app.section, run_export, app.workspace, target, format_name=name)
        left_out = f", {written.left_out:,} left out" if written.left_out else ""
        app.show_status(f"{count_of(written.records, 'record')} written to {target}{left_out}.")


def _workspace_names() -> list[str]:
    """Return the names to complete; none where the list cannot be read, which the command itself says."""
    try:
        return [known.name for known in KnownWorkspaces().list()]
    except MementoError:
        return []


def _local_path(text: str) -> tuple[Path, bool]:
    """Return a path that a person typed, and whether something lies there."""
    path = typed_path(text)
    if path.parts[:1] and path.parts[0].startswith("~"):
        raise InvalidInput(f"There is no home folder {path.parts[0]!r:.40}.", "~/ is your own.")
    return path, path.exists()


def _section_and_query(argument: str) -> tuple[str, str]:
    """Return a section's name and a query. Raises `InvalidInput` where there is no such section."""
    name, _, query = argument.partition(" ")
    found = next((known for known in SECTION_NAMES if known.startswith(name.lower())), None)
    if found is None:
        near = nearest_name(name.lower(), SECTION_NAMES)
        meant = f"Did you mean {near}? " if near else ""
        raise InvalidInput(f"There is no section {name!r:.40}.", f"{meant}There are {', '.join(SECTION_NAMES)}.")
    return found, query.strip()


def _check_theme(name: str, known: list[str]) -> None:
    if name not in known:
        near = nearest_name(name, known)
        hint = f"Did you mean {near}?" if near else "Tab behind the name shows them."
        raise InvalidInput(f"There is no theme {name!r:.40}.", hint)
