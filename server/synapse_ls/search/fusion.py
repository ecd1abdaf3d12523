"""Reciprocal rank fusion: several rankings become one, by ranks alone."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

K = 60


def rrf(lists: Sequence[tuple[float, Sequence[int]]], key: Callable[[int], Any], k: int = K) -> list[tuple[int, float]]:
    """Return (note, score), best first, of rankings given as (weight, notes best first).

    A note scores ``weight / (k + rank)`` in each ranking that holds it, ranks from 1; equal scores are ordered by
    ``key``. A ranking of weight 0 adds nothing, not even notes.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for weight, notes in lists:
        if weight > 0:
            for rank, note in enumerate(notes, start=1):
                scores[note] += weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], key(item[0])))
