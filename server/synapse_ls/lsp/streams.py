"""The two ends of a connection as plain streams of bytes: reading that can be ended, writing that is complete."""

import io
import os
import select
from typing import cast

_BUFFER = 64 * 1024


class _Raw(io.RawIOBase):
    """Reads a file descriptor, which stays the caller's, until its end or until it is stopped."""

    def __init__(self, descriptor: int, first: bytes) -> None:
        self._descriptor = descriptor
        self._first = first
        self._stopped, self._stop = os.pipe()

    def readable(self) -> bool:
        return True

    def stop(self) -> None:
        if not self.closed:
            os.write(self._stop, b".")

    def readinto(self, buffer: object) -> int:
        view = cast("memoryview", buffer)
        if self._first:
            taken, self._first = self._first[: len(view)], self._first[len(view) :]
            view[: len(taken)] = taken
            return len(taken)
        ready, _, _ = select.select([self._descriptor, self._stopped], [], [])
        if self._stopped in ready:
            return 0
        try:
            return os.readv(self._descriptor, [view])
        except ConnectionError:
            return 0

    def close(self) -> None:
        if not self.closed:
            os.close(self._stopped)
            os.close(self._stop)
        super().close()


class Input(io.BufferedReader):
    """A stream of bytes from a file descriptor; ``first`` are bytes that have been read from it already."""

    def __init__(self, descriptor: int, first: bytes = b"") -> None:
        self._raw = _Raw(descriptor, first)
        super().__init__(self._raw, _BUFFER)
        self.abandoned = False

    def stop(self) -> None:
        """End the stream here, also for who waits for more in another thread."""
        self._raw.stop()

    def abandon(self) -> None:
        """End the stream: there is nobody at its other end any more."""
        self.abandoned = True
        self.stop()


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, waiting as long as the reader does not take it."""
    view = memoryview(data)
    while view:
        select.select([], [descriptor], [])
        view = view[os.write(descriptor, view) :]
