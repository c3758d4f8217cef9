r"""Build the MCP server with its tools, prompts and resources, and run it over standard input and output.

Hosts written in JavaScript cut texts between the halves of a surrogate pair, and send the half that is left as an
escape such as ``\ud83d``. No UTF-8 text can hold it: the SDK drops such a request, and its sender waits in vain.

Prompts are texts that a person sends to an agent by name. Resources are the identity, items and skips, the start of a
session, and a memory by its id.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self
from urllib.parse import unquote

import anyio
from mcp.server import MCPServer
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolResult,
    ErrorData,
    GetPromptResult,
    InputRequiredResult,
    JSONRPCError,
    JSONRPCResponse,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
)
from pydantic import ValidationError
from pydantic.networks import AnyUrl

import memento_tui
from memento_tui.errors import InvalidInput, MementoError, NotFound
from memento_tui.mcp.first_answers import EXIT_HOST_GONE, Beginning
from memento_tui.mcp.profiles import PROFILES
from memento_tui.mcp.results import UNEXPECTED_ERROR, message_of_error, unknown_tool_message
from memento_tui.mcp.tools.memories import ContradictionTools, MemoryTools
from memento_tui.mcp.tools.sessions import OverviewTools, SessionTools
from memento_tui.mcp.tools.working_memory import IdentityTools, ItemTools, SkipTools
from memento_tui.mcp.workspaces import McpWorkspaces, open_mcp_workspaces
from memento_tui.model.validation import new_id
from memento_tui.text.fence import one_line

__all__ = ["build_server", "main", "without_surrogates"]


_MEMORY_URI_PREFIX = "memento://memory/"
_TEXT_TYPE = "text/plain"


class _Resources:
    """The resources. Each gives the text of the tool of its subject, behind the same fence."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces
        self._memories = MemoryTools(mcp_workspaces)
        self._fixed: dict[str, tuple[str, str, Callable[[Context], CallToolResult]]] = {
            "memento://context": (
                "context",
                "What every session begins with: identity, essentials, open work, skips.",
                SessionTools(mcp_workspaces).session_open,
            ),
            "memento://identity": ("identity", "Who the agent is.", IdentityTools(mcp_workspaces).identity_read),
            "memento://items": ("items", "Active working items.", ItemTools(mcp_workspaces).item_list),
            "memento://skips": ("skips", "What is not to be done now.", SkipTools(mcp_workspaces).skip_list),
        }

    def listed(self) -> list[Resource]:
        """Return the resources that have an address of their own."""
        return [
            Resource(uri=uri, name=name, description=description, mime_type=_TEXT_TYPE)
            for uri, (name, description, _) in self._fixed.items()
        ]

    def templates(self) -> list[ResourceTemplate]:
        """Return the pattern of the memories' addresses."""
        return [
            ResourceTemplate(
                uri_template=_MEMORY_URI_PREFIX + "{id}",
                name="memory",
                description="A memory in full.",
                mime_type=_TEXT_TYPE,
            )
        ]

    async def read(self, uri: str, ctx: Context[Any, Any]) -> str:
        """Return the text of a resource.

        Raises:
            ResourceNotFoundError: there is none at this address.
            ResourceError: it cannot be read now.

        """
        try:
            result = await self._mcp_workspaces.run(self._read, uri, ctx)
        except MementoError as error:
            kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
            raise kind(str(error)) from error
        return "\n".join(block.text for block in result.content if isinstance(block, TextContent))

    def _read(self, uri: str, ctx: Context[Any, Any]) -> CallToolResult:
        if uri.startswith(_MEMORY_URI_PREFIX):
            return self._memories.get(ctx, [unquote(uri.removeprefix(_MEMORY_URI_PREFIX))])
        if uri not in self._fixed:
            raise NotFound(
                f"There is no resource {one_line(uri, 100)!r}.",
                f"The resources are {', '.join(self._fixed)} and {_MEMORY_URI_PREFIX}ID.",
            )
        return self._fixed[uri][2](ctx)


_KEEP_PROMPT = (
    "Look back at this session and keep what the next one needs.\n"
    "1. For each fact, decision or lesson: search first; update what exists, and remember only what is new.\n"
    "2. Write each as an instruction a newcomer can act on, with names, versions and paths; leave out what happened.\n"
    "3. Skip what the code or its history says anyway, what holds for today only, and every secret.\n"
    "4. Then call session_close with where things stand and what to do first next time.\n"
    "Tell me in one line each what you stored, and what waits for my decision."
)
_REVIEW_PROMPT = (
    "For each: find out from the code and documents at hand which side holds, tell me what you found, and call"
    " contradiction_suggest. I decide."
)


class _PromptDefinition(NamedTuple):
    title: str
    description: str
    arguments: Mapping[str, str]
    """The meaning of each argument; all are required."""


_PROMPTS = {
    "recall": _PromptDefinition(
        "Recall", "Begin with what is remembered about a topic.", {"topic": "What to look for."}
    ),
    "remember_session": _PromptDefinition("Remember this session", "Keep what this session taught.", {}),
    "review_contradictions": _PromptDefinition(
        "Review contradictions", "Look at memories that contradict each other.", {}
    ),
}


class _Prompts:
    """The prompts, each made in the workspace of the client that asks for it."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces
        self._overview = OverviewTools(mcp_workspaces)
        self._contradictions = ContradictionTools(mcp_workspaces)

    def listed(self) -> list[Prompt]:
        """Return the prompts in the order in which they are listed."""
        return [
            Prompt(
                name=name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    PromptArgument(name=argument, description=meaning, required=True)
                    for argument, meaning in prompt.arguments.items()
                ],
            )
            for name, prompt in _PROMPTS.items()
        ]

    async def text(self, name: str, arguments: Mapping[str, Any], ctx: Context[Any, Any]) -> str:
        """Return the text of a prompt.

        Raises:
            NotFound: there is no prompt of this name.
            InvalidInput: an argument is missing, or is none of the prompt's.

        """
        if name not in _PROMPTS:
            raise NotFound(f"There is no prompt {name!r:.60}.", f"The prompts are {', '.join(_PROMPTS)}.")
        _check_arguments(name, arguments)
        match name:
            case "recall":
                topic = arguments["topic"]
                context = _text_of_result(await self._mcp_workspaces.run(self._overview.context, ctx, topic))
                return (
                    f"This is what memento remembers about {one_line(topic, 200)}:\n\n{context}\n\nUse it from here on."
                )
            case "remember_session":
                return _KEEP_PROMPT
            case _:
                result = await self._mcp_workspaces.run(self._contradictions.contradictions, ctx)
                return f"{_text_of_result(result)}\n\n{_REVIEW_PROMPT}"


def _check_arguments(name: str, arguments: Mapping[str, Any]) -> None:
    known = _PROMPTS[name].arguments
    takes = f"It takes {', '.join(known)}." if known else "It takes no arguments."
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        listed = ", ".join(f"{argument!r:.60}" for argument in unknown[:10])
        raise InvalidInput(f"{name} does not take {listed}.", takes)
    for argument in known:
        if not isinstance(arguments.get(argument), str) or not arguments[argument].strip():
            raise InvalidInput(f"{name} needs {argument}, a text.", takes)


def _text_of_result(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


class _WithBeginning(io.RawIOBase):
    """A stream of bytes of which some have been read already."""

    def __init__(self, unread: bytes, rest: io.RawIOBase) -> None:
        super().__init__()
        self._unread = unread
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 - the stub's own type is private
        if not self._unread:
            return self._rest.readinto(buffer)
        taken, self._unread = self._unread[: len(buffer)], self._unread[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


@contextmanager
def _open_request_stream(unread: bytes) -> Iterator[io.TextIOWrapper]:
    """Read the process's standard input, and point it at the null device meanwhile so that nothing else does."""
    wire = os.dup(0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    try:
        # A thread may still wait in a read when the server ends, so the descriptor is left to the process's end.
        raw = _WithBeginning(unread, io.FileIO(wire, closefd=False))
        yield _RequestStream(io.BufferedReader(raw), encoding="utf-8", errors="replace")
    finally:
        os.dup2(wire, 0)


class _MessageStream(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...

    async def aclose(self) -> None: ...


class _Unsent:
    """The stream of a server's messages, without its answer to a handshake that was answered already."""

    def __init__(self, stream: _MessageStream, greeted: int | str) -> None:
        self._stream = stream
        self._greeted: int | str | None = greeted

    async def send(self, item: SessionMessage, /) -> None:
        # A request of the server's own may have the same number, and an error is news.
        if isinstance(item.message, JSONRPCResponse) and item.message.id == self._greeted:
            self._greeted = None
            return
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Requests:
    """The stream of a client's messages; lines that are no message are answered with an error and left out."""

    def __init__(self, stream: Any, answers: _MessageStream) -> None:  # noqa: ANN401 - the SDK's own stream
        self._stream = stream
        self._answers = answers

    async def receive(self) -> SessionMessage:
        """Return the next message. Raises `anyio.EndOfStream`."""
        while isinstance(item := await self._stream.receive(), Exception):
            await self._answers.send(SessionMessage(_error_of(item)))
        message: SessionMessage = item
        return message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else the SDK's stream has
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stream.aclose()


def _error_of(problem: Exception) -> JSONRPCError:
    """Return the answer to a line that is no JSON, or no message."""
    is_json = isinstance(problem, ValidationError) and all(one["type"] != "json_invalid" for one in problem.errors())
    said = "This is no message of JSON-RPC 2.0." if is_json else "This line is not JSON."
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=said))


class _RequestStream(io.TextIOWrapper):
    """Text whose lines are made readable one by one."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]  # the stub leaves the default out
        return without_surrogates(super().readline(size))


def without_surrogates(line: str) -> str:
    """Return a line of JSON with each half of a surrogate pair replaced by a question mark; any other as it is."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8") + "\n"


_NOTHING_READ = Beginning()

_log = logging.getLogger(__name__)


class _MemoryServer(MCPServer[None]):
    """An MCP server that reports every failure as a result with a sentence and advice."""

    def __init__(self, mcp_workspaces: McpWorkspaces, profile: str) -> None:
        served = PROFILES[profile]
        tools = served.tools(mcp_workspaces)
        super().__init__(
            "memento",
            version=memento_tui.__version__,
            instructions=served.instructions(),
            tools=tools,
            log_level="WARNING",
            subscriptions=False,  # nothing is announced, and a stream that stays silent would hold up the end
        )
        self.beginning = Beginning()
        """The messages that were read from standard input before this ran, and the id of the answered handshake."""
        self._mcp_workspaces, self._profile = mcp_workspaces, profile
        self._refuse = served.refusal()
        self._by_name: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self._resources = _Resources(mcp_workspaces) if profile == "native" else None
        self._prompts = _Prompts(mcp_workspaces) if profile == "native" else None

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; an argument that is null counts as left out."""
        tool = self._by_name.get(name)
        if tool is None:
            return self._refuse(unknown_tool_message(name, list(self._by_name), self._profiles_with(name)))
        known = tool.parameters["properties"]
        given = {key: value for key, value in arguments.items() if value is not None or key not in known}
        try:
            return await super().call_tool(name, given, context)
        except ToolError as error:
            cause = error.__cause__ or error
            sentence = message_of_error(cause, name, tool.parameters)
            if sentence is None:
                _log.error("%s failed", name, exc_info=cause)
            return self._refuse(sentence or UNEXPECTED_ERROR)

    def _profiles_with(self, tool: str) -> dict[str, str]:
        """Return the titles of the other profiles that have a tool of this name; imports them to see."""
        others = {name: served for name, served in PROFILES.items() if name != self._profile}
        return {
            name: served.title
            for name, served in others.items()
            if any(offered.name == tool for offered in served.tools(self._mcp_workspaces))
        }

    async def list_resources(self) -> list[Resource]:
        """Return the resources that have an address of their own; other systems' profiles have none."""
        return [] if self._resources is None else self._resources.listed()

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """Return the patterns of addresses."""
        return [] if self._resources is None else self._resources.templates()

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[None, Any] | None = None
    ) -> Iterable[ReadResourceContents]:
        """Return the text of a resource. Raises `ResourceError` with a sentence."""
        if self._resources is None or context is None:
            raise ResourceNotFoundError(f"The profile {self._profile} has tools only.")
        text = await self._resources.read(str(uri), context)
        return [ReadResourceContents(content=text, mime_type="text/plain")]

    async def list_prompts(self) -> list[Prompt]:
        """Return the prompts; other systems' profiles have none."""
        return [] if self._prompts is None else self._prompts.listed()

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[None, Any] | None = None
    ) -> GetPromptResult:
        """Return the text of a prompt. Raises `MCPError` with a sentence."""
        if self._prompts is None or context is None:
            raise MCPError(INVALID_PARAMS, f"The profile {self._profile} has tools only.")
        try:
            text = await self._prompts.text(name, arguments or {}, context)
        except MementoError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(type="text", text=text))])

    async def run_stdio_async(self) -> None:
        """Serve standard input and output, requests included that the SDK's own loop would leave unanswered."""
        server = self._lowlevel_server
        with _open_request_stream(self.beginning.unread) as lines:
            async with stdio_server(stdin=anyio.wrap_file(lines)) as (incoming, outgoing):
                greeted = self.beginning.greeted
                unsent = outgoing if greeted is None else _Unsent(outgoing, greeted)
                requests = _Requests(incoming, unsent)
                await server.run(requests, unsent, server.create_initialization_options())


def build_server(
    mcp_workspaces: McpWorkspaces, profile: str = "native", beginning: Beginning = _NOTHING_READ
) -> MCPServer[None]:
    """Return the server with the tools of a profile (a name in `PROFILES`), in the order in which they are listed."""
    server = _MemoryServer(mcp_workspaces, profile)
    server.beginning = beginning
    return server


def main(
    data_dir: Path | None, *, session: str = "", profile: str = "native", beginning: Beginning = _NOTHING_READ
) -> int:
    """Serve one agent over standard input and output until its host closes them; return the exit status.

    The agent's writes are filed under ``session``, a random name if it is empty. ``beginning`` is what was read from
    standard input before.
    """
    # Before the SDK configures logging: it would decorate the lines for a terminal, and hosts keep them in a file.
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    status = 0
    with open_mcp_workspaces(data_dir, session or new_id()) as mcp_workspaces:
        try:
            build_server(mcp_workspaces, profile, beginning).run("stdio")
        except* BrokenPipeError:
            status = EXIT_HOST_GONE
    return status
