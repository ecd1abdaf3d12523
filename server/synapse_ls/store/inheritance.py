"""Vectors taken over from an index that cannot be used otherwise: one of another format, or one that is not written."""

from collections.abc import Callable
from pathlib import Path

import apsw

from synapse_ls.core.errors import IndexStateError
from synapse_ls.core.model import Embedded
from synapse_ls.store import vectors
from synapse_ls.store.database import Connection, opened_as_it_is

Known = Callable[[bytes], Embedded | None]


def vectors_of(path: Path, fingerprint: str) -> Known:
    """Return what gives the embedding of an input (by its key) that another index file holds of the same model.

    Whatever is wrong with the file, it then knows none. For one thread; the file is read from the first question on.
    """
    opened: list[Connection | None] = []

    def known(input_key: bytes) -> Embedded | None:
        try:
            if not opened:
                opened.append(opened_as_it_is(path))
            db = opened[0]
            return None if db is None else vectors.get(db, input_key, fingerprint)
        except (apsw.Error, IndexStateError, ValueError):
            opened[:] = [None]
            return None

    return known
