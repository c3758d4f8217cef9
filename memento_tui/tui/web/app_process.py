"""Run the app as a process behind one browser window: it draws to a pipe, in the protocol of Textual's web driver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

from textual import messages
from textual.drivers.web_driver import WebDriver

from memento_tui.locations import asks_read_only

__all__ = ["DRIVER"]

DRIVER = "memento_tui.tui.web.app_process:BrowserDriver"
"""The value of the environment variable ``TEXTUAL_DRIVER`` of this process."""


class BrowserDriver(WebDriver):
    """Textual's driver for browsers, which ends with the server and delivers neither files nor addresses."""

    def run_input_thread(self) -> None:
        """Read the input from the window; exit when it ends without an exit message, because the server has ended."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())

    def open_url(self, url: str, new_tab: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 - Textual's signature
        """Refuse to open an address: an agent may have written it."""
        self._refuse("Addresses are not opened from here.")

    def deliver_binary(
        self,
        binary: BinaryIO | TextIO,
        *,
        delivery_key: str,  # noqa: ARG002 - Textual's signature
        save_path: Path,  # noqa: ARG002 - same
        open_method: Literal["browser", "download"] = "download",  # noqa: ARG002 - same
        encoding: str | None = None,  # noqa: ARG002 - same
        mime_type: str | None = None,  # noqa: ARG002 - same
        name: str | None = None,  # noqa: ARG002 - same
    ) -> None:
        """Refuse to deliver a file."""
        binary.close()
        self._refuse("Files are not downloaded from here; use memento in a terminal.")

    def _refuse(self, why: str) -> None:
        from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app chooses this driver when it is made

        if isinstance(self._app, MementoApp):
            self._app.call_later(self._app.show_status, why, problem=True)


def main() -> int:
    """Open the app on the data directory that the only argument names."""
    from memento_tui.tui.app import run  # noqa: PLC0415 - the server reads this module too, and needs no app

    return run(Path(sys.argv[1]), read_only=asks_read_only())


if __name__ == "__main__":
    sys.exit(main())
