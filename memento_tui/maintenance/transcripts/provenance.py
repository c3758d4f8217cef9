"""Find the sentences of memories that a session's tools returned from outside before the agent wrote them.

Texts are compared by triples of neighbouring words without stop words, so that white space, case, punctuation,
quotation marks, markup and a changed word do not hide that a sentence was taken over. Linear in the transcript.

The output of a tool comes from outside, from the project and this machine, or from memento. From outside is what
strangers can write: fetched pages, searches, other MCP servers, issues and pull requests, mail, registries of packages,
files that were downloaded, and files outside the project. A tool that is not known to stay on this machine counts as
one that does not.
"""

from __future__ import annotations

import html
import json
import os.path
import re
import shlex
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

import msgspec

from memento_tui.maintenance.transcripts.blocks import ToolCall
from memento_tui.maintenance.transcripts.reader import Turn
from memento_tui.text.fence import without_invisible
from memento_tui.text.sentences import sentences
from memento_tui.text.terms import STOP_WORDS
from memento_tui.text.words import UNSPACED_CHARACTERS

__all__ = ["OutsidePassage", "WrittenText", "outside_passages", "sentence_texts"]


_READING_TOOLS = frozenset(
    """
    read readfile read_file read_many_files view notebookread grep glob ls list_directory search_file_content
    glob_search grep_search list_dir view_image
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Tools that read files: where those lie decides."""

_LOCAL_TOOLS = frozenset(
    """
    edit multiedit write write_file create_file replace notebookedit apply_patch str_replace_editor
    todowrite todoread write_todos update_plan task agent taskoutput exitplanmode enterplanmode askuserquestion
    request_user_input skill slashcommand toolsearch tool_search killshell killbash lsp save_memory
    """.split()  # noqa: SIM905 - as above
)
"""Tools whose output echoes the agent, the person or the project."""

_BACKGROUND_TOOLS = frozenset(("bashoutput", "write_stdin"))
"""Tools that return more of the output of a command that runs on."""

_EDITOR_SERVER = "mcp__ide__"
"""The connection of Claude Code to the person's editor."""

_MEMENTO_TOOLS = frozenset(
    """
    session_open context search get remember update forget relate capture distill session_close skip_check skip_add
    skip_list skip_remove item_list item_create item_update item_remove identity_read identity_write contradictions
    contradiction_suggest proposals status
    """.split()  # noqa: SIM905 - as above
)
"""The names of memento's own tools, which some hosts note without the name of their server."""

_FENCE = "--- memento "

_WEB_ADDRESS = re.compile(
    r"\b(?:https?|ftp)://(?!(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/]|\b))[^\s'\"<>)]+"
)

_FETCHING_PROGRAMS = frozenset(
    """
    curl wget http https xh httpie aria2c lynx w3m links elinks glab hub jira linear tea
    mail mutt neomutt himalaya notmuch aerc mbsync offlineimap
    """.split()  # noqa: SIM905 - as above
)
"""Programs that return what others wrote on the network."""

_OUTSIDE_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "gh": frozenset("issue pr api search release gist repo discussion".split()),  # noqa: SIM905 - as above
    "npm": frozenset(("view", "info", "show", "search")),
    "yarn": frozenset(("info",)),
    "pnpm": frozenset(("view", "info")),
    "pip": frozenset(("index", "search")),
    "cargo": frozenset(("search", "info")),
    "gem": frozenset(("search", "info")),
    "brew": frozenset(("search", "info")),
}
"""Subcommands of programs that return what strangers published; the other ones work on the project."""

_READING_PROGRAMS = frozenset(
    "cat head tail less more bat sed awk grep rg jq yq pdftotext pandoc strings textutil unzip".split()  # noqa: SIM905 - as above
)
_OPERATORS = frozenset((";", "&&", "||", "|", "&", "(", ")", "\n", "|&", "{", "}"))
_WRITING_WORDS = frozenset((">", ">>", ">|", "&>", "tee"))
_PREFIXES = frozenset(("sudo", "env", "time", "nice", "command", "exec", "xargs", "timeout", "nohup", "uv", "run"))

_SYSTEM_FOLDERS = ("/etc/", "/usr/", "/opt/", "/proc/", "/sys/", "/dev/", "/var/log/", "/bin/", "/lib/", "/Library/")
"""Folders that an administrator fills."""

_DEPENDENCY_FOLDERS = frozenset(
    ("node_modules", "site-packages", "vendor", "third_party", ".venv", "venv", "bower_components")
)
"""Folders inside a project with the texts of strangers."""

_HOST_FOLDERS = (".claude", ".codex", ".gemini", ".cursor", ".config")
_INSTRUCTION_SUFFIX = ".md"
"""The ending of the notes that the person and the agent keep in the folder of the host, such as ``CLAUDE.md``."""

_SAVED_TO = re.compile(r"\b(?:saved to|written to)[: ]+([^\s'\"<>]+)", re.IGNORECASE)
_HEAD = 1_000
"""Characters at the beginning of an output in which a host names the file that holds the rest."""

_MAX_NAMES = 5_000
"""Names of files that are kept of one session."""

_MAX_WHERE = 300
"""Characters of a call that evidence quotes."""


class _ToolOrigin(NamedTuple):
    """The origin of an output: its kind, and the address, query, command or path that was asked for."""

    place: Literal["outside", "local", "memento"]
    where: str


class _ToolOrigins:
    """The origins of the outputs of one session, told in order: a file that was downloaded is known as such later."""

    def __init__(self, project: str = "") -> None:
        self._project = _normal(project)
        self._downloaded: dict[str, None] = {}
        self._made: dict[str, None] = {}
        self._fetches_in_background = False

    def of(self, call: ToolCall | None, output: str, cwd: str = "") -> _ToolOrigin:
        """Return the origin of the output of a call; ``cwd`` is the folder that the session works in by then."""
        if call is None:
            return _ToolOrigin("outside", "")
        given = _arguments(call.given)
        where = " ".join(_where(call, given).split())[:_MAX_WHERE]
        place = self._place(call, given, output, _normal(cwd))
        if place != "memento" and (saved := _SAVED_TO.search(output[:_HEAD])):
            self._keep(self._downloaded if place == "outside" else self._made, [saved[1]])
        return _ToolOrigin(place, where)

    def _place(
        self, call: ToolCall, given: Mapping[str, Any], output: str, cwd: str
    ) -> Literal["outside", "local", "memento"]:
        tool = call.tool.lower()
        if "memento" in tool or (tool in _MEMENTO_TOOLS and _FENCE in output):
            return "memento"
        command = call.command or _string(given, "command", "cmd")
        if command and (call.command or tool not in _LOCAL_TOOLS):
            return self._shell(command, given, cwd)
        if tool in _READING_TOOLS:
            is_outside = any(self._is_outside(path, cwd) for path in _paths(given))
        elif tool in _BACKGROUND_TOOLS:
            is_outside = self._fetches_in_background
        else:
            is_outside = not (tool in _LOCAL_TOOLS or tool.startswith(_EDITOR_SERVER))
        if tool in _LOCAL_TOOLS:
            self._keep(self._made, _paths(given))
        return "outside" if is_outside else "local"

    def _shell(self, command: str, given: Mapping[str, Any], cwd: str) -> Literal["outside", "local", "memento"]:
        words = _shell_words(command)
        calls = list(_simple_commands(words))
        if any(PurePosixPath(part[0]).name in ("memento", "memento-hook") for part in calls):
            return "memento"
        fetches = _WEB_ADDRESS.search(command) is not None or any(map(_is_fetching, calls))
        self._fetches_in_background |= fetches and bool(given.get("run_in_background"))
        names = [word for word in words if _is_file_name(word)]
        if not fetches:
            self._keep(self._made, (word for before, word in pairwise(words) if before in _WRITING_WORDS))
        reads = any(
            self._is_outside(word, cwd)
            for part in calls
            if PurePosixPath(part[0]).name in _READING_PROGRAMS
            for word in part[1:]
            if _is_file_name(word)
        )
        self._keep(self._downloaded if fetches else self._made, names)
        if fetches:
            self._keep(self._downloaded, (address.rstrip("/") for address in _WEB_ADDRESS.findall(command)))
        return "outside" if fetches or reads else "local"

    def _is_outside(self, path: str, cwd: str) -> bool:
        if self._is_among(self._downloaded, path):
            return True
        if self._is_among(self._made, path):
            return False
        home, _, below = path.partition("/") if path.startswith("~") else ("", "", path)
        full = below if home else _normal(os.path.join(cwd or self._project or "/", path))  # noqa: PTH118 - no file is touched
        parts = PurePosixPath(full).parts
        if self._project and not home and (full == self._project or full.startswith(f"{self._project}/")):
            return any(part in _DEPENDENCY_FOLDERS for part in PurePosixPath(full[len(self._project) :]).parts)
        if not path.startswith(("/", "~", "..")):
            return any(part in _DEPENDENCY_FOLDERS for part in parts)
        if full.startswith(_SYSTEM_FOLDERS) and not any(part in _DEPENDENCY_FOLDERS for part in parts):
            return False
        return not (full.endswith(_INSTRUCTION_SUFFIX) and any(part in _HOST_FOLDERS for part in parts))

    @staticmethod
    def _is_among(names: Mapping[str, None], path: str) -> bool:
        """Tell whether a path, or a folder that it lies in, is one of the names, or ends like one."""
        if path in names:
            return True
        parts = PurePosixPath(path).parts
        folders = (str(PurePosixPath(*parts[:end])) for end in range(2, len(parts)))
        return any(folder in names for folder in folders) or any(
            str(PurePosixPath(*parts[start:])) in names for start in range(1, len(parts))
        )

    @staticmethod
    def _keep(kept: dict[str, None], names: Iterable[str]) -> None:
        for name in names:
            if len(kept) >= _MAX_NAMES:
                return
            plain = name.removeprefix("./")
            for known in (plain, plain.rpartition("/")[2]) if "://" in plain else (plain,):
                if known:
                    kept[known] = None


def _arguments(given: object) -> Mapping[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, dict) else {}


def _string(given: Mapping[str, Any], *names: str) -> str:
    found = (given.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")


def _where(call: ToolCall, given: Mapping[str, Any]) -> str:
    named = _string(given, "url", "uri", "query", "prompt", "q", "file_path", "absolute_path", "path", "command")
    if call.command or named:
        return call.command or named
    return json.dumps(given, ensure_ascii=False)[:_MAX_WHERE] if given else ""


def _paths(given: Mapping[str, Any]) -> list[str]:
    found = [
        given.get(name) for name in ("file_path", "absolute_path", "filePath", "path", "notebook_path", "dir_path")
    ]
    several = given.get("paths") or given.get("include")
    found += several if isinstance(several, list) else []
    return [path for path in found if isinstance(path, str) and path]


def _normal(path: str) -> str:
    return os.path.normpath(path) if path else ""


def _shell_words(command: str) -> list[str]:
    splitter = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    splitter.whitespace_split = True
    splitter.commenters = ""
    try:
        return list(splitter)
    except ValueError:  # a quotation mark that is left open, as in a heredoc
        return command.split()


def _simple_commands(words: Iterable[str]) -> Iterator[list[str]]:
    """Yield the simple commands of a command line, each a program and its arguments."""
    found: list[str] = []
    for word in [*words, ";"]:
        if word in _OPERATORS or set(word) <= set(";&|()"):
            if found:
                yield found
            found = []
        elif found or not (word in _PREFIXES or word.startswith("-") or re.fullmatch(r"\w+=.*", word, re.DOTALL)):
            found.append(word.lstrip("$`("))
    return


def _is_fetching(command: list[str]) -> bool:
    program = PurePosixPath(command[0]).name
    if program in _FETCHING_PROGRAMS:
        return True
    subcommand = next((word for word in command[1:] if not word.startswith("-")), "")
    return subcommand in _OUTSIDE_SUBCOMMANDS.get(program, ())


def _is_file_name(word: str) -> bool:
    return (
        not word.startswith("-")
        and "://" not in word
        and ("/" in word.strip("/") or "." in word.strip(".") or word.startswith(("/", "~")))
        and len(word) < _MAX_WHERE
        and "\0" not in word
        and not any(character.isspace() for character in word)
    )


_WORDS_A_SHINGLE = 3
"""Words, without stop words, in a row that are compared at once."""

_FEWEST_WORDS = 5
"""Words of a sentence, without stop words, below which it is too common to come from anywhere."""

_LEAST_SHARE = 0.6
"""The share of a sentence's shingles that must stand close together in an output.

With these limits 29 of 4,438 paragraphs of real notes (27 times the first line that a host writes into every
``CLAUDE.md``) are found in the documents of seven other projects, and none of 775 memories of agents.
"""

_WORDS_TO_DIFFER = 8
"""Words of a sentence below which all its shingles must: commands of a few words are everybody's."""

_FEWEST_IN_A_ROW = 8
"""Shingles in a row, ten words, that are enough whatever the rest of the sentence says."""

_SLACK = 8
"""Words that a passage may have more than twice those of the sentence."""

_CHARACTERS_COMPARED = 20_000
"""Characters of a memory, from its beginning, that are compared."""

_MAX_SENTENCES = 50
"""Sentences with the same shingle that are followed."""

_MAX_QUOTE = 400
"""Characters of a passage that is quoted."""

_NAME = r"[a-z]{2,10}://[^\s\"'<>)\]]++|[^\W_]++(?>(?:/[\w.@~-]++)+)"
"""A web address or path, which is one word: that two texts name the same page or file says nothing."""

_ASCII_WORD = re.compile(rf"{_NAME}|[a-z0-9]+", re.ASCII)
_WORD = re.compile(rf"{_NAME}|[{UNSPACED_CHARACTERS}]|[^\W_]+")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,300}>|\\[nrt]|^[ \t]{0,8}\d{1,6}(?:\t|\u2192)", re.MULTILINE)
"""Tags, line breaks written as two characters within JSON, and the line numbers that a host puts before a file."""


class WrittenText(NamedTuple):
    """The title and content of a memory that a session wrote."""

    id: str
    text: str


class OutsidePassage(msgspec.Struct, frozen=True):
    """A sentence of a memory, and where a tool returned it."""

    sentence: str
    quote: str
    """The passage as the tool returned it."""
    tool: str
    where: str
    """The address, query, command or path that the tool was asked for."""
    first_line: int
    """The line of the call in the transcript; `last_line` is that of its result."""
    last_line: int
    share: float
    """The share of the sentence's shingles that the passage holds."""


class _Sentence:
    """One sentence of a memory, with its shingles and who said it first."""

    __slots__ = ("memory", "own_line", "passage", "shingles", "text", "users")

    def __init__(self, memory: str, text: str, words: Sequence[str]) -> None:
        self.memory, self.text = memory, text
        self.shingles: dict[tuple[str, ...], int] = {}
        for place, shingle in enumerate(_shingles(words)):
            self.shingles.setdefault(shingle, place)
        self.passage: OutsidePassage | None = None
        self.own_line: int | None = None
        """The first line in which the agent, the project or memento said it."""
        self.users = False
        """Whether the person said it."""

    @property
    def is_from_outside(self) -> bool:
        passage = self.passage
        return passage is not None and not self.users and (self.own_line is None or passage.last_line < self.own_line)


class _Match(NamedTuple):
    sentence: _Sentence
    start: int
    """The first word of the passage; `end` is the one after the last."""
    end: int
    share: float


def outside_passages(
    texts: Iterable[WrittenText], turns: Iterable[Turn], project: str = ""
) -> dict[str, list[OutsidePassage]]:
    """Return the sentences of each memory, by id, that came from outside; ``project`` is the folder of the project.

    A sentence that the person said is the person's. One that the agent, a file of the project or a memory said before
    the tool did is not the tool's.
    """
    found = [sentence for text in texts for sentence in _sentences_of(text)]
    if not found:
        return {}
    index: dict[tuple[str, ...], list[_Sentence]] = defaultdict(list)
    for sentence in found:
        for shingle in sentence.shingles:
            if len(index[shingle]) < _MAX_SENTENCES:
                index[shingle].append(sentence)
    _follow(dict(index), turns, project)
    passages: dict[str, list[OutsidePassage]] = defaultdict(list)
    for sentence in found:
        if sentence.is_from_outside and sentence.passage is not None:
            passages[sentence.memory].append(sentence.passage)
    return dict(passages)


def _follow(index: dict[tuple[str, ...], list[_Sentence]], turns: Iterable[Turn], project: str) -> None:
    origins: _ToolOrigins | None = None
    for turn in turns:
        if turn.role != "tool":
            for match in _matches(index, _words(_plain(turn.text))):
                _note_statement(match.sentence, turn.first_line, by_user=turn.role == "user")
            continue
        origins = origins or _ToolOrigins(project or turn.cwd)
        if turn.call is not None and turn.call.given is not None:
            said = "\n".join(_strings(turn.call.given))
            for match in _matches(index, _words(_plain(said))):
                _note_statement(match.sentence, turn.first_line)
        origin = origins.of(turn.call, turn.text, turn.cwd)
        text = _plain(turn.text)
        for match in _matches(index, _words(text)):
            if origin.place != "outside":
                _note_statement(match.sentence, turn.last_line)
            elif match.sentence.passage is None:
                tool = "" if turn.call is None else turn.call.tool
                match.sentence.passage = OutsidePassage(
                    match.sentence.text,
                    _quote(text, match),
                    tool,
                    origin.where,
                    turn.first_line,
                    turn.last_line,
                    round(match.share, 2),
                )


def _note_statement(sentence: _Sentence, line: int, *, by_user: bool = False) -> None:
    sentence.users |= by_user
    sentence.own_line = line if sentence.own_line is None else min(line, sentence.own_line)


def sentence_texts(text: str) -> list[str]:
    """Return the sentences of a text that are compared, without markup, each in one line."""
    plain = _plain(text[:_CHARACTERS_COMPARED])
    return [" ".join(plain[start:end].split()) for start, end in _units(plain)]


def _sentences_of(text: WrittenText) -> Iterator[_Sentence]:
    plain = _plain(text.text[:_CHARACTERS_COMPARED])
    for start, end in _units(plain):
        words = _words(plain[start:end])
        if len(words) >= _FEWEST_WORDS:
            yield _Sentence(text.id, " ".join(plain[start:end].split())[:_MAX_QUOTE], words)


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each sentence, and of each line of code or heading between them."""
    place = 0
    for start, end in [*sentences(text), (len(text), len(text))]:
        for line in re.finditer(r"[^\n]+", text[place:start]):
            yield place + line.start(), place + line.end()
        if start < end:
            yield start, end
        place = max(place, end)


def _matches(index: dict[tuple[str, ...], list[_Sentence]], words: Sequence[str]) -> list[_Match]:
    """Return the sentences that a text holds, each once, where most of its shingles stand closest together."""
    hits: dict[_Sentence, list[tuple[int, int]]] = defaultdict(list)
    for place, shingle in enumerate(_shingles(words)):
        if shingle in index:
            for sentence in index[shingle]:
                hits[sentence].append((place, sentence.shingles[shingle]))
    found = (_best_match(sentence, places) for sentence, places in hits.items())
    return [match for match in found if match is not None]


def _best_match(sentence: _Sentence, hits: Sequence[tuple[int, int]]) -> _Match | None:
    total = len(sentence.shingles)
    width = 2 * (total + _WORDS_A_SHINGLE - 1) + _SLACK
    counts: dict[int, int] = defaultdict(int)
    first, best, run, best_run = 0, _Match(sentence, 0, 0, 0.0), 0, _Match(sentence, 0, 0, 0.0)
    longest = 0
    for last, (place, shingle) in enumerate(hits):
        counts[shingle] += 1
        while hits[first][0] < place - width:
            counts[hits[first][1]] -= 1
            if not counts[hits[first][1]]:
                del counts[hits[first][1]]
            first += 1
        if (share := len(counts) / total) > best.share:
            best = _Match(sentence, hits[first][0], place + _WORDS_A_SHINGLE, share)
        follows = last and hits[last - 1] == (place - 1, shingle - 1)
        run = run + 1 if follows else 1
        if run > longest:
            longest = run
            best_run = _Match(sentence, place - run + 1, place + _WORDS_A_SHINGLE, run / total)
    least = _LEAST_SHARE if total + _WORDS_A_SHINGLE - 1 >= _WORDS_TO_DIFFER else 1.0
    if best.share >= least:
        return best
    return best_run if longest >= _FEWEST_IN_A_ROW else None


def _shingles(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return zip(words, words[1:], words[2:], strict=False)


def _plain(text: str) -> str:
    """Return a text without markup and invisible characters, in the Unicode form that compares."""
    if "&" in text:
        text = html.unescape(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", without_invisible(text))
    return _MARKUP.sub(" ", text) if "<" in text or "\\" in text or "\t" in text or "\u2192" in text else text


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, without stop words."""
    found = _ASCII_WORD.findall(text.lower()) if text.isascii() else _WORD.findall(text.casefold())
    return [word for word in found if word not in STOP_WORDS]


def _quote(text: str, match: _Match) -> str:
    """Return the passage of a match as it stands in the text, on one line."""
    spans = [word.span() for word in _WORD.finditer(text.casefold()) if _words(word[0])]
    if len(text) != len(text.casefold()) or match.end > len(spans):
        return match.sentence.text  # the places in lower case are others: what the memory says shows the passage too
    start, end = spans[match.start][0], spans[match.end - 1][1]
    while end < len(text) and text[end] in ".!?\"')":
        end += 1
    return " ".join(text[start:end].split())[:_MAX_QUOTE]


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in the arguments of a call; arguments as JSON in a text are read like any text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
