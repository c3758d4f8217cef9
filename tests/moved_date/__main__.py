"""Run tests as if the system's date were some days away: ``python -m tests.moved_date 40 tests/unit``.

What stands behind the days goes to pytest. The date is moved by a library in C, which is compiled first: a C compiler
has to be installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main(days: str, arguments: list[str]) -> int:
    """Run pytest with the date moved by ``days``; return its status."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "moved_date.so"
        source = Path(__file__).with_name("moved_date.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)  # noqa: S603, S607 - this repository's own file
        moved = os.environ | {"MOVED_DAYS": str(int(days)), "LD_PRELOAD": str(library)}
        return subprocess.run([sys.executable, "-m", "pytest", *arguments], env=moved, check=False).returncode  # noqa: S603 - as above


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
