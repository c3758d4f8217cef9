"""No pattern of a secret takes more than a number of steps in proportion to the text, whatever is repeated in it."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento_tui import policy
from memento_tui.policy.secret_forms import FormatRule
from memento_tui.policy.secrets import redact_text
from memento_tui.text.literals import StartedPattern
from tests.depth import examples
from tests.pattern_examples import beginnings_of_repeats
from tests.steps import grows_in_proportion

_PARTS = ["_", " ", "a", "1", '"', "-", "\n", "\\", "=", "/", ":", "a_", "1.", "aB1", "a: ", "> ", "\\n", "%41"]
"""One of each kind that neighbouring repeats may both take, and some that change."""

_MODULES = ("secret", "text_views")


def _patterns(value: Any, depth: int = 4) -> Iterator[re.Pattern[str]]:  # noqa: ANN401 - whatever a module holds
    """Yield the patterns in a value of a module: in its own lists, tables and records too."""
    owner = value.pattern if isinstance(value, FormatRule | StartedPattern) else getattr(value, "__self__", value)
    if isinstance(owner, re.Pattern):
        if isinstance(owner.pattern, str):
            yield owner
        return
    held: Any = ()
    if isinstance(value, dict):
        held = value.values()
    elif isinstance(value, tuple | list):
        held = value
    elif not isinstance(value, type):
        kind = type(value)
        names = getattr(kind, "__struct_fields__", getattr(kind, "__dataclass_fields__", ()))
        held = [getattr(value, name) for name in names]
    for one in held if depth else ():
        yield from _patterns(one, depth - 1)


@cache
def _beginnings() -> list[str]:
    """Return the texts that lead to a repeat of any pattern that secrets are looked for with."""
    names = [one.name for one in pkgutil.iter_modules(policy.__path__) if one.name.startswith(_MODULES)]
    modules = [import_module(f"{policy.__name__}.{name}") for name in names]
    values = [value for module in modules for name, value in vars(module).items() if not name.startswith("__")]
    return sorted({text for value in values for pattern in _patterns(value) for text in beginnings_of_repeats(pattern)})


def test_the_patterns_are_found() -> None:
    assert len(_beginnings()) > 600
    assert {"BEGIN ", "Private-Lines: "} <= {text.lstrip("-") for text in _beginnings()}


@pytest.mark.deep
@given(st.lists(st.deferred(lambda: st.sampled_from(_beginnings())), min_size=6, max_size=6), st.sampled_from(_PARTS))
@settings(max_examples=examples(24))
def test_what_follows_the_beginning_of_a_secret_takes_steps_in_proportion(texts: list[str], part: str) -> None:
    grows_in_proportion(lambda size: redact_text("\n\n".join(text + (part * size)[:size] for text in texts)), 1_200)
