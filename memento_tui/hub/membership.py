"""Begin, join, govern and leave a hub."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from memento_tui.agreements import Destination, agree_to
from memento_tui.api.hub_session import HubMembership, HubSession, alone_with_hub
from memento_tui.api.workspace import Workspace
from memento_tui.errors import InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.hub.address import check_address
from memento_tui.hub.entries import SigningKey
from memento_tui.hub.server import ROLES, HubMember, HubServer, HubUnreachable, HubWorkspace
from memento_tui.model.validation import check_namespace, new_id
from memento_tui.text.agent_names import PLAIN_NAME, is_machine_name

__all__ = ["Invitation", "MachineHub", "Revocation"]

_MOST_COUNTED = 1_000
"""Entries that are counted at most for the status."""


class Invitation(NamedTuple):
    """A login for somebody else."""

    login: str
    role: str
    password: str
    """Empty where the login existed: it keeps its own."""
    url: str
    """The address of the hub for that login."""


class Departure(NamedTuple):
    """The part that this machine had."""

    membership: HubMembership
    untold: str
    """Why the hub could not be notified, as a sentence; empty where it was."""


class Revocation(NamedTuple):
    """The members that were revoked, and whether their PostgreSQL login was ended too."""

    names: tuple[str, ...]
    login: str
    is_login_ended: bool
    """Whether the login reads nothing any more; one that is not ended reads, and lets a machine join again."""
    is_own_login: bool
    others: tuple[str, ...]
    """The other members of that login, which take part still."""


class MachineHub:
    """The part of one workspace in a hub, as the person governs it. Every method raises `MementoError`."""

    def __init__(self, workspace: Workspace) -> None:
        self._session = HubSession(workspace)

    @property
    def membership(self) -> HubMembership | None:
        """The part in a hub, or ``None``."""
        return self._session.membership

    def begin(self, url: str, *, workspace: str, name: str, namespaces: Sequence[str]) -> HubMembership:
        """Make a hub in a database and join it as its owner; the person who names its address agrees to it."""
        self._check_free(url, name, namespaces)
        _check_name("workspace", workspace)
        with _reported_as_not_joined(), HubServer(url, typed_by_person=True) as server:
            server.migrate()
            return self._join(server, url, server.make_workspace(workspace), name, namespaces)

    def join(self, url: str, *, workspace: str, name: str, namespaces: Sequence[str]) -> HubMembership:
        """Join a hub; ``workspace`` may be empty where there is one alone. Its address is agreed to as by `begin`."""
        self._check_free(url, name, namespaces)
        with _reported_as_not_joined(), HubServer(url, typed_by_person=True) as server:
            return self._join(server, url, _chosen(server.workspaces(), workspace), name, namespaces)

    def leave(self) -> Departure:
        """End this machine's membership; its records stay. That works too while the hub does not answer."""
        membership = self._required_to_change()
        untold = ""
        try:
            with HubServer(membership.url) as server:
                server.revoke(membership.workspace, membership.member)
        except MementoError as error:
            untold = error.message
        with alone_with_hub(self._session.paths):
            self._session.set_membership(None)
            self._session.state.forget()
            self._session.paths.hub_key.unlink(missing_ok=True)
        return Departure(membership, untold)

    def share(self, namespaces: Sequence[str]) -> HubMembership:
        """Share further namespaces, each with all below it; others' records in them come with the next round."""
        for one in namespaces:
            check_namespace(one)
        membership = self._required_to_change()
        added = [one for one in dict.fromkeys(namespaces) if one not in membership.namespaces]
        if added:
            with alone_with_hub(self._session.paths):
                self._session.change_membership(
                    lambda known: msgspec.structs.replace(known, namespaces=(*known.namespaces, *added))
                )
                # Entries that were passed over hold what is in them.
                self._session.state.forget_reached()
        return self._session.required_membership()

    def keep(self, namespaces: Sequence[str]) -> HubMembership:
        """Stop sharing namespaces: shared records stay where they are, and later changes stay here."""
        membership = self._required_to_change()
        for one in namespaces:
            if one not in membership.namespaces:
                raise NotFound(
                    f"{one!r:.80} is not shared.", f"Shared are {', '.join(membership.namespaces) or 'none'}."
                )
        left = tuple(one for one in membership.namespaces if one not in namespaces)
        self._session.change_membership(lambda known: msgspec.structs.replace(known, namespaces=left))
        return self._session.required_membership()

    def hold(self, namespaces: Sequence[str], *, stops: bool = False) -> HubMembership:
        """Let other members' writes in namespaces wait for this machine's person from now on, or no longer."""
        membership = self._required_to_change()
        for one in namespaces:
            if stops and one not in membership.held:
                raise NotFound(
                    f"What others write in {one!r:.80} does not wait.",
                    f"It waits in {', '.join(membership.held) or 'none'}.",
                )
            if not stops and not membership.shares(check_namespace(one)):
                raise NotFound(
                    f"{one!r:.80} is not shared.", f"Shared are {', '.join(membership.namespaces) or 'none'}."
                )
        kept = [one for one in membership.held if one not in namespaces]
        held = tuple(kept if stops else [*kept, *dict.fromkeys(namespaces)])
        self._session.change_membership(lambda known: msgspec.structs.replace(known, held=held))
        return self._session.required_membership()

    def waiting(self) -> int:
        """Return how many entries of this journal were not yet examined for the hub; 1,000 at most."""
        return len(self._session.state.own_entries_after(self._session.required_membership().pushed, _MOST_COUNTED))

    def notes_read(self) -> None:
        """Note that the person has read the notes."""
        self._session.change_membership(lambda known: msgspec.structs.replace(known, notes=()))

    def problem(self) -> str:
        """Return why this machine cannot synchronize with the hub now, with the remedy; "" where it can."""
        membership = self._session.required_membership()
        try:
            with HubServer(membership.url) as server:
                server.head(membership.workspace)
        except MementoError as error:
            return str(error)
        return membership.problem

    def members(self) -> list[HubMember]:
        """Return the machines that take part in the hub or did."""
        membership = self._session.required_membership()
        with HubServer(membership.url) as server:
            return server.members(membership.workspace)

    def invite(self, login: str, role: str) -> Invitation:
        """Make a login of PostgreSQL for somebody, or give one that exists another role; return its password."""
        _check_name("login", login)
        if role not in ROLES:
            raise InvalidInput(f"There is no role {role!r:.40}.", f"There are {', '.join(ROLES)}.")
        membership = self._required_to_change()
        password = secrets.token_urlsafe(24)
        with HubServer(membership.url) as server:
            is_new = server.make_login(login, password)
            server.grant_reading(login)
            server.set_role(membership.workspace, login, role)
        url = re.sub("//(?:[^@/?]*@)?", f"//{login}@", membership.url, count=1)
        return Invitation(login, role, password if is_new else "", url)

    def revoke(self, name: str, *, with_login: bool = False) -> Revocation:
        """End another machine's part: it gives nothing more, and reads nothing once its login is ended.

        A login is ended with the last of its members, and ``with_login`` ends them all; this machine's own never is.

        Raises:
            NotFound: no member has that name.
            NotAllowed: this login is no owner's, it is this machine, or ``with_login`` asks for this machine's login.

        """
        membership = self._required_to_change()
        with HubServer(membership.url) as server:
            members = server.members(membership.workspace)
            found = next((one for one in members if one.name == name), None)
            if found is None:
                raise NotFound(f"No member of the hub is called {name!r:.80}.", "`memento hub members` lists them.")
            if found.id == membership.member:
                raise NotAllowed(f"{found.name} is this machine.", "Leave the hub: memento hub leave.")
            is_own = any(one.id == membership.member and one.login == found.login for one in members)
            if with_login and is_own:
                raise NotAllowed(
                    f"{found.login} is the login of this machine too.",
                    "Give each machine a login of its own (memento hub invite), or change its password in PostgreSQL.",
                )
            same = [one for one in members if one.login == found.login and one is not found and not one.revoked_at]
            ended = [found, *same] if with_login else [found]
            for one in ended:
                server.revoke(membership.workspace, one.id)
        others = () if with_login else tuple(one.name for one in same)
        return Revocation(tuple(one.name for one in ended), found.login, not others and not is_own, is_own, others)

    def _join(
        self, server: HubServer, url: str, workspace: HubWorkspace, name: str, namespaces: Sequence[str]
    ) -> HubMembership:
        agree_to(Destination.of_hub(url))
        key = SigningKey.make(self._session.paths.hub_key)
        member = new_id()
        server.join(workspace.id, member, name, key.public)
        self._session.state.forget()
        made = HubMembership(
            url=url,
            workspace=workspace.id,
            workspace_name=workspace.name,
            member=member,
            name=name,
            role=workspace.role,
            namespaces=tuple(dict.fromkeys(namespaces)),
            # What stands in the journal by now is shared as it is, and not entry by entry.
            pushed=self._session.head(),
            since=self._session.head(),
        )
        self._session.set_membership(made)
        return made

    def _required_to_change(self) -> HubMembership:
        """Return this workspace's membership for a change of it or of the hub. Raises `NotAllowed`, `ReadOnlyMode`."""
        self._session.check_writable()
        return self._session.required_membership()

    def _check_free(self, url: str, name: str, namespaces: Sequence[str]) -> None:
        self._session.check_writable()
        membership = self._session.membership
        if membership is not None:
            raise NotAllowed(
                f"This workspace is in the hub {membership.workspace_name} already.",
                "Leave it first: memento hub leave.",
            )
        _check_name("name", name)
        if not is_machine_name(name):
            raise InvalidInput(
                f"The name {name!r:.80} would be read as yours or memento's beside what this machine writes.",
                "Name the machine: --name laptop.",
            )
        for one in namespaces:
            check_namespace(one)
        check_address(url)


@contextmanager
def _reported_as_not_joined() -> Iterator[None]:
    """Raise `HubUnreachable` again with a hint for a machine that is in no hub yet."""
    try:
        yield
    except HubUnreachable as error:
        raise HubUnreachable(
            error.message, "This machine is in no hub yet. Check the address, and that the server runs; then try again."
        ) from error


def _chosen(workspaces: Sequence[HubWorkspace], name: str) -> HubWorkspace:
    named = [one for one in workspaces if not name or one.name == name]
    if not named:
        raise NotFound(
            f"The hub has no workspace {name} for this login." if name else "The hub has no workspace for this login.",
            "Ask an owner of the hub: memento hub invite LOGIN.",
        )
    if len(named) > 1:
        names = ", ".join(one.name for one in named)
        raise InvalidInput(f"The hub has several workspaces: {names}.", "Name one: --workspace NAME.")
    return named[0]


def _check_name(what: str, name: str) -> None:
    if not PLAIN_NAME.fullmatch(name):
        raise InvalidInput(
            f"The {what} {name!r:.80} cannot be used.",
            "It has up to 63 letters, digits, dots, hyphens and underscores.",
        )


def machine_name() -> str:
    """Return this machine's name as a member may be called."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname().partition(".")[0]).strip("-._")
    return plain[:63] if is_machine_name(plain[:63]) else "machine"
