"""What a person may send to an agent by name, as hosts offer it beside their own commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, Prompt, PromptArgument, TextContent

from memento_tui.agent.fence import one_line
from memento_tui.agent.seats import Seats
from memento_tui.agent.tools.disputes import DisputeTools
from memento_tui.agent.tools.overview import OverviewTools
from memento_tui.errors import InvalidInput, NotFound

__all__ = ["Prompts"]

_KEEP = (
    "Look back at this session and keep what the next one needs.\n"
    "1. For each fact, decision or lesson: search first; update what exists, and remember only what is new.\n"
    "2. Write each as an instruction a newcomer can act on, with names, versions and paths; leave out what happened.\n"
    "3. Skip what the code or its history says anyway, what holds for today only, and every secret.\n"
    "4. Then call session_close with where things stand and what to do first next time.\n"
    "Tell me in one line each what you stored, and what waits for my decision."
)
_REVIEW = (
    "For each: find out from the code and documents at hand which side holds, tell me what you found, and call"
    " contradiction_suggest. I decide."
)


class _Told(NamedTuple):
    title: str
    description: str
    arguments: Mapping[str, str]
    """What each argument is; all are needed."""


_PROMPTS = {
    "recall": _Told("Recall", "Begin with what is remembered about a topic.", {"topic": "What to look for."}),
    "remember_session": _Told("Remember this session", "Keep what this session taught.", {}),
    "review_contradictions": _Told("Review contradictions", "Look at memories that contradict each other.", {}),
}


class Prompts:
    """The prompts, each made in the workspace of the client that asks for it."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self._overview, self._disputes = OverviewTools(seats), DisputeTools(seats)

    def listed(self) -> list[Prompt]:
        """Return the prompts in the order in which they are listed."""
        return [
            Prompt(
                name=name,
                title=told.title,
                description=told.description,
                arguments=[
                    PromptArgument(name=argument, description=what, required=True)
                    for argument, what in told.arguments.items()
                ],
            )
            for name, told in _PROMPTS.items()
        ]

    async def text(self, name: str, arguments: Mapping[str, Any], ctx: Context[Any, Any]) -> str:
        """Return what a prompt says.

        Raises:
            NotFound: there is no prompt of this name.
            InvalidInput: an argument is missing, or is none of the prompt's.

        """
        if name not in _PROMPTS:
            raise NotFound(f"There is no prompt {name!r:.60}.", f"The prompts are {', '.join(_PROMPTS)}.")
        _check(name, arguments)
        match name:
            case "recall":
                topic = arguments["topic"]
                found = _words(await self._seats.run(self._overview.context, ctx, topic))
                return (
                    f"This is what memento remembers about {one_line(topic, 200)}:\n\n{found}\n\nUse it from here on."
                )
            case "remember_session":
                return _KEEP
            case _:
                return f"{_words(await self._seats.run(self._disputes.contradictions, ctx))}\n\n{_REVIEW}"


def _check(name: str, arguments: Mapping[str, Any]) -> None:
    known = _PROMPTS[name].arguments
    takes = f"It takes {', '.join(known)}." if known else "It takes no arguments."
    unknown = [argument for argument in arguments if argument not in known]
    if unknown:
        raise InvalidInput(f"{name} does not take {', '.join(f'{one!r:.60}' for one in unknown[:10])}.", takes)
    for argument in known:
        if not isinstance(arguments.get(argument), str) or not arguments[argument].strip():
            raise InvalidInput(f"{name} needs {argument}, a text.", takes)


def _words(answered: CallToolResult) -> str:
    return "\n".join(block.text for block in answered.content if isinstance(block, TextContent))
