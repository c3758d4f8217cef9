from __future__ import annotations

import unicodedata

import pytest

from memento_tui.api import Workspace
from memento_tui.text.terms import identifiers
from tests.made import NOW


def found(workspace: Workspace, query: str, *, typing: bool = False) -> list[str]:
    """Return the ids that a keyword search finds, best first."""
    answer = workspace.search_engine.search(query, mode="keyword", limit=50, now=NOW, typing=typing)
    return [hit.id for hit in answer.results]


def remember(workspace: Workspace, **texts: str) -> None:
    """Remember texts by id."""
    for identity, text in texts.items():
        workspace.remember(text, id=identity)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        (
            "The theme reads relLangURL first",
            ["relLangURL", "rellangurl", "RELLANGURL", "lang", "rel", "url", "relLang"],
        ),
        ("Use /v2/users instead", ["/v2/users", "v2/users", "users", "v2", "/v2/users/", "user"]),
        ("We solve Navier-Stokes there", ["Navier-Stokes", "navier-stokes", "navier", "stokes", "Stokes"]),
        ("Patched CVE-2024-1234 today", ["CVE-2024-1234", "cve-2024-1234", "cve", "2024", "1234", "cve-2024"]),
        ("Set max_retry_count to five", ["max_retry_count", "retry", "retry_count", "count", "MAX_RETRY_COUNT"]),
        ("HTTPServer closes early", ["HTTPServer", "httpserver", "http", "server"]),
        ("Call parseXMLDocument2 once", ["parseXMLDocument2", "xml", "document", "parse"]),
        ("See src/app/main.py:42 for it", ["src/app/main.py", "main.py", "main", "app", "src/app"]),
        ("Ask @octo/cat+dog about #123", ["octo/cat+dog", "octo", "123", "#123"]),
        ("version 1.2.3-rc.1 broke", ["1.2.3-rc.1", "1.2.3", "rc.1"]),
        ("Das Café in Zürich", ["café", "cafe", "zürich", "zurich", "ZÜRICH"]),
        ("私は東京タワーに行く", ["東京", "東京タワー", "タワー", "京タ"]),
        ("서울에서 만나요", ["서울", "만나요"]),
        ("We keep keys in the vault", ["key", "keys", "keeps", "keeping", "vaults"]),
        ("Deploying takes long", ["deploy", "deployed", "deploys"]),
    ],
)
def test_a_text_is_found_whole_and_in_parts(workspace: Workspace, text: str, queries: list[str]) -> None:
    remember(workspace, it=text, other="Nothing of the sort, 42 bananas and 日光")
    assert {query: found(workspace, query)[:1] for query in queries} == {query: ["it"] for query in queries}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the keynote was long", "key"),
        ("a monkey", "key"),
        ("a category", "cat"),
        ("relLangURLs", "ang"),
        ("users", "use"),
        ("東京", "京都"),
        ("/v2/users", "/v3/users"),
        ("CVE-2024-1234", "CVE-2024-4321"),
    ],
)
def test_a_part_of_a_word_is_not_the_word(workspace: Workspace, text: str, query: str) -> None:
    remember(workspace, it=text)
    assert found(workspace, query) == []


def test_a_longer_word_of_an_unspaced_script_needs_all_of_its_pairs(workspace: Workspace) -> None:
    remember(workspace, tower="東京タワーに行く", city="東京に住む")
    assert found(workspace, "東京タワー") == ["tower"]
    assert sorted(found(workspace, "東京")) == ["city", "tower"]


def test_a_phrase_of_an_unspaced_script_may_stand_inside_a_run(workspace: Workspace) -> None:
    remember(workspace, it="我们部署服务器在东京。", other="东京有部署文档", mixed="服务器用Redis缓存")
    assert sorted(found(workspace, '"服务器"')) == ["it", "mixed"]
    assert found(workspace, '"部署服务器"') == ["it"]
    assert found(workspace, '部署 "东京" -"服务器"') == ["other"]
    assert found(workspace, '"用Redis缓存"') == ["mixed"]
    assert found(workspace, "东京 -文档") == ["it"]


def test_a_name_inside_a_run_of_an_unspaced_script_is_found(workspace: Workspace) -> None:
    remember(workspace, it="我们用Redis缓存会话", other="API를 parseXmlFile로 읽는다")
    for query, identity in {"redis": "it", "Redis缓存": "it", "缓存": "it", "api": "other", "xml": "other"}.items():
        assert found(workspace, query) == [identity], query


def test_one_character_of_an_unspaced_script_is_a_word(workspace: Workspace) -> None:
    remember(workspace, it="我的猫在睡觉", other="我的狗在睡觉")
    assert found(workspace, "猫") == ["it"]
    assert found(workspace, "睡觉 -猫") == ["other"]


@pytest.mark.parametrize(
    ("text", "word", "other"),
    [
        pytest.param("เราย้ายฐานข้อมูลไปยังเซิร์ฟเวอร์ใหม่", "ฐานข้อมูล", "กรุงเทพ", id="Thai"),
        pytest.param("ພວກເຮົາຍ້າຍຖານຂໍ້ມູນໄປເຊີບເວີໃໝ່", "ຖານຂໍ້ມູນ", "ວຽງຈັນ", id="Lao"),
        pytest.param("យើងផ្លាស់ទីមូលដ្ឋានទិន្នន័យទៅម៉ាស៊ីនមេថ្មី", "មូលដ្ឋានទិន្នន័យ", "ភ្នំពេញ", id="Khmer"),
        pytest.param("ဒေတာဘေ့စ်ကိုဆာဗာအသစ်သို့ရွှေ့ခဲ့သည်", "ဆာဗာ", "ရန်ကုန်", id="Burmese"),
    ],
)
def test_a_word_within_a_text_of_southeast_asia_is_found(
    workspace: Workspace, text: str, word: str, other: str
) -> None:
    remember(workspace, it=text, away=other)
    for query in (word, f'"{word}"', text):
        assert found(workspace, query) == ["it"], query
    assert found(workspace, other) == ["away"]
    assert found(workspace, word[:3], typing=True) == ["it"]
    (hit,) = workspace.search(word, mode="keyword").results
    assert word in [hit.snippet[start:end] for start, end in hit.marks]


def test_a_break_without_width_between_words_neither_hides_nor_ends_one(workspace: Workspace) -> None:
    remember(workspace, it="ភាសា\u200bខ្មែរ", other="ភាសាខ្មែរ")
    for query in ("ភាសាខ្មែរ", "ភាសា\u200bខ្មែរ", "ខ្មែរ"):
        assert sorted(found(workspace, query)) == ["it", "other"]


@pytest.mark.parametrize("text", ["Der Schlüssel für die Tür", "Việt Nam", "서버는 부산에"])
def test_a_text_is_found_however_its_accents_are_encoded(workspace: Workspace, text: str) -> None:
    forms = {form: unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
    remember(workspace, other="Nothing of the sort", **forms)
    for form in forms.values():
        for query in (form, f'"{form}"', form.split()[-1]):
            assert sorted(found(workspace, query)) == ["NFC", "NFD"], query


def test_a_phrase_without_letters_and_digits_is_left_out_with_a_sentence(workspace: Workspace) -> None:
    remember(workspace, it="Ship it -> now")
    answer = workspace.search('ship "->"', mode="keyword")
    assert [hit.id for hit in answer.results] == ["it"]
    assert answer.problems == ('"->" was left out: only letters and digits are searched.',)


def test_a_long_text_of_an_unspaced_script_is_found_to_its_end(workspace: Workspace) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(5000))
    remember(workspace, it=text)
    assert found(workspace, text[-2:]) == ["it"]


def test_the_word_being_typed_matches_as_a_beginning_and_no_other_does(workspace: Workspace) -> None:
    remember(workspace, key="the keynote of configLoader at /v2/users", other="an unrelated sentence")
    for beginning in ("k", "keyn", "KEYN", "configl", "confi", "/v2/us", "v2/u"):
        assert found(workspace, beginning, typing=True) == ["key"], beginning
    assert found(workspace, "keyn") == []
    assert found(workspace, "keyn ", typing=True) == []
    assert found(workspace, "keyn sentence", typing=True) == ["other"]
    assert found(workspace, "eynote", typing=True) == []


def test_a_word_typed_whole_counts_more_than_a_beginning(workspace: Workspace) -> None:
    remember(workspace, beginning="portable things of this kind", whole="the port of this kind")
    assert found(workspace, "port", typing=True) == ["whole", "beginning"]


def test_a_phrase_must_stand_as_it_is(workspace: Workspace) -> None:
    remember(workspace, it="never deploy on friday", other="on friday we never deploy", third="deploy")
    assert found(workspace, '"deploy on friday"') == ["it"]
    assert found(workspace, '"deploy on Fridays"') == ["it"]
    assert sorted(found(workspace, "deploy on friday")) == ["it", "other", "third"]
    assert found(workspace, '"friday on deploy"') == []


def test_an_unwanted_word_or_phrase_leaves_out_what_holds_it(workspace: Workspace) -> None:
    remember(workspace, both="alpha beta", one="alpha gamma beta", two="alpha")
    assert sorted(found(workspace, "alpha -beta")) == ["two"]
    assert sorted(found(workspace, 'alpha -"alpha beta"')) == ["one", "two"]
    assert sorted(found(workspace, "alpha -relLangURL")) == ["both", "one", "two"]


def test_stop_words_are_ignored_unless_there_is_nothing_else(workspace: Workspace) -> None:
    remember(workspace, it="we deploy daily", other="how do they do it")
    assert found(workspace, "how do we deploy") == ["it"]
    assert found(workspace, "how") == ["other"]
    assert found(workspace, '"do it"') == ["other"]


def test_any_of_the_words_is_enough_and_more_of_them_rank_higher(workspace: Workspace) -> None:
    remember(workspace, two="alpha beta in here", one="alpha and nothing in here", none="quite other words")
    assert found(workspace, "alpha beta") == ["two", "one"]


def test_a_title_counts_more_than_the_text(workspace: Workspace) -> None:
    workspace.remember("something about deployment and other things", id="text")
    workspace.remember("something about this and other things", id="title", title="deployment")
    assert found(workspace, "deployment") == ["title", "text"]


def test_filters_narrow_a_search(workspace: Workspace) -> None:
    workspace.remember("alpha", id="a", tags=["API"], certainty=5, namespace="p/site", expires_at="900d")
    workspace.remember("alpha too", id="b", kind="decision", namespace="p/site/deep")
    for query, ids in {
        "alpha tag:api": ["a"],
        "alpha -tag:api": ["b"],
        "alpha kind:decision": ["b"],
        "alpha certainty:>=4": ["a"],
        "alpha certainty:<=3": ["b"],
        "alpha ns:p/site": ["a", "b"],
        "alpha ns:p": ["a", "b"],
        "alpha ns:p/site/deep": ["b"],
        "alpha ns:p/si": [],
        "alpha expires:never": ["b"],
        "alpha expires:>7d": ["a"],
        "alpha after:900d": ["a", "b"],
        "alpha id:a": ["a"],
        "alpha by:claude": [],
    }.items():
        assert sorted(found(workspace, query)) == ids, query


def test_filters_alone_list_what_they_select(workspace: Workspace) -> None:
    workspace.remember("alpha", id="a", tags=["x"])
    workspace.remember("beta", id="b", tags=["x"])
    answer = workspace.search("tag:x", limit=1)
    assert ([hit.id for hit in answer.results], answer.total, answer.semantic) == (["b"], 2, "off")


def test_every_memory_is_found_however_odd_it_is(workspace: Workspace) -> None:
    odd = {
        "long": "x" * 100_000 + " needle1",
        "escapes": "\x1b]52;c;evil\x07 [/nope] needle2 \u202e",
        "nul": "\x01state needle3",
        "digits": "1" * 5000 + " needle4",
        "many": " ".join(f"word{n}_x{n}" for n in range(10_000)) + " needle5",
        "marks": "-" * 1000 + " needle6 ????",
    }
    remember(workspace, **odd)
    for pending in workspace.review.list()[0]:  # what reads like a trick waits for a person first
        workspace.review.approve(pending.proposal.id, despite="orders")
    for number, identity in enumerate(odd, 1):
        assert found(workspace, f"needle{number}") == [identity]


def test_no_id_and_no_text_reaches_the_note_that_the_index_keeps_of_itself(workspace: Workspace) -> None:
    remember(workspace, it="alpha")
    for query in ("state", "\x01state", "id:\x01state", "state -alpha", "-tag:none", "-zzz alpha"):
        assert set(found(workspace, query)) <= {"it"}
    assert workspace.search("state -zzz tag:none").total == 0


def test_identifiers_are_told_from_plain_words() -> None:
    assert identifiers("plain words, and more.") == ""
    assert identifiers("relLangURL") == "rellangurl rel lang url rellang langurl"
    assert identifiers("/v2/users a_b") == "v2/users a_b"
    assert identifiers("a" * 100_000) == ""


@pytest.mark.parametrize("part", ["LangURL", "relLang", "lang", "rellangurl"])
def test_a_camel_case_name_is_found_by_neighbouring_humps(workspace: Workspace, part: str) -> None:
    workspace.remember("Use relLangURL for paths.", id="paths")
    assert [hit.id for hit in workspace.search(part, mode="keyword").results] == ["paths"]
