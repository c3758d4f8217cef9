"""``/v1/settings``: the two numbers that a workspace may set for its own recall, kept beside the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import said
from memento_tui.agent.labels import moment_text
from memento_tui.errors import InvalidField, NotAllowed, NotFound

__all__ = ["change", "find", "forget", "listing", "number_of"]

_KEPT = "http.settings"
_MOST_WORKSPACES = 200
"""Workspaces of one caller with settings: any name is one, and all settings are read with every recall."""

_KNOWN: Mapping[str, str] = {
    "recall_alpha": "the share of words against meaning in a recall's scores; where it is not set, memento weighs them",
    "recall_threshold": "the score below which a recall leaves a memory out; where it is not set, 0",
}


class _Setting(msgspec.Struct, frozen=True):
    value: float
    updated_at: str


class _Value(Shape):
    value: float | str


_decode = msgspec.json.Decoder(dict[str, dict[str, _Setting]]).decode
"""Settings by namespace and name."""


def number_of(call: Call, name: str) -> float | None:
    """Return what the workspace of a request has set, or ``None``."""
    found = _all(call.workspace.store.setting(_KEPT)).get(call.place.namespace, {}).get(name)
    return None if found is None else found.value


def _all(kept: str | None) -> dict[str, dict[str, _Setting]]:
    return {} if kept is None else _decode(kept)


def _rows(call: Call) -> dict[str, dict[str, str]]:
    """Return what the workspace of a request has set, by name, as it is sent."""
    own = _all(call.workspace.store.setting(_KEPT)).get(call.place.namespace, {})
    return {
        name: {"key": name, "value": str(one.value), "updated_at": one.updated_at} for name, one in sorted(own.items())
    }


def find(call: Call) -> Response:
    """Read one setting; of one that is not set, what holds instead."""
    name = _known(call)
    row = _rows(call).get(name)
    if row is None:
        return said(f'Setting "{name}" is not set. It is {_KNOWN[name]}.', key=name, value=None)
    return said(f'Setting "{name}" is "{row["value"]}".', **row)


def listing(call: Call) -> Response:
    """List what is set."""
    rows = list(_rows(call).values())
    return said(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), settings=rows)


def change(call: Call) -> Response:
    """Set a number from 0 to 1."""
    name = _known(call)
    value = _number(call.given(_Value).value)
    now = moment_text(clock.now())
    _write(call, lambda own: {**own, name: _Setting(value, now)})
    return said(f'Setting "{name}" set to "{value}".', key=name, value=str(value))


def forget(call: Call) -> Response:
    """Go back to what holds where nothing is set."""
    name = _known(call)
    _write(call, lambda own: {other: one for other, one in own.items() if other != name})
    return said(f'Setting "{name}" deleted (reverted to default).', key=name)


def _known(call: Call) -> str:
    name = call.path["key"]
    if name not in _KNOWN:
        told = "; ".join(f"{known}: {what}" for known, what in _KNOWN.items())
        raise NotFound(f"There is no setting {name!r:.60}.", f"There are {told}.")
    return name


def _number(value: float | str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InvalidField("value", f"must be a number from 0 to 1; not {value!r:.60}")
    return number


def _write(call: Call, changed: Any) -> None:  # noqa: ANN401 - a function of one workspace's settings
    def write(kept: str | None) -> str:
        everything = _all(kept)
        everything[call.place.namespace] = changed(everything.get(call.place.namespace, {}))
        held = {namespace: own for namespace, own in everything.items() if own}
        if sum(call.caller.owns(namespace) for namespace in held) > _MOST_WORKSPACES:
            raise NotAllowed(
                f"{_MOST_WORKSPACES:,} workspaces have settings, which is the most.", "Delete those of others first."
            )
        return msgspec.json.encode(held).decode()

    call.workspace.store.change_setting(_KEPT, write)
