"""An account of Memento Protocol on its server, read page by page over HTTP, so that it can be moved here.

The key is in the environment variable ``MEMENTO_API_KEY``. Every workspace is read, or the one that
``MEMENTO_WORKSPACE`` names. The server decrypts what it answers. It tells the text of the newest crystal alone, and
neither its logs nor its settings are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.interchange.incoming import Incoming, Refused
from memento_tui.interchange.protocol_columns import compact
from memento_tui.interchange.protocol_model import SECTIONS, namespace_of
from memento_tui.interchange.protocol_records import At, Place, each_once
from memento_tui.interchange.protocol_server import Server, connected
from memento_tui.interchange.protocol_tables import crystal_of, digest_of, item_of, memory_of, section_of, skip_of

__all__ = ["count", "read", "read_section", "read_workspace"]

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
    identities: set[bytes] = set()
    with connected(address) as server:
        for name in sorted(server.workspaces(), key=lambda name: name != "default"):
            try:
                place = Place(namespace=namespace_of(name), prefix=f"{name}/")
            except InvalidField as error:
                yield Refused(name, 0, f"is a workspace whose name cannot be a namespace: {error.reason}")
                continue
            for one in read_workspace(server, name, place):
                if isinstance(one, Incoming) and one.record == "crystal":
                    # A server may tell of one identity in every workspace, as memento's own does.
                    if one.digest in identities:
                        continue
                    identities.add(one.digest)
                yield one


def read_workspace(server: Server, workspace: str, place: Place) -> Iterator[Incoming | Refused]:
    """Yield what one workspace of an account holds. Raises `InvalidInput` as `read` does."""
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
    sections = (row for key in SECTIONS if (row := read_section(server, workspace, key)) is not None)
    yield from _rows(place, f"{workspace}/working-memory", sections, section_of)
    identity = server.text("/identity", workspace)
    if identity is not None and identity[1].get("id"):
        row = {**identity[1], "crystal": identity[0]}
        yield from _rows(place, f"{workspace}/identity", iter([row]), _current)


def _current(place: Place, row: _Row, at: At) -> Incoming | Refused:
    return crystal_of(place, row, at, is_current=True)


def read_section(server: Server, workspace: str, key: str) -> _Row | None:
    """Return a section of the working memory as a row; ``None`` if it says nothing. Raises `InvalidInput`."""
    found = server.text(f"/working-memory/{quote(key, safe='')}", workspace)
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
