"""Offer MCP prompts: texts that a person sends to an agent by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, Prompt, PromptArgument, TextContent

from memento_tui.errors import InvalidInput, NotFound
from memento_tui.mcp.tools.overview import OverviewTools
from memento_tui.mcp.tools.proposals import ContradictionTools
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.text.fence import one_line

__all__ = ["Prompts"]

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


class Prompts:
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
