"""memento as the retrieval evaluation asks for it: an index over documents, then ids for each question.

From the project's root::

    python ../shared/eval/eval_retrieval.py --dataset locomo --path ../shared/data/retrieval/locomo_dev.json \\
        --py tests.benchmarks.retrieval:index
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import memento_tui

__all__ = ["index"]


def index(documents: Sequence[dict[str, Any]]) -> Callable[[str, int], list[str]]:
    """Remember the documents in a workspace of their own, and return the function that searches it."""
    folder = tempfile.TemporaryDirectory(prefix="memento-retrieval-", ignore_cleanup_errors=True)
    workspace = memento_tui.open(folder.name)

    def close() -> None:
        workspace.search_engine.semantic.stop()
        workspace.close()
        folder.cleanup()

    atexit.register(close)
    workspace.remember_many(
        {
            "id": document["id"],
            "content": document["text"].strip() or "(no text)",
            "source": {"session": str(document.get("session", ""))},
        }
        for document in documents
    )
    workspace.search_engine.wait()

    def search(question: str, limit: int) -> list[str]:
        return [hit.id for hit in workspace.search(question, limit=limit).results]

    return search
