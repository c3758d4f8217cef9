"""A board of panels whose numbers and words are links, in one to three columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget

__all__ = ["Board", "Direction", "Panel", "PanelLink", "PanelRow", "TextPiece"]

Direction = Literal["up", "down", "left", "right"]

_MARGIN, _GAP = 1, 1
_FRAME = 2
"""Cells between the edge of a panel and its text, at either side."""
_TWO_COLUMNS, _THREE_COLUMNS = 100, 160
"""Cells of width from which there are two columns, and three."""


class PanelLink(NamedTuple):
    """The target of a link: a section and the query that it shows. It also identifies the text that bears it."""

    section: str
    query: str = ""


class TextPiece(NamedTuple):
    """A piece of a row, safe to show, in one style, with or without a link."""

    text: str
    style: str = ""
    link: PanelLink | None = None


PanelRow = Sequence[TextPiece]


class Panel(NamedTuple):
    """One panel: its title, its rows and its height.

    ``draw`` takes a width and a height, and returns at most that many rows, each at most that wide.
    """

    title: Callable[[], PanelRow]
    draw: Callable[[int, int], Sequence[PanelRow]]
    least: int
    """Rows that it always has, so that later content moves nothing."""
    most: int
    """Rows that it can use at most; it gets more only where no other panel can use them."""


class _LinkPosition(NamedTuple):
    """The position of one link on the board."""

    link: PanelLink
    y: int
    start: int
    end: int
    panel: int
    column: int


class Board(Widget, can_focus=True):
    """A widget that draws panels side by side below some rows of its own, with a cursor that moves among their links.

    The cursor stays on the same target when numbers change.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Board { height: auto; text-wrap: nowrap; }
    """

    class Followed(Message):
        """The person followed a link."""

        def __init__(self, link: PanelLink) -> None:
            super().__init__()
            self.link = link

    def __init__(self, head: Callable[[int], Sequence[PanelRow]], panels: Sequence[Panel]) -> None:
        super().__init__()
        self._head = head
        self._panels = panels
        self._drawn: list[list[TextPiece]] = []
        self._positions: list[_LinkPosition] = []
        self._current: PanelLink | None = None
        self._laid_out_for: Size | None = None
        self._is_due = False

    @property
    def current(self) -> PanelLink | None:
        """The link under the cursor."""
        return self._current

    @property
    def has_panels(self) -> bool:
        """Whether there are panels below the rows at the top."""
        return bool(self._panels)

    def set_panels(self, panels: Sequence[Panel]) -> None:
        """Show other panels."""
        self._panels = panels
        self.redraw()

    # Drawing

    def redraw(self) -> None:
        """Draw again before the next frame. Several calls count as one."""
        if not self._is_due:
            self._is_due = True
            self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        self._is_due = False
        before = self._drawn
        self._lay_out()
        if len(self._drawn) != len(before):
            self.refresh(layout=True)
            return
        changed = [y for y, row in enumerate(self._drawn) if row != before[y]]
        if changed:
            self.refresh(*[Region(0, y, self.size.width, 1) for y in changed])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        """Return the number of rows at a width."""
        self._lay_out(Size(width, container.height))
        return len(self._drawn)

    def on_resize(self) -> None:
        """Keep the cursor visible."""
        self._reveal()

    def on_focus(self) -> None:
        """Draw the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the board without the cursor."""
        self.refresh()

    def render(self) -> Content:
        """Return the whole board."""
        return Content("\n").join([self._line(y) for y in range(len(self._drawn))])

    def render_line(self, y: int) -> Strip:
        """Return one row; only changed rows are drawn again."""
        if y >= len(self._drawn):
            return Strip.blank(self.size.width, self.rich_style)
        return Visual.to_strips(self, self._line(y), self.size.width, 1, self.visual_style)[0]

    def _line(self, y: int) -> Content:
        parts: list[str | tuple[str, str]] = []
        for piece in self._drawn[y]:
            here = piece.link is not None and piece.link == self._current and self.has_focus
            style = f"{piece.style} reverse".strip() if here else piece.style
            parts.append((piece.text, style) if style else piece.text)
        return Content.assemble(*parts)

    def _lay_out(self, size: Size | None = None) -> None:
        room = size or self._laid_out_for
        if room is None:
            return
        self._laid_out_for = room
        width = room.width - 2 * _MARGIN
        columns = 3 if room.width >= _THREE_COLUMNS else 2 if room.width >= _TWO_COLUMNS else 1
        self._drawn, self._positions = [], []
        for row in self._head(width):
            self._put([TextPiece(" " * _MARGIN), *row], 0, 0, -1, 0)
        groups = [range(n, min(n + columns, len(self._panels))) for n in range(0, len(self._panels), columns)]
        for group, height in zip(groups, self._heights(groups, room.height), strict=True):
            self._put_group(group, width, height)
        if self._current is None or all(spot.link != self._current for spot in self._positions):
            self._current = self._nearest_left()

    def _heights(self, groups: Sequence[range], room: int) -> list[int]:
        """Return the height of each row of panels: as high as needed, and so much more that they fill the room."""
        heights = [max(self._panels[number].least for number in group) for group in groups]
        most = [max(self._panels[number].most for number in group) for group in groups]
        left = room - len(self._drawn) - sum(heights) - 2 * len(groups)
        while heights and left > 0:
            wanting = [place for place, height in enumerate(heights) if height < most[place]]
            for place in (wanting or range(len(heights)))[:left]:
                heights[place] += 1
                left -= 1
        return heights

    def _put_group(self, group: range, width: int, height: int) -> None:
        """Draw some panels side by side in ``width`` cells, each in a quiet frame that holds its title."""
        top = len(self._drawn)
        for _ in range(height + 2):
            self._drawn.append([TextPiece(" " * _MARGIN)])
        ends = [(width + _GAP) * place // len(group) for place in range(len(group) + 1)]
        for column, number in enumerate(group):
            panel = self._panels[number]
            across = ends[column + 1] - ends[column] - _GAP
            inside = across - 2 * _FRAME
            title = _cut(panel.title(), inside - 2)
            rule = _LINE * (inside - _width(title))
            rows = list(panel.draw(inside, height))[:height]
            framed = [_framed(_cut(row, inside), inside) for row in [*rows, *[()] * (height - len(rows))]]
            head = [TextPiece(f"{_TOP_LEFT} ", _LIKE_FRAMES), *title, TextPiece(f" {rule}{_TOP_RIGHT}", _LIKE_FRAMES)]
            foot = [TextPiece(f"{_BOTTOM_LEFT}{_LINE * (across - 2)}{_BOTTOM_RIGHT}", _LIKE_FRAMES)]
            left = _MARGIN + ends[column]
            for offset, row in enumerate([head, *framed, foot]):
                self._put(row, left, top + offset, number, column)

    def _put(self, row: PanelRow, left: int, y: int, panel: int, column: int) -> None:
        """Add a row from a cell on, and record its links."""
        if panel < 0:
            y = len(self._drawn)
            self._drawn.append([])
        line = self._drawn[y]
        line.append(TextPiece(" " * (left - _width(line))))
        x = left
        for piece in row:
            end = x + cell_len(piece.text)
            if piece.link is not None:
                self._positions.append(_LinkPosition(piece.link, y, x, end, panel, column))
            line.append(piece)
            x = end

    # Moving

    def _cursor_position(self) -> _LinkPosition | None:
        """Return the position of the first link with the cursor's target."""
        return next((spot for spot in self._positions if spot.link == self._current), None)

    def _nearest_left(self) -> PanelLink | None:
        # Links are drawn in the order of reading: the head, then panel by panel.
        first = next((spot for spot in self._positions if spot.panel >= 0), None) or next(iter(self._positions), None)
        return None if first is None else first.link

    def move(self, direction: Direction) -> None:
        """Go to the nearest link in a direction: in the same panel first, then in the next one."""
        here = self._cursor_position()
        if here is None:
            return
        nearest = min(self._links_towards(here, direction), default=None, key=lambda pair: pair[0])
        if nearest is not None:
            self._go_to(nearest[1].link)

    def _links_towards(
        self, here: _LinkPosition, direction: Direction
    ) -> Iterator[tuple[tuple[int, ...], _LinkPosition]]:
        """Yield the links in a direction, each with its distance for sorting."""
        sign = 1 if direction in ("down", "right") else -1
        for spot in self._positions:
            down, right, beside = spot.y - here.y, spot.start - here.start, spot.column - here.column
            same = spot.panel == here.panel
            if spot.link == here.link:
                continue
            if direction in ("up", "down"):
                if down * sign > 0:
                    yield (not same, beside != 0, abs(down), abs(right)), spot
            elif (same and down == 0 and right * sign > 0) or (not same and beside * sign > 0):
                yield (not same, abs(beside), abs(down), abs(right)), spot

    def step(self, by: int) -> None:
        """Go to the next or the previous link in the order of reading, around the end."""
        links = list(dict.fromkeys(spot.link for spot in self._positions))
        if links:
            here = links.index(self._current) if self._current in links else -by
            self._go_to(links[(here + by) % len(links)])

    def _go_to(self, link: PanelLink) -> None:
        before, self._current = self._current, link
        rows = {spot.y for spot in self._positions if spot.link in (before, link)}
        self.refresh(*[Region(0, y, self.size.width, 1) for y in rows])
        self._reveal()

    def _reveal(self) -> None:
        """Scroll the cursor into view, with its panel's title where both fit."""
        spot, view = self._cursor_position(), self.parent
        if spot is None or not isinstance(view, VerticalScroll):
            return
        top = 0
        if spot.panel > 0:
            first = next(one.y for one in self._positions if one.panel == spot.panel)
            top = first - 1 if spot.y - first < view.size.height - 1 else spot.y
        view.scroll_to_region(Region(0, top, 1, spot.y - top + 1), animate=False)

    def follow(self) -> None:
        """Follow the link under the cursor."""
        if self._current is not None:
            self.post_message(self.Followed(self._current))

    def on_click(self, event: events.Click) -> None:
        """Follow the link that was clicked."""
        for spot in self._positions:
            if spot.y == event.y and spot.start <= event.x < spot.end:
                self._go_to(spot.link)
                self.follow()
                return


_LINE, _SIDE = "\N{BOX DRAWINGS LIGHT HORIZONTAL}", "\N{BOX DRAWINGS LIGHT VERTICAL}"
_TOP_LEFT, _TOP_RIGHT = "\N{BOX DRAWINGS LIGHT ARC DOWN AND RIGHT}", "\N{BOX DRAWINGS LIGHT ARC DOWN AND LEFT}"
_BOTTOM_LEFT, _BOTTOM_RIGHT = "\N{BOX DRAWINGS LIGHT ARC UP AND RIGHT}", "\N{BOX DRAWINGS LIGHT ARC UP AND LEFT}"
_LIKE_FRAMES = "$foreground 25%"
"""The style of a panel's frame: that of the frames of lists."""


def _framed(row: PanelRow, width: int) -> PanelRow:
    """Return a row of at most ``width`` cells between the sides of a panel."""
    blank = " " * (width - _width(row) + 1)
    return [TextPiece(f"{_SIDE} ", _LIKE_FRAMES), *row, TextPiece(blank), TextPiece(_SIDE, _LIKE_FRAMES)]


def _width(row: Sequence[TextPiece]) -> int:
    return sum(cell_len(piece.text) for piece in row)


def _cut(row: PanelRow, width: int) -> PanelRow:
    """Return as much of a row as fits ``width`` cells, so that it never runs into the panel beside it."""
    kept: list[TextPiece] = []
    left = width
    for piece in row:
        size = cell_len(piece.text)
        if size > left:
            shown = set_cell_size(piece.text, left)
            is_text_cut = left > 0 and piece.text[len(shown.rstrip()) :].strip() != ""
            return [*kept, piece._replace(text=f"{set_cell_size(piece.text, left - 1)}…" if is_text_cut else shown)]
        kept.append(piece)
        left -= size
    return kept
