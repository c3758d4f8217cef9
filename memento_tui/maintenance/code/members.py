"""Find the names that code uses and defines, and the members of a class or module, without parsing a language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from memento_tui.maintenance.code.git_history import GitHistory

__all__ = ["Members", "Vocabulary", "blocks", "defined_names", "defines_member", "names_member"]

_MOST_FILES = 20_000
"""Files of a commit beyond which its code is not read: about half a minute of work."""

_FILES_PER_READ = 400

_PROSE_SUFFIXES = frozenset((".md", ".mdx", ".rst", ".txt", ".adoc", ".svg", ".lock", ".csv", ".jsonl", ".html"))
"""The suffixes of prose and data, in which removed code may still be named."""

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


class _CodeNames(NamedTuple):
    """The names in one file: all that it mentions, and each that it defines with the lines that do."""

    mentioned: frozenset[str]
    defined: Mapping[str, tuple[str, ...]]


def _is_prose(path: str) -> bool:
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
        self._read: dict[str, _CodeNames] = {}

    def files(self, commit: str) -> dict[str, _CodeNames]:
        """Return the names of each file of code of a commit; nothing for one that holds too many files."""
        blobs = {path: blob for path, blob in self._history.tree(commit).items() if not _is_prose(path)}
        if len(blobs) > _MOST_FILES:
            return {}
        unread = list(dict.fromkeys(blob for blob in blobs.values() if blob not in self._read))
        for batch in _batches(unread):
            texts = self._history.texts(batch)
            for blob in batch:
                text = texts.get(blob, "")
                self._read[blob] = _CodeNames(frozenset(_WORD.findall(text)), defined_names(text))
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


_KINDS = "class|struct|interface|trait|enum|object|module|record|protocol|extension|type|namespace|mixin|union"

_STRINGS = re.compile(r'"""[\s\S]*?"""|' r"'''[\s\S]*?'''")
"""Texts of several lines, whose indentation says nothing."""

_COMMENTS = re.compile(r"(?:^|(?<=[ \t]))(?:#[ !]|//|/\*|\*[ \t])[^\n]*", re.MULTILINE)

_ENDS_NO_BLOCK = re.compile(r"[ \t]*(?:[)}\]]|#|//|/?\*|(?:public|private|protected|signals|slots)[\w ]*:|end\b)")
"""The beginning of a line that stands no deeper than a block's head and does not end it."""

_END_OF_HEAD = re.compile(r"[{]|:[ \t]*\n")

_BRINGS_ALL = re.compile(r"\bimport[ \t]*\(?\*|\bexport[ \t]*\*|::\{?\*|\bdef __getattr__\b")
"""A star import, a star export, or a function that makes names: a module has more names than it writes out."""

_LONGEST_RUN = 200
"""Characters between two brackets, and from a word that begins a head to the name: no run is read to its end twice."""

_LONGEST_HEAD = 400
"""Characters."""

_MOST_BASES = 40
"""Classes whose blocks are read for one member: its own and those that it is made from."""


class _File(NamedTuple):
    """A file of code at a commit: the id of its content, and its names."""

    blob: str
    names: _CodeNames


def bare_code(text: str) -> str:
    """Return code without comments and multi-line strings, which may still name removed code."""
    return _COMMENTS.sub("", _STRINGS.sub('""', text))


def blocks(text: str, name: str) -> list[str]:
    """Return the blocks of a text of code that belong to a class or its like, each with its head."""
    if name not in text:
        return []
    code = bare_code(text)
    found = []
    # A search for the bare name is many times as fast as one for all that may stand before it.
    place = code.find(name)
    while place >= 0:
        start = code.rfind("\n", 0, place) + 1
        first = _head(name).match(code, start)
        end = _end_of_block(code, start, len(first[1])) if first else _end_of_line(code, place)
        if first:
            found.append(code[start:end])
        place = code.find(name, end)
    return found


@lru_cache(maxsize=64)
def _head(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"([ \t]*)(?:[\w@()]+[ \t]+)*?(?:(?:{_KINDS})[ \t]+(?:class[ \t]+)?{name}\b"
        rf"|impl\b[^\n{{]{{0,{_LONGEST_RUN}}}\b{name}\b|(?:const|let|var)[ \t]+{name}[ \t]*=)"
    )


def _end_of_line(code: str, place: int) -> int:
    """Return where the line ends, with its break, in which a place lies."""
    end = code.find("\n", place)
    return len(code) if end < 0 else end + 1


def _end_of_block(code: str, start: int, indent: int) -> int:
    """Return where the first line begins that does not belong to the head of this indentation at ``start``."""
    at = _end_of_line(code, start)
    while at < len(code):
        end = _end_of_line(code, at)
        line = code[at:end]
        depth = len(line) - len(line.lstrip())
        if line.strip() and depth <= indent and not _ENDS_NO_BLOCK.match(line):
            break
        at = end
    return at


def defines_member(block: str, member: str) -> bool:
    """Tell whether a line of a block defines a method, a field or the like of this name."""
    return _definition(member).search(block) is not None


@lru_cache(maxsize=64)
def _definition(member: str) -> re.Pattern[str]:
    words = r"(?:[\w<>\[\],@:?.]+[*&]*[ \t]+[*&]*)*?"
    written = rf"#?{member}[ \t]*+(?:<[^>\n]{{0,{_LONGEST_RUN}}}>)?[?!]?[ \t]*+(?:[(=:,{{]|$)"
    line = rf"^[ \t]+(?:{words}{written}|(?:self\.|this\.|@){member}\b[^=\n]*=)"
    return re.compile(line, re.MULTILINE)


def has_own(code: str, member: str) -> bool:
    """Tell whether code names a member as its own: not as that of another object."""
    return _own(member).search(code) is not None


@lru_cache(maxsize=64)
def _own(member: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?<![\w.>])|\b(?:self|this|cls|super\(\))(?:\.|->)){member}\b")


def names_member(text: str, owner: str, member: str) -> bool:
    """Tell whether code has a member by both names: ``Owner.member``, or a function whose receiver the owner is."""
    if _both_names(owner, member).search(text):
        return True
    for found in _after_receiver(member).finditer(text) if "func" in text else ():
        start = text.rfind("func", max(0, found.start() - _LONGEST_RUN), found.start())
        if start >= 0 and _receiver(owner).fullmatch(text, start, found.end("closed")):
            return True
    return False


@lru_cache(maxsize=64)
def _both_names(owner: str, member: str) -> re.Pattern[str]:
    # What begins with a plain name is found many times as fast.
    between = rf"(?:<[^>\n]{{0,{_LONGEST_RUN}}}>)?(?:::|\.prototype\.|\?*\.|->|#)"
    return re.compile(rf"{owner}(?<!\w{owner}){between}{member}\b")


@lru_cache(maxsize=64)
def _after_receiver(member: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<closed>\))[ \t]*{member}\b")


@lru_cache(maxsize=64)
def _receiver(owner: str) -> re.Pattern[str]:
    run = rf"[^()\n]{{0,{_LONGEST_RUN}}}"
    return re.compile(rf"func[ \t]*\({run}\b{owner}\b{run}\)")


class Members:
    """The members of a repository's classes and modules, at an earlier commit and at its head."""

    def __init__(self, history: GitHistory, vocabulary: Vocabulary) -> None:
        self._history = history
        self._vocabulary = vocabulary
        self._files: dict[str, dict[str, _File]] = {}
        self._texts: dict[str, str] = {}

    def lost(self, commit: str, owner: str, member: str) -> str:
        """Return the file in which a class or module had a member at a commit, if it is there without it now; or empty.

        What a class is made from counts as its own, and so does whatever names it with its member.
        """
        head = self._history.head
        had = [path for path, text in self._holding(commit, owner, member) if _is_member(path, text, owner, member)]
        if not had:
            had = [path for path in self._at(commit) if _is_module(path, owner, member)][:1]
            is_there = any(_is_module(path, owner, member) for path in self._at(head))
            return "" if not had or is_there or self._module_has(head, owner, member) else had[0]
        if len(had) != 1 or self._module_has(head, owner, member):
            return ""
        if any(names_member(bare_code(text), owner, member) for _, text in self._holding(head, owner, member)):
            return ""
        if own := list(self._blocks(head, owner)):
            return had[0] if not any(has_own(block, member) for block in own) else ""
        # What is neither a class nor a module of that name any more, and defined nowhere else, is gone with all it had.
        here = self._at(head).items()
        is_elsewhere = any(owner in file.names.defined for _, file in here)
        return had[0] if not is_elsewhere or any(_is_file_of(path, owner) for path, _ in here) else ""

    def _module_has(self, commit: str, owner: str, member: str) -> bool:
        """Tell whether a module or package of a name may have a member: it names it, or takes in all of another."""
        texts = self._read([file for path, file in self._at(commit).items() if _is_file_of(path, owner)])
        names = re.compile(rf"\b{member}\b")
        return any(
            _BRINGS_ALL.search(text) or names.search(bare_code(text)) for text in texts if not blocks(text, owner)
        )

    def _blocks(self, commit: str, owner: str) -> Iterator[str]:
        """Yield the blocks of a class and of those that it is made from."""
        waiting, seen = [owner], {owner}
        while waiting and len(seen) <= _MOST_BASES:
            name = waiting.pop(0)
            for text in self._read([file for file in self._at(commit).values() if name in file.names.defined]):
                for block in blocks(text, name):
                    yield block
                    head = _END_OF_HEAD.split(block[:_LONGEST_HEAD], maxsplit=1)[0]
                    others = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", head))
                    waiting += [other for other in others if other not in seen]
                    seen.update(others)

    def _holding(self, commit: str, owner: str, member: str) -> list[tuple[str, str]]:
        """Return the files of a commit in which a member of a class, or of the module of that name, may stand."""
        found = {
            path: file
            for path, file in self._at(commit).items()
            if member in file.names.mentioned and (owner in file.names.mentioned or _is_file_of(path, owner))
        }
        return list(zip(found, self._read(found.values()), strict=True))

    def _at(self, commit: str) -> dict[str, _File]:
        if commit not in self._files:
            tree = self._history.tree(commit)
            named = self._vocabulary.files(commit)
            kept = {name: files for name, files in self._files.items() if name == self._history.head}
            self._files = {**kept, commit: {path: _File(tree[path], names) for path, names in named.items()}}
        return self._files[commit]

    def _read(self, files: Iterable[_File]) -> list[str]:
        wanted = list(files)
        if unread := [file.blob for file in wanted if file.blob not in self._texts]:
            self._texts.update(dict.fromkeys(unread, ""))
            self._texts.update(self._history.texts(unread))
        return [self._texts[file.blob] for file in wanted]


def _is_member(path: str, text: str, owner: str, member: str) -> bool:
    own = blocks(text, owner)
    if any(defines_member(block, member) for block in own):
        return True
    is_of_module = not own and _is_file_of(path, owner) and member in defined_names(text)
    return is_of_module or (names_member(bare_code(text), owner, member) and member in defined_names(text))


def _is_module(path: str, folder: str, name: str) -> bool:
    """Tell whether a file is the module of a name in a folder, or lies in the package of that name there."""
    place = f"/{path.removesuffix(PurePosixPath(path).suffix)}/"
    return f"/{folder}/{name}/" in place


def _is_file_of(path: str, name: str) -> bool:
    """Tell whether a file is the module of a name, or the file with the exports of the package of that name."""
    file = PurePosixPath(path)
    if file.stem == name:
        return True
    # All the files of a folder are one package in Go.
    shows_folder = file.stem in ("__init__", "index") or file.name == "mod.rs" or file.suffix == ".go"
    return shows_folder and file.parent.name == name
