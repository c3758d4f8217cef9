"""What the capture of lessons hears in texts that are no transcripts: ``python -m tests.benchmarks.cues``.

Every text is read as if an agent had said it. The conversations of LongMemEval's development split are about anything
but work, so that a cue in them is a false alarm; the memories of real agents are full of lessons, and each cue in them
is to be read and judged: would I approve exactly this? ``--list`` prints the cues, in an order drawn by a seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.maintenance.distillation.agent_rules import agent_instruction
from memento_tui.maintenance.distillation.cues import labelled, root_cause
from memento_tui.maintenance.distillation.statements import RuleMatch, TurnSentence, is_statement, turn_sentences
from tests.benchmarks.guarding import unpacked_archive
from tests.benchmarks.queue import import_everything
from tests.made import without_engine

_CONVERSATIONS = Path(__file__).parents[3] / "shared/data/retrieval/longmemeval_s_mini12.jsonl.gz"
_SEED = 20_26


def _heard(sentence: TurnSentence) -> RuleMatch | None:
    return (
        agent_instruction(sentence)
        or labelled(sentence, None, clock.now(), is_person=False)
        or root_cause(sentence, is_person=False)
    )


def _print_cues(name: str, texts: Iterable[str], *, lists: bool) -> None:
    count, cues = 0, {}
    for text in texts:
        for sentence in turn_sentences(text, is_person=False):
            count += 1
            if is_statement(sentence) and (found := _heard(sentence)) is not None:
                cues[sentence.text] = found
    print(f"{name}: {len(cues)} cues in {count:,} sentences, {1000 * len(cues) / max(1, count):.2f} for 1,000")
    if lists:
        for text in random.Random(_SEED).sample(sorted(cues), len(cues)):
            found = cues[text]
            print(f"    {found.rule} {found.fields.get('kind', found.target)}: {' '.join(text.split())}")


def main() -> None:
    """Print the number of cues for 1,000 sentences of each ground."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    lists = parser.parse_args().list
    if _CONVERSATIONS.is_file():
        with gzip.open(_CONVERSATIONS, "rt") as file:
            sessions = [session for line in file for session in json.loads(line)["haystack_sessions"]]
        for role in ("assistant", "user"):
            turns = {turn["content"] for session in sessions for turn in session if turn["role"] == role}
            _print_cues(f"LongMemEval, {role}", sorted(turns), lists=lists)
    with unpacked_archive() as root, tempfile.TemporaryDirectory(prefix="memento-cues-") as scratch:
        if root is None:
            print("../shared/data/agent_memory.tar.gz is absent.")
            return
        with Workspace(without_engine(Path(scratch) / "data")) as workspace:
            import_everything(root, workspace, Path(scratch) / "versions")
            batches = workspace._store.memories.batches()
            _print_cues("memories of agents", (memory.content for batch in batches for memory in batch), lists=lists)


if __name__ == "__main__":
    main()
