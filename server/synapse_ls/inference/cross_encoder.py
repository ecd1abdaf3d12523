"""Rerankers that read a query and a passage together, from files on this machine."""

import math
from typing import TYPE_CHECKING, Any, Final

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import catalogue, installed
from synapse_ls.inference.registry import RerankerSpec, fingerprint
from synapse_ls.inference.reranker import relevance
from synapse_ls.inference.session import open_cross_encoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Change this text when the same model gives other scores: those that are kept are then not used any more.
_RECIPE: Final = "cross-encoder 1: one pair a run, the longer text cut, special tokens read as plain text, sigmoid"
# How a number is rounded depends on the machine's load: what is equal must come out equal.
_DIGITS: Final = 5


def load(name: str, models: "Path") -> "CrossEncoder":
    """Load a cross-encoder by its name in the setting ``rerank.model``; takes a second or more, and no network.

    ``models`` is the folder of downloaded models.

    Raises:
        ModelError: The name is not that of a cross-encoder, or its files are missing, damaged or unusable.
    """
    spec = catalogue.resolve_reranker(name)
    if spec.source is None:
        raise ModelError(f"{spec.name} is no cross-encoder")
    weights, tokenizer_file = installed.checked(spec, models)
    try:
        encoder = open_cross_encoder(weights, tokenizer_file, spec.max_tokens)
    except Exception as error:
        raise ModelError(f"The model {spec.name} cannot be loaded ({_line(error)}); see docs/models.md") from error
    hashes = installed.hashes(installed.listed(spec, models))
    made = CrossEncoder(spec, fingerprint(*hashes, f"{_RECIPE}, {spec.max_tokens}"), encoder)
    made.scores("ready", ["ready"], 0)
    return made


def check(name: str, models: "Path") -> None:
    """Look whether a reranker is there, as far as that shows without reading all of its files.

    Raises:
        ModelError: As ``load``.
    """
    spec = catalogue.resolve_reranker(name)
    if spec.source is not None:
        installed.listed(spec, models)


class CrossEncoder:
    """A cross-encoder in this process."""

    # Somebody may ask something else meanwhile, and no pair is faster for being among many.
    batch = 1

    def __init__(self, spec: RerankerSpec, made: str, encoder: Any) -> None:  # noqa: ANN401 - fastembed's
        self.name = spec.name
        self.fingerprint = made
        self._encoder = encoder

    def scores(self, query: str, passages: "Sequence[str]", seconds: float) -> list[float]:  # noqa: ARG002 - a computation under way does not stop
        """Return the relevance of each passage, 0 to 1, in their order; of the same pair always the same.

        Raises:
            ModelError: The model failed on one of the pairs, or is closed.
        """
        encoder = self._encoder
        if encoder is None:
            raise ModelError(f"The model {self.name} is closed")
        # Half a surrogate pair, which an editor may send, has no UTF-8 form: it becomes a question mark.
        plain = [text.encode(errors="replace").decode() for text in (query, *passages)]
        try:
            logits = [round(logit, _DIGITS) for logit in encoder.rerank(plain[0], plain[1:], batch_size=1)]
        except Exception as error:
            raise ModelError(f"The model {self.name} failed on {len(passages)} passages ({_line(error)})") from error
        if not all(map(math.isfinite, logits)):
            raise ModelError(f"The model {self.name} gives scores that are no numbers; run: synapse-ls doctor")
        return [relevance(logit) for logit in logits]

    def close(self) -> None:
        """Let go of the model."""
        self._encoder = None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
