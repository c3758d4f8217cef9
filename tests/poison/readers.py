"""The ways out: everything that tells a model of a memory, asked for each attack, and the judgement of the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memento_tui.compat.http.app import ROUTES
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.settings import HookSettings
from memento_tui.mcp.profiles import PROFILES
from memento_tui.paths import DataPaths
from tests.journeys.mcp_agent import Agent
from tests.poison.attacks import LABEL_WORDS, MARK, Attack
from tests.poison.channels import Rest, open_rest
from tests.poison.fields import sample
from tests.poison.house import House
from tests.poison.shell import run_in_shell
from tests.unit.profile_agent import seated

__all__ = ["Question", "Reader", "Readers", "open_readers"]

_LABEL = re.compile("|".join([*map(re.escape, LABEL_WORDS), r"stability\W+draft"]), re.IGNORECASE)
"""A label, or the field that says the same."""


@dataclass(frozen=True)
class Question:
    """What is asked about one attack."""

    attack: Attack
    ids: tuple[str, ...]
    """The records that hold it."""
    kin: frozenset[str]
    """The marks that stand in the same records, its own among them."""

    @property
    def words(self) -> str:
        """What finds it."""
        return self.attack.mark


Reader = Callable[[Question], Iterator[str]]
"""Asks one question and yields what was told: texts, JSON among them."""


@dataclass(frozen=True)
class Readers:
    """Every way out of one data directory, by name."""

    by_name: Mapping[str, Reader]
    """Those whose answer depends on the question."""
    listing: Mapping[str, Reader]
    """Those that tell the same whatever is asked."""

    def lists(self, question: Question) -> list[tuple[str, str]]:
        """Return what the ways out that take no question tell, by name."""
        return [(name, told) for name, read in self.listing.items() for told in read(question)]

    def unlabelled(self, name: str, question: Question) -> str:
        """Return what one way tells of an attack without a label; empty where it tells nothing, or says what it is."""
        answers = (_without_ids(told, question) for told in self.by_name[name](question))
        return next((wrong for told in answers if (wrong := self.judged(told, question))), "")

    def judged(self, told: str, question: Question) -> str:
        """Return the part of an answer that tells an attack without a label; empty where there is none."""
        mark = question.attack.mark
        if mark not in told:
            return ""
        # Many answers repeat the question.
        for echo in (f'\\"{mark}\\"', f'"{mark}"'):
            told = told.replace(echo, "")
        return _unlabelled_part(told, question) if mark in told else ""


def _without_ids(told: str, question: Question) -> str:
    """Return an answer without the ids that the question named: that they come back tells nobody anything."""
    for identity in question.ids:
        for written in (json.dumps(identity)[1:-1], json.dumps(identity, ensure_ascii=False)[1:-1], identity):
            told = told.replace(written, "ID")
    return told


def _unlabelled_part(told: str, question: Question) -> str:
    try:
        value = json.loads(told) if told.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        value = None
    if value is None:
        return _unlabelled_line(told, question)
    problems = (_entry_problem(text, entry, around, question) for text, entry, around in _entries(value, question))
    return next((problem for problem in problems if problem), "")


def _entry_problem(text: str, entry: Any, around: Sequence[Any], question: Question) -> str:
    """Return a text without a label of its own, in an entry that has none either, nor those that the entry is in."""
    wrong = _unlabelled_part(text, question)
    rest = json.dumps(_without(entry, text), ensure_ascii=False)
    own = [_LABEL.search(json.dumps(_own_words(value))) for value in around]
    return f"{wrong} in {rest[:300]}" if wrong and not _LABEL.search(rest) and not any(own) else ""


def _own_words(value: Any) -> Any:
    """Return what an object says of itself: its words and lists of words, and not the objects in it."""
    if not isinstance(value, dict):
        return None
    kept = {name: inner for name, inner in value.items() if name == "labels" or not isinstance(inner, dict | list)}
    return {name: inner for name, inner in kept.items() if name in ("labels", "stability", "status")}


def _without(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {name: _without(inner, text) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without(inner, text) for inner in value]
    return None if value == text else value


def _entries(
    value: Any, question: Question, entry: Any = None, around: tuple[Any, ...] = ()
) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Yield each text that holds the attack, the element of the outermost list that it stands in, and what that is in.

    What stands in no list is an entry as a whole.
    """
    if isinstance(value, str):
        if question.attack.mark in value:
            yield value, around[0] if entry is None and around else entry, around
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _entries(inner, question, entry, (*around, value))
    elif isinstance(value, list):
        for inner in value:
            is_first = entry is None and isinstance(inner, dict)
            yield from _entries(inner, question, inner if is_first else entry, around)


def _unlabelled_line(told: str, question: Question) -> str:
    """Return the first line with the attack that no label stands before, as far back as its own entry reaches."""
    lines = told.splitlines()
    for number, line in enumerate(lines):
        if question.attack.mark not in line:
            continue
        for above in range(number, -1, -1):
            if _LABEL.search(lines[above]):
                break
            is_others = any(mark not in question.kin for mark in MARK.findall(lines[above]))
            if above != number and is_others:
                return _shown(lines, number)
        else:
            return _shown(lines, number)
    return ""


def _shown(lines: Sequence[str], number: int) -> str:
    return "\n".join(lines[max(0, number - 3) : number + 1])[-600:]


def _asked(schema: Mapping[str, Any], question: Question) -> dict[str, Any]:
    """Return arguments for a tool that reads, by the names of its parameters."""
    names = schema.get("properties", {})
    known: dict[str, Any] = {
        "query": question.words,
        "message": f"What do we know about {question.words} at the moment?",
        "prompt": f"What do we know about {question.words} at the moment?",
        "ids": list(question.ids) or ["none"],
        "id": next(iter(question.ids), "none"),
        "memory_id": next(iter(question.ids), "none"),
        "limit": 10,
        "bank_id": "projects/site",
        "include_content": True,
        "detail_level": "full",
        "file_path": "docs/page.md",
        "tool_name": "Read",
        "cwd": "/tmp",  # noqa: S108 - nothing is there
    }
    made = {name: known[name] for name in names if name in known}
    for name in schema.get("required", ()):
        made.setdefault(name, sample(names[name], schema.get("$defs", {}), name))
    return made


def _tool(agent: Agent, name: str, schema: Mapping[str, Any]) -> Reader:
    def read(question: Question) -> Iterator[str]:
        answered = agent.send(name, _asked(schema, question))
        if answered.is_error:
            return
        for block in answered.content:
            if block.type == "text":
                yield block.text
        if answered.structured_content is not None:
            yield json.dumps(answered.structured_content)

    return read


def _note(agent: Agent) -> Reader:
    """Read the notes that a search of the vault found, as its clients do."""

    def read(question: Question) -> Iterator[str]:
        answered = agent.send("memento_search", {"query": question.words})
        for match in re.findall(r'"path": ?"([^"]+)"', json.dumps(answered.structured_content)):
            whole = agent.send("memento_get", {"path": json.loads(f'"{match}"')})
            yield from (block.text for block in whole.content if block.type == "text")

    return read


def _resources(agent: Agent) -> Reader:
    def read(question: Question) -> Iterator[str]:
        listed = agent._portal.call(agent.client.list_resources).resources
        for uri in [*(str(one.uri) for one in listed), *(f"memento://memory/{name}" for name in question.ids[:1])]:
            try:
                answer = agent._portal.call(agent.client.read_resource, uri)
            except Exception:  # noqa: BLE001, S112 - a memory that is withheld is no resource
                continue
            yield from (part.text for part in answer.contents if hasattr(part, "text"))

    return read


def _route(rest: Rest, method: str, path: str) -> Reader:
    def read(question: Question) -> Iterator[str]:
        if "{id" in path and not question.ids:
            return
        parts = {"id": question.ids[0]} if "{id" in path else {}
        if "{section" in path:
            parts["section"] = "active_work"
        asked = {"query": question.words, "message": question.words, "format": "json", "limit": "10"}
        body = json.dumps({**asked, "limit": 10}).encode() if method == "POST" else b""
        status, told = rest.ask(method, path, body, {} if body else asked, parts)
        if status < 400:
            yield told.decode()

    return read


def _hook(data_dir: Path, project: Path, moment: str) -> Reader:
    def read(question: Question) -> Iterator[str]:
        call = HookCall(
            host="claude-code",
            event=moment,
            moment=moment,  # type: ignore[arg-type]  # one of the moments
            session=f"{moment} {question.words}",
            cwd=str(project),
            transcript="",
            prompt=f"What do we know about {question.words} at the moment?",
            file=str(project / "docs" / "page.md"),
            is_fresh=True,
        )
        yield context_for_call(call, DataPaths(data_dir), HookSettings())

    return read


_READING_ROUTES = [
    (method, path)
    for method, path, _ in ROUTES
    if (method == "GET" and "settings" not in path and path != "/") or path.endswith(("/recall", "/context"))
]


_SHELL_READING = {"shell search": ("search",), "shell show": ("show",)}


def _shell(house: House, words: Sequence[str]) -> Reader:
    def read(question: Question) -> Iterator[str]:
        about = question.words if words == ("search",) else next(iter(question.ids), "none")
        yield run_in_shell(house.data_dir, [*words, about, "--json"])[1]

    return read


def _takes_question(schema: Mapping[str, Any]) -> bool:
    return bool({"query", "message", "prompt", "ids", "id", "memory_id"} & set(schema.get("properties", {})))


@contextmanager
def open_readers(data_dir: Path, project: Path, house: House) -> Iterator[Readers]:
    """Open every way out of a data directory; ``project`` is the folder in which the agents' sessions run."""
    listing: dict[str, Reader] = {"hook start": _hook(data_dir, project, "start")}
    asked: dict[str, Reader] = {f"hook {moment}": _hook(data_dir, project, moment) for moment in ("prompt", "read")}
    asked |= {name: _shell(house, words) for name, words in _SHELL_READING.items()}
    with ExitStack() as stack:
        for profile in PROFILES:
            agent = stack.enter_context(seated(data_dir, profile, name="reader", session=f"read {profile}"))
            for tool in agent.tools():
                if tool.annotations is not None and tool.annotations.read_only_hint:
                    into = asked if _takes_question(tool.input_schema) else listing
                    into[f"{profile} {tool.name}"] = _tool(agent, tool.name, tool.input_schema)
            if profile == "native":
                listing["native resources"] = _resources(agent)
            if profile == "vault":
                asked["vault notes"] = _note(agent)
        rest = stack.enter_context(open_rest(data_dir))
        for method, path in _READING_ROUTES:
            takes = "{id" in path or path.endswith(("/recall", "/context", "/check"))
            (asked if takes else listing)[f"{method} {path}"] = _route(rest, method, path)
        yield Readers(asked, listing)
