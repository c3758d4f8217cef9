"""The program ``memento-hook``: reads one call from standard input, has the engine answer it, and never fails the host.

A host waits for it before every prompt, so it imports what every interpreter has loaded already, and three modules in
C. Where no engine answers in time, `memento_tui.hooks.fallback` answers by words alone.
"""

import os
import sys
from time import monotonic

from memento_tui.hosts.moments import MOMENT_OF_EVENT
from memento_tui.locations import check_socket_folder, data_location, database_location, socket_location
from memento_tui.version import __version__

__all__ = ["Arguments", "main", "run"]

TYPE_CHECKING = False  # as in `typing`, whose import takes longer than all else here
if TYPE_CHECKING:
    from _socket import socket as Socket  # noqa: N812 - a class

_ANSWER_SECONDS = {"start": 5.0, "prompt": 3.0, "read": 2.0, "write": 0.8, "end": 0.8}
"""Seconds that each answer may take, on a machine that is busy. Most take a tenth.

Hosts give a prompt 30 seconds, and the end of a session 1.5 in all; `memento install` asks for 5 or more.
"""
_MAX_ANSWER_SECONDS = max(_ANSWER_SECONDS.values())

_ENGINE_SECONDS = 0.15
"""Seconds in which the engine answers, or words alone do; most answers take a tenth."""

_MAX_INPUT_BYTES = 16_000_000
"""Bytes of standard input that are read."""

_MAX_SENT_BYTES = 500_000
"""Bytes of input that are sent to the engine; six times as many, as JSON may need, fit into one of its requests."""

_MAX_REPLY_BYTES = 1_000_000
"""Bytes of the engine's reply; a host takes 10,000 characters."""

_LAST_STANDARD_DESCRIPTOR = 2

_EXIT_ALREADY_LOGGED = 1
"""The exit status of a child that has logged its failure itself."""


class Arguments:
    """The arguments of a hook; missing ones are empty, but for the host, which is ``claude-code`` then."""

    __slots__ = ("data_dir", "event", "host")

    def __init__(self, words: list[str]) -> None:
        """Read the arguments; unknown ones are ignored, since a newer installer may write them."""
        self.event, self.host, self.data_dir = "", "claude-code", ""
        rest = iter(words)
        for argument in rest:
            name, has_value, value = argument.partition("=")
            if name in ("--host", "--data-dir"):
                setattr(self, name[2:].replace("-", "_"), value if has_value else next(rest, ""))
            elif not argument.startswith("-"):
                self.event = self.event or argument

    @property
    def moment(self) -> str:
        """The moment of a session that the event marks; empty where the call names no event, and the input does."""
        return MOMENT_OF_EVENT.get(self.event.lower(), "")


def run() -> None:
    """Answer one call and end the process at once: the interpreter has nothing to tidy up that costs the host time."""
    status = main()
    sys.stdout.flush()
    os._exit(status)


def main(words: list[str] | None = None) -> int:
    """Answer one call; the status is always 0."""
    began = monotonic()
    words = sys.argv[1:] if words is None else words
    if words[:1] in (["--help"], ["-h"]):
        from memento_tui.hooks.fallback import USAGE  # noqa: PLC0415 - no host asks for it

        sys.stdout.write(USAGE)
        return 0
    arguments = Arguments(words)
    os.umask(0o077)  # `memento_tui.private_files` says why; importing it would cost more than this
    try:
        _answer(arguments, began + _ANSWER_SECONDS.get(arguments.moment, _MAX_ANSWER_SECONDS))
    except BaseException as error:  # noqa: BLE001 - a host that closed its end, or a system that is out of processes
        _log(arguments, error)
    return 0


def _answer(arguments: Arguments, deadline: float) -> None:
    _reserve_standard_descriptors()
    raw = _read_stdin(deadline)
    if arguments.moment == "prompt" and _is_trivial(raw):
        return
    root = data_location(arguments.data_dir)
    try:
        found = os.stat(database_location(root))
    except (FileNotFoundError, NotADirectoryError):
        return  # nothing was ever remembered here
    if not _engine_answers(arguments, raw, root, (found.st_dev, found.st_ino)):
        _answer_in_child(arguments, raw, deadline)


def _reserve_standard_descriptors() -> None:
    """Open the null device for each standard stream that the host closed: else another file would get its number."""
    while (null := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD_DESCRIPTOR:
        pass
    os.close(null)


def _read_stdin(deadline: float) -> bytes:
    """Return the whole of standard input.

    Raises:
        TimeoutError: the host does not end it in time.
        ValueError: it is too long.

    """
    from select import select  # noqa: PLC0415 - `--help` waits for nothing

    parts: list[bytes] = []
    size = 0
    while True:
        if not select([0], [], [], max(0.0, deadline - monotonic()))[0]:
            raise TimeoutError("it was ended: its input took longer than it may")
        part = os.read(0, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > _MAX_INPUT_BYTES:
            raise ValueError(f"the input is longer than {_MAX_INPUT_BYTES:,} bytes")


# Prompts without a subject

_MAX_TRIVIAL_BYTES, _MAX_TRIVIAL_WORDS = 4_000, 8
"""The longest input, with all that a host sends beside the prompt, and the most words of a trivial prompt."""

_TRIVIAL_WORDS = frozenset(
    """
    a absolutely agreed ahead all alright and awesome be brilliant can carry continue cool correct do done exactly
    excellent fine for go going good got great i is it it's job just keep lgtm like looks love lovely makes me much nice
    no now ok okay on perfect please proceed really right sense so sounds super sure thank thanks that that's the then
    this thx to ty very well what wonderful work works yeah yep yes you yup
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words of assent and thanks. "run", "test" and "commit" are none: a skip may be about them."""


def _is_trivial(raw: bytes) -> bool:
    """Tell whether a prompt only says yes, thanks or go on: there is nothing to look for, nor to skip."""
    if len(raw) > _MAX_TRIVIAL_BYTES:
        return False
    try:
        payload = _parse_json(raw.decode().removeprefix("\ufeff"))
    except ValueError:
        return False  # whoever answers says what is wrong with it
    prompt = payload.get("prompt") if isinstance(payload, dict) else None
    if not isinstance(prompt, str):
        return False
    words = prompt.lower().replace("\u2019", "'").split()
    return len(words) <= _MAX_TRIVIAL_WORDS and all(
        word.strip(".,;:!?()-\u2026") in _TRIVIAL_WORDS | {""} for word in words
    )


# JSON, by the parts of `json` that are written in C: the package imports three times as much as a hook does


def _parse_json(text: str) -> object:
    """Return the value of a JSON text.

    Raises:
        ValueError: the text is not JSON.

    """
    from _json import make_scanner  # noqa: PLC0415 - a session's end needs none

    start = len(text) - len(text.lstrip())
    try:
        value, end = make_scanner(_ScannerSettings)(text, start)  # type: ignore[arg-type]  # typeshed names the wrong type
        if not text[end:].strip():
            return value
    except (StopIteration, SystemError, RecursionError):  # without `json.decoder` it has no exception to raise
        pass
    raise ValueError("this is not one JSON value")


class _ScannerSettings:
    """The settings of `json.JSONDecoder`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


# The engine


def _engine_answers(arguments: Arguments, raw: bytes, root: str, database: tuple[int, int]) -> bool:
    """Pass on the engine's answer to the host; return whether it answered, even with an empty text."""
    if len(raw) > _MAX_SENT_BYTES:
        return False
    from _socket import AF_UNIX, SOCK_STREAM  # noqa: PLC0415 - without a database there is nobody to ask
    from _socket import socket as Socket  # noqa: N812, PLC0415 - as above; `socket` takes as long as all else here

    deadline = monotonic() + _ENGINE_SECONDS
    path = socket_location(root)
    connection = Socket(AF_UNIX, SOCK_STREAM)
    try:
        check_socket_folder(root, path)
        connection.settimeout(_ENGINE_SECONDS)
        connection.connect(path)
        connection.sendall(_request(arguments, raw, database))
        reply = _parse_json(_read_line(connection, deadline))
    except (OSError, ValueError):
        return False  # no engine, one that is too busy, or none that speaks so
    if not isinstance(reply, dict) or reply.get("version") != __version__ or not isinstance(reply.get("answer"), str):
        return False
    if answer := reply["answer"]:
        _write(1, answer.encode())
        try:  # noqa: SIM105 - contextlib takes as long to import as all else here
            connection.sendall(b'{"op": "told"}\n')
        except OSError:
            pass  # the host has the answer, and the ledger has lost a row
    return True


def _request(arguments: Arguments, raw: bytes, database: tuple[int, int]) -> bytes:
    """Return the line that asks the engine; it refuses a client of another version or of another database."""
    from _json import encode_basestring_ascii as quoted  # noqa: PLC0415 - as for the parser

    fields = {
        "op": quoted("hook"),
        "version": quoted(__version__),
        "database": f"[{database[0]}, {database[1]}]",
        "host": quoted(arguments.host),
        "event": quoted(arguments.event),
        "text": quoted(raw.decode("utf-8", "replace")),
    }
    return ("{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}\n").encode()


def _read_line(connection: "Socket", deadline: float) -> str:
    """Return one line. Raises `OSError` where it does not come in time, or ends too soon."""
    received = b""
    while not received.endswith(b"\n"):
        connection.settimeout(max(0.001, deadline - monotonic()))
        part = connection.recv(1 << 16)
        if not part or len(received) > _MAX_REPLY_BYTES or monotonic() > deadline:
            raise ConnectionError("the engine gave no answer in time")
        received += part
    return received.decode()


def _write(descriptor: int, data: bytes) -> None:
    """Write all of some bytes. Raises `OSError`."""
    while data:
        data = data[os.write(descriptor, data) :]


# Without an engine


def _answer_in_child(arguments: Arguments, raw: bytes, deadline: float) -> None:
    """Answer by words alone in a child process that the kernel ends when its time is up, whatever it is doing.

    So a full disk, a locked database, a bug or a crash of a native library costs the host nothing: the output is empty
    and the status 0. The child is made before it imports anything, which it would have to copy.
    """
    from _signal import ITIMER_REAL, SIG_DFL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]  # noqa: PLC0415 - `signal` imports `enum`

    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        status = _EXIT_ALREADY_LOGGED
        try:
            os.close(incoming)
            signal(SIGALRM, SIG_DFL)
            setitimer(ITIMER_REAL, max(0.001, deadline - monotonic()))
            _detach_host_streams()
            import gc  # noqa: PLC0415 - as below

            gc.disable()  # what is imported stays; looking through it again and again takes a tenth of the time
            from memento_tui.hooks.fallback import answer_by_words  # noqa: PLC0415 - only where there is no engine

            _write(outgoing, answer_by_words(arguments, raw).encode())
            status = 0
        except BaseException as error:  # noqa: BLE001 - nothing may reach the host
            _log(arguments, error)
        finally:
            os._exit(status)
    os.close(outgoing)
    answer = b""
    while part := os.read(incoming, 1 << 16):
        answer += part
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        _write(1, answer)
    elif code == -SIGALRM:
        _log(arguments, TimeoutError("it was ended: it took longer than it may"))
    elif code != _EXIT_ALREADY_LOGGED:
        _log(arguments, ChildProcessError(f"it ended with status {code}"))


def _detach_host_streams() -> None:
    """Close the streams that the host reads: a native library that panics writes there, and the host waits for them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, _LAST_STANDARD_DESCRIPTOR)
    os.close(null)


def _log(arguments: Arguments, error: BaseException) -> None:
    from memento_tui.hooks.fallback import log_error  # noqa: PLC0415 - most calls have no failure

    log_error(arguments, error)
