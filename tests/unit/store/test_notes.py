"""Notes are written as differences: what did not change keeps its rows, its terms and its vectors."""

from dataclasses import replace
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synapse_ls.core.text import LineIndex, Position, Range, Span
from synapse_ls.links.names import key
from synapse_ls.store import chunks, notes, terms, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.records import FileStamp, HeadingRecord, LinkRecord, NoteRecord
from tests.support.index import embed, note, vector

PLACE = Range(Position(1, 2, 3, 4), Position(5, 6, 7, 8))
TABLES = ("notes", "skipped", "names", "symbols", "headings", "blocks", "tags", "links", "chunks", "terms", "vectors")


def rich(path: str, *passages: str, title: str = "Rich") -> NoteRecord:
    """Return a note with something in every table."""
    record = note(path, *passages, title=title, aliases=["Other"], tags=["a/b"], links=["Target"])
    return replace(
        record, headings=(HeadingRecord(1, "Top", "top", PLACE, Span(0, 9)),), blocks=(("id", PLACE), ("id", PLACE))
    )


def ids(db: Connection, path: str = "a.md") -> dict[str, int]:
    """Return the rows of a note's chunks by their texts, in order."""
    row = notes.by_path(db, path)
    assert row is not None
    return {chunk.text: chunk.id for chunk in chunks.of_note(db, row.id)}


def vectors_of(db: Connection, path: str = "a.md") -> dict[str, int | None]:
    """Return the vectors of a note's chunks by their texts."""
    row = notes.by_path(db, path)
    assert row is not None
    return {chunk.text: chunk.vector for chunk in chunks.of_note(db, row.id)}


def rows(db: Connection, *tables: str) -> dict[str, int]:
    """Return the numbers of rows."""
    return {table: int(db.execute(f"SELECT count(*) FROM {table}").get) for table in tables}  # noqa: S608 - our tables


def test_unchanged_passages_keep_their_rows(db: Connection) -> None:
    """Only what differs is written."""
    notes.put(db, note("a.md", "one", "two", "three"))
    before = ids(db)
    written = notes.put(db, note("a.md", "one", "2", "three"))
    after = ids(db)
    assert (written.chunks_written, written.chunks_kept) == (1, 2)
    assert list(after) == ["one", "2", "three"]
    assert (after["one"], after["three"]) == (before["one"], before["three"])
    assert [terms.count(db, word) for word in ('"one"', '"two"', '"2"', '"three"')] == [1, 0, 1, 1]


def _moved(*passages: str) -> NoteRecord:
    """Return a note whose passages keep their keys wherever they stand."""
    record = note("a.md", *passages)
    return replace(record, chunks=tuple(replace(c, key=c.text.encode().ljust(16)) for c in record.chunks))


def test_moved_passages_keep_their_rows(db: Connection) -> None:
    """Turned round, with one more on top: one is written, all have their new places."""
    notes.put(db, _moved("one", "two", "three"))
    before = ids(db)
    written = notes.put(db, _moved("zero", "three", "two", "one"))
    assert (written.chunks_written, written.chunks_kept) == (1, 3)
    after = ids(db)
    assert list(after) == ["zero", "three", "two", "one"]
    assert {text: after[text] for text in before} == before
    row = notes.by_path(db, "a.md")
    assert row is not None
    last = chunks.of_note(db, row.id)[-1]
    assert (last.ordinal, last.span.start, last.range.start.line) == (3, 18, 6)


def test_equal_passages_stay_apart(db: Connection) -> None:
    """Each row is used once, in order."""
    notes.put(db, _moved("same", "same", "same"))
    written = notes.put(db, _moved("same", "same"))
    assert (written.chunks_written, written.chunks_kept) == (0, 2)
    assert rows(db, "chunks", "terms") == {"chunks": 2, "terms": 2}


def test_writing_the_same_note_again_changes_nothing(db: Connection) -> None:
    """And means nothing new."""
    notes.put(db, rich("a.md", "one", "two"))
    before = ids(db), rows(db, *TABLES)
    written = notes.put(db, rich("a.md", "one", "two"))
    assert (written.names, written.chunks_written, written.chunks_kept) == (frozenset(), 0, 2)
    assert (ids(db), rows(db, *TABLES)) == before


def test_a_changed_title_keeps_old_vectors_answering(db: Connection) -> None:
    """They are stale: the passages wait again, and the new vector takes the old one's place."""
    notes.put(db, note("a.md", "one", title="Before"))
    embed(db, {"one": vector(1)})
    old = vectors_of(db)["one"]
    assert vectors.waiting(db) == 0
    notes.put(db, note("a.md", "one", title="After"))
    assert old is not None
    assert vectors_of(db) == {"one": old}
    assert (vectors.waiting(db), vectors.embedded(db), chunks.coverage(db)) == (1, 0, 1.0)
    (pending,) = vectors.take_pending(db, 9)
    assert pending.title == "After"
    vectors.put(db, pending.input_key, vector(0, 1))
    assert (vectors.waiting(db), vectors.embedded(db)) == (0, 1)
    ((nearest, similarity),) = vectors.nearest(db, vector(0, 1), 9)
    assert nearest == vectors_of(db)["one"]
    assert similarity == pytest.approx(1.0)


def test_an_input_that_changed_alone_is_embedded_again(db: Connection) -> None:
    """A title whose words stay the same ("Notes" and "notes!") still changes what the embedder reads."""
    before = note("a.md", "one", title="Notes")
    after = note("a.md", "one", title="notes!")
    assert before.chunks[0].key == after.chunks[0].key
    notes.put(db, before)
    embed(db, {"one": vector(1)})
    notes.put(db, after)
    assert [chunk.input_key for chunk in vectors.take_pending(db, 9)] == [after.chunks[0].input_key]


def test_the_same_input_elsewhere_has_its_vector_at_once(db: Connection) -> None:
    """A note that moved to another folder is not embedded again, whichever comes first."""
    notes.put(db, note("a.md", "one", title="T"))
    embed(db, {"one": vector(1)})
    notes.put(db, note("folder/a.md", "one", title="T"))
    notes.delete(db, "a.md")
    assert (vectors.waiting(db), rows(db, "vectors", "parked")) == (0, {"vectors": 1, "parked": 0})
    notes.delete(db, "folder/a.md")
    assert rows(db, "vectors", "embeddings", "parked") == {"vectors": 0, "embeddings": 0, "parked": 1}
    notes.put(db, note("b.md", "one", title="T"))
    assert (vectors.waiting(db), rows(db, "vectors", "embeddings", "parked")) == (
        0,
        {"vectors": 1, "embeddings": 1, "parked": 0},
    )


def test_deleting_removes_everything(db: Connection) -> None:
    """No table remembers the note; its vectors are parked; links to it mean nothing now."""
    vectors.prepare(db, "model", 4)
    empty = rows(db, *TABLES, "embeddings")
    written = notes.put(db, rich("a.md", "one", "two"))
    notes.skip(db, "a.md", "unreadable")
    embed(db, {"one": vector(1), "two": vector(0, 1)})
    assert 0 not in rows(db, *TABLES, "embeddings").values()
    assert notes.delete(db, "a.md") == written.names == {"a", "other", "rich"}
    assert rows(db, *TABLES, "embeddings") == empty
    assert notes.delete(db, "a.md") == frozenset()


def test_written_names_are_those_that_changed(db: Connection) -> None:
    """Also if only their case or their kind did: a link may mean something else by that."""
    assert notes.put(db, note("a.md", title="One", aliases=["Two"])).names == {"a", "one", "two"}
    assert notes.put(db, note("a.md", title="One", aliases=["two"])).names == {"two"}
    assert notes.put(db, note("a.md", title="two", aliases=["One"])).names == {"one", "two"}
    assert notes.put(db, note("a.md", title="two", aliases=["One", "3"])).names == {"3"}


def test_details_are_read_as_written(db: Connection) -> None:
    """Headings in order, of equal block ids the first."""
    written = notes.put(db, rich("a.md", "one"))
    assert notes.headings(db, written.note) == [HeadingRecord(1, "Top", "top", PLACE, Span(0, 9))]
    assert notes.blocks(db, written.note) == {"id": PLACE}


def test_stamps_and_problems(db: Connection) -> None:
    """A folder's notes are those below it, not those of its namesakes."""
    for path in ("a/b.md", "a.md", "a0.md", "a b/c.md", "a/b/c.md"):
        notes.put(db, replace(note(path, "x"), hash=b"h", problem="broken" if path == "a0.md" else None))
    assert list(notes.stamps(db, "a")) == ["a/b.md", "a/b/c.md"]
    assert list(notes.stamps(db)) == ["a b/c.md", "a.md", "a/b.md", "a/b/c.md", "a0.md"]
    notes.touch(db, "a.md", FileStamp(7, 8, b"unused"))
    assert notes.stamp(db, "a.md") == FileStamp(7, 8, b"h")
    assert notes.stamp(db, "none.md") is None
    notes.replace_skipped(db, "", {"a/x.md": "closed", "c.md": "closed"})
    notes.replace_skipped(db, "a", {"a/y.md": "locked"})
    assert notes.problems(db) == [("a/y.md", "locked"), ("a0.md", "broken"), ("c.md", "closed")]
    notes.put(db, note("c.md"))
    assert ("c.md", "closed") not in notes.problems(db)
    notes.forget_stamps(db)
    assert set(notes.stamps(db).values()) == {FileStamp(1, 0, b""), FileStamp(7, 0, b""), FileStamp(0, 0, b"")}


def test_lists_of_notes(db: Connection) -> None:
    """Newest first, ties by path; ids that are gone are left out."""
    put = {path: notes.put(db, note(path, mtime=time)).note for path, time in (("b.md", 2), ("a.md", 2), ("c.md", 3))}
    assert [row.path for row in notes.recent(db, 9)] == ["c.md", "a.md", "b.md"]
    assert list(notes.by_ids(db, [put["a.md"], 999])) == [put["a.md"]]
    assert notes.counts(db) == (3, 0)
    assert notes.by_path(db, "none.md") is None


# Small notes that share names, passages and paths, so that steps touch each other.
PASSAGES = st.lists(st.sampled_from(["red fox", "blue whale", "red whale", "   ", "Fuchs 狐狸"]), max_size=4)
NAMES = st.sampled_from(["Fox", "fox", "Whale", "狐"])
STEPS = st.tuples(
    st.sampled_from(["fox.md", "a/fox.md", "whale.md"]),
    st.one_of(st.none(), st.tuples(PASSAGES, NAMES, st.lists(NAMES, max_size=2, unique=True), st.booleans())),
)


def _record(path: str, content: tuple[list[str], str, list[str], bool]) -> NoteRecord:
    passages, title, aliases, headed = content
    record = note(path, *passages, title=title, aliases=aliases, tags=aliases, links=aliases)
    heading = HeadingRecord(1, title, title.casefold(), LineIndex(title).range(Span(0, 3)), Span(0, 3))
    # A chunk's key covers all that its terms are made of.
    keyed = [replace(c, key=blake2b(repr((content, c.text)).encode(), digest_size=16).digest()) for c in record.chunks]
    return replace(record, headings=(heading,) if headed else (), chunks=tuple(keyed))


def _content(db: Connection) -> dict[str, list[object]]:
    """Return everything an index holds, by what it means instead of by row numbers."""
    columns = {
        "names": "kind, t.text, t.key",
        "symbols": "kind, t.name, t.folded, t.heading",
        "headings": "ordinal, t.text, t.slug",
        "tags": "name, t.folded",
        "chunks": "ordinal, t.text, t.span_start, t.key, t.input_key, t.readable",
    }
    query = "SELECT n.path, t.{} FROM {} t JOIN notes n ON n.id = t.note ORDER BY 1, 2, 3"
    held: dict[str, list[object]] = {
        table: list(db.execute(query.format(names, table))) for table, names in columns.items()
    }
    held["notes"] = list(db.execute("SELECT path, title, size, mtime_ns, hash, properties FROM notes ORDER BY 1"))
    held["links"] = list(
        db.execute("SELECT n.path, target, key FROM links JOIN notes n ON n.id = source ORDER BY 1, 2")
    )
    held["terms"] = list(db.execute("SELECT count(*) FROM terms"))
    for match in ('"red"', '"fox"', '"red fox"', '"whale" AND "blue"', '"狐狸"', 'title: "fox"', 'tags: "whale"'):
        found = (
            "SELECT n.path, c.text FROM terms JOIN chunks c ON c.id = terms.rowid JOIN notes n ON n.id = c.note "
            "WHERE terms MATCH ? ORDER BY 1, 2"
        )
        held[match] = list(db.execute(found, (match,)))
    return held


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_any_history_leaves_what_its_last_notes_make(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, tuple[list[str], str, list[str], bool] | None]]
) -> None:
    """Puts and deletes in any order come to the same as writing the final notes into a new index."""
    folder = tmp_path_factory.mktemp("history")
    one, other = Index(folder / "one.db"), Index(folder / "other.db")
    final: dict[str, NoteRecord] = {}
    with one.write() as db:
        for path, content in steps:
            if content is None:
                notes.delete(db, path)
                final.pop(path, None)
            else:
                final[path] = _record(path, content)
                notes.put(db, final[path])
        left = _content(db)
    with other.write() as db:
        for record in final.values():
            notes.put(db, record)
        assert left == _content(db)
    one.close()
    other.close()


def test_links_are_looked_up_by_their_keys(db: Connection) -> None:
    """As the record gives them."""
    record = note("a.md")
    link = LinkRecord("wiki", "Some Target", None, "label", key("Some Target"), PLACE)
    notes.put(db, replace(record, links=(link,)))
    assert list(db.execute("SELECT target, key, label, resolved FROM links")) == [
        ("Some Target", "some target", "label", None)
    ]
