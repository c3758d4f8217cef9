"""The part of one workspace in a hub, as its settings hold it."""

from __future__ import annotations

import msgspec

from memento_tui.model.validation import is_under
from memento_tui.storage.settings import Settings

__all__ = ["HUB_SETTING", "HubMembership", "decode_membership", "membership_of"]

HUB_SETTING = "hub"
"""The setting that holds this workspace's part in a hub; empty where it has none."""


class HubMembership(msgspec.Struct, frozen=True):
    """The part of one workspace in a hub."""

    url: str
    """The address of the hub's database, without a password."""
    workspace: str
    workspace_name: str
    member: str
    """The id of this machine at the hub."""
    name: str
    role: str
    namespaces: tuple[str, ...] = ()
    """The namespaces that are shared, each with all below it."""
    held: tuple[str, ...] = ()
    """The namespaces in which what other members write waits for this machine's person, each with all below it."""
    pushed: int = 0
    """The number of the newest entry of this journal that needs no sending any more."""
    since: int = 0
    """The number of the newest entry of this journal when the machine joined."""
    synced_at: str = ""
    """When this machine and the hub were last together; empty for never."""
    problem: str = ""
    """Why the last attempt failed, as a sentence; empty where it did not."""
    keys: dict[str, str] = {}
    """The key of each member, in hexadecimal digits, as this machine first saw it: another one is not its member's."""
    notes: tuple[str, ...] = ()
    """The notes that the person has not read, a sentence each, oldest first."""

    def shares(self, namespace: str) -> bool:
        """Tell whether a namespace is shared."""
        return any(is_under(namespace, one) for one in self.namespaces)

    def holds(self, namespace: str) -> bool:
        """Tell whether what other members write in a namespace waits for this machine's person."""
        return any(is_under(namespace, one) for one in self.held)


decode_membership = msgspec.json.Decoder(HubMembership).decode
"""Reads a part in a hub from the setting that holds it."""


def membership_of(settings: Settings) -> HubMembership | None:
    """Return a workspace's part in a hub, or ``None``."""
    known = settings.get(HUB_SETTING)
    return decode_membership(known) if known else None
