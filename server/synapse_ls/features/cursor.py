"""What is under the cursor: a link and what it means, or a heading."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from synapse_ls.core.model import Heading, Link
from synapse_ls.core.text import Position, Range
from synapse_ls.links import resolver
from synapse_ls.links.meaning import Meaning
from synapse_ls.links.readings import Written
from synapse_ls.markdown.parser import parse
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store.database import Connection

TOP = Range(Position(0, 0, 0, 0), Position(0, 0, 0, 0))
NOWHERE = -1

# What a cursor rests on is asked for again and again, and of few notes; a long one takes seconds to parse.
_NOTES = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor is: an offset (code points) in the text of the note at ``path``, ``NOWHERE`` beyond the text."""

    path: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A range of the note or file at ``path``, as it is on the screen where the note is open."""

    path: str
    range: Range


def indexed(text: str, most: int) -> str:
    """Return the part of a note's text that is indexed: its first ``most`` bytes."""
    head = text[:most]
    return head if head.isascii() else head.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def thing_at(place: Place) -> Link | Heading | None:
    """Return the link that the cursor touches, else the heading in whose line it is."""
    links, headings = _things(place.text, PurePosixPath(place.path).stem)
    things: tuple[Link | Heading, ...] = (*links, *headings)
    return next((thing for thing in things if thing.span.start <= place.offset <= thing.span.end), None)


def link_at(place: Place) -> Link | None:
    """Return the link that the cursor touches."""
    thing = thing_at(place)
    return thing if isinstance(thing, Link) else None


def heading_above(place: Place, offset: int) -> Heading | None:
    """Return the heading under which an offset of a place's text is."""
    _, headings = _things(place.text, PurePosixPath(place.path).stem)
    return next((heading for heading in reversed(headings) if heading.span.end <= offset), None)


def meaning(snapshot: Snapshot, path: str, link: Written) -> Meaning:
    """Return what a link in the note at ``path`` means; its headings and blocks are those on the screen."""

    def read(target: str) -> tuple[Connection, int] | None:
        found = snapshot.source(target)
        return None if found is None else (found[0], found[1].id)

    return resolver.resolve(snapshot.db, path, link, read)


@lru_cache(maxsize=_NOTES)
def _things(text: str, stem: str) -> tuple[tuple[Link, ...], tuple[Heading, ...]]:
    """Return the links and the headings of a note; fences, front matter and comments far above decide what is one."""
    note = parse(text, stem).note
    return note.links, note.headings
