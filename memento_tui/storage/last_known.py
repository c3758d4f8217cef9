"""Keep beside the database which workspace a directory holds, its key, and the last entry that was acknowledged.

That tells a database that was lost or emptied, or whose log was lost, from a new workspace, and one that was encrypted
from one that never was. It is written after each
write and not waited for, so it may be behind the database and never before it. memento-hook reads it too, so this
imports next to nothing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from memento_tui.encryption import key_id_of, noted_key
from memento_tui.locations import last_known_location
from memento_tui.named_tuple import NamedTuple
from memento_tui.regular_files import open_regular, read_regular
from memento_tui.storage.statements import SELECT_SETTING

TYPE_CHECKING = False  # as in `typing`, whose import a hook would wait for
if TYPE_CHECKING:
    from memento_tui.storage.connection import Connection

__all__ = [
    "LastKnown",
    "find_loss",
    "forget_last_known",
    "last_known_file",
    "note_key",
    "note_last_known",
    "read_last_known",
]

_NEWEST_KNOWN = (
    "SELECT seq, hash, (SELECT value FROM setting WHERE name = 'origin') FROM entry ORDER BY seq DESC LIMIT 1"
)

_BYTES = 160
"""The length of the file: always the same, so that it is written over in one piece."""


class LastKnown(NamedTuple):
    """A workspace by the name of its database, and an entry of its journal by number and hash."""

    workspace: str
    entry: int
    hash: str


def last_known_file(database: Path) -> Path:
    """Return the file that belongs to a database."""
    return Path(last_known_location(os.fspath(database)))


def read_last_known(database: Path) -> LastKnown | None:
    """Return the last known entry of a database; ``None`` where none was written, or it cannot be read."""
    try:
        noted = json.loads(read_regular(last_known_file(database)))
        return LastKnown(str(noted["workspace"]), int(noted["entry"]), str(noted["hash"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None  # it is written anew by the next write


def note_last_known(database: Path, connection: Connection, noted: int = 0) -> int:
    """Note the newest entry of a database, unless it is entry ``noted``; return its number.

    Others write too, and one that is held here may note its entry after they noted theirs. So it looks again after
    it wrote, until the note is the newest entry: no lock, which a suspended program would keep from everybody.

    The write is acknowledged already: where the file cannot be written, it stays behind. Where the database is no
    longer there, because its directory was moved, nothing is made.
    """
    while newest := connection.execute(_NEWEST_KNOWN).fetchone():
        if newest[0] == noted or not database.exists():
            break
        try:
            _write(database, LastKnown(newest[2], newest[0], newest[1].hex()[:16]), connection.key_id)
        except OSError:
            break
        noted = int(newest[0])
    return noted


def note_key(database: Path, key_id: str) -> None:
    """Note the key that a database has from now on, or an empty text for none. Raises `OSError`."""
    if known := read_last_known(database):
        _write(database, known, key_id)


def _write(database: Path, known: LastKnown, key_id: str) -> None:
    """Write the last known entry of a database. Raises `OSError`."""
    noted = known._asdict() | ({"key": key_id} if key_id else {})
    descriptor = open_regular(last_known_location(os.fspath(database)), os.O_WRONLY | os.O_CREAT)
    try:
        os.pwrite(descriptor, f"{json.dumps(noted):{_BYTES - 1}}\n".encode(), 0)
        if os.fstat(descriptor).st_size != _BYTES:  # something else stood there
            os.ftruncate(descriptor, _BYTES)
    finally:
        os.close(descriptor)


def forget_last_known(database: Path) -> None:
    """Let a database be replaced by another state. Raises `OSError`."""
    last_known_file(database).unlink(missing_ok=True)


def find_loss(database: Path, known: LastKnown | None, connection: Connection | None) -> tuple[str, str]:
    """Return a sentence on a database's lost data and one on the remedy; both empty where nothing is missing.

    ``known`` is what was noted before the database was opened; ``connection`` is ``None`` where there is no database.
    """
    if known is None or known.entry == 0:
        return "", ""
    anew = f" To begin a new workspace here instead, remove {last_known_file(database)}."
    if connection is None:
        return f"{database} is gone; it held {known.entry:,} journal entries.", f"Put it back. {_BACK}{anew}"
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        return f"{database} is empty; it held {known.entry:,} journal entries.", f"Put it back. {_BACK}{anew}"
    if noted_key(database) and not key_id_of(database):
        said = f"{database} is in clear, and this directory's database was encrypted."
        keep = f"`memento encrypt` encrypts this one. To go on with it in clear, remove {last_known_file(database)}."
        return said, f"Put the right one back. {_BACK} {keep}"
    return _find_other(database, known, connection)


_BACK = "`memento backup list` names the backups, and `memento backup restore latest` puts one in its place."


def _find_other(database: Path, known: LastKnown, connection: Connection) -> tuple[str, str]:
    """Return as `find_loss` whether a database is another workspace's, or an older copy of the known one."""
    go_on = f"{_BACK} To go on with this one, remove {last_known_file(database)}."
    found = connection.execute("SELECT hash FROM entry WHERE seq = ?", (known.entry,)).fetchone()
    name = connection.execute(SELECT_SETTING, ("origin",)).fetchone()
    if name is not None and name[0] != known.workspace:
        said = f"{database} is the database of another workspace than this directory's."
        return said, f"Put the right one back. {go_on}"
    if found is None or found[0].hex()[:16] != known.hash:
        said = f"{database} lacks entry {known.entry:,} of the journal, which was acknowledged."
        lost = f" Its log ({database.name}-wal) was lost, or an older copy was put in its place."
        return said + lost, f"Put the file back. {go_on}"
    return "", ""
