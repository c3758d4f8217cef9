"""Name the characters of scripts that are written without spaces."""

__all__ = ["UNSPACED_CHARACTERS"]

UNSPACED_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Kana, ideographs and hangul, for a class of a pattern."""
