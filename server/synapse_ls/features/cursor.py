"""What is under the cursor: a link and what it means, or a heading."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor is: an offset (code points) in the text of the note at ``path``."""

    path: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A range of the note or file at ``path``, as it is on the screen where the note is open."""

    path: str
    range: Range


def thing_at(place: Place) -> Link | Heading | None:
    """Return the link that the cursor touches, else the heading in whose line it is."""
    note = parse(place.text, PurePosixPath(place.path).stem).note
    things: tuple[Link | Heading, ...] = (*note.links, *note.headings)
    return next((thing for thing in things if thing.span.start <= place.offset <= thing.span.end), None)


def link_at(place: Place) -> Link | None:
    """Return the link that the cursor touches."""
    thing = thing_at(place)
    return thing if isinstance(thing, Link) else None


def meaning(snapshot: Snapshot, path: str, link: Written) -> Meaning:
    """Return what a link in the note at ``path`` means; its headings and blocks are those on the screen."""

    def read(target: str) -> tuple[Connection, int] | None:
        found = snapshot.source(target)
        return None if found is None else (found[0], found[1].id)

    return resolver.resolve(snapshot.db, path, link, read)
