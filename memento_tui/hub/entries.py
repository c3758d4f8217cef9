"""An entry as it travels between machines, the digest that its member signs, and the chain that the hub makes.

The key with which a machine signs what it gives the hub: made here, kept in a file of its own, never sent.

Join two changes of one record field by field, and put one machine's change on top of what the hub has now.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from memento_tui.errors import DataDirectoryError
from memento_tui.model import AnyRecord, Memory
from memento_tui.model.claims import HIGHEST_CLAIMED_CERTAINTY
from memento_tui.private_files import PRIVATE_FILE_MODE

__all__ = [
    "FORMAT",
    "GENESIS",
    "SENT_EVIDENCE",
    "HubChange",
    "HubEntry",
    "Number",
    "SentChange",
    "SigningKey",
    "as_sent",
    "chain_hash",
    "differing_fields",
    "fault_of",
    "merge",
    "rebase",
    "without_trust",
]


class SigningKey:
    """The private key (Ed25519) of this machine in one data directory."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private

    @classmethod
    def make(cls, path: Path) -> SigningKey:
        """Make a new key and write it to a file that only its owner can read. Raises `DataDirectoryError`."""
        made = Ed25519PrivateKey.generate()
        try:
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE_MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(made.private_bytes_raw())
        except OSError as error:
            raise DataDirectoryError(
                f"{path} cannot be written: {error.strerror}.", "Check the data directory's permissions."
            ) from error
        return cls(made)

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Return the key in a file. Raises `DataDirectoryError`."""
        try:
            return cls(Ed25519PrivateKey.from_private_bytes(path.read_bytes()))
        except (OSError, ValueError) as error:
            raise DataDirectoryError(
                f"{path}, the key of this machine at the hub, is missing or damaged.",
                "Leave the hub and join it again: memento hub leave, memento hub join URL. Nothing is lost.",
            ) from error

    @property
    def public(self) -> bytes:
        """The 32 bytes by which others check this machine's signatures."""
        return self._private.public_key().public_bytes_raw()

    def sign(self, data: bytes) -> bytes:
        """Return the signature of some bytes, 64 bytes."""
        return self._private.sign(data)


def _is_signed(public: bytes, data: bytes, signature: bytes) -> bool:
    """Tell whether the owner of a public key signed some bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


FORMAT = 2
_FIRST_FORMAT_WITH_DIGESTS = 2
"""The form of entries and images that this version writes, and the newest that it reads.

From 2 on the note of an entry is signed by a digest, so that a purge can empty it.
"""

SENT_EVIDENCE = ("removed", "suspicion", "opinion")
"""The keys of a proposal's evidence that are sent; other evidence may quote records that are not shared."""

GENESIS = b"\x00" * 32
"""The hash before the first entry."""


Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""The number of an entry or of a version, which PostgreSQL and SQLite keep in 8 bytes."""


class HubChange(msgspec.Struct, frozen=True):
    """A record as one entry left it: its JSON, ``None`` where it was removed or purged."""

    record: str
    record_id: str
    version: Number
    removed: bool
    image: str | None
    nonce: bytes | None
    digest: bytes


class HubEntry(msgspec.Struct, frozen=True):
    """One entry of the hub's journal, in the order in which its columns are read."""

    seq: Number
    id: str
    member: str
    role: str
    format: int
    origin: str
    at: str
    actor: str
    agent: str
    session: str
    channel: str
    action: str
    note: str
    content: bytes
    signature: bytes
    previous_hash: bytes
    hash: bytes
    note_nonce: bytes | None = None
    note_digest: bytes | None = None
    """``None`` in an entry of format 1, whose note is signed as it stands."""
    changes: tuple[HubChange, ...] = ()
    is_cut: bool = False
    """Whether it brings more than is read at once, so that the last of its changes are missing here."""


class SentChange(msgspec.Struct, frozen=True):
    """One change to be appended: ``base`` is the version at the hub that it was made from, 0 for a new record."""

    record: str
    record_id: str
    base: int
    after: AnyRecord | None
    image: str | None


def _digest(nonce: bytes, image: str | None) -> bytes:
    return hashlib.sha256(nonce + (b"" if image is None else image.encode())).digest()


_FACTS = ("format", "id", "origin", "at", "actor", "agent", "session", "channel", "action")


def _content(
    workspace: str, member: str, facts: Sequence[object], note: str, changes: Sequence[Sequence[object]]
) -> bytes:
    """Return the digest that a member signs; ``note`` is the note in format 1, and its digest in later formats."""
    return hashlib.sha256(msgspec.json.encode((workspace, member, *facts, note, changes))).digest()


def as_sent(
    workspace: str, member: str, key: SigningKey, facts: Mapping[str, Any], changes: Sequence[SentChange]
) -> dict[str, Any]:
    """Return an entry as the hub's ``append`` takes it, signed. ``facts`` has the columns of `HubEntry` by name."""
    facts = {"format": FORMAT, **facts}
    rows: list[dict[str, Any]] = []
    for change in changes:
        nonce = os.urandom(16)
        rows.append(
            {
                "record": change.record,
                "record_id": change.record_id,
                "base": change.base,
                "removed": change.after is None,
                "image": change.image,
                "nonce": nonce.hex(),
                "digest": _digest(nonce, change.image).hex(),
            }
        )
    signed = [(r["record"], r["record_id"], r["base"] + 1, r["removed"], r["digest"]) for r in rows]
    note_nonce = os.urandom(16)
    note_digest = _digest(note_nonce, facts["note"]).hex()
    content = _content(workspace, member, [facts[name] for name in _FACTS], note_digest, signed)
    return {
        **{name: facts[name] for name in _FACTS},
        "note": facts["note"],
        "note_nonce": note_nonce.hex(),
        "note_digest": note_digest,
        "content": content.hex(),
        "signature": key.sign(content).hex(),
        "changes": rows,
    }


def chain_hash(previous: bytes, seq: int, content: bytes, signature: bytes) -> bytes:
    """Return the hash of an entry, as the hub computes it."""
    return hashlib.sha256(previous + seq.to_bytes(8, "big") + content + signature).digest()


def fault_of(workspace: str, entry: HubEntry, public_key: bytes | None) -> str:
    """Return why an entry cannot be its member's, as the end of a sentence; "" where it is as the member signed it."""
    if public_key is None:
        return "is of a member that this machine does not know"
    rows = [(c.record, c.record_id, c.version, c.removed, c.digest.hex()) for c in entry.changes]
    # By what was signed: a hub that fills in or leaves out the digest may not choose how a note is read.
    is_whole = entry.format < _FIRST_FORMAT_WITH_DIGESTS
    if is_whole != (entry.note_digest is None) or (is_whole and entry.note_nonce is not None):
        return "holds its note in another way than its member signed"
    note = entry.note if entry.note_digest is None else entry.note_digest.hex()
    content = _content(workspace, entry.member, [getattr(entry, name) for name in _FACTS], note, rows)
    if content != entry.content or not _is_signed(public_key, content, entry.signature):
        return "was not signed by its member as it stands"
    is_note_purged = entry.note_nonce is None and not entry.note
    if entry.note_digest and not is_note_purged and _digest(entry.note_nonce or b"", entry.note) != entry.note_digest:
        return "holds another note than its member signed"
    for change in entry.changes:
        is_purged = change.nonce is None and change.image is None
        if not is_purged and _digest(change.nonce or b"", change.image) != change.digest:
            return f"holds another text of {change.record} {change.record_id} than its member signed"
    return ""


_PASSING = frozenset(
    (
        "version",
        "updated_at",
        "shown_count",
        "used_count",
        "last_used_at",
        "hits",
        "last_hit_at",
        "injection_score",
        "surprise",
    )
)
"""Fields that each machine counts or computes for itself; no two machines disagree about them."""

MEANING = ("content", "title", "kind", "kind_raw", "namespace", "validity_context", "source_type", "source")
"""The fields of a memory that a person's trust in it vouches for."""

_VERIFICATION: dict[str, Any] = {"stability": "draft", "verified_at": None, "verified_by": ""}
"""The fields of a verification, and their values where there is none."""


class _Merged(NamedTuple):
    """The outcome of joining two changes of a record."""

    record: Any
    """This machine's record with the fields that only the other side changed."""
    conflicting: tuple[str, ...]
    """The fields that both changed, each in another way: they are as this machine has them."""


def differing_fields(one: AnyRecord, other: AnyRecord) -> list[str]:
    """Return the fields in which two states of a record differ, but for those that each machine computes itself."""
    names = (name for name in one.__struct_fields__ if name not in _PASSING)
    return [name for name in names if getattr(one, name) != getattr(other, name)]


def merge(base: AnyRecord | None, theirs: AnyRecord, mine: AnyRecord) -> _Merged:
    """Return this machine's record with the other side's changes since ``base``, the state that both had.

    Without a ``base`` every field that differs is in conflict. A deletion and a change of the text do not fit together:
    the status is in conflict then. A verification of a text that the other side has changed since is left out, because
    it was given to other words.
    """
    if base is None:
        return _Merged(mine, tuple(differing_fields(theirs, mine)))
    changed = differing_fields(base, theirs)
    own = differing_fields(base, mine)
    if getattr(mine, "status", "") == "pending" and getattr(base, "status", "") != "pending" and "status" in own:
        own.remove("status")  # it waits for this person only
        changed = [name for name in changed if name != "status" or getattr(theirs, "status", "") == "deleted"]
    conflicting = {name for name in changed if name in own and getattr(theirs, name) != getattr(mine, name)}
    taken = {name for name in changed if name not in own}
    values: dict[str, Any] = {}
    if isinstance(base, Memory) and isinstance(theirs, Memory) and isinstance(mine, Memory):
        values = _apart(base, theirs, mine, own, taken, conflicting)
    values |= {name: getattr(theirs, name) for name in taken}
    if not values:
        return _Merged(mine, tuple(sorted(conflicting)))
    if hasattr(theirs, "updated_at") and hasattr(mine, "updated_at"):
        values["updated_at"] = max(theirs.updated_at, mine.updated_at)
    return _Merged(msgspec.structs.replace(mine, **values), tuple(sorted(conflicting)))


def _apart(
    base: Memory, theirs: Memory, mine: Memory, own: list[str], taken: set[str], conflicting: set[str]
) -> dict[str, Any]:
    """Take fields out of a merge whose trust one side gave to another text; return the fields to reset on this side.

    ``taken`` (the fields taken from the other side) and ``conflicting`` are changed in place.
    """
    values: dict[str, Any] = {}
    is_reworded = any(getattr(theirs, name) != getattr(base, name) for name in MEANING)
    reworded = taken & set(MEANING)
    if is_reworded and "status" in own and mine.status != theirs.status:
        taken.difference_update(reworded)
        conflicting.update(reworded, ["status"])
    elif reworded and _raised(base, mine) - _VERIFICATION.keys():
        taken.difference_update(reworded)
        conflicting.update(reworded)  # other words were marked as essential here, or as certain
    elif reworded and set(own) & _VERIFICATION.keys():
        values = dict(_VERIFICATION)
    if any(getattr(mine, name) != getattr(theirs, name) for name in MEANING if name not in taken):
        raised = (_raised(base, theirs) & taken) - _VERIFICATION.keys()
        taken.difference_update(_VERIFICATION, raised)
        conflicting.difference_update(_VERIFICATION)
        conflicting.update(raised)
        if "status" in taken:
            taken.remove("status")
            conflicting.add("status")
    return values


def _raised(before: Memory, after: Memory) -> set[str]:
    """Return the fields in which a memory is trusted more than before, or verified anew."""
    raised = set()
    if after.stability != "draft" or after.verified_at is not None or after.verified_by:
        raised = {name for name in _VERIFICATION if getattr(after, name) != getattr(before, name)}
    raised |= {name for name in ("pinned", "confidence") if getattr(after, name) > getattr(before, name)}
    if after.certainty > max(before.certainty, HIGHEST_CLAIMED_CERTAINTY):
        raised.add("certainty")
    if after.tier == "shared" != before.tier:
        raised.add("tier")
    return raised


def rebase(
    hub: AnyRecord, before: AnyRecord, after: AnyRecord, *, withheld: Collection[str], decided: Collection[str]
) -> tuple[Any, list[str]]:
    """Return the hub's record after one change of this machine, and the fields that were left out of it.

    A field whose value at the hub is neither the one before nor the one after the change was changed by somebody
    else: it is left out, and so are the ``withheld`` ones, about which a person is still to decide. The ``decided``
    ones are given whatever the hub has: a person has seen both. Trust that the change adds to a memory is left out
    too unless the hub's memory then says what the person had before them, and never outlives a change of the words.
    """
    values: dict[str, Any] = {}
    left = []
    for name in sorted({*differing_fields(before, after), *decided}):
        value = getattr(after, name)
        if getattr(hub, name) == value:
            continue
        if name in decided or (name not in withheld and getattr(hub, name) == getattr(before, name)):
            values[name] = value
        else:
            left.append(name)
    if isinstance(hub, Memory) and isinstance(before, Memory) and isinstance(after, Memory):
        words = {name: values.get(name, getattr(hub, name)) for name in MEANING}
        if any(words[name] != getattr(after, name) for name in MEANING):
            unheld = (_raised(before, after) | _raised(hub, after)) & values.keys()
            left += sorted(unheld)  # the person looked at other words than the hub has
            values = {name: value for name, value in values.items() if name not in unheld}
        if values.keys() & set(MEANING):
            # What the hub's words were trusted for since was not these words.
            values = {name: getattr(before, name) for name in _raised(before, hub)} | values
    if not values:
        return hub, left
    if hasattr(after, "updated_at"):
        values["updated_at"] = after.updated_at
    return msgspec.structs.replace(hub, **values), left


def without_trust(memory: Memory) -> Memory:
    """Return a memory without verification and pin, which only a person gives; the same one where it has neither."""
    if memory.stability == "draft" and not memory.pinned and not memory.verified_by and memory.verified_at is None:
        return memory
    return msgspec.structs.replace(memory, pinned=False, **_VERIFICATION)
