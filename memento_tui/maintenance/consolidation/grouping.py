"""Group memories by topical tags, and find those that say the same in parts, with the text that stands for them.

One memory of a group that says the same, the best source, makes every statement of the others, or a newer one in its
place: nothing is lost when it stands for them, and nothing has to be written anew.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from memento_tui.maintenance.contradictions.alignment import is_event, speak_of_one_subject
from memento_tui.maintenance.contradictions.finder import SCORE_TO_RAISE, compare_claims
from memento_tui.model import Memory, make_memory
from memento_tui.model.validation import fold_tag
from memento_tui.text.sentences import TextStatement, missing_statements, statements
from memento_tui.text.words import WORD

__all__ = [
    "LARGEST_GROUP",
    "SYNTHESIZED_CERTAINTY",
    "Group",
    "MatterGroup",
    "Replaced",
    "group_score",
    "grouping_scope",
    "groups_of",
    "groups_of_one_matter",
    "is_groupable",
    "is_known_title",
    "oldest_first",
    "tag_groups",
]


COMMON_SHARE = 0.25
"""The share of memories above which a tag groups nothing by itself, if it has more memories than a group can hold."""

_PROVENANCE_TAGS = frozenset(
    """
    source src session session_id agent import imported importer date created day week month project repo branch
    workspace user author host channel model transcript origin
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""The prefixes, before the first ``:``, ``/`` or ``=``, of tags that name the provenance of a memory."""

_TAG_PARTS = re.compile(r"[:/=]")
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


def _is_provenance(folded: str, names: frozenset[str]) -> bool:
    """Tell whether a tag names a memory's provenance: ``source:distill``, a date, its agent, its project."""
    if folded in names:
        return True
    if folded.isalnum():
        return False
    parts = _TAG_PARTS.split(folded, maxsplit=1)
    return (len(parts) > 1 and parts[0] in _PROVENANCE_TAGS) or _DATE.fullmatch(folded) is not None


def _provenance_names(memory: Memory) -> frozenset[str]:
    """Return the names of a memory's agent, session and namespace, which are no topics as tags."""
    return frozenset(map(fold_tag, (memory.source.agent, memory.source.session, *memory.namespace.split("/"))))


def topic_tags_of(memory: Memory) -> dict[str, str]:
    """Return a memory's tags other than its provenance, in the form in which tags are compared."""
    names = _provenance_names(memory)
    folded = {fold_tag(tag): tag for tag in memory.tags}
    return {key: tag for key, tag in folded.items() if not _is_provenance(key, names)}


TopicsOfMemories = Mapping[str, Mapping[str, str]]
"""The result of `topic_tags_of` for each memory, by id."""


def topics_of_memories(memories: Iterable[Memory]) -> TopicsOfMemories:
    """Return the `topic_tags_of` each memory, by id."""
    return {memory.id: topic_tags_of(memory) for memory in memories}


def topical_tags(memories: Sequence[Memory], subjects: TopicsOfMemories, most: int) -> dict[str, frozenset[str]]:
    """Return for each memory, by id, the topic tags that it shares with others and that are not too common.

    ``most`` is the number of memories up to which a tag is never too common.
    """
    carried: Counter[str] = Counter()
    for memory in memories:
        carried.update(subjects[memory.id].keys())
    too_many = max(most, COMMON_SHARE * len(memories))
    kept = {tag for tag, count in carried.items() if 1 < count <= too_many}
    return {memory.id: frozenset(kept.intersection(subjects[memory.id])) for memory in memories}


SYNTHESIZED_CERTAINTY = 3
"""The highest certainty of a memory made of others (Memento Vault)."""

TITLE_OVERLAP = 0.70
"""The share of common words above which two titles name the same thing (Memento Vault)."""

LARGEST_GROUP = 12
"""The most memories in one group: as many as a person can check against a draft."""

_COMPARED_TAGS = 8
"""The most frequent tags of a memory by which a large group is split."""

_SMALLEST_GROUP = 3
_PROJECTS = "projects/"

GroupingScope = tuple[str, bool]
"""The scope of a memory; memories of two scopes are never joined. See `grouping_scope`."""


class Group(msgspec.Struct, frozen=True):
    """Memories that one memory could replace."""

    ids: tuple[str, ...]
    """Oldest first."""
    score: float
    """The priority of joining them; see `group_score`."""
    tags: tuple[str, ...]
    """The topic tags that at least half of them carry."""
    why: str
    """The reason, one sentence for the person who decides."""


def is_groupable(memory: Memory) -> bool:
    """Tell whether a memory may be joined with others: it is active, and nothing asks to keep it apart."""
    return memory.status == "active" and memory.sensitivity == "normal"


def grouping_scope(memory: Memory) -> GroupingScope:
    """Return the scope that two memories must have in common to be joined.

    One part is the namespace; below ``projects/`` its first two names, so that the parts of one project may join. The
    other keeps unverified text from outside apart from the user's own.
    """
    namespace = memory.namespace
    if namespace.startswith(_PROJECTS):
        namespace = "/".join(namespace.split("/")[:2])
    return namespace, memory.source_type == "external" and memory.stability == "draft"


def oldest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories oldest first."""
    return sorted(memories, key=lambda memory: (memory.created_at, memory.id))


def tag_groups(memories: Sequence[Memory], *, largest: int = LARGEST_GROUP) -> list[list[str]]:
    """Return groups of three to ``largest`` memories that shared tags join, by ids.

    Union-find as in Memento Protocol, over tags of the subject alone. A component that is too large, or a chain (some
    member has no tag that half of them carry), is split by its tags, then by other common tags, then by time.
    """
    return _tag_groups(memories, topics_of_memories(memories), largest)


def _tag_groups(memories: Iterable[Memory], subjects: TopicsOfMemories, largest: int) -> list[list[str]]:
    found: list[list[str]] = []
    for group in _by_scope(memories).values():
        found += groups_sharing_tags(
            topical_tags(group, subjects, largest), group, largest=largest, smallest=_SMALLEST_GROUP
        )
    return sorted(found)


def groups_sharing_tags(
    tags: Mapping[str, frozenset[str]], memories: Sequence[Memory], *, largest: int, smallest: int
) -> Iterator[list[str]]:
    """Yield the groups that some tags of each memory make, as in `tag_groups`, ``smallest`` to ``largest`` in each."""
    by_id = {memory.id: memory for memory in memories}
    for component in _components(memories, tags):
        if len(component) >= smallest:
            yield from _split_component([by_id[name] for name in component], tags, largest, smallest)


def groups_of(memories: Sequence[Memory], *, largest: int = LARGEST_GROUP, most: int = 10) -> list[Group]:
    """Return the groups most worth joining, best first; no memory is in two."""
    by_id = {memory.id: memory for memory in memories if is_groupable(memory)}
    subjects = topics_of_memories(by_id.values())
    found = []
    for ids in _tag_groups(by_id.values(), subjects, largest):
        members = [by_id[name] for name in ids]
        tags = _shared(members, subjects)
        found.append(Group(tuple(ids), _score(members, subjects), tags, _why(len(ids), tags)))
    return heapq.nsmallest(most, found, key=lambda group: (-group.score, group.ids))


def group_score(memories: Sequence[Memory]) -> float:
    """Return Memento Vault's priority of joining some memories.

    log2(n) + 0.8 tag diversity + 0.6 min(days / 30, 1) + 0.25 for two or more projects + 0.3 mean certainty / 5.
    Tag diversity is the number of different user tags over that of all; days are whole, from the first to the last
    creation; projects are the namespaces below ``projects/``.
    """
    return _score(memories, topics_of_memories(memories))


def _score(memories: Sequence[Memory], subjects: TopicsOfMemories) -> float:
    tags = [tag for memory in memories for tag in subjects[memory.id]]
    diversity = len(set(tags)) / len(tags) if tags else 0.0
    created = [memory.created_at for memory in memories]
    days = (max(created) - min(created)).days
    projects = {memory.namespace for memory in memories if memory.namespace.startswith(_PROJECTS)}
    certainty = sum(memory.certainty for memory in memories) / len(memories)
    return (
        math.log2(len(memories))
        + 0.8 * diversity
        + 0.6 * min(days / 30, 1.0)
        + (0.25 if len(projects) > 1 else 0.0)
        + 0.3 * certainty / 5
    )


def _shared(memories: Sequence[Memory], subjects: TopicsOfMemories) -> tuple[str, ...]:
    spelled: dict[str, str] = {}
    carried: Counter[str] = Counter()
    for memory in memories:
        for folded, tag in subjects[memory.id].items():
            carried[folded] += 1
            spelled.setdefault(folded, tag)
    shared = sorted((-count, tag) for tag, count in carried.items() if count * 2 >= len(memories))
    return tuple(spelled[tag] for _, tag in shared)


def is_known_title(title: str, titles: Iterable[str]) -> bool:
    """Tell whether a title shares more than 0.70 of its words (Jaccard) with one of the others."""
    words = _words(title)
    if not words:
        return False
    for other in map(_words, titles):
        both = len(words & other)
        if both > TITLE_OVERLAP * (len(words) + len(other) - both):
            return True
    return False


def _words(title: str) -> set[str]:
    return set(WORD.findall(title.casefold()))


def _by_scope(memories: Iterable[Memory]) -> dict[GroupingScope, list[Memory]]:
    places: dict[GroupingScope, list[Memory]] = defaultdict(list)
    for memory in memories:
        if is_groupable(memory):
            places[grouping_scope(memory)].append(memory)
    return places


def _components(memories: Sequence[Memory], tags: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Return the ids that shared tags connect, by union-find."""
    above = {memory.id: memory.id for memory in memories}

    def top(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    first: dict[str, str] = {}
    for memory in memories:
        for tag in tags[memory.id]:
            above[top(memory.id)] = top(first.setdefault(tag, memory.id))
    joined: dict[str, list[str]] = defaultdict(list)
    for memory in memories:
        joined[top(memory.id)].append(memory.id)
    return list(joined.values())


def _split_component(
    members: Sequence[Memory], tags: Mapping[str, frozenset[str]], largest: int, smallest: int
) -> Iterator[list[str]]:
    carriers: dict[str, list[Memory]] = defaultdict(list)
    for memory in oldest_first(members):
        for tag in tags[memory.id]:
            carriers[tag].append(memory)
    main = {tag for tag, found in carriers.items() if len(found) * 2 >= len(members)}
    if len(members) <= largest and all(not main.isdisjoint(tags[memory.id]) for memory in members):
        yield [memory.id for memory in oldest_first(members)]
        return
    # The tags that make one whole group come first, the fullest before the others; then those that make several.
    sizes = {tag: len(found) for tag, found in carriers.items()}
    order = sorted(sizes, key=lambda tag: (sizes[tag] > largest, abs(sizes[tag] - largest), tag))
    left = {memory.id for memory in members}
    for tag in order:
        free = [memory for memory in carriers[tag] if memory.id in left]
        if len(free) < smallest:
            continue
        for part in _even_pieces(free, tags, largest):
            left.difference_update(part)
            if len(part) >= smallest:
                yield part


def _even_pieces(members: Sequence[Memory], tags: Mapping[str, frozenset[str]], largest: int) -> Iterator[list[str]]:
    """Cut members into even pieces, by common tags, then by time."""
    carried = Counter(tag for memory in members for tag in tags[memory.id])

    def place(memory: Memory) -> tuple[list[str], datetime, str]:
        frequent = heapq.nsmallest(_COMPARED_TAGS, tags[memory.id], key=lambda tag: (-carried[tag], tag))
        return frequent, memory.created_at, memory.id

    ordered = sorted(members, key=place) if len(members) > largest else members
    count = -(-len(ordered) // largest)
    for number in range(count):
        part = ordered[number * len(ordered) // count : (number + 1) * len(ordered) // count]
        yield [memory.id for memory in oldest_first(part)]


def _why(count: int, tags: Sequence[str]) -> str:
    named = ", ".join(f"'{tag}'" for tag in tags[:3])
    return f"{count} memories share the tag{'s' if len(tags) > 1 else ''} {named}."


_SIMILARITY = 0.6
_FEWEST_SOURCES = 3
"""Two memories are a near duplicate or a contradiction, which have ways of their own."""

_SAME_STATEMENT = 0.5
"""The share of common words from which a statement may take the place of another."""

Neighbours = Mapping[str, Sequence[tuple[str, float]]]


class Replaced(msgspec.Struct, frozen=True):
    """A statement that a later one took the place of."""

    text: str
    until: str
    """The day from which the later one holds."""


class MatterGroup(msgspec.Struct, frozen=True):
    """Memories of one matter: the best source and the others, which say nothing that it does not."""

    best: Memory
    others: tuple[Memory, ...]
    replaced: tuple[Replaced, ...]
    """The former statements in the order of time."""

    @property
    def sources(self) -> tuple[Memory, ...]:
        """All memories, oldest first."""
        return tuple(oldest_first([self.best, *self.others]))

    @property
    def content(self) -> str:
        """The best source's text, and below it the statements that held before."""
        if not self.replaced:
            return self.best.content
        lines = [f"- until {one.until}: {one.text}" for one in self.replaced]
        return "\n".join([self.best.content.rstrip(), "", "Before:", *lines])

    @property
    def why(self) -> str:
        """The reason, one sentence for the person who decides."""
        end = " or replaces" if self.replaced else ""
        return f"One of {1 + len(self.others)} memories says{end} everything that the others say."


def groups_of_one_matter(memories: Iterable[Memory], neighbours: Neighbours) -> list[MatterGroup]:
    """Return the groups of at least three memories of one matter, largest first; no memory is in two.

    Only memories of one scope are joined, and never records of events: two days are two days.
    """
    usable = {memory.id: memory for memory in memories if is_groupable(memory) and not is_event(memory)}
    near: dict[str, set[str]] = defaultdict(set)
    for name, found in neighbours.items():
        for other, similarity in found:
            if similarity >= _SIMILARITY and name in usable and other in usable and name != other:
                near[name].add(other)
                near[other].add(name)
    stars = [_star(usable[name], [usable[other] for other in sorted(near[name])]) for name in sorted(near)]
    found_groups: list[MatterGroup] = []
    taken: set[str] = set()
    for best, others in sorted(stars, key=lambda star: (-len(star[1]), star[0].id)):
        free = {other.id: replaced for other, replaced in others if other.id not in taken}
        if best.id in taken or len(free) + 1 < _FEWEST_SOURCES:
            continue
        members = oldest_first([usable[name] for name in free])[-(LARGEST_GROUP - 1) :]
        former = [(member, one) for member in members for one in free[member.id]]
        found_groups.append(MatterGroup(best, tuple(members), _with_their_ends(former, [*members, best])))
        taken.update({best.id, *free})
    return found_groups


def _star(best: Memory, others: Sequence[Memory]) -> tuple[Memory, list[tuple[Memory, Sequence[TextStatement]]]]:
    """Return the best source with each memory it stands for; none where a later version dropped what it would bring."""
    if any(_dropped_by(best, other) for other in others):
        return best, []
    found = [(other, _replaced_by(best, other)) for other in others if _may_join(best, other)]
    return best, [(other, replaced) for other, replaced in found if replaced is not None]


def _may_join(best: Memory, other: Memory) -> bool:
    return grouping_scope(best) == grouping_scope(other) and speak_of_one_subject(best, other)


def _dropped_by(best: Memory, other: Memory) -> bool:
    """Tell whether a memory is a later version of the best source's note, without one of its statements.

    Under another title, as of a section that was renamed, it is one if it says nothing but what the best source says.
    A single statement may be said again.
    """
    return (
        other.created_at >= best.created_at
        and grouping_scope(best) == grouping_scope(other)
        and (_have_one_title(best, other) or _later_says_a_part(best, other))
        and bool(missing_statements(best.content, other.content))
    )


def _later_says_a_part(best: Memory, other: Memory) -> bool:
    """Tell whether a later text of several statements has no statement that the best source lacks."""
    return (
        other.created_at > best.created_at
        and len(statements(other.content)) > 1
        and not missing_statements(other.content, best.content)
    )


def _replaced_by(best: Memory, other: Memory) -> Sequence[TextStatement] | None:
    """Return the statements of a memory that the best source replaces, or None where it lacks one altogether."""
    missing = missing_statements(other.content, best.content)
    if missing and other.created_at >= best.created_at:
        return None
    return missing if all(_has_successor(one, best, other) for one in missing) else None


def _have_one_title(one: Memory, other: Memory) -> bool:
    """Tell whether two memories have the same title, of a section of a file its own heading: those above it change."""
    headings = [memory.title.casefold().rpartition(" / ")[2] for memory in (one, other)]
    return headings[0] != "" and headings[0] == headings[1]


def _has_successor(statement: TextStatement, best: Memory, other: Memory) -> bool:
    """Tell whether the best source says something else in the place of a statement: another value, the contrary."""
    for candidate in statements(best.content):
        shared = len(statement.words & candidate.words)
        if shared < _SAME_STATEMENT * len(statement.words | candidate.words):
            continue
        sides = [
            make_memory({"content": text, "created_at": memory.created_at})
            for text, memory in ((statement.text, other), (candidate.text, best))
        ]
        difference = compare_claims(sides[0], sides[1], 1.0)
        if difference is not None and difference.score >= SCORE_TO_RAISE:
            return True
    return False


def _with_their_ends(former: Iterable[tuple[Memory, TextStatement]], sources: Sequence[Memory]) -> tuple[Replaced, ...]:
    """Return former statements of some memories in order, each until a later source has another in its place."""
    found = []
    for memory, statement in former:
        later = oldest_first([one for one in sources if one.created_at > memory.created_at])
        lacking = [one for one in later if missing_statements(statement.text, one.content)]
        end = next(one.created_at for one in lacking if _has_successor(statement, one, memory))
        found.append((end, memory.created_at, statement.text))
    return tuple(dict.fromkeys(Replaced(text, f"{end:%Y-%m-%d}") for end, _, text in sorted(found)))
