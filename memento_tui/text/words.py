"""Name what counts as a word where a text is not parsed, and the scripts that are written without spaces between words.

The parsed words of a text, with their stems and clauses, are those of `text.tokens`, the terms of the index those of
`text.terms`. Imports nothing but the standard library: memento-hook reads it before every prompt.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["PLAIN_WORD", "SOUTHEAST_ASIAN_CHARACTERS", "UNSPACED_CHARACTERS", "WORD", "prose_word"]

WORD = re.compile(r"\w+")
"""Letters, digits and underscores: ``max_size`` is one word."""

PLAIN_WORD = re.compile(r"[^\W_]+")
"""Letters and digits alone: ``max_size`` is two words, as ``max-size`` and ``max size`` are."""

SOUTHEAST_ASIAN_CHARACTERS = (
    r"\u0e01-\u0e4e"  # Thai
    r"\u0e81-\u0ece\u0edc-\u0edf"  # Lao
    r"\u1000-\u103f\u1050-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese, and what it lends to
    r"\u1780-\u17d3\u17dc\u17dd"  # Khmer
)
"""Letters, vowel signs and tone marks, for a class of a pattern; most signs and tones are no ``\\w``."""

UNSPACED_CHARACTERS = rf"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af{SOUTHEAST_ASIAN_CHARACTERS}"
"""Kana, ideographs, hangul and the scripts of Southeast Asia, for a class of a pattern."""


@cache
def prose_word() -> re.Pattern[str]:
    """Return the pattern of a word of prose, which a space or a mark follows; names of fields and links are none.

    Two characters of a script without spaces are a word.
    """
    return re.compile(rf"(?<![^\W\d_])[^\W\d_]{{2,}}+(?=[\s.,;!?)]|$)|[{UNSPACED_CHARACTERS}]{{2}}")
