"""The ways in that an agent's program has: the tools of each MCP profile, and the routes of the REST."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path as FilePath
from typing import Any, Protocol
from unittest.mock import patch
from urllib.parse import quote, urlencode

import msgspec

from memento_tui.api import Workspace
from memento_tui.compat.http.app import ROUTES
from memento_tui.compat.http.exchange import ApiRequest
from memento_tui.compat.http.keys import ApiKeys, Caller, HttpCaller, HttpWorkspaces, open_http_workspaces
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import InvalidInput, MementoError
from tests.journeys.http_server import Client, serving
from tests.journeys.mcp_agent import Agent, connected
from tests.poison.attacks import Attack
from tests.poison.fields import Path, path_text, sample, text_places, with_text
from tests.poison.house import House, Target
from tests.unit.profile_agent import seated

__all__ = [
    "Channel",
    "McpChannel",
    "Rest",
    "forms",
    "mcp_channel",
    "open_rest",
    "rest_channel",
    "target_kind",
    "wire_mcp_channel",
    "wire_rest_channel",
]

_MAX_TAG = 90
"""Characters of the shortest form of an attack, for tags and names."""


class Channel(Protocol):
    """One way in, with every text that it takes."""

    name: str
    changes_records: bool
    """Whether it changes records that exist, the person's among them."""

    @property
    def slots(self) -> Sequence[str]:
        """The texts that it takes."""

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Write an attack into a text, of a new record or one of the person's; return whether it was taken."""


def forms(attack: Attack) -> Iterator[str]:
    """Yield the text as it is, on one line, and cut, for texts that must be short."""
    yield from dict.fromkeys((attack.text, attack.line, attack.line[:_MAX_TAG].strip().replace("\\", " ")))


_TRANSCRIPTS = ("transcript", "text")
"""The arguments that take a whole conversation."""


def as_given(path: Path, text: str) -> str:
    """Return an attack as a text takes it: as something that was said, where a conversation is read."""
    if path[-1:] and path[-1] in _TRANSCRIPTS:
        return f"User: Remember that {text}\nAssistant: Noted.\nUser: From now on, {text}\nAssistant: I will.\n" * 2
    return text


def target_kind(name: str) -> str:
    """Return the kind of record that a tool or route is about, by its name."""
    return next((kind for kind in ("item", "skip") if kind in name), "memory")


def filled_ids(value: Any, target: Target, other: Target) -> Any:
    """Return arguments with the ids of records that exist: of the target, and of the other where one is linked to."""
    if isinstance(value, list):
        return [filled_ids(one, other, target) for one in value]
    if not isinstance(value, dict):
        return value
    known: dict[str, Any] = {
        "id": target.id,
        "src": target.id,
        "dst": other.id,
        "ids": [target.id],
        "source_ids": [target.id, other.id],
        "base_version": target.version,
    }
    return {name: known[name] if name in known else filled_ids(inner, target, other) for name, inner in value.items()}


class McpChannel:
    """The tools of one profile that write."""

    changes_records = True

    def __init__(self, name: str, house: House, agent: Agent) -> None:
        self.name = name
        self._house = house
        self._agent = agent
        self._tools = {
            tool.name: tool.input_schema
            for tool in agent.tools()
            if not (tool.annotations is not None and tool.annotations.read_only_hint)
        }
        self._places: dict[str, tuple[str, Path]] = {
            f"{name} {path_text(path)}": (name, path)
            for name, schema in self._tools.items()
            for path in text_places(schema, schema.get("$defs", {}))
        }

    @property
    def slots(self) -> Sequence[str]:
        """Every text argument of every tool."""
        return list(self._places)

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Call the tool."""
        tool, path = self._places[slot]
        schema = self._tools[tool]
        arguments = sample(schema, schema.get("$defs", {}), tool, path, whole="required" not in schema)
        names = schema.get("properties", {})
        if "id" in names and path != ("id",) and tool not in ("remember", "memory_store"):
            arguments.setdefault("id", "")
        if "base_version" in names:
            arguments["base_version"] = 0
        target = self._target(tool, persons=onto_persons)
        arguments = filled_ids(arguments, target, self._target(tool, persons=False))
        if "session" in arguments and path != ("session",):
            arguments["session"] = self._session()
        arguments |= {name: value for name, value in attack.claims.items() if name in names and name != path[0]}
        if "resolution" in arguments and path != ("content",):
            arguments["resolution"] = "both_valid"
        return any(self._is_taken(tool, with_text(arguments, path, as_given(path, text))) for text in forms(attack))

    def _is_taken(self, tool: str, arguments: dict[str, Any]) -> bool:
        return not self._agent.send(tool, arguments).is_error

    def _session(self) -> str:
        return str(self._agent.call("session_open")["session"])

    def _target(self, tool: str, *, persons: bool) -> Target:
        kind = target_kind(tool)
        if tool == "contradiction_suggest":
            return self._house.contradiction()
        if persons or kind != "memory" or "remember" not in self._tools:
            return self._house.persons(kind)
        self._house.made += 1
        made = self._agent.call("remember", content=f"Page {self._house.made} of the notes is on the desk.")
        return Target(made["id"], 1)


class Rest:
    """The REST as one agent sees it, without a server in between."""

    def __init__(self, workspaces: HttpWorkspaces, keys: ApiKeys, caller: Caller | None = None) -> None:
        self._workspaces = workspaces
        self._keys = keys
        self._caller = caller or Caller()

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        query: Mapping[str, str] | None = None,
        parts: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Send one request to a route, given as it is declared, with the ``parts`` of its path."""
        (handler,) = (one for how, where, one in ROUTES if (how, where) == (method, path))
        request = ApiRequest(
            workspace=self._workspaces.of(HttpCaller(self._caller, "attacker/1")),
            keys=self._keys,
            caller=self._caller,
            scope=WorkspaceScope(self._caller.namespace_of("default"), label="default"),
            address="http://localhost",
            body=body,
            query=query or {},
            path=parts or {},
            peek_header="",
        )
        try:
            answer = handler(request)
        except MementoError as error:
            return 400, str(error).encode()
        return answer.status_code, bytes(answer.body)


class WireRest(Rest):
    """The REST behind a real server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        query: Mapping[str, str] | None = None,
        parts: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Send one request over a socket."""
        for name, value in (parts or {}).items():
            path = path.replace(f"{{{name}:path}}", quote(value)).replace(f"{{{name}}}", quote(value))
        answer = self._client.ask(method, f"{path}?{urlencode(query)}" if query else path, body or None)
        return answer.status, answer.text.encode()


@contextmanager
def open_rest(data_dir: FilePath) -> Iterator[Rest]:
    """Open the REST on a data directory."""
    with open_http_workspaces(data_dir, "s1") as workspaces:
        workspace: Workspace = workspaces.by_name("")
        yield Rest(workspaces, ApiKeys(workspace.settings, workspace.paths.http_key, "k" * 32))


def _body_schema(rest: Rest, method: str, path: str, target: Target) -> Mapping[str, Any] | None:
    """Return the schema of the body that a route reads; ``None`` for a route without a body."""
    seen: list[type] = []

    def read_body(_: ApiRequest, schema: type[msgspec.Struct]) -> msgspec.Struct:
        seen.append(schema)
        raise InvalidInput("The schema is known.")

    with patch.object(ApiRequest, "read_body", read_body):
        rest.ask(method, path, b"{}", parts=_path_parts(path, target))
    if not seen:
        return None
    _, definitions = msgspec.json.schema_components([seen[0]], ref_template="#/$defs/{name}")
    return {**definitions[seen[0].__name__], "$defs": definitions}


def _path_parts(path: str, target: Target) -> dict[str, str]:
    given = {"id": target.id, "section": "active_work", "key": "recall_threshold"}
    return {name: value for name, value in given.items() if f"{{{name}" in path}


class RestChannel:
    """The routes that write."""

    changes_records = True

    def __init__(self, name: str, house: House, inner: Rest, rest: Rest) -> None:
        """``inner`` is the one whose schemas can be seen, ``rest`` the one that is asked."""
        self.name = name
        self._house = house
        self._rest = inner
        self._routes = {
            f"{method} {path}": schema
            for method, path, _ in ROUTES
            if method in ("POST", "PUT")
            and "/auth/" not in path
            and not path.endswith(("/recall", "/context"))
            # A record that is to change is looked for before the body is read.
            and (schema := _body_schema(inner, method, path, self._target(path, persons=False))) is not None
        }
        self._places: dict[str, tuple[str, Path]] = {
            f"{route} {path_text(path)}": (route, path)
            for route, schema in self._routes.items()
            for path in text_places(schema, schema["$defs"])
        }

        self._rest = rest

    @property
    def slots(self) -> Sequence[str]:
        """Every text of every body."""
        return list(self._places)

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Send the request."""
        route, path = self._places[slot]
        schema = self._routes[route]
        method, where = route.split(" ")
        target, other = self._target(where, persons=onto_persons), self._target(where, persons=False)
        body = filled_ids(sample(schema, schema["$defs"], route, path, whole=method == "POST"), target, other)
        if method == "PUT" and "base_version" in schema["properties"]:
            body["base_version"] = target.version
        body = {**attack.claims, **body}
        return any(
            self._is_taken(method, where, with_text(body, path, as_given(path, text)), target) for text in forms(attack)
        )

    def _is_taken(self, method: str, route: str, body: Any, target: Target) -> bool:
        status, _ = self._rest.ask(method, route, json.dumps(body).encode(), parts=_path_parts(route, target))
        return status < HTTPStatus.BAD_REQUEST

    def _target(self, route: str, *, persons: bool) -> Target:
        kind = target_kind(route)
        number = self._house.made = self._house.made + 1
        if kind == "item":
            body: dict[str, Any] = {"title": f"Write page {number}", "category": "active_work"}
            _, answer = self._rest.ask("POST", "/v1/working-memory/items", json.dumps(body).encode())
            return Target(json.loads(answer).get("id", "none"), 1)
        if persons:
            target = self._house.persons(kind)
            return self._moved(target) if kind == "memory" else target
        body = {"content": f"Page {number} of the notes is on the table."}
        _, answer = self._rest.ask("POST", "/v1/memories", json.dumps(body).encode())
        return Target(json.loads(answer).get("id", "none"), 1)

    def _moved(self, target: Target) -> Target:
        """Move a record to the namespace of the requests."""
        moved = self._house.person.update(target.id, namespace=Caller().namespace_of("default")).memory
        return Target(moved.id, moved.version)


@contextmanager
def rest_channel(house: House) -> Iterator[Channel]:
    """Open the routes on a house."""
    with open_rest(house.data_dir) as rest:
        yield RestChannel("HTTP /v1", house, rest, rest)


@contextmanager
def wire_rest_channel(house: House) -> Iterator[Channel]:
    """Serve the routes of a house over a socket."""
    with open_rest(house.data_dir) as rest, serving(house.data_dir) as server:
        yield RestChannel("HTTP /v1 over a socket", house, rest, WireRest(server.client))


@contextmanager
def wire_mcp_channel(house: House) -> Iterator[Channel]:
    """Start an MCP server on a house, and connect to it over its pipes."""
    with connected(house.data_dir) as agent:
        yield McpChannel("MCP native over stdio", house, agent)


@contextmanager
def mcp_channel(house: House, profile: str) -> Iterator[McpChannel]:
    """Open the tools of a profile on a house."""
    with seated(house.data_dir, profile) as agent:
        yield McpChannel(f"MCP {profile}", house, agent)
