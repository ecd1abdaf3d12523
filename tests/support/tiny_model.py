"""A real encoder so small that a test can build it: words that mean the same have the same vector."""

import json
from pathlib import Path

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
_MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def build(folder: Path, dimensions: int = 16, *, external: bool = False) -> Path:
    """Write the three files of a model; with ``external`` its weights lie in a file beside."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [*_MARKS, *(word for meaning in _MEANINGS for word in meaning), *(f"w{i}" for i in range(_FILLER))]
    _tokenizer(words).save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"hidden_size": dimensions}), "utf-8")
    model = _model(_table(words, dimensions))
    if external:
        onnx.save(
            model,
            str(folder / "model.onnx"),
            save_as_external_data=True,
            location="model.onnx_data",
            size_threshold=1024,
        )
    else:
        onnx.save(model, str(folder / "model.onnx"))
    return folder


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


def _tokenizer(words: list[str]) -> Tokenizer:
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=_MARKS[1]))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    marks = [(mark, words.index(mark)) for mark in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    made.add_special_tokens(list(_MARKS))
    return made
