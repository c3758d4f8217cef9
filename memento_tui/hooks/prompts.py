"""Prepare the context for a prompt or a file that is about to be read: a few memories and skips, most often none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from memento_tui.hooks.events import HookContext, PreparedContext
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.retrieval import memories_for_file, memories_for_prompt, up_to_date_index
from memento_tui.hooks.scope import RetrievedMemory, SessionScope
from memento_tui.projects import find_project
from memento_tui.storage.hook_store import FiredSkip, HookStore
from memento_tui.text.keywords import content_words, truncate_prompt

__all__ = ["context_for_file", "context_for_prompt"]


def context_for_prompt(context: HookContext) -> PreparedContext:
    """Return the few memories that the prompt calls for, and the skips that it touches.

    A session of whose start no hook told begins here, and one whose start named no transcript has it from here.
    """
    scope, call, prompt = context.scope(), context.call, context.call.prompt
    begun = context.store.begun(call.session) if call.session else None
    if call.session and (begun is None or (call.transcript and not begun.transcript)):
        context.store.begin_session(call.session, call.host, scope.namespace, call.transcript, fresh=False)
    # For a trivial prompt no index is opened; but "run the tests again" may well be a skip.
    is_trivial = not content_words(prompt)
    index = None if is_trivial else up_to_date_index(context.paths, context.store)
    memories = []
    if index is not None:
        memories = memories_for_prompt(
            context.store, index, prompt, scope, context.settings, context.now, context.nearest
        )
    return _formatted(
        context, scope, memories, _matching_skips(context.store, scope, truncate_prompt(prompt), in_passing=is_trivial)
    )


def context_for_file(context: HookContext) -> PreparedContext:
    """Return the memories and skips about a file that the session has not been shown, such as at its first reading."""
    path = _path_in_project(context.call)
    if not path:
        return PreparedContext()
    scope = context.scope()
    index = up_to_date_index(context.paths, context.store)
    memories = memories_for_file(context.store, index, path, scope, context.settings, context.now, context.nearest)
    return _formatted(context, scope, memories, _matching_skips(context.store, scope, path))


def _path_in_project(call: HookCall) -> str:
    """Return the path of the file relative to its project; empty for a file outside of it."""
    project = find_project(call.cwd)
    if project is None or not call.file or "\0" in call.file:
        return ""
    path = Path(os.path.realpath(Path(call.cwd) / call.file))
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else ""


def _matching_skips(store: HookStore, scope: SessionScope, text: str, *, in_passing: bool = False) -> list[FiredSkip]:
    active = [skip for skip in store.skips() if scope.concerns(skip.namespace)]
    if not active:
        return []
    from memento_tui.text.skip_matching import matched_words, mentions_of  # noqa: PLC0415 - most people have none

    mentions = mentions_of(text)
    found = ((skip, matched_words(mentions, skip.item, in_passing=in_passing)) for skip in active)
    return [FiredSkip(skip, words) for skip, words in found if words]


def _formatted(
    context: HookContext, scope: SessionScope, memories: Sequence[RetrievedMemory], skips: Sequence[FiredSkip]
) -> PreparedContext:
    """Return the block for as many of these memories and skips as the budget holds."""
    if not memories and not skips:
        return PreparedContext()
    from memento_tui.hooks.block import block_within_budget  # noqa: PLC0415 - most prompts call for nothing

    return block_within_budget(context, scope, memories, skips)
