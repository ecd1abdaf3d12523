"""A few lines of a note that still read as what they are: no broken fence, table, list, link or code."""

import re
from collections.abc import Iterator, Sequence

from synapse_ls.features.harmless import harmless, open_fence
from synapse_ls.markdown.plain import plain
from synapse_ls.store.chunks import ChunkRow

_LINE_END = re.compile(r"\r\n|\n|\r")
_ROW = re.compile(r"[ \t>]*\|")
_DELIMITERS = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_QUOTED = re.compile(r"[ \t]*>")
_CALLOUT = re.compile(r"[ \t>]*>[ \t]*\[!\w")
_NESTED = re.compile(r"([ \t]+)(?:[-*+]|\d{1,9}[.)])[ \t]")
_BLOCK = re.compile(r"[ \t]*(?:$|[-*+>|#]|\d{1,9}[.)][ \t]|`{3}|~{3})")
# What may be written across the end of a line: code, and the label of a link or image with what follows it.
_ACROSS = re.compile(
    r"(?<![`\\])(`+)(?!`)[\s\S]{1,1000}?(?<!`)\1(?!`)"
    r"|!?\[[^\[\]]{0,500}\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,500}\])"
)
_CUT = "…"
# Blank lines and lines of markup alone vanish in plain text.
_VANISHING = 4


def lines_of(rows: Sequence[ChunkRow]) -> list[str]:
    """Return the source lines of consecutive chunks of a note, from the line in which the first begins."""
    lines: list[str] = []
    for before, row in zip([None, *rows], rows, strict=False):
        first, *others = _LINE_END.split(row.text)
        if before is not None and row.range.start.line == before.range.end.line:
            apart = row.range.start.utf32 > before.range.end.utf32
            lines[-1] += " " * apart + first
        else:
            lines += [""] * (0 if before is None else row.range.start.line - before.range.end.line - 1)
            lines.append(first)
        lines += others
    return lines


def opening(before: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Return the lines that some lines of a note need above them, found in those ``before`` them.

    That is the first line of a fence or callout that they begin in, and the head of a table.
    """
    fence = open_fence(before)
    if fence is not None:
        return [fence]
    first = lines[0] if lines else ""
    block = _ROW if _ROW.match(first) else _QUOTED
    above = len(before)
    while block.match(first) and above and block.match(before[above - 1]):
        above -= 1
    head = before[above:]
    if block is _ROW:
        return list(head[:2]) if len(head) > 1 and _DELIMITERS.match(head[1]) else list(head)[:1]
    return list(head[:1]) if head and _CALLOUT.match(head[0]) else []


def excerpt(lines: Sequence[str], most: int, *, markdown: bool) -> str:
    """Return the first lines as harmless Markdown or as plain text, at most ``most`` lines; ``…`` marks what is cut."""
    known = list(lines[: _VANISHING * most + 1])
    longer = len(known) < len(lines)
    if not markdown:
        readable = plain("\n".join(known)).split("\n")
        return "\n".join([*readable[: most - 1], _CUT] if longer or len(readable) > most else readable)
    known = _dedented(list(_unbroken(known)))
    count = len(known)
    while True:
        cut = [_CUT] if longer or count < len(known) else []
        shown = harmless("\n".join([*known[:count], *cut])).split("\n")
        if len(shown) <= most or not count:
            return "\n".join(shown)
        # Fences take lines of their own when they are closed, or taken out of a list.
        count = _readable_end(known, max(0, min(count - 1, most - 1, count - len(shown) + most)))


def _readable_end(lines: Sequence[str], count: int) -> int:
    """Return how many of the first ``count`` lines can end an excerpt: no blank ones, no head of a table alone."""
    while count and count < len(lines):
        last = lines[count - 1]
        fence = open_fence(lines[:count])
        alone = fence is not None and last.endswith(fence.lstrip("> "))
        headless = fence is None and "|" in last and _DELIMITERS.match(lines[count]) and "|" in lines[count]
        if last.strip() and not alone and not headless:
            break
        count -= 1
    return count


def _dedented(lines: list[str]) -> list[str]:
    """Return lines that begin inside a list without the indentation of its first item, which would make them code."""
    nested = _NESTED.match(lines[0]) if lines else None
    if nested is None:
        return lines
    indent = nested[1]
    return [line.removeprefix(indent) if line.startswith(indent) else line.lstrip(" \t") for line in lines]


def _unbroken(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines with each link, image or code that is written across the end of a line put on one line."""
    paragraph: list[str] = []
    before: list[str] = []
    fenced = False
    for line in lines:
        if fenced or _BLOCK.match(line) or not line.strip():
            yield from _joined(paragraph)
            paragraph = []
        before.append(line)
        fence = open_fence(before)
        if fenced or fence is not None:
            yield line
            before = [fence] if fence is not None else []
        else:
            paragraph.append(line)
            before = []
        fenced = fence is not None
    yield from _joined(paragraph)


def _joined(paragraph: list[str]) -> list[str]:
    if len(paragraph) < 2:  # noqa: PLR2004 - nothing can be broken
        return paragraph
    text = "\n".join(paragraph)
    return _ACROSS.sub(lambda match: re.sub(r"[ \t]*\n[ \t]*", " ", match.group()), text).split("\n")
