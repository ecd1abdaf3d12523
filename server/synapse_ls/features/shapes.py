"""The shapes of answers as JSON, shared by the protocol and the command line."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from synapse_ls.core.model import Hit, LegState, SearchAnswer
from synapse_ls.core.text import Position, Range
from synapse_ls.vault.status import RerankerStatus, VaultStatus

if TYPE_CHECKING:
    from synapse_ls.features.backlinks import Backlinks

    # It brings the database and the search, for which a start does not wait.
    from synapse_ls.search.related import RelatedAnswer


def answer(value: SearchAnswer, hit: Callable[[Hit], dict[str, Any]], rerank: str = "off") -> dict[str, Any]:
    """Return a search's answer; ``hit`` gives the shape of one hit, ``rerank`` says what becomes of the shortlist."""
    return {
        "generation": value.generation,
        "hits": [hit(found) for found in value.hits],
        "rerank": rerank,
        "legs": {"lexical": _leg(value.lexical), "semantic": _leg(value.semantic), "graph": _leg(value.graph)},
        "elapsedMs": round(value.elapsed_ms, 2),
    }


def related(value: "RelatedAnswer", hit: Callable[[Hit], dict[str, Any]]) -> dict[str, Any]:
    """Return related notes, each with its reasons; ``hit`` gives the shape of one hit."""
    return {
        "generation": value.generation,
        "hits": [{**hit(found.hit), "reasons": list(found.reasons)} for found in value.hits],
        "legs": {"lexical": _leg(value.lexical), "semantic": _leg(value.semantic), "graph": _leg(value.graph)},
        "elapsedMs": round(value.elapsed_ms, 2),
    }


def backlinks(
    value: "Backlinks",
    generation: int,
    place: Callable[[str], dict[str, Any]],
    column: Callable[[Position], int],
    units: Callable[[str], int],
) -> dict[str, Any]:
    """Return backlinks; ``place`` says where the note at a path lies, the rest is as for a hit."""
    return {
        "generation": generation,
        "links": [
            {
                **place(link.path),
                "range": range_(link.range, column),
                "title": link.title,
                "line": {
                    "text": link.line,
                    "link": [units(link.line[: link.link.start]), units(link.line[: link.link.end])],
                },
            }
            for link in value.links
        ],
        "total": value.total,
    }


def hit(
    value: Hit, place: dict[str, Any], column: Callable[[Position], int], units: Callable[[str], int]
) -> dict[str, Any]:
    """Return a hit.

    ``place`` says where it lies (``uri`` or ``path``), ``column`` gives the column of a position and ``units`` the
    length of a text, both in the units of the receiver.
    """
    text = value.snippet.text
    shape: dict[str, Any] = {
        **place,
        "range": range_(value.range, column),
        "title": value.title,
        "headingPath": list(value.heading_path),
        "snippet": {
            "text": text,
            "highlights": [[units(text[: span.start]), units(text[: span.end])] for span in value.snippet.highlights],
        },
        "score": value.score,
        "band": value.band,
        "matchedBy": list(value.matched_by),
        "trust": value.trust,
    }
    if value.ranks is not None:
        ranks = value.ranks
        legs = {"lexical": ranks.lexical, "semantic": ranks.semantic, "graph": ranks.graph}
        shape["ranks"] = {**{leg: rank for leg, rank in legs.items() if rank is not None}, "fused": ranks.fused}
        if ranks.rerank is not None:
            shape["ranks"]["rerank"] = ranks.rerank
    return shape


def range_(value: Range, column: Callable[[Position], int]) -> dict[str, Any]:
    """Return a range as the protocol writes it."""
    return {
        "start": {"line": value.start.line, "character": column(value.start)},
        "end": {"line": value.end.line, "character": column(value.end)},
    }


def vault_status(value: VaultStatus, root: str, reranker: RerankerStatus) -> dict[str, Any]:
    """Return a vault's status; ``root`` is its URI or path."""
    model: dict[str, Any] = {
        "name": value.model.name,
        "dimensions": value.model.dimensions,
        "languages": value.model.languages,
        "state": value.model.state,
    }
    if value.model.note is not None:
        model["note"] = value.model.note
    shape: dict[str, Any] = {
        "root": root,
        "state": value.state,
        "generation": value.generation,
        "notes": value.notes,
        "chunks": value.chunks,
        "embedded": value.embedded,
        "pending": value.pending,
        "skipped": [{"path": path, "reason": reason} for path, reason in value.skipped],
        "model": model,
        "reranker": {"name": reranker.name, "state": reranker.state},
        "counters": {
            "filesRead": value.files_read,
            "chunksEmbedded": value.chunks_embedded,
            "chunksReused": value.chunks_reused,
            "searches": value.searches,
        },
        "cacheBytes": value.cache_bytes,
    }
    if reranker.note is not None:
        shape["reranker"]["note"] = reranker.note
    if value.error is not None:
        shape["lastError"] = value.error
    return shape


def _leg(state: LegState) -> dict[str, Any]:
    shape: dict[str, Any] = {"state": state.state}
    if state.coverage is not None:
        shape["coverage"] = round(state.coverage, 4)
    if state.note is not None:
        shape["note"] = state.note
    return shape
