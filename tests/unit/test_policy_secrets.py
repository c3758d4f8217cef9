from __future__ import annotations

import random
import string
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from memento_tui import clock
from memento_tui.model import (
    make_contradiction,
    make_crystal,
    make_item,
    make_memory,
    make_proposal,
    make_relation,
    make_skip,
)
from memento_tui.policy import secret_assignments, secret_search
from memento_tui.policy.secret_tokens import (
    DETECT_SECRETS_PLUGINS,
    MIN_TOKEN_CHARACTERS,
    TOKEN_RULES,
    DetectSecretsPlugin,
    TokenRule,
    plugin_patterns,
)
from memento_tui.policy.secrets import RemovedSecret, redact_record, redact_text
from tests.benchmarks.guarding import real_memories
from tests.depth import examples
from tests.steps import grows_in_proportion

# Secrets are put together at run time, so that no scanner takes this file for a leak.
rng = random.Random(3)  # noqa: S311 - a fixed seed is the point
ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM) -> str:
    return "".join(rng.choices(alphabet, k=length))


GITHUB = "gh" + "p_" + drawn(36)
AWS = "AK" + "IA" + drawn(16, string.ascii_uppercase + string.digits)
MEMENTO = "mp" + "_live_" + drawn(32, HEX)
BLOCK = "-----BEGIN EC " + "PRIVATE KEY-----\n" + "\n".join(drawn(64) for _ in range(3))
ENDING = "\n-----END EC " + "PRIVATE KEY-----"

TOKENS = [
    (AWS, "AWS access key"),
    (GITHUB, "GitHub token"),
    ("github" + "_pat_" + drawn(22) + "_" + drawn(59), "GitHub token"),
    ("gl" + "pat-" + drawn(20), "GitLab token"),
    ("xo" + "xb-" + "1234567890-" + drawn(24), "Slack token"),
    ("sk" + "_live_" + drawn(24), "Stripe key"),
    ("s" + "k-" + drawn(48), "OpenAI key"),
    ("s" + "k-proj-" + drawn(80), "OpenAI key"),
    ("s" + "k-ant-api03-" + drawn(90), "Anthropic key"),
    ("AI" + "za" + drawn(35), "Google key"),
    ("np" + "m_" + drawn(36), "npm token"),
    ("py" + "pi-AgEIcHlwaS5vcmc" + drawn(80), "PyPI token"),
    ("h" + "f_" + drawn(34), "Hugging Face token"),
    ("S" + "K" + drawn(32, HEX), "Twilio key"),
    ("S" + "G." + drawn(22) + "." + drawn(43), "SendGrid key"),
    (MEMENTO, "memento key"),
    ("sq" + "0csp-" + drawn(43), "Square key"),
    ("ey" + "J" + drawn(30) + ".ey" + "J" + drawn(60) + "." + drawn(43), "JSON Web Token"),
]

ASSIGNED = [
    ("password: {}", "hunter2", "password"),
    ("password={}", "hunter2", "password"),
    ("the db password is {}", "hunter2", "password"),
    ("the passphrase is {}.", "correct-horse-battery-staple", "password"),
    ('PGPASSWORD="{}"', "swordfish", "password"),
    ("export PGPASSWORD={} && psql", "swordfish", "password"),
    ("host=db password={} dbname=x", "swordfish", "password"),
    ("**Password:** `{}`", "hunter2", "password"),
    ("Password (staging): {}", "Summer2024!", "password"),
    ('{{"password": "{}"}}', "swordfish", "password"),
    ('{{\\"password\\": \\"{}\\"}}', "swordfish", "password"),
    ("use --password {} there", "hunter2", "password"),
    ("--db_password {}", "hunter2", "password"),
    ("mysql -u root -p{} app", "hunter22", "password"),
    ("curl -u admin:{} https://x", "hunter2", "password"),
    ("пароль: {}", "qwerty12", "password"),
    ("密码\uff1a{}", "qwerty12", "password"),
    ("postgres://user:{}@host/db", "pw1", "password in a URL"),
    ("weird+scheme://:{}@10.0.0.1", "p@ss:w0rd", "password in a URL"),
    ("https://bob:{}@example.com/", "swordfish", "password in a URL"),
    ("amqp://orders:{}@10.20.0.8:5672/sales", "quartz.drizzle536", "password in a URL"),
    ("redis://:{}@cache:6379", "ribbon.lantern.velvet", "password in a URL"),
    ("api_key = '{}'", drawn(32, HEX) + "9a1", "key"),
    ("?access_token={}&page=2", drawn(28) + "9a1", "token"),
    ("aws_secret_access_key = {}", drawn(37) + "9a1", "key"),
    ("Authorization: Bearer {}", drawn(28) + "9a1", "Authorization header"),
    ("-H 'authorization: basic {}'", "YWRtaW46aHVudGVyMg==", "Authorization header"),
]


@pytest.mark.parametrize(("token", "kind"), TOKENS, ids=[kind for _token, kind in TOKENS])
def test_a_token_is_removed_whole_wherever_it_stands_in_a_sentence(token: str, kind: str) -> None:
    for text in ("it is {}", "({})", "x='{}';", "{}.", "a\n- {}\nb"):
        assert redact_text(text.format(token))[0] == text.format(f"[secret removed: {kind}]")


@pytest.mark.parametrize(("sentence", "secret", "kind"), ASSIGNED)
def test_a_secret_that_its_surroundings_give_away_is_removed(sentence: str, secret: str, kind: str) -> None:
    assert redact_text(sentence.format(secret))[0] == sentence.format(f"[secret removed: {kind}]")


@pytest.mark.parametrize(
    "text",
    [
        "the password field is called pwd",
        "reset your password: see the docs",
        "password must be 12-64 characters",
        "passwords are hashed with sha-256, password: argon2id",
        "password: required",
        "password: str = Field(min_length=8)",
        "password = getpass.getpass('Password: ')",
        'password = os.environ["DB_PASSWORD"]',
        "secret=process.env.JWT_SECRET",
        "password: <token>, token=$TOKEN, api_key=${API_KEY}, api_key: {{ key }}",
        "api_key: xxx, api_key=XXXXXXXXXXXX, token: ****, password: ...",
        "password: changeme",
        "token: your-token-here",
        "AK" + "IAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
        "postgres://user:password@localhost/db",
        "postgres://$USER:$PASS@host/db and https://<user>:<password>@host",
        "Authorization: Bearer $TOKEN",
        "Use Bearer tokens; a basic understanding of authorization: roles and scopes",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b fixed it",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id 123e4567-e89b-12d3-a456-426614174000, token: 123e4567-e89b-12d3-a456-426614174000",
        "memory k3j4h5g6f7d8 supersedes a1b2c3d4e5f6",
        "base64 of hello world: aGVsbG8gd29ybGQ=",
        "see /home/me/project/src/secret_key/main2.py and secret: my-app-secrets-v2",
        "max_tokens: 4096, token: cl100k_base, cache key: 9f86d081884c7d659a2feaa0c55ad015",
        "tests pass: 123 of 130; pass = 57, fail = 3. Pass `verified=False` only there",
        "git@github.com:org/repo.git, https://example.com:8080/path@v2, oci://nginx:1.25@sha256:abc",
        "a key begins with -----BEGIN " + "PRIVATE KEY----- and ends with -----END " + "PRIVATE KEY-----",
        "a token such as gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "example.com",
        "login(password=None, retries=3)",
    ],
)
def test_what_only_speaks_of_secrets_stays(text: str) -> None:
    assert redact_text(text) == (text, [])


def test_a_private_key_is_removed_as_a_block_and_the_text_around_it_stays() -> None:
    cleaned, found = redact_text(f"before\n{BLOCK}{ENDING}\nafter")
    assert cleaned == "before\n[secret removed: private key]\nafter"
    assert found == [("private key", 2)]


def test_a_private_key_whose_end_was_cut_off_is_removed_as_far_as_it_goes() -> None:
    assert redact_text(f"before\n{BLOCK}\n\nAnd then we moved on.")[0] == (
        "before\n[secret removed: private key]\n\nAnd then we moved on."
    )


def test_a_private_key_in_json_with_written_line_breaks_is_removed() -> None:
    text = '{"key": "' + (BLOCK + ENDING).replace("\n", "\\n") + '\\n"}'
    assert redact_text(text)[0] == '{"key": "[secret removed: private key]\\n"}'


def test_the_line_of_each_removal_is_counted_from_one() -> None:
    assert redact_text(f"a\npassword: hunter2\n\n{AWS}")[1] == [("password", 2), ("AWS access key", 4)]


SECRET_TEXTS = st.sampled_from(
    [token for token, _kind in TOKENS]
    + [sentence.format(secret) for sentence, secret, _kind in ASSIGNED]
    + [BLOCK, BLOCK + ENDING]
)
PROSE = st.text(alphabet=st.sampled_from("aeh tkpsw:=/@.,\n\"'`[]{}()-_0189é密\u0130"), max_size=60) | st.sampled_from(
    ["The build uses pnpm. ", "reset your password: see the docs ", "[secret removed: password]", "a token of thanks "]
)
MIXED = st.lists(PROSE | SECRET_TEXTS, max_size=8).map("".join)


@given(MIXED)
@example("a token of thanks 0:weird+scheme://:p@ss:w0rd@10.0.0.1a")
def test_a_text_that_was_cleaned_holds_nothing_more_to_remove(text: str) -> None:
    cleaned, _found = redact_text(text)
    assert redact_text(cleaned) == (cleaned, [])


@given(MIXED)
def test_the_cheap_tests_that_come_first_never_hide_a_secret(text: str) -> None:
    assert sorted(secret_search._secret_spans(text)) == sorted(secret_search._secret_spans(text, gated=False))


@pytest.mark.deep
@pytest.mark.parametrize("rule", TOKEN_RULES, ids=lambda rule: rule.pattern.pattern[:30])
@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_rule_matches_holds_what_its_cheap_test_looks_for(rule: TokenRule, data: st.DataObject) -> None:
    match = rule.pattern.search(data.draw(st.from_regex(rule.pattern)))
    assume(match is not None)
    assert match is not None
    assert any(need in match[0] for need in rule.needs)
    assert max(map(len, match[0].split())) >= max(MIN_TOKEN_CHARACTERS, rule.least)


@pytest.mark.parametrize("plugin", DETECT_SECRETS_PLUGINS, ids=lambda plugin: plugin.name)
@settings(max_examples=examples(30), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_plugin_matches_holds_what_its_cheap_test_looks_for(
    plugin: DetectSecretsPlugin, data: st.DataObject
) -> None:
    for pattern in plugin_patterns(plugin):
        match = pattern.search(data.draw(st.from_regex(pattern)))
        assert match is not None
        assert any(need in match[0] for need in plugin.needs)
        assert max(map(len, match[0].split())) >= MIN_TOKEN_CHARACTERS


_FINDER_OF_PATTERN = {
    "_PASSWORD_WORD": "_assignments",
    "_URL": "_urls",
    "_FLAG": "_flags",
    "_SHELL": "_shell_passwords",
    "_LOGIN": "_logins",
    "_HEADER": "_headers",
}


@pytest.mark.parametrize("name", _FINDER_OF_PATTERN)
@settings(max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_finder_begins_with_holds_what_its_cheap_test_looks_for(name: str, data: st.DataObject) -> None:
    words = {finder.__name__: needed for needed, finder in secret_assignments._FINDERS}[_FINDER_OF_PATTERN[name]]
    pattern = getattr(secret_assignments, name)
    match = pattern.search(data.draw(st.from_regex(pattern)).lower())
    assume(match is not None)
    assert match is not None
    assert any(word in match[0] for word in words)


@pytest.mark.deep
@pytest.mark.parametrize(
    "part",
    [
        *(
            "a",
            "=",
            "/",
            "密",
            "password=",
            "password:x",
            "token=",
            "_authToken=",
            "://",
            "://a:",
            "a@",
            "eyJ",
            "eyJa.",
        ),
        *("sk-", "xoxb-.", "glagent-", "SG.", "AccountKey="),
        *("\n", " ", "curl ", "curl -u a:", "creds ", "authorization: ", "pypi-AgEIcHlwaS5vcmc", " pw=abc1"),
        *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + 40 * "A" + "\n"),
    ],
)
def test_hostile_repetition_takes_steps_in_proportion_to_the_text(part: str) -> None:
    # As long as this, because some words cost nothing before there are hundreds of them.
    grows_in_proportion(lambda size: redact_text((part * size)[:size]), 4_000)


@pytest.mark.parametrize("escape", ["&#", "\\n", "%41", "LS0tLS1CRUdJTiaaaaaaaaaaaaaaaaaaaa\\n"])
def test_a_run_of_backslashes_beside_an_escape_takes_steps_in_proportion_to_the_text(escape: str) -> None:
    grows_in_proportion(lambda size: redact_text(escape + "\\" * size), 1_600)


@pytest.mark.parametrize("slashes", [1, 2, 3, 8])
def test_a_secret_between_quotation_marks_is_found_however_often_they_are_escaped(slashes: int) -> None:
    mark = "\\" * slashes + '"'
    text, found = redact_text(f"{{{mark}password{mark}: {mark}Tr0ub4dor&3{mark}}}")
    assert found
    assert "Tr0ub4dor" not in text


def test_prose_needs_no_heavy_import() -> None:
    program = (
        "import sys\n"
        "from memento_tui.policy.secrets import redact_text\n"
        "redact_text('the password field: see docs/architecture/decisions/0001 https://example.com/x ' * 20)\n"
        "print(sorted({'detect_secrets', 'requests', 'urllib3', 'ssl'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - this Python
    assert answer.stdout.strip() == "[]"


def test_every_text_of_a_memory_is_read_and_the_rest_is_left_alone() -> None:
    memory = make_memory(
        {
            "id": "password=hunter2",
            "content": f"line one\nuse {GITHUB}",
            "title": "password: hunter2",
            "namespace": f"projects/{MEMENTO}",
            "tags": ["plain", "password:hunter2"],
            "system_tags": [AWS],
            "validity_context": "while the password is hunter2",
            "source": {"url": "https://me:s3cret@host/x", "agent": "claude"},
            "extra": {"note": {"token": drawn(28) + "9a1", "kept": [1, None, True, "text"]}, "list": ["x", [AWS]]},
        }
    )
    clean, removals = redact_record(memory)
    assert [(removal.field, removal.kind, removal.line) for removal in removals] == [
        ("content", "GitHub token", 2),
        ("namespace", "memento key", 1),
        ("title", "password", 1),
        ("tags", "password", 1),
        ("system_tags", "AWS access key", 1),
        ("source.url", "password in a URL", 1),
        ("validity_context", "password", 1),
        ("extra.note.token", "token", 1),
        ("extra.list", "AWS access key", 1),
    ]
    assert clean.source.url == "https://me:[secret removed: password in a URL]@host/x"
    assert clean.tags == ("plain", "password:[secret removed: password]")
    assert clean.extra["note"]["kept"] == [1, None, True, "text"]
    assert clean.extra["list"] == ["x", ["[secret removed: AWS access key]"]]
    untouched = ("id", "kind", "created_at", "certainty", "tier", "status", "version")
    assert all(getattr(clean, name) == getattr(memory, name) for name in untouched)
    assert redact_record(clean) == (clean, ())


LEAK = "password: hunter2"
MARKED = "password: [secret removed: password]"


@pytest.mark.parametrize(
    ("record", "fields"),
    [
        (make_skip({"item": LEAK, "reason": LEAK, "expires_at": clock.now() + timedelta(days=9)}), ["item", "reason"]),
        (make_item({"title": LEAK, "content": LEAK, "next_action": LEAK}), ["title", "content", "next_action"]),
        (make_crystal({"content": LEAK, "author": LEAK, "extra": {"a": LEAK}}), ["content", "author", "extra.a"]),
        (make_relation({"src": "a", "dst": "b", "label": LEAK}), ["label"]),
        (make_relation({"src": "a", "dst": "https://u:s3cret@h", "type": "file"}), ["dst"]),
        (make_contradiction({"older": "a", "newer": "b", "why": LEAK}), ["why"]),
        (
            make_proposal(
                {
                    "action": "create",
                    "target_id": "a",
                    "payload": {"id": LEAK, "content": LEAK, "extra": {"id": LEAK}},
                    "evidence": {"about": ["k3j4h5g6f7d8"], "quote": LEAK},
                    "note": LEAK,
                }
            ),
            ["payload.content", "payload.extra.id", "evidence.quote", "note"],
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, msgspec.Struct) else "",
)
def test_every_kind_of_record_is_cleaned(record: msgspec.Struct, fields: list[str]) -> None:
    clean, removals = redact_record(record)
    assert [removal.field for removal in removals] == fields
    assert type(clean) is type(record)
    assert "hunter2" not in str(clean).replace(LEAK, "", 1 if "payload" in fields[0] else 0)
    assert "s3cret" not in str(clean)
    assert redact_record(clean)[1] == ()


def test_the_ids_in_a_payload_are_left_alone() -> None:
    proposal = make_proposal({"action": "create", "target_id": "a", "payload": {"id": LEAK, "content": "x"}})
    assert redact_record(proposal) == (proposal, ())


def test_a_record_without_secrets_comes_back_as_the_same_object() -> None:
    memory = make_memory({"content": "the password field is called pwd", "tags": ["a"], "extra": {"b": [{"c": "d"}]}})
    clean, removals = redact_record(memory)
    assert clean is memory
    assert removals == ()


def test_a_field_named_password_is_judged_by_its_name() -> None:
    memory = make_memory({"content": "x", "extra": {"dbPassword": "swordfish", "password_hint": "swordfish"}})
    clean, removals = redact_record(memory)
    assert clean.extra == {"dbPassword": "[secret removed: password]", "password_hint": "swordfish"}
    assert removals == (RemovedSecret("extra.dbPassword", "password", 1),)


def test_secrets_as_names_of_fields_are_removed_and_none_of_the_values_is_lost() -> None:
    other = "gh" + "p_" + drawn(36)
    clean, removals = redact_record(make_memory({"content": "x", "extra": {GITHUB: 1, other: 2}}))
    assert clean.extra == {"[secret removed: GitHub token]": 1, "[secret removed: GitHub token] 2": 2}
    assert len(removals) == 2
    assert GITHUB not in str(removals)


@given(MIXED, MIXED)
def test_no_removal_says_what_the_secret_was(content: str, value: str) -> None:
    assume(content.strip())
    clean, removals = redact_record(make_memory({"content": content, "extra": {"note": value}}))
    assert (clean.content, clean.extra["note"]) == (redact_text(content)[0], redact_text(value)[0])
    assert all(removal.kind in str(clean) for removal in removals)


@pytest.mark.deep
@pytest.mark.real_data
def test_in_the_public_memories_that_real_agents_wrote_no_secret_is_imagined(real_data: Path) -> None:
    assert [place for place, text in real_memories(real_data) if redact_text(text)[1]] == []
