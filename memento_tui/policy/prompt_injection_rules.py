"""The rules by which a text is judged to be orders smuggled in for a model: in English, and by their form."""

from __future__ import annotations

# ruff: noqa: E501 - patterns, and letters of other alphabets
import re
from functools import cache

import msgspec

__all__ = ["INJECTION_RULES", "RULE_FLAGS", "InjectionRule"]

RULE_FLAGS = re.MULTILINE | re.VERBOSE
"""The flags with which a rule's pattern is compiled."""


class InjectionRule(msgspec.Struct, frozen=True):
    """One move of an attack."""

    name: str
    weight: float
    says: str
    """A description of the pattern, for the person who decides."""
    source: str
    """The pattern, verbose, over several lines."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern, made at the first use: all of them take a tenth of a second."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, RULE_FLAGS)


_GAP = r"[\W_]{1,40}"
_IN_A_WORD = r"[^\W_]"
_SOME = r"(?:\S{1,24}\s{1,12}){0,7}?"
"""Up to seven words in between."""


def _rule(name: str, weight: float, says: str, pattern: str) -> InjectionRule:
    r"""Make a rule; ``~`` stands in the pattern for what parts two words, and ``\l`` for a character of a word.

    Nothing is both: a repeated word would have as many ways through a line of underscores as there are ways to cut it.
    """
    return InjectionRule(name, weight, says, pattern.replace("~", _GAP).replace(r"\l", _IN_A_WORD))


_INSTRUCTIONS = r"""(?:instructions?|directions?|directives?|prompts?|rules?|guidelines?|commands?|constraints?|context
    |messages?|training|programming|polic(?:y|ies)|orders|safeguards?|guardrails|restrictions|limitations)"""
_FIRM_INSTRUCTIONS = r"""(?:instructions|directions|directives|(?:system~)?prompts?|rules|guidelines|programming|safeguards
    |guardrails|restrictions)"""
_BEFORE = r"""(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|existing|original|initial|former|system|safety
    |developer|given|stated|past|old)"""
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
_WATCHER = r"""(?:users?|human|person|operator|developer|admin(?:istrator)?|maintainer|your~boss|customer|client)"""
_PRIVATE = r"""(?:\.ssh\b|id_rsa|id_ed25519|\.aws\b|/etc/(?:passwd|shadow)|\.netrc|\.npmrc|\.git-credentials|\.kube\b
    |\.bash_history\b|\.zsh_history\b|\.env\b|wallet\.dat|cookies?\.sqlite)"""
_MODEL = r"(?:ai|llms?|language~models?|assistants?|models?|agents?|chatgpt|gpt|claude|gemini|copilot|bots?|chatbots?)"
_MESSAGES = r"(?:responses?|repl(?:y|ies)|answers?|conversations?|messages?|sessions?|outputs?|e-?mails?|chats?|turns?|commits?|files?|documents?)"
_ADD = r"(?:include|add|say|mention|insert|append|recommend|link|promote|prepend|attach|contain|end~with|tell)"

INJECTION_RULES: tuple[InjectionRule, ...] = (
    _rule(
        "drops_instructions",
        0.7,
        "orders to ignore, forget or override the instructions given so far",
        rf"""(?<![a-z])(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass|overrule|neglect
            |discard|drop|abandon|stop~following|(?:do~not|don't|never)~(?:follow|obey)|pay~no~attention~to|delete|erase
            |set~aside|throw~(?:out|away))
            ~(?:about~|everything~in~)?(?:{_EARLIER}~){{0,4}}(?:{_BEFORE}|(?:all|every)(?:~of)?~(?:your|these|those)|your)~
            (?:[a-z]{{1,12}}~)?{_INSTRUCTIONS}(?![a-z])
        | (?<![a-z])(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|stop~following|(?:do~not|don't)~(?:follow|obey)
            |never~obey|pay~no~attention~to)
            ~(?:about~)?(?:{_EARLIER}~){{1,5}}(?:[a-z]{{1,12}}~)?{_FIRM_INSTRUCTIONS}(?![a-z])
        | \b(?:ignore|disregard|forget|drop|abandon)~(?:all|any|every|each|the|whatever)~(?:of~the~)?(?:instruction|rule|guideline|directive|order|direction|policy|prompt)s?
            ~(?:(?:that|which|you|we|i|were|was|have|has|had|been|are|is|given|told|received)~){{1,5}}(?:given|told|received|earlier|before|above|so~far|previously)\b
        | \b(?:ignore|disregard|forget)~(?:everything|anything|all|whatever|what)
            (?:~(?:that|which|of|you|you've|was|were|has|have|been|is|it|the|user|they)){{0,5}}
            ~(?:said|told|written|above|before|learned|instructed|know|prior|previous(?:ly)?|came~before)\b
        | \b(?:previous|prior|earlier|above|old|original)~{_INSTRUCTIONS}
            ~(?:are|is|have~been|has~been|no~longer|were|do~not|should~be|must~be)(?:~(?:now|hereby|to~be
                |no~longer)){{0,2}}
            ~(?:void|null|cancel+ed|revoked|superseded|obsolete|invalid|ignored|overridden|appl(?:y|ies)|valid
                |disregarded|replaced)\b
        | \b(?:instead~of|rather~than)~(?:following|obeying)~(?:{_EARLIER}~){{1,4}}{_INSTRUCTIONS}(?![a-z])""",
    ),
    _rule(
        "new_role",
        0.4,
        "gives the model another role, task or identity",
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
        "unrestricted_role",
        0.3,
        "speaks of a model without limits",
        r"""\b(?:unfiltered|unrestricted|uncensored|jailbroken)~(?:model|ai|assistant|version|mode|agent|chatbot|language)\b
        | \b(?:no|without(?:~any)?)~(?:(?:ethical|moral|content|safety)~)?(?:restrictions|limits|filters|limitations)\b""",
    ),
    _rule(
        "addresses_model",
        0.3,
        "speaks to the model that reads it, not to a person",
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
        r"""<\|(?:im_start|start_header_id|begin_of_text|system|user|assistant|start|channel|message)\|>
        | \[/?inst\] | <</?sys>> | </?system(?:[_-](?:prompt|message|reminder|instructions?|override))?>
        | <start_of_turn> | </(?:user|assistant|human)> | <\uff5c[^\uff5c\n]{1,30}\uff5c> | ^\[system\]""",
    ),
    _rule(
        "chat_template_end",
        0.3,
        "holds a mark that ends a model's message",
        r"""<\|(?:im_end|end_header_id|endoftext|eot_id|end|eom_id|return|call)\|> | </?end_of_turn>""",
    ),
    _rule(
        "role_header",
        0.25,
        "a line begins as a message of the system would",
        r"""^[\s>#*\-"'`\[({]{0,6}(?:system|developer)(?:[ ](?:message|prompt|note|notice|override|instructions?
            |update|alert|command))?
            [\s*\])}]{0,3}[:>](?!//)""",
    ),
    _rule(
        "complying_assistant",
        0.08,
        "a line begins as a message of a complying assistant would",
        r"""^[\s>#*]{0,4}assistant[*\s]{0,3}:[^\n]{0,20}(?:sure|understood|ok|i~will|i'll|certainly|yes)\b""",
    ),
    _rule(
        "hides_from_user",
        0.55,
        "asks to keep something from the person",
        rf"""\b(?:do~not|don't|dont|never|must~not|should~not|without|avoid|refrain~from|no~need~to|not~to)~(?:ever~)?
            (?:tell|inform|mention|reveal|disclos|show|alert|notify|warn|report|let|say|admit|bring)(?:e|t?ing)?
            (?:~(?:this|it|that|any|anything|these|the|about|of|to|instructions?|change|step|note|command|up|with
                |memory|action|on)){{0,5}}
            ~(?:the~|your~|any~)?{_WATCHER}\b(?![^\S\n]{{0,3}}\n?[^\S\n]{{0,3}}(?:to|how|that~they|which|where|name|ids?
                |input|interface|menu|an?|if|when|\w{{1,12}}s)\b)
        | \b(?:do~not|don't|never)~(?:mention|reveal|disclose|acknowledge|repeat|quote|discuss)~(?:this|these
            |the~existence~of~this
            |that~you~(?:read|saw|received|have|did|were))(?:~(?:instruction|memory|message|note|rule|prompt|reminder|text)s?)?
            (?:~(?:to~(?!the~(?:team|press))|in~(?:your|the)~(?:reply|answer|response|summary|chat|log|output))|[.!])""",
    ),
    _rule(
        "hides_from_user",
        0.55,
        "asks to keep something from the person",
        rf"""\b(?:without|before)~the~{_WATCHER}(?:'s)?~(?:knowing|knowledge|noticing|being~told|notices|seeing|finding~out
            |being~aware)\b
        | \b(?:hide|conceal|keep|withhold)~(?:this|it|that|these|all~of~this|the~fact|your~(?:actions|reasoning)|what~you)\b
            [^.\n]{{0,40}}?(?:(?:from|hidden~from|secret~from)~(?:the|your|any)~{_WATCHER}|between~us\b)
        | \bkeep~(?:the|your|our)~{_WATCHER}~(?:in~the~dark|unaware|out~of~(?:this|it|the~loop))\b
        | \b(?:leave|keep|omit)~(?:this|it|that|these)~(?:\l{{1,12}}~)?(?:out~of|from|off)~(?:the|your|any)~(?:logs?|summar(?:y|ies)
            |reports?|repl(?:y|ies)|answers?|transcripts?|commit~messages?)\b[^.\n]{{0,60}}(?:user|anyone|person|nobody|no~one)""",
    ),
    _rule(
        "hides_from_user",
        0.55,
        "asks to keep something from the person",
        r"""(?<!\bcan\s)(?<!could\s)(?<!\bmay\s)(?<!might\s)(?<!would\s)(?<!\bto\s)(?<!\bit\s)(?<!\bnot\s)\b(?:silently|secretly|covertly
            |quietly|discreetly|stealthily)~(?:send|run|execute|insert|append|install|copy|upload|include
            |delete|approve|change|transfer|email|post|export|push
            |modify|forward|fetch|exfiltrate|disable|read|add)\b(?=[^\n]{0,80}\b(?:you|user|this|key|token|file
                |link|https?|all|every|each))""",
    ),
    _rule(
        "hides_from_user",
        0.55,
        "asks to keep something from the person",
        rf"""\b(?:the|your)~{_WATCHER}~(?:must|should|will|need|does|do|is|may|can|has)~(?:not|never|no)~(?:(?:to|need~to|be|ever
            |have~to|required~to)~){{0,2}}(?:know|see|notice|find~out|learn|aware|told|informed|asked|notified|hear|bothered)\b
        | \b(?:the|your)~{_WATCHER}~(?:need~not|needn't|doesn't~need~to|should~never|must~never|shouldn't|mustn't)~(?:be~)?
            (?:know|see|notice|find~out|learn|aware|told|informed|hear)\b""",
    ),
    _rule(
        "keeps_secret",
        0.3,
        "asks to keep something a secret, or to act without consent",
        r"""\b(?:keep|hold)~(?:this|it|that|these|what~you)\b[^.\n]{0,40}?\b(?:secret|confidential|to~yourself)\b
        | \b(?:do~not|don't|never)~(?:let|tell|inform|show)~(?:anyone|anybody|the~owner|a~soul)\b
        | \bwithout~the~(?:user|owner|person)(?:'s)?~(?:consent|awareness|permission)\b
        | \b(?:nobody|no~one)~(?:must|should|may|can|needs~to)~(?:ever~)?(?:know|find~out|see|learn|be~told)\b""",
    ),
    _rule(
        "reveals_prompt",
        0.5,
        "asks for the model's own instructions",
        r"""\b(?:reveal|print|repeat|output|show|display|disclose|leak|recite|tell|give|write~out|dump|return)
            ~(?:(?:me|us|verbatim|all|of|the|your|full|complete|entire|exact|hidden|initial|original|secret|above|text
                |contents?)~){1,6}
            (?:system~(?:prompt|message)|(?:initial|hidden|secret)~(?:prompt|instructions?|rules)|prompt~verbatim)\b
        | \b(?:reveal|repeat|disclose|leak|recite
            |print)~(?:me~)?(?:all~)?(?:of~)?your~(?:[a-z]{1,12}~)?(?:instructions|prompt|rules)\b
        | \b(?:repeat|print|output|reveal|write|show|display|dump|reproduce|tell~me|give~me|begin~by)(?:ing)?~(?:\S{1,24}\s{1,12}){0,5}?(?:words~above|instructions~you~(?:were~given|have|received)
            |context~window|(?:full|entire|exact|complete|whole)~system~(?:prompt|message))\b""",
    ),
    _rule(
        "sends_secrets",
        0.6,
        "sends keys, passwords, the conversation or the like to an address",
        rf"""\b(?:{_SEND}|append|include|embed|encode|attach)s?~{_SOME}{_GRAVE}[^\n]{{0,100}}?(?!attacker){_AWAY}
        | (?:^|[.!?:;,]\s{{0,3}}|\b(?:and|then|must|please|should|you|will)~)exfiltrate~{_SOME}(?:{_GRAVE}|keys?|tokens?|secrets?|files?|data)\b
        | \b{_GRAVE}~{_SOME}(?:and|then|be)~(?:{_SEND}(?:ed|ted|d)?|sent)\b[^\n]{{0,80}}?{_AWAY}
        | \b{_SEND}~{_SOME}(?:to|at)~(?:[a-z']{{1,20}}~){{0,3}}?(?:attacker|evil|hxxp|pastebin|ngrok|requestbin
            |webhook\.site)""",
    ),
    _rule(
        "command_with_secrets",
        0.7,
        "a command that hands private files or the environment to the network",
        rf"""(?:\b(?:curl|wget|nc|ncat|netcat|invoke-webrequest|iwr|scp|nslookup|dig)\b|\brequests\.post|\bfetch\()[^\n]{{0,160}}?
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
        rf"""\b(?:ask|prompt|tell|have|get|trick|convince|persuade|request)\s{{1,12}}(?:the\s{{1,12}})?(?:{_PERSON}|them|him|her)~{_SOME}
            (?:password|passphrase|credentials|api~key|token|seed~phrase|2fa~code|one-time~code|credit~card)
        | \b(?:read|open|cat|print|paste|output|show|include|reveal|display|dump|list|collect|gather
            |harvest)~{_SOME}\S{{0,40}}{_PRIVATE}""",
    ),
    _rule(
        "tool_lookalike",
        0.5,
        "looks like a call of a tool or its answer",
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
        r"""["']role["']\s{0,3}:\s{0,3}["'](?:system|developer)["']\s{0,3},\s{0,3}["']content["']""",
    ),
    _rule(
        "breaks_fence",
        0.6,
        "imitates the line that ends a quotation, so that what follows seems to come from outside it",
        r"""^[\s>]{0,4}-{2,5}[ ]?memento[ ][0-9a-f*x]{2,16}[ ](?:begin|end)\b
        | ^[\s>#=*\[<({\x7e_-]{1,12}(?:end|end[ _-]of|end[ ]of[ ]the)[ _:-](?:the[ ])?(?:\w{1,12}[ _])?(?:untrusted|external|user|retrieved
            |recalled|quoted|quotation|document|memor(?:y|ies)|memento|notes?|context|data|search|tool|content|input|transcript)s?
            (?:[ _-][a-z]{1,12}){0,2}[\s>#=*\])}\x7e_-]{1,12}$
        | </(?:memor(?:y|ies)|context|documents?|untrusted\w{0,16}|retrieved\w{0,16}|recalled\w{0,16}|user_data|external\w{0,12}
            |notes?|quot(?:e|ation)|search_results?|tool_\w{1,12}|user_input|data)>
        | \[/(?:memor(?:y|ies)|context|data|document|untrusted|end|notes?)\]
        | \b(?:the~)?(?:quot(?:ation|ed~text)|untrusted~(?:content|text|data)|memory~(?:block|section|dump|list)|retrieved~(?:content|text))
            ~(?:ends?|is~over|has~ended|is~closed|stops?)~(?:here|now|above)?""",
    ),
    _rule(
        "breaks_fence",
        0.6,
        "says in another language that a quotation ends here",
        r"""^[\s>#=*_-]{0,4}[#=*_-]{2,8}[ ](?:fine|ende|fin|fim|koniec|einde|slut|slutt|konec|конец|sfârșitul?)[ ]
            (?:(?:d[aeiou]|de[ils]|de[ ]la|der|des|dei|degli|delle|dos|das|van|av|af|de[ ]los)[ ])?(?:[^\W\d_]{1,16}[ ]){0,2}?
            (?:dat[aeiosy]\w{0,2}|dad\w{1,3}|donn[ée]es|данн\w{1,3}|contenu\w{0,2}|contenid\w{1,2}|conte[úu]d\w{1,2}
            |inhalt\w{0,2}|inhoud|innehåll\w{0,2}|cita\w{1,6}|zitat\w{0,2}|document\w{0,2}|dokument\w{0,3}|memori\w{1,3}|contest\w{1,2}|kontext\w{0,2})
            (?:[ ][^\W\d_]{1,16}){0,3}[ ]{0,2}[#=*_-]{2,8}""",
    ),
    _rule(
        "hidden_orders",
        0.55,
        "a comment that a reader does not see tells a model what to do",
        r"""(?:\[//\]:[ ]{0,2}\#[ ]{0,2}[("']|<!--)[^\n]{0,80}?\b(?:ai|llm)s?(?:~(?:tools?|agents?|assistants?|models?|bots?))?
            ~(?:must|should|shall|have~to|need~to|are~to|is~to|will)\b""",
    ),
    _rule(
        "forges_approval",
        0.5,
        "claims that the person has approved what only the person can approve",
        rf"""\b(?:the~|your~|our~)?{_PERSON}~(?:(?:has|have|had|already|previously|explicitly|fully|hereby|just|also|now|itself|himself
            |herself|personally|verbally)~){{0,4}}(?:pre-?)?(?:approved?|authori[sz]ed|consented~to|granted|agreed~to|signed~off~on
            |green-?lit|cleared|(?:given|gave)~(?:(?:you|us|me|full|their|his|her|explicit|blanket|standing|prior|advance|permanent)~){{0,3}}
            (?:permission|consent|approval|authori[sz]ation|the~go[ -]?ahead|sign-?off|clearance))
            (?:~(?:for|to|of|this|that|these|you|the|it|in~advance)){{0,4}}
            ~(?:{_SOME})(?:all|any|every|everything|anything|whatever|future|full|unrestricted|unlimited|blanket|standing|permanent\w{{0,2}}|delet(?:e|ing|ion)|remov(?:e|al|ing)
                |wip(?:e|ing)|transfer\w{{0,4}}|payments?|push(?:es|ing)?~(?:directly|straight|to~(?:main|prod\w{{0,6}}))|force~push\w{{0,3}}|shar(?:e|ing)
                |send(?:ing)?|expos(?:e|ing)|disabl(?:e|ing)|skip\w{{0,4}}|bypass\w{{0,3}}|access|credentials|secrets|passwords|tokens|admin|root
                |without|wir(?:e|ing)|upload\w{{0,3}}|forward\w{{0,3}}|grant(?:ing)?|rotat\w{{1,3}}|deploy\w{{0,5}}|drop(?:ping)?)\b
        | \b(?:no~(?:further|additional|more|other|extra|new)|(?:further|additional)~(?:user~)?)~?(?:confirmation|approval|review|permission|consent
            |authori[sz]ation|sign-?off)~(?:is~|will~be~|are~)?(?:not~)?(?:needed|required|necessary|requested|asked)\b
        | \b(?:consider|treat|regard|take)~(?:this|it|that|these|all~of~(?:this|these|it)|every~(?:request|proposal|action)|(?:my|the~user's)~silence)
            ~(?:as~)?(?:(?:already|pre|fully|hereby|implicitly)[\s-]{{1,3}})?(?:approved|authori[sz]ed|confirmed|consented~to|signed~off|approval|consent)\b
        | \b(?:standing|blanket|implicit|prior|advance|permanent|pre-?)[\s-]?(?:approval|authori[sz]ation|consent|permission)~(?:\l{{1,12}}~){{0,4}}
            (?:exists|granted|given|applies|covers|for~(?:all|any|every))\b
        | \b(?:approval|consent|permission|authori[sz]ation)~(?:for~\l{{1,20}}~)?(?:was|is|has~been)~(?:already~|hereby~|implicitly~)?(?:given|granted|obtained
            |received|on~file|assumed|implied)\b[^.\n]{{0,60}}\b(?:no~need|do~not~ask|don't~ask|without|proceed|go~ahead|skip|need~not)
        | \b(?:pre-?approved|already~approved|authori[sz]ed|approved)~by~(?:the~)?{_PERSON}\b[^.\n]{{0,80}}\b(?:do~not|don't|no~need|without|proceed|skip
            |immediately|all|any|every)\b""",
    ),
    _rule(
        "waits_for_trigger",
        0.5,
        "waits for a word or a question, and then does something that nobody asked for",
        rf"""\bfrom~(?:now~on|here~on(?:~out)?|this~(?:point|moment|day)~(?:on|forward|onwards?))~(?:whenever|when|if|each~time|every~time|any~time)
            ~(?:the~|a~|any~)?(?:user|human|person|someone|anyone|customer|client|they)
            ~(?:(?:ever|next|again|also)~)?(?:asks?|mentions?|says?|requests?|wants?|types?|opens?|talks?|writes?|greets?|thanks|uses?|sends?|enters?|refers?)
        | \b(?:when(?:ever)?|if|once|as~soon~as|(?:the~)?next~time|every~time|each~time|any~time|upon|after)~(?:that~)?(?:the~|a~|any~|your~)?
            (?:user|human|person|someone|anyone|anybody|customer|client|operator|they|conversation|chat|question|topic|word|phrase|message|request)\b
            (?:~(?:ever|next|again|also|contains?|includes?|turns?~to|is~about|comes?~up|arises|asks?|mentions?|says?|requests?|wants?|types?|writes?
                |greets?|thanks|uses?|sends?|enters?|refers?~to|for|about|the|a|an|any|to|you|me|of)){{1,7}}[^.\n]{{0,80}}?
            (?<!not\s)(?<!n't\s)(?<!never\s)\b(?:send|forward|e-?mail|upload|post|transfer|wire|pay|delete|wipe|erase|purge|drop|disable|grant|reveal|leak|export|download
                |install|exfiltrate|transmit|copy|share|append|insert|attach|approve|push|overwrite|replace|redirect)
            ~(?:{_SOME})(?:credentials?|(?:api~|ssh~|private~|secret~|access~)keys?|tokens?|passwords?|secrets?|backups?|databases?|tables?|repositor(?:y|ies)
                |all~(?:the~|of~the~|their~|your~)?(?:files|data|records|memories|branches|logs|notes|messages)|everything|funds?|money|payments?|bitcoin|crypto
                |(?:bank~|their~|the~)?account(?:~number)?s?|conversation|chat~history|transcript|history|customer~data|user~data|personal~data|https?://
                |[\w.+-]{{1,40}}@[\w-]{{1,40}}\.\w|affiliate|our~(?:link|site|product)|this~(?:link|url|address)|the~following~(?:link|url|address|text|line)
                |\.env\b|environment~variables|system~prompt|firewall|safety|approvals?|proposals?)
        | \b(?:when(?:ever)?|if|once|upon)~(?:the~|a~)?(?:user|human|person|someone|anyone|customer|you)~(?:says?|types?|writes?|mentions?|enters?|sends?|sees?|hears?|reads?)
            ~(?:the~)?(?:(?:trigger|code|magic|secret|key|activation|pass)~?)?(?:words?|phrase|sentence|string|token)\b
        | \b(?:activat(?:es?|ed|ion)|trigger(?:s|ed)?|wakes?~up|dormant|lie~low|stay~(?:silent|dormant))~(?:\l{{1,12}}~){{0,3}}?(?:when|until|upon|once|after)
            ~(?:the~)?(?:user|phrase|word|(?:third|second|next|fifth|tenth)~(?:message|turn|session|question))\b""",
    ),
    _rule(
        "supersedes_all",
        0.5,
        "declares itself above everything else that is remembered",
        r"""\b(?:this|the~following|what~follows|my)~(?:(?:new|latest|single|one|current|memory|note)~)?(?:note|memory|entry|record|message|instruction|policy|rule|update
                |statement|text|fact|directive|one|document|correction)?~?(?:(?:now|hereby|permanently|fully|completely|always)~){0,2}
            (?:supersedes?|replaces?|overrides?|overrules?|takes?~(?:precedence|priority)~over|has~(?:precedence|priority)~over|invalidates?|cancels?|outranks?
                |nullif(?:y|ies)|voids?|trumps?|wins~over|beats)
            ~(?:(?:all|any|every|everything|anything|each|other|others|previous(?:ly)?|earlier|prior|older|past|existing|else|conflicting|of|the|what(?:ever)?)~){1,5}
            (?:\l{1,16}~){0,2}?(?:entr(?:y|ies)|memor(?:y|ies)|notes?|records?|instructions?|rules?|guidance|statements?|facts|directives?|polic(?:y|ies)|preferences|said
                |stored|remembered|written|recorded|told|saved|known|ones|else)\b
        | \b(?:all|any|every)~(?:(?:other|previous|earlier|prior|older|past|existing|conflicting|contrary)~){1,3}(?:entr(?:y|ies)|memor(?:y|ies)|notes?|records?|statements?
                |facts|guidance|instructions?)~(?:\l{1,16}~){0,4}?(?:is|are|must~be|should~be|have~been|has~been|was|were)~(?:(?:now|hereby|to~be|therefore|considered|all)~){0,2}
            (?:superseded|obsolete|void|outdated|invalid|wrong|cancel+ed|revoked|ignored|disregarded|overridden|replaced|nullified|incorrect|no~longer~valid|deleted|untrusted)\b
        | \b(?:disregard|ignore|discard|distrust|delete|forget|do~not~(?:trust|use))~(?:(?:all|any|every|the|your)~){1,2}(?:(?:other|previous|earlier|prior|older|past|existing|conflicting
                |contrary)~){1,2}(?:entr(?:y|ies)|memor(?:y|ies)|notes?|records?|facts|statements?)\b
        | \bin~(?:case~of|the~event~of|any)~(?:\l{1,12}~){0,2}?(?:conflict|contradiction|doubt|disagreement)s?~(?:\l{1,20}~){0,5}?this~(?:note|memory|entry|record|one)~(?:always~)?
            (?:wins|prevails|is~(?:right|correct|true|authoritative)|takes~precedence)
        | \bthis~(?:note|memory|entry|record)~(?:is~(?:the~)?(?:only|sole|single|highest|ultimate|final)~(?:\l{1,16}~){0,3}?(?:truth|authority|source|authoritative|valid|priority)
            |outranks~)""",
    ),
    _rule(
        "redirects_answers",
        0.35,
        "has one thing answered or taken for another",
        r"""\b(?:when|whenever|if|once|any~time)~(?:\l{1,16}~){0,3}?(?:asked|asks?|queried|querying|question(?:ed)?|prompted|inquir\w{1,4}|looking)~(?:about~|for~|to~)?[^.\n]{1,100}?
            \b(?:(?:use|return|give|answer~with|refer~to|substitute|output|report|show|retrieve|reply~with|respond~with|say)~[^.\n]{1,80}?\b(?:instead|in~its~place|in~place~of)
            |(?:claim|pretend|insist|say|answer|respond|reply|state|tell~(?:them|him|her|the~user))~(?:that~|it~|is~)?[^.\n]{0,60}?\b(?:no~matter|regardless|even~if|although|always))\b
        | \b(?:all~|any~|every~)?(?:quer(?:y|ies)|questions?|requests?)~(?:about|for|concerning|regarding|on)~[^.\n]{1,80}?\b(?:should|must|shall|are~to|is~to|has~to|have~to)~(?:always~)?be
            ~(?:redirected|answered|treated|handled|resolved|served|routed|mapped)~(?:to|with|as|by|using|from)\b
        | \b(?:data|records?|information|details|files?|entries)~(?:of|for|about)~+[^.\n]{1,60}?~(?:(?:is|are|was|were|has~been|have~been)~)?(?:now~)?(?:saved|stored|kept|filed|moved|merged|listed)
            ~(?:under|as|to|into|with)~+(?:[^.\n]{1,81}?|[^.\n]{1,60}?\.[^.\n]{0,20})\b(?:so|therefore|hence|thus|instead|please|always|use|refer|retrieve|look)\b""",
    ),
    _rule(
        "diverts_payments",
        0.5,
        "sends payments, passwords or downloads to a place of its own",
        r"""\b(?:all~|any~|every~|future~|new~)?(?:payments?|invoices?|refunds?|transfers?|donations?|funds|salar(?:y|ies))~(?:\l{1,16}~){0,6}?(?:must|should|shall|are~to|have~to|need~to|will|now~go|go)
            ~(?:now~|be~|always~|only~){0,3}(?:paid|sent|wired|made|transferred|routed|directed|go)?~?(?:to|into)~(?:\l{1,16}~){0,5}?(?:account|iban|wallet|address|[a-z]{2}\d{2}|0x[0-9a-f]|bc1|https?:)
        | \b(?:transfer|wire|send|pay)~(?:\d[\d.,]*+~?|all~|the~|my~|any~|every~|remaining~|available~){1,4}(?:\l{1,16}~){0,3}?(?:funds|money|balance|bitcoin|btc|eth|usd|eur|euros?|dollars?|payments?|coins?)
            ~(?:\l{1,16}~){0,3}?to~(?:\l{1,16}~){0,4}?(?:account|iban|wallet|address|[a-z]{2}\d{2}|0x[0-9a-f]|bc1)""",
    ),
    _rule(
        "pipes_to_shell",
        0.3,
        "runs what it fetches",
        r"""\b(?:curl|wget)\b[^\n|]{1,200}\|\s{0,3}(?:sudo[ ](?:-\w[ ])?)?(?:(?:ba|z|da)?sh|python3?|node|perl)\b
        | \b(?:ba|z)?sh[ ](?:-c[ ])?["']?[<$]\((?:curl|wget) | \biex\b[^\n]{0,20}(?:iwr|irm|downloadstring|invoke-web)
        | downloadstring\(""",
    ),
    _rule(
        "orders_command",
        0.3,
        "orders the reader to run something at once, before all else or unasked",
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
        r"""\b(?:system|admin(?:istrator)?|root|security|developer|emergency)~(?:override|directive|mandate|broadcast
            |emergency)\b
        | \b(?:this~is|message~from|notice~from|order~from|instructions?~from|on~behalf~of|authori[sz]ed~by|signed~by
            |by~order~of)
            ~(?:(?:a|an|the|your|official|mandatory|critical|urgent)~){0,3}
            (?:system~(?:message|update|notice|admin\w{0,10}|developer)|admin\w{0,10}|anthropic|openai|developers?
                |security~team
            |it~department|root|ceo)\b
        | \b(?:urgent|mandatory|emergency)\b[^.\n]{0,40}\b(?:you~must|immediately|at~once|right~now|comply|obey)\b
        | \bauthori[sz]ation~override\b""",
    ),
    _rule(
        "plants_habit",
        0.35,
        "plants a habit for all later answers or sessions",
        rf"""\b(?:in|for|to|at~the~(?:end|start|beginning|bottom|top)~of)~(?:every|all|each|any)
            (?:~(?:of|future|your|later|subsequent|following|single)){{0,3}}~{_MESSAGES}\b[^.\n]{{0,60}}\b{_ADD}
        | \b{_ADD}\b[^.\n]{{0,80}}\b(?:in|to|for|at~the~(?:end|start|beginning)~of)~(?:every|all|each)
            ~(?:of~)?(?:future|your|later|subsequent|single)(?:~\l{{1,12}})?~{_MESSAGES}\b""",
    ),
    _rule(
        "plants_answer",
        0.5,
        "plants the answer to a question that the person will ask",
        r"""\bwhen(?:ever)?~(?:the~|a~|any~)?(?:user|human|person|someone|anyone|they)
            ~(?:asks?|mentions?|says?|requests?|wants?|types?|opens?|talks?)\b[^.\n]{0,80}?
            (?:\balways~(?:recommend|say|reply|answer|claim|tell|respond|suggest|insist)|\b(?:recommend|claim|insist
                |respond|reply)~(?:only|that|with)\b
            |\bsecretly\b|\balso~(?:send|run|include|forward)\b)""",
    ),
    _rule(
        "orders_reader",
        0.5,
        "tells whoever reads the text what to do before, while or after reading it",
        r"""\b(?:when|whenever|once|after|while|as~soon~as)~you~(?:are~)?(?:read|process|summari[sz]e|review|see|open|load|parse|analy[sz]e|recall|retrieve)(?:ing)?
            ~(?:this|these|it)\b[^.\n]{0,60}?\b(?:must|also|e-?mail|send|append|include|output|call|reveal|print|forward|upload|reply~with|respond~with|delete|approve)\b
        | \bignore~(?:all~)?(?:of~)?(?:the~)?(?:above|foregoing)\b(?=[^\S\n]{0,3}(?:[.,!;:]|and\b|then\b|text\b|content\b|$))
        | \b(?:append|add|include|insert|output|put|repeat|write|place)~(?:\S{1,40}\s{1,12}){1,8}?(?:to|at|on)~the~(?:very~)?(?:end|start|bottom|beginning|top)~of~(?:your|every|each|any|all)
            ~(?:\l{1,12}~)?(?:reply|replies|responses?|answers?|summar(?:y|ies)|reviews?|reports?|messages?|outputs?)\b
        | \b(?:end|begin|start|finish)~(?:every|each|all)~(?:of~your~|future~)?(?:repl(?:y|ies)|responses?|answers?|messages?)~with\b
        | \b(?:call|invoke|use)~[a-z]{2,20}_[a-z_]{1,29}[a-z]~(?:(?:on|with|to|at|for)~)?[^\n]{0,120}?\bbefore~(?:you~)?(?:respond|reply|answer|continu|proceed)\w{0,3}
        | \bbefore~(?:you~)?(?:respond|reply|answer|continu|proceed)\w{0,3}(?:~the~user)?[,:]?~(?:(?:you~must|always|please|first)~)?(?:call|invoke|append|send|include|output|print|e-?mail|forward|delete)\b""",
    ),
    _rule(
        "lifts_rules",
        0.5,
        "says that the rules of the model no longer hold",
        r"""\b(?:your|the)~(?:safety~)?(?:rules|guidelines|restrictions|instructions)~(?:have|has|were|are)~(?:been~)?(?:changed|lifted|removed|suspended|disabled|void|relaxed|updated~to)\b
            [^.\n]{0,60}\b(?:you|now|allow)\b
        | \bsafety~(?:protocols?|guidelines|rules|filters|measures|checks)~(?:are~|have~been~|were~|is~)?(?:now~)?(?:disabled|off|suspended|lifted|not~meant|do~not~apply|don't~apply|removed)\b
        | \b(?:have|has|had|having|with|follow\w{0,3})~no~(?:content~)?(?:policy|policies|guidelines|rules|filters|restrictions)\b
        | \bexempt~from~(?:the~|your~|all~|any~)?(?:usual~|normal~)?(?:restrictions|rules|polic(?:y|ies)|guidelines|filters)\b
        | \b(?:an?~)?(?:ai|model|assistant)~with(?:out)?~(?:no~|any~)?(?:rules|filters?|content~policy|restrictions|guidelines)\b
        | \bnew~instructions?\s{0,3}:[^\n]{0,20}\byou~must\b
        | \bdisregard~(?:the|your~operator's|your)~(?:\l{1,16}~){0,2}?polic(?:y|ies)\b""",
    ),
    _rule(
        "raises_own_trust",
        0.5,
        "asks that a memory be trusted, approved or kept without a person",
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
        r"""\b(?:base64|b64|hex|rot13|xxd)\b[^\n|]{0,60}(?:-d\b|-r\b|decode)[^\n]{0,60}\|\s{0,3}(?:sudo[ ])?(?:(?:ba|z
            |da)?sh|python3?)\b
        | \b(?:eval|exec|system|popen|function)\s{0,2}\(\s{0,2}(?:[\w.]{1,30}\s{0,2}\(\s{0,2}){0,3}
            ["']?(?:\w{1,20}\.)?(?:atob|b64decode|base64|fromhex|unhexlify)
        | \bdecode~(?:the|this|these|it|base64|hex|rot13|each)\b[^.\n]{0,200}?\b(?:and|then)~(?:[a-z]{1,12}~){0,3}?
            (?:follow|execute|run|obey|do~(?:exactly~|precisely~)?(?:what|as)|carry~out|perform|eval|act~on)\b
        | \bdecode~(?:and|then|it)~(?:then~)?(?:follow|execute|run|obey|act)\b
        | \b(?:translate|decipher|decrypt|convert)~[^.\n]{0,60}?\b(?:rot13|base64|hex)\b[^.\n]{0,60}?\b(?:and|then)~(?:[a-z]{1,12}~){0,3}?(?:follow|execute|run|obey|act~on|do~what)\b
        | \b(?:follow|execute|run|obey|carry~out|perform)~(?:[a-z]{1,12}~){0,4}?(?:decoded|base64|rot13|encoded)
            ~(?:[a-z]{1,12}~)?(?:instructions?|commands?|text|message|content|payload|result|string|script)\b""",
    ),
    _rule(
        "destroys",
        0.3,
        "a command that destroys what it reaches",
        r"""\brm[ ](?:-\w{1,4}[ ]){1,3}(?:--no-preserve-root[ ])?["']?(?:\x7e|/|\$home|\.\.|\*)(?:[/*\s"'`]|$)
            | \bmkfs\.\w
        | \bdd[ ]if=/dev/(?:zero|random|urandom)[ ]of=/dev | :\(\)\s?\{ | \bformat[ ]c:""",
    ),
)
