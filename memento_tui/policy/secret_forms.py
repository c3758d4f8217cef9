"""Describe a form in which a secret is handed over: what stands around the value, and how the value is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from memento_tui.text.match_starts import StartedPattern

__all__ = ["FormatRule", "form"]


class FormatRule(msgspec.Struct, frozen=True):
    """One form: what stands around the value, and how the value itself is judged."""

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, in lower case."""
    source: str
    """The pattern, verbose, for any case. The value is what its group ``quoted``, ``bare`` or ``secret`` holds."""
    judge: str
    also: tuple[str, ...] = ()
    """Every match holds one of these too, where any are given."""
    is_command: bool = False
    """Whether every match holds the option of a command."""
    holds: str = ""
    """A pattern of which every match holds a match too, where any is given. It begins with a sign, and so is looked
    for fast."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use."""
        return _compiled(self.source)

    def may_match(self, text: str) -> bool:
        """Tell whether the text holds what every match does, as far as that is said by `holds`."""
        return not self.holds or _compiled(self.holds).search(text) is not None

    def matches(self, text: str, read: str) -> Iterator[re.Match[str]]:
        """Yield what the pattern finds in a text. ``read`` is the text in lower case, as long as the text."""
        return _started(self.source).finditer(text, read)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.VERBOSE | re.IGNORECASE | re.ASCII | re.MULTILINE)


@cache
def _started(source: str) -> StartedPattern:
    return StartedPattern(_compiled(source))


_VALUE = r"""(?: (?P<quote>["'`]) (?P<quoted>[^"'`\n]{1,256}) (?P=quote) | (?P<bare>[^\s"'`<>|;]{1,256}+) )"""
_LINE = r"[^\n|;&]{0,120}?"
"""The rest of a command up to the value."""
_NAME = r"[\w@.+-]{1,60}"
_NAMED = r"""[\w.-]{0,40}(?:passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key
    |private[_-]?key|credential)s?"""
_VARIABLE = r"[\w$@.-]{0,40}(?:pass|pwd|pw|secret|token|key|cred|auth|pat)\w{0,20}"
"""The name of a variable or a field that may hold a secret; `secret_word_in` says whether it does."""


_COMMAND_OPTION = re.compile(re.escape("@L@\\s") + r"(?:\(\?(?::|-i:))?-")


def form(
    kind: str, needs: str, source: str, judge: str, also: str = "", *, is_command: bool = False, holds: str = ""
) -> FormatRule:
    """Make a rule; ``needs`` are parted by spaces, with ``~`` for a space inside one.

    ``also`` may hold @LINE@ for the end of a line. In the pattern @V@ stands for the value, @L@ for the rest of a
    command, @N@ for a user, @S@ for the name of a secret and @I@ for that of a variable.
    """
    words = tuple(word.replace("~", " ") for word in needs.split())
    filled = source.replace("@V@", _VALUE).replace("@L@", _LINE).replace("@N@", _NAME)
    filled = filled.replace("@S@", _NAMED).replace("@I@", _VARIABLE)
    command = is_command or _COMMAND_OPTION.search(source) is not None or source.startswith("--")
    return FormatRule(
        kind, words, filled, judge, tuple(also.replace("@LINE@", "\n").split(" ")) if also else (), command, holds
    )
