"""One open vault: its lock, its index, its indexer and the searches over them."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from synapse_ls.core.config import Settings
from synapse_ls.core.errors import IndexStateError, SynapseError
from synapse_ls.core.model import SearchAnswer, SearchRequest
from synapse_ls.indexer import walk
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.search.searcher import Semantic, search
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import database, meta, notes, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.vault import location
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.overlay import Overlay
from synapse_ls.vault.settings import settings_of
from synapse_ls.vault.status import ModelStatus, VaultState, VaultStatus

_LOG = logging.getLogger(__name__)

# How long a search waits for a model that is still loading.
_PATIENCE = 1.0
# How often a server that reads along looks whether the writer has gone.
_TAKEOVER_SECONDS = 1.0


class Vault:
    """A folder of notes with its index.

    ``changed`` is called, in some thread, whenever the status may have changed. Whoever opens a vault first writes its
    index; others read along (``read_only``) and take over when the writer ends.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        encoder: Encoder,
        changed: Callable[[], None] = lambda: None,
        *,
        watch: bool = True,
    ) -> None:
        self.root = root
        self.settings = settings
        self.folder: Path | None = None
        self.warnings: list[str] = []
        self._encoder = encoder
        self._changed = changed
        self._watch = watch
        self._searches = 0
        self._index: Index | None = None
        self._indexer: Indexer | None = None
        self._lock: FileLock | None = None
        self._error: str | None = None
        self._closing = threading.Event()
        self._readers = 0
        self._readers_gone = threading.Condition()
        self._formerly: Index | None = None
        self._takeover: threading.Thread | None = None
        self._overlay = Overlay()
        self._rebuilding: threading.Thread | None = None
        self._told_of_polling = False
        # Set where an index is only looked at and nobody writes it.
        self._alone = False

    @property
    def read_only(self) -> bool:
        """Whether another process writes this vault's index."""
        return self._indexer is None and self._index is not None

    def open(self, *, rebuild: bool = False, model: bool = True) -> None:
        """Open the index and start bringing it up to date; with ``model``, load the encoder behind it.

        Raises:
            VaultError: The folder is missing, not a folder or not readable.
            IndexStateError: The index can neither be opened nor made.
        """
        try:
            self.root = location.vault_root(self.root)
            self.folder = location.index_folder(self.root)
            self.settings, warnings = settings_of(self.root, self.settings)
            self.warnings += warnings
            database.private_folder(self.folder)
            self._lock = FileLock(self.folder / location.LOCK_NAME, mode=0o600, thread_local=False)
            if self._locked():
                self._write(rebuild=rebuild)
            else:
                self._read_along(rebuild=rebuild)
        except SynapseError as error:
            self._error = str(error)
            raise
        if model:
            self._encoder.start(self._model_decided)

    def look(self) -> bool:
        """Open the index for reading only, neither writing nor waiting; returns False if there is none."""
        self.root = location.vault_root(self.root)
        self.folder = location.index_folder(self.root)
        if not self._index_path().exists():
            return False
        self._index = Index(self._index_path(), read_only=True)
        self._lock = FileLock(self.folder / location.LOCK_NAME, mode=0o600, thread_local=False)
        self._alone = self._locked()
        self._lock.release()
        return True

    def close(self) -> None:
        """Stop the work and let the index go; what is committed stays."""
        self._closing.set()
        for thread in (self._takeover, self._rebuilding):
            if thread is not None:
                thread.join()
        if self._indexer is not None:
            self._indexer.close()
        with self._readers_gone:
            index, self._index = self._index, None
            self._error = f"the vault {self.root.name} is closed"
            self._readers_gone.wait_for(lambda: not self._readers)
        self._overlay.close()
        for opened in (index, self._formerly):
            if opened is not None:
                opened.close()
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a reader of the index inside one transaction.

        Raises:
            IndexStateError: The index is not open (yet).
        """
        with self._readers_gone:
            index = self._index
            if index is None:
                raise IndexStateError(self._error or "the index is being opened; try again in a moment")
            self._readers += 1
        try:
            with index.read() as db:
                yield db
        except Exception as error:
            if not database.is_ruin(error):
                raise
            self._ruined(error)
            raise IndexStateError("the index was damaged and is being rebuilt; try again in a moment") from error
        finally:
            with self._readers_gone:
                self._readers -= 1
                self._readers_gone.notify_all()

    def search(self, request: SearchRequest, cancelled: Callable[[], bool] = lambda: False) -> SearchAnswer:
        """Answer a search from one snapshot of the index."""
        self._searches += 1
        semantic = self.semantic(wait=request.mode != "lexical")
        with self.read() as db, self._overlay.read() as buffers:
            return search(db, request, semantic, cancelled, buffers)

    def semantic(self, *, wait: bool) -> Semantic:
        """Return how queries are embedded now, or why they are not; waits up to a second for a loading model."""
        encoder = self._encoder
        if wait:
            encoder.wait(_PATIENCE)
        pool, spec = encoder.pool, encoder.spec
        if pool is None or spec is None:
            return Semantic(None, "unavailable", "loading" if encoder.state == "loading" else encoder.note)
        with self.read() as db:
            held = meta.get(db, "model")
        if held is None:
            return Semantic(None, "unavailable", "no vectors yet")
        if held != spec.fingerprint:
            return Semantic(None, "unavailable", "the index holds vectors of another model; run synapse-ls index")
        return Semantic(lambda text: pool.query(text).astype("<f4").tobytes(), "ok", None)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Give one state of the notes: the index inside one transaction, with the open buffers in place of their files.

        Raises:
            IndexStateError: The index is not open (yet).
        """
        with self.read() as db, self._overlay.read() as buffers:
            yield Snapshot(db, buffers)

    def type(self, path: str, text: str, version: int) -> None:
        """Take over the text of an open note: it is searchable by words at once, by meaning where passages are known.

        Raises:
            IndexStateError: The index is not open (yet).
        """
        with self.read() as db:
            stored = notes.content(db, path)
            if stored is None and not walk.belongs(self.root, path, self.settings.index):
                return
            if not self._overlay.put(path, text, version, self.settings.index.max_file_kib * 1024):
                return
            spec = self._encoder.spec
            if spec is not None and meta.get(db, "model") == spec.fingerprint:
                self._overlay.adopt(spec, lambda key: vectors.get(db, key))

    def embed_typed(self, cancelled: Callable[[], bool]) -> None:
        """Embed the passages of open notes that are without a vector."""
        pool = self._encoder.pool
        if pool is not None:
            self._overlay.embed(pool, lambda: cancelled() or self._closing.is_set())

    def let_go(self, path: str) -> None:
        """Forget the text of a note that is no longer open: the disk's text counts again."""
        self._overlay.remove(path)

    def submit(self, files: Iterable[str] = (), folders: Iterable[str] = ()) -> None:
        """Tell of files or folders (relative, with ``/``; "" is all) that may have changed."""
        if self._indexer is not None:
            self._indexer.submit(files, folders)

    def prefer(self, paths: Iterable[str]) -> None:
        """Embed the passages of these notes, the open ones, before all others."""
        if self._indexer is not None:
            self._indexer.prefer(paths)

    def retry(self) -> None:
        """Look at every file's stamp again and retry what could not be embedded."""
        if self._indexer is not None:
            self._indexer.retry()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until words and vectors are current, as far as this process brings that about."""
        rebuilding = self._rebuilding
        if rebuilding is not None:
            rebuilding.join(timeout)
            if rebuilding.is_alive():
                return False
        return self._indexer is None or self._indexer.wait(timeout)

    def writer_is_gone(self) -> bool:
        """Return whether the process that wrote the index, which this one reads along, has ended."""
        if not self._locked():
            return False
        if self._lock is not None:
            self._lock.release()
        return True

    def has_words(self) -> bool:
        """Return whether a first walk over the vault was ever finished, by this process or by another."""
        try:
            with self.read() as db:
                return meta.get(db, "words") is not None
        except IndexStateError:
            return False

    def progress(self) -> tuple[int, int]:
        """Return (files of the update in work, files left of it)."""
        if self._indexer is None:
            return 0, 0
        return self._indexer.progress.files_total, self._indexer.progress.files_left

    def status(self) -> VaultStatus:
        """Return the state of the vault as of now."""
        generation = note_count = chunk_count = embedded = waiting = 0
        skipped: list[tuple[str, str]] = []
        error = self._error
        if self._index is not None:
            try:
                with self.read() as db:
                    generation = meta.generation(db)
                    note_count, chunk_count = notes.counts(db)
                    embedded = vectors.embedded(db)
                    waiting = vectors.waiting(db)
                    skipped = notes.problems(db)
            except Exception as problem:  # noqa: BLE001 - a status that cannot be read is itself the status
                error = f"the index cannot be read ({problem})"
        indexer = self._indexer
        if indexer is not None and indexer.polling and not self._told_of_polling:
            self._told_of_polling = True
            self.warnings.append(
                f"{self.root.name}: the system cannot watch that many folders, so they are looked at every 2 s; "
                "raise fs.inotify.max_user_watches to change that"
            )
        files = indexer.files_pending if indexer is not None else 0
        vectors_come = self._encoder.state in ("ready", "loading")
        counters = indexer.counters if indexer is not None else None
        spec = self._encoder.spec
        return VaultStatus(
            root=str(self.root),
            state=self._state(files, error),
            generation=generation,
            notes=note_count,
            chunks=chunk_count,
            embedded=embedded,
            pending=files + (waiting if vectors_come else 0),
            skipped=tuple(skipped),
            model=ModelStatus(
                self._encoder.name,
                spec.dimensions if spec is not None else 0,
                spec.languages if spec is not None else "",
                self._encoder.state,
                self._encoder.note,
            ),
            files_read=counters.files_read if counters is not None else 0,
            chunks_embedded=counters.chunks_embedded if counters is not None else 0,
            chunks_reused=counters.chunks_reused if counters is not None else 0,
            searches=self._searches,
            error=error or (indexer.error if indexer is not None else None),
            cache_bytes=0 if self.folder is None else location.size(self.folder),
        )

    def _state(self, files: int, error: str | None) -> VaultState:
        indexer = self._indexer
        if error is not None:
            return "failed"
        if self._index is None:
            return "starting"
        if indexer is None:
            return "ready" if self._alone else "readOnly"
        if indexer.error is not None and not indexer.progress.words_ready:
            return "failed"
        if files:
            return "indexing" if indexer.progress.files_total or indexer.progress.words_ready else "starting"
        return "ready" if indexer.progress.words_ready else "starting"

    def _write(self, *, rebuild: bool) -> None:
        path = self._index_path()
        if rebuild:
            database.remove(path)
        index = Index(path)
        if index.rebuilt:
            self.warnings.append(f"{self.root.name}: {index.rebuilt}")
        self._index = index
        self._error = None
        self._indexer = Indexer(
            index,
            self.root,
            self.settings,
            self._changed,
            watch=self._watch,
            known=self._overlay.vector,
            ruined=self._ruined,
        )
        self._indexer.start()

    def _ruined(self, error: Exception) -> None:
        """Have a damaged index made anew, off this thread: it may be the indexer's own."""
        with self._readers_gone:
            if self._rebuilding is not None or self._indexer is None or self._closing.is_set():
                return
            self._rebuilding = threading.Thread(target=self._make_anew, name="synapse-rebuild", daemon=True)
        _LOG.warning("the index of %s is damaged (%s) and is being rebuilt", self.root, error)
        self.warnings.append(f"{self.root.name}: the index was damaged ({error}) and is being rebuilt")
        self._rebuilding.start()

    def _make_anew(self) -> None:
        indexer = self._indexer
        if indexer is not None:
            indexer.close()
        with self._readers_gone:
            index, self._index = self._index, None
            self._readers_gone.wait_for(lambda: not self._readers)
        if index is not None:
            index.close()
        try:
            self._write(rebuild=True)
        except IndexStateError as error:
            self._error = str(error)
        else:
            self._encoder.start(self._model_decided)
        self._rebuilding = None
        self._changed()

    def _read_along(self, *, rebuild: bool) -> None:
        if rebuild:
            raise IndexStateError("another Synapse is writing this index; close it, or let it rebuild the index itself")
        self._index = Index(self._index_path(), read_only=True)
        self.warnings.append(f"{self.root.name}: another Synapse is writing this index; reading along")
        if self._watch:
            self._takeover = threading.Thread(target=self._take_over, name="synapse-takeover", daemon=True)
            self._takeover.start()

    def _take_over(self) -> None:
        """Wait for the writer to end, then write."""
        while not self._closing.wait(_TAKEOVER_SECONDS):
            if not self._locked():
                continue
            reader = self._index
            try:
                self._write(rebuild=False)
            except IndexStateError as error:
                _LOG.warning("%s", error)
                continue
            self._formerly = reader  # questions under way still read it; closed with the vault
            self._encoder.start(self._model_decided)
            self._changed()
            return

    def _locked(self) -> bool:
        """Return whether this process has the right to write now."""
        if self._lock is None:
            return False
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        except OSError as error:
            raise IndexStateError(
                f"the cache folder {self.folder} cannot be written ({error.strerror or error}); "
                "set SYNAPSE_CACHE_DIR to a folder you can write to"
            ) from error
        return True

    def _index_path(self) -> Path:
        if self.folder is None:
            raise IndexStateError("the vault is not open")
        return self.folder / location.INDEX_NAME

    def _model_decided(self) -> None:
        pool, spec = self._encoder.pool, self._encoder.spec
        if self._indexer is not None and pool is not None and spec is not None:
            self._indexer.attach(pool, spec)
        self._changed()
