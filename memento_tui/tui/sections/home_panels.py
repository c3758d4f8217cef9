"""Format the panels of Home, with the link behind each number. Reads nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.api.inbox import InboxItem
from memento_tui.api.overview import ExpiringSoon, HealthFinding, InboxCount, RecentExposures, RecordCounts
from memento_tui.api.types import ActivityRow, AgentTotals, DayCount, FacetCounts
from memento_tui.model import WorkingItem
from memento_tui.model.journal_actions import counts_in_words, done_words, note_in_words
from memento_tui.search.query_language import written_field
from memento_tui.tui.columns import rest_of
from memento_tui.tui.display import ago, cells, shown, time_ago
from memento_tui.tui.inbox_columns import label_of, style_of_sign
from memento_tui.tui.widgets.panel_board import Panel, PanelLink, PanelRow, TextPiece

__all__ = ["HomeView", "head_rows", "panels", "welcome_rows"]

_LOADING_TEXT = "..."
_MUTED = "$quiet"
_PERSON, _AGENTS, _MAINTENANCE = "\N{FULL BLOCK}", "\N{MEDIUM SHADE}", "\N{LIGHT SHADE}"
_STYLE_OF_MARK = {_PERSON: "$yours", _AGENTS: "$agents", _MAINTENANCE: "dim", " ": ""}
_COUNT_WIDTH = 7
_COMMAND_WIDTH = 31
_WIDE_DAYS = 28
"""Days of which there has to be room for each to have more than one cell."""
_MOST_DAY_WIDTH = 4
"""Cells of a day at most, the gap behind it among them."""
_WHOLE_DATE_WIDTH = 3
"""Cells of a day from which both digits of its date stand below it; else the last one."""
_FULL_LEGEND_WIDTH = 52
"""Cells from which the legend names maintenance in full, with four-digit numbers."""


@dataclass
class HomeView:
    """The counts that Home shows; ``None`` where one is still being made."""

    last_visit: tuple[int, datetime | None] | None = None
    """The newest journal entry that the person had seen when the app was opened, and when it was written."""
    record_counts: RecordCounts | None = None
    waiting: Sequence[InboxCount] | None = None
    next: Sequence[InboxItem] = ()
    """The first to decide, the riskiest first."""
    in_work: Sequence[WorkingItem] | None = None
    told: RecentExposures | None = None
    agent_changes: Sequence[ActivityRow] = ()
    agent_totals: AgentTotals | None = None
    days: Sequence[DayCount] | None = None
    facets: FacetCounts | None = None
    tags: Sequence[tuple[str, int]] | None = None
    namespaces: Sequence[tuple[str, int]] = ()
    health: Sequence[HealthFinding] | None = None
    expiring: ExpiringSoon | None = None


def panels(view: HomeView) -> list[Panel]:
    """Return the panels in reading order; they show the counts of ``view`` at the time when they are drawn."""
    return [
        Panel(lambda: _waiting_title(view), lambda w, h: _waiting(view, w, h), 6, 25),
        Panel(lambda: _since_title(view), lambda w, h: _since_rows(view, w, h), 6, 25),
        Panel(lambda: [TextPiece("In work", "bold", PanelLink("working"))], lambda w, h: _in_work(view, w, h), 4, 24),
        Panel(_exposures_title, lambda w, h: _exposures(view, w, h), 4, 7),
        Panel(lambda: [TextPiece("Health", "bold", PanelLink("health"))], lambda w, h: _health(view, w, h), 5, 7),
        Panel(lambda: [TextPiece("Ending soon", "bold")], lambda w, h: _expiring_rows(view, w, h), 5, 7),
        Panel(lambda: [TextPiece("Activity", "bold")], lambda w, h: _activity(view, w, h), 6, 14),
        Panel(lambda: [TextPiece("Namespaces and tags", "bold")], lambda w, h: _places(view, w, h), 6, 14),
    ]


def _plural(count: int, one: str, several: str = "") -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


# The rows above the panels


def head_rows(view: HomeView, width: int) -> list[PanelRow]:
    """Return the totals: records of each sort, then memories by trust and kind."""
    counts = view.record_counts
    if counts is None:
        first: PanelRow = [TextPiece(_LOADING_TEXT, "dim")]
    else:
        sorts = [
            (_plural(counts.memories, "memory", "memories"), PanelLink("memories")),
            (_plural(counts.working_items, "item of work", "items of work"), PanelLink("working")),
            (_plural(counts.skips, "skip"), PanelLink("skips")),
            ("an identity" if counts.has_identity else "no identity", PanelLink("identity")),
        ]
        first = _joined(((text, "bold", link) for text, link in sorts), "   ", width)
    return [[], first, _facet_row(view, width), []]


def _facet_row(view: HomeView, width: int) -> PanelRow:
    if view.facets is None:
        return []
    trust = [
        (f"{n:,} {name}", _MUTED, PanelLink("memories", f"is:{name}")) for name, n in view.facets.stabilities.items()
    ]
    kinds = [
        (_plural(n, *_KIND_NAMES.get(name, (name.replace("_", " "),))), _MUTED, PanelLink("memories", f"kind:{name}"))
        for name, n in view.facets.kinds.items()
    ]
    row = list(_joined(iter(trust), "  ", width))
    left = width - sum(cell_len(piece.text) for piece in row) - 5
    fitting = _joined(iter(kinds), "  ", left)
    return [*row, TextPiece("  |  ", "dim"), *fitting] if row and fitting else row


_KIND_NAMES = {
    "anti_pattern": ("thing to avoid", "things to avoid"),
    "bugfix": ("bug fix", "bug fixes"),
    "daily": ("daily note", "daily notes"),
    "discovery": ("discovery", "discoveries"),
}


def _joined(parts: Iterator[tuple[str, str, PanelLink]], between: str, width: int) -> PanelRow:
    """Return a row of the first parts, as many as fit."""
    row: list[TextPiece] = []
    used = 0
    for text, style, link in parts:
        needed = cell_len(text) + (len(between) if row else 0)
        if used + needed > width:
            break
        row += [TextPiece(between)] * bool(row) + [TextPiece(text, style, link)]
        used += needed
    return row


def welcome_rows(width: int) -> list[PanelRow]:
    """Return the rows of an empty workspace: the first steps."""
    ways = (
        ("ctrl+o", "import what Claude, a vault or memento-core remembers here"),
        ("memento import vault ~/notes", "bring in what you have; memento import --help lists the formats"),
        ("memento mcp", "let an agent write: name this as its MCP server"),
        ("memento add TEXT", "remember something yourself, or press 2, then n"),
    )
    rows: list[PanelRow] = [[], [TextPiece("Nothing is remembered yet", "bold")], []]
    text = "Here you will see what waits for you, what your agents did, and what ends soon."
    rows += [*([TextPiece(line, _MUTED)] for line in textwrap.wrap(text, max(width, 20))), []]
    for command, effect in ways:
        first, *others = textwrap.wrap(effect, max(width - _COMMAND_WIDTH, 20))
        rows.append([TextPiece(f"{command:<{_COMMAND_WIDTH}}"), TextPiece(first, _MUTED)])
        rows += [[TextPiece(" " * _COMMAND_WIDTH), TextPiece(line, _MUTED)] for line in others]
    return rows


# Decide next


def _waiting_title(view: HomeView) -> PanelRow:
    total = sum(kind.count for kind in view.waiting or ())
    title = TextPiece("Decide next", "bold", PanelLink("review"))
    return [title, TextPiece(f"  {total:,}", "bold $text-warning")] if total else [title]


_WHO_WIDTH, _WIDE_ROW = 12, 50


def _waiting(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.waiting is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    if not view.waiting:
        return [[TextPiece("All decided.", _MUTED)]]
    rows: list[PanelRow] = []
    left = height - 1 - len(view.next)
    for item in view.next[: height - 1]:
        rows.append(_next_row(item, width))
        # Where not all have room for a second line, the riskiest have one.
        if left > 0 and (text := _beyond_headline(item)):
            rows.append(_second_line(text, width))
            left -= 1
    kinds = ((f"{kind.count:,} {kind.name}", _MUTED, PanelLink("review", kind.kind)) for kind in view.waiting)
    return [*rows, _joined(kinds, "   ", width)]


def _second_line(text: str, width: int) -> PanelRow:
    return [TextPiece("  "), TextPiece(cells(text, width - 2).rstrip(), _MUTED)]


def _beyond_headline(item: InboxItem) -> str:
    """Return the first words that an item says besides its headline; of a contradiction both sides."""
    if item.kind == "contradiction":
        return " / ".join(item.row.said.split("\n"))
    return rest_of(" ".join(item.row.said.split()), item.headline)


def _next_row(item: InboxItem, width: int) -> PanelRow:
    word, style = label_of(item)
    age = f"{ago(item.row.since, clock.now()):>5}"
    who = f"  {cells(item.row.who, _WHO_WIDTH)}" if width >= _WIDE_ROW else ""
    headline = cells(item.headline, width - 2 - cell_len(who) - len(age))
    # The link is what the words cover: the cursor shows where they end.
    said = headline.rstrip()
    return [
        TextPiece(f"{word[0]} ", style_of_sign(style)),
        TextPiece(said, "", PanelLink("review", item.id)),
        TextPiece(" " * (cell_len(headline) - cell_len(said))),
        TextPiece(who, _MUTED),
        TextPiece(age, "dim"),
    ]


# Since you last looked


def _since_title(view: HomeView) -> PanelRow:
    moment = view.last_visit[1] if view.last_visit is not None else None
    when = "" if moment is None else f"  {time_ago(moment, clock.now())}"
    return [TextPiece("Since you last looked", "bold"), TextPiece(when, "dim")]


def _new_entries_link(view: HomeView, narrower: str = "actor:agent") -> PanelLink:
    # Not is:new: the numbers here count from when the app was opened, whatever the person saw since.
    return PanelLink("activity", f"{narrower} since:{(view.last_visit[0] if view.last_visit else 0) + 1}")


def _since_rows(view: HomeView, width: int, height: int) -> list[PanelRow]:
    totals = view.agent_totals
    if totals is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    if not totals.entries:
        latest = [_change_row(row, width) for row in view.agent_changes[: height - 1]]
        said = "No agent wrote since. The last:" if latest else "No agent has written anything."
        return [[TextPiece(said, _MUTED)], *latest]
    many = "more than " if totals.is_capped else ""
    changes = f"{many}{_plural(totals.entries, 'change')}"
    rows: list[PanelRow] = [
        [
            TextPiece("Agents made "),
            TextPiece(changes, "bold", _new_entries_link(view)),
            TextPiece(_changed_records_text(totals, width - 13 - len(changes))),
        ]
    ]
    room = height - 2
    agents = list(totals.by_agent.items())
    for name, count in agents[: room if len(agents) <= room else room - 1]:
        label = cells(name or "without a name", width - _COUNT_WIDTH - 2).rstrip()
        narrower = f'agent:"{name}"' if name.isprintable() and not {'"', ","} & set(name or ",") else "actor:agent"
        rows.append(
            [
                TextPiece(f"{count:>{_COUNT_WIDTH},}", "bold", _new_entries_link(view, narrower)),
                TextPiece(f"  {label}", "$agents"),
            ]
        )
    if len(agents) > room:
        rest = sum(count for _, count in agents[room - 1 :])
        rows.append([TextPiece(f"{rest:>{_COUNT_WIDTH},}  by {_plural(len(agents) - room + 1, 'other')}", _MUTED)])
    actions = "  ".join(
        f"{count:,} {done}" for done, count in counts_in_words(totals.by_action, totals.proposed).items()
    )
    rows.append([TextPiece(cells(actions, width).rstrip(), "dim")])
    return [*rows, *(_change_row(row, width) for row in view.agent_changes[: height - len(rows)])]


def _change_row(row: ActivityRow, width: int) -> PanelRow:
    entry = row.entry
    age = f"{ago(datetime.fromisoformat(entry.at), clock.now()):>5}"
    headline = row.headline or note_in_words(entry.note) or f"{row.record} {row.record_id}".strip()
    told = cells(f"{done_words(entry.action, proposes=row.proposes)}: {headline}", width - 2 - len(age))
    link = PanelLink("activity", f"since:{entry.seq} before:{entry.seq + 1}")
    gap = TextPiece(" " * (cell_len(told) - cell_len(told.rstrip())))
    return [TextPiece("+ ", _MUTED), TextPiece(told.rstrip(), "", link), gap, TextPiece(age, "dim")]


_RECORDS = {
    "memory": ("memory", "memories"),
    "item": ("item of work", "items of work"),
    "crystal": ("identity", "identities"),
}


def _changed_records_text(totals: AgentTotals, width: int) -> str:
    # A proposal is counted with the record that it is about, and stands in the review.
    written = {name: count for name, count in totals.by_record.items() if name != "proposal"} or totals.by_record
    parts = [_plural(count, *_RECORDS.get(name, (name,))) for name, count in written.items()]
    return cells(f" to {', '.join(parts)}." if parts else ".", max(0, width)).rstrip()


# In work


def _in_work(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.in_work is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    if not view.in_work:
        return [[TextPiece("No working item is active.", _MUTED)]]
    lines_each = height // len(view.in_work)
    if lines_each < 2:  # noqa: PLR2004 - the next action stands behind the title
        return [_work_row(item, width) for item in view.in_work[:height]]
    rows: list[PanelRow] = []
    for item in view.in_work:
        then = f"\N{RIGHTWARDS ARROW} {item.next_action}" if item.next_action else ""
        below = [line for line in (then, " ".join(item.content.split())) if line]
        rows.append(_work_row(item, width, with_next=False))
        rows += [_second_line(line, width) for line in below[: lines_each - 1]]
    return rows


def _work_row(item: WorkingItem, width: int, *, with_next: bool = True) -> PanelRow:
    words = " ".join(item.title.replace('"', " ").split()[:8])
    title = cells(item.title, min(width - 2, cell_len(shown(item.title)))).rstrip()
    row = [
        TextPiece("\N{BLACK RIGHT-POINTING SMALL TRIANGLE} ", _MUTED),
        TextPiece(title, "", PanelLink("working", f'"{words}"')),
    ]
    left = width - 2 - cell_len(title)
    if with_next and item.next_action and left > _LEAST_NEXT_ACTION:
        row.append(TextPiece(cells(f"  \N{RIGHTWARDS ARROW} {item.next_action}", left).rstrip(), _MUTED))
    return row


_LEAST_NEXT_ACTION = 12
"""Cells from which a next action is worth beginning."""


# Told to agents


def _exposures_title() -> PanelRow:
    return [TextPiece("Told to agents", "bold", PanelLink("activity", "exposures")), TextPiece("  24 h", "dim")]


def _exposures(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.told is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    total = view.told.total
    if not total.told:
        return [[TextPiece("No agent was told anything.", _MUTED)]]
    parts = [
        f"{_plural(total.memories, 'memory', 'memories')} to {_plural(total.sessions, 'session')}",
        f"{total.tokens:,} tokens",
        *([f"{total.used:,} used"] if total.seen else []),
    ]
    sums = ", ".join(parts)
    rows: list[PanelRow] = [[TextPiece(cells(sums, width).rstrip(), _MUTED)]]
    for exposure in view.told.latest[: height - 1]:
        if exposure.memory is not None:
            age = f"{ago(exposure.exposure.at, clock.now()):>5}"
            headline = cells(exposure.memory.headline, width - 2 - len(age))
            said = headline.rstrip()
            sign = TextPiece("+ ", "$text-success") if exposure.exposure.used_at is not None else TextPiece("  ")
            gap = TextPiece(" " * (cell_len(headline) - cell_len(said)))
            link = PanelLink("memories", written_field("id", exposure.memory.id))
            rows.append([sign, TextPiece(said, "", link), gap, TextPiece(age, "dim")])
    return rows


# Activity


def _activity(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.days is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    # Days of two cells or more can be told apart; where there is no room for all of them, the first are left out.
    day_width = min(max(width // _WIDE_DAYS, 1), _MOST_DAY_WIDTH)
    days = view.days[-(width // day_width) :]
    most = max((day.person + day.agent + day.system for day in days), default=0)
    if not most:
        return [[TextPiece(f"Nothing was written in the last {len(days)} days.", _MUTED)]]
    bars = height - 2
    columns = [_bar(day, most, bars) for day in days]
    rows: list[PanelRow] = []
    for level in range(bars):
        row = [
            TextPiece((column[level] * (day_width - 1 or 1)).ljust(day_width), _STYLE_OF_MARK[column[level]])
            for column in columns
        ]
        rows.append(row)
    return [*rows, _axis(days, day_width), _legend(days, most, width)]


def _bar(day: DayCount, most: int, height: int) -> list[str]:
    """Return a day's column from the top: the person's changes stand lowest, then agents', then maintenance."""
    counts = {_MAINTENANCE: day.system, _AGENTS: day.agent, _PERSON: day.person}
    parts = {sign: 1 for sign, count in counts.items() if count}
    total = sum(counts.values())
    for _ in range(len(parts), round(total / most * height)):
        # One more cell for the part with the most changes for each of its cells.
        parts[max(parts, key=lambda sign: counts[sign] / parts[sign])] += 1
    column = [sign for sign, cells_of_it in parts.items() for _ in range(cells_of_it)]
    return [" "] * (height - len(column)) + column


def _axis(days: Sequence[DayCount], day_width: int) -> PanelRow:
    """Return a mark for each day, with a link to its changes."""
    row = []
    for day in days:
        moment = date.fromisoformat(day.day)
        busy = day.person + day.agent + day.system > 0
        day_of_month = moment.day if day_width >= _WHOLE_DATE_WIDTH else moment.day % 10
        mark = f"{day_of_month}" if busy else "\N{MIDDLE DOT}"
        link = PanelLink("activity", f"since:{day.day} before:{moment + timedelta(days=1)}") if busy else None
        row.append(TextPiece(mark, "bold" if day is days[-1] else "dim", link))
        row.append(TextPiece(" " * (day_width - len(mark))))
    return row


def _legend(days: Sequence[DayCount], most: int, width: int) -> PanelRow:
    parts = [
        (_PERSON, "you", sum(day.person for day in days)),
        (_AGENTS, "agents", sum(day.agent for day in days)),
        (_MAINTENANCE, "maintenance" if width >= _FULL_LEGEND_WIDTH else "maint.", sum(day.system for day in days)),
    ]
    row: list[TextPiece] = []
    for sign, name, count in parts:
        if count or sign != _MAINTENANCE:
            row += [TextPiece(f"{sign} ", _STYLE_OF_MARK[sign]), TextPiece(f"{name} {count:,}   ", _MUTED)]
    today = days[-1].person + days[-1].agent + days[-1].system
    ends = (f"in {len(days)} days, {today:,} today, {most:,} at most", f"in {len(days)} days, {today:,} today", "")
    left = width - sum(cell_len(piece.text) for piece in row)
    return [*row, TextPiece(next(end for end in ends if len(end) <= max(0, left)), _MUTED)]


# Namespaces and tags


def _places(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if len(view.namespaces) < 2:  # noqa: PLR2004 - one alone tells nothing apart
        return _tags(view, width, height)
    most_first = sorted(view.namespaces, key=lambda one: -one[1])
    parts = (
        (f"{shown(name)} {count:,}", _MUTED, PanelLink("memories", written_field("ns", name)))
        for name, count in most_first
    )
    return [_joined(parts, "   ", width), *_tags(view, width, height - 1)]


def _tags(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.tags is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    if not view.tags:
        return [[TextPiece("No memory has a tag.", _MUTED)]]
    columns = -(-len(view.tags) // height)
    if columns * _TAG_BAR_WIDTH <= width:
        return _tag_bars(view.tags, min(width // columns, _MOST_TAG_BAR_WIDTH), height)
    rows: list[list[TextPiece]] = [[]]
    used = 0
    most = view.tags[0][1]
    for tag, count in sorted(view.tags, key=lambda tag: tag[0].casefold()):
        word, number = cells(tag, min(width - 8, cell_len(shown(tag)))).rstrip(), f" {count:,}"
        needed = cell_len(word) + len(number)
        if used and used + 3 + needed > width:
            if len(rows) == height:
                continue
            rows.append([])
            used = 0
        if used:
            rows[-1].append(TextPiece("   "))
            used += 3
        rows[-1] += [TextPiece(word, _tag_style(count, most), _tag_link(tag)), TextPiece(number, "dim")]
        used += needed
    return list(rows)


def _tag_bars(tags: Sequence[tuple[str, int]], across: int, height: int) -> list[PanelRow]:
    """Return a row for each tag with a bar of its use, the most used first, in columns of ``across`` cells."""
    most_first = sorted(tags, key=lambda tag: (-tag[1], tag[0].casefold()))
    most = most_first[0][1]
    count_width = len(f"{most:,}")
    room = across - _TAG_NAME_WIDTH - count_width - 4
    rows: list[list[TextPiece]] = [[] for _ in range(min(height, len(tags)))]
    for place, (tag, count) in enumerate(most_first):
        name = cells(tag, _TAG_NAME_WIDTH)
        said = name.rstrip()
        style = _tag_style(count, most)
        bar = _PERSON * max(1, round(room * count / most))
        rows[place % height] += [
            TextPiece(said, style, _tag_link(tag)),
            TextPiece(" " * (cell_len(name) - cell_len(said))),
            TextPiece(f" {count:>{count_width},} ", "dim"),
            TextPiece(bar, "dim"),
            TextPiece(" " * (room - len(bar) + 2)),
        ]
    return list(rows)


_TAG_BAR_WIDTH, _MOST_TAG_BAR_WIDTH = 26, 50
"""Cells of a tag with its bar, at least and at most."""
_TAG_NAME_WIDTH = 14


def _tag_style(count: int, most: int) -> str:
    """Return a style; the more a tag is used, the heavier."""
    share = count / most
    return "bold" if share > 0.3 else "" if share > 0.1 else _MUTED  # noqa: PLR2004 - three weights


def _tag_link(tag: str) -> PanelLink:
    return PanelLink("memories", written_field("tag", tag))


# Health


def _health(view: HomeView, width: int, height: int) -> list[PanelRow]:
    if view.health is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    return [_health_check_row(sign, width) for sign in sorted(view.health, key=lambda sign: sign.ok)[:height]]


_NAME_WIDTH = 17


def _health_check_row(sign: HealthFinding, width: int) -> PanelRow:
    detail = cells(sign.detail, max(0, width - _NAME_WIDTH - 6)).rstrip()
    mark = TextPiece("ok", "$text-success") if sign.ok else TextPiece(" !", "bold $text-warning")
    name = TextPiece(sign.name, "" if sign.ok else "bold", PanelLink("health", sign.name))
    return [mark, TextPiece("  "), name, TextPiece(" " * (_NAME_WIDTH - len(sign.name) + 2)), TextPiece(detail, _MUTED)]


# Ending soon


def _expiring_rows(view: HomeView, width: int, height: int) -> list[PanelRow]:
    soon = view.expiring
    if soon is None:
        return [[TextPiece(_LOADING_TEXT, "dim")]]
    if not soon.memories and not soon.skips:
        return [[TextPiece("No memory expires within 7 days, no skip within 3.", _MUTED)]]
    parts = []
    if soon.memories:
        parts.append(
            (_plural(soon.memories, "memory", "memories"), " within 7 days", PanelLink("memories", "expires:<7d"))
        )
    if soon.skips:
        parts.append((_plural(soon.skips, "skip"), " within 3 days", PanelLink("skips", "expires:<3d")))
    first: list[TextPiece] = []
    for text, tail, link in parts:
        first += [TextPiece(", ")] * bool(first) + [TextPiece(text, "bold", link), TextPiece(tail)]
    rows: list[PanelRow] = [first]
    for record in soon.first[: height - 1]:
        when = f"{ago(record.ends_at, clock.now()).removeprefix('in '):>5}"
        words = " ".join(record.headline.split("\n")[0].replace('"', " ").split()[:8])
        link = PanelLink("skips", f'"{words}"')
        if record.record == "memory":
            link = PanelLink("memories", written_field("id", record.id))
        kind = f"{record.record:<7}"
        headline = cells(record.headline, width - len(when) - len(kind) - 4).rstrip()
        rows.append([TextPiece(f"{when}  ", "dim"), TextPiece(f"{kind}  ", _MUTED), TextPiece(headline, "", link)])
    return rows
