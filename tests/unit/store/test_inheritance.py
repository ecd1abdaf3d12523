"""Vectors taken over from a file that is not opened otherwise."""

import sqlite3
from pathlib import Path

import pytest

from synapse_ls.store import notes, vectors
from synapse_ls.store.database import Index
from synapse_ls.store.inheritance import vectors_of
from tests.support.index import note

VECTOR = b"\0\0\x80\x3f" + bytes(12)


def held(path: Path) -> bytes:
    """Make an index with one vector; returns the key of its input."""
    index = Index(path)
    with index.write() as db:
        vectors.prepare(db, "one", 4)
        notes.put(db, note("a.md", "words"))
        (chunk,) = vectors.take_pending(db, 9)
        vectors.put(db, chunk.input_key, VECTOR)
    index.close()
    return chunk.input_key


@pytest.mark.parametrize("version", [1, 3, 99])
def test_vectors_of_any_format_are_known(tmp_path: Path, version: int) -> None:
    """As long as they are of the same model."""
    path = tmp_path / "index" / "index-1.db"
    key = held(path)
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    assert vectors_of(path, "one")(key) == (VECTOR, b"")
    assert vectors_of(path, "one")(b"another") is None
    assert vectors_of(path, "two")(key) is None


@pytest.mark.parametrize("content", [None, b"", b"no database" * 999])
def test_a_file_that_is_none_knows_nothing(tmp_path: Path, content: bytes | None) -> None:
    """And is not made."""
    path = tmp_path / "index-1.db"
    if content is not None:
        path.write_bytes(content)
    known = vectors_of(path, "one")
    assert [known(b"key"), known(b"key")] == [None, None]
    assert path.exists() == (content is not None)
