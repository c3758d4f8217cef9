"""A base class like `typing.NamedTuple`, for the modules that memento-hook imports.

The import of `typing`, and the source text that it compiles for each class, take a fifth of a hook's time where no
engine answers for it. To a type checker it is `typing.NamedTuple`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

__all__ = ["NamedTuple"]

TYPE_CHECKING = False  # as in `typing`
if TYPE_CHECKING:
    from typing import NamedTuple, Self
else:

    class _NamedTupleType(type):
        """Makes the annotated names of a class body its fields, in their order."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, object]) -> type:
            names = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in names if field in namespace}
            getters = {field: property(itemgetter(place)) for place, field in enumerate(names)}
            fixed = {"__slots__": (), "__match_args__": names, "_fields": names, "_field_defaults": defaults}
            return super().__new__(cls, name, bases, {**namespace, **getters, **fixed})

    class NamedTuple(tuple, metaclass=_NamedTupleType):
        """A tuple whose fields are the annotated names of the class; see `typing.NamedTuple`."""

        __slots__ = ()

        def __new__(cls, *values: object, **named: object) -> Self:
            """Return an instance of values in the order of the fields, then by name, then by default."""
            fields = cls._fields
            if named or len(values) != len(fields):
                given = dict(zip(fields, values, strict=False))
                if len(values) > len(fields) or given.keys() & named.keys() or named.keys() - set(fields):
                    raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}, each once")
                given = cls._field_defaults | given | named
                if missing := [field for field in fields if field not in given]:
                    raise TypeError(f"{cls.__name__} needs {', '.join(missing)}")
                values = [given[field] for field in fields]
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values: Iterable[object]) -> Self:
            return cls(*values)

        def _asdict(self) -> dict[str, object]:
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes: object) -> Self:
            return type(self)(**{**self._asdict(), **changes})

        def __repr__(self) -> str:
            values = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self) -> tuple[object, ...]:
            return tuple(self)
