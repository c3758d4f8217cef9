"""The constants that rank results: weights, bounds and thresholds of searches, of decay, and of memento-hook's context.

Each names its unit, and its source where it was measured (``tests/benchmarks/RESULTS.md``) or published by another
program. One that names no source was set by judgement; the weights that were measured were measured with it.

Imports nothing but the defaults of settings: memento-hook ranks with them.
"""

# The floor is the default of a setting, which is read by programs that know nothing of searches: it stands there.
from memento_tui.defaults import RELEVANCE_FLOOR


def clears_floor(relevance: float, floor: float = RELEVANCE_FLOOR) -> bool:
    """Tell whether a memory answers well enough that a model is told of it, in whatever way.

    ``relevance`` is from 0 to 1: that of `memento_tui.search.scoring.calibrated_relevance`, for a prompt or a message.
    ``floor`` is another one where a person has set it.
    """
    return relevance >= floor


FILE_FLOOR = 0.54
"""The least similarity, 0 to 1, of a memory to the words of a file's name; so few words are near to much.

Chosen by reading what was told for 532 files (``python -m tests.benchmarks.reads``).
"""

# The keyword score (`memento_tui.search.scoring`, `keyword_fields`, `keyword_index`)

BM25_K1, BM25_B = 1.2, 0.75
"""The parameters of BM25, saturation and length normalization: Tantivy's, which cannot be changed."""

ORDINARY_WORDS = 200
"""Words of a memory of ordinary length, with which a hook compares one instead of with the average of the store.

Chosen on the engram set and LoCoMo's turns together.
"""

STEEPNESS = 2.5
"""How soon a keyword score nears 1: a memory that reaches a third of the perfect BM25 score gets 0.56.

Chosen on the development sets of LoCoMo, LongMemEval and engram together.
"""

TITLE_BOOST = 1.6
"""The factor of a BM25 score for a word in the title, beside the same word in the text."""

PAST_TITLE_WEIGHT = 3
"""The weight of a query's word in the title of a memory as it was at an earlier time, beside the same word in its text.

Set by hand: the past has no index, so its words are counted (`memento_tui.api.past`).
"""

IDENTIFIER_BOOST = 1.5
"""The factor of a BM25 score for a compound name that is matched as a whole."""

TIE_BREAKER = 0.3
"""The share of the lesser scores of a word, matched in several forms, that is added to its best one."""

COMPLETION_SCORE = 0.5
"""The BM25 score of a word that completes the one being typed: less than that of most words typed in full."""

COMPLETIONS, COMPLETIONS_OF_SHORT_PREFIX, SHORT_PREFIX = 64, 16, 2
"""Words that complete the one being typed; fewer for a short beginning, which has so many; its characters."""

SIMILAR_TEXT_CHARACTERS, SIMILAR_TEXT_WORDS = 4_000, 10
"""Characters of a text that are read, and rarest words of those that are searched for, to find memories like it."""

# The evidence beside the keyword score (`keyword_query`)

CONTEXT_CHARACTERS = 400
"""Characters of the session's text before a memory that count as the memory's context: some 60 words."""

HEADING_CHARACTERS = 120
"""Characters of the first line of a text that are its heading, where it has no title."""

NEARBY_WORDS = 3
"""How many words further on the next word of a query may stand to count as near."""

MOST_WORDS_AS_EVIDENCE = 32
"""Words of a query, the rarest ones, whose places in a memory are looked for."""

# Fusion with the semantic score (`memento_tui.search.scoring`)

FUSED_CANDIDATES = 200
"""Memories that each view proposes at least; the fused order of the first tens does not change beyond this."""

KEYWORD_WEIGHT, MEANING_WEIGHT, WORDS_FOUND_WEIGHT, HEADING_WEIGHT, NEARBY_WEIGHT = 0.5, 0.5, 0.2, 0.15, 0.1
"""The weights of the keyword score, the similarity and the evidence of the words; the score is their weighted mean.

Chosen by cross-validation over the development sets of LoCoMo, engram and LongMemEval (user turns, sessions) together,
random settings in five folds and leaving out each set. They lie in the middle of a plateau: NDCG@10 moves by less than
.01 on each set when one of them moves by a third.
"""

RELEVANCE_KEYWORD_WEIGHT = 0.6
"""The share of the keyword score in the relevance that is shown (`memento_tui.search.scoring.calibrated_relevance`).

Of the mixtures that were measured, this one tells questions that nothing answers from others best.
"""

UNSEEN_SIMILARITY = 0.9
"""The similarity of a memory that is not among the nearest, as a share of the least of theirs."""

SESSION_VECTOR_WEIGHT = 0.6
"""The share, in the vector that a query is compared with, of the memory's vector as its session continues.

The rest is that of its text alone. Chosen with the weights of the score.
"""

SESSION_VECTOR_CHARACTERS, SESSION_VECTOR_TOKENS = 1_000, 250
"""Characters of the session's text before a memory, and tokens of both together, that this vector is made of.

With 80 tokens before it NDCG@10 is .005 to .015 less on LoCoMo and LongMemEval's user turns.
"""

# Kinds among the first results (`memento_tui.search.scoring.diversify`)

LARGEST_SHARE_OF_A_KIND = 0.6
"""The share of the results that one kind may take while others answer nearly as well."""

LEAST_SHARE_TO_REPLACE = 0.7
"""The share of a result's score that one of another kind must have to take its place."""

LARGEST_SHARE_OF_A_WRITER = 0.5
"""The largest share of a context block that one session may have written (`memento_tui.search.fair_share`)."""

FEWEST_RESULTS_TO_DIVERSIFY = 5
"""Results below which the kinds are left as they are."""

# The life factor (`memento_tui.search.decay.decay_factor`)

LOWEST_FACTOR, HIGHEST_FACTOR = 0.85, 1.15
"""The bounds of the factor: an old exact match keeps at least 85 % of its relevance, a fresh vague one gains 15 %."""

FACTOR_WEIGHTS = {"ageing": 0.16, "certainty": 0.06, "stability": 0.04, "confidence": 0.04}
"""How much each part of the factor counts, relative to their sum."""

STABILITY_SHARES = {"draft": 0.0, "verified": 0.7, "stable": 1.0}
"""The share of the weight of stability, 0 to 1, for each stability."""

SUPERSEDED_FACTOR = 0.5
"""The share of its factor that a memory keeps when another takes its place."""

SHARE_OF_SUCCESSOR = 0.999
"""The share of its successor's score that a superseded memory reaches at most: it ranks below."""

# The presets of decay (`memento_tui.search.decay`)

PROTOCOL_RECENCY_HOURS = 168.0
"""Hours in which the recency of Memento Protocol halves; published."""

PROTOCOL_ACCESS_HOURS = 48.0
"""Hours in which the bonus of Memento Protocol for the last access halves; published."""

PROTOCOL_HIGHEST = 3.0
"""The most that Memento Protocol's product can be: 1 (recency) x 2 (accesses) x 1.5 (last access)."""

HALF_LIFE_DAYS = 90.0
"""Days in which a memory loses half its weight; published by Memento Vault."""

CERTAINTY_OF_DOUBLE_HALF_LIFE, CERTAINTY_WITHOUT_DECAY = 3, 4
"""The grade of certainty that doubles the half-life, and the least that does not age; published by Memento Vault."""

TIER_HALF_LIVES = {"working": 30.0, "short_term": HALF_LIFE_DAYS, "long_term": 180.0, "shared": 360.0}
"""Days in which a memory of each tier loses half its freshness in the balanced weight: how long it is meant to live."""

SURPRISE_PART = 0.5
"""The share by which the half-life of the balanced weight is longer for a memory like no other."""

BANK_DAYS, BANK_USES = 90, 2
"""Days untouched after which agent-memory demotes a memory used fewer times than this; published."""

AGE_PART, USE_PART = 0.10, 0.06
"""How much of the balanced weight is freshness and how much is use; together the weight of ageing in the factor."""

USES_LOG = 4.0
"""The logarithm to base 2 of the uses that count in full in the balanced weight, plus one: 15 uses."""

# The context for a prompt (`memento_tui.search.prompt_index`, `memento_tui.hooks.retrieval`)

MOST_SALIENT_WORDS = 8
"""Words of a sentence that count where the sentences with the rarest words are chosen."""

MOST_SENTENCES = 12
"""Sentences of a prompt that are searched for by themselves, those with the rarest words first."""

NAME_WEIGHT = 1.5
"""The factor of the weight of an identifier, a path, a number or a name of several parts, beside a plain word."""

SMALLEST_COUNTED_STORE = 100
"""Memories from which the rarity of a word is reckoned at least: among three memories no word is rare."""

COVERAGE_WEIGHT = 0.55
"""The score of a memory that holds all words of a prompt, however long it is; one that holds nine tenths has 0.5."""

BIGRAM_WEIGHT = 0.5
"""The share of an unknown word that a pair of ideographs counts: every other pair straddles two words."""

SENTENCE_WEIGHT = 0.65
"""The factor of a score for one sentence by itself: out of its context it must fit nearly in full.

Chosen, as are `RELEVANCE_FLOOR` and `LEAST_SHARE_OF_BEST`, on the development half of the prompts of
``tests/benchmarks/data/session_prompts.jsonl``, and on what people said in LongMemEval, which is about none of the
memories.
"""

LEAST_SHARE_OF_FEW_WORDS, LEAST_SIMILARITY_OF_FEW_WORDS = 0.4, 0.35
"""For a memory that holds two plain words of a prompt at most: the share of the prompt's weight that these carry, and
its cosine similarity where there is an engine.

Chosen on prompts about none of the memories: 600 of LongMemEval, and 100 written as developers type.
"""

PROMPT_CANDIDATES, PROMPT_CANDIDATES_READ = 24, 12
"""Memories that the index proposes for a sentence, and those of all proposed whose text is read."""

LEAST_SIMILARITY_READ = 0.25
"""The cosine similarity below which a memory's text is not read for its meaning: words that make up for so little of it
propose the memory themselves.
"""

CANDIDATE_CHARACTERS_READ = 20_000
"""Characters of such a text in which the words of the prompt are counted."""

MOST_MEMORIES_SHOWN = 3
"""Memories in the context for one prompt or one file."""

LEAST_SHARE_OF_BEST = 0.8
"""The share of the best score below which a memory is left out: the best is most often the one that was meant."""

SCORES_ALIKE = 0.97
"""The share of the best score from which memories that hold the same words of a prompt score alike.

Where more do than are shown, the prompt does not hold what would tell them apart.
"""
