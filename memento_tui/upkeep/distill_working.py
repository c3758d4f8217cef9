"""Rules for what to leave alone for a while, and for what is still to do or awaited; and what takes these back.

A to-do that the same transcript later reports done is no longer one, and neither is a skip whose subject was mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache

from memento_tui.upkeep.distill_candidate import Found
from memento_tui.upkeep.distill_text import Sentence, content_words, filler_length, tidy
from memento_tui.upkeep.distill_until import UNTIL, expiry

__all__ = ["is_settled_by", "known_broken", "left_open", "reports", "to_do", "to_skip", "waiting"]

_POINTERS = r"(?:it|this|that|these|those|them|they|he|she|there|here|me|you|us|everything|anything|all|one|ones)"
_SKIP = re.compile(
    r"(?:let's\s+|we\s+can\s+|you\s+can\s+|we\s+should\s+)?(?:(don't\s+bother|do\s+not\s+bother|no\s+need\s+to\s+bother)\s+"
    r"(?:with\s+|about\s+|to\s+|trying\s+to\s+)?|(?:skip|ignore|leave\s+out|don't\s+touch|do\s+not\s+touch|"
    r"don't\s+worry\s+about|do\s+not\s+worry\s+about|stay\s+away\s+from)\s+)(\S.*)"
)
_REASON = re.compile(
    r"[,;]?\s+(?:-\s+)?(?:because|since|as\s+(?:it|they|the|we)|it's|it\s+is|they're|they\s+are|until|till)\b|\s-+\s|[,;(]\s*"
)
_BECAUSE = re.compile(r"(?:[,;(]|\s-|\bbecause|\bsince)\s+((?:the|our|we|a|an|it's|they're|it|they|no)\s.*\w\s.*\w.*)")
_KNOWN = re.compile(
    r"(\S.{1,100}?)\s+(?:is|are)\s+(?:(?:a\s+)?(known)\s+(?:to\s+be\s+)?)?(?:currently\s+|still\s+)?"
    r"(?:flaky|broken|down|unreliable|flake)\b(.*)"
)
_AWAITED = re.compile(r"\bwaiting\s+(?:on|for)\b|\buntil\b")


def to_skip(sentence: Sentence, said_at: datetime | None, now: datetime) -> Found | None:
    """Find ``don't bother with X``, ``skip X for now``, ``ignore X until DATE``."""
    skip = filler_length(sentence.mask)
    mask = sentence.mask[skip:]
    match = _SKIP.match(mask)
    until = UNTIL.search(mask)
    has_reason = re.search(r"\b(?:because|since|it's|they're|known)\b", mask)
    if match is None or not (match[1] or until or has_reason):
        return None
    rest = match[2]
    ends = [found.start() for found in (UNTIL.search(rest), _REASON.search(rest)) if found]
    start = skip + match.start(2)
    length = min([*ends, len(rest)])
    return _skip(sentence, start, start + length, "to_skip", 0.75 if until else 0.7, said_at, now)


def known_broken(sentence: Sentence, said_at: datetime | None, now: datetime) -> Found | None:
    """Find ``X is known flaky``, ``X is broken, waiting on ...``."""
    skip = filler_length(sentence.mask)
    match = _KNOWN.match(sentence.mask, skip)
    if match is None or not (match[2] or _AWAITED.search(match[3])):
        return None
    return _skip(sentence, match.start(1), match.end(1), "known_broken", 0.65, said_at, now)


def _skip(
    sentence: Sentence, start: int, end: int, rule: str, score: float, said_at: datetime | None, now: datetime
) -> Found | None:
    item = " ".join(sentence.text[start:end].split()).strip(" .,;:!-")
    if not content_words(item) or len(item) > 120 or re.match(rf"{_POINTERS}\b", sentence.mask[start:end]):  # noqa: PLR2004
        return None
    expires_at = expiry(sentence.mask, said_at, now)
    if expires_at is None:
        return None
    told = _BECAUSE.search(sentence.mask, end)
    reason = tidy(sentence.text[told.start(1) if told else filler_length(sentence.mask) :])
    return Found("skip", {"item": item, "reason": reason, "expires_at": expires_at}, rule, score)


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


def _capital(action: str) -> str:
    """Return an action, which begins with a verb, with a capital letter."""
    return action[:1].upper() + action[1:] if action[:2].isalpha() else action


def to_do(sentence: Sentence) -> Found | None:
    """Find ``TODO: ...``, ``next we need to ...``, ``remind me to ...``, ``tomorrow we ...``."""
    skip = filler_length(sentence.mask)
    match = next((found for found in (_TO_DO.match(sentence.mask, skip), _TO_DO.match(sentence.mask)) if found), None)
    is_named = match is not None and match[0].startswith(("todo", "to-do", "to do", "remind"))
    match = match or _TOMORROW.match(sentence.mask, skip)
    if match is None:
        return None
    start = match.start(1)
    rest = sentence.mask[start:]
    action = _capital(tidy(sentence.text[start:]))
    if len(content_words(action)) < 2 or _VAGUE.match(rest) or re.match(rf"\w+\s+{_POINTERS}[.!]*$", rest):  # noqa: PLR2004
        return None
    title = (action if is_named else tidy(sentence.text[skip:])).rstrip(".! ")
    fields = {"title": title, "category": "active_work", "next_action": action.rstrip(".! ")}
    return Found("item", fields, "to_do", 0.7 if is_named else 0.6)


def waiting(sentence: Sentence) -> Found | None:
    """Find ``we're waiting for X to ...``; not what is over in a minute, such as tests that run."""
    skip = filler_length(sentence.mask)
    match = _WAITING.match(sentence.mask, skip)
    if match is None or _MOMENTARY.search(match[1]) or len(content_words(match[1])) < 2:  # noqa: PLR2004 - who, and what
        return None
    title = tidy(sentence.text[skip:]).rstrip(".! ")
    return Found("item", {"title": title, "category": "waiting_for"}, "waiting", 0.65)


_LEFT_OPEN = re.compile(
    r"(?:todo|still\s+to\s+do|remaining(?:\s+work)?|left\s+to\s+do|not\s+done\s+yet|follow-?ups?|next\s+steps?|open\s+items?)\s*[:-]\s*(\S.*)"
    r"|(?:we|you)\s+still\s+(?:need|have)\s+to\s+(\S.*)"
)


def left_open(sentence: Sentence) -> Found | None:
    """Find what the agent names as still to do in the last words of the transcript: ``Remaining: ...``."""
    skip = filler_length(sentence.mask)
    match = _LEFT_OPEN.match(sentence.mask, skip)
    if match is None:
        return None
    start = match.start(1) if match[1] else match.start(2)
    action = _capital(tidy(sentence.text[start:])).rstrip(".! ")
    if len(content_words(action)) < 2 or _VAGUE.match(sentence.mask[start:]):  # noqa: PLR2004 - a verb and its object
        return None
    return Found("item", {"title": action, "category": "active_work", "next_action": action}, "left_open", 0.5)


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
_WORD = re.compile(r"\w+")
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
"""Words that say a thing is open, not which."""

SETTLED = 0.5
"""The share of an open thing's words that a report of something done has to hold."""


def reports(text: str) -> Iterable[frozenset[str]]:
    """Yield the words of each line of a turn that says something is done; no words at all for a bare ``Done.``."""
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
        if under_heading or _says_done(stripped):
            yield content_words(stripped)


def _says_done(line: str) -> bool:
    line = line.lower()
    hints = (*_DONE_PHRASES, *_DONE_MARKS)
    if line.endswith("?") or (_DONE_WORDS.isdisjoint(_WORD.findall(line)) and not any(hint in line for hint in hints)):
        return False
    return any(not _NOT_DONE.search(line[max(0, found.start() - 80) : found.start()]) for found in _DONE.finditer(line))


@cache
def _frame() -> frozenset[str]:
    return content_words(_FRAME)


def is_settled_by(words: frozenset[str], report: frozenset[str]) -> bool:
    """Tell whether a report of something done speaks of the open thing with these words."""
    told = words - _frame()
    return bool(told) and len(told & report) >= SETTLED * len(told)
