"""Which vaults a model is in use for."""

from contextlib import suppress
from pathlib import Path

from synapse_ls.store import meta
from synapse_ls.store.database import Index
from synapse_ls.store.faults import IndexUnwritableError
from synapse_ls.vault import location
from synapse_ls.vault.lock import WriterLock


def model_of(folder: Path) -> str | None:
    """Return the fingerprint of the model that an index was made with; None where that cannot be told."""
    path = location.current_index(folder)
    if path is None or not path.exists():
        return None
    with suppress(Exception):  # whatever is wrong with an index is its own vault's matter
        index = Index(path, read_only=True)
        try:
            with index.read() as db:
                return meta.get(db, "model")
        finally:
            index.close()
    return None


def served_with(fingerprint: str) -> list[Path]:
    """Return the vaults that a running Synapse keeps an index for with the model of a fingerprint."""
    return [
        location.vault_of(folder) or folder
        for folder in location.index_folders()
        if model_of(folder) == fingerprint and _is_written(folder)
    ]


def _is_written(folder: Path) -> bool:
    lock = WriterLock(folder)
    try:
        if not lock.take():
            return True
        lock.release()
    except IndexUnwritableError:
        pass
    return False
