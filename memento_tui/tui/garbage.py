"""Collect garbage without making a person wait.

Python collects the oldest generation whenever enough objects were made, which takes 80 to 140 ms with all of Textual in
memory: several frames, in the middle of whatever the person does. Here that generation is collected while nobody
presses a key; the young ones, a few milliseconds each, are left to Python. What is free then goes back to the system: a
search among many leaves tens of megabytes.
"""

from __future__ import annotations

import gc

from memento_tui import processes

__all__ = ["collect_old_generation", "disable_collection", "enable_collection"]

_YOUNG, _MIDDLE, _OLD = 5_000, 10, 100
"""Allocations, young collections and middle collections after which Python collects the next generation by itself.

The last is only for whoever never pauses: it stands for five million objects.
"""


def disable_collection() -> None:
    """Stop collecting: nothing that is made while the program loads is garbage."""
    gc.disable()


def enable_collection() -> bool:
    """Enable garbage collection, exempting all present objects; false where it was never disabled."""
    if gc.isenabled():
        return False
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    gc.enable()
    return True


def collect_old_generation() -> None:
    """Collect everything if there may be something old to collect; for a moment at which nobody waits."""
    if gc.get_count()[2]:
        gc.collect()
        processes.release_memory()
