"""The review: one queue over everything that waits, one thing in focus, its evidence beside it, one key decides."""

from memento_tui.tui.sections.review.section import ReviewSection

__all__ = ["ReviewSection"]
