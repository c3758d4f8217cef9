"""``/v1/working-memory``: the working memory as one document in sections, as its first clients wrote it."""

from __future__ import annotations

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import proposed, said
from memento_tui.agent.protocol.document import EMPTY, Document, heading_of, sections_of
from memento_tui.agent.protocol.texts import set_off
from memento_tui.errors import NotFound
from memento_tui.interchange.protocol_model import SECTIONS, section_fields, section_key
from memento_tui.records import Proposal

__all__ = ["document", "section", "write_section"]


class _Section(Shape):
    content: str


def document(call: Call) -> Response:
    """Return the whole working memory: each section's text, and below it what belongs there."""
    here = Document(call.workspace, call.place.namespace, lambda record: call.place.holds(record.namespace))
    return said(here.whole(with_empty=True))


def section(call: Call) -> Response:
    """Return one section's text, without the items and skips that belong there: those have routes of their own."""
    key = section_key(call.path["section"])
    found = sections_of(call.workspace, call.place.namespace).get(key)
    if found is None and key not in SECTIONS:
        raise NotFound(f'Section "{key:.80}" not found in working memory.', f"There are {', '.join(SECTIONS)}.")
    content = "" if found is None else found.content
    return said(f"## {heading_of(key)}\n\n{set_off(content) or EMPTY}")


def write_section(call: Call) -> Response:
    """Write one section's text in the place of what it was."""
    content = call.given(_Section).content
    key = section_key(call.path["section"])
    before = sections_of(call.workspace, call.place.namespace).get(key)
    if before is None:
        made = call.workspace.items.create(**section_fields(key, content), namespace=call.place.namespace)
    else:
        made = call.workspace.items.update(before.id, content=content)
    if isinstance(made, Proposal):
        return proposed(made)
    return said(f'Updated section "{heading_of(key)}" in working memory.', section=key)
