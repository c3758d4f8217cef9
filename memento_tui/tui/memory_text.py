"""Format a memory: as a row of a list, and as the facts and the text of a preview."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from textual.content import Content

from memento_tui import clock
from memento_tui.model import Memory
from memento_tui.model.claims import claims_of
from memento_tui.model.memory_fields import FIELDS
from memento_tui.search.query_language import Query
from memento_tui.tui.display import ago, hidden_characters, literal, more_characters, time_ago

__all__ = [
    "FACT_NAMES",
    "GLYPH_LEGEND",
    "lines_of_fields",
    "memory_body",
    "memory_facts",
    "memory_title",
    "trust_glyph",
]

_LONGEST_PREVIEW = 4_000
"""Characters of a text that are drawn at first, two screens of the widest terminal: a key costs what they cost."""

_MAX_SCANNED_CHARACTERS = 20_000
"""Characters of a text that are looked through for hidden ones, which takes some 10 ms where all of them are."""


def memory_title(memory: Memory) -> Content:
    """Return the headline of a preview."""
    return literal(memory.headline, "bold")


_OWN_LINES = [field for field in FIELDS if field.preview]
"""The fields that have a line of their own."""

FACT_NAMES = frozenset(
    (
        "title",
        "kind",
        "stability",
        "verified at",
        "verified by",
        "certainty",
        "pinned",
        "namespace",
        "tags",
        *(field.name.replace("_", " ") for field in _OWN_LINES),
        "source agent",
        "it claims, and is not believed",
    )
)
"""The fields, named as `memento_tui.api.decision_fields` does, that a preview's title and facts speak of."""


def memory_facts(memory: Memory, *, with_origin: bool = True) -> Content:
    """Return the lines below the headline: trust, namespace and tags, age and use, claims, hidden characters.

    ``with_origin`` adds its id, its creation, the other measures of trust and where it is from; the review lists the
    fields of a proposal itself.
    """
    now = clock.now()
    trust = [memory.kind.replace("_", " "), memory.stability if memory.stability != "draft" else "draft (unverified)"]
    trust += [f"certainty {memory.certainty}/5"] + (["pinned"] if memory.pinned else [])
    if memory.status != "active":
        trust.insert(0, memory.status.upper())
    if memory.source_type == "external":
        trust.append("from outside")
    place = [memory.namespace, *(f"#{tag}" for tag in memory.tags)]
    life = [f"changed {time_ago(memory.updated_at, now)}", f"used {memory.used_count}x", *_expiry_text(memory, now)]
    if memory.source.agent:
        life.append(f"by {memory.source.agent}")
    parts = [trust, place, life, *([_measures(memory), _origin(memory)] if with_origin else [])]
    lines = [literal("  ".join(part), "dim") for part in parts if part]
    lines += [literal(line, "dim") for line in lines_of_fields(memory)]
    if claims := {name: value for name, value in claims_of(memory).items() if getattr(memory, name) != value}:
        stated = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in claims.items())
        lines.append(literal(f"it claims, and is not believed: {stated}", "$text-warning"))
    hidden = hidden_characters(memory.content[:_MAX_SCANNED_CHARACTERS]) + hidden_characters(memory.title)
    if hidden:
        names = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        lines.append(literal(f"! hidden characters, shown as <...>: {names}", "bold $text-warning"))
    return Content("\n").join(lines)


def lines_of_fields(memory: Memory) -> list[str]:
    """Return a line for each field that has one of its own, not yet safe to show."""
    values = [(field.preview, getattr(memory, field.name)) for field in _OWN_LINES]
    return [f"{words}: {value}" for words, value in values if value]


def _measures(memory: Memory) -> list[str]:
    """Return a memory's id, day of creation, tier, confidence and surprise."""
    measures = [memory.id, f"created {memory.created_at:%Y-%m-%d}", memory.tier.replace("_", " ")]
    measures.append(f"confidence {memory.confidence:.2f}")
    return measures + ([] if memory.surprise is None else [f"surprise {memory.surprise:.2f}"])


def _origin(memory: Memory) -> list[str]:
    """Return where it is from, as far as that is known."""
    session = f"session {memory.source.session}" if memory.source.session else ""
    return [part for part in (memory.source.url, session, memory.source.transcript, memory.source.span) if part]


def _expiry_text(memory: Memory, now: datetime) -> Iterator[str]:
    if memory.expires_at is not None:
        past = memory.expires_at <= now
        yield f"expired {ago(memory.expires_at, now)} ago" if past else f"expires {ago(memory.expires_at, now)}"


def memory_body(memory: Memory, query: Query | None = None, *, whole: bool = False, markdown_width: int = 0) -> Content:
    """Return the content with the query's words marked; a long one is cut, with a note, unless ``whole`` is set.

    It is drawn as Markdown, its tables within ``markdown_width`` cells, where that is not 0.
    """
    limit = len(memory.content) if whole else _LONGEST_PREVIEW
    text = memory.content[:limit]
    if markdown_width:
        from memento_tui.tui.markdown_text import draw_markdown  # noqa: PLC0415 - with the first preview

        body = draw_markdown(text, markdown_width)
    else:
        body = literal(text, multiline=True)
    if query is not None:
        from memento_tui.search.snippets import find_query_matches  # noqa: PLC0415 - loaded with the first search

        for start, end in find_query_matches(query, body.plain):
            body = body.stylize("$text-accent bold underline", start, end)
    return body + more_characters(memory.content, limit, "; O shows all of it here, E in your editor")


GLYPH_LEGEND = "= stable  + verified  . draft  ~ waits for you  x deleted  ^ pinned  ! hidden characters"


def trust_glyph(status: str, stability: str) -> tuple[str, str]:
    """Return the glyph of a status and a stability, and the name of its style."""
    if status in ("deleted", "rejected"):
        return "x", "error"
    if status == "pending":
        return "~", "warning"
    if status in ("archived", "superseded", "consolidated", "compacted"):
        return "-", "muted"
    return {"stable": ("=", "good"), "verified": ("+", "good")}.get(stability, (".", "muted"))
