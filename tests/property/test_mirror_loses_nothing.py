"""Whatever both sides do, in whatever order, and wherever the mirror is killed: no paragraph is ever lost."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import MementoError
from memento_tui.formats.source_files import LoadedFile
from memento_tui.mirror.mirror import Mirror
from memento_tui.mirror.notes import NoteFile, parse_note_file, with_full_text
from memento_tui.model import Memory, Proposal
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from tests.depth import examples
from tests.made import without_engine

PLACE = st.integers(0, 50)
HEADS = ("", "", "---\ntags: [a]\ncssclass: wide # mine\n---\n", "---\ntitle: T\naliases: [x]\n---\n", "# Title\n")


class KilledError(BaseException):
    """The process ended here."""


class MirrorMachine(RuleBasedStateMachine):
    @initialize(strict=st.booleans())
    def begin(self, *, strict: bool) -> None:
        self.home = tempfile.TemporaryDirectory()
        root = Path(self.home.name)
        self.workspace: Workspace = memento_tui.open(without_engine(root / "data", "strict" if strict else "guarded"))
        self.folder = root / "notes"
        self.numbers = itertools.count()
        self.paragraphs: set[str] = set()
        self.mirror = self.started()

    def started(self) -> Mirror:
        return Mirror(self.workspace, self.folder, quiet_seconds=0, vanished="delete")

    def paragraph(self) -> str:
        made = f"paragraph {next(self.numbers)} stands."
        self.paragraphs.add(made)
        return made

    def files(self) -> list[Path]:
        found = [path for path in self.folder.rglob("*.md") if ".trash" not in path.parts]
        # A random id may stand in a name; the same steps must pick the same file again.
        return sorted(found, key=lambda path: (path.name.partition(" (")[0], path.read_bytes()[-30:]))

    def picked(self, place: int) -> Path | None:
        files = self.files()
        return files[place % len(files)] if files else None

    def kept(self) -> str:
        """Return every text that can still be found."""
        found = [path.read_text(encoding="utf-8") for path in self.folder.rglob("*.md")]
        store = self.workspace._store
        entries = store.journal.entries_after(0, 10_000)
        found += [change.image or "" for entry in entries for change in store.journal.changes(entry.seq)]
        return "\n".join(found)

    def replace(self, path: Path, text: str | None) -> None:
        """Do what the person does to a file; what only stood there, and nobody saw, is the person's to lose."""
        before = path.read_text(encoding="utf-8")
        if text is None:
            path.unlink()
        else:
            path.write_text(text, encoding="utf-8")
        kept = self.kept()
        self.paragraphs -= {paragraph for paragraph in self.paragraphs if paragraph in before and paragraph not in kept}

    # In the folder

    @rule(head=st.sampled_from(HEADS), below=st.sampled_from(["", "sub/", "projects/api/"]))
    def write_note(self, head: str, below: str) -> None:
        path = self.folder / f"{below}note {next(self.numbers)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{head}{self.paragraph()}\n\n{self.paragraph()}\n", encoding="utf-8")

    @rule(place=PLACE)
    def append(self, place: int) -> None:
        if (path := self.picked(place)) is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n\n{self.paragraph()}")

    @rule(place=PLACE, head=st.sampled_from(HEADS))
    def write_over(self, place: int, head: str) -> None:
        if (path := self.picked(place)) is not None:
            self.replace(path, f"{head}{self.paragraph()}")

    @rule(place=PLACE)
    def remove(self, place: int) -> None:
        if (path := self.picked(place)) is not None:
            self.replace(path, None)

    @rule(place=PLACE)
    def move(self, place: int) -> None:
        if (path := self.picked(place)) is not None:
            path.rename(self.folder / f"moved {next(self.numbers)}.md")

    @rule(place=PLACE)
    def copy(self, place: int) -> None:
        if (path := self.picked(place)) is not None:
            (self.folder / f"copy {next(self.numbers)}.md").write_bytes(path.read_bytes())

    @rule(place=PLACE, to=PLACE)
    def link(self, place: int, to: int) -> None:
        path, other = self.picked(place), self.picked(to)
        if path is not None and other is not None:
            with path.open("a", encoding="utf-8") as file:
                file.write(f"\n[[{other.stem}]]\n")

    # Here

    def some_memory(self, place: int) -> str | None:
        ids = [memory.id for batch in self.workspace._store.memories.batches() for memory in batch]
        return ids[place % len(ids)] if ids else None

    def deed(self, place: int, work: Callable[[str], object]) -> None:
        if (found := self.some_memory(place)) is not None:
            with suppress(MementoError):  # not every deed fits every memory; a person is told so
                work(found)

    @rule(title=st.sampled_from(["", "T", "a/b: c?", "T"]))
    def remember(self, title: str) -> None:
        self.workspace.remember(self.paragraph(), title=title, namespace="projects/api")

    @rule(place=PLACE)
    def edit(self, place: int) -> None:
        text = self.paragraph()
        self.deed(place, lambda found: self.workspace.update(found, content=text))
        if text not in self.kept():  # it was refused, and the person was told so
            self.paragraphs.remove(text)

    @rule(place=PLACE)
    def tag_and_move(self, place: int) -> None:
        changes: dict[str, Any] = {"tags": [f"t{next(self.numbers)}"], "namespace": f"n{place % 3}"}
        self.deed(place, lambda found: self.workspace.update(found, **changes))

    @rule(place=PLACE)
    def forget(self, place: int) -> None:
        self.deed(place, self.workspace.forget)

    @rule(place=PLACE)
    def verify(self, place: int) -> None:
        self.deed(place, self.workspace.verify)

    @rule(place=PLACE, to=PLACE, kind=st.sampled_from(["related", "supersedes", "contradicts"]))
    def relate(self, place: int, to: int, kind: str) -> None:
        if (other := self.some_memory(to)) is not None:
            self.deed(place, lambda found: self.workspace.relate(found, other, kind))

    @rule(place=PLACE)
    def restore(self, place: int) -> None:
        self.deed(place, self.workspace.restore)

    @rule(place=PLACE, yes=st.booleans())
    def decide(self, place: int, *, yes: bool) -> None:
        waiting = self.workspace.review.list()[0]
        if waiting:
            proposal = waiting[place % len(waiting)].proposal
            self.deed(
                0, lambda _: (self.workspace.review.approve if yes else self.workspace.review.reject)(proposal.id)
            )

    @rule()
    def undo(self) -> None:
        self.deed(0, lambda _: self.workspace.undo())

    # The mirror

    @rule()
    def step(self) -> None:
        list(self.mirror.step())

    @rule()
    def restart(self) -> None:
        self.mirror.close()
        self.mirror = self.started()

    @rule(after=st.integers(0, 6))
    def kill(self, after: int) -> None:
        """End the mirror just after one of the things that it writes, before it noted that."""
        left = iter(range(after, -1, -1))

        def deadly(work: Callable[..., Any]) -> Callable[..., Any]:
            def do(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - whatever it does
                done = work(*arguments, **options)
                if next(left, 0) == 0:
                    raise KilledError
                return done

            return do

        folder, ledger, inbound = self.mirror.folder, self.mirror._ledger, self.mirror._reconciler._inbound
        for owner, name in (
            (folder, "write"),
            (folder, "trash"),
            (folder, "copy_to_trash"),
            (ledger, "flush"),
            (inbound, "change"),
            (inbound, "delete"),
            (inbound, "create"),
        ):
            setattr(owner, name, deadly(getattr(owner, name)))
        with suppress(KilledError):
            list(self.mirror.step())
        self.restart()

    @invariant()
    def every_paragraph_is_kept(self) -> None:
        if hasattr(self, "mirror"):
            kept = self.kept()
            assert [paragraph for paragraph in self.paragraphs if paragraph not in kept] == []

    def teardown(self) -> None:
        if not hasattr(self, "mirror"):
            return
        for _ in range(3):
            list(self.mirror.step())
        assert [event for event in self.mirror.step() if event.action != "refused"] == []
        self.restart()
        assert [event for event in self.mirror.step() if event.action != "refused"] == []
        store, ledger = self.workspace._store, self.mirror._ledger
        for path, step in ledger.steps.items():
            waiting = ledger.waiting.get(path)
            if waiting is not None:
                assert store.get(Proposal, waiting.id).state in OPEN_PROPOSAL_STATES
                continue
            memory = store.get(Memory, step.id)
            if memory.status in ("rejected", "pending"):  # its file is left alone until the person has decided
                continue
            loaded = self.mirror.folder.load(path)
            assert isinstance(loaded, LoadedFile)
            file = parse_note_file(path, loaded)
            assert isinstance(file, NoteFile)
            assert file.matches(with_full_text(memory)), (path, memory)
        self.mirror.close()
        self.workspace.close()
        self.home.cleanup()


TestMirror = MirrorMachine.TestCase
TestMirror.settings = settings(max_examples=examples(50), stateful_step_count=25)
