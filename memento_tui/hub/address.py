"""Read the address of a hub: no password in it, and no unencrypted way to another machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from memento_tui.errors import InvalidInput, NotAllowed

__all__ = ["check_address", "check_connection", "connection_options", "is_local", "keyring_name"]

_EXAMPLE = "An address is such as postgresql://ana@db.example.org/memento."
_ENCRYPTED_MODES = ("require", "verify-ca", "verify-full")
"""The values of ``sslmode`` that refuse an unencrypted connection."""

_CONNECT_SECONDS = 5
"""Seconds after which an address that does not answer counts as unreachable."""

_PATIENCE = {
    "tcp_user_timeout": "10000",
    "keepalives_idle": "30",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
"""How long a line that was cut goes unnoticed: 10 s while something is sent, 45 s while nothing is.

Without these a machine would wait a quarter of an hour for an answer that never comes, or two hours for a hint.
"""


def connection_options(address: str) -> dict[str, str]:
    """Return libpq's options for an address, with TLS and a checked name where it leaves this machine.

    What libpq adds by itself counts too: ``PGHOST``, ``PGHOSTADDR``, and the service that ``PGSERVICE`` names.

    Raises:
        InvalidInput: it is no address, holds a password or a service, or names another machine without TLS.

    """
    from psycopg import ProgrammingError  # noqa: PLC0415 - an extra, which most do without
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as above

    try:
        given = {name: str(value) for name, value in conninfo_to_dict(address).items() if value is not None}
    except ProgrammingError as error:
        raise InvalidInput(f"{address!r:.80} is not the address of a PostgreSQL database.", _EXAMPLE) from error
    if not address.startswith(("postgresql://", "postgres://")):
        raise InvalidInput(f"{address!r:.80} is not the address of a PostgreSQL database.", _EXAMPLE)
    if "password" in given:
        raise InvalidInput(
            "The address holds a password, which would stay in your shell's history.",
            "Change that password, put it into ~/.pgpass (HOST:PORT:DATABASE:LOGIN:PASSWORD, mode 600),"
            " and name the address without it.",
        )
    if "service" in given:
        raise InvalidInput(
            "The address names a service, whose file may name another machine at any time.",
            "Name the host and the database of the service instead.",
        )
    known = _defaults() | given
    if not (is_local(known.get("host", "")) and is_local(known.get("hostaddr", ""))):
        mode = given.setdefault("sslmode", "verify-full")
        if mode == "verify-full":
            given.setdefault("sslrootcert", "system")
        if mode not in _ENCRYPTED_MODES:
            raise InvalidInput(
                f"sslmode={mode} would send what is remembered over the network as it is.",
                "Leave it out, or take verify-full.",
            )
        # Where a connection can be encrypted by Kerberos, libpq ignores what sslmode asks for.
        given["gssencmode"] = "disable"
    given.setdefault("connect_timeout", str(_CONNECT_SECONDS))
    given.setdefault("application_name", "memento")
    for name, value in _PATIENCE.items():
        given.setdefault(name, value)
    return given


def check_address(address: str) -> None:
    """Raise `InvalidInput` unless an address can be used; see `connection_options`."""
    connection_options(address)


def keyring_name(options: Mapping[str, str]) -> str:
    """Return the name of a hub's password in the system's keyring: ``LOGIN@HOST``, ``localhost`` for a socket."""
    known = {**_defaults(), **options}
    host = known.get("host", "")
    return f"{known.get('user', '')}@{'localhost' if not host or host.startswith(('/', '@')) else host}"


def check_connection(host: str, hostaddr: str, *, encrypted: bool) -> None:
    """Raise `NotAllowed` for an open connection that reaches another machine as it is, whatever was asked for.

    ``hostaddr`` is the address that ``host`` led to; it is empty for a socket of this machine.
    """
    if not encrypted and not (is_local(host) and is_local(hostaddr)):
        raise NotAllowed(
            f"The connection to {host or hostaddr:.80} is not encrypted: nothing that is remembered was sent.",
            "Let the server offer TLS, and name it in the address.",
        )


def _defaults() -> dict[str, str]:
    """Return libpq's defaults for an address: from the environment, and from the service that it names."""
    from psycopg.pq import Conninfo  # noqa: PLC0415 - an extra, which most do without

    return {one.keyword.decode(): one.val.decode() for one in Conninfo.get_defaults() if one.val}


def is_local(host: str) -> bool:
    """Tell whether every host of an address is this machine: a socket's folder, ``localhost`` or a loopback address."""
    return all(_is_local(one.strip()) for one in host.split(","))


def _is_local(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
