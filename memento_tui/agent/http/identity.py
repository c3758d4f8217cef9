"""``/v1/identity``: who the person's agent is, in prose. There is one identity, so that accounts have none."""

from __future__ import annotations

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape, limited
from memento_tui.agent.http.replies import proposed, said
from memento_tui.agent.labels import moment_text
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidField, NotAllowed
from memento_tui.records import Crystal, Memory
from memento_tui.store.filters import AllOf, NotThat, OneOf
from memento_tui.store.slices import memory_slice
from memento_tui.upkeep.drafting import Drafter

__all__ = ["crystallize", "history", "read", "write"]

_MOST_TOLD = 20
_MOST_SOURCES = 40
_TELLING = ("instruction", "preference", "decision", "heuristic", "pattern", "anti_pattern")
"""The kinds of memories that say how somebody works."""

_NONE = (
    "No identity crystal has been written for this workspace. One is a text in the first person: who you are, how you"
    " work and what you care about. Write it yourself with PUT /v1/identity, or draft one from the memories with"
    " POST /v1/identity/crystallize."
)


class _Written(Shape):
    crystal: str = ""


class _Limit(Shape):
    limit: int = 10


def read(call: Call) -> Response:
    """Return the identity that holds now."""
    crystal = None if call.caller.account else call.workspace.crystals.current()
    if crystal is None:
        return said(_NONE)
    meta = {"id": crystal.id, "source_count": _sources(crystal), "created_at": moment_text(crystal.created_at)}
    return said(crystal.content, meta=meta)


def write(call: Call) -> Response:
    """Write the identity anew; earlier ones are kept."""
    content = call.given(_Written).crystal.strip()
    if not content:
        raise InvalidField("crystal", "is missing", "Write at least a sentence.")
    return _stored(call, content, f"stored ({len(content)} chars)")


def crystallize(call: Call) -> Response:
    """Draft an identity of whole sentences from the memories that say how the agent works, the surest first."""
    _check_own(call)
    telling = AllOf((OneOf("kind", _TELLING), NotThat(OneOf("source_type", ("external",)))))
    sources: list[Memory] = list(
        memory_slice(
            call.workspace.store,
            call.here(AllOf((telling, OneOf("sensitivity", ("normal",))))),
            order="certainty",
            ascending=False,
            limit=_MOST_SOURCES,
            skip=0,
        )
    )
    if not sources:
        return said("No identity crystal was drafted: no memory says yet how you work.", status="nothing")
    draft = Drafter(LanguageModelConfig()).draft("consolidate", sources)
    return _stored(call, draft.content, f"auto-generated ({len(sources)} sources). Use GET /v1/identity to retrieve it")


def _stored(call: Call, content: str, how: str) -> Response:
    _check_own(call)
    crystal = call.workspace.crystals.write(content)
    if crystal.status in ("proposed", "rejected"):
        return proposed(call.workspace.store.proposals.about(crystal.id, "crystal")[0], id=crystal.id)
    return said(f"Identity crystal {crystal.id} {how}.", id=crystal.id)


def history(call: Call) -> Response:
    """List the identities there were, newest first."""
    limit = limited(call.asked(_Limit).limit, _MOST_TOLD)
    known = [] if call.caller.account else call.workspace.crystals.history()
    found = [crystal for crystal in known if crystal.status in ("current", "past")][:limit]
    if not found:
        return said("No identity snapshots found.", snapshots=[])
    rows = [
        {
            "id": crystal.id,
            "created_at": moment_text(crystal.created_at),
            "length": len(crystal.content),
            "source_count": _sources(crystal),
        }
        for crystal in found
    ]
    lines = [f"{r['id']} — {r['created_at']} ({r['length']} chars, {r['source_count']} sources)" for r in rows]
    return said(f"Identity crystal history ({len(rows)} snapshots):\n\n" + "\n".join(lines), snapshots=rows)


def _sources(crystal: Crystal) -> int:
    count = crystal.extra.get("source_count", 0)
    return count if isinstance(count, int) else 0


def _check_own(call: Call) -> None:
    if call.caller.account:
        raise NotAllowed(
            "The identity is that of the person's own agent.", "An account keeps what it is like as memories."
        )
