"""Text to vectors: one run a text, so that they depend on the text alone."""

from typing import TYPE_CHECKING, Protocol

from synapse_ls.core.errors import ModelError, ModelMissingError
from synapse_ls.inference import bundled, catalogue, folder, installed, nano
from synapse_ls.inference.lengths import unit
from synapse_ls.inference.registry import BUNDLED, MULTILINGUAL, ModelSpec
from synapse_ls.inference.session import open_files, open_session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    ``MAX_TOKENS``; none of a model that does not give them. A text of any length is read to its end; an empty one has a
    vector too. Both raise ``ModelError`` when the model fails on the text.
    """

    @property
    def spec(self) -> ModelSpec:
        """The model behind it."""

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a piece of a note."""

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vectors of a search."""


def load(model: str, models: "Path | None" = None) -> Embedder:
    """Load a model by its name in the settings, as ``catalogue.resolve`` knows it; takes about a second and no network.

    ``models`` is the folder of downloaded models.

    Raises:
        ModelError: The name is unknown, or the model's files are missing, damaged or unusable.
    """
    if model == BUNDLED.name:
        weights = bundled.weights()
        try:
            session, tokenizer = open_session(bundled.ORIGIN, weights, bundled.TOKENIZER_DIR)
        except Exception as error:
            raise ModelError(f"The model {model} cannot be loaded ({error}); run: synapse-ls doctor") from error
        return _OnnxEmbedder(BUNDLED, session, tokenizer)
    if model == MULTILINGUAL.name:
        return nano.load()
    if folder.is_folder(model):
        return _opened(*folder.checked(model))
    spec = catalogue.resolve(model, models)
    if models is None:
        raise ModelMissingError(f"The model {model} is not downloaded")
    return _opened(spec, *installed.checked(spec, models))


def check(model: str, models: "Path") -> None:
    """Look whether a model is there, as far as that shows without reading all of its files.

    Raises:
        ModelError: As ``load``.
    """
    if model == BUNDLED.name:
        bundled.weights()
    elif model == MULTILINGUAL.name:
        nano.described_or_missing()
    elif folder.is_folder(model):
        folder.described(model)
    else:
        installed.listed(catalogue.resolve(model, models), models)


def _opened(spec: ModelSpec, weights: "Path", tokenizer_file: "Path") -> Embedder:
    """Load a model of files and try it out."""
    try:
        session, tokenizer = open_files(weights, tokenizer_file, spec.max_tokens)
        encoder = _OnnxEmbedder(
            spec, session, tokenizer, tuple(given.name for given in session.get_inputs()), _output(session)
        )
    except Exception as error:
        raise ModelError(f"The model {spec.name} cannot be loaded ({_line(error)}); see docs/models.md") from error
    width = encoder.embed_query("ready").shape[1]
    if width != spec.dimensions:
        raise ModelError(f"The model {spec.name} gives vectors of {width} numbers, not {spec.dimensions}")
    return encoder


def _output(session: "InferenceSession") -> str:
    """Return which output of a model to use: one vector a token, or else one a text."""
    outputs = {str(output.name): len(output.shape) for output in session.get_outputs()}
    usual = ("last_hidden_state", "token_embeddings", "sentence_embedding")
    for rank in (3, 2):
        for name in sorted(outputs, key=lambda name: name not in usual):
            if outputs[name] == rank:
                return name
    raise ValueError("it has no output of vectors")


class _OnnxEmbedder:
    """A BERT-like encoder."""

    def __init__(
        self,
        spec: ModelSpec,
        session: "InferenceSession",
        tokenizer: "Tokenizer",
        inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
        output: str = "last_hidden_state",
    ) -> None:
        self.spec = spec
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = inputs
        self._output = output

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        return self._embed(self.spec.passage_prefix, text)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        return self._embed(self.spec.query_prefix, text)

    def _embed(self, prefix: str, text: str) -> "NDArray[np.float32]":
        import numpy as np

        try:
            # Half a surrogate pair, which an editor may send, has no UTF-8 form: it becomes a question mark.
            first = self._tokenizer.encode(prefix + text.encode(errors="replace").decode())
            windows = [first, *first.overflowing]
            layers = [self._run(window.ids) for window in windows]
            vectors = [unit(self._pooled(layer)) for layer in layers]
            whole = vectors[0]
            if len(vectors) > 1:
                weighted = [len(layer) * vector for layer, vector in zip(layers, vectors, strict=True)]
                whole = unit(np.sum(weighted, axis=0))
            words = np.concatenate(
                [layer[_words(window, layer, len(prefix))] for window, layer in zip(windows, layers, strict=True)]
            )[:MAX_TOKENS]
            return np.vstack((whole.astype(np.float32), words / np.linalg.norm(words, axis=1, keepdims=True)))
        except Exception as error:
            raise ModelError(
                f"The model {self.spec.name} failed on a text of {len(text)} characters ({error}); "
                "search goes on by words and links."
            ) from error

    def _pooled(self, layer: "NDArray[np.float32]") -> "NDArray[np.float64]":
        import numpy as np

        if self.spec.pooling == "cls":
            return np.asarray(layer[0], dtype=np.float64)
        return np.asarray(layer.mean(axis=0, dtype=np.float64))

    def _run(self, ids: "Sequence[int]") -> "NDArray[np.float32]":
        """Run one window of tokens and return its last layer, shape ``(tokens, dimensions)``.

        Of a model that gives the vector of a text alone that is the one row.
        """
        import numpy as np

        tokens = np.array([ids], dtype=np.int64)
        given = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.arange(len(ids), dtype=np.int64)[None],
        }
        (layer,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        whole: NDArray[np.float32] = np.asarray(layer[0], dtype=np.float32)
        return np.atleast_2d(whole)


def _words(window: "Encoding", layer: "NDArray[np.float32]", begin: int) -> list[int]:
    """Return which tokens of a window are words or parts of words: no marks, no signs, nothing before ``begin``."""
    if len(layer) != len(window.tokens):
        return []
    tokens = zip(window.tokens, window.special_tokens_mask, window.offsets, strict=True)
    return [i for i, (token, mark, at) in enumerate(tokens) if not mark and at[0] >= begin and _is_word(token)]


def _is_word(token: str) -> bool:
    # Tokenizers mark what goes on with a word, or what begins one.
    return token.removeprefix("##").lstrip("▁Ġ").isalnum()


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
