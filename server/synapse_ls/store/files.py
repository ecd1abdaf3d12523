"""The files of an index on disk: where they may lie, which they are, and how they go."""

import shutil
import stat
from contextlib import suppress
from pathlib import Path

# Which file it is, whatever it is called: its device and number.
Identity = tuple[int, int]

# An index that is open: the database, its log of changes and that log's index.
_OPEN = ("", "-wal", "-shm")


def all_of(path: Path) -> list[Path]:
    """Return the paths of an open index, the database first."""
    return [path.with_name(path.name + suffix) for suffix in _OPEN]


def identity(path: Path) -> Identity | None:
    """Return which file lies at a path; None if there is none, or something that is not a regular file."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def check(path: Path) -> None:
    """Raise OSError if something else than a file lies where one of an index belongs: SQLite would wait for a pipe."""
    for file in all_of(path):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(file.lstat().st_mode):
                raise OSError(f"{file.name} is not a file")


def remove(path: Path) -> None:
    """Remove an index file with its companions. Raises OSError."""
    for file in (*all_of(path), path.with_name(f"{path.name}-journal")):
        discard(file)


def discard(path: Path) -> None:
    """Remove whatever lies at a path of ours, also a folder; a link goes, not what it leads to. Raises OSError."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(path.lstat().st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
