"""Claims and events, statements of texts, and what one memory says in the place of others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from memento_tui.maintenance.consolidation.grouping import MatterGroup, groups_of_one_matter
from memento_tui.maintenance.contradictions.alignment import is_event, speak_of_one_subject
from memento_tui.maintenance.contradictions.finder import SCORE_TO_RAISE, compare_memories, differences
from memento_tui.maintenance.duplicates import is_near_duplicate, memory_likeness, merged_content
from memento_tui.model import Memory
from memento_tui.text.sentences import missing_statements, statements
from tests.made import NOW, note
from tests.steps import grows_in_proportion

ALIKE = 0.6


def raises(older: str, newer: str, similarity: float = ALIKE, **fields: Any) -> bool:  # noqa: ANN401 - fields
    found = compare_memories(note(older, **fields), note(newer, **fields), similarity)
    return found is not None and found.score >= SCORE_TO_RAISE


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("Fixed the login of the billing page.", {}),
        ("**What**: Released the build of the site.", {}),
        ("[WORKFLOW] Completed the six plans of the storage.", {}),
        ("✅ Successfully repaired the login of the billing page.", {}),
        ("The login works again.", {"title": "Repaired the login"}),
        ("It has a new icon.", {"title": "Release v1.7.8"}),
        ("It has a new icon.", {"title": "Login page (#147)"}),
        ("The team met.", {"title": "Notes of 2026-03-01"}),
        ("The team met.", {"kind": "daily"}),
        ("The team met.", {"kind_raw": "session_summary"}),
        ("The team met.", {"kind_raw": "ConversationSummary"}),
        ("- [x] Move the tables\n- [ ] Drop the old ones", {}),
    ],
)
def test_what_was_done_or_happened_is_an_event(content: str, fields: dict[str, Any]) -> None:
    assert is_event(note(content, **fields))


@pytest.mark.parametrize("mark", ["*a ", "*", "- ", "> ", "#", "[ "])
def test_marks_before_a_text_take_steps_in_proportion_to_it(mark: str) -> None:
    """One text of an agent's kept maintenance, and the engine with it, busy for minutes."""
    grows_in_proportion(lambda size: is_event(note(mark * size + "x")), 2_000)


@pytest.mark.parametrize(
    "content",
    [
        "We switched to Redis for sessions.",
        "Switched to Redis for sessions.",
        "[DECISION] Switched to Redis for sessions.",
        "[link](deploy.md) tells how to deploy.",
        "Only merged branches are deployed.",
        "Never deploy on Fridays.",
        "I have added 25 postcards to my collection.",
        "The tests need the VPN.",
        "Is the VPN needed?",
        "",
    ],
)
def test_what_holds_until_it_changes_is_a_claim(content: str) -> None:
    assert not is_event(note(content or "-"))


def test_two_titles_with_a_word_each_of_their_own_name_two_things() -> None:
    forms = [note("It asks for a name.", title=title) for title in ("Login form", "Search form")]
    assert not speak_of_one_subject(*forms)
    assert speak_of_one_subject(forms[0], note("The form asks for a name at the login.", title="What people type"))
    assert speak_of_one_subject(forms[0], note("It asks for a name."))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never deploy on Fridays.", "Deploy on Fridays."),
        ("The database must not be restarted.", "The database may be restarted."),
        ("We use Postgres for sessions.", "We switched to Redis for sessions."),
        ("Our queue runs on Postgres.", "The queue was switched to Redis."),
        ("The production database is PlanetScale.", "Switched production database from PlanetScale to Neon."),
        ("The migration of the users table is in progress.", "The migration of the users table is complete."),
        ("Task 15, the frontend project, IN PROGRESS with 4/6 done", "Task 15, the frontend project, FULLY COMPLETED"),
        ("Phase 2 (the API routes) is not done", "Phase 2 (the API routes) is done"),
        ("The memory layer of the agent is Cognee.", "[DECISION] Replaced Cognee with Memvid as the memory layer."),
        ("The developer lives in Ohio.", "The developer lives in New York."),
        ("The blog of the company has 4 posts.", "The blog of the company has 10 posts."),
        ("The migration of the users table is in progress.", "The users table migration is complete."),
        ("The login page is in progress.", "The new login page is done."),
        ("The backup takes 10 minutes.", "The backup takes 40 minutes."),
        ("An account is locked after 3 failed logins.", "An account is locked after 5 failed logins."),
        ("The alarm rings when 5 health checks fail.", "The alarm rings when 3 health checks fail."),
        ("At least 4 checks must pass.", "At least 6 checks must pass."),
        ("The compiler makes 2 passes over the syntax tree.", "The compiler makes 3 passes over the syntax tree."),
        ("Port 8080 is used by the proxy.", "Port 9090 is used by the proxy."),
        ("The request timeout is 30 seconds.", "2026-11-20: the request timeout is 60 seconds."),
        ("The request timeout is 30 seconds.", "Since v2.4: the request timeout is 60 seconds."),
        ("The request timeout is 30 seconds.", "Decision 14: the request timeout is 60 seconds."),
        ("The retry limit of the importer is 3.", "Update 2: the retry limit of the importer is 5."),
        ("The backend is deployed on Heroku.", "Nov 12: the backend is deployed on Fly."),
        ("The API server listens on port 8080.", "Port 9090: the API server listens there."),
        ("The production database runs on Postgres 15.", "Postgres 16: the production database runs on it."),
    ],
)
def test_a_rule_and_its_opposite_and_a_change_contradict_each_other(older: str, newer: str) -> None:
    assert raises(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never deploy on Fridays.", "Deploy on Mondays."),
        ("The database must not be restarted.", "The database must not be stopped or restarted."),
        ("Released v1.4.1 of the site with 8 new tests.", "Released v1.4.2 of the site with 9 new tests."),
        ("Shard 3 holds 12 tables.", "Shard 4 holds 14 tables."),
        ("All checks and tests now passing (244 passed, 3 skipped).", "All checks and tests passing (286 passed)."),
        ("The scripts passed (244 tests passed).", "Final validation: the scripts passed, 242 tests passing."),
        ("After the fix 244 tests passed on the server.", "After the fix 286 tests passed on the server."),
        ("The scripts ran with 3 failed tests.", "The scripts ran with 8 failed tests."),
        ("The plan of the storage has 5 key goals.", "The plan of the storage has 6 key risks."),
        ("The developer lived in Ohio.", "The developer lives in New York."),
        ("The developer lived in Ohio.", "The developer lived in Puerto Rico."),
        ("The blog of the company has 4 posts.", "All 10 new posts of the blog of the company have been written."),
        (
            "The main component of the page imports the other components.",
            "Replaced wrapper components of the page with functions that the main page imports.",
        ),
        ("The production database is Neon.", "Switched production database from PlanetScale to Neon."),
        ("Task 15, the frontend project, is in progress", "Task 16, the frontend project, is completed"),
        ("The migration of the users table is pending.", "The migration of the orders table is complete."),
        ("The migration of the users table is complete.", "The migration of the users table is done."),
        ("User authentication is complete.", "User authentication tests are pending."),
        ("The payment gateway is merged.", "The payment gateway for refunds is in progress."),
        ("The search feature is implemented.", "The documentation of the search feature is pending."),
        ("The import pipeline is finished.", "The import pipeline monitoring is incomplete."),
        ("The status of an order is pending until it is paid.", "The status of an order is complete when it is paid."),
        ("The payment state pending is shown in grey.", "The payment state done is shown in green."),
        ("PlanetScale has branches of a schema.", "Switched production database from PlanetScale to Neon."),
        ("The shard 3 is full.", "The shard 4 is not full."),
        ("Run `pytest tests/unit` before a merge.", "Run `pytest tests/tui` before a merge of the app."),
        ("Tier 2 loads the body of a report, about 9K rows for each.", "**Tier 1** (Head): ~200 rows for each"),
        ("Loading on demand cuts each report from ~70K to ~800 rows.", "**Tier 1** (Head): ~200 rows for each report"),
        ("The store loads its reports in a 3-tier system.", "**Tier 1** (Head): about 200 rows, always loaded"),
        ("Tier 2 loads the body of a report, 900 rows.", "Tier 1: loads the body of a report, 200 rows."),
        ("The Tier 1: loads the body of a report, 200 rows.", "Tier 2 loads the body of a report, 900 rows."),
    ],
)
def test_two_events_two_things_and_agreeing_denials_do_not_contradict_each_other(older: str, newer: str) -> None:
    assert not raises(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Swift strict concurrency is enabled (version 6.0).", "Swift strict concurrency is enabled (version 6)."),
        ("Target ~20 tools (current best practice)", "**Tool count**: Target ≤20, hard limit 25 tools"),
        ("All documentation is in the docs directory.", "Point to docs files instead of repeating content."),
    ],
)
def test_what_agrees_in_other_words_does_not_contradict(older: str, newer: str) -> None:
    assert not raises(older, newer, 0.9)


def test_a_number_with_one_digit_on_each_side_of_its_point_is_no_whole_number() -> None:
    assert raises("The budget of the run is 6.5 hours.", "The budget of the run is 65 hours.")
    assert not raises("The U.S. site has 6 servers.", "The US site has 6 servers.")


def test_a_change_that_both_report_in_the_same_words_is_no_update_of_one_by_the_other() -> None:
    said = "the old client has been removed, the new one is the only client and stays"
    sides = note(f"{said}."), note(f"{said} as a dependency.", created_at=NOW + timedelta(days=21))
    assert [one.family for one in differences(*sides, 0.85)] == []
    changed = note("the old client is back", created_at=NOW + timedelta(days=21))
    assert "update" in [one.family for one in differences(sides[0], changed, 0.85)]


@pytest.mark.parametrize("end", [", but it is back since Monday", " and later restored"])
def test_a_removal_that_was_taken_back_contradicts_the_removal(end: str) -> None:
    said = "The login form was removed from the landing page"
    assert raises(f"{said}.", f"{said}{end}.", 0.85)
    assert not raises(f"{said}{end}.", f"{said}{end}.", 0.85)


_TABLE = "| Backend | Speed |\n|---|---|\n| ChromaDB | 15ms read |\n| SQLite | {speed} read |"


def test_two_rows_of_a_table_are_two_statements_and_one_row_may_change() -> None:
    assert not raises(_TABLE.format(speed="5ms"), "| SQLite | 5ms read |\n| Qdrant | 9ms read |", 0.9)
    assert raises("The read of SQLite takes 5ms.", "The read of SQLite takes 9ms.", 0.9)


def test_the_value_behind_a_label_changes_whatever_follows_it() -> None:
    rest = " ".join(
        f"The {word} has a page of its own." for word in ("login", "search", "mail", "print", "help", "end")
    )
    older = f"{rest}\n**Current version:** v1.4.0 - the mail page is faster"
    newer = f"{rest}\n**Current version:** v1.6.2 - search knows more languages"
    assert raises(older, newer, 0.9, title="Overview")


def test_every_line_and_sentence_is_a_statement() -> None:
    text = "## Deploy\n\nNeeds the VPN. Runs on Mondays.\n\n```\nmake deploy\n```\n- watch the errors"
    assert [one.text for one in statements(text)] == [
        "## Deploy",
        "Needs the VPN.",
        "Runs on Mondays.",
        "make deploy",
        "watch the errors",
    ]


_UNSPACED = "本番環境へのデプロイの前に必ずデータベースのバックアップを取得する。"
"""A sentence longer than the longest word of which `terms` gives any."""


@pytest.mark.parametrize(
    ("one", "other", "missing"),
    [
        ("Needs the VPN.", "The deploy needs the VPN.", 0),
        (
            "本番環境へのデプロイの前に必ずデータベースのバックアップを取得する。",
            "本番環境へのデプロイの前に必ずデータベースのバックアップを取得する。",
            0,
        ),
        (
            "本番環境へのデプロイの前に必ずデータベースのバックアップを取得する。",
            "本番環境へのデプロイの後に必ずデータベースのバックアップを取得する。",
            1,
        ),
        ("Needs the VPN.", "It never needs the VPN.", 1),
        ("Takes 10 minutes.", "Takes 12 minutes.", 1),
        ("Needs the VPN. Needs a token.", "Needs the VPN.", 1),
        ("```\nmake a\n```", "```\nmake a\nmake b\n```", 0),
        ("Run `scripts/check.py` first.", "Run `scripts/check_config.py` first.", 1),
        ("Run `scripts/check.py`.", "First run scripts/check.py, then wait.", 0),
        ("", "Needs the VPN.", 0),
        ("- Install: `just install`", "- Install: `make install`", 1),
        ("- Run tests: `pytest tests/`", "- Run tests: `uv run pytest tests/`", 0),
        ("- Types: `uv run pyright`", "- Types: `uv run pyright` and `uv run ty check`", 0),
        ("```\nuv run pytest\n```", "```\nuv run pytest --cov=app --cov-report=html\n```", 1),
        ("```\n# Run tests\nmake a\n```", "```\n# Run all tests, as ever\nmake a\n```", 0),
        ("```\n└── types/  # Shared\n```", "```\n├── types/  # Shared\n└── more/  # Others\n```", 0),
    ],
)
def test_a_statement_is_made_where_another_says_all_of_it(one: str, other: str, missing: int) -> None:
    assert len(missing_statements(one, other)) == missing


def test_long_sentences_without_spaces_are_not_alike_by_a_name_that_they_share() -> None:
    sessions = "Redisには利用者のセッションデータを必ず暗号化した上で保存すると先週の会議で正式に決めました。"
    caches = "Redisでは開発環境のキャッシュデータを一時間ごとに全部削除するという手順を毎晩必ず実行します。"
    assert memory_likeness(note(sessions), note(caches)) < 0.5
    assert [one.text for one in missing_statements(sessions, caches)] == [sessions]
    assert merged_content(sessions, caches) == f"{caches}\n{sessions}"
    assert not is_duplicate(sessions, caches)
    assert is_duplicate(sessions, sessions)


def is_duplicate(older: str, newer: str, **fields: Any) -> bool:  # noqa: ANN401 - fields
    sides = note(older, **fields), note(newer, **fields)
    return is_near_duplicate(*sides, max(0.8, memory_likeness(*sides)))


def test_a_near_duplicate_says_all_that_the_other_says() -> None:
    short, long = "The deploy of the site needs the VPN.", "The deploy of the site needs the VPN. It takes an hour."
    assert is_duplicate(short, long)
    assert is_duplicate(long, short)
    revised = "The deploy of the site needs the VPN. It takes ten minutes."
    assert not is_duplicate(long, revised)
    assert not is_duplicate(f"{long} Ask Anna.", long)
    assert merged_content(short, long) == merged_content(long, short) == long
    assert merged_content(long, revised) == f"{revised}\nIt takes an hour."


def test_texts_that_differ_far_from_their_beginning_are_no_near_duplicates() -> None:
    lines = [f"Option {number} of the command names its own file." for number in range(700)]
    long = "\n".join(lines)
    assert len(long) > 30_000
    changed = "\n".join([*lines[:-1], "Option 699 of the command is gone."])
    assert is_duplicate(long, f"{long}\nOption 700 prints the version.")
    assert not is_duplicate(long, changed)


def test_a_command_that_was_exchanged_makes_no_near_duplicate() -> None:
    lines = ("- Install the tools: `{} install`", "- Lint: `{} lint`", "- Run all checks before a change: `{} check`")
    older, newer = ("\n".join(line.format(program) for line in lines) for program in ("just", "make"))
    assert not is_duplicate(older, newer)


def test_forms_and_two_things_are_no_near_duplicates() -> None:
    assert not is_duplicate("type:\nloc:\nrating:", "type:\nloc:\nrating:\nlast:")
    one, other = (note("It asks for a name and an address.", title=title) for title in ("Login form", "Search form"))
    assert not is_near_duplicate(one, other, 0.9)


def test_two_or_three_words_are_near_duplicates_only_where_they_are_the_same() -> None:
    assert is_duplicate("Use pnpm", "use  pnpm!")
    assert is_duplicate("Always use pnpm.", "always use pnpm")
    assert not is_duplicate("Always use pnpm", "Use pnpm never")
    assert not is_duplicate("Port: 8080", "Port: 8081")


def near(*memories: Memory) -> dict[str, list[tuple[str, float]]]:
    return {one.id: [(other.id, 0.8) for other in memories if other is not one] for one in memories}


def matter(*texts: str, days: int = 10, **fields: Any) -> list[MatterGroup]:  # noqa: ANN401 - fields
    memories = [
        note(text, id=f"m{at}", created_at=NOW + timedelta(days=days * at), **fields) for at, text in enumerate(texts)
    ]
    return groups_of_one_matter(memories, near(*memories))


def test_a_memory_that_says_what_two_others_say_stands_for_them_in_its_own_words() -> None:
    texts = ("Deploys need the VPN.", "Deploys run on Mondays.", "Deploys need the VPN. Deploys run on Mondays.")
    (group,) = matter(*texts)
    assert (group.best.id, group.content) == ("m2", texts[-1])
    assert [source.id for source in group.sources] == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    ("ports", "ends"),
    [
        ((8080, 8081, 9090), ["01: port 8080", "02: port 8081"]),
        ((8080, 8080, 8081, 9090), ["02: port 8080", "03: port 8081"]),
        ((8080, 8081, 8080, 9090), ["01: port 8080", "02: port 8081", "03: port 8080"]),
    ],
)
def test_each_former_statement_held_until_the_next_note_said_another(ports: Sequence[int], ends: list[str]) -> None:
    texts = [f"The gateway listens on port {port}. It runs in Frankfurt." for port in ports]
    first = NOW.replace(day=1)
    memories = [
        note(text, id=f"m{at}", title="Gateway", created_at=first + timedelta(days=at)) for at, text in enumerate(texts)
    ]
    (group,) = groups_of_one_matter(memories, near(*memories))

    month = f"{NOW:%Y-%m}"
    told = [f"- until {month}-{int(end[:2]) + 1:02}: The gateway listens on {end[4:]}." for end in ends]
    assert group.content.splitlines()[3:] == told


def test_a_statement_that_a_later_note_still_makes_has_not_ended_with_it_though_that_note_has_one_alike() -> None:
    often = ["test:docker", "test:docker:watch", "examples:matrix"]
    lists = [["app:docker", *often], ["app:docker", *often, "bench:report"], [*often, "bench:report"]]
    lines = ["```bash\n" + "\n".join(f"bun run {name}" for name in names) + "\n```" for names in lists]
    first = NOW.replace(day=1)
    memories = [
        note(text, id=f"m{at}", title="Scripts", created_at=first + timedelta(days=at)) for at, text in enumerate(lines)
    ]
    (group,) = groups_of_one_matter(memories, near(*memories))

    ends = [line for line in group.content.splitlines() if line.endswith("bun run app:docker")]
    assert ends == [f"- until {NOW:%Y-%m}-03: bun run app:docker"]


def test_what_the_newest_version_of_a_note_dropped_is_not_brought_back() -> None:
    texts = ("Deploys need the VPN.", "Deploys need the VPN. Deploys run on Mondays.", "Deploys need the VPN.")
    assert matter(*texts, title="Deploys") == []
    titles = ("Work / Deploys", "Work / Deploys", "Our work / Deploys")
    memories = [
        note(text, id=f"m{at}", title=title, created_at=NOW + timedelta(days=at))
        for at, (text, title) in enumerate(zip(texts, titles, strict=True))
    ]
    assert groups_of_one_matter(memories, near(*memories)) == []
    (group,) = matter(*texts)
    assert group.best.id == "m1"


def test_what_a_newer_text_under_another_heading_dropped_is_not_brought_back() -> None:
    vpn, days, token = "Deploys need the VPN.", "Deploys run on Mondays.", "Ask Anna for a token."
    texts = (f"{vpn} {days} {token}", f"{vpn} {days}", f"{vpn} {days}")
    memories = [
        note(text, id=f"m{at}", title=title, created_at=NOW + timedelta(days=at))
        for at, (text, title) in enumerate(zip(texts, ("Deploys", "How deploys run", "How deploys run"), strict=True))
    ]
    assert groups_of_one_matter(memories, near(*memories)) == []
    at_once = [note(one.content, id=one.id, title=one.title, created_at=NOW) for one in memories]
    (group,) = groups_of_one_matter(at_once, near(*at_once))
    assert group.best.id == "m0"


def test_a_newer_version_that_dropped_lines_and_added_one_keeps_older_ones_from_being_consolidated() -> None:
    vpn, token, days = "Deploys need the VPN.", "Ask Anna for a token.", "Deploys run on Mondays."
    texts = (vpn, f"{vpn} {token}", f"{vpn} {token} {days}", f"{vpn} The pipeline posts into the ops channel.")
    assert matter(*texts, title="Deploys") == []
    (group,) = matter(*texts[:3], f"{texts[2]} The pipeline posts into the ops channel.", title="Deploys")
    assert group.best.id == "m3"
    memories = [
        note(text, id=f"m{at}", title="Deploys", created_at=NOW + timedelta(days=at), namespace=f"projects/{project}")
        for at, (text, project) in enumerate(zip(texts, ("site", "site", "site", "app"), strict=True))
    ]
    (group,) = groups_of_one_matter(memories, near(*memories))
    assert group.best.id == "m2"


def test_what_changed_is_told_in_the_order_of_time() -> None:
    (group,) = matter(
        "The API listens on port 8080.", "Ask Anna for a token.", "The API listens on port 9090. Ask Anna for a token."
    )
    until = f"{NOW + timedelta(days=20):%Y-%m-%d}"
    assert group.content == (
        "The API listens on port 9090. Ask Anna for a token.\n\nBefore:\n"
        f"- until {until}: The API listens on port 8080."
    )


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Deploy with `make ship` from main only.", "Run `make generate` before `make ship`."),
        ("Deploy with `make ship`, never by hand.", "Run `make generate` before `make ship`, or its files are old."),
    ],
)
def test_what_the_other_sentence_says_as_well_is_no_difference(older: str, newer: str) -> None:
    assert not raises(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Deploy the site with Jenkins.", "Deploy the site with GitHub Actions instead of Jenkins."),
        ("We use Postgres for the session store.", "We switched to Redis for the session store, Postgres is gone."),
        ("We use Postgres for the session store.", "We no longer use Postgres for the session store."),
        ("The tests run with unittest.", "The tests run with pytest, never with unittest."),
    ],
)
def test_what_the_other_sentence_names_as_former_or_denied_stays_a_difference(older: str, newer: str) -> None:
    assert raises(older, newer)


def test_what_lacks_something_or_is_about_events_is_not_joined() -> None:
    assert matter("Deploys need the VPN.", "Deploys run on Mondays.", "Deploys are announced in the channel.") == []
    assert matter("Deploys need the VPN.", "Deploys need the VPN. Deploys run on Mondays.") == []
    texts = ("Deploys need the VPN.", "Deploys run on Mondays.", "Deploys need the VPN. Deploys run on Mondays.")
    assert matter(*texts, kind="daily") == []
    assert matter(*texts, sensitivity="confidential") == []


@pytest.mark.parametrize(
    "unit",
    [
        "x",
        "a_",
        "x1 ",
        ". ",
        "# a\n",
        "```\nx\n",
        "`a b` ",
        "not ",
        "it is. ",
        "密",
        "- a\n",
        "a.b/",
        "|a|\n",
        "(",
        ">",
    ],
)
def test_two_texts_are_told_apart_and_merged_in_steps_in_proportion_to_them(unit: str) -> None:
    def compare(size: int) -> None:
        text = (unit * size)[:size]
        older, newer = note(f"{text}_ We deploy it on Friday now."), note(f"{text}7 We deploy it on Monday now.")
        is_near_duplicate(older, newer, 0.99)
        merged_content(older.content, newer.content)
        merged_content(newer.content, "It is of something else.")

    grows_in_proportion(compare, 400)


def test_the_statements_of_two_texts_are_compared_with_those_of_their_words_alone() -> None:
    def compare(size: int) -> None:
        one = "\n".join(f"- Host{number} is up." for number in range(size))
        missing_statements(one, "\n".join(f"- Port{number} is up." for number in range(size)))
        missing_statements("\n".join(["- It is."] * size), "\n".join(["- It was."] * size))

    grows_in_proportion(compare, 50)
