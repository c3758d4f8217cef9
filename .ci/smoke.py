"""Start an installed memento as a person would: store one memory, find it, open the app in a terminal and leave it."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

_DEADLINE_SECONDS = 60


def command(program: str, data: str, *arguments: str) -> dict[str, object]:
    """Run one command and return the object that it printed."""
    ended = subprocess.run(  # noqa: S603 - the program under test
        [program, "--data-dir", data, *arguments, "--json"], capture_output=True, text=True, check=True
    )
    printed: dict[str, object] = json.loads(ended.stdout)
    return printed


def open_app(program: str, data: str) -> str:
    """Open the app in a terminal, wait until the memory is on the screen, quit, and return what was drawn."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="30")
        os.execv(program, [program, "--data-dir", data, "--open", "memories"])  # noqa: S606 - the program under test
    drawn, ends = b"", time.monotonic() + _DEADLINE_SECONDS
    left = False
    while time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                drawn += os.read(terminal, 65536)
            except OSError:
                break
        if not left and b"hello" in drawn and b"Memories" in drawn:
            os.write(terminal, b"q")
            left = True
    if not left:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if not left or os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"the app did not start and leave: status {status}\n{drawn[-2000:]!r}")
    return drawn.decode(errors="replace")


def main() -> None:
    """Run the checks on the program named on the command line."""
    program, data = sys.argv[1], sys.argv[2]
    added = command(program, data, "add", "hello from an empty environment")
    found = command(program, data, "search", "hello", "--mode", "keyword")
    if [hit["id"] for hit in found["results"]] != [added["id"]]:  # type: ignore[attr-defined] # JSON from the program
        sys.exit(f"what was added was not found: {found}")
    open_app(program, data)
    print("the installed memento starts, stores, finds and leaves")


main()
