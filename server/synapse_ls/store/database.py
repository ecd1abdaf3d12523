"""Opening an index: one SQLite file in a private folder, one writer connection, a reader connection a thread."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

import apsw
import sqlite_vec

from synapse_ls.core.errors import IndexStateError
from synapse_ls.store import files, schema
from synapse_ls.store.faults import (
    IndexClosedError,
    IndexFormatError,
    IndexLostError,
    IndexRuinedError,
    IndexUnwritableError,
    fault_of,
)

Connection = apsw.Connection

_BUSY_MS = 5_000


class Index:
    """The index of one vault: a file, or with ``path`` None a database in memory that goes when it is closed.

    Readers see committed state only. The writer connection belongs to whoever holds the index's lock and to one
    thread at a time. A file that is not there is made, with what ``source`` holds if that is given.

    Raises:
        IndexRuinedError: The file is no database, or a damaged one.
        IndexFormatError: It was made by another version of Synapse or by another application.
        IndexUnwritableError: It cannot be opened or made.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False, source: "Index | None" = None) -> None:
        self.path = path
        self.read_only = read_only
        # Whether there was none before.
        self.made = False
        self._uri = None if path is not None else f"file:/synapse-{uuid4().hex}?vfs=memdb"
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._reading = 0
        self._closed = False
        self._changed = threading.Condition()
        self._writer: Connection | None = None
        # Which files were opened.
        self._files: list[files.Identity | None] = []
        if not read_only:
            self._writer = self._opened_to_write(source)

    @property
    def writer(self) -> Connection:
        """The one connection that may write."""
        if self._writer is None:
            raise IndexStateError("this index is open for reading only: another Synapse is writing it")
        return self._writer

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give this thread's reader inside one read transaction: everything seen belongs to one commit.

        Raises:
            IndexClosedError: The index is closed.
        """
        with self._changed:
            if self._closed:
                raise IndexClosedError("the index is closed")
            self._reading += 1
        try:
            connection = self._reader()
            if connection.in_transaction:  # a nested reader shares the outer snapshot
                yield connection
                return
            connection.execute("BEGIN")
            try:
                # The snapshot is taken by the first look, not by BEGIN.
                connection.execute("SELECT 1 FROM meta LIMIT 1").fetchall()
                yield connection
            finally:
                _undo(connection)
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give the writer inside one transaction, committed unless the block raises."""
        with _transaction(self.writer) as writer:
            yield writer

    def amend(self, change: Callable[[Connection], None]) -> None:
        """Change something in a transaction of its own, from any thread, also while the writer is at work."""
        connection = self._connected(apsw.SQLITE_OPEN_READWRITE)
        try:
            with _transaction(connection):
                change(connection)
        finally:
            connection.close()

    def in_place(self) -> bool:
        """Return whether what lies at the path is still what is open and can be opened again.

        Connections outlive files that are removed or replaced; new ones then find nothing, or something else.
        """
        if self.path is None or not self._files:
            return True
        mode = os.R_OK if self.read_only else os.R_OK | os.W_OK
        return all(
            files.identity(file) == opened and os.access(file, mode)
            for file, opened in zip(files.all_of(self.path), self._files, strict=False)
        )

    def is_emptied(self) -> bool:
        """Return whether nothing is left in the file."""
        return self.path is not None and bool(self._files) and self.path.stat().st_size == 0

    def copy_to(self, name: str) -> None:
        """Write all that this index holds into an empty database; nothing else may be writing."""
        if self._writer is not None:
            self._writer.execute("VACUUM INTO ?", (name,))
            return
        connection = self._connected(apsw.SQLITE_OPEN_READONLY)
        try:
            connection.execute("VACUUM INTO ?", (name,))
        finally:
            connection.close()

    def close(self) -> None:
        """Let no new reader in, wait for those under way, and close all connections."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._reading)
            connections, self._connections = self._connections, []
        if self._writer is not None:
            connections.append(self._writer)
            self._writer = None
        for connection in connections:
            # What cannot be tidied up on a failing disk is seen to by the next opening.
            with suppress(apsw.Error):
                connection.close()

    def _reader(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            if not self.in_place():  # SQLite would pair another file with the log of this one
                raise IndexLostError("the index cannot be read (its files were removed or replaced)")
            try:
                connection = self._connected(apsw.SQLITE_OPEN_READONLY)
                _check(connection)
            except IndexFormatError:
                raise
            except (apsw.Error, OSError) as error:
                if fault_of(error) == "ruined":
                    raise IndexRuinedError(f"the index was damaged ({error})") from error
                raise IndexLostError(f"the index cannot be read ({_said(error)})") from error
            if self.path is not None and not self._files:  # its log comes and goes with the process that writes it
                self._files = [files.identity(self.path)]
            self._local.connection = connection
            with self._changed:
                self._connections.append(connection)
        return connection

    def _opened_to_write(self, source: "Index | None") -> Connection:
        try:
            connection = self._prepared(source)
        except (apsw.Error, OSError) as error:
            if fault_of(error) == "ruined":
                raise IndexRuinedError(f"the index was damaged ({error})") from error
            raise IndexUnwritableError(
                f"the index {self.path} cannot be opened ({_said(error)}); "
                "set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error
        if self.path is not None:
            self._files = [files.identity(file) for file in files.all_of(self.path)]
        return connection

    def _prepared(self, source: "Index | None") -> Connection:
        if self.path is not None:
            private_folder(self.path.parent)
            files.check(self.path)
            # The file is made with its mode before SQLite opens it; its -wal and -shm files take the same mode.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self.path.chmod(0o600)
        connection = self._connected(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            if source is not None:
                source.copy_to(self._uri or str(self.path))
            there = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
            if there:
                _check(connection)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "normal")
            if not there:
                with connection:
                    connection.execute(schema.TABLES)
                    connection.pragma("application_id", schema.APPLICATION_ID)
                    connection.pragma("user_version", schema.VERSION)
                self.made = True
            connection.execute("SELECT 1 FROM meta LIMIT 1").fetchall()  # from now on all of its files are there
        except BaseException:
            connection.close()
            raise
        return connection

    def _connected(self, flags: int) -> Connection:
        if self.path is not None:
            files.check(self.path)
        return _connect(self._uri or str(self.path), flags)


@contextmanager
def _transaction(connection: Connection) -> Iterator[Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        _undo(connection)
        raise


def _undo(connection: Connection) -> None:
    """End a transaction, unless SQLite has ended it already, as it does where it meets damage."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _said(error: BaseException) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _check(connection: Connection) -> None:
    if connection.pragma("application_id") != schema.APPLICATION_ID:
        raise IndexFormatError("the index was not made by this version of Synapse (a database of another application)")
    version = connection.pragma("user_version")
    if version != schema.VERSION:
        raise IndexFormatError(
            f"the index was not made by this version of Synapse (schema {version}, not {schema.VERSION})"
        )


def _connect(name: str, flags: int) -> Connection:
    connection = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.enable_load_extension(True)
        try:
            connection.load_extension(sqlite_vec.loadable_path())
        except apsw.ExtensionLoadingError as error:
            raise IndexStateError(f"the vector extension cannot be loaded ({error}); run: synapse-ls doctor") from error
        connection.enable_load_extension(False)
        # Not mapped into memory: reading what a file no longer holds would end the process, not fail.
        connection.pragma("mmap_size", 0)
        connection.pragma("temp_store", "memory")
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def opened_as_it_is(path: Path) -> Connection:
    """Return a reader of an index file of whatever format. Raises ``apsw.Error``."""
    return _connect(str(path), apsw.SQLITE_OPEN_READONLY)


def memory() -> Connection:
    """Return an empty index that lives in memory and goes with its connection; for one thread at a time."""
    connection = _connect(":memory:", apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.execute(schema.TABLES)
    return connection


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone: an index holds the notes' text."""
    try:
        for above in reversed(folder.parents):
            above.mkdir(exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise IndexUnwritableError(
            f"the cache folder {folder} cannot be made ({error.strerror or error}); "
            "set SYNAPSE_CACHE_DIR to a folder you can write to"
        ) from error


def size(db: Connection) -> int:
    """Return the bytes of an index."""
    return int(db.pragma("page_count")) * int(db.pragma("page_size"))
