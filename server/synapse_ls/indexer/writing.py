"""What is written of that which was found: each call is one commit, which holds what its links mean.

No answer sees a note without its links, and no crash leaves one behind.
"""

import logging
from collections.abc import Collection, Iterable, Mapping

from synapse_ls.indexer import walk
from synapse_ls.indexer.progress import Counters
from synapse_ls.indexer.worker import Gone, Outcome, Unchanged, Unreadable
from synapse_ls.links import names, resolver
from synapse_ls.store import links, meta, notes, vectors
from synapse_ls.store.database import Connection, Index
from synapse_ls.store.records import NoteRecord

_LOG = logging.getLogger(__name__)


def outcomes(index: Index, batch: Collection[Outcome], counters: Counters) -> set[str]:
    """Write what became of files; returns the paths of those that should be tried again."""
    keys: set[str] = set()
    written: set[int] = set()
    with index.write() as db:
        for outcome in batch:
            try:
                with db:  # a savepoint: one note that cannot be written leaves nothing half done
                    _put(db, outcome, keys, written, counters)
            except (ValueError, TypeError, OverflowError, UnicodeError) as error:
                _LOG.warning("%s cannot be indexed (%s)", outcome.path, type(error).__name__)
                notes.skip(db, outcome.path, f"cannot be indexed ({error})")
        resolver.resolve_again(db, keys, written)
        meta.bump_generation(db)
    return {outcome.path for outcome in batch if isinstance(outcome, Unreadable) and outcome.passing}


def _put(db: Connection, outcome: Outcome, keys: set[str], written: set[int], counters: Counters) -> None:
    match outcome:
        case NoteRecord():
            done = notes.put(db, outcome)
            keys |= done.names
            written.add(done.note)
            counters.chunks_reused += done.chunks_kept
        case Unchanged():
            notes.touch(db, outcome.path, outcome.stamp)
            notes.no_longer_skipped(db, outcome.path)
        case Gone():
            keys |= notes.delete(db, outcome.path)
        case Unreadable(passing=True):
            notes.skip(db, outcome.path, f"{outcome.reason}; what is known of it is kept, and it is tried again")
        case Unreadable():
            keys |= notes.delete(db, outcome.path)
            notes.skip(db, outcome.path, outcome.reason)


def attachments(index: Index, found: Iterable[walk.Found | None], known: Mapping[str, int]) -> bool:
    """Keep the names of files that are no notes equal to the disk; returns whether anything was written.

    ``known`` are sizes by path: those that are known and not found are gone.
    """
    here = {file.path: file.size for file in found if file is not None}
    changed = [(path, names.key(path), size) for path, size in here.items() if known.get(path) != size]
    gone = [path for path in known if path not in here]
    if not changed and not gone:
        return False
    with index.write() as db:
        resolver.resolve_again(db, links.put_attachments(db, changed, gone), ())
        meta.bump_generation(db)
    return True


def forget(index: Index, paths: Collection[str]) -> None:
    """Let notes go that are gone."""
    with index.write() as db:
        keys: set[str] = set()
        for path in paths:
            keys |= notes.delete(db, path)
        resolver.resolve_again(db, keys, ())
        vectors.collect(db)
        meta.bump_generation(db)
