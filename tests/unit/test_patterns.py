"""The regular expressions hold only what every supported Python reads alike."""

from __future__ import annotations

import re
from pathlib import Path

import memento_tui

_GROUP_REPEATED_POSSESSIVELY = re.compile(r"(?<!\\)\)(?:[?*+]|\{{1,2}\d+,?\d*\}{1,2})\+")


def test_no_group_is_repeated_possessively_which_python_before_3_11_5_reads_wrongly() -> None:
    sources = sorted(Path(memento_tui.__file__).parent.rglob("*.py"))
    assert len(sources) > 100
    assert not [path.name for path in sources if _GROUP_REPEATED_POSSESSIVELY.search(path.read_text("utf-8"))]
    assert _GROUP_REPEATED_POSSESSIVELY.search(r"(?:a|b)*+")
