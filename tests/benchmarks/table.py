"""A row of the results, and the table that rows make."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

__all__ = [
    "Figure",
    "Row",
    "as_markdown",
    "figures_as_markdown",
    "kept_sections",
    "percentile",
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

    @property
    def met(self) -> bool:
        """Whether the target was reached."""
        return self.value >= self.target if self.higher_is_better else self.value <= self.target


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the table, with the machine that it was measured on."""
    lines = ["| what | memento | bare | ratio | target | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        sign = ">=" if row.higher_is_better else "<="
        unit = "" if row.unit == "x" else f" {row.unit}"
        met = "yes" if row.met else "**no**"
        lines.append(
            f"| {row.what} | {row.ours} | {row.bare} | {row.value:.2f}{unit} | {sign} {row.target:g}{unit} | {met} |"
        )
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return "\n".join([*lines, "", f"Measured on {machine}."])


@dataclass(frozen=True)
class Figure:
    """One measurement on data, beside its target."""

    what: str
    value: float
    target: float
    higher_is_better: bool = True

    @property
    def met(self) -> bool:
        """Whether the target was reached."""
        return self.value >= self.target if self.higher_is_better else self.value <= self.target


def figures_as_markdown(figures: Sequence[Figure]) -> str:
    """Return the table of what was measured on data."""
    lines = ["| what | figure | target | met |", "|---|---|---|---|"]
    for figure in figures:
        sign, met = ">=" if figure.higher_is_better else "<=", "yes" if figure.met else "**no**"
        lines.append(f"| {figure.what} | {figure.value:.3f} | {sign} {figure.target:g} | {met} |")
    return "\n".join(lines)


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


def kept_sections(results: Path, *, but: str) -> str:
    """Return the sections of a file of results without the one of this heading, each after an empty line."""
    parts = results.read_text().split("\n## ")[1:] if results.exists() else []
    return "".join(f"\n## {part.rstrip()}\n" for part in parts if part.partition("\n")[0] != but)


def write_section(results: Path, heading: str, text: str) -> None:
    """Write one section of a file of results anew, at its end if it is new there; the rest stays."""
    first, *parts = results.read_text().split("\n## ")
    written = f"{heading}\n\n{text.strip()}\n"
    kept = [written if part.partition("\n")[0] == heading else part for part in parts]
    if written not in kept:
        kept.append(written)
    results.write_text("\n## ".join([first.rstrip("\n") + "\n", *(part.rstrip("\n") + "\n" for part in kept)]))
