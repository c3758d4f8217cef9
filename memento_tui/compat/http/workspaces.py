"""``/v1/workspaces``, ``/settings``, ``/health`` and ``/auth``: workspaces, their settings, and accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.compat.http.request import ApiRequest, RequestSchema
from memento_tui.compat.http.responses import json_response, text_response
from memento_tui.compat.protocol.working_memory import list_items, workspace_skips
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import InvalidField, NotAllowed, NotFound
from memento_tui.model import Memory, Proposal
from memento_tui.model.filters import AllOf, OneOf, Under
from memento_tui.moments import format_moment
from memento_tui.operations.memories import count_memories, format_time

__all__ = [
    "create_workspace",
    "delete_setting",
    "delete_workspace",
    "get_health",
    "get_setting",
    "list_settings",
    "list_workspaces",
    "put_setting",
    "rotate_key",
    "setting_number",
    "sign_up",
]

_SETTINGS_KEY = "http.settings"
_MAX_WORKSPACES_WITH_SETTINGS = 200
"""Workspaces of one caller with settings: any name is one, and all settings are read with every recall."""

_SETTING_NAMES: Mapping[str, str] = {
    "recall_alpha": "the share of words against meaning in a recall's scores; where it is not set, memento weighs them",
    "recall_threshold": "the score below which a recall leaves a memory out; where it is not set, 0",
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


_WORKSPACES_KEY = "http.workspaces"
_DEFAULT_WORKSPACE = "default"
_MAX_WORKSPACES = 1_000
_MAX_DELETED = 1_000
"""Memories. A workspace that holds more is for a person to clear."""

_decode_workspaces = msgspec.json.Decoder(dict[str, str]).decode
"""Decodes the moments when workspaces were begun, by namespace; workspaces with memories need not be among them."""


class _NewWorkspace(RequestSchema):
    name: str = _DEFAULT_WORKSPACE


def _workspaces_by_name(request: ApiRequest) -> dict[str, str]:
    """Return the caller's workspaces by name, with the moments when they were begun (empty where unknown)."""
    stored = request.workspace.settings.get(_WORKSPACES_KEY)
    begun_at = {} if stored is None else _decode_workspaces(stored)
    with_memories = [name for name, _ in request.workspace.namespaces()]
    own = [name for name in (*begun_at, *with_memories) if request.caller.sees(name)]
    return {_DEFAULT_WORKSPACE: "", **{request.caller.workspace_of(name): begun_at.get(name, "") for name in own}}


def create_workspace(request: ApiRequest) -> Response:
    """Begin a workspace; the request's own one exists already, by being named."""
    name = request.read_body(_NewWorkspace).name.strip() or _DEFAULT_WORKSPACE
    namespace = request.caller.namespace_of(name)
    if name in _workspaces_by_name(request) or namespace == request.scope.namespace:
        return text_response(f'Workspace "{name}" already exists (id: {name}).', id=name)

    def add(stored: str | None) -> str:
        begun_at = {} if stored is None else _decode_workspaces(stored)
        if sum(request.caller.owns(other) for other in begun_at) >= _MAX_WORKSPACES:
            raise NotAllowed(f"{_MAX_WORKSPACES:,} workspaces were begun, which is the most.", "Delete some of them.")
        return msgspec.json.encode({**begun_at, namespace: format_moment(clock.now())}).decode()

    request.workspace.settings.change(_WORKSPACES_KEY, add)
    return text_response(f'Workspace "{name}" created (id: {name}).', 201, id=name)


def list_workspaces(request: ApiRequest) -> Response:
    """List the workspaces that the caller sees."""
    rows = [
        {"id": name, "name": name, "created_at": at, "updated_at": at}
        for name, at in sorted(_workspaces_by_name(request).items())
    ]
    return text_response(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), workspaces=rows)


def delete_workspace(request: ApiRequest) -> Response:
    """Delete the records of a workspace as one change that a person can undo; verified memories are proposed."""
    name = request.path["id"]
    if name not in _workspaces_by_name(request):
        raise NotFound("Workspace not found.", "GET /v1/workspaces lists them.")
    if name == _DEFAULT_WORKSPACE:
        raise NotAllowed("The workspace default cannot be deleted.", "Delete its memories one by one.")
    scope = WorkspaceScope(request.caller.namespace_of(name), label=name)
    memories = _memories_in(request, scope)
    if len(memories) > _MAX_DELETED:
        raise NotAllowed(
            f"The workspace holds more than {_MAX_DELETED:,} memories.", "Ask the person to look through it first."
        )
    with request.workspace.one_undo():
        waiting = _delete_contents(request, scope, memories)

    def drop(stored: str | None) -> str:
        begun_at = {} if stored is None else _decode_workspaces(stored)
        return msgspec.json.encode({other: at for other, at in begun_at.items() if other != scope.namespace}).decode()

    if waiting:
        text = f'{waiting} of what workspace "{name}" holds waits for a person\'s decision; the rest is deleted.'
        return text_response(text, 202, status="proposed", proposed=waiting)
    request.workspace.settings.change(_WORKSPACES_KEY, drop)
    return text_response(f'Workspace "{name}" deleted.', id=name)


def _memories_in(request: ApiRequest, scope: WorkspaceScope) -> list[Memory]:
    standing = OneOf("status", ("pending", "active", "consolidated", "superseded", "compacted", "archived"))
    tree = AllOf((standing, Under(scope.namespace)))
    return list(request.workspace.slice(tree, order="created", ascending=True, limit=_MAX_DELETED + 1))


def _delete_contents(request: ApiRequest, scope: WorkspaceScope, memories: list[Memory]) -> int:
    """Delete memories, items and skips; return how many deletions wait for a person."""
    workspace, waiting = request.workspace, 0
    for memory in memories:
        try:
            waiting += workspace.forget(memory.id).status != "applied"
        except NotAllowed:  # it waits for a decision that somebody else asked for
            waiting += 1
    items = [item.id for item in workspace.items.list() if scope.holds(item)]
    skips = [skip.id for skip in workspace_skips(workspace, scope)]
    proposals: list[Proposal | None] = [workspace.items.remove(name) for name in items]
    proposals += [workspace.skips.remove(name) for name in skips]
    return waiting + sum(proposal is not None for proposal in proposals)


def get_health(request: ApiRequest) -> Response:
    """Count the records of the workspace, in words and in fields."""
    counts = count_memories(request.workspace, request.scope.namespace, with_restricted=False)._asdict()
    items = list_items(request.workspace, (request.scope.namespace,))
    skips = workspace_skips(request.workspace, request.scope)
    touched = max((item.updated_at for item in items), default=None)
    numbers: dict[str, Any] = {**counts, "items": len(items), "skips": len(skips)}
    lines = [
        "**Memento Health Report**",
        f"Workspace: {request.scope.name}",
        "",
        "**Working Memory**",
        f"  Items: {len(items)}",
        f"  Last updated: {'never' if touched is None else format_time(touched)}",
        "",
        "**Stored Memories**",
        f"  Total: {sum(counts.values())} ({', '.join(f'{count} {name}' for name, count in counts.items())})",
        "",
        "**Skip List**",
        f"  Total: {len(skips)} ({len(skips)} active, 0 expired)",
    ]
    return text_response("\n".join(lines), workspace=request.scope.name, **numbers)


_MAX_NAME_CHARS = 100


class _NewAccount(RequestSchema):
    name: str = "default"
    workspace: str = "default"


def sign_up(request: ApiRequest) -> Response:
    """Make an account. Its key is shown once, and is kept nowhere."""
    account = request.read_body(_NewAccount)
    workspace = account.workspace.strip() or "default"
    request.caller.namespace_of(workspace)  # an invalid name is refused before there is an account
    caller, key = request.keys.sign_up(account.name[:_MAX_NAME_CHARS])
    body = {
        "api_key": key,
        "workspace": workspace,
        "user_id": caller.account,
        "api_url": request.address,
        "plan": "local",
        "limits": {},
    }
    return json_response(body, 201)


def rotate_key(request: ApiRequest) -> Response:
    """Replace the key that the request came with; the old one opens nothing from now on."""
    key = request.keys.rotate(request.caller)
    return json_response({"api_key": key, "message": "The old key does not work any more."})
