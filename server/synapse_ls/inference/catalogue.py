"""What a model's name means: a row of our own table, one of fastembed's list, or a folder."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from synapse_ls.core.errors import ModelError
from synapse_ls.core.model import COMMON_BANDS
from synapse_ls.inference import folder, installed, nano, registry
from synapse_ls.inference.registry import (
    BGE_BANDS,
    BUNDLED,
    E5_BANDS,
    ENGLISH,
    MULTILINGUAL,
    AnySpec,
    ModelSpec,
    RerankerSpec,
    Source,
)

if TYPE_CHECKING:
    from fastembed.common.model_description import BaseModelDescription, DenseModelDescription

    from synapse_ls.inference.registry import Pooling

# fastembed's classes whose way from tokens to a vector is ours too; the others need more than a tokenizer and a mean.
_POOLING: "Final[dict[str, Pooling]]" = {
    "OnnxTextEmbedding": "cls",
    "PooledNormalizedEmbedding": "mean",
    "PooledEmbedding": "mean",
}
_RETRIEVAL: Final = "Represent this sentence for searching relevant passages: "
# Part of a name -> what its makers put before a search and before a passage.
_PREFIXES: Final = (
    ("e5-", "query: ", "passage: "),
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("snowflake-arctic", _RETRIEVAL, ""),
    ("mxbai-embed", _RETRIEVAL, ""),
    ("bge-small-en", _RETRIEVAL, ""),
    ("bge-base-en", _RETRIEVAL, ""),
    ("bge-large-en", _RETRIEVAL, ""),
    ("bge-small-zh", "为这个句子生成表示以用于检索相关文章：", ""),
)
# What is made for images, or is one side of a pair that needs the other.
_NOT_FOR_NOTES: Final = ("text&image", "Query-side", "Document side")
_MAX_TOKENS: Final = 512


def resolve(name: str, models: Path | None) -> ModelSpec:
    """Return the encoder that a name means, with its fingerprint where that is known without reading all of its files.

    ``models`` is the folder of downloaded models, if there is one. Names with a slash inside are looked up in
    fastembed's list, which takes half a second.

    Raises:
        ModelError: There is no such encoder; the message says what there is.
    """
    if name == MULTILINGUAL.name:
        return nano.described()
    if folder.is_folder(name):
        return folder.described(name)
    try:
        spec = _of_fastembed(name) if "/" in name else registry.find(name)
    except ModelError:
        if _reranker(name) is not None:
            raise ModelError(
                f"{name} is a reranker, which rerank.model chooses; set embedding.model to an encoder "
                "of: synapse-ls models list"
            ) from None
        raise
    return spec if spec.source is None or models is None else installed.completed(spec, models)


def fastembed_models() -> list[ModelSpec]:
    """Return the models of fastembed's list that can be used, in its order; takes half a second."""
    from fastembed import TextEmbedding

    found: list[ModelSpec] = []
    for kind in TextEmbedding.EMBEDDINGS_REGISTRY:
        pooling = _POOLING.get(kind.__name__)
        if pooling is not None:
            rows = kind._list_supported_models()  # noqa: SLF001 - the public list does not tell the class
            found += [spec for row in rows if (spec := _spec(row, pooling)) is not None]
    return found


def resolve_reranker(name: str) -> RerankerSpec:
    """Return the reranker on this machine that a name means; upper and lower case are one.

    Raises:
        ModelError: There is no such reranker; the message says what there is.
    """
    found = _reranker(name)
    if found is not None:
        return found
    known = ", ".join(spec.name for spec in registry.RERANKERS)
    advice = f"set rerank.model to one of: {known}, http, or a cross-encoder of: synapse-ls models list --all"
    try:
        resolve(name, None)
    except ModelError:
        raise ModelError(f'There is no reranker "{name}"; {advice}') from None
    raise ModelError(f"{name} is an encoder, which embedding.model chooses; {advice}")


def resolve_any(name: str, models: Path) -> AnySpec:
    """Return the model that a name means, of either kind.

    Raises:
        ModelError: There is no such model; the message says what there is.
    """
    found = _reranker(name)
    if found is not None:
        return found
    if "/" in name or folder.is_folder(name) or name in {spec.name for spec in registry.MODELS}:
        return resolve(name, models)
    raise ModelError(f'There is no model "{name}"; synapse-ls models list --all names those there are')


def fastembed_rerankers() -> list[RerankerSpec]:
    """Return the cross-encoders of fastembed's list, in its order; takes half a second."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    rows = [row for kind in TextCrossEncoder.CROSS_ENCODER_REGISTRY for row in kind._list_supported_models()]  # noqa: SLF001 - the public list gives dictionaries
    return [_cross_encoder(row) for row in rows if row.sources.hf]


def by_fingerprint(fingerprint: str, models: Path) -> str | None:
    """Return the name of the installed model that has a fingerprint; None if none has it."""
    names = [BUNDLED.name, MULTILINGUAL.name, *(manifest.model for manifest in installed.pulled(models))]
    return next((name for name in names if _fingerprint(name, models) == fingerprint), None)


def _fingerprint(name: str, models: Path) -> str:
    try:
        return resolve(name, models).fingerprint
    except ModelError:
        return ""


def _reranker(name: str) -> RerankerSpec | None:
    folded, slash = name.lower(), "/" in name and not folder.is_folder(name)
    specs = fastembed_rerankers() if slash else registry.RERANKERS
    return next((spec for spec in specs if spec.name.lower() == folded), None)


def _cross_encoder(row: "BaseModelDescription") -> RerankerSpec:
    name, description = row.model, str(row.description)
    english = re.search("ms-marco|-en(-|$)", name) is not None
    many = re.search("multi-?lingual", description, re.IGNORECASE) is not None
    return RerankerSpec(
        name=name,
        languages="English" if english else "many languages" if many else "as its maker says",
        licence=str(row.license),
        size_bytes=int(row.size_in_GB * 1e9),
        description="of fastembed's list",
        source=Source(str(row.sources.hf), str(row.model_file), (installed.TOKENIZER, *row.additional_files)),
    )


def _of_fastembed(name: str) -> ModelSpec:
    for spec in fastembed_models():
        if spec.name.lower() == name.lower():
            return spec
    raise ModelError(
        f'There is no model "{name}" that can be used; synapse-ls models list --all names those there are, '
        "and a folder is named by its full path."
    )


def _spec(row: "DenseModelDescription", pooling: "Pooling") -> ModelSpec | None:
    repository, description = row.sources.hf, str(row.description)
    if not repository or any(mark in description for mark in _NOT_FOR_NOTES):
        return None
    # Weights beside the ONNX file are listed by fastembed; the tokenizer lies at the top of its repositories.
    others = ("config.json", installed.TOKENIZER, *row.additional_files)
    english = "nglish" in description and not re.search("ultilingual|mixed", description)
    chinese = ", Chinese," in description
    limit = re.search(r"(\d+) input tokens", description)
    prefixes = next(((query, passage) for part, query, passage in _PREFIXES if part in row.model), ("", ""))
    return ModelSpec(
        name=row.model,
        dimensions=int(row.dim or 0),
        max_tokens=min(int(limit[1]) if limit else 256, _MAX_TOKENS),
        languages="English" if english else "Chinese" if chinese else _languages(description),
        licence=str(row.license),
        size_bytes=int(row.size_in_GB * 1e9),
        weights_sha256="",
        fingerprint="",
        description="of fastembed's list",
        reads=ENGLISH if english else frozenset({"zh"}) if chinese else None,
        bands=E5_BANDS
        if "e5-" in row.model
        else BGE_BANDS
        if "bge-" in row.model or "gte-" in row.model
        else COMMON_BANDS,
        pooling=pooling,
        query_prefix=prefixes[0],
        passage_prefix=prefixes[1],
        source=Source(repository, str(row.model_file), others),
    )


def _languages(description: str) -> str:
    found = re.search(r"[Mm]ultilingual \(([^)]*)\)|mixed (\S+) input", description)
    return next((group for group in found.groups() if group), "many languages") if found else "many languages"
