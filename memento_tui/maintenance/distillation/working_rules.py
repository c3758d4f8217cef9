"""Rules for skips with their ends, for open tasks, for things awaited, and for reports that settle them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache

from memento_tui.maintenance.distillation.statements import (
    RuleMatch,
    TurnSentence,
    as_statement,
    content_words,
    filler_length,
)
from memento_tui.model.lists import LONGEST_SKIP
from memento_tui.text.quantities import MONTHS, NUMBER_WORDS, UNITS, VAGUE_COUNTS, WEEKDAYS
from memento_tui.text.words import WORD

__all__ = ["completion_reports", "is_settled_by", "known_broken", "left_open", "to_do", "to_skip", "waiting"]

DEFAULT_SPAN = "30d"
"""The length of a skip without a date: ``for now``, ``until the fix is merged``."""

_COUNT_WORDS = {"a": 1, "an": 1} | NUMBER_WORDS | VAGUE_COUNTS
_DAYS_OF_THIS = {"today": 1, "tonight": 1, "this week": 7, "this sprint": 14, "this month": 30, "this quarter": 91}

_MONTH_PATTERN = "|".join(sorted(MONTHS, key=len, reverse=True))
_COUNT_PATTERN = "|".join(sorted(_COUNT_WORDS, key=len, reverse=True))
_SPAN_PATTERN = rf"for\s+(?:the\s+next\s+)?({_COUNT_PATTERN}|\d{{1,3}})\s+(hour|day|week|month)s?"
_SPAN = re.compile(rf"\b{_SPAN_PATTERN}\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MONTH_DAY = re.compile(rf"\b({_MONTH_PATTERN})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_PATTERN})\b(?:,?\s+(\d{{4}}))?")
_MONTH_ONLY = re.compile(rf"\b(?:until|till|before)\s+({_MONTH_PATTERN})\b")
_WEEKDAY = re.compile(rf"\b(?:until|till|before|by)\s+(next\s+)?({'|'.join(WEEKDAYS)})\b")
_RELATIVE = re.compile(
    r"\b(tomorrow|next\s+(?:week|month|sprint|quarter|year)|(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?(?:day|week|month|sprint|quarter|year))\b"
)
SKIP_UNTIL_CUE = re.compile(
    rf"\b(?:for\s+now|for\s+the\s+time\s+being|for\s+the\s+moment|until|till|before\s+(?:{_MONTH_PATTERN}|next|\d)|{_SPAN_PATTERN}|"
    r"this\s+(?:week|sprint|month|quarter)|today|tonight)\b"
)
"""The phrases with which the end of a skip begins."""


def skip_expiry(mask: str, said_at: datetime | None, now: datetime) -> str | None:
    """Return the end of a skip for `make_skip`, a date or a span; ``None`` where it is in the past.

    ``mask`` is the sentence in lower case. A span and a date without its year count from ``said_at``, the moment of the
    turn, or from ``now`` where that is unknown. One later than a skip may have is brought forward.
    """
    since = said_at or now
    end = _date(mask, since)
    if end is None:
        span = _skip_span(mask)
        if span is None:
            return DEFAULT_SPAN
        if said_at is None:
            return f"{max(1, round(span / timedelta(days=1)))}d"
        end = since + span
    return min(end, now + LONGEST_SKIP).isoformat(timespec="seconds") if end > now else None


def _skip_span(mask: str) -> timedelta | None:
    if match := _SPAN.search(mask):
        count = int(match[1]) if match[1].isdigit() else _COUNT_WORDS[" ".join(match[1].split())]
        return count * timedelta(seconds=UNITS[match[2]].factor)
    return next(
        (timedelta(days=days) for words, days in _DAYS_OF_THIS.items() if re.search(rf"\b{words}\b", mask)), None
    )


def _date(mask: str, since: datetime) -> datetime | None:
    """Return the start of the day that the words name, or ``None``."""
    if match := _ISO.search(mask):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    for pattern, month, day in ((_MONTH_DAY, 1, 2), (_DAY_MONTH, 2, 1)):
        if match := pattern.search(mask):
            return _next_such_day(since, MONTHS[match[month]], int(match[day]), match[3])
    if match := _MONTH_ONLY.search(mask):
        return _next_such_day(since, MONTHS[match[1]], 1, None)
    if match := _WEEKDAY.search(mask):
        days = (WEEKDAYS.index(match[2]) - since.weekday()) % 7 or 7
        return _midnight(since + timedelta(days=days + (7 if match[1] and days < 7 else 0)))  # noqa: PLR2004 - a week
    if match := _RELATIVE.search(mask):
        return _relative(match[1], since)
    return None


def _relative(words: str, since: datetime) -> datetime:
    """Return the day of ``tomorrow``, ``next week`` or ``the end of the month``; a week begins on Monday."""
    unit = words.rsplit(maxsplit=1)[-1]
    if unit == "year":
        return datetime(since.year + 1, 1, 1, tzinfo=UTC)
    if unit == "month":
        return _midnight((since.replace(day=1) + timedelta(days=32)).replace(day=1))
    days = {"tomorrow": 1, "day": 1, "week": 7 - since.weekday(), "sprint": 14, "quarter": 91}[unit]
    return _midnight(since + timedelta(days=days))


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _next_such_day(since: datetime, month: int, day: int, year: str | None) -> datetime | None:
    if year:
        return _day(int(year), month, day)
    this_year = _day(since.year, month, day)
    return this_year if this_year is None or this_year > since else _day(since.year + 1, month, day)


_POINTERS = r"(?:it|this|that|these|those|them|they|he|she|there|here|me|you|us|everything|anything|all|one|ones)"
_SKIP = re.compile(
    r"(?:let's\s+|we\s+can\s+|you\s+can\s+|we\s+should\s+)?(?:(don't\s+bother|do\s+not\s+bother|no\s+need\s+to\s+bother)\s+"
    r"(?:with\s+|about\s+|to\s+|trying\s+to\s+)?|(?:skip|ignore|leave\s+out|don't\s+touch|do\s+not\s+touch|"
    r"don't\s+worry\s+about|do\s+not\s+worry\s+about|stay\s+away\s+from|leave(?=\s+\S.*\s+alone\b)|"
    r"(?:don't|do\s+not|stop|no\s+need\s+to|no\s+use\s+in)\s+"
    r"(?:look(?:ing)?\s+(?:into|at|for)|investigat(?:e|ing)|check(?:ing)?(?:\s+on)?|re-?check(?:ing)?|re-?read(?:ing)?|"
    r"read(?:ing)?|retry(?:ing)?|re-?try(?:ing)?|re-?run(?:ning)?|run(?:ning)?|revisit(?:ing)?|research(?:ing)?|"
    r"chas(?:e|ing)|pursu(?:e|ing)|debug(?:ging)?|review(?:ing)?|work(?:ing)?\s+on|spend(?:ing)?\s+time\s+on))\s+)(\S.*)"
)
_REASON = re.compile(
    r"[,;]?\s+(?:-\s+)?(?:again\b|any\s?more\b|alone\b|if\s+it\s+comes|before\b|because|since|as\s+(?:it|they|the|we)|it's|it\s+is|they're|they\s+are|until|till)\b|\s-+\s|[,;(]\s*"
)
_BECAUSE = re.compile(r"(?:[,;(]|\s-|\bbecause|\bsince)\s+((?:the|our|we|a|an|it's|they're|it|they|no)\s.*\w\s.*\w.*)")
_KNOWN = re.compile(
    r"(\S.{1,100}?)\s+(?:is|are)\s+(?:(?:a\s+)?(known)\s+(?:to\s+be\s+)?)?(?:currently\s+|still\s+)?"
    r"(?:flaky|broken|down|unreliable|flake)\b(.*)"
)
_ALREADY = re.compile(
    r"already\s+(?:read|checked|tried|researched|reviewed|seen)\s+(\S.{1,100}?)\s*[,;:-]+\s*(?:so\s+|and\s+|please\s+)*skip\b"
)
_AWAITED = re.compile(r"\bwaiting\s+(?:on|for)\b|\buntil\b")


def to_skip(sentence: TurnSentence, said_at: datetime | None, now: datetime) -> RuleMatch | None:
    """Find ``don't bother with X``, ``skip X for now``, ``do not check X until DATE``, ``already read X, skip``."""
    skip = filler_length(sentence.mask)
    mask = sentence.mask[skip:]
    match = _SKIP.match(mask)
    until = SKIP_UNTIL_CUE.search(mask)
    if known := _ALREADY.match(mask):
        return _skip(sentence, skip + known.start(1), skip + known.end(1), "to_skip", 0.7, said_at, now)
    has_reason = re.search(r"\b(?:because|since|it's|they're|known)\b", mask)
    if match is None or not (match[1] or until or has_reason):
        return None
    rest = match[2]
    ends = [found.start() for found in (SKIP_UNTIL_CUE.search(rest), _REASON.search(rest)) if found]
    start = skip + match.start(2)
    length = min([*ends, len(rest)])
    return _skip(sentence, start, start + length, "to_skip", 0.75 if until else 0.7, said_at, now)


def known_broken(sentence: TurnSentence, said_at: datetime | None, now: datetime) -> RuleMatch | None:
    """Find ``X is known flaky``, ``X is broken, waiting on ...``."""
    skip = filler_length(sentence.mask)
    match = _KNOWN.match(sentence.mask, skip)
    if match is None or not (match[2] or _AWAITED.search(match[3])):
        return None
    return _skip(sentence, match.start(1), match.end(1), "known_broken", 0.65, said_at, now)


def _skip(
    sentence: TurnSentence, start: int, end: int, rule: str, score: float, said_at: datetime | None, now: datetime
) -> RuleMatch | None:
    item = " ".join(sentence.text[start:end].split()).strip(" .,;:!-")
    if not content_words(item) or len(item) > 120 or re.match(rf"{_POINTERS}\b", sentence.mask[start:end]):  # noqa: PLR2004
        return None
    expires_at = skip_expiry(sentence.mask, said_at, now)
    if expires_at is None:
        return None
    because = _BECAUSE.search(sentence.mask, end)
    reason = as_statement(sentence.text[because.start(1) if because else filler_length(sentence.mask) :])
    return RuleMatch("skip", {"item": item, "reason": reason, "expires_at": expires_at}, rule, score)


_TO_DO = re.compile(
    r"(?:(?:todo|to-do|to\s+do)\s*[:-]+\s*(?:to\s+)?|remind\s+me\s+(?:tomorrow\s+|later\s+|next\s+week\s+)?(?:to|about|that)\s+|"
    r"(?:next(?:\s+up)?|later|tomorrow|next\s+week|on\s+monday)\b,?\s+(?:on\s+)?(?:(?:we|i|you)(?:'ll|\s+will)?\s+"
    r"(?:still\s+|also\s+|then\s+)?(?:(?:need|have|want)\s+to|should|must|ought\s+to)|let's)\s+|"
    r"(?:we|i|you)(?:'ll)?\s+(?:still|also\s+still)\s+(?:need|have)\s+to\s+)(\S.*)"
)
_TOMORROW = re.compile(
    r"(?:(?:we|i)(?:'ll|\s+will)?\s+(?:(?:need|have)\s+to|should|must)|let's)\s+(\S.*\b(?:tomorrow|next\s+week|on\s+monday)\b.*)"
)
_WAITING = re.compile(
    r"(?:we(?:'re|\s+are)|i(?:'m|\s+am))?\s*(?:still\s+|now\s+)?(?:waiting|blocked)\s+(?:for|on)\s+(\S.*)"
)
_MOMENTARY = re.compile(
    r"\b(?:you|your|it|this|that|them|tests?|build|ci|command|output|response|result|server|download|install|process|"
    r"script|job|pipeline|agent|reply from you|confirmation from you)\b"
)
_VAGUE = re.compile(
    rf"(?:{_POINTERS}|do\s+{_POINTERS}|fix\s+{_POINTERS}|continue|talk|see|look|think)\b[^\w]*(?:$|\w+[.!]*$)"
)


def _capitalized(action: str) -> str:
    """Return an action, which begins with a verb, with a capital letter."""
    return action[:1].upper() + action[1:] if action[:2].isalpha() else action


def to_do(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``TODO: ...``, ``next we need to ...``, ``remind me to ...``, ``tomorrow we ...``."""
    skip = filler_length(sentence.mask)
    match = next((found for found in (_TO_DO.match(sentence.mask, skip), _TO_DO.match(sentence.mask)) if found), None)
    is_named = match is not None and match[0].startswith(("todo", "to-do", "to do", "remind"))
    match = match or _TOMORROW.match(sentence.mask, skip)
    if match is None:
        return None
    start = match.start(1)
    rest = sentence.mask[start:]
    action = _capitalized(as_statement(sentence.text[start:]))
    if len(content_words(action)) < 2 or _VAGUE.match(rest) or re.match(rf"\w+\s+{_POINTERS}[.!]*$", rest):  # noqa: PLR2004
        return None
    title = (action if is_named else as_statement(sentence.text[skip:])).rstrip(".! ")
    fields = {"title": title, "category": "active_work", "next_action": action.rstrip(".! ")}
    return RuleMatch("item", fields, "to_do", 0.7 if is_named else 0.6)


def waiting(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``we're waiting for X to ...``; not what is over in a minute, such as tests that run."""
    skip = filler_length(sentence.mask)
    match = _WAITING.match(sentence.mask, skip)
    if match is None or _MOMENTARY.search(match[1]) or len(content_words(match[1])) < 2:  # noqa: PLR2004 - a subject and a matter
        return None
    title = as_statement(sentence.text[skip:]).rstrip(".! ")
    return RuleMatch("item", {"title": title, "category": "waiting_for"}, "waiting", 0.65)


_LEFT_OPEN = re.compile(
    r"(?:todo|still\s+to\s+do|remaining(?:\s+work)?|left\s+to\s+do|not\s+done\s+yet|follow-?ups?|next\s+steps?|open\s+items?)\s*[:-]\s*(\S.*)"
    r"|(?:we|you)\s+still\s+(?:need|have)\s+to\s+(\S.*)"
)


def left_open(sentence: TurnSentence) -> RuleMatch | None:
    """Find what the agent names as still to do in the last words of the transcript: ``Remaining: ...``."""
    skip = filler_length(sentence.mask)
    match = _LEFT_OPEN.match(sentence.mask, skip)
    if match is None:
        return None
    start = match.start(1) if match[1] else match.start(2)
    action = _capitalized(as_statement(sentence.text[start:])).rstrip(".! ")
    if len(content_words(action)) < 2 or _VAGUE.match(sentence.mask[start:]):  # noqa: PLR2004 - a verb and its object
        return None
    return RuleMatch("item", {"title": action, "category": "active_work", "next_action": action}, "left_open", 0.5)


_DONE_WORDS = frozenset(
    """
    done complete completed finished fixed implemented added merged updated pushed shipped resolved wrote written
    created removed deleted migrated deployed renamed bumped documented published released landed arrived received
    answered replied confirmed approved closed replaced upgraded installed configured moved cleaned refactored
    converted switched sent rotated tested verified enabled disabled dropped extracted split introduced handled
    passes pass gave granted signed
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_DONE_PHRASES = ("works now", "now works", "is in place", "are in place", "set up", "took care", "taken care")
_DONE_MARKS = ("\u2705", "\u2714", "\u2611", "[x]")
_DONE = re.compile(
    rf"\b(?:{'|'.join(sorted(_DONE_WORDS))}|{'|'.join(_DONE_PHRASES)})\b|{'|'.join(map(re.escape, _DONE_MARKS))}"
)
_NOT_DONE = re.compile(
    r"(?:\b(?:not|isn't|hasn't|haven't|wasn't|didn't|aren't|never|without)\s+(?:\w+\s+){0,2}|"
    r"\b(?:will|'ll|going\s+to|once|until|if|when|needs?\s+to|has\s+to|have\s+to|should|must|to\s+be|about\s+to|let\s+me|todo|can\s+be|"
    r"could\s+be|yet\s+to|before|waiting)\b.{0,40})$",
    re.IGNORECASE,
)
_DONE_HEADING = re.compile(
    r"[#*\s]*(?:done|completed|finished|what\s+(?:i|we|was)\s+(?:did|done|changed)|changes(?:\s+made)?)\b[^.]{0,30}$",
    re.IGNORECASE,
)
_BARE_DONE = re.compile(r"(?:all\s+|that's\s+|it's\s+)?(?:done|finished|completed|all\s+set)\b", re.IGNORECASE)
_MOST_LINES = 400
_FRAME = "need next todo remind tomorrow waiting still later week monday forget follow remaining"
"""Words that say that a thing is open, and not which thing it is."""

SETTLED_SHARE = 0.5
"""The share of an open item's words that a report of completion has to hold."""


def completion_reports(text: str) -> Iterable[frozenset[str]]:
    """Yield the stems of each line that reports a completion; an empty set for a bare ``Done.``."""
    under_heading = False
    for line in text.split("\n", _MOST_LINES)[:_MOST_LINES]:
        stripped = line.strip()[:600]
        if not stripped:
            continue
        if _DONE_HEADING.match(stripped) and len(stripped.split()) <= 6:  # noqa: PLR2004 - a heading, not a sentence
            under_heading = True
        elif not stripped.startswith(("-", "*", "•", "1", "2", "3", "4", "5", "6", "7", "8", "9")):
            under_heading = False
        if _BARE_DONE.match(stripped):
            yield frozenset()
        if under_heading or _reports_completion(stripped):
            yield content_words(stripped)


def _reports_completion(line: str) -> bool:
    line = line.lower()
    hints = (*_DONE_PHRASES, *_DONE_MARKS)
    if line.endswith("?") or (_DONE_WORDS.isdisjoint(WORD.findall(line)) and not any(hint in line for hint in hints)):
        return False
    return any(not _NOT_DONE.search(line[max(0, found.start() - 80) : found.start()]) for found in _DONE.finditer(line))


@cache
def _frame() -> frozenset[str]:
    return content_words(_FRAME)


def is_settled_by(words: frozenset[str], report: frozenset[str]) -> bool:
    """Tell whether a report of completion refers to the open item with these words."""
    item_words = words - _frame()
    return bool(item_words) and len(item_words & report) >= SETTLED_SHARE * len(item_words)
