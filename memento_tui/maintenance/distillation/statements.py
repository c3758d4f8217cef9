"""The statements of a turn, sentence by sentence, and the candidates for memories made from them.

Code, quotations, logs and pasted documents are left out. A sentence keeps its place in the turn, so that a quote from
it occurs there letter by letter. Its ``mask`` is as long as its text, in lower case, with code and quoted words
replaced by underscores: rules look at the mask, so that a cue inside a quotation or a code span is no cue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from memento_tui.text.markdown import Span, blocks
from memento_tui.text.sentences import split_paragraph
from memento_tui.text.terms import STOP_WORDS, character_bigrams, compared_terms

__all__ = [
    "Candidate",
    "RuleMatch",
    "TurnSentence",
    "as_statement",
    "content_words",
    "filler_length",
    "has_cue",
    "is_statement",
    "shorten_quote",
    "turn_sentences",
]

Target = Literal["memory", "skip", "item"]


class Candidate(msgspec.Struct, frozen=True):
    """One memory, skip or working item to propose."""

    target: Target
    fields: dict[str, Any]
    """Plain values for `make_memory`, `make_skip` or `make_item`."""
    first_line: int
    last_line: int
    quote: str
    """The words of the transcript as evidence: at most 300 characters, whole words."""
    rule: str
    """The name of its rule, one of `distiller.RULES`."""
    score: float
    """From 0 to 1: how often a match of this rule is worth a person's attention. Set by hand."""


class RuleMatch(msgspec.Struct, frozen=True):
    """The match of a rule in one sentence: a candidate without its lines and quote."""

    target: Target
    fields: dict[str, Any]
    rule: str
    score: float


LONGEST_SENTENCE = 400
"""Characters. A longer sentence is a paragraph without full stops, and is left out."""

FEWEST_WORDS = 3
_FEWEST_PAIRS = 6
"""Pairs of neighbouring characters of a sentence in a script that is written without spaces."""
LONGEST_STATEMENT_TURN = 3_000
"""Characters. Of a longer turn, which holds a document, the first and last paragraphs are read."""

MAX_QUOTE = 300
_PROSE_LETTERS = 0.6
"""The least share of letters among the visible characters of prose."""

_ROLE_PROMPT = re.compile(r"\s*(?:#[^\n]{1,200}\n\s*)?you are (?:a|an|the|now|\w{3,20}ing)\b", re.IGNORECASE)
"""The beginning of prompts that programs send in a person's place, which assign a role for the session."""

_NOT_PROSE = re.compile(
    r"""
    [ ]{4}|\t                                       # indented code
  | [ \t]*(?:
        >|\||\#{1,6}[ ]|@@|diff[ ]--git|\+\+\+|---|[+][^\s]         # quotations, tables, headings, diffs
      | \$[ ]|%[ ]|\u276f|\u279c|\u23fa|\u23bf|\u2026             # prompts, and the marks of agents' screens
      | at[ ][\w$.<]+[ ]?\(|File[ ]"|Traceback|Caused[ ]by:|npm[ ]ERR|error\[|warning:   # traces
      | \[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b
      | \w{0,40}(?:Error|Exception):|(?:FAIL|FAILED|PASS|PASSED|ok|not[ ]ok)[ ]\S+[/.:]
      | (?i:user|human|assistant|system|me|you|agent|claude|codex|ai|bot)[ ]?:         # a pasted dialogue
      | (?:import|from|def|class|function|const|let|var|return|export|public|private|SELECT|INSERT|CREATE)[ ]\S+[^a-z ]
    )
    """,
    re.VERBOSE,
)
_INTRODUCTION = re.compile(
    r"\b(?:here'?s|here is|here are|here(?:'s)? (?:what|how)|below|following|pasted?|paste|quot(?:e|es|ing)|copied|"
    r"(?:issue|ticket|email|mail|message|error|logs?|output|readme|docs?|documentation|spec|comment|review|feedback|"
    r"transcript|prompt|article|page|says?|said|reads?|wrote|writes|guide|guidelines|template|example|snippet|"
    r"report|description|plan|task|requirements|skill|agent|rules file|config)(?: is| was| says?| said| reads?)?)\b"
    r"[^.?!]{0,60}:\s*$",
    re.IGNORECASE,
)
_TASK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_CODE_OR_QUOTE = re.compile(
    r"`[^`\n]{1,300}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|(?<![\w'])'[^'\n]{2,200}'(?![\w'])|https?://\S{1,300}"
)
_WRAPPED = 60
"""Characters. A line of this length was wrapped to a width, a shorter one was ended by its writer."""

_QUESTION_START = re.compile(
    r"(?:what|why|how|who|whom|whose|where|when(?! you| we| i\b)|which|can|could|would|should|shall|may|might|"
    r"do(?! not\b)|does|did|is|are|was|were|am|has|have|had|will|won't|isn't|aren't|doesn't|didn't|"
    r"shouldn't|wouldn't|couldn't|can't|any idea)\b"
)
_TAG_QUESTION = re.compile(r"[,\s](?:ok|okay|alright|please|pls|thanks)\s*\?+$")
_HYPOTHETICAL = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|might|could|would|suppose|supposing|imagine|hypothetical(?:ly)?|"
    r"wonder(?:ing)?|unsure|not sure|i guess|i think|i suspect|i doubt|in theory|for example|for instance|let's say|"
    r"what if|as if|if only|say we|assume|assuming|pretend|may (?:be|want|need|have|not)|seems?|apparently|"
    r"joking|kidding|just curious|not necessarily|unless i'm|wish)\b"
)
_ILLEGIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ufffd\ud800-\udfff]")
_LETTERS = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w[\w'-]*")
"""A word as a reader counts them: with a hyphen or an apostrophe it is one."""


_PLAIN_CHARACTERS = str.maketrans({"\n": " ", "\t": " ", "*": " ", "\u2019": "'", "\u2013": "-", "\u2014": "-"})
"""Plain characters for white space, emphasis, and typographic apostrophes and dashes."""


class TurnSentence(NamedTuple):
    """One sentence of a turn: its text, its mask, and its start in the turn."""

    text: str
    mask: str
    start: int


def turn_sentences(text: str, *, is_person: bool) -> Iterator[TurnSentence]:
    """Yield the sentences of a turn, of a person's turn without the text that it introduces as a quotation."""
    if is_person and _ROLE_PROMPT.match(text):
        return
    regions = [(0, len(text))]
    if is_person and len(text) > LONGEST_STATEMENT_TURN:
        regions = _first_and_last_paragraph(text)
    for start, end in regions:
        for block_start, block_end in _prose(text, start, end, is_person=is_person):
            yield from _split(text, block_start, block_end)


def _first_and_last_paragraph(text: str) -> list[tuple[int, int]]:
    """Return start and end of the first and last paragraph of a document, unless they are long themselves."""
    first, last = text.find("\n\n"), text.rfind("\n\n")
    if first < 0:
        return []
    found = [(0, first), (last, len(text))]
    return [(start, end) for start, end in found if end - start <= LONGEST_STATEMENT_TURN // 2]


def _prose(text: str, start: int, end: int, *, is_person: bool) -> Iterator[Span]:
    """Yield start and end of each piece of prose: unwrapped paragraphs and list items, outside code."""
    for found in blocks(text[start:end]):
        block = -1
        previous: Span = (0, 0)
        for line_start, line_end in found.lines:
            begin, stop = line_start + start, line_end + start
            raw = text[text.rfind("\n", 0, begin) + 1 : begin + 2 * LONGEST_SENTENCE]
            is_prose = found.kind != "code" and begin < stop and not _NOT_PROSE.match(raw)
            if block >= 0 and not (is_prose and _continues(text, previous, begin)):
                yield block, previous[1]
                block = -1
            if is_prose and block < 0:
                box = _TASK_BOX.match(text, begin, stop)
                block = box.end() if box else begin
            if is_person and is_prose and _INTRODUCTION.search(text, max(begin, stop - 200), stop):
                return  # the rest is quoted, and so is this line with its colon
            previous = (begin, stop)
        if block >= 0:
            yield block, previous[1]


def _continues(text: str, previous: Span, start: int) -> bool:
    """Tell whether a line continues the line before it, which was wrapped to a width."""
    return previous[1] - previous[0] >= _WRAPPED and text[start].islower()


def _split(text: str, start: int, end: int) -> Iterator[TurnSentence]:
    block = text[start : min(end, start + 20 * LONGEST_SENTENCE)]
    mask = _mask(block)
    for sentence_start, sentence_end in split_paragraph(mask, 0, len(mask), is_typed=True):
        yield from _trimmed_sentence(block, mask, sentence_start, sentence_end, start)


def _trimmed_sentence(block: str, mask: str, begin: int, end: int, start: int) -> Iterator[TurnSentence]:
    while begin < end and (block[begin].isspace() or block[begin] in "*_"):
        begin += 1
    while end > begin and (block[end - 1].isspace() or block[end - 1] in "*_"):
        end -= 1
    if 0 < end - begin <= LONGEST_SENTENCE:
        yield TurnSentence(block[begin:end], mask[begin:end], start + begin)


def _mask(block: str) -> str:
    """Return the text in lower case, character for character, with code, quotations and addresses blanked."""
    lower = block.lower()
    if len(lower) != len(block):
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in block)
    return _CODE_OR_QUOTE.sub(lambda match: "_" * len(match[0]), lower.translate(_PLAIN_CHARACTERS))


_CUES = frozenset(
    """
    always never now forward future here point don dont not must shouldn mustn whenever every each any before after
    use uses run runs deploy deploys target targets support supports ship ships pin pins require requires follow follows
    host hosts store stores remember mind forget later reference record fyi heads prefer preference rather hate dislike
    stand no noo nope nah wrong quite incorrect actually correction clarify isn re let lets go going stick sticking
    settle standardize standardise decided agreed settled decision todo do remind next tomorrow monday still waiting
    blocked bother skip stop look alone until already ignore leave touch worry away known flaky flake broken down
    unreliable used our my
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_LETTER_RUNS = re.compile(r"[a-z]+")


def has_cue(sentence: TurnSentence) -> bool:
    """Tell quickly whether a sentence holds a word that any rule for the person needs; most hold none."""
    return not _CUES.isdisjoint(_LETTER_RUNS.findall(sentence.mask))


def is_statement(sentence: TurnSentence) -> bool:
    """Tell whether a sentence asserts something: no question, no supposition, legible, and of three words or more."""
    mask = sentence.mask
    if mask.rstrip(")\"' ").endswith("?") and not _TAG_QUESTION.search(mask):
        return False
    if (
        _QUESTION_START.match(mask, filler_length(mask))
        or _HYPOTHETICAL.search(mask)
        or _ILLEGIBLE.search(sentence.text)
    ):
        return False
    words = [word for word in _WORD.findall(mask) if word.strip("_")]
    letters = len(_LETTERS.findall(mask))
    visible = sum(not char.isspace() and char != "_" for char in mask)
    has_words = len(words) >= FEWEST_WORDS or len(character_bigrams(mask)) >= _FEWEST_PAIRS
    return has_words and letters >= _PROSE_LETTERS * visible


def shorten_quote(text: str) -> str:
    """Return a text as a quote: unchanged, or its first whole words within `MAX_QUOTE` characters."""
    text = text.strip()
    if len(text) <= MAX_QUOTE:
        return text
    cut = max(text.rfind(" ", 0, MAX_QUOTE + 1), text.rfind("\n", 0, MAX_QUOTE + 1))
    return text[:cut].rstrip() if cut > 0 else ""


_LEADING_FILLER = re.compile(
    r"(?:(?:ok|okay|k|so|yeah|yes|yep|yup|sure|well|also|and|but|please|pls|plz|right|alright|cool|great|perfect|nice|"
    r"good|hmm+|hm|oh|ah|hey|hi|btw|by the way|anyway|oh and|one more thing|thanks|thank you|"
    r"just|wait|sorry|listen|look|um|uh|fyi|"
    r"claude|codex|got it|sounds good|looks good|lgtm|makes sense|important|note|reminder)\b[\s,.!:;-]*)+"
)
_SENTENCE_STARTERS = frozenset(
    """
    a an the this that these those we our i my you your they their it its he she there here
    always never from going use do don't dont prefer let's when whenever before after every each if for
    in on at make keep run add write put avoid stop only all any no not please commit check ask tell update remove fix
    follow leave treat wait next waiting tests test deploys deploy we're i'm i'd i've we've tomorrow later afterwards
    don't decision decided agreed it's
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words that get a capital at the start of a sentence; any other word could be a name and keeps its case."""


def filler_length(mask: str) -> int:
    """Return the length, in characters, of the filler at the start of a mask: ``ok so``, ``yeah,``, ``please``."""
    match = _LEADING_FILLER.match(mask)
    return match.end() if match and match.end() < len(mask) else 0


def as_statement(text: str) -> str:
    """Return a statement on one line, with a capital letter where an ordinary word begins it."""
    line = " ".join(text.split()).strip(" ,;:-\u2013\u2014").replace("**", "")
    first, space, rest = line.partition(" ")
    if first.lower().rstrip(",").translate(_PLAIN_CHARACTERS) in _SENTENCE_STARTERS and first[:1].islower():
        first = first[:1].upper() + first[1:]
    return f"{first}{space}{rest}"


_CONTRACTION_PARTS = frozenset(
    """
    don doesn didn isn aren wasn weren hasn haven won wouldn shouldn couldn mustn s t d m ll re ve
    """.split()  # noqa: SIM905 - same
)
"""The terms that the analyzer makes of contractions such as ``don't`` and ``we'll``."""


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text without stop words and parts of contractions."""
    return frozenset(compared_terms(text)) - STOP_WORDS - _CONTRACTION_PARTS
