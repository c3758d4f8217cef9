"""A home directory with hosts in it, and installations into it, for the tests of the installers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from memento_tui.hosts.plan import apply_changes, plan_installation, plan_removal
from memento_tui.hosts.programs import BARE_PROGRAMS, Programs
from memento_tui.hosts.registry import HOSTS, Host, HostFile, HostPaths

__all__ = ["PROGRAMS", "Home", "contents"]

PROGRAMS = Programs("/opt/my tools/memento", "/opt/my tools/memento-hook", Path("/data/of mine"))


@dataclass
class Home:
    """One home directory."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    project: Path | None = None
    platform: str = "linux"

    @property
    def places(self) -> HostPaths:
        return HostPaths(self.root, self.environ, self.project, self.platform)

    def files(self, host: str, programs: Programs = PROGRAMS) -> list[HostFile]:
        chosen: Host = HOSTS[host]
        return list(chosen.files(self.places, programs))

    def install(self, host: str, programs: Programs = PROGRAMS) -> list[Path]:
        return apply_changes(plan_installation(self.files(host, programs)))

    def uninstall(self, host: str) -> list[Path]:
        return apply_changes(plan_removal(self.files(host, BARE_PROGRAMS)))

    def write(self, path: str, text: str | bytes) -> Path:
        whole = self.root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(text if isinstance(text, bytes) else text.encode())
        return whole


def contents(root: Path) -> dict[str, bytes]:
    """Return every file below a directory, without the marks of folders that memento made."""
    found = [path for path in root.rglob("*") if path.is_file() and path.name != ".made-by-memento"]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}
