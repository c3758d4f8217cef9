"""Find the tokens of providers by their own shape, and tokens of unknown makers that are made the same way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import msgspec

from memento_tui.policy.secret_patterns import SecretSpan, is_drawn, is_example, is_key
from memento_tui.text.literals import Literals

__all__ = [
    "DETECT_SECRETS_PLUGINS",
    "MIN_TOKEN_CHARACTERS",
    "TOKEN_RULES",
    "DetectSecretsPlugin",
    "TokenRule",
    "may_hold_tokens",
    "plugin_patterns",
    "token_spans",
]

MIN_TOKEN_CHARACTERS = 20
"""Characters without white space that every token has at least."""


class TokenRule(msgspec.Struct, frozen=True):
    """One pattern of our own. The group ``secret`` of a match is removed, or all of it where there is no such group.

    Each pattern takes time in proportion to the text: it cannot begin inside a run that it would read to its end.
    """

    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""
    source: str
    judged: bool = False
    """Whether a match must look generated too, because the pattern alone is no proof."""
    least: int = MIN_TOKEN_CHARACTERS
    """Characters without white space that every match has at least; it saves rules whose words are short."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use: all of them take longer than most texts."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII)


class DetectSecretsPlugin(msgspec.Struct, frozen=True):
    """One of detect-secrets' plugins that looks for fixed shapes."""

    module: str
    name: str
    kind: str
    needs: tuple[str, ...]
    """Every match holds one of these, letter for letter."""


_HEX = "[0-9a-f]"
_WEB = r"[\w-]"
_ALNUM = "[A-Za-z0-9]"
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _begins(kind: str, prefixes: str, body: str, *, judged: bool = False) -> TokenRule:
    """Return the rule for a token that begins with one of these words, where no letter or digit precedes it."""
    needs = tuple(prefixes.split())
    return TokenRule(kind, needs, rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, needs))}){body}", judged=judged)


TOKEN_RULES: tuple[TokenRule, ...] = (
    TokenRule("GitHub token", ("github_pat_",), r"(?<!\w)github_pat_\w{30,}+"),
    _begins("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_ALNUM}{{30,}}+"),
    TokenRule(
        "GitLab token",
        tuple(f"gl{name}-" for name in "pat dt ft soat rt cbt imt ptt agent oas ffct".split()),  # noqa: SIM905 - shorter
        r"(?<![\w-])gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[\w-]{18,}+(?>(?:\.[\w-]+)*)",
    ),
    TokenRule("Anthropic key", ("sk-ant-",), r"(?<![\w-])sk-ant-[\w-]{20,}+"),
    TokenRule(
        "OpenAI key",
        ("sk-",),
        r"(?<![\w-])sk-(?!ant-)(?:(?:proj|svcacct|admin|None|or-v1|lf|live|test)-)?[\w-]{20,}+",
        judged=True,
    ),
    _begins("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    TokenRule(
        "Slack token",
        ("xox", "xapp-"),
        r"(?<![\w-])(?:xox[a-z](?:\.xox[a-z])?|xapp)-(?=[\w.-]{0,60}\d)[\w-]{15,}+(?>(?:\.[\w-]+)*)",
    ),
    _begins("Google key", "AIza", rf"{_WEB}{{30,}}+"),
    _begins("Google token", "ya29. GOCSPX- AQ.Ab8", rf"{_WEB}{{20,}}+(?>(?:\.[\w-]+)*)"),
    _begins("npm token", "npm_", rf"{_ALNUM}{{30,}}+"),
    TokenRule("PyPI token", ("pypi-",), r"(?<![\w-])pypi-[\w-]{40,}+"),
    _begins("Hugging Face token", "hf_ api_org_", rf"{_ALNUM}{{25,}}+"),
    TokenRule("Azure key", ("sig=",), r"(?<=[?&;])sig=(?P<secret>[A-Za-z0-9%+/=_-]{30,}+)"),
    TokenRule("Azure key", ("8Q~", "7Q~"), r"(?<![\w.~-])[\w~.]{3}[78]Q~[\w.~-]{31,34}(?![\w.~-])"),
    TokenRule("Azure key", ("AZDO",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])"),
    TokenRule("Azure key", ("JQQJ99",), r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}(?![A-Za-z0-9])"),
    _begins("Twilio key", "SK AC", r"[a-z0-9]{32}(?![A-Za-z0-9])", judged=True),
    _begins("SendGrid key", "SG.", rf"{_WEB}{{16,}}+\.{_WEB}{{16,}}+"),
    _begins("memento key", "mp_live_", r"[0-9a-fA-F]{32,}+"),
    _begins("memento token", "mto_", r"[\w-]{43}"),
    _begins("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{64}}"),
    _begins("Shopify token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"[0-9a-fA-F]{32}"),
    _begins("Databricks token", "dapi dose", rf"{_HEX}{{32}}(?:-\d)?"),
    _begins("Vault token", "hvs. hvb. hvr.", rf"{_WEB}{{24,}}+"),
    _begins("Grafana token", "glsa_ glc_", r"[\w+/=]{32,}+"),
    _begins("Linear key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{32,}}+"),
    _begins("Notion token", "ntn_ secret_", rf"{_ALNUM}{{40,}}+"),
    _begins("Atlassian token", "ATATT3 ATCTT3", r"[\w=-]{40,}+"),
    _begins("Bitbucket token", "ATBB", rf"{_ALNUM}{{28,}}+"),
    _begins("Docker token", "dckr_pat_ dckr_oat_", rf"{_WEB}{{20,}}+"),
    _begins("Groq key", "gsk_", rf"{_ALNUM}{{30,}}+"),
    _begins("Replicate token", "r8_", rf"{_ALNUM}{{30,}}+"),
    _begins("Perplexity key", "pplx-", rf"{_ALNUM}{{30,}}+"),
    _begins("Sentry token", "sntrys_ sntryu_ sntrya_", r"[\w+/=-]{40,}+"),
    _begins("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}+"),
    _begins("Mailgun key", "key-", rf"{_HEX}{{32}}(?![A-Za-z0-9])"),
    _begins("Postman key", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    _begins("New Relic key", "NRAK- NRII- NRJS- NRAA-", r"[0-9A-Za-z_-]{19,}+"),
    TokenRule("Discord webhook", ("/webhooks/",), r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{40,}+)"),
    TokenRule("JSON Web Token", ("eyJ",), r"(?<![\w-])(?<!pk\.)eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]++){0,3}"),
    TokenRule("Slack webhook", ("/services/T",), r"/services/(?P<secret>T\w{6,40}/B\w{6,40}/\w{16,}+)"),
    TokenRule(
        "Slack webhook",
        ("/workflows/", "/triggers/"),
        r"/(?:workflows|triggers)/(?P<secret>[TE]\w{6,40}(?:/\w{8,60}){2,4})",
    ),
    TokenRule(
        "Teams webhook", ("/IncomingWebhook/",), rf"/IncomingWebhook/(?P<secret>{_HEX}{{32}}(?:/{_UUID})?(?:/[\w-]++)?)"
    ),
    _begins("Artifactory key", "AKC", rf"{_ALNUM}{{40,}}+"),
    TokenRule(
        "Discord token",  # it begins with an account's number in base64
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        r"(?<![\w.-])(?:M[Tjz]|N[DTjz]|O[DT])[\w-]{22,26}\.[\w-]{6}\.[\w-]{27,}+",
        least=59,
    ),
    TokenRule("Telegram token", (":AA",), r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    _begins("xAI key", "xai-", rf"{_ALNUM}{{30,}}+"),
    _begins("Tailscale key", "tskey-", rf"{_WEB}{{20,}}+"),
    _begins("Figma token", "figd_ figo_ figu_", rf"{_WEB}{{30,}}+"),
    _begins("Supabase key", "sbp_", rf"(?:v0_|oauth_)?{_HEX}{{40,}}+"),
    _begins("Supabase key", "sb_secret_", rf"{_WEB}{{20,}}+"),
    _begins("PlanetScale key", "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_api_", r"[\w=.-]{30,}+"),
    _begins("RubyGems key", "rubygems_", rf"{_HEX}{{40,}}+"),
    _begins("crates.io token", "cio", rf"{_ALNUM}{{32}}(?![A-Za-z0-9])", judged=True),
    _begins("Brevo key", "xkeysib- xsmtpsib-", rf"{_HEX}{{40,}}+(?:-\w{{16}})?"),
    _begins("Resend key", "re_", r"[A-Za-z0-9]{8}_?[A-Za-z0-9]{12,}+", judged=True),
    TokenRule("Cloudflare key", ("v1.0-",), rf"(?<![\w.-])v1\.0-(?:{_HEX}{{24}}-)?{_HEX}{{100,}}+"),
    _begins("Cloudflare token", "eyJhIjoi", r"[\w+/=-]{80,}+"),
    _begins("Heroku key", "HRKU-", rf"{_WEB}{{30,}}+"),
    _begins("Fly token", "Fm1_ Fm1a_ Fm1r_ Fm2_ fm1_ fm1a_ fm1r_ fm2_ fo1_", r"[\w+/=,-]{40,}+"),
    _begins("Vercel token", "vercel_blob_rw_ vcp_ vck_ vci_ vca_ vcr_", r"\w{20,}+", judged=True),
    _begins("Netlify token", "nfp_ nfo_ nfc_ nfu_ nfb_", rf"{_ALNUM}{{30,}}+"),
    _begins("Render key", "rnd_", rf"{_ALNUM}{{20,}}+", judged=True),
    TokenRule("Terraform token", (".atlasv1.",), r"(?<![\w-])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}+"),
    _begins("Pulumi token", "pul-", rf"{_HEX}{{40}}"),
    _begins(
        "Doppler token",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit. dp.said.",
        rf"(?:[\w-]{{2,35}}\.)?{_ALNUM}{{40,}}+",
    ),
    TokenRule("Infisical token", ("st.",), rf"(?<![\w.])st\.{_HEX}{{24}}\.{_HEX}{{32}}\.{_HEX}{{32}}"),
    _begins("1Password token", "ops_eyJ", r"[\w+/=-]{100,}+"),
    TokenRule("1Password key", ("A3-",), r"(?<![\w-])A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-?){4,5}(?![\w-])"),
    _begins("Datadog key", "ddp_ ddapp_", rf"{_ALNUM}{{30,}}+"),
    _begins("PostHog key", "phx_", rf"{_ALNUM}{{30,}}+"),
    _begins("LaunchDarkly key", "sdk- api- mob-", _UUID),
    TokenRule("HubSpot token", ("pat-",), rf"(?<![\w-])pat-(?:na|eu|ap)\d-{_UUID}"),
    _begins("Airtable token", "pat", rf"{_ALNUM}{{14}}\.{_HEX}{{64}}"),
    TokenRule("Asana token", ("1/", "2/"), rf"(?<![\w/])[12]/\d{{10,20}}/\d{{10,20}}:{_HEX}{{32}}"),
    TokenRule("Asana token", ("1/", "2/", "0/"), rf"(?<![\w/])[012]/\d{{10,20}}:{_HEX}{{32}}"),
    _begins("Square key", "EAAA", r"[\w-]{40,}+"),
    _begins("Square key", "sq0atp- sq0csp- sq0idb-", rf"{_WEB}{{20,}}+"),
    _begins("Adyen key", "AQE", r"[\w/+=.-]{40,}+", judged=True),
    _begins("Buildkite token", "bkua_ bkat_ bkct_ bkrt_ bkaj_", rf"{_ALNUM}{{30,}}+"),
    _begins("CircleCI token", "CCIPAT_ CCIPRJ_", r"\w{20,}+"),
    _begins("SonarQube token", "squ_ sqp_ sqa_", rf"{_HEX}{{40}}"),
    _begins("LangSmith key", "lsv2_pt_ lsv2_sk_ ls__", r"\w{30,}+"),
    _begins("Weights & Biases key", "wandb_v1_", rf"{_WEB}{{30,}}+"),
    _begins("ElevenLabs key", "sk_", rf"{_HEX}{{48}}"),
    _begins("Fireworks key", "fw_", rf"{_ALNUM}{{22,}}+", judged=True),
    _begins("Tavily key", "tvly-", rf"{_WEB}{{20,}}+"),
    _begins("Firecrawl key", "fc-", rf"{_HEX}{{32}}"),
    _begins("NVIDIA key", "nvapi-", rf"{_WEB}{{40,}}+"),
    _begins("Cerebras key", "csk-", rf"{_ALNUM}{{40,}}+"),
    _begins("Pinecone key", "pcsk_", r"\w{40,}+"),
    _begins("Jina key", "jina_", rf"{_WEB}{{40,}}+"),
    _begins("Voyage key", "pa-", rf"{_WEB}{{40,}}+", judged=True),
    _begins("Together key", "tgp_v1_", rf"{_WEB}{{30,}}+"),
    _begins("Neon key", "napi_", rf"{_ALNUM}{{40,}}+"),
    _begins("E2B key", "e2b_", rf"{_HEX}{{40}}"),
    _begins("Mem0 key", "m0-", rf"{_ALNUM}{{36,}}+"),
    _begins("RunPod key", "rpa_", r"[A-Z0-9]{36,}+"),
    _begins("AWS key", "ABSK", r"[A-Za-z0-9+/=]{80,}+"),
    _begins("AWS key", "bedrock-api-key-", r"[A-Za-z0-9+/=]{40,}+"),
    TokenRule("Mapbox token", ("k.eyJ",), r"(?<![\w.-])[st]k\.eyJ[\w-]{30,}+\.[\w-]{10,}+"),
    _begins("Contentful token", "CFPAT-", rf"{_WEB}{{30,}}+"),
    _begins("Alibaba key", "LTAI", rf"{_ALNUM}{{16,}}+(?![A-Za-z0-9])", judged=True),
    _begins("Tencent key", "AKID", rf"{_ALNUM}{{28,}}+"),
    _begins("Sourcegraph token", "sgp_", rf"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}"),
    _begins("Typeform token", "tfp_", r"[\w.=-]{40,}+"),
    _begins("Dropbox token", "sl.", rf"(?:u\.)?{_WEB}{{60,}}+"),
    _begins("EasyPost key", "EZAK EZTK", rf"{_ALNUM}{{50,}}+"),
    _begins("Flutterwave key", "FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-", r"[A-Za-z0-9]{12,}+(?:-X)?"),
    _begins("Plaid token", "access-sandbox- access-development- access-production-", _UUID),
    _begins("ReadMe key", "rdme_", rf"{_ALNUM}{{40,}}+"),
    _begins("Scalingo token", "tk-us-", rf"{_WEB}{{40,}}+"),
    _begins("Shippo token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    _begins("Clojars token", "CLOJARS_", rf"{_ALNUM}{{50,}}+"),
    _begins("Prefect key", "pnu_ pnb_", rf"{_ALNUM}{{30,}}+"),
    _begins("Duffel token", "duffel_test_ duffel_live_", r"[\w=-]{40,}+"),
    _begins("Dynatrace token", "dt0c01. dt0s01. dt0s16.", r"[A-Za-z0-9]{24}\.[A-Za-z0-9]{60,}+"),
    _begins("Frame.io token", "fio-u-", r"[\w=-]{50,}+"),
    _begins("Lob key", "live_ test_", rf"{_HEX}{{35}}(?![A-Za-z0-9])"),
    _begins("OpenShift token", "sha256~", rf"{_WEB}{{40,}}+"),
    _begins("Aiven password", "AVNS_", rf"{_WEB}{{16,}}+"),
    _begins("Inngest key", "signkey-prod- signkey-test- signkey-branch-", rf"{_HEX}{{32,}}+"),
    _begins("Paddle key", "pdl_live_ pdl_sdbx_", r"\w{30,}+"),
    _begins("Facebook token", "EAAC EAAM EAAG EAAB", rf"{_ALNUM}{{80,}}+"),
    _begins("X token", "AAAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{30,}+"),
    _begins("Yandex key", "AQVN", rf"{_WEB}{{35,}}+"),
    _begins("Yandex token", "y0_ t1.9eu", r"[\w.-]{40,}+"),
    _begins("VK token", "vk1.a.", rf"{_WEB}{{60,}}+"),
    TokenRule("MaxMind key", ("_mmk",), r"(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)"),
    TokenRule("Harness token", ("pat.", "sat."), r"(?<![\w.])[ps]at\.[\w-]{22}\.[0-9a-f]{24}\.[\w-]{20}"),
    _begins("42 token", "s-s4t2ud- s-s4t2af-", rf"{_HEX}{{64}}"),
    _begins("OneSignal key", "os_v2_app_ os_v2_org_", rf"{_ALNUM}{{60,}}+"),
    _begins("Trigger.dev key", "tr_prod_ tr_stg_ tr_preview_ tr_dev_ tr_pat_", rf"{_ALNUM}{{20,}}+", judged=True),
    _begins("Rancher token", "token- kubeconfig-", r"[\w.-]{5,40}?:[a-z0-9]{54}(?![A-Za-z0-9])"),
    _begins("Octopus key", "API-", r"[A-Z0-9]{25,36}(?![A-Za-z0-9])", judged=True),
    _begins("LinkedIn secret", "WPL_AP0. WPL_AP1.", r"[\w.=/+-]{16,}+"),
    _begins(
        "Braintree token",
        "access_token$production$ access_token$sandbox$",
        rf"[a-z0-9]{{16}}\${_HEX}{{32}}",
    ),
    _begins("Trello token", "ATTA", rf"{_ALNUM}{{60,}}+"),
    _begins("ClickUp token", "pk_", r"\d{5,12}_[A-Z0-9]{32}"),
    _begins("payment key", "live_ test_", rf"{_ALNUM}{{30,}}+", judged=True),
    _begins("payment key", "live_", r"[\w-]{40}(?![\w-])", judged=True),
    _begins("NuGet key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    _begins("Honeycomb key", "hcaik_ hcbik_ hcxik_ hcalk_ hcamk_ hcxlk_ hcxmk_", r"[a-z0-9]{40,}+"),
    _begins("Adobe secret", "p8e- p8-", r"[\w-]{32}(?![\w-])", judged=True),
    _begins("Adafruit key", "aio_", rf"{_ALNUM}{{28}}(?![A-Za-z0-9])", judged=True),
    _begins("Artifactory token", "cmVmdGtu", rf"{_ALNUM}{{50,}}+"),
    _begins("Intercom token", "dG9rO", r"[A-Za-z0-9+/=]{50,}+"),
    _begins("Modal key", "ak- as-", rf"{_ALNUM}{{22}}(?![\w-])", judged=True),
    _begins("Mercury token", "secret-token:", r"\w{20,}+"),
    _begins("Twitch token", "oauth:", r"[a-z0-9]{30}(?![A-Za-z0-9])", judged=True),
    _begins("Backblaze key", "K001 K002 K003 K004 K005", r"[\w/+]{27}(?![\w/+])", judged=True),
    TokenRule(
        "Vault token", ("s.",), rf"s\.(?<![\w./-]s\.)(?P<secret>{_ALNUM}{{24}})(?![\w.(])", judged=True, least=26
    ),
    TokenRule("New Relic key", ("NRAL",), rf"(?<!\w){_HEX}{{36}}NRAL(?!\w)"),
    TokenRule("Ably key", (":",), r"(?<![\w./-])[\w-]{6}\.[\w-]{6}:[\w-]{43}(?![\w-])", judged=True, least=57),
    TokenRule("DeepL key", (":fx",), rf"(?<![\w-]){_UUID}:fx(?!\w)"),
    TokenRule(
        "Unleash token",
        (":production.", ":development."),
        rf"(?<![\w*])[\w*-]{{1,40}}:(?:production|development)\.{_HEX}{{40,}}+",
    ),
    TokenRule("Defined Networking key", ("dnkey-",), r"(?<![\w-])dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    TokenRule(
        "ngrok token",
        ("1", "2", "3"),
        rf"(?<![\w/.-])[123]{_ALNUM}{{26}}_{_ALNUM}{{20,22}}(?![\w-])",
        judged=True,
        least=48,
    ),
    _begins("wallet key", "xprv yprv zprv tprv", rf"{_BASE58}{{90,}}+"),
    TokenRule(
        "wallet key",
        ("5H", "5J", "5K", "K", "L"),
        rf"(?<![\w+/.-])(?:5[HJK]{_BASE58}{{49}}|[KL]{_BASE58}{{51}})(?![\w+/=-])",
        judged=True,
        least=51,
    ),
    # Microsoft puts these signs near the end of the keys of its services.
    TokenRule(
        "Azure key",
        (
            "+ASt",
            "+ABa",
            "+AMC",
            "ACDb",
            "AIoT",
            "APIM",
            "+ASb",
            "+AEh",
            "+ARm",
            "AZEG",
            "+ACR",
            "AzCa",
            "AzSe",
            "AzFu",
        ),
        r"(?<![\w+/-])[\w+/-]{33,76}(?:\+A(?:St|Ba|MC|Sb|Eh|Rm|CR)|ACDb|AIoT|APIM|AZEG|Az(?:Ca|Se|Fu))"
        r"[\w+/-]{5,7}={0,2}(?![\w+/=-])",
        judged=True,
    ),
    _begins(
        "API token",
        "apify_api_ xau_ xata_ unkey_ polar_oat_ polar_pat_ ucat_ akab- llx- vtwn_ gb_api_ cal_live_ bxt_"
        " mercury_production_ klarna_live_api_ hbp_ xaat- xapt- essu_ rootly_ snyk_uat. snyk_sat. sktsec_ depot_ nbp_"
        " bb_live_ sm_aat_ sm_pat_ sm_sat_ ico- secret-live- sk_car_ esecret_ ory_at_ ory_pat_ ory_st_ cfut_ cfat_"
        " cfk_",
        rf"(?:[A-Za-z0-9]{{1,16}}[_.-])?{_ALNUM}{{20,}}+(?>(?:[_.-]{_ALNUM}++)*)",
        judged=True,
    ),
    TokenRule(
        "password hash",
        ("$1$", "$5$", "$6$", "$8$", "$9$", "$y$", "$2a$", "$2b$", "$2y$", "$apr1$", "$argon2"),
        r"(?<![\w$])\$(?:[15689y]|2[aby]|apr1|argon2(?:id|i|d))\$(?=[./\w$=,+-]{18})(?:[./\w=,+-]{1,60}\$){0,4}[./\w+]{20,}+",
    ),
)

DETECT_SECRETS_PLUGINS: tuple[DetectSecretsPlugin, ...] = (
    DetectSecretsPlugin("aws", "AWSKeyDetector", "AWS access key", ("A3T", "ABIA", "ACCA", "AKIA", "ASIA")),
    DetectSecretsPlugin("azure_storage_key", "AzureStorageKeyDetector", "Azure key", ("AccountKey=",)),
    DetectSecretsPlugin(
        "github_token", "GitHubTokenDetector", "GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")
    ),
    DetectSecretsPlugin(
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
    DetectSecretsPlugin("mailchimp", "MailchimpDetector", "Mailchimp key", tuple(f"-us{digit}" for digit in range(10))),
    DetectSecretsPlugin(
        "pypi_token", "PypiTokenDetector", "PyPI token", ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw")
    ),
    DetectSecretsPlugin("sendgrid", "SendGridDetector", "SendGrid key", ("SG.",)),
    DetectSecretsPlugin("square_oauth", "SquareOAuthDetector", "Square key", ("sq0csp-",)),
    DetectSecretsPlugin("stripe", "StripeDetector", "Stripe key", ("k_live_",)),
)

_RULES: tuple[TokenRule | DetectSecretsPlugin, ...] = (*TOKEN_RULES, *DETECT_SECRETS_PLUGINS)
_RULES_OF_LITERAL: dict[str, list[int]] = {}
for _number, _rule in enumerate(_RULES):
    for _need in _rule.needs:
        _RULES_OF_LITERAL.setdefault(_need, []).append(_number)
_LITERALS = Literals()
_LITERALS.add(*_RULES_OF_LITERAL)


@cache
def plugin_patterns(plugin: DetectSecretsPlugin) -> tuple[re.Pattern[str], ...]:
    """Return a plugin's case-sensitive patterns; rules of our own cover what the others find."""
    module = import_module(f"detect_secrets.plugins.{plugin.module}")
    patterns: tuple[re.Pattern[str], ...] = tuple(getattr(module, plugin.name).denylist)
    return tuple(pattern for pattern in patterns if not pattern.flags & re.IGNORECASE)


def token_spans(text: str, *, gated: bool = True) -> Iterator[SecretSpan]:
    """Yield every token in the text that shows by its own shape.

    ``gated`` False leaves out the cheap tests that come first; what is found is the same.
    """
    words = _long_words(text)
    if gated and not words:
        return
    needed = _LITERALS.held_in(words) if gated else _RULES_OF_LITERAL.keys()
    if needed:
        longest = max(map(len, words.split("\n"))) if gated else len(text)
        for number in sorted({number for need in needed for number in _RULES_OF_LITERAL[need]}):
            rule = _RULES[number]
            if isinstance(rule, DetectSecretsPlugin):
                yield from _plugin_spans(rule, text)
            elif longest >= rule.least:
                yield from _rule_spans(rule, text)
    if not gated or _NAMED_TOKEN.search(words):
        yield from _named_spans(text)


def may_hold_tokens(words: str) -> bool:
    """Tell whether one of the words, each in a line of its own, may begin a token that goes on elsewhere."""
    return bool(words) and _token_beginning().search(words) is not None


@cache
def _token_beginning() -> re.Pattern[str]:
    longer = [re.escape(need) for need in _RULES_OF_LITERAL if len(need) > 2]  # noqa: PLR2004 - two letters begin too many words
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(longer)})[a-z_.-]*[A-Z0-9]|:AA", re.ASCII)


def _long_words(text: str) -> str:
    """Return the words of the text that are as long as a token."""
    return "\n".join([word for word in text.split() if len(word) >= MIN_TOKEN_CHARACTERS])


def _rule_spans(rule: TokenRule, text: str) -> Iterator[SecretSpan]:
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        token = match[group]
        if not is_example(token) and (not rule.judged or is_key(token)):
            yield *match.span(group), rule.kind


def _plugin_spans(plugin: DetectSecretsPlugin, text: str) -> Iterator[SecretSpan]:
    for pattern in plugin_patterns(plugin):
        for match in pattern.finditer(text):
            start, end = match.span()
            # Letters before or after make it part of something longer, such as a picture in base64.
            inside = text[start - 1 : start].isalnum() or (text[end : end + 1].isalnum() and text[end - 1].isalnum())
            if not inside and not is_example(match[0]):
                yield start, end, plugin.kind


_NAMED_TOKEN = re.compile(
    r"(?<![\w./@~%+=-])(?P<name>[A-Za-z][A-Za-z0-9]{1,14}(?:[_-][A-Za-z0-9]{1,10}){0,3}?)[_-](?P<body>[A-Za-z0-9]{20,}+)"
    r"(?![\w-])|(?<=[=:])(?P<name2>[A-Za-z][A-Za-z0-9]{1,14}(?:[_-][A-Za-z0-9]{1,10}){0,3}?)[_-]"
    r"(?P<body2>[A-Za-z0-9]{20,}+)(?![\w-])",
    re.ASCII,
)
"""A token as most makers write them: a short name, and many drawn letters and digits."""
_KEY_NAME = re.compile(r"(?:^|[_-])(?:sk|pk|rk|key|token|tok|secret|sec|pat|api|apikey|live|prod|auth|priv)(?:$|[_-])")
_ID_NAMES = frozenset(
    """msg req toolu srvtoolu call chatcmpl cmpl resp run thread asst file evt cus sub pi pm seti price prod acct ch
    txn in session sess user org proj project team obs ses prt usr mem memory doc img image batch step vs ws conv
    conversation trace span gen item rs fc ctc ft ftjob modr dataset container build dpl prj deployment commit sha
    sha1 sha224 sha256 sha384 sha512 md5 blake3 hash uuid id obj object node page block task job event log ref rev
    version build chunk index shard layer digest integrity npm yarn cache etag blob tree video playlist channel
    photo asset media form list board card issue pull pr
    """.split()  # noqa: SIM905 - as a list it is a page
)
"""Names that begin the id of a thing, which opens nothing."""


_ID_NAME = re.compile(rf"(?:{'|'.join(sorted(_ID_NAMES))}|pk[_-](?:live|test))(?![^_-])", re.ASCII)
"""The name of an id, or of a key that a page shows to everyone."""


def _named_spans(text: str) -> Iterator[SecretSpan]:
    for match in _NAMED_TOKEN.finditer(text):
        name, body = match["name"] or match["name2"], match["body"] or match["body2"]
        if _ID_NAME.match(name.lower()) is not None or name.lower() == "phc" or is_example(body):
            continue
        is_named = _KEY_NAME.search(name.lower()) is not None
        if (is_drawn(body) and (is_named or len(body) >= 32)) or (is_named and len(body) >= 32 and is_key(body)):  # noqa: PLR2004 - 128 bits
            yield *match.span(), "token"
