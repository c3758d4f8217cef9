"""Bring this machine and the hub together: pull, send, pull, until nothing is left; one program at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

import msgspec

from memento_tui import clock
from memento_tui.agreements import Destination, require_agreement
from memento_tui.api.hub_session import HubMembership, HubSession, alone_with_hub
from memento_tui.api.types import HubRecord
from memento_tui.api.workspace import Workspace
from memento_tui.errors import LockedWorkspace, MementoError, NotAllowed
from memento_tui.hub.entries import FORMAT, GENESIS, HubEntry, SigningKey, chain_hash
from memento_tui.hub.inbound import Inbound, raise_card, record_if_readable
from memento_tui.hub.outbound import Batch, Outbound
from memento_tui.hub.server import HubBusy, HubMember, HubRefused, HubServer, Standing
from memento_tui.moments import format_moment

__all__ = ["HubAltered", "HubLink", "RoundReport", "keep_in_step"]

_PULLED_AT_ONCE = 200
"""Entries of the hub that are read at once."""

_TAKEN_AT_ONCE = 25
"""Entries that are taken in with one wait for the disk; others who write wait for some tens of milliseconds."""

_DECIDING_ROLES = ("reviewer", "owner")
"""The roles of logins that may give decisions."""

_MAX_RACES = 50
"""How often in one round another member may be quicker before the round ends for now."""


class HubAltered(NotAllowed):
    """The hub's journal is not the one that this machine knows: nothing is sent or taken."""

    code = "hub_altered"


class RoundReport(msgspec.Struct):
    """The outcome of one round."""

    pulled: int = 0
    """Entries of other members that were taken in."""
    pushed: int = 0
    """Entries that were given to the hub."""
    cards: int = 0
    """Changes that wait for a person since."""
    notes: list[str] = msgspec.field(default_factory=list)
    """Notices for the person, a sentence each."""


_KEPT_PURGE = (
    "A note that was purged here stays at the hub, because this machine's login may not decide. Purge it on a"
    " reviewer's or an owner's machine; or it goes once this login is one."
)

_MAX_NOTES = 20
"""Notes that are kept until the person has read them."""

_POLL_SECONDS = 0.25
"""Seconds between two looks at this journal: a line on another screen may take this long."""

_HUB_POLL_SECONDS = 2.0
"""Seconds between two looks at the hub's head; that it moved is told sooner as a rule, and not always."""

_RETRY_SECONDS = 5.0
"""Seconds until a hub that did not answer is asked again."""


class HubLink:
    """One machine's connection to its hub, opened when it is needed and again after a failure."""

    def __init__(self, workspace: Workspace, *, connect: Callable[[str], HubServer] = HubServer) -> None:
        self._session = HubSession(workspace)
        self._connect = connect
        self._server: HubServer | None = None
        self._members: dict[str, HubMember] = {}
        self._key: SigningKey | None = None
        self._part = ("", "")
        self._seen_here = -1
        self._seen_there = -1
        self._looked_at = 0.0

    @property
    def has_part(self) -> bool:
        """Whether the workspace is in a hub."""
        return self._session.membership is not None

    def close(self) -> None:
        """Close the connection."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def synchronize(self) -> RoundReport:
        """Run one round, and note how it went. Raises `MementoError`, such as `HubUnreachable` or `HubAltered`."""
        self._session.required_membership()
        with alone_with_hub(self._session.paths):
            # What is written while the round goes on may come too late for it: then another one is due.
            head = self._session.head()
            try:
                report = self._round()
            except MementoError as error:
                self.close()
                self._note(problem=error.message)
                raise
            self._note(problem="", synced_at=format_moment(clock.now()), told=report.notes)
            # What was only taken in needs no round of its own.
            now, state = self._session.head(), self._session.state
            self._seen_here = head if state.own_entries_after(head, 1) else now
            self._seen_there = state.reached()[0]
        return report

    def resume(self) -> RoundReport:
        """Go on with a hub that was restored from an older backup: send the lost records again, and run one round.

        What another member wrote meanwhile is merged as ever, from the newest state that the hub and this machine both
        know. Raises as `synchronize`.
        """
        membership = self._session.required_membership()
        with alone_with_hub(self._session.paths):
            server = self._open(membership)
            state = self._session.state
            common = _common_entry(server, membership.workspace, state.hashes())
            state.rewind(common, _records_until(server, membership.workspace, common))
            after = ("", "")
            while found := state.records(after, _PULLED_AT_ONCE):
                after = (found[-1].record, found[-1].record_id)
                self._resend(membership, found)
        return self.synchronize()

    def _resend(self, membership: HubMembership, records: list[HubRecord]) -> None:
        """Send the present state of records that the hub has lost; pull and retry where another member was quicker."""
        for _ in range(_MAX_RACES):
            self._pull(RoundReport())
            known = [self._session.state.record(one.record, one.record_id) for one in records]
            batch = self._outbound(membership).resent([one for one in known if one])
            try:
                self._push(membership, batch)
            except HubBusy:
                continue
            return
        raise NotAllowed("Other members write all the time.", "Try again: memento hub resume.")

    def is_due(self, *, is_hinted: bool = True) -> bool:
        """Tell whether either side has written since the last round. Raises as `synchronize`.

        Without a hint the hub is asked now and then only.
        """
        membership = self._session.required_membership()
        if self._session.head() != self._seen_here:
            return True
        if not is_hinted and monotonic() < self._looked_at + _HUB_POLL_SECONDS:
            return False
        with self._noting_problems():
            self._looked_at = monotonic()
            return self._open(membership).head(membership.workspace)[0] != self._seen_there

    def hint(self, seconds: float) -> bool:
        """Wait for so long at most; tell whether the hub says that it has more than was seen.

        Raises as `synchronize`.
        """
        membership = self._session.required_membership()
        with self._noting_problems():
            return self._open(membership).hint(seconds, beyond=self._seen_there)

    @contextmanager
    def _noting_problems(self) -> Iterator[None]:
        try:
            yield
        except MementoError as error:
            self.close()
            self._note(problem=error.message)
            raise

    def _note(self, *, told: Sequence[str] = (), **values: str) -> None:
        def noted(membership: HubMembership) -> HubMembership:
            notes = (*membership.notes, *told)[-_MAX_NOTES:]
            return msgspec.structs.replace(membership, **values, notes=notes)

        membership = self._session.membership
        if membership is not None and noted(membership) != membership:
            self._session.change_membership(noted)

    def _open(self, membership: HubMembership) -> HubServer:
        """Return the connection; one that is open goes on only while the person's agreement stands."""
        require_agreement(Destination.of_hub(membership.url))
        part = (membership.url, membership.member)
        if part != self._part:  # the hub was left and another joined, by another program perhaps
            self.close()
            self._key, self._part = None, part
            self._seen_here = self._seen_there = -1
        if self._server is None:
            self._server = self._connect(membership.url)
            self._members = {}
            self._server.bring_up_to_date()
            self._server.listen(membership.workspace)
        return self._server

    def _round(self) -> RoundReport:
        report = RoundReport()
        races = 0
        self._take_role(self._pull(report))
        while True:
            membership = self._session.required_membership()
            if membership.role == "reader":
                break
            outbound = self._outbound(membership)
            batch = outbound.written()
            if not batch.entries and batch.reached == membership.pushed and membership.role != "agent":
                batch = outbound.unshared()
            if not batch.entries and batch.reached == membership.pushed:
                break
            try:
                self._push(membership, batch)
            except HubBusy:
                races += 1
                if races > _MAX_RACES:
                    raise
            except HubRefused as refused:
                self._push_until_refused(membership, batch, refused, report)
            else:
                self._report_pushed(batch, membership.role, report)
            if batch.entries:
                self._pull(report)
        return report

    def _report_pushed(self, batch: Batch, role: str, report: RoundReport) -> None:
        """Count the sent entries in a report, and ask the person about changes that could not be sent."""
        report.pushed += len(batch.entries)
        report.cards += sum(raise_card(self._session, known) for known in batch.left)
        if batch.notes and role not in _DECIDING_ROLES:
            report.notes.append(_KEPT_PURGE)

    def _take_role(self, role: str) -> None:
        """Record this login's role; where it may now send decisions, send those that were kept back."""
        membership = self._session.required_membership()
        if membership.role not in _DECIDING_ROLES and role in _DECIDING_ROLES:
            state, after = self._session.state, ("", "")
            while found := state.records(after, _PULLED_AT_ONCE, kept_since=membership.since):
                after = (found[-1].record, found[-1].record_id)
                self._resend(msgspec.structs.replace(membership, role=role), found)
            self._purge_notes(membership, state.purged_notes(membership.since, membership.pushed))
        self._note(role=role)

    def _outbound(self, membership: HubMembership) -> Outbound:
        server = self._open(membership)
        return Outbound(self._session, membership, self._signing_key(), lambda: server.purged(membership.workspace))

    def _signing_key(self) -> SigningKey:
        if self._key is None:
            self._key = SigningKey.read(self._session.paths.hub_key)
        return self._key

    def _push(self, membership: HubMembership, batch: Batch) -> None:
        if batch.entries:
            self._session.state.send(batch.sent)
            self._open(membership).append(membership.workspace, membership.member, batch.entries)
        for kind, record_id in batch.purged:
            self._open(membership).purge(membership.workspace, membership.member, kind, record_id)
        if membership.role in _DECIDING_ROLES:
            self._purge_notes(membership, batch.notes)
        self._session.change_membership(lambda known: msgspec.structs.replace(known, pushed=batch.reached))

    def _purge_notes(self, membership: HubMembership, entry_ids: Sequence[str]) -> None:
        for entry_id in entry_ids:
            self._open(membership).purge_note(membership.workspace, membership.member, entry_id)

    def _push_until_refused(
        self, membership: HubMembership, batch: Batch, refused: HubRefused, report: RoundReport
    ) -> None:
        """Send entries one by one up to the one that the hub refuses, and set that aside. Raises as `_push`."""
        if any(not seq for _, seq in batch.sent):
            raise refused  # it stands in no journal, and would be made again
        for entry, (_, seq) in zip(batch.entries, batch.sent, strict=True):
            reached = seq
            try:
                self._open(membership).append(membership.workspace, membership.member, [entry])
            except HubRefused as why:
                report.notes.append(f"Change {seq} of this machine stays here: {why.message}")
                break
            report.pushed += 1
        self._session.change_membership(lambda known: msgspec.structs.replace(known, pushed=max(known.pushed, reached)))

    def _pull(self, report: RoundReport) -> str:
        """Take in the hub's new entries; return the role of this login there. Raises as `synchronize`."""
        membership = self._session.required_membership()
        server = self._open(membership)
        seq, known = self._session.state.reached()
        standing = server.standing(membership.workspace, seq)
        _check_same_journal(standing, seq, known)
        previous = known or GENESIS
        while seq < standing.seq:
            found = server.entries_after(membership.workspace, seq, _PULLED_AT_ONCE)
            if not found:
                raise HubAltered(
                    f"The hub's journal ends at entry {standing.seq}, and has none after entry {seq}.",
                    "Ask whoever keeps it. Nothing was sent; every machine still has everything.",
                )
            inbound = Inbound(self._session, membership, self._members_of(server, membership, found))
            for first in range(0, len(found), _TAKEN_AT_ONCE):
                with self._session.joined_writes():
                    for entry in found[first : first + _TAKEN_AT_ONCE]:
                        _check_chain(entry, seq, previous)
                        inbound.take(entry)
                        seq, previous = entry.seq, entry.hash
                        report.pulled += entry.member != membership.member
            report.cards += inbound.cards
            report.notes += inbound.notes
        return standing.role

    def _members_of(
        self, server: HubServer, membership: HubMembership, entries: list[HubEntry]
    ) -> dict[str, HubMember]:
        """Return the members by id, read again where one is not known; each with the key that it had at first."""
        if any(entry.member not in self._members for entry in entries):
            fresh = server.members(membership.workspace)
            keys = {member.id: member.public_key.hex() for member in fresh} | membership.keys
            if keys != membership.keys:
                new = [one for one in fresh if one.id not in membership.keys and one.id != membership.member]
                self._session.change_membership(lambda known: msgspec.structs.replace(known, keys=keys))
                self._note(told=[f"{one.name} takes part in the hub as {one.role}." for one in new])
            self._members = {
                one.id: msgspec.structs.replace(one, public_key=bytes.fromhex(keys[one.id])) for one in fresh
            }
        return self._members


def _check_same_journal(standing: Standing, seq: int, known: bytes) -> None:
    if standing.seq < seq or (seq and standing.hash != known):
        raise HubAltered(
            f"The hub's journal ends at entry {standing.seq} or was altered, and this machine knows entry {seq}: the"
            " hub was restored from an older backup, or it is another one.",
            "Nothing was sent or taken; every machine still has everything. Was it restored? memento hub resume.",
        )


def _common_entry(server: HubServer, workspace: str, known: list[tuple[int, bytes]]) -> int:
    """Return the number of the newest entry that is the same at the hub and here; 0 where none is."""
    low, high = 0, len(known)
    while low < high:
        middle = (low + high) // 2
        if server.hash_at(workspace, known[middle][0]) == known[middle][1]:
            low = middle + 1
        else:
            high = middle
    return known[low - 1][0] if low else 0


def _records_until(server: HubServer, workspace: str, seq: int) -> Iterator[HubRecord]:
    for change in server.changes_until(workspace, seq):
        yield HubRecord(change.record, change.record_id, change.version, record_if_readable(change))


def _check_chain(entry: HubEntry, seq: int, previous: bytes) -> None:
    if entry.format > FORMAT:
        raise NotAllowed(
            f"Entry {entry.seq} of the hub was written by a newer memento.",
            "Update memento: pip install --upgrade memento-tui. Nothing is lost meanwhile.",
        )
    expected = chain_hash(previous, entry.seq, entry.content, entry.signature)
    if entry.seq != seq + 1 or entry.previous_hash != previous or entry.hash != expected:
        raise HubAltered(
            f"Entry {entry.seq} of the hub does not follow from entry {seq}: its journal was altered.",
            "Ask whoever keeps it. Nothing was sent; every machine still has everything.",
        )


def keep_in_step(
    link: HubLink,
    stopping: threading.Event,
    *,
    done: Callable[[RoundReport], object] = lambda _report: None,
    failed: Callable[[MementoError], object] = lambda _error: None,
) -> None:
    """Run a round whenever either side has written, until ``stopping`` is set or the hub was left.

    ``done`` is told each round that moved something, ``failed`` a failure when it is another one than before.

    Raises:
        LockedWorkspace: the person locked it meanwhile.

    """
    said, is_hinted, is_notified = "", True, False
    while not stopping.is_set() and link.has_part:
        try:
            if link.is_due(is_hinted=is_hinted):
                report = link.synchronize()
                if report.pulled or report.pushed:
                    done(report)
                is_hinted, is_notified = True, False  # what came meanwhile may have been told to nobody
            else:
                if is_notified:  # and there was nothing: whoever reaches the database may say so as often as they like
                    stopping.wait(_POLL_SECONDS)
                is_hinted = is_notified = link.hint(_POLL_SECONDS)
            said = ""
        except LockedWorkspace:
            raise
        except MementoError as error:
            if str(error) != said:
                failed(error)
            said, is_hinted = str(error), True
            stopping.wait(_RETRY_SECONDS)
