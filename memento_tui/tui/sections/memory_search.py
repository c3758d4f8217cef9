"""The search of the section of memories: by words at every letter, by meaning at a pause, with the cursor kept.

Its results are listed with the passage that answers and a score, the weak ones folded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.api.query_completion import ForgivenQuery, QueryHelper, Suggestions
from memento_tui.search.query_language import Query, parse
from memento_tui.search.ranking import clears_floor
from memento_tui.tui.display import cells, shown
from memento_tui.tui.memory_columns import WIDE_ROW
from memento_tui.tui.row_sources import HitSource
from memento_tui.tui.section import in_thread, in_worker

if TYPE_CHECKING:
    from memento_tui.api.search import SearchAnswer, SearchHit, SearchMode
    from memento_tui.text.passages import Snippet
    from memento_tui.tui.sections.memories import MemoriesSection
    from memento_tui.tui.views.why import SearchRank
    from memento_tui.tui.widgets.record_list import Line

__all__ = ["RESULT_LINES", "FoundMemories", "MemorySearch", "evidence_line", "score_bar"]


_BAR_CELLS = 5
_MAX_SCANNED_CHARACTERS = 4_000
"""Characters of a memory in which the passage is looked for: a screenful of results must not take longer than a key."""

_INDENT = 3
"""Cells of the signs of trust that the evidence stands to the right of."""

_NARROW = 60


class FoundMemories:
    """The results of one search, and whether the weak ones among them are listed."""

    def __init__(self) -> None:
        self._answer: SearchAnswer | None = None
        self._passages: dict[str, Snippet] = {}
        self.with_weak = False
        """Whether weak results are listed beside good ones; alone they always are."""

    def show(self, answer: SearchAnswer | None) -> None:
        """Take the results of another search, or of none."""
        self._answer = answer
        self._passages.clear()

    @property
    def good(self) -> list[SearchHit]:
        """The results that answer well enough for an agent to be told of them, best first."""
        return [] if self._answer is None else [hit for hit in self._answer.results if _is_good(hit)]

    @property
    def listed(self) -> list[SearchHit]:
        """The results that are listed, best first."""
        if self._answer is None:
            return []
        return self._answer.results if self.with_weak else self.good or self._answer.results

    def counts(self) -> str:
        """Return in words how many results are good and how many weak."""
        if self._answer is None:
            return ""
        good, found = len(self.good), len(self._answer.results)
        weak = found - good
        more = f" of {self._answer.total:,}" if self._answer.total > found else ""
        folded = " (W shows them)" if weak and good and not self.with_weak else ""
        return f"{good:,} good" + (f"  {weak:,} weak{folded}" if weak else "") + more

    def passage(self, hit: SearchHit) -> Snippet:
        """Return the passage of a result that answers, with the places of the query's words in it."""
        known = self._passages.get(hit.id)
        if known is None:
            from memento_tui.search.snippets import make_snippet  # noqa: PLC0415 - with the first search

            known = make_snippet(hit.query, hit.memory.content[:_MAX_SCANNED_CHARACTERS])
            self._passages[hit.id] = known
        return known


def _is_good(hit: SearchHit) -> bool:
    return clears_floor(hit.relevance)


def score_bar(relevance: float) -> str:
    """Return a bar for how well a result answers, from 0 to 1."""
    filled = min(_BAR_CELLS, max(0, round(_BAR_CELLS * relevance)))
    return "\N{DARK SHADE}" * filled + "\N{LIGHT SHADE}" * (_BAR_CELLS - filled)


def evidence_line(hit: SearchHit, passage: Snippet, width: int) -> Line:
    """Return the second line of a result: the passage with its hits, then how well it answers, and where it is."""
    project = hit.memory.namespace.rpartition("/")[2]
    tags = [] if width >= WIDE_ROW else [f"#{tag}" for tag in hit.memory.tags]
    place = " ".join([project, *tags])
    place_width = min(cell_len(shown(place)), width // 4) if width >= _NARROW else 0
    room = width - _INDENT - _BAR_CELLS - 2 - (place_width + 2 if place_width else 0)
    pieces: list[tuple[str, str]] = [(" " * _INDENT, "")]
    left = room
    for text, style in _marked(passage):
        safe = shown(text)
        size = cell_len(safe)
        pieces.append((safe if size <= left else cells(safe, left), style))
        left -= min(size, left)
        if not left:
            break
    pieces += [(" " * left, ""), ("  ", "")]
    if place_width:
        pieces += [(cells(place, place_width), "muted"), ("  ", "")]
    return [*pieces, (score_bar(hit.relevance), "good" if _is_good(hit) else "muted")]


def _marked(passage: Snippet) -> Iterator[tuple[str, str]]:
    at = 0
    for start, end in passage.marks:
        yield passage.text[at:start], "muted"
        yield passage.text[start:end], "match"
        at = end
    yield passage.text[at:], "muted"


RESULT_LINES = 2
"""Lines of a result: its columns, and the evidence."""


_MOST_HITS = 100
_TYPING_PAUSE_SECONDS = 0.15
"""Seconds that a query must stand before it is searched by meaning: typing costs the engine nothing."""

_RETRY_SECONDS = 1.0
"""Seconds until the engine is asked again that was warming up."""

_SEMANTIC_STATE_TEXT = {"ready": "by meaning too", "warming": "meaning: warming up", "off": "words only"}


class MemorySearch:
    """Reads the query in the section's box, and shows its results in the section's list."""

    def __init__(self, section: MemoriesSection) -> None:
        self._section = section
        self.query: Query = parse("")
        """The query as it was probably meant."""
        self.error = ""
        """Why nothing is found by it; empty where it can be used, or is still being typed."""
        self.hits: dict[str, SearchHit] = {}
        """The hits of the present search by id; empty while the list is only filtered."""
        self._forgiven = ForgivenQuery("")
        self._semantic = ""
        self._reported_problem = ""
        self._noticed = ""
        """The last shown note on how complete the answers to the present query are."""
        self._is_at_best = False
        """Whether the cursor has stood on the best result since the query was typed."""

    @cached_property
    def _helper(self) -> QueryHelper:
        return QueryHelper(self._section.memento.workspace)

    @cached_property
    def _found(self) -> FoundMemories:
        return FoundMemories()

    def complete(self, line: str, cursor: int) -> Suggestions:
        """Return completions at the cursor of a query. Called on threads."""
        return self._helper.complete(line, cursor)

    # Searching

    def change(self, source: str, *, typing: bool) -> None:
        """Search for another query: by words at once, and by meaning when the person stops typing."""
        self._forgiven = self._helper.forgive(source, typing=typing)
        self.query = parse(self._forgiven.source, typing=True)
        # A part that cannot be used may go on while it is typed; afterwards nothing is found by it, and not everything.
        read = parse(self._forgiven.source, typing=typing)
        self.error = read.error
        self._is_at_best, self._noticed = True, ""
        if self.query.words:
            self._show_answer(self._search("keyword"), to_best=True)
            self._run(partial(self.search_by_meaning, self.query.source), "meaning")
        else:
            self._section.workers.cancel_group(self._section, "meaning")
            self._semantic, self.hits = "", {}
            self._section.list.fit_rows()
            self._section.read()
            self._section.show(self._section.rows.current)
        # A quotation mark that is not closed is being typed; it is reported when the person goes on to the list.
        closed = parse(f'{self._forgiven.source} "', typing=typing).problems
        problems = [problem for problem in read.problems if problem in closed]
        self._report_problem([self._forgiven.note, *problems])

    def leave_box(self, source: str, *, typing: bool) -> None:
        """Report the first problem of the query; search with its last word too, unless that is still being typed."""
        whole = self._helper.forgive(source)
        read = parse(whole.source)
        if typing or (whole == self._forgiven and read.error == self.error):
            self._report_problem([self._forgiven.note, *(self.query if typing else read).problems])
        else:
            self._section.filter_changed()

    def reload(self) -> None:
        """Search again where words are searched for, because something was written."""
        self._helper.forget()
        if self.query.words:
            self._run(partial(self._search_again, self.query.source), "anew")

    def toggle_weak(self) -> None:
        """List the weak results too, or the good ones alone."""
        if not self.query.words:
            self._section.memento.show_status("Only a search has weak results; / begins one.", problem=True)
            return
        self._found.with_weak = not self._found.with_weak
        self._run(partial(self._search_again, self.query.source), "anew")

    def note_cursor(self, index: int) -> None:
        """Note where the cursor is now."""
        self._is_at_best = self._is_at_best and index == 0

    def _run(self, work: Callable[[], Coroutine[Any, Any, None]], group: str) -> None:
        in_worker(self._section, work, group, exclusive=True)

    def _report_problem(self, problems: Sequence[str]) -> None:
        """Show the first problem of the query in the status line, and clear it there when it is mended."""
        problem = next(filter(None, problems), "")
        if problem or self._reported_problem:
            self._section.memento.show_status(problem, problem=True)
        self._reported_problem = problem

    def _search(self, mode: SearchMode) -> SearchAnswer:
        searching = self._section.memento.workspace.search_engine
        return searching.search(self.query.source, mode=mode, limit=_MOST_HITS, now=clock.now(), typing=True)

    async def search_by_meaning(self, source: str) -> None:
        """Search by meaning too once the person has stopped typing; must run in a worker of the section."""
        await asyncio.sleep(_TYPING_PAUSE_SECONDS)
        answer = await in_thread(self._section, self._search, "hybrid")
        if self.query.source != source:
            return
        self._semantic = answer.semantic
        self._show_answer(answer, to_best=self._is_at_best)
        if answer.semantic == "warming":
            self._section.set_timer(_RETRY_SECONDS, lambda: self._retry_by_meaning(source))

    def _retry_by_meaning(self, source: str) -> None:
        if self.query.source == source:
            self._run(partial(self.search_by_meaning, source), "meaning")

    async def _search_again(self, source: str) -> None:
        mode: SearchMode = "hybrid" if self._semantic == "ready" else "keyword"
        answer = await in_thread(self._section, self._search, mode)
        # Meanwhile another query may have been typed, or the answer by meaning may have come.
        if self.query.source == source and (mode == "hybrid" or self._semantic != "ready"):
            self._show_answer(answer, to_best=False)

    def _show_answer(self, answer: SearchAnswer, *, to_best: bool) -> None:
        """Show the results, with the cursor on the best of them or on the memory that it was on."""
        self._found.show(answer)
        listed, rows = self._found.listed, self._section.rows
        source = HitSource(listed)
        self.hits = {hit.id: hit for hit in listed}
        rows.row_height = RESULT_LINES
        if answer.notice and answer.notice != self._noticed:  # once, or it takes the place of what was done since
            self._section.memento.show_status(answer.notice)
            self._noticed = answer.notice
        current = rows.current
        if to_best:
            rows.set_rows(source.rows(), source.total(), source)
        elif rows.first_visible == 0:
            # New rows above are visible here, and the cursor stays on its memory.
            rows.set_rows(source.rows(), source.total(), source, select=current.id if current else None)
        else:
            rows.refresh_rows(source)
        self._section.show(rows.current)
        self._section.update_head()

    # Showing

    def evidence(self, memory_id: str, width: int) -> Line | None:
        """Return the line below a result's row, which shows why it was found; ``None`` for a row that is no result."""
        hit = self.hits.get(memory_id)
        if hit is None:
            return None
        return evidence_line(hit, self._found.passage(hit), width)

    def rank(self, memory_id: str) -> SearchRank | None:
        """Return the place of a result and the parts of its score; ``None`` for a row that is no result."""
        hit = self.hits.get(memory_id)
        if hit is None:
            return None
        from memento_tui.tui.views.why import SearchRank  # noqa: PLC0415 - a search is on

        return SearchRank(hit, list(self.hits).index(hit.id) + 1, len(self.hits))

    def head_words(self, counted: str, total: int) -> str:
        """Return the text above the list: ``counted``, with the good and the weak results, and how was searched."""
        words = counted
        if self.query.words and total:
            words = words.replace(f"{total:,}", self._found.counts(), 1)
        return f"{words}  {_SEMANTIC_STATE_TEXT[self._semantic]}" if self._semantic else words
