"""Lines and positions: only line feeds and carriage returns end a line, and columns are counted in three units."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.text import LineIndex, Position, Span

# Every kind of character that counts differently somewhere, and everything that is or only looks like a line end.
TEXTS = st.text(st.sampled_from("ab \n\r\f\v\x85\u2028\u2029éя中\U0001f600\ud83d\ude00\u0301\x00"), max_size=40)


def _slow(text: str, offset: int) -> Position:
    """Return the position of an offset, counted one character at a time."""
    line = utf32 = utf16 = utf8 = 0
    for i, char in enumerate(text[:offset]):
        if char == "\n" or (char == "\r" and text[i + 1 : i + 2] != "\n"):
            line, utf32, utf16, utf8 = line + 1, 0, 0, 0
            continue
        code = ord(char)
        utf32 += 1
        utf16 += 1 if code < 0x10000 else 2
        utf8 += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    return Position(line, utf32, utf16, utf8)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("one", [0]),
        ("a\nb", [0, 2]),
        ("a\r\nb", [0, 3]),
        ("a\rb", [0, 2]),
        ("a\n", [0, 2]),
        ("\n\n", [0, 1, 2]),
        ("\r\r\n\n", [0, 1, 3, 4]),
        ("a\n\rb", [0, 2, 3]),
        ("a\fb\vc\x85d\u2028e\u2029f\x1cg", [0]),
    ],
)
def test_lines_end_at_line_feed_and_carriage_return_only(text: str, starts: list[int]) -> None:
    """The protocol's rule, not Python's ``splitlines``."""
    lines = LineIndex(text)
    assert [lines.line_start(line) for line in range(len(lines))] == starts


@pytest.mark.parametrize(
    ("text", "line", "content"),
    [
        ("a\nbc\n", 1, "bc"),
        ("a\r\nbc\r\n", 0, "a"),
        ("a\rbc\r", 1, "bc"),
        ("a\u2028b\n", 0, "a\u2028b"),
        ("a\n", 1, ""),
        ("a", 7, ""),
        ("\r\n", 0, ""),
    ],
)
def test_a_line_span_leaves_out_the_line_end(text: str, line: int, content: str) -> None:
    """Past the last line there is an empty line."""
    assert LineIndex(text).line_span(line).slice(text) == content


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, Position(0, 0, 0, 0)),
        ("abc", 2, Position(0, 2, 2, 2)),
        ("é", 1, Position(0, 1, 1, 2)),
        ("中", 1, Position(0, 1, 1, 3)),
        ("\U0001f600x", 1, Position(0, 1, 2, 4)),
        ("\ud83d\ude00", 2, Position(0, 2, 2, 6)),
        ("a\n\U0001f600", 3, Position(1, 1, 2, 4)),
        ("a\r\nb", 3, Position(1, 0, 0, 0)),
        ("abc", -5, Position(0, 0, 0, 0)),
        ("abc", 99, Position(0, 3, 3, 3)),
    ],
)
def test_positions_count_columns_in_three_units(text: str, offset: int, expected: Position) -> None:
    """Half a surrogate pair counts as one character; offsets outside the text are clamped."""
    assert LineIndex(text).position(offset) == expected


@given(TEXTS, st.data())
def test_positions_agree_with_counting(text: str, data: st.DataObject) -> None:
    """Between the two characters of a line end no position is meaningful, anywhere else all are."""
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n" or offset == 0:
        assert LineIndex(text).position(offset) == _slow(text, offset)


@given(TEXTS)
def test_offset_to_position_and_back(text: str) -> None:
    """Every offset is its line's start and its column."""
    lines = LineIndex(text)
    for offset in range(len(text) + 1):
        position = lines.position(offset)
        assert lines.line_start(position.line) + position.utf32 == offset


@given(st.text(st.sampled_from("aé中\U0001f600"), min_size=1, max_size=5), st.integers(0, 5000))
def test_long_lines_are_counted_alike(pattern: str, offset: int) -> None:
    """Lines beyond some length are counted from marks within them."""
    text = f"first\n{pattern * (5000 // len(pattern))}\nlast"
    assert LineIndex(text).position(offset) == _slow(text, offset)


@given(TEXTS)
def test_lines_cover_the_text(text: str) -> None:
    """Lines and line ends together are the text."""
    lines = LineIndex(text)
    spans = [lines.line_span(line) for line in range(len(lines))]
    assert [span.slice(text) for span in spans] == re.split("\r\n|\n|\r", text)
    assert [lines.line_of(span.start) for span in spans] == list(range(len(lines)))


def test_range_and_span() -> None:
    """A range has the positions of both ends; a span is half-open."""
    lines = LineIndex("ab\ncd")
    assert lines.range(Span(1, 4)).end == Position(1, 1, 1, 1)
    assert [offset in Span(1, 3) for offset in (0, 1, 2, 3)] == [False, True, True, False]
