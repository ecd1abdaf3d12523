"""Late interaction by the signs of token vectors."""

import struct
from pathlib import Path

from synapse_ls.search.late import late
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
