"""What an agent should know before it acts on a message: who it is, what it is at, what to leave, what it knows."""

from __future__ import annotations

from dataclasses import dataclass

from memento_tui.agent.recall import plain_query, recall
from memento_tui.errors import InvalidField
from memento_tui.records import Crystal, Skip, WorkingItem
from memento_tui.records.accounts import account_of
from memento_tui.records.rules import check_namespace, is_under
from memento_tui.workspace import Workspace
from memento_tui.workspace.searching import Hit

__all__ = ["Briefing", "brief", "concerns"]


@dataclass(frozen=True)
class Briefing:
    """The parts of a context, each as it concerns one message."""

    identity: Crystal | None
    items: list[WorkingItem]
    """The active ones, highest priority first."""
    skips: list[Skip]
    """Those that the message touches."""
    hits: list[Hit]
    semantic: str
    """``ready``, ``warming`` or ``off``: whether meaning counted."""


def brief(workspace: Workspace, message: str, namespace: str, limit: int, session: str = "") -> Briefing:
    """Put together what concerns a message; ``namespace`` (may be empty) leaves out other projects.

    Raises:
        InvalidField: the namespace is not one.

    """
    words = plain_query(message)
    hits, semantic = _hits(workspace, words, namespace, limit, session)
    return Briefing(
        identity=workspace.crystals.current(),
        items=[item for item in workspace.items.list(status="active") if concerns(namespace, item.namespace)],
        skips=list(workspace.skips.check(message, among=lambda skip: concerns(namespace, skip.namespace))),
        hits=hits,
        semantic=semantic,
    )


def _hits(workspace: Workspace, words: str, namespace: str, limit: int, session: str) -> tuple[list[Hit], str]:
    place = ""
    if namespace:
        if '"' in check_namespace(namespace) or "," in namespace:
            raise InvalidField("namespace", "must not hold a quotation mark or a comma")
        place = f'ns:"{namespace},global" '
    if not words:
        return [], "off"
    hits, answer = recall(workspace, place + words, limit, session)
    return hits, answer.semantic


def concerns(asked: str, namespace: str) -> bool:
    """Tell whether a record of ``namespace`` matters in ``asked``: the same, one above or below it, or for all.

    What an account wrote concerns nobody who does not ask for that account.
    """
    if account_of(namespace) != account_of(asked):
        return False
    return not asked or namespace == "global" or is_under(namespace, asked) or is_under(asked, namespace)
