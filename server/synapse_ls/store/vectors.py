"""Embeddings, named by the input and the model that made them; the live ones in vec0, the parked ones beside it."""

import math
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Embedded
from synapse_ls.store import meta, schema
from synapse_ls.store.database import Connection

MAX_NEIGHBOURS = 4096
# Embeddings that no chunk uses now: enough for a branch switched away and back, at 5 KiB each.
MAX_PARKED = 10_000

_LIVE = (
    "SELECT v.key, e.embedding, coalesce(t.signs, x'') FROM vectors v JOIN embeddings e ON e.rowid = v.id "
    "LEFT JOIN token_signs t ON t.vector = v.id"
)


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that waits for its vector, with what its embedder input is made of."""

    id: int
    title: str
    heading_path: tuple[str, ...]
    text: str
    input_key: bytes


def prepare(db: Connection, fingerprint: str, dimensions: int) -> bool:
    """Make the index fit a model; returns whether vectors of another model had to go.

    Vectors of two models never meet: with another fingerprint all vectors are dropped and every chunk waits again.
    """
    if meta.get(db, "model") == fingerprint and int(meta.get(db, "dimensions") or 0) == dimensions:
        return False
    other = has_model(db)
    forget_model(db)
    db.execute(schema.VECTOR_TABLE.format(dimensions=dimensions))
    meta.put(db, "model", fingerprint)
    meta.put(db, "dimensions", str(dimensions))
    return other


def has_model(db: Connection) -> bool:
    """Return whether the index was made to hold vectors."""
    return meta.get(db, "model") is not None


def forget_model(db: Connection) -> None:
    """Drop all vectors and what model they are of."""
    db.execute("DROP TABLE IF EXISTS embeddings")
    for table in ("vectors", "token_signs", "parked"):
        db.execute(f"DELETE FROM {table}")
    db.execute("UPDATE chunks SET vector = NULL, stale = 0, failed = 0")
    db.execute("DELETE FROM meta WHERE key IN ('model', 'dimensions')")


def adopt(db: Connection, input_key: bytes) -> int | None:
    """Return the vector of an input, live or brought back from the parked ones, or None."""
    model = meta.get(db, "model")
    if model is None:
        return None
    name = _name(input_key, model)
    row = db.execute("SELECT id FROM vectors WHERE key = ?", (name,)).fetchone()
    if row is not None:
        return int(row[0])
    row = db.execute("DELETE FROM parked WHERE key = ? RETURNING embedding, signs", (name,)).fetchone()
    return None if row is None else _insert(db, name, *row)


def get(db: Connection, input_key: bytes, fingerprint: str | None = None) -> Embedded | None:
    """Return the embedding of an input, live or parked, or None.

    With ``fingerprint``, only if the index holds vectors of that model.
    """
    model = meta.get(db, "model")
    if model is None or fingerprint not in (None, model):
        return None
    name = _name(input_key, model)
    row = db.execute(
        f"{_LIVE} WHERE v.key = ?1 UNION ALL SELECT key, embedding, signs FROM parked WHERE key = ?1", (name,)
    ).fetchone()
    return None if row is None else Embedded(bytes(row[1]), bytes(row[2]))


def put(db: Connection, input_key: bytes, vector: bytes, signs: bytes = b"") -> int:
    """Store the parts of an input's embedding and give it to every chunk that waits for it.

    Returns how many chunks that were. Raises ``ModelError`` for one of another length, or with a vector of no direction
    or with a number that is not finite.
    """
    model = meta.get(db, "model")
    if model is None:
        raise ModelError("the index has no model yet")
    _check(vector, signs, int(meta.get(db, "dimensions") or 0))
    name = _name(input_key, model)
    row = db.execute("SELECT id FROM vectors WHERE key = ?", (name,)).fetchone()
    id_ = int(row[0]) if row is not None else _insert(db, name, vector, signs)
    waiting = db.execute(
        "SELECT id, vector FROM chunks WHERE input_key = ? AND readable = 1 AND (vector IS NULL OR stale = 1)",
        (input_key,),
    ).fetchall()
    for chunk, old in waiting:
        db.execute("UPDATE chunks SET vector = ?, stale = 0, failed = 0 WHERE id = ?", (id_, chunk))
        if old is not None and old != id_:
            release(db, int(old))
    if not waiting and row is None:
        release(db, id_)
    return len(waiting)


def fail(db: Connection, input_key: bytes) -> None:
    """Record that an input could not be embedded, so that it is not tried again before the next start."""
    db.execute(
        "UPDATE chunks SET failed = 1 WHERE input_key = ? AND readable = 1 AND (vector IS NULL OR stale = 1)",
        (input_key,),
    )


def retry_failed(db: Connection) -> None:
    """Let inputs that failed be tried once more."""
    db.execute("UPDATE chunks SET failed = 0 WHERE failed = 1")


def release(db: Connection, vector: int) -> None:
    """Park a vector if no chunk uses it any more."""
    if db.execute("SELECT 1 FROM chunks WHERE vector = ? LIMIT 1", (vector,)).fetchone():
        return
    row = db.execute(f"{_LIVE} WHERE v.id = ?", (vector,)).fetchone()
    if row is not None:
        db.execute(
            "INSERT OR REPLACE INTO parked(key, embedding, signs, parked_at) VALUES(?, ?, ?, ?)", (*row, time.time_ns())
        )
    db.execute("DELETE FROM embeddings WHERE rowid = ?", (vector,))
    db.execute("DELETE FROM token_signs WHERE vector = ?", (vector,))
    db.execute("DELETE FROM vectors WHERE id = ?", (vector,))


def collect(db: Connection) -> None:
    """Drop the vectors parked longest ago beyond ``MAX_PARKED``."""
    db.execute(
        "DELETE FROM parked WHERE key IN (SELECT key FROM parked ORDER BY parked_at DESC LIMIT -1 OFFSET ?)",
        (MAX_PARKED,),
    )


def waiting(db: Connection) -> int:
    """Return how many chunks wait for a vector, whether or not there is a model to make it."""
    query = "SELECT count(*) FROM chunks WHERE readable = 1 AND failed = 0 AND (vector IS NULL OR stale = 1)"
    return int(db.execute(query).get)


def embedded(db: Connection) -> int:
    """Return how many chunks have a current vector or need none."""
    return int(db.execute("SELECT count(*) FROM chunks WHERE readable = 0 OR (vector IS NOT NULL AND stale = 0)").get)


def take_pending(db: Connection, limit: int, first: Sequence[str] = ()) -> list[PendingChunk]:
    """Return chunks to embed next: those of the notes at ``first``, then of recently changed notes, then the rest.

    Chunks without any vector go before those whose old vector still answers.
    """
    marks = ",".join("?" * len(first))
    rows = db.execute(
        "SELECT c.id, n.title, c.heading_path, c.text, c.input_key FROM chunks c JOIN notes n ON n.id = c.note "
        "WHERE c.readable = 1 AND c.failed = 0 AND (c.vector IS NULL OR c.stale = 1) "
        f"ORDER BY n.path IN ({marks}) DESC, c.vector IS NULL DESC, n.mtime_ns DESC, n.path, c.ordinal LIMIT ?",
        (*first, limit),
    )
    return [PendingChunk(i, title, _path(headings), text, key) for i, title, headings, text, key in rows]


def nearest(
    db: Connection, query: bytes, neighbours: int, within: Sequence[int] | None = None
) -> list[tuple[int, float]]:
    """Return (vector, cosine similarity) of the nearest vectors, nearest first.

    ``query`` is float32, little endian; of what ``Embedder.embed_query`` gives, the first row counts. ``within``, if
    given, are the only vectors looked at. Reads every vector (brute force).
    """
    # SQLite turns a list of one into "=", which vec0 applies only after the cut to k; -1 keeps it a list.
    filtered = "" if within is None else f"AND rowid IN ({','.join(map(str, (-1, *within)))})"
    rows = db.execute(
        f"SELECT rowid, distance FROM embeddings WHERE embedding MATCH ? AND k = ? {filtered}",
        (query[: 4 * int(meta.get(db, "dimensions") or 0)], min(neighbours, MAX_NEIGHBOURS)),
    )
    found = [(vector, 1.0 - distance) for vector, distance in rows if distance is not None]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def token_signs(db: Connection, chunks: Sequence[int]) -> Iterator[tuple[int, bytes]]:
    """Yield (chunk, signs of its tokens) of those of the given chunks that have any, by chunk."""
    yield from db.execute(
        "SELECT c.id, t.signs FROM chunks c JOIN token_signs t ON t.vector = c.vector "
        f"WHERE c.id IN ({','.join(map(str, chunks))}) ORDER BY c.id"
    )


def _check(vector: bytes, signs: bytes, dimensions: int) -> None:
    if len(vector) != 4 * dimensions or len(signs) % -(-dimensions // 8):
        raise ModelError(f"the model made a vector of {len(vector)} bytes, not of {dimensions} numbers")
    length = math.hypot(*struct.unpack(f"<{dimensions}f", vector))
    if not math.isfinite(length) or not length:
        raise ModelError("the model made a vector that is no direction; run synapse-ls doctor")


def _insert(db: Connection, name: bytes, vector: bytes, signs: bytes) -> int:
    db.execute("INSERT INTO vectors(key) VALUES(?)", (name,))
    id_ = int(db.last_insert_rowid())
    db.execute("INSERT INTO embeddings(rowid, embedding) VALUES(?, ?)", (id_, vector))
    if signs:
        db.execute("INSERT INTO token_signs(vector, signs) VALUES(?, ?)", (id_, signs))
    return id_


def _name(input_key: bytes, model: str) -> bytes:
    return blake2b(input_key + model.encode(), digest_size=16).digest()


def _path(headings: str) -> tuple[str, ...]:
    return tuple(headings.split("\n")) if headings else ()
