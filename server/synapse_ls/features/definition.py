"""Definition of a link: the place that it leads to, every place if it could lead to several."""

from synapse_ls.features import cursor
from synapse_ls.features.cursor import TOP, Place, Spot
from synapse_ls.links import fragments
from synapse_ls.links.meaning import Ambiguous, BlockMeant, Certain, HeadingMeant, certain
from synapse_ls.search.snapshot import Snapshot


def definition(snapshot: Snapshot, place: Place) -> list[Spot]:
    """Return where the link under the cursor leads; nothing if there is no link or it leads nowhere.

    That is the line of the heading or the range of the block that it names, else the top of the note or file. Of
    several that could be meant the nearest comes first, the others by path.
    """
    link = cursor.link_at(place)
    if link is None:
        return []
    meaning = cursor.meaning(snapshot, place.path, link)
    chosen = certain(meaning)
    others = meaning.candidates[1:] if isinstance(meaning, Ambiguous) else ()
    return [] if chosen is None else [_spot(chosen), *(_named(snapshot, path, link.fragment) for path in others)]


def _named(snapshot: Snapshot, path: str, fragment: str | None) -> Spot:
    source = snapshot.source(path)
    if source is None:
        return Spot(path, TOP)
    held, note = source
    return _spot(fragments.place(held, note.id, path, fragment))


def _spot(meant: Certain) -> Spot:
    match meant:
        case HeadingMeant(path=path, heading=heading):
            return Spot(path, heading.range)
        case BlockMeant(path=path, range=block):
            return Spot(path, block)
        case _:
            return Spot(meant.path, TOP)
