from __future__ import annotations

import json
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.retrieval import memories_for_prompt, up_to_date_index
from memento_tui.hooks.scope import SessionScope
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from memento_tui.storage.hook_store import HookStore
from memento_tui.text.conditions import is_about_another, numbered_things
from memento_tui.text.keywords import is_name
from tests.made import without_engine


def told(data_dir: Path, prompt: str) -> str:
    call = parse_call("claude-code", "UserPromptSubmit", json.dumps({"session_id": prompt, "prompt": prompt}).encode())
    assert call is not None
    return context_for_call(call, DataPaths(data_dir), HookSettings())


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = without_engine(tmp_path_factory.mktemp("services") / "data")
    with memento_tui.open(data_dir) as person:
        person.remember_many({"content": f"Service {number} listens on port {8000 + number}."} for number in range(90))
        person.remember("Invoices are sent by the first of a month.")
    return data_dir


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("Service 77 port", "Service 77 listens on port 8077"),
        ("Which port does service 77 listen on?", "Service 77 listens on port 8077"),
        ("who listens on port 8042?", "Service 42 listens on port 8042"),
    ],
)
def test_a_number_is_a_name(services: Path, prompt: str, found: str) -> None:
    answer = told(services, prompt)
    assert found in answer
    assert answer.count("listens") == 1


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data_dir = without_engine(tmp_path_factory.mktemp("numbered") / "data")
    with memento_tui.open(data_dir) as person:
        for text in (
            "Version 2.4 of the importer supports single sign-on over SAML.",
            "On 2026-10-03 the certificate of the gateway was renewed.",
            "Python 3.11 is required by the ingest worker because of TaskGroup.",
            "The nightly backup of db-7 starts at 02:30.",
            "Ticket ABC-123 tracks the login redirect loop.",
        ):
            person.remember(text)
    return data_dir


@pytest.mark.parametrize(
    "prompt",
    [
        "does version 9.9 of the importer support single sign-on?",
        "Version 2.5 importer SAML",
        "is Python 3.12 required by the ingest worker?",
        "was the gateway certificate renewed on 2025-01-01?",
        "nightly backup of db-8",
        "ticket ABC-124 login redirect",
    ],
)
def test_a_version_a_date_or_an_id_is_a_name(numbered: Path, prompt: str) -> None:
    assert told(numbered, prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("does version 2.4 of the importer support single sign-on?", "Version 2.4"),
        ("does the importer support single sign-on?", "Version 2.4"),
        ("which version of Python is required by the ingest worker, 3.12?", "Python 3.11"),
        ("upgrade the ingest worker to Python 3.12, which it has required for months", "Python 3.11"),
        ("nightly backup of db-7", "db-7"),
        ("ticket ABC-123 login redirect", "ABC-123"),
        ("was the gateway certificate renewed on 2026-10-03?", "2026-10-03"),
    ],
)
def test_what_is_asked_by_its_own_number_or_by_none_is_told(numbered: Path, prompt: str, found: str) -> None:
    assert found in told(numbered, prompt)


@pytest.mark.parametrize("prompt", ["Service 99 port", "Which port does the service listen on?", "service port"])
def test_what_a_prompt_does_not_tell_apart_is_not_told(services: Path, prompt: str) -> None:
    assert told(services, prompt) == ""


@pytest.mark.parametrize("count", [4, 8])
def test_of_a_few_that_all_match_none_is_told_unless_one_fits(tmp_path: Path, count: int) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        for number in range(20, 20 + count):
            person.remember(f"Service {number} listens on port {8000 + number}.")
    assert told(data_dir, "Service 77 port") == ""
    assert told(data_dir, "Which port does the service listen on?") == ""
    assert told(data_dir, "Service 21 port").count("listens") == 1


_ISSUES = (
    "| Port mismatch | Verify the same port in the hooks' settings and in the server |",
    "| Startup fails on every session (Windows) | Set MCP_INIT_TIMEOUT=120 in the environment, issue #474 |",
    "| Database lock errors | Add journal_mode=WAL to the pragmas and restart the servers |",
    "| Wrong backend showing | Run the diagnosis of the backend's configuration |",
)
_CURES = ("Downgraded lockfile | Restore it from Git", "Hook fails | Put the venv first")


def told_of_versions(data_dir: Path, *texts: str, verified: int | None = None) -> list[int]:
    """Return the places of those of the versions of a note, oldest first, that a prompt is told."""
    ids = []
    with memento_tui.open(without_engine(data_dir)) as person:
        for month, text in enumerate(texts, 1):
            fields: dict[str, str] = dict.fromkeys(("created_at", "updated_at"), f"2026-0{month}-01T10:00:00Z")
            title = "Troubleshooting / Common Issues"
            [note] = person.remember_many([{"content": text, "title": title, "source_type": "derived", **fields}])
            ids.append(note.id)
        if verified is not None:
            person.verify(ids[verified])
    answer = told(data_dir, "what is issue #474")
    return [place for place, name in enumerate(ids) if name in answer]


def test_of_the_versions_of_one_note_the_newest_is_told(tmp_path: Path) -> None:
    grown = " Or look into the pages that the office has about all that may go wrong." * 3
    versions = ["\n".join([*_ISSUES, *_CURES[:count], grown * count]) for count in range(3)]
    assert told_of_versions(tmp_path / "data", *versions) == [2]


def test_of_the_versions_of_one_note_the_one_that_a_person_verified_is_told(tmp_path: Path) -> None:
    versions = ["\n".join([*_ISSUES, end]) for end in ("Ask Ana.", "Ask Ben.", "Ask Ana or Cleo.")]
    assert told_of_versions(tmp_path / "data", *versions, verified=1) == [1]


def test_a_note_whose_newest_version_has_other_numbers_or_less_is_told_beside_it(tmp_path: Path) -> None:
    text = "\n".join(_ISSUES)
    assert told_of_versions(tmp_path / "numbers", text, text.replace("120", "60")) == [0, 1]
    assert told_of_versions(tmp_path / "less", text, "\n".join(_ISSUES[:2])) == [0, 1]


def test_meaning_counts_beside_words_where_there_is_an_engine(workspace: Workspace) -> None:
    near, far = (
        workspace.remember(text).id
        for text in ("Users sign in through the identity provider.", "The users' cafeteria has a provider of fruit.")
    )
    workspace.search_engine.keyword.catch_up()
    store = HookStore(workspace.paths.database)
    index = up_to_date_index(workspace.paths, store)
    assert index is not None

    def ask(similarities: dict[str, float]) -> list[str]:
        found = memories_for_prompt(
            store,
            index,
            "How do users log on with the provider, exactly?",
            SessionScope("", ""),
            HookSettings(),
            clock.now(),
            lambda *_: similarities,
        )
        return [one.memory.id for one in found]

    assert ask({near: 0.8, far: 0.1}) == [near]
    assert ask({near: 0.05, far: 0.05}) == []
    store.close()


def test_two_shared_words_are_told_where_the_meaning_is_not_far(workspace: Workspace) -> None:
    memory = workspace.remember("Tests never touch the production database.").id
    workspace.search_engine.keyword.catch_up()
    store = HookStore(workspace.paths.database)
    index = up_to_date_index(workspace.paths, store)
    assert index is not None

    def ask(similarity: float) -> list[str]:
        found = memories_for_prompt(
            store,
            index,
            "the production database?",
            SessionScope("", ""),
            HookSettings(),
            clock.now(),
            lambda *_: {memory: similarity},
        )
        return [one.memory.id for one in found]

    assert ask(0.4) == [memory]
    assert ask(0.3) == []
    store.close()


@pytest.mark.parametrize("name", ["#311", "v1.4.7", "1.25.3", "2026-05-01", "src/parser.py", "Navier-Stokes"])
def test_issue_numbers_versions_and_dates_are_names(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize("word", ["200", "1.4", "3,5", "Multi-stage", "and/or", "port"])
def test_amounts_and_plain_words_are_no_names(word: str) -> None:
    assert not is_name(word)


@pytest.mark.parametrize(
    ("asked", "text", "another"),
    [
        ("Service 77 port", "Service 23 listens on 8023.", True),
        ("Service 77 port", "Service 77 listens on 8077.", False),
        ("service 7", "Services 007 and 8", False),
        ("I am on issue 500, the login test is flaky", "The login test is flaky: a clock skew. See issue 123.", False),
        ("it takes 12 seconds", "Deploys are slow", False),
        ("python 3.11", "Python 3.12 is required", True),
        ("What is service 877?", "Service 77 listens on port 877.", True),
        ("What is service 8?", "Services 7, 8 and 9 listen on port 877.", False),
        ("does version 9.9 of the importer support SSO?", "Version 2.4 of the importer supports SSO.", True),
        ("Version 2.5 importer SAML", "Version 2.4 of the importer supports SSO over SAML.", True),
        ("importer 2.5 SAML", "Version 2.4 of the importer supports SSO over SAML.", True),
        ("importer v2.5 SAML", "Release v2.4 of the importer supports SSO over SAML.", True),
        ("importer version 2.4.1", "Version 2.4 of the importer supports SSO.", False),
        ("what broke in release 3.1.4?", "Release 3.1.3 broke the export.", True),
        ("does CVE-2024-1234 concern us?", "CVE-2024-1235 concerns libfoo.", True),
        ("does CVE-2024-1234 concern us?", "CVE-2024-1234 concerns libfoo.", False),
        ("numpy 2.0 breaks something", "numpy 1.26 is pinned because 2.0 breaks scipy.", False),
        ("does Go 1.22 build it?", "It needs Go 1.21 at least.", False),
        ("nightly backup of db-8", "The nightly backup of db-7 starts at 02:30.", True),
        ("nightly backup of DB-7", "The nightly backup of db-7 starts at 02:30.", False),
        ("ticket ABC-124 login redirect", "Ticket ABC-123 tracks the login redirect loop.", True),
        ("was the certificate renewed on 2025-01-01?", "On 2026-10-03 the certificate was renewed.", True),
        ("was the certificate renewed on 2026-10-03?", "On 2026-10-03 the certificate was renewed.", False),
        ("2026-11-29 12:00 ERROR the certificate", "On 2026-10-03 the certificate was renewed.", False),
        ("is the certificate valid as of 2026-11-29?", "On 2026-10-03 the certificate was renewed.", False),
        ("is Python 3.12 fine?", "Python 3.11 or newer is required.", False),
        ("is Python 3.12 fine?", "The ingest worker of ours needs Python 3.11 or newer.", False),
        ("is Python 3.12 fine?", "Python 3.11+ is required.", False),
        ("is Python 3.12 fine?", "Python 3 is required.", False),
        ("is Python 3.12 fine?", "Python 3.10 to 3.13 is supported.", False),
        ("does version 2.5 support SSO?", "Since version 2.4 the importer supports SSO.", False),
        ("which version of Python do we need, I have Python 3.12?", "Python 3.11 is required.", False),
        ("can we upgrade to Python 3.12?", "Python 3.11 is required.", False),
        ("upgrade the importer from 2.4", "Importer 2.5 needs a new key.", False),
        ("does service 77 run Python 3.12?", "Service 77 runs Python 3.11.", False),
        ("set the threshold 0.8", "Threshold 0.7 works best.", False),
        ("write it as utf-16", "UTF-8 is used for all files.", False),
    ],
)
def test_a_thing_with_another_number_is_another_thing(
    asked: str,
    text: str,
    another: bool,  # noqa: FBT001 - a table
) -> None:
    assert is_about_another(numbered_things(asked), text) is another
