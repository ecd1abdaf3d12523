r"""Spans and positions in a text.

Offsets are code points. A line ends at ``\n``, ``\r\n`` or ``\r`` and nowhere else (the rule of the Language
Server Protocol); form feeds, U+2028 and the like are ordinary characters.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\n|\r")
_STRIDE = 1024


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
    """Where the lines of a text start, and the position of any offset."""

    __slots__ = ("_marks", "_starts", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks: dict[int, list[tuple[int, int]]] = {}
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
        column = offset - self._starts[line]
        # A long line is not counted from its start again for each of its places: that would be quadratic.
        utf16, utf8 = self._marks_of(line)[column // _STRIDE] if column >= _STRIDE else (0, 0)
        more16, more8 = _units(self._text[offset - column % _STRIDE : offset])
        return Position(line, column, utf16 + more16, utf8 + more8)

    def range(self, span: Span) -> Range:
        """Return the range of a span."""
        return Range(self.position(span.start), self.position(span.end))

    def _marks_of(self, line: int) -> list[tuple[int, int]]:
        """Return the UTF-16 and UTF-8 columns of every ``_STRIDE``-th character of a line."""
        marks = self._marks.get(line)
        if marks is None:
            utf16 = utf8 = 0
            marks = [(0, 0)]
            for start in range(self._starts[line], self.line_start(line + 1), _STRIDE):
                more16, more8 = _units(self._text[start : start + _STRIDE])
                utf16, utf8 = utf16 + more16, utf8 + more8
                marks.append((utf16, utf8))
            self._marks[line] = marks
        return marks


def _units(text: str) -> tuple[int, int]:
    """Return the length of a text in UTF-16 and in UTF-8 code units; half a surrogate pair counts as a character."""
    if text.isascii():
        return len(text), len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2, len(text.encode("utf-8", "surrogatepass"))
