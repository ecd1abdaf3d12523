"""Text to vectors: one run a text, so that they depend on the text alone."""

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
    from tokenizers import Encoding, Tokenizer


MAX_TOKENS = 512
"""The most tokens of a text that have a vector of their own; a passage has about a hundred."""


class Embedder(Protocol):
    """An encoder that several threads may call at once.

    Both methods return a float32 matrix of shape ``(1 + tokens, spec.dimensions)``, bit for bit the same for the same
    text: its rows, each of length 1, are the vector of the text and then those of its tokens that are words, at most
    ``MAX_TOKENS``. A text of any length is read to its end; an empty one has a vector too. Both raise ``ModelError``
    when the model fails on the text.
    """

    @property
    def spec(self) -> ModelSpec:
        """The model behind it."""

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a piece of a note."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a search."""


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
            windows = [first, *first.overflowing]
            layers = [self._run(window.ids) for window in windows]
            vectors = [_unit(layer.mean(axis=0, dtype=np.float64)) for layer in layers]
            whole = vectors[0]
            if len(vectors) > 1:
                weighted = [len(layer) * vector for layer, vector in zip(layers, vectors, strict=True)]
                whole = _unit(np.sum(weighted, axis=0))
            words = np.concatenate([layer[_words(window)] for window, layer in zip(windows, layers, strict=True)])
            words = words[:MAX_TOKENS]
            return np.vstack((whole.astype(np.float32), words / np.linalg.norm(words, axis=1, keepdims=True)))
        except Exception as error:
            raise ModelError(
                f"The model {self.spec.name} failed on a text of {len(text)} characters ({error}); "
                "search goes on by words and links."
            ) from error

    def _run(self, ids: "Sequence[int]") -> "NDArray[np.float32]":
        """Run one window of tokens and return its last layer, shape ``(tokens, dimensions)``."""
        import numpy as np

        tokens = np.array([ids], dtype=np.int64)
        (layer,) = self._session.run(
            ["last_hidden_state"],
            {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)},
        )
        whole: NDArray[np.float32] = layer[0]
        return whole


def _words(window: "Encoding") -> list[int]:
    """Return which tokens of a window are words or parts of words: no marks, no punctuation."""
    tokens = zip(window.tokens, window.special_tokens_mask, strict=True)
    return [i for i, (token, mark) in enumerate(tokens) if not mark and token.removeprefix("##").isalnum()]


def _unit(vector: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return ``vector`` scaled to length 1; raises ValueError where that cannot be done."""
    norm = math.sqrt((vector * vector).sum())
    if not 0 < norm < math.inf:
        raise ValueError("its output is not a finite vector")
    return vector / norm
