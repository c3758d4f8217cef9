"""``/v1/distill`` and ``/v1/extract``: what a transcript teaches, by rules and not by a model, proposed to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import replied, said
from memento_tui.errors import InvalidField
from memento_tui.upkeep.learning import Learned
from memento_tui.workspace.learning import distill_text

__all__ = ["distill", "extract"]

_SHORTEST_DISTILLED, _SHORTEST_EXTRACTED, _LONGEST = 200, 100, 100_000
"""Characters of a transcript. Of a longer one the end is read: it holds what still stood when the session was over."""

_MOST = {"distill": 20, "seeds": 3}
_NAMED = "a transcript sent over HTTP"


class _Transcript(Shape):
    transcript: str
    mode: Literal["distill", "seeds"] = "distill"
    max_memories: Annotated[int, msgspec.Meta(ge=1)] | None = None


def distill(call: Call) -> Response:
    """Learn from a transcript; one that is too short says so, and is no failure."""
    given = call.given(_Transcript)
    if len(given.transcript) < _SHORTEST_DISTILLED:
        return said("Transcript too short — skipping distillation.", memories=[])
    learned = _learned(call, given.transcript, _MOST["distill"])
    if not learned:
        return said("No novel memories found in transcript.", memories=[])
    rows = [_row(one) for one in learned]
    lines = "\n".join(f"- **{row['id']}** ({row['type']}): {row['content']}" for row in rows)
    count = f"{len(rows)} memor{'y' if len(rows) == 1 else 'ies'}"
    waits = _all_wait(learned)
    decides = "; a person decides about them" if waits else ""
    text = f"Distilled {count} from transcript{decides}:\n\n{lines}"
    return said(text, 202 if waits else 201, memories=rows, **({"status": "proposed"} if waits else {}))


def extract(call: Call) -> Response:
    """Learn from a transcript, at most so many things as are asked for."""
    given = call.given(_Transcript)
    if len(given.transcript) < _SHORTEST_EXTRACTED:
        raise InvalidField("transcript", f"is too short: {_SHORTEST_EXTRACTED} characters is the least")
    most = min(given.max_memories or _MOST[given.mode], _MOST["distill"])
    learned = _learned(call, given.transcript, most)
    body = {"stored": [_row(one) for one in learned], "count": len(learned), "mode": given.mode, "source": "transcript"}
    if learned and _all_wait(learned):
        return replied({**body, "status": "proposed"}, 202)
    return replied(body, 201 if learned else 200)


def _learned(call: Call, transcript: str, most: int) -> list[Learned]:
    """Take what a transcript teaches through the gate; return what was new."""
    place = {"namespace": call.place.namespace}
    found = distill_text(call.workspace, transcript[-_LONGEST:], _NAMED, limit=most, fields=place, make_id=call.new_id)
    return [one for one in found.learned if one.outcome in ("proposed", "stored")]


def _all_wait(learned: Sequence[Learned]) -> bool:
    return all(one.outcome == "proposed" for one in learned)


def _row(one: Learned) -> dict[str, Any]:
    target, fields = one.candidate.target, one.candidate.fields
    content = fields.get("content") or fields.get("title") or fields.get("item") or ""
    return {"id": one.id, "content": content, "type": fields.get("kind", "fact") if target == "memory" else target}
