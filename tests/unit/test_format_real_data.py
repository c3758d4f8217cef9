from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from memento_tui.formats import agents_file, claude, memento_core, vault
from memento_tui.formats.registry import detect_format
from tests.unit.format_reading import reading

ARCHIVE = Path(__file__).parents[3] / "shared" / "data" / "agent_memory.tar.gz"

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not ARCHIVE.is_file(), reason="../shared/data/agent_memory.tar.gz is absent"),
]


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    (root,) = {path.parent.parent for path in folder.rglob("COMMIT")}
    return root


@pytest.mark.parametrize(
    ("place", "notes"),
    [
        ("kepano+kepano-obsidian", 102),
        ("foambubble+foam", 88),
        ("doobidoo+mcp-memory-service/CLAUDE_md_history", 26),
    ],
)
def test_every_note_of_a_real_vault_is_taken_and_returns_byte_for_byte(
    agents: Path, tmp_path: Path, place: str, notes: int
) -> None:
    root = agents / place
    assert detect_format(root) == "vault"
    assert vault.count(root) == notes
    found = reading(vault.read(root))
    assert found.refused == []
    assert len(found.memories) == notes
    written = vault.write(found.memories.values(), tmp_path)
    assert (written.files, written.refused) == (notes, ())
    assert [key for key in found.keys if (root / key).read_bytes() != (tmp_path / key).read_bytes()] == []


def test_every_note_that_serena_really_kept_is_taken_and_returns_byte_for_byte(agents: Path, tmp_path: Path) -> None:
    root = agents / "oraios+serena" / ".serena" / "memories"
    assert detect_format(root) == "agents-file"
    found = reading(agents_file.read(root))
    assert (len(found.memories), found.refused) == (6, [])
    written = agents_file.write(found.memories.values(), tmp_path)
    assert (written.files, written.refused) == (6, ())
    assert [key for key in found.keys if (root / key).read_bytes() != (tmp_path / key).read_bytes()] == []


def test_the_links_of_a_real_vault_are_those_that_its_writer_made(agents: Path) -> None:
    links = {one.key: one.links for one in reading(vault.read(agents / "kepano+kepano-obsidian")).taken}
    assert ("related", "Trips", "categories") in links["Notes/2023 Japan Trip.md"]


def test_the_memory_of_a_real_agent_is_parted_into_statements(agents: Path) -> None:
    root = agents / "0xMal0u+aeon" / "memory"
    assert detect_format(root) == "claude"
    found = reading(claude.read(root))
    assert found.refused == []
    assert {memory.namespace for memory in found.memories.values()} == {"claude/0xMal0u+aeon"}
    assert "0xMal0u+aeon/MEMORY.md#lessons-learned.2" in found.keys
    lesson = found.memories["0xMal0u+aeon/MEMORY.md#lessons-learned.2"]
    assert lesson.content == "Always save files AND commit before logging"


def test_lines_of_another_program_are_refused_one_by_one(agents: Path) -> None:
    found = reading(memento_core.read(agents / "maithanhduyan+memory-graph"))
    assert found.taken == []
    assert {one.reason for one in found.refused} == {"has no id"}
    assert len(found.refused) == memento_core.count(agents / "maithanhduyan+memory-graph")
