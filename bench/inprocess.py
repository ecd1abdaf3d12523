"""Answers without a server: notes indexed and searched in this process, which is much faster, for choosing weights.

Vectors are kept beside the system's temporary files, so that only a first run embeds.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from asking import LIMIT, MODES, Answer, Answers
from queries import note_paths
from tasks import Task

from synapse_ls.core.model import SearchRequest
from synapse_ls.indexer.record import note_record
from synapse_ls.inference import embedder
from synapse_ls.inference.embedder import Embedder
from synapse_ls.inference.packing import packed
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.links import resolver
from synapse_ls.markdown.chunker import embedder_input
from synapse_ls.markdown.plain import plain
from synapse_ls.search import searcher
from synapse_ls.search.searcher import Semantic
from synapse_ls.store import notes, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.records import NoteRecord
from synapse_ls.vault.location import model_folder

VECTORS = Path(tempfile.gettempdir()) / "synapse-bench-vectors"
LARGEST_NOTE = 1 << 20


def answers(task: Task, name: str = "bundled") -> Answers:
    """Search for every query of a task in each mode, as ``asking.answers`` does with a server, with any encoder."""
    model = embedder.load(name, model_folder())
    spec = model.spec
    semantic = Semantic(embedding(model), "ok", english_only=spec.english_only, bands=spec.bands)
    with tempfile.TemporaryDirectory() as place:
        index = Index(Path(place) / "index" / "index.db")
        chunks = build(index, records(task.notes), model)
        with index.read() as db:
            texts = dict.fromkeys(query.text for query in task.queries)
            found = {(mode, text): _answer(db, SearchRequest(text, LIMIT, mode, explain=True), semantic)
                     for text in texts for mode in MODES}  # fmt: skip
            size = notes.counts(db)[0]
        index.close()
    return Answers(size, chunks, found)


def records(found: Mapping[str, bytes] | Path) -> list[NoteRecord]:
    """Return notes as the indexer parses them."""
    if isinstance(found, Path):
        found = {path.relative_to(found).as_posix(): path.read_bytes() for path in note_paths(found)}
    return [note_record(path, data, 0, LARGEST_NOTE) for path, data in found.items()]


def build(index: Index, found: Sequence[NoteRecord], model: Embedder | None) -> int:
    """Write notes with their links and vectors into an index; returns the number of chunks."""
    with index.write() as db:
        written = [notes.put(db, record).note for record in found]
        resolver.resolve_again(db, (), written)
        if model is not None:
            vectors.prepare(db, model.spec.fingerprint, model.spec.dimensions)
            pending = vectors.take_pending(db, 1_000_000)
            for key, embedded in _vectors(pending, model).items():
                width = 4 * model.spec.dimensions
                vectors.put(db, key, embedded[:width], embedded[width:])
        return notes.counts(db)[1]


def embedding(model: Embedder) -> Callable[[str], bytes]:
    """Return what gives a query's vectors, each computed once."""
    remembered: dict[str, bytes] = {}

    def embed(text: str) -> bytes:
        if text not in remembered:
            remembered[text] = model.embed_query(text).tobytes()
        return remembered[text]

    return embed


def _answer(db: Connection, request: SearchRequest, semantic: Semantic) -> Answer:
    start = time.perf_counter()
    hits = searcher.search(db, request, semantic).hits
    took = (time.perf_counter() - start) * 1000
    ranks = [{leg: rank for leg, rank in asdict(hit.ranks).items() if rank is not None} if hit.ranks else None
             for hit in hits]  # fmt: skip
    return Answer([hit.path for hit in hits], [hit.band for hit in hits], ranks, took)


def _vectors(pending: Sequence[vectors.PendingChunk], model: Embedder) -> dict[bytes, bytes]:
    """Return what is kept of each input's vectors, from earlier runs where it is there."""
    kept = VECTORS / model.spec.fingerprint
    known = dict(_kept(kept.read_bytes() if kept.exists() else b""))
    missing = list({chunk.input_key: chunk for chunk in pending if chunk.input_key not in known}.values())
    texts = (embedder_input(chunk.title, chunk.heading_path, plain(chunk.text)) for chunk in missing)
    pool = EmbeddingPool(model, 2)
    VECTORS.mkdir(exist_ok=True)
    with kept.open("ab") as file:
        for position, made in pool.embed_many(texts, lambda: False):
            if isinstance(made, Exception):
                raise made
            key = missing[position].input_key
            known[key] = b"".join(packed(made))
            file.write(key + len(known[key]).to_bytes(4) + known[key])
    pool.close()
    return {chunk.input_key: known[chunk.input_key] for chunk in pending}


def _kept(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    start = 0
    while start < len(data):
        end = start + 20 + int.from_bytes(data[start + 16 : start + 20])
        yield data[start : start + 16], data[start + 20 : end]
        start = end
