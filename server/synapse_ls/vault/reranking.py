"""The reranker of this process: an endpoint if the user has named one, and a local model that answers without it."""

import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from synapse_ls.core.config import EmbeddingSettings, RerankSettings, embedding_workers
from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.core.model import Candidate
from synapse_ls.inference import cross_encoder, embedder, late_interaction, registry, rerank_endpoint
from synapse_ls.inference.late_interaction import LateInteraction
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.search.query import parse
from synapse_ls.search.reranking import joined, judged, reranked
from synapse_ls.vault import location
from synapse_ls.vault.status import RerankerState, RerankerStatus

if TYPE_CHECKING:
    from synapse_ls.inference.reranker import Reranker
    from synapse_ls.vault.encoder import Encoder

_LOG = logging.getLogger(__name__)

HTTP = "http"

_NOWHERE = "rerank.model is http, but rerank.http.url names no endpoint"

# Scores of as many pairs of query and passage are remembered.
_REMEMBERED = 4096
# What is left of the time for the local model, should an endpoint not answer.
_ENDPOINT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Reranked:
    """A shortlist in its new order, each note with its former place, and the model that judged it."""

    order: tuple[tuple[int, Candidate], ...]
    model: str


class Reranking:
    """Loads the reranker that the settings name when it is first needed, and has it judge shortlists.

    ``encoder`` gives the encoder of this process, whose token vectors late interaction uses if it is the bundled one.
    All methods may be called from any thread.
    """

    def __init__(self, settings: RerankSettings, encoder: Callable[[], "Encoder | None"]) -> None:
        self.settings = settings
        self.state: RerankerState = "off"
        self.note: str | None = None
        self._endpoint_trouble: str | None = None
        self._encoder = encoder
        self._local: Reranker | None = None
        self._own_pool: EmbeddingPool | None = None
        self._endpoint: Reranker | None = None
        self._loading = threading.Lock()
        self._lock = threading.Lock()
        self._scores: OrderedDict[tuple[str, str, bytes], float] = OrderedDict()
        self._closed = False

    @property
    def name(self) -> str:
        """What reranks: the endpoint, or else the local model."""
        url = self.settings.http.url
        return self._local_name if url is None else rerank_endpoint.called(url, self.settings.model)

    def status(self) -> RerankerStatus:
        """Return what is told of it, as of now."""
        if self._is_nowhere():
            return RerankerStatus(HTTP, "missing", _NOWHERE)
        if self.settings.http.url is not None and self._endpoint_trouble is not None:
            return RerankerStatus(self._local_name, self.state, self._endpoint_trouble)
        return RerankerStatus(self.name, self.state, self.note)

    def look(self) -> RerankerStatus:
        """Return what is told of it where nothing is loaded: whether it could be."""
        if not self.settings.enabled:
            return RerankerStatus()
        trouble = self.trouble()
        return RerankerStatus(self.name, "ready" if trouble is None else "missing", trouble)

    def start(self, then: Callable[[], None]) -> None:
        """Load the local model in the background, once, and call ``then`` when it is there or known not to come."""
        with self._lock:
            if self.state != "off":
                return
            self.state = "loading"

        def load() -> None:
            with suppress(ModelError):  # told in the status
                self._ready()
            then()

        threading.Thread(target=load, name="synapse-reranker", daemon=True).start()

    def trouble(self) -> str | None:
        """Return why nothing can be reranked, as far as that shows without loading a model."""
        if self._is_nowhere():
            return _NOWHERE
        if self.settings.http.url is not None or self.state == "ready":
            return None
        if self.state == "failed":
            return self.note
        try:
            self._check()
        except ModelError as error:
            return str(error)
        return None

    def rerank(
        self,
        query: str,
        shortlist: Sequence[Candidate],
        top_k: int,
        seconds: float,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Reranked | None:
        """Return a shortlist in the order of the reranker; None if ``cancelled()`` became true or time was up.

        The first ``top_k`` notes are judged. An endpoint that fails leaves the rest of the time to the local
        model. What is judged stays known, also where the time was too short.

        Raises:
            ModelError: Nothing could judge them.
        """
        late = time.monotonic() + seconds
        passages = [judged(one) for one in shortlist[:top_k]]
        reranker, relevance = self._by_endpoint(query, passages, late, cancelled)
        if reranker is None:
            reranker, relevance = self._judge_here(query, passages, late, cancelled)
        if relevance is None:
            return None
        order = joined if isinstance(reranker, LateInteraction) else reranked
        return Reranked(tuple(order(shortlist, relevance)), reranker.name)

    def close(self) -> None:
        """Let the models go."""
        with self._loading:
            self._closed = True
            for one in (self._local, self._endpoint, self._own_pool):
                if one is not None:
                    one.close()
            self._local = self._endpoint = self._own_pool = None

    def _is_nowhere(self) -> bool:
        return self.settings.model == HTTP and self.settings.http.url is None

    @property
    def _local_name(self) -> str:
        """The local model; where an endpoint is named, ``rerank.model`` may be a name that only that knows."""
        name = self.settings.model
        if name in (HTTP, late_interaction.NAME):
            return late_interaction.NAME
        if self.settings.http.url is not None:
            try:
                cross_encoder.check(name, location.model_folder())
            except ModelError:
                return late_interaction.NAME
        return name

    def _check(self) -> None:
        if self._local_name != late_interaction.NAME:
            cross_encoder.check(self._local_name, location.model_folder())
        else:
            embedder.check(registry.BUNDLED.name, location.model_folder())

    def _by_endpoint(
        self, query: str, passages: Sequence[str], late: float, cancelled: Callable[[], bool]
    ) -> tuple["Reranker | None", list[float] | None]:
        """Ask the endpoint, if there is one that may answer; without a reranker it is left to the local model."""
        if self.settings.http.url is None:
            return None, None
        try:
            if self._endpoint is None:
                self._endpoint = rerank_endpoint.connect(self.settings.http, self.settings.model)
            until = time.monotonic() + _ENDPOINT_SHARE * (late - time.monotonic())
            relevance = self._judge(self._endpoint, query, passages, until, cancelled)
        except ModelError as error:
            if self._endpoint_trouble != str(error):
                _LOG.warning("%s", error)
            self._endpoint_trouble = str(error)
            return None, None
        self._endpoint_trouble = None
        return self._endpoint, relevance

    def _ready(self) -> "Reranker":
        """Return the local model, loading it first if need be.

        Raises:
            ModelError: There is none, or it cannot be loaded.
        """
        with self._loading:
            if self._local is None and not self._closed and self.state != "failed":
                try:
                    self._local = self._loaded()
                    self.state, self.note = "ready", None
                except ModelError as error:
                    self.state = "missing" if isinstance(error, ModelMissingError) else "failed"
                    self.note = str(error)
                except Exception as error:  # noqa: BLE001 - told in the status; the fused answer stands
                    _LOG.exception("cannot load the reranker")
                    self.state, self.note = "failed", f"the reranker cannot be loaded ({error}); run: synapse-ls doctor"
            if self._local is None:
                raise ModelError(self.note or "the reranker is closed")
            return self._local

    def _loaded(self) -> "Reranker":
        if self._local_name != late_interaction.NAME:
            return cross_encoder.load(self._local_name, location.model_folder())
        encoder = self._encoder()
        if encoder is not None and encoder.name == registry.BUNDLED.name:
            encoder.wait()
            if encoder.pool is not None:
                return LateInteraction(registry.BUNDLED, encoder.pool)
        workers = embedding_workers(EmbeddingSettings(), busy=True)
        self._own_pool = EmbeddingPool(embedder.load(registry.BUNDLED.name), workers)
        return LateInteraction(registry.BUNDLED, self._own_pool)

    def _judge_here(
        self, query: str, passages: Sequence[str], late: float, cancelled: Callable[[], bool]
    ) -> tuple["Reranker", list[float] | None]:
        """Have the local model judge; late interaction abstains where the encoder's tokens mean nothing."""
        local = self._ready()
        if isinstance(local, LateInteraction) and not parse(query).english:
            return local, [0.0] * len(passages)
        return local, self._judge(local, query, passages, late, cancelled)

    def _judge(
        self, reranker: "Reranker", query: str, passages: Sequence[str], late: float, cancelled: Callable[[], bool]
    ) -> list[float] | None:
        """Return the relevance of passages, those not known in batches; None if it is cancelled or late."""
        keys = [
            (reranker.fingerprint, query, hashlib.sha256(text.encode("utf-8", "replace")).digest()) for text in passages
        ]
        with self._lock:
            known = {key: self._scores[key] for key in keys if key in self._scores}
        missing = list({key: text for key, text in zip(keys, passages, strict=True) if key not in known}.items())
        for start in range(0, len(missing), reranker.batch):
            left = late - time.monotonic()
            if cancelled() or left <= 0:
                return None
            batch = missing[start : start + reranker.batch]
            scores = reranker.scores(query, [text for _, text in batch], left)
            known.update(zip((key for key, _ in batch), scores, strict=True))
            with self._lock:
                self._scores.update(zip((key for key, _ in batch), scores, strict=True))
                while len(self._scores) > _REMEMBERED:
                    self._scores.popitem(last=False)
        return [known[key] for key in keys] if time.monotonic() < late or not missing else None
