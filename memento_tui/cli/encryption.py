"""The commands that encrypt a workspace, unlock it and lock it."""

from __future__ import annotations

from pathlib import Path

import click

from memento_tui.cli.command import command, current_session
from memento_tui.cli.interaction import confirm, staged_progress
from memento_tui.cli.output import count_of, emit
from memento_tui.cli.passphrase import read_passphrase
from memento_tui.errors import DataDirectoryError
from memento_tui.model.validation import to_plain
from memento_tui.paths import DataPaths

__all__ = ["commands"]


def _existing_directory() -> DataPaths:
    """Return the paths of the data directory. Raises `DataDirectoryError` where there is none, before any question."""
    paths = current_session().paths
    if not paths.root.is_dir():
        raise DataDirectoryError(f"There is no memento data in {paths.root}.", "Check the path.")
    return paths


_passphrase_file = click.option(
    "--passphrase-file",
    metavar="FILE",
    help="Read the passphrase from the first line of a file; - is standard input.",
)
_yes = click.option("--yes", is_flag=True, help="Do not ask.")


@command(
    "encrypt",
    decides=True,
    writes=True,
    short_help="Encrypt the workspace and its backups on the disk.",
    examples="""
    memento encrypt
    memento encrypt --yes --passphrase-file ~/passphrase.txt --json
    """,
)
@_passphrase_file
@_yes
def encrypt(*, passphrase_file: str | None, yes: bool) -> None:
    """Encrypt the database and every backup with a key that a passphrase opens.

    Close the app and end the agents' sessions first. Indexes and drafts are then kept in memory alone: after a
    restart of the machine indexes are made anew, drafts are lost, and agents are told nothing until `memento unlock`.
    Nobody can help who forgets the passphrase. SECURITY.md says what this protects from, and what not. Where it was
    interrupted, begin it again.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - the help is shown without it

    paths = _existing_directory()
    is_new = not paths.key_id
    if is_new:
        confirm(
            "Encrypt the workspace? Without the passphrase nobody will ever read it again",
            yes=yes,
            unasked="Encrypting needs a decision.",
            declined="Nothing was changed.",
        )
    passphrase = read_passphrase("Passphrase", passphrase_file, repeat=is_new)
    with staged_progress() as progress:
        done = encryption.encrypt(paths, passphrase, progress=progress)
    emit(
        to_plain(done),
        lambda: (
            f"{paths.database} is encrypted (key {done.key_id}), and {count_of(done.backups, 'backup')} with it."
            f"{_about_left(done.left, 'They are not encrypted')}\n"
            "It is unlocked until the machine restarts or you run `memento lock`. Copy the key file with your backups:"
            " without it the passphrase opens nothing."
        ),
    )


@command(
    "decrypt",
    decides=True,
    writes=True,
    short_help="Write an encrypted workspace in clear again.",
    examples="""
    memento decrypt
    memento decrypt --yes --json
    """,
)
@_yes
def decrypt(*, yes: bool) -> None:
    """Write the database and every backup in clear.

    Close the app and end the agents' sessions first. The key file stays, for backups that you keep elsewhere.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    confirm(
        "Write the workspace and its backups in clear",
        yes=yes,
        unasked="Writing them in clear needs a decision.",
        declined="Nothing was changed.",
    )
    with staged_progress() as progress:
        done = encryption.decrypt(paths, progress=progress)
    emit(
        to_plain(done),
        lambda: (
            f"{paths.database} is in clear, and {count_of(done.backups, 'backup')} with it."
            f"{_about_left(done.left, 'They are still encrypted')}"
        ),
    )


def _about_left(names: tuple[str, ...], said: str) -> str:
    listed = ", ".join(names)
    return (
        f"\nThese backups could not be written anew: {listed}. {said}; `memento backup rm` removes them."
        if names
        else ""
    )


@command(
    "unlock",
    short_help="Unlock an encrypted workspace, until the machine restarts.",
    examples="""
    memento unlock
    pass show memento | memento unlock --passphrase-file -
    memento unlock --key-file /media/stick/key-0123456789abcdef.json
    """,
)
@_passphrase_file
@click.option("--key-file", type=click.Path(path_type=Path), metavar="FILE", help="A key file that lies elsewhere.")
def unlock(*, passphrase_file: str | None, key_file: Path | None) -> None:
    """Give all your programs the key of a workspace: the app, agents, hooks and the engine.

    The key is kept in memory, where only your user can read it, until `memento lock`, a restart, or the end of your
    login. Backups that the passphrase opens are unlocked too.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    read_only = current_session().read_only
    typed = read_passphrase("Passphrase", passphrase_file)
    opened = encryption.unlock(paths, typed, key_file=key_file, read_only=read_only)
    emit({"keys": opened}, lambda: f"Unlocked: {paths.root}.")


@command(
    "lock",
    short_help="Lock an encrypted workspace.",
    examples="""
    memento lock
    memento lock --json
    """,
)
def lock() -> None:
    """Take the key and the indexes of the workspace out of memory, and end its engine.

    A program that has it open keeps it until it ends.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    locked = encryption.lock(paths)
    emit({"keys": locked}, lambda: f"Locked: {paths.root}." if locked else f"Nothing of {paths.root} was unlocked.")


@command(
    "passphrase",
    decides=True,
    writes=True,
    short_help="Change the passphrase of an encrypted workspace.",
    examples="""
    memento passphrase
    memento passphrase --passphrase-file old.txt --new-passphrase-file new.txt
    """,
)
@_passphrase_file
@click.option("--new-passphrase-file", metavar="FILE", help="Read the new passphrase from the first line of a file.")
def passphrase(*, passphrase_file: str | None, new_passphrase_file: str | None) -> None:
    """Let another passphrase open the workspace. Key files that were copied elsewhere keep the one before."""
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    before = read_passphrase("Passphrase until now", passphrase_file)
    encryption.change_passphrase(paths, before, read_passphrase("New passphrase", new_passphrase_file, repeat=True))
    emit({"changed": True}, lambda: "The passphrase is changed.")


commands = {"encrypt": encrypt, "decrypt": decrypt, "unlock": unlock, "lock": lock, "passphrase": passphrase}
