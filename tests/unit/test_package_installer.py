"""Installing packages: what the installer prints as steps in words, and where nothing can be installed."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from memento_tui import package_installer
from memento_tui.errors import EngineUnavailable
from memento_tui.package_installer import InstallSteps, check_environment, install


def _steps(folder: Path, *lines: str) -> list[str]:
    steps = InstallSteps(folder)
    return [steps.read(line) for line in lines]


def test_each_line_of_pip_becomes_a_step_and_its_warnings_none(tmp_path: Path) -> None:
    assert _steps(
        tmp_path,
        "Looking in links: /opt/wheels\n",
        "WARNING: Location 'file:///nowhere/' is ignored: it is neither a file nor a directory.\n",
        "Obtaining file:///work/memento\n",
        "Collecting torch==2.13.0 (from memento-tui==0.1.0)\n",
        "  Downloading https://example.org/torch-2.13.0-cp311-none-any.whl.metadata (29 kB)\n",
        "Downloading https://example.org/torch-2.13.0-cp311-none-any.whl (190.5 MB)\n",
        "Progress 95000000 of 190500000\n",
        "Progress 10 of 900000\n",
        "Using cached scikit_learn-1.8-py3-none-any.whl (9.1 MB)\n",
        "Processing /opt/wheels/torch-2.13.0+cpu-cp311.whl (from memento-tui)\n",
        "Requirement already satisfied: numpy in /somewhere\n",
    ) == [
        "",
        "",
        "reading what memento needs",
        "looking for torch",
        "",
        "fetching torch (190.5 MB)",
        "fetching torch, 95 of 190 MB",
        "",
        "fetching scikit_learn (9.1 MB)",
        "fetching torch",
        "",
    ]


def test_the_lines_of_uv_become_steps_too(tmp_path: Path) -> None:
    assert _steps(
        tmp_path, "Resolved 40 packages in 2.1s\n", "Downloading torch (184.5MiB)\n", "Prepared 9 packages\n"
    ) == [
        "found 40 packages in 2.1s",
        "fetching torch (184.5MiB)",
        "fetched 9 packages",
    ]


def test_packages_are_counted_as_they_are_put_in_place(tmp_path: Path) -> None:
    steps = InstallSteps(tmp_path)
    assert steps.look() == ""
    named = "Installing collected packages: ruamel.yaml, MarkupSafe, torch\n"
    assert steps.read(named) == "installing 1 of 3: ruamel.yaml"
    said = []
    for name in ("ruamel_yaml-0.19.dist-info", "markupsafe-3.0.dist-info", "torch-2.13.0.dist-info"):
        (tmp_path / name).mkdir()
        said.append(steps.look())  # a folder alone is no package yet
        (tmp_path / name / "INSTALLER").write_text("pip")
    assert said == ["installing 1 of 3: ruamel.yaml", "installing 2 of 3: MarkupSafe", "installing 3 of 3: torch"]
    assert steps.look() == "installed 3 packages"


def _run_instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(package_installer, "_installer", lambda: [sys.executable, "-c", program])


def test_an_installation_reports_its_steps_and_keeps_the_whole_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_instead(monkeypatch, "import sys; print('Collecting', sys.argv[1]); print('WARNING: noise', file=sys.stderr)")
    told: list[str] = []
    install(["click"], told.append, tmp_path / "log")
    assert told == ["looking for click"]
    assert "WARNING: noise" in (tmp_path / "log").read_text()


def test_a_failed_installation_says_the_reason_and_where_to_read_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_instead(monkeypatch, "print('ERROR: No matching distribution found for torch'); raise SystemExit(1)")
    with pytest.raises(EngineUnavailable) as failed:
        install(["torch"], lambda _step: None, tmp_path / "log")
    assert "No matching distribution found for torch" in failed.value.message
    assert str(tmp_path / "log") in failed.value.hint


def test_an_installation_that_is_interrupted_ends_its_installer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _run_instead(monkeypatch, "import os, time; print('Collecting', os.getpid(), flush=True); time.sleep(600)")
    told: list[str] = []

    def interrupt(step: str) -> None:
        told.append(step)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(["click"], interrupt, tmp_path / "log")
    with pytest.raises(ProcessLookupError):
        os.kill(int(told[0].rpartition(" ")[2]), 0)


def test_nothing_is_installed_where_the_system_manages_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "EXTERNALLY-MANAGED").write_text("[externally-managed]\n")
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path))
    assert check_environment() == tmp_path  # an environment of one's own on such a Python
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(EngineUnavailable, match=r"managed by the system.*pipx install"):
        check_environment()


def test_nothing_is_installed_where_one_may_not_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with pytest.raises(EngineUnavailable, match="You may not write"):
        check_environment()


def test_an_environment_without_an_installer_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(EngineUnavailable, match=r"neither pip nor uv.*pipx install"):
        package_installer._installer()
    monkeypatch.setattr("shutil.which", lambda _name: "/opt/uv")
    assert package_installer._installer()[:3] == ["/opt/uv", "pip", "install"]
