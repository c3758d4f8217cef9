from __future__ import annotations

from pathlib import Path

import pytest

from memento_tui.api import Workspace
from memento_tui.formats import agents_file, agents_file_locations
from memento_tui.formats.agents_file_locations import rule_fields
from memento_tui.formats.import_export import run_export, run_import
from memento_tui.formats.registry import detect_format
from memento_tui.model import Memory
from tests.unit.format_reading import reading

RULE = """\
---
description: How components are written
globs: src/**/*.{ts,tsx}, *.css
alwaysApply: false
owner: "web"   # kept
---

# Components

Two spaces.
"""


def project(tmp_path: Path, text: str = RULE, name: str = "components.mdc") -> Path:
    path = tmp_path / "site" / ".cursor" / "rules" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def only(workspace: Workspace) -> Memory:
    (memory,) = workspace.list(limit=10).items
    return memory


@pytest.mark.parametrize("place", ["", ".cursor", ".cursor/rules", ".cursor/rules/components.mdc"])
def test_a_rule_of_cursors_is_one_instruction_of_its_project(workspace: Workspace, tmp_path: Path, place: str) -> None:
    project(tmp_path)
    assert detect_format(tmp_path / "site" / place) == "agents-file"
    assert run_import(workspace, "agents-file", tmp_path / "site" / place).imported == 1
    memory = only(workspace)
    assert (memory.kind, memory.namespace, memory.title) == (
        "instruction",
        "projects/site",
        "How components are written",
    )
    assert memory.content == "# Components\n\nTwo spaces."
    assert memory.validity_context == "in files that match src/**/*.{ts,tsx}, *.css"
    assert memory.tags == ()


def test_the_rules_of_a_project_come_with_its_other_instructions(workspace: Workspace, tmp_path: Path) -> None:
    project(tmp_path)
    project(tmp_path, "# Deep\nRule.\n", "web/deep.mdc")
    for name in ("CLAUDE.md", ".cursorrules"):
        (tmp_path / "site" / name).write_text("## Style\nTabs.\n")
    assert run_import(workspace, "agents-file", tmp_path / "site").imported == 3
    found = {memory.title: memory.namespace for memory in workspace.list(limit=10).items}
    assert found == dict.fromkeys(["How components are written", "Deep", "Style"], "projects/site")


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("globs: *.py\n", {"validity_context": "in files that match *.py"}),
        ('globs: ["a/**", "b.ts"]\n', {"validity_context": "in files that match a/**, b.ts"}),
        ("globs:\n  - 'a/**'\n  - b.ts\n", {"validity_context": "in files that match a/**, b.ts"}),
        ("globs: 'a/**,b.ts'\nalwaysApply: true\n", {"validity_context": "in files that match a/**, b.ts"}),
        ("globs:\nalwaysApply: true\n", {"validity_context": ""}),
        ('description: "It says \\"hi\\": now"\n', {"title": 'It says "hi": now'}),
        ("description: it's: plain\n", {"title": "it's: plain"}),
        ("description: >-\n  Two\n  lines\n", {"title": "Two lines"}),
        ("description:\n", {}),
        ("", {}),
    ],
)
def test_frontmatter_is_understood_as_cursor_writes_it_which_is_often_no_yaml(
    yaml: str, expected: dict[str, object]
) -> None:
    assert rule_fields(yaml) == expected


def test_what_changed_here_is_written_back_and_every_other_line_stays(workspace: Workspace, tmp_path: Path) -> None:
    path = project(tmp_path)
    run_import(workspace, "agents-file", tmp_path / "site")
    assert run_export(workspace, tmp_path / "site", format_name="agents-file").files == 0
    workspace.update(
        only(workspace).id,
        title="How: components",
        content="# Components\n\nFour spaces.",
        validity_context="in files that match app/**",
        tags=("web",),
    )
    assert run_export(workspace, tmp_path / "site", format_name="agents-file").files == 1
    wanted = RULE.replace("How components are written", '"How: components"').replace("Two", "Four")
    wanted = wanted.replace("src/**/*.{ts,tsx}, *.css", "app/**")
    assert path.read_text() == wanted
    again = run_import(workspace, "agents-file", tmp_path / "site")
    assert (again.imported, again.refused) == (0, [])
    assert run_export(workspace, tmp_path / "site", format_name="agents-file").files == 0


def test_a_sentence_about_where_it_holds_leaves_the_files_of_a_rule_as_they_are(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = project(tmp_path)
    run_import(workspace, "agents-file", path)
    workspace.update(only(workspace).id, validity_context="since the rewrite")
    assert run_export(workspace, path, format_name="agents-file").files == 0
    workspace.update(only(workspace).id, validity_context="")
    assert run_export(workspace, path, format_name="agents-file").files == 1
    assert "\nglobs:\n" in path.read_text()


def test_a_rule_without_frontmatter_gains_what_it_needs(workspace: Workspace, tmp_path: Path) -> None:
    path = project(tmp_path, "# Components\r\nTwo.\r\n")
    run_import(workspace, "agents-file", path)
    memory = only(workspace)
    assert memory.title == "Components"
    workspace.update(memory.id, validity_context="in files that match *.ts")
    run_export(workspace, path, format_name="agents-file")
    assert path.read_bytes() == b"---\r\nglobs: *.ts\r\n---\r\n# Components\r\nTwo.\r\n"


def test_a_rule_that_is_all_frontmatter_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = project(tmp_path, "---\nglobs: *.ts\n---\n")
    (refused,) = reading(agents_file.read(path)).refused
    assert refused.reason == "holds no text below its frontmatter"


def test_a_folder_of_rules_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    project(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".cursor").symlink_to(tmp_path / "site" / ".cursor")
    assert not agents_file_locations.has_hidden(other)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Use x.\n", "---\ndescription: How x is used\n---\nUse x.\n"),
        ("---\nglobs: *.ts\n---\nUse x.\n", "---\nglobs: *.ts\ndescription: How x is used\n---\nUse x.\n"),
    ],
)
def test_a_changed_title_of_a_rule_without_a_description_becomes_its_description(
    workspace: Workspace, tmp_path: Path, text: str, wanted: str
) -> None:
    path = project(tmp_path, text)
    run_import(workspace, "agents-file", path)
    assert run_export(workspace, path, format_name="agents-file").files == 0
    workspace.update(only(workspace).id, title="How x is used")
    assert run_export(workspace, path, format_name="agents-file").files == 1
    assert path.read_text() == wanted
    assert run_import(workspace, "agents-file", path).refused == []
    assert only(workspace).title == "How x is used"


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        ('["a,b", c]', '"a,b", c'),
        ('["a,b"]', '"a,b"'),
        ("['a,b', \"c\"]", '"a,b", c'),
        ('\n  - "a,b"\n  - c', '"a,b", c'),
        ('"a,b", c', '"a,b", c'),
        ('["*.{ts,tsx}", b]', "*.{ts,tsx}, b"),
    ],
)
def test_a_comma_within_quotes_is_part_of_a_pattern(globs: str, expected: str) -> None:
    assert rule_fields(f"globs: {globs}\n") == {"validity_context": f"in files that match {expected}"}


@pytest.mark.parametrize(
    ("place", "frontmatter", "changed"),
    [
        (".windsurf/rules/api.md", "trigger: glob\nglobs: src/**/*.ts\n", "trigger: glob\nglobs: lib/*.ts, a.js\n"),
        (".github/instructions/api.instructions.md", 'applyTo: "src/**/*.ts"\n', 'applyTo: "lib/*.ts, a.js"\n'),
        (".clinerules/api.md", 'paths:\n  - "src/**/*.ts"\n', 'paths: ["lib/*.ts", "a.js"]\n'),
        ("web/.cursor/rules/api.mdc", "globs: src/**/*.ts\n", "globs: lib/*.ts, a.js\n"),
    ],
)
def test_the_rules_of_other_hosts_and_of_parts_of_a_project_come_with_it_and_go_back(
    workspace: Workspace, tmp_path: Path, place: str, frontmatter: str, changed: str
) -> None:
    path = tmp_path / "site" / place
    path.parent.mkdir(parents=True)
    text = f"---\ndescription: How calls are made\n{frontmatter}---\n\nTwo tries.\n"
    path.write_text(text)
    assert run_import(workspace, "agents-file", tmp_path / "site").imported == 1
    memory = only(workspace)
    assert memory.namespace == ("projects/site/web" if place.startswith("web/") else "projects/site")
    assert (memory.title, memory.content) == ("How calls are made", "Two tries.")
    assert memory.validity_context == "in files that match src/**/*.ts"
    run_export(workspace, tmp_path / "site", format_name="agents-file")
    assert path.read_text() == text
    workspace.update(memory.id, validity_context="in files that match lib/*.ts, a.js", content="Three tries.")
    run_export(workspace, tmp_path / "site", format_name="agents-file")
    assert path.read_text() == f"---\ndescription: How calls are made\n{changed}---\n\nThree tries.\n"


@pytest.mark.parametrize("name", [".windsurfrules", ".clinerules", ".github/copilot-instructions.md"])
def test_a_text_that_claude_md_and_the_file_of_another_host_hold_is_one_memory(
    workspace: Workspace, tmp_path: Path, name: str
) -> None:
    for place in ("CLAUDE.md", name):
        (tmp_path / "site" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / place).write_text("## Style\nTabs.\n")
    run_import(workspace, "agents-file", tmp_path / "site")
    assert only(workspace).content == "## Style\nTabs."


def test_the_rules_of_other_peoples_programs_below_a_project_are_left_out(workspace: Workspace, tmp_path: Path) -> None:
    project(tmp_path)
    other = tmp_path / "site" / "node_modules" / "x" / ".cursor" / "rules"
    other.mkdir(parents=True)
    (other / "theirs.mdc").write_text("Theirs.\n")
    assert run_import(workspace, "agents-file", tmp_path / "site").imported == 1


HOSTS = [
    (".windsurf/rules/api.md", "globs: lib/*.ts"),
    (".github/instructions/api.instructions.md", 'applyTo: "lib/*.ts"'),
    (".clinerules/api.md", 'paths: ["lib/*.ts"]'),
    (".cursor/rules/api.mdc", "globs: lib/*.ts"),
]


@pytest.mark.parametrize("name", [*(place for place, _ in HOSTS), ".clinerules", ".cursorrules", ".windsurfrules"])
def test_the_rules_of_a_project_that_is_named_through_a_link_come_with_it(
    workspace: Workspace, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "site" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("Two tries.\n")
    (tmp_path / "link").symlink_to(tmp_path / "site")
    assert run_import(workspace, "agents-file", tmp_path / "link").imported == 1
    assert only(workspace).namespace == "projects/site"


@pytest.mark.parametrize("linked", [".clinerules", ".github", ".github/instructions", "web/.windsurf"])
def test_rules_behind_a_link_within_a_project_are_not_followed(tmp_path: Path, linked: str) -> None:
    for place, _ in HOSTS:
        path = tmp_path / "other" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("Theirs.\n")
    link = tmp_path / "site" / linked
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "other" / linked.removeprefix("web/"))
    (tmp_path / "site" / "CLAUDE.md").write_text("Ours.\n")
    assert reading(agents_file.read(tmp_path / "site")).only.fields["content"] == "Ours."


@pytest.mark.parametrize("form", HOSTS)
@pytest.mark.parametrize("above", [0, 1, 2])
def test_a_rule_that_is_named_by_itself_or_by_its_folder_is_the_same_rule_and_goes_back(
    workspace: Workspace, tmp_path: Path, form: tuple[str, str], above: int
) -> None:
    place, where = form
    path = tmp_path / "site" / place
    path.parent.mkdir(parents=True)
    text = f"---\ndescription: How calls are made\n{where}\n---\n\nTwo tries.\n"
    path.write_text(text)
    named = (path, *path.parents)[min(above, place.count("/"))]
    assert detect_format(named) == "agents-file"
    assert run_import(workspace, "agents-file", named).imported == 1
    memory = only(workspace)
    assert (memory.namespace, memory.title, memory.content) == ("projects/site", "How calls are made", "Two tries.")
    assert memory.validity_context == "in files that match lib/*.ts"
    assert run_export(workspace, named, format_name="agents-file").files == 0
    workspace.update(memory.id, title="How calls go")
    assert run_export(workspace, named, format_name="agents-file").files == 1
    assert path.read_text() == text.replace("How calls are made", "How calls go")
    run_import(workspace, "agents-file", tmp_path / "site")
    assert only(workspace).title == "How calls go"


def test_the_hidden_folder_of_copilot_gives_its_one_file_as_well(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "site" / ".github"
    (folder / "instructions").mkdir(parents=True)
    (folder / "instructions" / "api.instructions.md").write_text("Two tries.\n")
    (folder / "copilot-instructions.md").write_text("## Style\nTabs.\n")
    (folder / "PULL_REQUEST_TEMPLATE.md").write_text("What changed?\n")
    assert run_import(workspace, "agents-file", folder).imported == 2
    found = {memory.title: memory.namespace for memory in workspace.list(limit=10).items}
    assert found == dict.fromkeys(["api.instructions.md", "Style"], "projects/site")


@pytest.mark.parametrize(
    ("place", "given", "changed"),
    [
        (".clinerules/api.md", 'paths:\n  - "a,b/**"\n  - c', 'paths: ["a,b/**", "c", "d/**"]'),
        (".github/instructions/api.instructions.md", 'applyTo: ["a,b/**", c]', 'applyTo: ["a,b/**", "c", "d/**"]'),
        (".github/instructions/api.instructions.md", 'applyTo: "{a,b}/*,c"', 'applyTo: "{a,b}/*, c, d/**"'),
        (".cursor/rules/api.mdc", 'globs: ["a,b/**", c]', 'globs: "a,b/**", c, d/**'),
    ],
)
def test_a_pattern_with_a_comma_is_the_same_pattern_after_another_one_joined_it(
    workspace: Workspace, tmp_path: Path, place: str, given: str, changed: str
) -> None:
    path = tmp_path / "site" / place
    path.parent.mkdir(parents=True)
    path.write_text(f"---\n{given}\n---\nTwo tries.\n")
    run_import(workspace, "agents-file", tmp_path / "site")
    wanted = f"{only(workspace).validity_context}, d/**"
    workspace.update(only(workspace).id, validity_context=wanted)
    run_export(workspace, tmp_path / "site", format_name="agents-file")
    assert path.read_text() == f"---\n{changed}\n---\nTwo tries.\n"
    assert run_import(workspace, "agents-file", tmp_path / "site").refused == []
    assert only(workspace).validity_context == wanted


@pytest.mark.parametrize("above", [0, 1, 2, 3])
def test_the_notes_that_serena_keeps_are_facts_of_their_project_and_go_back(
    workspace: Workspace, tmp_path: Path, above: int
) -> None:
    path = tmp_path / "site" / ".serena" / "memories" / "auth" / "tokens.md"
    path.parent.mkdir(parents=True)
    text = "\ufeff# Tokens\r\n\r\nThey live for an hour. \r\n\r\n"
    path.write_bytes(text.encode())
    named = (path, path.parents[1], path.parents[2], path.parents[3])[above]
    assert detect_format(named) == "agents-file"
    assert run_import(workspace, "agents-file", named).imported == 1
    memory = only(workspace)
    assert (memory.kind, memory.namespace, memory.title) == ("fact", "projects/site", "Tokens")
    assert run_import(workspace, "agents-file", named).unchanged == 1
    assert run_export(workspace, named, format_name="agents-file").files == 0
    workspace.update(memory.id, title="Its title is not in the file", content="# Tokens\n\nTwo hours.")
    run_export(workspace, named, format_name="agents-file")
    assert path.read_bytes().decode() == "\ufeff# Tokens\n\nTwo hours. \r\n\r\n"


@pytest.mark.parametrize("rule", ["CLAUDE.md", ".clinerules/style.md"])
def test_a_note_of_serenas_that_says_what_an_instruction_says_is_a_memory_of_its_own(
    workspace: Workspace, tmp_path: Path, rule: str
) -> None:
    for place in (rule, ".serena/memories/style.md"):
        (tmp_path / "site" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "site" / place).write_text("## Style\nTabs.\n")
    run_import(workspace, "agents-file", tmp_path / "site")
    assert sorted(memory.kind for memory in workspace.list(limit=10).items) == ["fact", "instruction"]
