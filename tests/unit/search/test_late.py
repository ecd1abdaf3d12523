"""Late interaction by the signs of token vectors."""

import struct
from pathlib import Path

import pytest

from synapse_ls.core.model import SearchRequest
from synapse_ls.search.late import late
from synapse_ls.search.searcher import Semantic, search
from synapse_ls.store import chunks, vectors
from synapse_ls.store import notes as store_notes
from synapse_ls.store.database import Connection, Index
from tests.support.index import DIMENSIONS, MODEL, note, vector

# Tokens of four dimensions: the upper half of a byte.
EAST, WEST, MIXED = b"\xf0", b"\x00", b"\xc0"


def _query(*tokens: bytes) -> bytes:
    return vector(1) + b"".join(tokens)


def _scores(db: Connection, query: bytes) -> dict[str, float]:
    ids = [row.id for row in store_notes.recent(db, 9)]
    of = {row.id: row.text for row in chunks.by_ids(db, list(chunks.of_notes(db, ids))).values()}
    return {of[chunk]: score for chunk, score in late(db, query, DIMENSIONS, list(of)).items()}


def test_each_token_of_the_query_meets_its_nearest(tmp_path: Path) -> None:
    """The mean of the best cosines; a passage without tokens has no score."""
    signs = {"east": EAST, "both": WEST + EAST, "mixed": MIXED}
    records = [note(f"{name}.md", name) for name in (*signs, "none")]
    index = Index(tmp_path / "index" / "index.db")
    with index.write() as db:
        vectors.prepare(db, MODEL, DIMENSIONS)
        for record in records:
            store_notes.put(db, record)
            name = record.chunks[0].text
            vectors.put(db, record.chunks[0].input_key, vector(1), signs.get(name, b""))
    half = struct.pack("<4f", 0.5, 0.5, 0.5, 0.5)
    minus = struct.pack("<4f", -0.5, -0.5, -0.5, -0.5)
    with index.read() as db:
        assert _scores(db, _query(half)) == {"east": 1.0, "both": 1.0, "mixed": 0.0}
        assert _scores(db, _query(half, minus)) == {"east": 0.0, "both": 1.0, "mixed": 0.0}
        assert _scores(db, _query()) == {}
        assert late(db, _query(half), DIMENSIONS, []) == {}
    index.close()


@pytest.mark.parametrize(
    ("query", "order"),
    [("wann ist der Motor kalt", ["b.md", "a.md"]), ("мотор холодный", ["a.md", "b.md"])],
    ids=["its letters", "another script"],
)
def test_words_of_a_language_that_the_model_does_not_read_are_still_compared(
    tmp_path: Path, query: str, order: list[str]
) -> None:
    """Of notes that words find alike, in letters that it knows; what they mean has no vote, and that is told."""
    text = "wann ist der Motor kalt мотор холодный"
    index = Index(tmp_path / "index" / "index.db")
    with index.write() as db:
        vectors.prepare(db, MODEL, DIMENSIONS)
        for name, signs in (("a", WEST), ("b", EAST), ("c", EAST)):
            record = note(f"{name}.md", f"{text} {name}" if name != "c" else "something else")
            store_notes.put(db, record)
            vectors.put(db, record.chunks[0].input_key, vector(1), signs)
    half = struct.pack("<4f", 0.5, 0.5, 0.5, 0.5)
    with index.read() as db:
        answer = search(db, SearchRequest(query), Semantic(lambda _: _query(half), "ok"))
    index.close()
    assert [hit.path for hit in answer.hits] == order
    assert {hit.matched_by for hit in answer.hits} == {("lexical",)}
    assert answer.semantic.note == "the model knows English only"
