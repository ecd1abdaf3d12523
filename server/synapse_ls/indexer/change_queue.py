"""What waits to be brought up to date: one queue for all that tells of a change, merged by path."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Changes:
    """Work taken from the queue: files by path, folders to walk again ("" is the whole vault)."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


class ChangeQueue:
    """A queue of changed paths, safe to fill from any thread. Paths are relative to the vault, with ``/``."""

    # More single files than this are cheaper to find by one walk; it also bounds the queue.
    MAX_FILES = 2_000

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
            if len(self._files) > self.MAX_FILES:
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

    def take(self, *, wait: bool) -> Changes:
        """Take all that waits; with ``wait``, first wait until there is something or ``wake`` is called."""
        with self._condition:
            while wait and not (self._files or self._folders or self._wake or self._closed):
                self._working = False
                self._condition.notify_all()
                self._condition.wait()
            self._working = True
            self._wake = False
            folders = _outermost(self._folders)
            files = tuple(path for path in self._files if not _below(path, folders))
            self._files.clear()
            self._folders.clear()
            return Changes(files, folders)


def _outermost(folders: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for folder in sorted(folders):
        if not _below(folder, found):
            found.append(folder)
    return tuple(found)


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)
