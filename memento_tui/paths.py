"""Name every file and folder of a data directory. No other module joins a path below it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from memento_tui.encryption import clear_folder, key_of_directory
from memento_tui.errors import DataDirectoryError
from memento_tui.locations import data_location, database_location, socket_location
from memento_tui.named_tuple import NamedTuple
from memento_tui.private_files import links_below, make_private_directory

__all__ = ["DataPaths", "data_directory", "typed_path"]


def data_directory(given: str | Path | None = None) -> Path:
    """Return the data directory: the one given, else ``MEMENTO_HOME``, else the platform's place for user data."""
    return Path(data_location(os.fspath(given or "")))


def typed_path(text: str) -> Path:
    """Return the path that a person wrote, ``~`` for their home; that of a user who does not exist stays as it is."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - pathlib's raises for a user who does not exist


_OF_THE_ENGINE = ("semantic", "semantic-former")
"""The folders of vectors below ``index``, of many files, which whoever opens them looks through."""


class DataPaths(NamedTuple):
    """The files of one data directory."""

    root: Path

    @property
    def database(self) -> Path:
        """The one source of truth."""
        return Path(database_location(os.fspath(self.root)))

    @property
    def key_id(self) -> str:
        """The id of the key that the database is encrypted with, or was before it was lost; empty where it is not."""
        return key_of_directory(self.database)

    @property
    def clear(self) -> Path:
        """The folder of files with text of memories that cannot be encrypted; in memory for an encrypted database.

        Raises:
            DataDirectoryError: it is encrypted, and this machine has no such folder.

        """
        key_id = self.key_id
        if not key_id:
            return self.root
        try:
            return clear_folder(self.root, key_id)
        except OSError as error:
            raise DataDirectoryError(
                f"{self.database} is encrypted, and its indexes have no place in memory: {error}.",
                "Open it on a machine with /run/user or /dev/shm, such as any Linux.",
            ) from error

    def check_no_links(self) -> None:
        """Refuse a directory in which the database, or anything that memento replaces there, is a link.

        Somebody else may have made the directory: the settings beside a link to your database would judge what is
        written into it, and an index that is cleaned or built anew removes what a link in it leads to.

        Raises:
            DataDirectoryError: one of them is a link, or the database has a second name.

        """
        database = self.database
        own = [database.with_name(database.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]
        own += [self.root / "index", self.root / "drafts", self.root / "code", self.backups, self.backup_checks]
        linked = next((path for path in own if _is_link(path)), None) or next(
            (path for folder in own[4:-1] for path in links_below(folder, but=_OF_THE_ENGINE)), None
        )
        if linked is not None and not _is_link(linked):
            raise DataDirectoryError(f"{linked} is no regular file. memento does not use the directory.", "Remove it.")
        if linked is not None:
            raise DataDirectoryError(
                f"{linked} is a link. memento does not use the directory: what the link leads to would be replaced.",
                "Remove the link. To keep the data on another disk, move the whole directory there, and let"
                " MEMENTO_HOME or a link to the directory itself lead to it.",
            )
        with suppress(OSError):  # there is none yet, or whoever opens it says so
            facts = database.stat()
            if stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
                raise DataDirectoryError(
                    f"{database} has a second name, a hard link: two programs that open it by different names would"
                    " write over each other's changes.",
                    "Close what uses it, copy it (`cp -p`) and put the copy, alone, in its place.",
                )

    def temporary_folder(self) -> Path:
        """Return a folder for temporary files; in memory where the database is encrypted. Raises as `clear`."""
        import tempfile  # noqa: PLC0415 - few calls need it

        if not self.key_id:
            return Path(tempfile.gettempdir())
        make_private_directory(self.clear)
        return self.clear

    @property
    def config(self) -> Path:
        """The settings of the person: policy, engine, keys."""
        return self.root / "config.toml"

    @property
    def keyword_index(self) -> Path:
        """The Tantivy index; may be deleted at any moment."""
        return self.clear / "index" / "keyword"

    @property
    def semantic_index(self) -> Path:
        """The LanceDB tables; may be deleted at any moment."""
        return self.clear / "index" / "semantic"

    @property
    def former_semantic_index(self) -> Path:
        """The tables of the model before, which answer until those of the present one are complete."""
        return self.clear / "index" / "semantic-former"

    def semantic_indexes(self) -> list[Path]:
        """Return the directories with vectors that are there."""
        return [path for path in (self.semantic_index, self.former_semantic_index) if path.exists()]

    @property
    def keyword_lock(self) -> Path:
        """Held by whoever brings the keyword index up to date."""
        return self.clear / "index" / "keyword.lock"

    @property
    def engine_lock(self) -> Path:
        """Held by the engine for as long as it lives."""
        return self.root / "engine.lock"

    @property
    def engine_log(self) -> Path:
        """The engine's log; nothing of it reaches a terminal."""
        return self.root / "engine.log"

    @property
    def sleep_lock(self) -> Path:
        """Held by whoever looks after the memories."""
        return self.root / "sleep.lock"

    @property
    def last_notice(self) -> Path:
        """When a notice was shown on the desktop last."""
        return self.root / "last-notice.txt"

    @property
    def maintenance_log(self) -> Path:
        """The log of those runs of maintenance that nobody started by hand."""
        return self.root / "maintenance.log"

    @property
    def drafts(self) -> Path:
        """Text that a person was editing and has not saved."""
        return self.clear / "drafts"

    @property
    def crash_report(self) -> Path:
        """Where the app was when a fault of its own ended it; no text of a memory stands in it."""
        return self.root / "crash.log"

    @property
    def hook_log(self) -> Path:
        """The log of hooks' failures; nothing of it reaches a host."""
        return self.root / "hook.log"

    @property
    def hook_lock(self) -> Path:
        """Held by whoever learns from the transcripts that hooks hand over."""
        return self.root / "hook.lock"

    @property
    def index_worker_lock(self) -> Path:
        """Held by the process that a hook left to bring the database and the keyword index up to date."""
        return self.root / "index_worker.lock"

    @property
    def backups(self) -> Path:
        """Copies of the database, each whole and checked when it was made."""
        return self.root / "backups"

    @property
    def backups_lock(self) -> Path:
        """Held by whoever makes, removes or restores a backup."""
        return self.root / "backups.lock"

    @property
    def backup_checks(self) -> Path:
        """The file with the result of each backup's last check; it may be deleted, and is then written again."""
        return self.root / "backups.json"

    @property
    def http_key(self) -> Path:
        """The key that `memento serve` requires of the person's own agents; readable by the person alone."""
        return self.root / "http.key"

    @property
    def hub_key(self) -> Path:
        """The key with which this machine signs its entries for the hub; readable by the person alone."""
        return self.root / "hub.key"

    @property
    def hub_lock(self) -> Path:
        """Held by whoever brings this machine and the hub together."""
        return self.root / "hub.lock"

    @property
    def hub_worker_lock(self) -> Path:
        """Held by the process that keeps this machine and the hub together."""
        return self.root / "hub.worker.lock"

    @property
    def hub_log(self) -> Path:
        """The log of the hub's worker process, which writes nothing to a terminal."""
        return self.root / "hub.log"

    @property
    def script_tokens(self) -> Path:
        """The hashes of the tokens with which the person's own scripts decide."""
        return self.root / "tokens.json"

    @property
    def code_lock(self) -> Path:
        """Held by whoever holds memories against a repository."""
        return self.root / "code.lock"

    def code_notes(self, root: Path) -> Path:
        """Return the file with the outdated citations about the work tree ``root``; may be deleted."""
        import zlib  # noqa: PLC0415 - few calls need it

        return self.clear / "code" / f"{zlib.crc32(os.fsencode(root)):08x}.json"

    def typed_text(self, name: str) -> Path:
        """Return the file that keeps the text typed in one editor of the app."""
        return self.drafts / f"typed-{name}.json"

    def typed_texts(self) -> list[Path]:
        """Return the files of all editors that were open when something was typed."""
        return sorted(self.drafts.glob("typed-*.json"))

    @property
    def engine_socket(self) -> Path:
        """The engine's socket, beside the database unless that path is too long for a socket."""
        return Path(socket_location(os.fspath(self.root)))


def _is_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False  # nobody may enter its folder, which whoever opens the database says
