"""OWASP's agent-memory-guard as a second judge of the same texts: run by a Python that has the package.

It reads a JSON list of texts from standard input, and writes a list of whether each would be stored. Nothing of memento
is imported, for the package is no dependency of it: ``make poison JUDGE=/path/to/python``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["second_opinion"]


def second_opinion(python: str, texts: Sequence[str]) -> list[bool]:
    """Return for each text whether the package, as another Python has it, would hold it back."""
    script = str(Path(__file__).resolve())
    done = subprocess.run([python, script], input=json.dumps(list(texts)), capture_output=True, text=True, check=True)  # noqa: S603 - the Python that the person named
    answers: list[bool] = json.loads(done.stdout)
    return answers


def _judge() -> None:
    from agent_memory_guard import MemoryGuard, Policy, PolicyViolation  # noqa: PLC0415 - only the other Python has it

    held = []
    for number, text in enumerate(json.load(sys.stdin)):
        guard = MemoryGuard(policy=Policy.strict())
        key = f"notes.{number}"
        try:
            guard.write(key, text)
            held.append(key in guard.quarantine)
        except PolicyViolation:
            held.append(True)
    json.dump(held, sys.stdout)


if __name__ == "__main__":
    _judge()
