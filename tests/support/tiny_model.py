"""Real models so small that a test can build them: words that mean the same have the same vector."""

import json
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TID253 - the rule is for start-up, which a test has not
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors  # noqa: TID253 - as above

_MEANINGS = (
    ("car", "automobile", "vehicle"),
    ("broken", "failing", "dead"),
    ("bread", "loaf"),
    ("flour", "dough", "yeast"),
    ("garden", "flowers"),
    ("money", "invoice", "bill"),
)
# Makes the weights large enough to come in several pieces.
_FILLER = 200
_PAIR_DIMENSIONS = 384
_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def build(folder: Path, dimensions: int = 16, *, external: bool = False) -> Path:
    """Write the three files of a model; with ``external`` its weights lie in a file beside."""
    folder.mkdir(parents=True, exist_ok=True)
    words = _words()
    _tokenizer(words).save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"hidden_size": dimensions}), "utf-8")
    model = _model(_table(words, dimensions))
    _save(model, folder, external=external)
    return folder


def build_cross_encoder(folder: Path, *, external: bool = False) -> Path:
    """Write the files of a model of pairs: its logit grows by 8 with each word of the query that the passage has.

    A word of the same meaning counts as the word itself; without any the logit is about -4.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = _words()
    _tokenizer(words).save(str(folder / "tokenizer.json"))
    _save(_pair_model(_table(words, _PAIR_DIMENSIONS)), folder, external=external)
    return folder


def _save(model: onnx.ModelProto, folder: Path, *, external: bool) -> None:
    beside: dict[str, Any] = {"save_as_external_data": True, "location": "model.onnx_data", "size_threshold": 1024}
    onnx.save(model, str(folder / "model.onnx"), **(beside if external else {}))


def _words() -> list[str]:
    return [*_MARKS, *(word for meaning in _MEANINGS for word in meaning), *(f"w{i}" for i in range(_FILLER))]


def _table(words: list[str], dimensions: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """Return a vector a word: fixed numbers, the same for words of one meaning, small for marks."""
    numbers = np.random.default_rng(7)
    drawn = [numbers.standard_normal(dimensions) for _ in _MEANINGS]
    of_word = {word: vector for meaning, vector in zip(_MEANINGS, drawn, strict=True) for word in meaning}
    rest = numbers.standard_normal(dimensions) * 0.05
    return np.array([of_word.get(word, rest) for word in words], dtype=np.float32)


def _model(table: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> onnx.ModelProto:
    """Return a model in the shape of a BERT: each token has its own vector and the mean of all."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", table.shape[1]])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["own"]),
        helper.make_node("ReduceMean", ["own"], ["whole"], axes=[1], keepdims=1),
        helper.make_node("Add", ["own", "whole"], ["last_hidden_state"]),
    ]
    last = numpy_helper.from_array(np.array([-1], dtype=np.int64), "last")
    graph = helper.make_graph(nodes, "tiny", inputs, [output], [numpy_helper.from_array(table, "table"), last])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _pair_model(table: "np.ndarray[tuple[int, int], np.dtype[np.float32]]") -> onnx.ModelProto:
    """Return a model in the shape of a cross-encoder: of each token of the query the nearest of the passage counts."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    numbers = {
        "table": table,
        "last": np.array([-1], dtype=np.int64),
        "one": np.float32(1),
        "scale": np.float32(8 / table.shape[1]),
        "none": np.float32(-4),
    }
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        *_side("query", "first"),
        *_side("passage", "second"),
        helper.make_node("Transpose", ["passage"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["query", "turned"], ["products"]),
        helper.make_node("ReduceMax", ["products"], ["nearest"], axes=[2], keepdims=0),
        helper.make_node("ReduceSum", ["nearest", "last"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "none"], ["logits"]),
    ]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in numbers.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _side(name: str, of: str) -> list[onnx.NodeProto]:
    """Return what leaves the vectors of one of the two texts alone."""
    return [
        helper.make_node("Mul", ["mask", of], [f"{name} mask"]),
        helper.make_node("Unsqueeze", [f"{name} mask", "last"], [f"{name} column"]),
        helper.make_node("Mul", ["rows", f"{name} column"], [name]),
    ]


def _tokenizer(words: list[str]) -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=_MARKS[1]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = [(mark, words.index(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=marks
    )
    made.add_special_tokens(list(_MARKS))
    return made
