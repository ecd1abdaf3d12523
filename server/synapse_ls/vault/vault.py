"""One open vault: its index, its open notes, the encoder it uses, and the searches over them."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from synapse_ls.core.config import Settings
from synapse_ls.core.errors import IndexStateError, SynapseError
from synapse_ls.core.model import SearchAnswer, SearchRequest
from synapse_ls.indexer import walk
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.indexer.progress import Counters
from synapse_ls.search.related import RelatedAnswer, RelatedRequest, related
from synapse_ls.search.searcher import Semantic, search
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import meta, notes, vectors
from synapse_ls.store.database import Connection
from synapse_ls.vault import index_files, location
from synapse_ls.vault.advice import Advisor
from synapse_ls.vault.encoder import Encoder
from synapse_ls.vault.keeper import Hooks, Keeper
from synapse_ls.vault.overlay import Overlay
from synapse_ls.vault.settings import settings_of
from synapse_ls.vault.status import ModelStatus, VaultState, VaultStatus

# How long a search waits for a model that is still loading.
_PATIENCE = 1.0


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
        self._base = settings
        # Sentences for the user; whoever shows them puts an empty list in place of this one.
        self.warnings: list[str] = []
        self._settings_warnings: list[str] = []
        self._reading_settings = threading.Lock()
        self._encoder = encoder
        self._changed = changed
        self._watch = watch
        self._searches = 0
        self._keeper: Keeper | None = None
        self._error: str | None = None
        self._closing = threading.Event()
        self._overlay = Overlay()
        self._told_of_polling = False
        self._told_error: str | None = None
        self._advisor = Advisor(self._say)
        # Set where an index is only looked at and nobody writes it.
        self._alone = False

    @property
    def folder(self) -> Path | None:
        """Where the index lies."""
        return None if self._keeper is None else self._keeper.folder

    @property
    def encoder(self) -> Encoder:
        """The encoder in use."""
        return self._encoder

    @property
    def read_only(self) -> bool:
        """Whether another process writes this vault's index."""
        return self._keeper is not None and self._keeper.read_only

    def open(self, *, rebuild: bool = False, model: bool = True) -> None:
        """Open the index and start bringing it up to date; with ``model``, load the encoder behind it.

        Raises:
            VaultError: The folder is missing, not a folder or not readable.
            IndexStateError: The index can neither be opened nor made.
        """
        try:
            self.root = location.vault_root(self.root)
            self._read_settings()
            self._keeper = self._made_keeper(watch=self._watch)
            was_there = self._keeper.open(model=model)
        except SynapseError as error:
            self._error = str(error)
            raise
        if model:
            self._encoder.follow(self._model_decided)
            self._encoder.start(self._model_decided)
        if rebuild and was_there:
            self.rebuild()

    def look(self) -> bool:
        """Open the index for reading only, neither writing nor waiting; returns False if there is none."""
        self.root = location.vault_root(self.root)
        keeper = self._made_keeper(watch=False)
        if index_files.in_use(keeper.folder) is None:
            return False
        self._alone = not keeper.look()
        self._keeper = keeper
        return True

    def close(self) -> None:
        """Stop the work and let the index go; what is committed stays."""
        self._closing.set()
        self._encoder.leave(self._model_decided)
        if self._keeper is not None:
            self._keeper.close()
        self._error = f"the vault {self.root.name} is closed"
        self._overlay.close()

    def use(self, encoder: Encoder) -> None:
        """Use another encoder from now on; when this returns, the former one is not used any more."""
        self._encoder.leave(self._model_decided)
        self._encoder = encoder
        if self._keeper is not None:
            self._keeper.detach()
        encoder.follow(self._model_decided)
        encoder.start(self._model_decided)

    def configure(self, base: Settings) -> None:
        """Go by other settings from now on; the vault's own file still counts above them."""
        self._base = base
        self._settings_changed()

    def rebuild(self) -> None:
        """Make the index anew, beside the one in use, which goes on answering.

        Raises:
            IndexStateError: Another process writes it, or the vault is not open.
        """
        keeper = self._keeper
        if keeper is None:
            raise IndexStateError(self._error or "the index is being opened; try again in a moment")
        keeper.check_writable()
        # Without its model the new index would be complete too early, and come without vectors.
        self._encoder.start(keeper.rebuild)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a reader of the index inside one transaction.

        Raises:
            IndexStateError: The index is not open (yet).
        """
        keeper = self._keeper
        if keeper is None or self._closing.is_set():
            raise IndexStateError(self._error or "the index is being opened; try again in a moment")
        with keeper.read() as db:
            yield db

    def search(self, request: SearchRequest, cancelled: Callable[[], bool] = lambda: False) -> SearchAnswer:
        """Answer a search from one snapshot of the index."""
        self._searches += 1
        semantic = self.semantic(wait=request.mode != "lexical")
        with self._both() as (db, buffers):
            return search(db, request, semantic, cancelled, buffers, self.settings.trust)

    def related(self, asked: RelatedRequest, cancelled: Callable[[], bool] = lambda: False) -> RelatedAnswer:
        """Return the notes related to one, or to a section of it, from one snapshot of the index."""
        semantic = self.semantic(wait=False)
        with self.snapshot() as now:
            return related(now, asked, semantic, cancelled, trusting=self.settings.trust)

    def semantic(self, *, wait: bool) -> Semantic:
        """Return how queries are embedded now, or why they are not; waits up to a second for a loading model."""
        encoder = self._encoder
        if wait:
            encoder.wait(_PATIENCE)
        pool, spec = encoder.pool, encoder.spec
        if pool is None or spec is None:
            return Semantic(None, "unavailable", "loading" if encoder.state == "loading" else encoder.note)
        return Semantic(
            lambda text: pool.query(text).astype("<f4").tobytes(),
            "ok",
            english_only=spec.english_only,
            model=spec.fingerprint,
            bands=spec.bands,
        )

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Give one state of the notes: the index inside one transaction, with the open buffers in place of their files.

        Raises:
            IndexStateError: The index is not open (yet).
        """
        with self._both() as (db, buffers):
            yield Snapshot(db, buffers)

    @contextmanager
    def _both(self) -> Iterator[tuple[Connection, Connection | None]]:
        with self.read() as db, self._overlay.read(meta.get(db, "model")) as buffers:
            yield db, buffers

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
        files, folders = tuple(files), tuple(folders)
        for indexer in self._indexers():
            indexer.submit(files, folders)

    def prefer(self, paths: Iterable[str]) -> None:
        """Embed the passages of these notes, the open ones, before all others."""
        paths = tuple(paths)
        for indexer in self._indexers():
            indexer.prefer(paths)

    def retry(self) -> None:
        """Look at every file's stamp again and retry what could not be embedded."""
        for indexer in self._indexers():
            indexer.retry()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until words and vectors are current, as far as this process brings that about."""
        return self._keeper is None or self._keeper.wait(timeout)

    def writer_is_gone(self) -> bool:
        """Return whether the process that wrote the index, which this one reads along, has ended."""
        return self._keeper is not None and self._keeper.writer_is_gone()

    def has_words(self) -> bool:
        """Return whether a first walk over the vault was ever finished, by this process or by another."""
        try:
            with self.read() as db:
                return meta.get(db, "words") is not None
        except IndexStateError:
            return False

    def progress(self) -> tuple[int, int]:
        """Return (files of the update in work, files left of it)."""
        for indexer in reversed(self._indexers()):
            if indexer.progress.files_left:
                return indexer.progress.files_total, indexer.progress.files_left
        return 0, 0

    def status(self) -> VaultStatus:
        """Return the state of the vault as of now."""
        generation = note_count = chunk_count = embedded = waiting = 0
        skipped: list[tuple[str, str]] = []
        error, unreadable = self._error, False
        keeper, encoder = self._keeper, self._encoder
        spec, note = encoder.spec, encoder.note
        indexers = self._indexers()
        if keeper is not None and keeper.active is not None:
            error = keeper.trouble
            try:
                with self.read() as db:
                    generation = meta.generation(db)
                    note_count, chunk_count = notes.counts(db)
                    embedded, waiting = vectors.embedded(db), vectors.waiting(db)
                    skipped = notes.problems(db)
                    other_model = spec is not None and meta.get(db, "model") not in (None, spec.fingerprint)
                    if spec is not None and all(indexer.progress.words_ready for indexer in indexers[:1]):
                        note = note or self._advisor.advice(db, chunk_count, spec)
                coming = keeper.coming
                if coming is not None:
                    note = encoder.note or "the index is being made anew beside the one that answers"
                    with suppress(IndexStateError), coming.index.read() as db:
                        waiting = vectors.waiting(db)
                        embedded = vectors.embedded(db) if other_model else embedded
                elif other_model:
                    embedded, waiting = 0, chunk_count
            except Exception as problem:  # noqa: BLE001 - a status that cannot be read is itself the status
                error, unreadable = f"the index cannot be read ({problem})", True
        self._tell_of_polling(indexers)
        trouble = next((indexer.error for indexer in indexers if indexer.error is not None), None)
        if trouble not in (None, self._told_error) and not any(indexer.ended for indexer in indexers):
            self._say(trouble)
        self._told_error = trouble
        files = sum(indexer.files_pending for indexer in indexers)
        counters = Counters() if keeper is None else keeper.counters
        vectors_come = encoder.state in ("ready", "loading")
        return VaultStatus(
            root=str(self.root),
            state="failed" if unreadable else self._state(indexers[0].files_pending if indexers else 0, error),
            generation=generation,
            notes=note_count,
            chunks=chunk_count,
            embedded=embedded,
            pending=files + (waiting if vectors_come else 0),
            skipped=tuple(skipped),
            model=ModelStatus(
                encoder.name,
                spec.dimensions if spec is not None else 0,
                spec.languages if spec is not None else "",
                encoder.state,
                note,
            ),
            files_read=counters.files_read,
            chunks_embedded=counters.chunks_embedded,
            chunks_reused=counters.chunks_reused,
            searches=self._searches,
            error=error or trouble,
            cache_bytes=0 if keeper is None else location.size(keeper.folder),
        )

    def _state(self, files: int, error: str | None) -> VaultState:
        keeper = self._keeper
        if keeper is None or keeper.active is None:
            return "failed" if error is not None else "starting"
        indexer = keeper.active.indexer
        if indexer is None:
            return "ready" if self._alone else "readOnly"
        if indexer.error is not None and not indexer.progress.words_ready:
            return "failed"
        if indexer.progress.words_ready:
            return "indexing" if files else "ready"
        return "indexing" if indexer.progress.files_total else "starting"

    def _tell_of_polling(self, indexers: list[Indexer]) -> None:
        if not self._told_of_polling and any(indexer.polling for indexer in indexers):
            self._told_of_polling = True
            self._say(
                "the system cannot watch that many folders, so they are looked at every 2 s; "
                "raise fs.inotify.max_user_watches to change that"
            )

    def _made_keeper(self, *, watch: bool) -> Keeper:
        hooks = Hooks(self._changed, self._say, self._overlay.vector, self._settings_changed, self._swapped)
        return Keeper(self.root, self.settings, hooks, watch=watch)

    def _indexers(self) -> list[Indexer]:
        """Return what writes this vault's indexes here: that of the one in use first."""
        keeper = self._keeper
        kept = () if keeper is None else (keeper.active, keeper.coming)
        return [one.indexer for one in kept if one is not None and one.indexer is not None]

    def _settings_changed(self) -> None:
        self._read_settings()
        if self._keeper is not None:
            self._keeper.configure(self.settings)

    def _read_settings(self) -> None:
        with self._reading_settings:
            self.settings, warnings = settings_of(self.root, self._base)
            self.warnings += [warning for warning in warnings if warning not in self._settings_warnings]
            self._settings_warnings = warnings

    def _say(self, sentence: str) -> None:
        self.warnings.append(f"{self.root.name}: {sentence}")

    def _model_decided(self) -> None:
        keeper, pool, spec = self._keeper, self._encoder.pool, self._encoder.spec
        if keeper is not None and pool is not None and spec is not None:
            keeper.attach(pool, spec)
        elif keeper is not None:
            keeper.go_without()
        self._changed()

    def _swapped(self) -> None:
        """Give the open notes the vectors of the index that has come."""
        spec = self._encoder.spec
        if spec is not None:
            with suppress(IndexStateError), self.read() as db:
                if meta.get(db, "model") == spec.fingerprint:
                    self._overlay.adopt(spec, lambda key: vectors.get(db, key))
