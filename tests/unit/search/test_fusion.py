"""Reciprocal rank fusion."""

import pytest

from synapse_ls.search.fusion import rrf, votes
from synapse_ls.search.lexical import NoteHit


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


def _votes(
    lexical: list[NoteHit], semantic: list[NoteHit], late: dict[int, float] | None = None
) -> list[list[tuple[int, float]]]:
    return [[(note, round(weight, 3)) for note, weight in list_] for list_ in votes(lexical, semantic, late or {}, [9])]


def test_words_that_tell_all_leave_meaning_little() -> None:
    """A lexical vote by the square of its share; meaning fades with the cosine; a link's vote is the same for all."""
    lexical = [NoteHit(1, 10, 8.0, coverage=1.0), NoteHit(2, 20, 4.0, coverage=0.5)]
    semantic = [NoteHit(3, 30, 0.5), NoteHit(1, 11, 0.25)]
    assert _votes(lexical, semantic, {1: 0.3, 3: 0.6, 4: -0.1}) == [
        [(1, 1.0), (2, 0.25)], [(3, 0.6), (1, 0.15)], [(3, 0.4), (1, 0.006)], [], [(9, 0.2)],
    ]  # fmt: skip


def test_words_that_tell_nothing_leave_it_to_meaning() -> None:
    """The nearest passage then counts three times, and one half as near nothing."""
    lexical = [NoteHit(1, 10, 8.0, coverage=0.0)]
    assert _votes(lexical, [NoteHit(3, 30, 0.5), NoteHit(1, 11, 0.25)], {1: 0.3, 3: 0.6})[:3] == [
        [(1, 0.0)], [(3, 1.8), (1, 0.002)], [(3, 1.0), (1, 0.016)],
    ]  # fmt: skip


def test_note_that_others_call_so_has_a_vote_more() -> None:
    """As much as the best note by words."""
    lexical = [NoteHit(1, 10, 8.0, coverage=1.0), NoteHit(2, 20, 4.0, coverage=1.0, called=True)]
    assert _votes(lexical, [])[3] == [(2, 1.0)]


def test_no_leg_no_votes() -> None:
    """Scores of nothing, or none above zero, divide nothing."""
    assert _votes([], [], {1: -0.5}) == [[], [], [], [], [(9, 0.2)]]
    assert _votes([NoteHit(1, 10, 0.0)], [])[0] == [(1, 0.0)]
