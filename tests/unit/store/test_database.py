"""Opening an index: private, refused where it cannot be used, one snapshot a read, all or nothing a write."""

import os
import re
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from synapse_ls.core.errors import IndexStateError
from synapse_ls.store import meta, notes, schema
from synapse_ls.store.database import Connection, Index, private_folder
from synapse_ls.store.faults import (
    IndexClosedError,
    IndexFormatError,
    IndexLostError,
    IndexRuinedError,
    IndexUnwritableError,
    fault_of,
)
from synapse_ls.store.files import remove
from tests.support.index import note


def _made(path: Path) -> Path:
    """Make an index with one note and close it."""
    index = Index(path)
    with index.write() as db:
        notes.put(db, note("a.md", "some words " * 500))
        meta.bump_generation(db)
    index.close()
    return path


def _paths(index: Index) -> list[str]:
    with index.read() as db:
        return list(notes.stamps(db))


def test_an_index_is_private(tmp_path: Path) -> None:
    """The notes' text is in it: the folder and every file in it are the owner's alone."""
    folder = tmp_path / "cache" / "vault"
    index = Index(folder / "index.db")
    with index.write() as db:
        meta.put(db, "a", "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "index.db": 0o600,
        "index.db-wal": 0o600,
        "index.db-shm": 0o600,
    }
    index.close()


def test_an_index_that_others_could_read_becomes_private(tmp_path: Path) -> None:
    """Whatever modes a copy or a backup gave it."""
    path = _made(tmp_path / "vault" / "index.db")
    path.chmod(0o644)
    path.parent.chmod(0o755)
    Index(path).close()
    assert [stat.S_IMODE(p.stat().st_mode) for p in (path, path.parent)] == [0o600, 0o700]


def test_an_index_is_opened_again(tmp_path: Path) -> None:
    """With what it held, and nothing to be said."""
    index = Index(_made(tmp_path / "index" / "index.db"))
    assert (_paths(index), index.made) == (["a.md"], False)
    index.close()


def _put_and_fail(db: Connection) -> None:
    notes.put(db, note("a.md", "words"))
    raise IndexStateError("the disk is full")


def _text(path: Path) -> None:
    path.write_text("This is a shopping list, not a database. " * 20)


def _truncated(path: Path) -> None:
    _made(path)
    os.truncate(path, path.stat().st_size // 2)


def _overwritten(path: Path) -> None:
    _made(path)
    with path.open("r+b") as file:
        file.write(b"\xff" * 200)


def _newer(path: Path) -> None:
    _made(path)
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    db.close()


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE meta(key, value)")
        db.execute(f"PRAGMA user_version = {schema.VERSION}")
    db.close()


def _foreign_without_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE places(url)")
    db.close()


@pytest.mark.parametrize(
    ("spoil", "error", "sentence"),
    [
        (_text, IndexRuinedError, "the index was damaged"),
        (_truncated, IndexRuinedError, "the index was damaged"),
        (_overwritten, IndexRuinedError, "the index was damaged"),
        (_newer, IndexFormatError, "not made by this version of Synapse (schema"),
        (_foreign, IndexFormatError, "not made by this version of Synapse (a database of another application)"),
        (_foreign_without_version, IndexFormatError, "not made by this version of Synapse (a database of another"),
    ],
)
def test_what_is_no_index_is_refused_and_left_as_it_is(
    tmp_path: Path, spoil: object, error: type[IndexStateError], sentence: str
) -> None:
    """Whoever opens it decides what becomes of it."""
    path = tmp_path / "index" / "index.db"
    path.parent.mkdir()
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(error, match=re.escape(sentence)):
        Index(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"x"])
def test_an_empty_file_is_a_new_index(tmp_path: Path, content: bytes) -> None:
    """As a process killed right at the start leaves it."""
    path = tmp_path / "index" / "index.db"
    path.parent.mkdir()
    path.write_bytes(content)
    index = Index(path)
    assert (index.made, _paths(index)) == (True, [])
    index.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    """The sentence says which variable helps."""
    (tmp_path / "cache").mkdir(mode=0o500)
    with pytest.raises(IndexStateError, match=r"cannot be made .*; set SYNAPSE_CACHE_DIR to a folder"):
        Index(tmp_path / "cache" / "vault" / "index.db")


def test_a_cache_folder_below_a_file_is_told(tmp_path: Path) -> None:
    """As any folder that cannot be made."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(IndexStateError, match=r"the cache folder .* cannot be made .*; set SYNAPSE_CACHE_DIR"):
        private_folder(tmp_path / "cache" / "vault")


def test_a_folder_in_place_of_the_index_is_told(tmp_path: Path) -> None:
    """It is not removed."""
    (tmp_path / "index" / "index.db").mkdir(parents=True)
    with pytest.raises(IndexStateError, match=r"cannot be opened .*; set SYNAPSE_CACHE_DIR"):
        Index(tmp_path / "index" / "index.db")
    assert (tmp_path / "index" / "index.db").is_dir()


@pytest.mark.parametrize("spoil", [None, _text, _newer, _foreign])
def test_a_reader_of_no_index_is_told(tmp_path: Path, spoil: object) -> None:
    """A second process reads along; it never makes or changes the file."""
    path = tmp_path / "index.db"
    if callable(spoil):
        spoil(path)
    before = path.read_bytes() if path.exists() else None
    index = Index(path, read_only=True)
    with (
        pytest.raises(IndexStateError, match=r"cannot be read|damaged|not made by this version"),
        index.read(),
    ):
        pass
    index.close()
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_second_process_reads_along(tmp_path: Path) -> None:
    """It sees commits of the first and may not write."""
    first = Index(tmp_path / "index.db")
    second = Index(tmp_path / "index.db", read_only=True)
    with first.write() as db:
        notes.put(db, note("a.md", "words"))
    assert _paths(second) == ["a.md"]
    with pytest.raises(IndexStateError, match="reading only"), second.write():
        pass
    second.close()
    first.close()


def test_a_read_belongs_to_one_commit(tmp_path: Path) -> None:
    """Not even its first look sees what is committed after it began; a nested read shares its snapshot."""
    index = Index(tmp_path / "index" / "index.db")
    with index.read() as reader:
        with index.write() as db:
            notes.put(db, note("a.md", "words"))
        assert notes.counts(reader) == (0, 0)
        with index.read() as nested:
            assert nested is reader
        assert notes.counts(reader) == (0, 0)
    assert _paths(index) == ["a.md"]
    index.close()


def test_a_reader_sees_nothing_uncommitted(tmp_path: Path) -> None:
    """While the writer is at work."""
    index = Index(tmp_path / "index" / "index.db")
    with index.write() as db:
        notes.put(db, note("a.md", "words"))
        assert _paths(index) == []
    assert _paths(index) == ["a.md"]
    index.close()


def test_a_failed_read_ends_its_transaction(tmp_path: Path) -> None:
    """The next read sees the newest commit."""
    index = Index(tmp_path / "index" / "index.db")
    with pytest.raises(ZeroDivisionError), index.read():
        raise ZeroDivisionError
    with index.write() as db:
        notes.put(db, note("a.md", "words"))
    assert _paths(index) == ["a.md"]
    index.close()


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """And the writer goes on."""
    index = Index(tmp_path / "index" / "index.db")
    with pytest.raises(IndexStateError), index.write() as db:
        _put_and_fail(db)
    assert _paths(index) == []
    with index.write() as db:
        notes.put(db, note("b.md", "words"))
    assert _paths(index) == ["b.md"]
    index.close()


def test_a_failed_commit_leaves_the_writer_usable(tmp_path: Path) -> None:
    """A commit can fail when the disk is full."""
    index = Index(tmp_path / "index" / "index.db")
    refuse = [True]
    index.writer.set_commit_hook(lambda: bool(refuse and refuse.pop()))
    with pytest.raises(Exception, match="constraint"), index.write() as db:
        notes.put(db, note("a.md", "words"))
    with index.write() as db:
        notes.put(db, note("b.md", "words"))
    assert _paths(index) == ["b.md"]
    index.close()


def test_remove_takes_the_companions_along(tmp_path: Path) -> None:
    """And does not mind what is not there."""
    for name in ("i.db", "i.db-wal", "i.db-shm", "other.db"):
        (tmp_path / name).touch()
    remove(tmp_path / "i.db")
    assert [path.name for path in tmp_path.iterdir()] == ["other.db"]


def test_facts_and_the_generation(tmp_path: Path) -> None:
    """A fact is replaced; the generation counts."""
    index = Index(tmp_path / "index" / "index.db")
    with index.write() as db:
        assert (meta.get(db, "a"), meta.generation(db)) == (None, 0)
        meta.put(db, "a", "1")
        meta.put(db, "a", "2")
        assert (meta.get(db, "a"), meta.bump_generation(db), meta.bump_generation(db)) == ("2", 1, 2)
    index.close()


def test_an_index_in_memory_is_like_one_on_disk(tmp_path: Path) -> None:
    """Readers see commits, and it goes with its closing."""
    index = Index(None)
    with index.write() as db:
        notes.put(db, note("a.md", "words"))
        assert _paths(Index(tmp_path / "other" / "index.db")) == []
    assert _paths(index) == ["a.md"]
    index.amend(lambda db: meta.put(db, "generation", "7"))
    with index.read() as db:
        assert meta.generation(db) == 7
    index.close()
    with pytest.raises(IndexClosedError):
        _paths(index)


def test_a_change_from_another_thread_waits_for_the_writer(tmp_path: Path) -> None:
    """Both changes are there in the end."""
    index = Index(tmp_path / "index" / "index.db")
    other = threading.Thread(target=index.amend, args=(lambda db: meta.put(db, "b", "2"),))
    with index.write() as db:
        meta.put(db, "a", "1")
        other.start()
    other.join()
    with index.read() as db:
        assert (meta.get(db, "a"), meta.get(db, "b")) == ("1", "2")
    index.close()


def _read_all_of_what_is_cut(index: Index, path: Path) -> None:
    with index.read() as db:
        os.truncate(path, path.stat().st_size - 4096)
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").fetchall():
            db.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608 - names of our own tables


@pytest.mark.parametrize("name", ["index.db", "index.db-wal", "index.db-shm"])
@pytest.mark.parametrize("put", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_not_opened(tmp_path: Path, name: str, put: Callable[[Path], object]) -> None:
    """A pipe would be waited for."""
    path = _made(tmp_path / "index.db")
    (tmp_path / name).unlink(missing_ok=True)
    put(tmp_path / name)
    with pytest.raises(IndexUnwritableError, match=f"{name} is not a file"):
        Index(path)
    index = Index(path, read_only=True)
    with pytest.raises(IndexLostError, match=f"{name} is not a file"):
        _paths(index)
    index.close()


def test_an_index_knows_whether_its_files_are_in_place(tmp_path: Path) -> None:
    """The one that writes knows of all three, one that reads of the database; a name that is the same is not enough."""
    path = _made(tmp_path / "index.db")
    writer, reader, memory = Index(path), Index(path, read_only=True), Index(None)
    assert _paths(reader) == ["a.md"]
    assert [index.in_place() for index in (writer, reader, memory)] == [True, True, True]
    (tmp_path / "index.db-wal").rename(tmp_path / "log")
    assert [index.in_place() for index in (writer, reader)] == [False, True]
    (tmp_path / "log").rename(tmp_path / "index.db-wal")
    assert writer.in_place()
    path.rename(tmp_path / "other.db")
    path.write_bytes((tmp_path / "other.db").read_bytes())
    assert [index.in_place() for index in (writer, reader, memory)] == [False, False, True]
    assert _paths(reader) == ["a.md"]
    with pytest.raises(IndexLostError):
        _paths(writer)
    for index in (writer, reader, memory):
        index.close()


@pytest.mark.parametrize("name", [None, "copy.db"])
def test_an_index_is_made_of_one_that_is_open_whatever_became_of_its_files(tmp_path: Path, name: str | None) -> None:
    """With all that it holds, also what it has written last, and without what it has lost again."""
    path = _made(tmp_path / "index.db")
    source = Index(path)
    for number in range(40):
        with source.write() as db:
            notes.put(db, note(f"{number}.md", f"words {number} " * 50))
    with source.write() as db:
        for number in range(0, 40, 2):
            notes.delete(db, f"{number}.md")
    expected = _paths(source)
    remove(path)
    copy = Index(None if name is None else tmp_path / name, source=source)
    source.close()
    assert (copy.made, _paths(copy)) == (False, expected)
    with copy.write() as db:
        notes.put(db, note("new.md", "a skylight"))
    assert _paths(copy) == sorted([*expected, "new.md"])
    copy.close()


def test_damage_met_in_a_read_is_told_as_damage(tmp_path: Path) -> None:
    """SQLite has ended the transaction by then, which must not hide what it ended for."""
    path = _made(tmp_path / "index" / "index.db")
    index = Index(path, read_only=True)
    with pytest.raises((apsw.CorruptError, apsw.IOError)) as met:
        _read_all_of_what_is_cut(index, path)
    assert fault_of(met.value) == "ruined"
    index.close()
