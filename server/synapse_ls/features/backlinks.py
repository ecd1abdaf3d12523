"""Backlinks: the links to a note, each with the line that it stands in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from synapse_ls.core.text import Range, Span
from synapse_ls.features.cursor import NOWHERE, Place, Spot
from synapse_ls.features.references import references
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks
from synapse_ls.store.chunks import ChunkRow

# A line is shown by this many characters on either side of its link.
_AROUND = 120
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link at ``range`` of the note at ``path``, and the ``line`` around it, in which it is at ``link``.

    The line is empty, and so is the span, where the link stands in front matter.
    """

    path: str
    title: str
    range: Range
    line: str
    link: Span


@dataclass(frozen=True, slots=True)
class Backlinks:
    """The first links to a note, by path and place, and how many there are in all."""

    links: tuple[Backlink, ...]
    total: int


def backlinks(snapshot: Snapshot, path: str, limit: int) -> Backlinks:
    """Return the links to the note at a path from other notes; what open notes hold counts, saved or not."""
    found = [spot for spot in references(snapshot, Place(path, "", NOWHERE)) if spot.path != path]
    passages: dict[str, tuple[str, list[ChunkRow]]] = {}
    links: list[Backlink] = []
    for spot in found[:limit]:
        if spot.path not in passages:
            source = snapshot.source(spot.path)
            held = [] if source is None else chunks.of_note(source[0], source[1].id)
            passages[spot.path] = ("" if source is None else source[1].title, held)
        title, held = passages[spot.path]
        links.append(Backlink(spot.path, title, spot.range, *_line(spot, held)))
    return Backlinks(tuple(links), len(found))


def _line(spot: Spot, passages: Sequence[ChunkRow]) -> tuple[str, Span]:
    """Return what is to be shown of the line that a link begins in, and where the link is in it."""
    start, end = spot.range.start, spot.range.end
    where = (start.line, start.utf32)
    for chunk in passages:
        first, last = chunk.range.start, chunk.range.end
        if (first.line, first.utf32) <= where < (last.line, last.utf32):
            before = first.utf32 if start.line == first.line else 0
            line = _LINE_END.split(chunk.text)[start.line - first.line]
            begins = start.utf32 - before
            ends = end.utf32 - before if end.line == start.line else len(line)
            left, right = max(0, begins - _AROUND), min(len(line), ends + _AROUND)
            shown = line[left:right]
            margin = len(shown) - len(shown.lstrip())
            return shown.strip(), Span(begins - left - margin, ends - left - margin)
    return "", Span(0, 0)
