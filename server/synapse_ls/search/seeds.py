"""What relatives are asked for: a note, or the section of it that a line or a heading names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from synapse_ls.core.errors import SynapseError
from synapse_ls.core.text import Span
from synapse_ls.links import fragments
from synapse_ls.links.meaning import BlockMeant, HeadingMeant
from synapse_ls.markdown.plain import plain
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks, notes
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import NoteRow
from synapse_ls.store.records import HeadingRecord

_T = TypeVar("_T")


class NotThereError(SynapseError):
    """The note or the heading that is asked for is not in the vault."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A note, or a section of it if ``heading`` is set, and what it says.

    ``note`` is its id in the snapshot, ``held`` where it is read and ``row`` its row there. ``passages`` are the chunks
    that the section touches and ``texts`` what a person reads of it in each. ``last_line`` ends the section.
    """

    note: int
    held: Connection
    row: NoteRow
    heading: HeadingRecord | None
    passages: tuple[ChunkRow, ...]
    texts: tuple[str, ...]
    last_line: float = math.inf

    def holds_line(self, line: int) -> bool:
        """Return whether a line of the note lies in the section, or that it is the whole note."""
        return self.heading is None or self.heading.range.start.line <= line < self.last_line


def find(snapshot: Snapshot, path: str, line: int | None = None, heading: str | None = None) -> Seed:
    """Return the note at a path, or its section: the one with the 0-based line, or under the heading of that name.

    Above the first heading, and on a heading that has all the text under it, that is the whole note.

    Raises:
        NotThereError: The vault has no such note, or the note no such heading.
    """
    source = snapshot.source(_encodable(path))
    if source is None:
        raise NotThereError(f"there is no note {path} in the index; save it inside the vault or give another path")
    held, row = source
    headings = notes.headings(held, row.id)
    wanted = _named(held, row, headings, heading) if heading is not None else _around(headings, line)
    passages = tuple(chunks.of_note(held, row.id))
    note = id_of(snapshot, held, row)
    if wanted is None or (wanted == headings[0] and passages and wanted.section.end >= passages[-1].span.end):
        return Seed(note, held, row, None, passages, tuple(plain(passage.text) for passage in passages))
    section = wanted.section
    touched = tuple(p for p in passages if p.span.start < section.end and p.span.end > section.start)
    after = (other.range.start.line for other in headings if other.section.start >= section.end)
    texts = tuple(plain(_cut(passage, section)) for passage in touched)
    return Seed(note, held, row, wanted, touched, texts, next(after, math.inf))


def id_of(snapshot: Snapshot, held: Connection, row: NoteRow) -> int:
    """Return the id by which a snapshot tells a note that is held in the index or among the buffers."""
    if held is snapshot.db:
        return row.id
    stored = notes.by_path(snapshot.db, row.path)
    return -row.id if stored is None else stored.id


def spread(items: Sequence[_T], most: int) -> list[_T]:
    """Return at most so many items, the first one and others in even steps."""
    if len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]


def _named(held: Connection, row: NoteRow, headings: list[HeadingRecord], name: str) -> HeadingRecord | None:
    if not name.strip():
        return None
    match fragments.place(held, row.id, row.path, name):
        case HeadingMeant(heading=heading):
            return heading
        case BlockMeant(range=block):
            return _around(headings, block.start.line)
        case _:
            known = ", ".join(heading.text for heading in headings[:5])
            hint = f"; its first headings are {known}" if known else "; it has none"
            raise NotThereError(f"{row.path} has no heading {name}{hint}")


def _around(headings: list[HeadingRecord], line: int | None) -> HeadingRecord | None:
    if line is None:
        return None
    return next((heading for heading in reversed(headings) if heading.range.start.line <= line), None)


def _cut(passage: ChunkRow, section: Span) -> str:
    start = max(0, section.start - passage.span.start)
    return passage.text[start : max(0, section.end - passage.span.start)]


def _encodable(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
