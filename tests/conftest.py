"""What every test stands on: one time zone, and nothing of the shell that it is started from."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import re
import signal
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings
from xdist.remote import Producer

import memento_tui
from memento_tui.api import Workspace, maintenance_schedule
from memento_tui.hosts.registry import HOSTS, OTHER_AGENTS
from memento_tui.model.validation import new_id
from memento_tui.storage.database import Database
from tests.clocks import run_from_start
from tests.files import taking_rights
from tests.files_in_turn import FilesInTurn
from tests.made import without_engine

ARCHIVE = Path(__file__).parents[2] / "shared" / "data" / "agent_memory.tar.gz"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell without job control starts what it puts in the background so, and every process started here inherits it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Workers of pytest, and hundreds of processes that tests start, would compile all that they import, each for itself.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ["TZ"] = "UTC"
# Nobody's own keyring is asked; a test that needs one has that of tests/keyring_backend.py.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
time.tzset()
# What a host of agents sets, which may run the tests, would make every command an agent's.
_HOST_VARIABLES = [name for host in HOSTS.values() for name in host.shell_variables]
_HOST_VARIABLES += [name for agent in OTHER_AGENTS for name in agent.shell_variables]
for name in ("NO_COLOR", "FORCE_COLOR", "MEMENTO_HOME", "MEMENTO_TOKEN", *_HOST_VARIABLES):
    os.environ.pop(name.partition("=")[0], None)

# A shared machine may stall at any moment, which is no fault of what is tested.
# "fast" is for every run, and tries the same examples each time, so that few do; "deep" is for make test-deep, of which
# each run of .ci/run takes a part.
settings.register_profile("fast", deadline=None, print_blob=True, max_examples=10, derandomize=True)
settings.register_profile("deep", settings.get_profile("fast"), max_examples=250, derandomize=False)
settings.load_profile("fast")

# Every store syncs what it writes; on a disk that takes longer than the rest of most tests.
_MEMORY_DISK = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own in it
_ENOUGH_BYTES = 2 << 30
_numbers = itertools.count()


def _can_hold_tests(disk: Path) -> bool:
    """Return whether the disk is there, has room, and lets the programs run that tests put on it."""
    if not (disk.is_dir() and os.access(disk, os.W_OK)):
        return False
    facts = os.statvfs(disk)
    return facts.f_bavail * facts.f_frsize >= _ENOUGH_BYTES and not facts.f_flag & os.ST_NOEXEC


if sys.platform == "linux" and _can_hold_tests(_MEMORY_DISK):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY_DISK))


# Thousands of collected tests are a large heap: looking through it is a quarter of the time of the app's tests.
gc.set_threshold(50_000, 20, 50)


@pytest.hookimpl(optionalhook=True)  # one process runs them too
def pytest_xdist_auto_num_workers() -> int:
    """Return half as many workers again as there are processors: a third of the journeys' time is waiting."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + cores // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesInTurn | None:
    """Let the workers take the long files first, where each takes whole files."""
    return FilesInTurn(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the properties, which ``make test-deep`` asks for together with the tests that are marked as deep."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)) or hasattr(getattr(item, "cls", None), "settings"):
            item.add_marker(pytest.mark.property)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Let the passes that pytest makes at its end, over a second each, look at what the last tests left alone."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _same_day(request: pytest.FixtureRequest) -> Iterator[None]:
    """Begin each module of tests at the same moment, except journeys: their processes have the real clock."""
    with pytest.MonkeyPatch.context() as patch:
        if "journeys" not in request.path.parts:
            run_from_start(patch)
        yield


@pytest.fixture(scope="module", autouse=True)
def _same_rights() -> Iterator[None]:
    """Begin each module of tests with the same umask: the programs, which some run in this process, set their own."""
    with taking_rights(0o022):
        yield


@pytest.fixture(scope="module", autouse=True)
def _no_maintenance_starts() -> Iterator[None]:
    """Let no test start a process for maintenance because its clock moved on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance_schedule, "start_detached", lambda _command, **_: 0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _searches_of_a_home_end() -> Iterator[None]:
    """Let a search for sources to import look everywhere: after two seconds a busy machine has found only some."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memento_tui.formats.discovery.monotonic", lambda: 0.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_list_of_workspaces(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the tests and the programs that they start note the workspaces in a list of their own."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session", autouse=True)
def _no_engine_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """End the engines that tests have left running, and tell whose they were by their folders."""
    yield
    ends = time.monotonic() + 60
    while (running := _engines_in(tmp_path_factory.getbasetemp())) and time.monotonic() < ends:
        time.sleep(0.1)
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    assert not running, f"engines that nobody ends: {sorted(running.values())}"


def _engines_in(folder: Path) -> dict[int, str]:
    """Return the engines whose data lies in a folder, by process."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_text().split("\0")
            if "memento_tui.engine" in command and str(folder) in (root := command[command.index("--data-dir") + 1]):
                found[int(process.name)] = root
    return found


@pytest.fixture(scope="session", autouse=True)
def _new_databases_are_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let a database begin as a copy of an empty one with an origin of its own: its 80 statements are run once."""
    model = tmp_path_factory.mktemp("model") / "memento.db"
    database = Database(model)
    origin = database.origin.encode()
    database.close()
    image = model.read_bytes()
    assert image.count(origin) == 1
    make_files = Database._make_files

    def copy(made: Database) -> None:
        make_files(made)
        if not made.path.stat().st_size:
            made.path.write_bytes(image.replace(origin, new_id().encode()))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "_make_files", copy)
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the test's own, numbered by a count: pytest's own looks through the folders of all tests before."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}-{next(_numbers)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory whose engine is switched off, so that a search starts nothing."""
    return without_engine(tmp_path / "data")


@pytest.fixture
def workspace(data_dir: Path) -> Iterator[Workspace]:
    """A person's workspace."""
    with memento_tui.open(data_dir) as opened:
        yield opened


@pytest.fixture
def agent(data_dir: Path) -> Iterator[Workspace]:
    """An agent's workspace on the same directory as the person's."""
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="claude", session="s1") as opened:
        yield opened


@pytest.fixture(scope="session")
def real_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of memories that real agents and people wrote, one for each repository."""
    if not ARCHIVE.is_file():
        pytest.skip("../shared/data/agent_memory.tar.gz is absent")
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    (root,) = {path.parent.parent for path in folder.rglob("COMMIT")}
    return root
