"""Words as the index knows them: one cutting and one folding rule for notes and for queries.

Cutting yields tokens as written, with their spans. Folding makes spellings equal that people take for equal (case,
accents, full width, ligatures, invisible characters) and breaks a token into its parts: ``multi-agent`` and
``getUserName`` into words, scripts written without spaces into pairs of neighbouring characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from synapse_ls.core.text import Span


def _signs() -> str:
    """Return the vowel signs and other marks that belong to words, which regular expressions leave out."""
    marks = (chr(c) for c in range(0x0483, 0x1CFB) if unicodedata.category(chr(c))[0] == "M")
    return "".join(marks)


_LETTERS = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th",
        "ð": "d", "Ł": "L", "Ø": "O", "Đ": "D", "Ħ": "H", "Ŧ": "T", "Æ": "AE", "Œ": "OE", "Þ": "TH", "Ð": "D",
        "ẞ": "SS",
    }
)  # fmt: skip
_ACCENTS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe00-\ufe0f"
_DROPPED = re.compile(f"[{_ACCENTS}{_INVISIBLE}]")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = rf"{_LETTER}(?:{_LETTER}|[{_ACCENTS}{_INVISIBLE}{_signs()}])*"
_EMOJI = "\u2190-\u2bff\U0001f000-\U0001faff"
_TOKEN = re.compile(
    rf"(?P<sign>(?<!\w)[^\W\d_](?:\+\+|\#)(?!\w)|(?<![\w.])\.[^\W\d_]{{2,}}(?![\w.]))"
    rf"|(?P<run>[{_UNSPACED}][{_UNSPACED}{_ACCENTS}]*)"
    rf"|(?P<word>{_WORD}(?:[-_.'’/@:]+{_WORD})*)"
    rf"|(?P<emoji>[{_EMOJI}](?:[\ufe0f\u200d{_EMOJI}])*)"
)
_JOINT = re.compile(r"[-_.'’/@:]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\dA-Za-z_]+")


@dataclass(frozen=True, slots=True)
class Token:
    """A word as written at ``span``; ``parts`` are its folded terms in order, ``whole`` the joined spelling.

    The parts are what the index holds in the order of the text. ``whole`` is set where a reader may also write the
    token as one word (``e-mail``: email, ``getUserName``: getusername) or where a sign is part of the name (``c++``).
    A token with a sign is only ever meant whole.
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
        parts, whole = _cut(match.group(), match.lastgroup or "")
        if parts or whole:
            yield Token(Span(*match.span()), parts, whole, match.lastgroup == "sign")


def index_terms(text: str) -> list[str]:
    """Return the terms under which ``text`` is found: parts in the order of the text, then joined spellings."""
    parts: list[str] = []
    wholes: list[str] = []
    for match in _TOKEN.finditer(text):
        cut, whole = _cut(match.group(), match.lastgroup or "")
        parts.extend(cut)
        if match.lastgroup == "run":
            # Every character then starts a term, so that a single one is found by prefix.
            wholes.append(fold(match.group())[-1:])
        elif whole:
            wholes.append(whole)
    return parts + wholes


@lru_cache(maxsize=1 << 16)
def _cut(token: str, kind: str) -> tuple[tuple[str, ...], str | None]:
    """Return the folded parts of a token and its joined spelling, if that says more than the parts."""
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
    words = _JOINT.split(token if token.isascii() else _plain_letters(token))
    pieces = [[fold(piece) for piece in _CAMEL.findall(word)] or [fold(word)] for word in words]
    parts = tuple(part for piece in pieces for part in piece if part)
    if len(parts) < 2:  # noqa: PLR2004 - one part is the whole
        return parts, None
    if re.search(r"[/.:@_]", token):
        return parts, None
    return parts, "".join(parts)
