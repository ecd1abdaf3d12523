"""Reciprocal rank fusion: several rankings become one, by ranks alone."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

K = 60


def rrf(
    rankings: Iterable[Iterable[tuple[int, float]]], key: Callable[[int], Any], k: int = K
) -> list[tuple[int, float]]:
    """Return (note, score), best first, of rankings given as (note, weight of its vote), best first.

    A note scores ``weight / (k + rank)`` in each ranking that holds it, ranks from 1; equal scores are ordered by
    ``key``.
    """
    scores: defaultdict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, (note, weight) in enumerate(ranking, start=1):
            scores[note] += weight / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], key(item[0])))
