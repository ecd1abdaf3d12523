"""Hover on a link: what it leads to, and the passage there that matters here."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from synapse_ls.core.model import Link
from synapse_ls.core.terms import index_terms
from synapse_ls.core.text import Span
from synapse_ls.features.harmless import harmless
from synapse_ls.features.symbols import Symbol
from synapse_ls.links import resolver
from synapse_ls.markdown.parser import parse
from synapse_ls.markdown.plain import plain
from synapse_ls.markdown.slug import slug
from synapse_ls.store import chunks, notes, vectors
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.database import Connection
from synapse_ls.store.records import HeadingRecord

_LINE_END = re.compile(r"\r\n|\n|\r")
_NEAREST = 3
_CONTEXT = 300


@dataclass(frozen=True, slots=True)
class Hover:
    """What to show for the text at ``span``: ``text`` is Markdown or plain text, as asked for."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor is: an offset (code points) in the text of the note at ``path``."""

    path: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Look:
    """How a hover is to look: Markdown or plain text, and at most how many lines."""

    markdown: bool = True
    max_lines: int = 20


def hover(
    db: Connection,
    place: Place,
    look: Look,
    embed: Callable[[str], bytes] | None,
    nearest: Callable[[str], list[Symbol]],
) -> Hover | None:
    """Return the preview of the link under the cursor, or None where there is no link.

    ``embed`` makes the vector (float32 bytes) that chooses the passage which fits the paragraph around the link;
    without it words choose. ``nearest`` finds names near the one of a link that leads nowhere.
    """
    link = _link_at(place)
    if link is None:
        return None
    target = place.path if not link.target else _path(resolver.resolve(db, place.path, link.kind, link.target))
    note = None if target is None else notes.by_path(db, target)
    if note is None:
        return Hover(_nowhere(link, nearest(link.target), look), link.span)
    place_name, passage = _passage(db, note.id, link, place, embed)
    where = " › ".join((note.path, *place_name))
    lines = _LINE_END.split(passage.strip("\r\n"))
    room = max(1, look.max_lines - 2)
    if len(lines) > room:
        lines = [*lines[: room - 1], "…"]
    shown = "\n".join(lines)
    if look.markdown:
        return Hover(f"**{_escaped(note.title)}** · {_escaped(where)}\n\n{harmless(shown)}".rstrip(), link.span)
    return Hover(f"{note.title} · {where}\n\n{plain(shown)}".rstrip(), link.span)


def _link_at(place: Place) -> Link | None:
    note = parse(place.text, PurePosixPath(place.path).stem).note
    return next((link for link in note.links if link.span.start <= place.offset <= link.span.end), None)


def _path(target: resolver.Target | None) -> str | None:
    return None if target is None else target.path


def _passage(
    db: Connection, note: int, link: Link, place: Place, embed: Callable[[str], bytes] | None
) -> tuple[tuple[str, ...], str]:
    """Return the heading path and the source of the part of a note that a link shows."""
    rows = chunks.of_note(db, note)
    fragment = link.fragment or ""
    if fragment.startswith("^"):
        block = notes.blocks(db, note).get(fragment[1:])
        if block is not None:
            for row in rows:
                if row.range.start <= block.start <= row.range.end:
                    first = block.start.line - row.range.start.line
                    last = block.end.line - row.range.start.line
                    return row.heading_path, "\n".join(_LINE_END.split(row.text)[first : last + 1])
    elif fragment:
        heading = _heading(notes.headings(db, note), fragment)
        if heading is not None:
            section = [
                row for row in rows if row.span.start < heading.section.end and row.span.end > heading.section.start
            ]
            return (heading.text,), _cut(section, heading.section)
    if not rows:
        return (), ""
    best = rows[0] if len(rows) == 1 else _fitting(db, rows, _around(place.text, link.span), embed)
    return best.heading_path, best.text


def _heading(headings: list[HeadingRecord], fragment: str) -> HeadingRecord | None:
    """Return the heading that a link names; in a path of headings (a#b) each lies under the one before.

    A path that leads nowhere means its last part.
    """
    for path in ([fragment], fragment.split("#"), [fragment.rpartition("#")[2]]):
        inside, found = headings, None
        for name in path:
            found = _named(inside, name)
            if found is None:
                break
            section = found.section
            inside = [heading for heading in headings if section.start < heading.section.start < section.end]
        if found is not None:
            return found
    return None


def _named(headings: list[HeadingRecord], name: str) -> HeadingRecord | None:
    """Return the first heading of a name: by its text, else its slug, else what its text alone would slug to."""
    wanted = slug(name)
    alike: tuple[Callable[[HeadingRecord], bool], ...] = (
        lambda heading: heading.text.casefold() == name.strip().casefold(),
        lambda heading: heading.slug == wanted,
        lambda heading: slug(heading.text) == wanted,
    )
    return next((heading for same in alike for heading in headings if same(heading)), None)


def _cut(rows: list[ChunkRow], section: Span) -> str:
    parts = [row.text[max(0, section.start - row.span.start) : section.end - row.span.start] for row in rows]
    return "\n\n".join(part.strip("\n") for part in parts)


def _fitting(db: Connection, rows: list[ChunkRow], context: str, embed: Callable[[str], bytes] | None) -> ChunkRow:
    """Return the chunk that is nearest to the context in meaning, or shares most words with it."""
    with_vector = {row.vector: row for row in reversed(rows) if row.vector is not None}
    if embed is not None and with_vector:
        found = vectors.nearest(db, embed(context), 1, list(with_vector))
        if found:
            return with_vector[found[0][0]]
    words = set(index_terms(context))
    return max(rows, key=lambda row: (len(words & set(index_terms(plain(row.text)))), -row.ordinal))


def _around(text: str, span: Span) -> str:
    """Return the readable paragraph around a link, the link itself included."""
    before = text[max(0, span.start - _CONTEXT) : span.start]
    after = text[span.end : span.end + _CONTEXT]
    start = before[max(before.rfind("\n\n"), before.rfind("\r\n\r\n")) + 1 :]
    end: str = re.split(r"\n\s*\n|\r\n\r\n", after, maxsplit=1)[0]
    return plain(start + span.slice(text) + end)


def _nowhere(link: Link, near: list[Symbol], look: Look) -> str:
    named = [f"{symbol.name} ({symbol.path})" for symbol in near[:_NEAREST]]
    said = f"no such note: {link.target}"
    if look.markdown:
        listed = "\n".join(f"- {_escaped(name)}" for name in named)
        return f"{_escaped(said)}\n\nnearest:\n\n{listed}" if named else _escaped(said)
    return f"{said}\nnearest: {', '.join(named)}" if named else said


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#!|])", r"\\\1", text)
