"""Find the places of secrets in a text: keys, tokens, values assigned or described as secrets, also disguised ones."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from memento_tui.policy.secret_assignments import assignment_spans, secret_kind_of_field, secret_word_in
from memento_tui.policy.secret_formats import format_spans
from memento_tui.policy.secret_likelihood import likely_spans
from memento_tui.policy.secret_patterns import MARKER, SecretSpan, is_drawn, is_key
from memento_tui.policy.secret_tokens import may_hold_tokens, token_spans
from memento_tui.policy.secret_wording import level_signs, wording_spans
from memento_tui.policy.text_views import (
    TextView,
    encoded_blocks,
    has_split_words,
    unescape,
    without_breaks,
    without_invisible,
)

__all__ = ["find_secrets", "kind_by_name"]


def find_secrets(text: str, *, by_weights: bool) -> list[SecretSpan]:
    """Return where secrets stand, in order and without overlaps; ``by_weights`` asks the learned weights too."""
    likely: Iterable[SecretSpan] = likely_spans(text) if by_weights else ()
    found = _merge_spans(chain(_with_rest(_secret_spans(text), text), likely), text)
    return _without_public(found, text) if any(kind in _UNKNOWN_KINDS for _, _, kind in found) else found


_UNKNOWN_KINDS = ("key", "password", "code")
"""Kinds of secrets that are known by their surroundings or looks, not by a vendor's format."""
_PUBLIC = re.compile(
    r"""(?x) \b h1:[A-Za-z0-9+/]{43}=                                   # the sum of a module in go.sum
    | \b (?i:sec-websocket-(?:key|accept)) ["']?:[ ]{0,2} ["']?[A-Za-z0-9+/]{22,27}={1,2}
    | \b ENC\[AES256_GCM,[^\]\s]{1,4000}\]                           # a value that sops encrypted
    | \$ANSIBLE_VAULT;\d\.\d;AES256 [^\n]{0,24}? \s{0,8} (?<![0-9a-f])
        [0-9a-f]{40,128}+ (?: \s{1,8} [0-9a-f]{40,128}+ ){0,200}
    | \b [A-Za-z]{1,40}_[A-Za-z]{1,40}__[A-Za-z0-9]{5} \b             # a class of a CSS module
    | \b (?: ssh-(?:ed25519|rsa|dss) | ecdsa-sha2-nistp\d{3} ) (?= \s AAAA )
    | \b kid \b ["']?[ ]{0,2}[:=]?[ ]{0,2} ["']?[\w-]{20,48} (?![\w.-]) # which key of a JWKS
    | \b [Pp]orts? (?: :?[ ] | = ) \d{2,5} \b
        (?: (?: [ ]\([^()\n\d]{1,30}\) )? [ ]? (?: [,/&] | and\b ) [ ]? \d{2,5} \b ){0,12}
    | \b (?i:telephone|phone|mobile|tel|fax) \b (?: [ ](?:number|no) \b )? (?: ,?[ ](?:which[ ])?is \b )?
        [\s."'*`:(\[]{1,6} [+(\d] [\d ()./-]{6,24} \d (?!\w)
    | (?<![\w+]) \+\d{1,3} [ ./-]? (?: \(\d{1,5}\) | \d{1,5} ) (?: [ ./-]{1,3} \d{1,6} ){1,5} (?!\w)
    | :// (?: localhost | [\w-]{1,40} (?: \.[\w-]{1,40} ){1,6} ) : \d{2,5} (?! [\w@:] )
    | (?: \\[sSwWdDbB] (?: [*+?] | \{\d{1,3}(?:,\d{0,3})?\} ){0,2} ){1,8} (?!\w) # a part of a regular expression
    """,
    re.ASCII,
)
"""Public and encrypted values that look like a key, or stand beside a word for one: they are kept."""


def _without_public(found: list[SecretSpan], text: str) -> list[SecretSpan]:
    """Return the spans without those that are part of something public, but for tokens of makers that are known."""
    public = [match.span() for match in _PUBLIC.finditer(text)]
    starts = [start for start, _end in public]
    kept = []
    for start, end, kind in found:
        before = bisect_left(starts, start + 1) - 1
        if kind not in _UNKNOWN_KINDS or before < 0 or public[before][1] < end:
            kept.append((start, end, kind))
    return kept


_NAMES_OF_NAMES = ("name", "key", "variable", "field")


def kind_by_name(values: Mapping[Any, Any], key: str, value: str) -> str | None:
    """Return the kind of secret that a value is, by its own name or the one beside it: ``name: X_TOKEN, value:``.

    Where the value holds a marker, the secret was taken out already.
    """
    if MARKER.search(value):
        return None
    if key.lower() == "value":
        names = [values[name] for name in _NAMES_OF_NAMES if isinstance(values.get(name), str)]
        if names and secret_word_in(names[0]) is not None:
            return secret_kind_of_field(names[0], value)
    return secret_kind_of_field(key, value, beside=values)


_KEY_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY_KEY = re.compile(r"Private-Lines: \d{1,4}")
_KEY_BODY = re.compile(
    r"""(?x) (?>(?: (?>(?: \\[nrt] | [\s>|"'+,#*`-] )*)
        (?: (?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\n\\]{0,200} | [A-Za-z0-9+/=]{16,}+ ) )*)
    (?: (?:\\[nr]|\s){1,4} [A-Za-z0-9+/]{0,15} ={1,2}[A-Za-z0-9+/]{0,4} )?""",
    re.ASCII,
)
"""The shape of a key's text: headers and long runs of base64, with line breaks written as ``\\n`` too."""
_ENCODED_KEY = re.compile(
    r"(?:LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}+(?>(?:(?:\\n|[\s>|\"'+\\]){1,12}[A-Za-z0-9+/]{16,}+)*)(?:\s{1,4}[A-Za-z0-9+/]{0,15}={1,2})?={0,2}"
    r"|2d2d2d2d2d42454749[0-9a-f]{40,}+)",
    re.ASCII,
)
"""A block that begins with ``-----BEGIN`` in base64 or in hexadecimal digits, wrapped over lines or not."""
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{16}", re.ASCII)
_MAX_KEY_CHARACTERS = 65_536
"""Characters between a beginning and its end; the largest RSA keys take 13,000."""


def block_spans(text: str) -> Iterator[SecretSpan]:
    """Yield every private key: from its first line to its last, or to where its text stops looking like a key.

    A beginning without any key after it is a sentence about private keys, and stays.
    """
    if "PRIVATE KEY" in text:
        ends = [match.end() for match in _KEY_END.finditer(text)]
        last = 0
        for match in _KEY_BEGIN.finditer(text):
            if match.start() >= last:
                last = max(last, _key_end(text, match, ends))
                if last > match.end():
                    yield match.start(), last, "private key"
    if "LS0tLS1CRUdJTi" in text or "2d2d2d2d2d42454749" in text:
        for match in _ENCODED_KEY.finditer(text):
            yield *match.span(), "private key"
    if "Private-Lines: " in text:
        for match in _PUTTY_KEY.finditer(text):
            body = _KEY_BODY.match(text, match.end())
            if body is not None and _LONG_RUN.search(body[0]):
                yield *body.span(), "private key"


def _key_end(text: str, begin: re.Match[str], ends: list[int]) -> int:
    """Return where the key ends that begins here, or 0 if there is none."""
    body = _KEY_BODY.match(text, begin.end())
    stop = body.end() if body is not None and _LONG_RUN.search(body[0]) else 0
    nearest = bisect_left(ends, begin.end())
    if nearest < len(ends) and ends[nearest] - begin.end() <= _MAX_KEY_CHARACTERS:
        inside = text[begin.end() : ends[nearest]]
        if _KEY_BEGIN.search(inside) is None and _LONG_RUN.search(inside):
            return ends[nearest]
    return stop


def _secret_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    yield from _visible_spans(text, gated=gated)
    yield from _disguised_spans(text, gated=gated)


def _visible_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    yield from block_spans(text)
    yield from token_spans(text, gated=gated)
    level = level_signs(text)
    yield from assignment_spans(level, gated=gated)
    yield from format_spans(level, gated=gated)
    yield from wording_spans(level, gated=gated)


_QUOTED = re.compile(r"""(?<!\\)(?:\\++(["'`/])|\\++(n|r|t)(?![a-z]{2}[\\/]))""")
_ESCAPES = re.compile(r"""\\["nr]|%[0-9A-Fa-f]{2}|&(?:#|[a-z]{2,6};)|\\[ux][0-9a-fA-F{]""")
_SECRET_SIGN = re.compile(r"(?i)pass|secret|token|key|pwd|auth|cookie|login|cred|://|[\w-]{20}|[^\x00-\x7f]{2}")
_BROKEN_WORD = re.compile(
    r"(?<![\w.+/=~:-])([\w.+/=~:-]{4,}+)[\"'`]?(?:[ \t]*\\?\r?\n[ \t>]*|[ \t]*\+[ \t]*)[\"'`]?(?=[A-Za-z0-9_-]{3})",
    re.ASCII,
)
"""The last word of a line, or of a string that is joined with the next."""


def _disguised_spans(text: str, *, gated: bool) -> Iterator[SecretSpan]:
    """Yield the secrets that are written with escapes, split by invisible characters or line ends, or encoded."""
    plain = TextView(text, len(text))
    view = without_invisible(plain) if has_split_words(text) else plain
    if _ESCAPES.search(text) is not None:
        view = unescape(view).replace(_QUOTED, _unquoted)
    if view is not plain and _SECRET_SIGN.search(view.text) is not None:
        for start, end, kind in _visible_spans(view.text, gated=gated):
            yield *view.span(start, end), kind
    is_broken = "\n" in view.text or "+" in view.text
    if is_broken and may_hold_tokens("\n".join(_BROKEN_WORD.findall(view.text))):
        yield from _broken_tokens(view)
    for block in encoded_blocks(text):
        if any(True for _ in _visible_spans(block.text)):
            yield block.start, block.end, "encoded secret"


def _unquoted(match: re.Match[str]) -> str:
    return match[1] or {"n": "\n", "r": "\r", "t": "\t"}[match[2]]


_WHOLE_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+", re.ASCII)


def _broken_tokens(view: TextView) -> Iterator[SecretSpan]:
    """Yield the tokens that go on in the next line, or in the next string of an expression."""
    joined = without_breaks(view)
    if joined is view:
        return
    for start, end, kind in token_spans(joined.text):
        first, last = joined.span(start, end)
        if not view.is_plain:
            yield first, last, kind
            continue
        if last - first == end - start:
            continue
        head, _, tail = view.text[first:last].partition("\n")
        # Where the first line holds a whole token the next may begin a sentence, not go on with it.
        if _WHOLE_WORD.fullmatch(tail.strip(" \t>")) and any(True for _ in token_spans(head)):
            continue
        yield first, last, kind


_GOES_ON = re.compile(
    r"""["'`]?\s{0,2}(?:\\\r?\n[^\S\n]{0,8}|\\\\?n|[+.]?\s{0,2}\r?\n?\s{0,8}[+.&]?\s{0,2}(?=["'`]))["'`]?(?P<rest>[A-Za-z0-9+/=_-]{6,})(?![\w.])""",
    re.ASCII,
)
"""The rest of a value that goes on in the next line, after a sign that says so."""


def _with_rest(spans: Iterator[SecretSpan], text: str) -> Iterator[SecretSpan]:
    """Yield the spans, those whose value goes on in the next line to its end."""
    for start, end, kind in spans:
        rest = _GOES_ON.match(text, end)
        goes_on = rest is not None and (is_key(rest["rest"]) or is_drawn(rest["rest"]))
        yield start, rest.end() if rest is not None and goes_on else end, kind


def _merge_spans(found: Iterator[SecretSpan], text: str) -> list[SecretSpan]:
    """Return the spans in order, overlapping ones joined, without those that are part of a marker already."""
    joined: list[SecretSpan] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1])):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), joined[-1][2])
        else:
            joined.append((start, end, kind))
    if not joined or "[secret removed: " not in text:
        return joined
    markers = [match.span() for match in MARKER.finditer(text)]
    starts = [start for start, _end in markers]
    kept = []
    for span in joined:
        before = bisect_left(starts, span[1]) - 1
        if before < 0 or markers[before][1] <= span[0]:
            kept.append(span)
    return kept
