"""The encoder of this process: loaded once in the background, shared by all vaults."""

import logging
import threading
from collections.abc import Callable
from typing import Literal

from synapse_ls.core.config import EmbeddingSettings, embedding_workers
from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import allocator, catalogue, embedder, endpoint, registry
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.vault import location

_LOG = logging.getLogger(__name__)

EncoderState = Literal["ready", "loading", "missing", "failed"]

# How often an endpoint that did not answer is asked again.
_RETRY_SECONDS = 20.0


class Encoder:
    """Loads the model that the settings name. ``note`` says why there is none; ``pool`` is there once it is ready.

    An endpoint that does not answer is asked again, and one that stops is told of; ``follow`` brings the news.
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        called = settings.http.url is not None and settings.model != "none"
        self.name = settings.http.url or "" if called and settings.model == registry.BUNDLED.name else settings.model
        self.spec: registry.ModelSpec | None = None
        self.state: EncoderState = "loading"
        self.note: str | None = None
        self.pool: EmbeddingPool | None = None
        self._settings = settings
        self._decided = threading.Event()
        self._settled = False
        self._listeners: list[Callable[[], None]] = []
        self._followers: list[Callable[[], None]] = []
        self._endpoint: endpoint.Endpoint | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._called = called
        self._busy = False
        if settings.model == "none":
            self._decide("missing", 'no model: embedding.model is "none"')
            return
        if called:
            return
        try:
            spec = catalogue.resolve(settings.model, location.model_folder())
        except ModelError as error:
            self._decide("missing", str(error))
        else:
            self.spec = spec if spec.fingerprint else None

    def follow(self, news: Callable[[], None]) -> None:
        """Call ``news``, in some thread, whenever what was decided changes."""
        with self._lock:
            if news not in self._followers:
                self._followers.append(news)

    def leave(self, news: Callable[[], None]) -> None:
        """Do not call ``news`` any more."""
        with self._lock:
            if news in self._followers:
                self._followers.remove(news)

    def start(self, then: Callable[[], None]) -> None:
        """Load in the background, unless that is done or under way, and call ``then`` once it is decided."""
        with self._lock:
            if not self._settled:
                self._listeners.append(then)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._load, name="synapse-model", daemon=True)
                    self._thread.start()
                return
        then()

    def look(self) -> None:
        """Say whether the model could be loaded, without loading it."""
        if self._settled:
            return
        try:
            if not self._called:
                embedder.check(self.name, location.model_folder())
        except ModelError as error:
            self._decide("missing", str(error))
        else:
            self.state = "ready"

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the model is there or known not to come; returns whether that is so."""
        return self._decided.wait(timeout)

    def set_settings(self, settings: EmbeddingSettings) -> None:
        """Take over another number of threads; another model needs another encoder."""
        self._settings = settings
        self.set_busy(busy=self._busy)

    def set_busy(self, *, busy: bool) -> None:
        """Leave half of the cores to the user while they work in the editor."""
        self._busy = busy
        if self.pool is not None:
            self.pool.set_workers(embedding_workers(self._settings, busy=busy))

    def close(self) -> None:
        """End the workers."""
        with self._lock:
            self._closing.set()
        if self.pool is not None:
            self.pool.close()

    def _load(self) -> None:
        allocator.give_back()
        while not self._is_loaded() and self._called and not self._closing.wait(_RETRY_SECONDS):
            pass

    def _is_loaded(self) -> bool:
        try:
            loaded = self._loaded()
            pool = EmbeddingPool(loaded, embedding_workers(self._settings, busy=self._busy))
        except ModelError as error:
            self._decide("missing" if isinstance(error, ModelMissingError) else "failed", str(error))
            return False
        except Exception as error:  # noqa: BLE001 - told in the status; nobody may wait for what does not come
            _LOG.exception("cannot load the model")
            self._decide("failed", f"the model cannot be loaded ({error}); run: synapse-ls doctor")
            return False
        with self._lock:
            if self._closing.is_set():
                pool.close()
                return True
            self.spec, self.pool = loaded.spec, pool
        self._decide("ready", None)
        return True

    def _loaded(self) -> embedder.Embedder:
        if not self._called:
            return embedder.load(self.name, location.model_folder())
        self._endpoint = endpoint.connect(self._settings.http, self._settings.model, self._answers_or_not)
        return self._endpoint

    def _answers_or_not(self) -> None:
        """Take note that the endpoint has stopped answering, or answers again."""
        trouble = None if self._endpoint is None else self._endpoint.trouble
        self._decide("ready" if trouble is None else "failed", trouble)

    def _decide(self, state: EncoderState, note: str | None) -> None:
        with self._lock:
            again = self._settled and (self.state, self.note) != (state, note)
            self.state, self.note = state, note
            self._settled = True
            listeners, self._listeners = self._listeners, []
            listeners += self._followers if again else ()
        for then in listeners:
            then()
        # Whoever waited finds the model already given to the indexers.
        self._decided.set()
