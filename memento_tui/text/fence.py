"""Quote text from memories for a model: between two lines that nothing inside can imitate.

A memory may hold anything, also lines that look like the end of a quotation followed by orders. Each fence therefore
carries a random mark that its content does not hold.
"""

from __future__ import annotations

import json
import os
import re

__all__ = ["fenced", "one_line", "quoted_id"]

_PLAIN_ID = re.compile(r"[\w./:@#+-]+", re.ASCII)


def fenced(content: str, *, untrusted: bool = False) -> str:
    """Return ``content`` as it is, below a line that opens it and above one that closes it.

    ``untrusted`` says in the opening line that the text came from outside.
    """
    mark = os.urandom(4).hex()
    while mark in content:
        mark = os.urandom(4).hex()
    label = " [UNTRUSTED]" if untrusted else ""
    return f"--- memento {mark} begin{label} ---\n{content}\n--- memento {mark} end ---"


def one_line(text: str, limit: int = 1000) -> str:
    """Return ``text`` with every run of white space, line breaks of any kind among it, as one space.

    What is longer than ``limit`` characters is cut where a word ends, and says so with ``...``.
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", 0, limit + 1)
    return line[: cut if cut > 0 else limit] + " ..."


def quoted_id(record_id: str) -> str:
    """Return an id as it may stand outside a fence: plain ones as they are, any other in quotation marks."""
    return record_id if _PLAIN_ID.fullmatch(record_id) else json.dumps(record_id, ensure_ascii=True)
