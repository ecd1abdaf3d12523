"""One process at a time has the right to write."""

import fcntl
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


def test_a_folder_that_cannot_hold_it_is_told(tmp_path: Path) -> None:
    """With the variable that helps."""
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnwritableError, match="SYNAPSE_CACHE_DIR"):
        WriterLock(tmp_path / "file").take()
