"""Where a text may be cut without cutting what a reader takes for one character."""

import unicodedata

_JOINER = "\u200d"


def boundary_before(text: str, offset: int) -> int:
    """Return the last boundary at or before an offset."""
    while 0 < offset < len(text) and _inside(text, offset):
        offset -= 1
    return offset


def boundary_after(text: str, offset: int) -> int:
    """Return the first boundary at or after an offset."""
    while 0 < offset < len(text) and _inside(text, offset):
        offset += 1
    return offset


def _inside(text: str, offset: int) -> bool:
    char = text[offset]
    if char == _JOINER or unicodedata.category(char)[0] == "M" or _modifies(char):
        return True
    if text[offset - 1] == _JOINER:
        return not char.isspace()
    return _is_flag(char) and _flags_before(text, offset) % 2 == 1


def _modifies(char: str) -> bool:
    """Whether a character without a mark's category belongs to the one before: skin tones, tags, jamo vowels."""
    return (
        "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
        or char in "\u200c\uff9e\uff9f"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, offset: int) -> int:
    start = offset
    while start and _is_flag(text[start - 1]):
        start -= 1
    return offset - start
