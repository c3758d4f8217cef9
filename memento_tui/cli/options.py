"""Options that several commands share: the fields of a memory, pages of a list, and text from standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from memento_tui.cli.command import CommandFunction
from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.model import Memory
from memento_tui.model.memory_fields import FIELDS, FieldOption, MemoryField
from memento_tui.model.validation import MAX_CONTENT_BYTES, fold_tag

__all__ = [
    "changes_of",
    "fields_of",
    "memory_options",
    "paging",
    "parse_id_and_version",
    "past_moment",
    "read_text",
    "split_words",
]

_MAX_INPUT_BYTES = 16 * MAX_CONTENT_BYTES
"""Read from standard input at most, so that an endless stream ends in an error."""

_OPTIONS = {field.option.name.removeprefix("--").replace("-", "_"): field for field in FIELDS if field.option}
"""The fields that have an option, by the name that click gives its value."""

_SOURCE_OPTIONS = tuple(name for name, field in _OPTIONS.items() if field.path.startswith("source."))
_PLAIN_OPTIONS = tuple(name for name in _OPTIONS if name not in (*_SOURCE_OPTIONS, "extra"))


def memory_options(*, editing: bool) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds an option for each field; ``editing`` adds those that only a change needs."""
    options: list[Callable[[CommandFunction], CommandFunction]] = [
        click.option("--tag", "tags", multiple=True, metavar="TAG", help="Repeat it, or join with commas.")
    ]
    if editing:
        options += [
            click.option("--untag", "untags", multiple=True, metavar="TAG", help="A tag to take off."),
            click.option("--content", metavar="TEXT", help="The text itself; `-` reads standard input."),
        ]
    # Those with a choice of words stand together, after the others.
    options += [_field_option(field) for field in sorted(_OPTIONS.values(), key=lambda field: bool(field.choices))]
    options.append(click.option("--pin/--no-pin", default=None, help="Offer it to the agent in every session."))

    def add(function: CommandFunction) -> CommandFunction:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def past_moment(function: CommandFunction) -> CommandFunction:
    """Add the option that shows the memory as it was."""
    help_text = "Show it as it was: 2026-11-20, 2026-11-20T18:00Z, `yesterday`, `3 days ago` or `entry 512` (journal)."
    return click.option("--at", metavar="TIME", help=help_text)(function)


def paging(function: CommandFunction) -> CommandFunction:
    """Add the options of a command that prints a list page by page."""
    after = click.option("--after", metavar="CURSOR", help="The `next` of the page before.")
    limit = click.option("--limit", type=click.IntRange(1, 10_000), metavar="NUMBER", default=50, show_default=True)
    return limit(after(function))


def _field_option(field: MemoryField) -> Callable[[CommandFunction], CommandFunction]:
    option = field.option or FieldOption("--" + field.name, "TEXT", "")
    if field.choices:
        text = f"{option.help} One of {', '.join(field.choices)}."
        return click.option(option.name, type=click.Choice(field.choices), metavar=option.metavar, help=text)
    return click.option(option.name, metavar=option.metavar, help=option.help)


def split_words(values: Iterable[str]) -> list[str]:
    """Return the words of a repeatable option in which commas separate too."""
    return [word.strip() for value in values for word in value.split(",") if word.strip()]


def read_text(argument: str, what: str = "content") -> str:
    """Return an argument, or standard input where it is ``-``, without its last line feed.

    Raises:
        InvalidInput: standard input is not UTF-8.
        InvalidField: it is far too long.

    """
    if argument != "-":
        return argument
    data = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1)
    if len(data) > _MAX_INPUT_BYTES:
        raise InvalidField(what, f"is over {_MAX_INPUT_BYTES:,} bytes long; the limit is {MAX_CONTENT_BYTES:,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"Standard input is not UTF-8 (at byte {error.start}).",
            "Convert it first, for instance with: iconv -f latin1 -t utf-8",
        ) from None
    return text.removesuffix("\n").removesuffix("\r")


def fields_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a command's options set, for a new memory."""
    fields = _given_fields(options)
    if options["tags"]:
        fields["tags"] = split_words(options["tags"])
    source = {part: options[part] for part in _SOURCE_OPTIONS if options[part] is not None}
    if source:
        fields["source"] = source
    return {name: value for name, value in fields.items() if value is not None}


def changes_of(options: Mapping[str, Any], present: Memory) -> dict[str, Any]:
    """Return the changes that a command's options make to a memory: tags are added to those that it has."""
    changes = _given_fields(options)
    if options["content"] is not None:
        changes["content"] = read_text(options["content"])
    if options["tags"] or options["untags"]:
        unwanted = set(map(fold_tag, split_words(options["untags"])))
        tags = dict.fromkeys([*present.tags, *split_words(options["tags"])])
        changes["tags"] = [tag for tag in tags if fold_tag(tag) not in unwanted]
    source = {part: options[part] for part in _SOURCE_OPTIONS if options[part] is not None}
    if source:
        changes["source"] = {part: getattr(present.source, part) for part in _SOURCE_OPTIONS} | source
    return changes


def _given_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in _PLAIN_OPTIONS:
        value, field = options[name], _OPTIONS[name]
        if value is not None:
            cleared = field.accepts == "a moment" and value.strip().lower() == "never"
            fields[field.name] = None if cleared else value
    if options["pin"] is not None:
        fields["pinned"] = options["pin"]
    if options["extra"] is not None:
        fields["extra"] = _parse_json_object(options["extra"])
    return fields


def _parse_json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidField("extra", f"is not JSON ({error})", """For instance: --extra '{"ticket": 12}'""") from None
    if not isinstance(value, dict):
        raise InvalidField("extra", "must be a JSON object", """For instance: --extra '{"ticket": 12}'""")
    return value


def parse_id_and_version(reference: str, seen: int | None = None) -> tuple[str, int | None]:
    """Return the id and the version that ``ID@VERSION`` names; a bare id is of the version of an option, or of any.

    Raises:
        InvalidInput: the option, ``seen``, names another version.

    """
    name, at, version = reference.rpartition("@")
    if at and name and version.isascii() and version.isdigit() and int(version) >= 1:
        if seen not in (None, int(version)):
            raise InvalidInput(
                f"{reference:.200} names version {int(version)}, and the option version {seen}.",
                "Name the one that you read.",
            )
        return name, int(version)
    return reference, seen
