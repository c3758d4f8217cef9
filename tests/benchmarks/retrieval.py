"""memento as the retrieval evaluation asks for it: an index over documents, then ids for each question.

From the project's root::

    python ../shared/eval/eval_retrieval.py --dataset locomo --path ../shared/data/retrieval/locomo_dev.json \\
        --py tests.benchmarks.retrieval:index

With ``MEMENTO_WORDS_ONLY=1`` there is no engine, as in a hook or before a model is installed.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model.filters import AllOf, with_default_statuses
from memento_tui.search.engine_client import SemanticClient

__all__ = ["index"]

_open: list[Callable[[], None]] = []


@atexit.register
def _close_last() -> None:
    while _open:
        _open.pop()()


def index(
    documents: Sequence[dict[str, Any]], make_engine: Callable[[Workspace], SemanticClient] | None = None
) -> Callable[[str, int], list[str]]:
    """Remember the documents in a workspace of their own, and return the function that searches it.

    ``make_engine`` makes the engine once all is remembered, where it is not a process of its own.
    """
    _close_last()  # each has an engine, which holds a model
    folder = tempfile.TemporaryDirectory(prefix="memento-retrieval-", ignore_cleanup_errors=True)
    if os.environ.get("MEMENTO_WORDS_ONLY"):
        Path(folder.name, "config.toml").write_text("[engine]\nenabled = false\n")
    workspace = memento_tui.open(folder.name)

    def close() -> None:
        workspace.search_engine.semantic.stop()
        workspace.close()
        folder.cleanup()

    _open.append(close)
    workspace.remember_many(
        {
            "id": document["id"],
            "content": document["text"].strip() or "(no text)",
            "source": {"session": str(document.get("session", ""))},
        }
        for document in documents
    )
    if make_engine is None:
        workspace.search_engine.wait()
    else:
        workspace.search_engine.semantic = make_engine(workspace)
    recalled = workspace.count(with_default_statuses(AllOf()))
    if recalled != len(documents):
        # The gate lets some wait for a person: they are missed, as an agent would miss them.
        print(f"{recalled} of {len(documents)} documents can be recalled", file=sys.stderr)

    def search(question: str, limit: int) -> list[str]:
        return [hit.id for hit in workspace.search(question, limit=limit).results]

    return search
