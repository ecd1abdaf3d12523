"""The full-text table: folded terms of every chunk in weighted fields."""

from collections.abc import Sequence

from synapse_ls.store.database import Connection
from synapse_ls.store.records import ChunkRecord, NoteRecord

FIELDS = ("title", "aliases", "headings", "body", "tags")


def put(db: Connection, chunk: int, note: NoteRecord, record: ChunkRecord) -> None:
    """Index the terms of a new chunk."""
    db.execute(
        "INSERT INTO terms(rowid, title, aliases, headings, body, tags) VALUES(?, ?, ?, ?, ?, ?)",
        (chunk, note.title_terms, note.alias_terms, record.heading_terms, record.terms, note.tag_terms),
    )


def delete(db: Connection, chunk: int) -> None:
    """Forget the terms of a chunk."""
    db.execute("DELETE FROM terms WHERE rowid = ?", (chunk,))


def search(
    db: Connection, match: str, weights: Sequence[float], limit: int, notes: Sequence[int] | None = None
) -> list[tuple[int, int, float]]:
    """Return (chunk, note, BM25 score; higher is better), best first, ties by note path and chunk ordinal.

    ``match`` is an FTS5 expression made of quoted strings by ``search.query``; ``weights`` follow ``FIELDS``.
    ``notes``, if given, are the only notes looked at.
    """
    within = "" if notes is None else f"AND c.note IN ({','.join(map(str, notes))})"
    # The scores are made first and cut at the last one that can matter; only what is left is joined and sorted.
    ranked = (
        "WITH ranked AS MATERIALIZED (SELECT rowid AS chunk, -bm25(terms, ?1, ?2, ?3, ?4, ?5) AS score "
        "FROM terms WHERE terms MATCH ?6)"
    )
    cut = (
        ""
        if within
        else "WHERE score >= coalesce((SELECT score FROM ranked ORDER BY score DESC LIMIT 1 OFFSET ?7 - 1), -1)"
    )
    rows = db.execute(
        f"{ranked} SELECT c.id, c.note, score FROM (SELECT * FROM ranked {cut}) JOIN chunks c ON c.id = chunk "
        f"JOIN notes n ON n.id = c.note WHERE true {within} ORDER BY score DESC, n.path, c.ordinal LIMIT ?7",
        (*weights, match, limit),
    )
    return [(chunk, note, score) for chunk, note, score in rows]


def holding(db: Connection, match: str, chunks: Sequence[int]) -> list[int]:
    """Return those of the given chunks that match an FTS5 expression."""
    # The plus keeps SQLite from asking the full-text index once for each chunk.
    within = ",".join(map(str, chunks))
    rows = db.execute(f"SELECT rowid FROM terms WHERE terms MATCH ? AND +rowid IN ({within})", (match,))
    return [chunk for (chunk,) in rows]


def count(db: Connection, match: str) -> int:
    """Return how many chunks match an FTS5 expression."""
    return int(db.execute("SELECT count(*) FROM terms WHERE terms MATCH ?", (match,)).get)


def notes_holding(db: Connection, match: str) -> set[int]:
    """Return the notes with a chunk that matches an FTS5 expression."""
    rows = db.execute(
        "SELECT DISTINCT c.note FROM terms JOIN chunks c ON c.id = terms.rowid WHERE terms MATCH ?", (match,)
    )
    return {note for (note,) in rows}


def vocabulary(db: Connection, first: str, shortest: int, longest: int) -> list[tuple[str, int]]:
    """Return (term, number of chunks) of the terms that start with ``first``, by term; lengths are in code points."""
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab(main, terms, row)")
    rows = db.execute(
        "SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
        (first, first + "\U0010ffff", shortest, longest),
    )
    return [(term, number) for term, number in rows]
