"""The second look at an answer that was sent: its outcome follows as ``synapse/searchReranked``."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from synapse_ls.core.errors import ModelError

if TYPE_CHECKING:
    from synapse_ls.core.model import Candidate
    from synapse_ls.lsp.session import Session
    from synapse_ls.vault.reranking import Reranked, Reranking

_LOG = logging.getLogger(__name__)

RERANKED = "synapse/searchReranked"


@dataclass(frozen=True, slots=True)
class Pending:
    """An answer that was sent, whose shortlist is still to be judged.

    ``shape`` gives the hits of a new order as the client gets them, ``fused`` are those it has.
    """

    search_id: str
    generation: int
    query: str
    shortlist: tuple["Candidate", ...]
    fused: list[dict[str, Any]]
    shape: Callable[[Sequence[tuple[int, "Candidate"]]], list[dict[str, Any]]]
    top_k: int
    seconds: float


async def follow(session: "Session", reranking: "Reranking", pending: Pending, token: threading.Event) -> None:
    """Send the outcome of a pending answer, once, unless ``token`` tells that a newer search has come."""
    started = time.monotonic()
    stop = threading.Event()

    def is_over() -> bool:
        return stop.is_set() or token.is_set() or session.ending

    if is_over():
        return

    def is_stopped() -> bool:
        session.at_rest.wait(pending.seconds)  # who asks meanwhile goes first
        return is_over()

    work = session.rerank(partial(_judged, reranking, pending, started, is_stopped))
    done, _ = await asyncio.wait([work], timeout=pending.seconds)
    stop.set()
    if token.is_set() or session.ending:
        return
    outcome, hits, model = work.result() if done else ("deadline", pending.fused, reranking.name)
    session.notify(
        RERANKED,
        {
            "searchId": pending.search_id,
            "generation": pending.generation,
            "outcome": outcome,
            "hits": hits,
            "model": model,
            "elapsedMs": round((time.monotonic() - started) * 1000, 2),
        },
    )


def _judged(
    reranking: "Reranking", pending: Pending, started: float, is_stopped: Callable[[], bool]
) -> tuple[str, list[dict[str, Any]], str]:
    """Return the outcome, the hits and the name of the model; nothing is raised."""
    try:
        left = pending.seconds - (time.monotonic() - started)
        found: Reranked | None = None
        if left > 0 and not is_stopped():
            found = reranking.rerank(pending.query, pending.shortlist, pending.top_k, left, is_stopped)
        if found is None:
            return "deadline", pending.fused, reranking.name
        # Notes that are listed without being searched for have no shortlist.
        return "reranked", pending.shape(found.order) or pending.fused, found.model
    except ModelError as error:
        _LOG.warning("a search is not reranked: %s", error)
    except Exception:  # noqa: BLE001 - logged; each pending answer has an outcome
        _LOG.exception("a search is not reranked")
    return "failed", pending.fused, reranking.name
