"""The full-text table: folded terms of every chunk in weighted fields."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from synapse_ls.store.database import Connection
from synapse_ls.store.records import ChunkRecord, NoteRecord

# The constants of FTS5's bm25().
_K, _B, _LEAST_RARITY = 1.2, 0.75, 1e-6

# Some sixty words.
_MAX_SHARED = 400

FIELDS = ("title", "aliases", "headings", "body", "tags")


def put(db: Connection, chunk: int, note: NoteRecord, record: ChunkRecord) -> None:
    """Index the terms of a new chunk."""
    title, aliases, tags = shared(record.ordinal, note.title_terms, note.alias_terms, note.tag_terms)
    db.execute(
        "INSERT INTO terms(rowid, title, aliases, headings, body, tags) VALUES(?, ?, ?, ?, ?, ?)",
        (chunk, title, aliases, record.heading_terms, record.terms, tags),
    )


def shared(ordinal: int, *terms: str) -> tuple[str, ...]:
    """Return what the chunk at ``ordinal`` is given of a note's own terms: the first all, the others the first few.

    So a note is found by all of them, and none of them is repeated in thousands of chunks.
    """
    return terms if ordinal == 0 else tuple(beginning(some) for some in terms)


def beginning(terms: str, most: int = _MAX_SHARED) -> str:
    """Return the first of some terms joined by spaces, as many as take ``most`` characters."""
    return terms if len(terms) <= most else terms[: max(0, terms.rfind(" ", 0, most + 1))]


def delete(db: Connection, chunk: int) -> None:
    """Forget the terms of a chunk."""
    db.execute("DELETE FROM terms WHERE rowid = ?", (chunk,))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of a table: the mean number of terms a row, and the rarity of each phrase of an expression."""

    mean: float
    rarities: tuple[float, ...]


def search(  # noqa: PLR0913, PLR0917 - what to look for, how to weigh it and where
    db: Connection,
    match: str,
    weights: Sequence[float],
    limit: int,
    notes: Sequence[int] | None = None,
    without: Collection[int] = (),
) -> list[tuple[int, int, float]]:
    """Return (chunk, note, BM25 score; higher is better), best first, ties by note path and chunk ordinal.

    ``match`` is an FTS5 expression made of quoted strings by ``search.query``; ``weights`` follow ``FIELDS``.
    ``notes``, if given, are the only notes looked at, ``without`` are left out.
    """
    within = "" if notes is None else f"AND c.note IN ({','.join(map(str, notes))})"
    if without:
        within += f" AND c.note NOT IN ({','.join(map(str, without))})"
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


def statistics(db: Connection, phrases: Sequence[str]) -> Statistics | None:
    """Return the statistics of the phrases of an expression, in its order; None if no row holds any of them."""
    db.register_fts5_function("mean_size", _mean_size)
    row = db.execute(
        "SELECT mean_size(terms) FROM terms WHERE terms MATCH ? LIMIT 1", (" OR ".join(phrases),)
    ).fetchone()
    if row is None:
        return None
    total = int(db.execute("SELECT count(*) FROM chunks").get)
    counts = [count(db, phrase) for phrase in phrases]
    # As FTS5's own bm25() has it: a phrase in more than half of the rows still counts a little.
    rarities = tuple(max(math.log((total - n + 0.5) / (n + 0.5)), _LEAST_RARITY) for n in counts)
    return Statistics(float(row[0]), rarities)


def _bm25_by(api: Any, *numbers: Any) -> float:  # noqa: ANN401 - FTS5's own interface
    """Score a row; ``numbers`` are the mean number of terms, the fields' weights and then the phrases' rarities."""
    mean, weights, rarities = numbers[0], numbers[1 : 1 + len(FIELDS)], numbers[1 + len(FIELDS) :]
    length = _K * (1 - _B + _B * api.column_size(-1) / mean)
    total = 0.0
    for phrase, rarity in zip(range(api.phrase_count), rarities, strict=True):
        weighted = sum(w * len(places) for w, places in zip(weights, api.phrase_locations(phrase), strict=True))
        total += rarity * weighted * (_K + 1) / (weighted + length)
    return total


def _mean_size(api: Any, *_: Any) -> float:  # noqa: ANN401 - FTS5's own interface
    return float(api.column_total_size(-1) / max(1, api.row_count))


def search_by(
    db: Connection, match: str, weights: Sequence[float], statistics: Statistics
) -> list[tuple[int, int, float]]:
    """Return (chunk, note, BM25 score) as ``search`` does, scored by the statistics of another table.

    So the chunks of a few notes are ranked among those of many.
    """
    db.register_fts5_function("bm25_by", _bm25_by)
    values = (statistics.mean, *weights, *statistics.rarities)
    rows = db.execute(
        f"SELECT c.id, c.note, bm25_by(terms, {','.join('?' * len(values))}) AS score "
        "FROM terms JOIN chunks c ON c.id = terms.rowid JOIN notes n ON n.id = c.note "
        "WHERE terms MATCH ? ORDER BY score DESC, n.path, c.ordinal",
        (*values, match),
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
