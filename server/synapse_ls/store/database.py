"""Opening an index: one SQLite file in a private folder, one writer connection, a reader connection a thread."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import sqlite_vec

from synapse_ls.core.errors import IndexStateError
from synapse_ls.store import schema

Connection = apsw.Connection

_BUSY_MS = 5_000
_MMAP_BYTES = 256 * 1024 * 1024
_VECTOR_RUIN = ("blob read error", "Internal sqlite-vec error", "could not open", "validity")
_RUINED = (apsw.NotADBError, apsw.CorruptError, apsw.FormatError)


class Index:
    """The index of one vault.

    Readers see committed state only. The writer connection belongs to whoever holds the index's lock and to one
    thread at a time. Raises ``IndexStateError`` where the file cannot be opened or made.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.rebuilt: str | None = None
        self._local = threading.local()
        self._readers: list[Connection] = []
        self._lock = threading.Lock()
        self._writer: Connection | None = None
        if not read_only:
            self._writer = self._open_writer()

    @property
    def writer(self) -> Connection:
        """The one connection that may write."""
        if self._writer is None:
            raise IndexStateError("this index is open for reading only: another Synapse is writing it")
        return self._writer

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give this thread's reader inside one read transaction: everything seen belongs to one commit."""
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
            connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give the writer inside one transaction, committed unless the block raises."""
        writer = self.writer
        writer.execute("BEGIN IMMEDIATE")
        try:
            yield writer
            writer.execute("COMMIT")
        except BaseException:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close all connections; the threads that used readers must have ended their reads."""
        with self._lock:
            readers, self._readers = self._readers, []
        for reader in readers:
            reader.close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _reader(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            try:
                connection = _connect(self.path, apsw.SQLITE_OPEN_READONLY)
                _check(connection)
            except (apsw.Error, _WrongVersionError) as error:
                raise IndexStateError(
                    f"the index {self.path} cannot be read ({error}); run synapse-ls index"
                ) from error
            self._local.connection = connection
            with self._lock:
                self._readers.append(connection)
        return connection

    def _open_writer(self) -> Connection:
        private_folder(self.path.parent)
        try:
            return self._prepared()
        except _RUINED as error:
            self.rebuilt = f"the index was damaged ({error}) and is being rebuilt; your notes are untouched"
        except _WrongVersionError as error:
            self.rebuilt = f"the index was not made by this version of Synapse ({error}) and is being rebuilt"
        except (apsw.Error, OSError) as error:
            raise IndexStateError(
                f"the index {self.path} cannot be opened ({error}); set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error
        try:
            remove(self.path)
            return self._prepared()
        except (apsw.Error, OSError) as error:
            raise IndexStateError(
                f"the index {self.path} cannot be made anew ({error}); "
                "set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error

    def _prepared(self) -> Connection:
        if self.path.exists() and not self.path.is_file():
            raise OSError("it is not a file; remove it")
        # The file is made with its mode before SQLite opens it; its -wal and -shm files take the same mode.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self.path.chmod(0o600)
        connection = _connect(self.path, apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "normal")
            if connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                _check(connection)
                return connection
            with connection:
                connection.execute(schema.TABLES)
                connection.pragma("application_id", schema.APPLICATION_ID)
                connection.pragma("user_version", schema.VERSION)
        except BaseException:
            connection.close()
            raise
        return connection


class _WrongVersionError(Exception):
    """The file has another schema."""


def _check(connection: Connection) -> None:
    if connection.pragma("application_id") != schema.APPLICATION_ID:
        raise _WrongVersionError("a database of another application")
    version = connection.pragma("user_version")
    if version != schema.VERSION:
        raise _WrongVersionError(f"schema {version}, not {schema.VERSION}")


def _connect(path: Path, flags: int) -> Connection:
    connection = apsw.Connection(str(path), flags=flags)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        connection.enable_load_extension(False)
        connection.pragma("mmap_size", _MMAP_BYTES)
        connection.pragma("temp_store", "memory")
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1")
    except BaseException:
        connection.close()
        raise
    return connection


def memory() -> Connection:
    """Return an empty index that lives in memory and goes with its connection; for one thread at a time."""
    connection = _connect(Path(":memory:"), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.execute(schema.TABLES)
    return connection


def is_ruin(error: BaseException) -> bool:
    """Return whether an error says that the file's content is damaged, so that only a new one helps."""
    # sqlite-vec tells of pages that it cannot read by words alone.
    told = isinstance(error, apsw.SQLError) and any(sign in str(error) for sign in _VECTOR_RUIN)
    return told or isinstance(error, _RUINED)


def private_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for its owner alone: an index holds the notes' text."""
    try:
        for above in reversed(folder.parents):
            above.mkdir(exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise IndexStateError(
            f"the cache folder {folder} cannot be made ({error.strerror or error}); "
            "set SYNAPSE_CACHE_DIR to a folder you can write to"
        ) from error


def remove(path: Path) -> None:
    """Remove an index file with its companions."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def versions() -> dict[str, str]:
    """Return the versions of SQLite and of the vector extension, proven by loading it; for diagnosis."""
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        vec = connection.execute("SELECT vec_version()").get
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(x, content='', contentless_delete=1)")
    finally:
        connection.close()
    return {"sqlite": apsw.sqlite_lib_version(), "sqlite-vec": str(vec)}
