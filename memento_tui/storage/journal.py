"""The journal: every write, its author, and a hash that covers the entry before it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec

from memento_tui.storage.connection import Connection
from memento_tui.storage.packing import pack
from memento_tui.storage.statements import NEWEST_ENTRY
from memento_tui.storage.tables import TABLES
from memento_tui.text.agent_names import honest_agent_name

__all__ = [
    "ACTORS",
    "FILE_CHANNELS",
    "HUB_CHANNEL",
    "LIMITED_HISTORY",
    "REWRITTEN_ENTRY",
    "Actor",
    "Author",
    "Change",
    "Entry",
    "EntryFacts",
    "Origin",
    "append_entry",
    "image_digest",
    "origin_of",
    "packed_if_smaller",
    "present_hash",
    "select_entries",
    "verify_chain",
    "verify_journal",
]

Actor = Literal["person", "agent", "system"]
ACTORS: tuple[Actor, ...] = get_args(Actor)

HUB_CHANNEL = "hub"
"""The channel of entries that came from the hub."""

FILE_CHANNELS = ("import", "mirror")
"""The channels of records from files, which a person imported but did not write."""

_GENESIS_HASH = b"\x00" * 32
_encode_json = msgspec.json.Encoder().encode


_MAX_NAME_CHARS = 300
"""Characters of an agent's or a session's name, as of an id; machines that share a hub read 1,000 of one."""


def _shortened(name: str) -> str:
    if len(name) <= _MAX_NAME_CHARS:
        return name
    digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).hexdigest()
    # Whole words: of a key that the cut went through, screening would know the rest no more.
    words, _, _ = name[: _MAX_NAME_CHARS - len(digest) - 1].rpartition(" ")
    return f"{words}~{digest}"


class Author(msgspec.Struct, frozen=True):
    """The writer of an entry, and the channel: ``cli``, ``tui``, ``mcp``, ``api``, ``import``, ``engine``.

    An agent names itself; where it takes the person's name or memento's, it has none. A name that is longer than any
    host's ends in a digest of the whole.
    """

    actor: Actor = "person"
    channel: str = "api"
    agent: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        if self.actor == "person" or self.channel == HUB_CHANNEL:
            return  # the hub's names end with that of a member, which a person gave
        name = _shortened(honest_agent_name(self.agent, is_program=self.actor == "system"))
        if name != self.agent:
            msgspec.structs.force_setattr(self, "agent", name)
        if len(self.session) > _MAX_NAME_CHARS:
            msgspec.structs.force_setattr(self, "session", _shortened(self.session))

    @property
    def name(self) -> str:
        """The agent's name, or the actor where there is none."""
        return self.agent or self.actor


class Entry(msgspec.Struct, frozen=True):
    """One journal entry. ``undoes`` is the sequence number of the entry that it takes back."""

    seq: int
    id: str
    origin: str
    at: str
    actor: str
    agent: str
    session: str
    channel: str
    action: str
    note: str
    batch: str
    undoes: int | None
    hash: bytes


class EntryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The values of a new entry, in the order in which its hash covers them; its number and hash are given later."""

    id: str
    origin: str
    at: str
    actor: str
    agent: str
    session: str
    channel: str
    action: str
    note: str
    batch: str
    undoes: int | None


class Change(msgspec.Struct, frozen=True):
    """One record that an entry changed: its JSON afterwards, or ``None`` where it was removed or purged."""

    record: str
    record_id: str
    version: int
    removed: bool
    image: str | None


_WORTH_PACKING = 0.5
"""Share of an image's length: one that is packed to more has become so different that it is kept whole."""

REWRITTEN_ENTRY = "entry"
"""The kind of change by which a purge records the new hash of an entry whose note or name it removed."""


LIMITED_HISTORY = "history"
"""The record of the changes that say which versions of a record have no text any more, by the person's limit."""


class _LimitedHistory(msgspec.Struct):
    record: str
    id: str
    versions: list[int]


_decode_limited = msgspec.json.Decoder(_LimitedHistory).decode


class _RewrittenEntry(msgspec.Struct):
    hash: str


_decode_rewritten = msgspec.json.Decoder(_RewrittenEntry).decode

_SELECT_CHANGES = "SELECT record, record_id, version, removed, image, nonce, digest, ordinal FROM change"
_FACT_COLUMNS = ", ".join(EntryFacts.__struct_fields__)

FORMER_NAMES: Mapping[str, tuple[str, str]] = {"channel": ("sleep", "maintenance"), "action": ("sleep", "maintain")}
"""The name of a maintenance run in journals of earlier versions, and the present one, by column.

The hash of an entry covers the name, so it stays in the table; whoever reads an entry gets the present one.
"""


def _read_column(name: str) -> str:
    former, present = FORMER_NAMES.get(name, ("", ""))
    return f"CASE {name} WHEN '{former}' THEN '{present}' ELSE {name} END" if former else name


_ENTRY_COLUMNS = f"seq, {', '.join(map(_read_column, EntryFacts.__struct_fields__))}, hash"


def image_digest(nonce: bytes, image: str | None) -> bytes:
    """Return the digest of one image."""
    return hashlib.sha256(nonce + (b"" if image is None else image.encode())).digest()


def _entry_hash(previous: bytes, facts: Sequence[object], changes: Sequence[Sequence[object]]) -> bytes:
    return hashlib.sha256(previous + _encode_json((*facts, changes))).digest()


def append_entry(
    connection: Connection,
    facts: EntryFacts,
    changes: Sequence[Change],
) -> int:
    """Write one entry and its changes in the running transaction; return its sequence number."""
    values = msgspec.structs.astuple(facts)
    last = connection.execute(NEWEST_ENTRY).fetchone()
    seq, previous = (1, _GENESIS_HASH) if last is None else (last[0] + 1, last[1])
    nonces = os.urandom(16 * len(changes))
    rows = []
    for ordinal, change in enumerate(changes):
        nonce = nonces[16 * ordinal : 16 * ordinal + 16]
        image, base, packed = _stored_image(connection, change)
        rows.append(
            (
                seq,
                ordinal,
                change.record,
                change.record_id,
                change.version,
                int(change.removed),
                image,
                nonce,
                image_digest(nonce, change.image),
                base,
                packed,
            )
        )
    hashed = _entry_hash(previous, values, [(*row[2:6], row[8].hex()) for row in rows])
    connection.execute(
        f"INSERT INTO entry (seq, {_FACT_COLUMNS}, previous_hash, hash) VALUES ({', '.join('?' * (len(values) + 3))})",
        (seq, *values, previous, hashed),
    )
    connection.executemany("INSERT INTO stored_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return seq


def _stored_image(connection: Connection, change: Change) -> tuple[str | None, int | None, bytes | None]:
    """Return the stored form of an image: the image, or the version that it is packed against and the difference."""
    if change.image is None or change.version == 1:
        return change.image, None, None
    base = whole_image_before(connection, change.record, change.record_id, change.version)
    packed = None if base is None else packed_if_smaller(change.image, base[1])
    return (change.image, None, None) if base is None or packed is None else (None, base[0], packed)


def whole_image_before(connection: Connection, record: str, record_id: str, version: int) -> tuple[int, str] | None:
    """Return the newest version of a record before another whose image is stored whole, and that image."""
    query = "SELECT version, image, base FROM stored_change WHERE record = ? AND record_id = ? AND version {} ?"
    last = connection.execute(
        f"{query.format('<')} ORDER BY version DESC LIMIT 1", (record, record_id, version)
    ).fetchone()
    if last is not None and last[2] is not None:
        last = connection.execute(query.format("="), (record, record_id, last[2])).fetchone()
    return None if last is None or last[1] is None else (last[0], last[1])


def packed_if_smaller(image: str, base: str) -> bytes | None:
    """Return an image packed against another, ``None`` where that is worth nothing: it will be the next ones' base."""
    packed = pack(image, base)
    return packed if len(packed) < len(image) * _WORTH_PACKING else None


def select_entries(connection: Connection, where: str = "1", parameters: Sequence[object] = ()) -> Iterator[Entry]:
    """Yield the entries that a condition of this package selects; ``where`` may end with an order and a limit."""
    query = f"SELECT {_ENTRY_COLUMNS} FROM entry WHERE {where}"
    for row in connection.execute(query, parameters):
        yield Entry(*row)


def verify_journal(connection: Connection, progress: Callable[[int], None] = lambda _seq: None) -> str | None:
    """Return the first fault in the chain as a sentence, or ``None`` if every entry is as it was written.

    ``progress`` is told the number of each entry before it is checked; what it raises ends the check.
    """
    return verify_chain(connection, progress) or _unknown_row_problem(connection)


def verify_chain(connection: Connection, progress: Callable[[int], None] = lambda _seq: None) -> str | None:
    """Return the first fault among the entries alone; see `verify_journal`, which looks at the current rows too."""
    check = _ChainCheck(connection)
    for row in connection.execute(f"SELECT seq, previous_hash, hash, {_FACT_COLUMNS} FROM entry ORDER BY seq"):
        progress(row[0])
        if problem := check.entry_problem(row):
            return problem
    return check.final_problem() or _truncation_problem(connection, check.expected)


class _ChainCheck:
    """Checks the journal entry by entry, from the first to the last."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._previous = _GENESIS_HASH
        self.expected = 1
        self._emptied: dict[tuple[str, str], dict[int, int]] = {}
        """The versions of each record whose texts are gone, with their entries, until a later entry says so."""
        self._rewritten: dict[str, str] = {}
        """The hash that each entry has now which does not fit it, until a purge says so."""

    def entry_problem(self, row: Sequence[Any]) -> str | None:
        """Return the fault of the next entry as a sentence, or ``None``."""
        seq, action = row[0], row[10]
        if seq != self.expected:
            return f"Entry {self.expected} is missing from the journal."
        changes = []
        found = self._connection.execute(f"{_SELECT_CHANGES} WHERE seq = ? ORDER BY ordinal", (seq,))
        for number, change in enumerate(found):
            if change[7] != number:
                return f"A change is missing from entry {seq}."
            if problem := _image_problem(change, seq):
                return problem
            self._note_change(seq, change, is_purge=action == "purge")
            changes.append((*change[:4], change[6].hex()))
        if row[1] != self._previous:
            return _altered(seq - 1 if str(seq - 1) in self._rewritten else seq)
        if (present := _entry_hash(self._previous, row[3:], changes)) != row[2]:
            self._rewritten[str(seq)] = present.hex()
        self._previous, self.expected = row[2], seq + 1
        return None

    def _note_change(self, seq: int, change: Sequence[Any], *, is_purge: bool) -> None:
        record = (change[0], change[1])
        if is_purge:
            self._emptied.pop(record, None)
            is_entry = change[0] == REWRITTEN_ENTRY and change[4] is not None
            if is_entry and self._rewritten.get(change[1]) == _decode_rewritten(change[4]).hash:
                del self._rewritten[change[1]]
        elif change[0] == LIMITED_HISTORY and change[4] is not None:
            limited = _decode_limited(change[4])
            emptied = self._emptied.get((limited.record, limited.id), {})
            for version in limited.versions:
                emptied.pop(version, None)
        elif change[5] is None:
            self._emptied.setdefault(record, {})[change[2]] = seq

    def final_problem(self) -> str | None:
        """Return the first fault that no later purge explains, or ``None``."""
        for altered in self._rewritten:
            return _altered(altered)
        for (name, record_id), emptied in self._emptied.items():
            for seq in emptied.values():
                return f"The text of {name} {record_id} in entry {seq} was removed, and no later entry says so."
        return None


def _altered(seq: int | str) -> str:
    return f"Entry {seq} was altered, or the one before it was."


def present_hash(connection: Connection, seq: int) -> str:
    """Return the hash, in hexadecimal digits, of an entry as it is now."""
    row = connection.execute(f"SELECT previous_hash, {_FACT_COLUMNS} FROM entry WHERE seq = ?", (seq,)).fetchone()
    changes = connection.execute(f"{_SELECT_CHANGES} WHERE seq = ? ORDER BY ordinal", (seq,))
    return _entry_hash(row[0], row[1:], [(*change[:4], change[6].hex()) for change in changes]).hex()


def _image_problem(change: Sequence[Any], seq: int) -> str | None:
    """Return the fault of one image as a sentence, or ``None``; one that was purged has lost its nonce too."""
    nonce, image, digest = change[5], change[4], change[6]
    if (image is not None) if nonce is None else (image_digest(nonce, image) != digest):
        return f"The text of {change[0]} {change[1]} in entry {seq} was altered."
    return None


def _truncation_problem(connection: Connection, following: int) -> str | None:
    """Return a sentence if a change proves that entries after the last were cut off, or ``None``."""
    if connection.execute("SELECT 1 FROM change WHERE seq >= ?", (following,)).fetchone():
        return f"Entry {following} is missing from the journal."
    return None


def _unknown_row_problem(connection: Connection) -> str | None:
    """Return a sentence if a record is newer than its changes: the entries after the last were cut off, or ``None``."""
    for name in TABLES:
        unknown = (
            f"SELECT id FROM {name} WHERE NOT EXISTS (SELECT 1 FROM change WHERE record = ? AND record_id = {name}.id"
            f" AND change.version = {name}.version AND NOT removed)"
        )
        found = connection.execute(unknown, (name,)).fetchone()
        if found is not None:
            return f"The {name} {found[0]} was written without an entry in the journal, or its entry is missing."
    return None


Origin = Literal["person", "member", "agent", "file", "maintenance"]
"""The origin of a text, by the channel that it came through; a ``member`` is a person at another machine of the hub."""

_TRANSCRIPT_CHANNEL = "distill"


def origin_of(author: Author | Entry) -> Origin:
    """Return where an author's texts come from: the channel says it, and not the author."""
    if author.channel in FILE_CHANNELS:
        return "file"
    if author.actor == "person":
        return "member" if author.channel == HUB_CHANNEL else "person"
    # A transcript is told by the agent whose session it is, whoever reads it.
    return "maintenance" if author.actor == "system" and author.channel != _TRANSCRIPT_CHANNEL else "agent"
