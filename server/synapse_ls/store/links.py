"""Links and the names they may mean. What they do mean is decided in ``synapse_ls.links``."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from synapse_ls.core.text import Range
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import PLACE, range_of


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name that means a note: ``kind`` is path, alias or title, ``text`` the name, ``path`` the note's path."""

    kind: str
    text: str
    note: int
    path: str


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A link to be resolved."""

    id: int
    source_path: str
    kind: str
    target: str
    key: str


@dataclass(frozen=True, slots=True)
class Backlink:
    """A link to a note, seen from that note."""

    source: int
    source_path: str
    source_title: str
    label: str | None
    range: Range


def named(db: Connection, key: str) -> list[NameRow]:
    """Return the names under a look-up key, by path."""
    rows = db.execute(
        "SELECT m.kind, m.text, m.note, n.path FROM names m JOIN notes n ON n.id = m.note "
        "WHERE m.key = ? ORDER BY n.path",
        (key,),
    )
    return [NameRow(*row) for row in rows]


def to_resolve(db: Connection, keys: Iterable[str], sources: Iterable[int]) -> list[OpenLink]:
    """Return the links that could mean something else now: those under ``keys`` and those of the notes ``sources``."""
    found: dict[int, OpenLink] = {}
    query = "SELECT k.id, n.path, k.kind, k.target, k.key FROM links k JOIN notes n ON n.id = k.source WHERE "
    for key in keys:
        for row in db.execute(query + "k.key = ?", (key,)):
            found[row[0]] = OpenLink(*row)
    for source in sources:
        for row in db.execute(query + "k.source = ?", (source,)):
            found[row[0]] = OpenLink(*row)
    return list(found.values())


def resolve(db: Connection, meanings: Iterable[tuple[int | None, int]]) -> None:
    """Record what links mean, as (note or None, link)."""
    db.executemany("UPDATE links SET resolved = ? WHERE id = ?", list(meanings))


def neighbours(db: Connection, notes: Sequence[int]) -> list[tuple[int, int]]:
    """Return (note, neighbour) for every link from or to the given notes, each pair once in each direction."""
    marks = ",".join(map(str, notes))
    rows = db.execute(
        f"SELECT source, resolved FROM links WHERE source IN ({marks}) AND resolved IS NOT NULL AND resolved != source "
        f"UNION SELECT resolved, source FROM links WHERE resolved IN ({marks}) AND resolved != source ORDER BY 1, 2"
    )
    return [(note, neighbour) for note, neighbour in rows]


def degree(db: Connection, notes: Sequence[int]) -> dict[int, int]:
    """Return how many links lead from or to each of the given notes."""
    marks = ",".join(map(str, notes))
    found = dict.fromkeys(notes, 0)
    for column in ("source", "resolved"):
        for note, number in db.execute(
            f"SELECT {column}, count(*) FROM links WHERE {column} IN ({marks}) AND resolved IS NOT NULL GROUP BY 1"
        ):
            found[note] += number
    return found


def backlinks(db: Connection, note: int, limit: int) -> list[Backlink]:
    """Return links to a note, by path and place."""
    rows = db.execute(
        f"SELECT n.id, n.path, n.title, k.label, {PLACE} FROM links k JOIN notes n ON n.id = k.source "
        "WHERE k.resolved = ? ORDER BY n.path, start_line, start_utf32 LIMIT ?",
        (note, limit),
    )
    return [Backlink(r[0], r[1], r[2], r[3], range_of(r[4:])) for r in rows]
