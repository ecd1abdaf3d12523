"""Names that a workspace symbol query looks through, and passages read back."""

from dataclasses import replace

import pytest

from synapse_ls.core.text import LineIndex, Span
from synapse_ls.store import chunks, notes, symbols
from synapse_ls.store.database import Connection
from synapse_ls.store.records import HeadingRecord, NoteRecord
from tests.support.index import embed, note, vector

PLACE = LineIndex("# Żurek soup").range(Span(0, 12))


def _vault() -> list[NoteRecord]:
    headings = (HeadingRecord(1, "Żurek soup", "żurek-soup", PLACE, Span(0, 12)),)
    return [
        replace(note("b.md", title="Soup", aliases=["Broth"], tags=["food/soup"]), headings=headings),
        note("a.md", title="Soup"),
    ]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*soup*", ["note Soup a.md", "note Soup b.md", "tag food/soup b.md", "heading Żurek soup b.md"]),
        ("z*", ["heading Żurek soup b.md"]),
        ("broth", ["alias Broth b.md"]),
        ("none", []),
    ],
)
def test_symbols_match_folded_names(db: Connection, pattern: str, names: list[str]) -> None:
    """Shortest first, then by name and path; headings have a place."""
    for record in _vault():
        notes.put(db, record)
    found = symbols.matching(db, pattern, 9)
    assert [f"{row.kind} {row.name} {row.path}" for row in found] == names
    assert [row.range for row in found] == [PLACE if row.kind == "heading" else None for row in found]
    assert len(symbols.matching(db, pattern, 1)) == min(1, len(names))


def test_notes_are_called_by_title_alias_or_file(db: Connection) -> None:
    """By path; headings and tags are no names of notes."""
    ids = {record.path: notes.put(db, record).note for record in _vault()}
    assert symbols.called(db, "soup", "soup") == [ids["a.md"], ids["b.md"]]
    assert symbols.called(db, "broth", "broth") == [ids["b.md"]]
    assert symbols.called(db, "", "a") == [ids["a.md"]]
    assert symbols.called(db, "food/soup", "food/soup") == []


def test_passages_are_read_back(db: Connection) -> None:
    """With their notes and vectors; what is gone is left out."""
    a = notes.put(db, note("a.md", "one", "two")).note
    b = notes.put(db, note("b.md", "two", title="a")).note
    notes.put(db, note("c.md"))
    embed(db, {"two": vector(1)})
    one, two = chunks.of_note(db, a)
    (shared,) = chunks.of_note(db, b)
    assert (one.text, one.ordinal, one.span, one.vector) == ("one", 0, Span(0, 3), None)
    assert (two.text, two.ordinal, two.span, two.vector) == ("two", 1, Span(5, 8), shared.vector)
    assert chunks.by_ids(db, [two.id, 999]) == {two.id: two}
    assert two.vector is not None
    assert chunks.with_vectors(db, [two.vector]) == [(two.vector, two.id, a), (two.vector, shared.id, b)]
    assert chunks.vectors_of_notes(db, [a, b]) == [two.vector]
    assert chunks.of_notes(db, [a]) == {one.id: a, two.id: a}
    assert chunks.first_of_notes(db, [a, b, 999]) == {a: one.id, b: shared.id}
    assert chunks.number(db) == 3
    assert chunks.coverage(db) == pytest.approx(2 / 3)


def test_an_empty_index_is_fully_covered(db: Connection) -> None:
    """Nothing waits."""
    assert chunks.coverage(db) == 1.0
