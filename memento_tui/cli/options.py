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
from memento_tui.model.memory import KINDS, SENSITIVITIES, SOURCE_TYPES, STABILITIES, TIERS
from memento_tui.model.validation import MAX_CONTENT_BYTES

__all__ = ["changes_of", "fields_of", "memory_options", "paging", "read_text", "split_words"]

_MAX_INPUT_BYTES = 16 * MAX_CONTENT_BYTES
"""Read from standard input at most, so that an endless stream ends in an error."""

_FIELD_OF_OPTION = {"expires": "expires_at", "pin": "pinned", "validity": "validity_context"}
"""The fields whose option has a shorter name."""

_PLAIN_OPTIONS = (
    "title",
    "kind",
    "namespace",
    "source_type",
    "certainty",
    "confidence",
    "stability",
    "tier",
    "sensitivity",
)
_MOMENT_OPTIONS = ("expires", "valid_from", "valid_to")
_SOURCE_OPTIONS = ("agent", "session", "transcript", "span", "url")

_CHOICE_OPTIONS = [
    ("--kind", KINDS, "What it is."),
    ("--source-type", SOURCE_TYPES, "Who knows it: you, the agent's own reasoning, or the outside."),
    ("--stability", STABILITIES, "How far it is confirmed."),
    ("--tier", TIERS, "How long it is meant to live."),
    ("--sensitivity", SENSITIVITIES, "Who may see it."),
]
_TEXT_OPTIONS = [
    ("--title", "TEXT", "One line that names it."),
    ("--namespace", "PATH", "Such as projects/site; `global` if not given."),
    ("--certainty", "1-5", "How sure it is, 5 for certain."),
    ("--confidence", "0-1", "How far the source is trusted."),
    ("--expires", "WHEN", "A date, a time or a span such as 7d; `never` clears it."),
    ("--validity", "TEXT", "When it applies, in words."),
    ("--valid-from", "WHEN", "When it began to hold; `never` clears it."),
    ("--valid-to", "WHEN", "When it ceases to hold; `never` clears it."),
    ("--agent", "NAME", "The agent that it came from."),
    ("--session", "ID", "The agent's session."),
    ("--transcript", "PATH", "The transcript that it was learned from."),
    ("--span", "PLACE", "The place in the transcript."),
    ("--url", "URL", "The page that it came from."),
    ("--extra", "JSON", "An object of fields that memento keeps for other programs."),
]


def memory_options(*, editing: bool) -> Callable[[CommandFunction], CommandFunction]:
    """Return a decorator that adds an option for each field; ``editing`` adds those that only a change needs."""
    options = [click.option("--tag", "tags", multiple=True, metavar="TAG", help="Repeat it, or join with commas.")]
    if editing:
        options += [
            click.option("--untag", "untags", multiple=True, metavar="TAG", help="A tag to take off."),
            click.option("--content", metavar="TEXT", help="The text itself; `-` reads standard input."),
        ]
    options += [click.option(name, metavar=metavar, help=text) for name, metavar, text in _TEXT_OPTIONS]
    options += [
        click.option(name, type=click.Choice(known), metavar="WORD", help=f"{text} One of {', '.join(known)}.")
        for name, known, text in _CHOICE_OPTIONS
    ]
    options.append(click.option("--pin/--no-pin", default=None, help="Offer it to the agent in every session."))

    def add(function: CommandFunction) -> CommandFunction:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def paging(function: CommandFunction) -> CommandFunction:
    """Add the options of a command that prints a list page by page."""
    after = click.option("--after", metavar="CURSOR", help="The `next` of the page before.")
    limit = click.option("--limit", type=click.IntRange(1, 10_000), metavar="NUMBER", default=50, show_default=True)
    return limit(after(function))


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
        unwanted = {tag.casefold() for tag in split_words(options["untags"])}
        tags = dict.fromkeys([*present.tags, *split_words(options["tags"])])
        changes["tags"] = [tag for tag in tags if tag.casefold() not in unwanted]
    source = {part: options[part] for part in _SOURCE_OPTIONS if options[part] is not None}
    if source:
        changes["source"] = {part: getattr(present.source, part) for part in _SOURCE_OPTIONS} | source
    return changes


def _given_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: options[name] for name in (*_PLAIN_OPTIONS, "pin", "validity") if options[name] is not None}
    for name in _MOMENT_OPTIONS:
        if options[name] is not None:
            fields[name] = None if options[name].strip().lower() == "never" else options[name]
    if options["extra"] is not None:
        fields["extra"] = _parse_json_object(options["extra"])
    return {_FIELD_OF_OPTION.get(name, name): value for name, value in fields.items()}


def _parse_json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidField("extra", f"is not JSON ({error})", """For instance: --extra '{"ticket": 12}'""") from None
    if not isinstance(value, dict):
        raise InvalidField("extra", "must be a JSON object", """For instance: --extra '{"ticket": 12}'""")
    return value
