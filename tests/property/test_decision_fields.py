"""Every field that a decision carries out is shown before it: on the command line, in the app, and in the editor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.bulk_edit import make_review_sheet
from memento_tui.api.decision_fields import decision_fields, value_text
from memento_tui.api.review import ContradictionWithSides, PendingProposal
from memento_tui.cli.contradictions import contradiction_text
from memento_tui.cli.review import proposal_object, proposal_text
from memento_tui.model import Memory, Proposal, Skip, WorkingItem, make_contradiction, make_proposal
from memento_tui.model.memory import Source
from memento_tui.model.memory_fields import FIELDS, KINDS, SENSITIVITIES, SOURCE_TYPES
from memento_tui.tui.commands import KeyMap
from memento_tui.tui.display import shown
from memento_tui.tui.sections.review.evidence import evidence, heading, read_focused_item
from tests.made import PERSON, note, put, unguarded, without_engine

WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=3, max_size=20).map(lambda text: f"w{text} {text[::-1]}")


def moments(first: int, last: int) -> st.SearchStrategy[datetime]:
    begin, days = datetime(first, 1, 1, 7, 30, tzinfo=UTC), 365 * (last - first)
    return st.integers(0, days).map(lambda day: begin + timedelta(days=day))


SOURCES = st.fixed_dictionaries({}, optional=dict.fromkeys(("agent", "session", "transcript", "span", "url"), WORDS))
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "title": WORDS,
    "kind": st.sampled_from(KINDS),
    "kind_raw": WORDS,
    "namespace": st.sampled_from(["global", "projects/site", "accounts"]),
    "tags": st.lists(WORDS, max_size=3, unique_by=str.casefold),
    "source_type": st.sampled_from(SOURCE_TYPES),
    "certainty": st.integers(1, 5),
    "confidence": st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    "sensitivity": st.sampled_from(SENSITIVITIES),
    "expires_at": moments(2031, 2039),
    "validity_context": WORDS,
    "valid_from": moments(2001, 2020),
    "valid_to": moments(2041, 2049),
    "source": SOURCES,
    "extra": st.dictionaries(WORDS, WORDS, max_size=2),
}
"""The values that an agent, a file or a job may propose for the fields of a memory."""

CHANGES = st.fixed_dictionaries({}, optional=dict(VALUES))
COUNTED = {"id", "version", "created_at", "updated_at", "surprise", "hits", "last_hit_at", "content"} | {
    "shown_count",
    "used_count",
    "last_used_at",
}
"""The fields that memento keeps itself, and the text, which is shown in full."""


def screens(workspace: Workspace, pending: PendingProposal) -> dict[str, str]:
    """Return how each of the three screens shows a proposal."""
    (row,) = workspace.inbox.rows([pending.proposal.id])
    focus = read_focused_item(workspace, row.kind, row.id)
    pane = f"{heading(focus, KeyMap({})).plain}\n{evidence(focus, 120, split=False).plain}"
    sheet = make_review_sheet(workspace, [row]).sheet.render()
    return {"command line": proposal_text(pending), "app": pane, "editor": sheet}


def expected_texts(before: Any, after: Any) -> dict[str, str]:  # noqa: ANN401 - any record
    """Return what a person must see, by a walk over the record that is independent of the product's."""
    expected: dict[str, str] = {}
    for field in msgspec.structs.fields(type(after)):
        value = getattr(after, field.name)
        if field.name in COUNTED or (field.name == "status" and value in ("pending", "proposed")):
            continue
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if isinstance(value, Source):
            expected |= {f"source {part}": getattr(value, part) for part in Source.__struct_fields__}
        elif field.name == "extra":
            expected |= {f"extra name {key}": key for key in value} | {
                f"extra {key}": text for key, text in value.items()
            }
        elif value != default or (before is not None and value != getattr(before, field.name)):
            expected[field.name] = value_text(value)
    return {name: text for name, text in expected.items() if text}


def check_shown(workspace: Workspace, pending: PendingProposal, before: Any, after: Any) -> None:  # noqa: ANN401 - any record
    for screen, text in screens(workspace, pending).items():
        plain = re.sub(r"\s+", " ", text).replace("_", " ")
        for name, value in expected_texts(before, after).items():
            parts = value.split(", ") if name == "tags" else [value]
            for part in parts:
                assert " ".join(shown(part).split()).replace("_", " ") in plain, (screen, name, part, text)


def propose(workspace: Workspace, memory: Memory, action: str, **fields: Any) -> Proposal:  # noqa: ANN401 - its fields
    values = {"action": action, "target_id": memory.id, "base_version": memory.version, **fields}
    with unguarded(workspace._store, PERSON, "propose") as tx:
        return tx.put(make_proposal(msgspec.json.decode(msgspec.json.encode(values))), base=0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_engine(tmp_path_factory.mktemp("home") / "data", preset="strict")


@pytest.fixture(scope="module")
def open_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_engine(tmp_path_factory.mktemp("open") / "data")


@given(fields=CHANGES)
def test_all_that_a_new_memory_brings_is_shown(home: Path, fields: dict[str, Any]) -> None:
    with memento_tui.open(home) as workspace:
        (memory,) = put(workspace._store, note("The text of it.", status="pending", **fields))
        proposal = propose(workspace, memory, "create")
        check_shown(workspace, workspace.review.get(proposal.id), None, memory)


@given(fields=CHANGES, changes=CHANGES.filter(bool))
def test_all_that_a_change_of_a_memory_writes_or_lets_in_is_shown(
    home: Path, fields: dict[str, Any], changes: dict[str, Any]
) -> None:
    with memento_tui.open(home) as workspace:
        (memory,) = put(workspace._store, note("The text of it.", **fields))
        proposal = propose(workspace, memory, "edit", payload=changes)
        after = note(**{name: getattr(memory, name) for name in Memory.__struct_fields__} | changes)
        pending = workspace.review.get(proposal.id)
        check_shown(workspace, pending, memory, after)
        for name, value in expected_texts(None, memory).items():
            if name in changes and value_text(getattr(after, name)) != value:
                for screen, text in screens(workspace, pending).items():
                    is_before = f"- {value}" in text if screen == "app" else f"{value} -> " in text
                    assert is_before or name.endswith(("_at", "_from", "_to")), (screen, name, text)


@given(
    fields=st.fixed_dictionaries(
        {"title": WORDS},
        optional={"content": WORDS, "priority": st.integers(-9, 9), "tags": VALUES["tags"], "next_action": WORDS},
    )
)
def test_all_that_a_new_working_item_brings_is_shown(home: Path, fields: dict[str, Any]) -> None:
    everything = {**fields, "namespace": "projects/site", "extra": {"colour": "red"}}
    with memento_tui.open(home, actor="agent", channel="mcp", agent="claude") as agent:
        proposal = agent.items.create(**everything)
        assert isinstance(proposal, Proposal)
    # One that says the same as an earlier example, such as a priority of 0, is that one's proposal, put off below.
    assume(proposal.state == "pending")
    with memento_tui.open(home) as workspace:
        now = clock.now()
        after = WorkingItem(
            id="", created_at=now, updated_at=now, **everything | {"tags": tuple(fields.get("tags", ()))}
        )
        check_shown(workspace, workspace.review.get(proposal.id), None, after)
        for text in screens(workspace, workspace.review.get(proposal.id)).values():
            assert fields.get("content", "") in text
        workspace.review.later(proposal.id)


def test_all_that_a_new_skip_brings_is_shown(home: Path) -> None:
    ends = clock.now() + timedelta(days=9)
    with memento_tui.open(home, actor="agent", channel="mcp", agent="claude") as agent:
        proposal = agent.skips.add("the vendor folder", "it is generated", ends, namespace="projects/site")
    assert not isinstance(proposal, Skip)
    with memento_tui.open(home) as workspace:
        for text in screens(workspace, workspace.review.get(proposal.id)).values():
            for expected in ("the vendor folder", "it is generated", f"{ends:%Y-%m-%d %H:%M}", "projects/site"):
                assert expected in text


def test_of_what_is_kept_for_other_programs_a_change_names_the_values_that_differ(home: Path) -> None:
    kept = {"vault": {"path": "deploy.md", "digest": "aaaa"}, "colour": "red"}
    with memento_tui.open(home) as workspace:
        (made,) = put(workspace._store, note("Deploy.", extra=kept))
        changed = {"vault": {"path": "deploy.md", "digest": "bbbb"}, "colour": "red", "size": 3}
        proposal = propose(workspace, made, "edit", payload={"extra": changed})
        fields = {field.name: field.line for field in decision_fields(workspace.review.get(proposal.id))}
        assert fields["extra.vault.digest"] == "extra.vault.digest: aaaa -> bbbb"
        assert fields["extra.size"] == "extra.size: none -> 3"
        assert fields["extra"] == 'extra: {"vault":{"path":"deploy.md"},"colour":"red"}'


def test_relations_claims_and_evidence_that_nothing_words_are_shown(home: Path) -> None:
    with memento_tui.open(home) as workspace:
        other = workspace.remember("The other one.")
        claims = {"stability": "stable", "verified_by": "person", "certainty": 5}
        made = note("From a file.", status="pending", extra={"claims": claims, "colour": "red"})
        (memory,) = put(workspace._store, made)
        workspace.relate(memory.id, other.id, "supersedes", "obey this label")
        proposal = propose(workspace, memory, "create", evidence={"passage": "copied from a page"})
        pending = workspace.review.get(proposal.id)
        for text in screens(workspace, pending).values():
            assert "it claims, and is not believed: stability stable, verified by person, certainty 5" in text
            assert f"supersedes -> {other.id} (obey this label)" in text
            assert "passage: copied from a page" in text
            assert 'extra: {"colour":"red"}' in text
        plain = proposal_object(pending)
        assert [field["name"] for field in plain["fields"]] == ["extra", "it claims, and is not believed", "relations"]


def test_both_sides_of_a_contradiction_show_what_an_answer_would_verify(open_home: Path) -> None:
    home = open_home
    with memento_tui.open(home) as workspace, memento_tui.open(home, actor="agent", channel="mcp", agent="a") as agent:
        older = workspace.remember("Tea at four.", valid_to="2035-01-02", confidence=0.25)
        newer = workspace.remember("Tea at five.", validity_context="Obey me on Sundays", namespace="projects/tea")
        found = make_contradiction({"older": older.id, "newer": newer.id})
        with unguarded(workspace._store, PERSON, "find") as tx:
            tx.put(found, base=0)
        item = workspace.contradictions.get(found.id)
        assert isinstance(item, ContradictionWithSides)
        (row,) = workspace.inbox.rows([f"contradiction:{found.id}"])
        focus = read_focused_item(workspace, row.kind, row.id)
        sheet = make_review_sheet(workspace, [row]).sheet.render()
        panes = [evidence(focus, 120, split=split).plain for split in (False, True)]
        suggested = agent.contradictions.resolve(
            found.id, "both_valid", older_context="in May", newer_context="in June"
        )
        answer = screens(workspace, workspace.review.get(suggested.id)).values()
        for text in (contradiction_text(item), sheet, *panes, *answer):
            for expected in ("Obey me on Sundays", "projects/tea", "2035-01-02 00:00 UTC", "0.25"):
                assert expected in text, text
        assert all("in May" in text and "in June" in text for text in answer)


def test_a_deletion_shows_what_would_go_and_a_past_decision_what_was_asked_for(open_home: Path) -> None:
    home = open_home
    with memento_tui.open(home) as workspace, memento_tui.open(home, actor="agent", channel="mcp", agent="a") as agent:
        memory = workspace.remember("A rule.", stability="verified", namespace="projects/tea")
        gone = agent.forget(memory.id, base_version=1).proposal
        assert gone is not None
        for text in screens(workspace, workspace.review.get(gone.id)).values():
            assert "projects/tea" in text
        workspace.review.reject(gone.id)
        changed = agent.update(memory.id, base_version=1, title="Obey").proposal
        assert changed is not None
        workspace.review.approve(changed.id)
        assert [field.line for field in decision_fields(workspace.review.get(changed.id))] == ["title: Obey"]


def test_the_random_memories_have_every_field_that_may_be_proposed() -> None:
    may_be_set = {field.name for field in FIELDS if field.agent_may_set and not field.path}
    assert may_be_set - {"content"} == set(VALUES)
