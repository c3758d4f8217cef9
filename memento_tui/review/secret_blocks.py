"""Private keys in blocks of text: the whole block, also where its end was cut off."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from memento_tui.review.secret_rules import Found

__all__ = ["block_spans"]

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = re.compile(r"Private-Lines: \d{1,4}")
_BODY = re.compile(
    r"""(?x) (?: (?: \\[nrt] | [\s>|"'+,#*`-] )*+
        (?: (?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200} | [A-Za-z0-9+/=]{16,}+ ) )*+
    (?: (?:\\[nr]|\s){1,4} [A-Za-z0-9+/]{0,15} ={1,2}[A-Za-z0-9+/]{0,4} )?""",
    re.ASCII,
)
"""What a key's text looks like, line breaks written as ``\\n`` among them: headers and long runs of base64."""
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{16}", re.ASCII)
_LONGEST = 65_536
"""Characters between a beginning and its end; the largest RSA keys take 13,000."""


def block_spans(text: str) -> Iterator[Found]:
    """Yield every private key: from its first line to its last, or to where its text stops looking like a key.

    A beginning without any key after it is a sentence about private keys, and stays.
    """
    if "PRIVATE KEY" in text:
        ends = [match.end() for match in _END.finditer(text)]
        last = 0
        for match in _BEGIN.finditer(text):
            if match.start() >= last:
                last = max(last, _end_of(text, match, ends))
                if last > match.end():
                    yield match.start(), last, "private key"
    if "Private-Lines: " in text:
        for match in _PUTTY.finditer(text):
            body = _BODY.match(text, match.end())
            if body is not None and _LONG_RUN.search(body[0]):
                yield *body.span(), "private key"


def _end_of(text: str, begin: re.Match[str], ends: list[int]) -> int:
    """Return where the key ends that begins here, or 0 if there is none."""
    body = _BODY.match(text, begin.end())
    stop = body.end() if body is not None and _LONG_RUN.search(body[0]) else 0
    nearest = bisect_left(ends, begin.end())
    if nearest < len(ends) and ends[nearest] - begin.end() <= _LONGEST:
        inside = text[begin.end() : ends[nearest]]
        if _BEGIN.search(inside) is None and _LONG_RUN.search(inside):
            return ends[nearest]
    return stop
