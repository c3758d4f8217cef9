"""Tell claims, which hold until they change, from records of events, which stay true for ever."""

from __future__ import annotations

import re
from functools import lru_cache

from memento_tui.maintenance.contradictions.alignment import analyze_text
from memento_tui.model import Memory
from memento_tui.text.lexicon import CHANGE_CUES, IRREGULAR_FORMS, word_set
from memento_tui.text.sentences import first_sentence
from memento_tui.text.tokens import read_sentences

__all__ = ["is_event", "is_session_note", "speak_of_one_subject"]

_SESSION_KINDS = frozenset({"session", "session_note", "session_summary", "conversation_summary", "fleeting"})
_EVENT_TITLE = re.compile(
    r"\d{4}-\d{2}-\d{2} | (?<![\w.])v?\d+\.\d+\.\d+ | (?<![\w.])v\d+\.\d+ | (?<!\w)\#\d+ | (?<!\w)(?:PR|MR)\s?\d+",
    re.VERBOSE,
)
"""A date, a release or a numbered change in a title: what the memory tells happened once."""

_TASK_BOX = re.compile(r"^[ \t]*[-*+][ \t]+\[[ xX]\][ \t]", re.MULTILINE)
_MARK = re.compile(r"^[\s*_#>-]*(?:\[[^\]\n]{1,30}\](?!\()[\s:]*|[^\w\s`'\"(\[]+\s+)")
"""A category in brackets or a sign before a text: *[FIX]*, a check mark."""
_LABEL = re.compile(r"^[\s*_#>-]*[A-Za-z ]{1,20}[*_]*:[\s*_]*")
_MANNERS = word_set("successfully recently finally fully partially also just")
"""Words before the verb of a report."""
_PAST = re.compile(r"[a-z]{2,}ed")
_BEGINNING_CHARS = 300
"""Characters of a sentence in which its verb is looked for: the steps to find a mark before it are their square."""

_OWN_WORD_WEIGHT = 1.0


def is_session_note(memory: Memory) -> bool:
    """Tell whether a memory is the diary of a day or a session."""
    raw = re.sub(r"[^a-z]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", memory.kind_raw.strip()).lower())
    return memory.kind == "daily" or raw in _SESSION_KINDS


def is_event(memory: Memory) -> bool:
    """Tell whether a memory records what was done or happened: a session, a release, a run, a list of tasks.

    *Fixed the login* is an event. *Switched to Redis* is none: it says how things stand from then on.
    """
    if is_session_note(memory) or _EVENT_TITLE.search(memory.title) or _TASK_BOX.search(memory.content):
        return True
    beginnings = (text[:_BEGINNING_CHARS] for text in (memory.title, first_sentence(memory.content)))
    return any(_tells_an_act(text) for text in beginnings if text)


@lru_cache(maxsize=2_048)
def _tells_an_act(text: str) -> bool:
    """Tell whether a text begins with a verb in the past and nobody before it: *Successfully released the fix*."""
    sentences = read_sentences(_LABEL.sub("", _MARK.sub("", text)))
    if not sentences:
        return False
    first = next((token.low for token in sentences[0].tokens if token.low not in _MANNERS), "")
    past = _PAST.fullmatch(first) is not None or (first in IRREGULAR_FORMS and IRREGULAR_FORMS[first] != "be")
    return past and first not in CHANGE_CUES


def speak_of_one_subject(one: Memory, other: Memory) -> bool:
    """Tell whether the titles allow two memories to be about one thing.

    They do not where each title has a word of its own that the other memory does not know: *Login form* and *Search
    form* are two things, whatever their texts have in common.
    """
    return not (_own_title_words(one, other) and _own_title_words(other, one))


def _own_title_words(one: Memory, other: Memory) -> frozenset[str]:
    if not one.title:
        return frozenset()
    known = analyze_text(other.content, other.title).stems
    return frozenset(
        token.stem
        for sentence in read_sentences(one.title)
        for token in sentence.tokens
        if token.weight >= _OWN_WORD_WEIGHT and token.stem not in known
    )
