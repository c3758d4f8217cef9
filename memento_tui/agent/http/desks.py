"""The workspace as each caller of the REST interface writes in it."""

from __future__ import annotations

import re
from pathlib import Path

from memento_tui.agent.callers import Callers
from memento_tui.agent.http.keys import Caller
from memento_tui.workspace import Workspace

__all__ = ["Desks"]

_PRODUCT = re.compile(r"[\w.+-]{1,60}", re.ASCII)


class Desks(Callers):
    """Opens the data directory at once, so that one which cannot be used is told before anything is served.

    Raises:
        DataDirectoryError: the data directory cannot be used.
        InvalidInput: its ``config.toml`` is wrong.

    """

    def __init__(self, data_dir: Path | None, session: str) -> None:
        super().__init__(data_dir, session, channel="http", nameless="http")
        self.first = self.named("")
        """The workspace of callers without a name."""

    def of(self, caller: Caller, program: str) -> Workspace:
        """Return the workspace of an account, or of the program that a ``User-Agent`` header names.

        Raises like `Callers.named`.
        """
        product = _PRODUCT.match(program)
        return self.named(caller.root if caller.account else product[0] if product else "")
