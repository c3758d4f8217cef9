"""The commands ``search`` and ``searches``: search memories, and keep searches under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from memento_tui import clock
from memento_tui.cli.command import command, group, open_workspace
from memento_tui.cli.memories import contradicting, open_past, with_verifier_names
from memento_tui.cli.options import past_moment
from memento_tui.cli.output import bold, emit, note, safe, table
from memento_tui.cli.record_completion import complete_ids
from memento_tui.meaning import INSTALL_HINT, NOT_INSTALLED, is_installed
from memento_tui.model.validation import to_plain
from memento_tui.search.query_language import parse
from memento_tui.text.labels import OtherSide, bracketed, caution_labels, condition_labels

__all__ = ["commands"]

if TYPE_CHECKING:
    from memento_tui.api.past import PastHit
    from memento_tui.api.search import SearchAnswer, SearchHit
    from memento_tui.model import Memory


_SEMANTIC_STATES = {
    "ready": "",
    "warming": "Semantic search is loading: these are the results by words. --wait waits for it.",
    "off": "Semantic search does not work: these are the results by words. `memento engine logs` may say why.",
}


@command(
    "search",
    short_help="Search memories by words and by meaning.",
    examples="""
    memento search "users endpoint"
    memento search '"exact phrase" -draft tag:api certainty:>=4' --mode keyword
    memento search "how do we deploy" --wait --limit 5 --json
    memento search "port" --at 2026-11-20
    """,
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("--mode", type=click.Choice(["keyword", "semantic", "hybrid"]), default="hybrid", show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), metavar="NUMBER", default=10, show_default=True)
@click.option("--wait", is_flag=True, help="Wait until the indexes, embeddings included, hold all earlier writes.")
@click.option("--explain", is_flag=True, help="Show every number behind each rank.")
@past_moment
def search(
    query: tuple[str, ...],
    mode: Literal["keyword", "semantic", "hybrid"],
    limit: int,
    *,
    wait: bool,
    explain: bool,
    at: str | None,
) -> None:
    """Search for QUERY: words, "phrases", -not, and filters such as tag:api, as `memento list --help` shows them.

    Put it in quotes: otherwise your shell interprets "phrases" and -not itself. With --at the texts of then are read:
    every word must stand in them, in any form, and none is found by meaning.
    """
    if at is not None:
        if mode == "semantic" or wait or explain:
            raise click.UsageError("The past is searched by words alone: leave out --mode, --wait and --explain.")
        _search_past(" ".join(query), limit, at)
        return
    with open_workspace() as workspace:
        answer = workspace.search(" ".join(query), mode=mode, limit=limit, wait=wait)
        ids = [hit.id for hit in answer.results]
        against = contradicting(workspace, ids)
        told = with_verifier_names(workspace, [hit.memory for hit in answer.results])
        meaning_counts = mode != "keyword" and workspace.config.engine.enabled and parse(" ".join(query)).words
    for sentence in (answer.notice, *answer.problems, _lack_of_meaning(answer) if meaning_counts else ""):
        if sentence:
            note(sentence)
    emit(
        lambda: _answer_object(answer, told, against, explain=explain),
        lambda: _answer_text(answer, against, explain=explain),
    )


def _lack_of_meaning(answer: SearchAnswer) -> str:
    """Return why an answer is by words alone; empty where it is by meaning too."""
    if answer.semantic == "off" and not is_installed():
        return f"{NOT_INSTALLED} These are the results by words. {INSTALL_HINT}"
    return _SEMANTIC_STATES[answer.semantic]


def _search_past(query: str, limit: int, at: str) -> None:
    with open_workspace() as workspace, open_past(workspace, at) as past:
        answer = past.search(query, limit=limit)
        against = past.contradicting([hit.memory.id for hit in answer.hits])
        told = with_verifier_names(workspace, [hit.memory for hit in answer.hits])
        entry = past.entry
    for sentence in answer.problems:
        note(sentence)
    results = [
        {
            "id": hit.memory.id,
            "score": hit.score,
            "snippet": hit.passage.text,
            "marks": hit.passage.marks,
            **to_plain(memory),
            "contradicts": against.get(hit.memory.id, []),
        }
        for hit, memory in zip(answer.hits, told, strict=True)
    ]
    emit(
        {"results": results, "total": answer.total, "entry": entry.seq, "at": entry.at, "problems": answer.problems},
        lambda: (
            "\n\n".join(_past_hit_text(hit, against.get(hit.memory.id, ())) for hit in answer.hits)
            or "Nothing was found there."
        ),
    )


def _past_hit_text(hit: PastHit, against: Sequence[str]) -> str:
    memory = hit.memory
    labels = condition_labels(memory, [OtherSide(other, "") for other in against])
    lines = [f"{bold(safe(memory.headline))}", f"       {safe(memory.id)}  {memory.kind}, {safe(memory.namespace)}"]
    lines[-1] += safe(bracketed(labels))
    return "\n".join([*lines, *_passage_lines(memory, hit.passage.text, hit.passage.marks)])


def _answer_object(
    answer: SearchAnswer, told: Sequence[Memory], against: Mapping[str, Sequence[str]], *, explain: bool
) -> dict[str, Any]:
    """Return an answer as JSON; ``told`` are its memories with the names of their verifiers."""
    return {
        "results": [
            _hit_object(hit, memory, explain=explain) | {"contradicts": against.get(hit.id, [])}
            for hit, memory in zip(answer.results, told, strict=True)
        ],
        "total": answer.total,
        "semantic": answer.semantic,
        "problems": list(answer.problems),
        "notice": answer.notice,
    }


def _hit_object(hit: SearchHit, memory: Memory, *, explain: bool) -> dict[str, Any]:
    match = {
        "id": hit.id,
        "relevance": round(hit.relevance, 4),
        "score": round(hit.score, 6),
        "snippet": hit.snippet,
        "marks": hit.marks,
    }
    reasons = {"explain": hit.explain()} if explain else {}
    return match | to_plain(memory) | reasons


def _answer_text(answer: SearchAnswer, against: Mapping[str, Sequence[str]], *, explain: bool) -> str:
    if not answer.results:
        return "Nothing found."
    return "\n\n".join(_hit_text(hit, against.get(hit.id, ()), explain=explain) for hit in answer.results)


def _hit_text(hit: SearchHit, against: Sequence[str], *, explain: bool) -> str:
    memory = hit.memory
    sides = [OtherSide(other, "") for other in against]
    labels = [*caution_labels(memory, clock.now()), *condition_labels(memory, sides)]
    about = f"{memory.kind}, {memory.namespace}{bracketed(labels)}"
    lines = [f"{hit.relevance:.3f}  {bold(safe(memory.headline))}", f"       {safe(memory.id)}  {safe(about)}"]
    lines += _passage_lines(memory, hit.snippet, hit.marks)
    if explain:
        numbers = (f"{name} {_format_number(value)}" for name, value in hit.explain().items() if value is not None)
        lines.append(f"       {', '.join(numbers)}")
    return "\n".join(lines)


def _format_number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _passage_lines(memory: Memory, passage: str, marks: Sequence[tuple[int, int]]) -> list[str]:
    """Return the line with the passage that was found; none where it is the heading, which stands above it."""
    return [] if passage == memory.headline else [f"       {_marked_snippet(passage, marks)}"]


def _marked_snippet(snippet: str, marks: Sequence[tuple[int, int]]) -> str:
    """Return the snippet with the query's words in bold; each piece is made safe to show on its own."""
    pieces, end = [], 0
    for start, stop in marks:
        pieces += [safe(snippet[end:start]), bold(safe(snippet[start:stop]))]
        end = stop
    return "".join([*pieces, safe(snippet[end:])])


@group(
    "searches",
    invoke_without_command=True,
    short_help="Keep searches under a name.",
    examples="""
    memento searches
    memento searches save "API decisions" tag:api kind:decision
    memento searches run "api decisions"
    """,
)
@click.pass_context
def searches(ctx: click.Context) -> None:
    """Keep searches under a name; the app has the same ones. Without a command, list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_searches)


@searches.command(
    "list",
    short_help="List the saved searches.",
    examples="""
    memento searches list
    memento searches list --json
    """,
)
def list_searches() -> None:
    """List the saved searches by name."""
    with open_workspace() as workspace:
        found = workspace.saved_searches.list()
    emit(
        lambda: {"items": [to_plain(saved) for saved in found], "next": None},
        lambda: (
            table(["NAME", "QUERY"], [[saved.name, saved.query] for saved in found])
            or 'None yet. memento searches save "API decisions" tag:api kind:decision'
        ),
    )


@searches.command(
    "save",
    short_help="Save a search.",
    examples="""
    memento searches save "API decisions" tag:api kind:decision
    memento searches save "API decisions" tag:api,web kind:decision --replace
    """,
)
@click.argument("name")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("--replace", is_flag=True, help="Replace the search of this name.")
def save_search(name: str, query: tuple[str, ...], *, replace: bool) -> None:
    """Save QUERY under NAME."""
    with open_workspace(create=True) as workspace:
        saved = workspace.saved_searches.save(name, " ".join(query), replace=replace)
    emit(to_plain(saved), lambda: safe(f"{saved.name}  saved: {saved.query}"))


@searches.command(
    "rename",
    short_help="Rename a saved search.",
    examples="""
    memento searches rename "API decisions" "decided about the API"
    """,
)
@click.argument("name", shell_complete=complete_ids("search"))
@click.argument("new_name")
def rename_search(name: str, new_name: str) -> None:
    """Rename the saved search NAME to NEW_NAME."""
    with open_workspace() as workspace:
        saved = workspace.saved_searches.rename(name, new_name)
    emit(to_plain(saved), lambda: safe(f"{saved.name}  renamed"))


@searches.command(
    "remove",
    short_help="Remove a saved search.",
    examples="""
    memento searches remove "API decisions"
    """,
)
@click.argument("name", shell_complete=complete_ids("search"))
def remove_search(name: str) -> None:
    """Remove the saved search NAME; the memories it finds stay."""
    with open_workspace() as workspace:
        removed = workspace.saved_searches.remove(name)
    emit(to_plain(removed), lambda: safe(f"{removed.name}  removed; it was: {removed.query}"))


@searches.command(
    "run",
    short_help="Run a saved search.",
    examples="""
    memento searches run "API decisions"
    memento searches run "API decisions" --limit 50 --json
    """,
)
@click.argument("name", shell_complete=complete_ids("search"))
@click.option("--limit", type=click.IntRange(1, 1000), metavar="NUMBER", default=10, show_default=True)
@click.pass_context
def run_search(ctx: click.Context, name: str, limit: int) -> None:
    """Run the saved search NAME as `memento search` would."""
    with open_workspace() as workspace:
        saved = workspace.saved_searches.get(name)
    ctx.invoke(search, query=(saved.query,), mode="hybrid", limit=limit, wait=False, explain=False, at=None)


commands = {"search": search, "searches": searches}
