"""Whether an index is sound."""

from pathlib import Path

import pytest

from synapse_ls.store import health
from synapse_ls.store.database import Index


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """An index with some pages."""
    index = Index(tmp_path / "index-1.db")
    with index.write() as db:
        db.executemany("INSERT INTO meta VALUES (?, ?)", ((f"key {n}", "x" * 500) for n in range(500)))
    index.close()
    return tmp_path / "index-1.db"


def test_a_sound_index_has_nothing_wrong(made: Path) -> None:
    """And is not changed by the look."""
    before = made.read_bytes()
    assert health.check(made) is None
    assert made.read_bytes() == before


def test_a_damaged_index_is_told(made: Path) -> None:
    """In the middle, where opening it does not show it."""
    data = bytearray(made.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8192] = b"\xff" * 8192
    made.write_bytes(data)
    assert health.check(made)


def test_what_is_no_index_is_told(tmp_path: Path) -> None:
    """Nothing is raised and nothing is made."""
    (tmp_path / "text.db").write_text("no database " * 1000)
    assert health.check(tmp_path / "text.db")
    assert health.check(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


def test_a_look_that_takes_too_long_ends(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read until then is sound."""
    monkeypatch.setattr(health, "_STEPS", 1)
    with pytest.raises(TimeoutError, match="not read to its end"):
        health.check(made, -1)


def test_versions_are_proven_by_use() -> None:
    """Of SQLite and of the vector extension."""
    found = health.versions()
    assert set(found) == {"SQLite", "sqlite-vec"}
