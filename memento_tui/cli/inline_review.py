"""``memento review --inline``: decide a few items in the terminal, one key each, in lines broken between words."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, cast

import click
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from memento_tui.cli.author import require_own_terminal
from memento_tui.cli.command import current_session, open_workspace
from memento_tui.cli.output import QUOTE_BAR, bold, safe
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.model.review import RISKY_KINDS

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.inbox import DecisionVerb
    from memento_tui.api.review import ContradictionWithSides, PendingProposal

__all__ = ["review_inline", "wrap_words"]

_MOST_ITEMS = 5
"""Items that are shown at once: as many as one decides between two commands."""

_KEYS: Mapping[str, str] = {"a": "approve", "x": "reject"}
_CONTRADICTION_KEYS: Mapping[str, str] = {"n": "newer_supersedes", "o": "older_stands", "x": "not_a_contradiction"}
_LABELS = {
    "approve": "a approve",
    "reject": "x reject",
    "newer_supersedes": "n the newer holds",
    "older_stands": "o the older holds",
    "not_a_contradiction": "x no contradiction",
}
_READING_SECONDS = 0.5
"""How long a key that decides is passed over after an item has come up."""
_SKIP, _QUIT = "s", "q"
_ENDS = ("\x03", "\x04", "\x1b")
"""Ctrl with c or d, and Escape: they leave too."""


def review_inline(item_text: Callable[[PendingProposal | ContradictionWithSides], str]) -> None:
    """Show the riskiest items one by one and decide each by a key; ``item_text`` returns one as it is printed.

    Raises:
        NotAllowed: no person sits at a terminal here.
        InvalidInput: JSON was asked for.

    """
    if current_session().as_json:
        raise InvalidInput("--inline asks a person, so it prints no JSON.", "Use memento review list --json.")
    require_own_terminal("`memento review --inline`")
    current_session().author.require_person("memento review --inline")
    with open_workspace() as workspace:
        found, _ = workspace.inbox.list(limit=_MOST_ITEMS)
        if not found:
            _show("Nothing waits for a decision.")
            return
        total = workspace.inbox.count()
        if total > len(found):
            _show(f"{total:,} wait for a decision. These are the {len(found)} riskiest.")
        decided = 0
        for number, row in enumerate(found, 1):
            answer = _decide(workspace, row.id, item_text, f"{number} of {len(found)}")
            if answer is None:
                break
            decided += answer
        left = workspace.inbox.count()
    undo = " memento undo takes back the last one." if decided else ""
    _show(f"\n{decided:,} decided, {left:,} {'waits' if left == 1 else 'wait'} still.{undo}")


def _decide(
    workspace: Workspace,
    name: str,
    item_text: Callable[[PendingProposal | ContradictionWithSides], str],
    number: str,
) -> bool | None:
    """Show one item and carry out the answer; return whether it was decided, ``None`` to stop.

    ``number`` says which it is, below its text again: a long one has scrolled its beginning away.
    """
    from memento_tui.api.inbox import Decision  # noqa: PLC0415 - a command's help is shown without it

    item = workspace.inbox.get(name)
    # Read last: whoever rewrote it since the queue was read may have made it risky, and it is told as that.
    kind = next((row.kind for row in workspace.inbox.rows([name])), "")
    if not kind:
        _show(f"\n{number}: it was decided meanwhile.")
        return False
    place = f"{number}  {kind}"
    _show(bold(f"\n{place}"))
    keys = _CONTRADICTION_KEYS if hasattr(item, "contradiction") else _KEYS
    _show(item_text(item))
    verb = _ask(keys, place)
    if verb in (_SKIP, _QUIT):
        return None if verb == _QUIT else False
    despite = kind if verb == "approve" and kind in RISKY_KINDS else ""
    if despite and not _is_sure():
        _show("Left as it is.")
        return False
    reason = ""
    if verb == "reject":
        reason = click.prompt("Why (the agent reads it; Enter for no reason)", default="", show_default=False, err=True)
    # Of the item as it stands above: one that changes meanwhile, or a side of which does, is refused.
    seen = item.contradiction.version if hasattr(item, "contradiction") else item.proposal.version
    try:
        decision = Decision(id=name, verb=cast("DecisionVerb", verb), seen=seen, reason=reason, despite=despite)
        state = workspace.inbox.decide_one(decision)
    except MementoError as error:
        _show(safe(f"It was not decided. {error}"))
        return False
    _show(f"{state.replace('_', ' ')}.")
    return True


def _is_sure() -> bool:
    """Ask whether something risky is approved; only y says so."""
    _show("It is marked as risky: agents would be told it. Approve it all the same?  y yes   n no")
    while True:
        try:
            pressed = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return False
        if pressed in ("y", "n", _SKIP, _QUIT, *_ENDS):
            return pressed == "y"


def _show(text: str) -> None:
    """Print a text that is safe to show to standard error, apart from the output for programs."""
    click.echo(wrap_words(text), err=True)


def _ask(keys: Mapping[str, str], place: str) -> str:
    """Return the verb of the key that is pressed, or `_SKIP` or `_QUIT`; other keys are passed over."""
    _show(f"\n{bold(place)}\n" + "   ".join([*(_LABELS[verb] for verb in keys.values()), "s skip", "q quit"]))
    shown = monotonic()
    while True:
        try:
            pressed = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return _QUIT
        if pressed in keys and monotonic() - shown < _READING_SECONDS:
            continue  # pressed twice: the second was not meant for an item that has just come up
        if pressed in keys:
            return keys[pressed]
        if pressed in (_SKIP, _QUIT):
            return pressed
        if pressed in _ENDS:
            return _QUIT


_WIDEST = 100
"""Cells of a line at most: longer ones are hard to read."""

_NARROWEST = 20
"""The fewest cells of a line, even where the terminal reports fewer."""

_MOST_HANGING = 16
"""The most cells by which the lines below the first are indented."""

_HEAD = re.compile(r"\| |\S+(?: \S+)*  +|[-+] ?| +")
"""The head of a line, by which its further rows are indented: a bar, a name and two spaces, a sign, or spaces."""


def wrap_words(text: str, width: int = 0) -> str:
    """Return a text that is safe to show with its lines broken between words; a longer word is divided.

    ``width`` is in cells; 0 takes the terminal's, but at most a line that reads well. The lines of a long value stand
    below each other. Bold and colours begin anew in each line.
    """
    room = max(_NARROWEST, width or min(_WIDEST, shutil.get_terminal_size().columns))
    console = Console(color_system="truecolor", no_color=False)
    lines = Text.from_ansi(text).split("\n", allow_blank=True)
    with console.capture() as shown:
        for number, row in enumerate(row for line in lines for row in _rows(line, room, console)):
            console.print("\n" if number else "", row, sep="", end="", soft_wrap=True)
    return shown.get()


def _rows(line: Text, width: int, console: Console) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    name, value = _divided(line)
    first, *others = value.wrap(console, width - name.cell_len)
    hanging = name if name.plain == QUOTE_BAR else Text(" " * name.cell_len)
    rows = [name + first, *(hanging + _without_spaces_before(row) for row in others if row.plain.strip())]
    for row in rows:
        row.rstrip()
    return rows


def _divided(line: Text) -> tuple[Text, Text]:
    """Split a line into the indent of its further rows, which may be empty, and the rest."""
    head = _HEAD.match(line.plain)
    if head is None or cell_len(head.group()) > _MOST_HANGING:
        return Text(), line
    name, value = line.divide([head.end()])
    return name, value


def _without_spaces_before(row: Text) -> Text:
    """Return a row without the spaces that stood before it in its line, where a word filled the row above."""
    return row[len(row.plain) - len(row.plain.lstrip()) :]
