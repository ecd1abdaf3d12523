"""The right to write a vault's index, held by one process at a time."""

from pathlib import Path

from filelock import FileLock, Timeout

from synapse_ls.store.faults import IndexUnwritableError
from synapse_ls.vault import location


class WriterLock:
    """The lock of an index folder; it goes with the process that holds it, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / location.LOCK_NAME, mode=0o600, thread_local=False)

    def take(self) -> bool:
        """Take the lock if it is free or held already; returns whether it is held.

        Raises:
            IndexUnwritableError: The folder cannot be written.
        """
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        except OSError as error:
            raise IndexUnwritableError(
                f"the cache folder {self._folder} cannot be written ({error.strerror or error}); "
                "set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error
        return True

    def release(self) -> None:
        """Let another process write."""
        self._lock.release(force=True)
