"""Admit requests: only with a key, at this server's own name, and from no web page of somebody else.

Every program on the machine reaches loopback, and so does every page that the person's browser shows. So each request
must name this server in its Host header, which a page that was rebound to it by DNS cannot do; must come from no other
page, by its Origin header; and must carry a key, which no page knows. A body is read, up to its limit, before anything
is done with it.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memento_tui.compat.http.exchange import error_response, response_of_error
from memento_tui.compat.http.keys import Caller
from memento_tui.errors import MementoError
from memento_tui.mcp.streamable_http import replay_body

__all__ = ["CALLER_SCOPE_KEY", "Guard", "WrongKeys", "is_loopback"]

CALLER_SCOPE_KEY = "memento.caller"
"""The key of a request's `Caller` in its ASGI scope."""

_MAX_BODY_BYTES = 4 * 1024 * 1024
"""Bytes. A hundred memories of ten pages each, or a transcript of the greatest length written in escapes."""

_MAX_DISCARDED_BYTES = 64 * 1024 * 1024
"""Bytes of a body beyond the limit that are still taken: many clients read no answer before they have sent it all."""

_BODY_TIMEOUT_SECONDS = 60
"""Seconds in which a body must be there: a client that sends nothing holds a connection, and memory."""

_KEYLESS_ROUTES = (("GET", "/"), ("HEAD", "/"), ("POST", "/v1/auth/signup"))
_HOST_PATTERN = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK_NAMES = ("localhost", "ip6-localhost")

_NO_KEY_MESSAGE = (
    "Invalid or missing API key: send the header Authorization: Bearer KEY with the key that memento serve shows."
)

_GUESSING_MESSAGE = "Too many wrong keys came from this address; try again in a moment."
_GUESSING_RETRY_SECONDS = 2

_FREE_ATTEMPTS = 10
"""Wrong keys of one address that are answered at once: an agent that was set up with an old key asks a few times."""

_FIRST_DELAY_SECONDS = 0.1
_MAX_DELAY_SECONDS = 2.0
_FORGET_SECONDS = 30.0
"""Seconds after which one wrong key of an address is forgotten."""

_MAX_WAITING = 8
"""Answers to one address that are held back at a time. With the greatest delay that is four guesses a second, of a key
of 16 characters or more."""

_MAX_ADDRESSES = 1_000
"""Addresses remembered; beyond them the one that was quiet longest is forgotten."""

_IPV6_NETWORK_BITS = 64
"""Bits of an IPv6 address by which wrong keys are counted: whoever has one address has its whole network."""


@dataclass(slots=True)
class _Attempts:
    wrong: float = 0.0
    at: float = 0.0
    waiting: int = 0


class WrongKeys:
    """The wrong keys that each address has sent: clients that guess are slowed, and those that know theirs are not.

    Each holds back its own answer a little longer than the last. While many answers to an address are held back, no
    key of it is looked at: it would guess as fast as it opens connections.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._addresses: OrderedDict[str, _Attempts] = OrderedDict()

    def is_guessing(self, address: str) -> bool:
        """Tell whether as many answers to an address are held back as may be."""
        attempts = self._addresses.get(_network(address))
        return attempts is not None and attempts.waiting >= _MAX_WAITING

    async def hold_back(self, address: str) -> None:
        """Count a wrong key of an address, and wait as long as its answer is to take."""
        attempts = self._count(_network(address))
        excess = attempts.wrong - _FREE_ATTEMPTS
        if excess <= 0:
            return
        attempts.waiting += 1
        try:
            await self._sleep(min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** min(excess - 1, 10)))
        finally:
            attempts.waiting -= 1

    def _count(self, network: str) -> _Attempts:
        now = self._clock()
        attempts = self._addresses.setdefault(network, _Attempts(at=now))
        self._addresses.move_to_end(network)
        attempts.wrong = max(0.0, attempts.wrong - (now - attempts.at) / _FORGET_SECONDS) + 1
        attempts.at = now
        if len(self._addresses) > _MAX_ADDRESSES:
            self._addresses.popitem(last=False)
        return attempts


def _network(address: str) -> str:
    """Return the addresses that one client may have all of, by the name of one."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if known.version == 4:  # noqa: PLR2004 - the version's name
        return address
    return str(ipaddress.ip_network((known, _IPV6_NETWORK_BITS), strict=False))


class Guard:
    """The gate in front of an application; ``caller_of`` returns the owner of a request's key."""

    def __init__(
        self,
        inner: ASGIApp,
        caller_of: Callable[[str], Awaitable[Caller | None]],
        *,
        host: str,
        wrong_keys: WrongKeys | None = None,
    ) -> None:
        self._inner = inner
        self._caller_of = caller_of
        self._wrong_keys = wrong_keys or WrongKeys()
        self._host = host.lower().strip("[]")
        # A page that DNS rebound names a host; where all addresses are listened to, each of them is this server's own.
        self._is_open = not is_loopback(host)
        self._reading: set[anyio.CancelScope] = set()

    def end(self) -> None:
        """Answer the requests whose bodies are still on the way, because the server is to end."""
        for reading in self._reading:
            reading.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with the refusal."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        body: list[bytes] = []
        refusal = self._origin_refusal(scope)
        try:
            refusal = refusal or await self._key_refusal(scope) or await self._body_refusal(scope, receive, body)
        except MementoError as error:  # the keys cannot be read
            refusal = response_of_error(error)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._inner(scope, replay_body(b"".join(body), receive), send)

    def _origin_refusal(self, scope: Scope) -> Response | None:
        """Return the refusal of a request that is meant for another host name, or sent by another web page."""
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_own(_host_name(hosts[0])):
            return error_response(
                "This server does not answer to that Host. Use the address that memento serve shows.", 403
            )
        if any(origin.lower() != f"{scope['scheme']}://{hosts[0].lower()}" for origin in headers.getlist("origin")):
            return error_response("A web page asked for this (header Origin); memento answers programs only.", 403)
        return None

    def _is_own(self, name: str) -> bool:
        if name in (self._host, *_LOOPBACK_NAMES) or is_loopback(name):
            return bool(name)
        return self._is_open and _address(name) is not None

    async def _key_refusal(self, scope: Scope) -> Response | None:
        """Put the caller whom the key names into the scope; return the refusal where no key is accepted."""
        if (scope["method"], scope["path"]) in _KEYLESS_ROUTES:
            scope[CALLER_SCOPE_KEY] = Caller()
            if scope["method"] == "POST" and not is_loopback((scope["client"] or ("", 0))[0]):
                return error_response("Accounts are made on the machine that memento runs on only.", 403)
            return None
        headers = Headers(scope=scope).getlist("authorization")
        scheme, _, key = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
        key = key.strip() if scheme.lower() == "bearer" else ""
        address = (scope["client"] or ("", 0))[0]
        if key and self._wrong_keys.is_guessing(address):
            refusal = error_response(_GUESSING_MESSAGE, 429)
            refusal.headers["Retry-After"] = str(_GUESSING_RETRY_SECONDS)
            return refusal
        caller = await self._caller_of(key) if key else None
        if caller is None:
            if key:
                await self._wrong_keys.hold_back(address)
            refusal = error_response(_NO_KEY_MESSAGE, 401)
            refusal.headers["WWW-Authenticate"] = "Bearer"
            return refusal
        scope[CALLER_SCOPE_KEY] = caller
        return None

    async def _body_refusal(self, scope: Scope, receive: Receive, body: list[bytes]) -> Response | None:
        """Read a request's body into ``body`` within its time limit; return the refusal of a late or too large one."""
        with anyio.move_on_after(_BODY_TIMEOUT_SECONDS) as reading:
            self._reading.add(reading)
            try:
                return await _read_body(scope, receive, body)
            finally:
                self._reading.discard(reading)
        late = error_response(
            f"The body did not come within {_BODY_TIMEOUT_SECONDS} s, or before the server ended.", 408
        )
        late.headers["Connection"] = "close"
        return late


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine and nothing else: a name for it, or an address that never leaves it."""
    address = _address(host)
    return host.lower() in _LOOPBACK_NAMES if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _host_name(host: str) -> str:
    """Return the name in a Host header, without its port; empty where it cannot be read.

    The port may be another one: a tunnel's own end has its own.
    """
    match = _HOST_PATTERN.fullmatch(host)
    return match["name"].strip("[]").lower() if match else ""


async def _read_body(scope: Scope, receive: Receive, body: list[bytes]) -> Response | None:
    """Read a request's body into ``body``; return the refusal of one that is too large."""
    announced = Headers(scope=scope).get("content-length", "")
    too_long = error_response(f"The body is larger than {_MAX_BODY_BYTES // 1024**2} MB, which is the most.", 413)
    too_long.headers["Connection"] = "close"
    if announced.isdecimal() and int(announced) > _MAX_BODY_BYTES + _MAX_DISCARDED_BYTES:
        return too_long
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return error_response("The request broke off.", 400)
        part: bytes = message.get("body", b"")
        size += len(part)
        if size <= _MAX_BODY_BYTES:
            body.append(part)
        if not message.get("more_body", False) or size > _MAX_BODY_BYTES + _MAX_DISCARDED_BYTES:
            return too_long if size > _MAX_BODY_BYTES else None
