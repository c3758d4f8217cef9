"""Doing one thing to each of several records: one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from memento_tui.cli.output import as_json, safe, write
from memento_tui.cli.session import current_session
from memento_tui.errors import MementoError

__all__ = ["for_each"]


def for_each(ids: Sequence[str], act: Callable[[str], dict[str, Any]], said: Callable[[dict[str, Any]], str]) -> None:
    """Act on each id and tell what became of each; end with the exit code of the first that failed.

    ``act`` returns the JSON of one outcome, ``said`` the same in words. A single id that fails is a plain error.
    """
    outcomes: list[dict[str, Any]] = []
    failed: list[MementoError] = []
    for given in ids:
        try:
            outcomes.append(act(given))
        except MementoError as error:
            if len(ids) == 1:
                raise
            failed.append(error)
            outcomes.append({"id": given, "status": "failed", "error": error.as_dict()})
    if current_session().as_json:
        problem = {"error": failed[0].as_dict()} if failed else {}
        write(as_json({"outcomes": outcomes, **problem}) + "\n")
    else:
        write("".join(safe(_words(outcome, said)) + "\n" for outcome in outcomes))
    if failed:
        raise click.exceptions.Exit(failed[0].exit_code)


def _words(outcome: dict[str, Any], said: Callable[[dict[str, Any]], str]) -> str:
    if outcome["status"] == "failed":
        return f"{outcome['id']}  failed: {outcome['error']['message']} {outcome['error']['hint']}".rstrip()
    return said(outcome)
