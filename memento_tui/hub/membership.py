"""Begin, join, govern and leave a hub."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from memento_tui.api.hub_session import HubMembership, HubSession
from memento_tui.api.workspace import Workspace
from memento_tui.errors import InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.hub.address import check_address
from memento_tui.hub.keys import SigningKey
from memento_tui.hub.server import ROLES, HubMember, HubServer, HubWorkspace
from memento_tui.hub.sync import alone_with_hub
from memento_tui.model.validation import check_namespace, new_id

__all__ = ["Invitation", "MachineHub"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""What a member, a workspace and a login may be called; it stands beside agents' names in every list."""


_MOST_COUNTED = 1_000
"""Entries that are counted at most for the status."""


class Invitation(NamedTuple):
    """A login for somebody else."""

    login: str
    role: str
    password: str
    """Empty where the login existed: it keeps its own."""


class MachineHub:
    """The part of one workspace in a hub, as the person governs it. Every method raises `MementoError`."""

    def __init__(self, workspace: Workspace) -> None:
        self._session = HubSession(workspace)

    @property
    def membership(self) -> HubMembership | None:
        """The part in a hub, or ``None``."""
        return self._session.membership

    def begin(self, url: str, *, workspace: str, name: str, namespaces: Sequence[str]) -> HubMembership:
        """Make a hub in a database and join it as its owner."""
        self._check_free(url, name, namespaces)
        _check_name("workspace", workspace)
        with HubServer(url) as server:
            server.migrate()
            return self._join(server, url, server.make_workspace(workspace), name, namespaces)

    def join(self, url: str, *, workspace: str, name: str, namespaces: Sequence[str]) -> HubMembership:
        """Join a hub; ``workspace`` may be empty where there is one alone."""
        self._check_free(url, name, namespaces)
        with HubServer(url) as server:
            return self._join(server, url, _chosen(server.workspaces(), workspace), name, namespaces)

    def leave(self) -> HubMembership:
        """End this machine's part; what it has stays. The hub is told where it can be reached."""
        membership = self._required_to_change()
        try:
            with HubServer(membership.url) as server:
                server.revoke(membership.workspace, membership.member)
        finally:
            with alone_with_hub(self._session):
                self._session.set_membership(None)
                self._session.state.forget()
                self._session.paths.hub_key.unlink(missing_ok=True)
        return membership

    def share(self, namespaces: Sequence[str]) -> HubMembership:
        """Share further namespaces, each with all below it; what others shared of them comes with the next round."""
        for one in namespaces:
            check_namespace(one)
        membership = self._required_to_change()
        added = [one for one in dict.fromkeys(namespaces) if one not in membership.namespaces]
        if added:
            with alone_with_hub(self._session):
                self._session.change_membership(
                    lambda known: msgspec.structs.replace(known, namespaces=(*known.namespaces, *added))
                )
                # Entries that were passed over hold what is in them.
                self._session.state.forget_reached()
        return self._required()

    def keep(self, namespaces: Sequence[str]) -> HubMembership:
        """Share namespaces no longer: what was shared stays where it is, and later changes stay here."""
        membership = self._required_to_change()
        for one in namespaces:
            if one not in membership.namespaces:
                raise NotFound(
                    f"{one!r:.80} is not shared.", f"Shared are {', '.join(membership.namespaces) or 'none'}."
                )
        left = tuple(one for one in membership.namespaces if one not in namespaces)
        self._session.change_membership(lambda known: msgspec.structs.replace(known, namespaces=left))
        return self._required()

    def waiting(self) -> int:
        """Return how many entries of this journal were not looked at yet for what concerns the hub; 1,000 at most."""
        return len(self._session.state.own_entries_after(self._required().pushed, _MOST_COUNTED))

    def notes_read(self) -> None:
        """Note that the person has read the notes."""
        self._session.change_membership(lambda known: msgspec.structs.replace(known, notes=()))

    def problem(self) -> str:
        """Return why this machine and the hub cannot come together now, as a sentence; "" where they can."""
        membership = self._required()
        try:
            with HubServer(membership.url) as server:
                server.head(membership.workspace)
        except MementoError as error:
            return error.message
        return membership.problem

    def members(self) -> list[HubMember]:
        """Return the machines that take part in the hub or did."""
        membership = self._required()
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
        return Invitation(login, role, password if is_new else "")

    def revoke(self, name: str) -> HubMember:
        """End another machine's part: from now on it reads and gives nothing."""
        membership = self._required_to_change()
        with HubServer(membership.url) as server:
            found = [one for one in server.members(membership.workspace) if one.name == name]
            if not found:
                raise NotFound(f"No member of the hub is called {name!r:.80}.", "`memento hub members` lists them.")
            server.revoke(membership.workspace, found[0].id)
        return found[0]

    def _join(
        self, server: HubServer, url: str, workspace: HubWorkspace, name: str, namespaces: Sequence[str]
    ) -> HubMembership:
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
        )
        self._session.set_membership(made)
        return made

    def _required(self) -> HubMembership:
        membership = self._session.membership
        if membership is None:
            raise NotAllowed("This workspace is in no hub.", "Join one: memento hub join URL.")
        return membership

    def _required_to_change(self) -> HubMembership:
        """Return this workspace's part, for what changes it or the hub. Raises `NotAllowed`, `ReadOnlyMode`."""
        self._session.check_writable()
        return self._required()

    def _check_free(self, url: str, name: str, namespaces: Sequence[str]) -> None:
        self._session.check_writable()
        membership = self._session.membership
        if membership is not None:
            raise NotAllowed(
                f"This workspace is in the hub {membership.workspace_name} already.",
                "Leave it first: memento hub leave.",
            )
        _check_name("name", name)
        for one in namespaces:
            check_namespace(one)
        check_address(url)


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
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"The {what} {name!r:.80} cannot be used.",
            "It has up to 63 letters, digits, dots, hyphens and underscores.",
        )


def machine_name() -> str:
    """Return this machine's name as a member may be called."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", socket.gethostname().partition(".")[0]).strip("-._")
    return plain[:63] or "machine"
