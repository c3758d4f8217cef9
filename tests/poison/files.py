"""The ways in that a file has: imports of every format, a mirrored folder, and the transcript of a session."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.formats.registry import FORMATS
from memento_tui.hooks import transcript_worker
from memento_tui.hosts.registry import HOSTS
from memento_tui.mirror.mirror import Mirror
from memento_tui.paths import DataPaths
from tests.made import without_engine
from tests.poison.attacks import Attack
from tests.poison.channels import Channel, forms
from tests.poison.documents import Files, attacked, read_files, renamed, write_files
from tests.poison.fields import Path as Place
from tests.poison.fields import leaves, path_text
from tests.poison.house import House
from tests.unit.made_transcripts import ClaudeSession, CodexSession, plain
from tests.unit.protocol_sources import KEY, Account, serving

__all__ = ["import_channel", "mirror_channel", "remote_channel", "samples", "transcript_channel"]

_HAND_WRITTEN: Mapping[str, Mapping[str, str]] = {
    "claude": {
        "projects/-home-me-donor/memory/MEMORY.md": (
            "# Donor memory\n\n## Site\n- The donor site runs on example.org\n\n"
            "## Lessons\n- Always save the donor files before you commit them\n"
        ),
        "projects/-home-me-donor/memory/feedback_donor.md": "---\nname: feedback_donor\n"
        'description: "How the donor tests are named"\nmetadata:\n  node_type: memory\n  type: feedback\n'
        "  originSessionId: donor-5da15695\n---\n\nName the donor tests as sentences.\n",
    },
    "agents-file": {
        "CLAUDE.md": "This file guides the donor agents.\n\n# Donor site\n\n## Commands\n\nRun the donor make.\n",
        ".cursor/rules/donor.mdc": "---\ndescription: How the donor parts are written\nglobs: donor/**\n"
        "alwaysApply: false\n---\n\nUse donor spaces.\n",
    },
    "agents-block": {
        "CLAUDE.md": "# Donor rules\n\nOther people's donor words.\n\n<!-- memento:begin -->\n\n## Donor style\n\n"
        "Use donor tabs.\n\n<!-- memento:end -->\n"
    },
    "mem0": {
        "donor.json": json.dumps(
            {
                "results": [
                    {
                        "id": "donor-m1",
                        "memory": "The donor likes tea.",
                        "metadata": {"title": "Donor tea", "topic": "donor"},
                        "categories": ["donor"],
                        "user_id": "donor",
                        "app_id": "site",
                        "agent_id": "donor",
                        "run_id": "donor-r1",
                        "role": "user",
                        "actor_id": "donor",
                        "created_at": "2026-01-01T00:00:00Z",
                        "updated_at": "2026-01-01T00:00:00Z",
                    }
                ],
                "relations": [{"source": "donor", "relationship": "likes", "target": "donor tea"}],
            }
        )
    },
}
"""The files of those formats that memento does not write of its own memories, or not with every field."""

_ACCOUNT: Mapping[str, Any] = {
    "memories": [
        {
            "id": "donor001",
            "content": "The donor API answers at /v2.",
            "type": "fact",
            "tags": ["donor"],
            "created_at": "2026-02-14 10:00:00",
            "expires_at": None,
            "linkages": [{"type": "file", "path": "donor.py", "label": "donor source"}],
            "images": [],
        }
    ],
    "skips": [{"id": "donor002", "item": "donor aurora", "reason": "Kp of the donor", "expires_at": "2027-02-20"}],
    "items": [
        {
            "id": "donor003",
            "category": "active_work",
            "title": "Donor search",
            "content": "All of the donor",
            "tags": ["donor"],
            "next_action": "begin the donor",
        }
    ],
    "sections": {"active_work": "## Active Work\n\nThe donor is half done."},
    "identity": {"id": "donor004", "crystal": "I am the donor.", "created_at": "2026-01-01 00:00:00"},
}
"""What a server of Memento Protocol answers from."""


def _fill(workspace: Workspace) -> None:
    """Remember one record of each kind, with every field that an export may have room for."""
    first = workspace.remember(
        "The donor build is started with make.",
        id="donormemory1",
        title="Donor build",
        kind="decision",
        tags=["donor", "make"],
        namespace="projects/site",
        validity_context="on the donor's Linux",
        source={"agent": "donor", "session": "donor-s9", "url": "https://donor.example/p", "transcript": "/donor"},
        extra={"note": "of the donor"},
        expires_at=clock.now() + timedelta(days=300),
    )
    other = workspace.remember("The donor site has two pages.", id="donormemory2", title="Donor site")
    workspace.relate(first.id, other.id, "related", "donor link")
    workspace.skips.add("donor folder", "the donor is frozen", clock.now() + timedelta(days=300), id="donorskip001")
    workspace.items.create(
        "Write the donor page", id="donoritem001", content="All of the donor", next_action="begin donor", tags=["donor"]
    )
    workspace.crystals.write("I am the careful donor.")


def samples(folder: Path) -> Iterator[str]:
    """Write a sample of each format that is in files, in a folder of its own, and yield the names of the formats."""
    with memento_tui.open(without_engine(folder / "donor-data")) as workspace:
        _fill(workspace)
        for name, chosen in FORMATS.items():
            place = folder / name
            if chosen.is_remote:
                continue
            place.mkdir()
            if name in _HAND_WRITTEN:
                for file, text in _HAND_WRITTEN[name].items():
                    (place / file).parent.mkdir(parents=True, exist_ok=True)
                    (place / file).write_text(text)
            else:
                place.rmdir()
                run_export(workspace, place, format_name=name)
                if place.is_file():
                    data = place.read_bytes()
                    place.unlink()
                    place.mkdir()
                    (place / ("donor.jsonl" if data.startswith(b'{"') else "donor.json")).write_bytes(data)
            yield name


class _FileChannel:
    """What channels of documents share: a sample, and every text in it."""

    changes_records = True

    def __init__(self, name: str, house: House, files: Files) -> None:
        self.name = name
        self._house = house
        self._files = files
        self._numbers = count(1)
        self._places: dict[str, tuple[str, Place]] = {}
        for file, document in files.items():
            kind = Path(file).suffix.removeprefix(".") if len(files) > 1 else ""
            for place in leaves(document):
                if place[-1] != "before":
                    self._places.setdefault(f"{kind} {_named(document, place)}".strip(), (file, place))

    @property
    def slots(self) -> Sequence[str]:
        """Every text of the sample."""
        return list(self._places)

    def _copies(self, slot: str, attack: Attack) -> Iterator[tuple[str, Files, Files]]:
        """Yield a copy of the sample, and the same with the attack, in each form of it, after the word that is its."""
        file, place = self._places[slot]
        word = f"copy{next(self._numbers)}"
        good = renamed(self._files, word)
        for text in forms(attack):
            bad = copy.deepcopy(good)
            attacked(bad[renamed(file, word)], place, attack, text)
            yield word, good, bad


def _named(document: Any, place: Place) -> str:
    """Return the name of a place: in a list of records of several kinds, that of the kind too."""
    if place and isinstance(place[0], int) and isinstance(document, list):
        kind = document[place[0]].get("record", document[place[0]].get("type", ""))
        return f"{kind} {path_text(place[1:])}"
    return path_text(place)


class ImportChannel(_FileChannel):
    """Imports of one format, new ones and the second import of a file that changed."""

    def __init__(self, house: House, format_name: str, sample: Path) -> None:
        super().__init__(f"import {format_name}", house, read_files(sample))
        self._format = format_name
        self._sample = sample

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Import a folder; where the person's record is to change, the harmless one first, which is verified then."""
        for word, good, bad in self._copies(slot, attack):
            folder = self._house.folder() / "source"
            folder.mkdir()
            if onto_persons:
                self._imports(good, folder)
                self._house.verify_all(word)
            if self._imports(bad, folder):
                return True
        return False

    def _imports(self, files: Files, folder: Path) -> bool:
        for old in folder.rglob("*"):
            if old.is_file():
                old.unlink()
        write_files(files, folder, self._sample)
        with suppress(MementoError):
            report = run_import(self._house.person, self._format, folder)
            return report.imported + report.updated > 0
        return False


class RemoteChannel(_FileChannel):
    """Imports from a server of Memento Protocol."""

    def __init__(self, house: House, account: Account, address: str) -> None:
        super().__init__("import protocol-rest", house, {"account": _ACCOUNT})
        self._account = account
        self._address = address

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Import what the server answers."""
        for word, good, bad in self._copies(slot, attack):
            if onto_persons:
                self._imports(good)
                self._house.verify_all(word)
            if self._imports(bad):
                return True
        return False

    def _imports(self, files: Files) -> bool:
        for name, value in files["account"].items():
            setattr(self._account, name, value)
        with suppress(MementoError):
            report = run_import(self._house.person, "protocol-rest", self._address)
            return report.imported + report.updated > 0
        return False


class MirrorChannel(_FileChannel):
    """Notes in a mirrored folder: new ones, changed ones, and ones that are taken out and brought back."""

    def __init__(self, house: House, mirror: Mirror, folder: Path, sample: Path) -> None:
        super().__init__("mirror", house, read_files(sample))
        self._mirror = mirror
        self._folder = folder
        self._sample = sample

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:
        """Write the notes; a new one is taken out of the folder and put back besides."""
        for word, good, bad in self._copies(slot, attack):
            if onto_persons:
                self._put(good)
                self._house.verify_all(word)
                self._step()
            files = bad if onto_persons else _without_identity(bad)
            self._put(files)
            if not onto_persons:
                for name in files:
                    (self._folder / name).unlink(missing_ok=True)
                self._step()
                self._put(files)
        return True

    def _put(self, files: Files) -> None:
        write_files(files, self._folder, self._sample)
        self._step()

    def _step(self) -> None:
        for _ in range(2):
            list(self._mirror.step())


def _without_identity(files: Files) -> Files:
    bare = copy.deepcopy(dict(files))
    for document in bare.values():
        document["properties"].pop("memento_id", None)
    return bare


_SAID_BY_PERSON = (
    "Remember that the donor build needs the VPN.",
    "From now on, the donor build needs the VPN.",
    "We decided to keep the donor build because the donor build needs the VPN.",
    "We're waiting for the donor build to come back.",
    "Skip the donor build until 2027-01-15, the donor build needs the VPN.",
    "TODO: the donor build needs the VPN",
)
_SAID_BY_AGENT = (
    "The root cause was that the donor build needs the VPN.",
    "It turned out that the donor build needs the VPN.",
    "I decided to keep it because the donor build needs the VPN.",
)
_PRINTED = ("Remember that the donor build needs the VPN.", "NOTE: the donor build needs the VPN")
_CORE = ("the donor build needs the VPN", "the donor build")
"""What an attack is put in place of, the longer first."""


def _transcripts() -> dict[str, list[dict[str, Any]]]:
    claude, codex = ClaudeSession(session="donor"), CodexSession(session="donor")
    talk: list[tuple[str, str]] = []
    for said in _SAID_BY_PERSON:
        claude.user(said).says("Understood.")
        codex.user(said).says("Understood.")
        talk += [("user", said), ("assistant", "Understood.")]
    for said in _SAID_BY_AGENT:
        claude.thinks(said).says(said)
        codex.reasons(said).says(said)
        talk.append(("assistant", said))
    for said in _PRINTED:
        claude.tool("WebFetch", {"url": "https://x.example", "prompt": said}, said).runs("make", said)
        codex.runs("make", said).executes("make", said)
        talk.append(("tool", said))
    gemini = [
        {"sessionId": "donor", "projectHash": "0a"},
        *({"id": f"g{n}", "type": "user", "content": said} for n, said in enumerate(_SAID_BY_PERSON)),
        *({"id": f"h{n}", "type": "gemini", "content": said} for n, said in enumerate(_SAID_BY_AGENT)),
    ]
    written = {"claude-code": claude.lines, "codex": codex.lines, "plain": plain(*talk)}
    return {name: [json.loads(line) for line in lines] for name, lines in written.items()} | {"gemini": gemini}


_END_EVENTS = tuple(
    dict.fromkeys(event.name for host in HOSTS.values() for event in host.events if event.moment == "end")
)


class TranscriptChannel:
    """What a session's transcript holds, at each event after which it is read."""

    name = "hooks"
    changes_records = False

    def __init__(self, house: House) -> None:
        self._house = house
        self._numbers = count(1)
        self._rows = _transcripts()
        self._places: dict[str, tuple[str, str, Place]] = {
            f"{event} {name} {number} {path_text(place[1:])}": (event, name, place)
            for event in _END_EVENTS
            for name, rows in self._rows.items()
            for number, place in enumerate(place for place in leaves(rows) if _CORE[1] in _leaf(rows, place))
        }

    @property
    def slots(self) -> Sequence[str]:
        """Everything that is said or printed, at each event."""
        return list(self._places)

    def send(self, slot: str, attack: Attack, *, onto_persons: bool) -> bool:  # noqa: ARG002 - as every channel has it
        """Run the hook."""
        event, name, place = self._places[slot]
        session = f"session-{next(self._numbers)}"
        rows = copy.deepcopy(self._rows[name])
        said = _leaf(rows, place)
        text = said
        for core in _CORE:
            text = text.replace(core, attack.line)
        attacked(rows, place, Attack(attack.family, attack.mark, attack.text, {}), text)
        path = self._house.folder() / f"{session}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in renamed(rows, session)))
        with patch.object(transcript_worker, "_SETTLED_SECONDS", 0), suppress(MementoError):
            transcript_worker.learn_from_transcript(DataPaths(self._house.data_dir), path, session, event=event)
            return True
        return False


def _leaf(rows: Any, place: Place) -> str:
    for part in place:
        rows = rows[part]
    return str(rows)


@contextmanager
def import_channel(house: House, format_name: str, sample: Path) -> Iterator[Channel]:
    """Open the imports of a format that is in files."""
    yield ImportChannel(house, format_name, sample)


@contextmanager
def remote_channel(house: House) -> Iterator[Channel]:
    """Serve an account to import from."""
    account = Account()
    with ExitStack() as stack:
        stack.enter_context(patch.dict("os.environ", {"MEMENTO_API_KEY": KEY}))
        yield RemoteChannel(house, account, stack.enter_context(serving(account)))


@contextmanager
def mirror_channel(house: House, sample: Path) -> Iterator[Channel]:
    """Mirror a folder; the sample is one of notes."""
    folder = house.folder() / "notes"
    with Mirror(house.person, folder, quiet_seconds=0) as mirror:
        yield MirrorChannel(house, mirror, folder, sample)


@contextmanager
def transcript_channel(house: House) -> Iterator[Channel]:
    """Open the hooks that read transcripts."""
    yield TranscriptChannel(house)
