"""One request as a route reads it: who asks, in which workspace, and with what, checked against a shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from memento_tui import clock
from memento_tui.agent.http.keys import Caller, Keys
from memento_tui.agent.protocol.ids import fresh_id
from memento_tui.agent.stdin import readable_line
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.records import Memory
from memento_tui.records.rules import is_under
from memento_tui.store.filters import AllOf, Between, Filter, NotThat, OneOf, Under
from memento_tui.store.reads import visible
from memento_tui.workspace import Workspace

__all__ = ["Call", "Place", "Shape", "limited"]

_MOST_PEEKED = 5
"""Workspaces into which one request may look beside its own."""

_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_EXPECTED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")
_VALUE = re.compile(r"Invalid enum value (.+)")


class Shape(msgspec.Struct):
    """What a body or query holds. Fields that a shape does not name are let be: clients send more than they need."""


Given = TypeVar("Given", bound=Shape)


class Place(msgspec.Struct, frozen=True):
    """A workspace, and the namespace that it is here."""

    workspace: str
    namespace: str

    def holds(self, namespace: str) -> bool:
        """Tell whether a namespace is this one or below it."""
        return is_under(namespace, self.namespace)


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the workspace in whose name it is carried out."""

    workspace: Workspace
    keys: Keys
    caller: Caller
    place: Place
    address: str
    """Where this server is, as the client calls it."""
    body: bytes
    query: Mapping[str, str]
    path: Mapping[str, str]
    peek_header: str

    def given(self, shape: type[Given]) -> Given:
        """Return the body. Raises `InvalidInput` where it is not JSON, `InvalidField` where a field is wrong."""
        try:
            return msgspec.json.decode(_readable(self.body) or b"{}", type=shape)
        except msgspec.ValidationError as error:
            raise _wrong(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"The body is not JSON: {error}.", "Send a JSON object.") from None

    def asked(self, shape: type[Given]) -> Given:
        """Return the query's parameters. Raises `InvalidField` where one is wrong."""
        try:
            return msgspec.convert({name: value for name, value in self.query.items() if value}, shape, strict=False)
        except msgspec.ValidationError as error:
            raise _wrong(str(error)) from None

    def peeked(self, named: Iterable[str] = ()) -> list[Place]:
        """Return the other workspaces that a request asks to look into as well.

        Raises:
            InvalidField: there are too many, or one has a name that no workspace can have.

        """
        listed = [*named, *self.query.get("peek_workspaces", "").split(","), *self.peek_header.split(",")]
        names = dict.fromkeys(name.strip() for name in listed if name.strip())
        if len(names) > _MOST_PEEKED:
            raise InvalidField("peek_workspaces", f"Too many: {len(names)}, and {_MOST_PEEKED} is the most")
        places = [Place(name, self.caller.namespace_of(name)) for name in names]
        return [place for place in places if place.namespace != self.place.namespace]

    def new_id(self) -> str:
        """Return an id for a new record, as clients expect of one."""
        return fresh_id(self.workspace)()

    def here(self, tree: Filter = AllOf()) -> Filter:  # noqa: B008 - it cannot be changed
        """Return a filter for the memories of the workspace that hold now, not hidden ones."""
        parts = [visible(tree), Under(self.place.namespace), NotThat(OneOf("sensitivity", ("restricted",)))]
        return AllOf((*parts, NotThat(Between("expires_at", None, clock.now()))))

    def memory(self, memory_id: str | None = None) -> Memory:
        """Return the memory that the path names. Raises `NotFound` for one that is not in this workspace."""
        wanted = self.path["id"] if memory_id is None else memory_id
        # By its whole id: to tell that a beginning is not unique would tell of other workspaces.
        found: Memory | None = self.workspace.store.find("memory", wanted)
        if found is None or found.status == "deleted" or not self.place.holds(found.namespace):
            raise NotFound("Memory not found.", f"No memory of this workspace has the id {wanted!r:.80}.")
        return found


def _readable(body: bytes) -> bytes:
    """Return a body with each half of a surrogate pair replaced, as MCP does: clients in JavaScript cut texts there."""
    return readable_line(body.decode()).encode() if b"\\ud" in body or b"\\uD" in body else body


def limited(given: int, most: int) -> int:
    """Return a limit within what the interface allows; clients that ask for more get the most."""
    return max(1, min(most, given))


def _wrong(problem: str) -> InvalidField:
    """Return what is wrong with a field as a sentence says it."""
    what, _, where = problem.partition(" - at `")
    name = where.rstrip("`").removeprefix("$").removeprefix(".") or "body"
    if missing := _MISSING.search(what):
        inside = "" if name == "body" else f"{name}."
        return InvalidField(f"{inside}{missing[1]}", "is missing")
    if expected := _EXPECTED.search(what):
        wanted = " or ".join(_WORDS.get(part.strip(), part.strip()) for part in expected[1].split("|"))
        return InvalidField(name, f"must be {wanted}, not {_WORDS.get(expected[2], expected[2])}")
    if value := _VALUE.search(what):
        return InvalidField(name, f"cannot be {value[1]}")
    return InvalidField(name, what[:1].lower() + what[1:])
