"""Distill a transcript: the person's statements, the agent's findings, skips and open tasks."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from memento_tui import clock
from memento_tui.maintenance.distillation import agent_rules, person_rules
from memento_tui.maintenance.distillation.agent_rules import (
    CAUSE_CUE,
    DECISION_CUE,
    AgentLog,
    Evidence,
    agent_decision,
    agent_instruction,
)
from memento_tui.maintenance.distillation.cues import has_label, labelled, root_cause
from memento_tui.maintenance.distillation.person_rules import PERSON_RULES
from memento_tui.maintenance.distillation.statements import (
    Candidate,
    RuleMatch,
    TurnSentence,
    content_words,
    has_cue,
    is_statement,
    shorten_quote,
    turn_sentences,
)
from memento_tui.maintenance.distillation.working_rules import (
    completion_reports,
    is_settled_by,
    known_broken,
    left_open,
    to_do,
    to_skip,
    waiting,
)
from memento_tui.maintenance.transcripts.reader import Turn

__all__ = ["RULES", "SAME_CANDIDATE_LIKENESS", "Candidate", "distill"]

SAME_CANDIDATE_LIKENESS = 0.7
"""The Jaccard index of two candidates' words from which only the better one is kept."""

_MOST_CANDIDATES = 100
"""The least number of candidates that are held while reading, which bounds the use of memory."""

_MOST_OPEN = 500
_LONGEST_ASSISTANT_TURN = 20_000
"""The characters of an agent's turn that are read."""

RULES: dict[str, str] = {
    rule.__name__: (rule.__doc__ or "").strip()
    for rule in (*PERSON_RULES, to_skip, known_broken, to_do, waiting, left_open, agent_decision, agent_instruction)
} | {
    "labelled": (labelled.__doc__ or "").strip(),
    "root_cause_stated": (root_cause.__doc__ or "").strip(),
    "root_cause": (agent_rules._root_cause.__doc__ or "").strip(),  # noqa: SLF001 - it describes the rule
    "command_that_works": (agent_rules._working_command.__doc__ or "").strip(),  # noqa: SLF001 - same
}
"""The description of each rule, one sentence, by its name."""


class _OpenItem(msgspec.Struct):
    """A to-do or a skip that a later turn may settle."""

    candidate: Candidate
    words: frozenset[str]
    turn: int
    is_request: bool
    """Whether a bare ``Done.`` of the agent can refer to it."""


class _RankedCandidate(msgspec.Struct):
    candidate: Candidate
    words: frozenset[str]


class _BestCandidates:
    """The best candidates, no two alike."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._kept: list[_RankedCandidate] = []

    def add(self, candidate: Candidate) -> None:
        words = content_words(_candidate_text(candidate))
        least, most = (
            SAME_CANDIDATE_LIKENESS * len(words),
            len(words) / SAME_CANDIDATE_LIKENESS,
        )  # sets of other sizes cannot be that much alike
        near = [kept for kept in self._kept if least <= len(kept.words) <= most]
        alike = [kept for kept in near if _likeness(words, kept.words) >= SAME_CANDIDATE_LIKENESS]
        if any(_rank(kept.candidate) <= _rank(candidate) for kept in alike):
            return
        self._kept = [kept for kept in self._kept if kept not in alike]
        self._kept.append(_RankedCandidate(candidate, words))
        if len(self._kept) > 2 * self._room:
            self._kept = heapq.nsmallest(self._room, self._kept, key=lambda kept: _rank(kept.candidate))

    def first(self, limit: int) -> list[Candidate]:
        return sorted((kept.candidate for kept in self._kept), key=_rank)[:limit]


def _rank(candidate: Candidate) -> tuple[float, int, int, str, str]:
    """Return the sort key of a candidate: the better score first, then the place in the transcript."""
    return -candidate.score, candidate.first_line, candidate.last_line, candidate.rule, _candidate_text(candidate)


def _candidate_text(candidate: Candidate) -> str:
    fields = candidate.fields
    return str(fields.get("content") or fields.get("title") or fields.get("item") or "")


def _likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of words."""
    both = len(left & right)
    either = len(left) + len(right) - both
    return both / either if either else 1.0


class _Distiller:
    def __init__(self, limit: int, now: datetime) -> None:
        self._now = now
        self._best = _BestCandidates(max(_MOST_CANDIDATES, 5 * limit))
        self._log = AgentLog()
        self._open: list[_OpenItem] = []
        self._last_words: Turn | None = None
        self._last_user_turn = -1
        self._agent_has_spoken = False

    def read(self, turn: Turn, nth: int) -> None:
        if turn.role == "tool":
            self._settle_by_tool(turn)
            for evidence in self._log.command(turn, nth):
                self._keep(evidence)
        elif turn.role == "assistant":
            self._settle(turn, nth)
            self._assistant(turn, nth)
            self._agent_has_spoken = True
        else:
            self._settle(turn, nth)
            self._user(turn, nth)
            self._last_user_turn = nth

    def result(self, limit: int) -> list[Candidate]:
        for candidate in [*(one.candidate for one in self._open), *self._left_open()]:
            self._best.add(candidate)
        return self._best.first(limit)

    def _keep(self, evidence: Evidence) -> None:
        quote = shorten_quote(evidence.quote)
        if quote:
            found = evidence.found
            candidate = Candidate(
                found.target, found.fields, evidence.first_line, evidence.last_line, quote, found.rule, found.score
            )
            self._best.add(candidate)

    def _user(self, turn: Turn, nth: int) -> None:
        is_labelled = has_label(turn.text)
        for sentence in turn_sentences(turn.text, is_person=True):
            if not is_statement(sentence):
                continue
            found = self._stated(sentence, turn) if has_cue(sentence) else None
            if found is None and is_labelled:
                found = self._labelled(sentence, turn, is_person=True)
            if found is not None:
                self._place(found, sentence, turn, nth)

    def _stated(self, sentence: TurnSentence, turn: Turn) -> RuleMatch | None:
        for timed in (to_skip, known_broken):
            if found := timed(sentence, turn.at, self._now):
                return found
        for rule in (to_do, waiting, *PERSON_RULES):
            if rule is person_rules.correction and not self._agent_has_spoken:
                continue
            if found := rule(sentence):
                return found
        return None

    def _labelled(self, sentence: TurnSentence, turn: Turn, *, is_person: bool) -> RuleMatch | None:
        return labelled(sentence, turn.at, self._now, is_person=is_person) or root_cause(sentence, is_person=is_person)

    def _place(self, found: RuleMatch, sentence: TurnSentence, turn: Turn, nth: int) -> None:
        quote = shorten_quote(sentence.text)
        if not quote:
            return
        candidate = Candidate(
            found.target, found.fields, turn.first_line, turn.last_line, quote, found.rule, found.score
        )
        if found.target == "memory":
            self._best.add(candidate)
            return
        is_request = found.rule == "to_do" and not any(
            word in sentence.mask for word in ("remind", "tomorrow", "later", "next week", "monday")
        )
        self._open.append(_OpenItem(candidate, content_words(_candidate_text(candidate)), nth, is_request))
        if len(self._open) > _MOST_OPEN:
            self._open.pop(0)

    def _assistant(self, turn: Turn, nth: int) -> None:
        if not turn.text:
            return
        self._last_words = turn
        text = turn.text[-_LONGEST_ASSISTANT_TURN:]
        hears_cause = self._log.has_recent_failure(nth) and CAUSE_CUE.search(text) is not None
        is_labelled = has_label(text)
        if not hears_cause and not is_labelled and DECISION_CUE.search(text) is None:
            return
        for sentence in turn_sentences(text, is_person=False):
            if not is_statement(sentence):
                continue
            if hears_cause:
                for evidence in self._log.cause(sentence, turn, nth):
                    self._keep(evidence)
            found = agent_decision(sentence) or agent_instruction(sentence)
            if found is None and is_labelled:
                found = self._labelled(sentence, turn, is_person=False)
            if found is not None:
                self._place(found, sentence, turn, nth)

    def _left_open(self) -> Iterator[Candidate]:
        """Yield the tasks that the agent's last words leave open."""
        turn = self._last_words
        if turn is None:
            return
        for sentence in turn_sentences(turn.text[-_LONGEST_ASSISTANT_TURN:], is_person=False):
            if not is_statement(sentence) or (found := left_open(sentence)) is None:
                continue
            words = content_words(str(found.fields["title"]))
            if not any(words <= one.words for one in self._open) and (quote := shorten_quote(sentence.text)):
                lines = turn.first_line, turn.last_line
                yield Candidate(found.target, found.fields, *lines, quote, found.rule, found.score)

    def _settle(self, turn: Turn, nth: int) -> None:
        """Drop the open items that a turn reports as done."""
        if not self._open:
            return
        for report in completion_reports(turn.text):
            self._open = [one for one in self._open if not self._is_settled(one, report, turn, nth)]

    def _is_settled(self, one: _OpenItem, report: frozenset[str], turn: Turn, nth: int) -> bool:
        if one.turn == nth:
            return False
        if not report:
            return turn.role == "assistant" and one.is_request and one.turn == self._last_user_turn
        return is_settled_by(one.words, report)

    def _settle_by_tool(self, turn: Turn) -> None:
        """Drop the open items that a to-do list or a commit reports as done; a tool's output does not count."""
        if turn.call is None or not self._open:
            return
        done = list(turn.call.finished)
        if turn.call.failed is not True and "git commit" in turn.call.command:
            done.append(turn.call.command)
        for words in map(content_words, done):
            self._open = [one for one in self._open if not is_settled_by(one.words, words)]


def distill(turns: Iterable[Turn], *, limit: int = 20, now: datetime | None = None) -> list[Candidate]:
    """Return the candidates of a transcript, best first, no two alike.

    Turns are read one by one and not kept. ``now`` decides which ends are in the future. The same turns give the same
    list.
    """
    distiller = _Distiller(limit, now or clock.now())
    for nth, turn in enumerate(turns):
        distiller.read(turn, nth)
    return distiller.result(limit)
