"""Find what a text cites of a code base: paths, symbols, commits, and the targets that `make` and its like are given.

Left out is a name of which the sentence says that it is of the past or is to be, such as "`load()` was removed": that
the repository lacks it makes the sentence no less true. Words such as "before", "old" or "will" that say something else
of it, or of another thing, leave nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from memento_tui.text.sentences import sentences

__all__ = ["CodeCitation", "code_citations", "code_names"]

CitationKind = Literal["path", "symbol", "commit", "target"]

_CHARACTERS_READ = 8_000
"""Characters of a text, from its beginning, that are searched: a memory of more is a document."""

_MOST_CITATIONS = 24
"""Citations of one text; one with more is a list of files, of which some always change."""

_EXTENSIONS = frozenset(
    """
    bash c cc cfg cjs clj conf cpp cs css csv cxx dart el ex exs fish go gradle graphql h hpp hs html ini ipynb java
    jl js json jsonl jsx kt kts less lock lua m mdx md mjs ml mm nix php pl proto ps1 py pyi pyx r rb rs rst sass scala
    scss sh sol sql svelte swift tcss tf toml ts tsx txt vue xml yaml yml zig zsh
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Endings by which a name without a folder is taken for a file."""

_PATH = re.compile(r"(?<![\w@:/.~$%{<>*-])/?[\w+][\w.+-]*(?![@])(?:/[\w.@+-]+)*/?(?![\w<{*$])")
_SPAN = re.compile(r"(?<!`)(`{1,2})([^`\n]{2,120})\1(?!`)")
_CALL = re.compile(r"(?<![\w.`/-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(\)")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_PLAIN_SYMBOL = re.compile(r"(?<![\w.`/@:#$%{<*-])[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*(?![\w`/@:#$%{<*-]|\.\w|\()")
"""A name without quotation marks."""
_SIGNATURE = re.compile(r"\([^()]*\)$")
_NAME_SHAPE = re.compile(r"[a-z\d]_[a-z\d]|^_\w|[A-Z]\w*_[A-Z]|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w(?:\.|::|#)\w")
"""The shape of a name that prose does not have: an underscore, a hump, or a dot inside."""
_UNDERSCORE = re.compile(r"[a-z\d]_[a-z\d]|[A-Z\d]_[A-Z\d]")
_CLASS_MEMBER = re.compile(r"(?:^|\.|::)[A-Z]\w*[a-z]\w*(?:\.|::)[A-Za-z_]\w{2}")
_COMMIT = re.compile(r"(?<![\w/.#-])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w/-])")
_LINE_NUMBER = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_NUMERIC = re.compile(r"[\d./-]+")
_MAKE = re.compile(r"(?:\$ )?make((?:[ \t]+[A-Za-z\d][\w.-]*(?![\w.=-]))+)(?:[ \t]+\w+=[^\s;&|]*)*")
_SCRIPT = re.compile(
    r"(?:\$ )?(?:(?:npm|pnpm|yarn|bun) run[ \t]+([\w:.-]+)|npm[ \t]+(test|start|stop)|(?:pnpm|yarn)[ \t]+([\w:.-]+))"
    r"(?:[ \t]+-[^`;&|]*)?"
)


class CodeCitation(NamedTuple):
    """One mention of a part of a code base.

    That is a path, a symbol such as ``Class.method``, the id of a commit, or a target such as ``make test``.
    """

    kind: CitationKind
    text: str
    is_plain: bool = False
    """Whether it is a word with an underscore that nothing marks as code: it may as well be of something else."""


def code_citations(text: str) -> list[CodeCitation]:
    """Return what a text cites as being so today, in order, each once."""
    head = text[:_CHARACTERS_READ]
    found: dict[CodeCitation, None] = {}
    for start, end in sentences(head):
        found.update(dict.fromkeys(_of_today(head[start:end])))
    marked = [one for one in found if not one.is_plain]
    plain = [one for one in found if one.is_plain and one._replace(is_plain=False) not in found]
    return (marked + plain)[:_MOST_CITATIONS]


def code_names(text: str) -> frozenset[str]:
    """Return the single names of a text that look like parts of a program, with or without quotation marks."""
    words = re.findall(r"[A-Za-z_]\w*", text[:_CHARACTERS_READ])
    return frozenset(word for word in words if _NAME_SHAPE.search(word))


class _Mention(NamedTuple):
    citation: CodeCitation
    start: int
    end: int


def _mentions(sentence: str) -> Iterator[_Mention]:
    for match in _SPAN.finditer(sentence):
        for citation in _quoted(match[2].strip()):
            yield _Mention(citation, match.start(), match.end())
    for match in _CALL.finditer(sentence):
        yield _Mention(CodeCitation("symbol", match[1]), match.start(), match.end())
    for match in _PATH.finditer(sentence):
        if path := _path(match[0]):
            yield _Mention(CodeCitation("path", path), match.start(), match.end())
    for match in _COMMIT.finditer(sentence):
        yield _Mention(CodeCitation("commit", match[0]), match.start(), match.end())
    for match in _PLAIN_SYMBOL.finditer(_SPAN.sub(lambda span: " " * len(span[0]), sentence)):
        is_of_class = _CLASS_MEMBER.search(match[0]) is not None
        if (is_of_class or _UNDERSCORE.search(match[0])) and (symbol := _symbol(match[0])):
            yield _Mention(CodeCitation("symbol", symbol, not is_of_class), match.start(), match.end())


def _quoted(span: str) -> Iterator[CodeCitation]:
    """Yield what a quotation cites as a whole: a symbol, or the targets of a command; nothing for plain words."""
    if match := _MAKE.fullmatch(span):
        yield from (CodeCitation("target", f"make {name}") for name in match[1].split())
    elif match := _SCRIPT.fullmatch(span):
        yield CodeCitation("target", f"npm run {match[1] or match[2] or match[3]}")
    elif symbol := _symbol(span):
        yield CodeCitation("symbol", symbol)


def _symbol(span: str) -> str:
    """Return the symbol that a few words are; empty for a path, a command or plain words."""
    name = _SIGNATURE.sub("", span)
    if not _SYMBOL.fullmatch(name) or name.rpartition(".")[2].lower() in _EXTENSIONS:
        return ""
    is_name = name != span or _NAME_SHAPE.search(name) is not None
    return re.sub(r"::|#", ".", name) if is_name else ""


def _path(word: str) -> str:
    """Return the path that a word is; empty where it is none."""
    path = _LINE_NUMBER.sub("", word).rstrip(".,;:!?")
    name = path.rstrip("/").rpartition("/")[2]
    stem, dot, extension = name.rpartition(".")
    is_file_name = bool(dot and stem and extension.lower() in _EXTENSIONS)
    if _NUMERIC.fullmatch(path) or not (is_file_name or "/" in path.strip("/") or (path.endswith("/") and name)):
        return ""
    return path


# What a sentence says of its names. For these patterns it has one private character in place of each thing cited.

_NAME = "[\ue000-\uf8ff]"
_NAMES = rf"{_NAME}(?:(?:,? (?:and|or|plus) |, ?| ?/ ?| ?& ?){_NAME}){{0,{_MOST_CITATIONS}}}+"
_ELSE = "when|if|after|before|until|while|because|which|that|who|where|unless|so|as|but|then|since|once"
"""Words with which a sentence goes on to something else."""
_TO_ANOTHER = "by|with|to|into|in|via|using|through|from|on|at|for|under|of|and|or"
_WORD = rf"(?!(?:{_ELSE})\b)[^\W_][\w'-]*"
_OBJECT_WORD = rf"(?!(?:{_TO_ANOTHER})\b){_WORD}"
_LOST = (
    r"(?:remov\w+|delet\w+|dropp?(?:ed|ing|s)?|gone|renam\w+|replac\w+|mov(?:ed|ing)|merg(?:ed|ing)|split|retir\w+"
    r"|supersed\w+|revert\w+|deprecat\w+|obsolete|legacy|missing|planned|folded|inlined|left out|dead|absent)"
)
_MADE = "(?:added|written|created|built|introduced|implemented|extracted)"
_IS = "(?:was|were|is|are|be|been|being|gets?|got|has|have|had)"
_ADVERB = r"(?:\w+ly|now|already|since|also|not|yet|just|later|then|all|both|soon|being|been|to be|a|an|the|long|going)"
_WILL = "(?:will|should|must|shall|may|might|to)"
_GOES = "(?:go|move|become|replace|disappear|vanish|get (?:removed|renamed|replaced))"
_WANTS = "(?:will|should|must|shall|going to|plans? to|planned to|want to|todo:?|to be)"
_MAKES = r"(?:add\w*|create\w*|write|written|introduce\w*|implement\w*|build|built|extract\w*|become|be)"

_SAID_AFTER = re.compile(
    rf"({_NAMES})(?: ?\([^()]{{0,80}}\))?(?:,? {_WORD}){{0,6}}?,?(?: [\u2014\u2013-])? ?(?:"
    rf"\b{_IS}(?: {_ADVERB}){{0,3}} {_LOST}\b"
    rf"|\b{_WILL} (?:\w+ly |soon |then |later |also )?(?:be (?:{_MADE}|{_LOST})|{_GOES})\b"
    r"|\b(?:no longer|not any ?more|went (?:out|away)|disappeared|became|becomes|not yet (?:there|exist)|formerly"
    r"|(?:moved|moves|merged|merges|folded|renamed) (?:in)?to|(?:does|do|did)(?: not|n't)(?: yet)? exist|was called"
    r"|removed|deleted|dropped|replaced by|superseded by|planned)\b"
    r"|(?<!is )(?<!are )(?<!be )(?<!been )(?<!was )(?<!were )\bused to\b|\bis no\b(?! (?:more|less)\b)"
    r"|[^.;]{0,60}\bany ?more\b)",
    re.IGNORECASE,
)
"""A name that was removed, is no longer there, will be added, or the like: in the words that follow it."""

_SAID_BEFORE = re.compile(
    r"\b(?:(?:removal|deletion|replacement) of|remov\w+|delet\w+|drop(?:s|ped|ping)?|renam\w+|replac\w+|supersed\w+"
    r"|retir(?:e|es|ed|ing)|revert\w*|deprecat\w+|obsolete|legacy|old|former|formerly|previous|previously|missing"
    r"|planned|dead|unused|instead of|in place of|rather than|there (?:is|are|was|were) no|is no|gone|used to be"
    r"|was called|then called|moves?|moved|moving|merg\w+|splits?|splitting|folded|inlin\w+"
    rf"|{_WANTS} {_MAKES})\b:?(?: {_OBJECT_WORD}){{0,4}} ?[\"'(]?({_NAMES})",
    re.IGNORECASE,
)
"""The same in the words before it, such as "instead of" or "the old"."""

_SAID_FROM = re.compile(
    rf"\b(?:mov(?:e|es|ed|ing)|extract\w*|split\w*|taken|ported|migrat\w+|merg\w+|renam\w+)\b[^.;]{{0,80}}?\bfrom\b"
    rf"(?: {_WORD}){{0,3}}? ?({_NAMES})",
    re.IGNORECASE,
)
_SAID_ARROW = re.compile(rf"\b(?:renam|mov|replac|merg)\w+\b[^.;]{{0,40}}?({_NAMES}) ?(?:→|->|=>)", re.IGNORECASE)
_SAID_IN_BRACKETS = re.compile(
    rf"\((?:was|formerly|previously|once|ex)[ :]+(?:{_WORD} ){{0,3}}?({_NAMES})", re.IGNORECASE
)


def _of_today(sentence: str) -> list[CodeCitation]:
    """Return what a sentence cites, without that of which it says that it was or is to be."""
    mentions = list(_mentions(sentence))
    if not mentions:
        return []
    marked, marks = _marked(sentence, mentions)
    spared = {
        name
        for said in (_SAID_AFTER, _SAID_BEFORE, _SAID_FROM, _SAID_ARROW, _SAID_IN_BRACKETS)
        for match in said.finditer(marked)
        for name in match[1]
    }
    return [one.citation for one, mark in zip(mentions, marks, strict=True) if mark not in spared]


def _marked(sentence: str, mentions: list[_Mention]) -> tuple[str, list[str]]:
    """Return a sentence with one private character in place of each thing cited, and that of each mention."""
    places = sorted({(one.start, -one.end) for one in mentions})
    marked, at, number = "", 0, -1
    marks: dict[tuple[int, int], str] = {}
    for start, end in places:
        if start >= at:
            number += 1
            marked += f"{sentence[at:start]}{chr(0xE000 + number % 6400)}"
            at = -end
        marks[start, end] = chr(0xE000 + number % 6400)
    marked += sentence[at:]
    return re.sub(r"\s+", " ", re.sub(r"[`*~]", "", marked)), [marks[one.start, -one.end] for one in mentions]
