"""The log file: it stays small, is its owner's alone, and several servers may write it at once."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from synapse_ls.vault.location import cache_root

_NAME = "synapse-ls.log"
_MAX_BYTES = 1024 * 1024
_OLDER = 2


def path() -> Path:
    """Return where the log is."""
    return cache_root() / "logs" / _NAME


def append(text: str) -> None:
    """Append to the log; a log that has become too long is put aside, two of which are kept.

    Raises:
        OSError: The file cannot be written.
    """
    data = text.encode("utf-8", "backslashreplace")
    file = path()
    for folder in (*reversed(file.parents[1].parents), file.parents[1], file.parent):
        folder.mkdir(exist_ok=True, mode=0o700)
    descriptor = os.open(file.parent, os.O_RDONLY)
    try:
        # Whoever cannot have the lock at once leaves the turning over to the one that has it.
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file.exists() and file.stat().st_size + len(data) > _MAX_BYTES:
                _turn_over(file)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab", buffering=0) as log:
            log.write(data)
    finally:
        os.close(descriptor)


def _turn_over(file: Path) -> None:
    for number in range(_OLDER, 0, -1):
        newer = file.with_name(f"{_NAME}.{number - 1}") if number > 1 else file
        with suppress(FileNotFoundError):
            newer.replace(file.with_name(f"{_NAME}.{number}"))
