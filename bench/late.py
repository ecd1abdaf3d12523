"""What late interaction is worth: ``python bench/late.py SET...``; ``personas`` and ``personas-held`` are sets too.

For each set, nDCG@10 and hit@1 of five orders of the same first twenty notes, searched in this process:
``off`` is the fusion without late interaction; ``list`` the one that is shipped, with the signs of token vectors as
one more list; ``rerank`` what the reranker late-interaction makes of that, with whole token vectors; ``alone`` their
MaxSim as the last word; ``whole note`` the same over all passages of a note (by signs) instead of the one that won.
Prints the difference to ``list`` with intervals of 95 % over queries and writes ``results/late.json``.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np  # noqa: TID253 - a measurement may take its time to start
from haystacks import PERSONAS, persona_task
from inprocess import build, embedding, records
from judging import estimates, judge
from tasks import Task, read_set

from synapse_ls.core.model import Candidate, SearchRequest
from synapse_ls.inference import embedder
from synapse_ls.inference.late_interaction import LateInteraction
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.search import fusion, searcher
from synapse_ls.search.query import parse
from synapse_ls.search.reranking import joined, judged, reranked
from synapse_ls.search.searcher import Semantic
from synapse_ls.store import chunks, notes, vectors
from synapse_ls.store.database import Connection, Index

RESULT = Path(__file__).parent / "results" / "late.json"
ORDERS = ("off", "list", "rerank", "alone", "whole note")
_SHORTLIST = 20


def main() -> None:
    """Measure each set and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", metavar="SET", help="folders of retrieval sets, personas, personas-held")
    parser.add_argument("--most", type=int, default=400, help="at most so many queries, evenly spread (%(default)s)")
    options = parser.parse_args()
    told: dict[str, Any] = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    for name in options.sets:
        task = _task(name, options.most)
        told[task.name if "personas" not in name else name] = _measured(task)
        RESULT.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def _task(name: str, most: int) -> Task:
    if name in ("personas", "personas-held"):
        return persona_task(PERSONAS, "held" if name.endswith("held") else "tuning")
    return read_set(Path(name), most)


def _measured(task: Task) -> dict[str, Any]:
    model = embedder.load("bundled")
    pool = EmbeddingPool(model, 1)
    rows: dict[str, list[tuple[float, float]]] = {order: [] for order in ORDERS}
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "index" / "index.db")
        build(index, records(task.notes), model)
        semantic = Semantic(embedding(model), "ok")
        reranker = LateInteraction(model.spec, pool)
        with index.read() as db:
            for query in task.queries:
                if query.grades:
                    for order, found in _orders(db, query.text, semantic, reranker).items():
                        figures = judge(found, query.grades)
                        rows[order].append((figures[2], figures[0]))
        index.close()
    pool.close()
    print(f"\n{task.name}: {len(rows['list'])} queries")
    result: dict[str, Any] = {"queries": len(rows["list"])}
    for order in ORDERS:
        ndcg, first = (estimate[0] for estimate in estimates(rows[order]))
        result[order] = {"ndcg@10": round(ndcg, 4), "hit@1": round(first, 4)}
        line = f"  {order:12}{ndcg:7.3f}{first:8.3f}"
        if order != "list":
            moved = [(a - c, b - d) for (a, b), (c, d) in zip(rows[order], rows["list"], strict=True)]
            (n, n_low, n_high), (h, h_low, h_high) = estimates(moved)
            line += f"   nDCG {n:+.3f} ({n_low:+.3f} to {n_high:+.3f}), hit@1 {h:+.3f} ({h_low:+.3f} to {h_high:+.3f})"
        print(line, flush=True)
    return result


def _orders(db: Connection, text: str, semantic: Semantic, reranker: LateInteraction) -> dict[str, list[str]]:
    request = SearchRequest(text, limit=1, shortlist=_SHORTLIST)
    shipped = fusion.LATE_WEIGHT
    fusion.LATE_WEIGHT = 0.0
    off = searcher.search(db, request, semantic).shortlist
    fusion.LATE_WEIGHT = shipped
    listed = searcher.search(db, request, semantic).shortlist
    similarity = reranker.scores(text, [judged(one) for one in listed], 60)
    spoken = similarity if parse(text).english else [0.0] * len(listed)  # as the product abstains
    return {
        "off": _paths(off),
        "list": _paths(listed),
        "rerank": _paths([one for _, one in joined(listed, spoken)]),
        "alone": _paths([one for _, one in reranked(listed, similarity)]),
        "whole note": _paths([one for _, one in reranked(listed, _whole(db, text, listed, semantic))]),
    }


def _whole(db: Connection, text: str, listed: Sequence[Candidate], semantic: Semantic) -> list[float]:
    """Return the best MaxSim that any set of a note's passages gives: over the words of all of them together."""
    asked = np.frombuffer(semantic.embed(text), "<f4").reshape(-1, embedder.BUNDLED.dimensions)[1:]
    scores: list[float] = []
    for one in listed:
        row = notes.by_path(db, one.hit.path)
        ids = [] if row is None else [chunk.id for chunk in chunks.of_note(db, row.id)]
        signs = b"".join(held for _, held in vectors.token_signs(db, ids))
        bits = np.unpackbits(np.frombuffer(signs, np.uint8)).reshape(-1, embedder.BUNDLED.dimensions)
        cosines = (2 * (bits @ asked.T) - asked.sum(axis=1)) / np.sqrt(embedder.BUNDLED.dimensions)
        scores.append(max(0.0, float(cosines.max(axis=0).mean())) if len(bits) and len(asked) else 0.0)
    return scores


def _paths(order: Sequence[Candidate]) -> list[str]:
    return [one.hit.path for one in order]


if __name__ == "__main__":
    main()
