# ruff: noqa: RUF001 - the letters of many scripts look like those of this one
"""Closed classes of words: common, negating and opposite words, synonyms, abbreviations, English unless they say so.

Every list is set by hand from grammar, none from a data set. Words are not stemmed.
"""

from __future__ import annotations

import re

from memento_tui.text.quantities import MONTH_NAMES

__all__ = [
    "ABBREVIATIONS",
    "ANTONYMS",
    "ATTRIBUTE_VERBS",
    "ATTRIBUTE_VERB_GROUPS",
    "CHANGE_CUES",
    "COMMON_WORDS",
    "CONDITION_WORDS",
    "CONJUNCTIONS",
    "DONE_WORK",
    "ENVIRONMENTS",
    "ENVIRONMENT_GROUPS",
    "FUNCTION_WORDS",
    "INDEFINITE_DETERMINERS",
    "IRREGULAR_FORMS",
    "MULTI_VALUED_VERBS",
    "NEGATIVE_VERBS",
    "NEGATIVE_VERBS_BEFORE_TO",
    "NOUNS_BEFORE_A_NUMBER",
    "NUMBERED_NOUNS",
    "OCCASION_WORDS",
    "OPEN_WORK",
    "REPLACED_MARKERS",
    "RUN_OUTCOMES",
    "SINGLE_VALUED_ATTRIBUTES",
    "STATE_CUES",
    "SYNONYMS",
    "TO_BE",
    "UPDATE_CUES",
    "count_negations",
    "is_negator",
]


_NEGATIONS = re.compile(
    r"\b(?:not?|never|without|cannot|nicht|kein\w{0,2}|nie|ohne|ne|pas|jamais|sans|nunca|sin|не|нет|без)\b"
    r"|n['\u2019]t\b|[不没沒無无未非]|ない|ません",
    re.IGNORECASE,
)


def count_negations(text: str) -> int:
    """Return how often a text denies something, in English, German, French, Spanish, Russian, Chinese or Japanese."""
    return len(_NEGATIONS.findall(text))


def is_negator(word: str) -> bool:
    """Tell whether a lower-case word negates, as *not* and *doesn't* do."""
    return word in _NEGATORS or word.endswith("n't")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


COMMON_WORDS = word_set(
    """
    able actually additional advice ago almost already amazing another anyway area ask available away back bad based
    become best better big bit bring bunch call came case certain change check come consider couple create currently
    day different easy effective else enjoy enough especially even ever every everything example excited explore
    extra far feel few find first follow free fresh full fun general give go going gonna good got great guess half
    happen happy hard hear help high hope hour idea important improve include info information instead interested
    issue item keep kind know large last late lately later learn least less let like list little ll long look lot love
    low main make many matter maybe mean mention might mind minute moment month morning move much must name near need
    never new next nice night non note number occasion ok okay old one ones only option order others own part past
    people per perfect perhaps person place plan play please point popular possible pre pretty previous probably
    problem progress provide put quick quickly quite ready real really reason recent recently recommend recommendation
    recommendations regular right said save say second see seem set share short show similar simple simply since slow
    small someone something sometimes soon sort sound speak special specific spend start started stay step still
    stop stuff such suggest suggestion suggestions super sure take talk tell thank thanks thing things think third
    though thought time tip tips today together tomorrow took total track tried trip try trying turn type
    understand unique update use used useful using usually various ve want way week weekend well went whole wonder
    wondering work world would year yes yesterday yet you
    """
)
"""Words so frequent that sharing one says little about two texts' subject."""

FUNCTION_WORDS = word_set(
    """
    since per via around within during upon among toward towards may might shall anyone everyone someone somebody
    anybody everybody yet however myself yourself himself themselves although because though whether like across along
    behind beside beyond inside outside onto near till whose must cannot there then thus hence oh yeah hi hello hey etc
    th st nd rd am pm
    """
)
"""Words of grammar beyond the search's stop words."""

_NEGATORS = word_set(
    "not no never nobody none nothing nowhere neither nor cannot without hardly unless isnt dont doesnt cant"
)
"""Words that negate; contractions in *n't* do too, see `is_negator`."""

NEGATIVE_VERBS = word_set(
    """
    avoid avoids avoiding forbid forbids forbidden prohibit prohibits prohibited refuse refuses refused unable lack
    lacks lacking stopped quit deprecated disallow disallows disallowed unsupported discouraged
    """
)
"""Verbs and adjectives that negate their object: *avoid mutexes* speaks against *use mutexes*."""

_ANTONYM_PAIRS = """
    enable/disable enabled/disabled allow/deny allow/block allow/forbid allowed/denied allowed/forbidden
    allowed/blocked accept/reject accepts/rejects include/exclude add/remove adding/removing add/delete
    start/stop started/stopped open/close open/closed lock/unlock
    show/hide visible/hidden on/off into/out onto/off above/below before/after inside/outside
    true/false yes/no always/never required/optional mandatory/optional must/may all/none
    public/private sync/async synchronous/asynchronous synchronously/asynchronously blocking/nonblocking
    safe/unsafe secure/insecure stable/unstable supported/unsupported mutable/immutable sorted/unsorted
    known/unknown used/unused compressed/uncompressed encrypted/unencrypted encrypted/plaintext signed/unsigned
    stateless/stateful strict/lenient strict/loose manual/automatic manually/automatically static/dynamic
    internal/external local/remote local/global client/server online/offline uppercase/lowercase
    ascending/descending
    increase/decrease increased/decreased raise/lower raised/lowered grow/shrink faster/slower fast/slow
    high/low higher/lower max/min maximum/minimum large/small larger/smaller
    big/small big/tiny huge/small long/short longer/shorter best/worst better/worse good/bad easy/hard simple/complex
    cheap/expensive safe/dangerous safe/risky clean/dirty empty/full near/far hot/cold dark/light alive/dead
    present/absent
    pass/fail passes/fails passed/failed succeed/fail succeeds/fails works/fails works/broken working/broken
    fixed/broken healthy/unhealthy
    love/hate like/dislike likes/dislikes prefer/avoid use/avoid used/avoided keep/drop keep/remove keep/delete
    merge/rebase merged/unmerged squash/rebase
    buy/sell bought/sold win/lose won/lost push/pull send/receive upload/download
    read/write readonly/writable attach/detach mount/unmount install/uninstall
    day/night morning/evening hit/miss follow/ignore listen/ignore
    success/failure strength/weakness advantage/disadvantage
    approved/rejected legal/illegal valid/invalid correct/incorrect right/wrong right/left
    possible/impossible necessary/unnecessary available/unavailable
    tabs/spaces sql/nosql monorepo/polyrepo
"""

ANTONYMS: tuple[tuple[str, str], ...] = tuple(
    (one, other) for one, _, other in (pair.partition("/") for pair in _ANTONYM_PAIRS.split())
)
"""Pairs that cannot both be said of one thing at one time."""

SYNONYMS: tuple[frozenset[str], ...] = (
    word_set("use utilize employ"),
    word_set("repo repository"),
    word_set("config configuration settings"),
    word_set("db database"),
    word_set("prod production"),
    word_set("dev development"),
    word_set("docs documentation"),
    word_set("env environment"),
    word_set("auth authentication"),
    word_set("postgres postgresql pg"),
    word_set("k8s kubernetes"),
    word_set("js javascript"),
    word_set("ts typescript"),
    word_set("py python"),
    word_set("timeout timeouts"),
    word_set("deploy deployment rollout"),
    word_set("big large huge"),
    word_set("buy purchase"),
    word_set("near close"),
)
"""Words that name nearly the same thing and count as one when clauses are aligned."""

NEGATIVE_VERBS_BEFORE_TO = word_set("fail fails failed failing failure refusal decline declines declined declining")
"""Words that negate the verb after the *to* behind them."""

CHANGE_CUES = word_set(
    """
    moved migrated switched changed replaced upgraded downgraded bumped renamed reverted rewritten dropped removed
    retired deprecated decommissioned increased decreased raised lowered reduced doubled extended shortened became
    finally anymore formerly previously nowadays updated grew shrank relocated swapped converted ported quit stopped
    replaces supersedes succeeded obsolete
    """
)
"""Words that report a change."""

UPDATE_CUES = CHANGE_CUES | word_set(
    """
    now currently already actually finished completed reached switched became achieved started stopped
    """
)
"""Words that report the present state of a matter."""

STATE_CUES = word_set(
    """
    now currently current already far every each total record always usually still since highest best personal lately
    finished completed daily weekly monthly regularly consistently
    """
)
"""Words of a state that lasts or of a running count, as against something that happened once."""

INDEFINITE_DETERMINERS = word_set("a an some two three several many few one another four five")
"""Words that introduce something: two mentions of *a server* may mean two servers."""

TO_BE = word_set("is are was were be been being")

OCCASION_WORDS = word_set(
    """
    yesterday today tomorrow ago tonight released tagged merged fixed closed passed failed landed committed pushed
    """
) | frozenset(MONTH_NAMES)
"""Words that tie a sentence to one occasion."""

CONDITION_WORDS = word_set("if when whenever while unless until till once")
"""Words before a condition: what stands behind them is no report."""

RUN_OUTCOMES = word_set("passed passing pass failed failing fails fail skipped errored xfailed xpassed")
"""Words that count what came of one run of tests or checks: *244 passed, 3 skipped*."""

OPEN_WORK = word_set("pending incomplete unfinished planned todo wip blocked failing progress")
"""Words of work that is not done; *progress* in *in progress* alone."""

DONE_WORK = word_set("complete completed done finished resolved implemented merged shipped")
"""Words of work that is done."""

MULTI_VALUED_VERBS = word_set(
    """
    handle handles handled support supports supported target targets expect expects follow follows test tests tested
    love loves like likes need needs track tracks accept accepts
    """
)
"""Verbs whose slot takes any number of fillers: to handle CSV does not exclude handling JSON."""

ATTRIBUTE_VERB_GROUPS: tuple[frozenset[str], ...] = (
    word_set("is are was were be"),
    word_set(
        """
        live lives lived run runs running go goes deploy deploys deployed host hosts hosted locate located sit sits keep
        keeps kept store stores stored serve serves served via through come comes ship ships shipped publish publishes
        published build builds built use uses used using log logs logged cache caches cached connect connects point
        points listen listens work works worked
        """
    ),
    word_set("write written rewritten"),
    word_set("own owns owned manage manages managed maintain maintains maintained lead leads led"),
    word_set("name named call called calls"),
    word_set("require requires required"),
    word_set("set sets default defaults"),
    word_set("prefer prefers preferred choose chose chosen pick picked favor favors"),
    word_set("return returns answer answers respond responds"),
    word_set("format formats formatted lint linted sign signed encode encoded authenticate authenticates"),
)
"""Verbs that give a subject one lasting attribute; within a group one may stand for the other. The first is *to be*."""

ATTRIBUTE_VERBS = frozenset().union(*ATTRIBUTE_VERB_GROUPS)
"""All verbs that give a subject an attribute."""

SINGLE_VALUED_ATTRIBUTES = word_set(
    """
    default primary main current favorite favourite preferred owner lead leader maintainer manager base format name
    branch color colour location directory folder url host hostname region deadline address license licence style
    indentation target entrypoint endpoint prefix suffix backend provider database runtime registry bucket
    domain password algorithm encoding timezone zone currency capital status role title job employer company city home
    birthday framework orm shell editor theme package manager strategy convention method protocol transport broker
    contact oncall approver reviewer author
    """
)
"""Attributes of which a thing has only one: two values of one of these exclude each other."""

REPLACED_MARKERS = frozenset(
    {"from", "off", "instead", "longer", "replaced", "replaces", "formerly", "previously", "dropped", "retired"}
)
"""Words before a former value: *moved from Jenkins*, *no longer Jenkins*, *instead of Jenkins*."""

ENVIRONMENT_GROUPS: tuple[frozenset[str], ...] = (
    word_set("windows linux macos mac darwin ubuntu debian alpine fedora android ios freebsd wsl"),
    word_set("production prod staging stage development dev test testing ci local locally preview sandbox qa"),
    word_set("postgres postgresql mysql sqlite mariadb mongodb oracle"),
    word_set("chrome firefox safari edge"),
    word_set("x86 arm arm64 amd64 aarch64 x86_64"),
    word_set("frontend backend client server mobile web desktop"),
    word_set("debug release"),
    word_set("europe eu us usa asia uk"),
    word_set("weekdays weekends weekday weekend"),
)
"""Sets of environments: two texts that name different members of one set speak of different conditions."""

ENVIRONMENTS = frozenset().union(*ENVIRONMENT_GROUPS)
"""Every word that names an environment."""

CONJUNCTIONS = word_set("but because although while whereas however which therefore otherwise")
"""Words that begin a new clause."""

ABBREVIATIONS = word_set(
    """
    a.k.a a.m abs al allg approx bsp bspw bzw ca capt cf d.h dr e.g ed eds env est et etc evtl ex fig ggf gr hr i.e inc
    incl inkl jr lt ltd max mdm min mio mlle mme mr mrd mrs ms mt p.ex p.m pág prof resp rev sog sr sra st tel u.a v.a
    vgl viz vs w.r.t z.b z.t zzgl г др напр рис см стр т.д т.е т.к т.п ул
    """
)
"""Words that are written with a full stop which ends no sentence, lower-cased and without their last stop."""

ABBREVIATIONS_BEFORE_A_NUMBER = word_set(
    """
    apr art aug ch dec eq feb jan jul jun mar no nos nov nr núm oct p pp sec sep sept vol №
    """
)
"""Words that are abbreviations only where a number follows them."""

WORDS_BEFORE_A_DAY = word_set("ab am beim bis dem den der des die im seit vom zum")
"""German words after which a number of two digits at most is a day's ordinal: ``am 3. Oktober``."""

IRREGULAR_FORMS = {
    past: verb
    for verb, pasts in {
        "be": "is are was were been being am",
        "go": "went gone goes",
        "take": "took taken",
        "have": "has had",
        "do": "did done does",
        "get": "got gotten",
        "make": "made",
        "buy": "bought",
        "run": "ran",
        "write": "wrote written",
        "build": "built",
        "keep": "kept",
        "send": "sent",
        "meet": "met",
        "see": "saw seen",
        "spend": "spent",
        "choose": "chose chosen",
        "begin": "began begun",
        "break": "broke broken",
        "teach": "taught teached",
        "think": "thought",
        "find": "found",
        "lose": "lost",
        "leave": "left",
        "put": "puts putting",
        "sit": "sat",
        "stand": "stood",
        "say": "said",
        "tell": "told",
        "know": "knew known",
        "grow": "grew grown",
        "speak": "spoke spoken",
        "drive": "drove driven",
        "ride": "rode ridden",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "sell": "sold",
        "hold": "held",
        "bring": "brought",
        "read": "reads",
        "wake": "woke waking",
        "child": "children",
        "man": "men",
        "woman": "women",
        "person": "people",
    }.items()
    for past in pasts.split()
}
"""The base forms of irregular forms, which no stemmer knows."""

NOUNS_BEFORE_A_NUMBER = word_set(
    """
    port page episode level version chapter row column season volume room floor grade rank priority seed build
    python node java ruby go rust postgres postgresql django react
    """
)
"""Nouns whose number follows them."""

NUMBERED_NOUNS = word_set(
    """
    pr issue ticket phase stage step task section tier item fix round part sprint batch milestone story bug commit case
    figure table appendix rfc adr line rule number entry record note job lesson example sample node worker request run
    file question option attempt release
    teil kapitel abschnitt schritt aufgabe nummer nr zeile partie chapitre étape numéro parte capítulo paso número
    """
)
"""Nouns whose number identifies a thing: PR 12 and PR 13 are two things, not two claims about one."""
