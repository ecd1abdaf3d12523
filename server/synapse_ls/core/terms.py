"""Words as the index knows them: one cutting and one folding rule for notes and for queries.

Cutting yields tokens as written, with their spans. Folding makes spellings equal that people take for equal (case,
accents, full width, ligatures, invisible characters) and breaks a token into its parts: ``multi-agent`` and
``getUserName`` into words, scripts written without spaces into pairs of neighbouring characters.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from synapse_ls.core.text import Span


def _signs() -> str:
    """Return the vowel signs and other marks that belong to words, which regular expressions leave out."""
    places = itertools.chain(range(0x0483, 0x1CFB), range(0xA66F, 0xABEE))
    return "".join(chr(c) for c in places if unicodedata.category(chr(c))[0] == "M")


_LETTERS = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th",
        "ð": "d", "Ł": "L", "Ø": "O", "Đ": "D", "Ħ": "H", "Ŧ": "T", "Æ": "AE", "Œ": "OE", "Þ": "TH", "Ð": "D",
        "ẞ": "SS", "ک": "ك", "ی": "ي",
    }
)  # fmt: skip
_ACCENTS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_INVISIBLE = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef"
_DROPPED = re.compile(f"[{_ACCENTS}{_INVISIBLE}]")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_SIGNS = _signs()
# What joins words: behind a soft joint (hyphens, apostrophes) the token may also be written as one word.
_SOFT = "-'’ʼʻ\u2010\u2011·\u05be\u05f3\u05f4"
_HARD = "_./@:\u2044"
_LETTER = rf"[^\W_{_UNSPACED}ʼʻ\u0640]"
_WORD = rf"{_LETTER}(?:{_LETTER}|[{_ACCENTS}{_INVISIBLE}{_SIGNS}])*+"
_EMOJI = "\u2190-\u245f\u25a0-\u2bff\U0001f000-\U0001faff"
_FLAG = "[\U0001f1e6-\U0001f1ff]"
_EMOJI_MARK = "\u20e3\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_TOKEN = re.compile(
    r"(?P<sign>(?<![A-Za-z0-9_])[A-Za-z](?:\+\+|\#)(?![A-Za-z_+#])|(?<![\w.])\.[A-Za-z]{2,}+(?!\w|\.\w))"
    rf"|(?P<run>[{_UNSPACED}][{_UNSPACED}{_ACCENTS}{_INVISIBLE}]*+)"
    rf"|(?P<word>{_WORD}(?:[{_SOFT}{_HARD}]++{_WORD})*+)"
    rf"|(?P<emoji>{_FLAG}{_FLAG}|[{_EMOJI}][{_EMOJI_MARK}]*+(?:\u200d[{_EMOJI}][{_EMOJI_MARK}]*+)*+)"
)
_JOINT = re.compile(rf"([{_SOFT}{_HARD}]+)")
_IS_HARD = re.compile(f"[{_HARD}]")
# Latin letters are cut where the case changes, and where another script or a number begins.
_LOWER = "a-z\u0180-\u024f\u0250-\u02af"
_CAMEL = re.compile(rf"[A-Z]+(?=[A-Z][{_LOWER}])|[A-Z]?[{_LOWER}]+|[A-Z]+|\d+|(?:[^\W\d_A-Z{_LOWER}]|[{_SIGNS}])+")
# Longer tokens are addresses and noise, seldom seen twice.
_MAX_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Token:
    """A word as written at ``span``; ``parts`` are its folded terms in order, ``whole`` the joined spelling.

    The parts are what the index holds in the order of the text. ``whole`` is set where a reader may also write the
    token with fewer cuts (``e-mail``: email, ``getUserName``: getusername, ``GitHub.com``: github com) or where a sign
    is part of the name (``c++``). It does not depend on case. A token with a sign is only ever meant whole.
    """

    span: Span
    parts: tuple[str, ...]
    whole: str | None
    signed: bool


def fold(text: str) -> str:
    """Return ``text`` without the differences that a searcher does not mean; its length may change."""
    if text.isascii():
        return text.lower()
    return _plain_letters(text).casefold()


def _plain_letters(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return unicodedata.normalize("NFC", _DROPPED.sub("", decomposed)).translate(_LETTERS)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of ``text`` in order."""
    for match in _TOKEN.finditer(text):
        parts, whole = _parts(match.group(), match.lastgroup or "")
        if parts or whole:
            yield Token(Span(*match.span()), parts, whole, match.lastgroup == "sign")


def index_terms(text: str) -> list[str]:
    """Return the terms under which ``text`` is found: parts in the order of the text, then joined spellings."""
    parts: list[str] = []
    wholes: list[str] = []
    for match in _TOKEN.finditer(text):
        cut, whole = _parts(match.group(), match.lastgroup or "")
        parts.extend(cut)
        if match.lastgroup == "run":
            # Every character then starts a term, so that a single one is found by prefix.
            wholes.append(fold(match.group())[-1:])
        elif whole:
            wholes.append(whole)
    return parts + wholes


def _parts(token: str, kind: str) -> tuple[tuple[str, ...], str | None]:
    """Return the folded parts of a token and its joined spelling, if that says more than the parts."""
    return _remembered(token, kind) if len(token) <= _MAX_REMEMBERED else _cut(token, kind)


def _cut(token: str, kind: str) -> tuple[tuple[str, ...], str | None]:
    if kind == "run":
        run = fold(token)
        return (tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)), None
    if kind == "sign":
        return (fold(token.strip(".+#")),), fold(token)
    if kind == "emoji":
        symbol = _DROPPED.sub("", token)
        return ((symbol,) if symbol else ()), None
    if token.isascii() and token.isalpha() and (token.islower() or token.istitle()):
        return (token.lower(),), None  # nearly every word of nearly every note
    parts: list[str] = []
    spelling: list[str] = []
    for i, piece in enumerate(_JOINT.split(token if token.isascii() else _plain_letters(token))):
        if i % 2:  # every second piece is a joint
            if _IS_HARD.search(piece):
                spelling.append(" ")
            continue
        words = [fold(word) for word in _CAMEL.findall(piece)]
        parts += words
        spelling += words
    whole = "".join(spelling).strip()
    return tuple(parts), whole if whole != " ".join(parts) else None


_remembered = lru_cache(maxsize=1 << 16)(_cut)
