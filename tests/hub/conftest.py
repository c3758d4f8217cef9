"""A PostgreSQL for the tests of the hub, and machines that share through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.hub.machines import Machine
from tests.postgres import MISSING, PostgresServer, postgres_programs, running_postgres

MakeMachine = Callable[..., Machine]


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    if postgres_programs() is None:
        pytest.skip(MISSING)
    # What is killed here are processes; the disk stays.
    with running_postgres(settings={"fsync": "off", "max_connections": "60"}) as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer, request: pytest.FixtureRequest) -> str:
    """Return the name of a new database."""
    name = f"t{abs(hash(request.node.nodeid)):x}"
    with psycopg.connect(postgres.address(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return name


@pytest.fixture
def address(postgres: PostgresServer, database: str) -> str:
    return postgres.address(database=database)


@pytest.fixture
def machine(tmp_path: Path, address: str) -> Iterator[MakeMachine]:
    """Make machines by name; the first begins the hub, the others join it."""
    made: list[Machine] = []
    with ExitStack() as stack:

        def make(name: str, *namespaces: str, url: str = "") -> Machine:
            one = stack.enter_context(Machine(tmp_path / name, name))
            one.take_part(url or address, namespaces or ("projects/site",), begins=not made)
            made.append(one)
            return one

        yield make
