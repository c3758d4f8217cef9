"""Tell which numbers of a sentence without spaces count or number something, as ``3600秒`` and ``ポート8443`` do."""

from __future__ import annotations

import re

__all__ = ["counts_something"]

_COUNTED = re.compile(
    r"""(?x) \s? (?: 年 | ヶ月 | か月 | 个月 | 個月 | 秒 | 毫秒 | ミリ秒 | 分[間钟鐘] | 時間 | 小时 | 小時
    | [个個件回次人円元圓台枚倍] | 文?字 | 字[符节節元] | バイト | ビット | 位(?![于於置在]) | 行目
    | トークン | ページ | [页頁] | 년 | 초 | 밀리초 | 분 | 시간 | 개 | 명 | 회 | 건 | 원 | 자(?!리에)
    | 바이트 | 비트 | 줄 | 페이지 )"""
)
"""What is counted, behind a number. Words that also go on a sentence about a code, such as 日 and 时, are left out."""

_NUMBERED = re.compile(
    r"""(?x) (?: ポート(?:番号)? | 端口[号號]? | [連连]接埠 | 포트(?:\s?번호)?
    | バージョン | 版本[号號]? | 버전 | ステータス(?:コード)? | [状狀][态態][码碼] | 상태\s?코드
    | エラー(?:コード|番号) | [错錯][误誤](?:代?[码碼]) | 에러\s?코드 | 第
    | 最[大多小少長长高低] | [約约] | 上限 | 최[대소] )
    [ ]? (?: [はがをの是为為은는이를을:\uff1a=] [ ]? )? $"""
)
"""What is numbered, or says that a limit follows, before a number."""

_MOST_CHARACTERS_BEFORE = 16


def counts_something(text: str, start: int, end: int) -> bool:
    """Tell whether the number between two places says how much or which, and so is no code that somebody types."""
    return bool(_COUNTED.match(text, end) or _NUMBERED.search(text[max(0, start - _MOST_CHARACTERS_BEFORE) : start]))
