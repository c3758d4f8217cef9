"""The development questions of LongMemEval_S, each asked of a store of its own haystack through the public API.

``python -m tests.benchmarks.longmemeval`` prints the figures and writes them into RESULTS.md; ``--questions N`` takes a
sample that ``--seed S`` draws, ``--turns N`` fewer of them of user turns, and ``--dry-run`` writes nothing. A document
is a whole session of the haystack, or one turn of the user's, as in LongMemEval's own two settings; the questions
without an answer are left out. The stores of all questions share one model in this process, which embeds a text once
(`tests.benchmarks.in_process_engine`); ranking is `Workspace.search`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from tests.benchmarks.in_process_engine import InProcessEngine, RememberingEmbedder
from tests.benchmarks.rankings import Measures, interval, measures
from tests.benchmarks.retrieval import index
from tests.benchmarks.table import write_section

_HEADING = "LongMemEval"

_DATA = Path(__file__).parents[3] / "shared" / "data" / "retrieval" / "longmemeval_s_dev.jsonl.gz"
_RESULTS = Path(__file__).with_name("RESULTS.md")
_DEPTH = 50
"""Results that are asked for."""
_PUBLISHED = 0.892
"""NDCG@10 that Memento Vault publishes for its own search on all 500 questions, sessions rolled up from turns."""

_SESSIONS, _TURNS, _ROLLED_UP = "session documents", "user turns", "user turns, the sessions they are from"


class _Case(NamedTuple):
    """One question, what its haystack holds, and what answers it."""

    question: str
    documents: list[dict[str, Any]]
    answers: frozenset[str]
    """The ids of the documents that answer."""
    sessions: frozenset[str]
    """The names of the sessions that answer."""


def _questions(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the questions that have an answer, as the file holds them."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if not entry["question_id"].endswith("_abs"):
                yield entry


def _ask(entry: Mapping[str, Any], setting: str) -> _Case:
    """Return a question as a case of a setting, `_SESSIONS` or `_TURNS`."""
    documents: list[dict[str, Any]] = []
    answers: set[str] = set()
    seen: Counter[str] = Counter()
    of_answer = set(entry["answer_session_ids"])
    for name, session in zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True):
        hidden = _hidden(name)
        seen[hidden] += 1  # a few haystacks repeat a session
        key = hidden if seen[hidden] == 1 else f"{hidden}~{seen[hidden]}"
        if setting == _SESSIONS:
            text = "\n".join(f"{turn['role']}: {turn['content']}" for turn in session)
            documents.append({"id": key, "text": text, "session": hidden})
            answers.update({key} if name in of_answer else ())
            continue
        for number, turn in enumerate(session):
            if turn["role"] == "user":
                documents.append({"id": f"{key}:{number}", "text": turn["content"], "session": hidden})
                answers.update({f"{key}:{number}"} if turn.get("has_answer") else ())
    return _Case(entry["question"], documents, frozenset(answers), frozenset(map(_hidden, of_answer)))


def _hidden(name: str) -> str:
    """Return another name of a session: LongMemEval calls those that answer ``answer_*``."""
    return "s" + hashlib.sha256(name.encode()).hexdigest()[:11]


Search = Callable[[str, int], list[str]]


def _measure(case: _Case, setting: str, make_search: Callable[[list[dict[str, Any]]], Search]) -> dict[str, Measures]:
    """Ask a question, and return the measures by what counts as a document; none where no document answers."""
    if not case.answers:  # a few have none among the user's turns
        return {}
    ranking = make_search(case.documents)(case.question, _DEPTH)
    found = {setting: measures(ranking, case.answers)}
    if setting == _TURNS:
        session_of = {document["id"]: document["session"] for document in case.documents}
        found[_ROLLED_UP] = measures([session_of[name] for name in ranking], case.sessions)
    return found


class _Kept:
    """The measures of each question and setting, kept in a file so that a run of an hour can be interrupted."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
        self._found = {(row["question"], row["setting"]): row["found"] for row in map(json.loads, lines)}

    def get(self, question: str, setting: str) -> dict[str, Measures] | None:
        """Return what was measured before; ``None`` where nothing was."""
        found = self._found.get((question, setting))
        return None if found is None else {name: Measures(*values) for name, values in found.items()}

    def add(self, question: str, setting: str, found: Mapping[str, Measures]) -> None:
        """Keep what was measured."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"question": question, "setting": setting, "found": found}) + "\n")


def _as_section(rows: Mapping[str, Sequence[Measures]], total: int, seed: int) -> str:
    """Return the section of the results: of ``total`` questions those were asked that the seed draws."""
    about = (
        "Made by `python -m tests.benchmarks.longmemeval`, through the public API with the packaged model, each"
        f" question asked of its own haystack. The development split has {total} questions with an answer; where fewer"
        f" stand here, seed {seed} drew them, and a few have no answer among the user's turns. Memento Vault publishes"
        f" an NDCG@10 of {_PUBLISHED} for its own search, on all 500 questions. Intervals are of 95 %, by resampling"
        " the questions."
    )
    lines = [
        textwrap.fill(about, 120),
        "",
        "| documents | questions | NDCG@10 | interval | R@5 | any@5 | all@5 |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting, found in rows.items():
        recall, any_of, all_of, ndcg = (sum(column) / len(found) for column in zip(*found, strict=True))
        low, high = interval([one.ndcg for one in found])
        lines.append(
            f"| {setting} | {len(found)} | **{ndcg:.3f}** | {low:.3f}-{high:.3f}"
            f" | {recall:.3f} | {any_of:.3f} | {all_of:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Ask the questions, tell the running figures, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.longmemeval", description=_HEADING)
    parser.add_argument("--questions", type=int, metavar="N", help="ask so many, drawn by the seed (default: all)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="draw the questions by this seed")
    parser.add_argument("--turns", type=int, metavar="N", help="ask so many of them of user turns, which take longer")
    parser.add_argument("--dry-run", action="store_true", help="print the table and write nothing")
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep each question's figures there, and go on from it"
    )
    options = parser.parse_args()
    if not _DATA.is_file():
        sys.exit(f"LongMemEval's development questions are not here: {_DATA} is absent. Nothing was measured.")
    drawn = list(_questions(_DATA))
    total = len(drawn)
    random.Random(options.seed).shuffle(drawn)
    drawn = drawn[: options.questions]
    rows = _rows({_SESSIONS: drawn, _TURNS: drawn[: options.turns]}, _Kept(options.rows))
    section = _as_section(rows, total, options.seed)
    print(section)
    if not options.dry_run:
        write_section(_RESULTS, _HEADING, section)


def _rows(asked: Mapping[str, Sequence[Mapping[str, Any]]], kept: _Kept) -> dict[str, list[Measures]]:
    """Return the measures of the questions of each setting, by what counts as a document."""
    torch.set_num_threads(1)  # on a machine that does other work, two threads wait for each other most of the time
    embedder = RememberingEmbedder()
    make_search = partial(index, make_engine=lambda workspace: InProcessEngine(workspace, embedder))
    rows: dict[str, list[Measures]] = {}
    for setting, drawn in asked.items():
        for number, entry in enumerate(drawn, 1):
            found = kept.get(entry["question_id"], setting)
            if found is None:
                found = _measure(_ask(entry, setting), setting, make_search)
                kept.add(entry["question_id"], setting, found)
            for name, one in found.items():
                rows.setdefault(name, []).append(one)
            if setting in rows:
                mean = sum(one.ndcg for one in rows[setting]) / len(rows[setting])
                print(f"{setting}, {number} of {len(drawn)}: NDCG@10 {mean:.3f}", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
