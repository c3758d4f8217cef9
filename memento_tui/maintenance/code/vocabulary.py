"""Find the names that the code of a commit mentions and defines; each content is read once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from memento_tui.maintenance.code.git_history import GitHistory

__all__ = ["CodeNames", "Vocabulary", "defined_names", "is_prose"]

_MOST_FILES = 20_000
"""Files of a commit beyond which its code is not read: about half a minute of work."""

_FILES_PER_READ = 400

_PROSE_SUFFIXES = frozenset((".md", ".mdx", ".rst", ".txt", ".adoc", ".svg", ".lock", ".csv", ".jsonl", ".html"))
"""Files that may still tell of what is gone, or hold data."""

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINITION = re.compile(
    r"^[^\n#'\"]*?\b(?:def|class|func|fn|function|interface|type|struct|enum|const|let|var|val|trait|module|object|record)"
    r"[ \t]+(?:\([^)\n]*\)[ \t]*)?([A-Za-z_]\w*)[^\n]*"
    r"|^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*(?:(?::[^\n=]{1,80})?=(?!=)[^\n]*"
    r"|:(?!:)[ \t]*(?:[^\s|]+(?:[ \t]*\|[ \t]*[^\s|]+)*)?[ \t]*(?:(?:#|//)[^\n]*)?$)",
    re.MULTILINE,
)
"""A line that defines a name, in the common languages: a function, a class, a constant or a field.

What follows a colon must be one word, as a type is: prose such as "ValueError: the text is too long" defines nothing.
"""


class CodeNames(NamedTuple):
    """The names in one file: all that it mentions, and each that it defines with the lines that do."""

    mentioned: frozenset[str]
    defined: Mapping[str, tuple[str, ...]]


def is_prose(path: str) -> bool:
    """Tell whether a file is text or data rather than code."""
    return PurePosixPath(path).suffix.lower() in _PROSE_SUFFIXES


def defined_names(text: str) -> dict[str, tuple[str, ...]]:
    """Return the names that a text of code defines, each with its lines."""
    found: dict[str, list[str]] = {}
    for match in _DEFINITION.finditer(text):
        found.setdefault(match[1] or match[2], []).append(match[0].strip())
    return {name: tuple(lines) for name, lines in found.items()}


class Vocabulary:
    """The names in the code of commits of one repository."""

    def __init__(self, history: GitHistory) -> None:
        self._history = history
        self._read: dict[str, CodeNames] = {}

    def files(self, commit: str) -> dict[str, CodeNames]:
        """Return the names of each file of code of a commit; nothing for one that holds too many files."""
        blobs = {path: blob for path, blob in self._history.tree(commit).items() if not is_prose(path)}
        if len(blobs) > _MOST_FILES:
            return {}
        unread = list(dict.fromkeys(blob for blob in blobs.values() if blob not in self._read))
        for batch in _batches(unread):
            texts = self._history.texts(batch)
            for blob in batch:
                text = texts.get(blob, "")
                self._read[blob] = CodeNames(frozenset(_WORD.findall(text)), defined_names(text))
        return {path: self._read[blob] for path, blob in blobs.items()}

    def mentioned(self, commit: str, names: Iterable[str]) -> set[str]:
        """Return those of the names that the code of a commit mentions."""
        left, found = set(names), set[str]()
        for file in self.files(commit).values() if left else ():
            found |= left & file.mentioned
        return found

    def definitions(self, commit: str, names: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
        """Return where the code of a commit defines each of the names: the file and the line."""
        wanted, found = set(names), dict[str, list[tuple[str, str]]]()
        for path, file in self.files(commit).items() if wanted else ():
            for name in wanted & file.defined.keys():
                found.setdefault(name, []).extend((path, line) for line in file.defined[name])
        return found


def _batches(blobs: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(blobs), _FILES_PER_READ):
        yield blobs[start : start + _FILES_PER_READ]
