"""The numbered files of a vault's index: one in use, perhaps one that is being made beside it."""

import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_FILE = re.compile(r"index-([0-9]{1,18})\.db", re.ASCII)
# An index, its companions, and what an interrupted change of ``current`` leaves.
_OURS = re.compile(r"(index.*?\.db)(-wal|-shm|-journal)?|current-.*", re.ASCII)


def fresh(folder: Path) -> Path:
    """Return the path of an index file that is not there yet."""
    return folder / f"index-{max(_numbers(folder), default=0) + 1}.db"


def newest(folder: Path) -> Path | None:
    """Return the index file made last, or None."""
    numbers = _numbers(folder)
    return folder / f"index-{numbers[-1]}.db" if numbers else None


def others(folder: Path, current: Path | None) -> list[Path]:
    """Return the index files beside the one in use, the newest first."""
    paths = [folder / f"index-{number}.db" for number in reversed(_numbers(folder))]
    return [path for path in paths if path != current]


def clear(folder: Path, kept: Collection[str]) -> None:
    """Remove all index files but those named, with their companions."""
    for path in folder.iterdir():
        match = _OURS.fullmatch(path.name)
        if match is not None and match[1] not in kept:
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()


def _numbers(folder: Path) -> list[int]:
    names = (path.name for path in folder.iterdir())
    return sorted(int(match[1]) for name in names if (match := _FILE.fullmatch(name)))
