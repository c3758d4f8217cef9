"""A person and a mirror at work on one folder of notes."""

from __future__ import annotations

from pathlib import Path

from memento_tui.mirror.mirror import Mirror

__all__ = ["put", "step"]


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def step(mirror: Mirror) -> list[tuple[str, str]]:
    return [(event.action, event.note) for event in mirror.step()]
