"""Ask the person for the passphrase of an encrypted workspace."""

from __future__ import annotations

import sys

import click

from memento_tui.cli.command import current_session
from memento_tui.cli.output import safe
from memento_tui.errors import InvalidInput, MementoError, NotAllowed
from memento_tui.paths import DataPaths, typed_path

__all__ = ["ask_keyring", "read_passphrase", "unlock_for_person"]

_ATTEMPTS = 3


def read_passphrase(question: str, file: str | None, *, repeat: bool = False) -> str:
    """Return the first line of a file (``-`` is standard input), or a passphrase typed unseen.

    With ``repeat`` it is typed twice.

    Raises:
        InvalidInput: nobody can be asked, or the file cannot be read.

    """
    if file is not None:
        try:
            text = sys.stdin.read() if file == "-" else typed_path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise InvalidInput(
                f"The passphrase cannot be read from {file}: {reason}.",
                "Name a file whose first line is the passphrase.",
            ) from error
        return text.split("\n", 1)[0].removesuffix("\r")
    if current_session().as_json or not sys.stdin.isatty():
        raise InvalidInput("A passphrase is needed.", "Give --passphrase-file FILE; - is standard input.")
    return _ask(question, repeat=repeat)


def _ask(question: str, *, repeat: bool = False) -> str:
    typed: str = click.prompt(safe(question), hide_input=True, confirmation_prompt=repeat, err=True)
    return typed


def ask_keyring(paths: DataPaths) -> bool:
    """Unlock a workspace with the system's keyring, for a person; return whether it could, and print a refusal."""
    from memento_tui.api.keyring_keys import unlock_from_keyring  # noqa: PLC0415 - few workspaces are encrypted

    try:
        return unlock_from_keyring(paths)
    except MementoError as error:
        click.echo(safe(str(error)), err=True)
        return False


def unlock_for_person(paths: DataPaths, read_only: bool) -> None:  # noqa: FBT001 - as the app calls it
    """Ask the keyring for the key, and at the terminal for the passphrase, where the workspace is locked; unlock it.

    Raises:
        NotAllowed: it was wrong three times.

    """
    if not paths.key_id:
        return
    from memento_tui.api.encryption import is_unlocked, unlock  # noqa: PLC0415 - few workspaces are encrypted

    if not is_unlocked(paths) and ask_keyring(paths):
        return
    for attempt in range(_ATTEMPTS):
        if is_unlocked(paths):
            return
        try:
            unlock(paths, _ask(f"Passphrase of {paths.root}"), read_only=read_only)
        except NotAllowed as error:
            if attempt + 1 == _ATTEMPTS:
                raise
            click.echo(safe(str(error)), err=True)
