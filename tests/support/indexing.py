"""A vault on disk with a running indexer: real store, real queue; an embedder whose vectors come from a hash."""

import hashlib
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synapse_ls.core.config import Settings
from synapse_ls.core.errors import ModelError
from synapse_ls.indexer.pipeline import Indexer
from synapse_ls.indexer.worker import Job, Outcome, outcome
from synapse_ls.inference.pool import EmbeddingPool
from synapse_ls.inference.registry import ModelSpec
from synapse_ls.store.database import Index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PATIENCE = 20.0  # seconds until a test that hangs is a test that failed
SPEC = ModelSpec("hashed", 8, 64, "every language alike", "MIT", 0, "", "hashed vectors of eight numbers", "for tests")


class HashEmbedder:
    """Gives a text the unit vector that its hash seeds; refuses texts with ``refused`` in them, waits while held."""

    def __init__(self, *refused: str, spec: ModelSpec = SPEC) -> None:
        self.spec = spec
        self.refused = refused
        self.seen: list[str] = []
        self.may_go = threading.Event()
        self.may_go.set()
        self.began = threading.Event()

    def embed_passage(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a text and note that it was asked for."""
        self.began.set()
        assert self.may_go.wait(PATIENCE)
        self.seen.append(text)
        if any(word in text for word in self.refused):
            raise ModelError(f"refused {text[:40]!r}")
        return self.embed_query(text)

    def embed_query(self, text: str) -> "NDArray[np.float32]":
        """Return the vector of a text."""
        import numpy as np

        named = f"{self.spec.fingerprint}{text}".encode(errors="replace")
        seed = int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.spec.dimensions)
        unit: NDArray[np.float32] = (vector / np.linalg.norm(vector)).astype(np.float32)
        return unit


class SameProcess:
    """Parses like the child process, without one: for tests of many small steps."""

    def parse(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yield the outcome of each job in order."""
        return map(outcome, jobs)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(slots=True)
class Running:
    """An indexer at work on ``root``."""

    root: Path
    index: Index
    indexer: Indexer

    def settled(self) -> None:
        """Wait until words and vectors are current."""
        assert self.indexer.wait(PATIENCE), "the indexer did not come to rest"

    def look(self, *files: str, folders: Iterable[str] = ()) -> None:
        """Tell of changes and wait until they are current."""
        self.indexer.submit(files, folders)
        self.settled()

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - columns as they come
        """Return the rows of a query in a fresh snapshot."""
        with self.index.read() as db:
            return list(db.execute(query, values))

    def paths(self) -> list[str]:
        """Return the paths of all notes in order."""
        return [path for (path,) in self.rows("SELECT path FROM notes ORDER BY path")]


def write(root: Path, notes: Mapping[str, str | bytes]) -> None:
    """Write files, with the folders they lie in."""
    for path, content in notes.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_socket(place: Path) -> None:
    """Leave a socket at a place, which only a short name can be given."""
    with chdir(place.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(place.name)


@contextmanager
def running(  # noqa: PLR0913 - each names one thing that a test varies
    root: Path,
    index: Path,
    embedder: HashEmbedder | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    *,
    watch: bool = False,
    child: bool = True,
    settle: bool = True,
) -> Iterator[Running]:
    """Run an indexer over ``root``; wait for its first pass unless told not to."""
    opened = Index(index)
    indexer = Indexer(opened, root, settings, lambda: None, watch=watch)
    if not child:
        indexer._parser = SameProcess()  # type: ignore[assignment]  # has all that is used
    pool = None if embedder is None else EmbeddingPool(embedder, 1)
    indexer.start()
    try:
        if pool is not None:
            indexer.attach(pool, SPEC)
        made = Running(root, opened, indexer)
        if settle:
            made.settled()
        yield made
    finally:
        indexer.close()
        opened.close()
        if pool is not None:
            if embedder is not None:
                embedder.may_go.set()
            pool.close()
