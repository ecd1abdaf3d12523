"""Hover on a link: what it leads to, and the passage there that matters here."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Link
from synapse_ls.core.text import Range, Span
from synapse_ls.features import cursor
from synapse_ls.features.cursor import Place
from synapse_ls.features.excerpt import excerpt, lines_of, opening
from synapse_ls.features.symbols import Symbol
from synapse_ls.links.meaning import Ambiguous, AttachmentMeant, BlockMeant, HeadingMeant, InNote, Unresolved, certain
from synapse_ls.markdown.plain import plain
from synapse_ls.search.lexical import FIELD_WEIGHTS
from synapse_ls.search.query import any_words, parse
from synapse_ls.search.searcher import Semantic
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks, terms, vectors
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.database import Connection

_LINE_END = re.compile(r"\r\n|\n|\r")
_NEAREST = 3
_CONTEXT = 300
_OTHERS = 3
_BYTES = 1024
# A preview of few lines needs no more characters, however long its lines are.
_MOST = 10_000

_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_ROW = re.compile(r"[ \t>]*\|")
_APART = re.compile(r"[ \t>]*(?:#{1,6}[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Hover:
    """What to show for the text at ``span``: ``text`` is Markdown or plain text, as asked for."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Look:
    """How a hover is to look: Markdown or plain text, and at most how many lines."""

    markdown: bool = True
    max_lines: int = 20


def hover(  # noqa: PLR0913, PLR0917 - where, how, and what to ask
    db: Connection,
    place: Place,
    look: Look,
    semantic: Semantic,
    nearest: Callable[[str], list[Symbol]],
    buffers: Connection | None = None,
) -> Hover | None:
    """Return the preview of the link under the cursor, or None where there is no link.

    The passage that fits the paragraph around the link is chosen by the model of ``semantic`` where it knows the
    languages of both, else by words. ``nearest`` finds names near the one of a link that leads nowhere. Open
    ``buffers`` stand in place of their files. What is shown has at most the lines of ``look``.
    """
    link = cursor.link_at(place)
    if link is None:
        return None
    snapshot = Snapshot(db, buffers)
    meaning = cursor.meaning(snapshot, place.path, link)
    meant = certain(meaning)
    others = meaning.candidates[1:] if isinstance(meaning, Ambiguous) else ()
    source = snapshot.source(meant.path) if meant is not None and not isinstance(meant, AttachmentMeant) else None
    if isinstance(meant, AttachmentMeant):
        parts = [*_attachment(meant, look), *_also(others, look)]
    elif meant is None or source is None:
        target = meaning.target if isinstance(meaning, Unresolved) else link.target
        parts = _nowhere(target, nearest(target), look)
    else:
        held, note = source
        if not semantic.fits(held):
            semantic = replace(semantic, embed=None)
        headings, lines = _passage(held, meant, link, place, semantic)
        where = _said(" › ".join((note.path, *headings)), look)
        parts = [f"{_named(note.title, look)} · {where}", *_also(others, look)]
        room = look.max_lines - 2 * len(parts)
        if room > 0:
            parts.append(excerpt(lines, room, markdown=look.markdown))
    shown = "\n\n".join(parts).rstrip().split("\n")
    return Hover("\n".join(shown[: look.max_lines]).rstrip(), link.span)


def _attachment(file: AttachmentMeant, look: Look) -> list[str]:
    """Return a file's name, kind and size; what is in it is not looked at."""
    path = PurePosixPath(file.path)
    said = f"{path.suffix[1:].upper() or 'file'}, {_size(file.size)}"
    return [f"{_named(path.name, look)} · {said}", _said(file.path, look)]


def _size(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB"):
        if size < _BYTES:
            break
        size, unit = size / _BYTES, larger
    return f"{count} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"


def _also(others: Sequence[str], look: Look) -> tuple[str, ...]:
    """Return one line that names what an ambiguous link could mean as well; nothing if it is not ambiguous."""
    if not others:
        return ()
    rest = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return (_said(f"could also mean {', '.join(others[:_OTHERS])}{rest}", look),)


def _passage(
    db: Connection, meant: InNote, link: Link, place: Place, semantic: Semantic
) -> tuple[tuple[str, ...], list[str]]:
    """Return the heading path and the source lines of the part of a note that a link shows."""
    rows = chunks.of_note(db, meant.note)
    match meant:
        case BlockMeant(range=block):
            first = next((i for i, row in enumerate(rows) if row.range.end >= block.start), len(rows))
            within = [row for row in rows[first:] if row.range.start <= block.end]
            if within and (lines := _between(within, block)):
                return within[0].heading_path, [*opening(_before(rows, first), lines), *lines]
        case HeadingMeant(heading=heading):
            section = [cut for row in rows if (cut := _cut(row, heading.section))]
            return (heading.text,), lines_of(_enough(section))
        case _:
            pass
    if not rows:
        return (), []
    number = 0 if len(rows) == 1 else _fitting(db, rows, _around(place, link), semantic)
    best = rows[number]
    lines = lines_of([best])
    if number and rows[number - 1].range.end.line == best.range.start.line:
        lines[0] = f"… {lines[0]}"  # it begins within a line
    return best.heading_path, [*opening(_before(rows, number), lines), *lines]


def _between(rows: Sequence[ChunkRow], block: Range) -> list[str]:
    first = block.start.line - rows[0].range.start.line
    last = block.end.line - rows[0].range.start.line
    return lines_of(_enough(rows))[max(0, first) : last + 1]


def _before(rows: Sequence[ChunkRow], number: int) -> list[str]:
    """Return the lines that stand before a chunk under the same heading, up to the line in which it begins."""
    first = number
    while first and rows[first - 1].heading_path == rows[number].heading_path:
        first -= 1
    above = lines_of(rows[first:number])
    if above:
        above += [""] * (rows[number].range.start.line - rows[number - 1].range.end.line - 1)
    return above


def _cut(row: ChunkRow, section: Span) -> ChunkRow | None:
    """Return the part of a chunk that belongs to a section, if any does."""
    start, end = max(row.span.start, section.start), min(row.span.end, section.end)
    if start >= end:
        return None
    text = row.text[start - row.span.start : end - row.span.start].rstrip()
    above = len(_LINE_END.findall(row.text[: start - row.span.start]))
    below = len(_LINE_END.findall(text))
    first = replace(row.range.start, line=row.range.start.line + above)
    return replace(row, text=text, range=Range(first, replace(row.range.end, line=first.line + below)))


def _enough(rows: Sequence[ChunkRow]) -> list[ChunkRow]:
    """Return the first chunks, as many as a preview can show a part of."""
    enough: list[ChunkRow] = []
    length = 0
    for row in rows:
        if length > _MOST:
            break
        enough.append(row)
        length += len(row.text)
    return enough


def _fitting(db: Connection, rows: list[ChunkRow], context: str, semantic: Semantic) -> int:
    """Return which chunk is nearest to the context in meaning, or has most of its telling words."""
    query = parse(context)
    numbers = {row.vector: i for i, row in reversed(list(enumerate(rows))) if row.vector is not None}
    if semantic.embed is not None and numbers and query.text and (query.english or not semantic.english_only):
        try:
            found = vectors.nearest(db, semantic.embed(query.text), 1, list(numbers))
        except ModelError:
            found = []
        best = next((numbers[vector] for vector, _ in found), None)
        # A model has an opinion on a language that it does not know, too.
        if best is not None and (not semantic.english_only or parse(plain(rows[best].text)).english):
            return best
    by_id = {row.id: i for i, row in enumerate(rows)}
    words = any_words(query)
    ranked = terms.search(db, words, FIELD_WEIGHTS, 1, [rows[0].note]) if words else []
    return next((by_id[chunk] for chunk, _, _ in ranked if chunk in by_id), 0)


def _around(place: Place, link: Link) -> str:
    """Return the readable text around a link, itself included: its paragraph.

    Of a list or table that is its item or row alone, with the heading that they are under.
    """
    text, span = place.text, link.span
    before = _LINE_END.split(text[max(0, span.start - _CONTEXT) : span.start])
    after = _LINE_END.split(text[span.end : span.end + _CONTEXT])
    own, above = before.pop(), before
    lines = [own + span.slice(text) + after[0]]
    alone = bool(_ROW.match(own))
    item = bool(_ITEM.match(own))
    while not (alone or item) and above and not _APART.match(above[-1]):
        lines.insert(0, above.pop())
        item = bool(_ITEM.match(lines[0]))
    for line in after[1:]:
        if alone or _APART.match(line) or _ITEM.match(line):
            break
        lines.append(line)
    heading = cursor.heading_above(place, span.start) if alone or item else None
    return plain("\n".join([*([heading.text] if heading else []), *lines]))


def _nowhere(target: str, near: list[Symbol], look: Look) -> list[str]:
    named = [_said(f"{symbol.name} ({symbol.path})", look) for symbol in near[:_NEAREST]]
    said = _said(f"no such note: {target}", look)
    if not named:
        return [said]
    if not look.markdown:
        return [f"{said}\nnearest: {', '.join(named)}"]
    return [said, "nearest:", "\n".join(f"- {name}" for name in named)]


def _named(title: str, look: Look) -> str:
    return f"**{_said(title, look)}**" if look.markdown else _said(title, look)


def _said(text: str, look: Look) -> str:
    """Return words of a note as one line of text."""
    line = " ".join(_LINE_END.split(text))
    return re.sub(r"([\\`*_{}\[\]<>()#!|])", r"\\\1", line) if look.markdown else line
