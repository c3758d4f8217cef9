"""What a directory holds, to be compared with what it held before."""

from __future__ import annotations

from pathlib import Path

__all__ = ["contents"]


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode and the bytes of each file and directory below a directory, by its path there."""
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(root.rglob("*"))
    }
