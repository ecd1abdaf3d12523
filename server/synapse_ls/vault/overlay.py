"""Open buffers: a private index in memory of what is on screen and not, or not yet, on disk."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import Embedded
from synapse_ls.indexer.record import note_record
from synapse_ls.inference.packing import packed
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.store import database, notes, vectors
from synapse_ls.store.database import Connection

if TYPE_CHECKING:
    from synapse_ls.inference.pool import EmbeddingPool
    from synapse_ls.inference.registry import ModelSpec

_PASSAGES_AT_ONCE = 64


class Overlay:
    """The open notes of a vault, never written to disk. Safe to use from several threads.

    One connection serves all, one user at a time: what is in here is small.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._db: Connection | None = None
        self._versions: dict[str, int] = {}
        self._prepared: str | None = None

    @contextmanager
    def read(self, model: str | None) -> Iterator[Connection | None]:
        """Give the buffers' index, unchanged while it is held; None if no note is open.

        Its vectors are those of ``model`` (a fingerprint), that of the index beside it, or there are none.
        """
        with self._lock:
            if self._db is not None and self._prepared not in (None, model):
                with self._db:
                    vectors.forget_model(self._db)
                self._prepared = None
            yield self._db if self._versions else None

    def put(self, path: str, text: str, version: int, max_bytes: int) -> bool:
        """Take over the text of an open note, unless a newer one is there already; returns whether it was taken."""
        record = note_record(path, text.encode("utf-8", "replace"), time.time_ns(), max_bytes)
        with self._lock:
            if self._versions.get(path, version - 1) >= version:
                return False
            self._db = self._db or database.memory()
            with self._db:
                notes.put(self._db, record)
            self._versions[path] = version
            return True

    def remove(self, path: str) -> None:
        """Forget a note that is no longer open: its file speaks again."""
        with self._lock:
            if self._versions.pop(path, None) is not None and self._db is not None:
                with self._db:
                    notes.delete(self._db, path)

    def adopt(self, spec: "ModelSpec", known: Callable[[bytes], Embedded | None]) -> None:
        """Take the vectors of passages that the index knows already; ``known`` gives them by the input's key."""
        with self._lock:
            if self._db is None:
                return
            self._prepare(self._db, spec)
            with self._db:
                for chunk in vectors.take_pending(self._db, -1):
                    vector = known(chunk.input_key)
                    if vector is not None:
                        vectors.put(self._db, chunk.input_key, *vector)

    def embed(self, pool: "EmbeddingPool", cancelled: Callable[[], bool]) -> None:
        """Embed the passages that are still without a vector."""
        while not cancelled():
            with self._lock:
                if self._db is None or self._prepared is None:
                    return
                waiting = vectors.take_pending(self._db, _PASSAGES_AT_ONCE)
            inputs = {c.input_key: embedder_input(c.title, c.heading_path, plain(c.text)) for c in waiting}
            if not inputs:
                return
            keys = list(inputs)
            # The lock is free meanwhile; a vector whose passage is gone by then is dropped again.
            made = list(pool.embed_many(inputs.values(), cancelled))
            with self._lock, self._db:
                for i, vector in made:
                    if isinstance(vector, ModelError):
                        vectors.fail(self._db, keys[i])
                    else:
                        vectors.put(self._db, keys[i], *packed(vector))

    def vector(self, input_key: bytes) -> Embedded | None:
        """Return a vector made here, so that saving a note embeds nothing again."""
        with self._lock:
            return None if self._db is None else vectors.get(self._db, input_key)

    def close(self) -> None:
        """Let all buffers go."""
        with self._lock:
            self._versions.clear()
            if self._db is not None:
                self._db.close()
                self._db = None

    def _prepare(self, db: Connection, spec: "ModelSpec") -> None:
        if self._prepared != spec.fingerprint:
            with db:
                vectors.prepare(db, spec.fingerprint, spec.dimensions)
            self._prepared = spec.fingerprint
