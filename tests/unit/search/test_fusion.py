"""Reciprocal rank fusion."""

import pytest

from synapse_ls.search.fusion import rrf


def test_notes_in_several_rankings_rise() -> None:
    """Two middling ranks beat one good one."""
    assert [note for note, _ in rrf([(1, [1, 2]), (1, [3, 2])], key=lambda note: note)] == [2, 1, 3]


def test_scores() -> None:
    """Each ranking gives its weight over k plus the rank."""
    fused = dict(rrf([(1, [7]), (0.5, [8, 7])], key=lambda note: note, k=60))
    assert fused == pytest.approx({7: 1 / 61 + 0.5 / 62, 8: 0.5 / 61})


def test_ties_follow_the_key() -> None:
    """Equal scores are ordered by the key, not by the note."""
    assert [note for note, _ in rrf([(1, [1]), (1, [2])], key=lambda note: -note)] == [2, 1]


def test_weight_zero_is_silent() -> None:
    """A ranking without weight brings no notes."""
    assert rrf([(0, [1, 2])], key=lambda note: note) == []
