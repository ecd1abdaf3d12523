"""Looking at folders again and again, where the system cannot watch them."""

import os
import time
from collections.abc import Iterable

# An entry as last seen: kind, number, size and both times, at the full precision of the file system. The second time
# moves with every change, also where an editor sets the first one back.
_State = tuple[int, int, int, int, int]
# Looking takes at most this part of the time.
_SHARE = 0.1


class Sweep:
    """What the folders hold; ``changed`` tells what became different since it was last asked.

    ``pause`` is the least time in seconds between two looks.
    """

    def __init__(self, folders: Iterable[str], pause: float) -> None:
        self._folders = list(folders)
        self._pause = pause
        self._due = 0.0
        self._seen: dict[str, dict[str, _State]] = {}
        self.changed()

    def due(self) -> bool:
        """Return whether it is time to look again."""
        return time.monotonic() >= self._due

    def changed(self) -> set[str]:
        """Look at all folders and return the paths of entries that are new, other than before or gone."""
        started = time.monotonic()
        changed: set[str] = set()
        for folder in self._folders:
            before = self._seen.get(folder, {})
            now = _entries(folder)
            if now is not None:
                changed.update(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
                self._seen[folder] = now
        ended = time.monotonic()
        self._due = ended + max(self._pause, (ended - started) / _SHARE)
        return changed


def _entries(folder: str) -> dict[str, _State] | None:
    """Return what a folder holds, by path; None if it cannot be looked at for now."""
    found: dict[str, _State] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                # A folder's own times tell of what lies in it, which is looked at for itself.
                times = (0, 0, 0) if entry.is_dir(follow_symlinks=False) else (
                    status.st_size, status.st_mtime_ns, status.st_ctime_ns
                )  # fmt: skip
                found[entry.path] = (status.st_mode, status.st_ino, *times)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError:
        return None
    return found
