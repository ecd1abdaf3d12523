"""The dense leg: notes by the nearness of their passages to the query's vector."""

from collections.abc import Collection, Sequence

from synapse_ls.search.lexical import NoteHit, slices
from synapse_ls.store import chunks, vectors
from synapse_ls.store.database import Connection

_PASSAGES_A_NOTE = 6
_GROWTH = 4


def dense(  # noqa: PLR0913, PLR0917 - what to look for, how much of it and where
    db: Connection,
    vector: bytes,
    limit: int,
    notes: Sequence[int] | None = None,
    floor: float = -1.0,
    without: Collection[int] = (),
) -> list[NoteHit]:
    """Return the notes with the nearest chunks, nearest first, scored by cosine similarity, at least ``floor``.

    ``vector`` is float32, little endian, of the index's dimensions; ``notes`` are the only ones looked at,
    ``without`` are left out.
    """
    within = None
    if notes is not None:
        within = sorted({v for some in slices(notes) for v in chunks.vectors_of_notes(db, some or ())})
    neighbours = min(limit * _PASSAGES_A_NOTE, vectors.MAX_NEIGHBOURS)
    while True:
        nearest = [pair for some in slices(within) for pair in vectors.nearest(db, vector, neighbours, some)]
        near = {vector: cosine for vector, cosine in nearest if cosine >= floor}
        hits = [hit for hit in _pooled(db, near) if hit.note not in without]
        exhausted = len(near) < len(nearest) or len(nearest) < neighbours
        if len(hits) >= limit or exhausted or neighbours == vectors.MAX_NEIGHBOURS:
            return hits[:limit]
        neighbours = min(neighbours * _GROWTH, vectors.MAX_NEIGHBOURS)


def _pooled(db: Connection, cosines: dict[int, float]) -> list[NoteHit]:
    """Return each note with its nearest chunk; equal ones stand in the order of path and place."""
    best: dict[int, NoteHit] = {}
    for vector, chunk, note in chunks.with_vectors(db, list(cosines)):
        if note not in best or cosines[vector] > best[note].score:
            best[note] = NoteHit(note, chunk, cosines[vector])
    return sorted(best.values(), key=lambda hit: -hit.score)
