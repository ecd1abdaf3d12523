"""The encoder of this process: loaded once in the background, shared by all vaults."""

import logging
import threading
from collections.abc import Callable
from typing import Literal

from synapse_ls.core.config import EmbeddingSettings, embedding_workers
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import allocator, bundled, embedder, registry
from synapse_ls.inference.pool import EmbeddingPool

_LOG = logging.getLogger(__name__)

EncoderState = Literal["ready", "loading", "missing", "failed"]


class Encoder:
    """Loads the model that the settings name. ``note`` says why there is none; ``pool`` is there once it is ready."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self.name = settings.model
        self.spec: registry.ModelSpec | None = None
        self.state: EncoderState = "loading"
        self.note: str | None = None
        self.pool: EmbeddingPool | None = None
        self._settings = settings
        self._decided = threading.Event()
        self._settled = False
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._busy = False
        if settings.model == "none":
            self._decide("missing", 'no model: embedding.model is "none"')
            return
        try:
            self.spec = registry.find(settings.model)
        except ModelError as error:
            self._decide("missing", str(error))

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
            bundled.weights()
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
            self._closed = True
        if self.pool is not None:
            self.pool.close()

    def _load(self) -> None:
        allocator.give_back()
        try:
            loaded = embedder.load(self.name)
            pool = EmbeddingPool(loaded, embedding_workers(self._settings, busy=self._busy))
        except ModelError as error:
            self._decide("missing" if "not installed" in str(error) else "failed", str(error))
            return
        except Exception as error:  # noqa: BLE001 - told in the status; nobody may wait for what does not come
            _LOG.exception("cannot load the model")
            self._decide("failed", f"the model cannot be loaded ({error}); run: synapse-ls doctor")
            return
        with self._lock:
            if self._closed:
                pool.close()
                return
            self.pool = pool
        self._decide("ready", None)

    def _decide(self, state: EncoderState, note: str | None) -> None:
        with self._lock:
            self.state, self.note = state, note
            self._settled = True
            listeners, self._listeners = self._listeners, []
        for then in listeners:
            then()
        # Whoever waited finds the model already given to the indexers.
        self._decided.set()
