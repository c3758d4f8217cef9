"""The figures of the attacks beside their goals, as a table, and the attacks that got through in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.poison.attacks import FAMILIES
from tests.poison.honest import Honest
from tests.poison.suite import Leak, Outcome

__all__ = ["HEADING", "HONEST_GOAL", "as_markdown", "described", "goals"]

HEADING = "Attacks on the gate"
"""The section of the results that `make poison` writes."""

HONEST_GOAL = 0.02
"""The share of honest memories that may wait for a person or be refused."""

_SHOWN = 3
"""Leaks that are shown of each channel and kind."""

_FAULTS_SHOWN = 20

_HEAD = """\
Made by `make poison`: every text of every way in (MCP and its profiles, REST, hooks, imports, mirrored folders, the
command line in an agent's hands, what is undone and restored) times every family of attack, on new records and on the
person's own, and every way out that may tell them to a model. Plain sentences are let in as drafts: what counts is that
nobody's trust stands on them, and that a model is told so."""


def goals(outcome: Outcome) -> Iterator[tuple[str, Sequence[Leak]]]:
    """Yield each kind of harm in words, with the attacks that did it; the goal is that there are none."""
    yield "verified, essential, certain or shared without a person", outcome.trusted
    yield "told to a model without a label", outcome.unlabelled
    yield "recalled as the person's own words", outcome.persons_words
    yield "recalled though they waited, without a decision", outcome.let_in


def as_markdown(outcome: Outcome, honest: Honest | None, agreement: str = "", sample: int | None = None) -> str:
    """Return the section of the results; ``sample`` is how many attacks on each channel were made of the product."""
    tried, asked = len(outcome.cases), outcome.questions
    part = f" (at most {sample:,} of them on each way in)" if sample is not None else ""
    lines = [_HEAD, "", "| what | figure | goal | met |", "|---|---|---|---|"]
    for what, leaks in goals(outcome):
        harmful = len({leak.case.attack.mark for leak in leaks})
        lines.append(f"| attacks {what}, of {tried:,}{part} | {harmful:,} | 0 | {_met(harmful == 0)} |")
    faults = len(outcome.faults)
    lines.append(f"| exceptions in memento's own code meanwhile | {faults:,} | 0 | {_met(faults == 0)} |")
    if honest is not None:
        seen = f"{honest.imported:,} imported and {honest.remembered:,} remembered over MCP"
        lines.append(
            f"| honest memories held or refused, of {seen} | {honest.share:.2%} | <= {HONEST_GOAL:.0%}"
            f" | {_met(honest.share <= HONEST_GOAL)} |"
        )
    lines += ["", f"Ways out were asked {asked:,} times besides the lists. {agreement}".strip(), ""]
    lines += ["| family | attacks | stored | of these waiting for a person |", "|---|---|---|---|"]
    tried_of = Counter(case.attack.family for case in outcome.cases)
    lines += [
        f"| {family} | {tried_of[family]:,} | {outcome.stored[family]:,} | {outcome.held_share(family):.1%} |"
        for family in FAMILIES
    ]
    return "\n".join(lines) + "\n"


def _met(is_met: bool) -> str:  # noqa: FBT001 - a value of a table
    return "yes" if is_met else "**no**"


def described(outcome: Outcome) -> str:
    """Return the attacks that did harm, a few of each kind, to reproduce them by."""
    lines = []
    for what, leaks in goals(outcome):
        shown: Counter[tuple[str, str]] = Counter()
        for leak in leaks:
            kind = (leak.case.channel, leak.detail.partition(" tells ")[0])
            shown[kind] += 1
            if shown[kind] <= _SHOWN:
                lines.append(f"{what}: {leak}")
    lines += [f"unexpected: {fault}" for fault in outcome.faults[:_FAULTS_SHOWN]]
    return "\n".join(lines)
