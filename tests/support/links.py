"""Small indexes of notes with their links resolved, and open notes beside them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from synapse_ls.features.cursor import Place
from synapse_ls.indexer.record import note_record
from synapse_ls.links import resolver
from synapse_ls.links.dialects import DEFAULT, DIALECTS
from synapse_ls.links.names import key
from synapse_ls.search.snapshot import Snapshot
from synapse_ls.store import links, notes
from synapse_ls.store.database import Index
from synapse_ls.vault.overlay import Overlay

MARK = "‸"
MAX_BYTES = 1 << 20


@contextmanager
def looking(
    folder: Path,
    texts: Mapping[str, str],
    typed: Mapping[str, str] | None = None,
    files: tuple[str, ...] = (),
    dialect: str = DEFAULT.name,
) -> Iterator[Snapshot]:
    """Give a snapshot of notes by path, of those ``typed`` in open buffers, and of attachments by path."""
    index, overlay = Index(folder / "index" / "index.db"), Overlay()
    try:
        with index.write() as db:
            records = [note_record(path, text.encode(), 0, MAX_BYTES) for path, text in texts.items()]
            resolver.speak(db, DIALECTS[dialect])
            links.put_attachments(db, [(path, key(path), 1) for path in files], ())
            resolver.resolve_again(db, (), [notes.put(db, record).note for record in records])
        for path, text in (typed or {}).items():
            overlay.put(path, text, 1, MAX_BYTES)
        with index.read() as db, overlay.read(None) as buffers:
            yield Snapshot(db, buffers)
    finally:
        overlay.close()
        index.close()


def marked(text: str, path: str = "here.md") -> Place:
    """Return the place of the mark in a text."""
    return Place(path, text.replace(MARK, ""), text.index(MARK))
