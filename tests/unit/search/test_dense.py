"""Notes by nearness."""

from pathlib import Path

from synapse_ls.search.dense import dense
from synapse_ls.store import notes as store_notes
from tests.support.index import note, reading, vector


def test_notes_are_ranked_by_their_nearest_passage(tmp_path: Path) -> None:
    """A note counts by its best chunk, which wins."""
    records = [note("a.md", "first", "second"), note("b.md", "third")]
    places = {"first": vector(0, 1), "second": vector(1, 0.1), "third": vector(1, 1)}
    with reading(tmp_path, records, places) as db:
        hits = dense(db, vector(1), 10)
        rows = store_notes.by_ids(db, [hit.note for hit in hits])
    assert [rows[hit.note].path for hit in hits] == ["a.md", "b.md"]
    assert 0.99 < hits[0].score <= 1


def test_equal_notes_by_path(tmp_path: Path) -> None:
    """The same text in several notes shares a vector; the order is that of the paths."""
    records = [note(f"{name}.md", "same", title="Same") for name in "cab"]
    with reading(tmp_path, records, {"same": vector(1)}) as db:
        rows = store_notes.by_ids(db, [hit.note for hit in dense(db, vector(1), 10)])
        assert [rows[hit.note].path for hit in dense(db, vector(1), 10)] == ["a.md", "b.md", "c.md"]


def test_one_long_note_does_not_hide_the_others(tmp_path: Path) -> None:
    """Neighbours are asked for until enough notes come out."""
    long = note("long.md", *(f"passage {i}" for i in range(100)))
    records = [long, *(note(f"short{i}.md", f"short {i}") for i in range(3))]
    places = {f"passage {i}": vector(1, i / 1000) for i in range(99, -1, -1)}
    places |= {f"short {i}": vector(1, 1 + i) for i in range(3)}
    with reading(tmp_path, records, places) as db:
        assert len(dense(db, vector(1), 4)) == 4


def test_only_the_given_notes(tmp_path: Path) -> None:
    """A restriction works inside the search for neighbours."""
    records = [*(note(f"{i:03}.md", f"near {i:03}") for i in range(50)), note("far.md", "far away")]
    places = {f"near {i:03}": vector(1, i / 1000) for i in range(50)} | {"far away": vector(0, 1)}
    with reading(tmp_path, records, places) as db:
        row = store_notes.by_path(db, "far.md")
        assert row is not None
        assert [hit.note for hit in dense(db, vector(1), 3, [row.id])] == [row.id]
        assert dense(db, vector(1), 3, []) == []
