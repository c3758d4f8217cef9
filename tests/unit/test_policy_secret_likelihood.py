"""Words around a secret give it away also where no rule knows the sentence; honest words stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento_tui.model.validation import new_id, new_proposal_id
from memento_tui.policy.secret_assignments import _PASSWORD_WORD, _PASSWORD_WORDS
from memento_tui.policy.secret_lexicon import counts_something
from memento_tui.policy.secret_likelihood import (
    _PARTED_CODE,
    _PHRASE_ASSIGNED,
    WEIGHTS_FILE,
    Weights,
    _assigned_phrases,
    _parted_codes,
    likely_spans,
    score_of,
    words_of,
)
from memento_tui.policy.secrets import redact_text, secret_marker
from tests.benchmarks.secrets_fit import CONVERSATIONS, conversations, texts
from tests.depth import examples


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The box in the cellar lets you in as marion with Brillenputztuch7.", "Brillenputztuch7"),
        ("Log in as preview with tulip-garden-44 at the staging box.", "tulip-garden-44"),
        ("Logged in to the recorder as admin (gatekeeper5) and turned it on.", "gatekeeper5"),
        ("用 admin 和 chunjie#baozi 登录后台。", "chunjie#baozi"),
        ("PGPASSWORD=elephant_in_room psql -h 127.0.0.1 -U reporting", "elephant_in_room"),
        ("mongosh --username root --password bananaboat --authenticationDatabase admin", "bananaboat"),
    ],
)
def test_a_password_that_people_chose_goes_whatever_the_sentence(text: str, secret: str) -> None:
    cleaned, removed = redact_text(text)
    assert secret not in cleaned
    assert len(removed) == 1
    assert cleaned.startswith(text[: text.index(secret)])


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in 1Password, the PIN must have 6 digits.",
        "Use the deploy script to get in; log in as admin (read-only) from 192.168.178.1.",
        "The migration a3f9c21 opens the users table, see docs/auth.md and src/login_form.py:42.",
        "Commit 9f86d081884c7d659a2feaa0c55ad015 rotated the signing key, the variable is JWT_SECRET.",
        "Das Passwort muss mindestens 12 Zeichen haben und steht im Tresor.",
    ],
)
def test_honest_words_about_secrets_stay(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        "By the way, I've finally set up my 20-gallon aquarium with six platies.",
        "The story follows a nurse who finds herself in 18th-century Scotland.",
        "I need a soundbar to go with my new 40-inch TV.",
    ],
)
def test_a_conversation_about_everyday_things_keeps_its_words(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.deep
@pytest.mark.skipif(not CONVERSATIONS.is_file(), reason="LongMemEval's conversations are absent")
def test_few_conversations_that_the_weights_have_not_seen_lose_a_word() -> None:
    unseen = conversations(seen=False)[:200]
    assert sum(any(likely_spans(one.text)) for one in unseen) <= 10


@pytest.mark.parametrize(
    "text",
    [
        "ログインサーバーはポート8443で待機する。",
        "今日は日本語テキストを書きます。設定はポート8080です。",
        "認証トークンの有効期限は3600秒です。",
        "パスワードの有効期限は90日、長さは1024文字まで。",
        "キャッシュのキーは1000個まで、キー更新は2025年6月。",
        "入力は最大8192トークン。登録は上限4000。",
        "数据库密码在保险库里。端口8080",
        "密码每隔180天更换, 服务器在2024年迁移。",
        "登录失败5000次后锁定。状态码是4290。",
        "암호화 서버는 포트 8443에서 2024년부터 실행됩니다.",
        "密码长度1024字符",
    ],
)
def test_a_number_that_counts_or_numbers_something_stays_where_no_spaces_are_written(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("パスワードは8080です", "8080"),
        ("暗証番号は4711です", "4711"),
        ("门锁密码:8421", "8421"),
        ("密码改为90210了", "90210"),
        ("金庫の暗証番号を49321に変えた。", "49321"),
        ("root密码73920184台式机专用", "73920184"),
        ("数据库密码73920184元旦后更换", "73920184"),
        ("管理员密码48291735个人保管", "48291735"),
        ("门禁密码839201人人都知道", "839201"),
        ("WiFi密码48291735次日失效", "48291735"),
        ("路由器密码48291735回家再改", "48291735"),
        ("登录密码73920184倍加小心", "73920184"),
        ("服务器密码73920184字迹不清", "73920184"),
        ("サーバーのパスワード48291735回線切替後に変更", "48291735"),
        ("管理者パスワード73920184個人用", "73920184"),
        ("ルーターのパスワード73920184台所のメモ", "73920184"),
        ("관리자 비밀번호 839201 원격 접속용이다", "839201"),
    ],
)
def test_a_code_still_goes_where_no_spaces_are_written(text: str, secret: str) -> None:
    assert secret not in redact_text(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "登录48291735个人保管",
        "登录48291735次日失效",
        "登录48291735元旦",
        "접속 839201 원격",
        "접속 839201원격",
        "접속 839201개발",
        "ログイン73920184台所",
        "密码是839201个",
        "パスワード: 839201秒です",
        "暗証番号は「839201」回",
        "登录73920184年底",
    ],
)
def test_what_only_begins_as_a_counter_or_follows_a_password_counts_nothing(text: str) -> None:
    number = re.search(r"[0-9]+", text)
    assert number is not None
    assert not counts_something(text, *number.span())


@given(st.permutations([0.1, 0.2, 0.3, 1e16, -1e16, 0.7]))
def test_a_score_is_the_same_in_whatever_order_its_features_come(weights: list[float]) -> None:
    learned = Weights({str(weight): weight for weight in weights}, frozenset(), 0.0, 0.0)
    assert score_of(map(str, weights), learned) == 1.3


@given(st.text(max_size=300))
def test_what_is_found_is_a_word_of_the_text(text: str) -> None:
    found = list(likely_spans(text, gated=False))
    assert set(likely_spans(text)) <= set(found)
    given = words_of(text, frozenset())
    assert {(start, end) for start, end, _ in found} <= {
        (start, given.end(at)) for at, start in enumerate(given.starts)
    }


def test_a_removed_secret_is_one_unknown_word() -> None:
    text = f"log in with {secret_marker('password')} twice"
    given = words_of(text, frozenset())
    assert [word.text for word in given.words] == ["log", "in", "with", "", "twice"]
    assert text[given.starts[3] : given.end(3)] == secret_marker("password")


def test_the_weights_name_no_secret() -> None:
    """A feature was seen several times, and no secret of the training is in several texts."""
    learned = json.loads(WEIGHTS_FILE.read_bytes())
    secrets = {secret.lower() for text in texts()[0] for secret in text.secrets if len(secret) > 8}
    assert len(learned["features"]) > 1_000
    assert len(secrets) > 1_000
    assert not secrets & set(learned["common"].split())
    assert not [name for name in learned["features"] if any(secret in name for secret in secrets)]
    assert not [name for name in learned["features"] if "before " in name and len(name.rsplit(" ", 1)[-1]) > 8]


@pytest.mark.parametrize("alone", ["x7k2m9q4w8ez", "Brillenputztuch7", "session-01HQ3Z", "tulip-garden-44"])
def test_a_word_alone_such_as_an_id_is_judged_by_the_rules_only(alone: str) -> None:
    assert list(likely_spans(alone)) == []


@given(st.integers(0, 2**64 - 1))
def test_no_id_of_a_record_is_taken_for_a_secret_wherever_it_stands(number: int) -> None:
    with patch("memento_tui.model.validation.os.urandom", lambda size: number.to_bytes(size, "big")):
        for made in (new_id(), new_proposal_id(), f"{new_proposal_id()}@2"):
            for said in ("{}", "Quarantined the session {}.", "The session {} is under quarantine", "key {}: see {}"):
                text = said.format(made, made)
                assert redact_text(text)[0] == text


def _spans(matches: Iterable[re.Match[str]]) -> list[tuple[int, int]]:
    return [match.span() for match in matches]


@settings(max_examples=examples(300))
@given(st.text("ab:= \t\n\uff1aé", max_size=40))
def test_a_phrase_after_a_sign_is_found_as_where_it_is_looked_for_everywhere(text: str) -> None:
    assert _spans(_assigned_phrases(text)) == _spans(_PHRASE_ASSIGNED.finditer(text))


@settings(max_examples=examples(300))
@given(st.text("1a ,-·٣", max_size=40) | st.lists(st.text("ab1", min_size=3, max_size=5), max_size=9).map(" ".join))
def test_a_code_that_is_written_apart_is_looked_for_in_every_text_that_holds_one(text: str) -> None:
    assert _spans(_parted_codes(text)) == _spans(_PARTED_CODE.finditer(text))


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(["pass", "word", "wd", "key", "token", "clé api", " ", "s", "密码"]), max_size=9))
def test_every_word_for_secrets_is_found_where_it_can_begin(parts: list[str]) -> None:
    text = "".join(parts)
    found = _PASSWORD_WORDS.finditer(text)
    assert _spans(found) == _spans(_PASSWORD_WORD.finditer(text))
