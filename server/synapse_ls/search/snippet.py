"""The few lines of a passage that show why it was found."""

import re

from synapse_ls.core.model import Snippet
from synapse_ls.core.text import Span
from synapse_ls.markdown.plain import plain
from synapse_ls.search.graphemes import boundary_after, boundary_before
from synapse_ls.search.highlight import Match, matches, merged
from synapse_ls.search.query import Query

LENGTH = 240

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
# A heading that a passage begins with, as it is written.
_HEADING = re.compile(r"\s*(?:#{1,6}[ \t][^\r\n]*|[^\r\n]+(?=(?:\r\n?|\n) {0,3}(?:=+|-+)[ \t]*(?:[\r\n]|$)))")
# A word longer than this may be cut.
_LONGEST_WORD = 40


def snippet(text: str, query: Query, length: int = LENGTH) -> Snippet:
    """Return about ``length`` characters of a passage's readable text, whole sentences where they fit.

    The window holds as many different words of the query as can be, those below the passage's heading first, for the
    heading is told with a hit anyway; of such windows it is a long one that begins with a sentence. Without words it is
    the beginning below the heading. ``…`` stands where a sentence was cut or text left out; highlights are ascending
    and apart.
    """
    readable, starts = _joined(plain(text))
    heading = _heading(text, readable)
    found = matches(readable, query)
    window = _window(readable, starts, found, heading, length)
    before = "…" if window.start not in {0, heading} else ""
    after = "…" if window.end < len(readable) else ""
    shift = len(before) - window.start
    spans = [m.span for m in found if window.start <= m.span.start and m.span.end <= window.end]
    highlights = tuple(Span(span.start + shift, span.end + shift) for span in merged(spans))
    return Snippet(before + window.slice(readable) + after, highlights)


def _joined(text: str) -> tuple[str, list[int]]:
    """Return the text with single spaces, and where its sentences start."""
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE_END.split(text)]
    joined = ""
    starts: list[int] = []
    for sentence in filter(None, sentences):
        if joined and not joined.endswith(("。", "！", "？")):
            joined += " "
        starts.append(len(joined))
        joined += sentence
    return joined, starts


def _heading(text: str, readable: str) -> int:
    """Return where the readable text begins below the heading of a passage; 0 if it has none, or nothing else."""
    match = _HEADING.match(text)
    title = " ".join(plain(match.group()).split()) if match else ""
    below = len(title) + 1
    return below if title and readable.startswith(f"{title} ") and below < len(readable) else 0


def _window(text: str, starts: list[int], found: list[Match], heading: int, length: int) -> Span:
    if len(text) <= length or not starts:
        return Span(0, len(text))
    # A sentence longer than the window is entered shortly before a word.
    whole = {boundary_before(text, start) for start in starts}
    begins = whole | {_word_start(text, match.span.start - length // 4) for match in found}
    windows = [Span(start, _end(text, starts, start, length)) for start in begins]

    def value(window: Span) -> tuple[int, int, bool, bool, int, int]:
        held = [m for m in found if window.start <= m.span.start and m.span.end <= window.end]
        below = {m.word for m in held if m.span.start >= heading}
        size = window.end - window.start if below else 0
        every = {m.word for m in held}
        return len(below), len(every), window.start >= heading, window.start in whole, size, -window.start

    return max(windows, key=value)


def _end(text: str, starts: list[int], start: int, length: int) -> int:
    """Return where a window ends: after a sentence, else after a word, else after a character."""
    furthest = start + length
    if furthest >= len(text):
        return len(text)
    sentence_ends = [next_start for next_start in starts if start + length // 2 < next_start <= furthest]
    if sentence_ends:
        end = boundary_before(text, sentence_ends[-1])
    else:
        space = text.rfind(" ", furthest - _LONGEST_WORD, furthest + 1)
        end = space if space > start else boundary_before(text, furthest)
        end = end if end > start else boundary_after(text, furthest)
    return start + len(text[start:end].rstrip())


def _word_start(text: str, offset: int) -> int:
    if offset <= 0:
        return 0
    space = text.find(" ", offset, offset + _LONGEST_WORD)
    return boundary_before(text, space + 1 if space >= 0 else offset)
