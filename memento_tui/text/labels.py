"""Say of a memory, in the one form that every interface uses, how far it is trusted and where and when it applies.

Nothing is said where there is nothing to say: a young memory in the person's own words that holds everywhere has no
label but its stability. Standard library only: memento-hook makes its lines with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from memento_tui.branches import branch_of
from memento_tui.named_tuple import NamedTuple
from memento_tui.text.agent_names import is_persons_name
from memento_tui.text.fence import quoted_id, visible_line

__all__ = [
    "OtherSide",
    "age_in_words",
    "bracketed",
    "caution_labels",
    "condition_labels",
    "entry_labels",
    "host_of",
    "source_in_words",
]

_ORDINARY_CERTAINTY = 3
"""The certainty of which nothing is said, from 1 to 5."""

_YOUNG_DAYS = 7
"""Days in which nothing is said of a memory's age."""

_DAYS_A_MONTH, _DAYS_A_YEAR = 30, 365

_CONDITION_CHARS, _SIDE_CHARS = 160, 80
"""Characters of a condition, and of the other side of a contradiction."""

_AGENT_NAME = re.compile(r"[\w.+-]{1,24}(?: [\w.+-]{1,16})?", re.ASCII)
"""The names of agents that are repeated, ``Claude Code`` among them: an agent gives its own, which may be any text.

A name stands outside of the fence, so it has no room for a sentence.
"""

_BRANCH_NAME = re.compile(r"[\w./+-]{1,60}", re.ASCII)
"""The names of branches that are repeated, for the same reason."""

_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?([a-z0-9.-]{1,80})", re.IGNORECASE)
"""The host of an address."""

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import Protocol

    class LabelledSource(Protocol):
        """The parts of a memory's origin that are told."""

        @property
        def agent(self) -> str:
            """The agent that wrote it; empty where unknown."""

        @property
        def url(self) -> str:
            """The page that it is from; empty for none."""

    class LabelledMemory(Protocol):
        """The fields of a memory that labels are made of: a `memento_tui.model.Memory` has them, and a hook's row.

        They mean what they mean there.
        """

        @property
        def namespace(self) -> str:
            """Where it belongs."""

        @property
        def source_type(self) -> str:
            """``user``, ``derived`` or ``external``."""

        @property
        def source(self) -> LabelledSource:
            """The origin."""

        @property
        def stability(self) -> str:
            """``draft``, ``verified`` or ``stable``."""

        @property
        def status(self) -> str:
            """The status, such as ``active``, ``pending`` or ``deleted``."""

        @property
        def sensitivity(self) -> str:
            """Who may see it."""

        @property
        def certainty(self) -> int:
            """From 1 to 5."""

        @property
        def created_at(self) -> datetime:
            """The moment of its creation."""

        @property
        def expires_at(self) -> datetime | None:
            """The moment when it ends."""

        @property
        def valid_from(self) -> datetime | None:
            """The moment from which it holds."""

        @property
        def valid_to(self) -> datetime | None:
            """The moment from which it holds no longer."""

        @property
        def validity_context(self) -> str:
            """When it applies, in words."""

        @property
        def pinned(self) -> bool:
            """Whether it is essential."""


class OtherSide(NamedTuple):
    """The other memory of an open contradiction; its text is empty where it is told elsewhere."""

    id: str
    text: str


def caution_labels(memory: LabelledMemory, now: datetime, *, with_age: bool = False) -> list[str]:
    """Return the labels of caution of a memory, in memento's own words, the gravest first.

    None of them holds a text that somebody else wrote, but for plain names: they may stand outside of a fence. The age
    of a young memory is told ``with_age`` alone.
    """
    labels = ["UNTRUSTED"] if memory.source_type == "external" else []
    if memory.status != "active":
        labels.append(memory.status)
    if memory.sensitivity != "normal":
        labels.append(memory.sensitivity)
    labels.append("unverified" if memory.stability == "draft" else memory.stability)
    if memory.certainty != _ORDINARY_CERTAINTY:
        labels.append(f"certainty {memory.certainty}")
    labels += _source_labels(memory)
    if branch := branch_of(memory.namespace):
        labels.append(f"learned on branch {branch}" if _BRANCH_NAME.fullmatch(branch) else "learned on a branch")
    if with_age or (now - memory.created_at).days >= _YOUNG_DAYS:
        labels.append(age_in_words(memory.created_at, now))
    labels += _date_labels(memory, now)
    if memory.pinned:
        labels.append("essential")
    return labels


def condition_labels(memory: LabelledMemory, against: Iterable[OtherSide] = ()) -> list[str]:
    """Return labels on when a memory applies and which memories contradict it; they hold others' text: fence them."""
    context = visible_line(memory.validity_context, _CONDITION_CHARS)
    labels = [f"applies: {context}"] if context else []
    return labels + [_contradicts(side) for side in against]


def _contradicts(side: OtherSide) -> str:
    text = visible_line(side.text, _SIDE_CHARS)
    return f"contradicts {quoted_id(side.id)}" + (f': "{text}"' if text else "")


def entry_labels(*, is_unverified: bool) -> list[str]:
    """Return the words of caution about a record that has no trust of its own but who wrote it."""
    return ["unverified"] if is_unverified else []


def bracketed(labels: Iterable[str]) -> str:
    """Return labels as they stand behind a memory's name, in one pair of brackets with a space before them."""
    listed = ", ".join(labels)
    return f" [{listed}]" if listed else ""


def source_in_words(memory: LabelledMemory, member: str = "") -> str:
    """Return who knows a memory: ``you``, an agent by its name, or the page's host; for a person to read.

    ``member`` is the member of the hub whose person wrote it; empty where this machine's did.
    """
    if memory.source_type == "user":
        return member or "you"
    unnamed = "a page" if memory.source_type == "external" and memory.source.url else "an agent"
    return next(iter(_source_labels(memory)), unnamed).removeprefix("by ").removeprefix("from ")


def _source_labels(memory: LabelledMemory) -> list[str]:
    """Return who knows a memory, where it is not the person: ``by codex``, ``from example.com``."""
    if memory.source_type == "external":
        host = host_of(memory.source.url)
        return [f"from {host}"] if host and not _is_persons_host(host) else []
    agent = memory.source.agent
    names_agent = memory.source_type != "user" and _AGENT_NAME.fullmatch(agent) and not is_persons_name(agent)
    return [f"by {agent}"] if names_agent else []


def _is_persons_host(host: str) -> bool:
    """Tell whether a host reads as the person or as their trust, as ``verified.by.you`` does; ``you.com`` is a page's.

    An address may hold any word, whether there is such a host or not.
    """
    name = host.strip(".-")
    top = name.rpartition(".")[2]
    # Many pages are under .me.
    return (is_persons_name(top) and (top == name or top != "me")) or is_persons_name(re.sub("[.-]", "", name))


def host_of(address: str) -> str:
    """Return the host of a web address in small letters; empty where it has none."""
    found = _HOST.match(address)
    return found[1].lower() if found else ""


def age_in_words(moment: datetime, now: datetime) -> str:
    """Return how old something is: ``today``, ``9 days old``, ``3 months old``, ``2 years old``."""
    days = max(0, (now - moment).days)
    if not days:
        return "today"
    for length, noun in ((_DAYS_A_YEAR, "year"), (_DAYS_A_MONTH, "month"), (1, "day")):
        count = days // length
        # A year and a half is 18 months: the larger unit is told from two on.
        if count > 1 or length == 1:
            return f"{count} {noun}{'s' if count > 1 else ''} old"
    return ""


def _date_labels(memory: LabelledMemory, now: datetime) -> list[str]:
    """Return from when and until when a memory holds, in days, as far as there is anything to say."""
    labels = []
    if memory.valid_from is not None and memory.valid_from > now:
        labels.append(f"not valid before {memory.valid_from:%Y-%m-%d}")
    if memory.valid_to is not None:
        verb = "valid until" if memory.valid_to > now else "no longer valid since"
        labels.append(f"{verb} {memory.valid_to:%Y-%m-%d}")
    if memory.expires_at is not None:
        labels.append(f"{'expires' if memory.expires_at > now else 'expired'} {memory.expires_at:%Y-%m-%d}")
    return labels
