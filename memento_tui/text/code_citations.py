"""Find what a text cites of a code base: paths, symbols and commits. Standard library only.

What is found are candidates. Whether a candidate ever stood in a repository, only the repository knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from memento_tui.text.sentences import sentences

__all__ = ["CodeCitation", "code_citations", "code_names"]

CitationKind = Literal["path", "symbol", "commit"]

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
_SPAN = re.compile(r"`([^`\n]{2,120})`")
_CALL = re.compile(r"(?<![\w.`/-])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(\)")
_SYMBOL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*")
_SIGNATURE = re.compile(r"\([^()]*\)$")
_NAME_SHAPE = re.compile(r"[a-z\d]_[a-z\d]|^_\w|[A-Z]\w*_[A-Z]|[a-z][A-Z]|[A-Z][a-z]+[A-Z]|\w(?:\.|::|#)\w")
"""The shape of a name that prose does not have: an underscore, a hump, or a dot inside."""
_COMMIT = re.compile(r"(?<![\w/.#-])(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w/-])")
_LINE_NUMBER = re.compile(r"(?::\d+){1,2}$|#L\d+(?:-L?\d+)?$")
_NUMERIC = re.compile(r"[\d./-]+")

_IS_OF_THE_PAST = re.compile(
    r"\b(?:remov\w+|delet\w+|dropp?\w*|gone|no longer|not any ?more|any ?more|used to|former\w*|previous\w*|renam\w+"
    r"|replac\w+|instead of|obsolete|legacy|deprecated|old|moved?|moves|merg\w+ into|split|became|becomes|was called"
    r"|retired?|superseded?|reverted?|went out|left out|before|does not exist|doesn't exist|missing|is no\b|todo"
    r"|planned|will|should be|to be (?:added|written|created))\b",
    re.IGNORECASE,
)
"""Words by which a sentence speaks of what was or is to be: that the repository lacks it makes it no less true."""


class CodeCitation(NamedTuple):
    """One mention of a part of a code base: a path, a symbol such as ``Class.method``, or the id of a commit."""

    kind: CitationKind
    text: str


def code_citations(text: str) -> list[CodeCitation]:
    """Return what a text cites as being so today, in order, each once.

    Left out is what stands in a sentence that speaks of the past or of plans, such as "`load()` was removed".
    """
    head = text[:_CHARACTERS_READ]
    found: dict[CodeCitation, None] = {}
    for start, end in sentences(head):
        sentence = head[start:end]
        if not _IS_OF_THE_PAST.search(sentence):
            found.update(dict.fromkeys(_citations(sentence)))
    return list(found)[:_MOST_CITATIONS]


def code_names(text: str) -> frozenset[str]:
    """Return the single names of a text that look like parts of a program, with or without quotation marks."""
    words = re.findall(r"[A-Za-z_]\w*", text[:_CHARACTERS_READ])
    return frozenset(word for word in words if _NAME_SHAPE.search(word))


def _citations(sentence: str) -> Iterator[CodeCitation]:
    quoted = [match[1].strip() for match in _SPAN.finditer(sentence)]
    for span in quoted:
        if symbol := _quoted_symbol(span):
            yield CodeCitation("symbol", symbol)
    for match in _CALL.finditer(sentence):
        yield CodeCitation("symbol", match[1])
    for match in _PATH.finditer(sentence):
        if path := _path(match[0]):
            yield CodeCitation("path", path)
    for match in _COMMIT.finditer(sentence):
        yield CodeCitation("commit", match[0])


def _quoted_symbol(span: str) -> str:
    """Return the symbol that a quotation is; empty for a path, a command or plain words."""
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
