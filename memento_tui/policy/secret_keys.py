"""Find generated keys by the words around them: a word for a key before or after, or the name of a service."""

from __future__ import annotations

# ruff: noqa: E501, RUF001 - a form is read most easily in one line; words of other alphabets are part of it
import re
from collections.abc import Iterator

from memento_tui.policy.secret_patterns import SecretSpan, is_drawn, is_example, is_key, is_placeholder

__all__ = ["MIN_KEY_CHARACTERS", "key_spans"]

MIN_KEY_CHARACTERS = 16
"""Characters of the shortest key that is found here."""
_MIN_DRAWN_CHARACTERS = 20
"""Characters of a key that nothing but a word nearby gives away: 119 bits."""
_BEFORE_CHARACTERS = 128
_AFTER_CHARACTERS = 48
"""Characters of the line that are read before and after a value."""

_VALUE = re.compile(
    r"""(?x) (?<![\w/.+%@-]) (?: (?P<uuid> [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12} ) (?![\w-])
    | (?P<paired> [0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8} ) (?![\w-])
    | (?P<hex> (?:0x)? [0-9a-f]{32,128} ) (?![\w-])
    | (?P<base64> (?=[\w-]{0,42}[+/]|[\w-]{43}=) [A-Za-z0-9+/_-]{22,128}={1,2} ) (?![\w=])
    | (?P<drawn> [A-Za-z0-9_-]{16,128}+ ) (?! [\w=(\[/@:.+-]* [\w(\[/@] ) )""",
    re.ASCII | re.IGNORECASE,
)
_KEY = re.compile(
    r"""(?x) (?<![a-z]) (?: keys?\d? | hmac | api[ _-]?keys? | tokens? | secrets? | cr[ée]dentials? | creds | bearer | jwt | jeton | cl[ée]f?s?
        | clave | chave | chiave | sleutel | klucz | nyckel | pat | auth | authkey | psk | passw\w* | pw ) (?![a-z])
    | schlüssel | (?<![а-я]) (?: ключ | токен ) | キー | トークン | 密钥 | 令牌 | 키(?![가-힣]) | secretid
    | (?P<open> publi | pubkey | fingerprint | primary | foreign | cache | partition | anon\b | \bsite | digest | hash | checksum
        | integrity | sha-?\d | ssh- | \bsort | commit | object | idempoten | continuation | (?<![a-z])page | cursor | search-only | publishable | sealed | etag | primär
        | fremd | primaria | primaire | primária | 主键 | (?<![a-z]) (?: [a-z]{2,12}[ _-])? ids? (?![a-z]) | uuid | guid | trace
        | \btx\b | transaction | address | contract | \bmd5 | revision | \brev\b | \bsalt\b | nonce | snapshot | \bmerge[d]?\b
        | \bfigma | playlist | \bvideo | \bboard | \bcard\b | \bprice\b | product | \bissue | \bevent | \brun\b | deployment | channel | \bzone | tenant
        | dashboard | \bref\b | \buid\b | \bfile\b | \bdoc(?:ument)?s?\b | \bsheet | \bfolder | \bimage | container | landed | reverted | cherry )""",
    re.ASCII,
)
"""A word for a key; the group ``open`` matches those that are no secret, such as *primary key*."""
_SURE_KEY = re.compile(
    r"""(?x) (?: (?: api | admin | access | auth | secret | private | licen[cs]e | user | service | global | write | read | ingest
        | ingestion | upload | deploy | personal | master | app | application | client | management | acl | webhook | signing | bot
        | machine | project | root | session | agent | registry | publish | telemetry | account | server | admin | shared | trial
        | subscription | encryption | refresh | bearer | gateway | host | unseal | recovery | vault | our | your | my | the | free
        | team | prod(?:uction)? | staging | sandbox | live | test ) [ _-]{0,2} (?: key | token | secret )s? | secretid | \bpat
        | master\.key | bearer | [a-z]{2,16}_(?:token|secret|api_?key) ) \b
        (?! [ ]? (?: was | got )? [ ]? (?: refactor | rotat | revok | expir | bucket | count | limit ) )""",
    re.ASCII,
)
_LEADS_TO = re.compile(
    r"""(?x) (?: [:=>→()«„“"'`] | - | – | — | \b(?: is | are | was | value | now | it's | be | ist | lautet | est | es | è | é | är | on | uses?
        | using | with | contains? | holds? | called | like | got | have | has | (?: key | token | secret )\d? | secretid | pat | api | app | user | admin | of | for
        ) | は | を | 是 | [：] ) \s{0,3} ["'`«„“]? $""",
    re.ASCII,
)
"""The signs directly before a value by which it belongs to the words before it."""
_CALLED = re.compile(
    r"""(?x) ["'`»”)]{0,2} [,;]? \s{0,2} (?: \( | as \b | is \b | = | - | – | — | ist \b | als \b | est \b | comme \b | es \b | como \b | for \b ) [^.\n]{0,24}?
    (?<![a-z]) (?: key | token | secret | credential | bearer | pat | schlüssel | clé | clave | chave | nyckel | ключ | токен ) (?![a-z])
    (?! [ ] (?: id | name | hash ) )""",
    re.ASCII,
)
"""The words behind a value that call it a key."""
_SERVICE = re.compile(
    r"""(?x) (?<![a-z]) (?: openai | anthropic | mistral | cohere | gemini | groq | replicate | stability | deepgram | assemblyai | elevenlabs
    | perplexity | openrouter | together | fireworks | huggingface | wandb | langsmith | langfuse | pinecone | weaviate | qdrant
    | algolia | meilisearch | typesense | elastic | datadog | sentry | grafana | honeycomb | newrelic | new\ relic | rollbar | bugsnag
    | logdna | loggly | papertrail | splunk | pagerduty | opsgenie | statuspage | uptimerobot | betterstack | posthog | mixpanel
    | amplitude | segment | launchdarkly | stripe | paypal | braintree | adyen | mollie | klarna | square | razorpay | paddle | plaid
    | wise | coinbase | binance | kraken | etherscan | infura | alchemy | twilio | vonage | nexmo | messagebird | sinch | telnyx | plivo
    | sendgrid | mailgun | mailjet | postmark | mailchimp | brevo | sparkpost | resend | mandrill | slack | discord | telegram | zoom
    | twitch | spotify | reddit | twitter | facebook | instagram | linkedin | tiktok | github | gitlab | gitea | bitbucket | circleci
    | travis | buildkite | codecov | coveralls | sonarqube | sonarcloud | snyk | docker | dockerhub | quay | artifactory | jfrog | nexus
    | npm | pypi | nuget | rubygems | aws | azure | gcp | cloudflare | fastly | bunny | akamai | digitalocean | linode | vultr | hetzner
    | scaleway | ovh | heroku | vercel | netlify | render | railway | supabase | firebase | planetscale | neon | upstash | turso | mongodb
    | redis | snowflake | databricks | fivetran | airbyte | dbt | tableau | metabase | looker | hubspot | salesforce | zendesk | intercom
    | freshdesk | jira | confluence | asana | trello | linear | notion | airtable | clickup | figma | canva | contentful | sanity | strapi
    | ghost | shopify | woocommerce | bigcommerce | magento | okta | auth0 | clerk | keycloak | onelogin | duo | vault | doppler
    | 1password | lastpass | mapbox | openweathermap | openweather | weatherapi | tomtom | google\ maps | geocoding | ipinfo | maxmind
    | deepl | unsplash | pexels | giphy | youtube | vimeo | cloudinary | imgix | newsapi | alphavantage | polygon\.io | finnhub
    | fixer | currencylayer | rapidapi | serpapi | scraperapi | brightdata | apify | zapier | make\.com | ifttt | pushover | pushbullet
    | ngrok | tailscale | zerotier | nomad | consul | rabbitmq | kafka | confluent | home\ assistant | ovh | gandi | namecheap | godaddy
    | porkbun | dnsimple | ns1 | desec | duckdns | noip | traccar | shippo | easypost | dhl | ups | fedex | lob | docusign | dropbox | box\.com
    | backblaze | wasabi | pusher | ably | livekit | agora | mux | daily\.co | recaptcha | hcaptcha | turnstile | sift | tavily | exa
    | firecrawl | jina | voyage | nvidia | cerebras | runpod | modal | lambda\ labs | vast\.ai ) (?![a-z])""",
    re.ASCII,
)
"""Services that hand out keys."""
_NAME = re.compile(r"[A-Za-z]{2,12}[_-]", re.ASCII)
_CLASS_NAME = re.compile(r"[A-Z][a-z]{5,}", re.ASCII)
"""A word in a name such as ``Ed25519PublicKey``."""


def key_spans(text: str, read: str) -> Iterator[SecretSpan]:
    """Yield every generated key that a word before or after it, or a service's name in its line, gives away.

    ``read`` is the text in lower case, as long as the text.
    """
    for match in _VALUE.finditer(text):
        kind, value = str(match.lastgroup), match[0]
        if not _may_open(kind, value):
            continue
        start, end = match.span()
        before = read[max(0, start - _BEFORE_CHARACTERS, read.rfind("\n", 0, start) + 1) : start]
        stop = read.find("\n", end, end + _AFTER_CHARACTERS)
        after = read[end : end + _AFTER_CHARACTERS if stop < 0 else stop]
        if _is_named(kind, value, before, after):
            yield start, end, "key"


def _may_open(kind: str, value: str) -> bool:
    """Tell whether a value was drawn, and is no example."""
    if is_example(value) or is_placeholder(value):
        return False
    if kind == "drawn":
        body = value.replace("-", "").replace("_", "")
        return (
            len(body) >= MIN_KEY_CHARACTERS
            and (is_drawn(body) or (body.isupper() and len(body) >= _MIN_DRAWN_CHARACTERS and is_key(body)))
            and _NAME.match(value) is None
            and (len(body) > _MIN_DRAWN_CHARACTERS or _CLASS_NAME.search(value) is None)
        )
    return kind != "base64" or is_drawn(value)


def _is_named(kind: str, value: str, before: str, after: str) -> bool:
    words = list(_KEY.finditer(before))
    if words and (words[-1]["open"] is not None or _opens_nothing(words)):
        return False
    if kind == "paired":  # no other keys are built so
        return True
    called = _CALLED.match(after) is not None
    service = _SERVICE.search(before) is not None or (kind == "drawn" and _SERVICE.search(after) is not None)
    if kind == "drawn":
        return (len(value) >= _MIN_DRAWN_CHARACTERS and (bool(words) or called)) or (
            (bool(words) and _LEADS_TO.search(before) is not None)
            or (service and (_SIGN.search(before) is not None or _AFTER_SERVICE.search(before) is not None))
        )
    if kind == "hex" and value.startswith("0x"):
        return bool(words)
    leads = _LEADS_TO.search(before) is not None
    if called or (service and ((leads and bool(words)) or _AFTER_SERVICE.search(before) is not None)):
        return True
    return leads and bool(words) and _SURE_KEY.search(before) is not None


def _opens_nothing(words: list[re.Match[str]]) -> bool:
    """Tell whether the last word for a key is part of a compound such as primary key."""
    return len(words) > 1 and words[-2]["open"] is not None and words[-1].start() - words[-2].end() <= _MAX_COMPOUND_GAP


_SIGN = re.compile(r"(?: [:=>→(«„“\"'`] | \b(?:is|was|with|has|uses?) ) \s? [\"'`]? $", re.ASCII | re.VERBOSE)
"""The words before a value in a line that speaks of a service, and of no key."""
_MAX_COMPOUND_GAP = 3
"""Characters between the words of a compound: ``primary key``, ``public_key``, ``pubkey``."""
_AFTER_SERVICE = re.compile(
    rf"{_SERVICE.pattern} (?: \.\w{{2,3}} )? (?: [ ] (?: api | admin | prod | live | test | dev | staging | account | personal | team ) )? (?: [ ] (?: is | = ) )? (?: \s? [:=(>→-] \s? | [ ] )$",
    re.ASCII,
)
"""A service's name directly before a value."""
