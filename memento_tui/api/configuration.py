"""List every setting of ``config.toml`` with its meaning, value and line, and change one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import msgspec

from memento_tui import config
from memento_tui.agreements import Destination, agree_by_typing, destinations, refusals
from memento_tui.api.hub_session import membership_of
from memento_tui.config import (
    MAX_CONFIG_BYTES,
    Config,
    config_of,
    line_of,
    line_of_section,
    load_config,
    read_config_text,
    toml_value,
    with_value,
    without_value,
)
from memento_tui.errors import DataDirectoryError, InvalidInput, NotFound, ReadOnlyMode
from memento_tui.paths import DataPaths
from memento_tui.policy.policy import POLICY_RULES, preset_rules, rules_in_force
from memento_tui.policy.secrets import redact_text
from memento_tui.private_files import PRIVATE_FILE_MODE, make_private_directory, replace_file
from memento_tui.text.near_names import nearest_name

__all__ = [
    "Setting",
    "SettingState",
    "SettingsFile",
    "all_settings",
    "explained_attributes",
    "workspace_destinations",
]

if TYPE_CHECKING:
    from types import ModuleType

    from memento_tui.api.workspace import Workspace

_RULES = "review.rules"
_KINDS_IN_WORDS = {"bool": "true or false", "int": "a whole number", "float": "a number"}
_TRUE, _FALSE = ("true", "yes", "on"), ("false", "no", "off")
_OWN_TABLES = {
    "keys": "A key of yours for a command; `memento keys` lists the names of the commands.",
    "sections": "A section of yours: its key, and the search that it shows.",
    "commands": "A command of yours: its key, and the program that it runs on a row.",
}
"""The tables whose entries a person names freely, each with a description of an entry."""

_FORMER_NAMES = {("maintenance", "run_when_idle"): "sleep_when_idle"}


class Setting(msgspec.Struct, frozen=True):
    """One setting: its place in the file, its type and its meaning."""

    section: str
    key: str
    kind: str
    """``bool``, ``int``, ``float``, ``choice`` or ``text``; ``entry`` where it can only be changed in an editor."""
    choices: tuple[str, ...]
    default: Any
    """``None`` for a rule, whose default is the preset's."""
    meaning: str
    limits: str = ""
    """The limits of a number in words, such as ``above 0, at most 3,600``."""

    @property
    def name(self) -> str:
        """The section and the key, with a point between."""
        return f"{self.section}.{self.key}"

    @property
    def id(self) -> str:
        """The name."""
        return self.name

    @property
    def takes(self) -> str:
        """The type in words."""
        if self.kind == "choice":
            return ", ".join(f"`{choice}`" for choice in self.choices)
        return " ".join(filter(None, [_KINDS_IN_WORDS.get(self.kind, "text"), self.limits]))


class SettingState(msgspec.Struct, frozen=True):
    """The present value of a setting, and where it comes from."""

    setting: Setting
    value: str
    """As the file has it, without quotation marks; a secret in it is taken out."""
    source: str
    """``default``, ``preset guarded``, or the line of the file."""
    hides_secret: bool = False
    """Whether a secret was taken out of the value, which therefore must not be written back."""

    @property
    def id(self) -> str:
        """The setting's name."""
        return self.setting.name


@cache
def all_settings() -> Sequence[Setting]:
    """Return every setting, in the order of the file's sections."""
    return tuple(_settings())


def _settings() -> Iterator[Setting]:
    explained = explained_attributes(config)
    for section in msgspec.structs.fields(Config):
        kind = section.type
        if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
            continue
        for field in msgspec.structs.fields(kind):
            meaning = explained.get(f"{kind.__name__}.{field.name}", "")
            if field.name == "rules":
                for name, rule in POLICY_RULES.items():
                    about = f"What becomes of {rule.about}; without it the preset decides."
                    yield Setting(_RULES, name, "choice", tuple(rule.choices), None, about)
            else:
                word, choices = _kind_of(field.type)
                limits = _limits_of(field.type) if word in ("int", "float") else ""
                yield Setting(section.name, field.name, word, choices, field.default, meaning, limits)


def _kind_of(annotation: object) -> tuple[str, tuple[str, ...]]:
    if get_origin(annotation) is Literal:
        return "choice", get_args(annotation)
    match msgspec.inspect.type_info(annotation):
        case msgspec.inspect.BoolType():
            return "bool", ()
        case msgspec.inspect.IntType():
            return "int", ()
        case msgspec.inspect.FloatType():
            return "float", ()
        case _:
            return "text", ()


def _limits_of(annotation: object) -> str:
    found = msgspec.inspect.type_info(annotation)
    limits = {"above": "gt", "from": "ge", "below": "lt", "to": "le"}
    words = " ".join(f"{word} {limit:,}" for word, of in limits.items() if (limit := getattr(found, of)) is not None)
    return words.replace("above 0 to", "above 0, at most")


def explained_attributes(module: ModuleType) -> dict[str, str]:
    """Return the text under each attribute of the classes of a module, by ``Class.attribute``."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for first, second in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(first, ast.AnnAssign)
                    and isinstance(first.target, ast.Name)
                    and isinstance(second, ast.Expr)
                    and isinstance(second.value, ast.Constant)
                ):
                    text = str(second.value.value).replace("``", "`")
                    found[f"{node.name}.{first.target.id}"] = " ".join(text.split())
    return found


def workspace_destinations(workspace: Workspace) -> Sequence[Destination]:
    """Return every place that a workspace would send something to, its hub among them."""
    membership = membership_of(workspace.settings)
    return destinations(workspace.config, "" if membership is None else membership.url)


class SettingsFile:
    """The ``config.toml`` of one data directory, to be read and changed line by line.

    Every change keeps what else stands in the file, comments too, and is refused where the file would then say
    anything but what was meant. With ``typed_by_person`` an address that is set is one that the person agreed to.
    """

    def __init__(self, paths: DataPaths, *, read_only: bool = False, typed_by_person: bool = False) -> None:
        self.path = paths.config
        self._typed_by_person = typed_by_person
        self._read_only = read_only
        self._changes: list[tuple[bytes, bytes]] = []
        """The texts of the file before and after each change that was made here."""

    def states(self) -> list[SettingState]:
        """Return every setting as it is now. Raises `InvalidInput` or `DataDirectoryError` like `load_config`."""
        text, present = read_config_text(self.path), load_config(self.path)
        return [_state(setting, text, present) for setting in all_settings()]

    def check_opens(self) -> None:
        """Raise `InvalidInput` or `DataDirectoryError` where a workspace cannot be opened with the file as it is."""
        rules_in_force(load_config(self.path).review)

    def content(self) -> bytes:
        """Return the file's text, valid or not; empty where there is no file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def entries(self) -> list[SettingState]:
        """Return the entries that the person named: keys, sections and commands. Raises as `states`."""
        text = read_config_text(self.path)
        return [_entry(text, table, name, held) for table in _OWN_TABLES for name, held in _own(_raw(text), table)]

    def state(self, name: str) -> SettingState:
        """Return one setting as it is now. Raises `NotFound`, and as `states`."""
        setting = _find(name)
        return _state(setting, read_config_text(self.path), load_config(self.path))

    def withheld(self, name: str) -> list[str]:
        """Return why nothing is sent to the place that the setting ``name`` is of, in words; empty where it may be."""
        refused = refusals(destinations(load_config(self.path)))
        return [str(error) for one, error in refused.items() if name.startswith(one.setting)]

    def check(self, name: str, typed: str) -> None:
        """Raise `InvalidInput` where a setting cannot have a value that a person typed, `NotFound` where it is none."""
        self._changed(_find(name), typed)

    def set(self, name: str, typed: str) -> SettingState:
        """Set a value that a person typed, and return the setting's new state.

        Raises:
            NotFound: there is no such setting.
            InvalidInput: it cannot have that value, or the file has a form that is not changed.
            DataDirectoryError: the file cannot be written, or what the person agreed to.

        """
        text = self._changed(_find(name), typed)
        before = load_config(self.path)
        self._write(text)
        if self._typed_by_person:
            agree_by_typing(name, before, load_config(self.path))
        return self.state(name)

    def reset(self, name: str) -> SettingState:
        """Take a setting's line out of the file, so that its default holds. Raises like `set`."""
        setting = _find(name)
        before = read_config_text(self.path)
        section, key = _present_place(before, setting)
        after = without_value(before, section, key)
        rules_in_force(_check_says(after, self.path, _without(_raw(before), section, key)).review)
        self._write(after)
        return self.state(name)

    def note_edit(self, before: bytes) -> bool:
        """Record the edit of the file in the person's editor as one change; return whether the file changed.

        ``before`` is what the file held until then.
        """
        after = self.content()
        if after != before:
            self._changes.append((before, after))
        return after != before

    def undo(self) -> bool:
        """Put the file back as it was before the last change made here; tell whether there was one.

        Raises:
            InvalidInput: the file was changed by somebody else since.

        """
        if not self._changes:
            return False
        before, after = self._changes[-1]
        if self.content() != after:
            self._changes.clear()
            raise InvalidInput(f"{self.path} was changed by another program since.", "Change it there.")
        self._replace(before)
        del self._changes[-1]
        return True

    def _changed(self, setting: Setting, typed: str) -> str:
        """Return the text of the file after a change that was found possible."""
        value = _value_of(setting, typed)
        before = read_config_text(self.path)
        section, key = _present_place(before, setting)
        after = with_value(before, section, key, toml_value(value))
        rules_in_force(_check_says(after, self.path, _with(_raw(before), section, key, value)).review)
        if len(after.encode()) > MAX_CONFIG_BYTES:
            raise InvalidInput(f"{self.path} would have more than {MAX_CONFIG_BYTES:,} bytes.", "Take something out.")
        return after

    def _write(self, text: str) -> None:
        before, after = self.content(), text.encode()
        self._replace(after)
        self._changes.append((before, after))

    def _replace(self, content: bytes) -> None:
        if self._read_only:
            raise ReadOnlyMode
        target = self.path.resolve()  # it may be a link into a folder of settings
        try:
            make_private_directory(self.path.parent)
            mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE_FILE_MODE
            replace_file(target, content, mode=mode, synced=True)
        except OSError as error:
            raise DataDirectoryError(
                f"{self.path} cannot be written: {error.strerror}.", "Check the directory and its disk."
            ) from error


def _find(name: str) -> Setting:
    found = next((setting for setting in all_settings() if setting.name == name), None)
    if found is None:
        near = _near_setting(name.lower())
        hint = f"Did you mean {near}?" if near else "`memento settings` lists them."
        raise NotFound(f"There is no setting {name!r:.80}.", hint)
    return found


def _near_setting(name: str) -> str:
    """Return the setting that a name with a slip, or one without its section, stands for; empty where there is none."""
    full = {setting.name: setting.name for setting in all_settings()}
    by_key = {setting.key: setting.name for setting in all_settings()}
    return full.get(nearest_name(name, full), "") or by_key.get(nearest_name(name, by_key), "")


def _raw(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text. Raises `InvalidInput` where it is not TOML."""
    import tomllib  # noqa: PLC0415 - seldom needed

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"config.toml is not TOML: {error}.", "Mend the line that it names.") from error


def _present_place(text: str, setting: Setting) -> tuple[str, str]:
    """Return the section and key by which a file names a setting; an older file may use former names."""
    if setting.section == "maintenance" and "maintenance" not in (raw := _raw(text)) and "upkeep" in raw:
        return "upkeep", _FORMER_NAMES.get((setting.section, setting.key), setting.key)
    return setting.section, setting.key


def _value_of(setting: Setting, typed: str) -> bool | float | str:
    """Convert a typed text to the setting's type. Raises `InvalidInput`."""
    word = typed.strip()
    if setting.kind == "bool":
        if word.lower() not in (*_TRUE, *_FALSE):
            raise InvalidInput(f"{setting.name} must be true or false, not {word!r:.40}.")
        return word.lower() in _TRUE
    if setting.kind == "choice" and word not in setting.choices:
        raise InvalidInput(f"{setting.name} cannot be {word!r:.40}; it is {', '.join(setting.choices)}.")
    if setting.kind in ("int", "float"):
        try:
            return int(word) if setting.kind == "int" else _number(word)
        except ValueError:
            raise InvalidInput(f"{setting.name} must be {_KINDS_IN_WORDS[setting.kind]}, not {word!r:.40}.") from None
    if not typed.isprintable():
        raise InvalidInput(f"{setting.name} must be one line of text.")
    return typed if setting.kind == "text" else word


def _number(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise ValueError(word)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number  # noqa: PLR2004 - exact as a float


def _own(raw: dict[str, Any], table: str) -> Iterator[tuple[str, object]]:
    held = raw.get(table, {})
    if isinstance(held, dict):  # what is none is said where these are used
        yield from held.items()


def _entry(text: str, table: str, name: str, held: object) -> SettingState:
    """Return one entry of the person's own as a line of the settings."""
    if isinstance(held, dict):
        line = line_of_section(text, f"{table}.{name}")
        words = "   ".join(str(held[key]) for key in ("key", "query", "run") if key in held)
    else:
        line, words = line_of(text, table, name), str(held)
    setting = Setting(table, name, "entry", (), None, _OWN_TABLES[table])
    source = f"config.toml, line {line}" if line else "config.toml"
    shown = redact_text(words)[0]
    return SettingState(setting, shown, source, hides_secret=shown != words)


def _table(raw: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a table of a file, empty where it has none. Raises `InvalidInput` where the name stands for another."""
    inner = raw.get(name, {})
    if not isinstance(inner, dict):
        raise InvalidInput(f"{name} is no table in config.toml.", f"Write [{name}] above its settings.")
    return inner


def _with(raw: dict[str, Any], section: str, key: str, value: object) -> dict[str, Any]:
    first, _, rest = section.partition(".")
    inner = _table(raw, first)
    changed = _with(inner, rest, key, value) if rest else {**inner, key: value}
    return {**raw, first: changed}


def _without(raw: dict[str, Any], section: str, key: str) -> dict[str, Any]:
    first, _, rest = section.partition(".")
    inner = _table(raw, first)
    changed = _without(inner, rest, key) if rest else {name: value for name, value in inner.items() if name != key}
    return {**raw, first: changed} if first in raw else raw


def _check_says(text: str, path: Path, meant: dict[str, Any]) -> Config:
    """Check that an edited text has exactly the intended value, and return its settings. Raises `InvalidInput`."""
    present = config_of(meant, path)  # a wrong value is said before a form that is not changed
    try:
        says = _raw(text)
    except InvalidInput:
        says = {}
    if says != meant:
        raise InvalidInput(
            f"{path} is written in a form that memento does not change.", "Change the line in your editor."
        )
    return present


def _state(setting: Setting, text: str, present: Config) -> SettingState:
    section, key = _present_place(text, setting)
    line = line_of(text, section, key)
    value: object
    if setting.section == _RULES:
        rules = present.review.rules
        value = rules.get(setting.key, preset_rules(present.review.preset).settings[setting.key])
        is_set, otherwise = setting.key in rules, f"preset {present.review.preset}"
    else:
        value = getattr(getattr(present, setting.section), setting.key)
        is_set, otherwise = key in _raw(text).get(section, {}), "default"
    source = otherwise if not is_set else f"config.toml, line {line}" if line else "config.toml"
    words = toml_value(value) if isinstance(value, bool) else str(value)
    shown = redact_text(words)[0]
    return SettingState(setting, shown, source, hides_secret=shown != words)
