"""One machine of the tests: a data directory with its part in a hub."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from memento_tui.api import Workspace
from memento_tui.hub.membership import MachineHub
from memento_tui.hub.sync import HubLink, RoundReport
from memento_tui.model import Memory, Proposal

__all__ = ["Machine", "in_step"]

SITE = "projects/site"


class Machine:
    """One data directory, its person, and its link to the hub."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self.workspace = Workspace(folder)
        self.hub = MachineHub(self.workspace)
        self.link = HubLink(self.workspace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.link.close()
        self.workspace.close()

    def take_part(self, url: str, namespaces: Sequence[str], *, begins: bool) -> None:
        if begins:
            self.hub.begin(url, workspace="home", name=self.name, namespaces=namespaces)
        else:
            self.hub.join(url, workspace="", name=self.name, namespaces=namespaces)

    def sync(self) -> RoundReport:
        return self.link.synchronize()

    def remember(self, text: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
        return self.workspace.remember(text, **{"namespace": SITE, **fields})

    def agent(self, session: str = "s1") -> Workspace:
        """Return the workspace as an agent of this machine has it; the caller closes it."""
        return Workspace(self.folder, actor="agent", channel="mcp", agent="claude-code", session=session)

    def texts(self) -> dict[str, str]:
        """Return the content of each memory that is recalled, by id."""
        found = self.workspace.export_records()
        return {one.id: one.content for one in found if isinstance(one, Memory) and one.status == "active"}

    def cards(self) -> list[Proposal]:
        """Return the proposals that wait for this machine's person."""
        return [one.proposal for one in self.workspace.review.list()[0]]


def in_step(*machines: Machine) -> None:
    """Let every machine come together with the hub until none has anything new."""
    for _ in range(6):
        reports = [one.sync() for one in machines]
        if not any(report.pulled or report.pushed for report in reports):
            return
    raise AssertionError("the machines do not come to rest")
