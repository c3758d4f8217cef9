"""Tell which numbers of a sentence without spaces count or number something, as ``3600秒`` and ``ポート8443`` do."""

from __future__ import annotations

import re

__all__ = ["counts_something"]

_COUNTED = re.compile(
    r"""(?x) (?: 秒 | 分 | [个個件回次人円元圓台枚倍字位页頁] | 년 | 초 | 분 | 개 | 명 | 회 | 건 | 원 | 자 | 줄
    | [ ]? (?: [ヶか个個]月 | 毫秒 | ミリ秒 | 分[間钟鐘] | 時間 | 小[时時] | 文字 | 字[符节節元] | バイト | ビット
        | 行目 | トークン | ページ | 밀리초 | 시간 | 바이트 | 비트 | 페이지 ) )
    (?: $ | \W
    | 以 | まで | から | より | です | でし | だ | は | が | を
    | [的了后後内內间間]
    | 까지 | 부터 | 이[상하내다] | 입니다 | 마다 | 만에 | 동안 | [은는이가을를](?:\s|$) )"""
)
"""The words of counted things behind a number, each with a sign that it ends there: 个 also begins 个人.

Words that also go on a sentence about a code, such as 日 and 时, are left out.
"""

_YEAR = re.compile(r"(?:19|20)\d\d年")

_NUMBERED = re.compile(
    r"""(?x) (?: ポート(?:番号)? | 端口[号號]? | [連连]接埠 | 포트(?:\s?번호)?
    | バージョン | 版本[号號]? | 버전 | ステータス(?:コード)? | [状狀][态態][码碼] | 상태\s?코드
    | エラー(?:コード|番号) | [错錯][误誤](?:代?[码碼]) | 에러\s?코드 | 第
    | 最[大多小少長长高低] | [約约] | 上限 | 최[대소] )
    [ ]? (?: [はがをの是为為은는이를을:\uff1a=] [ ]? )? $"""
)
"""What is numbered, or says that a limit follows, before a number."""

_PASSWORD = re.compile(
    r"""(?xi) (?: 密[码碼钥鑰] | 口令 | [验驗][证證][码碼] | パスワード | パスコード | パス | 暗[証證]番号
    | 暗号 | 合言葉 | 認証コード | 비밀번호 | 비번 | 암호 | 인증\s?번호 | 보안\s?코드 | 패스워드
    | pass(?:word|code|phrase|wd)? | pwd? | pin(?:\s?code|码|碼|コード|番号|번호)? )
    \s* (?: 改?[为為成] | [はがをの是은는이가을를:\uff1a=] )? \s* ["'`「『(“【\uff08\u2018]? $"""
)
"""A word for a password directly before a number: that is the password, whatever comes after it."""

_MOST_CHARACTERS_BEFORE = 16


def counts_something(text: str, start: int, end: int) -> bool:
    """Tell whether the number between two places says how much or which, and so is no code that somebody types."""
    before = text[max(0, start - _MOST_CHARACTERS_BEFORE) : start]
    if _PASSWORD.search(before):
        return False
    return bool(_COUNTED.match(text, end) or _YEAR.match(text, start, end + 1) or _NUMBERED.search(before))
