"""Name the characters of scripts that are written without spaces between words."""

__all__ = ["SOUTHEAST_ASIAN_CHARACTERS", "UNSPACED_CHARACTERS"]

SOUTHEAST_ASIAN_CHARACTERS = (
    r"\u0e01-\u0e4e"  # Thai
    r"\u0e81-\u0ece\u0edc-\u0edf"  # Lao
    r"\u1000-\u103f\u1050-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"  # Burmese, and what it lends to
    r"\u1780-\u17d3\u17dc\u17dd"  # Khmer
)
"""Letters, vowel signs and tone marks, for a class of a pattern; most signs and tones are no ``\\w``."""

UNSPACED_CHARACTERS = rf"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af{SOUTHEAST_ASIAN_CHARACTERS}"
"""Kana, ideographs, hangul and the scripts of Southeast Asia, for a class of a pattern."""
