"""The second look at a shortlist: what a reranker reads, when it is spared, and the order that its scores make."""

from collections.abc import Sequence
from dataclasses import replace

from synapse_ls.core.model import Candidate, Ranks
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.search import fusion

JOINED_WEIGHT = 0.5
_JOINED_POWER = 12


def judged(candidate: Candidate) -> str:
    """Return what a reranker reads of a note: title, headings and the passage that won, as the encoder reads them."""
    return embedder_input(candidate.hit.title, candidate.hit.heading_path, plain(candidate.passage))


def is_certain(shortlist: Sequence[Candidate]) -> bool:
    """Return whether a second look can change nothing of worth.

    That is so where the first note is called what the query says, or where it alone is a strong hit.
    """
    if len(shortlist) < 2:  # noqa: PLR2004 - there is nothing to change places with
        return True
    first, second = shortlist[0], shortlist[1]
    return first.exact or (first.hit.band == "strong" and second.hit.band != "strong")


def reranked(shortlist: Sequence[Candidate], relevance: Sequence[float]) -> list[tuple[int, Candidate]]:
    """Return the candidates, each with its place in the shortlist, in the order of their relevance (0 to 1).

    That becomes their score. Trust and nearness move it as they move every score, and what is called as the query says
    stays above all else. Equal ones keep their order. Those beyond the scores come last, as they were.
    """
    scores = [one.factor * (value + one.exact) for one, value in zip(shortlist, relevance, strict=False)]
    return _ordered(shortlist, scores)


def joined(shortlist: Sequence[Candidate], similarity: Sequence[float]) -> list[tuple[int, Candidate]]:
    """Return the candidates, each with its place in the shortlist, with one more vote in the fusion that ranked them.

    For what is too weak a judge to rank alone: ``similarity`` (0 to 1) orders the vote, which fades as it falls behind
    the best. Equal ones keep their order. Those beyond the scores come last, as they were.
    """
    best = max(similarity, default=0.0) or 1.0
    voted = sorted(range(len(similarity)), key=lambda place: -similarity[place])
    scores = [one.hit.score for one in shortlist[: len(similarity)]]
    for rank, place in enumerate(voted, start=1):
        vote = JOINED_WEIGHT * (similarity[place] / best) ** _JOINED_POWER / (fusion.K + rank)
        scores[place] += shortlist[place].factor * vote
    return _ordered(shortlist, scores)


def _ordered(shortlist: Sequence[Candidate], scores: Sequence[float]) -> list[tuple[int, Candidate]]:
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    first = [(place, _ranked(shortlist[place], scores[place], rank)) for rank, place in enumerate(order, start=1)]
    return [*first, *list(enumerate(shortlist))[len(scores) :]]


def _ranked(candidate: Candidate, score: float, rank: int) -> Candidate:
    ranks: Ranks | None = candidate.hit.ranks
    if ranks is not None:
        ranks = replace(ranks, rerank=rank)
    return replace(candidate, hit=replace(candidate.hit, score=score, ranks=ranks))
