"""What a reranker reads, when it is spared, and the order that its scores make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse_ls.core.model import Band, Candidate, Hit, Ranks, Snippet
from synapse_ls.core.text import Position, Range
from synapse_ls.search.reranking import is_certain, joined, judged, reranked

NOWHERE = Range(Position(0, 0, 0, 0), Position(0, 0, 0, 0))


def candidate(
    name: str = "a", score: float = 0.02, band: Band = "good", *, exact: bool = False, factor: float = 1.0
) -> Candidate:
    """Return a note of a shortlist."""
    hit = Hit(f"{name}.md", NOWHERE, name, ("Care",), Snippet(""), score, band, ("lexical",), ranks=Ranks(1))
    return Candidate(hit, f"The **passage** of {name}.", lambda: Snippet(f"of {name}"), exact, factor)


def shortlist(*scores: float) -> list[Candidate]:
    """Return a shortlist with the given fused scores."""
    return [candidate(str(place), score) for place, score in enumerate(scores)]


def names(order: list[tuple[int, Candidate]]) -> list[str]:
    """Return the titles in an order."""
    return [one.hit.title for _, one in order]


def test_title_headings_and_the_passage_without_markup_are_read() -> None:
    """And nothing else of the note."""
    assert judged(candidate("Bike")) == "Bike > Care\nThe passage of Bike."


@pytest.mark.parametrize(
    ("bands", "exact", "certain"),
    [
        ((), False, True),
        (("good",), False, True),
        (("good", "good"), True, True),
        (("strong", "good"), False, True),
        (("strong", "strong"), False, False),
        (("good", "good"), False, False),
        (("weak", "strong"), False, False),
    ],
)
def test_what_a_second_look_cannot_change_is_certain(bands: tuple[Band, ...], exact: bool, certain: bool) -> None:
    """One note, an exact name, or the only strong hit."""
    found = [candidate(str(place), band=band, exact=exact and not place) for place, band in enumerate(bands)]
    assert is_certain(found) is certain


def test_relevance_orders_the_shortlist_and_becomes_the_score() -> None:
    """Each note keeps its former place beside it and is told its new rank."""
    order = reranked(shortlist(0.03, 0.02, 0.01), [0.1, 0.3, 0.9])
    assert [place for place, _ in order] == [2, 1, 0]
    assert [one.hit.score for _, one in order] == [0.9, 0.3, 0.1]
    assert [one.hit.ranks.rerank for _, one in order if one.hit.ranks] == [1, 2, 3]


def test_what_is_called_as_the_query_says_stays_on_top() -> None:
    """Whatever the reranker thinks of its passage."""
    found = [candidate("named", exact=True), candidate("other")]
    assert names(reranked(found, [0.0, 1.0])) == ["named", "other"]


def test_trust_moves_relevance() -> None:
    """A note that is not trusted needs twice the relevance."""
    found = [candidate("shaky", factor=0.5), candidate("solid")]
    assert names(reranked(found, [0.8, 0.5])) == ["solid", "shaky"]


def test_equal_relevance_keeps_the_order_and_what_was_not_judged_comes_last() -> None:
    """Nothing is lost or moved without a reason."""
    order = reranked(shortlist(0.05, 0.04, 0.03, 0.02), [0.5, 0.5])
    assert names(order) == ["0", "1", "2", "3"]
    assert [one.hit.ranks.rerank for _, one in order if one.hit.ranks] == [1, 2, None, None]


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        ([0.5, 0.5, 0.5], ["0", "1", "2"]),
        ([0.1, 0.1, 0.9], ["0", "2", "1"]),  # one vote is not enough to pass a note that is far ahead
        ([0.1, 0.9, 0.1], ["1", "0", "2"]),
        ([0.0, 0.0, 0.0], ["0", "1", "2"]),
    ],
)
def test_a_weak_judge_has_one_vote_beside_the_others(similarity: list[float], expected: list[str]) -> None:
    """It moves notes that are close together."""
    assert names(joined(shortlist(0.030, 0.024, 0.018), similarity)) == expected


@given(st.lists(st.tuples(st.floats(0.001, 2), st.floats(0, 1), st.booleans(), st.floats(0.5, 1)), max_size=12))
def test_every_note_stays_once_in_falling_order(drawn: list[tuple[float, float, bool, float]]) -> None:
    """Whatever the scores: a permutation, best first."""
    found = [candidate(str(i), s, exact=exact, factor=factor) for i, (s, _, exact, factor) in enumerate(drawn)]
    for order in (reranked, joined):
        made = order(found, [value for _, value, _, _ in drawn])
        assert sorted(place for place, _ in made) == list(range(len(found)))
        scores = [one.hit.score for _, one in made]
        assert scores == sorted(scores, reverse=True)
