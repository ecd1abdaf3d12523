"""A model in a folder of the user's own."""

import json
from pathlib import Path

import pytest

from synapse_ls.core.errors import ModelError
from synapse_ls.inference import catalogue, embedder
from tests.support.tiny_model import build


@pytest.mark.parametrize("external", [False, True])
def test_folder_is_a_model(tmp_path: Path, *, external: bool) -> None:
    """Nearness is nearness of meaning, and words have vectors of their own."""
    model = embedder.load(str(build(tmp_path / "model", external=external)))
    query = model.embed_query("a broken car")
    assert query.shape == (1 + 2, 16)
    near, far = (float(query[0] @ model.embed_passage(text)[0]) for text in ("failing vehicle", "bread dough"))
    assert near > far + 0.3


def test_fingerprint_follows_the_files(tmp_path: Path) -> None:
    """Other weights beside the ONNX file, or another tokenizer, are another model."""
    folder = build(tmp_path / "model", external=True)
    prints = [embedder.load(str(folder)).spec.fingerprint for _ in range(2)]
    weights = folder / "model.onnx_data"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\x00\x00\x80\x3f")
    prints.append(embedder.load(str(folder)).spec.fingerprint)
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text("utf-8") + "\n", "utf-8")
    prints.append(embedder.load(str(folder)).spec.fingerprint)
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_pooling_and_prefixes_come_from_what_lies_beside(tmp_path: Path) -> None:
    """The small files of sentence-transformers are understood."""
    folder = build(tmp_path / "model")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}), "utf-8")
    prompts = {"prompts": {"query": "car: ", "document": "bread: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts), "utf-8")
    spec = catalogue.resolve(str(folder), None)
    assert (spec.pooling, spec.query_prefix, spec.passage_prefix) == ("cls", "car: ", "bread: ")
    model = embedder.load(str(folder))
    assert model.embed_query("bread").shape == (2, 16)  # words of a prefix have none
    assert model.embed_query("").tobytes() != model.embed_passage("").tobytes()


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_folder_without_a_file_is_told(tmp_path: Path, missing: str) -> None:
    """With the name of the file and those that are needed."""
    folder = build(tmp_path / "model")
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=f"has no {missing}; a model needs model.onnx, tokenizer.json, config.json"):
        embedder.load(str(folder))


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"hidden_size": "many"}', '{"hidden_size": 0}'])
def test_config_that_says_nothing_is_told(tmp_path: Path, config: str) -> None:
    """It must say how long the vectors are."""
    folder = build(tmp_path / "model")
    (folder / "config.json").write_text(config, "utf-8")
    with pytest.raises(ModelError, match="no hidden_size"):
        embedder.load(str(folder))


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_file_that_is_no_model_is_told(tmp_path: Path, broken: str) -> None:
    """On one line."""
    folder = build(tmp_path / "model")
    (folder / broken).write_bytes(b"nothing of the kind\n\n")
    with pytest.raises(ModelError, match="cannot be loaded") as raised:
        embedder.load(str(folder))
    assert "\n" not in str(raised.value)


def test_missing_external_weights_are_told(tmp_path: Path) -> None:
    """The ONNX file alone is no model."""
    folder = build(tmp_path / "model", external=True)
    (folder / "model.onnx_data").unlink()
    with pytest.raises(ModelError, match="cannot be loaded"):
        embedder.load(str(folder))


def test_wrong_dimensions_are_told(tmp_path: Path) -> None:
    """What its config says must be what it gives."""
    folder = build(tmp_path / "model")
    (folder / "config.json").write_text('{"hidden_size": 17}', "utf-8")
    with pytest.raises(ModelError, match="vectors of 16 numbers, not 17"):
        embedder.load(str(folder))
