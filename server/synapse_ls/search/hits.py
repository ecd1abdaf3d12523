"""What an answer says of each note: the passage that won, why it was found, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from synapse_ls.core.model import COMMON_BANDS, Band, Candidate, Hit, Leg, Ranks, Snippet
from synapse_ls.core.text import Position, Range
from synapse_ls.markdown.plain import plain
from synapse_ls.search.lexical import NoteHit
from synapse_ls.search.query import Query
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.search.snippet import snippet
from synapse_ls.store.chunks import ChunkRow
from synapse_ls.store.notes import NoteRow

# Cosines of the bundled model; those of others come on its scale.
GOOD, STRONG = COMMON_BANDS.good, COMMON_BANDS.strong
# Shares of the query's words that stand together.
GOOD_COVERAGE, FULL_COVERAGE = 0.6, 0.999
# Where more notes than this hold all the words together, these do not tell which one is meant.
MOST_FULL = 2

_START = Position(0, 0, 0, 0)
_NOWHERE = Range(_START, _START)


@dataclass(frozen=True, slots=True)
class Found:
    """What the legs brought in, each best first.

    ``late`` are the scores of late interaction of the first notes, ``exact`` the notes that are called what the query
    says. With ``any_language`` the model behind them reads more than English.
    """

    lexical: Sequence[NoteHit] = ()
    semantic: Sequence[NoteHit] = ()
    graph: Sequence[int] = ()
    late: Mapping[int, float] = field(default_factory=dict)
    exact: frozenset[int] = frozenset()
    any_language: bool = False


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the legs say of one note; ``sure`` if words that stand together tell which note is meant."""

    ranks: Ranks
    lexical: NoteHit | None
    semantic: NoteHit | None
    exact: bool
    sure: bool


def candidates(  # noqa: PLR0913 - an answer is made of that much
    snapshot: Snapshot,
    query: Query,
    found: Found,
    ranking: Sequence[tuple[NoteRow, float]],
    count: int,
    *,
    explain: bool = False,
) -> list[Candidate]:
    """Return the first ``count`` notes of a ranking."""
    collected = _evidence(found, [row.id for row, _ in ranking])
    kept = ranking[:count]
    first = snapshot.beginnings([row.id for row, _ in kept])
    winners = {row.id: _winner(collected[row.id]) or first.get(row.id) for row, _ in kept}
    passages = snapshot.passages([chunk for chunk in winners.values() if chunk is not None])
    answered: list[Candidate] = []
    for row, score in kept:
        evidence = collected[row.id]
        band, matched_by = _band(query, evidence, read=found.any_language or query.english), _matched_by(evidence)
        ranks = evidence.ranks if explain else None
        passage = passages.get(winners[row.id] or 0)
        if passage is not None and _is_bare(passage):
            # A heading alone, or a passage of markup, shows nothing: what comes next is shown with it.
            passage = replace(passage, text=passage.text + "\n\n" + snapshot.text_after(row.id, passage.ordinal))
        candidate = _candidate(row, passage, query, score, band, matched_by, ranks)
        answered.append(replace(candidate, exact=evidence.exact))
    return answered


def _is_bare(passage: ChunkRow) -> bool:
    words = plain(passage.text).strip()
    return not words or (passage.heading_path != () and words == passage.heading_path[-1])


def recent(snapshot: Snapshot, rows: Sequence[NoteRow]) -> list[Hit]:
    """Return notes listed without a search, each with its beginning."""
    first = snapshot.beginnings([row.id for row in rows])
    passages = snapshot.passages(list(first.values()))
    found = (passages.get(first.get(row.id, 0)) for row in rows)
    listed = (_candidate(row, one, Query(), 0.0, "good", (), None) for row, one in zip(rows, found, strict=True))
    return [candidate.shown() for candidate in listed]


def _evidence(found: Found, ranking: Sequence[int]) -> dict[int, _Evidence]:
    lexical = {hit.note: (rank, hit) for rank, hit in enumerate(found.lexical, start=1)}
    semantic = {hit.note: (rank, hit) for rank, hit in enumerate(found.semantic, start=1)}
    graph = {note: rank for rank, note in enumerate(found.graph, start=1)}
    sure = sum(hit.together >= FULL_COVERAGE for hit in found.lexical) <= MOST_FULL
    collected: dict[int, _Evidence] = {}
    for fused, note in enumerate(ranking, start=1):
        lexical_rank, by_words = lexical.get(note, (None, None))
        semantic_rank, by_meaning = semantic.get(note, (None, None))
        ranks = Ranks(fused, lexical_rank, semantic_rank, graph.get(note))
        collected[note] = _Evidence(ranks, by_words, by_meaning, note in found.exact, sure)
    return collected


def _winner(evidence: _Evidence) -> int | None:
    """Return the chunk of the leg that ranks the note higher; words, which can be shown, win a draw."""
    ranks = evidence.ranks
    if evidence.lexical and (ranks.semantic is None or (ranks.lexical or 0) <= ranks.semantic):
        return evidence.lexical.chunk
    return evidence.semantic.chunk if evidence.semantic else None


def _matched_by(evidence: _Evidence) -> tuple[Leg, ...]:
    legs: list[Leg] = []
    if evidence.lexical or evidence.exact:
        legs.append("lexical")
    if evidence.semantic:
        legs.append("semantic")
    if evidence.ranks.graph is not None:
        legs.append("graph")
    return tuple(legs)


def _band(query: Query, evidence: _Evidence, *, read: bool) -> Band:
    # A model that does not read the query's language is never sure of anything.
    cosine = evidence.semantic.score if evidence.semantic and read else 0.0
    # Words that stand pages apart, or that were guessed, answer nothing for sure.
    guessed = any(word.corrected for word in query.words)
    share = evidence.lexical.together if evidence.lexical and not guessed else 0.0
    if evidence.exact or cosine >= STRONG or (share >= FULL_COVERAGE and evidence.sure):
        return "strong"
    return "good" if cosine >= GOOD or share >= GOOD_COVERAGE else "weak"


def _candidate(  # noqa: PLR0913, PLR0917 - a hit is made of that much
    row: NoteRow,
    passage: ChunkRow | None,
    query: Query,
    score: float,
    band: Band,
    matched_by: tuple[Leg, ...],
    ranks: Ranks | None,
) -> Candidate:
    if passage is None:  # a note without text
        hit = Hit(row.path, _NOWHERE, row.title, (), Snippet(""), score, band, matched_by, ranks=ranks)
        return Candidate(hit, "", partial(Snippet, ""))
    where, headings = passage.range, passage.heading_path
    hit = Hit(row.path, where, row.title, headings, Snippet(""), score, band, matched_by, ranks=ranks)
    return Candidate(hit, passage.text, partial(snippet, passage.text, query))
