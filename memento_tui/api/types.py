"""The types of storage that callers of the API receive or pass; no front end imports `memento_tui.storage` itself."""

from __future__ import annotations

from memento_tui.api.queries import LinkDirection, MemoryView, Provenance
from memento_tui.storage.activity import ActivityRow, AgentTotals, ChangedRecord, DayCount
from memento_tui.storage.backup import Progress
from memento_tui.storage.hub_state import CARD_KEY, HubRecord, KnownEntry
from memento_tui.storage.journal import HUB_CHANNEL, Actor, Author, Change, Entry
from memento_tui.storage.journal_queries import Revision
from memento_tui.storage.ledgers import ExposureFilter, ExposureRow, ImportedRecord, SessionTotals, SkipHit
from memento_tui.storage.long_work import StoppedError, raise_if_stopped
from memento_tui.storage.memory_events import MemoryEvent
from memento_tui.storage.memory_queries import MemoryOrder, MemorySummary, Page, TimelineEntry
from memento_tui.storage.review import InboxRow
from memento_tui.storage.settings import Settings
from memento_tui.storage.statistics import FACETS, Facet, FacetCounts, Statistics
from memento_tui.storage.tables import record_image
from memento_tui.storage.transaction import EntrySource, Transaction

__all__ = [
    "CARD_KEY",
    "FACETS",
    "HUB_CHANNEL",
    "ActivityRow",
    "Actor",
    "AgentTotals",
    "Author",
    "Change",
    "ChangedRecord",
    "DayCount",
    "Entry",
    "EntrySource",
    "ExposureFilter",
    "ExposureRow",
    "Facet",
    "FacetCounts",
    "HubRecord",
    "ImportedRecord",
    "InboxRow",
    "KnownEntry",
    "LinkDirection",
    "MemoryEvent",
    "MemoryOrder",
    "MemorySummary",
    "MemoryView",
    "Page",
    "Progress",
    "Provenance",
    "Revision",
    "SessionTotals",
    "Settings",
    "SkipHit",
    "Statistics",
    "StoppedError",
    "TimelineEntry",
    "Transaction",
    "raise_if_stopped",
    "record_image",
]
