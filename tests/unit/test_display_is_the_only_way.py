"""A lint over the source of the app: untrusted text reaches a widget only through the display module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "memento_tui" / "tui"
FILES = sorted(path for path in APP.rglob("*.py") if path.name != "display.py")

_UNTRUSTED = {
    *("agent", "author", "channel", "content", "decided_by", "head", "headline", "id", "item", "item_id", "label"),
    *("memory_id", "message", "name", "namespace", "next_action", "note", "origin", "payload", "proposed_by", "quote"),
    *("reason", "record_id", "session", "snippet", "source", "tag", "tags", "target_id", "text", "title", "url"),
    *("validity_context", "verified_by", "why", "path"),
}
"""Fields of records, and what this project calls values that are taken from them."""

_SAFE = {"shown", "cells", "literal", "len", "bool", "isinstance", "key_names", "ago"}
"""Calls whose result may be shown, whatever they were given."""

_MAKERS = {"Content", "styled"}
"""What makes content of a string without looking at it."""

_TAKERS = {"Static", "Label", "Button", "Link", "update", "Collapsible", "Tooltip"}
"""What reads a plain string as markup."""

_NEVER = {"from_markup", "notify", "from_rich_text", "from_text"}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _exposed(node: ast.AST) -> Iterator[str]:
    """Yield the untrusted names in an expression that no safe call covers."""
    if isinstance(node, ast.Call) and _called(node) in _SAFE:
        return
    if isinstance(node, ast.Attribute) and node.attr in _UNTRUSTED:
        yield node.attr
    elif isinstance(node, ast.Name) and node.id in _UNTRUSTED:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _exposed(child)


def _is_put_together(node: ast.AST | None) -> bool:
    """Tell whether an expression joins a plain string from parts."""
    if isinstance(node, ast.BinOp):
        return any(isinstance(side, ast.Constant) or _is_put_together(side) for side in (node.left, node.right))
    return isinstance(node, ast.JoinedStr)


def faults(source: str) -> Iterator[str]:
    """Yield what is wrong in a module, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("border_title", "border_subtitle", "tooltip"):
            yield f"{node.lineno}: {node.attr} is read as markup"
        if not isinstance(node, ast.Call):
            continue
        name = _called(node)
        if name in _NEVER:
            yield f"{node.lineno}: {name} reads its text as markup"
        first = node.args[0] if node.args else None
        if name in _MAKERS and first is not None:
            yield from (f"{node.lineno}: {name} is given {found}" for found in _exposed(first))
        if name in _TAKERS and _is_put_together(first):
            yield f"{node.lineno}: {name} is given a plain string that was put together"
        if name in _TAKERS - {"update"} and isinstance(first, ast.Attribute | ast.Name):
            yield from (f"{node.lineno}: {name} is given {found}" for found in _exposed(first))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(APP)))
def test_no_untrusted_text_reaches_a_widget_unseen(path: Path) -> None:
    assert list(faults(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "Static(memory.title)",
        'Static(f"by {who}")',
        'widget.update(f"{row.headline} changed")',
        "Content(memory.content)",
        'Content.styled(f"{proposal.proposed_by}: ", "dim")',
        'Content(" ".join(memory.tags))',
        "app.notify(str(error))",
        'label.update("by " + who)',
        'Content.from_markup("[b]$x[/b]", x=title)',
        "widget.border_title = memory.title",
    ],
)
def test_the_lint_finds_what_it_is_for(source: str) -> None:
    assert list(faults(source))


@pytest.mark.parametrize(
    "source",
    [
        "Static(literal(memory.title))",
        'Content.styled(f"{shown(proposal.proposed_by)}: ", "dim")',
        'Content(f"{len(memory.tags):,} tags")',
        'Static(Content("Nothing here."))',
        'Static(classes="nothing")',
        'line.update(Content(" ") + literal(memory.title))',
    ],
)
def test_the_lint_lets_safe_text_pass(source: str) -> None:
    assert list(faults(source)) == []
