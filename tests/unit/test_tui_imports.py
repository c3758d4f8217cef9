"""What the sections load when they are first shown: a process of its own tells, because tests load everything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_SHOWN = """
import importlib, json, sys
import memento_tui.tui.app
for name in ("home", "memories", "working", "skips", "identity", "activity", "health"):
    importlib.import_module(f"memento_tui.tui.sections.{name}")
print(json.dumps(sorted(sys.modules)))
"""
_READ = """
import json, sys
import memento_tui.tui.sections.home
from memento_tui.api import Workspace
from memento_tui.model.validation import new_id
from memento_tui.tui.app import MementoApp
with Workspace(sys.argv[1], channel="tui", session=new_id()) as workspace:
    MementoApp(workspace)
    workspace.list()
print(json.dumps(sorted(sys.modules)))
"""


def test_no_section_loads_text_areas_or_the_library_of_mail_before_they_are_needed() -> None:
    ended = subprocess.run([sys.executable, "-c", _SHOWN], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert not {"textual.widgets._text_area", "email.message", "importlib.metadata"} & set(json.loads(ended.stdout))


def test_a_program_that_only_reads_loads_no_rules_of_screening_and_the_first_frame_no_other_section(
    tmp_path: Path,
) -> None:
    ended = subprocess.run([sys.executable, "-c", _READ, tmp_path], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    loaded = set(json.loads(ended.stdout))
    others = {"memento_tui.tui.sections.review", "memento_tui.tui.sections.list_section"}
    rules = {f"memento_tui.policy.{name}" for name in ("prompt_injection", "secret_search", "secret_likelihood")}
    assert not {"filelock", "memento_tui.text.sentences", *rules, *others} & loaded
