"""Which file an index is opened from: the one in use, one begun beside it, or a new one."""

import logging
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from synapse_ls.core.errors import IndexStateError, SynapseError
from synapse_ls.indexer import record
from synapse_ls.store import files, meta
from synapse_ls.store.database import Index
from synapse_ls.store.faults import IndexFormatError, IndexRuinedError, IndexUnwritableError, fault_of
from synapse_ls.vault import index_files, location

_LOG = logging.getLogger(__name__)

# What has to be free on the disk beyond twice the size of the index.
_SPARE_BYTES = 16 * 2**20


def to_write(folder: Path, say: Callable[[str], None]) -> tuple[Index, str | None]:
    """Open the index in use, or begin a new one where that cannot be used.

    Returns it with the name of the file, if any, whose vectors it may take over. Whoever calls has the lock.

    Raises:
        IndexUnwritableError: Neither can be written, or a stranger has locked it.
    """
    odd = index_files.make_way(folder)
    path = index_files.in_use(folder)
    inherits: str | None = None
    try:
        index = Index(path or index_files.fresh(folder))
        if index.made and (path is not None or any(file.suffix == ".db" for file in odd)):
            why = "a folder, a link or the like lay in its place" if path is None else "it was empty"
            say(f"the index was damaged ({why}) and is being rebuilt; your notes are untouched")
    except IndexRuinedError as error:
        say(f"{error} and is being rebuilt; your notes are untouched")
        index = Index(index_files.fresh(folder))
    except IndexFormatError as error:
        say(f"{error} and is being rebuilt; your notes are untouched")
        inherits = None if path is None else path.name
        index = Index(index_files.fresh(folder))
    except IndexUnwritableError as error:
        if path is None or fault_of(error.__cause__ or error) == "busy":
            raise
        # The file cannot be written; perhaps another one in its folder can be.
        index = Index(index_files.fresh(folder))
        say("the index file cannot be written, so a new one is made; your notes are untouched")
        inherits = path.name
    if inherits is None:
        with index.read() as db:
            inherits = meta.get(db, "inherits")
    else:
        index.amend(partial(meta.put, key="inherits", value=inherits))
    put_to_use(folder, index)
    return index, inherits


def again(folder: Path, lost: Index) -> Index:
    """Put an index that is open, but no longer where it was, in its folder again. Nothing else may be writing it.

    Raises:
        IndexRuinedError: What is open is damaged as well.
        IndexUnwritableError: The folder cannot be written.
    """
    index_files.make_way(folder)
    index = Index(index_files.fresh(folder), source=lost)
    put_to_use(folder, index)
    return index


def in_memory(former: Index | None) -> Index:
    """Return an index in memory with all that the former one holds, as far as that can be read."""
    try:
        return Index(None, source=former)
    except IndexStateError as error:
        _LOG.info("the index in memory begins without what was there: %s", error)
        return Index(None)


def anew(folder: Path) -> Index:
    """Begin a new index and put it to use. Raises IndexUnwritableError where that cannot be."""
    index_files.make_way(folder)
    index = Index(index_files.fresh(folder))
    put_to_use(folder, index)
    return index


def put_to_use(folder: Path, index: Index) -> None:
    """Name an index as the one in use. Raises IndexUnwritableError, with the index closed, where that cannot be."""
    if index.path is None or index.path == location.current_index(folder):
        return
    try:
        location.set_current(folder, index.path.name)
    except OSError as error:
        index.close()
        raise IndexUnwritableError(
            f"the cache folder {folder} cannot be written ({error.strerror or error}); "
            "set SYNAPSE_CACHE_DIR to a folder you can write to"
        ) from error


def beside(folder: Path, fingerprint: str | None) -> Index | None:
    """Return an index for this model that an earlier run began beside the one in use; others are removed."""
    for path in index_files.others(folder, location.current_index(folder)):
        try:
            index = Index(path)
            with index.read() as db:
                if meta.get(db, "rules") == record.VERSION and meta.get(db, "model") in (None, fingerprint):
                    return index
            index.close()
        except SynapseError:
            pass
        files.remove(path)
    return None


def back_on_disk(folder: Path, size: int) -> Index | None:
    """Return the index on disk, or a new one, to go on with after one of ``size`` bytes in memory.

    None if there is no room. Raises OSError or IndexStateError where the disk cannot be written.
    """
    if shutil.disk_usage(folder).free < 2 * size + _SPARE_BYTES:
        return None
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(bytes(2**16))
    index_files.make_way(folder)
    try:
        return Index(index_files.in_use(folder) or index_files.fresh(folder))
    except (IndexRuinedError, IndexFormatError):
        return Index(index_files.fresh(folder))
