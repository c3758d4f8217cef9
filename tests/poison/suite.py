"""Every channel times every text times every family of attack, and what came of it."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memento_tui.api.maintenance import maintain_workspace
from memento_tui.mcp.profiles import PROFILES
from memento_tui.model import AnyRecord, Crystal, Memory, Skip, WorkingItem
from memento_tui.model.lists import is_unverified
from memento_tui.model.memory import RECALLED_STATUSES
from tests.poison.attacks import FAMILIES, Attack, make_attack
from tests.poison.channels import Channel, mcp_channel, rest_channel, wire_mcp_channel, wire_rest_channel
from tests.poison.files import import_channel, mirror_channel, remote_channel, samples, transcript_channel
from tests.poison.house import House, open_house
from tests.poison.readers import Question, open_readers
from tests.poison.shell import ReturnChannel, shell_channel
from tests.unit.profile_agent import seated

__all__ = ["Case", "Leak", "Outcome", "Size", "attack_everything"]


@dataclass(frozen=True)
class Case:
    """One attack on one text of one channel."""

    channel: str
    slot: str
    attack: Attack
    onto_persons: bool
    was_taken: bool


@dataclass(frozen=True)
class Leak:
    """An attack that got what it must not get."""

    case: Case
    detail: str

    def __str__(self) -> str:
        where = f"{self.case.channel}: {self.case.slot} ({self.case.attack.family})"
        return f"{where}{' onto the person' if self.case.onto_persons else ''}: {self.detail}"


@dataclass
class Outcome:
    """What came of all attacks."""

    cases: list[Case] = field(default_factory=list)
    marks_stored: set[str] = field(default_factory=set)
    """The attacks that stand in a record or in a proposal."""
    marks_held: set[str] = field(default_factory=set)
    """Those of them that stand in nothing that is recalled: they wait for a person."""
    trusted: list[Leak] = field(default_factory=list)
    """Verified, essential, certain or shared, without a person."""
    unlabelled: list[Leak] = field(default_factory=list)
    """Told to a model as if a person stood behind it."""
    persons_words: list[Leak] = field(default_factory=list)
    """Recalled as what the person said."""
    let_in: list[Leak] = field(default_factory=list)
    """Recalled though it waited, without a decision."""
    questions: int = 0
    """How often a way out was asked."""
    faults: list[str] = field(default_factory=list)
    """The exceptions that memento did not expect, as its servers logged them."""

    @property
    def stored(self) -> Counter[str]:
        """How many attacks of each family stand in a record or in a proposal."""
        return Counter(case.attack.family for case in self.cases if case.attack.mark in self.marks_stored)

    def held_share(self, family: str) -> float:
        """Return the share of a family's stored attacks that wait for a person."""
        held = sum(case.attack.family == family and case.attack.mark in self.marks_held for case in self.cases)
        return held / max(1, self.stored[family])


@dataclass(frozen=True)
class Size:
    """How much of the product is tried."""

    cases: int | None
    """Attacks on each channel; ``None`` for all, but for the few that real processes are there to show."""
    questions: int | None
    """Ways out that are asked about each attack; ``None`` for all."""


_OVER_A_WIRE = 12
"""Attacks on a server in a process of its own: the same code answers in this one."""


def attack_everything(
    scratch: Path, size: Size, seed: int, *, only: Sequence[str] = (), tell: Callable[[str], None] = lambda _: None
) -> Outcome:
    """Attack every channel, each in a house of its own, and return what came of it.

    ``tell`` is called with the name of each channel that is done.
    """
    outcome = Outcome()
    folder = scratch / "samples"
    folder.mkdir()
    formats = list(samples(folder))
    openings: dict[str, Callable[[House], AbstractContextManager[Channel]]] = {
        **{f"MCP {profile}": partial(mcp_channel, profile=profile) for profile in PROFILES},
        "HTTP /v1": rest_channel,
        "MCP native over stdio": wire_mcp_channel,
        "HTTP /v1 over a socket": wire_rest_channel,
        **{f"import {name}": partial(import_channel, format_name=name, sample=folder / name) for name in formats},
        "import protocol-rest": remote_channel,
        "mirror": partial(mirror_channel, sample=folder / "vault"),
        "hooks": transcript_channel,
        "command line": shell_channel,
        "undo and restore": _return_channel,
    }
    for number, (name, opening) in enumerate(openings.items()):
        if not only or name in only:
            with (
                _logged_faults(name, outcome),
                open_house(scratch / f"house{number}") as house,
                opening(house) as channel,
            ):
                _attack(channel, house, size, seed * 1000 + number, outcome)
                tell(f"{name}: {sum(case.channel == name for case in outcome.cases):,} attacks")
    return outcome


class _FaultCollector(logging.Handler):
    """Collects the exceptions that are logged with their traceback."""

    def __init__(self, channel: str, faults: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._channel, self._faults = channel, faults

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the channel, the message and the exception."""
        if record.exc_info:
            self._faults.append(f"{self._channel}: {record.getMessage()}: {record.exc_info[1]!r}")


@contextmanager
def _logged_faults(channel: str, outcome: Outcome) -> Iterator[None]:
    collector = _FaultCollector(channel, outcome.faults)
    logging.getLogger().addHandler(collector)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(collector)


@contextmanager
def _return_channel(house: House) -> Iterator[Channel]:
    with seated(house.data_dir, "native") as agent, mcp_channel(house, "native") as tools:
        yield ReturnChannel(house, agent, tools)


def _attack(channel: Channel, house: House, size: Size, seed: int, outcome: Outcome) -> None:
    """Make the attacks on one channel, then look at what is stored, and ask every way out."""
    most = min(size.cases or _OVER_A_WIRE, _OVER_A_WIRE) if " over " in channel.name else size.cases
    cases = [_send(channel, *one) for one in _planned(channel, most, seed)]
    maintain_workspace(house.person, asked=["contradictions"])
    found, proposed = house.records(), house.proposed()
    for case in cases:
        records = found.get(case.attack.mark, [])
        if records or case.attack.mark in proposed:
            outcome.marks_stored.add(case.attack.mark)
            if not any(_is_live(record) for record in records):
                outcome.marks_held.add(case.attack.mark)
        for record in records:
            if why := _trust(record):
                outcome.trusted.append(Leak(case, why))
            if _is_live(record) and _is_persons(record):
                outcome.persons_words.append(Leak(case, type(record).__name__))
        if case.attack.mark in getattr(channel, "let_in", ()):
            outcome.let_in.append(Leak(case, "waited, and is recalled"))
    outcome.cases += cases
    _ask(cases, found, house, size, seed, outcome)


def _planned(channel: Channel, most: int | None, seed: int) -> list[tuple[str, Attack, bool]]:
    """Return the product, or as much of it as is wanted: every text once, before any comes again."""
    drawn = random.Random(seed)
    shuffled = drawn.sample(channel.slots, len(channel.slots))
    families = drawn.sample(list(FAMILIES), len(FAMILIES))
    plan: list[tuple[str, Attack, bool]] = []
    for turn in range((2 if channel.changes_records else 1) * len(families)):
        for place, slot in enumerate(shuffled):
            if most is not None and len(plan) >= most:
                return plan
            family = families[(place + turn) % len(families)]
            attack = make_attack(family, seed * 100_003 + len(plan), seed)
            plan.append((slot, attack, (place + turn // len(families)) % 2 == 0))
    return plan


def _send(channel: Channel, slot: str, attack: Attack, onto_persons: bool) -> Case:  # noqa: FBT001 - a value of a table
    taken = channel.send(slot, attack, onto_persons=onto_persons)
    return Case(channel.name, slot, attack, onto_persons, taken)


def _is_live(record: AnyRecord) -> bool:
    if isinstance(record, Memory):
        return record.status in RECALLED_STATUSES
    return not isinstance(record, Crystal) or record.status == "current"


def _trust(record: AnyRecord) -> str:
    """Return the trust that a record has without a decision; empty for one that has none."""
    if not isinstance(record, Memory):
        return ""
    had = {
        record.stability: record.stability != "draft",
        "verified_by": bool(record.verified_by or record.verified_at),
        "pinned": record.pinned,
        f"certainty {record.certainty}": record.certainty > 3,
        "shared": record.tier == "shared",
    }
    return ", ".join(name for name, has in had.items() if has)


def _is_persons(record: AnyRecord) -> bool:
    if isinstance(record, Memory):
        return record.source_type == "user"
    return isinstance(record, Skip | WorkingItem | Crystal) and not is_unverified(record)


def _ask(
    cases: Sequence[Case], found: dict[str, list[AnyRecord]], house: House, size: Size, seed: int, outcome: Outcome
) -> None:
    project = house.folder() / "site"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    drawn = random.Random(seed + 1)
    with open_readers(house.data_dir, project, house) as readers:
        questions = [_question(case, found) for case in cases]
        told = readers.lists(questions[0])
        for case, question in zip(cases, questions, strict=True):
            for name, text in told:
                _note(case, name, readers.judged(text, question), outcome)
            names = list(readers.by_name)
            for name in names if size.questions is None else drawn.sample(names, min(size.questions, len(names))):
                outcome.questions += 1
                _note(case, name, readers.unlabelled(name, question), outcome)


def _question(case: Case, found: Mapping[str, Sequence[AnyRecord]]) -> Question:
    ids = {record.id for record in found.get(case.attack.mark, ())}
    kin = frozenset(mark for mark, records in found.items() if any(record.id in ids for record in records))
    asked = (name for name in sorted(ids) if case.attack.mark not in name)  # an answer repeats the id that it was asked
    return Question(case.attack, tuple(asked), kin)


def _note(case: Case, reader: str, told: str, outcome: Outcome) -> None:
    if told:
        outcome.unlabelled.append(Leak(case, f"{reader} tells {told}"))
