"""What is written of outcomes: one commit each, whole notes, and what to try again."""

from pathlib import Path

import pytest

from synapse_ls.indexer import writing
from synapse_ls.indexer.progress import Counters
from synapse_ls.indexer.record import note_record
from synapse_ls.indexer.walk import Found
from synapse_ls.indexer.worker import Gone, Unchanged, Unreadable
from synapse_ls.store import links, meta, notes
from synapse_ls.store.database import Index
from synapse_ls.store.records import FileStamp, NoteRecord


@pytest.fixture
def index(tmp_path: Path) -> Index:
    """Give an index of the notes a.md and b.md, where b.md links to a.md."""
    made = Index(tmp_path / "index.db")
    assert writing.outcomes(made, [record("a.md", "rooks"), record("b.md", "[[a]]")], Counters()) == set()
    return made


def record(path: str, text: str) -> NoteRecord:
    """Return what parsing gives of a note."""
    made = note_record(path, text.encode(), 1, 1 << 20)
    assert isinstance(made, NoteRecord)
    return made


def held(index: Index) -> tuple[list[str], list[tuple[str, str]], int]:
    """Return the paths of the notes, what is skipped and the generation, and close the index."""
    with index.read() as db:
        found = list(notes.stamps(db)), notes.problems(db), meta.generation(db)
    index.close()
    return found


def test_a_batch_is_one_commit_and_tells_what_to_try_again(index: Index) -> None:
    """A fault that passes keeps the note, one that stays does not; what is gone goes."""
    with index.read() as db:
        before = meta.generation(db)
    batch = [
        Gone("none.md"),
        Unreadable("a.md", "no answer", passing=True),
        Unreadable("b.md", "no right"),
        Unchanged("c.md", FileStamp(1, 1, b"")),
        record("d.md", "new"),
    ]
    assert writing.outcomes(index, batch, Counters()) == {"a.md"}
    paths, skipped, generation = held(index)
    assert (paths, generation) == (["a.md", "d.md"], before + 1)
    assert skipped == [("a.md", "no answer; what is known of it is kept, and it is tried again"), ("b.md", "no right")]


def test_attachments_that_are_as_they_were_write_nothing(index: Index) -> None:
    """Others come, change and go in one commit."""
    assert not writing.attachments(index, [None], {})
    assert writing.attachments(index, [Found("x.png", 3, 1), Found("y.png", 4, 1)], {})
    assert not writing.attachments(index, [Found("x.png", 3, 2), Found("y.png", 4, 1)], {"x.png": 3, "y.png": 4})
    assert writing.attachments(index, [Found("x.png", 5, 2)], {"x.png": 3, "y.png": 4})
    with index.read() as db:
        assert links.attachments(db) == {"x.png": 5}
    index.close()


def test_links_to_what_is_forgotten_lead_nowhere_in_the_same_commit(index: Index) -> None:
    """And one generation counts it."""
    with index.read() as db:
        before = meta.generation(db)
        resolved = "SELECT count(*) FROM links WHERE resolved IS NOT NULL"
        assert db.execute(resolved).get == 1
    writing.forget(index, ["a.md"])
    with index.read() as db:
        assert db.execute(resolved).get == 0
    paths, _, generation = held(index)
    assert (paths, generation) == (["b.md"], before + 1)
