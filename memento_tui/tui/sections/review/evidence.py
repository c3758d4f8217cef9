"""Read the item in focus, and format its heading and its evidence: the new text, the change, or both sides."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest

import msgspec
from textual.content import Content

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.decision_fields import decision_fields, fields_of_record, value_text
from memento_tui.api.inbox import inbox_name
from memento_tui.api.review import TAKES_PLACE_OF, ContradictionWithSides, PendingProposal, proposed_record
from memento_tui.model import Contradiction, Crystal, Memory
from memento_tui.tui.commands import COMMANDS, KeyMap, key_names
from memento_tui.tui.display import ago, has_hidden, literal, more_characters, shown, time_ago
from memento_tui.tui.memory_text import FACT_NAMES, lines_of_fields, memory_facts
from memento_tui.tui.text_diff import TextRun, compare_lines, draw_runs, draw_side_by_side, draw_unified, two_columns

__all__ = ["FocusedItem", "evidence", "heading", "marked_lines", "read_focused_item", "size_of"]

_MOST_OTHERS = 12


class FocusedItem(msgspec.Struct, frozen=True):
    """One item of the queue, with all that its evidence shows. Two that are equal look the same."""

    kind: str
    item: PendingProposal | ContradictionWithSides
    others: Mapping[str, Memory] = {}
    """The memories that would be merged into it, or that it would stand for, by id."""
    identity: Crystal | None = None
    """The present identity, where another one is proposed."""
    about: ContradictionWithSides | None = None
    """The contradiction that an answer was suggested to."""
    told: Mapping[str, int] = {}
    """In how many sessions of the last week agents were told each memory that it is about, by id."""

    @property
    def name(self) -> str:
        """The item's name in the queue."""
        if isinstance(self.item, ContradictionWithSides):
            return inbox_name("contradiction", self.item.contradiction.id)
        return self.item.proposal.id

    @property
    def id(self) -> str:
        """The name again, by which a story knows its record."""
        return self.name

    @property
    def record_kind(self) -> str:
        """``proposal`` or ``contradiction``."""
        return "contradiction" if isinstance(self.item, ContradictionWithSides) else "proposal"

    @property
    def version(self) -> int:
        """The version of the proposal or the contradiction that is shown."""
        item = self.item
        return item.contradiction.version if isinstance(item, ContradictionWithSides) else item.proposal.version

    @property
    def contradiction(self) -> ContradictionWithSides | None:
        """The contradiction to decide, or that an answer was suggested to, with both sides."""
        return self.item if isinstance(self.item, ContradictionWithSides) else self.about

    @property
    def is_contradiction(self) -> bool:
        """Whether it is answered by saying which side holds: a contradiction, or an answer suggested to one."""
        return isinstance(self.item, ContradictionWithSides) or self.item.proposal.target == "contradiction"


def read_focused_item(workspace: Workspace, kind: str, name: str) -> FocusedItem:
    """Read one item of the queue, by a few look-ups. Raises `NotFound` where it is gone."""
    item = workspace.inbox.get(name)
    if isinstance(item, ContradictionWithSides):
        sides = (item.contradiction.older, item.contradiction.newer)
        return FocusedItem(kind, item, told=workspace.activity.sessions_shown(sides, since=_lately()))
    evidence = item.proposal.evidence
    other_ids = [str(evidence["other"])] if "other" in evidence else list(evidence.get("sources", ()))
    others = workspace.get_many(other_ids[:_MOST_OTHERS]) if other_ids else {}
    identity = workspace.crystals.current() if item.proposal.target == "crystal" else None
    about = workspace.contradictions.get(item.proposal.target_id) if _is_contradiction_answer(item) else None
    told = workspace.activity.sessions_shown([item.proposal.target_id], since=_lately())
    return FocusedItem(kind, item, others, identity, about, told)


def _lately() -> datetime:
    return clock.now() - timedelta(days=7)


def _is_contradiction_answer(item: PendingProposal) -> bool:
    return item.proposal.target == "contradiction" and item.target is not None


def _both_sides(sides_of: ContradictionWithSides, width: int, *, split: bool) -> Content:
    """Return both memories, beside each other in ``width`` cells if ``split``, else one below the other."""
    contradiction = sides_of.contradiction
    sides = (
        ("OLDER", contradiction.older, sides_of.older, contradiction.older_spans),
        ("NEWER", contradiction.newer, sides_of.newer, contradiction.newer_spans),
    )
    if not split:
        blocks = []
        for name, memory_id, memory, spans in sides:
            head = Content("\n").join([_bold(line) for line in _side_facts(name, memory_id, memory)[:1]])
            rest = [Content.styled(line, "dim") for line in _side_facts(name, memory_id, memory)[1:]]
            text = [draw_runs(line) for line in _side_lines(memory, spans)]
            blocks.append(Content("\n").join([head, *rest, Content(""), *text]))
        return Content("\n\n").join(blocks)
    lines: list[Content] = []
    heads = [_side_facts(name, memory_id, memory) for name, memory_id, memory, _ in sides]
    for number, (left, right) in enumerate(zip_longest(*heads, fillvalue="")):
        style = "dim" if number else "bold"
        lines += two_columns([(left, False)], [(right, False)], width, styles=(style, style))
    texts = [_side_lines(memory, spans) for _, _, memory, spans in sides]
    lines += two_columns([("", False)], [("", False)], width)
    for left_text, right_text in zip_longest(*texts):
        lines += two_columns(left_text, right_text, width)
    return Content("\n").join(lines)


def _bold(line: str) -> Content:
    return Content.styled(line, "bold")


def _side_facts(name: str, memory_id: str, memory: Memory | None) -> list[str]:
    """Return the lines with the age, trust and origin of a memory; safe to show."""
    if memory is None:
        return [f"{name}  {shown(memory_id)} is gone"]
    since = time_ago(memory.created_at, clock.now())
    trust = "draft (unverified)" if memory.stability == "draft" else memory.stability
    life = [trust, f"certainty {memory.certainty}/5", f"used {memory.used_count}x"]
    origin: list[str] = ["from outside" if memory.source_type == "external" else memory.source_type]
    origin += [f"by {memory.source.agent}"] if memory.source.agent else []
    lines = [f"{name}, {since}", "  ".join(life), shown("  ".join([memory.namespace, *origin]))]
    if memory.title.strip():
        lines.append(shown(memory.title))
    lines += [shown(line) for line in lines_of_fields(memory)]
    said = FACT_NAMES - {"kind", "pinned", "tags", "it claims, and is not believed"} | {"source type"}
    lines += [shown(field.line) for field in fields_of_record(memory) if field.name not in said]
    if has_hidden(memory.content) or has_hidden(memory.title):
        lines.append("! hidden characters, shown as <...>")
    return lines


def _side_lines(memory: Memory | None, spans: Sequence[tuple[int, int]]) -> list[Sequence[TextRun]]:
    return [] if memory is None else marked_lines(memory.content, spans)


def marked_lines(content: str, spans: Sequence[tuple[int, int]]) -> list[Sequence[TextRun]]:
    """Return the lines of a text with the spans marked: each a start and an end in it. Safe to show."""
    pieces: list[TextRun] = []
    at = 0
    for start, end in sorted(spans):
        if at <= start < end <= len(content):
            pieces += [(content[at:start], False), (content[start:end], True)]
            at = end
    pieces.append((content[at:], False))
    lines: list[list[TextRun]] = [[]]
    for text, marked in pieces:
        first, *others = shown(text, multiline=True).split("\n")
        if first:
            lines[-1].append((first, marked))
        lines += [[(line, marked)] for line in others]
    return list(lines)


_BREAKS_A_RULE = "What is proposed breaks a rule and cannot be carried out. Reject it."

_MAX_CHARACTERS = 40_000
"""Characters of a new text that are shown."""

_FIELD_LABELS = {
    "skip": {"item": "do not", "reason": "because", "expires at": "until", "namespace": "in"},
    "item": {"category": "kind", "next action": "next", "namespace": "in"},
    "contradiction": {"older context": "the older one applies", "newer context": "the newer one applies"},
}
"""Words for fields that say more than their names, by the kind of record."""


def size_of(focus: FocusedItem) -> int:
    """Return how many characters the evidence compares or shows: the time to draw it grows with them."""
    item = focus.item
    if focus.contradiction is not None:
        return sum(
            len(side.content) for side in (focus.contradiction.older, focus.contradiction.newer) if side is not None
        )
    if isinstance(item, ContradictionWithSides):
        return 0
    texts = [getattr(item.target, "content", ""), str(item.proposal.payload.get("content", ""))]
    texts += [focus.identity.content] if focus.identity is not None else []
    return sum(map(len, texts))


def evidence(focus: FocusedItem, width: int, *, split: bool) -> Content:
    """Return the texts to decide about, drawn for ``width`` cells; differences in two columns if ``split``."""
    item = focus.item
    if isinstance(item, ContradictionWithSides):
        return _both_sides(item, width, split=split)
    parts = list(_parts(focus, item, width, split=split))
    return Content("\n").join(parts)


def _parts(focus: FocusedItem, item: PendingProposal, width: int, *, split: bool) -> Iterator[Content]:
    target = item.target
    if focus.is_contradiction:
        yield from _suggestion(focus, item, width, split=split)
    elif isinstance(target, Crystal):
        yield from _identity(focus, item, target, width, split=split)
    elif isinstance(target, Memory):
        yield from _memory(focus, item, target, width, split=split)
    elif item.proposal.target in ("skip", "item"):
        yield from _entry(item, width, split=split)
    else:
        yield literal(f"The {item.proposal.target} {item.proposal.target_id} is gone.", "$text-warning")


def _difference(before: str, after: str, width: int, *, split: bool) -> Content:
    pairs = compare_lines(before, after)
    return draw_side_by_side(pairs, width) if split else draw_unified(pairs, width=width)


def _text(content: str) -> Content:
    body = literal(content[:_MAX_CHARACTERS], multiline=True)
    return body + more_characters(content, _MAX_CHARACTERS, "; e shows all of them", style="bold")


def _memory(focus: FocusedItem, item: PendingProposal, target: Memory, width: int, *, split: bool) -> Iterator[Content]:
    if target.title.strip():
        yield literal(target.title, "bold")
    yield memory_facts(target, with_origin=False)
    yield Content("")
    after = proposed_record(item)
    fields = list(_fields(item, FACT_NAMES))
    yield from fields
    if fields:
        yield Content("")
    if item.proposal.action in ("create", "delete"):
        yield _text(target.content)
    elif after is None:
        yield Content.styled(_BREAKS_A_RULE, "$text-warning")
    elif after.content != target.content:
        yield _difference(target.content, after.content, width, split=split)
    else:
        yield _text(target.content)
    if focus.others:
        role = "WOULD BE SUPERSEDED" if item.proposal.action == "merge" else "WOULD STAND FOR"
        yield Content("")
        yield Content.styled(role, "bold $text-accent")
        for other in focus.others.values():
            yield literal(other.content if item.proposal.action == "merge" else other.headline, "dim", multiline=True)
        left = len(item.proposal.evidence.get("sources", ())) - len(focus.others)
        if left > 0:
            yield Content.styled(f"and {left:,} more", "dim")


def _fields(item: PendingProposal, said: Container[str] = ()) -> Iterator[Content]:
    """Return a line for each field that the decision carries out; those ``said`` above only where they change."""
    labels = _FIELD_LABELS.get(item.proposal.target, {})
    for field in decision_fields(item):
        label = labels.get(field.name, field.name)
        if field.is_changed:
            yield _change(label, field.before, field.after)
        elif field.name not in said:
            yield literal(f"{label}: ", "dim") + literal(_value_text(field.after) or "none")


def _change(label: str, before: object, after: object) -> Content:
    old, new = (_value_text(value) or "none" for value in (before, after))
    return (
        literal(f"{label}: ", "dim")
        + literal(f"- {old}", "$text-error")
        + Content("  ")
        + literal(f"+ {new}", "$text-success")
    )


def _identity(
    focus: FocusedItem, item: PendingProposal, crystal: Crystal, width: int, *, split: bool
) -> Iterator[Content]:
    if focus.identity is None or focus.identity.id == crystal.id:
        yield Content.styled("There is no identity yet; this would be the first.", "dim")
        yield from _fields(item)
        yield Content("")
        yield _text(crystal.content)
        return
    yield Content.styled("- is the present identity, + is what it would become", "dim")
    yield from _fields(item)
    yield Content("")
    yield _difference(focus.identity.content, crystal.content, width, split=split)


def _entry(item: PendingProposal, width: int, *, split: bool) -> Iterator[Content]:
    before, after = item.target, proposed_record(item)
    if before is None and item.proposal.action != "create":
        yield literal(f"The {item.proposal.target} {item.proposal.target_id} is gone.", "$text-warning")
        return
    if after is None and item.proposal.action != "delete":
        yield Content.styled(_BREAKS_A_RULE, "$text-warning")
    yield from _fields(item)
    present, proposed = getattr(before, "content", ""), getattr(after, "content", "")
    if before is not None and after is not None and present != proposed:
        yield _difference(present, proposed, width, split=split)
    elif text := proposed or present:
        yield Content("")
        yield _text(text)


def _value_text(value: object) -> str:
    """Return a value in a person's words; a moment with the time from now."""
    if isinstance(value, datetime):
        span = ago(value, clock.now())
        away = span if span.startswith("in ") else "now" if span == "now" else f"{span} ago"
        return f"{value:%Y-%m-%d %H:%M} UTC ({away})"
    return value_text(value)


def _suggestion(focus: FocusedItem, item: PendingProposal, width: int, *, split: bool) -> Iterator[Content]:
    payload = item.proposal.payload
    sides = item.sides if focus.about is not None else ()  # they follow in full
    yield from _fields(item, {f"{role}: {field.name}" for role, memory in sides for field in fields_of_record(memory)})
    if payload.get("content"):
        yield Content.styled("THE ONE TEXT", "bold")
        yield literal(str(payload["content"]), multiline=True)
        yield Content("")
    if focus.about is not None:
        yield _both_sides(focus.about, width, split=split)


_RECORD_NAMES = {"skip": "skip", "item": "working item", "crystal": "identity"}
_ACTION_TITLES = {
    "create": "A new {}",
    "edit": "A change of a {}",
    "delete": "A deletion of a {}",
    "merge": "One {} of two near duplicates",
}
_KIND_TITLES = {
    "learned": "A new {} learned from a transcript",
    "consolidation": "One new {} for several",
    "promotion": "A {} that would count for more",
    "code": "A {} about code that changed",
    "expiring": "A skip that would hold longer",
    "suggestion": "An answer to a contradiction",
    "identity": "A new identity",
}
_CONTRADICTION_TYPES = {
    "temporal": "the newer one may simply have replaced the older",
    "scoped": "each may hold in its own case",
    "genuine": "they cannot both hold",
}
_CONTRADICTION_ANSWERS = (
    ("review.newer", "newer"),
    ("review.older", "older"),
    ("review.both", "both"),
    ("review.merge", "one text"),
    ("review.reject", "no contradiction"),
)
_WARNING_STYLE = "bold $text-warning"
_RISK_STYLE = "bold $text-error"
_SHOWN_BELOW = {"older", "newer", "the other memory", "about", TAKES_PLACE_OF}
_WARNED_EVIDENCE = {"removed", "reads like orders"}
"""The evidence that is shown as a risk."""


def heading(focus: FocusedItem, keys: KeyMap) -> Content:
    """Return the lines above the evidence."""
    item = focus.item
    lines = (
        _contradiction_heading(item.contradiction)
        if isinstance(item, ContradictionWithSides)
        else _proposal_heading(focus, item)
    )
    effect = _effect(focus)
    answers = [_choices(focus, keys)] if focus.is_contradiction else []
    return Content("\n").join([*lines, *([effect] if effect is not None else []), *answers])


def _contradiction_heading(contradiction: Contradiction) -> Iterator[Content]:
    since = time_ago(contradiction.created_at, clock.now())
    yield literal(f"Two memories contradict each other, found {since}", "bold")
    why = (contradiction.why or contradiction.kind).rstrip(".")
    meaning = _CONTRADICTION_TYPES[contradiction.kind]
    yield literal(f"{why}: {meaning} ({contradiction.score:.0%} sure).", "dim")


def _proposal_heading(focus: FocusedItem, item: PendingProposal) -> Iterator[Content]:
    proposal = item.proposal
    title = _KIND_TITLES.get(focus.kind, _ACTION_TITLES[proposal.action]).format(
        _RECORD_NAMES.get(proposal.target, "memory")
    )
    since = time_ago(proposal.created_at, clock.now())
    yield literal(f"{title} from {proposal.proposed_by or 'somebody'}, {since}", "bold")
    if item.why:
        yield literal(f"You are asked because {'; '.join(item.why)}.", "dim")
    if proposal.state == "needs_review" or item.moved:
        yield Content.styled("! What it is about changed since. This is how it stands now.", _WARNING_STYLE)
    for name, text in item.rests_on:
        if name not in _SHOWN_BELOW:
            alarming = name in _WARNED_EVIDENCE
            line = f"{'! ' if alarming else ''}{name}: {text}"
            yield literal(line, _RISK_STYLE if alarming else "", multiline=True)
    if "other" in proposal.evidence:
        likeness = proposal.evidence.get("likeness")
        share = f", {likeness:.0%} alike" if isinstance(likeness, (int, float)) else ""
        yield literal(f"the other memory: {proposal.evidence['other']}{share}")


def _choices(focus: FocusedItem, keys: KeyMap) -> Content:
    known = {command.id: command for command in COMMANDS}
    parts = [(key_names(keys.of(known[name])).split()[0], answer) for name, answer in _CONTRADICTION_ANSWERS]
    if not isinstance(focus.item, ContradictionWithSides):
        approve = key_names(keys.of(known["review.approve"])).split()[0]
        parts = [(approve, "as suggested"), *parts[:4], (parts[4][0], "reject")]
    line = [Content.styled(f"{key} ", "bold $text-accent") + Content(f"{answer}   ") for key, answer in parts]
    return Content("").join(line)


_EFFECTS = {
    ("create", "memory"): "it becomes active and verified, and agents are told it.",
    ("edit", "memory"): "the new text replaces the old one, which stays in the history.",
    ("delete", "memory"): "agents are told it no longer; it can be restored.",
    ("merge", "memory"): "one text holds, and the other memory is superseded.",
    ("create", "skip"): "agents leave it alone from then on.",
    ("create", "crystal"): "agents begin with this identity; the present one stays in the history.",
}
"""The effect of approving, by action and kind of record."""

_FIELD_EFFECTS = {
    "stability": "it counts as {} from then on, and agents are told so",
    "tier": "it is kept longer: as {} memory",
    "certainty": "its certainty becomes {} of 5",
    "status": "it becomes {}",
}
"""The effect of changing one field and no text."""


def _effect(focus: FocusedItem) -> Content | None:
    """Return the line about the effect of a decision; ``None`` where it goes without saying."""
    item = focus.item
    if isinstance(item, ContradictionWithSides):
        older, newer = (focus.told.get(side, 0) for side in (item.contradiction.older, item.contradiction.newer))
        told = f"{_sessions(older)} told the older this week, {f'{newer:,}' if newer else 'none'} the newer."
        if not older and not newer:
            told = f"{_sessions(0)} told either of them this week."
        return _effect_line("the side that does not hold is superseded.", told)
    proposal = item.proposal
    effect = _EFFECTS.get((proposal.action, proposal.target), "")
    sources = len(proposal.evidence.get("sources", ()))
    if sources and proposal.action == "create":
        effect = f"it becomes active, and stands for {sources:,} memories, which stay."
    elif proposal.action == "edit" and proposal.target == "memory":
        effect = _effect_of_fields(proposal.payload) or effect
    if not effect:
        return None
    if item.takes_place_of:
        effect = f"{effect.rstrip('.')}; it takes the place of {item.takes_place_of}."
    told = (
        "" if proposal.action == "create" else f"{_sessions(focus.told.get(proposal.target_id, 0))} told it this week."
    )
    return _effect_line(effect, told)


def _effect_of_fields(payload: Mapping[str, object]) -> str:
    """Return the effect of an edit that changes no text; empty for one that does."""
    if not payload or not payload.keys().isdisjoint({"title", "content"}):
        return ""
    parts = [
        text.format(value_text(payload[name]).replace("_", "-"))
        for name, text in _FIELD_EFFECTS.items()
        if name in payload
    ]
    others = [name.replace("_", " ") for name in payload if name not in _FIELD_EFFECTS]
    is_one = len(others) == 1 and not others[0].endswith("s")
    parts += [f"its {', '.join(others)} {'changes' if is_one else 'change'}"] if others else []
    return f"{', and '.join(parts)}; its text stays."


def _sessions(number: int) -> str:
    return "No session was" if not number else "1 session was" if number == 1 else f"{number:,} sessions were"


def _effect_line(effect: str, told: str) -> Content:
    return Content.styled("Effect: ", "bold") + literal(f"{effect} {told}".rstrip())
