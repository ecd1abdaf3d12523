"""The numbered files of an index."""

import os
from pathlib import Path

from synapse_ls.vault import index_files
from tests.support.indexing import write

FILES = (
    "index-2.db", "index-10.db", "index-10.db-wal", "index-.db", "index-3.db.bak", "index.db", "current", "current-x",
    "vault",
)  # fmt: skip


def test_files_are_told_by_their_numbers(tmp_path: Path) -> None:
    """Not by their names' order; what only looks like one is passed over."""
    assert index_files.in_use(tmp_path) is None
    assert index_files.fresh(tmp_path).name == "index-1.db"
    write(tmp_path, dict.fromkeys(FILES, ""))
    assert index_files.in_use(tmp_path) == tmp_path / "index-10.db"
    assert index_files.fresh(tmp_path).name == "index-11.db"
    assert [path.name for path in index_files.others(tmp_path, tmp_path / "index-2.db")] == ["index-10.db"]
    assert [path.name for path in index_files.others(tmp_path, None)] == ["index-10.db", "index-2.db"]


def test_the_named_file_is_in_use_if_it_is_one(tmp_path: Path) -> None:
    """Else the newest that is."""
    write(tmp_path, dict.fromkeys(FILES, ""))
    write(tmp_path, {"current": "index-2.db", "index-11.db/inside": ""})
    assert index_files.in_use(tmp_path) == tmp_path / "index-2.db"
    (tmp_path / "index-2.db").unlink()
    assert index_files.in_use(tmp_path) == tmp_path / "index-10.db"
    assert index_files.in_use(tmp_path / "none") is None


def test_what_lies_in_the_way_goes_and_nothing_else(tmp_path: Path) -> None:
    """A link goes alone; files, and names that are not ours, stay."""
    write(
        tmp_path, {"index-1.db": "", "index-2.db/inside": "", "mine/inside": "", "else/where": "", "index-1.db-wal": ""}
    )
    (tmp_path / "index-3.db").symlink_to(tmp_path / "else")
    os.mkfifo(tmp_path / "index-1.db-shm")
    os.mkfifo(tmp_path / "mine.fifo")
    names = sorted(path.name for path in index_files.make_way(tmp_path))
    assert names == ["index-1.db-shm", "index-2.db", "index-3.db"]
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["else", "index-1.db", "index-1.db-wal", "mine", "mine.fifo"]
    assert (tmp_path / "else" / "where").exists()


def test_clearing_leaves_what_is_named_and_what_is_no_index(tmp_path: Path) -> None:
    """Companions go and stay with their file; a folder in the place of a file goes too."""
    write(tmp_path, dict.fromkeys(FILES, ""))
    write(tmp_path, {"index-7.db/inside": ""})
    index_files.clear(tmp_path, {"index-10.db"})
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["current", "index-10.db", "index-10.db-wal", "index-3.db.bak", "vault"]
