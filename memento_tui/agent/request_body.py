"""A request's body that was read already, for the application within to read it again."""

from __future__ import annotations

from starlette.types import Message, Receive

__all__ = ["given_again"]


def given_again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body, and then whatever ``receive`` has to tell."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return unread.pop() if unread else await receive()

    return give
