"""A machine that writes and synchronizes until it is ended: ``python -m tests.hub.writer FOLDER NAME WRITES``.

A line on standard output is one acknowledged write: the id of the memory and its text.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from memento_tui.hub.sync import HubLink
from tests.hub.machines import SITE


def main() -> None:
    folder, name, writes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with Workspace(folder, channel="cli") as workspace:
        link = HubLink(workspace)
        own = workspace.remember(f"{name} begins", namespace=SITE)
        for number in count():
            if number == writes:
                break
            text = f"{name} says {number}"
            if number % 3:
                own = workspace.remember(text, namespace=SITE)
            else:
                workspace.update(own.id, content=text)
            sys.stdout.write(f"{own.id}\t{text}\n")
            sys.stdout.flush()
            try:
                link.synchronize()
            except MementoError as error:  # it is offline for now
                sys.stderr.write(f"{error}\n")
        link.close()


if __name__ == "__main__":
    main()
