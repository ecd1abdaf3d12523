"""The numbered files of a vault's index: one in use, perhaps one that is being made beside it."""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from synapse_ls.store import files
from synapse_ls.vault import location

_FILE = re.compile(r"index-([0-9]{1,18})\.db", re.ASCII)
# An index, its companions, and what an interrupted change of ``current`` leaves.
_OURS = re.compile(r"(index.*?\.db)(-wal|-shm|-journal)?|current-.*", re.ASCII)


def fresh(folder: Path) -> Path:
    """Return the path of an index file that is not there yet."""
    return folder / f"index-{max(_numbers(folder), default=0) + 1}.db"


def in_use(folder: Path) -> Path | None:
    """Return the index file that is named as the one in use; if that is not there the one made last, or None."""
    named = location.current_index(folder)
    paths = [*([] if named is None else [named]), *others(folder, named)]
    return next((path for path in paths if files.identity(path) is not None), None)


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
                files.discard(path)


def make_way(folder: Path) -> list[Path]:
    """Remove folders, links, pipes and the like that lie where a file of an index belongs; returns which."""
    odd = [path for path in folder.iterdir() if _OURS.fullmatch(path.name) and files.identity(path) is None]
    for path in odd:
        with suppress(OSError):
            files.discard(path)
    return odd


def _numbers(folder: Path) -> list[int]:
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return []
    return sorted(int(match[1]) for name in names if (match := _FILE.fullmatch(name)))
