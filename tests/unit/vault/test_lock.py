"""One process at a time has the right to write."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from synapse_ls.store.faults import IndexUnwritableError
from synapse_ls.vault import location
from synapse_ls.vault.lock import WriterLock


def test_the_lock_is_taken_once_and_given_back_once(tmp_path: Path) -> None:
    """However often its holder asks for it."""
    first, second = WriterLock(tmp_path), WriterLock(tmp_path)
    assert (first.take(), first.take(), second.take()) == (True, True, False)
    first.release()
    assert second.take()
    second.release()
    second.release()


def test_a_stranger_keeps_it_by_the_system_alone(tmp_path: Path) -> None:
    """The lock goes with the process that holds it, whatever is left of the file."""
    with (tmp_path / location.LOCK_NAME).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not WriterLock(tmp_path).take()
    lock = WriterLock(tmp_path)
    assert lock.take()
    lock.release()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_lies_in_its_place_and_is_no_file_goes(tmp_path: Path, kind: str) -> None:
    """But not what a link leads to; and not for one who only asks."""
    folder, other = tmp_path / "index", tmp_path / "other"
    folder.mkdir()
    other.write_text("mine")
    place = folder / location.LOCK_NAME
    {"folder": place.mkdir, "pipe": lambda: os.mkfifo(place), "link": lambda: place.symlink_to(other)}[kind]()
    before = place.lstat().st_ino
    lock = WriterLock(folder)
    assert not lock.is_taken()
    assert place.lstat().st_ino == before
    assert lock.take()
    assert stat.S_ISREG(place.lstat().st_mode)
    lock.release()
    assert other.read_text() == "mine"


def test_a_lock_that_others_cannot_meet_is_told(tmp_path: Path) -> None:
    """Its file was removed or replaced; a lock that is not held is met by nobody."""
    lock, place = WriterLock(tmp_path), tmp_path / location.LOCK_NAME
    assert lock.in_place()
    lock.take()
    assert lock.in_place()
    place.rename(tmp_path / "elsewhere")
    assert not lock.in_place()
    place.touch()
    assert not lock.in_place()
    lock.release()
    assert lock.in_place()


def test_a_folder_that_cannot_hold_it_is_told(tmp_path: Path) -> None:
    """With the variable that helps."""
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnwritableError, match="SYNAPSE_CACHE_DIR"):
        WriterLock(tmp_path / "file").take()
