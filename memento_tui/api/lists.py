"""Skips, working items and identity crystals behind the same gate as memories, and the queries on them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar, cast

import msgspec

from memento_tui import clock
from memento_tui.errors import DataDirectoryError, InvalidField, InvalidInput, NotAllowed
from memento_tui.model import Proposal, Skip, WorkingItem, make_item, make_skip
from memento_tui.model.claims import gives_trust, with_authorship
from memento_tui.model.lists import ITEM_CATEGORIES, ITEM_STATUSES
from memento_tui.model.validation import fold_tag
from memento_tui.moments import parse_moment, parse_span
from memento_tui.policy.decisions import require_entry_as_written
from memento_tui.policy.gate import Gate, ProposalDraft, Screened
from memento_tui.policy.policy import Verdict, WriteIntent
from memento_tui.storage.journal_queries import Revision
from memento_tui.storage.ledgers import SkipHit
from memento_tui.storage.store import Store
from memento_tui.text.near_names import folded, nearest_name

__all__ = [
    "CATEGORY_WORDS",
    "STATUS_WORDS",
    "ItemQuery",
    "Items",
    "SkipQuery",
    "Skips",
    "parse_category",
    "parse_item_query",
    "parse_skip_query",
    "parse_status",
]

CATEGORY_WORDS = {name: name.replace("_", " ") for name in ITEM_CATEGORIES}
"""The name of each category of a working item."""

STATUS_WORDS = {**{name: name for name in ITEM_STATUSES}, "completed": "done"}
"""The name of each status of a working item."""

_QUERY_TERM = re.compile(r'(?:(\w+):)?(?:"([^"]*)"?|(\S+))')


class ItemQuery(msgspec.Struct, frozen=True):
    """Selects working items by words and tags, of which they have all, and by categories and statuses, of which one."""

    words: tuple[str, ...] = ()
    categories: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    """A sentence for each part that could not be read, and is left out."""

    def matches(self, item: WorkingItem) -> bool:
        """Tell whether an item is selected."""
        return (
            (not self.categories or item.category in self.categories)
            and (not self.statuses or item.status in self.statuses)
            and (not self.tags or self.tags <= {fold_tag(tag) for tag in item.tags})
            and _contains_all(self.words, (item.title, item.content, item.next_action, *item.tags))
        )


class SkipQuery(msgspec.Struct, frozen=True):
    """Selects skips that have all the words, were made by somebody, and are to end within a span."""

    words: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    within: timedelta | None = None
    problems: tuple[str, ...] = ()
    """A sentence for each part that could not be read, and is left out."""

    def matches(self, skip: Skip, now: datetime) -> bool:
        """Tell whether a skip is selected at a moment."""
        return (
            _contains_all(self.words, (skip.item, skip.reason))
            and all(maker in skip.created_by.casefold() for maker in self.makers)
            and (self.within is None or timedelta() < skip.expires_at - now < self.within)
        )


_ITEM_FIELDS = ("category", "status", "tag")
_SKIP_FIELDS = ("by", "expires")
"""The fields of queries on working items, and of those on skips."""

_LEAST_LIKENESS = 0.8
"""The likeness of a word before a colon to a field (0 to 1, that of difflib) from which on it is that misspelled."""


def parse_item_query(text: str, *, strict: bool = False) -> ItemQuery:
    """Read words, ``category:``, ``status:`` and ``tag:``. ``strict`` raises `InvalidInput` for the first problem."""
    words: list[str] = []
    categories: set[str] = set()
    statuses: set[str] = set()
    tags: set[str] = set()
    problems: list[str] = []
    for key, value, is_quoted in _split_terms(text, _ITEM_FIELDS):
        if key == "category":
            _add_matching(value, key, CATEGORY_WORDS, categories, problems)
        elif key == "status":
            _add_matching(value, key, STATUS_WORDS, statuses, problems)
        elif key == "tag":
            tags.add(fold_tag(value.lstrip("#")))
        else:
            words.append(folded(value))
            problems += [] if is_quoted else _misspelled(value, _ITEM_FIELDS)
    _raise_first(problems, strict=strict)
    return ItemQuery(tuple(words), frozenset(categories), frozenset(statuses), frozenset(tags), tuple(problems))


def parse_skip_query(text: str, *, strict: bool = False) -> SkipQuery:
    """Read words, ``by:`` and ``expires:<7d``. ``strict`` raises `InvalidInput` for the first problem."""
    words: list[str] = []
    makers: list[str] = []
    within: timedelta | None = None
    problems: list[str] = []
    for key, value, is_quoted in _split_terms(text, _SKIP_FIELDS):
        if key == "by":
            makers.append(value.casefold())
        elif key == "expires":
            span = parse_span(value.lstrip("<="))
            if span is None:
                problems.append(f"expires: takes a span such as <7d, not {value!r:.60}.")
            else:
                within = span
        else:
            words.append(folded(value))
            problems += [] if is_quoted else _misspelled(value, _SKIP_FIELDS)
    _raise_first(problems, strict=strict)
    return SkipQuery(tuple(words), tuple(makers), within, tuple(problems))


def parse_category(text: str) -> str:
    """Return the category that a person's words, or the beginning of them, name. Raises `InvalidInput`."""
    return _match_word(text, "category", CATEGORY_WORDS)


def parse_status(text: str) -> str:
    """Return the status that a person's word, or the beginning of it, names. Raises `InvalidInput`."""
    return _match_word(text, "status", STATUS_WORDS)


def _match_word(text: str, key: str, words: dict[str, str]) -> str:
    found: set[str] = set()
    problems: list[str] = []
    _add_matching(text.strip(), key, words, found, problems)
    _raise_first(problems, strict=True)
    if len(found) > 1:
        raise InvalidInput(f"The {key} {text!r:.60} may mean several.", f"Name one of {_list_words(words)}.")
    return found.pop()


def _split_terms(text: str, keys: Sequence[str]) -> Iterable[tuple[str, str, bool]]:
    """Yield the key of each word, "" for none, the word, and whether quotation marks stand around all of it.

    An unknown key is part of the word.
    """
    for match in _QUERY_TERM.finditer(text):
        key, quoted, plain = match.groups()
        value = plain if quoted is None else quoted
        is_quoted = quoted is not None and not key
        is_begun = not key and not is_quoted and value.endswith(":") and value[:-1].lower() in keys
        if key and key.lower() in keys:
            yield key.lower(), value, False
        elif not is_begun:  # a key without a value yet is being typed
            yield "", f"{key}:{value}" if key else value, is_quoted


def _misspelled(word: str, fields: Sequence[str]) -> list[str]:
    """Return a sentence where a word was probably meant as one of these fields with a value; else nothing."""
    name, _, value = word.partition(":")
    near = nearest_name(name.lower(), fields, _LEAST_LIKENESS) if value else ""
    if not near:
        return []
    itself = f'To look for the text itself, put it in quotation marks: "{word:.60}".'
    return [f"There is no field {name:.60}:. Did you mean {near}:? {itself}"]


def _add_matching(value: str, key: str, words: dict[str, str], chosen: set[str], problems: list[str]) -> None:
    """Add the names that begin with a word, or whose words do; of an exact match, that name alone."""
    given = value.casefold().replace("-", "_").replace(" ", "_")
    spellings = {name: (name, word.replace(" ", "_")) for name, word in words.items()}
    exact = {name for name, spelled in spellings.items() if given in spelled}
    found = exact or {name for name, spelled in spellings.items() if any(word.startswith(given) for word in spelled)}
    if given and found:
        chosen |= found
    else:
        problems.append(f"There is no {key} {value!r:.60}; there are {_list_words(words)}.")


def _list_words(words: dict[str, str]) -> str:
    return ", ".join(words.values())


def _contains_all(words: Sequence[str], texts: Sequence[str]) -> bool:
    text = folded("\n".join(texts)) if words else ""
    return all(word in text for word in words)


def _raise_first(problems: Sequence[str], *, strict: bool) -> None:
    if problems and strict:
        raise InvalidInput(problems[0])


_LOGGER = logging.getLogger(__name__)

EntryT = TypeVar("EntryT", bound=Skip | WorkingItem)
_READ_ONLY_FIELDS = {"id", "created_at", "created_by", "version", "hits", "last_hit_at"}


class _GovernedWrites(Generic[EntryT]):
    """The writes to one of the short lists, which the gate either lets happen or turns into proposals."""

    def __init__(
        self, store: Store, gate: Gate, record: type[EntryT], make: Callable[[Mapping[str, Any]], EntryT]
    ) -> None:
        self._store = store
        self._gate = gate
        self._record = record
        self._make = make
        self._kind: Literal["skip", "item"] = "skip" if record is Skip else "item"

    def _judge(self, before: EntryT | None, screened: Screened | None = None) -> Verdict:
        """Return the policy's answer to a new record, a change of ``before``, or without a new text its removal."""
        action: Literal["create", "edit", "delete"]
        action = "create" if before is None else "delete" if screened is None else "edit"
        after = None if screened is None else screened.record
        hides = before is not None and self._gate.origin == "agent" and self._gate.hides_persons(before, after)
        intent = WriteIntent(
            action,
            self._kind,
            by_person=self._gate.is_person,
            injection_score=0.0 if screened is None else screened.injection_score,
            secret_found=screened is not None and screened.secret_found,
            hides_persons=hides,
        )
        return self._gate.judge(intent, after)

    def create(self, fields: Mapping[str, Any]) -> EntryT | Proposal:
        """Store a new record, or propose it. Raises `InvalidField`."""
        screened = self._gate.screen(self._make(fields))
        made: EntryT = screened.record
        verdict = self._judge(None, screened)
        with self._gate.transaction(f"{self._kind} add") as tx:
            if verdict.answer == "propose":
                payload = {name: getattr(made, name) for name in made.__struct_fields__ if name != "version"}
                draft = ProposalDraft("create", made, payload, screened.evidence, base_version=0)
                return self._gate.propose(tx, draft, verdict)
            return tx.put(made, base=0)

    def change(self, prefix: str, base_version: int | None, changes: Mapping[str, Any]) -> EntryT | Proposal:
        """Change a record, or propose the change. A record that has these values already is not written.

        Raises:
            NotFound, AmbiguousId: no record, or several, have that id.
            InvalidField: a field breaks a rule or cannot be changed, or an agent names no version.
            Conflict: the record is no longer at ``base_version``.

        """
        self._gate.require_version_read(base_version)
        for name in changes:
            if name in _READ_ONLY_FIELDS:
                raise InvalidField(name, "cannot be changed")
        record_id = self._store.resolve(self._kind, prefix)
        with self._gate.transaction(f"{self._kind} edit") as tx:
            before = tx.require(self._record, record_id)
            plain = {name: getattr(before, name) for name in before.__struct_fields__}
            screened = self._gate.screen(self._make({**plain, **changes, "updated_at": tx.now}))
            after: EntryT = screened.record
            is_current = base_version in (None, before.version)
            if is_current and msgspec.structs.replace(after, updated_at=before.updated_at) == before:
                return before
            becomes_persons = gives_trust(
                before, with_authorship(cast("Any", before), after, by_person=self._gate.is_person)
            )
            if base_version is None and becomes_persons:
                require_entry_as_written(self._store, before, after)
            verdict = self._judge(before, screened)
            if verdict.answer != "propose" or not is_current:
                return tx.put(after, base=before.version if base_version is None else base_version)
            draft, verdict = self._gate.edit_draft(
                before,
                changes,
                screened,
                verdict,
                make=lambda joined: self._make({**plain, **joined, "updated_at": tx.now}),
                judge=lambda joined: self._judge(before, joined),
            )
            return self._gate.propose(tx, draft, verdict)

    def remove(self, prefix: str, base_version: int | None) -> Proposal | None:
        """Remove a record, or propose it. Raises `InvalidField`, `NotFound`, `AmbiguousId` or `Conflict`."""
        self._gate.require_version_read(base_version)
        record_id = self._store.resolve(self._kind, prefix)
        with self._gate.transaction(f"{self._kind} remove") as tx:
            before = tx.require(self._record, record_id)
            verdict = self._judge(before)
            base = before.version if base_version is None else base_version
            if verdict.answer == "propose" and base == before.version:
                return self._gate.propose(tx, ProposalDraft("delete", before), verdict)
            tx.remove(before, base=base)
            return None


class Skips:
    """The skip list: actions that the agent must not take, with a reason and an end."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._author = gate.author
        self._gate = gate
        self._writes = _GovernedWrites(store, gate, Skip, make_skip)

    def add(self, item: str, reason: str, expires_at: Any, **fields: Any) -> Skip | Proposal:  # noqa: ANN401 - a moment in any form
        """Add a skip. Raises `InvalidField` unless its end is in the future."""
        values = {"item": item, "reason": reason, "expires_at": expires_at, "created_by": self._author.name, **fields}
        return self._writes.create(values)

    def update(self, skip_id: str, *, base_version: int | None = None, **changes: Any) -> Skip | Proposal:  # noqa: ANN401 - fields
        """Change a skip, such as to say the reason better; to let it hold longer, `extend` it."""
        return self._writes.change(skip_id, base_version, changes)

    def extend(self, skip_id: str, until: Any, *, base_version: int | None = None) -> Skip | Proposal:  # noqa: ANN401 - a moment in any form
        """Let a skip hold longer; one that is over holds again. A span such as ``30d`` counts from now.

        Raises:
            InvalidField: the new end is no moment, is not in the future, or is not later than the present one.
            Conflict: the skip is no longer at ``base_version``.

        """
        end, before = parse_moment(until, "expires_at"), self.get(skip_id)
        if end <= before.expires_at:
            raise InvalidField(
                "expires_at",
                f"must be later than {before.expires_at:%Y-%m-%d %H:%M}Z, when it ends as it is",
                "To let it end sooner, edit it.",
            )
        return self.update(before.id, base_version=base_version, expires_at=end)

    def remove(self, skip_id: str, *, base_version: int | None = None) -> Proposal | None:
        """End a skip now; return a proposal where a person must decide. Raises `NotFound` or `Conflict`."""
        return self._writes.remove(skip_id, base_version)

    def decide(self, skip_id: str, *, title: str = "", base_version: int | None = None) -> WorkingItem:
        """Turn a skip into a standing decision, which has no end: a working item with its text and reason.

        The skip goes in the same transaction, so that one undo takes back both. The title is ``Skip: `` and what was
        skipped, unless ``title`` says it better.

        Raises:
            NotAllowed: an agent asks.
            InvalidField: the title breaks a rule.
            Conflict: the skip is no longer at ``base_version``.

        """
        if not self._gate.is_person:
            raise NotAllowed(
                "Only a person turns a skip into a standing decision.",
                "Tell the person why it should hold for good, or extend the skip.",
            )
        found = self._store.resolve("skip", skip_id)
        with self._gate.transaction("skip decide", note=f"skip {found}") as tx:
            skip = tx.require(Skip, found)
            if base_version is None:
                require_entry_as_written(self._store, skip, skip)
            fields = {
                "title": title or f"Skip: {skip.item}",
                "content": skip.reason,
                "category": "standing_decision",
                "namespace": skip.namespace,
                "extra": skip.extra,
            }
            tx.remove(skip, base=skip.version if base_version is None else base_version)
            return tx.put(make_item(fields, now=tx.now), base=0)

    def list(self, *, ended: bool = False, query: str = "") -> list[Skip]:
        """Return the skips that hold, soonest to end first; with ``ended`` those that are over as well.

        Raises `InvalidInput` for a query that cannot be read.
        """
        now, criteria = clock.now(), parse_skip_query(query, strict=True)
        return [skip for skip in self._store.lists.skips(at=None if ended else now) if criteria.matches(skip, now)]

    def find(self, skip_id: str) -> Skip | None:
        """Return a skip by its whole id, or ``None``."""
        return self._store.find(Skip, skip_id)

    def history(self, skip_id: str) -> Sequence[Revision[Skip]]:
        """Return every version of a skip, newest first; nothing where there never was one with that id."""
        return self._store.journal.history(Skip, skip_id)

    def version_of(self, skip_id: str, version: int) -> Skip | None:
        """Return a skip as it was at a version, or ``None`` where it was removed or purged then."""
        return self._store.journal.image(Skip, skip_id, version)

    def get(self, skip_id: str) -> Skip:
        """Return a skip by its id or a unique beginning of it."""
        return self._store.get(Skip, self._store.resolve("skip", skip_id))

    def matching(self, query: str, *, among: Callable[[Skip], bool] | None = None) -> Sequence[Skip]:
        """Return the skips that hold for something about to be done; nothing is counted.

        `memento_tui.text.skip_matching` says which do. ``among`` tells which skips are looked at.
        """
        return [skip for skip, _ in self._matching(query, among)]

    def _matching(self, query: str, among: Callable[[Skip], bool] | None) -> Sequence[tuple[Skip, str]]:
        """Return the skips that hold for something, each with its words that were found there."""
        from memento_tui.text.skip_matching import matched_words, mentions_of  # noqa: PLC0415 - it needs the analyzers

        mentions = mentions_of(query)
        held = [skip for skip in self.list() if among is None or among(skip)]
        return [(skip, words) for skip in held if (words := matched_words(mentions, skip.item))]

    def check(self, query: str, *, among: Callable[[Skip], bool] | None = None) -> Sequence[Skip]:
        """Return the skips that hold for something about to be done, as `matching` does, and count a hit for each."""
        matched = self._matching(query, among)
        if matched:
            hits = [(skip.id, words) for skip, words in matched]
            try:
                self._store.skip_hits.add(hits, session=self._author.session, channel=self._author.channel)
            except DataDirectoryError as error:
                _LOGGER.warning("hits of skips were not counted: %s", error)
        return [skip for skip, _ in matched]

    def hits(self, skip_id: str, *, limit: int = 50) -> Sequence[SkipHit]:
        """Return when the skip of this whole id fired, newest first; the last fifty are kept."""
        return self._store.skip_hits.latest(skip_id, limit)


class Items:
    """The working items: active work, standing decisions, and things that are waited for."""

    def __init__(self, store: Store, gate: Gate) -> None:
        self._store = store
        self._writes = _GovernedWrites(store, gate, WorkingItem, make_item)

    def create(self, title: str, **fields: Any) -> WorkingItem | Proposal:  # noqa: ANN401 - fields
        """Add a working item. Raises `InvalidField`."""
        return self._writes.create({"title": title, **fields})

    def update(self, item_id: str, *, base_version: int | None = None, **changes: Any) -> WorkingItem | Proposal:  # noqa: ANN401 - fields
        """Change a working item."""
        return self._writes.change(item_id, base_version, changes)

    def remove(self, item_id: str, *, base_version: int | None = None) -> Proposal | None:
        """Remove a working item; return a proposal where a person must decide.

        Raises `NotFound`, or `Conflict` where the item is no longer at ``base_version``.
        """
        return self._writes.remove(item_id, base_version)

    def find(self, item_id: str) -> WorkingItem | None:
        """Return a working item by its whole id, or ``None``."""
        return self._store.find(WorkingItem, item_id)

    def history(self, item_id: str) -> Sequence[Revision[WorkingItem]]:
        """Return every version of a working item, newest first; nothing where there never was one with that id."""
        return self._store.journal.history(WorkingItem, item_id)

    def version_of(self, item_id: str, version: int) -> WorkingItem | None:
        """Return a working item as it was at a version, or ``None`` where it was removed or purged then."""
        return self._store.journal.image(WorkingItem, item_id, version)

    def get(self, item_id: str) -> WorkingItem:
        """Return a working item by its id or a unique beginning of it."""
        return self._store.get(WorkingItem, self._store.resolve("item", item_id))

    def list(self, *, category: str | None = None, status: str | None = None, query: str = "") -> list[WorkingItem]:
        """Return the working items, highest priority first. Raises `InvalidInput` for a query that cannot be read."""
        criteria = parse_item_query(query, strict=True)
        return [item for item in self._store.lists.items(category=category, status=status) if criteria.matches(item)]
