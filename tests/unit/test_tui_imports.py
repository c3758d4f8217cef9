"""What the sections load when they are first shown: a process of its own tells, because tests load everything."""

from __future__ import annotations

import json
import subprocess
import sys

_SHOWN = """
import importlib, json, sys
import memento_tui.tui.app
for name in ("home", "memories", "working", "skips", "identity", "activity", "health"):
    importlib.import_module(f"memento_tui.tui.sections.{name}")
print(json.dumps(sorted(sys.modules)))
"""


def test_no_section_loads_text_areas_or_the_library_of_mail_before_they_are_needed() -> None:
    ended = subprocess.run([sys.executable, "-c", _SHOWN], capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert not {"textual.widgets._text_area", "email.message", "importlib.metadata"} & set(json.loads(ended.stdout))
