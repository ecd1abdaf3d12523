"""What a model's name means."""

from pathlib import Path

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import catalogue, installed
from synapse_ls.inference.installed import File, Manifest
from synapse_ls.inference.registry import BUNDLED, ModelSpec, RerankerSpec


@pytest.fixture(scope="module")
def listed() -> dict[str, ModelSpec]:
    """Give the models of fastembed's list by name."""
    return {spec.name: spec for spec in catalogue.fastembed_models()}


def test_list_of_fastembed_has_what_can_be_used(listed: dict[str, ModelSpec]) -> None:
    """Text models with a tokenizer and a mean or a first token; none made for images."""
    assert len(listed) > 15
    assert not any("clip" in name.lower() for name in listed)
    assert all(spec.dimensions and spec.source is not None for spec in listed.values())


@pytest.mark.parametrize(
    ("name", "pooling", "english", "query", "passage"),
    [
        ("BAAI/bge-base-en-v1.5", "cls", True, "Represent this sentence for searching relevant passages: ", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "mean", True, "", ""),
        ("intfloat/multilingual-e5-large", "mean", False, "query: ", "passage: "),
        ("nomic-ai/nomic-embed-text-v1.5", "mean", True, "search_query: ", "search_document: "),
        ("jinaai/jina-embeddings-v2-base-de", "mean", False, "", ""),
    ],
)
def test_model_of_fastembed_is_described(  # noqa: PLR0913 - a row of what is known of one
    listed: dict[str, ModelSpec], name: str, pooling: str, query: str, passage: str, *, english: bool
) -> None:
    """What its makers put before texts, how it is pooled, whether it knows English only."""
    spec = listed[name]
    assert (spec.pooling, spec.english_only, spec.query_prefix, spec.passage_prefix) == (
        pooling,
        english,
        query,
        passage,
    )


def test_weights_beside_the_onnx_file_are_listed(listed: dict[str, ModelSpec]) -> None:
    """They are downloaded too."""
    source = listed["intfloat/multilingual-e5-large"].source
    assert source is not None
    assert "model.onnx_data" in source.files


@pytest.mark.parametrize("name", ["nobody/nothing", "Qdrant/clip-ViT-B-32-text", "gpt"])
def test_unknown_name_is_told(tmp_path: Path, name: str) -> None:
    """With what to do."""
    with pytest.raises(ModelError, match="no model"):
        catalogue.resolve(name, tmp_path)


def test_installed_model_is_known_by_its_fingerprint(tmp_path: Path) -> None:
    """The bundled one, and those that were downloaded."""
    spec = catalogue.resolve("bge-m3", tmp_path)
    assert spec.fingerprint == ""
    folder = installed.folder_of(tmp_path, spec.name)
    folder.mkdir()
    files = (File("tokenizer.json", 1, "a" * 64), File("model.onnx", 1, "b" * 64))
    installed.write_manifest(folder, Manifest(spec.name, "hub", "main", files))
    made = catalogue.resolve("bge-m3", tmp_path).fingerprint
    assert catalogue.by_fingerprint(made, tmp_path) == "bge-m3"
    assert catalogue.by_fingerprint(BUNDLED.fingerprint, tmp_path) == "bundled"
    assert catalogue.by_fingerprint("0" * 32, tmp_path) is None


@pytest.fixture(scope="module")
def rerankers() -> dict[str, RerankerSpec]:
    """Give the cross-encoders of fastembed's list by name."""
    return {spec.name: spec for spec in catalogue.fastembed_rerankers()}


@pytest.mark.parametrize(
    ("name", "languages", "files"),
    [
        ("Xenova/ms-marco-MiniLM-L-12-v2", "English", ("tokenizer.json", "onnx/model.onnx")),
        ("BAAI/bge-reranker-base", "as its maker says", ("tokenizer.json", "onnx/model.onnx")),
        ("jinaai/jina-reranker-v1-tiny-en", "English", ("tokenizer.json", "onnx/model.onnx")),
        ("jinaai/jina-reranker-v2-base-multilingual", "many languages", ("tokenizer.json", "onnx/model.onnx")),
    ],
)
def test_cross_encoder_of_fastembed_is_described(
    rerankers: dict[str, RerankerSpec], name: str, languages: str, files: tuple[str, ...]
) -> None:
    """Its languages, and the files that are needed."""
    spec = rerankers[name]
    assert spec.source is not None
    assert (spec.languages, spec.source.files) == (languages, files)
    assert catalogue.resolve_reranker(name.upper()) == spec


@pytest.mark.parametrize("name", ["bge-reranker-v2-m3", "late-interaction", "BAAI/bge-reranker-base"])
def test_reranker_is_no_encoder(tmp_path: Path, name: str) -> None:
    """The message says which setting is for it."""
    with pytest.raises(ModelError, match=f"{name} is a reranker, which rerank.model chooses; set embedding.model to"):
        catalogue.resolve(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bundled", "encoder"),
        ("BAAI/bge-small-en-v1.5", "encoder"),
        ("bge-reranker-v2-m3", "reranker"),
        ("BAAI/bge-reranker-base", "reranker"),
    ],
)
def test_name_means_a_model_of_either_kind(tmp_path: Path, name: str, kind: str) -> None:
    """Where both are handled, such as a download."""
    assert catalogue.resolve_any(name, tmp_path).kind == kind


@pytest.mark.parametrize("name", ["nobody/nothing", "gpt", "none", "http", "/no/such/folder"])
def test_name_of_neither_kind_is_told(tmp_path: Path, name: str) -> None:
    """With what to do."""
    with pytest.raises(ModelError, match=r"There is no model|has no model\.onnx"):
        catalogue.resolve_any(name, tmp_path)
