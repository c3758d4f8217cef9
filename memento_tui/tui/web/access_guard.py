"""Admit whoever has the address with its token, on this machine, from the page that memento itself served."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from aiohttp import hdrs, web

__all__ = ["AccessGuard"]

_TOKEN_BYTES = 32
_PATH_BYTES = 9


class AccessGuard:
    """The secrets of one run of the server, and the check of every request against them."""

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self.authority = f"{host}:{port}"
        """What the Host header must say."""
        self.origin = f"http://{self.authority}"
        self.path = f"/{secrets.token_urlsafe(_PATH_BYTES)}/"
        """Where the app is, and all that belongs to it."""
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie_name = f"memento-{port}"
        self._tickets: set[str] = set()

    @property
    def address(self) -> str:
        """The address for the person, which works until the server ends."""
        return f"{self.origin}/?token={self._token}"

    def address_for_once(self) -> str:
        """Return an address that works once: others on this machine can read the arguments that a browser is given."""
        ticket = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tickets.add(ticket)
        return f"{self.origin}/?token={ticket}"

    def admits(self, token: str) -> bool:
        """Tell whether a token opens the door; one that works once is used up."""
        if token in self._tickets:
            self._tickets.discard(token)
            return True
        return _equal_in_constant_time(token, self._token)

    def give_cookie(self, response: web.Response) -> None:
        """Let the browser that gets this response in from now on."""
        response.set_cookie(self._cookie_name, self._cookie, path=self.path, httponly=True, samesite="Strict")

    def problem(self, request: web.Request) -> str:
        """Return in a sentence why a request may not come in, or nothing."""
        if request.headers.getall(hdrs.HOST, []) != [self.authority]:
            return f"This server answers to {self.authority} only."
        if request.path == "/" and self.admits(request.query.get("token", "")):
            return ""
        if not _equal_in_constant_time(request.cookies.get(self._cookie_name, ""), self._cookie):
            return "Open the whole address that `memento web` printed; its token is what lets you in."
        if _is_upgrade(request) and request.headers.getall(hdrs.ORIGIN, []) != [self.origin]:
            return "Another page asked for this; only memento's own page may."
        return ""

    @property
    def headers(self) -> Mapping[str, str]:
        """What every response says to the browser: load nothing from elsewhere; frame, keep and tell nothing."""
        allowed = {
            "default-src": "'none'",
            "script-src": "'self'",
            # The terminal in the page lays its rows out with style elements that it makes itself.
            "style-src": "'self' 'unsafe-inline'",
            "font-src": "'self'",
            "img-src": "'self' data:",
            "connect-src": f"ws://{self.authority}",
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'none'",
        }
        return {
            "Content-Security-Policy": "; ".join(f"{kind} {sources}" for kind, sources in allowed.items()),
            "X-Frame-Options": "DENY",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Server": "memento",
        }


def _equal_in_constant_time(given: str, wanted: str) -> bool:
    """Compare in a time that tells nothing about where the two differ."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())


def _is_upgrade(request: web.Request) -> bool:
    return hdrs.UPGRADE in request.headers or hdrs.SEC_WEBSOCKET_KEY in request.headers
