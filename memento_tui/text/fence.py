"""Quote text from memories for a model, between two marker lines that the text cannot imitate.

A memory may hold lines that look like the end of a quotation followed by orders. Each fence therefore carries a random
mark that does not occur in its content.
"""

from __future__ import annotations

import json
import os
import re

__all__ = [
    "fenced",
    "is_plain_id",
    "one_line",
    "quoted_id",
    "visible_line",
    "without_invisible",
]

_INVISIBLE_CHARS = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that a model reads and a person does not see: controls, bidi marks, tags, fillers."""

_PLAIN_ID = re.compile(r"[\w./:@#+-]+", re.ASCII)


def fenced(content: str, *, untrusted: bool = False) -> str:
    """Return ``content`` unchanged between an opening and a closing line.

    ``untrusted`` marks the text as coming from outside, in the opening line.
    """
    mark = os.urandom(4).hex()
    while mark in content:
        mark = os.urandom(4).hex()
    label = " [UNTRUSTED]" if untrusted else ""
    return f"--- memento {mark} begin{label} ---\n{content}\n--- memento {mark} end ---"


def one_line(text: str, limit: int = 1000) -> str:
    """Return ``text`` on one line, with one space for every run of white space and line breaks.

    A text of more than ``limit`` characters is cut where a word ends, and ends with ``...``.
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line.rfind(" ", 0, limit + 1)
    return line[: cut if cut > 0 else limit] + " ..."


def is_plain_id(record_id: str) -> bool:
    """Tell whether an id is a mere name. A file's own may be any words."""
    return _PLAIN_ID.fullmatch(record_id) is not None


def quoted_id(record_id: str) -> str:
    """Return an id for use outside a fence: a plain one unchanged, any other in quotation marks."""
    return record_id if is_plain_id(record_id) else json.dumps(record_id, ensure_ascii=True)


def without_invisible(text: str) -> str:
    """Return a text without the characters that a model reads and a person does not see."""
    return _INVISIBLE_CHARS.sub("", text)


def visible_line(text: str, limit: int) -> str:
    """Return the visible characters of a text as `one_line`."""
    return one_line(without_invisible(text), limit)
