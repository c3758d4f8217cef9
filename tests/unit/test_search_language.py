from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasStem, HasTag, Not, OneOf, Under, valid_at
from memento_tui.search.query_language import FIELDS, Phrase, Query, Word, parse
from tests.made import NOW


def read(source: str, *, typing: bool = False) -> Query:
    return parse(source, now=NOW, typing=typing)


@pytest.mark.parametrize(
    ("source", "tree"),
    [
        ("tag:api", HasTag("api")),
        ("tag:#api", HasTag("api")),
        ("tag:api,web", AnyOf((HasTag("api"), HasTag("web")))),
        ('tag:"two words"', HasTag("two words")),
        ("TAG:api", HasTag("api")),
        ("-tag:api", Not(HasTag("api"))),
        ("kind:decision", OneOf("kind", ("decision",))),
        ("kind:Anti-Pattern,fact", OneOf("kind", ("anti_pattern", "fact"))),
        ("ns:projects/site", Under("projects/site")),
        ("ns:/projects/site/", Under("projects/site")),
        ("ns:a,b", AnyOf((Under("a"), Under("b")))),
        ("is:pinned", OneOf("pinned", ("1",))),
        ("is:tagged", OneOf("tagged", ("1",))),
        ("is:untagged", Not(OneOf("tagged", ("1",)))),
        ("is:essential", OneOf("pinned", ("1",))),
        ("is:draft", OneOf("stability", ("draft",))),
        ("is:VERIFIED", OneOf("stability", ("verified",))),
        ("is:pending", OneOf("status", ("pending",))),
        ("is:external", OneOf("source_type", ("external",))),
        ("is:restricted", OneOf("sensitivity", ("restricted",))),
        ("is:long-term", OneOf("tier", ("long_term",))),
        ("is:expired", Between("expires_at", None, NOW)),
        ("by:claude", OneOf("agent", ("claude",))),
        ("by:a,b", OneOf("agent", ("a", "b"))),
        ("by:External", OneOf("source_type", ("external",))),
        ("before:2026-06-01", Between("created_at", None, datetime(2026, 6, 1, tzinfo=UTC))),
        ("before:30d", Between("created_at", None, NOW - timedelta(days=30))),
        ("after:2026-06-01T08:00", Between("created_at", datetime(2026, 6, 1, 8, tzinfo=UTC), None)),
        ("after:7d", Between("created_at", NOW - timedelta(days=7), None)),
        ("certainty:4", Between("certainty", 4, 5)),
        ("certainty:=4", Between("certainty", 4, 5)),
        ("certainty:>=4", Between("certainty", 4, None)),
        ("certainty:>4", Between("certainty", 5, None)),
        ("certainty:<=2", Between("certainty", None, 3)),
        ("certainty:<2", Between("certainty", None, 2)),
        ("certainty:2..4", Between("certainty", 2, 5)),
        ("confidence:>=.6", Between("confidence", 60, None)),
        ("confidence:<0.25", Between("confidence", None, 25)),
        ("surprise:1", Between("surprise", 100, 101)),
        ("valid:now", valid_at(NOW)),
        ("valid:past", Between("valid_to", None, NOW + timedelta(microseconds=1))),
        ("valid:future", Between("valid_from", NOW + timedelta(microseconds=1), None)),
        ("valid:>=2026-06-01", Between("valid_from", datetime(2026, 6, 1, tzinfo=UTC), None)),
        ("valid:<2026-06-01", Between("valid_to", None, datetime(2026, 6, 1, tzinfo=UTC))),
        ("at:2026-03-01", valid_at(datetime(2026, 3, 1, tzinfo=UTC))),
        ("at:90d", valid_at(NOW - timedelta(days=90))),
        ("applies:Staging", AllOf((HasStem("validity_context", "stage"),))),
        (
            'applies:"on rack",eu',
            AnyOf(
                (
                    AllOf((HasStem("validity_context", "on"), HasStem("validity_context", "rack"))),
                    AllOf((HasStem("validity_context", "eu"),)),
                )
            ),
        ),
        ("expires:<7d", Between("expires_at", NOW, NOW + timedelta(days=7))),
        ("expires:<2026-01-01", Between("expires_at", None, datetime(2026, 1, 1, tzinfo=UTC))),
        ("expires:>7d", Between("expires_at", NOW + timedelta(days=7), None)),
        (
            "expires:2026-02-01",
            Between("expires_at", datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 2, 2, tzinfo=UTC)),
        ),
        ("expires:9999-12-31", Between("expires_at", datetime(9999, 12, 31, tzinfo=UTC), None)),
        ("expires:never", Not(Between("expires_at"))),
        ("status:archived,deleted", OneOf("status", ("archived", "deleted"))),
        ("tier:long-term", OneOf("tier", ("long_term",))),
        ("session:s1", OneOf("session", ("s1",))),
        ("id:abc", OneOf("id", ("abc",))),
    ],
)
def test_each_field_is_one_condition(source: str, tree: Filter) -> None:
    query = read(source)
    assert query.filter == AllOf((tree,))
    assert (query.words, query.excluded, query.problems) == ((), (), ())


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("kind:rumour", "kind:rumour cannot be used: it takes fact, decision, "),
        ("is:blue", "is:blue cannot be used: it takes pinned, untagged, expired, user, "),
        ("certainty:9", "certainty:9 cannot be used: it takes a number from 1 to 5"),
        ("certainty:4..", "certainty:4.. cannot be used: it takes a number from 1 to 5"),
        ("status:gone", "status:gone cannot be used: it takes pending, active, "),
        ("tier:top", "tier:top cannot be used: it takes working, "),
        ("before:soon", "before:soon cannot be used: must be a date such as "),
        ("before:9000y", "before:9000y cannot be used: no calendar reaches back so far."),
        ("after:" + "9" * 5000 + "d", "after:" + "9" * 60 + " cannot be used: must be a date such as "),
        ("expires:<", "expires:< cannot be used: must be a date such as "),
        ("tag:#", "tag:# cannot be used: it takes a tag's name."),
        ("tag:,", "tag:, cannot be used: it takes a tag's name."),
        ("ns:/", "ns:/ cannot be used: it takes a namespace such as projects/site."),
        ("by:,", "by:, cannot be used: it takes something such as by:claude, "),
        ("session:,", "session:, cannot be used: it takes something such as session:ID."),
        ('id:""', 'id:"" cannot be used: it takes something such as id:ID.'),
    ],
)
def test_a_value_that_a_field_does_not_take_is_an_error(source: str, problem: str) -> None:
    query = read(f"word {source}")
    assert query.filter == AllOf()
    assert query.words == (Word("word"),)
    (told,) = query.problems
    assert told.startswith(problem)
    assert told.endswith(".")
    assert query.error == told
    assert read(f"word {source}", typing=True).error == "", "it is still being typed"
    assert read(f"{source} word", typing=True).error == told


@pytest.mark.parametrize("source", ['"alpha beta', 'tag:"alpha beta', '-"alpha beta', '"alpha" "beta'])
def test_a_quotation_mark_that_is_not_closed_is_said_once_and_read_to_the_end(source: str) -> None:
    query = read(source)
    unclosed = "A quotation mark is not closed; everything after it was read as one phrase."
    assert [problem for problem in query.problems if problem != query.error] == [unclosed]


@pytest.mark.parametrize(
    ("source", "words", "unwanted"),
    [
        ("alpha beta", (Word("alpha"), Word("beta")), ()),
        ('"alpha beta" gamma', (Phrase("alpha beta"), Word("gamma")), ()),
        ("alpha -beta", (Word("alpha"),), (Word("beta"),)),
        ('alpha -"beta gamma"', (Word("alpha"),), (Phrase("beta gamma"),)),
        ("navier-stokes a-b", (Word("navier-stokes"), Word("a-b")), ()),
        ("https://x.y/z?q=1", (Word("https://x.y/z?q=1"),), ()),
        ("std::vector localhost:8080", (Word("std::vector"), Word("localhost:8080")), ()),
        ("x.org:80/a C:\\temp 10:30", (Word("x.org:80/a"), Word("C:\\temp"), Word("10:30")), ()),
        ("TODO: mend it:", (Word("TODO:"), Word("mend"), Word("it:")), ()),
        ("alpha - -- \"\" '' ... [/] *", (Word("alpha"),), ()),
        ("", (), ()),
        ("日本 é", (Word("日本"), Word("é")), ()),
    ],
)
def test_what_is_no_field_is_looked_for(
    source: str, words: tuple[Word | Phrase, ...], unwanted: tuple[Word | Phrase, ...]
) -> None:
    query = read(source)
    assert (query.words, query.excluded, query.filter, query.problems) == (words, unwanted, AllOf(), ())


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("error:ENOENT", "There is no field error; error:ENOENT is read as text."),
        ("mend fix:typo", "There is no field fix; fix:typo is read as text."),
        ("a shown:abc b error_code:x", "There are no fields shown, error_code; what looks like them is read as text."),
        (
            "am:x bm:x cm:x dm:x em:x",
            "There are no fields am, bm, cm, ...; what looks like them is read as text.",
        ),
    ],
)
def test_what_looks_like_a_field_and_is_none_is_looked_for_and_said(source: str, note: str) -> None:
    query = read(source)
    assert [word.text for word in query.words] == source.split()
    assert (query.problems, query.error, query.filter) == ((note,), "", AllOf())
    assert read("mend fix:typo", typing=True).problems == (), "it is still being typed"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("used:>1000", "There is no field used. The fields are tag, kind, "),
        ("word date:>=2026", "There is no field date. The fields are tag, kind, "),
        ("created_at:<2026", "There is no field created_at. The fields are tag, kind, "),
        ("created:>2026-13-45", "There is no field created. Did you mean after:"),
        ("author:bob", "There is no field author. Did you mean by:"),
        ("tag:", "tag: has no value. Write it without a space, as in tag:api"),
        ("word -Session: x", "Session: has no value. Write it without a space, as in session:ID"),
        ("kindd:decision", "There is no field kindd. Did you mean kind:, as in kind:decision? "),
        ("word tags:api", "There is no field tags. Did you mean tag:, as in tag:api"),
        ("Type:decision", "There is no field Type. Did you mean kind:"),
        ("-certainity:>=4 word", "There is no field certainity. Did you mean certainty:"),
        ("-draft", "-draft only leaves out what is found. Add a word to look for."),
        ('kind:decision -"two words"', "-two words only leaves out what is found."),
        ("- -- \"\" '' ... [/] *", "- -- \"\" '' ... [/] * holds no word to look for: only letters and digits"),
        (" \N{SLIGHTLY SMILING FACE} ", "\N{SLIGHTLY SMILING FACE} holds no word to look for"),
    ],
)
def test_a_query_that_cannot_be_answered_as_it_is_says_what_to_do(source: str, sentence: str) -> None:
    query = read(source)
    assert query.error.startswith(sentence)
    assert query.problems == (query.error,)


def test_only_the_last_word_of_a_text_being_typed_may_be_a_beginning() -> None:
    assert read("alpha bet", typing=True).words == (Word("alpha"), Word("bet", typing=True))
    assert read("alpha bet ", typing=True).words == (Word("alpha"), Word("bet"))
    assert read("alpha -bet", typing=True).excluded == (Word("bet"),)
    assert read("alpha tag:bet", typing=True).words == (Word("alpha"),)
    assert read("bet", typing=False).words == (Word("bet"),)


def test_bytes_that_are_not_utf8_are_read_as_something_that_is_not_found() -> None:
    query = read("tag:\udcff alp\ud800ha")
    query.text.encode()
    assert query.filter == AllOf((HasTag("?"),))


def test_words_filters_and_unwanted_words_stand_in_any_order() -> None:
    query = read('tag:api alpha -beta kind:fact "gamma delta"')
    assert query.text == "alpha gamma delta"
    assert query.phrases == (Phrase("gamma delta"),)
    assert query.filter == AllOf((HasTag("api"), OneOf("kind", ("fact",))))


@pytest.mark.parametrize(("field", "example"), FIELDS.items())
def test_every_field_has_an_example_that_works(field: str, example: str) -> None:
    first = example.split(", ", maxsplit=1)[0].split(",", maxsplit=1)[0]
    assert first.startswith(f"{field}:")
    query = read(first)
    assert query.problems == ()
    assert len(query.filter.parts) == 1  # type: ignore[union-attr] # a query's filter is always an AllOf
