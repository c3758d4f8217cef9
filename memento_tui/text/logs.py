"""Tell a log, which only reports work that was done or read, from a text that states a fact or an instruction.

Imports next to nothing: memento-hook asks it before it tells a memory.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["LOG_HINT", "is_log"]

LOG_HINT = (
    "It reads like a log. What should the next session do because of this? Say that instead: agents are not told"
    " logs, only searches find them."
)
"""The answer to an agent that stores a log."""

_MOST_CHARACTERS = 600
"""The most characters of a text that can be a log; a longer one says more."""
_MOST_SENTENCES = 6

_DONE_WORDS = """
    browsed checked committed compared copied counted debugged deployed discussed examined executed explored fetched
    inspected investigated listed looked merged monitored opened pinged polled posted printed probed pulled pushed
    queried ran rebased refreshed released reloaded reran researched restarted reviewed scanned searched sent skimmed
    tested uploaded waited
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
"""Verbs of an agent's work: a sentence that begins with one, or with who did it, is a report.

What a person did in their life is no log but a fact about them: they met, visited, started, finished.
"""

_SEEN_WORDS = """
    returned responded came answered gave replied showed reported read measured passed failed completed succeeded
    finished ended timed was were updated
    """.split()  # noqa: SIM905 - same
_REPORTING = frozenset((*_DONE_WORDS, *_SEEN_WORDS))

_CONSEQUENCES = frozenset(
    """
    always never must should shall need needs needed require required requires avoid skip ignore use uses using prefer
    prefers preferred want wants wanted don't doesn't can can't cannot won't will would could until unless because since
    so therefore hence thus due instead when whenever if once only remember note lesson learned learnt cause causes
    caused why fix fixed fixes decided decision chose agreed renamed replaced switched changed now means is are has
    have lives stays keep todo follow-up pending remaining blocked waiting open rule policy discovered realized realised
    except but however although plan plans planned going before respond given scenario moved identified expect
    """.split()  # noqa: SIM905 - same
)
"""Words of a conclusion, a fact or an instruction: with one of them, a text is more than a log."""


def is_log(content: str, title: str = "") -> bool:
    """Tell whether a text is a log: a report of work or measurements without a conclusion or an instruction.

    English; a text of another language is none. Most texts are decided by a look at their words.
    """
    if len(content) > _MOST_CHARACTERS:
        return False
    plain = content.replace("\u2019", "'").casefold()
    words = set(f"{title.casefold()} {plain}".replace("\n", " ").split())
    if _REPORTING.isdisjoint(words):
        return False
    words = {word.strip(".,:;!?()[]*\"'`#-") for word in words}
    if not _CONSEQUENCES.isdisjoint(words):
        return False
    consequence, separator, report = _patterns()
    if consequence.search(f"{title.casefold()} {plain}"):
        return False
    clauses = [clause.strip(" -*•✅✔#>\t") for clause in separator.split(plain)]
    clauses = [clause for clause in clauses if any(letter.isalpha() for letter in clause)]
    if not 0 < len(clauses) <= _MOST_SENTENCES:
        return False
    return all(report.match(clause) is not None and not clause.endswith(":") for clause in clauses)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a consequence in several words or signs, of a separator of clauses, and of a report.

    A semicolon parts clauses too, each of which reports by itself: they are not the sentences of `text.sentences`.

    They are compiled when a text gets that far, which few do.
    """
    when = (
        r"(?:(?:on|at|by)?\s*\[?\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?z?)?\]?|today|yesterday|tonight|just\s+now|"
        r"this\s+(?:morning|afternoon|evening|week|session)|earlier|first|then|next|finally|also|and|later)\s*[,:;-]*\s+"
    )
    who = r"(?:i|we|the\s+(?:agent|assistant)|agent|assistant|claude)\s+"
    manner = r"(?:have|had|just|briefly|also|then|already|again|quickly)\s+"
    done = "|".join(_DONE_WORDS)
    read = r"read\s+[^.,]{1,60}(?:\s+by\s|,)"
    reported = rf"(?:(?:{done})\b(?!\s*:|\s+(?:into|out)\b)|updated\b(?!\s*:)(?!.*\bto\s+\w)|{read})"
    state = (
        r"(?:\d|~\d|quiet|green|red|ok|okay|fine|down|up|slow|fast|high|low|empty|clean|normal|stable|healthy|"
        r"interesting|successful|unavailable|available|unchanged|nothing|none)\b"
    )
    value = (
        r"(?:returned|responded|came\s+back|answered|gave|replied|showed|reported|read|measured)\s+"
        r"(?:with\s+|a\s+|an\s+|as\s+|in\s+)*(?:http\s+)?(?:\d|no\s|nothing|empty|ok\b|error)"
    )
    outcome = r"(?:passed|failed|completed|succeeded|finished|ended|timed\s+out)\b"
    somebody = r"(?:my|our|his|her|their|i|we|he|she|they)\b"
    condition = rf"(?:was|were)\s+(?:still\s+|very\s+|all\s+|at\s+)*{state}"
    seen = rf"(?!{somebody})(?:[\w/.#'-]+\s+){{1,7}}?(?:{condition}|{value}|{outcome})"
    return (
        re.compile(
            r"\b(?:had\s+to|works?\s+(?:by|with|only|when)|no\s+longer|next\s+steps?|to\s+do|by\s+\w+ing|found\s+(?:that|out)|"
            r"turn(?:s|ed)\s+out|after\s+\w+ing|again\s+(?:if|when))\b"
            r"|->|→|=>|=|\?|⇒"
        ),
        re.compile(r"(?<=[.!])\s+|[;\n]+"),
        re.compile(rf"(?:{when})*(?:(?:{who})?(?:{manner})*{reported}|{seen})"),
    )
