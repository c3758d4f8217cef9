"""The command ``search``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from memento_tui.cli.command import command
from memento_tui.cli.output import bold, emit, note, safe
from memento_tui.cli.session import opened
from memento_tui.search.language import parse
from memento_tui.store.tables import as_plain

if TYPE_CHECKING:
    from memento_tui.workspace.searching import Hit, SearchAnswer

__all__ = ["commands"]

_STATES = {
    "ready": "",
    "warming": "Semantic search is warming up: these are the results by words. --wait waits for it.",
    "off": "Semantic search does not work: these are the results by words. `memento engine logs` may say why.",
}


@command(
    "search",
    short_help="Search memories by words and by meaning.",
    examples="""
    memento search "users endpoint"
    memento search '"exact phrase" -draft tag:api certainty:>=4' --mode keyword
    memento search "how do we deploy" --wait --limit 5 --json
    """,
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("--mode", type=click.Choice(["keyword", "semantic", "hybrid"]), default="hybrid", show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), metavar="NUMBER", default=10, show_default=True)
@click.option("--wait", is_flag=True, help="Wait until the indexes, embeddings too, hold all that was written before.")
@click.option("--explain", is_flag=True, help="Show every number that made a rank.")
def search(
    query: tuple[str, ...], mode: Literal["keyword", "semantic", "hybrid"], limit: int, *, wait: bool, explain: bool
) -> None:
    """Search for QUERY: words, "phrases", -not, and filters such as tag:api, as `memento list --help` shows them.

    Put it in quotes: your shell takes "phrases" and -not for its own otherwise.
    """
    with opened() as workspace:
        answer = workspace.search(" ".join(query), mode=mode, limit=limit, wait=wait)
        meaning_counts = mode != "keyword" and workspace.config.engine.enabled and parse(" ".join(query)).words
    for sentence in (answer.notice, *answer.problems, _STATES[answer.semantic] if meaning_counts else ""):
        if sentence:
            note(sentence)
    emit(lambda: _plain(answer, explain=explain), lambda: _text(answer, explain=explain))


def _plain(answer: SearchAnswer, *, explain: bool) -> dict[str, Any]:
    return {
        "results": [_plain_hit(hit, explain=explain) for hit in answer.results],
        "total": answer.total,
        "semantic": answer.semantic,
        "problems": list(answer.problems),
        "notice": answer.notice,
    }


def _plain_hit(hit: Hit, *, explain: bool) -> dict[str, Any]:
    found = {"id": hit.id, "score": round(hit.score, 6), "snippet": hit.snippet, "marks": hit.marks}
    reasons = {"explain": hit.explain()} if explain else {}
    return found | as_plain(hit.memory) | reasons


def _text(answer: SearchAnswer, *, explain: bool) -> str:
    if not answer.results:
        return "Nothing found."
    return "\n\n".join(_text_hit(hit, explain=explain) for hit in answer.results)


def _text_hit(hit: Hit, *, explain: bool) -> str:
    memory = hit.memory
    trust = "unverified" if memory.stability == "draft" else memory.stability
    about = f"{memory.kind}, {trust}, {memory.namespace}"
    lines = [f"{hit.score:.3f}  {bold(safe(memory.headline))}", f"       {safe(memory.id)}  {safe(about)}"]
    lines.append(f"       {_marked(hit)}")
    if explain:
        numbers = (f"{name} {_number(value)}" for name, value in hit.explain().items() if value is not None)
        lines.append(f"       {', '.join(numbers)}")
    return "\n".join(lines)


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _marked(hit: Hit) -> str:
    """Return the snippet with the query's words in bold; each piece is made safe on its own."""
    pieces, end = [], 0
    for start, stop in hit.marks:
        pieces += [safe(hit.snippet[end:start]), bold(safe(hit.snippet[start:stop]))]
        end = stop
    return "".join([*pieces, safe(hit.snippet[end:])])


commands = {"search": search}
