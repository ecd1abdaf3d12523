"""Embedding in the background, in the order asked for, with searches going first."""

import os
import sys
import threading
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from synapse_ls.core.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from synapse_ls.inference.embedder import Embedder

_REMEMBERED_QUERIES: Final = 256
_READ_AHEAD_PER_WORKER: Final = 2
_NICENESS: Final = 10


@dataclass(slots=True, eq=False)
class _Order:
    """One call of ``embed_many``: its finished texts, and the condition its reader waits on."""

    arrived: threading.Condition
    done: "deque[tuple[int, NDArray[np.float32] | ModelError]]" = field(default_factory=deque)


class EmbeddingPool:
    """Threads that embed passages, one text a run each; idle ones sleep without waking.

    All methods may be called from any thread. Several calls of ``embed_many`` share the workers.
    """

    def __init__(self, embedder: "Embedder", workers: int) -> None:
        self._embedder = embedder
        # One lock guards all fields; workers wait on _changed, readers on the condition of their order.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._tasks: deque[tuple[_Order, int, str]] = deque()
        self._threads: list[threading.Thread] = []
        self._allowed = 0
        self._running = 0
        self._queries = 0
        self._closed = False
        self._remembered: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self.set_workers(workers)

    def set_workers(self, n: int) -> None:
        """Let ``n`` texts (at least 1) be embedded at once from now on; running ones are finished."""
        with self._lock:
            self._allowed = max(1, n)
            while not self._closed and len(self._threads) < self._allowed:
                # A daemon: an exit without close() must not wait for a thread that sleeps.
                thread = threading.Thread(target=self._work, name=f"embed-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def embed_many(
        self, texts: "Iterable[str]", cancelled: "Callable[[], bool]"
    ) -> "Generator[tuple[int, NDArray[np.float32] | ModelError], None, None]":
        """Yield ``(position in texts, vectors or the error of that text)`` as they are finished, in any order.

        ``texts`` is read in the caller's thread, a few ahead of the workers. The iterator ends early when
        ``cancelled()`` (asked before each result) is true or the pool is closed; texts not begun are then dropped, as
        they are when the caller closes the iterator.
        """
        order = _Order(threading.Condition(self._lock))
        source = enumerate(texts)
        unread = 0
        try:
            while not cancelled():
                fresh = list(islice(source, max(0, self._allowed * _READ_AHEAD_PER_WORKER - unread)))
                unread += len(fresh)
                with self._lock:
                    self._tasks.extend((order, index, text) for index, text in fresh)
                    self._changed.notify(len(fresh))
                    while unread and not order.done and not self._closed:
                        order.arrived.wait()
                    if not order.done:
                        return
                    result = order.done.popleft()
                unread -= 1
                yield result
        finally:
            with self._lock:
                self._tasks = deque(task for task in self._tasks if task[0] is not order)

    def query(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a search (read-only), computed at once in the calling thread.

        Until it is there the workers begin no further text. Those of the last 256 searches are remembered.

        Raises:
            ModelError: The model failed on the text.
        """
        with self._lock:
            if (known := self._remembered.get(text)) is not None:
                self._remembered.move_to_end(text)
                return known
        vectors = self._at_once(self._embedder.embed_query, text)
        vectors.setflags(write=False)
        with self._lock:
            self._remembered[text] = vectors
            if len(self._remembered) > _REMEMBERED_QUERIES:
                self._remembered.popitem(last=False)
        return vectors

    def passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a passage that somebody waits for, computed at once in the calling thread.

        Raises:
            ModelError: The model failed on the text.
        """
        return self._at_once(self._embedder.embed_passage, text)

    def _at_once(self, embed: "Callable[[str], NDArray[np.float32]]", text: str) -> "NDArray[np.float32]":
        """Embed before all that waits: until it is done the workers begin no further text."""
        with self._lock:
            self._queries += 1
        try:
            return embed(text)
        finally:
            with self._lock:
                self._queries -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """End the workers after the texts they are at; waiting iterators end. Queries are still answered."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()
            for order, _, _ in self._tasks:
                order.arrived.notify()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        _lower_priority()
        while True:
            with self._lock:
                while not self._closed and (self._queries or not self._tasks or self._running >= self._allowed):
                    self._changed.wait()
                if self._closed:
                    return
                order, index, text = self._tasks.popleft()
                self._running += 1
            result = self._embed(text)
            with self._lock:
                self._running -= 1
                order.done.append((index, result))
                order.arrived.notify()

    def _embed(self, text: str) -> "NDArray[np.float32] | ModelError":
        try:
            return self._embedder.embed_passage(text)
        except ModelError as error:
            return error
        except BaseException as error:  # noqa: BLE001 - a result that never comes would hold its reader for ever
            return ModelError(f"The model failed on a text of {len(text)} characters ({error!r}).")


def _lower_priority() -> None:
    # On Linux a thread has a priority of its own; elsewhere this would slow the whole server.
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
