"""One request as a route reads it: its caller, workspace, body and query, checked against schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.search import recallable_filter
from memento_tui.compat.http.keys import ApiKeys, Caller
from memento_tui.compat.protocol.workspaces import WorkspaceScope, id_maker
from memento_tui.config import LanguageModelConfig
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.mcp.server import without_surrogates
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, Filter, Under

__all__ = ["ApiRequest", "RequestSchema", "clamp_limit"]

_MAX_PEEKED = 5
"""Other workspaces that one request may read."""

_TYPE_NAMES = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_EXPECTED_PATTERN = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_MISSING_PATTERN = re.compile(r"Object missing required field `([^`]+)`")
_ENUM_PATTERN = re.compile(r"Invalid enum value (.+)")


class RequestSchema(msgspec.Struct):
    """The fields of a body or query. Others are ignored: clients send more than they need."""


SchemaT = TypeVar("SchemaT", bound=RequestSchema)


class ApiRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and the workspace in whose name it is carried out."""

    workspace: Workspace
    keys: ApiKeys
    caller: Caller
    scope: WorkspaceScope
    address: str
    """The address of this server, as the client wrote it."""
    body: bytes
    query: Mapping[str, str]
    path: Mapping[str, str]
    peek_header: str

    def read_body(self, schema: type[SchemaT]) -> SchemaT:
        """Return the body. Raises `InvalidInput` where it is not JSON, `InvalidField` where a field is wrong."""
        try:
            return msgspec.json.decode(_replace_surrogates(self.body) or b"{}", type=schema)
        except msgspec.ValidationError as error:
            raise _field_problem(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InvalidInput(f"The body is not JSON: {error}.", "Send a JSON object.") from None

    def read_query(self, schema: type[SchemaT]) -> SchemaT:
        """Return the query's parameters. Raises `InvalidField` where one is wrong."""
        try:
            return msgspec.convert({name: value for name, value in self.query.items() if value}, schema, strict=False)
        except msgspec.ValidationError as error:
            raise _field_problem(str(error)) from None

    def peeked(self, names: Iterable[str] = ()) -> list[WorkspaceScope]:
        """Return the other workspaces that a request asks to look into as well.

        Raises:
            InvalidField: there are too many, or one has a name that no workspace can have.

        """
        all_names = [*names, *self.query.get("peek_workspaces", "").split(","), *self.peek_header.split(",")]
        distinct = dict.fromkeys(name.strip() for name in all_names if name.strip())
        if len(distinct) > _MAX_PEEKED:
            raise InvalidField("peek_workspaces", f"Too many: {len(distinct)}, and {_MAX_PEEKED} is the most")
        scopes = [WorkspaceScope(self.caller.namespace_of(name), label=name) for name in distinct]
        return [scope for scope in scopes if scope.namespace != self.scope.namespace]

    @property
    def language_model(self) -> LanguageModelConfig:
        """The endpoint that may write drafts: the person's for the person's own agents, and none for an account."""
        return LanguageModelConfig() if self.caller.account else self.workspace.config.language_model

    def new_id(self) -> str:
        """Return an id for a new record, as clients expect of one."""
        return id_maker(self.workspace)()

    def here(self, among: Filter = AllOf()) -> Filter:  # noqa: B008 - it cannot be changed
        """Return a filter for the memories of the workspace that are recalled now, without restricted ones."""
        return AllOf((recallable_filter(among, clock.now()), Under(self.scope.namespace)))

    def memory(self, memory_id: str | None = None) -> Memory:
        """Return the memory that the path names. Raises `NotFound` for one that is not in this workspace."""
        whole_id = self.path["id"] if memory_id is None else memory_id
        # By its whole id: an answer that a beginning is not unique would reveal other workspaces.
        memory: Memory | None = self.workspace.find(whole_id)
        if memory is None or memory.status == "deleted" or not self.scope.holds(memory):
            raise NotFound("Memory not found.", f"No memory of this workspace has the id {whole_id!r:.80}.")
        return memory


def _replace_surrogates(body: bytes) -> bytes:
    """Return a body with each half of a surrogate pair replaced, as MCP does: clients in JavaScript cut texts there."""
    return without_surrogates(body.decode()).encode() if b"\\ud" in body or b"\\uD" in body else body


def clamp_limit(limit: int, most: int) -> int:
    """Return a limit within the interface's own; clients that ask for more get the most."""
    return max(1, min(most, limit))


def _field_problem(problem: str) -> InvalidField:
    """Return a decoder's complaint about a field as an error in plain words."""
    what, _, where = problem.partition(" - at `")
    name = where.rstrip("`").removeprefix("$").removeprefix(".") or "body"
    if missing := _MISSING_PATTERN.search(what):
        inside = "" if name == "body" else f"{name}."
        return InvalidField(f"{inside}{missing[1]}", "is missing")
    if expected := _EXPECTED_PATTERN.search(what):
        expected_types = " or ".join(_TYPE_NAMES.get(part.strip(), part.strip()) for part in expected[1].split("|"))
        return InvalidField(name, f"must be {expected_types}, not {_TYPE_NAMES.get(expected[2], expected[2])}")
    if value := _ENUM_PATTERN.search(what):
        return InvalidField(name, f"cannot be {value[1]}")
    return InvalidField(name, what[:1].lower() + what[1:])
