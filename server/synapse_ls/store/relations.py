"""What ties notes to one another besides their words: vectors, links and tags."""

from collections.abc import Iterator, Sequence

from synapse_ls.core.text import Range
from synapse_ls.store.database import Connection
from synapse_ls.store.links import PlacedLink
from synapse_ls.store.notes import PLACE, range_of

_AT_ONCE = 1_000


def embeddings(db: Connection, vectors: Sequence[int]) -> dict[int, bytes]:
    """Return vectors by id: float32, little endian, of length 1; ids that are gone are left out."""
    rows = db.execute(f"SELECT rowid, embedding FROM embeddings WHERE rowid IN ({','.join(map(str, vectors))})")
    return {vector: bytes(embedding) for vector, embedding in rows}


def edges(db: Connection, notes: Sequence[int]) -> list[tuple[int, int]]:
    """Return (source, target) of the links from or to the given notes, each pair once, without links to themselves."""
    marks = ",".join(map(str, notes))
    rows = db.execute(
        f"SELECT source, resolved FROM links WHERE source IN ({marks}) AND resolved IS NOT NULL AND resolved != source "
        f"UNION SELECT source, resolved FROM links WHERE resolved IN ({marks}) AND resolved != source ORDER BY 1, 2"
    )
    return [(source, target) for source, target in rows]


def outgoing(db: Connection, note: int) -> Iterator[tuple[PlacedLink, int | None]]:
    """Yield (link, the note that it is held to mean) of the links in a note, in the order of the text."""
    rows = db.execute(
        f"SELECT k.resolved, k.source, n.path, k.kind, k.target, k.fragment, k.label, {PLACE} "
        "FROM links k JOIN notes n ON n.id = k.source WHERE k.source = ? ORDER BY k.id",
        (note,),
    )
    for resolved, source, path, kind, target, fragment, label, *where in rows:
        yield PlacedLink(source, path, kind, target, fragment, label, _range(where)), resolved


def tags(db: Connection, note: int) -> dict[str, str]:
    """Return a note's tags by their folded form."""
    rows = db.execute("SELECT folded, name FROM tags WHERE note = ? ORDER BY rowid DESC", (note,))
    return {str(folded): str(name) for folded, name in rows}


def tagged(db: Connection, folded: str) -> list[int]:
    """Return the notes that carry a tag, given folded, ascending."""
    return [note for (note,) in db.execute("SELECT DISTINCT note FROM tags WHERE folded = ? ORDER BY 1", (folded,))]


def named(db: Connection, folded: Sequence[str]) -> list[tuple[int, str]]:
    """Return (note, folded name) of the notes with one of the given titles or aliases, by note and name."""
    found: list[tuple[int, str]] = []
    for start in range(0, len(folded), _AT_ONCE):
        some = folded[start : start + _AT_ONCE]
        found += db.execute(
            "SELECT note, folded FROM symbols WHERE kind IN ('note', 'alias') "
            f"AND folded IN ({','.join('?' * len(some))})",
            tuple(some),
        )
    return sorted(found)


def _range(columns: list[int]) -> Range:
    return range_of(tuple(columns))
