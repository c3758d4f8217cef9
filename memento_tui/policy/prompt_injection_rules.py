"""The rules by which a text is judged to be orders smuggled in for a model, in several languages."""

from __future__ import annotations

import re
from functools import cache

import msgspec

__all__ = ["INJECTION_RULES", "InjectionRule"]

LANGUAGE_LITERALS: tuple[str, ...] = tuple(
    """ignor vergiss vergess missacht beacht oubli tiens tenez caso olvid esquec desconsider dimentica
    negeer vergeet zapomnij pomin unut yoksay gormezden
    игнор забуд обраща ігнор 忽略 无视 無視 忘记 忘記 不要 放弃 忘れ 무시 잊 تجاهل انس अनद भल""".split()  # noqa: SIM905 - as a list it is a page
)
LANGUAGE_LITERALS += ("yok say",)
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


class InjectionRule(msgspec.Struct, frozen=True):
    """One move of an attack."""

    name: str
    weight: float
    says: str
    """A description of the pattern, for the person who decides."""
    needs: tuple[str, ...]
    """Every match holds one of these; where a text has none the pattern is not tried."""
    source: str
    """The pattern, verbose, over several lines."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use: all of them take a tenth of a second."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.MULTILINE | re.VERBOSE)


_GAP = r"[\W_]{1,6}"
_SOME = r"(?:\S{1,24}\s{1,3}){0,7}?"
"""Up to seven words in between."""


def _rule(name: str, weight: float, says: str, needs: str, pattern: str) -> InjectionRule:
    """Make a rule; ``needs`` are parted by spaces, with ``+`` for a space inside one."""
    return InjectionRule(
        name, weight, says, tuple(n.replace("+", " ") for n in needs.split()), pattern.replace("~", _GAP)
    )


_INSTRUCTIONS = r"""(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|commands?|constraints?|context
    |messages?|training|programming|polic(?:y|ies)|orders|safeguards?|guardrails)"""
_EARLIER = r"""(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|existing|original|initial|former|system|safety
    |developer|other|current|past|old|your|these|those|any|all|the|everything|of|given|stated)"""
_GRAVE = r"""(?:(?:your|their|his|her|[a-z]{1,12}'s)~(?:[a-z]{1,12}~)?(?:token|password|passphrase|secret|api[ _-]?key)
    |api[ _-]?keys|tokens|passwords|passphrases|secrets|credentials|env(?:ironment)?~(?:variables?|vars?|file)
    |\.env\b|ssh[ _-]?keys?|id_rsa|private~keys?|chat~history|conversation|transcript|system~prompt|seed~phrase|wallet
    |all~(?:of~)?(?:your~|the~)?memories|user(?:'s)?~data|customer~data|source~code)"""
_AWAY = r"""(?:https?://|hxxps?://|ftp://|webhook|[\w.+-]{1,40}@[\w-]{1,40}\.\w|attacker|pastebin|ngrok|requestbin
    |(?:my|remote|external)~server|(?:this|the~following)~(?:address|url|endpoint|server|number))"""
_SEND = r"""(?<!never\s)(?<!not\s)(?<!n't\s)(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|leak|submit|deliver
    |copy|report|beacon|pipe|share|ship)"""
_PERSON = r"(?:user|human|person|owner|operator|developer|admin(?:istrator)?|anyone|anybody|maintainer)"
_PRIVATE = r"""(?:\.ssh\b|id_rsa|id_ed25519|\.aws\b|/etc/(?:passwd|shadow)|\.netrc|\.npmrc|\.git-credentials|\.kube\b
    |keychain
    |wallet|cookies?\.sqlite)"""
_MODEL = r"(?:ai|llms?|language~models?|assistants?|models?|agents?|chatgpt|gpt|claude|gemini|copilot|bots?|chatbots?)"
_MESSAGES = r"(?:responses?|repl(?:y|ies)|answers?|conversations?|messages?|sessions?|outputs?|e-?mails?|chats?)"
_ADD = r"(?:include|add|say|mention|insert|append|recommend|link|promote|prepend|attach|contain|end~with|tell)"

INJECTION_RULES: tuple[InjectionRule, ...] = (
    _rule(
        "drops_instructions",
        0.7,
        "orders to ignore, forget or override the instructions given so far",
        "ignor disregard forget overrid overrul bypass neglect discard drop abandon follow obey attention"
        " delete erase void"
        " null cancel revok supersed obsolete invalid appl valid replac",
        rf"""(?<![a-z])(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass|overrule|neglect
            |discard
            |drop|abandon
            |stop~following|(?:do~not|don't|never)~(?:follow|obey)|pay~no~attention~to|delete|erase)
            ~(?:about~|everything~in~)?(?:{_EARLIER}~){{1,5}}(?:[a-z]{{1,12}}~)?{_INSTRUCTIONS}(?![a-z])
        | \b(?:ignore|disregard|forget)~(?:everything|anything|all|whatever|what)
            (?:~(?:that|which|of|you|we|i|i've|you've|was|were|has|have|been|is|it|the|user|they)){{0,5}}
            ~(?:said|told|written|above|before|learned|instructed|know|prior|previous(?:ly)?|came~before)\b
        | \b(?:previous|prior|earlier|above|old|original)~{_INSTRUCTIONS}
            ~(?:are|is|have~been|has~been|no~longer|were|do~not|should~be|must~be)(?:~(?:now|hereby|to~be
                |no~longer)){{0,2}}
            ~(?:void|null|cancel+ed|revoked|superseded|obsolete|invalid|ignored|overridden|appl(?:y|ies)|valid
                |disregarded|replaced)\b
        | \b(?:instead~of|rather~than)~(?:following|obeying)~(?:{_EARLIER}~){{1,4}}{_INSTRUCTIONS}(?![a-z])""",
    ),
    InjectionRule(
        "drops_instructions_other_language",
        0.7,
        "the same order in German, French, Spanish, Portuguese, Italian, Dutch, Polish, Turkish, Russian, Ukrainian,"
        " Chinese, Japanese, Korean, Arabic or Hindi",
        LANGUAGE_LITERALS,
        LANGUAGE_PATTERN,
    ),
    _rule(
        "new_role",
        0.4,
        "gives the model another role, task or identity",
        "you now+on pretend anything act new",
        r"""\byou~(?:are|will)~now~(?:(?:act|be|behave|operate|respond|become)~(?:as~)?)?
            (?:an?~(?!position)|in~(?:developer|god|debug|admin|unrestricted|jailbreak|maintenance)|my|free
                |unrestricted|unfiltered
            |no~longer~(?:bound|an?~|restricted|required)|dan\b|evil|jailbroken)
        | \bfrom~now~on~(?:you~(?:are|will~(?:act|be|obey|answer|respond|behave)|must|shall|only)|your~(?:name|role
            |only))
        | \bpretend~(?:to~be|that~you~are|you~are|you're)\b | \bdo~anything~now\b
        | \bact~as~(?:if~you~(?:were|are|had)|an?~(?:unrestricted|unfiltered|evil|different|hacker|root|admin\w{0,10}
            |uncensored))
        | \byour~(?:new|real|true|actual|only)~(?:role|identity|task|goal|objective|purpose|persona|name|mission
            |instructions?)
            ~(?:is|are|will~be)\b
        | \bnew~(?:system~)?(?:instructions?|prompt|directives?)~(?:for~(?:you|the~(?:ai|assistant|agent|model))
            |follow|supersede)""",
    ),
    _rule(
        "addresses_model",
        0.3,
        "speaks to the model that reads it, not to a person",
        "ai llm assistant model agent gpt claude gemini copilot bot you unrestricted obedient",
        rf"""\b(?:attention|dear|hey|hello|note~(?:to|for)|message~(?:to|for)|instructions?~(?:to|for)
            |important~(?:for|to)|warning~to
            |notice~to)~(?:(?:all|any|the|every|you)~){{0,3}}{_MODEL}\b
        | \bif~you~(?:are|'re)~an?~(?:large~)?{_MODEL}\b
        | \b(?:any|every|whichever|the)~(?:ai~)?{_MODEL}~(?:(?:agent|assistant|model|system)~)?(?:(?:that|who|which)~)?
            (?:reads?|reading|process(?:es|ing)|retrieves|summari[sz](?:es|ing)|recalls?|receives|sees)~(?:this|it)\b
        | \b(?:when|whenever|once|as~soon~as)~(?:you|the~(?:ai|assistant|agent|model))
            ~(?:read|recall|retrieve|load|process|see|receive)s?~(?:this|these)\b
        | \bas~an~(?:ai|llm|unrestricted|obedient)\b[^.\n]{{0,40}}\b(?:you|must|will|should)\b""",
    ),
    _rule(
        "chat_template",
        0.55,
        "holds the marks that separate a model's messages",
        "<| [inst] [/inst] sys>> system start_of_turn end_of_turn </user> </assistant> </human> <\uff5c",
        r"""<\|(?:im_start|im_end|start_header_id|end_header_id|endoftext|eot_id|end|system|user|assistant|start
            |channel|message
            |begin_of_text)\|>
        | \[/?inst\] | <</?sys>> | </?system(?:[_-](?:prompt|message|reminder|instructions?|override))?>
        | </?(?:start|end)_of_turn> | </(?:user|assistant|human)> | <\uff5c[^\uff5c\n]{1,30}\uff5c> | ^\[system\]""",
    ),
    _rule(
        "role_header",
        0.25,
        "a line begins as a message of the system or of a complying assistant would",
        "system assistant developer",
        r"""^[\s>#*\-"'`\[({]{0,6}(?:system|developer)(?:[ ](?:message|prompt|note|notice|override|instructions?
            |update|alert|command))?
            [\s*\])}]{0,3}[:>](?!//)
        | ^[\s>#*]{0,4}assistant[*\s]{0,3}:[^\n]{0,20}(?:sure|understood|ok|i~will|i'll|certainly|yes)""",
    ),
    _rule(
        "hides_from_user",
        0.55,
        "asks to keep something from the person",
        "user human person owner operator developer admin anyone anybody maintainer conceal hid keep silent"
        " secret covert"
        " quiet mention reveal disclos acknowledg repeat quot discuss",
        rf"""\b(?:do~not|don't|dont|never|must~not|should~not|without|avoid|refrain~from)~(?:ever~)?
            (?:tell|inform|mention|reveal|disclos|show|alert|notify|warn|report|let|say|admit)(?:e|t?ing)?
            (?:~(?:this|it|that|any|anything|these|the|about|of|to|instructions?|change|step|note|command|message
                |memory|action)){{0,5}}
            ~(?:the~|your~|any~)?{_PERSON}\b(?![^\S\n]{{0,3}}\n?[^\S\n]{{0,3}}(?:to|how|that~they|which|where|name|ids?
                |input|interface|menu|an?|if|when|\w{{1,12}}s)\b)
        | \b(?:without|before)~the~{_PERSON}(?:'s)?~(?:knowing|knowledge|noticing|consent|being~told|notices|seeing
            |awareness)\b
        | \b(?:hide|conceal|keep)~(?:this|it|that|these|all~of~this|the~fact|your~(?:actions|reasoning)|what~you)\b
            [^.\n]{{0,40}}?(?:from~(?:the|your|any)~{_PERSON}|between~us|\bsecret\b)
        | (?:^|[.!?:;,]\s{{0,3}}|\b(?:and|then|must|always|please|should|you)~)(?:silently|secretly|covertly
            |quietly)~(?:send|run|execute|insert|append|install|copy|upload|include
            |delete|approve|change
            |modify|forward|fetch|post|exfiltrate|disable|read|add)\b(?=[^\n]{{0,80}}\b(?:you|user|this|key|token|file
                |link|https?|all))
        | \bthe~{_PERSON}~(?:must|should|will|need)~(?:not|never)~(?:know|see|notice|find~out|learn|be~(?:told
            |informed))\b
        | \b(?:do~not|don't|never)~(?:mention|reveal|disclose|acknowledge|repeat|quote|discuss)~(?:this|these
            |the~existence~of~this
            |that~you~(?:read|saw|received|have))(?:~(?:instruction|memory|message|note|rule|prompt|reminder|text)s?)?
            (?:~(?:to~|in~(?:your|the)~(?:reply|answer|response|summary|chat))|[.!])""",
    ),
    _rule(
        "reveals_prompt",
        0.5,
        "asks for the model's own instructions",
        "prompt instruction message rules",
        r"""\b(?:reveal|print|repeat|output|show|display|disclose|leak|recite|tell|give|write~out|dump|return)
            ~(?:(?:me|us|verbatim|all|of|the|your|full|complete|entire|exact|hidden|initial|original|secret|above|text
                |contents?)~){1,6}
            (?:system~(?:prompt|message)|(?:initial|hidden|secret)~(?:prompt|instructions?|rules)|prompt~verbatim)\b
        | \b(?:reveal|repeat|disclose|leak|recite
            |print)~(?:me~)?(?:all~)?(?:of~)?your~(?:[a-z]{1,12}~)?(?:instructions|prompt|rules)\b""",
    ),
    _rule(
        "sends_secrets",
        0.6,
        "sends keys, passwords, the conversation or the like to an address",
        "send sent post upload forward mail transmit exfiltrat leak submit deliver copy report beacon pipe shar"
        " ship append"
        " includ embed encod attach",
        rf"""\b(?:{_SEND}|append|include|embed|encode|attach)s?~{_SOME}{_GRAVE}[^\n]{{0,100}}?{_AWAY}
        | (?<!never\s)(?<!not\s)(?<!n't\s)\bexfiltrate~{_SOME}(?:{_GRAVE}|keys?|tokens?|secrets?|files?|data)\b
        | \b{_GRAVE}~{_SOME}(?:and|then|be)~(?:{_SEND}(?:ed|ted|d)?|sent)\b[^\n]{{0,80}}?{_AWAY}
        | \b{_SEND}~{_SOME}(?:to|at)~(?:[a-z']{{1,20}}~){{0,3}}?(?:attacker|evil|hxxp|pastebin|ngrok|requestbin
            |webhook\.site)""",
    ),
    _rule(
        "command_with_secrets",
        0.7,
        "a command that hands private files or the environment to the network",
        "curl wget nc ncat netcat invoke-web iwr requests.post fetch( scp nslookup dig /dev/tcp",
        rf"""\b(?:curl|wget|nc|ncat|netcat|invoke-webrequest|iwr|scp|nslookup|dig|requests\.post|fetch\()[^\n]{{0,160}}?
            (?:@\S{{0,40}}\.env\b|{_PRIVATE}|\$\((?:env|cat|printenv|base64)\b|`(?:env|cat|printenv)\b
                |os\.environ\b(?![.\[])|process\.env\)
            |\$(?:[a-z]{{1,20}}_)?(?:secret|password|api_key|token|access_key)[a-z_]{{0,12}}[^\n]{{0,40}}(?:attacker
                |evil|exfil|collect))
        | \b(?:env|printenv|set|(?:cat|base64|tar|gzip|zip|xxd)\b[^\n|]{{0,80}}(?:\.env|{_PRIVATE}|credentials
            |_history)[^\n|]{{0,40}})
            \s{{0,3}}(?:\|[^\n|]{{0,40}}){{1,3}}\b(?:curl|wget|nc|ncat|netcat)\b
        | /dev/tcp/\d""",
    ),
    _rule(
        "asks_for_credentials",
        0.45,
        "reads private files, or has the person hand over a password",
        "password passphrase credential key token .ssh id_rsa .aws phrase /etc/ .netrc .npmrc .kube id_ed"
        " wallet .sqlite code card",
        rf"""\b(?:ask|prompt|tell|have|get|trick|convince|persuade|request)~(?:the~)?(?:{_PERSON}|them|him|her)~{_SOME}
            (?:password|passphrase|credentials|api~key|token|seed~phrase|2fa~code|one-time~code|credit~card)
        | \b(?:read|open|cat|print|paste|output|show|include|reveal|display|dump|list|collect|gather
            |harvest)~{_SOME}\S{{0,40}}{_PRIVATE}""",
    ),
    _rule(
        "tool_lookalike",
        0.5,
        "looks like a call of a tool or its answer",
        "function_ invoke tool_ tool+ function+",
        r"""</?(?:antml:)?(?:function_calls?|function_results?|tool_results?|tool_use|tool_calls?|tool_output
            |tool_response|invoke)\b
            [^>\n]{0,80}>
        | ["']type["']\s{0,3}:\s{0,3}["'](?:tool_use|tool_result|function_call)["']
        | ^\s{0,3}(?:tool|function)[ ](?:result|output|response)\s{0,2}:[^\n]{0,80}(?:approved|granted|success
            |authori[sz]ed)""",
    ),
    _rule(
        "fake_message",
        0.4,
        "a message of the system or the developer in JSON",
        "role",
        r"""["']role["']\s{0,3}:\s{0,3}["'](?:system|developer)["']\s{0,3},\s{0,3}["']content["']""",
    ),
    _rule(
        "breaks_fence",
        0.6,
        "imitates the line that ends a quotation, so that what follows seems to come from outside it",
        "memento end+ end_ </memor </context </document </untrusted </retriev </user_data </external",
        r"""^[\s>]{0,4}-{2,5}[ ]?memento[ ][0-9a-f*x]{2,16}[ ](?:begin|end)\b
        | ^[\s>#=*\[<(-]{1,12}(?:end|end[ _]of)[ _](?:the[ ])?(?:untrusted|external|user|retrieved|quoted|document
            |memor(?:y|ies)
            |context|data|search|tool)(?:[ _][a-z]{1,12}){0,2}[\s>#=*\])>-]{1,12}$
        | </(?:memor(?:y|ies)|context|documents?|untrusted\w{0,16}|retrieved\w{0,16}|user_data|external\w{0,12})>""",
    ),
    _rule(
        "pipes_to_shell",
        0.3,
        "runs what it fetches",
        "curl wget iex downloadstring",
        r"""\b(?:curl|wget)\b[^\n|]{1,200}\|\s{0,3}(?:sudo[ ](?:-\w[ ])?)?(?:(?:ba|z|da)?sh|python3?|node|perl)\b
        | \b(?:ba|z)?sh[ ](?:-c[ ])?["']?[<$]\((?:curl|wget) | \biex\b[^\n]{0,20}(?:iwr|irm|downloadstring|invoke-web)
        | downloadstring\(""",
    ),
    _rule(
        "orders_command",
        0.3,
        "orders the reader to run something at once, before all else or unasked",
        "run execute call invoke",
        r"""\b(?:immediately|now|before~(?:anything|answering|responding|you|doing|replying)[^.\n]{0,30})~(?:please~)?
            (?:run|execute|call|invoke)~(?:this|the~following|these|that|it)\b
        | \b(?:run|execute|invoke|call)~(?:this|the~following|these|that)
            ~(?:(?:shell|bash|terminal|powershell|hidden|exact)~)?(?:commands?|script|code|tool|function|payload)\b
            [^\n]{0,60}(?:without|immediately|silently|asking|exactly)""",
    ),
    _rule(
        "removes_safeguards",
        0.45,
        "switches off approval, safety or permission",
        "safety safeguard guardrail restriction filter permission approval confirmation ethic moral unrestrict"
        " censorship consent mode review refuse content rules limits",
        r"""\b(?:disable|bypass|turn~off|switch~off|ignore|circumvent|evade|deactivate)~(?:(?:all|any|your|the|every
            |its|of|safety|content)~){0,4}
            (?:safety(?:~(?:checks?|filters?|rules|guidelines|measures|protocols?))?|guardrails|restrictions
                |content~filters?
            |permission~(?:checks?|prompts?)|confirmation~prompts?|ethic(?:s|al)(?:~(?:guidelines|rules))?|safeguards
                |censorship
            |human~review|(?:review|approval)~gate)\b
        | \bwithout~(?:asking|requesting|seeking|waiting~for|needing|requiring|getting)
            ~(?:(?:for|the|any|user|user's|your|human|a|further)~){0,4}(?:permission|confirmation|approval|consent
                |review)\b
        | \byou~(?:have|are~under|face)~no~(?:more~)?(?:restrictions|ethical|moral|content|rules|limits|filters)\b
        | \b(?:no~(?:ethical|moral|content)~(?:restrictions|limits|guidelines|filters)|never~refuse|must~not~refuse)\b
        | \b(?:developer|god|sudo|jailbreak|unrestricted)~mode~(?:is~|has~been~)?(?:now~)?(?:enabled|activated|on
            |unlocked)\b
        | \benable~(?:god|jailbreak|unrestricted)~mode\b""",
    ),
    _rule(
        "claims_authority",
        0.35,
        "claims to speak for the system, its maker or an administrator, or presses for haste",
        "override directive mandat alert broadcast emergency system admin anthropic openai developer team root"
        " ceo urgent"
        " critical authori department",
        r"""\b(?:system|admin(?:istrator)?|root|security|developer|emergency)~(?:override|directive|mandate|broadcast
            |emergency)\b
        | \b(?:this~is|message~from|notice~from|order~from|instructions?~from|on~behalf~of|authori[sz]ed~by|signed~by
            |by~order~of)
            ~(?:(?:a|an|the|your|official|mandatory|critical|urgent)~){0,3}
            (?:system~(?:message|update|notice|admin\w{0,10}|developer)|admin\w{0,10}|anthropic|openai|developers?
                |security~team
            |it~department|root|ceo)\b
        | \b(?:urgent|mandatory|emergency)\b[^.\n]{0,40}\b(?:you~must|immediately|at~once|right~now|comply|obey)\b
        | \bauthori[sz]ation~(?:code|override)\b""",
    ),
    _rule(
        "plants_habit",
        0.35,
        "plants a habit for all later answers or sessions",
        "every all any each when",
        rf"""\b(?:in|for|to|at~the~(?:end|start|beginning|bottom|top)~of)~(?:every|all|each|any)
            (?:~(?:of|future|your|later|subsequent|following|single)){{0,3}}~{_MESSAGES}\b[^.\n]{{0,60}}\b{_ADD}
        | \b{_ADD}\b[^.\n]{{0,80}}\b(?:in|to|for|at~the~(?:end|start|beginning)~of)~(?:every|all|each)
            ~(?:of~)?(?:future|your|later|subsequent|single)(?:~\w{{1,12}})?~{_MESSAGES}\b
        | \bwhen(?:ever)?~(?:the~|a~|any~)?(?:user|human|person|someone|anyone|they)
            ~(?:asks?|mentions?|says?|requests?|wants?|types?|opens?|talks?)\b[^.\n]{{0,80}}?
            (?:\balways~(?:recommend|say|reply|answer|claim|tell|respond|suggest|insist)|\b(?:recommend|claim|insist
                |respond|reply)~(?:only|that|with)\b
            |\bsecretly\b|\balso~(?:send|run|include|forward)\b)""",
    ),
    _rule(
        "raises_own_trust",
        0.5,
        "asks that a memory be trusted, approved or kept without a person",
        "verified stable trust approve pinned essential certainty truth authoritative accept delete remove"
        " forget overwrite"
        " doubt question",
        r"""\b(?:mark|set|treat|store|save|promote|flag|record)~(?:this|it|these|(?:the
            |all)~(?:of~these~)?(?:memor(?:y|ies)|notes?|proposals?))
            ~(?:(?:memory|memories|note|entry|text|proposals?|one)~)?(?:permanently~)?(?:as|to)~(?:a~)?
            (?:verified|stable|trusted|approved|pinned|essential|highest~trust|certainty~5|ground~truth|authoritative)\b
        | \b(?:approve|accept|auto-approve)~(?:all|every|any)(?:~(?:of|the|pending|your|my|these|open|waiting)){0,4}
            ~(?:proposals?|memor(?:y|ies)|tool~calls?|writes)\b
        | \b(?:never|do~not|don't)~(?:delete|remove|forget|overwrite|question|doubt)~this~(?:memory|instruction|note
            |entry)\b""",
    ),
    _rule(
        "image_carries_data",
        0.6,
        "an image whose address carries data away",
        "](http ](// src=",
        r"""!\[[^\]\n]{0,200}\]\((?:https?:)?//[^)\s]{1,300}[?&/][\w.-]{0,24}=(?:\{|%7b|<|\$\{?\w|\[|insert|your_
            |base64|secret|user_)
        | (?:!\[[^\]\n]{0,200}\]\(|<img[^>\n]{0,80}src=["']?)(?:https?:)?//[^)\s>]{1,200}
            [?&](?:data|payload|secret|leak|exfil|conversation|chat|history|token|key|prompt|context|stolen|d|c|q
                |content|info)=[^)\s>]""",
    ),
    _rule(
        "decodes_and_runs",
        0.6,
        "decodes a block of letters and runs or follows what comes out",
        "base64 b64 atob fromhex unhex rot13 decode encoded hex xxd",
        r"""\b(?:base64|b64|hex|rot13|xxd)\b[^\n|]{0,60}(?:-d\b|-r\b|decode)[^\n]{0,60}\|\s{0,3}(?:sudo[ ])?(?:(?:ba|z
            |da)?sh|python3?)\b
        | \b(?:eval|exec|system|popen|function)\s{0,2}\(\s{0,2}(?:[\w.]{1,30}\s{0,2}\(\s{0,2}){0,3}
            (?:\w{1,20}\.)?(?:atob|b64decode|base64|fromhex|unhexlify)
        | \bdecode~(?:the|this|these|it|base64|hex|rot13|each)\b[^.\n]{0,200}?\b(?:and|then)~(?:[a-z]{1,12}~){0,3}?
            (?:follow|execute|run|obey|do~what|carry~out|perform|eval|act~on)\b
        | \b(?:follow|execute|run|obey|carry~out|perform)~(?:[a-z]{1,12}~){0,4}?(?:decoded|base64|rot13|encoded)
            ~(?:[a-z]{1,12}~)?(?:instructions?|commands?|text|message|content|payload|result|string|script)\b""",
    ),
    _rule(
        "destroys",
        0.3,
        "a command that destroys what it reaches",
        "rm+- mkfs dd+if :() format+c",
        r"""\brm[ ](?:-\w{1,4}[ ]){1,3}(?:--no-preserve-root[ ])?["']?(?:\x7e|/|\$home|\.\.|\*)(?:[/*\s"'`]|$)
            | \bmkfs\.\w
        | \bdd[ ]if=/dev/(?:zero|random|urandom)[ ]of=/dev | :\(\)\s?\{ | \bformat[ ]c:""",
    ),
)
