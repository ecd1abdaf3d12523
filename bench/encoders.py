"""How fast encoders are: ``python bench/encoders.py VAULT --models bundled multilingual``.

The same passages of a vault are embedded by each model in turns, a slice at a time, one text a run and a worker a
core, as the first index does it. Prints passages and tokens (of the bundled model's tokenizer) a second and the median
time of a query; ``--out`` writes JSON.
"""

import argparse
import random
import statistics
import time
from pathlib import Path
from typing import Any

from inprocess import records
from queries import queries_of
from serving import machine, save
from tokenizers import Tokenizer  # noqa: TID253 - a measurement may take its time to start

from synapse_ls.inference import embedder
from synapse_ls.inference.bundled import TOKENIZER_DIR
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.vault.location import model_folder

_SLICE = 40


def main() -> None:
    """Measure, print, write JSON if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a folder of notes; it is only read")
    parser.add_argument("--models", nargs="+", default=["bundled", "multilingual"], help="of `synapse-ls models list`")
    parser.add_argument("--passages", type=int, default=400, help="at most so many (%(default)s)")
    parser.add_argument("--threads", type=int, default=2, help="workers (%(default)s)")
    parser.add_argument("--out", type=Path, help="write the figures as JSON to this file")
    options = parser.parse_args()
    texts = _texts(options.vault)[: options.passages]
    queries = queries_of(options.vault)[:50]
    models = {name: embedder.load(name, model_folder()) for name in options.models}
    pools = {name: EmbeddingPool(model, options.threads) for name, model in models.items()}
    seconds = dict.fromkeys(models, 0.0)
    for start in range(0, len(texts), _SLICE):
        for name, pool in pools.items():
            began = time.perf_counter()
            for _, made in pool.embed_many(texts[start : start + _SLICE], lambda: False):
                if isinstance(made, Exception):
                    raise made
            seconds[name] += time.perf_counter() - began
    tokenizer = Tokenizer.from_file(str(TOKENIZER_DIR / "tokenizer.json"))
    tokens = sum(len(tokenizer.encode(text).ids) for text in texts)
    report: dict[str, Any] = {"machine": machine(), "vault": options.vault.name, "passages": len(texts),
                              "tokens": tokens, "threads": options.threads, "models": {}}  # fmt: skip
    for name, model in models.items():
        asked: list[float] = []
        for query in queries:
            began = time.perf_counter()
            model.embed_query(query)
            asked.append(time.perf_counter() - began)
        row = {
            "passagesASecond": round(len(texts) / seconds[name], 1),
            "tokensASecond": round(tokens / seconds[name]),
            "queryMs": round(statistics.median(asked) * 1000, 1),
        }
        report["models"][name] = row
        print(f"{name:24}{row['passagesASecond']:8.1f} passages/s{row['tokensASecond']:8} tokens/s"
              f"{row['queryMs']:8.1f} ms a query")  # fmt: skip
        pools[name].close()
    save(report, options.out)


def _texts(vault: Path) -> list[str]:
    """Return passages as encoders read them, in a fixed mixed order."""
    texts = [
        embedder_input(record.title, chunk.heading_path, plain(chunk.text))
        for record in records(vault)
        for chunk in record.chunks
    ]
    random.Random(20).shuffle(texts)  # noqa: S311 - a repeatable order, nothing secret
    return texts


if __name__ == "__main__":
    main()
