"""Find the instruction files of a folder: by the names that hosts read, in hidden folders, and the rules of parts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memento_tui.formats import cursor_rules
from memento_tui.formats.base import Refused
from memento_tui.formats.source_files import SourceFile, has_file, has_folder, walk_files, walk_folders

__all__ = ["FILE_NAMES", "has_hidden", "hidden_files", "instruction_files", "is_in", "is_rule_folder"]

FILE_NAMES = (
    *("claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md"),
    *("agent.md", "codebuddy.md", "crush.md", "iflow.md", "qwen.md", "warp.md"),
)
"""The files that hosts read, in lower case."""
_HIDDEN_FILES = (".claude/CLAUDE.md", ".github/copilot-instructions.md", *cursor_rules.SINGLE_FILES)
"""The hidden files of a project that hosts read."""
_RULE_FOLDERS = tuple(
    dict.fromkeys(
        str(place)
        for folder in (PurePosixPath(kind.folder) for kind in cursor_rules.KINDS)
        for place in (folder, *folder.parents[:-1])
    )
)
"""The folders of the hosts' rules in a project, and the hidden ones in which they lie."""
_MAX_PARTS_EXAMINED = 10_000
"""Folders of a project examined for a guess, so that a wrong path such as ``/`` is answered soon."""
_DEPENDENCIES = frozenset({"node_modules", "site-packages", "venv"})
"""Folders of other people's programs: what those tell agents is not about this project."""


def instruction_files(root: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files of instructions that ``root`` is or that lie below it, the hidden ones and rules last."""
    if is_rule_folder(root):
        yield from _rule_folder(root)
        return
    for file in walk_files(root, ".md"):
        folders = PurePosixPath(file.name if isinstance(file, SourceFile) else file.file).parts[:-1]
        if not _DEPENDENCIES.isdisjoint(folders):
            continue
        if isinstance(file, Refused) or root.is_file() or _is_named_so(file.name):
            yield file
    yield from _hidden_files(root)
    yield from _rules_of_parts(root)


def _is_named_so(name: str) -> bool:
    return PurePosixPath(name).name.lower() in FILE_NAMES


def has_hidden(folder: Path) -> bool:
    """Tell whether instructions lie in hidden files or folders of a project or its parts, or the folder is of rules."""
    return any(hidden_files(folder)) or is_rule_folder(folder) or any(_rules_of_parts(folder, _MAX_PARTS_EXAMINED))


def is_in(folder: Path) -> bool:
    """Tell whether instructions lie in a folder itself, or in its hidden files and folders."""
    return has_hidden(folder) or any(_is_named_so(file.name) and file.is_file() for file in folder.iterdir())


def hidden_files(folder: Path) -> Iterator[SourceFile]:
    """Yield the files of instructions in the hidden folders of a project."""
    return (file for file in _hidden_files(folder) if isinstance(file, SourceFile))


def is_rule_folder(folder: Path) -> bool:
    """Tell whether a folder is the one of a project's rules for a host, or the hidden one in which that lies."""
    return any(_rule_folder(folder))


def _rule_folder(folder: Path) -> Iterator[SourceFile | Refused]:
    """Yield the instructions in a folder of a host's rules, or in the hidden one in which that lies; none in others."""
    place = folder.resolve()
    for name in _RULE_FOLDERS:
        parts = PurePosixPath(name).parts
        for file in _hidden_files(place.parents[len(parts) - 1]) if place.parts[-len(parts) :] == parts else ():
            if isinstance(file, Refused) and file.file.startswith(f"{name}/"):
                yield Refused(file.file.removeprefix(f"{name}/"), file.line, file.reason)
            elif isinstance(file, SourceFile) and file.name.startswith(f"{name}/"):
                yield SourceFile(file.path, file.name.removeprefix(f"{name}/"))


def _is_behind_link(root: Path, name: str) -> bool:
    """Tell whether a file or folder is a link, or in one; ``root`` may be one, as it is what a person named."""
    return any((root / part).is_symlink() for part in (PurePosixPath(name), *PurePosixPath(name).parents[:-1]))


def _hidden_files(root: Path) -> Iterator[SourceFile | Refused]:
    """Yield the files in the hidden folders of a project, the rules of its hosts last."""
    for name in _HIDDEN_FILES if root.is_dir() else ():
        place = root / name
        if has_file(place) and not _is_behind_link(root, name):
            yield SourceFile(str(place.resolve()), name)
    yield from _rules_of(root, "")


def _rules_of(root: Path, below: str) -> Iterator[SourceFile | Refused]:
    """Yield the rules of all hosts that are kept in one folder; ``below`` is its name and a slash, or empty."""
    for kind in cursor_rules.KINDS:
        name = f"{below}{kind.folder}"
        is_there = has_folder(root / name) and not _is_behind_link(root, name)
        for rule in walk_files(root / name, kind.suffix) if is_there else ():
            if isinstance(rule, Refused):
                yield Refused(f"{name}/{rule.file}", rule.line, rule.reason)
            else:
                yield SourceFile(rule.path, f"{name}/{rule.name}")


def _rules_of_parts(root: Path, most: int | None = None) -> Iterator[SourceFile | Refused]:
    """Yield the rules of all hosts that are kept in the parts of a project, or in the first ``most`` folders of it."""
    for folder in itertools.islice(walk_folders(root, _DEPENDENCIES), most):
        yield from _rules_of(root, f"{folder}/")
