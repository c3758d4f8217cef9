"""Keep secrets in the keyring of the person's system, where it has one: GNOME's, KDE's, the Mac's keychain.

The package ``keyring`` is an extra; without it, or where no keyring runs, there are no secrets in one.
"""

from __future__ import annotations

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
"""The least priority of a backend that guards what it is given: those below write files that are not."""


def require_keyring() -> KeyringBackend:
    """Return the keyring. Raises `NotAllowed` where nothing would guard a secret: it is missing, or a plain file."""
    backend = _backend()
    if backend is None:
        raise NotAllowed(
            "There is no system keyring here.",
            "Install the extra (pip install 'memento-tui[keyring]') and start a keyring, such as GNOME's or KDE's;"
            " or do without --keyring.",
        )
    if backend.priority < _SAFE_PRIORITY:
        raise NotAllowed(
            f"The keyring here, {backend.name}, keeps secrets in a file that anybody with the disk can read.",
            "Choose another backend (python -m keyring --list-backends), or do without --keyring.",
        )
    return backend


def find_secret(service: str, name: str) -> str | None:
    """Return a secret; ``None`` where there is none, or no keyring. Raises `MementoError` where it cannot be asked."""
    backend = _backend()
    if backend is None:
        return None
    from keyring.errors import KeyringError  # noqa: PLC0415 - an extra, which most do without

    try:
        return backend.get_password(service, name)
    except KeyringError as error:
        raise _explain(error) from error


def keep_secret(service: str, name: str, secret: str) -> None:
    """Keep a secret in the place of one before. Raises `MementoError` where it cannot be kept."""
    backend = require_keyring()
    from keyring.errors import KeyringError  # noqa: PLC0415 - as above

    try:
        backend.set_password(service, name, secret)
    except KeyringError as error:
        raise _explain(error) from error


def drop_secret(service: str, name: str) -> bool:
    """Remove a secret; tell whether there was one. Raises `MementoError` where it cannot be removed."""
    if find_secret(service, name) is None or (backend := _backend()) is None:
        return False
    from keyring.errors import KeyringError  # noqa: PLC0415 - as above

    try:
        backend.delete_password(service, name)
    except KeyringError as error:
        raise _explain(error) from error
    return True


def _backend() -> KeyringBackend | None:
    """Return the keyring that the person's settings or the system choose; ``None`` where there is none."""
    try:
        import keyring  # noqa: PLC0415 - an extra, and nobody waits for it who needs none
    except ImportError:
        return None
    from keyring.backends import fail, null  # noqa: PLC0415 - as above

    chosen = keyring.get_keyring()
    return None if isinstance(chosen, (fail.Keyring, null.Keyring)) else chosen


def _explain(error: Exception) -> MementoError:
    said = str(error).strip().rstrip(".") or type(error).__name__
    return MementoError(f"The system keyring refuses: {said}.", "Unlock it, and try again.")
