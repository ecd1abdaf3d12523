"""Reading chunks: the passages that legs find and answers show."""

from collections.abc import Sequence
from dataclasses import dataclass

from synapse_ls.core.text import Range, Span
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import PLACE, range_of


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as stored."""

    id: int
    note: int
    ordinal: int
    span: Span
    range: Range
    heading_path: tuple[str, ...]
    text: str
    vector: int | None


_COLUMNS = f"id, note, ordinal, span_start, span_end, {PLACE}, heading_path, text, vector"


def by_ids(db: Connection, ids: Sequence[int]) -> dict[int, ChunkRow]:
    """Return chunks by id; ids that are gone are left out."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM chunks WHERE id IN ({','.join(map(str, ids))})")
    return {row[0]: _chunk(row) for row in rows}


def text_at(db: Connection, note: int, ordinal: int) -> str:
    """Return the text of one chunk of a note; empty if there is none."""
    row = db.execute("SELECT text FROM chunks WHERE note = ? AND ordinal = ?", (note, ordinal)).fetchone()
    return "" if row is None else str(row[0])


def of_note(db: Connection, note: int) -> list[ChunkRow]:
    """Return a note's chunks in the order of the text."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM chunks WHERE note = ? ORDER BY ordinal", (note,))
    return [_chunk(row) for row in rows]


def with_vectors(db: Connection, vectors: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return (vector, chunk, note) for every chunk that uses one of the vectors, by note path and ordinal."""
    rows = db.execute(
        f"SELECT c.vector, c.id, c.note FROM chunks c JOIN notes n ON n.id = c.note "
        f"WHERE c.vector IN ({','.join(map(str, vectors))}) ORDER BY n.path, c.ordinal"
    )
    return [(vector, chunk, note) for vector, chunk, note in rows]


def vectors_of_notes(db: Connection, notes: Sequence[int]) -> list[int]:
    """Return the vectors that chunks of the given notes use, ascending."""
    rows = db.execute(
        "SELECT DISTINCT vector FROM chunks "
        f"WHERE note IN ({','.join(map(str, notes))}) AND vector IS NOT NULL ORDER BY 1"
    )
    return [vector for (vector,) in rows]


def of_notes(db: Connection, notes: Sequence[int]) -> dict[int, int]:
    """Return the note of every chunk of the given notes, by chunk."""
    return dict(db.execute(f"SELECT id, note FROM chunks WHERE note IN ({','.join(map(str, notes))})"))


def first_of_notes(db: Connection, notes: Sequence[int]) -> dict[int, int]:
    """Return the first chunk of each of the given notes that has one, by note."""
    marks = ",".join(map(str, notes))
    return dict(db.execute(f"SELECT note, id FROM chunks WHERE note IN ({marks}) AND ordinal = 0"))


def sample(db: Connection, most: int) -> list[str]:
    """Return the texts of at most about ``most`` chunks, spread evenly over the index."""
    step = max(1, number(db) // most)
    return [str(text) for (text,) in db.execute("SELECT text FROM chunks WHERE id % ? = 0 LIMIT ?", (step, 2 * most))]


def number(db: Connection) -> int:
    """Return how many chunks there are."""
    return int(db.execute("SELECT count(*) FROM chunks").get)


def coverage(db: Connection) -> float:
    """Return the share, 0 to 1, of the chunks to embed that have a vector; those that failed do not count."""
    embedded = int(db.execute("SELECT count(*) FROM chunks WHERE vector IS NOT NULL").get)
    waiting = "readable = 1 AND failed = 0 AND (vector IS NULL OR stale = 1) AND vector IS NULL"
    missing = int(db.execute(f"SELECT count(*) FROM chunks WHERE {waiting}").get)
    return embedded / (embedded + missing) if embedded + missing else 1.0


def _chunk(row: tuple[int, ...]) -> ChunkRow:
    chunk, note, ordinal, start, end, *rest = row
    headings = str(rest[8])
    path = tuple(headings.split("\n")) if headings else ()
    vector = rest[10]
    return ChunkRow(chunk, note, ordinal, Span(start, end), range_of(tuple(rest[:8])), path, str(rest[9]), vector)
