"""A disk that fails when told to, between SQLite and the real one."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


class Disk(apsw.VFS):
    """Counts what is written; from the write number ``fails_at`` on every write fails with ``error``."""

    def __init__(self) -> None:
        self.written = 0
        self.fails_at: int | None = None
        self.error: type[apsw.Error] = apsw.IOError
        super().__init__("failing", "", makedefault=True)

    def write(self) -> None:
        """Count a write, or refuse it."""
        self.written += 1
        if self.fails_at is not None and self.written >= self.fails_at:
            raise self.error("the disk of the test fails")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        """Open a file of the real disk."""
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        """Remove a file."""
        self.write()
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("unix", name, flags)  # type: ignore[arg-type]  # what SQLite gave

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.write()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.write()
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self._disk.write()
        super().xSync(flags)


@contextmanager
def failing_disk() -> Iterator[Disk]:
    """Put a disk that can fail under all indexes that are opened meanwhile."""
    disk = Disk()
    try:
        yield disk
    finally:
        disk.unregister()
