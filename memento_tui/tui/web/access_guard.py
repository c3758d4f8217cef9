"""Check requests: only a browser on this machine that has the token, and only memento's own page, is admitted."""

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
        """The required Host header."""
        self.origin = f"http://{self.authority}"
        self.path = f"/{secrets.token_urlsafe(_PATH_BYTES)}/"
        """The path of the app and all of its files."""
        self._token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie = secrets.token_urlsafe(_TOKEN_BYTES)
        self._cookie_name = f"memento-{port}"
        self._tickets: set[str] = set()

    @property
    def address(self) -> str:
        """The address for the person, which works until the server ends."""
        return f"{self.origin}/?token={self._token}"

    def address_for_once(self) -> str:
        """Return an address that works once: other users of this machine can read the arguments of a browser."""
        ticket = secrets.token_urlsafe(_TOKEN_BYTES)
        self._tickets.add(ticket)
        return f"{self.origin}/?token={ticket}"

    def admits(self, token: str) -> bool:
        """Return whether a token admits; a token for once is used up."""
        if token in self._tickets:
            self._tickets.discard(token)
            return True
        return _equal_in_constant_time(token, self._token)

    def give_cookie(self, response: web.Response) -> None:
        """Set the cookie that admits the browser from now on."""
        response.set_cookie(self._cookie_name, self._cookie, path=self.path, httponly=True, samesite="Strict")

    def problem(self, request: web.Request) -> str:
        """Return why a request is refused, in a sentence; empty if it is admitted."""
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
        """The headers of every response: nothing is loaded from elsewhere, and nothing framed, stored or revealed."""
        allowed = {
            "default-src": "'none'",
            "script-src": "'self'",
            # The terminal in the page lays out its rows with style elements that it creates.
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


def _equal_in_constant_time(given: str, expected: str) -> bool:
    """Compare in a time that does not reveal where the two differ."""
    return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


def _is_upgrade(request: web.Request) -> bool:
    return hdrs.UPGRADE in request.headers or hdrs.SEC_WEBSOCKET_KEY in request.headers
