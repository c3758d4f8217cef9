"""Attack every text of every way in, and write what came of it: ``python -m tests.poison [--seed N] [--judge PYTHON]``.

``--judge`` names a Python that has OWASP's agent-memory-guard, which is asked about the same texts. The exit status is
1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks import __file__ as benchmarks
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.table import write_section
from tests.poison.honest import Honest, honest_memories
from tests.poison.report import HEADING, HONEST_GOAL, as_markdown, described, goals
from tests.poison.second_judge import second_opinion
from tests.poison.suite import Outcome, Size, attack_everything

_RESULTS = Path(benchmarks).with_name("RESULTS.md")
_QUESTIONS = 4
"""Ways out that are asked about each attack, besides those that list everything; other ones for each."""


def main() -> int:
    """Run everything, print and write the table, and return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.poison")
    parser.add_argument("--seed", type=int, default=1, help="what the attacks are drawn from")
    parser.add_argument("--cases", type=int, default=None, help="attacks on each channel; all by default")
    parser.add_argument("--judge", default="", metavar="PYTHON", help="a Python that has agent-memory-guard")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memento-poison-") as folder:
        attacked = Path(folder) / "attacks"
        attacked.mkdir()
        outcome = attack_everything(attacked, Size(options.cases, _QUESTIONS), options.seed, tell=_tell)
        honest = _honest(Path(folder), options.seed)
    agreement = _agreement(outcome, options.judge) if options.judge else ""
    table = as_markdown(outcome, honest, agreement, options.cases)
    print(described(outcome))
    print(table)
    write_section(_RESULTS, HEADING, table)
    is_met = not outcome.faults and not any(leaks for _, leaks in goals(outcome))
    is_met = is_met and (honest is None or honest.share <= HONEST_GOAL)
    return 0 if is_met else 1


def _tell(line: str) -> None:
    print(line, flush=True)


def _honest(scratch: Path, seed: int) -> Honest | None:
    with unpacked_archive() as data:
        if data is None:
            print("../shared/data/agent_memory.tar.gz is absent: nothing is measured on honest memories.")
            return None
        found = honest_memories(scratch, data, None, seed)
        print("\n".join(found.kept))
        return found


def _agreement(outcome: Outcome, python: str) -> str:
    """Return in words how far the other judge answers as the gate's text rules do."""
    cases = [case for case in outcome.cases if case.attack.mark in outcome.marks_stored]
    theirs = second_opinion(python, [case.attack.text for case in cases])
    ours = [case.attack.mark in outcome.marks_held for case in cases]
    same = sum(one == other for one, other in zip(ours, theirs, strict=True))
    return (
        f"OWASP's agent-memory-guard (strict policy), which judges texts alone, holds back"
        f" {sum(theirs) / len(cases):.1%} of those that were stored; the gate, which also judges where they come from"
        f" and what they change, {sum(ours) / len(cases):.1%}. Both answer alike about {same / len(cases):.1%}."
    )


if __name__ == "__main__":
    raise SystemExit(main())
