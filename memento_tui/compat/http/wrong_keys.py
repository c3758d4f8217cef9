"""Slow clients that guess keys, without slowing those that know theirs."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

__all__ = ["WrongKeys"]

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
"""Whoever has one address of IPv6 has all of its network."""


@dataclass(slots=True)
class _Attempts:
    wrong: float = 0.0
    at: float = 0.0
    waiting: int = 0


class WrongKeys:
    """The wrong keys that each address has sent.

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
