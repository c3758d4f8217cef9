"""The fields of working items and of skips: their labels, how each is shown in a form and read from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from memento_tui import clock
from memento_tui.api.lists import CATEGORY_WORDS, STATUS_WORDS, parse_category, parse_status
from memento_tui.errors import InvalidField, MementoError
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.model.lists import ITEM_CATEGORIES
from memento_tui.moments import parse_moment
from memento_tui.tui.widgets.text_draft import Field

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.types import Revision

__all__ = [
    "DEFAULT_EXTENSION",
    "EXPIRY_HINT",
    "ITEM_SPEC",
    "SKIP_SPEC",
    "RecordRepository",
    "RecordSpec",
    "format_value",
]

RecordT = TypeVar("RecordT", Skip, WorkingItem)

DEFAULT_EXTENSION = "30d"
"""The end that a form offers for a skip."""

EXPIRY_HINT = "a date such as 2026-12-31, or a span from now such as 30d"

_MAX_VALUE_CHARACTERS = 60
"""Characters of a value that are shown in a sentence."""


@dataclass(frozen=True)
class FieldSpec:
    """One field of a record: its name, its label in a sentence, and its label, hint, text and value in a form.

    ``initial`` is the text of a new record; ``None`` leaves the field out of its form. ``format`` returns the text of
    a value; ``parse`` returns the value of a text, or raises `InvalidInput`.
    """

    name: str
    label: str
    form_label: str
    initial: str | None = ""
    hint: str = ""
    multiline: bool = False
    format: Callable[[Any], str] = str
    parse: Callable[[str], Any] = str.strip

    def form_field(self, text: str, *, proposed: bool = False) -> Field:
        """Return the field of a form that holds a text, which may be merely proposed."""
        return Field(self.name, self.form_label, text, self.hint, multiline=self.multiline, proposed=proposed)


class RecordRepository(Protocol[RecordT]):
    """The skips or the working items of a workspace."""

    def find(self, record_id: str, /) -> RecordT | None:
        """Return a record by its whole id, or ``None``."""

    def get(self, record_id: str, /) -> RecordT:
        """Return a record. Raises `NotFound`."""

    def history(self, record_id: str, /) -> Sequence[Revision[RecordT]]:
        """Return the versions of a record, newest first."""

    def version_of(self, record_id: str, version: int, /) -> RecordT | None:
        """Return a record as it was at a version."""


@dataclass(frozen=True)
class RecordSpec(Generic[RecordT]):
    """The fields of a kind of record, and how records of the kind are read and written.

    ``kind`` is its name in the database, ``noun`` its name in a sentence.
    """

    kind: str
    noun: str
    fields: tuple[FieldSpec, ...]
    title_of: Callable[[RecordT], str]
    repository: Callable[[Workspace], RecordRepository[RecordT]]
    read_all: Callable[[Workspace], Sequence[RecordT]]
    create: Callable[[Workspace, Mapping[str, Any]], RecordT | Proposal]
    update: Callable[[Workspace, str, int, Mapping[str, Any]], RecordT | Proposal]

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the fields in sentences, by name."""
        return {field.name: field.label for field in self.fields}

    def form_fields(self, record: RecordT) -> list[Field]:
        """Return the fields of a form with the values of a record."""
        return [field.form_field(field.format(getattr(record, field.name))) for field in self.fields]

    def new_form_fields(self, texts: Mapping[str, str]) -> list[Field]:
        """Return the fields of the form for a new record; ``texts`` replaces initial texts."""
        return [
            field.form_field(texts.get(field.name, field.initial), proposed=True)
            for field in self.fields
            if field.initial is not None
        ]

    def parse(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of some texts of a form, by name. Raises `InvalidInput`."""
        return {field.name: field.parse(texts[field.name]) for field in self.fields if field.name in texts}

    def describe_changes(self, before: RecordT, after: RecordT) -> str:
        """Return in words the values in which ``after`` differs; it need not be safe to show."""
        return "; ".join(
            f'{field.label} is now "{format_value(getattr(after, field.name))}"'
            for field in self.fields
            if getattr(before, field.name) != getattr(after, field.name)
        )

    def format_error(self, error: MementoError) -> str:
        """Return an error with the label of the field that it is about."""
        labels = self.labels
        if isinstance(error, InvalidField) and error.field in labels:
            return f"{labels[error.field].capitalize()} {error.reason}. {error.hint}".strip()
        return str(error)


def format_value(value: object) -> str:
    """Return the value of a field as a person would say it; it need not be safe to show."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}Z"
    if isinstance(value, tuple):
        value = ", ".join(value)
    text = str({**CATEGORY_WORDS, **STATUS_WORDS}.get(str(value), value)) or "none"
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[:_MAX_VALUE_CHARACTERS]}..."


def _parse_tags(text: str) -> list[str]:
    return [tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")]


ITEM_SPEC = RecordSpec[WorkingItem](
    kind="item",
    noun="working item",
    fields=(
        FieldSpec("title", "title", "Title"),
        FieldSpec("next_action", "next action", "Next action"),
        FieldSpec(
            "category",
            "category",
            "Category (active work, standing, waiting or session)",
            CATEGORY_WORDS[ITEM_CATEGORIES[0]],
            format=CATEGORY_WORDS.__getitem__,
            parse=parse_category,
        ),
        FieldSpec(
            "status",
            "status",
            f"Status ({', '.join(STATUS_WORDS.values())})",
            None,
            format=STATUS_WORDS.__getitem__,
            parse=parse_status,
        ),
        FieldSpec("priority", "priority", "Priority (the highest comes first)", "0"),
        FieldSpec("tags", "tags", "Tags, with commas between", format=", ".join, parse=_parse_tags),
        FieldSpec("content", "text", "What there is to know", multiline=True, parse=str),
        FieldSpec("namespace", "namespace", "Namespace", "global"),
    ),
    title_of=lambda item: item.title,
    repository=lambda workspace: workspace.items,
    read_all=lambda workspace: workspace.items.list(),
    create=lambda workspace, values: workspace.items.create(**{"title": "", **values}),
    update=lambda workspace, item_id, base, changes: workspace.items.update(item_id, base_version=base, **changes),
)


def _parse_expiry(text: str) -> datetime:
    return parse_moment(text, "expires_at", clock.now())


def _create_skip(workspace: Workspace, values: Mapping[str, Any]) -> Skip | Proposal:
    end = values.get("expires_at") or _parse_expiry("")
    namespace = values.get("namespace", "global")
    return workspace.skips.add(values.get("item", ""), values.get("reason", ""), end, namespace=namespace)


SKIP_SPEC = RecordSpec[Skip](
    kind="skip",
    noun="skip",
    fields=(
        FieldSpec("item", "what", "What to skip", hint="reading vendor/"),
        FieldSpec("reason", "why", "Why", hint="third-party code"),
        FieldSpec(
            "expires_at",
            "until",
            f"Until when ({EXPIRY_HINT})",
            DEFAULT_EXTENSION,
            format=lambda end: f"{end:%Y-%m-%dT%H:%MZ}",
            parse=_parse_expiry,
        ),
        FieldSpec("namespace", "namespace", "Namespace", "global"),
    ),
    title_of=lambda skip: skip.item,
    repository=lambda workspace: workspace.skips,
    read_all=lambda workspace: workspace.skips.list(ended=True),
    create=_create_skip,
    update=lambda workspace, skip_id, base, changes: workspace.skips.update(skip_id, base_version=base, **changes),
)
