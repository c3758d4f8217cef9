"""Whether a session used what it was shown: its own words that come back, and nothing that only looks like it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memento_tui.maintenance.transcripts.blocks import Role, ToolCall
from memento_tui.maintenance.transcripts.reader import Turn
from memento_tui.maintenance.transcripts.usage import ShownText, used_memories

TEXT = "Deploys go out with scripts/deploy.sh --region ams; run pg_dump before, and wait for health at /v2/ready."
TAKEN_UP = "I run pg_dump first, then scripts/deploy.sh --region ams, and wait until /v2/ready reports health."
BEGAN = datetime(2026, 11, 1, 8, tzinfo=UTC)


def turn(role: Role, text: str, call: ToolCall | None = None, minute: int | None = None) -> Turn:
    at = None if minute is None else BEGAN + timedelta(minutes=minute)
    return Turn(role, text, 1, 1, at, "s", "claude-code", "/w", call)


def reused(*turns: Turn, text: str = TEXT, at: datetime | None = None) -> bool:
    return used_memories([ShownText("m1", text, at)], turns).reused == {"m1"}


def fetched(record_id: str, *calls: ToolCall) -> bool:
    return bool(used_memories([ShownText(record_id, TEXT)], [turn("tool", "", call) for call in calls]).fetched)


def test_words_of_a_memory_that_the_agent_says_are_use() -> None:
    assert reused(turn("user", "ship it"), turn("assistant", TAKEN_UP))


def test_words_of_a_memory_in_a_command_that_the_agent_runs_are_use_also_where_the_output_repeats_it() -> None:
    command = "pg_dump live && scripts/deploy.sh --region ams && curl health /v2/ready"
    assert reused(turn("tool", f"$ {command}\n{TAKEN_UP}", ToolCall("Bash", command)))


def test_a_memory_that_was_only_shown_was_not_used() -> None:
    assert not reused(turn("user", "ship it"), turn("assistant", "I shall look at the code of the service."))
    assert not reused()


def test_words_that_the_person_said_before_are_not_the_memorys() -> None:
    assert not reused(turn("user", TEXT), turn("assistant", TAKEN_UP))


def test_words_that_a_tool_printed_before_are_not_the_memorys() -> None:
    assert not reused(turn("tool", TEXT, ToolCall("Read")), turn("assistant", TAKEN_UP))


def test_words_that_came_from_elsewhere_only_afterwards_were_the_memorys_first() -> None:
    assert reused(turn("assistant", TAKEN_UP), turn("tool", TEXT, ToolCall("Read")), turn("user", TEXT))


def test_what_memento_itself_gave_back_is_the_memory() -> None:
    search = ToolCall("mcp__memento__search", asked='{"query": "how to ship"}')
    assert reused(turn("tool", TEXT, search), turn("assistant", TAKEN_UP))


def test_to_remember_the_same_again_is_no_use() -> None:
    again = f"memento add '{TEXT}'"
    assert not reused(turn("tool", f"$ {again}\nabc", ToolCall("Bash", again)))
    assert not reused(*(turn("tool", "known", ToolCall("Bash", again)) for _ in range(5)))


def test_what_the_agent_said_before_it_was_shown_the_memory_is_no_use() -> None:
    before, after = turn("assistant", TAKEN_UP, minute=1), turn("assistant", TAKEN_UP, minute=9)
    shown_at = BEGAN + timedelta(minutes=5)
    assert not reused(before, at=shown_at)
    assert not reused(before, after, at=shown_at)
    assert reused(after, at=shown_at)


def test_words_that_everybody_says_are_no_use_however_many_they_are() -> None:
    text = "Because the code does not work, please run the tests again and tell me what is wrong at 10:30."
    said = "I run the tests again because the change does not work; please tell me what is wrong at 10:30."
    assert not reused(turn("assistant", said), text=text)


def test_plain_words_without_any_name_are_no_use() -> None:
    text = "Invoices are exported by night and sent to the accountant as a table."
    assert not reused(turn("assistant", text), text=text)


@pytest.mark.parametrize("share", ["pg_dump", "scripts/deploy.sh and pg_dump"])
def test_a_name_or_two_alone_are_no_use(share: str) -> None:
    assert not reused(turn("assistant", f"Shall I look at {share}?"))


def test_a_long_memory_of_which_one_sentence_comes_back_was_not_used() -> None:
    more = " ".join(f"Service alpha{n} listens on port {4000 + n} and belongs to team beta{n}." for n in range(20))
    assert not reused(turn("assistant", TAKEN_UP), text=f"{TEXT} {more}")


def test_a_memory_that_was_asked_for_by_its_id_was_fetched() -> None:
    assert fetched("k7m2", ToolCall("mcp__memento__get", asked='{"ids": ["k7m2"]}'))
    assert fetched("notes/größe.md", ToolCall("mcp__memento__get", asked='{"ids": ["notes/gr\\u00f6\\u00dfe.md"]}'))
    assert fetched("k7m2", ToolCall("Bash", "memento show k7m2"))
    assert not fetched("k7m2", ToolCall("Bash", "git show k7m2"))


@pytest.mark.parametrize("record_id", ["note-1", "note", "1", "2", "limit"])
def test_an_id_within_another_name_or_number_was_not_asked_for(record_id: str) -> None:
    call = ToolCall("mcp__memento__get", asked='{"ids": ["note-12"], "limit-of": 21}')
    assert not fetched(record_id, call)
