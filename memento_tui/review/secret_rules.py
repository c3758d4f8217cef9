"""The shapes of secrets that show by themselves: tokens that begin as their provider's do.

Part of the patterns are detect-secrets' own, taken from its plugins; none of its network verification is used. It is
imported when a text holds the letters that a plugin needs, because it brings `requests` along and takes a tenth of a
second. Some plugins are left out, and the rules here or in `secret_assignments` find what they find: those for
OpenAI, JWT, npm, IBM, SoftLayer, Cloudant and basic authentication and its keyword detector, whose patterns can take
time that grows with the square of a hostile text or miss part of the secret; and its entropy detectors, because a
memory is full of hashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import msgspec

from memento_tui.review.secret_values import is_example, is_key

__all__ = ["LEAST", "PLUGINS", "RULES", "Found", "Plugin", "Rule", "plugin_patterns", "token_spans"]

LEAST = 20
"""Characters without white space that every token has at least."""

Found = tuple[int, int, str]
"""Where a secret begins and ends, and its kind."""


class Rule(msgspec.Struct, frozen=True):
    """One shape of our own. A match's group ``secret`` is what is removed, or all of it where there is no such group.

    Each pattern takes time in proportion to the text: it cannot begin inside a run that it would read to its end.
    """

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""
    pattern: re.Pattern[str]
    judged: bool = False
    """The shape alone does not tell: what is removed must also look generated."""


class Plugin(msgspec.Struct, frozen=True):
    """One of detect-secrets' plugins that looks for fixed shapes."""

    module: str
    name: str
    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""


def _token(prefix: str, body: str) -> re.Pattern[str]:
    """Return the pattern of a token that begins where no letter or digit precedes it."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{prefix}){body}", re.ASCII)


RULES: tuple[Rule, ...] = (
    Rule("GitHub token", ("github_pat_",), re.compile(r"(?<!\w)github_pat_\w{30,}+", re.ASCII)),
    Rule("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _token("gh[pousr]_", r"[A-Za-z0-9]{30,}+")),
    Rule("GitLab token", ("glpat-",), re.compile(r"(?<![\w-])glpat-[\w-]{18,}+(?:\.[\w-]+)*+", re.ASCII)),
    Rule("Anthropic key", ("sk-ant-",), re.compile(r"(?<![\w-])sk-ant-[\w-]{20,}+", re.ASCII)),
    Rule(
        "OpenAI key",
        ("sk-",),
        re.compile(r"(?<![\w-])sk-(?!ant-)(?:(?:proj|svcacct|admin|None|or-v1|lf|live|test)-)?[\w-]{20,}+", re.ASCII),
        judged=True,
    ),
    Rule(
        "Stripe key",
        ("k_live_", "k_test_", "whsec_"),
        _token("[sr]k_(?:live|test)_|whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    ),
    Rule(
        "Slack token",
        ("xox", "xapp-"),
        re.compile(r"(?<![\w-])(?:xox[a-z]|xapp)-(?=[\w.-]{0,60}\d)[\w-]{15,}+(?:\.[\w-]+)*+", re.ASCII),
    ),
    Rule("Google key", ("AIza",), _token("AIza", r"[\w-]{30,}+")),
    Rule("Google token", ("ya29.", "GOCSPX-"), _token(r"ya29\.|GOCSPX-", r"[\w-]{20,}+")),
    Rule("npm token", ("npm_",), _token("npm_", r"[A-Za-z0-9]{30,}+")),
    Rule("PyPI token", ("pypi-",), re.compile(r"(?<![\w-])pypi-[\w-]{40,}+", re.ASCII)),
    Rule("Hugging Face token", ("hf_", "api_org_"), _token("hf_|api_org_", r"[A-Za-z0-9]{25,}+")),
    Rule("Azure key", ("sig=",), re.compile(r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9%+/=_-]{30,}+)", re.ASCII)),
    Rule("Azure key", ("8Q~", "7Q~"), re.compile(r"(?<![\w.~-])[\w~.]{3}[78]Q~[\w.~-]{31,34}(?![\w.~-])", re.ASCII)),
    Rule("Twilio key", ("SK", "AC"), _token("SK|AC", r"[a-z0-9]{32}(?![A-Za-z0-9])"), judged=True),
    Rule("SendGrid key", ("SG.",), _token(r"SG\.", r"[\w-]{16,}+\.[\w-]{16,}+")),
    Rule("memento key", ("mp_live_",), _token("mp_live_", r"[0-9a-fA-F]{32,}+")),
    Rule("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), _token(r"do[opr]_v1_", r"[0-9a-f]{64}")),
    Rule("Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_"), _token(r"shp(?:at|ca|pa|ss)_", r"[0-9a-fA-F]{32}")),
    Rule("Databricks token", ("dapi",), _token("dapi", r"[0-9a-f]{32}(?:-\d)?")),
    Rule("Vault token", ("hvs.", "hvb.", "hvr."), _token(r"hv[sbr]\.", r"[\w-]{24,}+")),
    Rule("Grafana token", ("glsa_", "glc_"), _token("glsa_|glc_", r"[\w+/=]{32,}+")),
    Rule("Linear key", ("lin_api_",), _token("lin_api_", r"[A-Za-z0-9]{32,}+")),
    Rule("Notion token", ("ntn_", "secret_"), _token("ntn_|secret_", r"[A-Za-z0-9]{40,}+")),
    Rule("Atlassian token", ("ATATT3",), _token("ATATT3", r"[\w=-]{40,}+")),
    Rule("Docker token", ("dckr_pat_",), _token("dckr_pat_", r"[\w-]{20,}+")),
    Rule("Groq key", ("gsk_",), _token("gsk_", r"[A-Za-z0-9]{30,}+")),
    Rule("Replicate token", ("r8_",), _token("r8_", r"[A-Za-z0-9]{30,}+")),
    Rule("Perplexity key", ("pplx-",), _token("pplx-", r"[A-Za-z0-9]{30,}+")),
    Rule("Sentry token", ("sntrys_", "sntryu_"), _token("sntry[su]_", r"[\w+/=-]{40,}+")),
    Rule("age key", ("AGE-SECRET-KEY-1",), _token("AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}+")),
    Rule("Mailgun key", ("key-",), _token("key-", r"[0-9a-f]{32}(?![A-Za-z0-9])")),
    Rule("Postman key", ("PMAK-",), _token("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}")),
    Rule("New Relic key", ("NRAK-",), _token("NRAK-", r"[0-9A-Z]{27}")),
    Rule("Discord webhook", ("/webhooks/",), re.compile(r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{40,}+)", re.ASCII)),
    Rule("JSON Web Token", ("eyJ",), re.compile(r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]++){0,3}", re.ASCII)),
    Rule(
        "Slack webhook",
        ("/services/T",),
        re.compile(r"/services/(?P<secret>T\w{6,40}/B\w{6,40}/\w{16,}+)", re.ASCII),
    ),
    Rule("Artifactory key", ("AKC",), _token("AKC", r"[A-Za-z0-9]{40,}+")),
    Rule(
        "Discord token",  # it begins with an account's number in base64
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        re.compile(r"(?<![\w.-])(?:M[Tjz]|N[DTjz]|O[DT])[\w-]{22,26}\.[\w-]{6}\.[\w-]{27,}+", re.ASCII),
    ),
    Rule("Telegram token", (":AA",), re.compile(r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])", re.ASCII)),
)

PLUGINS: tuple[Plugin, ...] = (
    Plugin("aws", "AWSKeyDetector", "AWS access key", ("A3T", "ABIA", "ACCA", "AKIA", "ASIA")),
    Plugin("azure_storage_key", "AzureStorageKeyDetector", "Azure key", ("AccountKey=",)),
    Plugin("github_token", "GitHubTokenDetector", "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    Plugin(
        "gitlab_token",
        "GitLabTokenDetector",
        "GitLab token",
        (
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "GR1348941",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
        ),
    ),
    Plugin("mailchimp", "MailchimpDetector", "Mailchimp key", tuple(f"-us{digit}" for digit in range(10))),
    Plugin("pypi_token", "PypiTokenDetector", "PyPI token", ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw")),
    Plugin("sendgrid", "SendGridDetector", "SendGrid key", ("SG.",)),
    Plugin("square_oauth", "SquareOAuthDetector", "Square key", ("sq0csp-",)),
    Plugin("stripe", "StripeDetector", "Stripe key", ("k_live_",)),
)

_ALL_NEEDS = [rule.needs for rule in RULES] + [plugin.needs for plugin in PLUGINS]
_NEEDS = list(dict.fromkeys(need for needs in _ALL_NEEDS for need in needs))


@cache
def plugin_patterns(plugin: Plugin) -> tuple[re.Pattern[str], ...]:
    """Return a plugin's patterns that mind the case of letters; what the others find, rules of our own find."""
    module = import_module(f"detect_secrets.plugins.{plugin.module}")
    patterns: tuple[re.Pattern[str], ...] = tuple(getattr(module, plugin.name).denylist)
    return tuple(pattern for pattern in patterns if not pattern.flags & re.IGNORECASE)


def token_spans(text: str, *, gated: bool = True) -> Iterator[Found]:
    """Yield every token in the text that shows by its own shape.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    needed = _needed(text) if gated else _NEEDS
    if not needed:
        return
    for rule in RULES:
        if any(need in needed for need in rule.needs):
            yield from _rule_spans(rule, text)
    for plugin in PLUGINS:
        if any(need in needed for need in plugin.needs):
            yield from _plugin_spans(plugin, text)


def _needed(text: str) -> list[str]:
    """Return what the rules need and the text has: a token stands within one of its long words."""
    words = "\n".join([word for word in text.split() if len(word) >= LEAST])
    return [need for need in _NEEDS if need in words] if words else []


def _rule_spans(rule: Rule, text: str) -> Iterator[Found]:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        token = match[group]
        if not is_example(token) and (not rule.judged or is_key(token)):
            yield *match.span(group), rule.kind


def _plugin_spans(plugin: Plugin, text: str) -> Iterator[Found]:
    for pattern in plugin_patterns(plugin):
        for match in pattern.finditer(text):
            start, end = match.span()
            # Letters before or after make it part of something longer, such as a picture in base64.
            inside = text[start - 1 : start].isalnum() or (text[end : end + 1].isalnum() and text[end - 1].isalnum())
            if not inside and not is_example(match[0]):
                yield start, end, plugin.kind
