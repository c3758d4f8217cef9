"""What the repository says of memories that cite its code."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memento_tui.errors import InvalidInput
from memento_tui.maintenance.code.checker import CodeFinding, WrittenMemory, check_code
from memento_tui.maintenance.code.git_history import GitHistory
from memento_tui.maintenance.code.members import bare_code, blocks, defined_names, defines_member, has_own, names_member
from tests.steps import grows_in_proportion
from tests.unit.code_repository import FIRST, CodeRepository

CLIENT = """
class Client:
    def send(self, url):
        return retry(url, MAX_TRIES)

def retry(url, times):
    for _ in range(times):
        print(url)

MAX_TRIES = 30
TIMEOUT = 45  # seconds to wait
"""


@pytest.fixture
def repository(tmp_path: Path) -> CodeRepository:
    return CodeRepository(tmp_path / "site")


def check(repository: CodeRepository, text: str, at: datetime) -> CodeFinding | None:
    found, _ = check_code(GitHistory(repository.root), [WrittenMemory("m", text, at)])
    return found[0] if found else None


def labels(found: CodeFinding | None) -> list[str]:
    return [] if found is None else [one.label for one in found.citations]


def test_what_is_as_it_was_is_not_mentioned(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/other.py": "x = 1\n"})
    assert check(repository, "`Client.send` in src/client.py uses `MAX_TRIES`, 30 of them.", at) is None


def test_a_file_that_was_only_touched_is_not_mentioned(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": CLIENT + "\ndef other():\n    pass\n"})
    assert check(repository, "Retries are counted in src/client.py.", at) is None


def test_a_file_that_is_gone_is(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT, "src/x.py": "x = 1\n"})
    repository.commit({"src/client.py": None}, "no client")
    found = check(repository, "Retries are counted in src/client.py.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("gone", ["src/client.py is gone"])
    assert found.citations[0].why.endswith(f"({repository.commits[-1][:10]}: no client).")


def test_a_file_that_moved_twice_is_followed(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.move("src/client.py", "lib/client.py")
    repository.move("lib/client.py", "lib/http.py")
    found = check(repository, "Retries are counted in client.py.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("changed", ["client.py is now lib/http.py"])


def test_a_folder_that_moved_is_followed(repository: CodeRepository) -> None:
    at = repository.commit({"upkeep/a.py": "A_NAME = 1\n" * 5, "upkeep/b.py": "B_NAME = 2\n" * 5})
    repository.git("mv", "upkeep", "maintenance")
    repository.commit({}, "move")
    assert labels(check(repository, "Nightly work lives in upkeep/.", at)) == ["upkeep/ is now maintenance/"]
    assert labels(check(repository, "Nightly work is in `upkeep/a.py`.", at)) == ["upkeep/a.py is now maintenance/a.py"]


def test_what_was_merged_into_another_file_is_found_there(repository: CodeRepository) -> None:
    at = repository.commit({"src/retrying.py": "def retry_call():\n    return 1\n", "src/http.py": "y = 2\n"})
    repository.commit(
        {"src/retrying.py": None, "src/http.py": "y = 2\n\ndef retry_call():\n    return 3\n" + "z = 1\n" * 9}
    )
    assert labels(check(repository, "`retry_call()` is in src/retrying.py.", at)) == [
        "src/retrying.py is now src/http.py"
    ]


def test_a_symbol_that_no_code_names_any_more_is_gone_whatever_the_documents_say(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT, "README.md": "`retry()`\n"})
    repository.commit({"src/client.py": CLIENT.replace("retry", "again"), "README.md": "`retry()` was renamed.\n"})
    found = check(repository, "Use `retry()` for every call.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("gone", ["retry() is gone"])


STORE = """
class Base:
    def open(self):
        self.read()

class Store(Base):
    limit = 3

    def load(self, name):
        return name

    def save(self, name):
        return self.load(name)

class Cache:
    def load(self, name):
        return self.save(name)
"""
LOAD = "def load():\n    return 1\n"
WITHOUT_LOAD = STORE.replace("    def load(self, name):\n        return name\n\n", "").replace(
    "return self.load(name)", "return name"
)


def test_a_method_that_only_another_class_still_has_is_gone(repository: CodeRepository) -> None:
    at = repository.commit({"src/store.py": STORE})
    repository.commit({"src/store.py": WITHOUT_LOAD})
    found = check(repository, "`Store.load` reads a name, and `Store.save` writes it.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("changed", ["Store.load is gone"])
    assert found.citations[0].why == "Store had load in src/store.py, and has it no more."
    assert check(repository, "`Cache.load` reads a name.", at) is None


def test_a_method_that_moved_to_the_class_below_is_still_there(repository: CodeRepository) -> None:
    at = repository.commit({"src/store.py": STORE})
    below = "class Base:\n    def open(self):\n        pass\n\n    def load(self, name):\n        return name\n"
    own = WITHOUT_LOAD.replace("class Base:\n    def open(self):\n        self.read()\n", "from src.base import Base\n")
    repository.commit({"src/store.py": own, "src/base.py": below})
    assert check(repository, "`Store.load` reads a name.", at) is None


def test_a_function_that_only_another_module_still_has_is_gone(repository: CodeRepository) -> None:
    at = repository.commit(
        {"src/loading.py": "def load():\n    pass\n\ndef keep():\n    pass\n", "src/x.py": "y = 1\n"}
    )
    repository.commit({"src/loading.py": "def keep():\n    pass\n", "src/x.py": "def load():\n    pass\n"})
    assert labels(check(repository, "`loading.load()` is called first.", at)) == ["loading.load is gone"]
    assert check(repository, "`loading.keep()` is called first.", at) is None


def test_a_member_of_a_class_that_was_renamed_is_gone_though_its_name_is_a_word_elsewhere(
    repository: CodeRepository,
) -> None:
    at = repository.commit({"src/store.py": STORE, "src/x.py": "y = 1\n"})
    repository.commit(
        {"src/store.py": STORE.replace("class Store", "class NoteStore"), "src/x.py": "# Store what is read.\n"}
    )
    assert labels(check(repository, "`Store.load` reads a name.", at)) == ["Store.load is gone"]


def test_a_module_that_left_its_package_is_gone_from_there(repository: CodeRepository) -> None:
    at = repository.commit({"src/agent/profiles.py": "def load():\n    pass\n", "src/agent/main.py": "profiles = 1\n"})
    assert check(repository, "See `agent.profiles`.", at) is None
    repository.move("src/agent/profiles.py", "src/mcp/profiles.py")
    assert labels(check(repository, "See `agent.profiles`.", at)) == ["agent.profiles is gone"]


def test_a_member_that_code_still_calls_by_both_names_is_there(repository: CodeRepository) -> None:
    at = repository.commit({"src/store.py": STORE})
    repository.commit({"src/store.py": WITHOUT_LOAD, "src/more.py": "Store.load = Cache.load\n"})
    assert check(repository, "`Store.load` reads a name.", at) is None


@pytest.mark.parametrize(
    ("cited", "before", "after"),
    [
        ("storage.load", {"storage.py": LOAD}, {"storage.py": None, "storage/__init__.py": LOAD}),
        ("api.load", {"api.ts": "export function load() {}\n"}, {"api.ts": None, "api/index.ts": "export {load};\n"}),
        ("api.load", {"api.rs": "pub fn load() {}\n"}, {"api.rs": None, "api/mod.rs": "pub fn load() {}\n"}),
        ("api.Load", {"api/api.go": "func Load() {\n}\n"}, {"api/api.go": "y()\n", "api/l.go": "func Load() {\n}\n"}),
        ("reader.load", {"reader.py": LOAD}, {"reader.py": "from impl import *\n", "impl.py": LOAD}),
        ("reader.load", {"reader.ts": "function load() {}\n"}, {"reader.ts": "export * from './impl';\n"}),
        ("reader.load", {"reader.js": "function load() {}\n"}, {"reader.js": "module.exports.load = 1;\n"}),
        (
            "utils.load",
            {"utils/load.py": LOAD, "utils/__init__.py": "from .load import load\n"},
            {"utils/load.py": None, "utils/__init__.py": LOAD},
        ),
        ("config.load", {"config.py": LOAD, "tools/config/load.py": "x = 1\n"}, {"tools/config/load.py": None}),
    ],
    ids=str,
)
def test_what_a_module_still_shows_is_there_wherever_it_stands_now(
    repository: CodeRepository, cited: str, before: dict[str, str | None], after: dict[str, str | None]
) -> None:
    callers: dict[str, str | None] = {"main.py": "print(load)\n", "main.go": "Load()\n"}
    at = repository.commit({**before, **callers})
    repository.commit(after)
    assert check(repository, f"`{cited}()` is called first.", at) is None


def test_what_a_package_shows_no_more_is_gone(repository: CodeRepository) -> None:
    at = repository.commit({"storage/__init__.py": LOAD + "\ndef keep():\n    pass\n", "main.py": "print(load)\n"})
    repository.commit({"storage/__init__.py": "def keep():\n    pass\n"})
    assert labels(check(repository, "`storage.load()` is called first.", at)) == ["storage.load is gone"]


@pytest.mark.parametrize(
    ("before", "part"),
    [
        ("", "func (Foo "),
        ("", "func (Foo) bar"),
        ("func (", "Foo "),
        ("", "Foo<"),
        ("", ") bar"),
        ("Foo ", "impl "),
        ("", "class Foo\n"),
        ("", ") class Foo\n"),
        ("class Foo\n bar", " "),
        ("class Foo\n ", "bar <"),
        ("class Foo\n ", "bar* "),
        ("class Foo\n ", "self.bar "),
        ("Foo", "?"),
        ("", '"""'),
    ],
)
def test_the_members_of_a_text_are_looked_for_in_steps_in_proportion(before: str, part: str) -> None:
    def look(size: int) -> None:
        text = before + part * (size // len(part))
        names_member(bare_code(text), "Foo", "bar_")
        for block in blocks(text, "Foo"):
            defines_member(block, "bar")
            has_own(block, "baz")

    grows_in_proportion(look, 2_000)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("func (f *Foo) bar() {", True),
        ("func (f *Foo[T])  bar() {", True),
        ("func(Foo) bar", True),
        ("func (f *Food) bar() {", False),
        ("func (f *Foo) other() {\nfunc (g *G) bar() {", False),
        ("call(Foo) bar", False),
        ("new Foo<A>::bar", True),
    ],
)
def test_a_function_is_known_by_its_receiver(text: str, is_named: bool) -> None:  # noqa: FBT001 - a case's answer
    assert names_member(text, "Foo", "bar") is is_named


@pytest.mark.parametrize(
    ("path", "before", "member", "after"),
    [
        ("a.go", "type Store struct {\n\tpath string\n}\n", "\nfunc (s *Store) Load() {\n}\n", ""),
        ("a.rs", "struct Store;\n\nimpl Store {\n", "    pub fn Load(&self) {\n    }\n", "}\n"),
        ("a.ts", "export class Store {\n", "  async Load(a: string): Promise<void> {\n  }\n", "}\n"),
        ("A.java", "public class Store {\n", "    public static int Load(int a) {\n    }\n", "}\n"),
        ("a.hpp", "class Store {\npublic:\n", "  void *Load();\n", "};\n"),
        ("a.rb", "class Store\n", "  def Load(a)\n  end\n", "end\n"),
    ],
)
def test_a_member_that_is_gone_is_missed_in_each_of_the_common_languages(
    repository: CodeRepository, path: str, before: str, member: str, after: str
) -> None:
    at = repository.commit({path: before + member + after, "other.py": "def Load():\n    pass\n"})
    repository.commit({"other.py": "def Load():\n    return 1\n"})
    assert check(repository, "`Store.Load` is called at the start.", at) is None
    repository.commit({path: before + after})
    assert labels(check(repository, "`Store.Load` is called at the start.", at)) == ["Store.Load is gone"]


def test_a_constant_with_another_value_changed(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": CLIENT.replace("MAX_TRIES = 30", "MAX_TRIES = 5")})
    found = check(repository, "`MAX_TRIES` is 30.", at)
    assert labels(found) == ["MAX_TRIES changed since"]
    assert found is not None
    assert found.citations[0].why == "MAX_TRIES was 30 and is 5 now."


def test_a_number_that_the_cited_file_stated_and_states_no_more_changed(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": CLIENT.replace("45  # seconds", "90  # seconds")})
    assert labels(check(repository, "The client waits 45 seconds (src/client.py).", at)) == [
        "src/client.py changed since"
    ]


def test_a_file_that_lost_what_the_memory_names_of_it_changed(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT, "src/b.py": "b = 1\n"})
    repository.commit({"src/client.py": CLIENT.replace("MAX_TRIES", "LIMIT"), "src/b.py": "MAX_TRIES = 3\n"})
    assert labels(check(repository, "MAX_TRIES of src/client.py limits it.", at)) == ["src/client.py changed since"]


def test_a_file_written_anew_changed(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": "".join(f"line number {n}\n" for n in range(20))})
    repository.commit({"src/client.py": "".join(f"words of row {n}\n" for n in range(20))})
    assert labels(check(repository, "Calls go through src/client.py.", at)) == ["src/client.py changed since"]


POOL = "class Throttle:\n    def acquire(self):\n        return 1\n\ndef warm_pool():\n    return Throttle()\n"


def test_a_class_that_a_memory_names_without_quotation_marks_is_missed_in_its_file(repository: CodeRepository) -> None:
    at = repository.commit({"src/pool.py": POOL, "src/x.py": "class Throttle:\n    pass\n"})
    repository.commit({"src/pool.py": POOL.replace("Throttle", "Limiter")})
    found = check(repository, "Throttle.acquire in src/pool.py waits for a place.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("changed", ["Throttle.acquire is gone", "src/pool.py changed since"])


def test_names_that_are_gone_are_missed_in_a_sentence_that_orders_them(repository: CodeRepository) -> None:
    at = repository.commit({"src/pool.py": POOL, "src/x.py": "x = 1\n"})
    repository.commit({"src/pool.py": "y = 1\n"})
    found = check(repository, "Call `warm_pool` before `Throttle.acquire`, or it will hang.", at)
    assert found is not None
    assert found.state == "gone"


def test_a_word_with_an_underscore_is_no_reason_to_hide_a_memory(repository: CodeRepository) -> None:
    at = repository.commit({"src/pool.py": POOL})
    repository.commit({"src/pool.py": "y = 1\n"})
    found = check(repository, "The setting warm_pool of that library is slow.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("changed", ["warm_pool() is gone"])


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("Makefile", "ship: test\n\t./ship.sh\ntest:\n\techo\n", "release: test\n\t./ship.sh\ntest:\n\techo ship\n"),
        ("Makefile", "ship:\n\techo\n", None),
        ("package.json", '{"scripts": {"ship": "x"}}', '{"scripts": {"release": "x"}, "name": "ship"}'),
    ],
)
def test_a_target_that_no_file_has_any_more_is_gone(
    repository: CodeRepository, file: str, before: str, after: str | None
) -> None:
    at = repository.commit({file: before, "src/x.py": "x = 1\n"})
    repository.commit({file: after})
    command = "make ship" if file == "Makefile" else "npm run ship"
    found = check(repository, f"Run `{command}` before a holiday.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("gone", [f"{command} is gone"])


@pytest.mark.parametrize(
    "after",
    [
        {"Makefile": "release:\n\techo\n", "build/rules.mk": "ship: release\n"},
        {"Makefile": "%:\n\t./run $@\n"},
        {"Makefile": "include $(OTHER)/rules\n"},
        {"Makefile": "STEPS = ship release\n$(STEPS):\n\techo $@\n"},
    ],
)
def test_a_target_that_may_still_be_there_is_not_mentioned(
    repository: CodeRepository, after: dict[str, str | None]
) -> None:
    at = repository.commit({"Makefile": "ship:\n\techo\n"})
    repository.commit(after)
    assert check(repository, "Run `make ship`; `make other` never was.", at) is None


def test_a_script_is_not_missed_where_a_package_cannot_be_read(repository: CodeRepository) -> None:
    at = repository.commit({"package.json": '{"scripts": {"ship": "x"}}'})
    repository.commit({"package.json": '{"scripts": {}}', "web/package.json": "{"})
    assert check(repository, "Run `npm run ship`.", at) is None


def test_one_thing_gone_of_several_is_a_change(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT, "src/app.py": "run = 1\n"})
    repository.commit({"src/client.py": None})
    found = check(repository, "src/app.py starts what src/client.py sends.", at)
    assert found is not None
    assert (found.state, labels(found)) == ("changed", ["src/client.py is gone"])


def test_a_commit_that_was_reverted_changed(repository: CodeRepository) -> None:
    repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": CLIENT + "\n# faster\n"})
    at = FIRST + timedelta(days=1, hours=1)
    cited = repository.commits[-1]
    assert check(repository, f"Made faster by {cited[:10]}.", at) is None
    repository.git("revert", "--no-edit", cited)
    assert labels(check(repository, f"Made faster by {cited[:10]}.", at)) == [f"commit {cited[:10]} was reverted"]


@pytest.mark.parametrize(
    "text",
    [
        "other/client.py of another project does it.",  # never stood here
        "Names are in `Other.thing()` of the library.",
        "See commit 1234567890abcdef.",
        "README.md says so.",
    ],
)
def test_what_never_stood_in_the_repository_is_not_judged(repository: CodeRepository, text: str) -> None:
    at = repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": None})
    assert check(repository, text, at) is None


def test_what_was_gone_already_when_it_was_written_is_not_judged(repository: CodeRepository) -> None:
    repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": None})
    at = FIRST + timedelta(days=2)
    assert check(repository, "src/client.py held the retries.", at) is None


def test_a_commit_soon_after_is_the_work_that_the_memory_tells_of(repository: CodeRepository) -> None:
    repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": None, "src/http.py": "y = 1\n"})
    at = FIRST + timedelta(days=1) - timedelta(minutes=20)
    assert check(repository, "src/client.py sends everything.", at) is None


def test_a_name_that_several_files_have_is_not_judged(repository: CodeRepository) -> None:
    at = repository.commit({"a/view.py": "x = 1\n", "b/view.py": "y = 1\n"})
    repository.commit({"a/view.py": None})
    assert check(repository, "Rows are drawn in view.py.", at) is None


def test_a_memory_older_than_the_repository_is_not_judged(repository: CodeRepository) -> None:
    repository.commit({"src/client.py": CLIENT})
    repository.commit({"src/client.py": None})
    assert check(repository, "src/client.py sends.", datetime(2020, 1, 1, tzinfo=UTC)) is None


def test_paths_with_marks_of_git_s_own_are_read_as_they_are(repository: CodeRepository) -> None:
    at = repository.commit({"src/naïve file.py": "x = 1\n", "src/ok.py": "y = 1\n"})
    repository.commit({"src/naïve file.py": None, "src/ok.py": None})
    assert labels(check(repository, "See src/ok.py.", at)) == ["src/ok.py is gone"]


def test_a_folder_without_commits_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="git could not read"):
        GitHistory(tmp_path)


def test_git_starts_none_of_the_programs_that_a_repository_names(repository: CodeRepository) -> None:
    at = repository.commit({"src/client.py": CLIENT, ".gitattributes": "*.py diff=evil filter=evil\n"})
    proof = repository.root.parent / "ran"
    for name in ("core.fsmonitor", "core.pager", "diff.evil.textconv", "diff.evil.command", "core.sshCommand"):
        repository.git("config", name, f"touch {proof}; false")
    repository.commit({"src/other.py": "x = 1\n"})
    (proof).unlink(missing_ok=True)
    check(repository, "`retry()` is in src/client.py, see 1a2b3c4d5e.", at)
    assert not proof.exists()


def test_a_git_that_knows_no_way_to_forbid_fetching_starts_no_program_for_what_a_repository_lacks(
    repository: CodeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"src/client.py": CLIENT})
    lacking = repository.git("rev-parse", "HEAD:src/client.py").strip()
    proof, programs = repository.root.parent / "ran", repository.root.parent / "programs"
    for name, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "theirs"),
        ("remote.theirs.promisor", "true"),
        ("remote.theirs.url", f"ext::sh -c touch% {proof}"),
        ("protocol.ext.allow", "always"),
    ):
        repository.git("config", name, value)
    (repository.root / ".git/objects" / lacking[:2] / lacking[2:]).unlink()
    programs.mkdir()
    older = programs / "git"
    older.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {shutil.which("git")} "$@"\n')
    older.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with suppress(InvalidInput):
        GitHistory(repository.root).texts([lacking])
    assert not proof.exists()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def load(path):", "load"),
        ("class Store(Base):", "Store"),
        ("    MAX_TRIES: int = 30", "MAX_TRIES"),
        ("MAX_TRIES = 30  # times", "MAX_TRIES"),
        ("    name: str", "name"),
        ("    found: dict | None", "found"),
        ("export const retryCall = () => 1", "retryCall"),
        ("func (s *Server) Serve(l net.Listener) error {", "Serve"),
        ("pub fn parse_line(text: &str) {", "parse_line"),
        ("  timeout: 45,", "timeout"),
    ],
)
def test_a_line_that_defines_a_name_is_known_in_the_common_languages(line: str, name: str) -> None:
    assert list(defined_names(f"x\n{line}\n")) == [name]


@pytest.mark.parametrize(
    "line",
    [
        "        PermissionError: the folder is not the user's own.",
        "if tries == MAX_TRIES:",
        "# def commented(out)",
        "return load(path)",
    ],
)
def test_a_line_that_only_mentions_a_name_defines_none(line: str) -> None:
    assert defined_names(f"x\n{line}\n") == {}
