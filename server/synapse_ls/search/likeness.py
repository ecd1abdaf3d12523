"""Nearly the same text: copies, templates and versions are told apart from notes on the same subject."""

from collections.abc import Iterable

from synapse_ls.core.terms import index_terms

_SHINGLE = 3
# Texts that are shorter are alike by chance.
_FEWEST = 8
_MOST_CHARACTERS = 8_000
_SAME, _HELD = 0.7, 0.8

Shingles = frozenset[tuple[str, ...]]


def shingles(texts: Iterable[str]) -> Shingles:
    """Return the runs of three words of the beginning of a readable text, given in parts."""
    terms: list[str] = []
    room = _MOST_CHARACTERS
    for text in texts:
        terms += index_terms(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return frozenset(tuple(terms[i : i + _SHINGLE]) for i in range(len(terms) - _SHINGLE + 1))


def nearly_same(one: Shingles, other: Shingles, *, part: bool = False) -> bool:
    """Return whether two texts are nearly the same; as a ``part``, whether the other holds nearly all of the one."""
    if min(len(one), len(other)) < _FEWEST:
        return False
    common = len(one & other)
    return common >= _HELD * len(one) if part else common >= _SAME * len(one | other)
