"""Late interaction: passages by how well each word of a query is met by one of theirs, by the encoder's own vectors."""

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from synapse_ls.inference.pool import EmbeddingPool
    from synapse_ls.inference.registry import ModelSpec

NAME: Final = "late-interaction"
# As many passages are kept in memory; their vectors, of half precision, take about 75 KiB each.
_REMEMBERED: Final = 256


class LateInteraction:
    """A reranker that needs no model of its own.

    It compares vectors of tokens, made on demand; the index keeps only their signs, by which the search has ranked
    already.
    """

    name = NAME
    batch = 1

    def __init__(self, spec: "ModelSpec", pool: "EmbeddingPool") -> None:
        self.fingerprint = f"{NAME} {spec.fingerprint}"
        self._pool = pool
        self._lock = threading.Lock()
        self._known: OrderedDict[str, NDArray[np.float16]] = OrderedDict()

    def scores(self, query: str, passages: "Sequence[str]", seconds: float) -> list[float]:  # noqa: ARG002 - the Protocol's
        """Return the MaxSim of each passage, 0 to 1: over the words of the query, the mean cosine to the nearest.

        Raises:
            ModelError: The encoder failed on a text.
        """
        asked = self._pool.query(query)[1:]
        return [_nearest(asked, words) for words in self._words(passages)]

    def close(self) -> None:
        """Let nothing go: the encoder is not its own."""

    def _words(self, passages: "Sequence[str]") -> "list[NDArray[np.float32]]":
        import numpy as np

        with self._lock:
            known = {text: self._known[text] for text in passages if text in self._known}
        for text in passages:
            if text not in known:
                # In this thread: the workers have a low priority, and somebody waits.
                known[text] = self._pool.passage(text)[1:].astype(np.float16)
        with self._lock:
            for text, words in known.items():
                self._known[text] = words
                self._known.move_to_end(text)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return [known[text].astype(np.float32) for text in passages]


def _nearest(asked: "NDArray[np.float32]", words: "NDArray[np.float32]") -> float:
    if not len(asked) or not len(words):
        return 0.0
    # How a product is rounded depends on its place among the others: what is equal must come out equal.
    return round(max(0.0, float((words @ asked.T).max(axis=0).mean())), 5)
