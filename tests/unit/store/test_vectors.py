"""Vectors: named by input and model, shared, parked when unused, never of two models at once."""

import struct

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.store import chunks, notes, vectors
from synapse_ls.store.database import Connection
from tests.support.index import DIMENSIONS, MODEL, embed, note, vector

NAN, INFINITE = float("nan"), float("inf")


def _texts(db: Connection, *first: str) -> list[str]:
    return [pending.text for pending in vectors.take_pending(db, 99, first)]


def _rows(db: Connection) -> dict[str, int]:
    tables = ("vectors", "embeddings", "parked")
    return {table: int(db.execute(f"SELECT count(*) FROM {table}").get) for table in tables}  # noqa: S608 - our tables


def _found(db: Connection, query: bytes, neighbours: int = 9, within: list[str] | None = None) -> list[str]:
    """Return the texts of the nearest passages; ``within`` are texts as well."""
    text_of = dict(db.execute("SELECT vector, text FROM chunks WHERE vector IS NOT NULL"))
    allowed = None if within is None else [v for v, text in text_of.items() if text in within]
    return [text_of[v] for v, _ in vectors.nearest(db, query, neighbours, allowed)]


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        vector(1)[:-1],
        vector(1) + b"\0\0\0\0",
        struct.pack("<4f", NAN, 0, 0, 1),
        struct.pack("<4f", 1, INFINITE, 0, 0),
        struct.pack("<4f", 1, 0, 0, -INFINITE),
        struct.pack("<4f", 0, 0, 0, 0),
    ],
)
def test_what_is_no_direction_is_refused(db: Connection, bad: bytes) -> None:
    """The table would take a NaN and answer with it."""
    record = note("a.md", "one")
    notes.put(db, record)
    vectors.prepare(db, MODEL, DIMENSIONS)
    with pytest.raises(ModelError, match="the model made a vector"):
        vectors.put(db, record.chunks[0].input_key, bad)
    assert (_rows(db), vectors.waiting(db)) == ({"vectors": 0, "embeddings": 0, "parked": 0}, 1)


def test_signs_of_another_width_are_refused(db: Connection) -> None:
    """Each token of a model of nine dimensions has two bytes."""
    vectors.prepare(db, MODEL, 9)
    with pytest.raises(ModelError, match="the model made a vector"):
        vectors.put(db, b"k" * 16, struct.pack("<9f", *[1.0] * 9), b"\0\0\0")


def test_without_a_model_there_are_no_vectors(db: Connection) -> None:
    """Passages wait all the same."""
    notes.put(db, note("a.md", "one"))
    assert not vectors.has_model(db)
    assert vectors.waiting(db) == 1
    assert vectors.adopt(db, b"k" * 16) is None
    with pytest.raises(ModelError, match="no model"):
        vectors.put(db, b"k" * 16, vector(1))


def test_another_model_drops_all_vectors(db: Connection) -> None:
    """Live and parked ones; everything waits again, failed inputs too."""
    notes.put(db, note("a.md", "one"))
    notes.put(db, note("b.md", "two"))
    notes.put(db, note("c.md", "three"))
    assert not vectors.prepare(db, MODEL, DIMENSIONS)
    embed(db, {"one": vector(1), "two": vector(0, 1)})
    vectors.fail(db, note("c.md", "three").chunks[0].input_key)
    notes.delete(db, "b.md")
    assert not vectors.prepare(db, MODEL, DIMENSIONS)
    assert (_rows(db), vectors.waiting(db)) == ({"vectors": 1, "embeddings": 1, "parked": 1}, 0)
    assert vectors.prepare(db, "another model", 2)
    assert (_rows(db), vectors.waiting(db)) == ({"vectors": 0, "embeddings": 0, "parked": 0}, 2)
    with pytest.raises(ModelError, match="not of 2 numbers"):
        vectors.put(db, note("a.md", "one").chunks[0].input_key, vector(1))
    assert vectors.put(db, note("a.md", "one").chunks[0].input_key, struct.pack("<2f", 1, 0)) == 1


@pytest.mark.parametrize(("fingerprint", "dimensions"), [("other", 4), (MODEL, 8)])
def test_either_fingerprint_or_dimensions_make_another_model(db: Connection, fingerprint: str, dimensions: int) -> None:
    """A vector of one never answers for the other."""
    record = note("a.md", "one")
    notes.put(db, record)
    embed(db, {"one": vector(1)})
    assert vectors.prepare(db, fingerprint, dimensions)
    assert vectors.adopt(db, record.chunks[0].input_key) is None


def test_one_vector_serves_all_passages_of_its_input(db: Connection) -> None:
    """It is parked when the last of them is gone."""
    for path in ("a.md", "b.md"):
        notes.put(db, note(path, "one", title="T"))
    vectors.prepare(db, MODEL, DIMENSIONS)
    assert vectors.put(db, note("a.md", "one", title="T").chunks[0].input_key, vector(1)) == 2
    notes.delete(db, "a.md")
    assert _rows(db) == {"vectors": 1, "embeddings": 1, "parked": 0}
    notes.delete(db, "b.md")
    assert _rows(db) == {"vectors": 0, "embeddings": 0, "parked": 1}


def test_a_vector_that_nobody_waits_for_is_parked(db: Connection) -> None:
    """Its passage changed meanwhile, and may change back."""
    vectors.prepare(db, MODEL, DIMENSIONS)
    assert vectors.put(db, note("a.md", "one").chunks[0].input_key, vector(1)) == 0
    assert _rows(db) == {"vectors": 0, "embeddings": 0, "parked": 1}
    notes.put(db, note("a.md", "one"))
    assert (_rows(db), vectors.waiting(db)) == ({"vectors": 1, "embeddings": 1, "parked": 0}, 0)
    assert _found(db, vector(1)) == ["one"]


def test_signs_of_tokens_stay_with_their_vector(db: Connection) -> None:
    """Live, parked, brought back, and gone with their model."""
    record = note("a.md", "one")
    key = record.chunks[0].input_key
    vectors.prepare(db, MODEL, DIMENSIONS)
    ids = [notes.put(db, record).note]
    assert vectors.put(db, key, vector(1), b"\xf0\x80") == 1
    held = list(chunks.of_notes(db, ids))
    assert list(vectors.token_signs(db, held)) == [(held[0], b"\xf0\x80")]
    notes.delete(db, "a.md")
    assert vectors.get(db, key) == (vector(1), b"\xf0\x80")
    assert db.execute("SELECT count(*) FROM token_signs").get == 0
    ids = [notes.put(db, record).note]
    held = list(chunks.of_notes(db, ids))
    assert list(vectors.token_signs(db, held)) == [(held[0], b"\xf0\x80")]
    vectors.prepare(db, "another model", DIMENSIONS)
    assert db.execute("SELECT count(*) FROM token_signs").get == 0


def test_parked_vectors_are_bounded(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those parked longest ago go first."""
    monkeypatch.setattr(vectors, "MAX_PARKED", 2)
    vectors.prepare(db, MODEL, DIMENSIONS)
    keys = [bytes([i]) * 16 for i in range(4)]
    for key in keys:
        vectors.put(db, key, vector(1))
    db.execute("UPDATE parked SET parked_at = 0 WHERE key IN (SELECT key FROM parked ORDER BY key LIMIT 1)")
    db.execute("UPDATE parked SET parked_at = 1 WHERE key IN (SELECT key FROM parked ORDER BY key LIMIT 1 OFFSET 1)")
    newest = db.execute("SELECT key FROM parked WHERE parked_at > 1 ORDER BY key").fetchall()
    vectors.collect(db)
    assert db.execute("SELECT key FROM parked ORDER BY key").fetchall() == newest


def test_failed_inputs_are_not_tried_again_until_told(db: Connection) -> None:
    """They do not count as waiting."""
    record = note("a.md", "one", "two")
    notes.put(db, record)
    vectors.fail(db, record.chunks[0].input_key)
    assert (_texts(db), vectors.waiting(db)) == (["two"], 1)
    vectors.retry_failed(db)
    assert (_texts(db), vectors.waiting(db)) == (["one", "two"], 2)


def test_passages_without_a_word_need_no_vector(db: Connection) -> None:
    """They count as done."""
    notes.put(db, note("a.md", "   ", "one"))
    assert (_texts(db), vectors.waiting(db), vectors.embedded(db), chunks.coverage(db)) == (["one"], 1, 1, 0.0)


def test_what_is_embedded_next(db: Connection) -> None:
    """Preferred notes, then passages without any vector, then recent notes, then by path and place."""
    for path, mtime in (("old.md", 1), ("b.md", 5), ("a.md", 5), ("new.md", 9)):
        notes.put(db, note(path, f"1 {path}", f"2 {path}", mtime=mtime))
    notes.put(db, note("stale.md", "stale", title="Before", mtime=99))
    embed(db, {"stale": vector(1)})
    notes.put(db, note("stale.md", "stale", title="After", mtime=99))
    late = ["1 new.md", "2 new.md", "1 a.md", "2 a.md", "1 b.md", "2 b.md"]
    assert _texts(db) == [*late, "1 old.md", "2 old.md", "stale"]
    assert _texts(db, "old.md", "none.md") == ["1 old.md", "2 old.md", *late, "stale"]
    assert _texts(db, "stale.md")[0] == "stale"
    assert [pending.text for pending in vectors.take_pending(db, 1)] == ["1 new.md"]


def test_pending_passages_say_what_the_embedder_reads(db: Connection) -> None:
    """Title, headings, text and the name of it all."""
    record = note("a.md", "one", title="T")
    notes.put(db, record)
    (pending,) = vectors.take_pending(db, 9)
    assert (pending.title, pending.heading_path, pending.text, pending.input_key) == (
        "T", (), "one", record.chunks[0].input_key,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "neighbours", "within", "texts"),
    [
        (vector(1), 9, None, ["east", "north", "west"]),
        (vector(0, 1), 1, None, ["north"]),
        (vector(-1, 0.1), 2, None, ["west", "north"]),
        (vector(1), 9, ["west", "north"], ["north", "west"]),
        (vector(1), 1, ["west"], ["west"]),
        (vector(1), 9, [], []),
        (vector(1), 10_000, None, ["east", "north", "west"]),
        (b"\0" * 16, 9, None, []),
    ],
)
def test_nearest_first(
    db: Connection, query: bytes, neighbours: int, within: list[str] | None, texts: list[str]
) -> None:
    """Among all vectors or only some; a query without direction is near to nothing."""
    notes.put(db, note("a.md", "east", "north", "west"))
    embed(db, {"east": vector(1), "north": vector(0, 1), "west": vector(-1)})
    assert _found(db, query, neighbours, within) == texts


def test_similarity_is_the_cosine(db: Connection) -> None:
    """From 1 down to -1."""
    notes.put(db, note("a.md", "east", "west"))
    embed(db, {"east": vector(1), "west": vector(-1)})
    assert [round(similarity, 5) for _, similarity in vectors.nearest(db, vector(1), 9)] == [1.0, -1.0]
