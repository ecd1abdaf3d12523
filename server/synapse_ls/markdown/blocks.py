r"""The block structure of a note: which lines are headings, text, code, and which blocks can carry an id.

Only block rules run; inline content is scanned elsewhere. markdown-it counts lines as the rest of Synapse does once
line ends are made ``\n``, so its line numbers hold for the text as written.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

from synapse_ls.core.text import LineIndex, Span

# Outlines nest far deeper than prose; each level costs the parser a few stack frames.
_MAX_NESTING = 120

_PARSER = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
_LEAVES = {"paragraph_open", "heading_open", "table_open", "fence", "code_block", "html_block"}
_LINE_END = re.compile(r"\r\n?")
_OPAQUE_HTML = re.compile(r"[ \t>]*<(?:script|style|pre|textarea)\b", re.IGNORECASE)
_COMMENT = re.compile(r"^[ \t]*%%", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RawHeading:
    """A heading before its text is made readable; ``span`` covers its lines, ``source`` the text between markers."""

    level: int
    source: str
    span: Span


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text whose inline markup belongs together.

    ``block`` is what an id in the passage names: its list item, table or paragraph. ``previous`` is the block before
    it, which an id that stands alone names.
    """

    span: Span
    block: Span
    previous: Span | None


@dataclass(frozen=True, slots=True)
class Definition:
    """A reference definition ``[label]: href``."""

    label: str
    href: str
    span: Span


@dataclass(slots=True)
class Structure:
    """The blocks of a note in the order of the text; ``definitions`` are keyed by their normalised label."""

    headings: list[RawHeading] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    definitions: Mapping[str, Definition] = field(default_factory=dict)


def structure(text: str, lines: LineIndex, start: int) -> Structure:
    """Return the block structure of ``text`` from offset ``start``, which is the start of a line."""
    source = text[start:].replace("\0", "\ufffd")
    if "\r" in source:
        source = _LINE_END.sub("\n", source)
    environment: dict[str, dict[str, dict[str, object]]] = {}
    tokens: list[Token] = []
    _PARSER.block.parse(source, _PARSER, environment, tokens)
    place = _Place(text, lines, lines.line_of(start), start)
    found = _walk(tokens, place)
    found.definitions = dict(_definitions(environment, place))
    return found


class _Place:
    """Turns the parser's line numbers into spans of the text."""

    def __init__(self, text: str, lines: LineIndex, first: int, start: int) -> None:
        self.text = text
        self.start = start
        self._lines = lines
        self._first = first

    def span(self, first: int, end: int) -> Span:
        """Return the span of lines ``first`` to ``end``, without surrounding line ends and blank lines at the end."""
        start = max(self.start, self._lines.line_start(first + self._first))
        stop = self._lines.line_start(end + self._first)
        while stop > start and self.text[stop - 1] in "\r\n \t":
            stop -= 1
        return Span(start, stop)

    def rows(self, first: int, end: int) -> Iterator[Span]:
        return (self.span(line, line + 1) for line in range(first, end))


def _walk(tokens: list[Token], place: _Place) -> Structure:
    found = Structure()
    code: list[Span] = []
    items: list[Span] = []
    previous: Span | None = None
    for number, token in enumerate(tokens):
        if token.type == "list_item_close":
            previous = items.pop()
        elif token.type == "list_item_open" and token.map:
            items.append(place.span(*token.map))
        elif token.map and token.type in _LEAVES:
            span = place.span(*token.map)
            if token.type == "heading_open":
                found.headings.append(RawHeading(int(token.tag[1]), tokens[number + 1].content, span))
            if token.type == "table_open":
                found.passages.extend(Passage(row, span, span) for row in place.rows(*token.map))
            elif _is_opaque(token):
                code.append(span)
            else:
                block = items[-1] if items and token.type == "paragraph_open" else span
                found.passages.append(Passage(span, block, previous))
            previous = span
    if "%%" in place.text:
        _hide(found, list(_comments(place, code)))
    return found


def _is_opaque(token: Token) -> bool:
    """Tell whether a block holds no text of the note: code, scripts, a comment without an end."""
    if token.type != "html_block":
        return token.type in {"fence", "code_block"}
    unfinished = "<!--" in token.content and "-->" not in token.content
    return unfinished or _OPAQUE_HTML.match(token.content) is not None


def _comments(place: _Place, code: list[Span]) -> Iterator[Span]:
    """Yield ``%% ... %%`` comments that start a line; they may hold any blocks."""
    text = place.text
    offset = place.start
    blocks = iter(code)
    block = next(blocks, None)

    def inside_code(at: int) -> bool:
        nonlocal block
        while block and block.end <= at:
            block = next(blocks, None)
        return block is not None and at in block

    while opening := _COMMENT.search(text, offset):
        offset = opening.end()
        if inside_code(opening.start()):
            continue
        close = text.find("%%", offset)
        while close >= 0 and inside_code(close):
            close = text.find("%%", close + 2)
        if close < 0:
            return
        yield Span(opening.start(), close + 2)
        offset = close + 2


def _hide(found: Structure, hidden: list[Span]) -> None:
    """Take the hidden spans out of the headings and passages."""
    for span in hidden:
        found.headings = [heading for heading in found.headings if heading.span.start not in span]
        kept: list[Passage] = []
        for passage in found.passages:
            if passage.span.end <= span.start or passage.span.start >= span.end:
                kept.append(passage)
                continue
            for start, end in ((passage.span.start, span.start), (span.end, passage.span.end)):
                if start < end:
                    kept.append(Passage(Span(start, end), passage.block, passage.previous))
        found.passages = kept


def _definitions(
    environment: Mapping[str, dict[str, dict[str, object]]], place: _Place
) -> Iterator[tuple[str, Definition]]:
    for label, entry in environment.get("references", {}).items():
        lines = entry.get("map")
        if isinstance(lines, list) and not label.startswith("^"):
            yield label, Definition(label, str(entry.get("href", "")), place.span(*lines))
