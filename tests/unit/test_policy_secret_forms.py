"""The cheap tests of the forms in which a secret is handed over leave out no text that holds one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memento_tui.policy.secret_formats import FORMAT_RULES
from memento_tui.policy.secret_forms import FormatRule
from memento_tui.policy.secrets import redact_text
from tests.depth import examples


@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(FORMAT_RULES), st.data())
def test_a_form_is_found_where_it_can_begin_as_where_it_is_tried_everywhere(
    rule: FormatRule, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(rule.pattern))
    read = text.lower()
    assume(len(read) == len(text) and rule.pattern.search(text) is not None)
    assert rule.may_match(text)
    found = [match.span() for match in rule.matches(text, read)]
    assert found == [match.span() for match in rule.pattern.finditer(text)]


@pytest.mark.parametrize(
    "call",
    [
        'HOTP("{}")',
        'vault.totp.HOTP("{}", digits=6)',
        'jwt.encode(payload, "{}", algorithm)',
        'smtp.login("robot", "{}")',
        'Net::SSH.start(host, "deploy", "{}")',
        '$pdo = new PDO($dsn, "shop", "{}");',
    ],
)
def test_the_argument_of_a_call_goes_whatever_stands_before_its_name(call: str) -> None:
    secret = "k7" + "Fw2pQ9x" + "Rt4Zb6"
    assert secret not in redact_text(call.format(secret))[0]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The serial-key: {} of the old laptop", "4F7Q2-9KX3M-L8P2R"),
        ("office-number: {}", "4F7Q2-9KX3M-L8P2R"),
        ("cd key {}", "4F7Q2-9KX3M-L8P2R"),
        ("the router has key 5 {}", "0822455D0A16544541"),
        ("the switch has secret 7 {}", "0822455D0A16544541"),
        ("credential('robot', '{}')", "mango" + "tree"),
        ('{{"mybearer": "{}"}}', "q8Zt4Lw0" + "Xy7Pd2Rk5Vb1"),
        ("ASPSESSIONIDQQ={}", "GKLM2x9TQ7" + "bWz4RpVn8sYd"),
        ("erlang.cookie: {}", "QWJRTX" + "PLMNBVCZ"),
        ("keygen = {}", "3MLdXthycjPRoEdTCN" + "V1prWET0ZIpplUF9tYpfBqqqq="),
    ],
)
def test_a_form_is_tried_on_each_text_whose_words_it_knows(text: str, secret: str) -> None:
    assert secret not in redact_text(text.format(secret), by_rules_alone=True)[0]
