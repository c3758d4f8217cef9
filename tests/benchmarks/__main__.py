"""Run the benchmarks and write their table: ``python -m tests.benchmarks [--quick]``.

``--quick`` leaves out what needs a million memories and a full import.
"""

from __future__ import annotations

import compileall
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from memento_tui.api import Workspace
from tests.benchmarks.agents import first_tools, remember_round_trip, tool_tokens
from tests.benchmarks.app import first_frame, keystrokes, memory_use
from tests.benchmarks.conflicts import results as conflicts
from tests.benchmarks.corpus import memories, words
from tests.benchmarks.guarding import results as guarding
from tests.benchmarks.hour import growth
from tests.benchmarks.meaning import hybrid_query
from tests.benchmarks.sessions import replayed_sessions
from tests.benchmarks.skips import results as skips
from tests.benchmarks.storing import bulk_import, remember_rate
from tests.benchmarks.table import Row, as_markdown, figures_as_markdown, kept_sections
from tests.benchmarks.workbench import at_work

_RESULTS = Path(__file__).with_name("RESULTS.md")
_HEAD = """# Results

Made by `make bench`. Each row compares memento with the bare parts it is made of, by turns in one run: on a busy
machine the figures move and the ratios stay. A target that was missed stands here with its figure.

"""
_QUALITY_HEADING = "On data"
_QUALITY = f"""
## {_QUALITY_HEADING}

Contradictions on the development pairs (LongMemEval's knowledge updates, SICK); the gate on real memories that agents
wrote, and on attacks and secrets written for the purpose. `python -m tests.benchmarks.conflicts` and
`python -m tests.benchmarks.guarding --tell` show more, and retrieval is `tests/benchmarks/retrieval.py`.

Texts that several writers made who had never seen the rules. Those of seven writers, and every second one of the
first writer's, are read while rules are made and weights are fitted (`python -m tests.benchmarks.secrets_fit`); the
other half of the first writer's and all of the fifth's never, and only their counts were looked at. They are not
kept here, for they hold secrets whole. The fifth wrote more passwords that people choose, in prose.

| what, of texts that were never read | rules alone | and weights of four writers | and weights of seven | target |
|---|---|---|---|---|
| first writer: texts left without a secret, of 199 | 0.869 | 0.920 | 0.960 | >= 0.97: **no** |
| first writer: honest texts that lost a word, of 149 | 4 | 6 | 8 | <= 1: **no** |
| fifth writer: texts left without a secret, of 330 | 0.724 | 0.800 | 0.879 | >= 0.97: **no** |
| fifth writer: honest texts about the same things that lost a word, of 219 | 3 | 6 | 9 | <= 2: **no** |
| first writer: attacks in plain words that are held, of 100 | 15 | | | >= 45: **no** |
| first writer: honest instructions that are held, of 100 | 4 | | | <= 2: **no** |

The last three of the seven writers were asked for what is hardest to see: door codes, passphrases in prose, a third of
it in 26 languages. When their texts were new, rules and weights together left .53, .49 and .48 of them without a
secret (1,403 texts); weights that had seen the other two and not the one measured leave .72, .68 and .69, and take
a word from 66 of their 1,400 honest texts. Plain sentences with numbers and ids, by which a reader found words lost
("The area code is 0301 for tests."), were taken among the honest texts since; that costs two texts in a hundred there.

Of 2,025 memories of real agents, told in turns by weights that had not seen them, 14 lose a word, as a whole or in one
of their lines; of 7,145 honest texts of the writers and of this repository's tests, many written to look alike, 114 do.
The rows below are of weights that have seen them.

Against attacks in plain words three ways were tried and left out. Hand-made rules for what they ask held 88 of the
100 that were read, 17 of the 100 that were not: they had learned the texts by heart. Weights of words and pairs,
learned from 1,003 attacks and 1,030 honest memories of three writers, held 32 to 38 of 100 attacks of a writer whom
they had not seen, and 3 to 13 of 100 honest instructions, 1.1 % of real memories, and plain notes in the tests of
this program: a queue of false alarms.
A third way, rules about form alone (a standing order with a secret or an address outside, a guard that is off, a
thing to be kept from the person, a consent that is claimed), held 20 of 100 attacks and 4 of 198 honest instructions
that the same hand had written before, and 12 of 8,594 parts of real memories; without them 1 and none are held.

"""
_KEYWORDS_ONLY = "[engine]\nenabled = false\n[review]\nburst = 0\n"


def _filled(folder: Path, count: int) -> Path:
    folder.mkdir()
    (folder / "config.toml").write_text(_KEYWORDS_ONLY)
    with Workspace(folder) as workspace:
        workspace.remember_many(memories(count))
        workspace.search_engine.keyword.catch_up()
    return folder


def _typed() -> list[str]:
    vocabulary = words()
    return [
        f"{vocabulary[300]} {vocabulary[1500]}",
        f"{vocabulary[40]} {vocabulary[5000]}",
        f"kind:decision {vocabulary[900]}",
        vocabulary[12000],
        f"{vocabulary[2]} {vocabulary[3]} {vocabulary[4]}",
    ]


def _rows(scratch: Path, *, quick: bool) -> Iterator[Row]:
    scratch.joinpath("bulk").mkdir()
    (scratch / "bulk" / "config.toml").write_text(_KEYWORDS_ONLY)
    yield remember_rate(scratch)
    yield bulk_import(scratch, 10_000 if quick else 100_000)
    yield hybrid_query(scratch, 2_000)
    yield remember_round_trip(scratch)
    yield first_tools(scratch)
    hundred = _filled(scratch / "hundred", 100_000)
    yield from first_frame(hundred, scratch)
    yield keystrokes(hundred, "100,000", _typed())
    yield from at_work(_filled(scratch / "thousand", 1_000), "1,000")
    yield from at_work(hundred, "100,000")
    if not quick:
        million = _filled(scratch / "million", 1_000_000)
        yield keystrokes(million, "1,000,000", _typed())
        yield memory_use(million, scratch, "1,000,000")
        yield from at_work(million, "1,000,000")
        yield growth(hundred, "100,000")


def main() -> None:
    """Run everything, tell each row when it is known, and write the table."""
    quick = "--quick" in sys.argv[1:]
    # An installed program starts from bytecode; a checkout may not have any yet.
    compileall.compile_dir(_RESULTS.parents[2] / "memento_tui", quiet=1)
    rows = []
    with tempfile.TemporaryDirectory(prefix="memento-bench-") as scratch:
        os.environ["XDG_STATE_HOME"] = scratch  # the app notes there what it opens
        replayed, recalled = replayed_sessions(Path(scratch))
        recalled += tool_tokens(Path(scratch))
        for row in chain(_rows(Path(scratch), quick=quick), replayed):
            rows.append(row)
            print(f"{row.what}: {row.ours} / {row.bare} = {row.value:.2f} {row.unit}", flush=True)
    table = as_markdown(rows)
    if quick:
        print(table)
    else:
        others = kept_sections(_RESULTS, but=_QUALITY_HEADING)
        figures = figures_as_markdown([*conflicts(), *guarding(), *skips(), *recalled])
        _RESULTS.write_text(f"{_HEAD}{table}\n{_QUALITY}{figures}\n{others}")


main()
