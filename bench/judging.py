"""How good a ranking is: the figures of one answer, and their mean over many with an interval."""

import math
from collections.abc import Mapping, Sequence

MEASURES = ("hit@1", "recall@10", "ndcg@10", "mrr")

Figures = tuple[float, float, float, float]
"""One query's figures, each 0 to 1, in the order of ``MEASURES``."""

Estimate = tuple[float, float, float]
"""A mean with the lower and the upper end of its interval of 95 %."""

_RESAMPLES = 1000


def judge(found: Sequence[str], grades: Mapping[str, float]) -> Figures:
    """Return the figures of one answer, best hit first, of which the first ten count.

    ``grades`` are above 0 for the notes that help; those with the highest one are right. A note that only helps counts
    in nDCG, for its grade, and in nothing else.
    """
    best = max(grades.values(), default=0.0)
    right = {note for note, grade in grades.items() if grade == best}
    ten = found[:10]
    first = next((rank for rank, note in enumerate(ten, start=1) if note in right), None)
    ideal = _dcg(sorted(grades.values(), reverse=True)[:10])
    return (
        float(first == 1),
        len(right.intersection(ten)) / len(right) if right else 0.0,
        _dcg([grades.get(note, 0.0) for note in ten]) / ideal if ideal else 0.0,
        1 / first if first else 0.0,
    )


def estimates(rows: Sequence[Sequence[float]]) -> list[Estimate]:
    """Return the mean of each column of some rows, at least one, with its bootstrap interval: the same each time."""
    import numpy as np

    table = np.asarray(rows, dtype=float)
    chance = np.random.default_rng(1)
    # One resample at a time: all of them at once would be a table of resamples by rows by columns.
    means = [table[chance.integers(0, len(table), len(table))].mean(axis=0) for _ in range(_RESAMPLES)]
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return list(zip(table.mean(axis=0).tolist(), low.tolist(), high.tolist(), strict=True))


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
