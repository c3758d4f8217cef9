"""Run the app as a process behind one browser window: it draws to a pipe, in the protocol of Textual's web driver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Literal, TextIO

from textual import messages
from textual.drivers.web_driver import WebDriver

__all__ = ["DRIVER", "BrowserDriver"]

DRIVER = "memento_tui.tui.web.app_process:BrowserDriver"
"""What the environment variable ``TEXTUAL_DRIVER`` says when this process is started."""


class BrowserDriver(WebDriver):
    """Textual's driver for browsers, which ends with the server and hands out neither files nor addresses."""

    def run_input_thread(self) -> None:
        """Read what the window sends; leave where it ends without a word, because the server is gone."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._app.post_message(messages.ExitApp())

    def open_url(self, url: str, new_tab: bool = True) -> None:  # noqa: ARG002, FBT001, FBT002 - Textual's signature
        """Tell that nothing is opened: an address may have been written by an agent."""
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
        """Tell that files are not handed out."""
        binary.close()
        self._refuse("Files are not downloaded from here; use memento in a terminal.")

    def _refuse(self, why: str) -> None:
        from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app chooses this driver when it is made

        if isinstance(self._app, MementoApp):
            self._app.call_later(self._app.show_status, why, problem=True)


def main() -> int:
    """Open the app on the data directory that the only argument names."""
    from memento_tui.tui.app import run  # noqa: PLC0415 - the server reads this module too, and needs no app

    return run(Path(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
