"""Answer a host's first requests while the SDK is still being imported, which takes most of a second.

A host starts the server with every session, and some send their first turn without the tools of a server that is slow
to answer. What they ask first has the same answer each time: the handshake, and the lists of tools, prompts and
resources. Those answers are kept in a file that is made from the server itself. The SDK then reads the handshake too,
and its own answer to it is dropped.
"""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

__all__ = ["ANSWERS_FILE", "EXIT_HOST_GONE", "INITIALIZE", "LISTS", "Beginning", "answer_while"]

ANSWERS_FILE = Path(__file__).with_name("first_answers.json")
"""The answers of each profile under each version of the protocol, each as an index into the list of all of them."""

EXIT_HOST_GONE = 141
"""The exit status of a program whose reader went away: 128 and the number of SIGPIPE."""

INITIALIZE = "initialize"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
"""The methods that a host asks first, after the handshake."""

_INITIALIZED = "notifications/initialized"
_READ_BYTES = 65_536
_FLAGS = ("listChanged", "subscribe")

StoredAnswers: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Results by the version of the protocol and the method."""


class Beginning(NamedTuple):
    """The beginning of a host's messages, where some were answered before the server ran."""

    unread: bytes = b""
    """The bytes that the server is still to read, before those that follow on its standard input."""
    greeted: int | str | None = None
    """The id of the handshake that was answered; the server's own answer to it is not to be sent."""


class _Greeter:
    """Answers the requests of one host for as long as it knows their answers."""

    def __init__(self, stored: StoredAnswers, send: Callable[[bytes], None]) -> None:
        self._stored = stored
        self._send = send
        self._results: Mapping[str, Any] = {}
        self.unread = b""
        """The messages that the server reads itself, as bytes."""
        self.greeted: int | str | None = None

    def take(self, line: bytes) -> bool:
        """Answer a message, or keep it for the server; return whether the next one may be answered too."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        known = isinstance(message, dict) and self._is_answered(message)
        if not known or self.greeted is None or message["method"] in (INITIALIZE, _INITIALIZED):
            self.unread += line
        return known

    def _is_answered(self, message: Mapping[str, Any]) -> bool:
        method, number = str(message.get("method")), message.get("id")
        parameters: Any = message.get("params")
        if self.greeted is not None and method == _INITIALIZED:
            return True
        if not isinstance(number, (int, str)) or isinstance(number, bool) or message.get("jsonrpc") != "2.0":
            return False
        if self.greeted is None:
            if method != INITIALIZE or not _is_plain_greeting(parameters):
                return False
            self._results = self._stored.get(parameters["protocolVersion"], {})
        elif parameters not in (None, {}):  # a cursor, or what this does not know
            return False
        if method not in self._results:
            return False
        if self.greeted is None:
            self.greeted = number
        answer = {"jsonrpc": "2.0", "id": number, "result": self._results[method]}
        self._send(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        return True


def _is_plain_greeting(parameters: Any) -> bool:  # noqa: ANN401 - whatever a host sent
    """Tell whether the server is certain to accept a handshake's parameters, as far as they differ among hosts."""
    if not isinstance(parameters, dict) or not isinstance(parameters.get("protocolVersion"), str):
        return False
    client, abilities = parameters.get("clientInfo"), parameters.get("capabilities")
    if not isinstance(client, dict) or not all(isinstance(client.get(name), str) for name in ("name", "version")):
        return False
    if not isinstance(abilities, dict):
        return False
    return all(isinstance(ability, dict) and _holds_flags(ability) for ability in abilities.values())


def _holds_flags(ability: Mapping[str, Any]) -> bool:
    return all(isinstance(value, bool if name in _FLAGS else (bool, dict)) for name, value in ability.items())


def _stored_answers(profile: str) -> StoredAnswers:
    stored = json.loads(ANSWERS_FILE.read_bytes())
    answers = stored["answers"]
    return {
        version: {method: answers[index] for method, index in methods.items()}
        for version, methods in stored["profiles"][profile].items()
    }


def answer_while(load: Callable[[], object], profile: str, *, requests: int = 0, answers: int = 1) -> Beginning:
    """Call ``load`` on a thread, and answer the requests on the descriptor ``requests`` meanwhile.

    Return once ``load`` has ended, or has to because something came that only the server can answer. Raises what
    ``load`` raises, and `BrokenPipeError` where nobody reads the answers.
    """
    ended, has_ended = os.pipe()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            load()
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            failures.append(error)
        finally:
            os.write(has_ended, b".")

    loading = threading.Thread(target=run, name="import", daemon=True)
    loading.start()
    greeter = _Greeter(_stored_answers(profile), lambda answer: _write_whole(answers, answer))
    try:
        rest = _greet(greeter, requests, ended)
        loading.join()
    finally:
        if not loading.is_alive():
            os.close(ended)
            os.close(has_ended)
    if failures:
        raise failures[0]
    return Beginning(greeter.unread + rest, greeter.greeted)


def _greet(greeter: _Greeter, requests: int, ended: int) -> bytes:
    """Answer lines until one needs the server, none follow, or ``ended`` can be read; return the bytes after them."""
    rest = b""
    while ended not in (readable := select.select([requests, ended], [], [])[0]) and requests in readable:
        read = os.read(requests, _READ_BYTES)
        if not read:
            return rest
        *lines, rest = (rest + read).split(b"\n")
        for at, line in enumerate(lines):
            if not greeter.take(line + b"\n"):
                return b"".join(follows + b"\n" for follows in lines[at + 1 :]) + rest
    return rest


def _write_whole(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
