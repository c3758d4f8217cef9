"""A row of the results, and the table that rows make."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

__all__ = [
    "BY_HAND",
    "Figure",
    "Row",
    "as_markdown",
    "figures_as_markdown",
    "percentile",
    "put_row",
    "timed",
    "write_section",
]


@dataclass(frozen=True)
class Row:
    """One measurement beside what it is compared with."""

    what: str
    ours: str
    bare: str
    value: float
    """The ratio, or the difference in milliseconds where the unit says so."""
    target: float
    higher_is_better: bool = False
    unit: str = "x"

    head = ("what", "memento", "bare", "ratio", "target", "met")

    @property
    def met(self) -> bool:
        """Whether the target was reached."""
        return self.value >= self.target if self.higher_is_better else self.value <= self.target

    @property
    def cells(self) -> list[str]:
        """What stands in the columns of the table."""
        sign = ">=" if self.higher_is_better else "<="
        unit = "" if self.unit == "x" else f" {self.unit}"
        ratio, target = f"{self.value:.2f}{unit}", f"{sign} {self.target:g}{unit}"
        return [self.what, self.ours, self.bare, ratio, target, _yes_or_no(met=self.met)]


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the table, with the machine that it was measured on."""
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return "\n".join([*_table(Row.head, rows), "", f"Measured on {machine}."])


@dataclass(frozen=True)
class Figure:
    """One measurement on data, beside its target."""

    what: str
    value: float
    target: float
    higher_is_better: bool = True

    head = ("what", "figure", "target", "met")

    @property
    def met(self) -> bool:
        """Whether the target was reached."""
        return self.value >= self.target if self.higher_is_better else self.value <= self.target

    @property
    def cells(self) -> list[str]:
        """What stands in the columns of the table."""
        sign = ">=" if self.higher_is_better else "<="
        return [self.what, f"{self.value:.3f}", f"{sign} {self.target:g}", _yes_or_no(met=self.met)]


def figures_as_markdown(figures: Sequence[Figure]) -> str:
    """Return the table of what was measured on data."""
    return "\n".join(_table(Figure.head, figures))


def _yes_or_no(*, met: bool) -> str:
    return "yes" if met else "**no**"


def _table(head: Sequence[str], rows: Sequence[Row | Figure]) -> list[str]:
    return [_line(head), "|" + "---|" * len(head), *(_line(row.cells) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def timed(act: Callable[[], object], *, times: int = 5) -> float:
    """Return the median seconds that something takes."""
    taken = []
    for _ in range(times):
        begun = perf_counter()
        act()
        taken.append(perf_counter() - begun)
    return statistics.median(taken)


def put_row(results: Path, head: Sequence[str], cells: Sequence[str]) -> None:
    """Put a row into the table of a file of results that has this head and "measured" as its last column.

    It takes the place of the row that says the same in its first column, or the last place of all. The rest of the file
    stays. A file without such a table is a LookupError.
    """
    lines = results.read_text().splitlines()
    first = _line([*head, "measured"])
    if first not in lines:
        raise LookupError(f"{results.name} has no table with the columns {first}")
    start = lines.index(first) + 2
    end = next((n for n in range(start, len(lines)) if not lines[n].startswith("|")), len(lines))
    same = [n for n in range(start, end) if lines[n].startswith(f"| {cells[0]} |")]
    lines[same[0] if same else end : same[0] + 1 if same else end] = [_line(cells)]
    results.write_text("\n".join(lines) + "\n")


BY_HAND = "<!-- By hand from here on; a run keeps it. -->"
"""Stands in a section of a file of results above what people wrote about it."""


def write_section(results: Path, heading: str, text: str) -> None:
    """Write one section of a file of results anew, at its end if it is new there; the rest stays.

    Of the section itself stays what people wrote below the line `BY_HAND`.
    """
    first, *parts = results.read_text().split("\n## ")
    written = f"{heading}\n\n{text.strip()}\n"
    number = next((n for n, part in enumerate(parts) if part.partition("\n")[0] == heading), len(parts))
    _made, line, by_hand = parts[number].partition(BY_HAND) if number < len(parts) else ("", "", "")
    parts[number : number + 1] = [f"{written}\n{line}{by_hand}" if line else written]
    results.write_text("\n## ".join([first.rstrip("\n") + "\n", *(part.rstrip("\n") + "\n" for part in parts)]))
