"""Extract the words of a prompt that can name a subject.

Works in any language and whatever was pasted into the prompt. Imports nothing but the standard library and Tantivy:
memento-hook reads it before every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memento_tui.text.terms import EDGE_PUNCTUATION, STOP_WORDS, character_bigrams, is_compound

__all__ = [
    "FEWEST_WORDS",
    "FILLER_WORDS",
    "content_words",
    "content_words_by_sentence",
    "is_name",
    "truncate_prompt",
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
"""Words that people say to an agent whatever the subject is. They are not searched, however rare in the memories."""

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

_JOINED_PLAIN_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*+(?:/[a-z]+)?")
"""Plain words joined by marks: ``step-by-step``, ``and/or``. They are no names."""
_KANA = re.compile(r"[\u3041-\u30ff]")
_LONGEST_IDEOGRAPH_WORD = 4
"""The most ideographs that count as one Japanese word; a longer run, or one of Chinese, counts as several."""

_CHARACTERS_FROM_START, _CHARACTERS_FROM_END = 6_000, 2_000
"""Characters that are read at the beginning and the end of a long prompt; its middle was mostly pasted."""
_MOST_WORDS = 400
_LONGEST_WORD = 80
_SPACES = re.compile(r"\s+")

_SHORT = 12
"""The most content words of a prompt about one subject; a longer prompt is read sentence by sentence."""
FEWEST_WORDS = 2
"""The fewest content words of a sentence with a subject, and the fewest of them that a memory must hold."""
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - Japanese and Chinese marks


def content_words(prompt: str) -> list[str]:
    """Return the words of a prompt that could name a subject, each once; none for a trivial prompt or a command."""
    text = truncate_prompt(prompt)
    if text.startswith(("/", "!", "#")) and "\n" not in text and " " not in text.split("/", 1)[-1].strip():
        return []
    return _content_words(text)


def content_words_by_sentence(prompt: str) -> list[list[str]]:
    """Return the content words of each part of a prompt that could have a subject of its own."""
    words = content_words(prompt)
    parts = [_content_words(sentence) for sentence in _SENTENCE.split(truncate_prompt(prompt))] if words else []
    parts = [part for part in parts if _names_a_subject(part) and len(part) < len(words)]
    return [*parts, words] if words and (len(words) <= _SHORT or not parts) else parts


def _names_a_subject(part: Sequence[str]) -> bool:
    return len(part) >= FEWEST_WORDS or any(map(is_name, part))


def truncate_prompt(prompt: str) -> str:
    """Return a prompt, or the beginning and the end of a very long one."""
    text = prompt.strip()
    if len(text) <= _CHARACTERS_FROM_START + _CHARACTERS_FROM_END:
        return text
    return f"{text[:_CHARACTERS_FROM_START]}\n{text[-_CHARACTERS_FROM_END:]}"


def _content_words(text: str) -> list[str]:
    found: dict[str, None] = {}
    for raw in _SPACES.split(text.replace("’", "'")):  # noqa: RUF001 - the apostrophe of telephones
        if character_bigrams(raw):
            found.update(dict.fromkeys(_unspaced_words(raw)))
        word = raw.strip(EDGE_PUNCTUATION)
        if word and len(word) <= _LONGEST_WORD and _is_content_word(word):
            found.setdefault(word.removesuffix("'s"))
    return list(found)[:_MOST_WORDS]


@cache
def _ideographs() -> re.Pattern[str]:
    # Not compiled before its first use, as with `memento_tui.text.terms.character_bigrams`.
    return re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\u3005]{2,}|[\u30a1-\u30ff]{2,}|[\uac00-\ud7af]{2,}")


def _unspaced_words(text: str) -> Iterator[str]:
    """Yield the likely words in a script that is written without spaces, without hiragana, which is mostly grammar."""
    is_japanese = _KANA.search(text) is not None
    for run in _ideographs().findall(text):
        if _KANA.match(run) or (is_japanese and len(run) <= _LONGEST_IDEOGRAPH_WORD):
            yield run
        else:
            yield from character_bigrams(run)


def _is_content_word(word: str) -> bool:
    if not any(character.isalpha() for character in word) or (word.isascii() and len(word) == 1):
        return False
    plain = word.lower().removesuffix("'s")
    # In capitals it is an abbreviation: ES and DER are names in English.
    is_foreign = plain in _FOREIGN_FILLER_WORDS and not word.isupper()
    return not (plain in STOP_WORDS or plain in FILLER_WORDS or is_foreign or character_bigrams(word))


def is_name(word: str) -> bool:
    """Tell whether a word is an identifier, a path or a joined proper name, which nobody says by chance."""
    return is_compound(word) and _JOINED_PLAIN_WORDS.fullmatch(word) is None
