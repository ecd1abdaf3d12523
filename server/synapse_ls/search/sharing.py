"""Notes with a passage that holds many of a text's telling words."""

import math
from collections import defaultdict
from collections.abc import Mapping

from synapse_ls.search.lexical import FIELD_WEIGHTS, NoteHit
from synapse_ls.search.query import Query, Word, any_words
from synapse_ls.search.seeds import id_of
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks, notes, terms
from synapse_ls.store.database import Connection

_PASSAGES_A_NOTE = 4


def sharing(snapshot: Snapshot, query: Query, limit: int) -> dict[int, NoteHit]:
    """Return the notes that share words, by note, each with the passage that holds most of them.

    ``score`` is the share of the words, 0 to 1, that the passage holds with the titles above it, rare words counting
    more. Of the index at most four passages for each of ``limit`` notes are looked at, those with the best BM25; of
    open notes all are.
    """
    if not query.words:
        return {}
    found = terms.search(
        snapshot.db, any_words(query), FIELD_WEIGHTS, _PASSAGES_A_NOTE * limit, None, snapshot.shadowed
    )
    rarity = _rarity(snapshot.db, query.words)
    best: dict[int, NoteHit] = {}
    _add(best, snapshot.db, {chunk: (note, chunk) for chunk, note, _ in found}, rarity)
    if snapshot.buffers is not None and snapshot.typed:
        rows = notes.by_ids(snapshot.buffers, sorted(snapshot.typed))
        note_of = {buffer: id_of(snapshot, snapshot.buffers, row) for buffer, row in rows.items()}
        held = chunks.of_notes(snapshot.buffers, sorted(note_of))
        _add(best, snapshot.buffers, {chunk: (note_of[buffer], -chunk) for chunk, buffer in held.items()}, rarity)
    return best


def _add(
    best: dict[int, NoteHit], db: Connection, passages: Mapping[int, tuple[int, int]], rarity: Mapping[Word, float]
) -> None:
    """Add the best of some passages, given as (note, chunk) of the answer by chunk; the first of equals."""
    shares: defaultdict[int, float] = defaultdict(float)
    for word, worth in rarity.items():
        for chunk in terms.holding(db, word.match, list(passages)):
            shares[chunk] += worth
    for chunk, (note, told) in passages.items():
        if shares[chunk] and (note not in best or shares[chunk] > best[note].score):
            best[note] = NoteHit(note, told, shares[chunk])


def _rarity(db: Connection, words: tuple[Word, ...]) -> dict[Word, float]:
    """Return how rare words are, together 1."""
    total = chunks.number(db)
    numbers = {word: terms.count(db, word.match) for word in words}
    worth = {word: math.log(1 + (total - number + 0.5) / (number + 0.5)) for word, number in numbers.items()}
    whole = sum(worth.values())
    return {word: one / whole for word, one in worth.items()}
