"""What real prompts bring to light: pasted traces, other scripts, other projects, and skips said in passing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from tests.journeys.hook_host import DirectHost
from tests.journeys.mcp_agent import NO_ENGINE

TRACE = """it fails:
Traceback (most recent call last):
  File "/home/dana/site/.venv/lib/python3.12/site-packages/click/core.py", line 1442, in main
    rv = self.invoke(ctx)
  File "/home/dana/site/src/parser.py", line 88, in parse
    head = tokens[0]
IndexError: list index out of range
"""
OTHERS = (
    "Amounts of money are integers of cents.",
    "The cat is called Minou and eats at seven.",
    "Translations are in locales and German is formal.",
    "Logs are collected by Vector and sent to Loki.",
    "Sessions are kept in PostgreSQL and never in Redis.",
    "倉庫の在庫は毎朝六時に同期する。",
    "会議室の予約は総務に連絡する。",
)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Workspace]:
    data_dir = tmp_path / "memory"
    data_dir.mkdir()
    (data_dir / "config.toml").write_text(NO_ENGINE)
    with memento_tui.open(data_dir) as workspace:
        for text in OTHERS:
            workspace.remember(text)
        yield workspace


@pytest.fixture
def host(person: Workspace, tmp_path: Path) -> DirectHost:
    project = tmp_path / "site"
    project.mkdir()
    return DirectHost(person.paths.root, project)


def test_a_pasted_trace_finds_what_is_known_of_a_file_in_it(person: Workspace, host: DirectHost) -> None:
    memory = person.remember("src/parser.py: never tokenize one line twice, the first token is lost.")
    told = host.prompt(TRACE)
    assert memory.id in told
    assert told.count("\n") == 3


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("本番環境のデプロイは金曜日に行わない。", "本番環境にデプロイするときの注意点は。"),
        ("请在每个季度轮换生产环境的数据库密码。", "生产环境数据库密码多久轮换。"),
        ("운영 서버 배포는 금요일에 하지 않는다.", "운영 서버에 배포는 언제 해요?"),
        ("Rechnungen werden nachts per SFTP an DATEV übertragen.", "Wie werden die Rechnungen an DATEV übertragen?"),
    ],
)
def test_a_memory_in_any_language_is_told_to_a_prompt_in_it(
    person: Workspace, host: DirectHost, text: str, prompt: str
) -> None:
    memory = person.remember(text)
    told = host.prompt(prompt)
    assert memory.id in told
    assert told.count("\n") == 3


def test_a_japanese_prompt_about_something_else_is_met_with_silence(person: Workspace, host: DirectHost) -> None:
    person.remember("本番環境のデプロイは金曜日に行わない。")
    assert host.prompt("京都でおすすめの美味しいラーメン屋を教えてください") == ""
    assert host.prompt("ありがとう、続けてください") == ""


def test_a_trivial_prompt_that_names_a_skip_is_warned(person: Workspace, host: DirectHost) -> None:
    skip = person.skips.add("the tests", "they delete the staging data", "30d")
    person.skips.add("continue the migration", "it waits for Dana", "30d")
    assert "they delete the staging data" in host.prompt("run the tests again")
    assert host.prompt("ok, continue") == ""
    assert person.skips.get(skip.id).hits == 1


def test_a_memory_is_told_for_what_stands_far_down_in_it(person: Workspace, host: DirectHost) -> None:
    told = "The flux capacitor needs 1.21 gigawatts from the reactor. "
    memory = person.remember("Weather and lunch. " * 120 + told * 12)
    assert memory.id in host.prompt("how many gigawatts does the flux capacitor need from the reactor?")


def test_a_file_with_a_space_in_its_name_is_not_taken_for_another(person: Workspace, host: DirectHost) -> None:
    other = person.remember("src/my holds what Dana tries out; nothing imports it.", kind="decision")
    assert host.read(host.cwd / "src" / "my notes.txt") == ""
    assert other.id in host.read(host.cwd / "src" / "my")


def test_a_contradiction_with_a_memory_of_another_project_stays_there(person: Workspace, host: DirectHost) -> None:
    here = person.remember("The users endpoint of the API times out after 30 seconds.")
    there = person.remember("The users endpoint of the API times out after 90 seconds.", namespace="projects/other")
    person._store.database.connection.execute(
        "INSERT INTO contradiction (id, older, newer, kind, older_spans, newer_spans, why, score, status, resolution,"
        " resolved_by, created_at, version) VALUES ('c1', ?, ?, 'genuine', '[]', '[]', '30 is not 90', 0.9, 'open', '',"
        " '', '2026-01-01T00:00:00.000000Z', 1)",
        (here.id, there.id),
    )
    told = host.prompt("the users endpoint of the API times out, after how many seconds?")
    assert here.id in told
    assert "contradiction" not in told
    assert there.id not in told


def test_a_budget_that_is_larger_than_the_host_passes_on_leaves_the_fence_closed(
    person: Workspace, host: DirectHost
) -> None:
    (host.data_dir / "config.toml").write_text(NO_ENGINE + "[hooks]\nstart_tokens = 100000\n")
    person.crystals.write("本番環境に注意する。" * 400)
    for number in range(12):
        person.remember(f"規則{number}: " + "移行は必ず元に戻せるようにする。" * 40, pinned=True)
    for number in range(8):
        person.items.create(f"作業{number} " + "在庫同期" * 60, content="請求書" * 200)
        person.skips.add(f"項目{number} " + "夜間処理" * 40, "時間がかかる" * 60, "30d")
    told = host.start()
    assert len(told.encode("utf-16-le")) // 2 <= 10_000
    assert told.count(" begin ---") == told.count(" end ---") > 1
    assert told.endswith(" end ---")
