"""One search: the legs run over one snapshot, their rankings become one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from synapse_ls.core.config import TrustSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import COMMON_BANDS, Bands, Candidate, LegState, SearchAnswer, SearchFilter, SearchRequest
from synapse_ls.search import hits
from synapse_ls.search.fusion import rrf, votes
from synapse_ls.search.graph import distances, graph
from synapse_ls.search.hits import Found
from synapse_ls.search.lexical import NoteHit
from synapse_ls.search.query import Query, parse
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.spelling import corrected
from synapse_ls.search.trust import Trust, factor
from synapse_ls.store import chunks, meta, notes, vectors
from synapse_ls.store.database import Connection
from synapse_ls.store.notes import NoteRow

MAX_LIMIT = 100

_DEPTH = 50
# The notes whose tokens are compared with the query's, one by one.
_COMPARED = 20
_SEEDS = 10
_NEAR_REACH = 3
_NEAR_BOOST = 1.0
_ENGLISH_ONLY = "the model knows English only"
_ANEW = "the index is being made anew for another model"
_OFF = LegState("off")


class SearchCancelledError(Exception):
    """The asker does not want the answer any more."""


@dataclass(frozen=True, slots=True)
class Semantic:
    """What a search may use of a model.

    ``embed`` gives the vector of a query (float32, little endian) or raises ``ModelError``; it is None where no model
    can be used, and then ``state`` and ``note`` say why. ``model`` is its fingerprint; None fits every index. With
    ``english_only`` queries in other scripts and languages are left to the other legs. ``bands`` tell what its cosines
    mean.
    """

    embed: Callable[[str], bytes] | None = None
    state: Literal["ok", "off", "empty", "unavailable"] = "off"
    note: str | None = None
    english_only: bool = True
    model: str | None = None
    bands: Bands = COMMON_BANDS

    def fits(self, db: Connection) -> bool:
        """Return whether an index holds vectors of this model: those of two models are never compared."""
        return self.model is None or meta.get(db, "model") == self.model


def search(  # noqa: PLR0913, PLR0917 - everything a search needs
    db: Connection,
    request: SearchRequest,
    semantic: Semantic,
    cancelled: Callable[[], bool] = lambda: False,
    buffers: Connection | None = None,
    trusting: TrustSettings | None = None,
) -> SearchAnswer:
    """Answer a search inside the caller's read transaction, with the open ``buffers`` in place of their files.

    ``trusting`` says where a note's trust comes from. A leg that cannot run is named in the answer and the others
    answer. A query without words to look for gives the notes changed last. Raises ``SearchCancelledError`` soon after
    ``cancelled()``, asked between steps, becomes true.
    """
    started = perf_counter()
    limit = min(max(request.limit, 1), MAX_LIMIT)
    query = parse(request.query, prefix_last=True)
    snapshot = Snapshot(db, buffers)
    allowed = _allowed(snapshot, request.filter, query)
    if query.text:
        query = corrected(db, query)
        found, states = _legs(snapshot, request.mode, query, semantic, max(_DEPTH, 2 * limit), allowed, cancelled)
        wanted = max(limit, request.shortlist)
        first = _ranked(snapshot, request, query, found, wanted, trusting or TrustSettings())
        answered, shortlist = [candidate.shown() for candidate in first[:limit]], first[: request.shortlist]
    else:
        states, shortlist = (_OFF, _OFF, _OFF), []
        answered = hits.recent(snapshot, _recent(snapshot, allowed, limit))
    elapsed_ms = (perf_counter() - started) * 1000
    return SearchAnswer(meta.generation(db), tuple(answered), *states, elapsed_ms, tuple(shortlist))


def _allowed(snapshot: Snapshot, asked: SearchFilter, query: Query) -> list[int] | None:
    """Return the notes that may be found, ascending, or None if all may."""
    left = [ids for ids in (snapshot.filtered(asked), snapshot.filtered(query.filter)) if ids is not None]
    if query.excluded and not left:
        left.append(snapshot.filtered(SearchFilter(folders=("/",))) or [])  # all there are
    if not left:
        return None
    without = (snapshot.holding(word.match) for word in query.excluded)
    return sorted(set(left[0]).intersection(*left[1:]).difference(*without))


def _legs(  # noqa: PLR0913, PLR0917 - everything a leg needs
    snapshot: Snapshot,
    mode: str,
    query: Query,
    semantic: Semantic,
    depth: int,
    allowed: Sequence[int] | None,
    cancelled: Callable[[], bool],
) -> tuple[Found, tuple[LegState, LegState, LegState]]:
    """Run the legs that the mode asks for, each to ``depth`` notes; returns how they fared in the answer's order."""
    by_words: list[NoteHit] = []
    by_meaning: list[NoteHit] = []
    late: dict[int, float] = {}
    linked: list[int] = []
    exact: list[int] = []
    lexical_state = semantic_state = graph_state = _OFF
    if mode != "semantic":
        _stop_if(cancelled)
        by_words = snapshot.lexical(query, depth, allowed)
        named = snapshot.called(query.text)
        exact = named if allowed is None else sorted({*named}.intersection(allowed))
        lexical_state = LegState("ok" if by_words or exact else "empty", 1.0)
    if mode != "lexical":
        _stop_if(cancelled)
        # A model votes on what it cannot read only where nobody else has anything to say.
        mute = mode == "hybrid" and bool(by_words) and semantic.english_only and not query.english
        # It can still tell words that are spelt alike, which orders what words have found where it knows the letters.
        embedding, semantic_state = _embedding(snapshot, query, semantic, mute=mute and not query.latin)
        if embedding and mute:
            semantic_state = replace(semantic_state, note=_ENGLISH_ONLY)
            late = _late(snapshot, embedding, by_words, by_meaning)
        elif embedding:
            near = snapshot.dense(embedding, depth, allowed, semantic.bands.related)
            by_meaning = [replace(hit, score=semantic.bands.common(hit.score)) for hit in near]
            semantic_state = replace(semantic_state, state="ok" if by_meaning else "empty")
            late = _late(snapshot, embedding, by_words, by_meaning)
    if mode == "hybrid":
        _stop_if(cancelled)
        seeds = [note for note, _ in _fused(snapshot, Found(by_words, by_meaning, late=late))[:_SEEDS]]
        linked = [note for note, _ in graph(snapshot.db, seeds, depth, allowed)]
        graph_state = LegState("ok" if linked else "empty", 1.0)
    _stop_if(cancelled)
    found = Found(by_words, by_meaning, linked, late, frozenset(exact), any_language=not semantic.english_only)
    return found, (lexical_state, semantic_state, graph_state)


def _embedding(snapshot: Snapshot, query: Query, semantic: Semantic, *, mute: bool) -> tuple[bytes | None, LegState]:
    """Return the vectors of the query, or None where the leg cannot run, and what is said of the leg."""
    db = snapshot.db
    if semantic.embed is None:
        return None, LegState(semantic.state, None, semantic.note)
    if not (held := vectors.has_model(db)) or not semantic.fits(db):
        return None, LegState("unavailable", 0.0, _ANEW if held else "the index holds no vectors yet")
    coverage = chunks.coverage(db)
    if mute or not query.wanted:  # signs alone have no meaning that a model could know
        return None, LegState("ok", coverage, _ENGLISH_ONLY) if mute else LegState("empty", coverage)
    try:
        embedding = semantic.embed(query.text)
    except ModelError as error:
        return None, LegState("unavailable", coverage, str(error))
    dimensions = int(meta.get(db, "dimensions") or 0)
    if not dimensions or not embedding or len(embedding) % (4 * dimensions):
        return None, LegState("unavailable", 0.0, _ANEW)
    return embedding, LegState("ok", coverage)


def _late(
    snapshot: Snapshot, embedding: bytes, by_words: Sequence[NoteHit], by_meaning: Sequence[NoteHit]
) -> dict[int, float]:
    """Return the late interaction of the first notes of both legs: that of the passages that won there."""
    first = {note for note, _ in _fused(snapshot, Found(by_words, by_meaning))[:_COMPARED]}
    found = [hit for hit in (*by_words, *by_meaning) if hit.note in first]
    scores = snapshot.late(embedding, [hit.chunk for hit in found])
    best: dict[int, float] = {}
    for hit in found:
        if hit.chunk in scores:
            best[hit.note] = max(scores[hit.chunk], best.get(hit.note, -1.0))
    return best


def _ranked(  # noqa: PLR0913, PLR0917 - an order is made of that much
    snapshot: Snapshot, request: SearchRequest, query: Query, found: Found, count: int, trusting: TrustSettings
) -> list[Candidate]:
    rows = _rows(snapshot, found)
    scores = dict(_fused(snapshot, found, rows))
    for note in found.exact:  # above everything that ranks can sum up to
        scores[note] = 1.0 + scores.get(note, 0.0)
    trust = Trust(trusting)
    trusted = {note: trust.of(rows[note].path, rows[note].properties) for note in scores}
    moved = {note: factor(trusted[note]) for note in scores}
    # Last, so that of notes that are called alike the one that is near comes first.
    near = None if request.near is None else request.near.encode("utf-8", "replace").decode()
    if near is not None and (anchor := notes.by_path(snapshot.db, near)) is not None:
        away = distances(snapshot.db, anchor.id, _NEAR_REACH)
        moved = {n: by * (1 + _NEAR_BOOST / (1 + away[n])) if n in away else by for n, by in moved.items()}
    scores = {note: score * moved[note] for note, score in scores.items()}
    ranking = sorted(scores.items(), key=lambda pair: (-pair[1], rows[pair[0]].path))
    ranked = [(rows[note], score) for note, score in ranking]
    return [
        replace(candidate, hit=replace(candidate.hit, trust=trusted[note]), factor=moved[note])
        for candidate, (note, _) in zip(
            hits.candidates(snapshot, query, found, ranked, count, explain=request.explain), ranking, strict=False
        )
    ]


def _fused(snapshot: Snapshot, found: Found, rows: Mapping[int, NoteRow] | None = None) -> list[tuple[int, float]]:
    """Fuse the legs' rankings; equal notes stand in the order of their paths."""
    rows = rows or _rows(snapshot, found)
    return rrf(votes(found.lexical, found.semantic, found.late, found.graph), key=lambda note: rows[note].path)


def _rows(snapshot: Snapshot, found: Found) -> dict[int, NoteRow]:
    return snapshot.rows(sorted({*found.graph, *found.exact, *(hit.note for hit in (*found.lexical, *found.semantic))}))


def _recent(snapshot: Snapshot, allowed: Sequence[int] | None, limit: int) -> list[NoteRow]:
    if allowed is None:
        return notes.recent(snapshot.db, limit)
    rows = snapshot.rows(allowed).values()
    return sorted(rows, key=lambda row: (-row.mtime_ns, row.path))[:limit]


def _stop_if(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise SearchCancelledError
