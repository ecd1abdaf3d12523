"""The right to write a vault's index, held by one process at a time."""

from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from synapse_ls.store import files
from synapse_ls.store.faults import IndexUnwritableError
from synapse_ls.vault import location


class WriterLock:
    """The lock of an index folder; it goes with the process that holds it, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / location.LOCK_NAME
        self._lock = FileLock(self._path, mode=0o600, thread_local=False)
        # Which file is held.
        self._held: files.Identity | None = None

    def take(self) -> bool:
        """Take the lock if it is free or held already; returns whether it is held.

        What lies in its place and is no file is removed: nobody can hold it.

        Raises:
            IndexUnwritableError: The folder cannot be written.
        """
        if self._lock.is_locked:
            return True
        try:
            if files.identity(self._path) is None:
                files.discard(self._path)
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        except OSError as error:
            raise IndexUnwritableError(
                f"the cache folder {self._folder} cannot be written ({error.strerror or error}); "
                "set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error
        self._held = files.identity(self._path)
        return True

    def in_place(self) -> bool:
        """Return whether another process would meet the lock that is held, if it is."""
        return not self._lock.is_locked or files.identity(self._path) == self._held

    def is_taken(self) -> bool:
        """Return whether another process holds the lock; nothing is changed."""
        if files.identity(self._path) is None:
            return False
        with suppress(IndexUnwritableError):
            if not self.take():
                return True
            self.release()
        return False

    def release(self) -> None:
        """Let another process write."""
        self._lock.release(force=True)
