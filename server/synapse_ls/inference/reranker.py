"""A second look at a few passages: how well each answers a query."""

import math
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reranker(Protocol):
    """What reads a query and a passage together. Several threads may call it at once."""

    @property
    def name(self) -> str:
        """What an answer calls it."""

    @property
    def fingerprint(self) -> str:
        """Names the function from query and passage to score: scores of two fingerprints are never mixed."""

    @property
    def batch(self) -> int:
        """How many passages to give it at once; between two calls it can be stopped."""

    def scores(self, query: str, passages: "Sequence[str]", seconds: float) -> list[float]:
        """Return the relevance of each passage, 0 to 1, in their order.

        ``seconds`` is how long the asker waits: another machine is not waited for any longer, this one computes on.

        Raises:
            ModelError: It gives no scores; the message says why.
        """

    def close(self) -> None:
        """Let go of what it holds; it gives no scores any more."""


def relevance(logit: float) -> float:
    """Return the relevance, 0 to 1, that a model of pairs means by a number of any size."""
    if logit < 0:
        # The other form would overflow.
        grown = math.exp(logit)
        return grown / (1 + grown)
    return 1 / (1 + math.exp(-logit))
