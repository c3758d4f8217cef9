"""What a conversation teaches, as this system asks for it: by mode, in one workspace, under ids as its clients know."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.upkeep.distilling import Candidate
from memento_tui.upkeep.learning import Learned
from memento_tui.workspace import Workspace
from memento_tui.workspace.learning import Distilled, distill_text

__all__ = ["MODES", "extracted", "is_kept", "text_of", "type_of_lesson"]

MODES: Mapping[str, int] = {"distill": 20, "seeds": 3}
"""How many things each mode looks for if the caller does not say."""

_SEEDS = ("preference", "fact", "observation")
"""What a seed may be: only what the person is like and likes."""


def extracted(workspace: Workspace, transcript: str, named: str, *, mode: str, limit: int, namespace: str) -> Distilled:
    """Propose what a transcript teaches; ``named`` says where it is from, ``mode`` is one of `MODES`."""
    wanted: Callable[[Candidate], bool] | None = _is_seed if mode == "seeds" else None
    return distill_text(
        workspace,
        transcript,
        named,
        limit=limit,
        wanted=wanted,
        fields={"namespace": namespace},
        make_id=fresh_id(workspace),
    )


def _is_seed(candidate: Candidate) -> bool:
    return candidate.target == "memory" and candidate.fields["kind"] in _SEEDS


def is_kept(one: Learned) -> bool:
    """Tell whether something that was learned is new here: stored, or proposed to a person."""
    return one.outcome in ("proposed", "stored")


def text_of(one: Learned) -> str:
    """Return what was learned, in its own words."""
    fields = one.candidate.fields
    return str(fields.get("content") or fields.get("title") or fields.get("item") or "")


def type_of_lesson(one: Learned) -> str:
    """Return the type of what was learned: a memory's own, else ``skip`` or ``item``."""
    return one.candidate.fields.get("kind", "fact") if one.candidate.target == "memory" else one.candidate.target
