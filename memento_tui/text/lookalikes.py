"""Letters of other alphabets that look like Latin ones, from Unicode's own data.

Made from confusables.txt of the Unicode Security Mechanisms (UTS 39, version 15), in the small letters that are left
when a text is decomposed and its accents are dropped: those of one character that Unicode calls confusable with one
letter of a to z. A library with the whole table costs 45 to 66 milliseconds to import; this costs none.

Copyright 1991-2023 Unicode, Inc., under the Unicode License v3 (https://www.unicode.org/license.txt): the data may be
used, copied and changed freely where this notice goes with it.
"""

from __future__ import annotations

__all__ = ["LATIN_LOOKALIKES"]

# ruff: noqa: RUF001 - letters that look like others are the point
_BY_LETTER = {
    "a": "ɑαаᗅ⍺ꓮꭺ𐊠𖽀𝚨𝛂𝛢𝛼𝜜𝜶𝝖𝝰𝞐𝞪",
    "b": "ƅβвьᏼᑲᖯᗷꓐꞵꮟ𐊂𐊡𐌁𝚩𝛣𝜝𝝗𝞑",
    "c": "ϲсᴄⲥꓚꮯ𐊢𐌂𐐽𐔜𑣩𑣲🝌",
    "d": "ԁᑯᗞᗪꓒꓓꭰꮷ",
    "e": "εеҽ℮ⴹꓰꬲꭼ𐊆𑣆𑣎𝚬𝛦𝜠𝝚𝞔",
    "f": "ϝքᖴẝꓝꞙꬵ𐊇𐊥𐔥𑣂𝈓𝟊",
    "g": "ƍɡԍցᏻᶃꓖꮐ",
    "h": "ηнһհᕼⲏꓧꮋꮒ𐋏𝚮𝛨𝜢𝝜𝞖",
    "i": "ıɩɪιіι⍳ꙇꭵ𝚤𝚰𝛊𝜄𝜾𝝸𝞲",
    "j": "ʝϳјᒍꓙꭻ",
    "k": "κкᛕⲕꓗꮶ𐔘𝚱𝛫𝜥𝝟𝞙",
    "l": "ǀӏ۱ᒪᛁ⏽ⲓⳑⵏꓡꓲꮮ￨𐊊𐌉𐌠𐑃𐔦𑣃𑣒𖼖𖼨𝈪𝛪𝜤𝝞𝞘",
    "m": "μϻмᗰᛖⲙꓟꮇ𐊰𐌑𝚳𝛭𝜧𝝡𝞛",
    "n": "ոռⲛꓠ𐔓𝚴𝛮𝜨𝝢𝞜",
    "o": "οσоօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲟⵔ〇ꓳꬽ𐊒𐊫𐐬𐓪𐔖𑓐𑣈𑣕𑣗𑣠𝚶𝛐𝛔𝛰𝜊𝜎𝜪𝝄𝝈𝝤𝝾𝞂𝞞𝞸𝞼",
    "p": "ρϱрᑭ⍴ⲣꓑꮲ𐊕𝚸𝛒𝛠𝛲𝜌𝜚𝜬𝝆𝝔𝝦𝞀𝞎𝞠𝞺𝟈",
    "q": "ԛգզⵕ",
    "r": "ʀгᖇᴦⲅꓣꭇꭈꭱꮁꮢ𐓜𖼵𝈖",
    "s": "ƽѕտꓢꜱꮥꮪ𐊖𐑈𑣁𖼺",
    "t": "τтⲧꓔꭲ𐊗𐊱𐌕𖼊𝚻𝛵𝜯𝝩𝞣🝨",
    "u": "ʋսሀᑌᴜꓴꞟꭎꭒ𐓶𑣘𖽂𝛖𝜐𝝊𝞄𝞾",
    "v": "νѵ۷ᐯᴠⴸꓦꛟꮩ𐔝𑜆𑣀𖼈𝈍𝛎𝜈𝝂𝝼𝞶",
    "w": "ɯѡԝաᴡꓪꮃꮤ𑜊𑜎𑜏𑣦𑣯",
    "x": "χхᕁᕽ᙭ᚷ╳ⲭⵝꓫꭓ𐊐𐊴𐌗𐌢𐔧𑣬𝚾𝛸𝜲𝝬𝞦",
    "y": "ɣʏγυϒуүყᶌỿℽⲩꓬꭚꭹꮍ𐊲𑣜𖽃𝚼𝛄𝛶𝛾𝜰𝜸𝝪𝝲𝞤𝞬",
    "z": "ζᴢꓜꮓ𐋵𑣄𑣉𑣥𝚭𝛧𝜡𝝛𝞕",
}

LATIN_LOOKALIKES: dict[str, str] = {char: letter for letter, chars in _BY_LETTER.items() for char in chars}
"""The Latin letter for each letter of another script that looks like it."""
