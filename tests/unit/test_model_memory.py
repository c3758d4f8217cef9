from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from memento_tui.errors import InvalidField
from memento_tui.model import Memory, make_memory
from memento_tui.model.memory import KINDS, SOURCE_TYPES, STATUSES, content_digest, parse_kind, says_the_same
from memento_tui.model.validation import MAX_CONTENT_BYTES, MAX_EXTRA_BYTES
from tests.made import NOW, note


def refused(**fields: Any) -> InvalidField:  # noqa: ANN401 - any value, wrong ones above all
    with pytest.raises(InvalidField) as caught:
        make_memory({"content": "text", **fields})
    assert caught.value.message == f"{caught.value.field}: {caught.value.reason}."
    return caught.value


def test_a_memory_needs_no_more_than_a_text() -> None:
    memory = make_memory({"content": "text"}, now=NOW)
    assert (memory.content, memory.namespace, memory.kind, memory.stability) == ("text", "global", "fact", "draft")
    assert (memory.created_at, memory.updated_at, memory.version) == (NOW, NOW, 1)
    assert len(memory.id) == 12


@pytest.mark.parametrize(
    ("fields", "field", "reason"),
    [
        ({"content": None}, "content", "is missing"),
        ({"content": ""}, "content", "is empty"),
        ({"content": " \n\t"}, "content", "is empty"),
        ({"content": 5}, "content", "must be text; not 5"),
        ({"content": b"bytes"}, "content", "must be text; not b'bytes'"),
        ({"content": "a\x00b"}, "content", "holds a NUL character"),
        ({"content": "a\ud800b"}, "content", "holds bytes that are not UTF-8 (at character 1)"),
        ({"content": "x" * 1_048_576}, "content", f"is 1,048,576 bytes long; the limit is {MAX_CONTENT_BYTES:,}"),
        ({"content": "é" * 131_073}, "content", f"is 262,146 bytes long; the limit is {MAX_CONTENT_BYTES:,}"),
        ({"title": "two\nlines"}, "title", "must be one line"),
        ({"title": "x" * 1001}, "title", "has 1,001 characters; the limit is 1,000"),
        ({"title": "\udcff"}, "title", "holds bytes that are not UTF-8 (at character 0)"),
        ({"kind": "rumour"}, "kind", f"must be one of {', '.join(KINDS)}; not 'rumour'"),
        ({"kind_raw": "x" * 101}, "kind_raw", "has 101 characters; the limit is 100"),
        ({"tags": 5}, "tags", "must be a list of words; not 5"),
        ({"tags": [5]}, "tags", "must be a list of words; not [5]"),
        ({"tags": ["a", " "]}, "tags", "holds an empty tag"),
        ({"tags": ["x" * 101]}, "tags", "holds a tag of 101 characters; the limit is 100"),
        ({"tags": ["a\tb"]}, "tags", "holds a tag with a control character: 'a\\tb'"),
        ({"tags": [str(number) for number in range(201)]}, "tags", "holds 201 tags; the limit is 200"),
        ({"system_tags": [""]}, "system_tags", "holds an empty tag"),
        ({"certainty": 0}, "certainty", "must be a whole number from 1 to 5; not 0"),
        ({"certainty": 6}, "certainty", "must be a whole number from 1 to 5; not 6"),
        ({"certainty": 2.5}, "certainty", "must be a whole number from 1 to 5; not 2.5"),
        ({"certainty": "high"}, "certainty", "must be a whole number from 1 to 5; not 'high'"),
        ({"certainty": 10**40}, "certainty", f"must be a whole number from 1 to 5; not {10**40}"),
        ({"confidence": 1.1}, "confidence", "must be a number from 0 to 1; not 1.1"),
        ({"confidence": float("nan")}, "confidence", "must be a number from 0 to 1; not nan"),
        ({"surprise": -0.1}, "surprise", "must be a number from 0 to 1; not -0.1"),
        ({"injection_score": 2}, "injection_score", "must be a number from 0 to 1; not 2.0"),
        ({"stability": "solid"}, "stability", "must be one of draft, verified, stable; not 'solid'"),
        ({"source_type": "web"}, "source_type", f"must be one of {', '.join(SOURCE_TYPES)}; not 'web'"),
        ({"source": "claude"}, "source", "must be an object with any of agent, session, transcript, span, url; not"),
        ({"source": {"agent": "\ud800"}}, "source.agent", "holds bytes that are not UTF-8 (at character 0)"),
        ({"source": {"url": "x" * 4001}}, "source.url", "has 4,001 characters; the limit is 4,000"),
        ({"status": "gone"}, "status", f"must be one of {', '.join(STATUSES)}; not 'gone'"),
        ({"pinned": "perhaps"}, "pinned", "must be true or false; not 'perhaps'"),
        ({"expires_at": "never"}, "expires_at", "must be a date such as 2026-12-31"),
        ({"shown_count": -1}, "shown_count", "cannot be negative"),
        ({"used_count": -1}, "used_count", "cannot be negative"),
        ({"version": 0}, "version", "must be 1 or more"),
        ({"id": ""}, "id", "is empty"),
        ({"id": "a\nb"}, "id", "holds a character that cannot be printed"),
        ({"id": "x" * 301}, "id", "has 301 characters; the limit is 300"),
        ({"extra": [1]}, "extra", "must be an object; not [1]"),
        ({"extra": {"a": "\ud800"}}, "extra", "holds text that is not UTF-8"),
        ({"extra": {"a": object}}, "extra", "holds a value that JSON cannot"),
        ({"extra": {"a": "x" * MAX_EXTRA_BYTES}}, "extra", "is 2,097,160 bytes long; the limit is 2,097,152"),
        ({"valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "valid_to", "is before valid_from"),
        ({"verified_by": "a\nb"}, "verified_by", "must be one line"),
        ({"validity_context": "a\nb"}, "validity_context", "must be one line"),
        ({"colour": "red"}, "colour", "is not a field that this record has"),
        ({"content": "x", "expires_at": "0d"}, "expires_at", "is not in the future: '0d' is over at once"),
        ({"content": "x", "expires_at": "00 hours"}, "expires_at", "is not in the future"),
    ],
)
def test_a_broken_rule_is_told_by_field_and_reason(fields: dict[str, Any], field: str, reason: str) -> None:
    error = refused(**fields)
    assert error.field == field
    assert error.reason.startswith(reason)


@pytest.mark.parametrize(
    "namespace", ["", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/./b", " a", "a /b", "a\\b", "a\nb", "x" * 301]
)
def test_a_namespace_is_a_path_that_leads_nowhere_else(namespace: str) -> None:
    assert refused(namespace=namespace).field == "namespace"


@pytest.mark.parametrize("namespace", ["global", "projects/my app", "日本/東京", "a/b.c/d..e", "a/...", "claude/@x+y"])
def test_a_namespace_may_hold_any_names(namespace: str) -> None:
    assert note(namespace=namespace).namespace == namespace


def test_nesting_without_end_is_refused() -> None:
    nested: list[Any] = []
    for _ in range(101):
        nested = [nested]
    assert refused(extra={"a": nested}).reason == "is nested more than 100 deep"
    for _ in range(5000):
        nested = [nested]
    assert refused(extra={"a": nested}).field == "extra"


def test_a_wide_foreign_field_is_kept() -> None:
    wide = {"rows": [[number] for number in range(500)]}
    assert note(extra=wide).extra == wide


def test_external_text_that_nobody_verified_never_becomes_long_term() -> None:
    for tier in ("long_term", "shared"):
        assert refused(source_type="external", tier=tier).field == "tier"
        assert note(source_type="external", tier=tier, stability="verified").tier == tier
    assert note(source_type="external").tier == "short_term"


def test_values_may_come_as_the_text_that_a_command_line_has() -> None:
    memory = note(certainty="4", confidence="0.9", pinned="true", tags=" b, a ,,b", surprise="0.25")
    assert (memory.certainty, memory.confidence, memory.pinned, memory.surprise) == (4, 0.9, True, 0.25)
    assert memory.tags == ("b", "a")


def test_a_value_that_is_none_is_one_that_was_not_given() -> None:
    memory = note(title=None, tags=None, certainty=None, source=None)
    assert (memory.title, memory.tags, memory.certainty, memory.source.agent) == ("", (), 3, "")


def test_tags_keep_their_order_and_spelling_without_repeats() -> None:
    assert note(tags=["b", " a", "b", "B"]).tags == ("b", "a", "B")


def test_json_leaves_out_defaults_and_brings_back_the_same_memory() -> None:
    memory = note(
        "line\n\x1b]52;c;evil\x07 [/nope] \u202e",
        title="t",
        tags=["é"],
        extra={"a": [1, None, "\x00"]},
        expires_at=NOW + timedelta(days=1),
        source={"agent": "claude"},
    )
    written = msgspec.json.encode(memory)
    assert b"namespace" not in written
    assert msgspec.json.decode(written, type=Memory) == memory
    assert make_memory(msgspec.to_builtins(memory)) == memory


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("fact", ("fact", "")),
        ("Decision", ("decision", "Decision")),
        ("anti-pattern", ("anti_pattern", "anti-pattern")),
        ("antipattern", ("anti_pattern", "antipattern")),
        ("gotcha", ("anti_pattern", "gotcha")),
        ("bug", ("bugfix", "bug")),
        ("recipe", ("observation", "recipe")),
    ],
)
def test_a_foreign_kind_becomes_one_of_ours_and_keeps_its_name(raw: str, kind: tuple[str, str]) -> None:
    assert parse_kind(raw) == kind


def test_two_contents_are_twins_if_only_space_case_or_unicode_form_differ() -> None:
    assert content_digest("Use  the\nAPI ") == content_digest("use the api")
    assert content_digest("Caf\u00e9") == content_digest("CAFE\u0301")
    assert content_digest("port 80") != content_digest("port 81")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Use  the\nAPI ", "Use the API", True),
        ("Caf\u00e9", "Cafe\u0301", True),
        ("# Day\n- a\n  - b\n  \n", "# Day\n- a\n  - b", True),
        ("\n \n# Day\n- a  \n  - b", "# Day\n- a\n  - b", True),
        ("Hello\nworld\n   ", "Hello world", True),
        ("  x\n  y", "x\n  y", True),
        ("x\n\n  y \n ", "x\n\n  y", True),
        ("a\n\x0c", "a", True),
        ("ls -v", "ls -V", False),
        ("12 m\u00b2", "12 m2", False),
        ("if a:\n    b()\nc()", "if a:\n    b()\n    c()", False),
    ],
)
def test_two_contents_say_the_same_where_they_are_wrapped_or_composed_otherwise_alone(
    one: str, other: str, *, is_same: bool
) -> None:
    assert says_the_same(one, other) is is_same


@pytest.mark.parametrize(
    ("title", "content", "headline"),
    [
        ("Title", "content", "Title"),
        ("  ", "\n\n## Heading\ntext", "Heading"),
        ("", "\n  first\nsecond", "first"),
        ("", "###", "###"),
    ],
)
def test_a_headline_is_the_title_or_the_first_line_that_says_something(title: str, content: str, headline: str) -> None:
    assert note(content, title=title).headline == headline
