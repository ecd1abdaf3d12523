"""The dense leg: notes by the nearness of their passages to the query's vector."""

from collections.abc import Sequence

from synapse_ls.search.lexical import NoteHit, slices
from synapse_ls.store import chunks, vectors
from synapse_ls.store.database import Connection

_PASSAGES_A_NOTE = 6
_GROWTH = 4


def dense(db: Connection, vector: bytes, limit: int, notes: Sequence[int] | None = None) -> list[NoteHit]:
    """Return the notes with the nearest chunks, nearest first, scored by cosine similarity.

    ``vector`` is float32, little endian, of the index's dimensions; ``notes`` are the only ones looked at.
    """
    within = None
    if notes is not None:
        within = sorted({v for some in slices(notes) for v in chunks.vectors_of_notes(db, some or ())})
        # SQLite makes "= 7" of "IN (7)", which vec0 applies only after it has chosen the neighbours.
        within = within * 2 if len(within) == 1 else within
    neighbours = min(limit * _PASSAGES_A_NOTE, vectors.MAX_NEIGHBOURS)
    while True:
        nearest = [pair for some in slices(within) for pair in vectors.nearest(db, vector, neighbours, some)]
        hits = _pooled(db, dict(nearest))
        if len(hits) >= limit or len(nearest) < neighbours or neighbours == vectors.MAX_NEIGHBOURS:
            return hits[:limit]
        neighbours = min(neighbours * _GROWTH, vectors.MAX_NEIGHBOURS)


def _pooled(db: Connection, cosines: dict[int, float]) -> list[NoteHit]:
    """Return each note with its nearest chunk; equal ones stand in the order of path and place."""
    best: dict[int, NoteHit] = {}
    for vector, chunk, note in chunks.with_vectors(db, list(cosines)):
        if note not in best or cosines[vector] > best[note].score:
            best[note] = NoteHit(note, chunk, cosines[vector])
    return sorted(best.values(), key=lambda hit: -hit.score)
