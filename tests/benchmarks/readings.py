"""What people judged of outputs, one by one: a line for each output and reader, beside a digest and never the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Readings", "numbered", "wilson"]


class Readable(Protocol):
    """An output that is read and judged."""

    @property
    def digest(self) -> str:
        """The digest of all that is read before judging; an output that changed is read anew."""
        ...

    def text(self) -> str:
        """Return the output in full."""
        ...


class Readings:
    """The judgements of one file. A verdict says whether an output is right; the file says for what."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def by_reader(self) -> dict[str, dict[str, bool]]:
        """Return for each reader the verdicts by digest."""
        read: dict[str, dict[str, bool]] = {}
        for line in self._file.read_text().splitlines() if self._file.is_file() else ():
            row = json.loads(line)
            read.setdefault(row["reader"], {})[row["digest"]] = row["right"]
        return dict(sorted(read.items()))

    def take(self, sample: Sequence[Readable], lines: Iterable[str], reader: str, **named: Any) -> None:  # noqa: ANN401 - what tells the outputs apart
        """Take a reading in, a line for each output: its number, ``yes`` or ``no``, and a few words why.

        What the reader has judged already stands.
        """
        known = self.by_reader().get(reader, {})
        with self._file.open("a") as kept:
            for line in lines:
                place, verdict, *why = line.split(maxsplit=2)
                one = sample[int(place) - 1]
                if one.digest not in known:
                    row = {"digest": one.digest, "reader": reader, "right": verdict == "yes"}
                    kept.write(json.dumps({**named, **row, "why": why[0] if why else ""}) + "\n")

    def told(self, sample: Sequence[Readable], right: str) -> list[str]:
        """Return the figures of a sample, a line for each reader; ``right`` says in words what a yes means."""
        read, lines = self.by_reader(), []
        digests = {one.digest for one in sample}
        for reader, verdicts in read.items():
            known = [verdict for digest, verdict in verdicts.items() if digest in digests]
            if known:
                low, high = wilson(sum(known), len(known))
                share = sum(known) / len(known)
                lines.append(f"{reader}: {sum(known)} of {len(known)} {right}, {share:.2f} [{low:.2f}, {high:.2f}]")
        if len(lines) > 1:
            judged = [{verdicts[digest] for verdicts in read.values() if digest in verdicts} for digest in digests]
            lines.append(f"the readers disagree on {sum(len(verdicts) > 1 for verdicts in judged)}")
        if unread := sum(all(digest not in verdicts for verdicts in read.values()) for digest in digests):
            lines.append(f"{unread} of the sample are unread")
        return lines


def numbered(sample: Sequence[Readable]) -> str:
    """Return the outputs of a sample in full, numbered as a reading names them."""
    return "\n".join(f"##### {number} [{one.digest}]\n{one.text()}\n" for number, one in enumerate(sample, 1))


def wilson(right: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of 95 % of a share, by Wilson's formula."""
    if not count:
        return 0.0, 1.0
    share = right / count
    middle = share + z * z / (2 * count)
    spread = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - spread) / (1 + z * z / count), (middle + spread) / (1 + z * z / count)
