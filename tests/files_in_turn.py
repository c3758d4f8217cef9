"""Which files of tests the workers of pytest-xdist take first, so that none has a long one left at the end.

A file stays with one worker: what it shares, such as a server, is made once. Journeys wait for processes, all others
need the processor: while every other worker does journeys, there is somebody who computes beside one who waits.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from xdist.scheduler.loadfile import LoadFileScheduling
from xdist.workermanage import WorkerController

__all__ = ["FilesInTurn", "next_file"]

_SECONDS_OF_A_TEST = {"journeys": 0.5, "tui": 0.4, "hub": 0.3, "property": 0.25, "unit": 0.04}
"""On average, by the folder. An outdated figure costs a moment at the end, and nothing else."""

_SECONDS_OF_LONG_FILES = {
    "journeys/test_hostile_screens.py": 60.0,
    "poison/test_poison.py": 45.0,
    "tui/test_dialogs.py": 38.0,
    "unit/test_policy_secrets.py": 36.0,
    "journeys/test_web.py": 33.0,
    "tui/test_review.py": 31.0,
    "journeys/test_mirror.py": 30.0,
    "journeys/test_claude_code_session.py": 30.0,
    "journeys/test_hook_engine.py": 28.0,
    "journeys/test_maintenance_journey.py": 27.0,
    "journeys/test_http_access.py": 26.0,
    "journeys/test_engine_model_change.py": 25.0,
    "tui/test_fast_keys.py": 25.0,
    "tui/test_app.py": 24.0,
    "unit/test_maintenance_distilling.py": 22.0,
    "unit/test_import_runner.py": 20.0,
    "journeys/test_cli_engine.py": 20.0,
    "journeys/test_mcp_decides_nothing.py": 19.0,
    "property/test_review_gate.py": 19.0,
    "unit/test_policy_secret_cases.py": 18.0,
    "journeys/test_store_processes.py": 18.0,
    "unit/test_policy_prompt_injection.py": 17.0,
    "journeys/test_workbench_journey.py": 10.0,
    "unit/test_format_engram.py": 12.0,
}
"""Those whose number of tests says little, by folder and name."""


def next_file(tests_of: dict[str, int], *, journeys: bool) -> str:
    """Return the longest of the files that wait, of which the numbers of tests are given: a journey or another one.

    Where none of the wanted kind is left it is the longest of all.
    """

    def worth(file: str) -> tuple[bool, float]:
        path = PurePosixPath(file)
        seconds = tests_of[file] * _SECONDS_OF_A_TEST.get(path.parent.name, 0.0)
        return (path.parent.name == "journeys") == journeys, _SECONDS_OF_LONG_FILES.get(
            "/".join(path.parts[-2:]), seconds
        )

    return max(tests_of, key=worth)


class FilesInTurn(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
    """Files for workers of which the first, the third and so on begin with journeys, the others with the rest."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        number = list(self.assigned_work).index(node)  # a worker that stands in for a dead one has a later name
        waiting = {file: len(tests) for file, tests in self.workqueue.items()}
        self.workqueue.move_to_end(next_file(waiting, journeys=number % 2 == 0), last=False)
        super()._assign_work_unit(node)
