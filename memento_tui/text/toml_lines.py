"""Change single values of a TOML file as a person wrote it: comments, order and blank lines stay.

Only the plain form is changed, ``name = value`` on one line below its ``[section]``. Whoever writes the result compares
what it says with what was meant: a file in another form is then refused, and never spoilt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

__all__ = ["line_of", "line_of_section", "toml_value", "with_value", "without_value"]

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
    """Return the text without the line that sets a value; its section stays, with what stands there in comments."""
    lines = _lines(text)
    place = _place(lines, section, key)
    return text if place is None else "".join([*lines[:place], *lines[place + 1 :]])


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; what TOML does not end a line by, such as U+2028, ends none."""
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
