"""A property that is computed once, whichever of several threads asks first.

`functools.cached_property` has had no lock since Python 3.12: each thread that asks before the first is done computes
a value of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["locked_property"]

ValueT = TypeVar("ValueT")


class locked_property(Generic[ValueT]):  # noqa: N801 - a decorator, named as `functools.cached_property`
    """A cached property that is computed once: other threads that read it meanwhile wait for the value."""

    def __init__(self, compute: Callable[[Any], ValueT]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> ValueT: ...

    def __get__(self, instance: object, owner: type) -> Self | ValueT:
        """Return the value. Python asks here only until the instance has one."""
        if instance is None:
            return self
        values = instance.__dict__
        with values.setdefault(f"{self._name}: lock", threading.RLock()):
            if self._name not in values:
                values[self._name] = self._compute(instance)
        value: ValueT = values[self._name]
        return value
