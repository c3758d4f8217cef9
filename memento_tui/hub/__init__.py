"""The hub: one PostgreSQL database through which several machines share their journals. Each machine stays complete."""

from __future__ import annotations

from importlib.util import find_spec

from memento_tui.errors import MementoError

__all__ = ["require_extra"]


def require_extra() -> None:
    """Raise `MementoError` where the packages are missing that only the hub needs."""
    missing = [name for name in ("psycopg", "cryptography") if find_spec(name) is None]
    if missing:
        raise MementoError(
            f"The hub needs {' and '.join(missing)}, which is not installed.",
            "Install it: pip install 'memento-tui[hub]'.",
        )
