"""A filter for every field that memories are filtered by, as the declaration of the fields says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hypothesis import strategies as st

from memento_tui.model.filters import Between, Filter, HasStem, OneOf
from memento_tui.model.memory_fields import INDEXED_KINDS, MemoryField, filter_fields


def field_leaves(
    values: Mapping[str, Sequence[str]], others: Sequence[str], moments: Sequence[datetime]
) -> list[st.SearchStrategy[Filter]]:
    """Return a strategy for each field of the indexes.

    ``values`` are those that the memories under test have of the fields without choices, and ``others`` are values
    that none has.
    """
    fields = filter_fields(*INDEXED_KINDS, indexed=True)
    return [_leaf(field, values, others, moments) for field in fields.values()]


def _leaf(
    field: MemoryField, values: Mapping[str, Sequence[str]], others: Sequence[str], moments: Sequence[datetime]
) -> st.SearchStrategy[Filter]:
    match field.filter:
        case "word":
            known = [*(field.choices or values.get(field.name, ())), *others]
            return st.builds(OneOf, st.just(field.name), st.lists(st.sampled_from(known), max_size=3).map(tuple))
        case "flag":
            return st.builds(OneOf, st.just(field.name), st.sampled_from([("0",), ("1",), ("0", "1"), ()]))
        case "words":
            return st.builds(HasStem, st.just(field.name), st.sampled_from([*values.get(field.name, ()), "nosuchword"]))
        case "share":
            share = st.none() | st.integers(0, 100)
            return st.builds(Between, st.just(field.name), share, share)
        case "number":
            bound = st.none() | st.integers(0, 6)
            return st.builds(Between, st.just(field.name), bound, bound)
        case _:
            at = st.none() | st.sampled_from(moments)
            return st.builds(Between, st.just(field.name), at, at)
