# ruff: noqa: RUF001 - words in letters of other alphabets
"""Explicit cues: what a person or an agent labels as learned, decided or to be noted, in thirteen languages.

``Lesson learned: ...``, ``Root cause: ...``, ``Decision: ... because ...``, ``Note for later: ...``. The cues are data:
for each language the labels by what they announce, a sentence that must be found, and one that must not.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

import msgspec

from memento_tui.maintenance.distillation.person_rules import memory_match, standing_instruction
from memento_tui.maintenance.distillation.statements import RuleMatch, TurnSentence, filler_length
from memento_tui.maintenance.distillation.working_rules import to_skip
from memento_tui.text.logs import is_log
from memento_tui.text.terms import character_bigrams

__all__ = ["LANGUAGES", "CueLanguage", "has_label", "labelled", "root_cause"]


class CueLanguage(msgspec.Struct, frozen=True):
    """The labels of one language, parted by bars, in small letters; each stands at the start of a sentence."""

    name: str
    lesson: str
    cause: str
    decision: str
    because: str
    """Words of a reason: a labelled decision without one is a step of the work."""
    note: str
    gotcha: str
    finds: str
    misses: str


LANGUAGES: tuple[CueLanguage, ...] = (
    CueLanguage(
        "English",
        r"lessons?(?:\s+learned)?|(?:key\s+|important\s+)?(?:takeaway|learning|finding|insight)s?|what\s+(?:i|we)\s+learned|learned",
        r"(?:the\s+)?(?:actual\s+|real\s+|underlying\s+)?root\s+cause",
        r"(?:final\s+|design\s+|architecture\s+)?decision|decided",
        r"because|since|so\s+that|as\s+(?:it|they|we|the)\b|due\s+to|instead\s+of|rather\s+than",
        r"note\s+(?:for\s+(?:later|the\s+future|next\s+time|future\s+sessions)|to\s+self)|for\s+(?:future\s+reference|the\s+next\s+session|next\s+time)|remember\s+for\s+(?:later|next\s+time)",
        r"gotchas?|pitfalls?|caveats?|watch\s+out|beware",
        "Lesson learned: run `make generate` before the build.",
        "The lesson was about French history: it took an hour.",
    ),
    CueLanguage(
        "German",
        r"lehren?|(?:wichtige\s+)?erkenntnis(?:se)?|gelernt|fazit",
        r"(?:die\s+)?(?:eigentliche\s+)?(?:grund)?ursache",
        r"entscheidung|entschieden|beschluss",
        r"weil|da\s|denn|damit|statt|anstatt",
        r"(?:notiz|merke)(?:\s+für\s+(?:später|das\s+nächste\s+mal))?|für\s+(?:später|das\s+nächste\s+mal)|merken",
        r"stolperfallen?|fallstricke?|achtung|vorsicht",
        "Erkenntnis: Vor dem Bauen muss `make generate` laufen, sonst ist der Code veraltet.",
        "Das Ergebnis: Alle Tests sind grün.",
    ),
    CueLanguage(
        "French",
        r"leçons?(?:\s+(?:apprise|retenue)s?)?|(?:à\s+)?retenir|enseignements?|appris",
        r"(?:la\s+)?cause\s+(?:profonde|racine|première|réelle)",
        r"décision|décidé",
        r"parce\s+que|parce\s+qu'|car|puisque|afin\s+(?:de|que)|au\s+lieu\s+de|plutôt\s+que",
        r"note\s+pour\s+(?:plus\s+tard|la\s+suite|la\s+prochaine\s+fois)|pour\s+(?:mémoire|plus\s+tard|la\s+prochaine\s+fois)",
        r"pièges?|attention",
        "Leçon apprise : lancer `make generate` avant la compilation, sinon le code est périmé.",
        "La leçon de piano dure une heure.",
    ),
    CueLanguage(
        "Spanish",
        r"lecci(?:ón|ones)(?:\s+aprendidas?)?|aprendizajes?|aprendido|hallazgos?",
        r"(?:la\s+)?causa\s+(?:raíz|principal|real|de\s+fondo)",
        r"decisi(?:ón|ones)|decidido",
        r"porque|ya\s+que|puesto\s+que|para\s+que|en\s+(?:lugar|vez)\s+de",
        r"nota\s+para\s+(?:después|más\s+tarde|la\s+próxima\s+vez)|para\s+(?:recordar|la\s+próxima\s+vez)|recuerda",
        r"trampas?|ojo|cuidado",
        "Lección aprendida: ejecutar `make generate` antes de compilar, si no el código queda viejo.",
        "La lección de hoy fue larga.",
    ),
    CueLanguage(
        "Portuguese",
        r"liç(?:ão|ões)(?:\s+aprendidas?)?|aprendizados?|aprendido|descobertas?",
        r"(?:a\s+)?causa\s+(?:raiz|principal|real)",
        r"decis(?:ão|ões)|decidido",
        r"porque|já\s+que|pois|para\s+que|em\s+vez\s+de",
        r"nota\s+para\s+(?:depois|mais\s+tarde|a\s+próxima\s+vez)|para\s+(?:lembrar|a\s+próxima\s+vez)|lembrar",
        r"armadilhas?|cuidado|atenção",
        "Lição aprendida: rodar `make generate` antes de compilar, senão o código fica velho.",
        "A lição de hoje foi longa.",
    ),
    CueLanguage(
        "Italian",
        r"lezion[ei](?:\s+(?:appres[ae]|imparat[ae]))?|imparato|scopert[ae]",
        r"(?:la\s+)?causa\s+(?:principale|reale|radice|di\s+fondo)",
        r"decision[ei]|deciso",
        r"perché|poiché|dato\s+che|in\s+modo\s+(?:che|da)|invece\s+di",
        r"nota\s+per\s+(?:dopo|il\s+futuro|la\s+prossima\s+volta)|per\s+la\s+prossima\s+volta|da\s+ricordare",
        r"trappol[ae]|attenzione",
        "Lezione appresa: eseguire `make generate` prima della compilazione, altrimenti il codice è vecchio.",
        "La lezione di oggi è finita.",
    ),
    CueLanguage(
        "Dutch",
        r"les(?:sen)?(?:\s+geleerd)?|geleerde\s+les(?:sen)?|geleerd|bevinding(?:en)?",
        r"(?:de\s+)?(?:eigenlijke\s+)?(?:hoofd|grond)?oorzaak",
        r"besluit(?:en)?|beslissing(?:en)?|besloten",
        r"omdat|want|aangezien|zodat|in\s+plaats\s+van",
        r"notitie\s+voor\s+later|voor\s+(?:later|de\s+volgende\s+keer)|onthoud",
        r"valkuil(?:en)?|let\s+op|pas\s+op",
        "Geleerde les: draai `make generate` voor de build, anders is de code verouderd.",
        "De les duurt een uur.",
    ),
    CueLanguage(
        "Polish",
        r"wnios(?:ek|ki)|lekcj[ae]|nauczka",
        r"(?:główna\s+|pierwotna\s+|prawdziwa\s+)?przyczyna(?:\s+źródłowa)?",
        r"decyzj[ae]|postanowienie",
        r"bo|ponieważ|gdyż|żeby|aby|zamiast",
        r"notatka\s+na\s+później|na\s+(?:później|przyszłość)|zapamiętaj",
        r"pułapk[ai]|uwaga",
        "Wniosek: przed budowaniem uruchom `make generate`, inaczej kod jest nieaktualny.",
        "Wnioski złożono wczoraj w urzędzie.",
    ),
    CueLanguage(
        "Turkish",
        r"(?:alınan\s+|çıkarılan\s+)?ders(?:ler)?|öğrenilen(?:ler)?|bulgu",
        r"(?:asıl\s+|kök\s+)(?:neden|sebep)",
        r"karar",
        r"çünkü|için|yerine|diye",
        r"sonrası\s+için\s+not|ileride\s+hatırla|unutma",
        r"tuzak|dikkat",
        "Alınan ders: derlemeden önce `make generate` çalıştır, yoksa kod eski kalır.",
        "Ders bugün bir saat sürdü.",
    ),
    CueLanguage(
        "Russian",
        r"(?:главный\s+)?(?:вывод|урок)[ыи]?|выяснилось",
        r"(?:истинная\s+|настоящая\s+|корневая\s+|первопричина|основная\s+причина)(?:причина)?",
        r"решение|решили",
        r"потому\s+что|так\s+как|поскольку|чтобы|вместо",
        r"(?:заметка\s+)?на\s+(?:будущее|потом)|запомни(?:ть)?",
        r"подводны[йе]\s+кам(?:ень|ни)|осторожно|внимание",
        "Урок: перед сборкой запускать `make generate`, иначе код устареет.",
        "Урок начался в девять часов утра.",
    ),
    CueLanguage(
        "Chinese",
        r"(?:经验)?教训|(?:重要)?(?:发现|心得)|学到的?",
        r"根本原因|根因",
        r"(?:最终)?决定|决策",
        r"因为|由于|以便|而不是|所以",
        r"(?:备注|笔记|以后注意|留待以后|下次注意|请?记住)",
        r"(?:注意|陷阱|坑|小心)",
        "经验教训：构建之前先运行 make generate，否则代码是旧的。",
        "他从这件事中吸取了教训。",
    ),
    CueLanguage(
        "Japanese",
        r"教訓|学び|学んだこと|重要な発見",
        r"根本原因|真因",
        r"決定(?:事項)?|方針",
        r"ため|ので|から|代わりに",
        r"(?:後|次回|今後)(?:のため)?の?(?:メモ|注意)|覚えておくこと|備忘",
        r"落とし穴|注意点?",
        "教訓：ビルドの前に make generate を実行する。そうしないとコードが古い。",
        "その教訓は本に書かれている。",
    ),
    CueLanguage(
        "Korean",
        r"교훈|배운\s*점|중요한\s*발견",
        r"근본\s*원인",
        r"결정(?:\s*사항)?",
        r"때문|위해|대신|므로",
        r"(?:나중을\s*위한\s*)?메모|다음을\s*위해|기억할\s*것",
        r"함정|주의(?:\s*사항)?",
        "교훈: 빌드 전에 make generate 를 실행해야 한다, 그러지 않으면 코드가 낡는다.",
        "그 교훈은 책에 적혀 있다.",
    ),
)
"""The languages in which cues are heard."""

_FEWEST_PAIRS = 6
"""Pairs of neighbouring characters that a statement has at least in a script that is written without spaces."""

_MARK = r"\s*[:：]\s*"
_POINTER = re.compile(r"(?:it|this|that|these|those|see|none|nothing|n/a|tbd|todo)\b")
_CAUSE_STATED = re.compile(
    r"(?:so\s+)?the\s+(?:actual\s+|real\s+|underlying\s+)?root\s+cause\s+(?:(?:of|for|behind)\s+[^,.;:]{1,80}?\s+)?(?:is|was)\s+"
    r"(?:that\s+)?(?!(?:it|this|that|unknown|unclear|still|not|to)\b)(\S.*)"
)
_KINDS = {"lesson": "heuristic", "cause": "discovery", "decision": "decision", "note": "fact", "gotcha": "anti_pattern"}
_SCORES = {"lesson": 0.75, "cause": 0.7, "decision": 0.7, "note": 0.8, "gotcha": 0.6}


@cache
def _labels() -> re.Pattern[str]:
    """Return the pattern of a label with its colon; its groups say what it announces."""
    return re.compile(
        "|".join(f"(?P<{what}>{'|'.join(getattr(language, what) for language in LANGUAGES)}){_MARK}" for what in _KINDS)
    )


@cache
def _reasons() -> re.Pattern[str]:
    spaced = "|".join(language.because for language in LANGUAGES)
    return re.compile(rf"(?<!\w)(?:{spaced})|(?:因为|由于|以便|而不是|ため|ので|代わりに|때문|위해|대신|므로|için)")


@cache
def _anywhere() -> re.Pattern[str]:
    labels = "|".join(getattr(language, what) for language in LANGUAGES for what in _KINDS)
    return re.compile(rf"(?:{labels})[*_\s]*[:：]|root\s+cause")


def has_label(text: str) -> bool:
    """Tell whether a text holds a label, or states a root cause, anywhere; most hold none."""
    return _anywhere().search(text.lower()) is not None


def labelled(sentence: TurnSentence, said_at: datetime | None, now: datetime, *, is_person: bool) -> RuleMatch | None:
    """Find ``Lesson learned: ...``, ``Root cause: ...``, ``Decision: ... because ...``, ``Note for later: ...``."""
    skip = filler_length(sentence.mask)
    match = next((found for at in (0, skip) if (found := _labels().match(sentence.mask, at))), None)
    if match is None:
        return None
    what, rest = str(match.lastgroup), sentence.mask[match.end() :]
    if _POINTER.match(rest) or not _says_enough(rest):
        return None
    if what == "decision" and not _reasons().search(rest):
        return None
    tail = TurnSentence(sentence.text[match.end() :], rest, sentence.start + match.end())
    if skipped := to_skip(tail, said_at, now):
        return skipped
    certainty, source_type = _trust(is_person=is_person)
    kind = "instruction" if standing_instruction(tail) is not None else _KINDS[what]
    # What is decided, or causes something, says so in its label; a lesson stands by itself.
    text = sentence.text[match.start() :] if what in ("cause", "decision") else tail.text
    if is_log(tail.text):
        return None
    return memory_match(text, "labelled", _SCORES[what], kind=kind, certainty=certainty, source_type=source_type)


def root_cause(sentence: TurnSentence, *, is_person: bool) -> RuleMatch | None:
    """Find ``the root cause is that ...``, where it says what it is."""
    skip = filler_length(sentence.mask)
    match = _CAUSE_STATED.match(sentence.mask, skip)
    if match is None or not _says_enough(match[1]):
        return None
    certainty, source_type = _trust(is_person=is_person)
    return memory_match(
        sentence.text[skip:], "root_cause_stated", 0.65, kind="discovery", certainty=certainty, source_type=source_type
    )


def _trust(*, is_person: bool) -> tuple[int, str]:
    return (4, "user") if is_person else (3, "derived")


def _says_enough(rest: str) -> bool:
    """Tell whether a statement has the words of one, or in a script without spaces the characters."""
    return len(rest.split()) >= 3 or len(character_bigrams(rest)) >= _FEWEST_PAIRS  # noqa: PLR2004 - a subject and what is said of it
