"""Rules for the agent's findings: a root cause, a decision with its reason, a command that works."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from memento_tui.maintenance.distillation.person_rules import memory_match, standing_instruction
from memento_tui.maintenance.distillation.statements import RuleMatch, TurnSentence, content_words, filler_length
from memento_tui.maintenance.transcripts.reader import Turn

__all__ = ["CAUSE_CUE", "DECISION_CUE", "AgentLog", "Evidence", "agent_decision", "agent_instruction"]

_FAILURE_WINDOW = 40
"""The turns for which a failed command is remembered."""

_TURNS_AFTER_RECOVERY = 12
"""The turns after a command succeeded again in which the agent may state the cause."""

_MOST_PENDING = 20
_LONGEST_COMMAND = 150

_POINTERS = r"(?:it|this|that|these|those|them|they|there|here|what|i|you|we|my|your)"
_CAUSE = re.compile(
    r"(?:^|[,;:]\s+|\s-+\s)(?:so\s+)?(?:"
    r"(?:the\s+|a\s+)?(?:(?:root|actual|real|underlying|main)\s+)?(?:cause|problem|issue|culprit|bug|reason)"
    r"(?:\s+(?:of|for|with|behind)\s+[^,.;:]{1,80}?)?\s*(?:was|is|:|-)\s+(?:that\s+)?|"
    r"(?:it\s+|as\s+it\s+)?turn(?:s|ed)\s+out\s*,?\s*(?:that\s+)?|"
    r"(the\s+fix\s+(?:was|is)\s+(?:to\s+)?|fixed\s+(?:[\w`_-]+\s+){0,4}?by\s+|(?:this|it)\s+was\s+fixed\s+by\s+)|"
    r"[^,.;:]{3,80}?\s+(?:was|were)\s+(?:caused\s+by|failing\s+because)\s+)(\S.*)"
)
CAUSE_CUE = re.compile(r"(?i:cause|problem|issue|culprit|bug|reason|turn(?:s|ed)\s+out|fix|failing\s+because)")
"""The cues of which every sentence that states a cause holds one."""

DECISION_CUE = re.compile(r"(?i:\b(?:decided|chose|opted|settled|went|always|never)\b)")
_INTENTION = re.compile(
    r"\b(?:let me|i'll|i will|i'm going|we'll|going to|need to|needs to|should|try|check whether|check if|looking)\b"
)
_AGENT_DECIDED = re.compile(
    r"(?:^|[,;:]\s+)(?:i|we|i've|we've)\s+(?:have\s+)?(?:decided|chose|opted|settled|went)\s+"
    r"(?:to|for|on|against|with|not\s+to)?\s*(\S.*?)\s+(?:because|since|so\s+that|as)\s+(\S.*)"
)

_OF_THE_CODE = re.compile(r"`[^`]+`|\w/\w|/\w+/|\w_\w|(?<!\w)--\w|\w\.\w{1,4}\b")
"""Words that tie an order to this project: without them "always ..." is advice to everybody."""

_MISUSED = re.compile(
    r"command not found|not recognized as an? |No module named|[Uu]nrecognized (?:arguments?|option|command)|"
    r"[Uu]nknown (?:option|flag|command|argument|shorthand)|[Ii]nvalid option|no such option|No such command|"
    r"unexpected argument|[Mm]issing script|externally-managed-environment|unsupported engine|"
    r"(?:ba|z|da)?sh: (?:line \d+: |\d+: )?[^\s:]{1,80}: (?:not found|No such file or directory)|"
    r"Could not (?:find|locate) (?:a )?(?:Gemfile|package\.json|pyproject|Cargo\.toml)|no configuration file provided|"
    r"No targets specified|No rule to make target|[Uu]nsupported command|is not a \w+ command|Usage: |^usage: ",
    re.MULTILINE,
)
"""Messages of programs that were called wrongly, as against a fault in their input."""

_ABSENT = re.compile(
    r"command not found|not recognized as an? |No module named|[Mm]issing script|No rule to make target|"
    r"(?:ba|z|da)?sh: (?:line \d+: |\d+: )?[^\s:]{1,80}: (?:not found|No such file or directory)"
)
"""Messages for a missing program, which no edit of a file mends."""

_INSTALLS = re.compile(r"\b(?:install|add|init|sync|upgrade|update|create|setup|ci|restore|bootstrap)\b")

_UNSAFE = re.compile(
    r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|\brm\s+-\w*[rf]|--force\b|\bgit\s+push\s+-f|\bcurl\b|\bwget\b|\bchmod\b|\bsudo\b|"
    r"\beval\b|\bbase64\b|\bmkfs|\bdd\s+if=|>\s*/|\bkill(?:all)?\b|--no-verify\b|\bdrop\s+(?:table|database)\b|`|<<|\n|\$\(",
    re.IGNORECASE,
)
"""Commands that must not become memories."""

_READ_ONLY_COMMANDS = frozenset(
    """
    ls cat cd find grep rg ag fd head tail sed awk which whereis type echo printf test stat file wc sort tree less man
    pwd env printenv export source true false sleep diff touch mkdir cp mv rm ln ps top df du date read set history jq
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
_SUBCOMMANDS = frozenset(
    """
    git npm pnpm yarn bun cargo go make docker kubectl dotnet gradle mvn bundle rails uv poetry pip just task nx
    terraform
    """.split()  # noqa: SIM905 - same
)
_WRAPPERS = frozenset(("sudo", "time", "timeout", "npx", "env", "nice", "nohup", "command", "exec"))
_EDITS = frozenset(
    """
    Edit Write MultiEdit NotebookEdit apply_patch str_replace_editor str_replace_based_edit_tool create_file
    """.split()  # noqa: SIM905 - same
)


class Evidence(NamedTuple):
    """A finding with its lines and words in the transcript."""

    found: RuleMatch
    first_line: int
    last_line: int
    quote: str


class _Failure(msgspec.Struct):
    turn: int
    line: int
    program: str
    command: str
    is_misuse: bool
    is_absent: bool


class _Pending(msgspec.Struct):
    turn: int
    program: str
    evidence: Evidence


class AgentLog:
    """Tracks the commands of a transcript: failures, later successes, and the agent's remarks on them."""

    def __init__(self) -> None:
        self._failures: deque[_Failure] = deque(maxlen=_FAILURE_WINDOW)
        self._pending: deque[_Pending] = deque(maxlen=_MOST_PENDING)
        self._recovered = -1_000
        self._recovered_line = 0

    def has_recent_failure(self, nth: int) -> bool:
        """Tell whether a command failed lately, so that the agent may be speaking of it."""
        self._forget(nth)
        return bool(self._failures) or nth - self._recovered <= _TURNS_AFTER_RECOVERY

    def command(self, turn: Turn, nth: int) -> Iterator[Evidence]:
        """Record a tool's turn; yield the causes that a success proves, and the command that works."""
        call = turn.call
        if call is None:
            return
        if call.tool in _EDITS:
            for failure in self._failures:
                failure.is_misuse = failure.is_absent  # a later success may be due to the edit
        self._forget(nth)
        program = _program(call.command)
        if not program or call.failed is None:
            return
        if call.failed:
            self._pending = deque((one for one in self._pending if one.program != program), maxlen=_MOST_PENDING)
            head, tail = turn.text[:2_000], turn.text[-2_000:]
            is_absent = bool(_ABSENT.search(head) or _ABSENT.search(tail))
            is_misuse = is_absent or bool(_MISUSED.search(head) or _MISUSED.search(tail))
            self._failures.append(_Failure(nth, turn.first_line, program, call.command, is_misuse, is_absent))
            return
        yield from self._success(turn, nth, program)

    def _forget(self, nth: int) -> None:
        while self._failures and nth - self._failures[0].turn > _FAILURE_WINDOW:
            self._failures.popleft()
        while self._pending and nth - self._pending[0].turn > _FAILURE_WINDOW:
            self._pending.popleft()

    def _success(self, turn: Turn, nth: int, program: str) -> Iterator[Evidence]:
        command = turn.call.command if turn.call else ""
        same = [failure for failure in self._failures if failure.program == program]
        if same:
            self._recovered, self._recovered_line = nth, same[-1].line
            for one in [one for one in self._pending if one.program == program]:
                yield one.evidence._replace(last_line=max(one.evidence.last_line, turn.last_line))
        if _INSTALLS.search(command):
            for failure in self._failures:
                failure.is_misuse = failure.is_absent = False  # the missing program is there now
        for failure in reversed(self._failures):
            if failure.is_misuse and (evidence := _working_command(failure, command, turn)):
                yield evidence
                break
        self._pending = deque((one for one in self._pending if one.program != program), maxlen=_MOST_PENDING)
        mended = {
            failure.command
            for failure in self._failures
            if failure.is_misuse and _are_similar_commands(failure.command, command)
        }
        self._failures = deque(
            (one for one in self._failures if one.program != program and one.command not in mended),
            maxlen=_FAILURE_WINDOW,
        )

    def cause(self, sentence: TurnSentence, turn: Turn, nth: int) -> Iterator[Evidence]:
        """Find the cause that the agent states: at once if the command works again, else when it does."""
        found = _root_cause(sentence)
        if found is None:
            return
        if nth - self._recovered <= _TURNS_AFTER_RECOVERY:
            yield Evidence(found, min(self._recovered_line, turn.first_line), turn.last_line, sentence.text)
        elif self._failures:
            last = self._failures[-1]
            evidence = Evidence(found, min(last.line, turn.first_line), turn.last_line, sentence.text)
            self._pending.append(_Pending(nth, last.program, evidence))


def _root_cause(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``the problem was ...``, ``root cause: ...``, ``it turned out that ...``, ``fixed by ...``."""
    skip = filler_length(sentence.mask)
    mask = sentence.mask[skip:]
    match = _CAUSE.search(mask)
    if match is None or _INTENTION.search(mask) or re.match(rf"{_POINTERS}\b", match[2]):
        return None
    if len(content_words(match[2])) < 3:  # noqa: PLR2004 - a subject and a statement
        return None
    kind = "bugfix" if match[1] else "discovery"
    return memory_match(sentence.text[skip:], "root_cause", 0.65, kind=kind, certainty=3, source_type="derived")


def agent_decision(sentence: TurnSentence) -> RuleMatch | None:
    """Find what the agent ``decided to ... because ...``: without a reason it is a step, not a decision."""
    skip = filler_length(sentence.mask)
    match = _AGENT_DECIDED.search(sentence.mask[skip:])
    if match is None or re.match(rf"{_POINTERS}\b", match[1]) or re.match(r"(?:it|this|that)\b", match[2]):
        return None
    text = sentence.text[skip:]
    return memory_match(text, "agent_decision", 0.55, kind="decision", certainty=3, source_type="derived")


def agent_instruction(sentence: TurnSentence) -> RuleMatch | None:
    """Find ``always ...`` and ``never ...`` of the agent, with a path, a command or a name of code."""
    mask = sentence.mask[filler_length(sentence.mask) :]
    if not mask.startswith(("always ", "never ")) or _OF_THE_CODE.search(sentence.text) is None:
        return None
    found = standing_instruction(sentence)
    if found is None:
        return None
    content = str(found.fields["content"])
    return memory_match(content, "agent_instruction", 0.6, kind="instruction", certainty=3, source_type="derived")


def _working_command(failure: _Failure, command: str, turn: Turn) -> Evidence | None:
    """Make the memory of a command that works where one like it was called wrongly."""
    bad, good = failure.command, command
    if not _are_similar_commands(bad, good) or any(
        _UNSAFE.search(one) or len(one) > _LONGEST_COMMAND for one in (bad, good)
    ):
        return None
    if good not in turn.text:
        return None
    content = f"Run `{good}` instead of `{bad}`, which fails."
    fields = {"content": content, "kind": "tool", "certainty": 3, "source_type": "external"}
    found = RuleMatch("memory", fields, "command_that_works", 0.6)
    return Evidence(found, failure.line, turn.last_line, good)


def _segments(command: str) -> list[list[str]]:
    return [words for part in re.split(r"&&|\|\||;|\|", command[:500]) if (words := part.split())]


def _program(command: str) -> str:
    """Return the program of a command, ``npm test`` or ``pytest``; an empty text for one that only reads."""
    for words in _segments(command):
        while words and (words[0] in _WRAPPERS or "=" in words[0] or words[0].isdigit()):
            words = words[1:]  # noqa: PLW2901 - peeled one by one
        if not words:
            continue
        name = words[0].rsplit("/", 1)[-1]
        if name in ("python", "python3") and len(words) > 2 and words[1] == "-m":  # noqa: PLR2004 - python -m NAME
            name, words = words[2], words[2:]  # noqa: PLW2901 - same
        if name in ("uv", "poetry") and len(words) > 2 and words[1] == "run":  # noqa: PLR2004 - uv run NAME
            name = words[2]
        elif name in _SUBCOMMANDS:
            name = " ".join([name, *(word for word in words[1:2] if not word.startswith("-"))])
        if name not in _READ_ONLY_COMMANDS:
            return name
    return ""


def _are_similar_commands(bad: str, good: str) -> bool:
    """Tell whether one command is a correction of the other: they share half of the shorter one's words."""
    if bad == good or not _program(bad) or not _program(good):
        return False
    left = {word for words in _segments(bad) for word in words if words[0] != "cd"}
    right = {word for words in _segments(good) for word in words if words[0] != "cd"}
    left, right = _names(left), _names(right)
    return left != right and len(left & right) * 2 >= min(len(left), len(right)) > 0


def _names(words: set[str]) -> set[str]:
    """Return the words of a command without redirections, and programs without their folder."""
    return {word.rsplit("/bin/", 1)[-1] for word in words if not re.fullmatch(r"[\d&<>]+|/dev/null|2>&1", word)}
