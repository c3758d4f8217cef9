"""Talk to the hub's database: its schema, its members, and appending to and reading its journal.

The only SQL for PostgreSQL. Every error of the server becomes a sentence.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from typing import Any, Literal, LiteralString, NamedTuple, Self, TypeVar

import msgspec

from memento_tui.agreements import Destination, require_agreement
from memento_tui.errors import Conflict, InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.hub.address import check_connection, connection_options, keyring_name
from memento_tui.hub.entries import GENESIS, HubChange, HubEntry, Number
from memento_tui.model.validation import new_id
from memento_tui.system_keyring import HUB_SERVICE, find_secret
from memento_tui.text.agent_names import is_machine_name

__all__ = [
    "ROLES",
    "HubBusy",
    "HubMalformed",
    "HubMember",
    "HubServer",
    "HubUnreachable",
    "HubWorkspace",
    "Role",
    "Standing",
]

T = TypeVar("T")
StructT = TypeVar("StructT", bound=msgspec.Struct)

Role = Literal["reader", "agent", "reviewer", "owner"]
ROLES: dict[str, str] = {
    "reader": "reads, and gives nothing",
    "agent": "gives what agents write, and decides nothing",
    "reviewer": "gives everything, decisions too",
    "owner": "a reviewer who also invites and revokes members",
}
"""The rights of each role of a login, in words."""

_ENTRIES: LiteralString = (
    "SELECT seq, left(id, 1000), left(member, 1000), left(role, 1000), format, left(origin, 1000), left(at, 1000),"
    " left(actor, 1000), left(agent, 1000), left(session, 1000), left(channel, 1000), left(action, 1000),"
    " CASE WHEN octet_length(note) <= 1048576 THEN note ELSE '' END, substring(content, 1, 1000),"
    " substring(signature, 1, 1000), substring(previous_hash, 1, 1000), substring(hash, 1, 1000),"
    " substring(note_nonce, 1, 1000), substring(note_digest, 1, 1000)"
    " FROM memento.entry WHERE workspace = %s AND seq > %s ORDER BY seq LIMIT %s"
)
_LAST_CHANGES: LiteralString = (
    "SELECT record, record_id, version, removed, image, nonce, digest"
    " FROM (SELECT found.*, sum(own) OVER (ORDER BY record, record_id) AS bytes FROM ("
    "SELECT DISTINCT ON (record, record_id) record, record_id, version, removed, nonce, digest, image,"
    " 500 + octet_length(record_id) + coalesce(octet_length(image), 0) AS own FROM ("
    "SELECT record, record_id, version, removed, substring(nonce, 1, 1000) AS nonce,"
    " substring(digest, 1, 1000) AS digest, CASE WHEN octet_length(image) <= 33554432 THEN image END AS image"
    " FROM memento.change WHERE workspace = %s AND seq <= %s AND (record, record_id) > (%s, %s)"
    " AND length(record) <= 1000 AND length(record_id) <= 1000) AS change"
    " ORDER BY record, record_id, version DESC LIMIT 1000) AS found) AS summed"
    " WHERE bytes - own <= %s ORDER BY record, record_id"
)
_CHANGES: LiteralString = (
    "SELECT seq, record, record_id, version, removed, CASE WHEN bytes <= %s THEN image END, nonce, digest, bytes > %s"
    " FROM (SELECT seq, ordinal, left(record, 1000) AS record, left(record_id, 1000) AS record_id, version, removed,"
    " CASE WHEN octet_length(image) <= 33554432 THEN image END AS image,"
    " substring(nonce, 1, 1000) AS nonce, substring(digest, 1, 1000) AS digest, own,"
    " sum(own) OVER (ORDER BY seq, ordinal) AS bytes FROM memento.change CROSS JOIN LATERAL (SELECT 500"
    " + octet_length(left(record_id, 1000)) + coalesce(octet_length(substring(nonce, 1, 1000)), 0)"
    " + octet_length(substring(digest, 1, 1000))"
    " + CASE WHEN octet_length(image) <= 33554432 THEN octet_length(image) ELSE 0 END) AS size (own)"
    " WHERE workspace = %s AND seq > %s AND seq <= %s) AS found WHERE bytes - own <= %s ORDER BY seq, ordinal"
)
"""No note of more than 1 MiB or image of more than 32 MiB is read; of all else the first 1,000 characters or bytes.

No record comes near that, and what somebody filled would take memory. What was cut is not what its member signed.
"""

_MAX_READING_BYTES = 256 * 1024 * 1024
"""Bytes of changes in one reading, with 500 added for the row of each.

What comes after is read next; of an entry that alone has more, the rest is cut.
"""

_MAX_PAGE_BYTES = 16 * 1024 * 1024
"""Bytes of records, counted in the same way, in one page of all that a hub has; the last of a page may exceed it."""

_ANSWER_SECONDS = 60.0
"""Seconds for which an answer is waited for; a connection that the network cut is noticed sooner."""

_LONG_ANSWER_SECONDS = 600.0
"""Seconds for which an answer is waited for that reads or changes a whole hub."""

_MAX_DIGITS = 19
"""Digits of the number of an entry, which PostgreSQL keeps in 8 bytes."""


class HubUnreachable(MementoError):
    """The hub's database does not answer; everything else goes on without it."""

    code = "hub_unreachable"
    exit_code = 7


class HubMalformed(MementoError):
    """The server at the hub's address does not answer as a hub does."""

    code = "hub_malformed"
    exit_code = 7


class HubBusy(Conflict):
    """Somebody else appended a change of the same record first: pull, then append again."""


class HubRefused(NotAllowed):
    """The hub does not take an entry of this login, which may append others."""


class HubWorkspace(msgspec.Struct, frozen=True):
    """One shared journal of a hub."""

    id: str
    name: str
    role: str
    """The role of the login that asks."""


class HubMember(msgspec.Struct, frozen=True):
    """One machine that takes part."""

    id: str
    name: str
    login: str
    role: str
    public_key: bytes
    joined_at: str
    revoked_at: str


class Standing(NamedTuple):
    """The end of a journal, the hash of one entry of it (``None`` where there is none), and the login's role."""

    seq: int
    hash: bytes | None
    role: str


class HubServer:
    """One connection to a hub. Use it as a context manager.

    An address that was not ``typed_by_person`` just now stood in a database that anybody may have written: nothing is
    connected to before the person agreed to it. Raises `NotAllowed`, `InvalidInput` or `HubUnreachable`.
    """

    def __init__(self, address: str, *, typed_by_person: bool = False) -> None:
        if not typed_by_person:
            require_agreement(Destination.of_hub(address))
        options = connection_options(address)
        import psycopg  # noqa: PLC0415 - an extra, which most do without

        self._psycopg = psycopg
        with _translated(psycopg):
            self._connection: psycopg.Connection[tuple[Any, ...]] = _connect(psycopg, options)
        reached = self._connection.info
        try:
            check_connection(reached.host, reached.hostaddr, encrypted=self._connection.pgconn.ssl_in_use)
        except NotAllowed:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def _asking(self, seconds: float | None = None) -> Iterator[None]:
        """Ask something of the server in the block, for so long at most. Its errors become sentences."""
        seconds = seconds or _ANSWER_SECONDS
        is_cut = threading.Event()

        def cut_off() -> None:
            is_cut.set()
            # libpq waits for an answer as long as the line stands. It may be closed just now.
            with suppress(OSError, self._psycopg.Error):
                line = socket.socket(fileno=os.dup(self._connection.pgconn.socket))
                with line:
                    line.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(seconds, cut_off)
        timer.daemon = True
        timer.start()
        try:
            with _translated(self._psycopg):
                yield
        except MementoError as error:
            if is_cut.is_set():
                raise _unreachable(f"no answer came in {seconds:g} seconds") from error
            raise
        finally:
            timer.cancel()

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        with (
            self._asking(_LONG_ANSWER_SECONDS),
            self._connection.transaction(),
            self._connection.cursor() as cursor,
        ):
            yield cursor

    def _rows(self, query: LiteralString, *parameters: object, seconds: float | None = None) -> list[tuple[Any, ...]]:
        with self._asking(seconds):
            return self._connection.execute(query, parameters).fetchall()

    # The schema

    def migrate(self) -> None:
        """Make the schema, or bring it to the present version.

        Raises:
            NotAllowed: this login may not make tables there.
            InvalidInput: the schema is of a newer memento.

        """
        with self._transaction() as cursor:
            # Two that do so at once: the second finds it done.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('memento schema'))")
            cursor.execute("CREATE SCHEMA IF NOT EXISTS memento")
            cursor.execute("CREATE TABLE IF NOT EXISTS memento.migration (number integer PRIMARY KEY)")
            cursor.execute("SELECT coalesce(max(number), 0) FROM memento.migration")
            found = _shaped(cursor.fetchone(), tuple[int])[0]
            steps = _migrations()
            if found > steps[-1][0]:
                raise InvalidInput(
                    f"The hub is of a newer memento (format {found}; this one knows {steps[-1][0]}).",
                    "Update memento: pip install --upgrade memento-tui. Nothing was changed.",
                )
            for number, script in steps:
                if number > found:
                    cursor.execute(script)
                    cursor.execute("INSERT INTO memento.migration VALUES (%s)", (number,))

    def bring_up_to_date(self) -> None:
        """Bring the schema of a hub to the present version. Raises `NotAllowed` where this login may not."""
        ((found,),) = _shaped(self._rows("SELECT coalesce(max(number), 0) FROM memento.migration"), tuple[tuple[int]])
        newest = _migrations()[-1][0]
        if found >= newest:
            return
        try:
            self.migrate()
        except NotAllowed as error:
            raise NotAllowed(
                f"The hub is of an older memento (format {found}; this one writes {newest}).",
                "Whoever began it brings it to this version: update memento there, and memento hub sync.",
            ) from error

    def make_workspace(self, name: str) -> HubWorkspace:
        """Begin a shared journal that this login owns. Raises `NotAllowed` where one has that name."""
        made = new_id()
        with self._transaction() as cursor:
            cursor.execute("SELECT 1 FROM memento.workspace WHERE name = %s", (name,))
            if cursor.fetchone() is not None:
                raise NotAllowed(
                    f"This hub has a workspace {name} already.", "Join it: memento hub join URL; or name another."
                )
            cursor.execute("INSERT INTO memento.workspace (id, name) VALUES (%s, %s)", (made, name))
            cursor.execute("INSERT INTO memento.head VALUES (%s, 0, %s)", (made, GENESIS))
            cursor.execute(
                "INSERT INTO memento.login (workspace, name, role) VALUES (%s, session_user, 'owner')", (made,)
            )
        self.grant_reading(self._rows("SELECT session_user::text")[0][0])
        return HubWorkspace(made, name, "owner")

    def grant_reading(self, login: str) -> None:
        """Let a login of PostgreSQL use the schema; its role says which rows it may read and append."""
        from psycopg import sql  # noqa: PLC0415 - an extra, which most do without

        to = sql.Identifier(login)
        with self._transaction() as cursor:
            cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA memento TO {}").format(to))
            cursor.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA memento TO {}").format(to))
            cursor.execute(sql.SQL("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA memento TO {}").format(to))

    def make_login(self, login: str, password: str) -> bool:
        """Make a login of PostgreSQL; return whether it is new. One that exists keeps its password.

        Raises:
            NotAllowed: this login may not make logins.

        """
        from psycopg import sql  # noqa: PLC0415 - an extra, which most do without

        if self._rows("SELECT 1 FROM pg_roles WHERE rolname = %s", login):
            return False
        # The server is told the password's digest alone: statements may stand in its log.
        digest = self._connection.pgconn.encrypt_password(password.encode(), login.encode(), b"scram-sha-256")
        made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(login), sql.Literal(digest.decode()))
        try:
            with self._transaction() as cursor:
                cursor.execute(made)
        except NotAllowed as error:
            raise NotAllowed(
                f"This login of PostgreSQL may not make the login {login}.",
                "Let the database's administrator make it (createuser -P LOGIN), and invite it again for its role.",
            ) from error
        return True

    # Members

    def workspaces(self) -> list[HubWorkspace]:
        """Return the shared journals that this login takes part in, by name. Raises `NotFound` without a schema."""
        try:
            rows = self._rows(
                "SELECT left(id, 1000), left(name, 1000), memento.my_role(id) FROM memento.workspace ORDER BY name"
            )
        except NotFound as error:
            raise NotFound("There is no hub in this database.", "Begin one: memento hub init URL.") from error
        named = _shaped(rows, list[tuple[str, str, str | None]])
        return [HubWorkspace(one, name, role) for one, name, role in named if role]

    def join(self, workspace: str, member: str, name: str, public_key: bytes) -> None:
        """Make this machine a member."""
        self._rows("SELECT memento.join_workspace(%s, %s, %s, %s)::text", workspace, member, name, public_key)

    def set_role(self, workspace: str, login: str, role: str) -> None:
        """Give a login a role."""
        self._rows("SELECT memento.set_role_of(%s, %s, %s)::text", workspace, login, role)

    def revoke(self, workspace: str, member: str) -> None:
        """End a member; its login too, where no other machine uses that."""
        self._rows("SELECT memento.revoke_member(%s, %s)::text", workspace, member)

    def members(self, workspace: str) -> list[HubMember]:
        """Return the machines that take part or did, in the order in which they joined.

        Each gave itself its name. One that no machine may have, such as ``you``, is listed by a digest of its id.
        """
        rows = self._rows(
            "SELECT left(m.id, 1000), left(m.name, 1000), left(m.login, 1000), left(l.role, 1000),"
            " substring(m.public_key, 1, 1000),"
            """ to_char(m.joined_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),"""
            """ coalesce(to_char(m.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '')"""
            " FROM memento.member AS m JOIN memento.login AS l ON l.workspace = m.workspace AND l.name = m.login"
            " WHERE m.workspace = %s ORDER BY m.joined_at, m.name",
            workspace,
        )
        return [
            HubMember(row[0], _listed_name(row[0], row[1]), *row[2:])
            for row in _shaped(rows, list[tuple[str, str, str, str, bytes, str, str]])
        ]

    # The journal

    def head(self, workspace: str) -> tuple[int, bytes]:
        """Return the number and hash of the newest entry. Raises `NotAllowed` where this login sees no journal."""
        rows = self._rows("SELECT seq, substring(hash, 1, 1000) FROM memento.head WHERE workspace = %s", workspace)
        if not rows:
            raise NotAllowed(*_NO_PART)
        return _shaped(rows[0], tuple[Number, bytes])

    def standing(self, workspace: str, seq: int) -> Standing:
        """Return the end of a workspace's journal, the hash of its entry ``seq``, and the role of this login, at once.

        Raises as `head`.
        """
        query: LiteralString = (
            "SELECT h.seq, substring(e.hash, 1, 1000), coalesce(memento.my_role(h.workspace), '')"
            " FROM memento.head AS h"
            " LEFT JOIN memento.entry AS e ON e.workspace = h.workspace AND e.seq = %s WHERE h.workspace = %s"
        )
        rows = self._rows(query, seq, workspace)
        if not rows:
            raise NotAllowed(*_NO_PART)
        return Standing(*_shaped(rows[0], tuple[Number, bytes | None, str]))

    def hash_at(self, workspace: str, seq: int) -> bytes | None:
        """Return the hash of one entry, or ``None`` where there is none of that number."""
        rows = self._rows(
            "SELECT substring(hash, 1, 1000) FROM memento.entry WHERE workspace = %s AND seq = %s", workspace, seq
        )
        return _shaped(rows[0], tuple[bytes])[0] if rows else None

    def append(self, workspace: str, member: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, int]:
        """Append entries, all or none; return the number of each by its id. One that is there already stays.

        Raises:
            HubBusy: another member changed one of the records first.
            HubRefused: this login may not append one of the entries.
            NotAllowed: the role of this login does not let it.

        """
        text = msgspec.json.encode(entries).decode()
        rows = self._rows("SELECT * FROM memento.append(%s, %s, %s::jsonb)", workspace, member, text)
        return dict(_shaped(rows, list[tuple[str, Number]]))

    def purge(self, workspace: str, member: str, record: str, record_id: str) -> None:
        """Remove the text of every version of a record from the hub's journal; the digests stay."""
        self._rows("SELECT memento.purge_record(%s, %s, %s, %s)::text", workspace, member, record, record_id)

    def purge_note(self, workspace: str, member: str, entry_id: str) -> None:
        """Remove the note of an entry from the hub's journal; its digest stays."""
        self._rows("SELECT memento.purge_note(%s, %s, %s)::text", workspace, member, entry_id)

    # Hints

    def listen(self, workspace: str) -> None:
        """Let `hint` tell when somebody appends to a workspace."""
        from psycopg import sql  # noqa: PLC0415 - an extra, which most do without

        with self._transaction() as cursor:
            cursor.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"memento {workspace}")))

    def hint(self, seconds: float, *, beyond: int) -> bool:
        """Wait for so long at most; tell whether somebody says that there is an entry after number ``beyond``.

        Not every append is told, and whoever reaches the database may say so of none.
        """
        with _translated(self._psycopg):
            told = self._connection.notifies(timeout=seconds)
            return any(_number_in(one.payload) > beyond for one in told)

    @contextmanager
    def alone(self, workspace: str, work: str) -> Iterator[bool]:
        """Yield whether this machine is the only one that does some work of a workspace, until the block ends.

        The lock is an advisory one of the connection: the server lets go of it once it notices that the connection
        ended, soon after a program dies, and by its own keepalive where a machine lost its power or network. A
        connection that is lost in the block says nothing: what was done is done, and another machine may begin.
        """
        name = f"memento {work} {workspace}"
        taken = self._rows("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", name)
        if not _shaped(taken, tuple[tuple[bool]])[0][0]:
            yield False
            return
        try:
            yield True
        finally:
            # With the connection the lock is gone too. An error would hide what came of the work, or why it failed.
            with suppress(HubUnreachable):
                self._rows("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", name)

    # Purged records

    def purged(self, workspace: str) -> set[tuple[str, str]]:
        """Return the kind and id of each record that was purged; no member may append a text of it again."""
        rows = self._rows(
            "SELECT left(record, 1000), left(record_id, 1000) FROM memento.purged WHERE workspace = %s", workspace
        )
        return set(_shaped(rows, list[tuple[str, str]]))

    def changes_until(self, workspace: str, seq: int) -> Iterator[HubChange]:
        """Yield the last change of each record up to entry ``seq``, by kind and id; read a page at a time."""
        after, ends = ("", ""), monotonic() + _LONG_ANSWER_SECONDS
        while (seconds := ends - monotonic()) > 0:
            rows = self._rows(_LAST_CHANGES, workspace, seq, *after, _MAX_PAGE_BYTES, seconds=seconds)
            if not rows:
                return
            changes = [_struct_of(HubChange, row) for row in rows]
            yield from changes
            after = (changes[-1].record, changes[-1].record_id)
        raise _unreachable(f"it came to no end in {_LONG_ANSWER_SECONDS:g} seconds")

    def entries_after(self, workspace: str, seq: int, limit: int) -> list[HubEntry]:
        """Return at most ``limit`` entries after number ``seq`` with their changes, oldest first."""
        found = [_struct_of(HubEntry, row) for row in self._rows(_ENTRIES, workspace, seq, limit)]
        if not found:
            return []
        changes: dict[int, list[HubChange]] = {}
        beyond = 0
        limit = _MAX_READING_BYTES
        asked = (limit, limit, workspace, seq, found[-1].seq, limit)
        for number, *values, is_beyond in self._rows(_CHANGES, *asked, seconds=_LONG_ANSWER_SECONDS):
            changes.setdefault(number, []).append(_struct_of(HubChange, values))
            beyond = beyond or (number if is_beyond else 0)
        if beyond:
            found = [one for one in found if one.seq < beyond] or [msgspec.structs.replace(found[0], is_cut=True)]
        return [msgspec.structs.replace(one, changes=tuple(changes.get(one.seq, ()))) for one in found]


def _shaped(answer: object, shape: type[T]) -> T:
    """Return a hub's answer as a value of ``shape``. Raises `HubMalformed` where it has another form."""
    try:
        return msgspec.convert(answer, shape)
    except msgspec.ValidationError as error:
        raise _malformed(error) from error


def _struct_of(kind: type[StructT], row: Sequence[object]) -> StructT:
    """Return a row as a struct of ``kind``, whose first fields are the columns. Raises `HubMalformed`."""
    return _shaped(dict(zip(kind.__struct_fields__, row, strict=False)), kind)


def _malformed(error: Exception) -> HubMalformed:
    return HubMalformed(
        f"What answers at the hub's address does not answer as a hub does: {str(error)[:200]}.",
        "Ask whoever keeps it. Nothing was taken in; this machine has everything.",
    )


def _unreachable(why: str) -> HubUnreachable:
    return HubUnreachable(
        f"The hub does not answer: {why}.", "Nothing is lost: it is tried again, and all else goes on."
    )


def _number_in(payload: str) -> int:
    """Return the number of an entry that a hint names, 0 where it names none."""
    return int(payload) if len(payload) <= _MAX_DIGITS and payload.isdecimal() else 0


def _migrations() -> list[tuple[int, bytes]]:
    folder = importlib.resources.files("memento_tui.hub.migrations")
    scripts = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return sorted((int(entry.name[:4]), entry.read_bytes()) for entry in scripts)


@contextmanager
def _translated(psycopg: Any) -> Iterator[None]:  # noqa: ANN401 - the module
    """Turn the server's errors into sentences."""
    try:
        yield
    except psycopg.Error as error:
        raise _explain(psycopg, error) from error
    except (ValueError, OverflowError) as error:  # a value that is not of the type that its column has
        raise _malformed(error) from error


def _connect(psycopg: Any, options: dict[str, str]) -> Any:  # noqa: ANN401 - the module, and its connection
    """Return a connection. A password that nobody gave to libpq, in a file or a variable, is asked of the keyring."""
    # One value a parameter: a connection holds no transaction open between two calls.
    connect: Any = partial(psycopg.connect, autocommit=True)
    try:
        return connect(**options)
    except psycopg.OperationalError as error:
        if error.pgconn is None or not error.pgconn.needs_password:
            raise
        password = find_secret(HUB_SERVICE, keyring_name(options))
        if password is None:
            raise
    return connect(**options, password=password)


_LOGIN_HINT = (
    "Put the password into ~/.pgpass (HOST:PORT:DATABASE:LOGIN:PASSWORD, mode 600), or into the system's keyring:"
    f" keyring set {HUB_SERVICE} LOGIN@HOST."
)
_OWNER_HINT = "An owner of the hub gives roles: memento hub members."
_NO_PART = ("This login has no part in the hub any more.", "Ask an owner of the hub.")
_NO_HUB = ("There is no hub in this database.", "Begin one: memento hub init URL.")


def _explain(psycopg: Any, error: Any) -> MementoError:  # noqa: ANN401 - the module, and its error
    """Return the error that explains the server's to the person."""
    said = str(getattr(error.diag, "message_primary", None) or error).strip().splitlines()
    text = said[0][:200] if said else "it gave no reason"
    by_state: dict[str | None, MementoError] = {
        "MH409": HubBusy(f"At the hub {text}.", "It is pulled, and tried again."),
        "MH410": NotAllowed("A member of the hub has or had this name.", "Take another: --name NAME."),
        "MH403": NotAllowed(f"The hub refuses: {text}.", _OWNER_HINT),
        "MH405": HubRefused(f"The hub refuses: {text}.", _OWNER_HINT),
        "42501": NotAllowed(f"The hub refuses: {text}.", _OWNER_HINT),
        "28P01": NotAllowed(f"The hub does not let you in: {text}.", _LOGIN_HINT),
        "28000": NotAllowed(f"The hub does not let you in: {text}.", _LOGIN_HINT),
        "42P01": NotFound(*_NO_HUB),
        "3F000": NotFound(*_NO_HUB),
    }
    if error.sqlstate in by_state:
        return by_state[error.sqlstate]
    # A connection that fails before the server lets anybody in has no state of its own.
    if "password" in text and isinstance(error, psycopg.OperationalError):
        return NotAllowed(f"The hub does not let you in: {text}.", _LOGIN_HINT)
    if isinstance(error, psycopg.OperationalError):
        return _unreachable(text)
    return MementoError(f"The hub failed: {text}.", "`memento hub status` may say more.")


def _listed_name(member: str, name: str) -> str:
    return name if is_machine_name(name) else f"member-{hashlib.sha256(member.encode()).hexdigest()[:8]}"
