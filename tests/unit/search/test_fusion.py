"""Reciprocal rank fusion."""

import pytest

from synapse_ls.search.fusion import rrf


def test_notes_in_several_rankings_rise() -> None:
    """Two middling ranks beat one good one."""
    assert [note for note, _ in rrf([[(1, 1.0), (2, 1.0)], [(3, 1.0), (2, 1.0)]], key=lambda note: note)] == [2, 1, 3]


def test_scores() -> None:
    """Each vote gives its weight over k plus the rank."""
    fused = dict(rrf([[(7, 1.0)], [(8, 0.5), (7, 0.5)]], key=lambda note: note, k=60))
    assert fused == pytest.approx({7: 1 / 61 + 0.5 / 62, 8: 0.5 / 61})


def test_ties_follow_the_key() -> None:
    """Equal scores are ordered by the key, not by the note."""
    assert [note for note, _ in rrf([[(1, 1.0)], [(2, 1.0)]], key=lambda note: -note)] == [2, 1]
