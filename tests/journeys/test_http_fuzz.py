"""Whatever is sent to a route of the REST: an answer in JSON, and never a failure of the server's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_tui.compat.http.app import ROUTES
from tests.depth import examples
from tests.journeys.http_server import HttpProcess, serving
from tests.made import without_engine

_TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["", "never", "7d", "99999y", "2099-12-31", "0001-01-01", "9999-12-31T23:59:59-23:59", "a,b", "../x"]
    ),
    st.sampled_from(["active", "all", "fact", "active_work", "skip_list", "default", "\ud800", "\x00", "x" * 2000]),
)
_NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([0, -1, 10**30, 2**63, 1e308]))
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), _NUMBERS, _TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)),
    max_leaves=8,
)
_FIELDS = st.sampled_from(
    [
        "content",
        "type",
        "tags",
        "expires",
        "linkages",
        "images",
        "memories",
        "source",
        "message",
        "include",
        "track_access",
        "peek_workspaces",
        "include_graph",
        "transcript",
        "mode",
        "max_memories",
        "item",
        "reason",
        "category",
        "title",
        "status",
        "priority",
        "next_action",
        "source_ids",
        "ids",
        "crystal",
        "value",
        "name",
        "workspace",
        "query",
        "limit",
        "format",
        "base_version",
    ]
)
_BODIES = st.one_of(
    st.dictionaries(_FIELDS, _VALUES, max_size=6).map(lambda one: json.dumps(one).encode("utf-8", "surrogatepass")),
    _VALUES.map(lambda one: json.dumps(one).encode("utf-8", "surrogatepass")),
    st.binary(max_size=60),
)
_PARAMETERS = st.dictionaries(
    st.sampled_from(
        [
            "query",
            "tags",
            "type",
            "limit",
            "format",
            "track_access",
            "status",
            "sort",
            "order",
            "offset",
            "depth",
            "q",
            "category",
            "since",
            "types",
            "bucket_minutes",
            "peek_workspaces",
        ]
    ),
    st.one_of(_TEXTS, _NUMBERS.map(str)),
    max_size=4,
)
_HEADERS = st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpProcess]:
    with serving(without_engine(tmp_path_factory.mktemp("http") / "data")) as process:
        yield process


@pytest.mark.deep
@pytest.mark.parametrize(("method", "path"), [route[:2] for route in ROUTES], ids=lambda part: part.replace("/", " "))
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(part=_TEXTS, parameters=_PARAMETERS, body=_BODIES, workspace=_HEADERS)
def test_whatever_a_route_is_sent_it_answers(
    server: HttpProcess,
    method: str,
    path: str,
    part: str,
    parameters: dict[str, str],
    body: bytes,
    workspace: str,
) -> None:
    if path == "/v1/auth/rotate":
        return  # it would lock out the tests that follow
    for name in ("{id:path}", "{key}", "{section}"):
        path = path.replace(name, quote(part.encode("utf-8", "surrogatepass"), safe=""))
    query = urlencode({name: value.encode("utf-8", "surrogatepass") for name, value in parameters.items()})
    headers = {"X_Memento_Workspace": workspace} if len(body) % 3 == 0 else {}
    sent = None if method == "GET" and len(body) % 2 else body
    answer = server.client.ask(method, f"{path}?{query}", sent, **headers)
    assert answer.status < 500, answer
    if answer.status >= 400:
        assert answer.error.strip()
    else:
        assert isinstance(answer.data, dict)
