"""A reranker at the other end of a Cohere-compatible ``/rerank`` endpoint, which the user has named."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from synapse_ls.core.config import HttpSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import http
from synapse_ls.inference.registry import LATE_INTERACTION, fingerprint
from synapse_ls.inference.reranker import relevance

HTTP: Final = "http"
"""The value of ``rerank.model`` that means an endpoint, whatever model is behind it."""

_SECTION: Final = "rerank.http"
_RECIPE: Final = "rerank endpoint 1"
# So long after a call that failed nobody waits for another.
_PAUSE_SECONDS: Final = 20.0
_UNPROCESSABLE: Final = 422


def connect(settings: HttpSettings, model: str) -> "RerankEndpoint":
    """Return the reranker behind an endpoint; nothing is sent yet.

    ``model`` is the setting ``rerank.model``. It goes along as the name of the endpoint's model, unless it is ``http``
    or ``late-interaction``: those are ours, and an endpoint of one model needs no name.

    Raises:
        ModelError: The address or the key is wrong.
    """
    url = http.address(settings, _SECTION, "/rerank", "http://localhost:8080/v1")
    caller = http.Caller(url, http.key(settings, _SECTION), "a reranker on this machine answers instead")
    return RerankEndpoint(caller, _model(model))


def called(url: str, model: str) -> str:
    """Return what an answer calls the reranker behind an address: its model, if the user names one that it may know."""
    return _model(model) or http.shown(url)


def _model(model: str) -> str:
    return "" if model in (HTTP, LATE_INTERACTION.name) else model


class RerankEndpoint:
    """The reranker behind an endpoint. ``trouble`` says why it gave no scores when it was last asked."""

    batch = 1000

    def __init__(self, caller: http.Caller, model: str) -> None:
        self.name = called(caller.url, model)
        self.fingerprint = fingerprint(caller.url, model, _RECIPE)
        self.trouble: str | None = None
        self._caller = caller
        self._model = {"model": model} if model else {}
        self._body: Callable[[str, list[str]], dict[str, Any]] = _documents
        self._again = 0.0

    def scores(self, query: str, passages: Sequence[str], seconds: float) -> list[float]:
        """Return the relevance of each passage, 0 to 1, in their order.

        Raises:
            ModelError: The endpoint does not answer in time, or not as it should.
        """
        if not passages:
            return []
        trouble = self.trouble
        if trouble is not None and time.monotonic() < self._again:
            raise ModelError(trouble)
        try:
            found = self._scores(_plain(query), [_plain(passage) for passage in passages], seconds)
        except ModelError as error:
            self._again = time.monotonic() + _PAUSE_SECONDS
            self.trouble = str(error)
            raise
        self.trouble = None
        return found

    def close(self) -> None:
        """Do nothing: connections end by themselves."""

    def _scores(self, query: str, passages: list[str], seconds: float) -> list[float]:
        numbers = _numbers(self._asked(query, passages, seconds), len(passages))
        if numbers is None:
            raise ModelError(
                f"{self._caller.shown} does not answer with one score for each passage, as a rerank endpoint does; "
                "see docs/models.md"
            )
        # Some servers give what their model says, which has no bounds.
        if all(0 <= number <= 1 for number in numbers):
            return numbers
        return [relevance(number) for number in numbers]

    def _asked(self, query: str, passages: list[str], seconds: float) -> object:
        late, body = time.monotonic() + seconds, self._body
        try:
            return self._caller.answer(self._model | body(query, passages), seconds)
        except http.StatusError as error:
            left = late - time.monotonic()
            if error.status != _UNPROCESSABLE or body is _texts or left <= 0:
                raise
            try:
                answer = self._caller.answer(_texts(query, passages), left)
            except ModelError:
                raise error from None
            self._body = _texts
            return answer


def _documents(query: str, passages: list[str]) -> dict[str, Any]:
    return {"query": query, "documents": passages, "top_n": len(passages)}


def _texts(query: str, passages: list[str]) -> dict[str, Any]:
    """Return what text-embeddings-inference wants: it has other names for the same, and answers 422 to these."""
    return {"query": query, "texts": passages, "truncate": True}


def _plain(text: str) -> str:
    # Not even a surrogate alone, which JSON can carry, may trouble the other side; nor may an empty text.
    return text.encode(errors="replace").decode() or " "


def _numbers(answer: object, count: int) -> list[float] | None:
    """Return the score of each of so many passages; None unless there is one finite number for each."""
    rows = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(rows, list) or len(rows) != count:
        return None
    found = dict(pair for row in rows if isinstance(row, dict) and (pair := _pair(row)) is not None)
    return [found[i] for i in range(count)] if found.keys() == set(range(count)) else None


def _pair(row: dict[str, Any]) -> tuple[int, float] | None:
    """Return which passage a row is of, and its score."""
    index, score = row.get("index"), row.get("relevance_score", row.get("score"))
    if type(index) is not int or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        return (index, float(score)) if math.isfinite(score) else None
    except OverflowError:  # a whole number that is too large
        return None
