"""Read the transcripts of agents' sessions, turn by turn, in bounded memory.

Transcripts and lines may have any length. Also read: conversations as plain text, ``User: ...``
and ``Assistant: ...``, or paragraphs that name no speaker.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypeVar

import msgspec

from memento_tui.errors import InvalidInput, NotFound
from memento_tui.maintenance.transcripts.blocks import Role, SpokenPart, ToolCall, moment_of
from memento_tui.maintenance.transcripts.formats import ClaudeCodeFormat, CodexFormat, GeminiFormat, PlainFormat
from memento_tui.maintenance.transcripts.host_text import strip_host_text

__all__ = ["TextTranscript", "TranscriptSummary", "Turn", "read_plain_text", "read_transcript"]

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes. A longer line holds an image or a whole build log; it is reported and skipped."""

_SURROGATE = re.compile("[\ud800-\udfff]")

JsonRow = TypeVar("JsonRow")


class LineProblem(Exception):
    """A line is skipped; the message continues ``line 12``."""


def raw_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | None, int, bool]]:
    """Yield of each line its number from 1, its bytes, its length in bytes, and whether it ends with a line break.

    The bytes are ``None`` where the line is longer than `LONGEST_LINE`.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        size = len(raw)
        if size < LONGEST_LINE or raw.endswith(b"\n"):
            yield number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, size, raw.endswith(b"\n")
            continue
        while raw and not raw.endswith(b"\n"):
            raw = stream.readline(LONGEST_LINE)
            size += len(raw)
        yield number, None, size, raw.endswith(b"\n")


def parse_line(
    raw: bytes, decode: Callable[[bytes], JsonRow], convert: Callable[[Any], JsonRow], *, is_whole: bool
) -> JsonRow:
    """Return a line as a row.

    ``decode`` is the fast way. A host that cuts a text in the middle of an emoji leaves a lone surrogate, which only
    the standard library reads; ``convert`` makes the same row of its result.

    Raises:
        LineProblem: the line is not one JSON object.

    """
    try:
        return decode(raw)
    except UnicodeDecodeError as error:
        raise LineProblem(f"is not UTF-8: byte 0x{raw[error.start]:02x}" if error.start else "is not UTF-8") from None
    except RecursionError:
        raise LineProblem("is nested too deep") from None
    except (msgspec.DecodeError, msgspec.ValidationError):
        pass
    try:
        value = json.loads(raw)
        if isinstance(value, dict):
            return convert(_without_surrogates(value))
    except UnicodeDecodeError:
        raise LineProblem("is not UTF-8") from None
    except RecursionError:
        raise LineProblem("is nested too deep") from None
    except (ValueError, msgspec.ValidationError) as error:
        if not is_whole:
            raise LineProblem("ends in the middle; the file is still being written, or was cut off") from None
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value that cannot be read"
        raise LineProblem(f"is not whole JSON: {reason}") from None
    raise LineProblem("is not an object with fields")


def _without_surrogates(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON values with each lone surrogate replaced by U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(inner) for inner in value]
    return value


FormatName = Literal["claude-code", "codex", "gemini", "plain"]
_Format = ClaudeCodeFormat | CodexFormat | GeminiFormat | PlainFormat
_FORMATS: tuple[type[_Format], ...] = (ClaudeCodeFormat, CodexFormat, GeminiFormat, PlainFormat)

_LINES_TO_RECOGNISE = 200
"""The readable lines of no known format after which the file is no transcript."""

_MOST_KEPT_PROBLEMS = 100
"""The problems that a summary keeps; all are reported."""

_PROGRESS_STEP = 1 << 20
"""Bytes between two calls of ``progress``."""


class Turn(msgspec.Struct, frozen=True):
    """One turn of a transcript, without injected context.

    The turn of a tool is its output; of a shell, the command stands above it (``$ make test``). ``first_line`` is then
    the line of the call.
    """

    role: Role
    text: str
    first_line: int
    """The first line of the turn in the file, counted from 1, as is `last_line`."""
    last_line: int
    at: datetime | None
    session: str
    agent: str
    cwd: str
    call: ToolCall | None = None
    """The call of a turn of the role ``tool``."""


class TranscriptSummary(msgspec.Struct, frozen=True):
    """The facts of a transcript read so far; complete once its last turn has been read."""

    format: FormatName
    problems: tuple[str, ...] = ()
    """The first hundred problems; ``on_problem`` got all of them."""
    session: str = ""
    agent: str = ""
    cwd: str = ""
    turns: int = 0
    lines: int = 0
    problem_count: int = 0
    stopped: bool = False


class TranscriptReader(Iterator[Turn]):
    """The turns of a transcript in order; `reading` is the summary so far."""

    def __init__(
        self,
        path: Path,
        *,
        on_problem: Callable[[str], None],
        progress: Callable[[int, int], None] | None = None,
        stopping: threading.Event | None = None,
        whole: bool = False,
    ) -> None:
        self._path, self._on_problem, self._whole = path, on_problem, whole
        self._progress, self._stopping = progress, stopping
        self._problems: list[str] = []
        self._problem_count = self._count = self._line = 0
        self._stopped = False
        self._format, self._size = _detect_format(path, whole=whole)
        self._turns = self._read()

    def __next__(self) -> Turn:
        return next(self._turns)

    @property
    def reading(self) -> TranscriptSummary:
        """The summary of the lines read so far."""
        form = self._format
        return TranscriptSummary(
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
        done = reported = 0
        with _open(self._path) as stream:
            try:
                for number, raw, size, is_whole in raw_lines(stream):
                    if self._stopping is not None and self._stopping.is_set():
                        self._stopped = True
                        return
                    self._line = number
                    yield from self._turns_of(number, raw, is_whole=is_whole)
                    done += size
                    if self._progress is not None and done - reported >= _PROGRESS_STEP:
                        reported = done
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
            row = parse_line(raw, form.decode, form.convert, is_whole=is_whole)
        except LineProblem as problem:
            self._tell(f"line {number} is skipped: it {problem}")
            return
        for piece in form.pieces(row, number):
            if turn := self._turn(piece, number):
                self._count += 1
                yield turn

    def _turn(self, piece: SpokenPart, line: int) -> Turn | None:
        # What a tool returned is read as it stands: a page may hold a host's marks too.
        is_output = self._whole and piece.role == "tool"
        text = "\n\n".join(piece.parts) if is_output else strip_host_text(piece.parts)
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
    whole: bool = False,
) -> TranscriptReader:
    """Return a reader of the turns of a transcript.

    ``on_problem`` gets each line that cannot be used, once, with its number: one that is no JSON or no UTF-8, one
    of more than `LONGEST_LINE` bytes, and a last one that is only half written. ``progress`` gets the bytes read and
    the bytes of the file, every megabyte and at the end. ``stopping``, once set, ends the turns early.

    ``whole`` returns the outputs of tools unshortened and as they stand, with the arguments of their calls, and the
    turns of sub-agents too.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is not a transcript in one of the four formats.

    """
    return TranscriptReader(path, on_problem=on_problem, progress=progress, stopping=stopping, whole=whole)


def _detect_format(path: Path, *, whole: bool) -> tuple[_Format, int]:
    """Return a reader of the format that the first lines are of, and the size of the file in bytes."""
    try:
        if path.exists() and not path.is_file():
            what = "is a directory" if path.is_dir() else "is not a regular file"
            raise InvalidInput(f"{path} {what}.", "Name the transcript file itself.")
        size = path.stat().st_size
        if size == 0:
            return PlainFormat(whole=whole), 0
        with _open(path) as stream:
            seen = 0
            for _, raw, _, is_whole in raw_lines(stream):
                if raw is None or raw.isspace():
                    continue
                try:
                    value: dict[str, Any] = parse_line(raw, _decode_object, _same, is_whole=is_whole)
                except LineProblem:
                    value = {}
                for form in _FORMATS:
                    if form.recognises(value):
                        return form(whole=whole), size
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


_SPEAKER = re.compile(
    r"[ \t]{0,3}(?:#{1,6}[ \t]+|[-*][ \t]+)?(?:\*\*|\[)?"
    r"(?P<who>user|human|person|me|assistant|ai|agent|model|claude|codex|gemini|tool|system)(?:\*\*|\])?"
    r"[ \t]*:(?:\*\*)?[ \t]*(?P<text>.*)",
    re.IGNORECASE,
)
_ROLES: dict[str, Role | None] = {
    "user": "user",
    "human": "user",
    "person": "user",
    "me": "user",
    "tool": None,
    "system": None,
}
"""The roles by the names of speakers. An unknown name is an agent; turns of the role ``None`` are left out."""


class TextTranscript(NamedTuple):
    """The turns of a plain text."""

    turns: list[Turn]
    names_speakers: bool


def read_plain_text(text: str, *, agent: str = "", session: str = "") -> TextTranscript:
    """Return the turns of a conversation in plain text, each with its lines."""
    lines = text.splitlines()
    names_speakers = any(_SPEAKER.match(line) for line in lines)
    spoken = _turns_of_speakers(lines) if names_speakers else _paragraphs(lines)
    turns = [
        Turn(role, text, first, last, None, session, agent, "")
        for role, words, first, last in spoken
        if (text := strip_host_text([words]))
    ]
    return TextTranscript(turns, names_speakers)


def _turns_of_speakers(lines: list[str]) -> Iterator[tuple[Role, str, int, int]]:
    """Yield the text of each speaker with its first and last line; text before the first speaker is left out."""
    role: Role | None = None
    spoken: list[str] = []
    first = 1
    for number, line in enumerate([*lines, "user:"], 1):
        match = _SPEAKER.match(line)
        if match is None:
            spoken.append(line)
            continue
        if role is not None:
            yield role, "\n".join(spoken), first, number - 1
        role, spoken, first = _ROLES.get(match["who"].lower(), "assistant"), [match["text"]], number


def _paragraphs(lines: list[str]) -> Iterator[tuple[Role, str, int, int]]:
    spoken: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            spoken.append(line)
        elif spoken:
            yield "user", "\n".join(spoken), number - len(spoken), number - 1
            spoken = []
