"""``/v1/auth``: an account with a key and a namespace of its own, and a new key in the place of an old one."""

from __future__ import annotations

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import replied

__all__ = ["rotate", "sign_up"]

_LONGEST_NAME = 100


class _New(Shape):
    name: str = "default"
    workspace: str = "default"


def sign_up(call: Call) -> Response:
    """Make an account. Its key is told once, and is kept nowhere."""
    given = call.given(_New)
    workspace = given.workspace.strip() or "default"
    call.caller.namespace_of(workspace)  # a name that cannot be one is told before there is an account
    caller, key = call.keys.sign_up(given.name[:_LONGEST_NAME])
    body = {
        "api_key": key,
        "workspace": workspace,
        "user_id": caller.account,
        "api_url": call.address,
        "plan": "local",
        "limits": {},
    }
    return replied(body, 201)


def rotate(call: Call) -> Response:
    """Replace the key that the request came with; the old one opens nothing from now on."""
    key = call.keys.rotate(call.caller)
    return replied({"api_key": key, "message": "The old key does not work any more."})
