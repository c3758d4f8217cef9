"""What memento does with processes and threads of its own."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from memento_tui.processes import let_others_go_first


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority for each thread")
def test_a_thread_that_lets_others_go_first_changes_no_other() -> None:
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    seen: list[int] = []

    def work() -> None:
        let_others_go_first()
        seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [5]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
