"""Reciprocal rank fusion: the rankings of the legs become one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from synapse_ls.search.lexical import NoteHit

K = 60
LEXICAL_WEIGHT = 1.0
SEMANTIC_WEIGHT = 0.6
LATE_WEIGHT = 1.0
CALLED_WEIGHT = 1.0
GRAPH_WEIGHT = 0.2

# By how much meaning gains where no note holds the query's words, and late interaction loses where one holds them all.
_SEMANTIC_GAIN, _LATE_LOSS = 2.0, 0.6
# How soon votes fade with the scores, those of meaning the sooner the less words tell: if the first passage is clearly
# nearest, the others are not meant.
_LEXICAL_POWER, _SEMANTIC_POWER, _SEMANTIC_POWER_GAIN, _LATE_POWER = 2, 2, 8, 6


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


def votes(
    lexical: Sequence[NoteHit], semantic: Sequence[NoteHit], late: Mapping[int, float], graph: Iterable[int]
) -> list[list[tuple[int, float]]]:
    """Return the legs' rankings, each best first, as (note, weight of its vote).

    A vote weighs by the note's share of the best score in its leg, and by how much the query's words tell: the share of
    them, rare ones counting more, that the best note holds. The less they tell, the less lexical votes weigh and the
    more those of meaning do, and those of ``late``: the scores of late interaction of the first notes of both legs, of
    which equal ones keep their order.
    """
    told = max((hit.coverage for hit in lexical), default=0.0)
    strongest = max((hit.score for hit in lexical), default=0.0) or 1.0
    nearest = max((hit.score for hit in semantic), default=1.0)
    best = max(late.values(), default=0.0)
    unknown = 1 - told
    by_meaning, power = (
        SEMANTIC_WEIGHT * (1 + _SEMANTIC_GAIN * unknown),
        _SEMANTIC_POWER + _SEMANTIC_POWER_GAIN * unknown,
    )
    by_late = LATE_WEIGHT * (1 - _LATE_LOSS * told)
    ranked = [note for note in sorted(late, key=lambda note: -late[note]) if late[note] > 0]
    return [
        [(hit.note, LEXICAL_WEIGHT * told * (hit.score / strongest) ** _LEXICAL_POWER) for hit in lexical],
        [(hit.note, by_meaning * (hit.score / nearest) ** power) for hit in semantic],
        [(note, by_late * (late[note] / best) ** _LATE_POWER) for note in ranked],
        [(hit.note, CALLED_WEIGHT) for hit in lexical if hit.called],
        [(note, GRAPH_WEIGHT) for note in graph],
    ]
