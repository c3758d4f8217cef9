"""``/v1/working-memory``: the working memory as one document in sections, as its first clients wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.lists import items_of
from memento_tui.agent.http.replies import proposed, said
from memento_tui.errors import NotFound
from memento_tui.interchange.protocol_model import (
    SECTIONS,
    category_of,
    item_title,
    section_fields,
    section_key,
    section_of,
)
from memento_tui.records import Proposal, WorkingItem

__all__ = ["document", "section", "write_section"]

_EMPTY = "(empty)"
_HEADING_OF = {
    "active_work": "Active Work",
    "standing_decision": "Standing Decisions",
    "skip_list": "Skip List",
    "waiting_for": "Waiting For",
    "session_note": "Session Notes",
}


class _Section(Shape):
    content: str


def document(call: Call) -> Response:
    """Return the whole working memory: each section's text, and below it the working items that belong there."""
    written = {section_of(item): item.content for item in _sections(call)}
    items = [item for item in items_of(call, call.place) if item.status != "archived"]
    by_heading: dict[str, list[WorkingItem]] = {}
    for item in items:
        by_heading.setdefault(_HEADING_OF[category_of(item)], []).append(item)
    headings = {key: SECTIONS.get(key, key) for key in (*SECTIONS, *written)}
    parts = [
        "\n\n".join([f"## {heading}", *_body(written.get(key, ""), by_heading.get(heading, []))])
        for key, heading in headings.items()
    ]
    return said("\n\n---\n\n".join(["# Working Memory", *parts]))


def _body(text: str, items: Sequence[WorkingItem]) -> Iterator[str]:
    if text.strip():
        yield text
    elif not items:
        yield _EMPTY
    for item in items:
        tags = f" [{', '.join(item.tags)}]" if item.tags else ""
        status = f" *({item.status})*" if item.status != "active" else ""
        yield f"### {item_title(item)}{status}{tags}"
        if item.content:
            yield item.content
        if item.next_action:
            yield f"**Next:** {item.next_action}"


def section(call: Call) -> Response:
    """Return one section's text."""
    key = section_key(call.path["section"])
    found = _section(call, key)
    if found is None and key not in SECTIONS:
        raise NotFound(f'Section "{key:.80}" not found in working memory.', f"There are {', '.join(SECTIONS)}.")
    content = "" if found is None else found.content
    return said(f"## {SECTIONS.get(key, key)}\n\n{content or _EMPTY}")


def write_section(call: Call) -> Response:
    """Write one section's text in the place of what it was."""
    content = call.given(_Section).content
    key = section_key(call.path["section"])
    before = _section(call, key)
    if before is None:
        made = call.workspace.items.create(**section_fields(key, content), namespace=call.place.namespace)
    else:
        made = call.workspace.items.update(before.id, content=content)
    if isinstance(made, Proposal):
        return proposed(made)
    return said(f'Updated section "{SECTIONS.get(key, key)}" in working memory.', section=key)


def _sections(call: Call) -> list[WorkingItem]:
    found = call.workspace.items.list()
    return [item for item in found if item.namespace == call.place.namespace and section_of(item)]


def _section(call: Call, key: str) -> WorkingItem | None:
    return next((item for item in _sections(call) if section_key(section_of(item)) == key), None)
