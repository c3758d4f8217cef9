"""Explain the score of a memory: the parts of its weight, its decay, and every number of its rank."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import ClassVar, get_args

import msgspec
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api.search import SearchHit
from memento_tui.config import DecayPreset
from memento_tui.errors import MementoError
from memento_tui.maintenance.life_report import life_report_lines
from memento_tui.model import Memory
from memento_tui.search.decay import preset_weight
from memento_tui.search.ranking import HIGHEST_FACTOR, LOWEST_FACTOR, RELEVANCE_KEYWORD_WEIGHT
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.views.view import View
from memento_tui.tui.widgets.frames import ScrollFrame

__all__ = ["SearchRank", "WhyView"]

_FORECAST_DAYS = 180
_MARGIN = 3
_NAME_WIDTH = 15


class SearchRank(msgspec.Struct, frozen=True):
    """The rank of a memory in a search: the hit, its place from 1 on, and the number of results."""

    hit: SearchHit
    place: int
    results: int


class WhyView(View):
    """A view that explains one memory's rank and weight."""

    SCOPE: ClassVar[KeyScope] = "why"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("why")]

    DEFAULT_CSS = """
    WhyView > VerticalScroll { padding: 0 1; scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__("why")
        self.text = ScrollFrame()
        """The scrolling text."""
        self._explanation = Static(classes="why-text")
        self._memory: Memory | None = None
        self._rank: SearchRank | None = None

    def compose(self) -> ComposeResult:
        """Show the line at the top and the text."""
        yield self.head
        yield self.note
        with self.text:
            yield self._explanation

    def focus_content(self) -> None:
        """Take the focus."""
        self.focus_part(self.text)

    def show(self, memory: Memory, rank: SearchRank | None = None) -> None:
        """Show the weight of a memory, and its rank if a search is on."""
        if self._memory is None or memory.id != self._memory.id:
            self.text.scroll_home(animate=False)
        self._memory, self._rank = memory, rank
        self._explain()

    def reload(self) -> None:
        """Read the memory again, whose use or trust may have changed."""
        if self._memory is not None:
            self._explain()

    def on_resize(self) -> None:
        """Draw at the new width."""
        if self._memory is not None:
            self._explain()

    @work(exclusive=True, group="read")
    async def _explain(self) -> None:
        if self._memory is None:
            return
        across = self.size.width - _MARGIN
        try:
            memory = self.workspace.find(self._memory.id) or self._memory
            provenance = self.workspace.provenance([memory.id])[memory.id]
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self.set_heading(Content("why: ") + literal(cells(memory.headline, max(across - 5, 1)).rstrip()))
        now, preset = clock.now(), self.workspace.config.maintenance.decay
        parts = []
        if self._rank is not None:
            parts += [Content.styled("Rank in this search", "bold"), *_ranking_text(self._rank, across), Content("")]
        life = life_report_lines(
            memory,
            now,
            preset,
            across,
            days=_FORECAST_DAYS,
            superseded=bool(provenance.superseded_by),
            known_since=provenance.first_written,
        )
        parts += [Content.styled("Weight", "bold"), Content(life), Content("")]
        weights = {name: f"{name} {preset_weight(name, memory, now):.2f}" for name in get_args(DecayPreset)}
        presets = "  ".join(f"[{text}]" if name == preset else text for name, text in weights.items())
        parts += [Content.styled("Each preset's own weight today", "bold"), Content(presets)]
        parts += [Content.styled(line, "dim") for line in textwrap.wrap(_SCALES, max(across, 20))]
        self._explanation.update(Content("\n").join(parts))


_SCALES = "In brackets: yours (maintenance.decay in config.toml). protocol counts from 0 to 3, the others from 0 to 1."


_EVIDENCE = {
    "coverage": "that it or what its session wrote just before holds",
    "heading": "in its title or heading",
    "nearby": "that the next one follows closely",
}
"""The parts of the match beside the two views, as `SearchHit.explain` names them."""


def _ranking_text(rank: SearchRank, across: int) -> Iterator[Content]:
    for number, value, meaning in _score_parts(rank):
        lines = textwrap.wrap(meaning, max(across - _NAME_WIDTH - 7, 16)) or [""]
        yield Content.styled(f"{number:<{_NAME_WIDTH}}", "dim") + Content(f"{value:>5}  {lines[0]}")
        for line in lines[1:]:
            yield Content(f"{'':<{_NAME_WIDTH + 7}}{line}")


def _score_parts(rank: SearchRank) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and meaning of the numbers of `SearchHit.explain`, except for those of the weight."""
    numbers = rank.hit.explain()
    keyword, semantic = numbers["keyword"], numbers["semantic"]
    among = "The only result shown." if rank.results == 1 else f"Of the {rank.results:,} results shown, best first."
    yield "place", f"{rank.place:,}", among
    yield "score", f"{numbers['score']:.3f}", "Match times decay factor; the results are ordered by it."
    yield "match", f"{numbers['match']:.3f}", "How well it fits the search, beside the other results."
    yield "relevance", f"{numbers['relevance']:.3f}", _relevance_words(numbers["relevance"], keyword, semantic)
    if keyword is None:
        yield "by words", "-", "None of the words of the search is in it, or too few to be among the first."
    else:
        yield "by words", f"{keyword:.3f}", f"Number {numbers['keyword_rank']} by its words (BM25, brought to 0 to 1)."
    if semantic is None:
        yield "by meaning", "-", "Not among the nearest in meaning, or meaning was not asked."
    else:
        yield "by meaning", f"{semantic:.3f}", f"Number {numbers['semantic_rank']} by meaning (cosine, 0 to 1)."
    for name, meaning in _EVIDENCE.items():
        if numbers[name] is not None:
            yield name, f"{numbers[name]:.3f}", f"The share of the search's words, by rarity, {meaning}."
    bounds = f"{LOWEST_FACTOR:.2f} to {HIGHEST_FACTOR:.2f}, so that an old exact match stays above a fresh vague one"
    yield "decay factor", f"{numbers['life']:.3f}", f"{bounds}. Its parts are below."
    if numbers["superseded"]:
        yield "superseded", "yes", "Another memory replaces it, which halves its decay factor."
    if numbers["held"] != 1:
        yield "lowered", f"{numbers['held']:.3f}", "Multiplied by this, to rank below the memory that replaces it."


def _relevance_words(relevance: float, keyword: float | None, semantic: float | None) -> str:
    if keyword is None and semantic is None:
        return "The search has filters only, so all that it selects is equally relevant."
    if semantic is None and relevance == keyword:
        return "How well it answers by its words alone; meaning was not asked."
    shares = f"{RELEVANCE_KEYWORD_WEIGHT:.0%} of by words and {1 - RELEVANCE_KEYWORD_WEIGHT:.0%} of by meaning"
    if semantic is None:
        return f"{shares}, for which it gets a little less than the last of the nearest."
    return f"{shares}."
