"""What a hook costs its host: a whole process before every prompt, and tokens of the agent's context."""

from __future__ import annotations

import gzip
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import tantivy

from memento_tui.api import Workspace
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from tests.benchmarks.corpus import words
from tests.benchmarks.table import Figure, Row

__all__ = ["hook_process", "replayed_sessions"]

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"
_TURNS = 15
_SESSIONS = 150
_ABOUT_OTHER_THINGS, _TRIVIAL = 5, 2
_VAULT_TOKENS = 139
"""What Memento Vault publishes for a session."""
_FRAMES = (
    "{}",
    "how did we do this: {}",
    "can you remind me what we decided about {}?",
    "I want to go on with {}. What do we know?",
)
_SAID = ("yes", "ok, go on", "looks good, thanks", "run the tests again", "continue", "perfect, commit that")


def hook_process(folder: Path, named: str) -> Row:
    """Compare ``memento-hook UserPromptSubmit`` as a whole process with an interpreter that does nothing, by turns."""
    vocabulary = words()
    program = str(Path(sys.executable).with_name("memento-hook"))
    ours, bare = [], []
    for turn in range(_TURNS):
        prompt = (
            f"where did we put {vocabulary[300 + turn]} {vocabulary[1500 + turn]} and the {vocabulary[9000 + turn]}"
        )
        call = json.dumps({"session_id": f"bench {turn}", "cwd": str(folder), "prompt": prompt}).encode()
        ours.append(_seconds([program, "UserPromptSubmit", "--data-dir", str(folder)], call))
        bare.append(_seconds([sys.executable, "-c", "pass"], b""))
    ratio = statistics.median(ours) / statistics.median(bare)
    what = f"memento-hook UserPromptSubmit as a whole process at {named} memories / python -c pass"
    return Row(what, _told(ours), _told(bare), ratio, 4)


def _seconds(command: list[str], stdin: bytes) -> float:
    begun = perf_counter()
    subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - the program measured
    return perf_counter() - begun


def _told(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} ms"


class _Session(NamedTuple):
    """The prompts of one session, and for each the memories of which one is needed (none for most)."""

    prompts: list[tuple[str, frozenset[str]]]


class _Tally(NamedTuple):
    tokens: float
    """Told in a session, on average."""
    recall: float
    """The share of the prompts that needed a memory and were told one that answers."""


def replayed_sessions(scratch: Path) -> tuple[list[Row], list[Figure]]:
    """Replay sessions over real memories, and count what the hooks tell; nothing where the data is not there.

    A session begins, then eight prompts are sent in a random order: one needs a memory (it holds the title that an
    agent gave it; the memory holds the body), five are about other things (what people said in LongMemEval), two are
    trivial.
    Beside it the same prompts are answered by Memento Vault's published rules: BM25 divided by the best hit's, at least
    0.6, at most three notes of 300 characters, and no search for a prompt of more than 200 characters.
    """
    if not _DATA.is_dir():
        return [], []
    documents, needed = _engram()
    sessions = list(_sessions(needed))
    folder = scratch / "replay"
    folder.mkdir()
    (folder / "config.toml").write_text("[engine]\nenabled = false\n")
    with Workspace(folder) as workspace:
        stored = workspace.remember_many({"content": text} for text in documents.values())
        own = {name: memory.id for name, memory in zip(documents, stored, strict=True)}
        workspace.search_engine.keyword.catch_up()
    ours = _tally(sessions, own, lambda number, prompt: _hooked(folder, number, prompt))
    vault = _vault_rules(documents)
    theirs = _tally(sessions, {}, lambda _, prompt: vault(prompt))
    row = Row(
        "tokens injected over a replayed session / Memento Vault's published figure",
        f"{ours.tokens:.0f}",
        str(_VAULT_TOKENS),
        ours.tokens / _VAULT_TOKENS,
        1,
    )
    return [row], [
        Figure("recall of what a session's prompts needed (beside: Memento Vault's rules)", ours.recall, theirs.recall),
        Figure("tokens a session by Memento Vault's rules on the same prompts", theirs.tokens, ours.tokens),
    ]


def _engram() -> tuple[dict[str, str], list[tuple[str, frozenset[str]]]]:
    documents, needed = {}, []
    for line in (_DATA / "engram_titles_dev.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        documents.update({one["id"]: one["text"] for one in case["docs"] if one["text"].strip()})
        needed += [(query["text"], frozenset(query["gold"])) for query in case["queries"]]
    return documents, needed


def _said_by_people() -> list[str]:
    found = []
    with gzip.open(_DATA / "longmemeval_s_mini12.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            sessions: list[list[dict[str, Any]]] = json.loads(line)["haystack_sessions"]
            found += [turn["content"] for turns in sessions for turn in turns if turn["role"] == "user"]
    return found


def _sessions(needed: list[tuple[str, frozenset[str]]]) -> Iterator[_Session]:
    rng = random.Random(11)
    others = _said_by_people()
    for number, (title, gold) in enumerate(rng.sample(needed, _SESSIONS)):
        prompts = [(_FRAMES[number % len(_FRAMES)].format(title), gold)]
        prompts += [(text, frozenset[str]()) for text in rng.sample(others, _ABOUT_OTHER_THINGS)]
        prompts += [(text, frozenset[str]()) for text in rng.sample(_SAID, _TRIVIAL)]
        rng.shuffle(prompts)
        yield _Session(prompts)


def _tally(sessions: list[_Session], ids: Mapping[str, str], answer: Callable[[int, str], str]) -> _Tally:
    """``ids`` are those that the memories go by in the answers, where they are not their own."""
    tokens, found, asked = 0, 0, 0
    for number, session in enumerate(sessions):
        tokens += -(-len(answer(number, "")) // 4)
        for prompt, gold in session.prompts:
            told = answer(number, prompt)
            tokens += -(-len(told) // 4)
            asked += bool(gold)
            found += any(ids.get(name, name) in told for name in gold)
    return _Tally(tokens / len(sessions), found / asked)


def _hooked(folder: Path, number: int, prompt: str) -> str:
    """Return what the hook tells; an empty prompt stands for the beginning of the session."""
    sent = {"session_id": f"replay {number}", "cwd": str(folder), "prompt": prompt, "source": "startup"}
    call = parse_call("claude-code", "UserPromptSubmit" if prompt else "SessionStart", json.dumps(sent).encode())
    return "" if call is None else context_for_call(call, DataPaths(folder), HookSettings())


def _vault_rules(documents: dict[str, str]) -> Callable[[str], str]:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for name, text in documents.items():
        writer.add_document(tantivy.Document(id=name, body=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def answer(prompt: str) -> str:
        if not prompt or len(prompt) > 200 or len(prompt.split()) < 3:
            return ""
        query, _ = index.parse_query_lenient(prompt, ["body"])
        hits = searcher.search(query, limit=3).hits
        found = [(score, str(searcher.doc(address)["id"][0])) for score, address in hits]
        notes = [f"{name}: {documents[name][:300]}" for score, name in found if score >= 0.6 * found[0][0]]
        return "\n".join(notes)

    return answer
