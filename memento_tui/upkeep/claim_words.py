"""The closed classes of English words that claims are read with: what is common, denies, opposes or tells of change.

Every list is hand-set from a grammar's point of view, none from a data set. Words stand as they are written; whoever
compares them asks for their stems.
"""

from __future__ import annotations

__all__ = [
    "ABBREVIATIONS",
    "ANAPHORA",
    "CHANGE_CUES",
    "CLAUSE_WORDS",
    "COMMON",
    "CONDITIONS",
    "CONDITION_GROUPS",
    "DENIALS",
    "DENIALS_TO",
    "FRAME_GROUPS",
    "FRAME_VERBS",
    "FUNCTIONAL",
    "GONE",
    "GRAMMAR",
    "INDEFINITE",
    "IRREGULAR",
    "KIN",
    "NEGATORS",
    "OPPOSITES",
    "PASSING_DATES",
    "SEVERAL",
    "STATE_CUES",
    "TO_BE",
    "UPDATE_CUES",
    "words",
]


def words(text: str) -> frozenset[str]:
    """Return the words of a text that lists them."""
    return frozenset(text.split())


COMMON = words(
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

GRAMMAR = words(
    """
    since per via around within during upon among toward towards may might shall anyone everyone someone somebody
    anybody everybody yet however myself yourself himself themselves although because though whether like across along
    behind beside beyond inside outside onto near till whose must cannot there then thus hence oh yeah hi hello hey etc
    th st nd rd am pm
    """
)
"""Words of grammar beyond the search's stop words."""

NEGATORS = words(
    "not no never nobody none nothing nowhere neither nor cannot without hardly unless isnt dont doesnt cant"
)
"""Words that turn what they stand with into its opposite. A contraction in *n't* is one too."""

DENIALS = words(
    """
    avoid avoids avoiding forbid forbids forbidden prohibit prohibits prohibited refuse refuses refused unable lack
    lacks lacking stopped quit deprecated disallow disallows disallowed unsupported discouraged
    """
)
"""Verbs and adjectives that deny what they govern: *avoid mutexes* speaks against *use mutexes*."""

_OPPOSITES = """
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
    cheap/expensive     safe/dangerous safe/risky clean/dirty empty/full near/far hot/cold wet/dry dark/light loud/quiet
    alive/dead awake/asleep present/absent
    pass/fail passes/fails passed/failed succeed/fail succeeds/fails works/fails works/broken working/broken
    fixed/broken healthy/unhealthy
    love/hate like/dislike likes/dislikes prefer/avoid use/avoid used/avoided keep/drop keep/remove keep/delete
    merge/rebase merged/unmerged squash/rebase
    buy/sell bought/sold win/lose won/lost push/pull send/receive upload/download
    read/write readonly/writable attach/detach mount/unmount install/uninstall
    arrive/leave enter/leave rise/fall silent/talking silent/speaking
    indoors/outdoors indoor/outdoor day/night morning/evening summer/winter
    put/remove catch/miss hit/miss
    fold/unfold wrap/unwrap tie/untie follow/ignore listen/ignore
    success/failure strength/weakness advantage/disadvantage
    approved/rejected guilty/innocent legal/illegal valid/invalid correct/incorrect right/wrong right/left
    possible/impossible necessary/unnecessary available/unavailable
    tabs/spaces sql/nosql monorepo/polyrepo
"""

OPPOSITES: tuple[tuple[str, str], ...] = tuple(
    (one, other) for one, _, other in (pair.partition("/") for pair in _OPPOSITES.split())
)
"""Pairs that cannot both be said of one thing at one time."""

KIN: tuple[frozenset[str], ...] = (
    words("man guy male men guys"),
    words("woman lady women ladies"),
    words("child kid children kids"),
    words("person people someone somebody anyone"),
    words("slice cut chop"),
    words("use utilize employ"),
    words("repo repository"),
    words("config configuration settings"),
    words("db database"),
    words("prod production"),
    words("dev development"),
    words("docs documentation"),
    words("env environment"),
    words("auth authentication"),
    words("postgres postgresql pg"),
    words("k8s kubernetes"),
    words("js javascript"),
    words("ts typescript"),
    words("py python"),
    words("timeout timeouts"),
    words("deploy deployment rollout"),
    words("big large huge"),
    words("bike bicycle motorbike motorcycle"),
    words("buy purchase"),
    words("near close"),
    words("run jog"),
)
"""Words that name nearly the same thing and count as one when clauses are aligned."""

DENIALS_TO = words("fail fails failed failing failure refusal decline declines declined declining")
"""Words that deny what stands behind the *to* after them."""

CHANGE_CUES = words(
    """
    moved migrated switched changed replaced upgraded downgraded bumped renamed reverted rewritten dropped removed
    retired deprecated decommissioned increased decreased raised lowered reduced doubled extended shortened became
    finally anymore formerly previously nowadays updated grew shrank relocated swapped converted ported quit stopped
    replaces supersedes succeeded obsolete
    """
)
"""Words that say that something is no longer what it was."""

UPDATE_CUES = CHANGE_CUES | words(
    """
    now currently already actually finished completed reached switched became achieved started stopped
    """
)
"""Words that report how a matter stands by now."""

STATE_CUES = words(
    """
    now currently current already far every each total record always usually still since highest best personal lately
    finished completed daily weekly monthly regularly consistently
    """
)
"""Words of a state that lasts or of a running count, as against something that happened once."""

INDEFINITE = words("a an some two three several many few one another four five")
"""Words that bring something up for the first time: another *a man* may be another man."""

TO_BE = words("is are was were be been being")

PASSING_DATES = words(
    """
    yesterday today tomorrow ago tonight january february march april may june july august september october november
    december released tagged merged fixed closed passed failed landed committed pushed
    """
)
"""Words that tie a sentence to one occasion."""

SEVERAL = words(
    """
    handle handles handled support supports supported target targets expect expects follow follows test tests tested
    love loves like likes need needs track tracks accept accepts
    """
)
"""Verbs whose slot takes any number of fillers: to handle CSV does not exclude handling JSON."""

FRAME_GROUPS: tuple[frozenset[str], ...] = (
    words("is are was were be"),
    words(
        """
        live lives lived run runs running go goes deploy deploys deployed host hosts hosted locate located sit sits keep
        keeps kept store stores stored serve serves served via through come comes ship ships shipped publish publishes
        published build builds built use uses used using log logs logged cache caches cached connect connects point
        points listen listens work works worked
        """
    ),
    words("write written rewritten"),
    words("own owns owned manage manages managed maintain maintains maintained lead leads led"),
    words("name named call called calls"),
    words("require requires required"),
    words("set sets default defaults"),
    words("prefer prefers preferred choose chose chosen pick picked favor favors"),
    words("return returns answer answers respond responds"),
    words("format formats formatted lint linted sign signed encode encoded authenticate authenticates"),
)
"""Verbs that give a subject one lasting attribute; within a group one may stand for the other. The first is *to be*."""

FRAME_VERBS = frozenset().union(*FRAME_GROUPS)
"""Verbs after which a slot is filled."""

FUNCTIONAL = words(
    """
    default primary main current favorite favourite preferred owner lead leader maintainer manager base format name
    branch color colour location directory folder url host hostname region deadline address license licence style
    indentation target entrypoint endpoint prefix suffix backend provider database runtime registry bucket
    domain password algorithm encoding timezone zone currency capital status role title job employer company city home
    birthday framework orm shell editor theme package manager strategy convention method protocol transport broker
    contact oncall approver reviewer author
    """
)
"""Nouns and adjectives of which a thing has one: two fillers for one of these exclude each other."""

GONE = frozenset(
    {"from", "off", "instead", "longer", "replaced", "replaces", "formerly", "previously", "dropped", "retired"}
)
"""Words behind which stands what no longer holds: *moved from Jenkins*, *no longer Jenkins*, *instead of Jenkins*."""

CONDITION_GROUPS: tuple[frozenset[str], ...] = (
    words("windows linux macos mac darwin ubuntu debian alpine fedora android ios freebsd wsl"),
    words("production prod staging stage development dev test testing ci local locally preview sandbox qa"),
    words("postgres postgresql mysql sqlite mariadb mongodb oracle"),
    words("chrome firefox safari edge"),
    words("x86 arm arm64 amd64 aarch64 x86_64"),
    words("frontend backend client server mobile web desktop"),
    words("debug release"),
    words("europe eu us usa asia uk"),
    words("weekdays weekends weekday weekend"),
)
"""Sets of surroundings: two texts that name different members of one set speak of different conditions."""

CONDITIONS = frozenset().union(*CONDITION_GROUPS)
"""Every word that names a surrounding."""

CLAUSE_WORDS = words("but because although while whereas however which therefore otherwise")
"""Words that begin a clause of its own."""

ANAPHORA = words("it ones one this that they them these those its their he she him her")
"""Words that point back to what was named before."""

ABBREVIATIONS = words("dr mr mrs ms st vs eg ie etc approx no ca fig vol al inc ltd jr sr prof")
"""Words after which a full stop does not end a sentence."""

IRREGULAR = {
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
"""Irregular forms, which no stemmer joins."""
