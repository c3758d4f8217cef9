"""Call a Memento Protocol server over HTTP; the API key goes only to the address that was named."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import one_line

__all__ = ["KEY_VARIABLE", "ProtocolClient", "WriteResponse", "connect", "selected_workspace"]

if TYPE_CHECKING:
    import httpx2


KEY_VARIABLE = "MEMENTO_API_KEY"
_WORKSPACE_VARIABLE = "MEMENTO_WORKSPACE"

_PAGE_SIZE = 100
"""Rows that the server gives at most."""
_MAX_RESPONSE_BYTES = 64 * 1024 * 1024
"""Bytes of one answer."""
_MAX_RESPONSE_VALUES = 4_000_000
"""Commas in one answer: a value in Python takes up to thirty times the room that it has in the text."""
_MAX_TOTAL_BYTES = 1024 * 1024 * 1024
"""Bytes of all answers to one import or export."""
_MAX_ROWS = 200_000
"""Rows of one list; ten times those of the largest account that was ever moved."""
_MAX_WORKSPACES = 1_000
"""Workspaces of one account, each of which is asked for seven lists."""
_TIMEOUT_SECONDS = 60.0
"""How long the server may take for one part of an answer."""
_ANSWER_SECONDS = 600.0
"""How long it may take for a whole one, however often it sends a part."""
_MAX_REASON_LENGTH = 300
"""Characters."""
_OK, _UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _TOO_MANY_REQUESTS = 200, 401, 403, 404, 429
_ACCEPTED = (200, 201, 202)
_REJECTED = (400, 403, 404, 405, 409, 413, 422)


class WriteResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a server to a write."""

    fields: Mapping[str, Any] = {}
    refusal: str = ""
    """Why the server did not take it, in its words; empty where it did."""

    @property
    def waits(self) -> bool:
        """Whether a person decides about it there."""
        return self.fields.get("status") == "proposed"


class _WorkspaceName(msgspec.Struct):
    name: str = ""


@contextmanager
def connect(address: str) -> Iterator[ProtocolClient]:
    """Yield the server at an address, with or without ``/v1``.

    Raises:
        InvalidInput: the address or the key cannot be used. No other error leaves a method of the server either.

    """
    import httpx2  # noqa: PLC0415 - takes a tenth of a second, and the other formats do without

    base, is_local = _check_address(address)
    headers = {
        "Authorization": f"Bearer {_api_key()}",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
    }
    # A proxy from the environment would send requests for this machine to another one.
    with httpx2.Client(
        headers=headers, timeout=_TIMEOUT_SECONDS, follow_redirects=False, trust_env=not is_local
    ) as client:
        yield ProtocolClient(client, base)


def selected_workspace() -> str:
    """Return the one workspace that ``MEMENTO_WORKSPACE`` names; empty where it names none."""
    return os.environ.get(_WORKSPACE_VARIABLE, "").strip()


def _check_address(address: str) -> tuple[str, bool]:
    """Return the address of the server's first version, and whether it is this machine."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or parts.username:
        raise InvalidInput(f"{address!r:.200} is no address of a server.", "Write it as https://memento.example.org.")
    is_local = _is_loopback(host)
    if parts.scheme == "http" and not is_local:
        raise InvalidInput(f"{address} would send the key unencrypted.", "Use https.")
    return address.rstrip("/").removesuffix("/v1") + "/v1", is_local


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _api_key() -> str:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise InvalidInput(f"{KEY_VARIABLE} is not set.", "Set it to the account's key, mp_live_...")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(f"{KEY_VARIABLE} holds characters that a key cannot have.", "Set it to the key alone.")
    return key


class ProtocolClient:
    """Asks one server. Every method raises `InvalidInput` if it does not answer as it should."""

    def __init__(self, client: httpx2.Client, base: str) -> None:
        self._client = client
        self._base = base
        self._received = 0
        """Bytes of all answers until now."""

    def workspaces(self) -> list[str]:
        """Return the names of the workspaces to read."""
        selected = selected_workspace()
        answer = self.text("/workspaces", "default")
        try:
            listed = msgspec.json.decode(answer[0] if answer else "[]", type=list[_WorkspaceName])
        except (msgspec.DecodeError, RecursionError):
            raise self.strange("/workspaces") from None
        names = [workspace.name for workspace in listed if workspace.name]
        if len(names) > _MAX_WORKSPACES and not selected:
            raise InvalidInput(
                f"The account lists over {_MAX_WORKSPACES:,} workspaces, and nothing of it was read.",
                f"Name one in {_WORKSPACE_VARIABLE}.",
            )
        # The server makes a workspace of any name that it is asked for.
        if selected and selected not in names:
            raise InvalidInput(f"The account has no workspace {selected!r:.60}.", f"It has {', '.join(names)}.")
        return [selected] if selected else names or ["default"]

    def pages(self, path: str, name: str, workspace: str, **query: str) -> Iterator[Any]:
        """Yield the rows of a list, each once even if the list grows meanwhile."""
        offset = 0
        seen: set[str] = set()
        while True:
            answer = self.get(path, workspace, limit=str(_PAGE_SIZE), offset=str(offset), **query)
            rows = answer.get(name) if isinstance(answer, dict) else None
            if not isinstance(rows, list):
                raise self.strange(path)
            for row in rows:
                identity = row.get("id") if isinstance(row, dict) else None
                if not isinstance(identity, str) or identity not in seen:
                    yield row
                    seen.update([identity] if isinstance(identity, str) else [])
            offset += len(rows)
            if len(rows) < _PAGE_SIZE:
                return
            if offset >= _MAX_ROWS:
                raise InvalidInput(
                    f"{self._base}{path} goes on after {offset:,} rows, and no more of them are read.",
                    "A server that is in order has an end; ask whoever runs it.",
                )

    def text(self, path: str, workspace: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the text of an answer for people and the data about it; ``None`` if there is nothing."""
        answer = self.get(path, workspace)
        if answer is None:
            return None
        try:
            return str(answer["content"][0]["text"]), answer.get("meta") or {}
        except (LookupError, TypeError, AttributeError):
            raise self.strange(path) from None

    def get(self, path: str, workspace: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """Return an answer, or ``None`` where the server has nothing under that path."""
        status, body = self._ask("GET", path, workspace, params=query)
        if status == _NOT_FOUND:
            return None
        if status != _OK:
            raise self._failed(status)
        return self._decoded(path, body)

    def send(self, method: str, path: str, workspace: str, value: Mapping[str, Any]) -> WriteResponse:
        """Send a write; the answer has the reason where the server refuses a single record."""
        status, body = self._ask(method, path, workspace, content=msgspec.json.encode(value))
        if status in _ACCEPTED:
            fields = self._decoded(path, body)
            if not isinstance(fields, dict):
                raise self.strange(path)
            return WriteResponse(fields=fields)
        if status in _REJECTED:
            return WriteResponse(refusal=_refusal_reason(body) or f"HTTP {status}")
        raise self._failed(status)

    def _ask(self, method: str, path: str, workspace: str, **more: Any) -> tuple[int, bytes]:  # noqa: ANN401 - as httpx2 takes them
        """Return the status and the body of an answer, as far as it is within the limits."""
        outcome: list[tuple[int, bytes] | Exception] = []

        def exchange() -> None:
            try:
                outcome.append(self._exchange(method, path, workspace, **more))
            except Exception as error:  # noqa: BLE001 - raised again below
                outcome.append(error)

        # The client's own limit is for each part: a byte a minute would never reach it.
        thread = Thread(target=exchange, name="protocol request", daemon=True)
        thread.start()
        thread.join(_ANSWER_SECONDS)
        if not outcome:
            raise InvalidInput(
                f"{self._base}{path} did not answer within {_ANSWER_SECONDS:g} seconds.",
                "Try again later; nothing is taken twice.",
            )
        if isinstance(outcome[0], Exception):
            raise outcome[0]
        return outcome[0]

    def _exchange(self, method: str, path: str, workspace: str, **more: Any) -> tuple[int, bytes]:  # noqa: ANN401 - as above
        import httpx2  # noqa: PLC0415 - as above

        headers = {"X-Memento-Workspace": workspace, "Content-Type": "application/json"}
        try:
            with self._client.stream(method, self._base + path, headers=headers, **more) as response:
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    raise InvalidInput(f"{self._base}{path} answers compressed, which was not asked for.")
                return response.status_code, self._body(path, response.iter_raw())
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError) as error:
            reason = str(error) or type(error).__name__
            what = "read" if method == "GET" else "written"
            raise InvalidInput(
                f"{self._base}{path} cannot be {what}: {reason}.", "Try again later; nothing is taken twice."
            ) from error

    def _body(self, path: str, chunks: Iterator[bytes]) -> bytes:
        body = bytearray()
        for chunk in chunks:
            body += chunk
            self._received += len(chunk)
            if len(body) > _MAX_RESPONSE_BYTES:
                raise InvalidInput(f"{self._base}{path} answers with over {_MAX_RESPONSE_BYTES:,} bytes.")
            if self._received > _MAX_TOTAL_BYTES:
                raise InvalidInput(
                    f"{self._base} has sent over {_MAX_TOTAL_BYTES:,} bytes, and no more of it is read.",
                    f"Name one workspace after the other in {_WORKSPACE_VARIABLE}.",
                )
        return bytes(body)

    def _decoded(self, path: str, body: bytes) -> Any:  # noqa: ANN401 - JSON
        if body.count(b",") > _MAX_RESPONSE_VALUES:
            raise InvalidInput(f"{self._base}{path} answers with over {_MAX_RESPONSE_VALUES:,} values.")
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self.strange(path) from None

    def _failed(self, status: int) -> InvalidInput:
        if status in (_UNAUTHORIZED, _FORBIDDEN):
            return InvalidInput(f"{self._base} refuses the key in {KEY_VARIABLE}.", "Check the key and the address.")
        if status == _TOO_MANY_REQUESTS:
            return InvalidInput(f"{self._base} was asked too often.", "Try again later; nothing is taken twice.")
        return InvalidInput(f"{self._base} answered with HTTP {status}.", "Check the address, or try again later.")

    def strange(self, path: str) -> InvalidInput:
        """Return the error for an answer that no server of Memento Protocol gives."""
        return InvalidInput(f"{self._base}{path} does not answer as Memento Protocol does.", "Check the address.")


def _refusal_reason(body: bytes) -> str:
    """Return the reason of a server's refusal on one line; empty where it gives none."""
    try:
        answer = msgspec.json.decode(body)
        reason = answer.get("message") or answer.get("error") or answer["content"][0]["text"]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, LookupError, TypeError, AttributeError):
        return ""
    return one_line(reason, _MAX_REASON_LENGTH) if isinstance(reason, str) else ""
