"""Text to vector: one run a text, so that a vector depends on its text alone."""

import math
from typing import TYPE_CHECKING, Protocol

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import bundled
from synapse_ls.inference.registry import ModelSpec, find
from synapse_ls.inference.session import open_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer


class Embedder(Protocol):
    """An encoder that several threads may call at once.

    Both methods return a float32 vector of shape ``(spec.dimensions,)`` and length 1, bit for bit the same for the
    same text. A text of any length is read to its end; an empty one has a vector too. Both raise ``ModelError`` when
    the model fails on the text.
    """

    @property
    def spec(self) -> ModelSpec:
        """The model behind it."""

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a piece of a note."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a search."""


def load(model: str) -> Embedder:
    """Load a model by its name in the settings, as ``registry.find`` knows it; takes about a second and no network.

    Raises:
        ModelError: The name is unknown, or the model's files are missing, damaged or unusable.
    """
    spec = find(model)
    weights = bundled.weights()
    try:
        session, tokenizer = open_session(bundled.ORIGIN, weights, bundled.TOKENIZER_DIR)
    except Exception as error:
        raise ModelError(f"The model {spec.name} cannot be loaded ({error}); run: synapse-ls doctor") from error
    return _OnnxEmbedder(spec, session, tokenizer)


class _OnnxEmbedder:
    """A BERT-like encoder with mean pooling; queries and passages are treated alike."""

    def __init__(self, spec: ModelSpec, session: "InferenceSession", tokenizer: "Tokenizer") -> None:
        self.spec = spec
        self._session = session
        self._tokenizer = tokenizer

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        return self._embed(text)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        return self._embed(text)

    def _embed(self, text: str) -> "NDArray[np.float32]":
        import numpy as np

        try:
            # Half a surrogate pair, which an editor may send, has no UTF-8 form: it becomes a question mark.
            first = self._tokenizer.encode(text.encode(errors="replace").decode())
            windows = [first.ids, *(window.ids for window in first.overflowing)]
            vectors = [_unit(self._pool(ids)) for ids in windows]
            if len(vectors) == 1:
                return vectors[0].astype(np.float32)
            weighted = [len(ids) * vector for ids, vector in zip(windows, vectors, strict=True)]
            return _unit(np.sum(weighted, axis=0)).astype(np.float32)
        except Exception as error:
            raise ModelError(
                f"The model {self.spec.name} failed on a text of {len(text)} characters ({error}); "
                "search goes on by words and links."
            ) from error

    def _pool(self, ids: "Sequence[int]") -> "NDArray[np.float64]":
        """Run one window of tokens and return the mean of its last layer, shape ``(dimensions,)``."""
        import numpy as np

        tokens = np.array([ids], dtype=np.int64)
        (layer,) = self._session.run(
            ["last_hidden_state"],
            {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)},
        )
        pooled: NDArray[np.float64] = layer[0].mean(axis=0, dtype=np.float64)
        return pooled


def _unit(vector: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return ``vector`` scaled to length 1; raises ValueError where that cannot be done."""
    norm = math.sqrt((vector * vector).sum())
    if not 0 < norm < math.inf:
        raise ValueError("its output is not a finite vector")
    return vector / norm
