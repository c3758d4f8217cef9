"""Give the hub the reads and writes that it needs of a workspace, beyond the public methods, and start its process."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from memento_tui.errors import AmbiguousId, MementoError, NotAllowed, NotFound
from memento_tui.model import AnyRecord, Proposal
from memento_tui.paths import DataPaths
from memento_tui.policy.gate import Gate
from memento_tui.private_files import PRIVATE_FILE_MODE
from memento_tui.processes import forget_ended, module_command, start_detached
from memento_tui.storage.database import Database
from memento_tui.storage.hub_state import HUB_SETTING, HubMembership, HubState, decode_membership, membership_of
from memento_tui.storage.journal import HUB_CHANNEL, Author
from memento_tui.storage.journal_queries import JournalQueries
from memento_tui.storage.settings import Settings
from memento_tui.storage.tables import TABLES

if TYPE_CHECKING:
    from memento_tui.api.workspace import Workspace

__all__ = [
    "HUB_SETTING",
    "HubMembership",
    "HubSession",
    "alone_with_hub",
    "decode_record",
    "end_sharing",
    "keep_membership",
    "membership_of",
    "start_hub_worker",
]

_ROUND_SECONDS = 60
"""Seconds for which a round of another program is waited for."""


@contextmanager
def alone_with_hub(paths: DataPaths) -> Iterator[None]:
    """Hold the lock of whoever synchronizes; a round of another program is waited for. Raises `NotAllowed`."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - most are in no hub

    lock = FileLock(paths.hub_lock, timeout=_ROUND_SECONDS, mode=PRIVATE_FILE_MODE)
    try:
        lock.acquire()
    except Timeout as error:
        raise NotAllowed("Another program is synchronizing with the hub.", "Try again in a minute.") from error
    try:
        yield
    finally:
        lock.release()


def _encode(membership: HubMembership | None) -> str:
    return "" if membership is None else msgspec.json.encode(membership).decode()


def keep_membership(present: HubMembership | None, copy: Database) -> None:
    """Write into the copy of a backup the part in a hub that its workspace has now: a restore begins no sharing again.

    What the copy knows of the hub is kept where it is of the same part, so that the next round takes in what came
    since. Else it is forgotten, and what is shared comes together as after joining.
    """
    settings, state = Settings(copy), HubState(copy)
    past = membership_of(settings)
    if present is None:
        settings.set(HUB_SETTING, "")
        return
    if past is None or (past.workspace, past.member) != (present.workspace, present.member):
        state.forget()
        since = pushed = JournalQueries(copy).head()
    else:
        since, pushed = past.since, past.pushed
        if not all(past.shares(one) for one in present.namespaces):
            state.forget_reached()  # entries that were passed over hold what is in them
    settings.set(HUB_SETTING, _encode(msgspec.structs.replace(present, since=since, pushed=pushed)))


def end_sharing(setting: str | None) -> str | None:
    """Return the setting of a part in a hub without the namespaces that were shared.

    It is that of a backup which takes the place of a database that nobody can read: what was shared until the end is
    not known.
    """
    if not setting:
        return setting
    return _encode(msgspec.structs.replace(decode_membership(setting), namespaces=()))


def decode_record(kind: str, image: str) -> AnyRecord:
    """Return the record of a kind that a JSON image states. Raises `msgspec.DecodeError`."""
    record: AnyRecord = TABLES[kind].image.decode(image)
    return record


class HubSession:
    """One workspace as the hub sees it."""

    def __init__(self, workspace: Workspace) -> None:
        self._store = workspace._store
        self._rules = workspace.gate.rules
        self.paths = workspace.paths

    @property
    def state(self) -> HubState:
        """The known state of the hub."""
        return self._store.hub

    def check_writable(self) -> None:
        """Raise `ReadOnlyMode` where nothing is to be written, neither here nor at the hub."""
        self._store.database.check_writable()

    def joined_writes(self) -> AbstractContextManager[None]:
        """Commit the writes of the block together, each of them valid by itself."""
        return self._store.database.joined_writes()

    @property
    def membership(self) -> HubMembership | None:
        """The workspace's part in a hub, or ``None``."""
        return membership_of(self._store.settings)

    def required_membership(self) -> HubMembership:
        """Return the workspace's part in a hub. Raises `NotAllowed` where it has none."""
        membership = self.membership
        if membership is None:
            raise NotAllowed("This workspace is in no hub.", "Join one: memento hub join URL.")
        return membership

    def set_membership(self, membership: HubMembership | None) -> None:
        """Write the workspace's part in a hub; ``None`` ends it."""
        self._store.settings.set(HUB_SETTING, _encode(membership))

    def change_membership(self, change: Callable[[HubMembership], HubMembership]) -> HubMembership | None:
        """Change the workspace's part in a hub, without another program coming between; return it, if there is one."""

        def changed(known: str | None) -> str:
            return _encode(change(decode_membership(known)) if known else None)

        self._store.settings.change(HUB_SETTING, changed)
        return self.membership

    def gate(self, author: Author) -> Gate:
        """Return the gate for writes by another member's person or agent."""
        return Gate(self._store, author, self._rules)

    def head(self) -> int:
        """Return the number of the newest entry of this journal."""
        return self._store.journal.head()

    def find(self, kind: str, record_id: str) -> AnyRecord | None:
        """Return a record of a kind by its whole id, or ``None``."""
        return self._store.find_named(kind, record_id)

    def begins_another(self, record_id: str) -> str:
        """Return the kind of a record whose id is an id, or begins with it; empty where there is none of any kind."""
        for kind in TABLES:
            try:
                self._store.resolve(kind, record_id)
            except NotFound:
                continue
            except AmbiguousId:
                pass
            return kind
        return ""

    def is_purged(self, kind: str, record_id: str) -> bool:
        """Tell whether a record was purged here and does not exist any more."""
        return bool(self._store.journal.purged(kind, [record_id]))

    def take_decision_back(self, proposal: Proposal, member: str) -> None:
        """Undo this machine's decision about a proposal that a member decided first.

        Raises `Conflict` where later entries stand on it.
        """
        newest = self._store.journal.history(Proposal, proposal.id)[0].entry
        self._store.undo(Author("person", HUB_CHANNEL, member), newest.seq)


_log = logging.getLogger(__name__)


def start_hub_worker(workspace: Workspace) -> bool:
    """Start the worker of a workspace that is in a hub, unless one is at work; tell whether. Nobody waits for it.

    It ends with the process that calls this. Never fails: the hub is no condition of anything else.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - most are in no hub

    root = os.fspath(workspace.paths.root)
    try:
        if workspace.is_read_only or membership_of(workspace.settings) is None or find_spec("psycopg") is None:
            return False
        forget_ended()
        with FileLock(workspace.paths.hub_worker_lock, timeout=0, mode=PRIVATE_FILE_MODE):
            pass
        command = module_command("memento_tui.hub.worker", "--data-dir", root)
        start_detached(command, log=os.fspath(workspace.paths.hub_log))
    except Timeout:
        return False
    except (OSError, MementoError) as error:
        _log.warning("the hub's worker could not be started: %s", error)
        return False
    return True
