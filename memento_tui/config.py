"""Read ``config.toml``: every setting, its type and its default; and change single values of it.

What a person wrote stays: comments, order and blank lines. Only the plain form is changed, ``name = value`` on one line
below its ``[section]``. Whoever writes the result compares what it says with what was meant: a file in another form is
then refused, and never spoilt.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from memento_tui.defaults import (
    HOOK_CHECKS_PROVENANCE,
    HOOK_LEARNS,
    HOOK_PROMPT_TOKENS,
    HOOK_REMINDS,
    HOOK_START_TOKENS,
    RELEVANCE_FLOOR,
    REVIEW_BURST,
)
from memento_tui.errors import DataDirectoryError, InvalidInput
from memento_tui.regular_files import read_regular

__all__ = [
    "Config",
    "DecayPreset",
    "HistoryConfig",
    "HooksConfig",
    "LanguageModelConfig",
    "MaintenanceConfig",
    "ReviewConfig",
    "config_of",
    "line_of",
    "line_of_section",
    "load_config",
    "read_config_text",
    "toml_value",
    "with_value",
    "without_value",
]


_MOST_IDLE_SECONDS = 30 * 86_400
"""Seconds: a month. Nobody lets an engine wait for longer, and the timers of a system end at some years."""

_MOST_TIMEOUT_SECONDS = 3_600
"""Seconds for one answer of a language model; what takes longer has hung."""

_MOST_COUNT = 1_000_000
"""Writes in an hour, or tokens at once, beyond which a number is a slip."""

DecayPreset = Literal["balanced", "protocol", "vault", "bank"]
"""A formula by which memories lose weight; `memento_tui.search.decay` computes them."""


class ReviewConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The gate: which writes wait for a person."""

    preset: Literal["open", "guarded", "strict"] = "guarded"
    """The set of rules: ``open`` lets most writes in, ``strict`` asks about nearly all."""
    rules: dict[str, str] = {}
    """Rules that differ from the preset, such as ``new_memory = "propose"``; `memento policy` lists them."""
    burst: Annotated[int, msgspec.Meta(ge=0, le=_MOST_COUNT)] = REVIEW_BURST
    """Writes of one agent's session in an hour after which further ones wait; 0 for no limit."""
    branches: bool = False
    """Whether an agent's memories of a Git branch are kept and shown there, and offered in Review once it is merged."""
    notify: bool = False
    """Whether the desktop shows a notice when something risky begins to wait: orders, a secret, a burst."""


class EngineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The background process that embeds and answers semantic queries."""

    enabled: bool = True
    """Whether there is a search by meaning at all; without it a search is by words."""
    model: str = ""
    """A folder that holds a sentence-transformers model; empty for the one that is installed with memento."""
    query_prefix: str = ""
    """The words put before a query to embed it, such as ``query: ``; empty for those that its folder names, if any."""
    document_prefix: str = ""
    """The words put before a memory that is embedded, such as ``passage: ``; empty as above."""
    shared_vectors: Annotated[str, msgspec.Meta(pattern=r"^(s3://[a-z0-9][a-z0-9.-]+(/[^\s@?]*)?)?$")] = ""
    """An ``s3://`` address where the machines of a hub keep vectors in common; empty for each to embed everything.

    Not used until you agreed: `memento settings agree`.
    """
    idle_seconds: Annotated[float, msgspec.Meta(gt=0, le=_MOST_IDLE_SECONDS)] = 900
    """Seconds without a request after which the engine ends."""
    entailment_model: str = ""
    """A folder that holds a cross-encoder for natural language inference; contradictions are then
    looked for in every run of maintenance, and weighed by it."""


class MaintenanceConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How memories age, and when they are maintained."""

    decay: DecayPreset = "balanced"
    """The formula by which age and use move a result: memento's own, or that of one of the four systems."""
    run_when_idle: bool = True
    """Whether maintenance runs by itself: after a session, and once a day by whoever is there."""
    backups: bool = True
    """Whether backups are made by themselves: once a day where something changed, and before a large import."""


class HistoryConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many old versions are kept. `memento compact` removes the texts of older ones, after a backup."""

    versions: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    """The newest versions of each record whose texts are kept, besides the first; 0 for all."""
    days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] = 30
    """The days for which every version is kept, however many there are."""


class LanguageModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An endpoint with the OpenAI chat protocol that may write drafts; none is used where ``url`` is empty.

    `memento_tui.agreements` lets it be used once the person agreed to the address with the variable.
    """

    url: str = ""
    """The base address, such as ``http://127.0.0.1:11434/v1``; not used until you agreed: `memento settings agree`."""
    model: str = ""
    """The name of the model, as the endpoint knows it."""
    key_variable: str = ""
    """The environment variable that holds the key, where one is needed; sent to ``url`` once you agreed to both."""
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=_MOST_TIMEOUT_SECONDS)] = 60
    """How long an answer is waited for."""


class HooksConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of the context that hooks give an agent, and the checks that they start.

    `memento_tui.hooks.settings` reads the same without this module.
    """

    prompt_tokens: Annotated[int, msgspec.Meta(ge=0, le=_MOST_COUNT)] = HOOK_PROMPT_TOKENS
    """Tokens shown at most for one prompt or file read; 0 for none."""
    start_tokens: Annotated[int, msgspec.Meta(ge=0, le=_MOST_COUNT)] = HOOK_START_TOKENS
    """Tokens shown at most at the start of a session."""
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = RELEVANCE_FLOOR
    """The relevance, 0 to 1, below which a memory is not shown to an agent; `memento exposures` has it."""
    learn: bool = HOOK_LEARNS
    """Whether transcripts are distilled, which proposes memories, skips and working items."""
    provenance: bool = HOOK_CHECKS_PROVENANCE
    """Whether a session's memories are compared with its tools' outputs; those copied from outside wait."""
    remind: bool = HOOK_REMINDS
    """Whether the person is told, once, of a session that changed files ten times and remembered nothing."""


class AppConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the terminal app looks."""

    theme: str = ""
    """The name of a theme; empty for the one that was chosen last in the app."""
    keymap: Literal["vim", "emacs", "lazygit"] = "vim"
    """The keys to begin with: ``vim`` are the built-in ones; ``[keys]`` changes single ones of any."""
    counts: bool = False
    """Whether digits in a list are counts, as in vim (``5j``, ``12G``); ``3]`` and ``3[`` go to section 3 then."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``config.toml``."""

    review: ReviewConfig = ReviewConfig()
    engine: EngineConfig = EngineConfig()
    maintenance: MaintenanceConfig = MaintenanceConfig()
    history: HistoryConfig = HistoryConfig()
    language_model: LanguageModelConfig = LanguageModelConfig()
    hooks: HooksConfig = HooksConfig()
    app: AppConfig = AppConfig()
    keys: dict[str, str] = {}
    """Keys of the app that differ from the built-in ones, by command: ``"review.approve" = "Y"``."""
    sections: Any = {}
    """Searches as sections of the app, each in a table ``[sections.NAME]`` with ``query``, ``title`` and ``key``."""
    commands: Any = {}
    """Programs run on a row, each in a table ``[commands.NAME]`` with ``run``, ``key``, ``help`` and ``terminal``.

    ``run`` is a line for the shell: ``"$@"`` are the ids of the chosen rows, and ``$MEMENTO_ID``, ``$MEMENTO_TITLE``
    and ``$MEMENTO_TEXT`` are of the row under the cursor.
    """


MAX_CONFIG_BYTES = 65_536
"""Bytes of a ``config.toml`` at most: every setting with its meaning beside it takes a tenth of that."""


def load_config(path: Path) -> Config:
    """Read ``config.toml``; a missing file is an empty one.

    Raises:
        InvalidInput: it is not TOML, too long, or holds a setting or value that does not exist.
        DataDirectoryError: it cannot be read.

    """
    return _config_of(read_config_text(path), path)


def read_config_text(path: Path) -> str:
    """Return the text of ``config.toml``, empty where there is none. Raises like `load_config`.

    A byte order mark, which some editors of Windows begin a file with, is no part of it.
    """
    try:
        content = read_regular(path)
        if len(content) > MAX_CONFIG_BYTES:
            raise InvalidInput(
                f"{path} has {len(content):,} bytes; the limit is {MAX_CONFIG_BYTES:,}.",
                "Take out what is no setting of yours.",
            )
        return content.decode("utf-8-sig")  # its line ends stay as they are where it is changed
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise DataDirectoryError(
            f"{path} cannot be read: {error.strerror}.", "Check that you may read the data directory."
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}.", "Save it as UTF-8.") from error


def _config_of(text: str, path: Path) -> Config:
    try:
        return config_of(tomllib.loads(text), path)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: it is not TOML: {error}.", "Mend the line that it names.") from error


def config_of(settings: dict[str, Any], path: Path) -> Config:
    """Return the settings of a file that was read. Raises `InvalidInput` for a setting or value that does not exist."""
    try:
        return msgspec.convert(_with_present_names(settings), Config)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"{path}: {_explain_problem(str(error))}.", "Mend the line; REFERENCE.md lists the settings."
        ) from error


def _with_present_names(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with ``[upkeep]`` and ``sleep_when_idle``, their former names, replaced by the present ones."""
    if "maintenance" not in settings and isinstance(former := settings.get("upkeep"), dict):
        settings = {name: section for name, section in settings.items() if name != "upkeep"}
        names = {"sleep_when_idle": "run_when_idle"}
        settings["maintenance"] = {names.get(name, name): value for name, value in former.items()}
    return settings


_CHOICES_IN_WORDS = {
    "review.preset": "open, guarded or strict",
    "maintenance.decay": "balanced, protocol, vault or bank",
    "app.keymap": "vim, emacs or lazygit",
}

_LIMITS_IN_WORDS = {"<=": "at most", ">=": "at least", "<": "below", ">": "above"}

_TYPES_IN_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text in quotation marks",
    "bool": "true or false",
    "object": "a section",
    "array": "a list",
}


def _explain_problem(problem: str) -> str:
    """Return the fault of a setting as a sentence for a person."""
    said, _, place = problem.partition(" - at `$.")
    setting = place.rstrip("`")
    if unknown := re.search(r"unknown field `(.*)`", said):
        return f"there is no setting {'.'.join(filter(None, [setting, unknown[1]]))}"
    if value := re.search(r"Invalid enum value (.*)", said):
        return f"{setting} cannot be {value[1]}; it is {_CHOICES_IN_WORDS.get(setting, 'something else')}"
    if types := re.search(r"Expected `(\w+)[^`]*`, got `(\w+)", said):
        expected, got = (_TYPES_IN_WORDS.get(name, name) for name in types.groups())
        return f"{setting} must be {expected}, not {got}"
    if limit := re.search(r"Expected `\w+` (<=|>=|<|>) (\S+)", said):
        return f"{setting} must be {_LIMITS_IN_WORDS[limit[1]]} {float(limit[2]):,.10g}"
    return f"{setting or 'a setting'} is wrong: {said[:1].lower()}{said[1:]}"


_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_STRING = r'"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'"
_VALUE = re.compile(rf"(\s*[^=#]+?\s*=\s*)({_STRING}|[^\s#\"'\[{{]+)([^\S\r\n]*(?:#[^\r\n]*)?)(?=\r?$)")


def toml_value(value: bool | float | str) -> str:  # noqa: FBT001 - a value of any type
    """Return a value as TOML has it."""
    return json.dumps(value, ensure_ascii=False)


def line_of(text: str, section: str, key: str) -> int | None:
    """Return the number of the line, from 1, on which a value is set; ``None`` where it is not in the plain form."""
    place = _place(_lines(text), section, key)
    return None if place is None else place + 1


def line_of_section(text: str, section: str) -> int | None:
    """Return the number of the line, from 1, with the header of a section; ``None`` where there is none."""
    headers = ((number, _HEADER.match(line)) for number, line in enumerate(_lines(text), 1))
    return next((number for number, header in headers if header and header[1] == section), None)


def with_value(text: str, section: str, key: str, value: str) -> str:
    """Return the text with a value set: in its place, else at the end of its section, else in a new section.

    ``value`` is as TOML has it. A value over several lines, or in an inline table, is left as it is. Each line keeps
    its end, and a new one ends as the first does.
    """
    lines, end = _lines(text), _line_end(text)
    place = _place(lines, section, key)
    if place is not None:
        found = _VALUE.match(lines[place])
        if found is not None:
            lines[place] = f"{found[1]}{value}{found[3]}{lines[place][found.end() :]}"
        return "".join(lines)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    line = f"{key} = {value}{end}"
    last = _section_end(lines, section)
    if last is not None:
        return "".join([*lines[:last], line, *lines[last:]])
    return "".join([*lines, *([end] if lines and lines[-1].strip() else []), f"[{section}]{end}", line])


def without_value(text: str, section: str, key: str) -> str:
    """Return the text without the line that sets a value; its section and the comments there stay."""
    lines = _lines(text)
    place = _place(lines, section, key)
    return text if place is None else "".join([*lines[:place], *lines[place + 1 :]])


def _lines(text: str) -> list[str]:
    """Return the lines with their ends, split only where TOML ends a line, so not at U+2028."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [line for line in text.split("\n")[-1:] if line]


def _line_end(text: str) -> str:
    return "\r\n" if text.partition("\n")[0].endswith("\r") and "\n" in text else "\n"


def _place(lines: Sequence[str], section: str, key: str) -> int | None:
    inside = False
    for index, line in enumerate(lines):
        if header := _HEADER.match(line):
            inside = header[1] == section
        elif inside and (found := re.match(r"\s*([^=#\s]+)\s*=", line)) and found[1].strip("\"'") == key:
            return index
    return None


def _section_end(lines: Sequence[str], section: str) -> int | None:
    """Return the place behind the last line that says something in a section; ``None`` where there is none.

    Comments right above a header are of the section that begins there.
    """
    headers = [index for index, line in enumerate(lines) if _HEADER.match(line)]
    start = max((index for index in headers if _named(lines[index], section)), default=None)
    if start is None:
        return None
    end = next((index for index in headers if index > start), len(lines))
    while end < len(lines) and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _named(line: str, section: str) -> bool:
    header = _HEADER.match(line)
    return header is not None and header[1] == section
