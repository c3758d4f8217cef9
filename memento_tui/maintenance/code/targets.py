"""The targets of make files and the scripts of ``package.json`` at the commits of a repository."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from memento_tui.maintenance.code.git_history import GitHistory

__all__ = ["Targets"]

_MAKE_FILES = frozenset(("makefile", "gnumakefile"))

_RULE = re.compile(r"^(?![ \t#.])([^\n:=#]+?)[ \t]*:(?![:=])", re.MULTILINE)
"""The targets of one rule: what stands before its colon."""

_HEAD_LINE = re.compile(r"^(?![\t#])[^\n]+", re.MULTILINE)
"""A line of a make file that is no step of a rule."""

_MADE_UP = re.compile(r"^(?![\t#])[^\n]*[%$][^\n:=]*:(?!=)|\bdefine\b|\$\(eval|^-?include\b", re.MULTILINE)
"""Lines by which a make file may have targets that it does not write out."""


class Targets:
    """The targets of `make` and the scripts of `npm run` at a commit of a repository."""

    def __init__(self, history: GitHistory) -> None:
        self._history = history
        self._read: dict[tuple[str, bool], list[str]] = {}

    def had(self, commit: str, target: str) -> bool:
        """Tell whether a target such as ``make test`` or ``npm run build`` was written out at a commit."""
        program, _, name = target.rpartition(" ")
        if program == "make":
            return any(
                name in rule.split() for text in self._texts(commit, is_make=True) for rule in _RULE.findall(text)
            )
        return any(name in (_scripts(text) or ()) for text in self._texts(commit, is_make=False))

    def may_have(self, commit: str, target: str) -> bool:
        """Tell whether a target may be there at a commit, also where a file makes up targets or cannot be read."""
        program, _, name = target.rpartition(" ")
        if program == "make":
            word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
            texts = self._texts(commit, is_make=True)
            lines = (line for text in texts for line in _HEAD_LINE.findall(text))
            return any(_MADE_UP.search(text) for text in texts) or any(word.search(line) for line in lines)
        found = [_scripts(text) for text in self._texts(commit, is_make=False)]
        return any(scripts is None or name in scripts for scripts in found)

    def _texts(self, commit: str, *, is_make: bool) -> list[str]:
        if (commit, is_make) not in self._read:
            is_wanted = _is_make_file if is_make else _is_package_file
            blobs = [blob for path, blob in self._history.tree(commit).items() if is_wanted(PurePosixPath(path))]
            self._read[commit, is_make] = list(self._history.texts(blobs).values())
        return self._read[commit, is_make]


def _is_make_file(path: PurePosixPath) -> bool:
    return path.name.lower() in _MAKE_FILES or path.suffix == ".mk"


def _is_package_file(path: PurePosixPath) -> bool:
    return path.name == "package.json"


def _scripts(text: str) -> frozenset[str] | None:
    """Return the scripts of a ``package.json``; ``None`` where it cannot be read."""
    try:
        scripts = json.loads(text).get("scripts") or {}
        return frozenset(scripts)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None
