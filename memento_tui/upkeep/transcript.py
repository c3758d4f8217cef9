"""Reading the transcripts that agents keep of their sessions, turn by turn, in bounded memory.

Four formats are read and told apart by their first lines: Claude Code's, Codex's, Gemini CLI's, and plain ``{role,
content}``. A line that cannot be read never costs the rest: it is named once, by its number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec

from memento_tui.errors import InvalidInput, NotFound
from memento_tui.upkeep.injected import strip_injected
from memento_tui.upkeep.transcript_blocks import Call, Piece, Role, moment_of
from memento_tui.upkeep.transcript_claude import ClaudeCode
from memento_tui.upkeep.transcript_codex import Codex
from memento_tui.upkeep.transcript_gemini import Gemini
from memento_tui.upkeep.transcript_lines import LONGEST_LINE, Problem, parse, raw_lines
from memento_tui.upkeep.transcript_plain import Plain

__all__ = ["Call", "Reading", "TranscriptReader", "Turn", "read_transcript"]

FormatName = Literal["claude-code", "codex", "gemini", "plain"]
_Format = ClaudeCode | Codex | Gemini | Plain
_FORMATS: tuple[type[_Format], ...] = (ClaudeCode, Codex, Gemini, Plain)

_LINES_TO_RECOGNISE = 200
"""Lines that can be read but are of no format, after which the file is taken for something else."""

_MOST_KEPT_PROBLEMS = 100
"""Every problem is told; a reading keeps the first of them."""

_PROGRESS_STEP = 1 << 20
"""Bytes between two calls of ``progress``."""


class Turn(msgspec.Struct, frozen=True):
    """What somebody said at one place of a transcript, without injected context.

    The turn of a tool is its output; of a shell, the command stands above it (``$ make test``). ``first_line`` is then
    the line of the call.
    """

    role: Role
    text: str
    first_line: int
    """From 1, as `last_line`: the lines of the file that the turn came from."""
    last_line: int
    at: datetime | None
    session: str
    agent: str
    cwd: str
    call: Call | None = None
    """For the role ``tool``: which tool it was and how it ended."""


class Reading(msgspec.Struct, frozen=True):
    """What is known of a transcript so far; complete when its last turn has been read."""

    format: FormatName
    problems: tuple[str, ...] = ()
    """The first hundred; ``on_problem`` was told all."""
    session: str = ""
    agent: str = ""
    cwd: str = ""
    turns: int = 0
    lines: int = 0
    problem_count: int = 0
    stopped: bool = False


class TranscriptReader(Iterator[Turn]):
    """The turns of a transcript, in order; `reading` says what was found on the way."""

    def __init__(
        self,
        path: Path,
        *,
        on_problem: Callable[[str], None],
        progress: Callable[[int, int], None] | None = None,
        stopping: threading.Event | None = None,
    ) -> None:
        self._path, self._on_problem = path, on_problem
        self._progress, self._stopping = progress, stopping
        self._problems: list[str] = []
        self._problem_count = self._count = self._line = 0
        self._stopped = False
        self._format, self._size = _recognise(path)
        self._turns = self._read()

    def __next__(self) -> Turn:
        return next(self._turns)

    @property
    def reading(self) -> Reading:
        """What has been read until now."""
        form = self._format
        return Reading(
            format=form.name,  # type: ignore[arg-type]
            problems=tuple(self._problems),
            session=form.session,
            agent=form.agent,
            cwd=form.cwd,
            turns=self._count,
            lines=self._line,
            problem_count=self._problem_count,
            stopped=self._stopped,
        )

    def _read(self) -> Iterator[Turn]:
        if self._size == 0:
            self._tell("the file is empty")
            return
        done = told = 0
        with _open(self._path) as stream:
            try:
                for number, raw, size, is_whole in raw_lines(stream):
                    if self._stopping is not None and self._stopping.is_set():
                        self._stopped = True
                        return
                    self._line = number
                    yield from self._turns_of(number, raw, is_whole=is_whole)
                    done += size
                    if self._progress is not None and done - told >= _PROGRESS_STEP:
                        told = done
                        self._progress(done, max(self._size, done))
            except OSError as error:
                raise _unreadable(self._path, error) from error
        if self._progress is not None:
            self._progress(done, done)

    def _turns_of(self, number: int, raw: bytes | None, *, is_whole: bool) -> Iterator[Turn]:
        if raw is None:
            self._tell(f"line {number} is skipped: it is longer than {LONGEST_LINE:,} bytes")
            return
        if raw.isspace():
            return
        form: Any = self._format
        try:
            row = parse(raw, form.decode, form.convert, is_whole=is_whole)
        except Problem as problem:
            self._tell(f"line {number} is skipped: it {problem}")
            return
        for piece in form.pieces(row, number):
            if turn := self._turn(piece, number):
                self._count += 1
                yield turn

    def _turn(self, piece: Piece, line: int) -> Turn | None:
        text = strip_injected(piece.parts)
        if not text and piece.call is None:
            return None
        form = self._format
        at = moment_of(piece.at)
        return Turn(piece.role, text, piece.first_line, line, at, form.session, form.agent, form.cwd, piece.call)

    def _tell(self, problem: str) -> None:
        self._problem_count += 1
        if len(self._problems) < _MOST_KEPT_PROBLEMS:
            self._problems.append(problem)
        self._on_problem(problem)


def read_transcript(
    path: Path,
    *,
    on_problem: Callable[[str], None],
    progress: Callable[[int, int], None] | None = None,
    stopping: threading.Event | None = None,
) -> TranscriptReader:
    """Return the turns of a transcript, to be read one by one.

    ``on_problem`` is told each line that cannot be used, once, with its number: one that is no JSON or no UTF-8, one
    of more than `LONGEST_LINE` bytes, and a last one that is only half written. ``progress`` gets the bytes read and
    the bytes of the file, every megabyte and at the end. ``stopping``, once set, ends the turns early.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is not a transcript in one of the four formats.

    """
    return TranscriptReader(path, on_problem=on_problem, progress=progress, stopping=stopping)


def _recognise(path: Path) -> tuple[_Format, int]:
    """Return a reader of the format that the first lines are of, and the size of the file in bytes."""
    try:
        if path.exists() and not path.is_file():
            what = "is a directory" if path.is_dir() else "is not a regular file"
            raise InvalidInput(f"{path} {what}.", "Name the transcript file itself.")
        size = path.stat().st_size
        if size == 0:
            return Plain(), 0
        with _open(path) as stream:
            seen = 0
            for _, raw, _, is_whole in raw_lines(stream):
                if raw is None or raw.isspace():
                    continue
                try:
                    value: dict[str, Any] = parse(raw, _decode_object, _same, is_whole=is_whole)
                except Problem:
                    value = {}
                for form in _FORMATS:
                    if form.recognises(value):
                        return form(), size
                seen += 1
                if seen >= _LINES_TO_RECOGNISE:
                    break
    except OSError as error:
        raise _unreadable(path, error) from error
    raise InvalidInput(
        f"{path} is not a transcript that memento reads.",
        "It reads four formats of JSON lines: Claude Code's transcripts, Codex's rollouts, Gemini CLI's chats, "
        'and plain lines of the form {"role": "user", "content": "..."}.',
    )


_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def _same(value: dict[str, Any]) -> dict[str, Any]:
    return value


def _open(path: Path) -> BinaryIO:
    return path.open("rb", buffering=1 << 20)


def _unreadable(path: Path, error: OSError) -> NotFound | InvalidInput:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"There is no file {path}.", "Check the path of the transcript.")
    reason = (error.strerror or str(error)).lower()
    return InvalidInput(f"{path} cannot be read: {reason}.", "Check that you may read it.")
