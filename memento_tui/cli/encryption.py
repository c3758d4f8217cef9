"""The commands that encrypt a workspace, unlock it and lock it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from memento_tui.cli.command import PathArgument, command, current_session
from memento_tui.cli.interaction import confirm, staged_progress
from memento_tui.cli.output import count_of, emit, note
from memento_tui.cli.passphrase import ask_keyring, read_passphrase
from memento_tui.errors import DataDirectoryError, MementoError
from memento_tui.model.validation import to_plain
from memento_tui.paths import DataPaths
from memento_tui.system_keyring import require_keyring

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
    memento encrypt --keyring
    memento encrypt --yes --passphrase-file ~/passphrase.txt --json
    """,
)
@_passphrase_file
@click.option("--keyring", is_flag=True, help="Keep the key in the system's keyring too: unlocking then asks nothing.")
@_yes
def encrypt(*, passphrase_file: str | None, keyring: bool, yes: bool) -> None:
    """Encrypt the database and every backup with a key that a passphrase opens.

    Close the app and end the agents' sessions first. Indexes and drafts are then kept in memory alone: after a
    restart of the machine indexes are made anew, drafts are lost, and agents are told nothing until `memento unlock`.
    Nobody can help who forgets the passphrase. SECURITY.md says what this protects from, and what not. Where it was
    interrupted, begin it again.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - the help is shown without it

    paths = _existing_directory()
    if keyring:
        require_keyring()  # before anything is changed
    is_new = not paths.key_id
    if is_new:
        confirm(
            "Encrypt the workspace, which nobody will ever read again without the passphrase",
            yes=yes,
            unasked="Encrypting needs a decision.",
            declined="Nothing was changed.",
        )
    passphrase = read_passphrase("Passphrase", passphrase_file, repeat=is_new)
    with staged_progress() as progress:
        done = encryption.encrypt(paths, passphrase, progress=progress)
    told = _keep_key(paths) if keyring else {}
    emit(
        {**to_plain(done), **told},
        lambda: (
            f"{paths.database} is encrypted (key {done.key_id}), and {count_of(done.backups, 'backup')} with it."
            f"{_about_left(done.left, 'They are not encrypted')}\n"
            f"It is unlocked until the machine restarts or you run `memento lock`.{_about_keyring(told)}\n"
            "Copy the key file with your backups, without it the passphrase opens nothing:"
            f" {paths.root}/key-{done.key_id}.json"
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
    encryption.check_encrypted(paths)
    confirm(
        "Write the workspace and its backups in clear",
        yes=yes,
        unasked="Writing them in clear needs a decision.",
        declined="Nothing was changed.",
    )
    with staged_progress() as progress:
        done = encryption.decrypt(paths, progress=progress)
    for key_id in done.forgotten:
        _take_out(key_id)
    emit(
        to_plain(done),
        lambda: (
            f"{paths.database} is in clear, and {count_of(done.backups, 'backup')} with it."
            f"{_about_left(done.left, 'They are still encrypted')}"
        ),
    )


def _keep_key(paths: DataPaths) -> dict[str, object]:
    """Keep the key in the keyring; return the report. Where the keyring refuses, the rest is done already."""
    from memento_tui.api.keyring_keys import keep_key  # noqa: PLC0415 - as above

    try:
        keep_key(paths)
    except MementoError as error:
        note(f"The key is not in the system's keyring: {error.message} To try again: memento unlock --keyring.")
        return {"in_keyring": False, "keyring_problem": str(error)}
    return {"in_keyring": True}


def _about_keyring(told: Mapping[str, object]) -> str:
    return " The system's keyring has the key too." if told.get("in_keyring") else ""


def _take_out(key_id: str) -> None:
    """Take an unneeded key out of the keyring; report one that stays there, which does no harm."""
    from memento_tui.api.keyring_keys import take_key_out  # noqa: PLC0415 - as above

    try:
        take_key_out(key_id)
    except MementoError as error:
        note(f"The key stays in the system's keyring, as {key_id}: {error}")


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
@click.option("--keyring", is_flag=True, help="Ask for the passphrase, and keep the key in the system's keyring.")
@click.option("--key-file", type=PathArgument(path_type=Path), metavar="FILE", help="A key file that lies elsewhere.")
def unlock(*, passphrase_file: str | None, keyring: bool, key_file: Path | None) -> None:
    """Give all your programs the key of a workspace: the app, agents, hooks and the engine.

    The key is kept in memory, where only your user can read it, until `memento lock`, a restart, or the end of your
    login. Backups that the passphrase opens are unlocked too. Where the system's keyring has the key, a person is not
    asked for the passphrase.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    session = current_session()
    read_only = session.read_only
    if keyring:
        require_keyring()
    elif not passphrase_file and not key_file and session.author.is_person and ask_keyring(paths):
        emit({"keys": [paths.key_id]}, lambda: f"Unlocked: {paths.root}.")
        return
    if not key_file:
        encryption.check_encrypted(paths)
    typed = read_passphrase("Passphrase", passphrase_file)
    opened = encryption.unlock(paths, typed, key_file=key_file, read_only=read_only)
    told = _keep_key(paths) if keyring else {}
    emit({"keys": opened, **told}, lambda: f"Unlocked: {paths.root}.{_about_keyring(told)}")


@command(
    "lock",
    decides=lambda given: bool(given["keyring"]),
    short_help="Lock an encrypted workspace.",
    examples="""
    memento lock
    memento lock --keyring
    """,
)
@click.option("--keyring", is_flag=True, help="Take the key out of the system's keyring too.")
def lock(*, keyring: bool) -> None:
    """Take the key and the indexes of the workspace out of memory, and end its engine.

    The app ends, and every program that has it open can read no more of it. A key in the system's keyring stays there
    without --keyring, which is for a person to decide.
    """
    from memento_tui.api import encryption  # noqa: PLC0415 - as above

    paths = _existing_directory()
    locked = encryption.lock(paths)
    told = _take_key_of(paths) if keyring else _ask_for_key_of(paths)
    said = f"Locked: {paths.root}." if locked else f"Nothing of {paths.root} was unlocked."
    emit({"keys": locked, **told}, lambda: f"{said}{_about_key_of_locked(told, keyring=keyring)}")


def _take_key_of(paths: DataPaths) -> dict[str, object]:
    """Take the key of a locked workspace out of the keyring; return the report. Raises `MementoError`."""
    from memento_tui.api.keyring_keys import take_key_out  # noqa: PLC0415 - as above

    try:
        return {"taken_out": take_key_out(paths.key_id), "in_keyring": False}
    except MementoError as error:
        raise MementoError(
            f"{paths.root} is locked, but its key stays in the system's keyring: {error.message}", error.hint
        ) from error


def _ask_for_key_of(paths: DataPaths) -> dict[str, object]:
    """Return the report on a locked workspace's key in the keyring, which is asked for a person alone."""
    from memento_tui.api.keyring_keys import has_key  # noqa: PLC0415 - as above

    if not current_session().author.is_person:
        return {}
    try:
        return {"taken_out": False, "in_keyring": has_key(paths.key_id)}
    except MementoError as error:
        note(f"Whether the system's keyring has the key is not known: {error.message}")
        return {"taken_out": False, "in_keyring": None, "keyring_problem": str(error)}


def _about_key_of_locked(told: Mapping[str, object], *, keyring: bool) -> str:
    if told.get("in_keyring"):
        return " The system's keyring still has the key: `memento lock --keyring` takes it out."
    if told.get("taken_out"):
        return " Its key was taken out of the system's keyring."
    return " The system's keyring had no key of it." if keyring else ""


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
    encryption.check_encrypted(paths)
    before = read_passphrase("Passphrase until now", passphrase_file)
    encryption.change_passphrase(paths, before, read_passphrase("New passphrase", new_passphrase_file, repeat=True))
    emit({"changed": True}, lambda: "The passphrase is changed.")


commands = {"encrypt": encrypt, "decrypt": decrypt, "unlock": unlock, "lock": lock, "passphrase": passphrase}
