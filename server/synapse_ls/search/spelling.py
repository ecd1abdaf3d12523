"""Misspelt words: a word that no note holds gives way to the nearest one that some note does."""

from dataclasses import replace

from synapse_ls.search.query import Query, Word
from synapse_ls.search.stemming import stem
from synapse_ls.store import terms
from synapse_ls.store.database import Connection

_MIN_LENGTH = 4
# In a sentence a short word that no note holds is more often another word than a slip.
_MIN_LENGTH_IN_COMPANY = 6
_LONG = 8
# A longer query is a text, which has other words to be found by; every look for a word's neighbours costs.
_MAX_WORDS = 16


def corrected(db: Connection, query: Query) -> Query:
    """Return the query with each unknown word replaced by the nearest known one, if one is near enough."""
    if len(query.words) > _MAX_WORDS:
        return query
    shortest = _MIN_LENGTH if len(query.wanted) == 1 else _MIN_LENGTH_IN_COMPANY
    words = tuple(_corrected(db, word, shortest) for word in query.words)
    return query if words == query.words else replace(query, words=words)


def _corrected(db: Connection, word: Word, shortest: int) -> Word:
    written = word.spelling
    if len(written) < shortest or not written.isalpha() or word.unspaced or terms.count(db, word.match):
        return word
    furthest = 1 if len(written) < _LONG else 2
    candidates = [
        (distance(written, term, furthest), -number, term)
        for first in dict.fromkeys(written[:2])  # the second where the first two were swapped, or the first slipped in
        for term, number in terms.vocabulary(db, first, len(written) - furthest, len(written) + furthest)
    ]
    nearest = min(candidates, default=(furthest + 1, 0, ""))
    return Word((nearest[2],), stem=stem(nearest[2]), corrected=True) if nearest[0] <= furthest else word


def distance(one: str, other: str, furthest: int) -> int:
    """Return how many letters must be typed, left out, replaced or swapped; ``furthest + 1`` if more than that."""
    if len(set(one) ^ set(other)) > 2 * furthest:
        return furthest + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > furthest:
            return furthest + 1
    return min(row[-1], furthest + 1)
