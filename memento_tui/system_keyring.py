"""Keep secrets in the keyring of the person's system, where it has one: GNOME's, KDE's, the Mac's keychain.

The package ``keyring`` is an extra; without it, or where no keyring runs, there are no secrets in one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memento_tui.errors import MementoError, NotAllowed

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

__all__ = ["HUB_SERVICE", "KEY_SERVICE", "drop_secret", "find_secret", "keep_secret", "require_keyring"]

KEY_SERVICE = "memento"
"""The service under which the keys of encrypted workspaces are kept, each by its id."""

HUB_SERVICE = "memento-hub"
"""The service under which passwords of hubs are kept, each by ``LOGIN@HOST``."""

_SAFE_PRIORITY = 1
"""The least priority of a safe backend: those below it keep secrets in unprotected files."""


def require_keyring() -> KeyringBackend:
    """Return the keyring.

    Raises:
        NotAllowed: nothing would guard a secret: it is missing, or a plain file.
        MementoError: it cannot be asked.

    """
    backend = _backend()
    if backend is None:
        raise NotAllowed(
            "There is no system keyring here.",
            "Install the extra (pip install 'memento-tui[keyring]') and start a keyring, such as GNOME's or KDE's;"
            " or do without --keyring.",
        )
    with _asking():
        is_safe, name = backend.priority >= _SAFE_PRIORITY, backend.name
    if not is_safe:
        raise NotAllowed(
            f"The keyring here, {name}, keeps secrets in a file that anybody with the disk can read.",
            "Choose another backend (python -m keyring --list-backends), or do without --keyring.",
        )
    return backend


def find_secret(service: str, name: str) -> str | None:
    """Return a secret; ``None`` where there is none, or no keyring. Raises `MementoError` where it cannot be asked."""
    backend = _backend()
    if backend is None:
        return None
    with _asking():
        return backend.get_password(service, name)


def keep_secret(service: str, name: str, secret: str) -> None:
    """Keep a secret in the place of one before. Raises `MementoError` where it cannot be kept."""
    backend = require_keyring()
    with _asking():
        backend.set_password(service, name, secret)


def drop_secret(service: str, name: str) -> bool:
    """Remove a secret; tell whether there was one. Raises `MementoError` where it cannot be removed."""
    if find_secret(service, name) is None or (backend := _backend()) is None:
        return False
    with _asking():
        backend.delete_password(service, name)
    return True


def _backend() -> KeyringBackend | None:
    """Return the keyring that the person's settings or the system choose; ``None`` where there is none.

    Of a chain that is its first member, which is the safest: the chain itself claims to be safe whatever is in it.
    Raises `MementoError` where it cannot be asked.
    """
    try:
        import keyring  # noqa: PLC0415 - an extra, and nobody waits for it who needs none
    except ImportError:
        return None
    with _asking():
        from keyring.backends import chainer, fail, null  # noqa: PLC0415 - as above

        chosen: KeyringBackend | None = keyring.get_keyring()
        if isinstance(chosen, chainer.ChainerBackend):
            chosen = max(chosen.backends, key=lambda one: one.priority, default=None)
        return None if isinstance(chosen, (fail.Keyring, null.Keyring)) else chosen


@contextmanager
def _asking() -> Iterator[None]:
    """Turn whatever a keyring raises into a `MementoError`: it is other people's program, with faults of any kind."""
    try:
        yield
    except Exception as error:
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise MementoError(f"The system keyring refuses: {said}.", "Unlock or start it, and try again.") from error
