"""The command ``completion``: let a shell complete commands, options and ids."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from memento_tui.cli.command import command
from memento_tui.cli.output import emit, safe
from memento_tui.errors import InvalidInput

__all__ = ["commands"]

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_MEMENTO_COMPLETE"
"""The variable by which a shell's function asks the program for completions; click names it after the program."""

_NEXT_STEPS = {
    "bash": "New shells have it where the package bash-completion is installed.",
    "zsh": "Add to ~/.zshrc, before compinit is called: fpath+=(~/.zfunc)",
    "fish": "New shells have it.",
}


@command(
    "completion",
    short_help="Complete commands with Tab in your shell.",
    examples="""
    memento completion zsh --install
    memento completion bash > ~/.memento-completion.bash
    memento completion fish > ~/.config/fish/completions/memento.fish
    """,
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@click.option("--install", is_flag=True, help="Write it where the shell looks for it.")
def completion(shell: str, *, install: bool) -> None:
    """Print the function by which SHELL (bash, zsh or fish) completes memento's commands, options and ids.

    An id is completed from the workspace that the command would read; zsh and fish show what it is about beside it.
    With --install it is written to the place where the shell looks, and you are told what is left to do.
    """
    script = _script(shell)
    if not install:
        emit({"shell": shell, "script": script}, lambda: script)
        return
    path = _place(shell)
    _write(path, script)
    next_step = _NEXT_STEPS[shell]
    emit(
        {"shell": shell, "path": str(path), "next": next_step},
        lambda: safe(f"Wrote {path}.\n{next_step}", multiline=True),
    )


def _script(shell: str) -> str:
    from memento_tui.cli.main import root  # noqa: PLC0415 - it imports this module

    made = get_completion_class(shell)
    if made is None:
        raise InvalidInput(f"There is no completion for {shell}.", f"There is one for {', '.join(SHELLS)}.")
    return made(root, {}, "memento", _VARIABLE).source()


def _place(shell: str) -> Path:
    """Return the file in which a shell looks for the function."""
    home = Path.home()
    if shell == "bash":
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
        return data / "bash-completion" / "completions" / "memento"
    if shell == "fish":
        return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "fish" / "completions" / "memento.fish"
    return home / ".zfunc" / "_memento"


def _write(path: Path, script: str) -> None:
    try:
        if path.is_file() and _VARIABLE not in path.read_text(encoding="utf-8", errors="replace"):
            raise InvalidInput(
                f"{path} holds something else.", "Move it away; memento does not replace what it did not write."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", "Print it and store it yourself.") from error


commands = {"completion": completion}
