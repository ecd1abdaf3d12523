"""References: every link that means what is under the cursor."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from synapse_ls.core.model import Heading, Link
from synapse_ls.features import cursor
from synapse_ls.features.cursor import Place, Spot
from synapse_ls.links import fragments, resolver
from synapse_ls.links.meaning import BlockMeant, Certain, HeadingMeant, certain
from synapse_ls.links.names import key
from synapse_ls.links.readings import readings
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import links, notes
from synapse_ls.store.links import PlacedLink

MAX_REFERENCES = 10_000


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A note or file, and the part of it that is asked for: ``#slug``, ``^id`` or, for all of it, ``""``."""

    path: str
    part: str


def references(snapshot: Snapshot, place: Place, limit: int = MAX_REFERENCES) -> list[Spot]:
    """Return the links that mean what the link under the cursor means, else the heading or note the cursor is in.

    They come by path and place, at most ``limit``. A link that names a heading or block is one to its note as well.
    What open notes hold counts in place of what their files do.
    """
    wanted = _wanted(snapshot, place)
    if wanted is None:
        return []
    found = [*islice(_stored(snapshot, wanted), limit), *islice(_typed(snapshot, wanted), limit)]
    found.sort(key=lambda link: (link.source_path, link.range.start))
    return [Spot(link.source_path, link.range) for link in found[:limit]]


def _wanted(snapshot: Snapshot, place: Place) -> _Wanted | None:
    thing = cursor.thing_at(place)
    match thing:
        case Link():
            meant = certain(cursor.meaning(snapshot, place.path, thing))
            return None if meant is None else _Wanted(meant.path, _part(meant))
        case Heading():
            return _Wanted(place.path, f"#{thing.slug}")
        case None:
            return _Wanted(place.path, "")


def _part(meant: Certain) -> str:
    match meant:
        case HeadingMeant(heading=heading):
            return f"#{heading.slug}"
        case BlockMeant(id=id_):
            return f"^{id_}"
        case _:
            return ""


def _stored(snapshot: Snapshot, wanted: _Wanted) -> Iterator[PlacedLink]:
    """Yield the links of the index, which knows what each means, but for those of notes that a buffer hides."""
    note = notes.by_path(snapshot.db, wanted.path)
    if note is None:
        found: Iterable[PlacedLink] = links.to_attachment(snapshot.db, wanted.path)
    else:
        found = links.backlinks(snapshot.db, note.id)
        if wanted.part:
            found = filter(_naming(snapshot, wanted, note.id), found)
    return (link for link in found if link.source not in snapshot.shadowed)


def _naming(snapshot: Snapshot, wanted: _Wanted, note: int) -> Callable[[PlacedLink], bool]:
    """Return what tells whether a link to a note names the wanted part; each fragment is looked up once."""
    source = snapshot.source(wanted.path)
    dialect = resolver.spoken(snapshot.db)
    keys = links.keys_of(snapshot.db, note)
    known: dict[str, bool] = {}

    def names(link: PlacedLink) -> bool:
        tried = readings(link, dialect)
        fragment = next((read.fragment for read in tried if not read.target or key(read.target) in keys), None)
        if not fragment or source is None:
            return False
        if fragment not in known:
            held, row = source
            known[fragment] = _part(fragments.place(held, row.id, wanted.path, fragment)) == wanted.part
        return known[fragment]

    return names


def _typed(snapshot: Snapshot, wanted: _Wanted) -> Iterator[PlacedLink]:
    """Yield the links of buffers, whose meaning is looked up now."""
    if snapshot.buffers is None or not snapshot.typed:
        return
    note = notes.by_path(snapshot.db, wanted.path)
    keys = {"", key(wanted.path)} | (links.keys_of(snapshot.db, note.id) if note is not None else frozenset())
    for link in links.written(snapshot.buffers, sorted(keys)):
        if link.source in snapshot.typed:
            meant = certain(cursor.meaning(snapshot, link.source_path, link))
            if meant is not None and meant.path == wanted.path and wanted.part in ("", _part(meant)):
                yield link
