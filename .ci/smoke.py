"""Start an installed memento as a person would: store one memory, find it, open the app in a terminal and leave it.

And as an agent's host would: the hook tells the memory, and the plugin folder is there to be installed.
"""

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


def hook(program: str, data: str) -> None:
    """Send a prompt to the hook beside the program, and check that the memory comes back."""
    sent = json.dumps({"session_id": "smoke", "cwd": data, "prompt": "does hello come from an empty environment?"})
    told = subprocess.run(  # noqa: S603 - the program under test
        [f"{program}-hook", "UserPromptSubmit", "--data-dir", data],
        input=sent,
        capture_output=True,
        text=True,
        check=True,
    )
    if "empty environment" not in told.stdout or told.stderr:
        sys.exit(f"the hook told nothing: {told}")


def plugin(program: str, data: str) -> None:
    """Write the Claude Code plugin and check that all of it came with the wheel."""
    folder = os.path.join(data, "plugin")  # noqa: PTH118 - the standard library is all that this script has at hand
    command(program, data, "install", "claude-code", "--plugin", folder, "--yes")
    found = {name for _, _, names in os.walk(folder) for name in names}
    if not {"plugin.json", "marketplace.json", "hooks.json", ".mcp.json", "SKILL.md", "review.md"} <= found:
        sys.exit(f"the plugin is not whole: {sorted(found)}")


def main() -> None:
    """Run the checks on the program named on the command line."""
    program, data = sys.argv[1], sys.argv[2]
    added = command(program, data, "add", "hello from an empty environment")
    found = command(program, data, "search", "hello", "--mode", "keyword")
    if [hit["id"] for hit in found["results"]] != [added["id"]]:  # type: ignore[attr-defined] # JSON from the program
        sys.exit(f"what was added was not found: {found}")
    key = "ghp_" + "a1B2c3D4e5" * 4
    cleaned = command(program, data, "add", f"The deploy token is {key}, and the port is 8443.")
    if key in str(cleaned["content"]) or "8443" not in str(cleaned["content"]):
        sys.exit(f"the secret was not removed, or more than it: {cleaned}")
    hook(program, data)
    plugin(program, data)
    open_app(program, data)
    print("the installed memento starts, stores, finds, tells a host and leaves")


main()
