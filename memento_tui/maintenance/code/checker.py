"""Compare the citations of code in memories with the repository: the same, changed, moved, or gone.

What a text is found to cite are candidates, and only the repository knows whether they ever stood there. A citation
counts only if it stood in the repository when the memory was written or last confirmed. So a file of another project,
a plan and an example are never reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from memento_tui.maintenance.code.citations import CodeCitation, code_citations, code_names
from memento_tui.maintenance.code.git_history import GitHistory, PathEvent
from memento_tui.maintenance.code.members import Members, Vocabulary, defined_names
from memento_tui.maintenance.code.targets import Targets

__all__ = [
    "CodeFinding",
    "WrittenMemory",
    "check_code",
]


_GRACE = timedelta(hours=1)
"""How long after a memory was written a commit still counts as the work that it tells of."""

_LEAST_KEPT = 0.1
"""The share of a file's lines below which it is another file of the same name.

Below .4, of seven memories of this project's history that named nothing in their file, all still held.
"""

_LEAST_NAME, _FEWEST_NAMES = 5, 2
"""Letters of a name that is no common word, and such names of a file by which it is found again elsewhere."""

_FEWEST_LINES = 8
"""Lines of a file below which their share says nothing."""

_SHARED_NAMES = frozenset(
    """
    readme.md license makefile dockerfile __init__.py __main__.py main.py index.js index.ts index.tsx index.html mod.rs
    main.rs lib.rs main.go package.json setup.py conftest.py utils.py types.ts cargo.toml pyproject.toml config.toml
    config.json config.yaml settings.json settings.py changelog.md .gitignore agents.md claude.md
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Names that any project has, in lower case: without a folder they name only a file of the repository's root."""

_FILE_IN_FOLDER = re.compile(r"\w/[\w+-][\w.+-]*\.\w")

CitationState = Literal["holds", "changed", "moved", "gone"]
_GRAVITY: tuple[CitationState, ...] = ("gone", "moved", "changed")


class WrittenMemory(msgspec.Struct, frozen=True):
    """A memory's text, and the moment at which it was written or last confirmed."""

    id: str
    text: str
    at: datetime
    is_of_project: bool = True
    """Else it counts only if it cites a file of the repository by its path, with the folder, that stood there then."""


class CitationFinding(msgspec.Struct, frozen=True):
    """One thing that a memory cites and that is no longer as it was."""

    kind: Literal["path", "symbol", "commit", "target"]
    cited: str
    state: CitationState
    path: str = ""
    """The path of a file or folder within the repository, as it was then."""
    to: str = ""
    """The path to which it moved."""
    why: str = ""
    """A sentence for a person."""

    @property
    def label(self) -> str:
        """A few words for the line that tells the memory."""
        name = (
            f"{self.cited}()"
            if self.kind == "symbol" and "." not in self.cited and self.cited.islower()
            else self.cited
        )
        if self.kind == "commit":
            return f"commit {self.cited[:12]} was reverted"
        if self.state == "moved":
            return f"{name} is now {self.to}"
        return f"{name} is gone" if self.state == "gone" else f"{name} changed since"


class CodeFinding(msgspec.Struct, frozen=True):
    """The outdated citations of one memory: ``gone`` where nothing is left of all that it cites, else ``changed``."""

    id: str
    state: Literal["changed", "gone"]
    citations: tuple[CitationFinding, ...]
    """The gravest first."""
    checked: int
    """How many of its citations stood in the repository when it was written."""


class _Resolved(msgspec.Struct):
    """A citation that stood in the repository at a memory's moment."""

    memory: WrittenMemory
    cited: str
    order: int
    """The number of the commit that was checked out then."""
    path: str
    blob: str


def check_code(history: GitHistory, memories: Iterable[WrittenMemory]) -> tuple[list[CodeFinding], int]:
    """Return the outdated citations in some memories, and how many of these cite code that the repository had."""
    return _Check(history, list(memories)).run()


class _Check:
    def __init__(self, history: GitHistory, memories: Sequence[WrittenMemory]) -> None:
        self._history = history
        self._vocabulary = Vocabulary(history)
        self._members = Members(history, self._vocabulary)
        self._targets_known = Targets(history)
        self._cited: dict[str, list[CodeCitation]] = {}
        self._order: dict[str, int] = {}
        self._memories: dict[str, WrittenMemory] = {}
        for memory in memories:
            order = history.order_at(memory.at + _GRACE)
            may_cite = memory.is_of_project or _FILE_IN_FOLDER.search(memory.text) is not None
            cited = code_citations(memory.text) if order is not None and may_cite else []
            if cited and order is not None:
                self._memories[memory.id], self._cited[memory.id], self._order[memory.id] = memory, cited, order

    def run(self) -> tuple[list[CodeFinding], int]:
        if not self._memories:
            return [], 0
        resolved = self._resolve_paths()
        self._leave_out_others(resolved)
        resolved = [one for one in resolved if one.memory.id in self._cited]
        findings: dict[str, list[CitationFinding]] = {}
        for memory_id, found in (*self._paths(resolved), *self._symbols(), *self._targets(), *self._commits()):
            findings.setdefault(memory_id, []).append(found)
        made = (_finding(name, found, self._cited[name]) for name, found in findings.items())
        return [one for one in made if one is not None], len(findings)

    def _leave_out_others(self, resolved: Iterable[_Resolved]) -> None:
        """Leave out the memories of no project that cite no file of this repository by its path."""
        here = {one.memory.id for one in resolved if self._is_of_this_repository(one)}
        for memory_id, memory in self._memories.items():
            if not memory.is_of_project and memory_id not in here:
                del self._cited[memory_id]

    def _is_of_this_repository(self, one: _Resolved) -> bool:
        """Tell whether a citation names a file by a path that hardly any other repository has."""
        folder, _, name = one.path.rpartition("/")
        return (
            bool(folder) and self._within(one.cited) == one.path and "." in name and name.lower() not in _SHARED_NAMES
        )

    def _within(self, cited: str) -> str:
        """Return a cited path without the place of the repository."""
        return cited.removeprefix(f"{self._history.root}/").removeprefix("./").rstrip("/")

    def _of_kind(self, kind: str) -> list[tuple[str, str]]:
        """Return what is cited of one kind, each with the id of the memory that cites it."""
        return [(name, one.text) for name, cited in self._cited.items() for one in cited if one.kind == kind]

    # Paths

    def _paths(self, resolved: Sequence[_Resolved]) -> Iterator[tuple[str, CitationFinding]]:
        files = self._history.files
        changed = [one for one in resolved if one.path in files and files[one.path] != one.blob]
        texts = self._history.texts([blob for one in changed for blob in (one.blob, files[one.path])])
        for one in resolved:
            if one.path in files:
                before, after = texts.get(one.blob, ""), texts.get(files[one.path], "")
                why = "" if files[one.path] == one.blob else _difference(one.memory.text, one.path, before, after)
                yield (
                    one.memory.id,
                    CitationFinding("path", one.cited, "changed" if why else "holds", one.path, "", why),
                )
            elif self._is_folder(one.path):
                yield one.memory.id, CitationFinding("path", one.cited, "holds", one.path)
            else:
                yield one.memory.id, self._vanished(one)

    def _resolve_paths(self) -> list[_Resolved]:
        """Return the cited paths that named one thing in the repository at the memory's moment."""
        oldest = min(self._order.values())
        known = {*self._history.files, *(event.old for event in self._history.disappearances(oldest))}
        known |= {event.new for event in self._history.disappearances(oldest) if event.new}
        by_name: dict[str, list[str]] = {}
        for path in known:
            by_name.setdefault(path.rpartition("/")[2], []).append(path)
        folders = {str(folder) for path in known for folder in PurePosixPath(path).parents} - {"."}
        wanted: dict[tuple[str, str], list[str]] = {}
        for memory_id, cited in self._cited.items():
            for citation in cited:
                if citation.kind == "path":
                    wanted[memory_id, citation.text] = self._candidates(citation.text, by_name, folders)
        there = self._history.blobs(
            (self._history.commit(self._order[memory_id]), path)
            for (memory_id, _), paths in wanted.items()
            for path in paths
        )
        resolved = []
        for (memory_id, text), paths in wanted.items():
            order = self._order[memory_id]
            found = [path for path in paths if (self._history.commit(order), path) in there]
            if len(found) == 1:
                blob = there[self._history.commit(order), found[0]]
                resolved.append(_Resolved(self._memories[memory_id], text, order, found[0], blob))
        return resolved

    def _candidates(self, cited: str, by_name: Mapping[str, Sequence[str]], folders: set[str]) -> list[str]:
        """Return the paths that a citation may mean: itself, or those that end in it."""
        path = self._within(cited)
        if path.startswith("/") or ".." in path.split("/"):
            return []
        name = path.rpartition("/")[2]
        if path in by_name.get(name, ()) or path in folders:
            return [path]
        if "/" not in path and (path.lower() in _SHARED_NAMES or cited.endswith("/")):
            return []
        ending = f"/{path}"
        files = [known for known in by_name.get(name, ()) if known.endswith(ending)]
        return files or [folder for folder in folders if folder.endswith(ending) and "/" in path]

    def _is_folder(self, path: str) -> bool:
        start = f"{path}/"
        return any(file.startswith(start) for file in self._history.files)

    def _vanished(self, one: _Resolved) -> CitationFinding:
        """Return the state of a missing file or folder: moved, merged into another, or gone."""
        events = self._history.disappearances(one.order)
        path, last = one.path, None
        for event in events:
            if event.old == path:
                last, path = event, event.new or path
        to = path if last is not None and path in self._history.files else ""
        if not to and last is None:
            last, to = self._moved_folder(one.path, events)
        to = to or self._same_name_elsewhere(one) or self._merged_into(one)
        if to:
            to = f"{to}/" if one.cited.endswith("/") else to
            return CitationFinding("path", one.cited, "moved", one.path, to, _moved_why(one.path, last, to))
        return CitationFinding("path", one.cited, "gone", one.path, "", _gone_why(one.path, last))

    def _moved_folder(self, folder: str, events: Sequence[PathEvent]) -> tuple[PathEvent | None, str]:
        """Return where most of a folder's files went, if they went to one place under their names."""
        inside = [event for event in events if event.old.startswith(f"{folder}/")]
        targets: dict[str, list[PathEvent]] = {}
        for event in inside:
            rest = event.old.removeprefix(folder)
            if event.new.endswith(rest):
                targets.setdefault(event.new.removesuffix(rest), []).append(event)
        best = max(targets, key=lambda name: len(targets[name]), default="")
        if best and 2 * len(targets[best]) > len(inside) and self._is_folder(best):
            return targets[best][-1], best
        return (inside[-1] if inside else None), ""

    def _same_name_elsewhere(self, one: _Resolved) -> str:
        """Return the one new file that has the name of a file that is gone; empty where none or several have."""
        name = one.path.rpartition("/")[2]
        if name.lower() in _SHARED_NAMES:
            return ""
        named = [path for path in self._history.files if path.rpartition("/")[2] == name]
        if len(named) != 1:
            return ""
        before = self._history.blobs([(self._history.commit(one.order), named[0])])
        return "" if before else named[0]

    def _merged_into(self, one: _Resolved) -> str:
        """Return the file that now has a missing file's definitions: those that the memory names, else half of them."""
        defined = defined_names(self._history.texts([one.blob]).get(one.blob, ""))
        named = set(_names_in(one.memory.text)) & defined.keys()
        names = named or {name for name in defined if len(name) >= _LEAST_NAME}
        if len(names) < (1 if named else _FEWEST_NAMES):
            return ""
        defined_now = self._vocabulary.definitions(self._history.head, names)
        counts = Counter(path for places in defined_now.values() for path in {path for path, _ in places})
        best = max(counts, key=lambda path: (counts[path], path), default="")
        is_only = list(counts.values()).count(counts[best]) == 1
        return best if is_only and counts[best] >= (len(names) if named else len(names) / 2) else ""

    # Symbols

    def _symbols(self) -> Iterator[tuple[str, CitationFinding]]:
        wanted = self._of_kind("symbol")
        parts = {part for _, symbol in wanted for part in symbol.split(".")}
        present = self._vocabulary.mentioned(self._history.head, parts)
        missing: dict[int, set[str]] = {}
        for memory_id, symbol in wanted:
            if names := set(symbol.split(".")) - present:
                missing.setdefault(self._order[memory_id], set()).update(names)
        defined = {
            order: self._vocabulary.definitions(self._history.commit(order), names) for order, names in missing.items()
        }
        now = self._vocabulary.definitions(self._history.head, present)
        for memory_id, symbol in wanted:
            order, last = self._order[memory_id], symbol.rpartition(".")[2]
            lost = [part for part in symbol.split(".") if part in defined.get(order, ())]
            if lost:
                why = f"{lost[0]} was defined in the code, which does not name it any more."
                yield memory_id, CitationFinding("symbol", symbol, "gone", "", "", why)
            elif why := self._lost_member(order, symbol):
                yield memory_id, CitationFinding("symbol", symbol, "gone", "", "", why)
            elif last in present and (why := self._other_value(memory_id, last, now.get(last, ()))):
                yield memory_id, CitationFinding("symbol", symbol, "changed", "", "", why)
            elif last in present:
                yield memory_id, CitationFinding("symbol", symbol, "holds")

    def _lost_member(self, order: int, symbol: str) -> str:
        """Return a sentence where a class or module is there but its cited member is not; else an empty text."""
        owner, _, member = symbol.rpartition(".")
        owner = owner.rpartition(".")[2]
        path = self._members.lost(self._history.commit(order), owner, member) if owner else ""
        return f"{owner} had {member} in {path}, and has it no more." if path else ""

    def _other_value(self, memory_id: str, name: str, places: Sequence[tuple[str, str]]) -> str:
        """Return how the value of a constant differs from the one that a memory states; empty where it does not."""
        stated, after = _values([f"={self._memories[memory_id].text}"]), _values(line for _, line in places)
        if len(places) != 1 or not after or not stated or stated & after:
            return ""
        then = self._vocabulary.definitions(self._history.commit(self._order[memory_id]), [name]).get(name, ())
        told = stated & _values(line for _, line in then)
        if len(then) != 1 or not told:
            return ""
        return f"{name} was {', '.join(sorted(told))} and is {', '.join(sorted(after))} now."

    # Targets

    def _targets(self) -> Iterator[tuple[str, CitationFinding]]:
        for memory_id, target in self._of_kind("target"):
            if not self._targets_known.had(self._history.commit(self._order[memory_id]), target):
                continue
            if self._targets_known.may_have(self._history.head, target):
                yield memory_id, CitationFinding("target", target, "holds")
            else:
                why = f"{target} was there, and no file of the repository has it any more."
                yield memory_id, CitationFinding("target", target, "gone", "", "", why)

    # Commits

    def _commits(self) -> Iterator[tuple[str, CitationFinding]]:
        wanted = self._of_kind("commit")
        known = self._history.commits_known(text for _, text in wanted)
        for memory_id, text in wanted:
            by = self._history.reverted.get(known.get(text, ""), "")
            if by:
                why = f"The commit {text} was reverted by {by[:10]}."
                yield memory_id, CitationFinding("commit", text, "changed", "", "", why)
            elif text in known:
                yield memory_id, CitationFinding("commit", text, "holds")


def _finding(memory_id: str, found: Sequence[CitationFinding], cited: Iterable[CodeCitation]) -> CodeFinding | None:
    """Return the finding about one memory; ``None`` where all its citations are as they were.

    Words that nothing marks as code may be of something else too: by them alone no memory is of what is gone.
    """
    other = sorted((one for one in found if one.state != "holds"), key=lambda one: _GRAVITY.index(one.state))
    if not other:
        return None
    plain = {one.text for one in cited if one.is_plain}
    judged = [one for one in found if one.kind != "commit"]
    is_gone = all(one.state == "gone" for one in judged) and any(one.cited not in plain for one in judged)
    return CodeFinding(memory_id, "gone" if is_gone else "changed", tuple(other), len(found))


_VALUE = re.compile(r"(?<![\w.])\d[\d_,]*(?:\.\d+)?(?![\w.]*\w)|\"[^\"\n]{2,60}\"")


def _values(lines: Iterable[str]) -> set[str]:
    """Return the numbers and quoted texts on the right of the assignments in some lines."""
    right = (line.partition("=")[2] for line in lines)
    found = (value for text in right for value in _VALUE.findall(text))
    return {re.sub(r"[_,]", "", value) if value[0].isdigit() else value for value in found}


def _names_in(text: str) -> frozenset[str]:
    """Return the names of a program that a memory mentions, but for those of its files."""
    cited = code_citations(text)
    quoted = (part for citation in cited if citation.kind == "symbol" for part in citation.text.split("."))
    for citation in cited:
        if citation.kind == "path":
            text = text.replace(citation.text, " ")
    return code_names(text) | frozenset(quoted)


def _difference(memory: str, path: str, before: str, after: str) -> str:
    """Return a sentence on why a memory taken from a file may be outdated; empty where it need not be.

    Where the memory names what the file defined, those names decide, and the lines that hold a number of the memory;
    else the file must be another one of the same name.
    """
    if not before or not after:
        return ""
    named = sorted(_names_in(memory) & defined_names(before).keys())
    for name in named:
        if re.search(rf"\b{re.escape(name)}\b", after) is None:
            return f"{path} defined {name}, and does not name it any more."
    stated = _stated_lines(memory, before)
    if stated and not stated & _stated_lines(memory, after):
        return f"{path} stated {', '.join(sorted({number for number, _ in stated}))}, and does not any more."
    lines = {line for raw in before.splitlines() if (line := raw.strip()) and len(line) > 3}  # noqa: PLR2004 - brackets
    left = {raw.strip() for raw in after.splitlines()}
    is_other = not named and len(lines) >= _FEWEST_LINES and len(lines & left) / len(lines) < _LEAST_KEPT
    return f"{path} was written anew." if is_other else ""


def _stated_lines(memory: str, text: str) -> set[tuple[str, str]]:
    """Return the numbers of a memory that a text states in a line that shares a word with it, each with that word."""
    numbers = {number for number in _NUMBER.findall(memory) if len(number) > 1}
    words = {word.lower() for word in _PLAIN_WORD.findall(memory)}
    found: set[tuple[str, str]] = set()
    for line in text.splitlines() if numbers else ():
        for number in numbers & {re.sub(r"[_,]", "", one) for one in _NUMBER.findall(line)}:
            found.update((number, word) for word in words & {word.lower() for word in _PLAIN_WORD.findall(line)})
    return found


_NUMBER = re.compile(r"(?<![\w.])\d[\d_,]*(?:\.\d+)?(?![\w.]*\w)")
_PLAIN_WORD = re.compile(r"[A-Za-z]{4,}")


def _moved_why(path: str, event: PathEvent | None, to: str) -> str:
    if event is None:
        return f"{path} is gone; what it held is in {to} now."
    if event.new != to:
        return (
            f"{path} went on {event.at:%Y-%m-%d} ({event.commit[:10]}: {event.subject}); what it held is in {to} now."
        )
    return f"{path} was moved to {to} on {event.at:%Y-%m-%d} ({event.commit[:10]}: {event.subject})."


def _gone_why(path: str, event: PathEvent | None) -> str:
    if event is None:
        return f"{path} is not in the repository any more."
    return f"{path} was deleted on {event.at:%Y-%m-%d} ({event.commit[:10]}: {event.subject})."
