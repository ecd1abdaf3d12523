"""What reading a query and a passage together costs: ``python bench/rerankers.py VAULT``.

A cross-encoder of the shape of ms-marco-MiniLM-L-6-v2 (6 layers, 384 numbers, 12 heads, float32) is built with random
weights: its times are those of the real one, its scores mean nothing. In turns, on the same pairs and with as many
threads: that model through Synapse, the same in a bare loop of onnxruntime, and late interaction, which needs no model
of its own. Prints milliseconds a pair, by the clock and of the processor; ``--out`` writes JSON.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TID253 - a measurement may take its time to start
import onnx
from inprocess import records
from onnx import TensorProto, helper, numpy_helper
from queries import queries_of
from serving import machine, save

from synapse_ls.inference import embedder, registry
from synapse_ls.inference.bundled import TOKENIZER_DIR
from synapse_ls.inference.cross_encoder import CrossEncoder
from synapse_ls.inference.late_interaction import LateInteraction
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.inference.session import open_cross_encoder
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain

_LAYERS, _WIDTH, _HEADS, _INNER, _WORDS, _TOKENS = 6, 384, 12, 1536, 30522, 512
_SHORTLIST = 20

Scorer = Callable[[str, Sequence[str]], object]


def main() -> None:
    """Measure, print, write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a folder of notes; it is only read")
    parser.add_argument("--shortlists", type=int, default=10, help="queries, each with 20 passages (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    options = parser.parse_args()
    shortlists = _shortlists(options.vault, options.shortlists)
    with tempfile.TemporaryDirectory() as place:
        weights = Path(place) / "model.onnx"
        onnx.save(_model(), str(weights))
        encoder = open_cross_encoder(weights, TOKENIZER_DIR / "tokenizer.json", _TOKENS)
        spec = next(one for one in registry.RERANKERS if one.name == "ms-marco-MiniLM-L-6-v2")
        reranker = CrossEncoder(spec, "random", encoder)
        pool = EmbeddingPool(embedder.load("bundled"), 1)
        late = LateInteraction(registry.BUNDLED, pool)
        figures = _timed(
            shortlists,
            {
                "cross-encoder": lambda query, passages: reranker.scores(query, passages, 60),
                "bare onnxruntime": lambda query, passages: _bare(encoder, query, passages),
                "late interaction": lambda query, passages: late.scores(query, passages, 60),
            },
        )
        tokens = [len(encoder.tokenizer.encode(query, text).ids) for query, passages in shortlists for text in passages]
        pool.close()
    for name, row in figures.items():
        print(f"{name:18}{row['msAPair']:8.1f} ms a pair{row['cpuMsAPair']:8.1f} ms of the processor")
    ratio = figures["cross-encoder"]["msAPair"] / figures["bare onnxruntime"]["msAPair"]
    print(f"ratio to the bare loop {ratio:.2f}; {statistics.mean(tokens):.0f} tokens a pair on average")
    report = {"machine": machine(), "vault": options.vault.name, "pairs": len(tokens), "ratioToBare": round(ratio, 3),
              "meanTokens": round(statistics.mean(tokens), 1), "figures": figures}  # fmt: skip
    save(report, options.out)


def _shortlists(vault: Path, count: int) -> list[tuple[str, list[str]]]:
    """Return queries, each with passages of its own."""
    passages = [
        embedder_input(record.title, chunk.heading_path, plain(chunk.text))
        for record in records(vault)
        for chunk in record.chunks
    ]
    random.Random(20).shuffle(passages)  # noqa: S311 - a repeatable order, nothing secret
    queries = queries_of(vault)[:count]
    return [(query, passages[i * _SHORTLIST : (i + 1) * _SHORTLIST]) for i, query in enumerate(queries)]


def _timed(shortlists: Sequence[tuple[str, list[str]]], scorers: dict[str, Scorer]) -> dict[str, dict[str, float]]:
    """Return milliseconds a pair of each scorer, in turns, the median over shortlists."""
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in scorers}
    for query, passages in shortlists:
        for name, score in scorers.items():
            clock, processor = time.perf_counter(), time.process_time()
            score(query, passages)
            rows[name].append((time.perf_counter() - clock, time.process_time() - processor))
    return {
        name: {
            what: round(statistics.median(pair[i] for pair in measured) * 1000 / _SHORTLIST, 2)
            for i, what in enumerate(("msAPair", "cpuMsAPair"))
        }
        for name, measured in rows.items()
    }


def _bare(encoder: Any, query: str, passages: Sequence[str]) -> None:  # noqa: ANN401 - fastembed's
    for passage in passages:
        read = encoder.tokenizer.encode(query, passage)
        feeds = {"input_ids": [read.ids], "attention_mask": [read.attention_mask], "token_type_ids": [read.type_ids]}
        encoder.model.run(None, {name: np.array(value, np.int64) for name, value in feeds.items()})


def _model() -> onnx.ModelProto:
    """Return a BERT with a number at its end, as a model of pairs is exported."""
    graph = _Graph()
    words, kinds = graph.weight(_WORDS, _WIDTH), graph.weight(2, _WIDTH)
    places = graph.weight(_TOKENS, _WIDTH)
    shape = graph.node("Shape", "input_ids")
    count = graph.node("Gather", shape, graph.number(np.int64(1)))
    at = graph.node("Range", graph.number(np.int64(0)), count, graph.number(np.int64(1)))
    met = graph.node("Add", graph.node("Gather", words, "input_ids"), graph.node("Gather", kinds, "token_type_ids"))
    x = graph.normal(graph.node("Add", met, graph.node("Gather", places, at)))
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    open_ = graph.node("Sub", graph.number(np.float32(1)), mask)
    far = graph.node("Mul", open_, graph.number(np.float32(-10000)))
    far = graph.node("Unsqueeze", far, graph.number(np.array([1, 2], np.int64)))
    for _ in range(_LAYERS):
        x = _layer(graph, x, far)
    first = graph.node("Gather", x, graph.number(np.int64(0)), axis=1)
    graph.node("Identity", graph.dense(graph.node("Tanh", graph.dense(first, _WIDTH)), 1), out="logits")
    return graph.made()


def _layer(graph: "_Graph", x: str, far: str) -> str:
    heads = graph.number(np.array([0, 0, _HEADS, _WIDTH // _HEADS], np.int64))
    q, k, v = (graph.node("Reshape", graph.dense(x, _WIDTH), heads) for _ in range(3))
    q, v = (graph.node("Transpose", one, perm=[0, 2, 1, 3]) for one in (q, v))
    products = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 2, 3, 1]))
    scaled = graph.node("Div", products, graph.number(np.float32(np.sqrt(_WIDTH / _HEADS))))
    seen = graph.node("MatMul", graph.node("Softmax", graph.node("Add", scaled, far), axis=-1), v)
    whole = graph.number(np.array([0, 0, _WIDTH], np.int64))
    joined = graph.node("Reshape", graph.node("Transpose", seen, perm=[0, 2, 1, 3]), whole)
    x = graph.normal(graph.node("Add", x, graph.dense(joined, _WIDTH)))
    wide = graph.dense(x, _INNER)
    bent = graph.node("Erf", graph.node("Div", wide, graph.number(np.float32(np.sqrt(2)))))
    half = graph.node("Mul", wide, graph.number(np.float32(0.5)))
    gelu = graph.node("Mul", half, graph.node("Add", bent, graph.number(np.float32(1))))
    return graph.normal(graph.node("Add", x, graph.dense(gelu, _WIDTH, _INNER)))


class _Graph:
    """An ONNX graph under construction: each method adds to it and returns the name of its result."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._held: list[onnx.TensorProto] = []
        self._numbers = np.random.default_rng(7)

    def node(self, kind: str, *inputs: str, out: str | None = None, **attributes: object) -> str:
        name = out or f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def number(self, value: Any) -> str:  # noqa: ANN401 - any array of numpy
        name = f"w{len(self._held)}"
        self._held.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *shape: int) -> str:
        return self.number(self._numbers.standard_normal(shape, dtype=np.float32) * np.float32(0.05))

    def dense(self, x: str, width: int, read: int = _WIDTH) -> str:
        return self.node("Add", self.node("MatMul", x, self.weight(read, width)), self.weight(width))

    def normal(self, x: str) -> str:
        one, none = self.number(np.ones(_WIDTH, np.float32)), self.number(np.zeros(_WIDTH, np.float32))
        return self.node("LayerNormalization", x, one, none, axis=-1)

    def made(self) -> onnx.ModelProto:
        names = ("input_ids", "attention_mask", "token_type_ids")
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
        graph = helper.make_graph(self._nodes, "pairs", inputs, [output], self._held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if __name__ == "__main__":
    main()
