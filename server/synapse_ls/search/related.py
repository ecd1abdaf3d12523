"""Related notes: for a note or a section of it, the notes that belong with it, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from synapse_ls.core.config import TrustSettings
from synapse_ls.core.model import Band, Hit, Leg, LegState
from synapse_ls.markdown.plain import plain
from synapse_ls.search import hits, seeds
from synapse_ls.search.hits import Found
from synapse_ls.search.lexical import NoteHit
from synapse_ls.search.likeness import nearly_same, shingles
from synapse_ls.search.mentions import mentions
from synapse_ls.search.query import Query
from synapse_ls.search.reasons import Grounds, reasons
from synapse_ls.search.searcher import MAX_LIMIT, SearchCancelledError, Semantic
from synapse_ls.search.seeds import Seed
from synapse_ls.search.sharing import sharing
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.telling import english, telling
from synapse_ls.search.ties import Tie, ties
from synapse_ls.search.trust import Trust, factor
from synapse_ls.store import chunks, meta, relations, vectors
from synapse_ls.store.notes import NoteRow

# How many passages of a note ask for their like, and how many notes each may bring.
_ASKING, _DEPTH = 4, 40
# In how many of them names are looked for.
_NAMING = 24
# Passages of one vault are all somewhat alike; below this cosine they have nothing to do with one another.
_FLOOR = 0.3
# Texts that share less cannot be nearly the same; of the others the first few are compared.
_ALIKE, _HELD = 0.85, 0.6
_COMPARED = 12
_MOST_COPIES = 2
# What speaks less for a note than that is chance.
_LEAST = 0.06


@dataclass(frozen=True, slots=True)
class Weights:
    """What each kind of evidence, itself 0 to 1, is worth."""

    passage: float = 1.0
    words: float = 0.6
    named: float = 2.0
    link: float = 0.3
    shared: float = 0.6
    tags: float = 0.1


@dataclass(frozen=True, slots=True)
class RelatedRequest:
    """Whose relatives are asked for: the note at ``path``, or its section at a 0-based line or under a heading."""

    path: str
    line: int | None = None
    heading: str | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class RelatedHit:
    """A related note with the passage that fits best, and why it is related, the most telling first."""

    hit: Hit
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelatedAnswer:
    """Related notes, best first, with the state of each leg and the generation of the index they were read from."""

    generation: int
    hits: tuple[RelatedHit, ...]
    lexical: LegState
    semantic: LegState
    graph: LegState
    elapsed_ms: float


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the legs say, by note: the nearest passages, the words in common, the names that are used, the ties."""

    query: Query
    passages: Mapping[int, NoteHit]
    words: Mapping[int, NoteHit]
    named: Mapping[int, float]
    ties: Mapping[int, Tie]


def related(  # noqa: PLR0913 - everything that the answer depends on
    snapshot: Snapshot,
    asked: RelatedRequest,
    semantic: Semantic | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    trusting: TrustSettings | None = None,
    weights: Weights | None = None,
) -> RelatedAnswer:
    """Return the notes most related to one or to a section of it; the note itself is not among them.

    Vectors are those of the index: nothing is embedded, and of ``semantic`` only what the model reads and why there is
    none counts. A leg that cannot run is named in the answer and the others answer.

    Raises:
        NotThereError: The vault has no such note, or the note no such heading.
        SearchCancelledError: Soon after ``cancelled()``, asked between steps, became true.
    """
    started = perf_counter()
    seed = seeds.find(snapshot, asked.path, asked.line, asked.heading)
    near, semantic_state = _near(snapshot, seed, semantic or Semantic(), cancelled)
    _stop_if(cancelled)
    titles = [seed.row.title] if seed.heading is None else [seed.row.title, seed.heading.text]
    query = telling(snapshot.db, seed.note, titles, seeds.spread(seed.texts, _ASKING))
    words = sharing(snapshot, query, _DEPTH)
    _stop_if(cancelled)
    named = mentions(snapshot, seeds.spread(seed.texts, _NAMING))
    evidence = _Evidence(query, near, words, named, ties(snapshot, seed))
    _stop_if(cancelled)
    trust = Trust(trusting or TrustSettings())
    found = _ranked(snapshot, seed, evidence, weights or Weights(), trust, asked.limit)
    return RelatedAnswer(
        meta.generation(snapshot.db),
        tuple(found),
        LegState("ok" if (words.keys() | named.keys()) - {seed.note} else "empty", 1.0),
        semantic_state,
        LegState("ok" if evidence.ties else "empty", 1.0),
        (perf_counter() - started) * 1000,
    )


def _near(
    snapshot: Snapshot, seed: Seed, semantic: Semantic, cancelled: Callable[[], bool]
) -> tuple[dict[int, NoteHit], LegState]:
    """Return the notes with passages like the seed's, scored by the nearest pair, and how the leg fared.

    A passage that the model cannot read does not ask.
    """
    if not vectors.has_model(snapshot.db):
        return {}, LegState("unavailable", 0.0, semantic.note or "the index holds no vectors yet")
    coverage = chunks.coverage(snapshot.db)
    with_vector = [(p.vector, text) for p, text in zip(seed.passages, seed.texts, strict=True) if p.vector is not None]
    if not with_vector:
        return {}, LegState("unavailable", coverage, "the note has no vectors yet")
    chosen = seeds.spread(with_vector, _ASKING)
    asking = [vector for vector, text in chosen if not semantic.english_only or english(text)]
    if not asking:
        return {}, LegState("ok", coverage, "the model knows English only")
    best: dict[int, NoteHit] = {}
    for vector in relations.embeddings(seed.held, asking).values():
        _stop_if(cancelled)
        for hit in snapshot.dense(vector, _DEPTH, None, semantic.bands.own(_FLOOR)):
            if hit.note not in best or hit.score > best[hit.note].score:
                best[hit.note] = hit
    best.pop(seed.note, None)
    best = {note: replace(hit, score=semantic.bands.common(hit.score)) for note, hit in best.items()}
    return best, LegState("ok" if best else "empty", coverage)


def _ranked(  # noqa: PLR0913, PLR0917 - an order is made of that much
    snapshot: Snapshot, seed: Seed, evidence: _Evidence, weights: Weights, trust: Trust, limit: int
) -> list[RelatedHit]:
    limit = min(max(limit, 1), MAX_LIMIT)
    legs = (evidence.passages, evidence.words, evidence.named, evidence.ties)
    rows = snapshot.rows(sorted({note for leg in legs for note in leg} - {seed.note}))
    grounds = {note: _grounds(evidence, note, weights) for note in rows}
    trusted = {note: trust.of(row.path, row.properties) for note, row in rows.items()}
    scores = {note: ground.worth * factor(trusted[note]) for note, ground in grounds.items()}
    order = sorted(
        (note for note, ground in grounds.items() if ground.worth >= _LEAST),
        key=lambda note: (-scores[note], rows[note].path),
    )
    copies = _copies(snapshot, seed, evidence, [rows[note] for note in order])
    order = _with_few_copies(order, copies)[:limit]
    shown = _hits(snapshot, evidence, [(rows[note], scores[note]) for note in order])
    neighbours = snapshot.rows(sorted({neighbour for note in order for _, _, neighbour in grounds[note].tie.over}))
    titles = {note: row.title for note, row in neighbours.items()}
    answered = []
    for note, hit in zip(order, shown, strict=True):
        why = replace(grounds[note], same=note in copies)
        told = reasons(why, hit, evidence.query, titles, section=seed.heading is not None)
        found = replace(hit, band=_band(why, evidence, note), matched_by=_legs(why), trust=trusted[note])
        answered.append(RelatedHit(found, tuple(told)))
    return answered


def _grounds(evidence: _Evidence, note: int, weights: Weights) -> Grounds:
    near, words, tie = evidence.passages.get(note), evidence.words.get(note), evidence.ties.get(note, Tie())
    alike = 0.0 if near is None else (near.score - _FLOOR) / (1 - _FLOOR)
    return Grounds(
        same=False,
        tie=tie,
        passage=weights.passage * alike,
        words=0.0 if words is None else weights.words * words.score,
        # A link mostly bears the name of its target, and is counted as a link.
        named=0.0 if tie.to else weights.named * evidence.named.get(note, 0.0),
        link=weights.link * (tie.to + tie.back),
        shared=weights.shared * tie.shared,
        tags=weights.tags * tie.tagged,
    )


def _copies(snapshot: Snapshot, seed: Seed, evidence: _Evidence, order: Sequence[NoteRow]) -> set[int]:
    """Return the notes that say nearly the same as the note, or hold nearly all of the section."""
    near, words = evidence.passages, evidence.words
    suspects = [
        row
        for row in order
        if (row.id in near and near[row.id].score >= _ALIKE) or (row.id in words and words[row.id].score >= _HELD)
    ][:_COMPARED]
    if not suspects:
        return set()
    part = seed.heading is not None
    length = sum(map(len, seed.texts))
    own = shingles(seed.texts)
    found: set[int] = set()
    for row in suspects:
        texts = _texts_of(snapshot, row)
        # What is much longer or shorter as a whole is no copy of the whole.
        fits = part or length < 2 * sum(map(len, texts)) < 4 * length
        if fits and nearly_same(own, shingles(map(plain, texts)), part=part):
            found.add(row.id)
    return found


def _texts_of(snapshot: Snapshot, row: NoteRow) -> list[str]:
    source = snapshot.source(row.path)
    return [] if source is None else [passage.text for passage in chunks.of_note(source[0], source[1].id)]


def _with_few_copies(order: Sequence[int], copies: set[int]) -> list[int]:
    """Return notes with at most two copies in their places; the others come last."""
    surplus = [note for note in order if note in copies][_MOST_COPIES:]
    return [note for note in order if note not in surplus] + surplus


def _hits(snapshot: Snapshot, evidence: _Evidence, ranking: Sequence[tuple[NoteRow, float]]) -> list[Hit]:
    by_words = [hit for hit in evidence.words.values() if hit.note not in evidence.passages]
    found = Found(lexical=by_words, semantic=list(evidence.passages.values()))
    return [one.shown() for one in hits.candidates(snapshot, evidence.query, found, ranking, len(ranking))]


def _band(grounds: Grounds, evidence: _Evidence, note: int) -> Band:
    near, words = evidence.passages.get(note), evidence.words.get(note)
    cosine = 0.0 if near is None else near.score
    share = 0.0 if words is None else words.score
    linked = grounds.tie.to or grounds.tie.back
    if grounds.same or cosine >= hits.STRONG or (linked and cosine >= hits.GOOD):
        return "strong"
    return "good" if linked or cosine >= hits.GOOD or share >= hits.GOOD_COVERAGE else "weak"


def _legs(grounds: Grounds) -> tuple[Leg, ...]:
    tied = grounds.link or grounds.shared or grounds.tags
    told: tuple[tuple[Leg, float], ...] = (
        ("lexical", grounds.words + grounds.named), ("semantic", grounds.passage), ("graph", tied),
    )  # fmt: skip
    return tuple(leg for leg, worth in told if worth > 0)


def _stop_if(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise SearchCancelledError
