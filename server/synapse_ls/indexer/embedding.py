"""Vectors behind the words: chunks that lack a vector are embedded in small commits, open notes first."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Embedded
from synapse_ls.indexer.progress import Counters
from synapse_ls.inference.packing import packed
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.store import meta, vectors
from synapse_ls.store.database import Index

if TYPE_CHECKING:
    from synapse_ls.inference.pool import EmbeddingPool
    from synapse_ls.inference.registry import ModelSpec

_PASSAGES_A_COMMIT = 64
# What could not be embedded is tried again after a minute, then less and less often.
_RETRY_SECONDS = (60.0, 3600.0)


class Embedding:
    """Embeds what waits in an index. ``step`` belongs to the thread of the writer, the rest to any.

    ``known`` gives vectors that were made elsewhere, by the input's key.
    """

    def __init__(self, index: Index, counters: Counters, known: Callable[[bytes], Embedded | None]) -> None:
        self.error: str | None = None
        self._index = index
        self._counters = counters
        self._known = known
        self._first: tuple[str, ...] = ()
        self._model: tuple[EmbeddingPool, ModelSpec] | None = None
        self._prepared = False
        self._using = threading.Lock()
        self._again: float | None = None
        self._pause = _RETRY_SECONDS[0]

    def attach(self, pool: "EmbeddingPool", spec: "ModelSpec") -> None:
        """Give it an embedder."""
        self._model = pool, spec
        self._prepared = False

    def detach(self) -> None:
        """Take the embedder away; returns when it is not used."""
        self._model = None
        with self._using:
            return

    def prefer(self, paths: Iterable[str]) -> None:
        """Embed the passages of these notes before all others."""
        self._first = tuple(paths)

    def retry(self) -> None:
        """Try again what could not be embedded."""
        self._again = time.monotonic()

    def until_retry(self) -> float | None:
        """Return after how many seconds to try again what failed; None if nothing did."""
        return None if self._again is None else max(0.0, self._again - time.monotonic())

    def step(self, interrupted: Callable[[], bool]) -> bool:
        """Embed some passages that wait, fewer if ``interrupted()`` becomes true; returns whether more may wait."""
        with self._using:
            model = self._model
            return model is not None and self._step(*model, lambda: interrupted() or self._model is not model)

    def _step(self, pool: "EmbeddingPool", spec: "ModelSpec", interrupted: Callable[[], bool]) -> bool:
        if interrupted():
            return False
        if self._again is not None and self._again <= time.monotonic():
            self._again, self._prepared = None, False
        if not self._prepared:
            with self._index.write() as db:
                vectors.prepare(db, spec.fingerprint, spec.dimensions)
                vectors.retry_failed(db)
            self._prepared = True
        waiting = vectors.take_pending(self._index.writer, _PASSAGES_A_COMMIT, self._first)
        if not waiting:
            if self._again is None:
                self.error = None
            return False
        inputs: dict[bytes, str] = {}
        made: list[tuple[bytes, Embedded | ModelError]] = []
        for chunk in waiting:
            known = self._known(chunk.input_key)
            if known is not None:
                made.append((chunk.input_key, known))
            else:
                inputs[chunk.input_key] = embedder_input(chunk.title, chunk.heading_path, plain(chunk.text))
        keys = list(inputs)
        for i, embedded in pool.embed_many(inputs.values(), interrupted):
            self._counters.chunks_embedded += not isinstance(embedded, ModelError)
            made.append((keys[i], embedded if isinstance(embedded, ModelError) else packed(embedded)))
        self._write(made)
        return True

    def _write(self, made: Iterable[tuple[bytes, Embedded | ModelError]]) -> None:
        with self._index.write() as db:
            for key, vector in made:
                try:
                    if isinstance(vector, ModelError):
                        raise vector
                    vectors.put(db, key, *vector)
                except ModelError as error:
                    self.error = str(error)
                    vectors.fail(db, key)
                    if self._again is None:
                        self._again = time.monotonic() + self._pause
                        self._pause = min(2 * self._pause, _RETRY_SECONDS[1])
            meta.bump_generation(db)
