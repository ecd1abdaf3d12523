"""What is said of a note that was found."""

from pathlib import Path

import pytest

from synapse_ls.core.model import Band, Leg
from synapse_ls.search.hits import Found, candidates, recent
from synapse_ls.search.lexical import NoteHit
from synapse_ls.search.query import parse
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import chunks
from synapse_ls.store import notes as store_notes
from tests.support.index import note, reading

WORDS, MEANING = "held by words", "near in meaning"


@pytest.mark.parametrize(
    ("coverage", "cosine", "linked", "band", "legs", "shown"),
    [
        (1.0, None, False, "strong", ("lexical",), WORDS),
        (0.7, None, False, "good", ("lexical",), WORDS),
        (0.3, None, False, "weak", ("lexical",), WORDS),
        (None, 0.7, False, "strong", ("semantic",), MEANING),
        (None, 0.5, False, "good", ("semantic",), MEANING),
        (None, 0.3, False, "weak", ("semantic",), MEANING),
        (0.3, 0.5, True, "good", ("lexical", "semantic", "graph"), WORDS),
        (None, None, True, "weak", ("graph",), WORDS),
    ],
)
def test_band_legs_and_passage(  # noqa: PLR0913, PLR0917 - one column each
    tmp_path: Path,
    coverage: float | None,
    cosine: float | None,
    linked: bool,
    band: Band,
    legs: tuple[Leg, ...],
    shown: str,
) -> None:
    """Words that stand together and the cosine decide the band; the better leg's passage is shown, else the first."""
    with reading(tmp_path, [note("a.md", WORDS, MEANING)]) as db:
        row = store_notes.recent(db, 1)[0]
        first, second = (chunk.id for chunk in chunks.of_note(db, row.id))
        found = Found(
            [] if coverage is None else [NoteHit(row.id, first, 1.0, 1.0, coverage)],
            [] if cosine is None else [NoteHit(row.id, second, cosine)],
            [row.id] if linked else [],
        )
        (one,) = candidates(Snapshot(db), parse("words"), found, [(row, 0.5)], 10)
        hit = one.shown()
    assert (hit.band, hit.matched_by, hit.snippet.text) == (band, legs, shown)


@pytest.mark.parametrize(("holding", "band"), [(1, "strong"), (2, "strong"), (3, "good")])
def test_words_that_many_notes_hold_together_make_none_sure(tmp_path: Path, holding: int, band: Band) -> None:
    """Which of them is meant is not told by the words."""
    with reading(tmp_path, [note(f"{i}.md", WORDS) for i in range(holding)]) as db:
        rows = store_notes.recent(db, 9)
        firsts = chunks.first_of_notes(db, [row.id for row in rows])
        found = Found([NoteHit(row.id, firsts[row.id], 1.0, 1.0, 1.0) for row in rows])
        ranked = candidates(Snapshot(db), parse("held words"), found, [(row, 0.5) for row in rows], 10)
    assert {one.hit.band for one in ranked} == {band}


def test_a_note_without_text_is_listed(tmp_path: Path) -> None:
    """It has a title and a place, and nothing to show."""
    with reading(tmp_path, [note("empty.md")]) as db:
        (hit,) = recent(Snapshot(db), store_notes.recent(db, 1))
    assert (hit.title, hit.snippet.text, hit.range.start.line) == ("empty", "", 0)
