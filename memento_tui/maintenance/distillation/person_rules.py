"""Rules for the person's statements: instructions, choices, things to remember, preferences, corrections."""

from __future__ import annotations

import re
from collections.abc import Callable

from memento_tui.maintenance.distillation.statements import (
    RuleMatch,
    TurnSentence,
    as_statement,
    content_words,
    filler_length,
)
from memento_tui.text.terms import character_bigrams

__all__ = ["PERSON_RULES", "memory_match"]

Rule = Callable[[TurnSentence], RuleMatch | None]

_CLAUSE = r"(?:^|[,;:(]\s+|\s-+\s+|\b(?:and|but|so|because)\s+)"
"""The start of a clause that asserts something: ``the docs say never ...`` does not begin with *never*."""

_PASSING = re.compile(
    r"\b(?:yet|this time|right now|at the moment|today|tonight|for now|just now|until|again please|one more time|"
    r"for this (?:task|one|test|case|change|run|session|pr)|in this (?:file|function|test|pr|commit|branch|diff)|"
    r"that (?:file|line|change|commit|test|function)|this (?:file|line|change|commit|test|function|time|pr|branch))\b"
)
"""Phrases that tie an instruction to the task at hand."""

_PAST = frozenset(
    """
    been was were is are has had have got did made saw seen found wrote ran went knew thought came took said told kept
    gave felt heard left lost meant met paid put read sent set shut slept stood swept understood won broke chose
    forgot gotten mind quite really a an the that this those these it so such too as more less enough
    in on at to for from with of by before after but and or i we you he she they if when because
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_BASE_IN_S = ("ss", "us", "as", "cors")
_POINTERS = r"(?:it|this|that|these|those|them|they|he|she|there|here|one|ones|so|both|either|neither|what)"
_STARTS_WITH_POINTER = re.compile(rf"(?:(?:to|that|if|when)\s+)?{_POINTERS}(?:'s|'re|'ll)?\b")
_PERSONA = re.compile(
    r"\b(?:you are(?: now)?|act as|pretend|ignore (?:all|any|previous|the above)|speak as|respond to all)\b"
)


def memory_match(
    text: str, rule: str, score: float, *, kind: str, certainty: int, source_type: str = "user"
) -> RuleMatch | None:
    """Return the memory of a statement, or ``None`` where too little of it is left to be understood later."""
    content = as_statement(text)
    words = content_words(content)
    is_short = len(words) < 2 and not character_bigrams(content)  # noqa: PLR2004 - a subject, and something of it
    if is_short or len(content) > 400:  # noqa: PLR2004 - four lines
        return None
    fields = {"content": content, "kind": kind, "certainty": certainty, "source_type": source_type}
    return RuleMatch("memory", fields, rule, round(score + _specificity(content), 3))


def _specificity(content: str) -> float:
    """Return an addition to the score for names, code and numbers, and a deduction for length."""
    gain = 0.05 if re.search(r"`|\d|\w[./_]\w|[a-z][A-Z]", content) else 0.0
    return gain - (0.05 if len(content) > 200 else 0.0)  # noqa: PLR2004 - two lines of text


def _body(sentence: TurnSentence) -> tuple[str, str]:
    """Return the text and the mask of a sentence without its leading filler."""
    skip = filler_length(sentence.mask)
    return sentence.text[skip:], sentence.mask[skip:]


def _is_base_form(word: str) -> bool:
    """Tell whether a word can be a verb's base form, as in an order; ``always fails`` is a report."""
    if word in _PAST or (not word.replace("'", "").isalpha() and "_" not in word):
        return False
    is_finite = word.endswith(("ed", "ing")) and word not in (
        "need",
        "bring",
        "embed",
        "feed",
        "seed",
        "ping",
        "string",
    )
    return not is_finite and (not word.endswith("s") or word.endswith(_BASE_IN_S))


_ALWAYS = re.compile(
    _CLAUSE + r"(?:please\s+|you\s+(?:should|must|need\s+to|have\s+to)\s+|(?:i\s+want|i\s+need)\s+you\s+to\s+|"
    r"(?:be\s+sure|make\s+sure|remember|try)\s+(?:to|you|that\s+you|we)\s+|we\s+(?:should\s+|must\s+)?|must\s+|should\s+)?"
    r"(always|never)\s+(?:ever\s+|again\s+)?([a-z_'][\w'-]*)"
)
_ALWAYS_AS_SAID = re.compile(
    r"(?:remember|again|(?:as|like)\s+i\s+said|i\s+told\s+you)\b[,:]?\s+(?:that\s+)?you\s+"
    r"(?:always|alway|allways|alwasy|alwyas)\s+(?:must|(?:need|have)\s+to)\s+[a-z_'][\w'-]*\b"
    rf"(?!\s+{_POINTERS}[.!]*$)"
)
"""*Remember, you always need to ...*; without its beginning it is a complaint as often."""
_FROM_NOW_ON = re.compile(
    _CLAUSE + r"(?:from\s+(?:now|here|this\s+point)\s+on(?:\s+out)?|going\s+forward|in\s+future)\b[,:]?\s+\S"
)
_NOW_ON_LAST = re.compile(r"\b(?:from\s+now\s+on|going\s+forward|from\s+here\s+on(?:\s+out)?)[.!]*$")
_DO_NOT = re.compile(
    _CLAUSE
    + r"(please\s+)?(?:you\s+(?:should|must)\s+)?(?:do\s+not|don't|dont|must\s+not|should\s+not|shouldn't|mustn't)\s+"
    r"(ever\s+)?([a-z_][\w'-]*)\s+(\S.*)"
)
_STANDING = re.compile(
    r"\b(?:ever|anymore|any more|unless|by default|directly to|"
    r"without (?:asking|my|checking|a|an|running|approval|permission)|"
    r"in (?:this|our|the) (?:repo|repository|project|codebase|code base|team|org|monorepo)|"
    r"in (?:prod|production|tests|commits|commit messages|comments|code|docs|migrations)|"
    r"(?:to|on) (?:main|master|prod|production)|on fridays?)\b"
)
_NOT_ORDERS = frozenset(
    """
    worry mind forget bother hesitate panic know think care see have need want understand get like
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_EVERY = re.compile(
    _CLAUSE + r"(?:whenever|every\s+time|each\s+time|any\s?time|(?:before|after)\s+(?:every|each|any)\s+\w+|"
    r"before\s+(?:committing|pushing|merging|deploying|releasing))\b[^,]{0,80},\s+"
    r"(?:please\s+|you\s+(?:should|must)\s+|always\s+)?([a-z_][\w'-]*)"
)


_OF_ONESELF = re.compile(
    r"^i\b(?!\s+(?:want|need|expect|would\s+like)\s+you\s+to)(?!'d\s+like\s+you\s+to)|\bi(?:'ll|'m|\s+will|\s+am)\b"
)
"""Phrases in which the person speaks of their own actions, which are no instructions."""
_POLITE = re.compile(r"\b(?:please|pls|plz)\b")


def standing_instruction(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``always ...``, ``never ...``, ``from now on ...``, ``please don't ...``, ``whenever you ..., ...``."""
    text, mask = _body(sentence)
    if _PERSONA.search(mask) or _STARTS_WITH_POINTER.match(mask):
        return None
    if _ALWAYS_AS_SAID.match(mask) and not _PASSING.search(mask):
        return memory_match(text, "standing_instruction", 0.9, kind="instruction", certainty=4)
    if _OF_ONESELF.search(mask):
        return None
    score = 0.0
    always = _ALWAYS.search(mask)
    is_lasting = always and _is_base_form(always[2]) and not _PASSING.search(mask)
    if is_lasting or _FROM_NOW_ON.search(mask) or _NOW_ON_LAST.search(mask):
        score = 0.9
    elif (match := _EVERY.search(mask)) and _is_base_form(match[1]) and not _PASSING.search(mask):
        score = 0.8
    elif match := _DO_NOT.search(mask):
        score = _prohibition(
            match, mask, is_polite=bool(match[1]) or _POLITE.search(sentence.mask[: -len(mask)]) is not None
        )
    if not score or re.match(rf"(?:always|never|please|don't|do not)?\s*\w+\s+{_POINTERS}[.!]*$", mask):
        return None
    return memory_match(text, "standing_instruction", score, kind="instruction", certainty=4)


def _prohibition(match: re.Match[str], mask: str, *, is_polite: bool) -> float:
    """Return the score of ``(please) don't ...``; 0 where it concerns only the task at hand."""
    _, ever, verb, rest = match.groups()
    if verb in _NOT_ORDERS or not _is_base_form(verb) or _PASSING.search(mask):
        return 0.0
    if re.match(rf"{_POINTERS}\b", rest):
        return 0.0
    if ever or _STANDING.search(mask):
        return 0.85
    return 0.6 if is_polite and len(content_words(rest)) >= 2 else 0.0  # noqa: PLR2004 - more than one bare object


_WE_USE = re.compile(
    r"(?:(?:in|on|for)\s+(?:this|our)\s+\w+,?\s+)?(?:we|our\s+(?:team|company|org)|(?:this|the|our)\s+(?:project|repo|repository|"
    r"codebase|team|monorepo|service|app))\s+(?:(?:only|all|exclusively|now|no\s+longer|do\s+not|don't)\s+)?"
    r"(?:use|uses|run|runs|deploy|deploys|target|targets|support|supports|ship|ships|pin|pins|require|requires|follow|follows|"
    r"host|hosts|store|stores)\s+(\S.*)"
)
_USE_NOT = re.compile(
    _CLAUSE + r"(?:you\s+(?:should|must)\s+|we\s+|please\s+)?use\s+(?!the\s+(?:same|other|first|second|new|old)\b)"
    r"((?:[\w./@+-]+\s+){0,3}?[\w./@+-]+),?\s+(?:instead\s+of|rather\s+than|and\s+not|over|not|never)\s+((?:[\w./@+-]+\s*){1,4})"
)
_WANTED_IN_PROJECT = re.compile(
    rf"\bi\s+want\s+(?!{_POINTERS}\b|the\b|a\b|an\b|to\b|you\b|my\b|your\b)(?:[\w./@+-]+\s+){{1,3}}(?:to\s+be\s+)?used\s+"
    r"(?:in|for|across|throughout)\s+(?:this|the|our|my)\s+(?:project|repo|repository|codebase|app|service|monorepo)\b"
)
_VAGUE_AMOUNT = re.compile(r"\b(?:too|lots?|much|many|more|less|few|some|out of|into|such|way)\b")
_PLAIN_USE = re.compile(r"[^,]{1,60}?\b(?:use|target|support|require|pin|follow)s?\s")
_TASK_OBJECT = re.compile(r"\b(?:a|an|this|that|it|them|these|those|your|my|his|same|another)\b")


def chosen_tool(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``we use X (not Y)``, ``this project targets X``, ``use X instead of Y``, ``I want X used in the app``."""
    text, mask = _body(sentence)
    if _PASSING.search(mask):
        return None
    if wanted := _WANTED_IN_PROJECT.search(mask):
        return memory_match(text[wanted.start() :], "chosen_tool", 0.75, kind="instruction", certainty=4)
    if (match := _WE_USE.match(mask)) and not re.match(rf"{_POINTERS}\b", match[1]) and "?" not in mask:
        has_choice = re.search(r"\b(?:not|instead of|rather than|never|only|everywhere|for)\b", match[1])
        if _VAGUE_AMOUNT.search(match[1]) or not (has_choice or _PLAIN_USE.match(mask)):
            return None
        return memory_match(text, "chosen_tool", 0.85 if has_choice else 0.7, kind="fact", certainty=4)
    if (match := _USE_NOT.search(mask)) and not _TASK_OBJECT.search(f"{match[1]} {match[2]}"):
        return memory_match(text, "chosen_tool", 0.75, kind="instruction", certainty=4)
    return None


_NAMED_PLACE = re.compile(
    r"(?:our|my)\s+((?:[a-z][\w-]*\s+){0,3}[a-z][\w-]*)\s+(?:is|are|lives?|sits?)\s+(?:in\s+|at\s+|under\s+)?"
    r"((?:[\w@~.-]*/)+[\w.@~-]*\w|[\w-]{2,}\.[a-z]{1,6}|_{3,})(?=\s*(?:[,.;!]|$))"
)
_OF_THE_MOMENT = re.compile(
    r"\b(?:errors?|issues?|problems?|bugs?|questions?|outputs?|results?|messages?|goals?|cursor|screens?|inputs?|commands?|"
    r"files?|code|quer(?:y|ies)|responses?|changes?|current|new|last|first|next|failing|broken)\b"
)
"""Words for what somebody has before them, as against a part of the project."""


def named_place(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``our entry point is App.vue``, ``my main application is src/portal``: which file or folder something is."""
    text, mask = _body(sentence)
    match = _NAMED_PLACE.match(mask)
    if match is None or _OF_THE_MOMENT.search(match[1]) or "://" in text[match.start(2) : match.end()]:
        return None
    if not re.search(r"\w[./]\w", text[match.start(2) : match.end()]):
        return None
    return memory_match(text[: match.end()], "named_place", 0.65, kind="fact", certainty=4)


_REMEMBER = re.compile(
    r"(?:(?:please\s+)?(?:remember(?:\s+this)?|keep\s+in\s+mind|bear\s+in\s+mind|don't\s+forget|do\s+not\s+forget|"
    r"note\s+for\s+(?:later|the\s+future))\s*(?:that\s+|:\s*)|for\s+(?:future\s+reference|the\s+record)\s*[:,]\s*|"
    r"(fyi|heads\s+up)\s*[:,-]\s*(?:that\s+)?)(?=\S)"
)
_REMEMBER_TO = re.compile(r"(?:please\s+)?(?:remember|make\s+sure|be\s+sure)\s+to\s+(?:always\s+)?([a-z_][\w'-]*)")
_RECURRING = re.compile(
    r"\b(?:always|(?:every|each|any) (?:time|commit|pr|release|deploy|push|merge|change)|whenever|when you|"
    r"(?:after|before|when) \w+ing)\b"
)


def to_remember(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``remember that ...``, ``keep in mind that ...``, ``for the record, ...``, ``remember to ... every ...``."""
    mask = sentence.mask
    skip = filler_length(mask)
    start = next((at for at in (0, skip) if _REMEMBER.match(mask, at)), None)
    if start is None:
        text, body = _body(sentence)
        if (match := _REMEMBER_TO.match(body)) and _RECURRING.search(body) and not _PASSING.search(body):
            return memory_match(text, "to_remember", 0.8, kind="instruction", certainty=4)
        return None
    match = _REMEMBER.match(mask, start)
    cut = match.end() if match else 0
    statement = mask[cut:]
    if (
        _STARTS_WITH_POINTER.match(statement)
        or re.match(r"(?:time|when|how|what|to|me|i|you)\b", statement)
        or _PERSONA.search(statement)
    ):
        return None
    if _PASSING.search(statement) or (match and match[1] and _TRANSIENT.search(statement)):
        return None
    return memory_match(sentence.text[cut:], "to_remember", 0.9, kind="fact", certainty=4)


_PREFER = re.compile(
    _CLAUSE + r"(?:i\s+(?:(?:really|strongly|generally|usually|much|always)\s+)?prefer|my\s+preference\s+is|"
    r"i'd\s+(?:rather|prefer)\s+(?:you|we|to|that|if)|"
    r"i\s+(?:really\s+)?(?:hate|dislike|can't\s+stand)\s+(?:it\s+)?when)\s+(?:to\s+|for\s+)?(\S.*)"
)
_ONE_OF_THESE = re.compile(
    rf"(?:{_POINTERS}\b|the\s+(?:first|second|third|last|other|former|latter|top|bottom|simpler|simple|above)\b|"
    r"(?:option|approach|version|choice|plan)\b|your\b|[a-d1-9]\b)"
)


def preference(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``I prefer ...``, ``my preference is ...``, ``I'd rather you ...``, ``I hate it when ...``."""
    text, mask = _body(sentence)
    match = _PREFER.search(mask)
    if match is None or _ONE_OF_THESE.match(match[1]) or _PASSING.search(mask) or _PERSONA.search(mask):
        return None
    return memory_match(text, "preference", 0.8, kind="preference", certainty=4)


_TRANSIENT = re.compile(
    r"\b(?:still|now|just|currently|yet|again|fails?|failing|failed|works?|working|broken|errors?|missing|same|weird|"
    r"done|crashes|crashed|crashing|hangs?|hanging|stuck|looks?|sounds?|feels?|seeing|getting|went|happened|happens|trying|"
    r"good|better|fine|great|nice|ok|okay|bad|worse|wrong|confusing|confused|clear|unclear|ugly|close|ready|back|"
    r"running|open|merged|green|red|today|tonight)\b"
)
"""Phrases about the state of things at this moment."""

_CORRECTING = re.compile(
    r"(?:no+|nope|nah|wrong|not\s+quite|incorrect|actually|correction|to\s+clarify|you're\s+wrong|"
    r"(?:that's|that\s+is)\s+(?:wrong|incorrect|not\s+(?:right|correct|true)|not\s+how\s+\w+\s+works?)|"
    r"that\s+isn't\s+(?:right|correct|true))[\s,.:;!-]+"
    r"(?:(?:no|nope|wait|actually|sorry|well)[\s,.:;!-]+)*"
)
_DECLARES = re.compile(
    r"(?:the|our|we|all|every|each|any|only|__+|[\w./-]+[._/][\w./-]+)\b.{0,80}?\b"
    r"(?:is|are|isn't|aren't|lives?|uses?|runs?|needs?|must|should|shouldn't|goes|go|comes?|belongs?|requires?|means|"
    r"has|have|returns?|expects?|defaults?|starts?|stores?|listens?|deploys?|ships?|reads?|writes?)\b"
    r"|[\w-]{2,40}\s+(?:is|are|isn't|aren't|lives?|uses|runs|needs|goes|comes|belongs|requires|has|returns|expects|"
    r"defaults|starts|stores|listens|deploys|ships|reads|writes)\s"
)


def correction(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``no, ...``, ``actually ...``, ``that's wrong, it is ...``, where what follows says by itself what is so."""
    mask = sentence.mask
    match = _CORRECTING.match(mask) or _CORRECTING.match(mask, filler_length(mask))
    if match is None:
        return None
    rest = TurnSentence(sentence.text[match.end() :], mask[match.end() :], sentence.start + match.end())
    if _STARTS_WITH_POINTER.match(rest.mask) or re.match(
        r"(?:i|you|let|let's|can|try|do|wait|what|why|my|your)\b", rest.mask
    ):
        return None
    for rule in (standing_instruction, chosen_tool):
        if found := rule(rest):
            return memory_match(rest.text, "correction", 0.88, kind=found.fields["kind"], certainty=4)
    is_denial = mask[: match.end()].startswith(("that", "wrong", "incorrect", "correction"))
    return _declared(rest, is_denial=is_denial)


def _declared(rest: TurnSentence, *, is_denial: bool) -> RuleMatch | None:
    """Return the statement of a correction; corrections of a momentary state are left out."""
    mask = rest.mask
    if _PASSING.search(mask) or _TRANSIENT.search(mask) or re.search(r"\b(?:i|you|you're|i'm|me)\b", mask):
        return None
    is_checkable = is_denial or re.search(r"\b(?:not|instead of|rather than)\b|_|\d|\w[./]\w", mask)
    if not _DECLARES.match(mask) or not is_checkable:
        return None
    return memory_match(rest.text, "correction", 0.75, kind="fact", certainty=4)


_DECIDED = re.compile(
    r"(?:let's|lets|we(?:'ll|\s+will|'re|\s+are))\s+"
    r"(?:go(?:ing)?\s+(?:to\s+go\s+)?with|stick(?:ing)?\s+with|settle\s+on|standardi[sz]e\s+on)\s+(\S.*)"
    r"|(?:we|we've|the\s+team|the\s+team\s+has)\s+(?:have\s+)?(?:finally\s+|already\s+)?"
    r"(?:decided|agreed|settled)\s+(?:to|on|that|against|we)\s+(\S.*)"
    r"|(?:decision|decided|agreed)\s*:\s*(\S.*)"
    r"|(?:let's|lets)\s+use\s+(\S.*\b(?:instead\s+of|over|rather\s+than|because|since|not)\b.*)"
)


def decision(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``let's go with X``, ``we decided to ...``; not a choice among options that only the talk shows."""
    text, mask = _body(sentence)
    match = _DECIDED.match(mask)
    if match is None or _PASSING.search(mask):
        return None
    chosen = next(group for group in match.groups() if group is not None)
    if (
        _ONE_OF_THESE.match(chosen)
        or re.match(rf"\w+\s+{_POINTERS}\b", chosen)
        or re.match(r"(?:\W*_+\W*|\W*\d+\W*)$", chosen)
    ):
        return None
    has_reason = re.search(r"\b(?:because|since|so that|as it|instead of|rather than|over)\b", chosen)
    if match[1] is not None and not has_reason and len(content_words(chosen)) < 2:  # noqa: PLR2004 - one bare name
        if not re.search(r"[A-Z\d_./`]", text[match.start(1) :]):
            return None
        return memory_match(text, "decision", 0.6, kind="decision", certainty=3)
    return memory_match(text, "decision", 0.8 if has_reason else 0.72, kind="decision", certainty=4)


PERSON_RULES: tuple[Rule, ...] = (
    correction,
    to_remember,
    standing_instruction,
    preference,
    decision,
    chosen_tool,
    named_place,
)
"""The rules, the most specific first; the first that matches a sentence takes it."""
