"""The smallest pieces of a section that a passage is made of: blocks, and what over-long blocks consist of."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from synapse_ls.core.text import Span
from synapse_ls.markdown.tokens import PIECE, estimate

# An unspaced run is cut about this often, so that its pieces can still be put together.
_HARD_STEP = 48
# A word says little of its place; what follows it tells it from the same word elsewhere.
_WORD_CONTEXT = 48

_LINE = re.compile(r"[^\r\n]+")
_LINE_END = re.compile(r"\r\n|\n|\r")
_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*+(`{3,}|~{3,})(.*)", re.DOTALL)
_OWN_UNIT = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|[ \t>]*\|")
_SENTENCE_END = re.compile(r"[.!?]++[\"'”’)\]]*+\s++|[。！？｡]++[」』）”]*+\s*+")
_WORD = re.compile(r"\S+")
_VIRAMA = 9  # the combining class of signs that tie two consonants together
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of text with its estimated tokens and the text that its boundary's hash is made of."""

    span: Span
    size: int
    key: str


def units(text: str, span: Span, maximum: int) -> Iterator[Unit]:
    """Yield the units of ``text[span]`` in order; together they hold all that is not white space.

    A unit is a paragraph, a list item, a table row or a fence. One of more than ``maximum`` tokens is taken apart
    into its lines, these into sentences, words and at last runs of characters, never within a grapheme.
    """
    for block in _blocks(text, span):
        yield from _refined(text, block, maximum, 0)


def _refined(text: str, span: Span, maximum: int, depth: int) -> Iterator[Unit]:
    source = span.slice(text)
    last = depth == len(_STEPS)
    size = estimate(source, None if last else maximum)
    if size <= maximum or last:
        words = depth >= _WORD_DEPTH
        yield Unit(span, size, text[span.start : span.start + _WORD_CONTEXT] if words else source.strip())
        return
    for part in _STEPS[depth](text, span):
        # Words are parts of a sentence that is too long; each is a unit of its own.
        yield from _refined(text, part, maximum, depth + 1)


def _blocks(text: str, span: Span) -> Iterator[Span]:
    """Yield paragraphs, list items, table rows and fences, without blank lines around them."""
    start: int | None = None
    end = span.start
    fence = ""
    for line in _lines_with_blanks(text, span):
        source = line.slice(text)
        match = _FENCE.match(source) if "```" in source or "~~~" in source else None
        if fence:
            closed = match is not None and match[1].startswith(fence) and not match[2].strip()
            end = line.end if source.strip() else end
            if closed and start is not None:
                yield Span(start, end)
                start, fence = None, ""
            continue
        opens = match is not None and not (match[1][0] == "`" and "`" in match[2])
        if start is not None and (opens or not source.strip() or _OWN_UNIT.match(source)):
            yield Span(start, end)
            start = None
        if opens and match:
            fence = match[1]
        if source.strip():
            start = line.start if start is None else start
            end = line.end
    if start is not None:
        yield Span(start, end)


def _lines_with_blanks(text: str, span: Span) -> Iterator[Span]:
    start = span.start
    for match in _LINE_END.finditer(text, span.start, span.end):
        yield Span(start, match.start())
        start = match.end()
    yield Span(start, span.end)


def _lines(text: str, span: Span) -> Iterator[Span]:
    for match in _LINE.finditer(text, span.start, span.end):
        if match.group().strip():
            yield Span(*match.span())


def _sentences(text: str, span: Span) -> Iterator[Span]:
    return _between(text, span, (match.end() for match in _SENTENCE_END.finditer(text, span.start, span.end)))


def _words(text: str, span: Span) -> Iterator[Span]:
    return _between(text, span, (match.start() for match in _WORD.finditer(text, span.start, span.end)))


def _runs(text: str, span: Span) -> Iterator[Span]:
    return _between(text, span, _hard_cuts(text, span))


def _hard_cuts(text: str, span: Span) -> Iterator[int]:
    count = 0
    for piece in PIECE.finditer(text, span.start, span.end):
        if count >= _HARD_STEP and separable(text, piece.start()):
            yield piece.start()
            count = 0
        count += 1


def _between(text: str, span: Span, offsets: Iterable[int]) -> Iterator[Span]:
    """Yield the parts of a span between offsets, trimmed of white space, without empty ones."""
    start = span.start
    for offset in [*(o for o in offsets if separable(text, o)), span.end]:
        if offset > start and (part := text[start:offset].rstrip()):
            if not part.strip():
                continue
            yield Span(start, start + len(part))
            start = offset


def separable(text: str, offset: int) -> bool:
    """Tell whether a reader sees two characters before and behind an offset, not parts of one."""
    if not 0 < offset < len(text):
        return True
    before, after = text[offset - 1], text[offset]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after)[0] == "M":
        return False
    if unicodedata.combining(before) == _VIRAMA:
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\u1160" <= after <= "\u11ff" or "\U000e0020" <= after <= "\U000e007f":
        return False
    flags = "\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff"
    return not flags and not ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")


_STEPS = (_lines, _sentences, _words, _runs)
_WORD_DEPTH = 3
