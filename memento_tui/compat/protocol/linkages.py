"""The links and pictures of a memory, as callers give them and as answers show them.

An agent may attach and see pictures of the directory that its host started the server in, and below. The text of
a memory is not trusted: the file is checked anew whenever it is shown, by its bytes and not by its name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from memento_tui.api import Workspace
from memento_tui.compat.protocol.workspaces import WorkspaceScope
from memento_tui.errors import InvalidField, InvalidInput, NotFound
from memento_tui.formats.protocol.vocabulary import RELATION_OF_LINKAGE, linkage_from_relation
from memento_tui.model import Relation
from memento_tui.model.validation import check_line
from memento_tui.operations.memories import Link
from memento_tui.text.fence import one_line

__all__ = [
    "IMAGE_LABEL",
    "Linkages",
    "check_image",
    "image_paths",
    "linkages_texts",
    "read_image",
    "read_linkages",
]

IMAGE_LABEL = "image"
"""The label of the relation from a memory to the file of its picture."""

_MAX_IMAGE_BYTES = 5 * 1024 * 1024
_IMAGE_SUFFIXES = ".jpg, .jpeg, .png, .gif, .webp"


class ImageFile(NamedTuple):
    """A picture's file."""

    path: Path
    mime_type: str
    data: bytes


def check_image(written: str, directory: Path) -> Path:
    """Return the whole path of a picture's file below ``directory``, after a look at it.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it lies elsewhere, is no picture, or is larger than 5 MB.

    """
    return read_image(written, directory).path


def read_image(written: str, directory: Path) -> ImageFile:
    """Return a picture below ``directory``. Raises like `check_image`."""
    path = _path_inside(written, directory)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "It may have been moved since; give the path it has now.") from None
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}.", "Check that it is a file you may read."
        ) from None
    try:
        data = _image_bytes(descriptor, path)
    finally:
        os.close(descriptor)
    kind = _image_type(data)
    if not kind:
        raise InvalidInput(f"{path} is not a picture that an agent can see.", f"It takes {_IMAGE_SUFFIXES}.")
    return ImageFile(path, kind, data)


def _image_bytes(descriptor: int, path: Path) -> bytes:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        raise InvalidInput(f"{path} is not a file.", f"A picture is one of {_IMAGE_SUFFIXES}.")
    if facts.st_size > _MAX_IMAGE_BYTES:
        raise InvalidInput(
            f"{path} has {facts.st_size:,} bytes; a picture has at most {_MAX_IMAGE_BYTES:,}.", "Shrink it."
        )
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(_MAX_IMAGE_BYTES)


def _path_inside(written: str, directory: Path) -> Path:
    root = directory.resolve()
    if root == Path(root.anchor):
        raise InvalidInput(
            "Pictures need a project, and the server was started in the root directory.",
            "Let the host start it in the project's directory.",
        )
    try:
        path = (root / Path(written).expanduser()).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise InvalidInput(f"{written!r:.100} is no path: {error}.", "Give the path of a picture's file.") from None
    if not path.is_relative_to(root):
        raise InvalidInput(f"{path} is outside {root}, where this agent works.", "Copy the picture into the project.")
    return path


def _image_type(data: bytes) -> str:
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return ""


_LINKAGES_SCHEMA = {
    "items": {
        "type": "object",
        "properties": {
            "type": {"enum": list(RELATION_OF_LINKAGE)},
            "id": {"type": "string"},
            "path": {"type": "string"},
            "label": {"type": "string"},
        },
        "required": ["type"],
    }
}
Linkages = Annotated[
    list[dict[str, Any]],
    Field(description="links to a memory or item (id) or a file (path)", json_schema_extra=_LINKAGES_SCHEMA),
]

_LINKAGE_EXAMPLE = (
    'Give each as {"type": "memory", "id": "..."}, with type item likewise, or {"type": "file", "path": "..."}.'
)


def read_linkages(workspace: Workspace, scope: WorkspaceScope, linkages: Sequence[Mapping[str, Any]]) -> list[Link]:
    """Return the links that linkages mean, each target looked up, so that nothing is stored with a link to nowhere.

    Raises:
        InvalidField: a linkage is not written as one.
        NotFound, AmbiguousId: it leads to no record, or to several.

    """
    return [_read_linkage(workspace, scope, linkage) for linkage in linkages]


def _read_linkage(workspace: Workspace, scope: WorkspaceScope, linkage: Mapping[str, Any]) -> Link:
    kind, label = linkage.get("type"), linkage.get("label") or ""
    target = linkage.get("path" if kind == "file" else "id")
    if (
        not isinstance(kind, str)
        or kind not in RELATION_OF_LINKAGE
        or not isinstance(target, str)
        or not isinstance(label, str)
    ):
        raise InvalidField("linkages", f"holds what is no link: {linkage!r:.100}", _LINKAGE_EXAMPLE)
    check_line(label, "linkages.label")
    if kind == "memory":
        target = scope.memory(workspace, target).id
    elif kind == "item":
        target = scope.item(workspace, target).id
    else:
        check_line(target, "linkages.path", required=True)
        # Only image_path attaches a picture: that looks at the file first.
        label = "" if label == IMAGE_LABEL else label
    return Link(RELATION_OF_LINKAGE[kind], target, label)


def image_paths(workspace: Workspace, memory_id: str) -> list[str]:
    """Return the paths of the pictures that are attached to a memory."""
    return _image_paths(workspace.relations(memory_id, direction="out"))


def _image_paths(relations: Sequence[Relation]) -> list[str]:
    return [relation.dst for relation in relations if _is_image(relation)]


def _is_image(relation: Relation) -> bool:
    return (relation.type, relation.label) == ("file", IMAGE_LABEL)


def linkages_texts(workspace: Workspace, ids: Sequence[str]) -> dict[str, str]:
    """Return the lines about the links and pictures of each of some memories, by id; each begins with a line break."""
    outgoing: dict[str, list[Relation]] = {name: [] for name in ids}
    for relation in workspace.relations_around(ids):
        if relation.src in outgoing:
            outgoing[relation.src].append(relation)
    return {name: _linkages_text(relations) for name, relations in outgoing.items()}


def _linkages_text(relations: Sequence[Relation]) -> str:
    links, images = [], _image_paths(relations)
    for relation in relations:
        if _is_image(relation):
            continue
        linkage = linkage_from_relation(relation.type, relation.dst, relation.label)
        written = f"{linkage['type']}:{one_line(relation.dst)}"
        links.append(f"{written} ({one_line(linkage['label'])})" if "label" in linkage else written)
    # Nobody verifies a link: a memory's own trust says nothing about the words that an agent put on it.
    lines = f"\nLinks (unverified): {', '.join(links)}" if links else ""
    if images:
        count = f"{len(images)} image{'s' if len(images) > 1 else ''}"
        lines += f"\nImages: [{count}] {', '.join(one_line(path) for path in images)}"
    return lines
