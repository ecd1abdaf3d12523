"""Small real indexes: notes made of passages, with links and vectors chosen by hand."""

import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from synapse_ls.core.terms import index_terms
from synapse_ls.core.text import LineIndex, Range, Span
from synapse_ls.links import names, resolver
from synapse_ls.markdown.plain import plain
from synapse_ls.store import meta, notes, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.records import ChunkRecord, LinkRecord, NoteRecord

DIMENSIONS = 4
MODEL = "a model of four dimensions"


def vector(*values: float) -> bytes:
    """Return a direction of up to four numbers as a unit vector: float32, little endian."""
    padded = [*values, *([0.0] * (DIMENSIONS - len(values)))]
    length = math.sqrt(sum(value * value for value in padded))
    return struct.pack(f"<{DIMENSIONS}f", *(value / length for value in padded))


def note(  # noqa: PLR0913 - a note has that many sides
    path: str,
    *passages: str,
    title: str | None = None,
    aliases: Sequence[str] = (),
    tags: Sequence[str] = (),
    links: Sequence[str] = (),
    mtime: int = 0,
) -> NoteRecord:
    """Return a note with one chunk a passage.

    ``links`` are names of notes, ``mtime`` is in seconds, and a link written ``name|label`` has a label.
    """
    title = title or Path(path).stem
    text = "\n\n".join(passages)
    lines = LineIndex(text)
    nowhere = lines.range(Span(0, 0))
    return NoteRecord(
        path, len(text), mtime * 10**9, _digest(text), title, tuple(aliases), tuple(tags), "{}", None,
        names.names_of(path, title, aliases), (), (),
        tuple(
            LinkRecord("wiki", name, None, label or None, names.key(name), nowhere)
            for name, _, label in (link.partition("|") for link in links)
        ),
        tuple(_chunks(path, title, passages, lines)),
        _terms(title), _terms(*aliases), _terms(*tags),
    )  # fmt: skip


def fill(db: Connection, records: Iterable[NoteRecord]) -> dict[str, int]:
    """Write notes, resolve their links and return their ids by path."""
    ids = {record.path: notes.put(db, record).note for record in records}
    resolver.resolve_again(db, (), ids.values())
    return ids


def embed(db: Connection, embeddings: dict[str, bytes]) -> None:
    """Give the chunks that hold a text its vector."""
    vectors.prepare(db, MODEL, DIMENSIONS)
    for text, embedding in embeddings.items():
        for (key,) in db.execute("SELECT DISTINCT input_key FROM chunks WHERE instr(text, ?)", (text,)).fetchall():
            assert isinstance(key, bytes)
            vectors.put(db, key, embedding)


@contextmanager
def reading(
    folder: Path, records: Iterable[NoteRecord], embeddings: dict[str, bytes] | None = None
) -> Iterator[Connection]:
    """Make an index of the notes and give a connection inside one read transaction."""
    index = Index(folder / "index" / "index.db")
    try:
        with index.write() as db:
            fill(db, records)
            if embeddings is not None:
                embed(db, embeddings)
            meta.bump_generation(db)
        with index.read() as db:
            yield db
    finally:
        index.close()


def _chunks(path: str, title: str, passages: Sequence[str], lines: LineIndex) -> Iterable[ChunkRecord]:
    start = 0
    for ordinal, passage in enumerate(passages):
        span = Span(start, start + len(passage))
        where: Range = lines.range(span)
        key, where_key = _digest(f"{title}\n{passage}"), _digest(f"{path}\n{ordinal}\n{passage}")
        yield ChunkRecord(
            ordinal, span, where, (), passage, where_key, key, _terms(plain(passage)), "",
            readable=bool(passage.strip()),
        )  # fmt: skip
        start = span.end + 2


def _terms(*texts: str) -> str:
    return " ".join(term for text in texts for term in index_terms(text))


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
