"""Links and the names they may mean. What they do mean is decided in ``synapse_ls.links``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from synapse_ls.core.text import Range
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import PLACE, range_of


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name that means the note or the file at ``path``.

    ``kind`` is path, alias, title, page, journal or id for a note; attachment for a file that is no note, which has a
    ``size`` in bytes and no ``note``.
    """

    kind: str
    text: str
    note: int | None
    path: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """What the index holds of a link's meaning: a note or an attachment's path, and whether others fit too."""

    note: int | None = None
    attachment: str | None = None
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class OpenLink:
    """A link to be resolved, with what it is held to mean."""

    id: int
    source: int
    source_path: str
    kind: str
    target: str
    fragment: str | None
    label: str | None
    stored: Stored


@dataclass(frozen=True, slots=True)
class PlacedLink:
    """A link as written, and where: ``source`` is its note."""

    source: int
    source_path: str
    kind: str
    target: str
    fragment: str | None
    label: str | None
    range: Range


_OPEN = (
    "SELECT k.id, k.source, n.path, k.kind, k.target, k.fragment, k.label, k.resolved, k.attachment, k.ambiguous "
    "FROM links k JOIN notes n ON n.id = k.source"
)


def named(db: Connection, key: str) -> list[NameRow]:
    """Return the names of notes and attachments under a look-up key, by path."""
    rows = db.execute(
        "SELECT m.kind, m.text, m.note, n.path, 0 FROM names m JOIN notes n ON n.id = m.note WHERE m.key = ?1 "
        "UNION ALL SELECT 'attachment', path, NULL, path, size FROM attachments WHERE key = ?1 ORDER BY 4",
        (key,),
    )
    return [NameRow(*row) for row in rows]


def named_like(db: Connection, first: str, shortest: int, longest: int, limit: int) -> list[tuple[str, NameRow]]:
    """Return (look-up key, name) of paths, aliases and titles whose keys start with ``first``, by key.

    The lengths of the keys are in code points.
    """
    rows = db.execute(
        "SELECT m.key, m.kind, m.text, m.note, n.path FROM names m JOIN notes n ON n.id = m.note "
        "WHERE m.key >= ? AND m.key < ? AND length(m.key) BETWEEN ? AND ? AND m.kind IN ('path', 'alias', 'title') "
        "ORDER BY m.key LIMIT ?",
        (first, first + "\U0010ffff", shortest, longest, limit),
    )
    return [(key, NameRow(*row)) for key, *row in rows]


def to_resolve(db: Connection, keys: Iterable[str], sources: Iterable[int], *, second: bool = True) -> list[OpenLink]:
    """Return the links that could mean something else now: those under ``keys`` and those of the notes ``sources``.

    With ``second`` the keys of second readings count too.
    """
    found: dict[int, OpenLink] = {}
    columns = ("key", "other_key") if second else ("key",)
    for key in keys:
        for column in columns:
            found.update((row.id, row) for row in _open(db, f"{_OPEN} WHERE k.{column} = ?", (key,)))
    for source in sources:
        found.update((row.id, row) for row in _open(db, f"{_OPEN} WHERE k.source = ?", (source,)))
    return list(found.values())


def every(db: Connection) -> Iterator[OpenLink]:
    """Yield all links; none may be written meanwhile."""
    return _open(db, _OPEN, ())


def _open(db: Connection, query: str, values: tuple[str | int, ...]) -> Iterator[OpenLink]:
    for row in db.execute(query, values):
        id_, source, path, kind, target, fragment, label, note, attachment, ambiguous = row
        stored = Stored(note, attachment, bool(ambiguous))
        yield OpenLink(id_, source, path, kind, target, fragment, label, stored)


def resolve(db: Connection, meanings: Iterable[tuple[Stored, int]]) -> None:
    """Record what links mean, as (meaning, link)."""
    db.executemany(
        "UPDATE links SET resolved = ?, attachment = ?, ambiguous = ? WHERE id = ?",
        [(meaning.note, meaning.attachment, meaning.ambiguous, link) for meaning, link in meanings],
    )


def definitions(db: Connection, source: int) -> dict[str, str]:
    """Return the targets of a note's reference definitions by label."""
    rows = db.execute("SELECT label, target FROM links WHERE source = ? AND kind = 'reference' ORDER BY id", (source,))
    return {label: target for label, target in rows if label}


def put_attachments(db: Connection, files: Iterable[tuple[str, str, int]], gone: Iterable[str]) -> set[str]:
    """Write attachments as (path, look-up key, size), forget others; returns the keys that changed their meaning."""
    changed: set[str] = set()
    for path in gone:
        changed.update(key for (key,) in db.execute("DELETE FROM attachments WHERE path = ? RETURNING key", (path,)))
    for path, key, size in files:
        if db.execute("UPDATE attachments SET size = ? WHERE path = ? RETURNING 1", (size, path)).fetchone() is None:
            db.execute("INSERT INTO attachments(path, key, size) VALUES(?, ?, ?)", (path, key, size))
            changed.add(key)
    return changed


def attachments(db: Connection, folder: str = "") -> dict[str, int]:
    """Return the sizes of the attachments below a folder by path."""
    rows = db.execute(
        "SELECT path, size FROM attachments WHERE ?1 = '' OR (path >= ?1 || '/' AND path < ?1 || '0') ORDER BY path",
        (folder,),
    )
    return dict(rows)


def sizes(db: Connection, paths: Iterable[str]) -> dict[str, int]:
    """Return the sizes of those of the paths that are attachments."""
    found = ((path, db.execute("SELECT size FROM attachments WHERE path = ?", (path,)).get) for path in paths)
    return {path: int(size) for path, size in found if size is not None}


def order_evidence(db: Connection) -> tuple[int, int]:
    """Return how many labelled wiki links name a note by their target alone, and how many by their label alone."""
    row = db.execute(
        "SELECT count(*) FILTER (WHERE target AND NOT label), count(*) FILTER (WHERE label AND NOT target) FROM ("
        "SELECT EXISTS(SELECT 1 FROM names WHERE key = k.key) AS target, "
        "EXISTS(SELECT 1 FROM names WHERE key = k.other_key) AS label "
        "FROM links k WHERE k.other_key IS NOT NULL AND k.label IS NOT NULL)"
    ).fetchone()
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def id_evidence(db: Connection) -> int:
    """Return how many links name a note by a long number at the start of its file's name and by nothing else."""
    return int(
        db.execute(
            "SELECT count(*) FROM names m JOIN links k ON k.key = m.key "
            "WHERE m.kind = 'id' AND length(m.text) > 4 "
            "AND NOT EXISTS(SELECT 1 FROM names o WHERE o.key = m.key AND o.kind != 'id')"
        ).get
    )


def has_journals(db: Connection) -> bool:
    """Return whether the notes lie as Logseq lays them: in pages/ and journals/."""
    day = "journals/" + "[0-9]" * 4 + "_[0-9][0-9]_[0-9][0-9].*"
    query = (
        "SELECT EXISTS(SELECT 1 FROM notes WHERE path GLOB ?) AND EXISTS(SELECT 1 FROM notes WHERE path GLOB 'pages/*')"
    )
    return bool(db.execute(query, (day,)).get)


def neighbours(db: Connection, notes: Sequence[int]) -> list[tuple[int, int]]:
    """Return (note, neighbour) for every link from or to the given notes, each pair once in each direction."""
    marks = ",".join(map(str, notes))
    rows = db.execute(
        f"SELECT source, resolved FROM links WHERE source IN ({marks}) AND resolved IS NOT NULL AND resolved != source "
        f"UNION SELECT resolved, source FROM links WHERE resolved IN ({marks}) AND resolved != source ORDER BY 1, 2"
    )
    return [(note, neighbour) for note, neighbour in rows]


def degree(db: Connection, notes: Sequence[int]) -> dict[int, int]:
    """Return how many links lead from or to each of the given notes, those to themselves left out."""
    marks = ",".join(map(str, notes))
    found = dict.fromkeys(notes, 0)
    for column in ("source", "resolved"):
        for note, number in db.execute(
            f"SELECT {column}, count(*) FROM links WHERE {column} IN ({marks}) AND resolved IS NOT NULL "
            "AND resolved != source GROUP BY 1"
        ):
            found[note] += number
    return found


_PLACED = (
    f"SELECT k.source, n.path, k.kind, k.target, k.fragment, k.label, {PLACE} "
    "FROM links k JOIN notes n ON n.id = k.source"
)
_IN_ORDER = "ORDER BY n.path, start_line, start_utf32"


def backlinks(db: Connection, note: int) -> Iterator[PlacedLink]:
    """Yield the links that mean a note, by path and place."""
    return _placed(db, f"{_PLACED} WHERE k.resolved = ? {_IN_ORDER}", (note,))


def to_attachment(db: Connection, path: str) -> Iterator[PlacedLink]:
    """Yield the links that mean the attachment at a path, by path and place."""
    return _placed(db, f"{_PLACED} WHERE k.attachment = ? {_IN_ORDER}", (path,))


def written(db: Connection, keys: Iterable[str]) -> Iterator[PlacedLink]:
    """Yield the links one of whose readings has one of the look-up keys, each once, by path and place."""
    marks = ",".join("?" * len(values := tuple(keys)))
    query = f"{_PLACED} WHERE k.key IN ({marks}) OR k.other_key IN ({marks}) {_IN_ORDER}"
    return _placed(db, query, values * 2)


def keys_of(db: Connection, note: int) -> frozenset[str]:
    """Return the look-up keys of a note's names."""
    return frozenset(key for (key,) in db.execute("SELECT key FROM names WHERE note = ?", (note,)))


def _placed(db: Connection, query: str, values: tuple[str | int, ...]) -> Iterator[PlacedLink]:
    for row in db.execute(query, values):
        source, path, kind, target, fragment, label, *where = row
        yield PlacedLink(source, path, kind, target, fragment, label, range_of(tuple(where)))
