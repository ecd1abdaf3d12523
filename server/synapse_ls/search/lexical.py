"""The lexical leg: notes by the words they hold."""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from synapse_ls.search.query import Query, all_words, any_words
from synapse_ls.store import anchors, chunks, terms
from synapse_ls.store.database import Connection

# BM25's weights of title, aliases, headings, body and tags (``terms.FIELDS``).
FIELD_WEIGHTS = (8.0, 8.0, 4.0, 1.0, 3.0)
# What the labels of the links to a note weigh, whose BM25 is one of their own.
ANCHOR_WEIGHT = 2.0

MAX_IDS = 30_000
_MIN_PASSAGES = 400
_ALL = 0.999


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note as a leg found it, with the chunk that won.

    ``score`` is the leg's own and compares within one answer only; ``coverage`` is the share, 0 to 1, of the query's
    words that the note holds, rare words counting more; ``together`` is the share that the winning chunk holds with the
    titles above it, or the labels of the links to the note if they hold more; ``called`` if these hold all words.
    """

    note: int
    chunk: int
    score: float
    coverage: float = 0.0
    together: float = 0.0
    called: bool = False


def lexical(
    db: Connection,
    query: Query,
    limit: int,
    notes: Sequence[int] | None = None,
    without: Collection[int] = (),
) -> list[NoteHit]:
    """Return notes that hold words of the query, best first: how many, how rare, and how prominent they are.

    ``notes``, ascending, are the only ones looked at, ``without`` are left out. A note counts with all its chunks; its
    best one wins.
    """
    if not query.wanted or notes == []:
        return []
    most = max(_MIN_PASSAGES, 4 * limit)
    hits = _anchored(db, query, most, notes, without, _passages(db, query, most, notes, without))
    return scored(covered(db, db, query, list(hits.values())))[:limit]


def scored(hits: Sequence[NoteHit]) -> list[NoteHit]:
    """Return hits, scored by BM25 so far, best first by that and their coverage."""
    # How many and how rare before how often; the root measured best.
    hits = [_with(hit, score=hit.score * math.sqrt(hit.coverage)) for hit in hits]
    return sorted(hits, key=lambda hit: -hit.score)


def _passages(
    db: Connection, query: Query, limit: int, notes: Sequence[int] | None, without: Collection[int]
) -> dict[int, NoteHit]:
    """Return each note's best chunk; equal scores stand in the order of path and place."""
    found: dict[int, NoteHit] = {}
    for match in dict.fromkeys((any_words(query), all_words(query))):
        rows = [
            row for within in slices(notes) for row in terms.search(db, match, FIELD_WEIGHTS, limit, within, without)
        ]
        for chunk, note, score in sorted(rows, key=lambda row: -row[2]):
            found.setdefault(note, NoteHit(note, chunk, score))
        if len(rows) < limit:  # nothing was cut off, so passages with all the words are there
            break
    return found


def _anchored(  # noqa: PLR0913, PLR0917 - as above
    db: Connection,
    query: Query,
    limit: int,
    notes: Sequence[int] | None,
    without: Collection[int],
    found: dict[int, NoteHit],
) -> dict[int, NoteHit]:
    """Return what was found with the scores of the labels of the links to each note, and the notes that these add."""
    match = any_words(query)
    labelled = {n: s for within in slices(notes) for n, s in anchors.search(db, match, limit, within, without)}
    first = chunks.first_of_notes(db, [note for note in labelled if note not in found])
    added = {note: NoteHit(note, first[note], 0.0) for note in labelled if note in first}
    both = found | added
    for note, score in labelled.items():
        if note in both:
            hit = both[note]
            both[note] = _with(hit, score=hit.score + ANCHOR_WEIGHT * score, called=True)
    return both


def covered(db: Connection, known: Connection, query: Query, hits: Sequence[NoteHit]) -> list[NoteHit]:
    """Return hits in ``db`` with how much of the query they hold; ``known`` says what is rare."""
    matches = [unit.match for unit in query.units]
    if len(matches) < 2:  # noqa: PLR2004 - what was found holds all there is
        return [_with(hit, coverage=1.0, together=1.0) for hit in hits]
    noted = sorted({hit.note for hit in hits})
    note_of = chunks.of_notes(db, noted)
    total = chunks.number(known)
    in_notes: defaultdict[int, float] = defaultdict(float)
    in_chunks: defaultdict[int, float] = defaultdict(float)
    in_labels: defaultdict[int, float] = defaultdict(float)
    whole = 0.0
    for match in matches:
        number = terms.count(known, match)
        rarity = math.log(1 + (total - number + 0.5) / (number + 0.5))
        whole += rarity
        portions = slices(list(note_of)) if number or db is not known else []
        holding = [chunk for within in portions for chunk in terms.holding(db, match, within or ())]
        for chunk in holding:
            in_chunks[chunk] += rarity
        labelled = [note for within in slices(noted) for note in anchors.holding(db, match, within or ())]
        for note in labelled:
            in_labels[note] += rarity
        for note in {note_of[chunk] for chunk in holding}.union(labelled):
            in_notes[note] += rarity
    return [
        _with(
            hit,
            coverage=in_notes[hit.note] / whole,
            together=max(in_chunks[hit.chunk], in_labels[hit.note]) / whole,
            called=in_labels[hit.note] >= _ALL * whole,
        )
        for hit in hits
    ]


def _with(
    hit: NoteHit,
    *,
    score: float | None = None,
    coverage: float | None = None,
    together: float | None = None,
    called: bool | None = None,
) -> NoteHit:
    """Return a hit with some values changed, which ``dataclasses.replace`` does much more slowly."""
    return NoteHit(
        hit.note,
        hit.chunk,
        hit.score if score is None else score,
        hit.coverage if coverage is None else coverage,
        hit.together if together is None else together,
        hit.called if called is None else called,
    )


def slices(ids: Sequence[int] | None) -> list[Sequence[int] | None]:
    """Return ids in portions that one SQL statement takes; None, for all, is one portion."""
    if ids is None:
        return [None]
    return [ids[i : i + MAX_IDS] for i in range(0, len(ids), MAX_IDS)]
