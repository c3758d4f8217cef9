"""``/v1/distill`` and ``/v1/extract``: what a transcript teaches, by rules and not by a model, proposed to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui.agent.fence import one_line
from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import replied, said
from memento_tui.agent.protocol.extracting import MODES, extracted, is_kept, text_of, type_of_lesson
from memento_tui.agent.protocol.texts import entry_name
from memento_tui.errors import InvalidField
from memento_tui.upkeep.learning import Learned

__all__ = ["distill", "extract"]

_SHORTEST_DISTILLED, _SHORTEST_EXTRACTED, _LONGEST = 200, 100, 100_000
"""Characters of a transcript. Of a longer one the end is read: it holds what still stood when the session was over."""

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
    learned = _learned(call, given.transcript, "distill", MODES["distill"])
    if not learned:
        return said("No novel memories found in transcript.", memories=[])
    rows = [_row(one) for one in learned]
    lines = "\n".join(f"- {entry_name(row['id'])} ({row['type']}): {one_line(row['content'])}" for row in rows)
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
    most = min(given.max_memories or MODES[given.mode], MODES["distill"])
    learned = _learned(call, given.transcript, given.mode, most)
    body = {"stored": [_row(one) for one in learned], "count": len(learned), "mode": given.mode, "source": "transcript"}
    if learned and _all_wait(learned):
        return replied({**body, "status": "proposed"}, 202)
    return replied(body, 201 if learned else 200)


def _learned(call: Call, transcript: str, mode: str, most: int) -> list[Learned]:
    """Take what a transcript teaches through the gate; return what was new."""
    told, namespace = transcript[-_LONGEST:], call.place.namespace
    found = extracted(call.workspace, told, _NAMED, mode=mode, limit=most, namespace=namespace)
    return [one for one in found.learned if is_kept(one)]


def _all_wait(learned: Sequence[Learned]) -> bool:
    return all(one.outcome == "proposed" for one in learned)


def _row(one: Learned) -> dict[str, Any]:
    return {"id": one.id, "content": text_of(one), "type": type_of_lesson(one)}
