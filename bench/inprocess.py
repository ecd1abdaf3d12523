"""Ranking quality over a set of notes, queries and judgements, leg by leg, without a server: for tuning.

A set is a folder with ``corpus.jsonl`` (id, title, text), ``queries.jsonl`` (id, text) and ``qrels.tsv`` (query, note,
relevance). Its notes are indexed in this process, without files; vectors are kept beside the system's temporary files,
so that only a first run embeds. Usage: ``python bench/inprocess.py SET... [--queries N] [--no-model]``.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from judging import judge

from synapse_ls.core.model import Mode, SearchRequest
from synapse_ls.indexer.record import note_record
from synapse_ls.inference import embedder
from synapse_ls.inference.embedder import Embedder
from synapse_ls.inference.packing import packed
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.links import resolver
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.search import fusion, searcher
from synapse_ls.search.searcher import Semantic
from synapse_ls.store import notes, vectors
from synapse_ls.store.database import Index
from synapse_ls.store.records import NoteRecord

__all__ = ["LARGEST_NOTE", "RUNS", "build", "embedding", "judge", "measure"]

RESULTS = Path(__file__).parent / "results"
VECTORS = Path(tempfile.gettempdir()) / "synapse-bench-vectors"
LARGEST_NOTE = 1 << 20
RUNS: tuple[tuple[str, Mode, float], ...] = (
    ("lexical", "lexical", 0.0),
    ("semantic", "semantic", 0.0),
    ("hybrid without graph", "hybrid", 0.0),
    ("hybrid", "hybrid", fusion.GRAPH_WEIGHT),
)


def main() -> None:
    """Measure the sets named on the command line and write one result file for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=1000, help="at most this many, evenly spread")
    parser.add_argument("--no-model", action="store_true", help="words and links only")
    options = parser.parse_args()
    model = None if options.no_model else embedder.load("bundled")
    for folder in options.sets:
        result = measure(folder, options.queries, model)
        print(json.dumps(result, indent=1))
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"inprocess-{folder.name}.json").write_text(json.dumps(result, indent=1) + "\n")


def measure(folder: Path, most: int, model: Embedder | None) -> dict[str, object]:
    """Return the figures of every run over one set."""
    queries = list(_lines(folder / "queries.jsonl"))
    queries = queries[:: -(-len(queries) // most)]
    relevant: dict[str, dict[str, float]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines():
        query, note, grade = line.split("\t")
        relevant.setdefault(query, {})[f"{note}.md"] = float(grade)
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "index" / "index.db")
        chunks = build(index, [_record(row) for row in _lines(folder / "corpus.jsonl")], model)
        runs = {name: _run(index, queries, relevant, mode, graph, model) for name, mode, graph in _runs(model)}
        index.close()
    return {"set": folder.name, "queries": len(queries), "chunks": chunks, "runs": runs}


def _runs(model: Embedder | None) -> Iterator[tuple[str, Mode, float]]:
    return (run for run in RUNS if model is not None or run[0] == "lexical")


def _record(row: dict[str, str]) -> NoteRecord:
    text = row["text"]
    if not text.lstrip().startswith("# "):
        text = f"# {row['title']}\n\n{text}"
    return note_record(f"{row['id']}.md", text.encode(), 0, LARGEST_NOTE)


def build(index: Index, records: Sequence[NoteRecord], model: Embedder | None) -> int:
    """Write notes with their links and vectors into an index; returns the number of chunks."""
    with index.write() as db:
        written = [notes.put(db, record).note for record in records]
        resolver.resolve_again(db, (), written)
        if model is not None:
            vectors.prepare(db, model.spec.fingerprint, model.spec.dimensions)
            pending = vectors.take_pending(db, 1_000_000)
            for key, vector in _vectors(pending, model).items():
                vectors.put(db, key, vector[: 4 * model.spec.dimensions], vector[4 * model.spec.dimensions :])
        return notes.counts(db)[1]


def _vectors(pending: Sequence[vectors.PendingChunk], model: Embedder) -> dict[bytes, bytes]:
    """Return the vector of each input, from the kept ones where they are."""
    kept = VECTORS / model.spec.fingerprint
    known = dict(_kept(kept.read_bytes() if kept.exists() else b""))
    missing = list({chunk.input_key: chunk for chunk in pending if chunk.input_key not in known}.values())
    texts = (embedder_input(chunk.title, chunk.heading_path, plain(chunk.text)) for chunk in missing)
    pool = EmbeddingPool(model, 2)
    VECTORS.mkdir(exist_ok=True)
    with kept.open("ab") as file:
        for position, vector in pool.embed_many(texts, lambda: False):
            if isinstance(vector, Exception):
                raise vector
            key = missing[position].input_key
            made = packed(vector)
            known[key] = made.vector + made.signs
            file.write(key + len(known[key]).to_bytes(4) + known[key])
    pool.close()
    return {chunk.input_key: known[chunk.input_key] for chunk in pending}


def _kept(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = 0
    while start < len(data):
        end = start + 20 + int.from_bytes(data[start + 16 : start + 20])
        yield data[start : start + 16], data[start + 20 : end]
        start = end


def _run(  # noqa: PLR0913, PLR0917 - one run of one set
    index: Index,
    queries: Sequence[dict[str, str]],
    relevant: dict[str, dict[str, float]],
    mode: Mode,
    graph: float,
    model: Embedder | None,
) -> dict[str, float]:
    fusion.GRAPH_WEIGHT = graph
    semantic = Semantic(embedding(model), "ok") if model is not None else Semantic()
    figures: list[tuple[float, float, float, float]] = []
    times: list[float] = []
    for query in queries:
        with index.read() as db:
            start = time.perf_counter()
            answer = searcher.search(db, SearchRequest(query["text"], 10, mode), semantic)
            times.append((time.perf_counter() - start) * 1000)
        figures.append(judge([hit.path for hit in answer.hits], relevant.get(query["id"], {})))
    hit, recall, ndcg, mrr = (round(statistics.fmean(column), 4) for column in zip(*figures, strict=True))
    p50, p95 = (round(statistics.quantiles(times, n=20)[i], 2) for i in (9, 18))
    return {"hit@1": hit, "recall@10": recall, "ndcg@10": ndcg, "mrr": mrr, "p50_ms": p50, "p95_ms": p95}


def embedding(model: Embedder) -> Callable[[str], bytes]:
    """Return what gives a query's vector, each computed once."""
    remembered: dict[str, bytes] = {}

    def embed(text: str) -> bytes:
        if text not in remembered:
            remembered[text] = model.embed_query(text).tobytes()
        return remembered[text]

    return embed


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open() as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
