from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.consolidation.drafting import DRAFT_LENGTH, draft_title, extract_draft, most_trusted_first
from memento_tui.model import Memory
from memento_tui.text.sentences import sentences
from tests.made import NOW, note
from tests.steps import grows_in_proportion

contents = st.one_of(
    st.text(min_size=1, max_size=80),
    st.lists(
        st.sampled_from(
            [
                *(
                    "Deploys run from CI. ",
                    "The port is 5432. ",
                    "The port is 6432. ",
                    "Not in CI.\n",
                    "- [x] a task\n",
                ),
                *("端口是5432。", "# Title\n", "x" * 1_500 + ". ", "A wrapped sentence goes\non here. ", "Steps:\n"),
                "```\ncode. Code\n```\n",
            ]
        ),
        min_size=1,
        max_size=12,
    ).map("".join),
).filter(lambda text: text.strip() and "\x00" not in text)
memories = st.builds(
    note, contents, certainty=st.integers(1, 5), stability=st.sampled_from(["draft", "verified", "stable"])
)
groups = st.lists(memories, min_size=1, max_size=8)


def spans(memory: Memory) -> set[str]:
    return {memory.content[start:end] for start, end in sentences(memory.content)} or {memory.content.strip()}


@given(groups)
def test_every_sentence_of_a_draft_stands_whole_in_a_source(sources: Sequence[Memory]) -> None:
    known = set().union(*(spans(source) for source in sources))

    found = extract_draft(sources)

    assert found
    assert set(found) <= known


@given(groups)
def test_a_draft_is_bounded_and_says_nothing_twice(sources: Sequence[Memory]) -> None:
    found = extract_draft(sources)

    assert len(found) == 1 or sum(len(line) + 3 for line in found) <= DRAFT_LENGTH
    assert len({line.casefold() for line in found}) == len(found)


@given(groups)
def test_the_order_of_the_sources_does_not_matter_where_their_trust_differs(sources: Sequence[Memory]) -> None:
    dated = [
        note(source.content, id=f"m{number}", updated_at=NOW + timedelta(number))
        for number, source in enumerate(sources)
    ]

    assert extract_draft(dated) == extract_draft(dated[::-1])


def test_near_equal_sentences_come_once_from_the_source_that_is_trusted_most() -> None:
    old = note("Deploys run from the CI server only.", certainty=2)
    new = note("Deploys run only from the CI server. The rollback is manual.", certainty=5)

    assert extract_draft([old, new]) == ["Deploys run only from the CI server.", "The rollback is manual."]


def test_a_sentence_that_another_one_contains_is_left_out() -> None:
    short, long = note("We use uv."), note("We use uv for the lock file.", stability="verified")

    assert extract_draft([short, long]) == ["We use uv for the lock file."]


def test_sentences_that_differ_in_a_number_or_a_negation_or_their_order_are_both_kept() -> None:
    numbers = [note("The database listens on port 5432 here."), note("The database listens on port 6432 here.")]
    negation = [note("The nightly job deletes old rows."), note("The nightly job never deletes old rows.")]
    turned = [note("Poetry replaced pip in the build."), note("Pip replaced poetry in the build.")]

    for pair in (numbers, negation, turned):
        assert len(extract_draft(pair)) == 2


def test_a_chinese_sentence_is_compared_by_its_characters() -> None:
    same = [note("数据库已经迁移到新的服务器。"), note("数据库已经迁移到新的服务器。")]
    apart = [note("数据库已经迁移到新的服务器。"), note("测试在每次提交时运行。")]

    assert len(extract_draft(same)) == 1
    assert len(extract_draft(apart)) == 2


def test_verified_comes_before_certain_before_new() -> None:
    verified = note("Verified.", stability="verified", verified_at=NOW, certainty=1, updated_at=NOW - timedelta(300))
    certain = note("Certain.", certainty=5, updated_at=NOW - timedelta(200))
    new = note("New.", updated_at=NOW)
    foreign = note("Foreign.", updated_at=NOW + timedelta(1), source_type="external")

    assert [memory.content for memory in most_trusted_first([foreign, new, certain, verified])] == [
        "Verified.",
        "Certain.",
        "New.",
        "Foreign.",
    ]


def test_every_source_has_a_sentence_where_they_fit() -> None:
    talkative = note(
        " ".join(f"Detail {number} of the talkative service matters." for number in range(60)), certainty=5
    )
    others = [note(f"Component {name} has its own rule.") for name in ("alpha", "beta", "gamma", "delta")]

    found = extract_draft([talkative, *others])

    assert all(other.content in found for other in others)
    assert sum(line.startswith("Detail") for line in found) > 1


def test_the_sentences_that_the_sources_have_in_common_go_first() -> None:
    aside = "The coffee machine on the second floor was repaired by somebody again. "
    sources = [
        note(f"{aside}Backups of the ledger database run every night{extra}.", certainty=3)
        for extra in (" at two", " on the replica", " without a lock")
    ]

    (found,) = extract_draft([note("Backups of the ledger database run."), *sources], limit=80)

    assert found.startswith("Backups of the ledger database run")


def test_where_no_sentence_is_short_enough_the_shortest_whole_one_is_taken() -> None:
    long, longer = "word " * 300 + "end.", "word " * 400 + "end."

    assert extract_draft([note(longer), note(long)]) == [long]


def test_a_source_without_a_sentence_is_taken_whole() -> None:
    assert extract_draft([note("# Only a heading")]) == ["# Only a heading"]


def test_a_done_task_does_not_become_an_open_one() -> None:
    assert extract_draft([note("- [x] Rotate the signing keys\n- [ ] Tell the team")]) == [
        "[x] Rotate the signing keys",
        "[ ] Tell the team",
    ]


def test_many_alike_memories_take_steps_in_proportion_to_their_number() -> None:
    sources = [
        note(f"The nightly backup number {number % 50} of the ledger finished. It took a while.")
        for number in range(120)
    ]

    def extract(count: int) -> None:
        assert sum(map(len, extract_draft(sources[:count]))) <= DRAFT_LENGTH

    grows_in_proportion(extract, 60)


def test_a_sentence_that_may_go_on_beyond_what_is_read_is_not_taken() -> None:
    text = "A short one. And " + "word " * 10_000

    assert extract_draft([note(text)]) == ["A short one."]


def test_the_title_of_one_source_is_not_that_of_what_was_made_of_several() -> None:
    titles = ("Deploys run from CI", "CI deploys the docs", "Coffee")
    sources = [note(title.lower(), title=title, tags=["ops"]) for title in titles]

    assert draft_title(sources[:2], ["x"]) == "2 memories on CI, deploys"
    assert draft_title(sources, ["x"]) == "3 memories on ops"
    assert draft_title([*sources[:2], note("c")], ["A line of the draft."]) == "A line of the draft."
    assert (
        draft_title([note("a", title="Coffee"), note("b", title=" coffee "), note("c")], ["x"]).casefold() == "coffee"
    )


def test_without_titles_a_short_line_is_the_title_and_a_long_one_is_cut_where_a_word_ends() -> None:
    long = "several words that go on " * 20

    assert draft_title([note()], [long, "A short\nline."]) == "A short line."
    cut = draft_title([note()], [long])
    assert cut.endswith(" ...")
    assert len(cut) <= 124
    assert long.startswith(cut.removesuffix(" ...") + " ")
    assert draft_title([note(), note()], ["字" * 500]) == "A draft of 2 memories"
