"""What the indexer does when folders or the whole vault are away, and with an edit that leaves the stamp as it was."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from synapse_ls.indexer import pipeline
from tests.support.indexing import PATIENCE, running, write

AWAY = ("m", "the folder is not mounted; its notes are kept as they were")


def until(holds: Callable[[], object]) -> None:
    """Wait for what the indexer brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.02)


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Mount an empty file system on a folder."""
    done = subprocess.run(["mount", "-t", "tmpfs", "none", folder], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting needs rights that this user does not have")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_folder_that_is_not_mounted_keeps_its_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it is away, whoever tells of it, over a restart; when it is back it counts as it is."""
    monkeypatch.setattr(pipeline, "_LOOK_SECONDS", 0.05)
    root, index = tmp_path / "vault", tmp_path / "index" / "index.db"
    write(root, {"a.md": "x"})
    (root / "m").mkdir()
    with running(root, index, watch=True) as made:
        with mounted(root / "m"):
            write(root, {"m/b.md": "one"})
            until(lambda: made.paths() == ["a.md", "m/b.md"] or made.look(folders=[""]))
        until(lambda: made.rows("SELECT * FROM skipped") == [AWAY])
        made.look("m/b.md")
        made.look(folders=["m"])
        made.look(folders=[""])
        assert made.paths() == ["a.md", "m/b.md"]
    with running(root, index, watch=True) as made:
        assert made.paths() == ["a.md", "m/b.md"]
        with mounted(root / "m"):
            write(root, {"m/c.md": "two"})
            until(lambda: made.paths() == ["a.md", "m/c.md"])
            write(root, {"m/d.md": "three"})
            until(lambda: "m/d.md" in made.paths())


def test_a_vault_that_is_not_mounted_keeps_its_index(tmp_path: Path) -> None:
    """An empty folder in its place is not the end of all notes; notes that are deleted in the folder itself go."""
    root, index = tmp_path / "vault", tmp_path / "index" / "index.db"
    write(root, {"a.md": "x"})
    with running(root, index):
        pass
    root.rename(tmp_path / "elsewhere")
    root.mkdir()
    with running(root, index, settle=False) as made:
        until(lambda: made.indexer.error)
        assert "kept" in (made.indexer.error or "")
        assert made.paths() == ["a.md"]
        root.rmdir()
        (tmp_path / "elsewhere").rename(root)
        until(lambda: made.indexer.error is None)
        assert made.paths() == ["a.md"]
        (root / "a.md").unlink()
        made.look(folders=[""])
        assert made.paths() == []


def test_an_edit_that_keeps_size_and_time_is_seen_where_it_is_told(tmp_path: Path) -> None:
    """Also when the folder is walked in the same burst."""
    root = tmp_path / "vault"
    write(root, {"s/a.md": "x"})
    with running(root, tmp_path / "index" / "index.db") as made:
        before, stamp = made.rows("SELECT hash FROM notes"), (root / "s/a.md").stat()
        write(root, {"s/a.md": "y"})
        os.utime(root / "s/a.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        made.look("s/a.md", folders=["s"])
        assert made.rows("SELECT hash FROM notes") != before
