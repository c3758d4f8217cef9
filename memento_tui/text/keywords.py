"""Extract the words of a prompt that can name a subject.

Works in any language and whatever was pasted into the prompt. Imports nothing but the standard library and Tantivy:
memento-hook reads it before every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memento_tui.named_tuple import NamedTuple
from memento_tui.text.terms import EDGE_PUNCTUATION, STOP_WORDS, character_bigrams, is_compound, searchable, terms
from memento_tui.text.words import SOUTHEAST_ASIAN_CHARACTERS

__all__ = [
    "FEWEST_WORDS",
    "FILLER_WORDS",
    "PromptParts",
    "content_words",
    "is_filler",
    "is_name",
    "prompt_parts",
    "truncate_prompt",
    "unspaced_words",
]

FILLER_WORDS = frozenset(
    """
    actually add already alright although always another anybody anyone anything anyway approve approved back best
    better bit cannot change changes check code come continue cool correct could done either else enough error errors
    even ever every everybody everyone everything except explain fail failed failing fails file files fine first fix
    fixed following get give go going good great happen happened happening happens hello help hey hi however instead
    issue keep know last let lets like line lines long look looks looking lot lots make makes making many may maybe mean
    meant might minute moment much must need needs neither never new next nice none nope nothing ok okay one ones others
    ours per perfect perhaps please point possible probably problem proceed question quick quickly quite rather read
    ready really redo rerun retry right run running say see several shall show since somebody someone something still
    stop sure take tell test tests thank thanks that's theirs thing things think though time today together tomorrow
    toward try trying two understand unless upon us use used using via wait want wanted way well whats whether within
    without wonder wonder work working works would write wrong yeah yep yes yesterday yet yourself
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words that people say to an agent whatever the subject is. They name no subject, however rare in the
memories; but a text that is about something else does not hold them, and so they are searched with the others.
"""

_FOREIGN_FILLER_WORDS = frozenset(
    """
    aber als alle auch auf aus bei bis bitte da damit dann das dass dein deine dem den denn der des die dies diese
    diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas für gibt habe haben hast hat
    hier ich ihr im immer ist ja jetzt kann kannst kein keine können mach mache machen man mehr mein meine mich mir mit
    muss müssen nach nein nicht nichts noch nochmal nur ob oder ohne schon sehr sein sich sie sind so soll sollen sollte
    über um und uns unter vom von vor wann war waren warum was weil weiter welche welcher welches wenn wer werden wie
    wieso will wir wird wo wurde zu zum zur danke
    alors au aussi aux avec avez bien ce ces cet cette comme comment dans de des donc du elle en encore est et être
    fait faire faut il ils je la le les leur lui ma mais merci mes moi mon ne nous ont où par pas peut plus pour
    pourquoi qu quand que quel quelle qui sa sans son sont suis sur ta tes toi ton tout toute tu une vous
    al algo como con cómo cuando cuándo de del donde dónde el ella ellos en eres es esa ese eso esta este esto está
    estoy favor gracias hace hacer hay la las lo los más mi mis muy nada no para pero por porque puede puedes puedo
    qué que quiero se ser si sí sin sobre son su sus también tengo tiene todo tu un una uno y ya yo
    """.split()  # noqa: SIM905 - as above
)
"""Filler words of German, French and Spanish: mostly words of grammar."""

_JOINED_PLAIN_WORDS = re.compile(r"[A-Za-z]?[a-z]+(?>(?:-[a-z]+)*)(?:/[a-z]+)?")
"""Plain words joined by marks: ``step-by-step``, ``and/or``. They are no names."""
_AMOUNT = re.compile(r"\d+(?:[.,:]\d+)?")
_ISSUE = re.compile(r"#\d+")
_KANA = re.compile(r"[\u3041-\u30ff]")
_BEFORE_KANA = "\u3040"
_LONGEST_IDEOGRAPH_WORD = 4
"""The most ideographs that count as one Japanese word; a longer run, or one of Chinese, counts as several."""

_CHARACTERS_FROM_START, _CHARACTERS_FROM_END = 6_000, 2_000
"""Characters that are read at the beginning and the end of a long prompt; its middle was mostly pasted."""
_MOST_WORDS = 400
_LONGEST_WORD = 80
_SPACES = re.compile(r"\s+")

_MOST_WORDS_TOGETHER = 60
"""The most words of a prompt that are read as a whole; a longer one, with something pasted in, is read by stretches."""
FEWEST_WORDS = 2
"""The fewest content words of a sentence with a subject, and the fewest of them that a memory must hold."""
_CLAUSE = re.compile(r",\s+")
_LONG_SENTENCE = 30
"""Words of a sentence whose clauses are looked for too."""
_FEWEST_OF_A_SENTENCE = 3
"""The fewest content words of a sentence that is looked for out of its context: two are soon met by chance."""
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - Japanese and Chinese marks
"""The end of a stretch of a prompt with a subject of its own, which a colon and a line end too.

Unlike `text.sentences` it knows no blocks and no abbreviations, for which a hook has no time.
"""


def content_words(prompt: str) -> list[str]:
    """Return the words of a prompt that could name a subject, each once; none for a trivial prompt or a command."""
    text = truncate_prompt(prompt)
    if text.startswith(("/", "!", "#")) and "\n" not in text and " " not in text.split("/", 1)[-1].strip():
        return []
    found = [word for word in _words(text) if not is_filler(word)]
    return found if any(_AMOUNT.fullmatch(word) is None for word in found) else []


class PromptParts(NamedTuple):
    """The words of a prompt, each once, but for those of grammar."""

    whole: list[list[str]]
    """One list; of a long prompt one for each stretch of sentences."""
    sentences: list[list[str]]
    """One list for each sentence with a subject, where there are several."""
    names: list[str]
    """The names in sentences that have hardly any other content, such as the lines of a traceback."""


def prompt_parts(prompt: str) -> PromptParts:
    """Return the parts of a prompt that may have a subject of their own; none for a trivial prompt or a command.

    Words that carry no subject are among them: a text about something else does not hold them.
    """
    if not content_words(prompt):
        return PromptParts([], [], [])
    text = truncate_prompt(prompt)
    split = [_words(sentence) for sentence in dict.fromkeys(_SENTENCE.split(text))]
    stretches: list[list[str]] = [[]]
    for words in split:
        if len(stretches[-1]) + len(words) > _MOST_WORDS_TOGETHER and stretches[-1]:
            stretches.append([])
        stretches[-1] = list(dict.fromkeys([*stretches[-1], *words]))
    whole = [words for words in stretches if _names_a_subject(words) or len(stretches) == 1]
    long = [sentence for sentence in _SENTENCE.split(text) if sentence.count(" ") >= _LONG_SENTENCE]
    split += [_words(clause) for sentence in long for clause in _CLAUSE.split(sentence)]
    sentences = [words for words in split if _names_a_subject(words, _FEWEST_OF_A_SENTENCE) and words not in whole]
    names = dict.fromkeys(name for words in sentences for name in _names_alone(words))
    return PromptParts(whole, [words for words in sentences if not _names_alone(words)], list(names))


def _names_alone(words: Sequence[str]) -> list[str]:
    """Return the names among some words, if these have hardly any other content."""
    content = [word for word in words if not is_filler(word) and _AMOUNT.fullmatch(word) is None]
    names = [word for word in content if is_name(word)]
    return names if len(content) - len(names) < FEWEST_WORDS else []


def _names_a_subject(words: Sequence[str], fewest: int = FEWEST_WORDS) -> bool:
    content = [word for word in words if not is_filler(word)]
    return len(content) >= fewest or any(map(is_name, content))


def truncate_prompt(prompt: str) -> str:
    """Return a prompt, or the beginning and the end of a very long one."""
    text = prompt.strip()
    if len(text) <= _CHARACTERS_FROM_START + _CHARACTERS_FROM_END:
        return text
    return f"{text[:_CHARACTERS_FROM_START]}\n{text[-_CHARACTERS_FROM_END:]}"


def _words(text: str) -> list[str]:
    found: dict[str, None] = {}
    for raw in _SPACES.split(searchable(text.replace("’", "'"))):  # noqa: RUF001 - the apostrophe of telephones
        if character_bigrams(raw):
            found.update(dict.fromkeys(unspaced_words(raw)))
        word = raw.strip(EDGE_PUNCTUATION)
        if word and len(word) <= _LONGEST_WORD and _may_carry_a_subject(word):
            found.setdefault(word.removesuffix("'s"))
    return list(found)[:_MOST_WORDS]


@cache
def _ideographs() -> re.Pattern[str]:
    # Not compiled before its first use, as with `memento_tui.text.terms.character_bigrams`.
    return re.compile(
        r"[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30ff]{2,}|[\uac00-\ud7af]{2,}"
        rf"|[{SOUTHEAST_ASIAN_CHARACTERS}]{{2,{_LONGEST_WORD}}}"
    )


def unspaced_words(text: str) -> Iterator[str]:
    """Yield the likely words in a script that is written without spaces, without hiragana, which is mostly grammar."""
    is_japanese = _KANA.search(text) is not None
    for run in _ideographs().findall(text):
        # In Southeast Asia a space ends a phrase, in which nothing shows where a word begins.
        if run[0] < _BEFORE_KANA or _KANA.match(run) or (is_japanese and len(run) <= _LONGEST_IDEOGRAPH_WORD):
            yield run
        else:
            yield from character_bigrams(run)


def _may_carry_a_subject(word: str) -> bool:
    if not any(character.isalnum() for character in word) or (word.isascii() and len(word) == 1):
        return False
    plain = word.lower().removesuffix("'s")
    # In capitals it is an abbreviation: ES and DER are names in English.
    is_foreign = plain in _FOREIGN_FILLER_WORDS and not word.isupper()
    return not (plain in STOP_WORDS or is_foreign or character_bigrams(word))


def is_filler(word: str) -> bool:
    """Tell whether people say a word to an agent whatever the subject is."""
    return not _filler_stems().isdisjoint(terms(word)) and not is_compound(word)


@cache
def _filler_stems() -> frozenset[str]:
    return frozenset(stem for word in FILLER_WORDS for stem in terms(word))


def is_name(word: str) -> bool:
    """Tell whether a word is an identifier, a path or a joined proper name, which nobody says by chance.

    So are issue numbers, versions and dates, but not amounts.
    """
    if _AMOUNT.fullmatch(word) is not None:
        return False
    return (is_compound(word) and _JOINED_PLAIN_WORDS.fullmatch(word) is None) or _ISSUE.fullmatch(word) is not None
