"""``/v1/settings``: the numbers by which a workspace's recalls are scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.compat.http.request import ApiRequest, RequestSchema
from memento_tui.compat.http.responses import text_response
from memento_tui.errors import InvalidField, NotAllowed, NotFound
from memento_tui.operations.memories import format_time

__all__ = ["delete_setting", "get_setting", "list_settings", "put_setting", "setting_number"]

_SETTINGS_KEY = "http.settings"
_MAX_WORKSPACES_WITH_SETTINGS = 200
"""Workspaces of one caller with settings: any name is one, and all settings are read with every recall."""

_SETTING_NAMES: Mapping[str, str] = {
    "recall_alpha": "the share of words against meaning in a recall's scores; where it is not set, memento weighs them",
    "recall_threshold": "the score below which a recall leaves a memory out; where it is not set, it must answer",
}


class _Setting(msgspec.Struct, frozen=True):
    value: float
    updated_at: str


class _SettingValue(RequestSchema):
    value: float | str


_decode_settings = msgspec.json.Decoder(dict[str, dict[str, _Setting]]).decode
"""Decodes settings by namespace and name."""


def setting_number(request: ApiRequest, name: str) -> float | None:
    """Return a setting of the request's workspace, or ``None`` where it is not set."""
    setting = _all_settings(request.workspace.settings.get(_SETTINGS_KEY)).get(request.scope.namespace, {}).get(name)
    return None if setting is None else setting.value


def _all_settings(stored: str | None) -> dict[str, dict[str, _Setting]]:
    return {} if stored is None else _decode_settings(stored)


def _setting_rows(request: ApiRequest) -> dict[str, dict[str, str]]:
    """Return the settings of the request's workspace by name, as they are sent."""
    own = _all_settings(request.workspace.settings.get(_SETTINGS_KEY)).get(request.scope.namespace, {})
    return {
        name: {"key": name, "value": str(setting.value), "updated_at": setting.updated_at}
        for name, setting in sorted(own.items())
    }


def get_setting(request: ApiRequest) -> Response:
    """Read one setting; of one that is not set, the default that holds."""
    name = _checked_setting_name(request)
    row = _setting_rows(request).get(name)
    if row is None:
        return text_response(f'Setting "{name}" is not set. It is {_SETTING_NAMES[name]}.', key=name, value=None)
    return text_response(f'Setting "{name}" is "{row["value"]}".', **row)


def list_settings(request: ApiRequest) -> Response:
    """List the settings that are set."""
    rows = list(_setting_rows(request).values())
    return text_response(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), settings=rows)


def put_setting(request: ApiRequest) -> Response:
    """Set a number from 0 to 1."""
    name = _checked_setting_name(request)
    value = _checked_number(request.read_body(_SettingValue).value)
    now = format_time(clock.now())
    _write_settings(request, lambda own: {**own, name: _Setting(value, now)})
    return text_response(f'Setting "{name}" set to "{value}".', key=name, value=str(value))


def delete_setting(request: ApiRequest) -> Response:
    """Delete a setting, so that the default holds again."""
    name = _checked_setting_name(request)
    _write_settings(request, lambda own: {other: setting for other, setting in own.items() if other != name})
    return text_response(f'Setting "{name}" deleted (reverted to default).', key=name)


def _checked_setting_name(request: ApiRequest) -> str:
    name = request.path["key"]
    if name not in _SETTING_NAMES:
        descriptions = "; ".join(f"{known}: {meaning}" for known, meaning in _SETTING_NAMES.items())
        raise NotFound(f"There is no setting {name!r:.60}.", f"There are {descriptions}.")
    return name


def _checked_number(value: float | str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise InvalidField("value", f"must be a number from 0 to 1; not {value!r:.60}")
    return number


def _write_settings(request: ApiRequest, change: Callable[[dict[str, _Setting]], dict[str, _Setting]]) -> None:
    """Replace the settings of the request's workspace by the result of ``change`` for them."""

    def write(stored: str | None) -> str:
        everything = _all_settings(stored)
        everything[request.scope.namespace] = change(everything.get(request.scope.namespace, {}))
        nonempty = {namespace: own for namespace, own in everything.items() if own}
        if sum(request.caller.owns(namespace) for namespace in nonempty) > _MAX_WORKSPACES_WITH_SETTINGS:
            raise NotAllowed(
                f"{_MAX_WORKSPACES_WITH_SETTINGS:,} workspaces have settings, which is the most.",
                "Delete those of others first.",
            )
        return msgspec.json.encode(nonempty).decode()

    request.workspace.settings.change(_SETTINGS_KEY, write)
