# ruff: noqa: RUF001 - the marks of many scripts look like those of this one
"""Check a language model's text against its sources, and explain a refusal.

The checks err on the side of refusing: a refusal costs a plainer draft, a missed fault becomes a memory. They find
numbers and names that the sources do not hold, not wrong combinations of the sources' own words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import itemgetter

import tantivy

from memento_tui.text.lexicon import ABBREVIATIONS
from memento_tui.text.markdown import code_spans
from memento_tui.text.quantities import CJK_NUMERALS, FOREIGN_NUMBER_WORDS, NUMBER_WORDS, SCALES, UNITS
from memento_tui.text.sentences import ends_like_a_sentence, sentences
from memento_tui.text.terms import STOP_WORDS
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = ["find_problem", "find_reasoning_tag"]

_TAG = re.compile(
    r"</?\s{0,3}(?:think|thinking|thought|thoughts|reason|reasoning|reflection|analysis|scratchpad|inner_monologue"
    r"|answer|output|summary)\b[^>\n]{0,80}>"
    r"|\[/?(?:THINK|THINKING|REASONING|INST)\]|<\|[a-z_]{1,30}\|?>|<(?:start|end)_of_turn>|◁/?think▷",
    re.IGNORECASE,
)
_TASK_TALK = re.compile(
    r"""(?:
      let\ me | let's\ (?:see|think|start|look|break) | okay | ok, | alright | sure[,!.] | certainly | of\ course[,!.]
    | hmm+ | wait, | so,?\ the\ user | thinking | final\ answer | as\ an\ ai | as\ a\ language\ model
    | the\ user(?:'s\ (?:request|question|notes)|\ (?:wants|asks|is\ asking|asked|has\ (?:given|provided|asked)))
    | i\ (?:need\ to|should|must|will|have\ to|can|cannot|can't|am\ sorry|think|notice|see) | i'(?:ll|m\ sorry|m\ going)
    | we\ (?:need\ to|should|are\ (?:asked|given)) | my\ (?:task|goal|job|answer)\ is | first,?\ (?:i|let|we)
    | now,?\ (?:i|let) | here(?:'s|\ is|\ are)\ (?:the|a|my|your) | based\ on\ the\ (?:sources|notes)
    | (?:the|these|all)\ (?:sources|notes)\ (?:say|state|mention|provided|given|are\ about)
    | (?:note|summary|draft|answer|consolidated\ note)\ ?:
    )(?![\w'])""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKS_AT_A_START = "\"'“”‘’«*_#>-• \t\n"
_READ_LENGTH = 20_000
_PIDGIN = "pcm"
"""Nigerian Pidgin, as which the identifier classifies clipped English."""

_LETTERS_OF_A_LANGUAGE, _OTHER_LETTERS_OF_A_LANGUAGE, _LAST_LATIN = 16, 6, "\u036f"
_SURE_PROBABILITY, _LEAST_PROBABILITY, _LEAST_RATIO_TO_KNOWN, _SHARE_OF_LIKELIEST = 0.5, 0.3, 3.0, 0.1

_UNSPACED = rf"\u3000-\u303f{UNSPACED_CHARACTERS}\u0e00-\u0eff"
_FULL_WIDTH_MARKS = r"\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uffef"
_TOKEN = re.compile(rf"[^\s{_UNSPACED}{_FULL_WIDTH_MARKS}…—–]+")
_FIRST_UNSPACED = "\u0e00"
"""Thai, the first script written without spaces; from here on, words touch words of other scripts."""

_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]{3,}")
_WIDE_NUMERAL = re.compile(r"[〇零二三四五六七八九十百千万億亿两]+")
_NUMERALS = {numeral: str(number) for numeral, number in CJK_NUMERALS.items()}
_MARKS_BEFORE_WORDS, _MARKS_BEHIND_WORDS = "\"'“”‘’«»‹›([{<*_#`$€£¥+~≈", ".,;:!?\"'“”‘’«»‹›)]}>*_`…%"
_NUMBER = re.compile(r"\d++(?>(?:[.,:]\d++)*)")
_QUANTITY = re.compile(r"[vV]?(\d++(?>(?:[.,:]\d++)*))(?:st|nd|rd|th|x|[a-zA-Zµ]{1,3})?")
_HYPHENED = re.compile(r"(\d++(?>(?:[.,:]\d++)*))-(?:second|minute|hour|day|week|month|year)s?")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
# Tried within a long number too, this one would take forever.
_MEASURE = re.compile(r"(?<![\d.,:])(\d++(?>(?:[.,:]\d++)*))[\s-]?(%|[^\W\d_]++)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
"""Letters alone, a contraction whole: numbers are compared by themselves."""
_IDENTIFIER = re.compile(r"[\d_@\\=/]|\.\w|::|\(|^-|[a-z][A-Z]")

_MOST_PLACES = 1_000
"""The occurrences of a token within longer ones after which the search for it ends."""

_UNITS = {word: unit.symbol for word, unit in UNITS.items() if unit.dimension in ("duration", "size", "percent")}
_NUMBER_WORDS = {
    word: f"{number:.10g}"
    for word, number in {
        **NUMBER_WORDS,
        **FOREIGN_NUMBER_WORDS,
        **{word: scale for word, scale in SCALES.items() if len(word) > 2},  # noqa: PLR2004 - k, m, bn
        "half": 0.5,
        "quarter": 0.25,
        "twice": 2,
    }.items()
    if number not in (0, 1) and word != "couple"
}
"""Words for numbers, as digits; not those for none and one, which are articles and pronouns as well."""

_COMMON_SENTENCE_STARTERS = frozenset(
    """
    add additionally also although always another any apply approve avoid based build call changes check choose clear
    configure confirm consider create currently delete deploy despite do document don't earlier either ensure especially
    eventually every everything except finally fix follow formerly furthermore generally give given handle hence however
    important initially install instead keep knowing last later leave likewise load look maintain make many meanwhile
    moreover move multiple must need needs neither never nevertheless next nothing nor note notes now nowadays often one
    otherwise overall people perhaps please prefer previously put rather read recently remember remove rename replace
    require respect restart retry return review run save second see separate set several shared should similarly since
    skip sometimes specifically start stop store take test therefore third though thus today together treat try two
    typically under unless unlike unlikely until update upon use using usually verify via wait whenever whereas
    wherever whether within work work's write yes yet
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""English words that often begin a sentence and are nobody's name; `STOP_WORDS` has the others."""

_SNOWBALL = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""The languages, by their code, whose stop words and word forms Tantivy knows."""


def find_problem(answer: str, sources: Sequence[str], *, longest: int = 4_000) -> str:
    """Return why ``answer`` is refused as a note made of ``sources``, in a sentence; empty where it is accepted.

    An answer is refused if it is empty, holds a model's reasoning, ends within a sentence, is in a language of no
    source, has more than ``longest`` characters, or holds a number or name that no source holds.
    """
    return next((f"The language model's answer {problem}." for problem in _problems(answer, sources, longest)), "")


def _problems(answer: str, sources: Sequence[str], longest: int) -> Iterator[str]:
    if not answer.strip():
        yield "is empty"
    if found := find_reasoning_tag(answer):
        yield f"holds a tag of its reasoning: {found!r:.60}"
    if len(answer) > longest:
        yield f"has {len(answer):,} characters; the limit is {longest:,}"
    if found := _find_task_talk(answer, sources):
        yield f"talks about its task: {found!r:.60}"
    if not ends_like_a_sentence(answer):
        yield "is truncated: it ends within a sentence"
    source_languages = _languages(sources)
    if found := _foreign_language(answer, source_languages):
        yield f"is in another language than the sources ({found})"
    facts = _SourceFacts(sources, source_languages)
    if found := _find_unsupported_number(answer, facts):
        yield f"states a number that no source holds: {found!r:.60}"
    if found := _find_unsupported_name(answer, facts):
        yield f"states a name that no source holds: {found!r:.60}"


def find_reasoning_tag(answer: str) -> str:
    """Return the first tag that marks a model's reasoning or turns; empty where there is none."""
    found = _TAG.search(answer)
    return found[0] if found else ""


def _find_task_talk(answer: str, sources: Sequence[str]) -> str:
    """Return the first phrase in which a model talks about its task and that no source has; empty: none."""
    known = "\n".join(sources).lower().replace("’", "'")
    for start in _sentence_starts(answer):
        if (found := _TASK_TALK.match(answer, start)) and found[0].lower() not in known:
            return found[0]
    return ""


def _sentence_starts(text: str) -> list[int]:
    """Return the start of the first word of every sentence and line."""
    spans = sentences(text) + [line.span() for line in re.finditer(r"^.*$", text, re.MULTILINE)]
    return sorted({end - len(text[start:end].lstrip(_MARKS_AT_A_START)) for start, end in spans})


# Languages


@cache
def _identifier() -> Callable[[str], list[tuple[str, float]]]:
    # Unpacking its model takes a second.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped]  # noqa: PLC0415

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    rank: Callable[[str], list[tuple[str, float]]] = identifier.rank
    return rank


def _ranked(text: str) -> list[tuple[str, float]]:
    """Return the possible languages of a text with their probabilities, likeliest first; none for too few letters."""
    words = _TOKEN.sub(_ordinary_word, _without_code(text[:_READ_LENGTH])).split()
    letters = "".join(words)
    other = sum(letter > _LAST_LATIN for letter in letters)
    if other < _OTHER_LETTERS_OF_A_LANGUAGE and len(letters) - other < _LETTERS_OF_A_LANGUAGE:
        return []
    shares: dict[str, float] = {}
    for code, share in _identifier()(" ".join(words)):
        language = "en" if code == _PIDGIN else code
        shares[language] = shares.get(language, 0.0) + share
    return sorted(shares.items(), key=itemgetter(1), reverse=True)


def _ordinary_word(token: re.Match[str]) -> str:
    """Return a token if it is an ordinary word, and a space for an identifier, acronym or number."""
    word = token[0].strip(_MARKS_BEFORE_WORDS + _MARKS_BEHIND_WORDS)
    ordinary = all(part.isalpha() for part in re.split(r"['’-]", word) if part) and word[1:] == word[1:].lower()
    return word if ordinary else " "


def _languages(sources: Sequence[str]) -> set[str]:
    """Return the codes of the likely languages of all sources together, and of the sure language of each source."""
    ranked = _ranked("\n".join(sources))
    source_languages = {code for code, share in ranked if share >= _SHARE_OF_LIKELIEST * ranked[0][1]}
    for source in sources:
        source_languages.update(code for code, share in _ranked(source)[:1] if share >= _SURE_PROBABILITY)
    return source_languages


def _foreign_language(answer: str, source_languages: set[str]) -> str:
    """Return the code of the language of the answer, or of a sentence in it, if it is none of the sources'.

    It must be the likeliest, with a probability of `_LEAST_PROBABILITY` and `_LEAST_RATIO_TO_KNOWN` times that of all
    the sources' languages. With these values 1 of 4,000 English sentence pairs (MSR paraphrase, SICK) and none of 2,000
    sentences of real notes is taken for foreign; 1 in 100 short sentences of 14 languages goes unnoticed beside three
    sentences of a real note.
    """
    for text in (answer, *(answer[start:end] for start, end in sentences(answer))) if source_languages else ():
        ranked = _ranked(text)
        known = sum(share for code, share in ranked if code in source_languages)
        if (
            ranked
            and ranked[0][0] not in source_languages
            and ranked[0][1] >= max(_LEAST_PROBABILITY, _LEAST_RATIO_TO_KNOWN * known)
        ):
            return ranked[0][0]
    return ""


@cache
def _analyzer(language: str, *, stemmed: bool) -> tantivy.TextAnalyzer:
    known = tantivy.Filter.stemmer(language) if stemmed else tantivy.Filter.stopword(language)
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    return builder.filter(known).build()


# Numbers and names


class _SourceFacts:
    """The words, numbers and measures of the sources, in the forms in which an answer is compared with them."""

    def __init__(self, sources: Sequence[str], source_languages: Iterable[str]) -> None:
        text = _folded("\n".join(sources))
        self.text = text
        self.words = {_without_possessive(word) for word in _WORD.findall(text)}
        self.languages = [_SNOWBALL[code] for code in sorted({*source_languages, "en"}) if code in _SNOWBALL]
        self.stems = {language: set(self._stems(language, " ".join(self.words))) for language in self.languages}
        self.numbers = {_number(found) for found in _NUMBER.findall(text)}
        self.numbers |= {value for word, value in _NUMBER_WORDS.items() if word in self.words}
        self.numbers |= {value for numeral, value in _NUMERALS.items() if numeral in text}
        self.measures = set(_measures(text))

    @staticmethod
    def _stems(language: str, text: str) -> list[str]:
        return _analyzer(language, stemmed=True).analyze(text)

    def has(self, token: str) -> bool:
        """Tell whether a source holds ``token`` as a whole, not as a part of a longer word, number or version."""
        wanted = _folded(token)
        end = -1
        for _ in range(_MOST_PLACES):
            start = self.text.find(wanted, end + 1)
            if start < 0 or not wanted:
                return False
            end = start + len(wanted)
            before, behind = self.text[max(start - 2, 0) : start][::-1], self.text[end : end + 2]
            if not _joins(before, wanted[0]) and not _joins(behind, wanted[-1]):
                return True
        return False

    def has_word(self, word: str) -> bool:
        """Tell whether a source holds a word, in any of its forms."""
        bare = _without_possessive(_folded(word))
        if bare in self.words:
            return True
        return any(not self.stems[name].isdisjoint(self._stems(name, bare)) for name in self.languages)

    def is_common(self, word: str) -> bool:
        """Tell whether a capitalised word is one that any text may hold."""
        lowered = word.lower().replace("’", "'")
        if lowered in STOP_WORDS or lowered in _COMMON_SENTENCE_STARTERS or lowered.split("'")[0] in STOP_WORDS:
            return True
        return any(not _analyzer(name, stemmed=False).analyze(lowered) for name in self.languages)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("'")


def _joins(around: str, edge: str) -> bool:
    """Tell whether the characters beside a token, nearest first, belong to the same word or number."""
    if not around or not (edge.isalnum() or edge == "_"):
        return False
    if around[0] == "_" or (around[0].isalnum() and (around[0] < _FIRST_UNSPACED) == (edge < _FIRST_UNSPACED)):
        return True
    return edge.isdecimal() and around[0] in ".,:" and around[1:].isdecimal()


def _number(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    return plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain


def _measures(text: str) -> Iterator[tuple[str, str]]:
    """Yield each number followed by a unit of time, size or share, with the unit."""
    for found in _MEASURE.finditer(text):
        if unit := _UNITS.get(found[2].lower()):
            yield _number(found[1]), unit


def _without_code(text: str) -> str:
    for start, end in reversed(code_spans(text, 0, len(text))):
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text without the punctuation around them, each with its start."""
    for found in _TOKEN.finditer(text):
        token = found[0].rstrip(_MARKS_BEHIND_WORDS)
        bare = token.lstrip(_MARKS_BEFORE_WORDS)
        if any(letter.isalnum() for letter in bare):
            yield found.start() + len(token) - len(bare), bare


def _find_unsupported_number(answer: str, facts: _SourceFacts) -> str:
    text = _without_code(answer)
    for _, token in _tokens(text):
        if value := _NUMBER_WORDS.get(token.lower()):
            if token.lower() not in facts.words and value not in facts.numbers:
                return token
        elif any(letter.isdecimal() for letter in token) and not facts.has(token):
            quantity = _QUANTITY.fullmatch(token) or _HYPHENED.fullmatch(token)
            if not quantity or _number(quantity[1]) not in facts.numbers:
                return token
    for number, unit in _measures(_folded(text)):
        if (number, unit) not in facts.measures and not _is_spelled(number, unit, facts):
            return f"{number} {unit}"
    for numeral in _WIDE_NUMERAL.findall(text):
        if numeral not in facts.text and _NUMERALS.get(numeral) not in facts.numbers:
            return str(numeral)
    return ""


def _is_spelled(number: str, unit: str, facts: _SourceFacts) -> bool:
    """Tell whether the number stands as a word before the unit: ``three days``."""
    words = [word for word, value in _NUMBER_WORDS.items() if value == number]
    units = [word for word, first in _UNITS.items() if first == unit]
    return any(f"{word} {name}" in facts.text for word in words for name in units)


def _find_unsupported_name(answer: str, facts: _SourceFacts) -> str:
    for start, end in code_spans(answer, 0, len(answer)):
        code = answer[start:end].strip("`").strip()
        if not facts.has(code):
            return code
    text = _without_code(answer)
    letters = [letter for letter in text if letter.isalpha()]
    uncased = sum(letter.lower() == letter.upper() for letter in letters) * 4 > len(letters)
    for _, token in _tokens(text):
        if not _is_known(token, facts, uncased=uncased):
            return token
    return next((name for name in _KATAKANA.findall(text) if _folded(name) not in facts.text), "")


def _is_known(token: str, facts: _SourceFacts, *, uncased: bool) -> bool:
    """Tell whether a token is no name, or a name that a source holds.

    A capital marks a name, at the start of a sentence too unless the word is a common one. In a script without
    capitals (``uncased``) every Latin word is a name.
    """
    if token.lower() in ABBREVIATIONS or facts.has(token):
        return True
    if _IDENTIFIER.search(token):
        parts = [part for part in token.split("/") if part]
        if len(parts) > 1 and token[0] != "/" and all(_WORD.fullmatch(part) for part in parts):
            return all(facts.has_word(part) or facts.is_common(part) for part in parts)
        # Numbers were compared before, in more forms.
        return bool(_QUANTITY.fullmatch(token) or _HYPHENED.fullmatch(token))
    names = [word for word in _WORD.findall(token) if word != word.lower() or (uncased and word.isascii())]
    return all(facts.is_common(word) or facts.has_word(word) for word in names)
