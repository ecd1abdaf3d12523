"""The models Synapse knows, as plain data: listing them loads nothing."""

import hashlib
from dataclasses import dataclass
from typing import Final

from synapse_ls.core.errors import ModelError


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is known of an encoder before it is loaded.

    Attributes:
        name: The value of the setting ``embedding.model`` that chooses it.
        dimensions: Length of its vectors.
        max_tokens: Tokens of one run, special tokens included; longer inputs are split.
        languages: The languages it was trained on, for people.
        licence: SPDX identifier.
        size_bytes: Size of the weights' file.
        weights_sha256: Hash of the weights' file, lower-case hexadecimal.
        fingerprint: Names the function from text to vector; vectors of two fingerprints are never compared.
        description: One line for people.
    """

    name: str
    dimensions: int
    max_tokens: int
    languages: str
    licence: str
    size_bytes: int
    weights_sha256: str
    fingerprint: str
    description: str


def find(name: str) -> ModelSpec:
    """Return the model called ``name``.

    Raises:
        ModelError: No model has that name; the message lists the names there are.
    """
    for spec in MODELS:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in MODELS)
    raise ModelError(f'There is no model "{name}"; set embedding.model to one of: {known}, none.')


def fingerprint(weights_sha256: str, tokenizer_sha256: str, recipe: str) -> str:
    """Return 32 hexadecimal digits that change when the weights, the tokenizer or the handling of inputs change."""
    return hashlib.sha256(f"{weights_sha256}\n{tokenizer_sha256}\n{recipe}".encode()).hexdigest()[:32]


_MINILM_WEIGHTS: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MINILM_TOKENIZER: Final = "3ad857958ba886d154a5a852119fb31a0dd549d03d8a3fc20e33f2336272cc19"

# Change the text when embedder.py makes other vectors of the same text: every stored one is then made anew.
_RECIPE: Final = (
    "2: windows of 256 tokens, special tokens read as plain text, mean pooling, L2, mean of windows, L2; "
    "tokens of letters and digits"
)

BUNDLED: Final = ModelSpec(
    name="bundled",
    dimensions=384,
    max_tokens=256,
    languages="English",
    licence="Apache-2.0",
    size_bytes=22_928_619,
    weights_sha256=_MINILM_WEIGHTS,
    fingerprint=fingerprint(_MINILM_WEIGHTS, _MINILM_TOKENIZER, _RECIPE),
    description="all-MiniLM-L6-v2 with int8 weights, installed together with Synapse",
)

MODELS: Final = (BUNDLED,)
