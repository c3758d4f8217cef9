"""Memories that cite this repository's own code, held against its history.

Run it as ``python -m tests.benchmarks.code_citations``.

Each was taken from a document, a docstring or a constant of an earlier commit, as an agent would have remembered it
then. What was said of 70 of them at `_JUDGED_AT` was judged by reading them beside the repository: 22 whose citations
were said to be gone, 24 to have changed or moved, and 24 of which nothing was said although a file that they cite was
touched since. ``right`` is that judgement. It needs the repository's history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from memento_tui.maintenance.code.checker import WrittenMemory, check_code
from memento_tui.maintenance.code.git_history import GitHistory
from tests.benchmarks.table import Figure, figures_as_markdown, write_section

__all__ = ["HEADING", "results"]

HEADING = "Memories that cite code"

_ROOT = Path(__file__).parents[2]
_JUDGED = Path(__file__).with_name("data") / "code_citations.jsonl"
_JUDGED_AT = "55f72527b27f"
"""The commit that the judged memories were held against."""

_TEXT = """
Made by `python -m tests.benchmarks.code_citations`: 70 memories of this project's own history, judged by reading; how
they were chosen stands there. Of 944 memories whose citations stood in the repository when they were written, 41 were
said to be gone and 212 to have changed, nearly all at the one commit that moved and renamed everything; in most of
those said to be gone, what the code does lives on under another name. A rule that calls every touched file changed
would have flagged 544 of 909, and 291 of those (53 %) hold in all that they cite. The one that is wrong is a miss. Of
the 635 memories written after that commit 13 were said to have changed, moved or gone eight hours after it (2 %):
12 are right, and the one that was not showed that a line of a docstring had been taken for a definition, which it no
longer is.

By hand, in a clone of this repository: twenty memories written for it, then one commit, dated two hours later, that
renamed, moved, deleted and changed what half of them cite. The next session was told 17 rightly: two files that moved
by their new paths, two lost names as gone, the one whose file is gone not at all, twelve as before, and the five were
in Review once. Three were told as before though they no longer hold: a method whose name another class still has, a
target of a Makefile (both are found since), and a function whose lines changed and not its name. A commit within an
hour of the memory counts as the work that it tells of, so nothing is said of such.

Since a member is looked for in its class or module, twenty others by hand, of classes, modules and packages of this
repository: one commit in a clone renamed or moved what nine of them cite. Of 19 is said what is so: eight are said to
be gone, though most of their names are still those of other classes' methods, and eleven are told as before. The one
that was missed cites a property called `reverted`, a word by which its sentence was taken to speak of the past. Of 118
sentences of earlier commits that cite `Class.method` one is said to be of what is gone, rightly, and of twenty of the
others, drawn by a seed, each still holds or never stood in the repository.

Since a word of the past or of a plan spares only the name of which it is said: of 7,096 sentences of the archive of
real agents' memories that cite code, 769 hold such a word, and none of those was checked; 706 are now ("before" 148,
"will" 29). 40 of them, drawn by a seed and read: each says what its names are today. Of 80 read before, in versions
since corrected, four named what they said was deleted or replaced, three of them because quotation marks stood between;
one more, whose verb stands far behind its name, is not found. Names without quotation marks and targets stand in 1,093
further sentences. Of 14,734 paragraphs of documents and docstrings of nine earlier commits of this repository 885 cited
what stood there, 24 were said to be gone and 14 to have changed; now 1,097, 29 and 18. The nine that differ were read:
what each cites is gone; one of them cites it without quotation marks, among another program's numbers, and is told with
that word: names without quotation marks are no reason to hide a memory.
"""


def results() -> Iterator[Figure]:
    """Yield the figures on the judged memories. Raises `InvalidInput` where the repository has no such history."""
    judged = [json.loads(line) for line in _JUDGED.read_text(encoding="utf-8").splitlines()]
    memories = [
        WrittenMemory(str(number), one["text"], datetime.fromisoformat(one["at"])) for number, one in enumerate(judged)
    ]
    found, _ = check_code(GitHistory(_ROOT, _JUDGED_AT), memories)
    said = {one.id: one for one in found}
    right = {True: 0, False: 0}
    alarms = 0
    for number, one in enumerate(judged):
        finding = said.get(str(number))
        labels = [] if finding is None else [citation.label for citation in finding.citations]
        is_same = ("holds" if finding is None else finding.state) == one["state"] and sorted(labels) == sorted(
            one["labels"]
        )
        right[finding is not None] += is_same and one["right"]
        alarms += finding is not None
    yield Figure(f"what is said of memories that cite code, share right of {alarms}", right[True] / alarms, 0.95)
    silent = len(judged) - alarms
    yield Figure(f"memories that cite a touched file and are told as before, share right of {silent}",
                 right[False] / silent, 0.9)  # fmt: skip


if __name__ == "__main__":
    write_section(
        Path(__file__).with_name("RESULTS.md"), HEADING, f"{_TEXT.strip()}\n\n{figures_as_markdown(list(results()))}"
    )
