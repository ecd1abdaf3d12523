"""An encoder at the other end of an OpenAI-compatible ``/embeddings`` endpoint, which the user has named."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from synapse_ls.core.config import HttpSettings
from synapse_ls.core.errors import ModelError
from synapse_ls.inference import http
from synapse_ls.inference.lengths import unit
from synapse_ls.inference.registry import BUNDLED, ModelSpec, fingerprint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RECIPE: Final = "endpoint 1: no prefixes, L2"
# A person waits for a search; passages may take as long as a small machine needs.
_QUERY_SECONDS: Final = 2.0
_PASSAGE_SECONDS: Final = 60.0
# So long after a call that failed nobody waits for another.
_PAUSE_SECONDS: Final = 5.0
_SECTION: Final = "embedding.http"
_MOST_DIMENSIONS: Final = 8192


def connect(settings: HttpSettings, model: str, changed: Callable[[], None] = lambda: None) -> "Endpoint":
    """Return the encoder behind an endpoint after asking it for one vector, which tells their length.

    ``changed`` is called, in some thread, when the endpoint stops answering and when it answers again. The name of the
    bundled model is ours and not sent: an endpoint of one model needs no name.

    Raises:
        ModelError: The address or the key is wrong, or the endpoint does not answer as it should.
    """
    url = http.address(settings, _SECTION, "/embeddings", "http://localhost:11434/v1")
    name = "" if model == BUNDLED.name else model
    caller = _Caller(http.Caller(url, http.key(settings, _SECTION), "search goes on by words and links"), name)
    return Endpoint(caller, len(caller.vector("ready", _PASSAGE_SECONDS)), changed)


class Endpoint:
    """The encoder behind an endpoint; it gives no vectors of tokens. ``trouble`` says why it does not answer now."""

    def __init__(self, caller: "_Caller", dimensions: int, changed: Callable[[], None]) -> None:
        self.spec = ModelSpec(
            name=caller.name or caller.shown,
            dimensions=dimensions,
            max_tokens=_MOST_DIMENSIONS,
            languages="as its maker says",
            licence="as its maker says",
            size_bytes=0,
            weights_sha256="",
            fingerprint=fingerprint(caller.url, f"{caller.name}\n{dimensions}", _RECIPE),
            description=f"the model behind {caller.shown}",
        )
        self.trouble: str | None = None
        self._caller = caller
        self._changed = changed
        self._again = 0.0
        self._lock = threading.Lock()

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a piece of a note."""
        return self._embed(text, _PASSAGE_SECONDS)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a search."""
        return self._embed(text, _QUERY_SECONDS)

    def _embed(self, text: str, seconds: float) -> "NDArray[np.float32]":
        trouble = self.trouble
        if trouble is not None and time.monotonic() < self._again:
            raise ModelError(trouble)
        try:
            vector = self._caller.vector(text, seconds, self.spec.dimensions)
        except ModelError as error:
            self._note(str(error))
            raise
        self._note(None)
        return vector.reshape(1, -1)

    def _note(self, trouble: str | None) -> None:
        with self._lock:
            before, self.trouble = self.trouble, trouble
            if trouble is not None:
                self._again = time.monotonic() + _PAUSE_SECONDS
        if (before is None) != (trouble is None):
            self._changed()


class _Caller:
    """Vectors from one endpoint, from any thread."""

    def __init__(self, caller: http.Caller, name: str) -> None:
        self.url, self.shown = caller.url, caller.shown
        self.name = name
        self._caller = caller

    def vector(self, text: str, seconds: float, dimensions: int | None = None) -> "NDArray[np.float32]":
        """Return the vector of a text, float32 and of length 1, which must have so many ``dimensions``.

        Raises:
            ModelError: The endpoint does not answer in time, or not as it should.
        """
        import numpy as np

        # Not even a surrogate alone, which JSON can carry, may trouble the other side; nor may an empty text.
        plain = text.encode(errors="replace").decode() or " "
        body = {"input": plain, "encoding_format": "float"} | ({"model": self.name} if self.name else {})
        numbers = _embedding(self._caller.answer(body, seconds))
        try:
            if not isinstance(numbers, list) or not 0 < len(numbers) <= _MOST_DIMENSIONS:
                raise ValueError("no list of numbers")  # noqa: TRY301 - told in one place
            vector = unit(np.array([float(number) for number in numbers], dtype=np.float64))
        except (TypeError, ValueError):
            raise ModelError(
                f"{self.shown} does not answer with vectors, as an embeddings endpoint does; see docs/models.md"
            ) from None
        if dimensions not in (None, len(vector)):
            raise ModelError(
                f"{self.shown} gives vectors of {len(vector)} numbers now, not {dimensions}: "
                "another model is behind it; start the server again"
            )
        return vector.astype(np.float32)


def _embedding(answer: object) -> object:
    """Return the first embedding of an answer."""
    data = answer.get("data") if isinstance(answer, dict) else None
    first = data[0] if isinstance(data, list) and data else None
    return first.get("embedding") if isinstance(first, dict) else None
