"""The graph leg: notes one link away from the best hits."""

import math
from collections import defaultdict
from collections.abc import Sequence

from synapse_ls.search.fusion import K
from synapse_ls.search.lexical import slices
from synapse_ls.store import links, notes
from synapse_ls.store.database import Connection


def graph(
    db: Connection, seeds: Sequence[int], limit: int, allowed: Sequence[int] | None = None
) -> list[tuple[int, float]]:
    """Return (note, score) of the notes linked with the seeds, best first, ties by path.

    ``seeds`` are notes, best first; each gives its neighbours what its rank is worth. A note that is linked with
    everything says little: it counts by the root of its number of links.
    """
    if not seeds:
        return []
    worth = {seed: 1 / (K + rank) for rank, seed in enumerate(seeds, start=1)}
    scores: defaultdict[int, float] = defaultdict(float)
    for seed, neighbour in links.neighbours(db, seeds):
        scores[neighbour] += worth[seed]
    if allowed is not None:
        scores = defaultdict(float, {note: scores[note] for note in scores.keys() & set(allowed)})
    for some in slices(list(scores)):
        for note, number in links.degree(db, some or ()).items():
            scores[note] /= math.sqrt(max(number, 1))
    near = sorted(scores, key=lambda note: -scores[note])[: 2 * limit]
    paths = {note: row.path for note, row in notes.by_ids(db, near).items()}
    return sorted(((n, scores[n]) for n in near), key=lambda pair: (-pair[1], paths[pair[0]]))[:limit]


def distances(db: Connection, start: int, furthest: int) -> dict[int, int]:
    """Return how many links each note within ``furthest`` links is away from a note, which itself is 0 away."""
    found = {start: 0}
    edge = [start]
    for distance in range(1, furthest + 1):
        reached = [n for some in slices(edge) for _, n in links.neighbours(db, some or ())]
        edge = [note for note in dict.fromkeys(reached) if note not in found]
        found.update(dict.fromkeys(edge, distance))
    return found
