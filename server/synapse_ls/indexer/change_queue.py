"""What waits to be brought up to date: one queue for all that tells of a change, merged by path."""

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Changes:
    """Work taken from the queue: files by path, folders to walk again ("" is the whole vault).

    A file that was told of is among the files even if its folder is walked: a walk sees sizes and times, and an edit
    may have left both as they were.
    """

    files: tuple[str, ...]
    folders: tuple[str, ...]


class ChangeQueue:
    """A queue of changed paths, safe to fill from any thread. Paths are relative to the vault, with ``/``."""

    # More single paths than this are cheaper to find by one walk; it also bounds the queue.
    MAX_PATHS = 2_000

    def __init__(self) -> None:
        self._files: dict[str, None] = {}
        self._folders: set[str] = set()
        self._wake = False
        self._working = True
        self._closed = False
        self._condition = threading.Condition()

    def __len__(self) -> int:
        with self._condition:
            return len(self._files) + len(self._folders)

    def add(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
        """Add changed files and folders to walk."""
        with self._condition:
            self._files.update(dict.fromkeys(files))
            self._folders.update(folders)
            if len(self._files) + len(self._folders) > self.MAX_PATHS:
                self._files.clear()
                self._folders = {""}
            self._condition.notify_all()

    def wake(self) -> None:
        """Let a waiting ``take`` return, with or without changes: there is other work."""
        with self._condition:
            self._wake = True
            self._condition.notify_all()

    def close(self) -> None:
        """Let every ``take``, now and later, return at once."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def wait_idle(self, timeout: float | None) -> bool:
        """Wait until nothing waits and the taker waits for more; returns False if that took too long."""
        with self._condition:
            return self._condition.wait_for(
                lambda: self._closed or not (self._files or self._folders or self._wake or self._working), timeout
            )

    def take(self, *, wait: bool, timeout: float | None = None) -> Changes:
        """Take all that waits.

        With ``wait``, first wait until there is something or ``wake`` is called, at most ``timeout`` seconds.
        """
        with self._condition:
            if wait and not self._something():
                self._working = False
                self._condition.notify_all()
                self._condition.wait_for(self._something, timeout)
            self._working = True
            self._wake = False
            folders = tuple(sorted(folder for folder in self._folders if not _inside(folder, self._folders)))
            files = tuple(path for path in self._files if path not in self._folders)
            self._files.clear()
            self._folders.clear()
            return Changes(files, folders)

    def _something(self) -> bool:
        return bool(self._files or self._folders or self._wake or self._closed)


def _inside(path: str, folders: Collection[str]) -> bool:
    """Return whether one of the folders above a path is among ``folders``."""
    return bool(path) and ("" in folders or any(str(above) in folders for above in PurePosixPath(path).parents))
