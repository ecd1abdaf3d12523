r"""Spans and positions in a text.

Offsets are code points. A line ends at ``\n``, ``\r\n`` or ``\r`` and nowhere else (the rule of the Language
Server Protocol); form feeds, U+2028 and the like are ordinary characters.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, ``start <= end``."""

    start: int
    end: int

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def slice(self, text: str) -> str:
        """Return the part of ``text`` that the span covers."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A 0-based place in a text, its column counted in every unit that a protocol may ask for.

    All three columns are kept so that an indexed place can be told to a client without reading the file again.
    """

    line: int
    utf32: int
    utf16: int
    utf8: int


@dataclass(frozen=True, slots=True)
class Range:
    """Two positions of the same text, ``start <= end``."""

    start: Position
    end: Position


class LineIndex:
    """Where the lines of a text start; converts offsets to positions and back."""

    __slots__ = ("_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def __len__(self) -> int:
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """Return the 0-based line of an offset."""
        return bisect_right(self._starts, offset) - 1

    def line_start(self, line: int) -> int:
        """Return the offset where a line starts; past the last line, the end of the text."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def line_span(self, line: int) -> Span:
        """Return the span of a line without its line end; past the last line, an empty span at the end."""
        start = self.line_start(line)
        end = self.line_start(line + 1)
        while end > start and self._text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int) -> Position:
        """Return the position of an offset, which is clamped into the text."""
        offset = min(max(offset, 0), len(self._text))
        line = self.line_of(offset)
        before = self._text[self._starts[line] : offset]
        if before.isascii():
            return Position(line, len(before), len(before), len(before))
        utf8 = len(before.encode("utf-8", "surrogatepass"))
        utf16 = len(before.encode("utf-16-le", "surrogatepass")) // 2
        return Position(line, len(before), utf16, utf8)

    def range(self, span: Span) -> Range:
        """Return the range of a span."""
        return Range(self.position(span.start), self.position(span.end))
