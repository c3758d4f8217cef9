"""An account of Memento Protocol on its server, read page by page over HTTP, so that it can be moved here.

The key is in the environment variable ``MEMENTO_API_KEY``. Every workspace is read, or the one that
``MEMENTO_WORKSPACE`` names. The server decrypts what it answers. It tells the text of the newest crystal alone, and
neither its logs nor its settings are asked for.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.interchange.incoming import Incoming, Refused
from memento_tui.interchange.protocol_columns import compact
from memento_tui.interchange.protocol_model import SECTIONS, namespace_of
from memento_tui.interchange.protocol_records import At, Place, each_once
from memento_tui.interchange.protocol_tables import crystal_of, digest_of, item_of, memory_of, section_of, skip_of

if TYPE_CHECKING:
    import httpx2

__all__ = ["KEY_VARIABLE", "WORKSPACE_VARIABLE", "count", "read"]

KEY_VARIABLE = "MEMENTO_API_KEY"
WORKSPACE_VARIABLE = "MEMENTO_WORKSPACE"

_PAGE = 100
"""Rows that the server gives at most."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of one answer."""
_SECONDS = 60.0
"""How long the server may take for one part of an answer."""
_OK, _NOT_FOUND, _TOO_MANY = 200, 404, 429
_REFUSED = (401, 403)
_NOTHING = "(empty)"

_Row = dict[str, Any]


def count(_: str) -> int:
    """Return 0: how much there is, only reading tells."""
    return 0


def read(address: str) -> Iterator[Incoming | Refused]:
    """Yield what an account holds; ``address`` is that of the server, with or without ``/v1``.

    Raises:
        InvalidInput: the address or the key cannot be used, or the server does not answer as it should. What was
            yielded before holds, and reading again yields the same.

    """
    return each_once(_read(address))


def _read(address: str) -> Iterator[Incoming | Refused]:
    import httpx2  # noqa: PLC0415 - takes a tenth of a second, and the other formats do without

    base, is_local = _checked(address)
    headers = {"Authorization": f"Bearer {_key()}", "Accept": "application/json"}
    # A proxy from the environment would take what is meant for this machine to another one.
    with httpx2.Client(headers=headers, timeout=_SECONDS, follow_redirects=False, trust_env=not is_local) as client:
        server = _Server(client, base)
        for name in server.workspaces():
            try:
                place = Place(namespace=namespace_of(name), prefix=f"{name}/")
            except InvalidField as error:
                yield Refused(name, 0, f"is a workspace whose name cannot be a namespace: {error.reason}")
                continue
            yield from _workspace(server, name, place)


def _checked(address: str) -> tuple[str, bool]:
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


def _key() -> str:
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise InvalidInput(f"{KEY_VARIABLE} is not set.", "Set it to the account's key, mp_live_...")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise InvalidInput(f"{KEY_VARIABLE} holds characters that a key cannot have.", "Set it to the key alone.")
    return key


class _Named(msgspec.Struct):
    name: str = ""


class _Server:
    """Asks one server. Every method raises `InvalidInput` if it does not answer as it should."""

    def __init__(self, client: httpx2.Client, base: str) -> None:
        self._client = client
        self._base = base

    def workspaces(self) -> list[str]:
        """Return the names of the workspaces to read."""
        wanted = os.environ.get(WORKSPACE_VARIABLE, "").strip()
        found = self.text("/workspaces", "default")
        try:
            listed = msgspec.json.decode(found[0] if found else "[]", type=list[_Named])
        except (msgspec.DecodeError, RecursionError):
            raise self._strange("/workspaces") from None
        names = [one.name for one in listed if one.name]
        # The server makes a workspace of any name that it is asked for.
        if wanted and wanted not in names:
            raise InvalidInput(f"The account has no workspace {wanted!r:.60}.", f"It has {', '.join(names)}.")
        return [wanted] if wanted else names or ["default"]

    def pages(self, path: str, name: str, workspace: str, **query: str) -> Iterator[Any]:
        """Yield what a list holds, each row once even if the list grows meanwhile."""
        offset = 0
        seen: set[str] = set()
        while True:
            answer = self.get(path, workspace, limit=str(_PAGE), offset=str(offset), **query)
            rows = answer.get(name) if isinstance(answer, dict) else None
            if not isinstance(rows, list):
                raise self._strange(path)
            for row in rows:
                identity = row.get("id") if isinstance(row, dict) else None
                if not isinstance(identity, str) or identity not in seen:
                    yield row
                    seen.update([identity] if isinstance(identity, str) else [])
            offset += len(rows)
            if len(rows) < _PAGE:
                return

    def text(self, path: str, workspace: str) -> tuple[str, Mapping[str, Any]] | None:
        """Return the text of an answer for people and what is told about it; ``None`` if there is nothing."""
        answer = self.get(path, workspace)
        if answer is None:
            return None
        try:
            return str(answer["content"][0]["text"]), answer.get("meta") or {}
        except (LookupError, TypeError, AttributeError):
            raise self._strange(path) from None

    def get(self, path: str, workspace: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """Return an answer, or ``None`` where the server has nothing under that path."""
        import httpx2  # noqa: PLC0415 - as above

        headers = {"X-Memento-Workspace": workspace}
        try:
            with self._client.stream("GET", self._base + path, params=query, headers=headers) as response:
                if response.status_code == _NOT_FOUND:
                    return None
                self._check(response.status_code)
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _LARGEST:
                        raise InvalidInput(f"{self._base}{path} answers with over {_LARGEST:,} bytes.")
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, OSError, UnicodeError) as error:
            reason = str(error) or type(error).__name__
            raise InvalidInput(f"{self._base}{path} cannot be read: {reason}.", "Try again later.") from error
        try:
            return msgspec.json.decode(bytes(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._strange(path) from None

    def _check(self, status: int) -> None:
        if status == _OK:
            return
        if status in _REFUSED:
            raise InvalidInput(f"{self._base} refuses the key in {KEY_VARIABLE}.", "Check the key and the address.")
        if status == _TOO_MANY:
            raise InvalidInput(f"{self._base} was asked too often.", "Import again later; nothing is taken twice.")
        raise InvalidInput(f"{self._base} answered with HTTP {status}.", "Check the address, or try again later.")

    def _strange(self, path: str) -> InvalidInput:
        return InvalidInput(f"{self._base}{path} does not answer as Memento Protocol does.", "Check the address.")


def _workspace(server: _Server, workspace: str, place: Place) -> Iterator[Incoming | Refused]:
    listed = list(server.pages("/memories", "memories", workspace, status="all", sort="created_at", order="asc"))
    made_from: dict[str, list[str]] = {}
    for row in listed:
        if isinstance(row, dict) and isinstance(into := row.get("consolidated_into"), str) and into:
            made_from.setdefault(into, []).append(str(row.get("id")))
    place = msgspec.structs.replace(place, made_from=made_from)
    skips = server.get("/skip-list", workspace)
    entries = skips.get("entries") if isinstance(skips, dict) else None
    yield from _rows(place, f"{workspace}/memories", iter(listed), memory_of)
    yield from _rows(place, f"{workspace}/skip-list", iter(entries if isinstance(entries, list) else []), skip_of)
    items = server.pages("/working-memory/items", "items", workspace)
    yield from _rows(place, f"{workspace}/working-memory/items", items, item_of)
    sections = (row for key in SECTIONS if (row := _section(server, workspace, key)) is not None)
    yield from _rows(place, f"{workspace}/working-memory", sections, section_of)
    identity = server.text("/identity", workspace)
    if identity is not None and identity[1].get("id"):
        row = {**identity[1], "crystal": identity[0]}
        yield from _rows(place, f"{workspace}/identity", iter([row]), _current)


def _current(place: Place, row: _Row, at: At) -> Incoming | Refused:
    return crystal_of(place, row, at, is_current=True)


def _section(server: _Server, workspace: str, key: str) -> _Row | None:
    found = server.text(f"/working-memory/{key}", workspace)
    heading, _, content = (found[0] if found else "").partition("\n\n")
    if not content.strip() or content == _NOTHING:
        return None
    return {"section_key": key, "heading": heading.removeprefix("## ").strip(), "content": content}


def _rows(
    place: Place, file: str, rows: Iterator[Any], make: Callable[[Place, _Row, At], Incoming | Refused | None]
) -> Iterator[Incoming | Refused]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            yield Refused(file, number, "is not an object with fields")
            continue
        # A table holds lists as text, and so does what is kept of its rows.
        plain = {name: compact(value) if isinstance(value, list | dict) else value for name, value in row.items()}
        found = make(place, plain, At(file, number, digest_of(plain)))
        if found is not None:
            yield found
