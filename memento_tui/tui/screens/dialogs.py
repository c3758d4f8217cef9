"""The dialogs with one answer: a line of text, yes or no, or one of a few choices, and the question about a risk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.layout import ArrangeResult, WidgetPlacement
from textual.layouts.horizontal import HorizontalLayout
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Input, Static

from memento_tui.api.query_completion import Suggestions
from memento_tui.errors import MementoError
from memento_tui.tui.commands import key_names
from memento_tui.tui.display import literal
from memento_tui.tui.section import ErrorBoundary, app_of
from memento_tui.tui.widgets.completion import CompletingInput
from memento_tui.tui.widgets.frames import DrawnAtOnce, LivePointer

if TYPE_CHECKING:
    from memento_tui.tui.section import Section

from typing import TYPE_CHECKING

__all__ = [
    "AnsweredOnce",
    "AskLine",
    "ChoiceScreen",
    "Confirm",
    "Dialog",
    "DialogButton",
    "DialogButtons",
    "DialogChoice",
    "accepted_risk",
]


class AnsweredOnce(LivePointer, DrawnAtOnce, ModalScreen[ScreenResultType]):
    """A screen above the app that takes one answer.

    Keys that are typed before it has closed are for nobody: a second answer would close the screen below, which ends
    the app where there is none, or act on the list there.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (60, "-broad")]  # noqa: RUF012 - Textual declares it so
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (18, "-low"), (30, "-high")]  # noqa: RUF012 - Textual declares it so
    _is_answered = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with an answer; every later one is ignored."""
        if self._is_answered:
            return AwaitComplete()
        self._is_answered = True
        app_of(self).drop_typed_keys()
        return super().dismiss(result)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow no action after the answer."""
        return not self._is_answered and super().check_action(action, parameters)


class Dialog(ErrorBoundary, AnsweredOnce[ScreenResultType]):
    """A screen above the app that asks one question."""


class DialogButton(Static):
    """The line of a dialog's key, which can be clicked. It never has the focus, so Enter presses none."""

    DEFAULT_CSS = """
    DialogButton { width: auto; height: 1; padding: 0 1; margin-right: 1; background: $boost; }
    DialogButton:last-child { margin-right: 0; }
    DialogButton:hover { background: $block-cursor-blurred-background; }
    """

    def __init__(self, key: str, label: str, click: Callable[[], object]) -> None:
        super().__init__(Content.styled(key, "bold $text-accent") + literal(f" {label}"))
        self._click = click

    def on_click(self) -> None:
        """Run the key's action."""
        self._click()


class DialogButtons(Horizontal):
    """The buttons of a dialog, side by side, in as many lines as they need."""

    DEFAULT_CSS = "DialogButtons { height: auto; }"

    def __init__(self, *buttons: DialogButton) -> None:
        super().__init__(*buttons)
        self._flow = _FlowLayout()

    @property
    def layout(self) -> _FlowLayout:
        """How the buttons are placed."""
        return self._flow

    @classmethod
    def for_keys(cls, dialog: ModalScreen[Any]) -> DialogButtons:
        """Return a button for each key of a dialog that is to be shown, with the words of its binding."""
        shown = [binding for binding in dialog.BINDINGS if isinstance(binding, Binding) and binding.show]
        return cls(
            *(
                DialogButton(
                    key_names(binding.key).split()[0],
                    binding.description,
                    partial(dialog.call_later, dialog.run_action, binding.action),
                )
                for binding in shown
            )
        )


class _AskInput(CompletingInput):
    """The line of a dialog; Tab takes a suggestion, and so does Enter where the person went to one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "take", show=False),
        Binding("right", "right", show=False),
        Binding("down", "go(1)", show=False),
        Binding("up", "go(-1)", show=False),
        Binding("enter", "take_or_submit", show=False),
    ]

    def action_take(self) -> None:
        """Take the suggestion."""
        self.take()

    def action_go(self, step: int) -> None:
        """Go to another suggestion."""
        self.go(step)

    async def action_take_or_submit(self) -> None:
        """Take the suggestion that was gone to; else answer."""
        if not self.take_if_chosen():
            await self.action_submit()


class AskLine(Dialog[str | None]):
    """A dialog that asks for one line: Enter returns it, Escape returns ``None``.

    ``check`` raises a `MementoError` for a line that will not do: that is said while it is typed, and the line stays.
    What is typed takes the place of a value that is only ``proposed``, and is added to any other. ``complete`` returns
    suggestions for the line and the cursor's place, on a thread.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", show=False)]

    def __init__(
        self,
        question: str,
        value: str = "",
        *,
        hint: str = "",
        check: Callable[[str], object] = lambda _: None,
        proposed: bool = False,
        complete: Callable[[str, int], Suggestions] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._check = check
        self._problem = Static(classes="dialog-problem")
        self.line = _AskInput(complete=complete, value=value, select_on_focus=proposed)
        """The line that is being typed."""
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Show the question, the line and the keys."""
        yield self.line.suggestions
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="dialog-title")
            yield self.line
            yield self._problem
            if self._hint:
                yield Static(Content(self._hint), classes="dialog-hint")
            with DialogButtons():
                yield DialogButton("Enter", "OK", self._take)
                yield DialogButton("Esc", "Leave", lambda: self.dismiss(None))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line."""
        event.stop()
        self._take()

    def on_mount(self) -> None:
        """Say nothing is wrong yet."""
        self._problem.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show the problem of the typed line."""
        event.stop()
        self._is_fit()

    def _is_fit(self) -> bool:
        try:
            self._check(self.line.value)
        except MementoError as error:
            self._problem.update(literal(str(error), "$text-warning"))
            self._problem.display = True
            return False
        self._problem.display = False
        return True

    def _take(self) -> None:
        if self._is_fit():
            self.dismiss(self.line.value)


class Confirm(Dialog[bool]):
    """A dialog that asks before an action on many records or without undo. Only ``y`` is yes; Enter is ignored."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes"),
        Binding("n,escape", "dismiss(False)", "No"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,ctrl+d", "scroll(10)", show=False),
        Binding("pageup,ctrl+u", "scroll(-10)", show=False),
    ]

    def __init__(self, question: Content, detail: Content | None = None) -> None:
        super().__init__()
        self._question = question
        self._detail = detail
        self._scroll = VerticalScroll(classes="dialog-detail", can_focus=False)

    def compose(self) -> ComposeResult:
        """Show the question and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title")
            if self._detail is not None:
                with self._scroll:
                    yield Static(self._detail, classes="dialog-text")
            with DialogButtons():
                yield DialogButton("y", "Yes", lambda: self.dismiss(True))  # noqa: FBT003 - the answer
                yield DialogButton("n", "No", lambda: self.dismiss(False))  # noqa: FBT003 - the answer

    def action_scroll(self, lines: int) -> None:
        """Scroll the text."""
        self._scroll.scroll_relative(y=lines, animate=False)


@dataclass(frozen=True)
class DialogChoice:
    """One choice: its value, its letter and its label."""

    value: str
    letter: str
    label: str


class _ChoiceLine(Static):
    """A choice as a line that can be clicked, and be gone to."""

    def __init__(self, choice: DialogChoice, text: Content) -> None:
        super().__init__()
        self._text = text
        self.choice = choice
        self.point(is_here=False)

    def point(self, *, is_here: bool) -> None:
        """Show whether Enter would take it."""
        self.set_class(is_here, "-here")
        self.update(Content("> " if is_here else "  ") + self._text)

    def on_click(self) -> None:
        """Take it."""
        if isinstance(self.screen, ChoiceScreen):
            self.screen.dismiss(self.choice.value)


class ChoiceScreen(Dialog[str | None]):
    """A dialog that asks for one of a few choices, by number or letter; Escape returns ``None``.

    The arrows go to a choice, and Enter takes that; before an arrow was pressed it is ignored.
    """

    DEFAULT_CSS = "_ChoiceLine.-here { background: $block-cursor-blurred-background; text-style: bold; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave"),
        Binding("down,j", "go(1)", show=False),
        Binding("up,k", "go(-1)", show=False),
        Binding("enter", "take", show=False),
    ]

    def __init__(self, question: Content, choices: Sequence[DialogChoice], present: str = "") -> None:
        super().__init__()
        self._question = question
        self._choices = choices
        self._present = present
        self._lines = [self._line(number, choice) for number, choice in enumerate(choices, 1)]
        self._here: int | None = None

    def _line(self, number: int, choice: DialogChoice) -> _ChoiceLine:
        text = Content.styled(f"{number} {choice.letter}  ", "bold $text-accent") + literal(choice.label)
        return _ChoiceLine(choice, text + (Content.styled("  (now)", "dim") if choice.value == self._present else ""))

    def compose(self) -> ComposeResult:
        """Show the question, and a line for each choice."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title")
            yield from self._lines
            yield Static(
                Content("\nA number, a letter, or arrows and Enter choose; Escape leaves"), classes="dialog-hint"
            )

    def action_go(self, step: int) -> None:
        """Go to the next choice, or the one before; at first to the one that holds now."""
        if self._here is None:
            values = [choice.value for choice in self._choices]
            place = values.index(self._present) if self._present in values else (0 if step > 0 else -1)
        else:
            place = self._here + step
        self._here = place % len(self._lines)
        for index, line in enumerate(self._lines):
            line.point(is_here=index == self._here)

    def action_take(self) -> None:
        """Take the choice that was gone to."""
        if self._here is not None:
            self.dismiss(self._lines[self._here].choice.value)

    def on_key(self, event: events.Key) -> None:
        """Return the choice whose number or letter was pressed."""
        for number, choice in enumerate(self._choices, 1):
            if event.character in (str(number), choice.letter):
                event.stop()
                self.dismiss(choice.value)


class _FlowLayout(HorizontalLayout):
    """Places widgets of one height as words stand in a paragraph."""

    def arrange(
        self,
        parent: Widget,
        children: list[Widget],
        size: Size,
        greedy: bool = True,  # noqa: FBT001, FBT002 - as Textual's own
    ) -> ArrangeResult:
        """Return the place of each widget, the first of a line at its left end."""
        placed: list[WidgetPlacement] = []
        left = line = 0
        for placement in super().arrange(parent, children, size, greedy):
            x, _, width, height = placement.region
            if x - left + width > size.width and x > left:
                left, line = x, line + height
            placed.append(placement._replace(region=Region(x - left, line, width, height)))
        return placed


_QUESTIONS = {
    "orders": "Approve a text that reads like orders for a model?",
    "secret": "Approve what a secret was taken out of?",
    "quarantined": "Approve what a quarantined session wrote?",
    "burst": "Approve one of many writes of one session?",
}
_EVIDENCE_SHOWN = 3


async def accepted_risk(section: Section, item_id: str) -> str | None:
    """Return the risk at which the person approves an item of the queue, empty for none; ``None`` if they do not.

    Nobody is asked where it is no risk. Must be awaited in a worker.
    """
    workspace = section.memento.workspace
    risk = next((row.risk for row in workspace.inbox.rows([item_id])), "")
    if not risk:
        return ""
    found = workspace.review.get(item_id)
    lines = [f"{name}: {text}" for name, text in found.rests_on][:_EVIDENCE_SHOWN]
    evidence = literal("\n".join(lines), "$text-error", multiline=True)
    detail = Content("Agents would be told it with your approval.\n\n") + evidence
    is_sure = await section.app.push_screen_wait(Confirm(literal(_QUESTIONS[risk], "bold"), detail))
    return risk if is_sure else None
