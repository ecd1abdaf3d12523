"""Hover on a link: what it leads to, and the passage there that matters here."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from synapse_ls.core.model import Link
from synapse_ls.core.terms import index_terms
from synapse_ls.core.text import Span
from synapse_ls.features import cursor
from synapse_ls.features.cursor import Place
from synapse_ls.features.harmless import harmless
from synapse_ls.features.symbols import Symbol
from synapse_ls.links.meaning import Ambiguous, AttachmentMeant, BlockMeant, HeadingMeant, InNote, Unresolved, certain
from synapse_ls.markdown.plain import plain
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks, vectors
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.database import Connection

_LINE_END = re.compile(r"\r\n|\n|\r")
_NEAREST = 3
_CONTEXT = 300
_OTHERS = 3
_BYTES = 1024


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
    embed: Callable[[str], bytes] | None,
    nearest: Callable[[str], list[Symbol]],
    buffers: Connection | None = None,
) -> Hover | None:
    """Return the preview of the link under the cursor, or None where there is no link.

    ``embed`` makes the vector (float32 bytes) that chooses the passage which fits the paragraph around the link;
    without it words choose. ``nearest`` finds names near the one of a link that leads nowhere. Open ``buffers`` stand
    in place of their files.
    """
    link = cursor.link_at(place)
    if link is None:
        return None
    snapshot = Snapshot(db, buffers)
    meaning = cursor.meaning(snapshot, place.path, link)
    meant = certain(meaning)
    others = meaning.candidates[1:] if isinstance(meaning, Ambiguous) else ()
    if isinstance(meant, AttachmentMeant):
        return Hover("\n\n".join((_attachment(meant, look), *_also(others, look))), link.span)
    source = None if meant is None else snapshot.source(meant.path)
    if meant is None or source is None:
        target = meaning.target if isinstance(meaning, Unresolved) else link.target
        return Hover(_nowhere(target, nearest(target), look), link.span)
    held, note = source
    place_name, passage = _passage(held, meant, link, place, embed)
    where = " › ".join((note.path, *place_name))
    lines = _LINE_END.split(passage.strip("\r\n"))
    also = _also(others, look)
    room = max(1, look.max_lines - 2 - 2 * len(also))
    if len(lines) > room:
        lines = [*lines[: room - 1], "…"]
    shown = "\n".join(lines)
    if look.markdown:
        parts = (f"**{_escaped(note.title)}** · {_escaped(where)}", *also, harmless(shown))
    else:
        parts = (f"{note.title} · {where}", *also, plain(shown))
    return Hover("\n\n".join(parts).rstrip(), link.span)


def _attachment(file: AttachmentMeant, look: Look) -> str:
    """Return a file's name, kind and size; what is in it is not looked at."""
    path = PurePosixPath(file.path)
    said = f"{path.suffix[1:].upper() or 'file'}, {_size(file.size)}"
    return (
        f"**{_escaped(path.name)}** · {said}\n\n{_escaped(file.path)}"
        if look.markdown
        else (f"{path.name} · {said}\n\n{file.path}")
    )


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
    said = f"could also mean {', '.join(others[:_OTHERS])}{rest}"
    return (_escaped(said) if look.markdown else said,)


def _passage(
    db: Connection, meant: InNote, link: Link, place: Place, embed: Callable[[str], bytes] | None
) -> tuple[tuple[str, ...], str]:
    """Return the heading path and the source of the part of a note that a link shows."""
    rows = chunks.of_note(db, meant.note)
    match meant:
        case BlockMeant(range=block):
            for row in rows:
                if row.range.start <= block.start <= row.range.end:
                    first = block.start.line - row.range.start.line
                    last = block.end.line - row.range.start.line
                    return row.heading_path, "\n".join(_LINE_END.split(row.text)[first : last + 1])
        case HeadingMeant(heading=heading):
            section = [
                row for row in rows if row.span.start < heading.section.end and row.span.end > heading.section.start
            ]
            return (heading.text,), _cut(section, heading.section)
        case _:
            pass
    if not rows:
        return (), ""
    best = rows[0] if len(rows) == 1 else _fitting(db, rows, _around(place.text, link.span), embed)
    return best.heading_path, best.text


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


def _nowhere(target: str, near: list[Symbol], look: Look) -> str:
    named = [f"{symbol.name} ({symbol.path})" for symbol in near[:_NEAREST]]
    said = f"no such note: {target}"
    if look.markdown:
        listed = "\n".join(f"- {_escaped(name)}" for name in named)
        return f"{_escaped(said)}\n\nnearest:\n\n{listed}" if named else _escaped(said)
    return f"{said}\nnearest: {', '.join(named)}" if named else said


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>()#!|])", r"\\\1", text)
