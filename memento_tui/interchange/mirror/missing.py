"""Notes that are not where they were: which of them a file under another path is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from memento_tui.interchange.mirror.ledger import MirrorLedger
from memento_tui.interchange.mirror.notes import NoteFile, identity_of

__all__ = ["Missing"]


class Missing:
    """The notes that are missing at one moment, until `found`."""

    def __init__(self, ledger: MirrorLedger, paths: Iterable[str]) -> None:
        self._ledger = ledger
        self._paths = set(paths)
        self._said: dict[bytes, set[str]] = {}
        for path in self._paths:
            self._said.setdefault(ledger.steps[path].digest, set()).add(path)

    def path_before(self, file: NoteFile) -> str:
        """Return where a file was before, or nothing where it is none of these.

        It is the one whose memory it names, or one that said the very same; of several, as where a folder was renamed,
        the one that shares the most of its path's end.
        """
        named = self._ledger.paths.get(identity_of(file.note), "")
        if named in self._paths:
            return named
        same = self._said.get(file.digest, ())
        return max(sorted(same), key=lambda path: _shared_end(path, file.path), default="")

    def found(self, path: str) -> None:
        """Let a note be missing no more."""
        self._paths.discard(path)
        self._said[self._ledger.steps[path].digest].discard(path)


def _shared_end(one: str, other: str) -> int:
    pairs = zip(reversed(PurePosixPath(one).parts), reversed(PurePosixPath(other).parts), strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(one))
