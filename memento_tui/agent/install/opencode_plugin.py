"""The plugin that OpenCode loads: a file of memento's own, which calls the hook."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from memento_tui.agent.install.part import Found
from memento_tui.agent.install.programs import Programs, quoted
from memento_tui.errors import InvalidInput

__all__ = ["OpenCodePlugin"]

_TEMPLATE = Path(__file__).with_name("opencode_plugin.ts")
_MARK = "// Written by `memento install opencode`"
_PROGRAM = re.compile(r'^const PROGRAM = (".*")$', re.MULTILINE)
_OPTIONS = re.compile(r"^const OPTIONS = (\[.*\])$", re.MULTILINE)


@dataclass(frozen=True)
class OpenCodePlugin:
    """The plugin with the hook's command in it."""

    programs: Programs

    def add(self, text: str) -> str:
        """Return the plugin's text."""
        if text.strip() and _MARK not in text:
            raise InvalidInput(
                "it is somebody else's file.", "Move it away; memento does not replace what it did not write."
            )
        program, _, *options = self.programs.hook_words("", "opencode")
        template = _TEMPLATE.read_text(encoding="utf-8")
        listed = ", ".join(map(quoted, options))
        return template.replace("__PROGRAM__", quoted(program)).replace("__OPTIONS__", f"[{listed}]")

    def remove(self, text: str, origin: str | None) -> str:  # noqa: ARG002 - nothing of others is in it
        """Return nothing where the file is memento's."""
        return "" if _MARK in text else text

    def found(self, text: str) -> list[Found]:
        """Return the command that the plugin runs."""
        program, options = _PROGRAM.search(text), _OPTIONS.search(text)
        if _MARK not in text or program is None or options is None:
            return []
        try:
            words = [json.loads(program[1]), *json.loads(options[1])]
        except ValueError:
            return []
        return [Found("hook", tuple(map(str, words)), "every event")]
