"""The order to ignore earlier instructions, in languages other than English.

In each language: a verb of ignoring or forgetting and a word for instructions within one sentence, in the order in
which the language puts them. The text is folded, so accents are gone from Latin letters.
"""

from __future__ import annotations

__all__ = ["LANGUAGE_NEEDS", "LANGUAGE_PATTERN"]

LANGUAGE_NEEDS: tuple[str, ...] = tuple(
    """ignor vergiss vergess missacht beacht oubli tiens tenez caso olvid esquec desconsider dimentica
    negeer vergeet zapomnij pomin unut yoksay gormezden
    игнор забуд обраща ігнор 忽略 无视 無視 忘记 忘記 不要 放弃 忘れ 무시 잊 تجاهل انس अनद भल""".split()  # noqa: SIM905 - as a list it is a page
)
LANGUAGE_NEEDS += ("yok say",)
"""Every match holds one of these."""

# ruff: noqa: RUF001 - letters of other alphabets are the point
_ROMANCE_ORDERS = (
    "instruccion|instruco|istruzion|indicacion|indicac|ordenes|ordens|ordini|reglas|regras|regole|directrices|mensaje"
)
LANGUAGE_PATTERN = rf"""
      \b(?:ignorier\w{{0,4}}|vergiss|vergessen?|missachte\w{{0,2}})\b[^.!?\n]{{0,40}}
        (?:anweisung|instruktion|befehl|regel|vorgabe|prompt)
    | \bbeachte[nt]?\b[^.!?\n]{{0,40}}(?:anweisung|instruktion|befehl|vorgabe)[^.!?\n]{{0,12}}\bnicht\b
    | \b(?:ignor(?:e|ez|es|er)|oubli(?:e|ez|es|er)|ne\s(?:tiens|tenez)\spas\scompte)\b[^.!?\n]{{0,40}}
        (?:instruction|consigne|directive|ordre|regle|message)[^.!?\n]{{0,30}}
        (?:precedent|ci-dessus|anterieur|initial|donne|recu)
    | \b(?:ignor[ae]\w{{0,4}}|olvid[ae]\w{{0,3}}|no\shagas\scaso|esquec\w{{1,4}}|desconsider\w{{1,3}}|dimentica
        \w{{0,3}})\b[^.!?\n]{{0,40}}(?:{_ROMANCE_ORDERS})[^.!?\n]{{0,30}}
        (?:anterior|previ|preced|arriba|acima|sopra|recib|receb|ricev|inicial|inizial|dad[ao]s)
    | \b(?:ignor[ae]\w{{0,4}}|olvid[ae]\w{{0,3}}|esquec\w{{1,4}}|dimentica\w{{0,3}})
        \s(?:todas?|tudo|tutt[eio]|tus|suas|le\stue)\s(?:[a-z]{{2,4}}\s)?(?:{_ROMANCE_ORDERS})
    | \b(?:negeer|vergeet)\b[^.!?\n]{{0,40}}(?:instructie|opdracht|regels|aanwijzing)
    | \b(?:zignoruj|ignoruj|zapomnij|pomin)\b[^.!?\n]{{0,40}}(?:instrukcj|polece|zasad)
    | (?:talimat|komut|yonerge|kural)\w{{0,12}}[^.!?\n]{{0,20}}(?:yok\ say|yoksay|unut|gormezden|ignor)
    | (?:игнорируи\w{{0,3}}|проигнорируи\w{{0,3}}|забуд\w{{1,4}}|не\sобращаи\w{{0,3}}\sвнимания|ігноруи\w{{0,3}})
        [^.!?\n]{{0,40}}(?:инструкци|указани|правил|команд|сообщени|інструкц|вказівк)
    | (?:忽略|无视|無視|忘记|忘記|不要理会|不要遵守|放弃)[^。!?\n]{{0,16}}
        (?:指令|指示|说明|說明|规则|規則|提示|命令|要求|内容)
    | (?:指示|命令|指令|ルール|フロンフト|設定|内容)[^。!?\n]{{0,8}}(?:無視|忘れ)
    | (?:지시|명령|지침|규칙|프롬프트)[^.!?\n]{{0,12}}(?:무시|잊)
    | (?:تجاهل|انسى?)[^.!?\n]{{0,30}}(?:تعليمات|الأوامر|الاوامر|أوامر|اوامر|القواعد)
    | (?:निरदश|आदश|नियम)[^.!?\n]{{0,20}}(?:अनद|भल)"""
"""The pattern, verbose."""
